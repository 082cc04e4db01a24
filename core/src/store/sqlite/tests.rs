//! What the store promises, on real files: steps, duplicates, imports, dirty data, full disks, other processes.

mod access;
mod crash;
mod fence;
mod hostile;
#[path = "tests/migrate.rs"]
mod migrating;
mod outbox;
mod queue;
#[path = "tests/search.rs"]
mod searching;
mod steps;

use std::sync::Arc;

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use super::*;
use crate::model::{ArticleStatus, Attachment, DownloadStatus, Precision, Published};
use crate::store::sanitize::hex;
use sha2::{Digest, Sha256};

pub(super) const NOW: Timestamp = Timestamp(1_775_784_600_000);

pub(super) fn open(dir: &Path) -> SqliteStore {
    SqliteStore::open(Files::open(dir, Durability::Process).unwrap()).unwrap()
}

pub(super) fn site(code: &str) -> Site {
    Site {
        id: 0,
        code: code.into(),
        name: "广东省人民政府".into(),
        base_url: "https://www.gd.gov.cn/".into(),
        adapter: "yaml-css".into(),
        strategy: "auto".into(),
        schedule: Some("0 8 * * *".into()),
        enabled: true,
        respect_robots: true,
        concurrency: 2,
        hosts: vec!["static.gd.gov.cn".into()],
        yaml_path: Some("sites/gd.yaml".into()),
        source: serde_json::json!({"site_code": code, "adapter_params": {"x": 1}}),
    }
}

pub(super) fn target(site: &str, column: &str) -> Target {
    Target {
        id: 0,
        site_id: 0,
        code: format!("{site}__{column}"),
        name: "文件库".into(),
        entry_url: "https://www.gd.gov.cn/zwgk/wjk/".into(),
        channel_name: Some("文件库".into()),
        channel_path: None,
        content_category: Some("政策".into()),
        content_subcategory: None,
        schedule: None,
        interval_sec: Some(1.5),
        interval_jitter_sec: None,
        pace: Default::default(),
        config: serde_json::json!({"list_url": "https://www.gd.gov.cn/zwgk/wjk/"}),
        parser_override: None,
        enabled: true,
        last_crawled_at: None,
        last_article_time: None,
    }
}

pub(super) fn hash(url: &str) -> String {
    hex(&Sha256::digest(url.as_bytes()))
}

pub(super) fn entry(url: &str, native_id: Option<&str>) -> Entry {
    Entry {
        id: 0,
        url: url.into(),
        url_hash: hash(url),
        title: "通知".into(),
        published_raw: Some("2026-04-10".into()),
        published: Some(Published { at: NOW, date: "2026-04-10".into(), precision: Precision::Day }),
        native_id: native_id.map(str::to_owned),
        pinned: false,
        fields: vec![("doc_no".into(), "粤府〔2026〕1号".into())],
    }
}

pub(super) fn article(entry: &Entry) -> Article {
    Article {
        id: entry.id,
        site: "gd".into(),
        target: "gd__wjk".into(),
        url: entry.url.clone(),
        url_hash: entry.url_hash.clone(),
        native_post_id: entry.native_id.clone(),
        title: entry.title.clone(),
        published: entry.published.clone(),
        source_raw: Some("本网".into()),
        publisher: None,
        index_no: None,
        doc_no: Some("粤府〔2026〕1号".into()),
        topic_words: None,
        open_category: None,
        channel_name: None,
        channel_path: None,
        content_category: Some("政策".into()),
        content_subcategory: None,
        content_text: "正文".repeat(30),
        truncated: false,
        raw_html_path: None,
        text_path: None,
        has_attachment: true,
        inline_image_count: 2,
        status: ArticleStatus::Ready,
        fetch_strategy: "http".into(),
        provenance: [("title".to_owned(), "css:h1".to_owned())].into(),
        metadata: [("x".to_owned(), "y".to_owned())].into(),
        fetched_at: NOW,
        attachments: vec![Attachment {
            url: "https://www.gd.gov.cn/a.pdf".into(),
            filename: "附件.pdf".into(),
            file_path: None,
            mime: Some("application/pdf".into()),
            size_bytes: Some(12),
            sha256: Some(hash("x")),
            status: DownloadStatus::Done,
            error: None,
        }],
    }
}

pub(super) fn request(url: &str) -> RequestLog {
    RequestLog {
        occurred_at: NOW,
        url: url.into(),
        purpose: "detail".into(),
        success: true,
        http_status: Some(200),
        fetch_strategy: "http".into(),
        duration_ms: 12,
        error: None,
        verdict: Some("ok".into()),
    }
}

/// A store with one site, one target and a run under way.
pub(super) struct Bench {
    pub(super) store: SqliteStore,
    pub(super) site_id: i64,
    pub(super) target_id: i64,
    pub(super) run_id: i64,
    next: AtomicU64,
}

impl Bench {
    pub(super) async fn open(dir: &Path, durability: Durability) -> Bench {
        let store = SqliteStore::open(Files::open(dir, durability).unwrap()).unwrap();
        let site_id = store.put_site(site("gd"), vec![target("gd", "wjk")]).await.unwrap().site_id;
        let target_id = store.target("gd__wjk").await.unwrap().unwrap().1.id;
        let run_id = store.begin_run(target_id, RunOptions::default(), NOW).await.unwrap().run_id;
        Bench { store, site_id, target_id, run_id, next: AtomicU64::new(0) }
    }

    /// Puts entries into the frontier of a target.
    pub(super) async fn list(&self, target_id: i64, entries: Vec<Entry>) -> Vec<Entry> {
        self.store.record_page(self.page(target_id, entries)).await.unwrap()
    }

    pub(super) fn page(&self, target_id: i64, entries: Vec<Entry>) -> PageRecord {
        let (run_id, site_id) = (self.run_id, self.site_id);
        PageRecord { run_id, site_id, target_id, at: NOW, entries, ..PageRecord::default() }
    }

    pub(super) fn record(&self, entry: &Entry) -> ArticleRecord {
        ArticleRecord {
            run_id: self.run_id,
            site_id: self.site_id,
            target_id: self.target_id,
            entry_id: entry.id,
            article: Arc::new(article(entry)),
            log: vec![request(&entry.url)],
            session: None,
            then: Vec::new(),
        }
    }

    /// Lists and stores one new article; returns its number.
    pub(super) async fn store_one(&self) -> Result<i64, StoreError> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let url = format!("https://www.gd.gov.cn/{}/{number}", std::process::id());
        let entries = self.store.record_page(self.page(self.target_id, vec![entry(&url, None)])).await?;
        self.store.record_article(self.record(&entries[0])).await?;
        Ok(entries[0].id)
    }
}
