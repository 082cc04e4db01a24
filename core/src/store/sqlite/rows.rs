//! Rows to records and back: how the model's enums and lists are spelled in columns.

use std::path::Path;

use rusqlite::Row;
use rusqlite::types::Type;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::clock::Timestamp;
use crate::model::{
    Article, ArticleStatus, Attachment, DownloadStatus, Entry, Precision, Published, Site, Target,
};
use crate::store::StoreError;

/// Why a step failed, before the database's path is put to it.
#[derive(Debug)]
pub(super) enum Fault {
    Sql(rusqlite::Error),
    Store(StoreError),
}

impl Fault {
    pub(super) fn at(self, path: &Path, doing: &'static str) -> StoreError {
        match self {
            Fault::Sql(error) => StoreError::sql(path, doing, error),
            Fault::Store(error) => error,
        }
    }
}

impl From<rusqlite::Error> for Fault {
    fn from(error: rusqlite::Error) -> Self {
        Fault::Sql(error)
    }
}

impl From<StoreError> for Fault {
    fn from(error: StoreError) -> Self {
        Fault::Store(error)
    }
}

impl From<crate::Refusal> for Fault {
    fn from(refusal: crate::Refusal) -> Self {
        Fault::Store(refusal.into())
    }
}

/// A value as JSON text. Maps, lists and JSON values always have one.
pub(super) fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_else(|_| "null".to_owned())
}

fn from_json<T: DeserializeOwned>(row: &Row<'_>, column: &str) -> rusqlite::Result<T> {
    let text = row.get_ref(column)?.as_str()?;
    serde_json::from_str(text).map_err(|error| unreadable(column, error))
}

fn from_json_or_null<T: DeserializeOwned>(row: &Row<'_>, column: &str) -> rusqlite::Result<Option<T>> {
    match row.get_ref(column)?.as_str_or_null()? {
        None => Ok(None),
        Some(text) => serde_json::from_str(text).map(Some).map_err(|error| unreadable(column, error)),
    }
}

pub(super) fn unreadable(column: &str, error: impl std::fmt::Display) -> rusqlite::Error {
    let message = format!("column {column}: {error}");
    rusqlite::Error::FromSqlConversionFailure(0, Type::Text, message.into())
}

pub(super) fn precision(precision: Precision) -> &'static str {
    match precision {
        Precision::Day => "day",
        Precision::Minute => "minute",
        Precision::Second => "second",
    }
}

/// The three columns `publish_time`, `publish_date` and `publish_precision`.
pub(super) fn published(row: &Row<'_>) -> rusqlite::Result<Option<Published>> {
    let Some(at) = row.get::<_, Option<i64>>("publish_time")? else { return Ok(None) };
    let date = row.get::<_, Option<String>>("publish_date")?.unwrap_or_default();
    let precision = match row.get_ref("publish_precision")?.as_str_or_null()? {
        Some("second") => Precision::Second,
        Some("minute") => Precision::Minute,
        _ => Precision::Day,
    };
    Ok(Some(Published { at: Timestamp(at), date, precision }))
}

/// Columns of a site with the names that [`site`] reads; prefixed because they are joined to targets.
pub(super) const SITE: &str = "s.id AS s_id, s.site_code, s.site_name, s.base_url, s.cms_adapter, \
    s.default_fetch_strategy, s.schedule_cron AS s_cron, s.enabled AS s_enabled, s.respect_robots, \
    s.concurrency, s.hosts_json, s.yaml_path, s.source_json";

pub(super) fn site(row: &Row<'_>) -> rusqlite::Result<Site> {
    Ok(Site {
        id: row.get("s_id")?,
        code: row.get("site_code")?,
        name: row.get("site_name")?,
        base_url: row.get("base_url")?,
        adapter: row.get("cms_adapter")?,
        strategy: row.get("default_fetch_strategy")?,
        schedule: row.get("s_cron")?,
        enabled: row.get("s_enabled")?,
        respect_robots: row.get("respect_robots")?,
        concurrency: row.get("concurrency")?,
        hosts: from_json(row, "hosts_json")?,
        yaml_path: row.get("yaml_path")?,
        source: from_json(row, "source_json")?,
    })
}

/// Columns of a target.
pub(super) const TARGET: &str = "t.id, t.site_id, t.target_code, t.target_name, t.entry_url, t.channel_name, \
    t.channel_path, t.content_category, t.content_subcategory, t.schedule_cron, t.interval_sec, \
    t.interval_jitter_sec, t.pace_json, t.config_json, t.parser_override_json, t.enabled, t.operator_set, \
    t.last_crawled_at, t.last_article_time";

pub(super) fn target(row: &Row<'_>) -> rusqlite::Result<Target> {
    Ok(Target {
        id: row.get("id")?,
        site_id: row.get("site_id")?,
        code: row.get("target_code")?,
        name: row.get("target_name")?,
        entry_url: row.get("entry_url")?,
        channel_name: row.get("channel_name")?,
        channel_path: row.get("channel_path")?,
        content_category: row.get("content_category")?,
        content_subcategory: row.get("content_subcategory")?,
        schedule: row.get("schedule_cron")?,
        interval_sec: row.get("interval_sec")?,
        interval_jitter_sec: row.get("interval_jitter_sec")?,
        pace: from_json(row, "pace_json")?,
        config: from_json(row, "config_json")?,
        parser_override: from_json_or_null(row, "parser_override_json")?,
        enabled: row.get("enabled")?,
        last_crawled_at: row.get::<_, Option<i64>>("last_crawled_at")?.map(Timestamp),
        last_article_time: row.get::<_, Option<i64>>("last_article_time")?.map(Timestamp),
    })
}

/// The names of the columns that were set by hand.
pub(super) fn operator_set(row: &Row<'_>) -> rusqlite::Result<Vec<String>> {
    from_json(row, "operator_set")
}

pub(super) fn entry(row: &Row<'_>) -> rusqlite::Result<Entry> {
    Ok(Entry {
        id: row.get("id")?,
        url: row.get("url")?,
        url_hash: row.get("url_hash")?,
        title: row.get("title")?,
        published_raw: row.get("published_raw")?,
        published: published(row)?,
        native_id: row.get("native_post_id")?,
        pinned: row.get("pinned")?,
        fields: from_json(row, "fields_json")?,
    })
}

/// An article without its attachments, from `article` joined with the codes of site and target.
pub(super) fn article(row: &Row<'_>) -> rusqlite::Result<Article> {
    Ok(Article {
        id: row.get("id")?,
        site: row.get("site_code")?,
        target: row.get("target_code")?,
        url: row.get("url")?,
        url_hash: row.get("url_hash")?,
        native_post_id: row.get("native_post_id")?,
        title: row.get("title")?,
        published: published(row)?,
        source_raw: row.get("source_raw")?,
        publisher: row.get("publisher")?,
        index_no: row.get("index_no")?,
        doc_no: row.get("doc_no")?,
        topic_words: row.get("topic_words")?,
        open_category: row.get("open_category")?,
        channel_name: row.get("channel_name")?,
        channel_path: row.get("channel_path")?,
        content_category: row.get("content_category")?,
        content_subcategory: row.get("content_subcategory")?,
        content_text: row.get("content_text")?,
        truncated: row.get("truncated")?,
        raw_html_path: row.get("raw_html_path")?,
        text_path: row.get("text_path")?,
        has_attachment: row.get("has_attachment")?,
        inline_image_count: row.get("inline_image_count")?,
        status: match row.get_ref("status")?.as_str()? {
            "ready" => ArticleStatus::Ready,
            "raw" => ArticleStatus::Raw,
            _ => ArticleStatus::Failed,
        },
        fetch_strategy: row.get("fetch_strategy")?,
        provenance: from_json(row, "provenance_json")?,
        metadata: from_json(row, "metadata_json")?,
        fetched_at: Timestamp(row.get("fetched_at")?),
        attachments: Vec::new(),
    })
}

pub(super) fn attachment(row: &Row<'_>) -> rusqlite::Result<Attachment> {
    Ok(Attachment {
        url: row.get("url")?,
        filename: row.get("filename")?,
        file_path: row.get("file_path")?,
        mime: row.get("mime")?,
        size_bytes: row.get::<_, Option<i64>>("size_bytes")?.and_then(|size| u64::try_from(size).ok()),
        sha256: row.get("sha256")?,
        status: match row.get_ref("download_status")?.as_str()? {
            "done" => DownloadStatus::Done,
            _ => DownloadStatus::Failed,
        },
        error: row.get("error_msg")?,
    })
}
