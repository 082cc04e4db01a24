//! What crosses the seam of the store: plain records, no behaviour beyond adding up.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::clock::Timestamp;
use crate::error::ErrorClass;
use crate::fetch::Validators;
use crate::model::{Article, Entry, RequestLog};
use crate::queue::NewJob;

/// What an import did.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SiteChange {
    /// The site's row number.
    pub site_id: i64,
    /// Codes of targets that are new.
    pub added: Vec<String>,
    /// Codes of targets that were there and differ now.
    pub changed: Vec<String>,
    /// Codes of targets that the site no longer names and that are off now.
    pub disabled: Vec<String>,
}

/// What a run was asked to do; kept with the run so that it is resumed as it was begun.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RunOptions {
    /// Stop after this many entries.
    pub max_items: Option<u32>,
    /// Do not stop at the first known article.
    pub force: bool,
}

/// What came of a run so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default)]
pub struct RunCounts {
    /// Rows seen on list pages.
    pub listed: u32,
    /// Articles stored.
    pub new: u32,
    /// Entries known before, from this target or another.
    pub duplicate: u32,
    /// Entries that failed and have not succeeded since.
    pub failed: u32,
    /// Attachments downloaded.
    pub attachments: u32,
    /// Attachments that could not be had.
    pub attachments_failed: u32,
    /// Requests logged.
    pub requests: u32,
}

impl std::ops::AddAssign for RunCounts {
    fn add_assign(&mut self, more: Self) {
        self.listed += more.listed;
        self.new += more.new;
        self.duplicate += more.duplicate;
        self.failed += more.failed;
        self.attachments += more.attachments;
        self.attachments_failed += more.attachments_failed;
        self.requests += more.requests;
    }
}

/// Where a run stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunState {
    /// Row number of the run.
    pub run_id: i64,
    /// Whether it is an earlier run that was not finished.
    pub resumed: bool,
    /// What it was asked to do.
    pub options: RunOptions,
    /// The list page to read next; none = the first one.
    pub cursor: Option<String>,
    /// The adapter's session.
    pub session: Vec<u8>,
    /// List pages recorded.
    pub pages: u32,
    /// Whether all list pages it wanted are recorded.
    pub listing_done: bool,
    /// What came of it so far.
    pub counts: RunCounts,
    /// How many runs of the target came to their end before: every so many of them one sweeps the whole list.
    pub runs_of_target: u32,
    /// Whether a run broke off in the midst of the list and none was done since: below its last page
    /// there may be articles that a run which stops at known ones would never reach.
    pub gap: bool,
}

/// The version of a list's first page that a run read before it came to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListValidators {
    /// What tells it from the next version.
    pub validators: Validators,
    /// What it was read with: adapter, settings, program. Opaque to the store.
    pub basis: String,
    /// When that run ended.
    pub saved_at: Timestamp,
}

/// What identifies a document before it is fetched.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct EntryKey {
    /// sha256 of the normalised address, in hex.
    pub url_hash: String,
    /// The site's own identifier.
    pub native_id: Option<String>,
}

impl From<&Entry> for EntryKey {
    fn from(entry: &Entry) -> Self {
        EntryKey { url_hash: entry.url_hash.clone(), native_id: entry.native_id.clone() }
    }
}

/// What the store knows of a document (S2-41, I10).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Known {
    /// Nothing.
    New,
    /// This target stored it: `duplicate_url_hash`, the reason to stop.
    SameTarget,
    /// This target stored it in its unfinished run. The list has moved on since that run read the page
    /// before this one: no reason to stop.
    ThisRun,
    /// Another target stored it, or it is stored under another address with the same identifier of
    /// the site: `duplicate_other_target`, the reason to skip it and go on.
    OtherTarget,
    /// It waits in this target's frontier.
    Waiting,
    /// This target gave it up: gone, not readable, or tried too often.
    Dead,
}

/// A list page that was read.
#[derive(Clone, Debug, Default)]
pub struct PageRecord {
    /// The run.
    pub run_id: i64,
    /// Its site.
    pub site_id: i64,
    /// Its target.
    pub target_id: i64,
    /// When it was read.
    pub at: Timestamp,
    /// The entries to be fetched.
    pub entries: Vec<Entry>,
    /// The next page.
    pub cursor: Option<String>,
    /// The adapter's session.
    pub session: Vec<u8>,
    /// Whether this was the last page the run wants.
    pub listing_done: bool,
    /// What this page adds to the run's counters (`listed`, `duplicate`); `requests` is counted from `log`.
    pub counts: RunCounts,
    /// The requests it took.
    pub log: Vec<RequestLog>,
}

/// An article that was read.
#[derive(Clone, Debug)]
pub struct ArticleRecord {
    /// The run.
    pub run_id: i64,
    /// Its site.
    pub site_id: i64,
    /// Its target.
    pub target_id: i64,
    /// Its frontier row, whose number the article takes.
    pub entry_id: i64,
    /// The article; shared, because whoever watches the crawl gets it too, as it was stored.
    pub article: Arc<Article>,
    /// The requests it took.
    pub log: Vec<RequestLog>,
    /// The adapter's session, when the detail changed it.
    pub session: Option<Vec<u8>>,
    /// Work that follows when it is new, submitted in the same transaction: its announcements.
    pub then: Vec<NewJob>,
}

/// What became of a recorded article.
#[derive(Clone, Debug, PartialEq)]
pub enum Recorded {
    /// It is stored.
    Stored {
        /// The article as it is stored, cleaned and cut.
        article: Arc<Article>,
        /// What had to be cleaned, as `field: what was done`; empty for clean data.
        cut: Vec<String>,
    },
    /// It was known already; its frontier row is gone.
    Duplicate(Known),
}

/// An entry that could not be read.
#[derive(Clone, Debug)]
pub struct FailureRecord {
    /// The run.
    pub run_id: i64,
    /// Its site.
    pub site_id: i64,
    /// Its target.
    pub target_id: i64,
    /// Its frontier row.
    pub entry_id: i64,
    /// When it failed.
    pub at: Timestamp,
    /// What kind of trouble.
    pub class: ErrorClass,
    /// In words.
    pub message: String,
    /// Gone, or nothing that another try would change.
    pub is_final: bool,
    /// The requests it took.
    pub log: Vec<RequestLog>,
}

/// A line of the failure ledger.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FailedEntry {
    /// The entry.
    pub entry: Entry,
    /// What kind of trouble, by [`ErrorClass::as_str`].
    pub class: String,
    /// In words.
    pub message: String,
    /// How often it was tried.
    pub attempts: u32,
    /// Whether it was given up.
    pub dead: bool,
    /// The run it failed in last.
    pub run_id: i64,
    /// When it failed last.
    pub at: Timestamp,
}

/// How a run ended.
#[derive(Clone, Debug)]
pub struct RunEnd {
    /// The end.
    pub state: RunEndState,
    /// Why, in words or as a code: `early_stop`, `max_items`, `last_page`, …
    pub reason: String,
    /// The newest publication time seen; the target's own never moves back.
    pub last_article_time: Option<Timestamp>,
}

/// The ways a run ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunEndState {
    /// It did what it was asked to.
    Done,
    /// It could not go on. The next run starts a new list; entries in the frontier stay.
    Failed,
    /// It was stopped; the next run takes it up.
    Interrupted,
}

impl RunEndState {
    /// The name under which it is stored.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Interrupted => "interrupted",
        }
    }
}

/// Which articles.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArticleQuery {
    /// Only of this site, by code.
    pub site: Option<String>,
    /// Only of this target, by code.
    pub target: Option<String>,
    /// Only what this run stored.
    pub run: Option<i64>,
    /// Only with row numbers above this one: the last one of the page before.
    pub after_id: i64,
    /// At most so many.
    pub limit: u32,
}

impl Default for ArticleQuery {
    fn default() -> Self {
        ArticleQuery { site: None, target: None, run: None, after_id: 0, limit: 100 }
    }
}
