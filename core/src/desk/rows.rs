//! Rows that an operator looks at, and what he says about them. Plain data.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::clock::Timestamp;
use crate::model::{Site, Target};

/// Who acts, for the audit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Actor {
    /// The user or the name of the token.
    pub name: String,
    /// By which door: `api`, `page`, `cli`, `library`.
    pub via: String,
    /// The request that it was part of.
    pub request: Option<String>,
}

impl Actor {
    /// Somebody who comes by a door.
    pub fn new(name: impl Into<String>, via: impl Into<String>) -> Actor {
        Actor { name: name.into(), via: via.into(), request: None }
    }

    /// As part of a request with this id.
    pub fn request(mut self, id: impl Into<String>) -> Actor {
        self.request = Some(id.into());
        self
    }
}

/// A site with what only the operator sees of it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SiteRow {
    /// The site.
    #[serde(flatten)]
    pub site: Site,
    /// `yaml`: made from a file; `admin`: made by hand (S2-52).
    pub managed_by: String,
    /// What was planned for its crawls; kept as it is given.
    pub crawl_plan: Option<Value>,
    /// Keys of its file that were set by hand: imports leave them alone.
    pub operator_set: Vec<String>,
    /// Its targets.
    pub targets: Vec<TargetRow>,
}

/// A target with what only the operator sees of it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TargetRow {
    /// The target.
    #[serde(flatten)]
    pub target: Target,
    /// Code of its site.
    pub site: String,
    /// Name of its site.
    pub site_name: String,
    /// Whether its site is on.
    pub site_enabled: bool,
    /// The department it belongs to.
    pub department: Option<Department>,
    /// What was set by hand: imports leave it alone (I14).
    pub operator_set: Vec<String>,
}

/// Which targets.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TargetQuery {
    /// Only of this site, by code.
    pub site: Option<String>,
    /// Only of this department.
    pub department: Option<i64>,
    /// Only with these words in code, name, address or channel, each somewhere.
    pub q: Option<String>,
    /// Only those that are on, or off. A target of a site that is off is off.
    pub enabled: Option<bool>,
}

/// A department of the operator's own (S2-13).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Department {
    /// Its number.
    pub dept_id: i64,
    /// Its name.
    pub full_name: String,
    /// The name for small places.
    pub short_name: Option<String>,
    /// Where.
    pub region: Option<String>,
    /// Of what kind.
    pub category: Option<String>,
}

/// What is said of a department; for a new one only the name is needed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct DepartmentEdit {
    /// A number of the operator's own for a new one; none: the next.
    pub dept_id: Option<i64>,
    /// Its name.
    pub full_name: Option<String>,
    /// The name for small places; empty: none.
    pub short_name: Option<String>,
    /// Where; empty: none.
    pub region: Option<String>,
    /// Of what kind; empty: none.
    pub category: Option<String>,
}

/// How a target is to be run now.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RunAsk {
    /// Does not stop at known articles (S2-4).
    pub force: bool,
    /// Only the first rows of the list.
    pub max_items: Option<u32>,
}

/// What became of one of many.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct BulkOutcome {
    /// Which: a code or number.
    pub name: String,
    /// What became of it.
    #[serde(flatten)]
    pub act: BulkAct,
}

/// What became of one of many.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum BulkAct {
    /// A job was put in line.
    Submitted {
        /// The job.
        job: i64,
    },
    /// It was made, or is gone.
    Done,
    /// It was not done.
    Refused {
        /// By [`Refusal::code`](crate::Refusal::code).
        code: String,
        /// In words.
        message: String,
    },
}

/// How a target's pages are read, in layers.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct ParserView {
    /// Code of the target.
    pub target: String,
    /// The adapter that reads it.
    pub adapter: String,
    /// What the site file says.
    pub config: Value,
    /// What the operator laid over it.
    pub parser_override: Option<Map<String, Value>>,
    /// What holds.
    pub effective: Value,
}

/// Which requests of the log.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct LogQuery {
    /// Only of the last so many hours, at most 8,784; none: 24.
    pub hours: Option<u32>,
    /// Only of this site, by code.
    pub site: Option<String>,
    /// Only of this target, by code.
    pub target: Option<String>,
    /// Only what failed.
    pub errors_only: bool,
}

/// A request that was made (S2-12).
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct LogRow {
    /// Its number.
    pub id: i64,
    /// Code of the site.
    pub site: String,
    /// Code of the target.
    pub target: String,
    /// The article it was for.
    pub article_id: Option<i64>,
    /// The request.
    #[serde(flatten)]
    pub request: crate::model::RequestLog,
}

/// Something that keeps failing.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct AlertRow {
    /// Code of the target, or the key or lane of other work.
    pub subject: String,
    /// Failures in a row.
    pub failures: u32,
    /// Since when.
    pub since: Timestamp,
    /// The last one.
    pub last: Option<Timestamp>,
    /// When somebody was told; none: nobody yet.
    pub told_at: Option<Timestamp>,
    /// Why its last run failed, where that is known.
    pub error: Option<String>,
}

/// What the page of an article was at some time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct PageVersion {
    /// Its number.
    pub n: i64,
    /// When it was fetched.
    pub at: Timestamp,
    /// Of its bytes, in hex.
    pub sha256: String,
    /// Its size.
    pub size_bytes: u64,
}

/// What came of looking at a page again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct LookedAgain {
    /// Whether it is another than the last one.
    pub changed: bool,
    /// All that are kept, the oldest first; none: it never changed.
    pub versions: Vec<PageVersion>,
}

/// Which audit rows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct AuditQuery {
    /// Only of this actor.
    pub actor: Option<String>,
    /// Only what begins so: `site.`, `target.run`.
    pub action: Option<String>,
    /// Only about this.
    pub subject: Option<String>,
}

/// A change that somebody made, or was refused.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct AuditRow {
    /// Its number.
    pub id: i64,
    /// When.
    pub at: Timestamp,
    /// Who.
    pub actor: String,
    /// By which door.
    pub via: String,
    /// The request it was part of.
    pub request: Option<String>,
    /// What: `site.create`, `target.update`, `article.delete`, …
    pub action: String,
    /// On what.
    pub subject: String,
    /// `ok`, or the code of the refusal.
    pub outcome: String,
    /// What was said, without secrets.
    pub detail: Value,
}
