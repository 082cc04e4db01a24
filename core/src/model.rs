//! The nouns: what a site, a target, an entry and an article are. Plain data, no behaviour.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::clock::Timestamp;
use crate::fetch::{Profile, ThrottleKey};

/// A web site and how to talk to it (S2-8).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Site {
    /// Row number in the store; 0 before it is stored.
    pub id: i64,
    /// Unique name: lower case letters, digits, `_` and `-`.
    pub code: String,
    /// Name for people.
    pub name: String,
    /// The site's root, which names its host.
    pub base_url: String,
    /// The adapter that reads it, by the adapter's own name.
    pub adapter: String,
    /// `auto`, `http` or `browser`.
    pub strategy: String,
    /// Cron expression for targets that have none of their own.
    pub schedule: Option<String>,
    /// Off: none of its targets is crawled.
    pub enabled: bool,
    /// Whether robots.txt binds.
    pub respect_robots: bool,
    /// How many requests may be under way to its host, as the site file says.
    pub concurrency: u32,
    /// Further hosts the site's documents and attachments live on.
    pub hosts: Vec<String>,
    /// The file it came from.
    pub yaml_path: Option<String>,
    /// The site's settings as they were written, so that it can be exported again.
    pub source: serde_json::Value,
}

/// The adapter whose targets are feeds.
pub const FEEDS: &str = "rss";

/// The two kinds of source that share one table of statistics and one way of scheduling (S0-1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SourceType {
    /// A feed.
    Rss,
    /// A site that is read by any other adapter.
    Custom,
}

impl SourceType {
    /// The name under which it is stored.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Rss => "rss",
            Self::Custom => "custom",
        }
    }
}

impl Site {
    /// What its targets are as sources (C17): the kind of adapter that reads them.
    ///
    /// ```
    /// use dibao::model::SourceType;
    /// let site = dibao::config::parse_site("{site_id: a, site_name: A, base_url: 'https://a.cn', adapter: rss}", "a.yaml")?;
    /// assert_eq!(site.into_rows()?.0.source_type(), SourceType::Rss);
    /// # Ok::<(), dibao::config::ConfigError>(())
    /// ```
    pub fn source_type(&self) -> SourceType {
        if self.adapter == FEEDS { SourceType::Rss } else { SourceType::Custom }
    }
}

/// What one level of the settings says about how hard a host is asked; none: nothing. Keys as in site files.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Pace {
    /// A named set of limits for what is not said here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub profile: Option<Profile>,
    /// Seconds between the starts of two requests.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval_sec: Option<f64>,
    /// Up to this many seconds are added at random.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval_jitter_sec: Option<f64>,
    /// Requests under way at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub concurrency: Option<u32>,
    /// Requests per second over longer times.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rps: Option<f64>,
    /// Requests that may start at once before `rps` holds them back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub burst: Option<u32>,
    /// What shares one pace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub throttle_by: Option<ThrottleKey>,
    /// The longest an attachment waits for the interval, in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attachment_interval_cap_sec: Option<f64>,
}

/// A column of a site: one list that is watched (S2-9).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Target {
    /// Row number in the store; 0 before it is stored.
    pub id: i64,
    /// The site it belongs to.
    pub site_id: i64,
    /// Unique name, `<site>__<column>`.
    pub code: String,
    /// Name for people.
    pub name: String,
    /// Where the list begins.
    pub entry_url: String,
    /// Channel the articles belong to, when the site does not say.
    pub channel_name: Option<String>,
    /// Path of that channel.
    pub channel_path: Option<String>,
    /// Category given to its articles.
    pub content_category: Option<String>,
    /// Subcategory given to its articles.
    pub content_subcategory: Option<String>,
    /// Cron expression.
    pub schedule: Option<String>,
    /// Seconds between requests as the site file says; none = adapter's, then engine's default.
    pub interval_sec: Option<f64>,
    /// Up to this many seconds are added at random to each interval.
    pub interval_jitter_sec: Option<f64>,
    /// What the operator set by hand about the pace; imports leave it alone.
    #[serde(default)]
    pub pace: Pace,
    /// The adapter's settings for this target, aliases and defaults already applied.
    pub config: serde_json::Value,
    /// Laid over `config` by the operator.
    pub parser_override: Option<serde_json::Value>,
    /// Off: not crawled.
    pub enabled: bool,
    /// When a run last ended.
    pub last_crawled_at: Option<Timestamp>,
    /// The newest publication time seen.
    pub last_article_time: Option<Timestamp>,
}

/// How exact a publication time is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Precision {
    /// Only the day is known; the time shown is local midnight.
    Day,
    /// Hour and minute are known.
    Minute,
    /// Seconds are known.
    Second,
}

/// A publication time: the moment, the calendar day in the site's zone, and how exact it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Published {
    /// The moment.
    pub at: Timestamp,
    /// `YYYY-MM-DD` in the site's zone.
    pub date: String,
    /// How much of it the site wrote.
    pub precision: Precision,
}

/// One row of a list, resolved: absolute and normalised address, parsed date.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Entry {
    /// Row number in the store's frontier, and of the article it becomes; 0 before it is stored.
    pub id: i64,
    /// Absolute address, as it will be fetched.
    pub url: String,
    /// sha256 of the normalised address, in hex.
    pub url_hash: String,
    /// As the list shows it.
    pub title: String,
    /// As the site wrote it.
    pub published_raw: Option<String>,
    /// Parsed.
    pub published: Option<Published>,
    /// The site's own identifier.
    pub native_id: Option<String>,
    /// Kept at the top by the editor.
    pub pinned: bool,
    /// Further fields by the names of the store.
    pub fields: Vec<(String, String)>,
}

/// Whether an article is worth reading (S2-40).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ArticleStatus {
    /// It has a body, an attachment or an image.
    Ready,
    /// Nothing of use was found on the page.
    Failed,
    /// Stored, not yet read.
    Raw,
}

impl ArticleStatus {
    /// The name under which it is stored.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ready => "ready",
            Self::Failed => "failed",
            Self::Raw => "raw",
        }
    }
}

/// A document with everything known of it (S2-10).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Article {
    /// Row number in the store.
    pub id: i64,
    /// Code of its site.
    pub site: String,
    /// Code of its target.
    pub target: String,
    /// Address it was found under.
    pub url: String,
    /// sha256 of the normalised address, in hex.
    pub url_hash: String,
    /// The site's own identifier.
    pub native_post_id: Option<String>,
    /// Title.
    pub title: String,
    /// When it was published.
    pub published: Option<Published>,
    /// Where the site says it came from.
    pub source_raw: Option<String>,
    /// Issuing body.
    pub publisher: Option<String>,
    /// 索引号.
    pub index_no: Option<String>,
    /// 发文字号.
    pub doc_no: Option<String>,
    /// 主题词.
    pub topic_words: Option<String>,
    /// 公开类别.
    pub open_category: Option<String>,
    /// Channel.
    pub channel_name: Option<String>,
    /// Channel path.
    pub channel_path: Option<String>,
    /// Category.
    pub content_category: Option<String>,
    /// Subcategory.
    pub content_subcategory: Option<String>,
    /// The text, at most 14,000 characters of it; the whole is in `text_path`.
    pub content_text: String,
    /// Whether `content_text` was cut.
    pub truncated: bool,
    /// The page as it came, relative to the data directory.
    pub raw_html_path: Option<String>,
    /// The whole text, relative to the data directory.
    pub text_path: Option<String>,
    /// Whether it has attachments.
    pub has_attachment: bool,
    /// Number of images in the body.
    pub inline_image_count: u32,
    /// Whether it is worth reading.
    pub status: ArticleStatus,
    /// How it was fetched: `http` or `browser`.
    pub fetch_strategy: String,
    /// Where each field was found: `title` → `css:h1`, `published` → `list`, …
    pub provenance: BTreeMap<String, String>,
    /// Fields that have no column of their own.
    pub metadata: BTreeMap<String, String>,
    /// When it was fetched.
    pub fetched_at: Timestamp,
    /// Its files.
    pub attachments: Vec<Attachment>,
}

/// How the download of an attachment ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DownloadStatus {
    /// The file is here.
    Done,
    /// It could not be had; `error` says why.
    Failed,
}

/// A file that belongs to an article (S2-11).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Attachment {
    /// Address.
    pub url: String,
    /// Name on disk and for people.
    pub filename: String,
    /// Where it is, relative to the data directory.
    pub file_path: Option<String>,
    /// Media type by header, then by suffix.
    pub mime: Option<String>,
    /// Size.
    pub size_bytes: Option<u64>,
    /// sha256 of its bytes in hex: also its name in the blob store.
    pub sha256: Option<String>,
    /// How the download ended.
    pub status: DownloadStatus,
    /// Why it failed.
    pub error: Option<String>,
}

/// One request and what came of it (S2-12).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct RequestLog {
    /// When it was made.
    pub occurred_at: Timestamp,
    /// Address.
    pub url: String,
    /// What it was for: `list`, `detail`, `attachment`, `robots`.
    pub purpose: String,
    /// Whether the answer was usable.
    pub success: bool,
    /// HTTP status, when there was an answer.
    pub http_status: Option<u16>,
    /// `http` or `browser`.
    pub fetch_strategy: String,
    /// Time from the permission to send until the last byte.
    pub duration_ms: u64,
    /// What went wrong.
    pub error: Option<String>,
    /// What the answer was worth, with the evidence when it was not good (I20); none where it was not judged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<String>,
}
