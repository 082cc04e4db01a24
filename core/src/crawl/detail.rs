//! One entry: fetch its page, read it, download its files, store it all in one transaction.

use std::sync::Arc;

use super::attachments::download_all;
use super::context::CrawlContext;
use super::enrich::enrich;
use super::turns::{OwnedCall, StepError, drive};
use super::verdict::{ENOUGH_TEXT, Findings, status};
use crate::adapter::{Step, contract};
use crate::clock::Timestamp;
use crate::error::Error;
use crate::extract::{self, Extracted};
use crate::model::{Article, DownloadStatus, Entry, Published, RequestLog};
use crate::store::{ArticleRecord, FailureRecord, Recorded, StoreError, layout};

/// What became of one entry.
pub(super) enum EntryOutcome {
    Stored(Arc<Article>),
    Duplicate,
    Failed(StepError),
    /// Its host is left alone: the entry waits as it was.
    Postponed(StepError),
}

/// The part of an article that its page gives, with its files written.
struct Read {
    extracted: Extracted,
    published: Option<Published>,
    fetched_at: Timestamp,
    raw_html_path: String,
    text_path: String,
}

/// What was read of an entry, ready to be recorded.
pub(super) struct EntryRead {
    found: Result<Article, StepError>,
    log: Vec<RequestLog>,
    /// The adapter's session, when the entry changed it.
    session: Option<Vec<u8>>,
}

impl EntryRead {
    /// Whether its host is left alone, so that nothing was read.
    pub fn is_postponed(&self) -> bool {
        self.found.as_ref().is_err_and(|error| error.cooling.is_some())
    }
}

/// Fetches one entry with its files. An `Err` is the store's: it ends the run.
pub(super) async fn read_entry(ctx: &CrawlContext, entry: &Entry) -> Result<EntryRead, Error> {
    let mut log = Vec::new();
    let before = ctx.session();
    let found = match read(ctx, entry, &mut log).await {
        Ok(read) => {
            let mut article = assemble(ctx, entry, read?, &mut log).await;
            enrich(&ctx.enrichers, &mut article).await;
            Ok(article)
        }
        Err(error) => {
            keep_evidence(ctx, entry, &error).await;
            Err(error)
        }
    };
    let session = Some(ctx.session()).filter(|session| *session != before);
    Ok(EntryRead { found, log, session })
}

/// Records what was read in one transaction; how it ended, and how many requests it took. An `Err` is the
/// store's: it ends the run.
pub(super) async fn record_entry(
    ctx: &CrawlContext,
    run_id: i64,
    entry: &Entry,
    read: EntryRead,
) -> Result<(EntryOutcome, u32), Error> {
    let EntryRead { found, log, session } = read;
    let requests = log.len() as u32;
    match found {
        Ok(article) => {
            let then = ctx.channels.announce(&article);
            let record = ArticleRecord {
                run_id,
                site_id: ctx.site.id,
                target_id: ctx.target.id,
                entry_id: entry.id,
                article: Arc::new(article),
                log,
                session,
                then,
            };
            let outcome = match ctx.store.record_article(record).await? {
                Recorded::Stored { article, .. } => EntryOutcome::Stored(article),
                Recorded::Duplicate(_) => EntryOutcome::Duplicate,
            };
            Ok((outcome, requests))
        }
        Err(error) if error.cooling.is_some() => {
            if !log.is_empty() {
                ctx.store.log_requests(ctx.site.id, ctx.target.id, log).await?;
            }
            Ok((EntryOutcome::Postponed(error), requests))
        }
        Err(error) => {
            let failure = FailureRecord {
                run_id,
                site_id: ctx.site.id,
                target_id: ctx.target.id,
                entry_id: entry.id,
                at: ctx.clock.now(),
                class: error.class,
                message: error.message.clone(),
                is_final: !error.may_heal(),
                log,
            };
            ctx.store.record_failure(failure).await?;
            Ok((EntryOutcome::Failed(error), requests))
        }
    }
}

/// Reads the page of an entry and writes its files. The inner error is the store's.
async fn read(
    ctx: &CrawlContext,
    entry: &Entry,
    log: &mut Vec<RequestLog>,
) -> Result<Result<Read, StoreError>, StepError> {
    let row = contract::Entry {
        url: entry.url.clone(),
        title: entry.title.clone(),
        published: entry.published_raw.clone(),
        native_id: entry.native_id.clone(),
        pinned: entry.pinned,
        fields: entry.fields.clone(),
    };
    let (known, site_name) = (entry.clone(), ctx.site.name.clone());
    let endings = ctx.endings.clone();
    let (site, target) = (ctx.site.code.clone(), ctx.target.code.clone());
    let (zone, clock, files) = (ctx.zone, ctx.clock.clone(), ctx.files.clone());
    // The files are written here, on the thread that has the page in its hands: no copy and no further hop.
    let read = drive(ctx, OwnedCall::Detail { entry: row }, log, move |step, pages| match step {
        Step::Article(found) => {
            let fetched_at = clock.now();
            let setting = extract::Setting {
                site_name: site_name.clone(),
                endings: endings.lock().map(|endings| endings.known()).unwrap_or_default(),
                zone,
                now: fetched_at,
                policy: extract::Policy::default(),
            };
            let extracted = extract::article(&found, pages, &known, &setting);
            if let Ok(mut endings) = endings.lock() {
                endings.see(&extracted.page_title);
            }
            let published = extracted.published.clone().or_else(|| known.published.clone());
            let (when, hash) = (published.as_ref(), &known.url_hash);
            let raw_html_path = layout::raw_html_path(&site, &target, when, fetched_at, hash);
            let text_path = layout::text_path(&site, &target, when, fetched_at, hash);
            // A document that came with its list has no page: what it was made from is kept instead.
            let raw = match (pages.last(), &found.content) {
                (Some(page), _) => &page.body[..],
                (None, Some(contract::Body::Html(html))) => html.value.as_bytes(),
                (None, _) => &[],
            };
            let written = files
                .write_now(&raw_html_path, raw)
                .and_then(|()| files.write_now(&text_path, extracted.text.as_bytes()));
            Some(written.map(|()| Read { extracted, published, fetched_at, raw_html_path, text_path }))
        }
        _ => None,
    })
    .await?;
    read.ok_or_else(|| {
        StepError::new(crate::ErrorClass::Adapter, "the adapter answered a detail with a list")
    })
}

/// Downloads the attachments and puts the article together. Every path follows from the entry alone, so a
/// run that was killed here writes the same files again.
async fn assemble(ctx: &CrawlContext, entry: &Entry, read: Read, log: &mut Vec<RequestLog>) -> Article {
    let Read { extracted, published, fetched_at, raw_html_path, text_path } = read;
    let named = extracted.attachments.len();
    let attachments = download_all(ctx, entry, extracted.attachments, log).await;
    let downloaded = attachments.iter().filter(|file| file.status == DownloadStatus::Done).count();
    let status = status(Findings {
        // More than the rule asks for is not counted.
        text_chars: extracted.text.chars().take(ENOUGH_TEXT).count(),
        html_chars: extracted.html_chars,
        downloaded,
        attachments: named,
        images: extracted.inline_image_count as usize,
    });
    // The row's own fields are among them already.
    let mut fields = extracted.fields;
    if extracted.used_fallback {
        // S2-33, where readers of the store look for it.
        fields.insert("used_fallback".into(), "true".into());
        fields.extend(extracted.fallback_engine.map(|engine| ("fallback_engine".to_owned(), engine)));
    }
    let mut take = |name: &str, fallback: &Option<String>| {
        fields.remove(name).filter(|value| !value.trim().is_empty()).or_else(|| fallback.clone())
    };
    Article {
        id: entry.id,
        site: ctx.site.code.clone(),
        target: ctx.target.code.clone(),
        url: entry.url.clone(),
        url_hash: entry.url_hash.clone(),
        native_post_id: entry.native_id.clone(),
        title: extracted.title,
        published,
        source_raw: extracted.source,
        publisher: take("publisher", &None),
        index_no: take("index_no", &None),
        doc_no: take("doc_no", &None),
        topic_words: take("topic_words", &None),
        open_category: take("open_category", &None),
        channel_name: take("channel_name", &ctx.target.channel_name),
        channel_path: take("channel_path", &ctx.target.channel_path),
        content_category: take("content_category", &ctx.target.content_category),
        content_subcategory: take("content_subcategory", &ctx.target.content_subcategory),
        content_text: extracted.text,
        truncated: false,
        raw_html_path: Some(raw_html_path),
        text_path: Some(text_path),
        has_attachment: named > 0,
        inline_image_count: extracted.inline_image_count,
        status,
        fetch_strategy: "http".to_string(),
        provenance: extracted.provenance,
        metadata: fields,
        fetched_at,
        attachments,
    }
}

/// A page that is not shaped as expected is kept, so that somebody can see what changed.
pub(super) async fn keep_evidence(ctx: &CrawlContext, entry: &Entry, error: &StepError) {
    let Some(page) = &error.evidence else { return };
    let name = entry.url_hash.get(..16).unwrap_or("list");
    let rel = format!("evidence/{}/{}/{name}.html", ctx.site.code, ctx.target.code);
    if let Err(problem) = ctx.files.write(&rel, page.clone()).await {
        tracing::warn!(target = %ctx.target.code, "the page could not be kept as evidence: {problem}");
    }
}
