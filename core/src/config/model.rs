//! The site file as types (S2-51, S2-9): what may be written, and its JSON Schema.
//!
//! Plain data as it was written. What it means is decided in `resolve`, whether it can work
//! in `check`.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::timing::AdaptiveKey;
use crate::fetch::{IpFamily, Profile, Rendering, ThrottleKey, Tls};
use crate::model::Pace;
use crate::schedule::Combine;

/// The adapter of sites that name none (S2-52).
pub const DEFAULT_ADAPTER: &str = "yaml-css";

/// A site file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SiteConfig {
    /// Unique name of the site: lower case letters, digits, `_` and `-`.
    pub site_id: String,
    /// Name for people.
    pub site_name: String,
    /// The site's root: names its host, and relative addresses are relative to it.
    pub base_url: String,
    /// The adapter that reads the site; `yaml-css` when absent.
    #[serde(default, alias = "cms_adapter", skip_serializing_if = "Option::is_none")]
    pub adapter: Option<String>,
    /// Settings for all columns of an adapter other than `yaml-css`.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub adapter_params: Map<String, Value>,
    /// How pages are fetched.
    #[serde(default)]
    pub default_strategy: Strategy,
    /// A named set of limits, for what is not said beside it: `polite` (one at a time, 5 s apart) or `fast`
    /// (ten at a time, ten a second).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<Profile>,
    /// How many requests may be under way to the site's host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub concurrency: Option<u32>,
    /// Seconds between requests, for columns that say nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval_sec: Option<f64>,
    /// Up to this many seconds are added at random to each interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval_jitter_sec: Option<f64>,
    /// Requests per second over longer times, beside the interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rps: Option<f64>,
    /// Requests that may start at once before `rps` holds them back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub burst: Option<u32>,
    /// What shares one pace: each host (`host`), or all hosts under one registrable domain (`domain`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub throttle_by: Option<ThrottleKey>,
    /// The longest an attachment waits for the interval, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attachment_interval_cap_sec: Option<f64>,
    /// Says who is asking, in place of the engine's own words; robots.txt is read under this name too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_agent: Option<String>,
    /// Which of a host's addresses are used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ip_family: Option<IpFamily>,
    /// A proxy for this site: `http://host:port` or `socks5://host:port`. None is ever taken from the environment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proxy: Option<String>,
    /// Certificate authorities trusted for this site beside those of the web: a PEM file, relative to the site
    /// file, or the PEM text itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ca_file: Option<String>,
    /// What encrypts: `rustls`, or `native` (OpenSSL) for hosts that rustls refuses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tls: Option<Tls>,
    /// What a browser does with the site's pages, where one fetches them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub browser: Option<Rendering>,
    /// Off: nothing of the site is crawled.
    #[serde(default = "yes")]
    pub enabled: bool,
    /// Whether robots.txt binds.
    #[serde(default = "yes")]
    pub respect_robots: bool,
    /// Further hosts on which documents or attachments lie: `host` or `host:port`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<String>,
    /// Cron expression (five fields) for columns that have none of their own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schedule: Option<String>,
    /// The policy that decides when a column is looked at: `predictive` (for columns without a cron), `classic`, `budget`, or
    /// `off`: only the cron, or once a night between one and five.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub adaptive: Option<AdaptiveKey>,
    /// How a cron and a policy share a column: `either` (both), `cron_only`, `adaptive_only`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub combine: Option<Combine>,
    /// What listed columns leave out, and the whole of columns that are not listed; `{column}` in its
    /// `list_url` stands for the column's id (S2-22).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default_column: Option<ColumnDefaults>,
    /// The lists that are watched.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub columns: Vec<Column>,
    /// Where the text came from; not part of the file.
    #[serde(skip)]
    #[schemars(skip)]
    pub(crate) origin: Origin,
}

/// The file and its text, kept for messages. All origins are equal: it is no part of the settings.
#[derive(Clone, Debug, Default)]
pub(crate) struct Origin {
    pub name: String,
    pub text: String,
    /// The file, absolute, and the sha256 of its bytes; none: the text came from elsewhere.
    pub file: Option<(String, String)>,
}

impl PartialEq for Origin {
    fn eq(&self, _: &Origin) -> bool {
        true
    }
}

/// How pages are fetched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Strategy {
    /// HTTP first, the browser where that is turned away.
    #[default]
    Auto,
    /// HTTP only.
    #[serde(alias = "httpx")]
    Http,
    /// The browser only.
    #[serde(alias = "playwright", alias = "drission")]
    Browser,
}

impl Strategy {
    /// The name under which it is stored.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Http => "http",
            Self::Browser => "browser",
        }
    }
}

/// How a list and its documents are read: what can be inherited from another column.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ColumnDefaults {
    /// The list's address; `{column}` stands for the column's id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub list_url: Option<String>,
    /// The list's rows in HTML.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub list_selector: Option<ListSelector>,
    /// The list's rows in JSON.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub list_json: Option<ListJson>,
    /// How further pages are found; one page when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pagination: Option<Pagination>,
    /// What is read from a document.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<Detail>,
    /// Settings for an adapter other than `yaml-css`.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub params: Map<String, Value>,
    /// Category given to the articles.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub category: Option<String>,
    /// Cron expression.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schedule: Option<String>,
    /// The policy that decides when a column is looked at: `predictive` (for columns without a cron), `classic`, `budget`, or
    /// `off`: only the cron, or once a night between one and five.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub adaptive: Option<AdaptiveKey>,
    /// How a cron and a policy share a column: `either` (both), `cron_only`, `adaptive_only`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub combine: Option<Combine>,
}

/// One list that is watched.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Column {
    /// Unique within the site: lower case letters, digits, `_` and `-`.
    pub column_id: String,
    /// Name for people; the id when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Category given to the articles.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub category: Option<String>,
    /// Subcategory given to the articles.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subcategory: Option<String>,
    /// Channel the articles belong to, where the site does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub channel_name: Option<String>,
    /// Path of that channel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub channel_path: Option<String>,
    /// The list's first page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub list_url: Option<String>,
    /// Reads like that column; then no selectors of its own (S2-22).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alias_of: Option<String>,
    /// The list's rows in HTML.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub list_selector: Option<ListSelector>,
    /// The list's rows in JSON.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub list_json: Option<ListJson>,
    /// How further pages are found; one page when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pagination: Option<Pagination>,
    /// What is read from a document.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<Detail>,
    /// Settings for an adapter other than `yaml-css`, laid over `adapter_params`.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub params: Map<String, Value>,
    /// Cron expression.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schedule: Option<String>,
    /// The policy that decides when a column is looked at: `predictive` (for columns without a cron), `classic`, `budget`, or
    /// `off`: only the cron, or once a night between one and five.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub adaptive: Option<AdaptiveKey>,
    /// How a cron and a policy share a column: `either` (both), `cron_only`, `adaptive_only`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub combine: Option<Combine>,
    /// A named set of limits, for what is not said beside it: `polite` (one at a time, 5 s apart) or `fast`
    /// (ten at a time, ten a second).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<Profile>,
    /// Seconds between requests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval_sec: Option<f64>,
    /// Up to this many seconds are added at random to each interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval_jitter_sec: Option<f64>,
    /// How many requests may be under way to the host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub concurrency: Option<u32>,
    /// Requests per second over longer times, beside the interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rps: Option<f64>,
    /// Requests that may start at once before `rps` holds them back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub burst: Option<u32>,
    /// What shares one pace: each host (`host`), or all hosts under one registrable domain (`domain`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub throttle_by: Option<ThrottleKey>,
    /// The longest an attachment waits for the interval, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attachment_interval_cap_sec: Option<f64>,
    /// Off: not crawled.
    #[serde(default = "yes")]
    pub enabled: bool,
    /// How many known articles in a row end an incremental run (I11); 1, or 3 where
    /// `list_selector.pinned` says that the list has pins.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop_after_duplicates: Option<u32>,
    /// Every so many runs the whole list is read, known articles or not; never when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub full_sweep_every: Option<u32>,
    /// Laid over the column's settings by the operator.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parser_override: Option<Map<String, Value>>,
}

/// Rows of an HTML list (S2-19).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListSelector {
    /// One match per row.
    pub row: String,
    /// The link, relative to the row; `a::attr(href)` when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub href: Option<String>,
    /// The title, relative to the row; `a::attr(title), a::text` when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The date, relative to the row; the document is asked when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub date: Option<String>,
    /// Matches in rows that the editor keeps at the top (I11).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pinned: Option<String>,
    /// The site's own number: a selector, or a piece of the address with `{digits}`, such as
    /// `post_{digits}`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub native_id: Option<String>,
}

/// Rows of a JSON list: dotted paths, `datasource` and then `publishUrl`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListJson {
    /// Where the JSON is, relative to `list_url`; `list_url` itself when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Path of the array; the document itself when empty or when it is an array.
    #[serde(default)]
    pub rows: String,
    /// Path of the address in a row.
    pub url: String,
    /// Path of the title, which may hold HTML; alternatives are separated by commas.
    pub title: String,
    /// Path of the date.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub date: Option<String>,
    /// Path of the site's own number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub native_id: Option<String>,
    /// Further fields by the names of the store: path of each.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub fields: BTreeMap<String, String>,
}

/// How further pages are found (S2-21).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Pagination {
    /// Which way.
    #[serde(rename = "type")]
    pub kind: PaginationKind,
    /// For `page_param`: the query parameter that holds the number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub param: Option<String>,
    /// For `path_pattern`: what takes the place of the last path segment, with `{page}`; a path
    /// when it begins with `/`, an address when it begins with `http`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pattern: Option<String>,
    /// The number that the second page has: 2 on NF-CMS (`index_2`), 1 on TRS (`index_1`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<u32>,
    /// How many pages are read at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_pages: Option<u32>,
}

/// The ways of finding further pages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PaginationKind {
    /// There is one page.
    #[default]
    None,
    /// `?page=2`.
    PageParam,
    /// `index_2.html`.
    PathPattern,
}

/// What is read from a document (S2-20): selectors, alternatives separated by commas.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Detail {
    /// The title.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The time of publication.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub publish_time: Option<String>,
    /// Where the site says it came from (来源).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// The body: elements, without an ending.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    /// Links to attachments: `a` elements, without an ending. All alternatives count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attachment_css: Option<String>,
    /// Further fields by the names of the store (`doc_no`, `index_no`, …): selector of each.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub fields: BTreeMap<String, String>,
}

impl SiteConfig {
    /// What it says about the pace.
    pub fn pace(&self) -> Pace {
        Pace {
            profile: self.profile,
            interval_sec: self.interval_sec,
            interval_jitter_sec: self.interval_jitter_sec,
            concurrency: self.concurrency,
            rps: self.rps,
            burst: self.burst,
            throttle_by: self.throttle_by,
            attachment_interval_cap_sec: self.attachment_interval_cap_sec,
        }
    }
}

impl Column {
    /// What it says about the pace.
    pub fn pace(&self) -> Pace {
        Pace {
            profile: self.profile,
            interval_sec: self.interval_sec,
            interval_jitter_sec: self.interval_jitter_sec,
            concurrency: self.concurrency,
            rps: self.rps,
            burst: self.burst,
            throttle_by: self.throttle_by,
            attachment_interval_cap_sec: self.attachment_interval_cap_sec,
        }
    }
}

/// The JSON Schema of site files, for editors and for `dibao site schema`.
pub fn site_schema() -> Value {
    schemars::schema_for!(SiteConfig).to_value()
}

fn yes() -> bool {
    true
}
