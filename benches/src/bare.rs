//! The yardstick: the same job as a loop written by hand for exactly these pages. tokio, reqwest, scraper, one thread
//! that owns the database and commits in batches, files written beside and renamed.
//!
//! It keeps what dibao keeps of an article (page, text, title, date, source, address) with the same durability, and
//! nothing else: no frontier, no request log, no resuming, no limits, no sandbox.

use std::collections::HashSet;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use anyhow::{Context as _, Result};
use bytes::Bytes;
use futures::{StreamExt as _, TryStreamExt as _, stream};
use reqwest::Client;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use scraper::{ElementRef, Html, Selector};
use sha2::{Digest as _, Sha256};
use url::Url;

use crate::world::World;

/// Requests under way.
const AT_ONCE: usize = 16;
/// Rows in one transaction at most.
const BATCH: usize = 128;

struct Row {
    url: Url,
    title: String,
}

struct Article {
    url: String,
    url_hash: String,
    title: String,
    date: String,
    source: String,
    text: String,
    raw_path: String,
    text_path: String,
}

struct Selectors {
    row: Selector,
    link: Selector,
    title: Selector,
    date: Selector,
    source: Selector,
    content: Selector,
}

impl Selectors {
    fn new() -> Result<Selectors> {
        let css = |css: &str| Selector::parse(css).map_err(|error| anyhow::anyhow!("{css}: {error}"));
        Ok(Selectors {
            row: css("ul.u-list li:not(.empty)")?,
            link: css("a[href]")?,
            title: css("h2.article_title")?,
            date: css("meta[name=PubDate]")?,
            source: css(".laiyuantext span")?,
            content: css(".article_con .TRS_Editor")?,
        })
    }
}

/// What every article's task shares.
struct Shared {
    client: Client,
    selectors: Selectors,
    dir: PathBuf,
    next_tmp: AtomicU64,
    writer: SyncSender<Article>,
}

/// Crawls all hosts into an empty directory; the number of articles stored. `power`: what is stored survives the loss of
/// power, else the end of the process.
pub async fn crawl(world: &World, dir: &Path, power: bool) -> Result<u64> {
    for part in ["tmp", "raw", "text"] {
        fs::create_dir_all(dir.join(part))?;
    }
    for host in &world.hosts {
        fs::create_dir_all(dir.join("raw").join(host))?;
        fs::create_dir_all(dir.join("text").join(host))?;
    }
    let (sender, articles) = sync_channel(BATCH);
    let database = dir.to_path_buf();
    let writer = std::thread::spawn(move || write(&database, articles, power));
    let shared = Arc::new(Shared {
        client: client(world)?,
        selectors: Selectors::new()?,
        dir: dir.to_path_buf(),
        next_tmp: AtomicU64::new(0),
        writer: sender,
    });

    let lists = stream::iter(world.hosts.clone()).map(|host| tokio::spawn(list(shared.clone(), host)));
    let lists: Vec<_> = lists.buffer_unordered(AT_ONCE).try_collect().await?;
    let lists = lists.into_iter().collect::<Result<Vec<_>>>()?;
    // By turns, so that no host gets all sixteen.
    let longest = lists.iter().map(Vec::len).max().unwrap_or(0);
    let mut lists: Vec<_> = lists.into_iter().map(Vec::into_iter).collect();
    let mut seen = HashSet::new();
    let rows: Vec<Row> = (0..longest)
        .flat_map(|_| lists.iter_mut().filter_map(Iterator::next).collect::<Vec<_>>())
        .filter(|row| seen.insert(row.url.clone()))
        .collect();

    let mut tasks =
        stream::iter(rows).map(|row| tokio::spawn(article(shared.clone(), row))).buffer_unordered(AT_ONCE);
    while let Some(done) = tasks.next().await {
        done??;
    }
    drop(tasks);
    // The last sender: the writer ends when it has written everything.
    drop(shared);
    writer.join().map_err(|_| anyhow::anyhow!("the writer panicked"))?
}

/// A client that finds the hosts and trusts them.
pub(crate) fn client(world: &World) -> Result<Client> {
    let mut roots = rustls::RootCertStore::empty();
    for root in CertificateDer::pem_slice_iter(world.ca_pem.as_bytes()) {
        roots.add(root?)?;
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let tls = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots)
        .with_no_client_auth();
    let mut builder = Client::builder().tls_backend_preconfigured(tls).no_proxy();
    for host in &world.hosts {
        builder = builder.resolve(host, world.addr);
    }
    Ok(builder.build()?)
}

async fn get(client: &Client, url: Url) -> Result<Bytes> {
    Ok(client.get(url).send().await?.error_for_status()?.bytes().await?)
}

async fn list(shared: Arc<Shared>, host: String) -> Result<Vec<Row>> {
    let first = Url::parse(&format!("https://{host}/xxgk/tz/index.html"))?;
    let mut rows = Vec::new();
    for page in 0.. {
        let url = if page == 0 { first.clone() } else { first.join(&format!("index_{page}.html"))? };
        let body = get(&shared.client, url.clone()).await?;
        let shared = shared.clone();
        let found = tokio::task::spawn_blocking(move || {
            let page = Html::parse_document(&String::from_utf8_lossy(&body));
            let links = page.select(&shared.selectors.row).filter_map(|row| {
                let link = row.select(&shared.selectors.link).next()?;
                let title = link.attr("title").map_or_else(|| text_of(link), str::to_owned);
                Some(Row { url: url.join(link.attr("href")?).ok()?, title })
            });
            links.collect::<Vec<_>>()
        })
        .await?;
        if found.is_empty() {
            break;
        }
        rows.extend(found);
    }
    Ok(rows)
}

async fn article(shared: Arc<Shared>, row: Row) -> Result<()> {
    let body = get(&shared.client, row.url.clone()).await?;
    tokio::task::spawn_blocking(move || {
        let article = read(&shared, row, &body)?;
        shared.writer.send(article).context("the writer has ended")
    })
    .await?
}

/// Parses a page, writes its files.
fn read(shared: &Shared, row: Row, body: &[u8]) -> Result<Article> {
    let Selectors { title, date, source, content, .. } = &shared.selectors;
    let page = Html::parse_document(&String::from_utf8_lossy(body));
    let text = |selector| page.select(selector).next().map(text_of);
    let body_text = page.select(content).next().map(|content| {
        let lines = content.text().map(str::trim).filter(|line| !line.is_empty());
        lines.collect::<Vec<_>>().join("\n")
    });
    let body_text = body_text.unwrap_or_default();
    let url_hash: String =
        Sha256::digest(row.url.as_str()).iter().map(|byte| format!("{byte:02x}")).collect();
    let host = row.url.host_str().unwrap_or_default();
    let raw_path = format!("raw/{host}/{url_hash}.html");
    let text_path = format!("text/{host}/{url_hash}.txt");
    write_whole(shared, &raw_path, body)?;
    write_whole(shared, &text_path, body_text.as_bytes())?;
    Ok(Article {
        title: text(title).unwrap_or(row.title),
        date: page.select(date).next().and_then(|meta| meta.attr("content")).unwrap_or_default().to_owned(),
        source: text(source).unwrap_or_default().trim_start_matches("来源：").to_owned(),
        text: body_text,
        url: row.url.into(),
        url_hash,
        raw_path,
        text_path,
    })
}

fn text_of(element: ElementRef<'_>) -> String {
    element.text().collect::<String>().trim().to_owned()
}

fn write_whole(shared: &Shared, rel: &str, bytes: &[u8]) -> Result<()> {
    let tmp = shared.dir.join("tmp").join(shared.next_tmp.fetch_add(1, Ordering::Relaxed).to_string());
    fs::write(&tmp, bytes)?;
    Ok(fs::rename(&tmp, shared.dir.join(rel))?)
}

/// The one writer: takes what has gathered, commits it in one transaction.
fn write(dir: &Path, articles: Receiver<Article>, power: bool) -> Result<u64> {
    let mut db = rusqlite::Connection::open(dir.join("bare.db"))?;
    db.pragma_update(None, "journal_mode", "wal")?;
    db.pragma_update(None, "synchronous", if power { "full" } else { "normal" })?;
    db.execute_batch(
        "CREATE TABLE article (id INTEGER PRIMARY KEY, url TEXT NOT NULL, url_hash TEXT NOT NULL UNIQUE,
             title TEXT NOT NULL, date TEXT, source TEXT, content TEXT NOT NULL, raw_path TEXT NOT NULL,
             text_path TEXT NOT NULL)",
    )?;
    let root = File::open(dir)?;
    let mut stored = 0;
    while let Ok(first) = articles.recv() {
        let batch: Vec<Article> = std::iter::once(first).chain(articles.try_iter().take(BATCH - 1)).collect();
        let transaction = db.transaction()?;
        {
            let mut insert = transaction.prepare_cached(
                "INSERT OR IGNORE INTO article (url, url_hash, title, date, source, content, raw_path, text_path)
                 VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            )?;
            for a in &batch {
                stored += insert.execute((
                    &a.url,
                    &a.url_hash,
                    &a.title,
                    &a.date,
                    &a.source,
                    &a.text,
                    &a.raw_path,
                    &a.text_path,
                ))? as u64;
            }
        }
        if power {
            // The files that these rows name must not be behind them: one call for the batch.
            rustix::fs::syncfs(&root)?;
        }
        transaction.commit()?;
    }
    Ok(stored)
}
