//! Searching a large store while a crawl writes: generated articles, twenty clients, words of every frequency.
//!
//! Articles go in by the way a crawl stores them, so the time to generate is also what an article costs to store.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use dibao::desk::{Actor, Paging, SearchQuery};
use dibao::model::{Article, ArticleStatus, Entry, Precision, Published, Site, Target};
use dibao::store::{ArticleRecord, Durability, PageRecord, RunOptions, Store};
use dibao::{Desk, Engine, Timestamp};
use sha2::{Digest, Sha256};

use crate::figures::{Figure, Goal, Samples};
use crate::usage::Usage;

const NOW: i64 = 1_775_784_600_000;
const CLIENTS: usize = 20;
/// Entries on one list page.
const PAGE: u64 = 128;

/// The figures, of so many articles.
pub async fn measure(quick: bool) -> Result<Vec<Figure>> {
    let named = std::env::var("DIBAO_BENCH_ARTICLES").ok().and_then(|text| text.parse().ok());
    let articles: u64 = named.unwrap_or(if quick { 20_000 } else { 1_000_000 });
    let dir = tempfile::tempdir()?;
    let engine = Engine::builder().data_dir(dir.path()).durability(Durability::Process).build().await?;
    let maker = Arc::new(Maker::begin(&engine).await?);
    let begun = Instant::now();
    maker.make(0, articles, true).await?;
    let stored = begun.elapsed();
    let bytes = std::fs::metadata(dir.path().join("dibao.db"))?.len();

    let stop = Arc::new(AtomicBool::new(false));
    let crawl = {
        let (maker, stop) = (maker.clone(), stop.clone());
        tokio::spawn(async move {
            let mut next = articles;
            while !stop.load(Ordering::Relaxed) {
                maker.make(next, 16, false).await?;
                next += 16;
            }
            Ok::<u64, anyhow::Error>(next - articles)
        })
    };
    let desk = engine.desk(Actor::new("bench", "library"));
    let rounds = if quick { 5 } else { 20 };
    let asked = Instant::now();
    let clients = (0..CLIENTS).map(|client| tokio::spawn(client_of(desk.clone(), client, rounds)));
    let mut times: Vec<Vec<f64>> = vec![Vec::new(); KINDS.len()];
    for client in futures::future::join_all(clients).await {
        for (kind, ms) in client?? {
            times[kind].push(ms);
        }
    }
    let took = asked.elapsed();
    stop.store(true, Ordering::Relaxed);
    let written = crawl.await??;
    let searches: usize = times.iter().map(Vec::len).sum();
    let usage = Usage::of_this_process(articles, stored.as_secs_f64())?;

    let mut figures = Vec::new();
    for ((name, _), times) in KINDS.iter().zip(times) {
        let samples = Samples::new(times);
        figures.push(Figure {
            name: format!("search, {name}: 95th percentile"),
            value: samples.at(0.95),
            unit: " ms",
            goal: Goal::AtMost(300.0),
            note: format!(
                "median {:.0} ms; {articles} articles, {CLIENTS} clients at once",
                samples.median()
            ),
        });
    }
    figures.push(Figure {
        name: "search: peak memory".into(),
        value: usage.peak_mb,
        unit: " MB",
        goal: Goal::AtMost(300.0),
        note: format!(
            "{:.0} searches/s beside {:.0} articles/s stored; before: {:.0} articles/s, {:.2} ms of CPU each; {:.1} KB each on disk",
            searches as f64 / took.as_secs_f64(),
            written as f64 / took.as_secs_f64(),
            articles as f64 / stored.as_secs_f64(),
            usage.cpu_seconds * 1e3 / articles as f64,
            bytes as f64 / articles as f64 / 1e3,
        ),
    });
    Ok(figures)
}

/// A question: its name, and what it sets.
type Kind = (&'static str, fn(&mut SearchQuery));

/// What is asked: page 1 and page 500 of frequent and rare words, with filters and without.
const KINDS: &[Kind] = &[
    ("a word in a third of all", |query| query.q = Some("通知".into())),
    ("a word in a twentieth", |query| query.q = Some("财政".into())),
    ("two words", |query| query.q = Some("通知 财政".into())),
    ("a word under a filter", |query| {
        query.q = Some("通知".into());
        query.target = Some("bench__c7".into());
        query.from = Some("2025-02-10".into());
    }),
    ("a filter alone", |query| {
        query.site = Some("bench".into());
        query.status = Some("ready".into());
    }),
    ("a document number", |query| query.doc_no = Some("国发[2024]77号".into())),
];

async fn client_of(desk: Desk, client: usize, rounds: usize) -> Result<Vec<(usize, f64)>> {
    let mut times = Vec::new();
    for round in 0..rounds {
        for turn in 0..KINDS.len() {
            // Clients are out of step, as people are.
            let kind = (turn + client) % KINDS.len();
            let mut query = SearchQuery::default();
            KINDS[kind].1(&mut query);
            let offset = if (round + client).is_multiple_of(2) { 0 } else { 499 * 20 };
            let begun = Instant::now();
            desk.search(query, Paging { limit: Some(20), offset: Some(offset), cursor: None }).await?;
            times.push((kind, begun.elapsed().as_secs_f64() * 1e3));
        }
    }
    Ok(times)
}

struct Maker {
    store: Arc<dyn Store>,
    site_id: i64,
    /// Number and run of each target.
    targets: Vec<(i64, i64)>,
}

impl Maker {
    async fn begin(engine: &Engine) -> Result<Maker> {
        let store = engine.store().clone();
        let site = Site {
            id: 0,
            code: "bench".into(),
            name: "基准".into(),
            base_url: "https://bench.gov.cn/".into(),
            adapter: "yaml-css".into(),
            strategy: "auto".into(),
            schedule: None,
            enabled: true,
            respect_robots: true,
            concurrency: 1,
            hosts: Vec::new(),
            yaml_path: None,
            source: serde_json::Value::Null,
        };
        let codes: Vec<String> = (0..20).map(|n| format!("bench__c{n}")).collect();
        let site_id = store.put_site(site, codes.iter().map(|code| target(code)).collect()).await?.site_id;
        let mut targets = Vec::new();
        for code in &codes {
            let (_, target) = store.target(code).await?.context("it was stored")?;
            let run = store.begin_run(target.id, RunOptions::default(), Timestamp(NOW)).await?;
            targets.push((target.id, run.run_id));
        }
        Ok(Maker { store, site_id, targets })
    }

    /// Articles from this number on; at full speed, or at that of a busy crawl (about two hundred a second).
    async fn make(&self, from: u64, count: u64, full_speed: bool) -> Result<()> {
        for first in (from..from + count).step_by(PAGE as usize) {
            let numbers = first..(from + count).min(first + PAGE);
            let (target_id, run_id) = self.targets[(first / PAGE) as usize % self.targets.len()];
            let entries = numbers.clone().map(entry).collect();
            let page = PageRecord {
                run_id,
                site_id: self.site_id,
                target_id,
                at: Timestamp(NOW),
                entries,
                ..PageRecord::default()
            };
            let entries = self.store.record_page(page).await?;
            let records = entries.into_iter().zip(numbers).map(|(entry, number)| {
                let article = Arc::new(article(&entry, number));
                self.store.record_article(ArticleRecord {
                    run_id,
                    site_id: self.site_id,
                    target_id,
                    entry_id: entry.id,
                    article,
                    log: Vec::new(),
                    session: None,
                    then: Vec::new(),
                })
            });
            for stored in futures::future::join_all(records).await {
                stored?;
            }
            if !full_speed {
                tokio::time::sleep(Duration::from_millis(80)).await;
            }
        }
        Ok(())
    }
}

fn target(code: &str) -> Target {
    Target {
        id: 0,
        site_id: 0,
        code: code.into(),
        name: code.into(),
        entry_url: "https://bench.gov.cn/".into(),
        channel_name: None,
        channel_path: None,
        content_category: None,
        content_subcategory: None,
        schedule: None,
        interval_sec: None,
        interval_jitter_sec: None,
        pace: Default::default(),
        config: serde_json::Value::Null,
        parser_override: None,
        enabled: true,
        last_crawled_at: None,
        last_article_time: None,
    }
}

fn entry(number: u64) -> Entry {
    let url = format!("https://bench.gov.cn/{number}.html");
    let at = Timestamp(NOW - (number % 3_650) as i64 * 86_400_000);
    let date = at.to_utc().format("%Y-%m-%d").to_string();
    Entry {
        id: 0,
        url_hash: Sha256::digest(url.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect(),
        url,
        title: String::new(),
        published_raw: None,
        published: Some(Published { at, date, precision: Precision::Day }),
        native_id: None,
        pinned: false,
        fields: Vec::new(),
    }
}

/// A step of a generator that needs no state of its own.
fn mixed(number: u64) -> u64 {
    let mut x = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// Some three hundred characters with words as official texts have them: few are in most, most are in few.
fn text(number: u64, words: u64) -> String {
    let mut text = String::new();
    for word in 0..words {
        let dice = mixed(number * 1009 + word);
        // The square of an even draw: small numbers are frequent.
        let draw = (dice % 10_000) as f64 / 10_000.0;
        let pick = (draw * draw * 6_000.0) as u32;
        for half in [pick % 2_500, pick / 3 + 400] {
            text.extend(char::from_u32(0x4e00 + half));
        }
        if word % 9 == 8 {
            text.push('，');
        }
    }
    text
}

fn article(entry: &Entry, number: u64) -> Article {
    let dice = mixed(number);
    let mut title = format!("关于{}", text(number ^ 0x5555, 6));
    if dice.is_multiple_of(10) {
        title.push_str("的通知");
    }
    let mut body = text(number, 140);
    if dice.is_multiple_of(3) {
        body.push_str("。现将有关事项通知如下。");
    }
    if dice % 20 == 1 {
        body.push_str("财政部");
    }
    Article {
        id: entry.id,
        site: "bench".into(),
        target: String::new(),
        url: entry.url.clone(),
        url_hash: entry.url_hash.clone(),
        native_post_id: None,
        title,
        published: entry.published.clone(),
        source_raw: None,
        publisher: None,
        index_no: None,
        doc_no: (dice.is_multiple_of(4)).then(|| format!("国发〔{}〕{}号", 2015 + number % 12, number % 400)),
        topic_words: None,
        open_category: None,
        channel_name: None,
        channel_path: None,
        content_category: None,
        content_subcategory: None,
        content_text: body,
        truncated: false,
        raw_html_path: None,
        text_path: None,
        has_attachment: false,
        inline_image_count: 0,
        status: if dice.is_multiple_of(50) { ArticleStatus::Failed } else { ArticleStatus::Ready },
        fetch_strategy: "http".into(),
        provenance: Default::default(),
        metadata: Default::default(),
        fetched_at: Timestamp(NOW),
        attachments: Vec::new(),
    }
}
