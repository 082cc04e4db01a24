//! Articles: what is known before one is fetched, how one is stored once, how they are read and checked.

use std::sync::Arc;

use rusqlite::{CachedStatement, Connection, OptionalExtension, Params, named_params, params};

use super::rows::{self, Fault, json};
use super::{queue, runs, search};
use crate::model::{Article, DownloadStatus};
use crate::store::StoreError;
use crate::store::files::Files;
use crate::store::sanitize;
use crate::store::types::{ArticleQuery, ArticleRecord, EntryKey, Known, Recorded, RunCounts};

/// Shortest piece of a `url_hash` that may name an article: eight hex digits tell millions apart.
const HASH_PREFIX: usize = 8;

/// Lines a check reports of each kind before it only counts.
const CHECK_LINES: usize = 100;

/// S2-41 and I10: the address first, then the site's own identifier, then the frontier.
pub(super) fn known(db: &Connection, site_id: i64, target_id: i64, key: &EntryKey) -> Result<Known, Fault> {
    let native = key.native_id.as_deref().and_then(sanitize::native_key);
    let stored = stored(db, site_id, target_id, &key.url_hash, native.as_deref())?;
    if stored != Known::New {
        return Ok(stored);
    }
    let dead: Option<bool> = db
        .prepare_cached("SELECT state = 'dead' FROM entry WHERE target_id = ? AND url_hash = ?")?
        .query_row(params![target_id, key.url_hash], |row| row.get(0))
        .optional()?;
    Ok(match dead {
        None => Known::New,
        Some(false) => Known::Waiting,
        Some(true) => Known::Dead,
    })
}

fn stored(
    db: &Connection,
    site_id: i64,
    target_id: i64,
    url_hash: &str,
    native: Option<&str>,
) -> Result<Known, rusqlite::Error> {
    let owner: Option<(i64, bool)> = db
        .prepare_cached(
            "SELECT target_id, coalesce(run_id = (SELECT id FROM crawl_run WHERE target_id = ?2
                 AND state IN ('running', 'interrupted')), 0) FROM article WHERE url_hash = ?1",
        )?
        .query_row(params![url_hash, target_id], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    if let Some((owner, this_run)) = owner {
        return Ok(match owner == target_id {
            true if this_run => Known::ThisRun,
            true => Known::SameTarget,
            false => Known::OtherTarget,
        });
    }
    let Some(native) = native else { return Ok(Known::New) };
    let twin = db
        .prepare_cached("SELECT 1 FROM article WHERE site_id = ? AND native_post_id = ?")?
        .exists(params![site_id, native])?;
    Ok(if twin { Known::OtherTarget } else { Known::New })
}

/// Cleans a record before it is handed to the writer; says in words what was taken (S2-16).
pub(super) fn clean(record: &mut ArticleRecord) -> Vec<String> {
    record.log.iter_mut().for_each(sanitize::clean_request);
    let cuts = sanitize::clean_article(Arc::make_mut(&mut record.article));
    for cut in &cuts {
        let (field, dropped, characters) = (&cut.field, cut.dropped, cut.cut);
        tracing::warn!(url = %record.article.url, field, dropped, cut = characters, "an article was cleaned");
    }
    cuts.iter().map(ToString::to_string).collect()
}

/// Stores a cleaned article; see [`crate::store::Store::record_article`].
pub(super) fn record(
    db: &Connection,
    record: &ArticleRecord,
    cut: &[String],
    words: &search::Words,
) -> Result<Recorded, Fault> {
    let article = &record.article;
    let native = article.native_post_id.as_deref();
    let known = stored(db, record.site_id, record.target_id, &article.url_hash, native)?;
    let healed: Option<bool> = db
        .prepare_cached("DELETE FROM entry WHERE id = ?1 RETURNING failed_run IS ?2")?
        .query_row(params![record.entry_id, record.run_id], |row| row.get(0))
        .optional()?;
    let stored_here = known == Known::New;
    if stored_here && healed.is_none() {
        // The number must come from the frontier, or it could be given twice.
        return Err(StoreError::Missing { what: "entry", name: record.entry_id.to_string() }.into());
    }
    let mut counts = RunCounts { requests: record.log.len() as u32, ..RunCounts::default() };
    if stored_here {
        insert(db, record)?;
        search::insert(db, record.entry_id, record.site_id, record.target_id, words)?;
        for follow in &record.then {
            queue::submit_one(db, follow, article.fetched_at)?;
        }
        let done = article.attachments.iter().filter(|file| file.status == DownloadStatus::Done).count();
        counts.new = 1;
        counts.attachments = done as u32;
        counts.attachments_failed = (article.attachments.len() - done) as u32;
    } else {
        counts.duplicate = 1;
    }
    let article_id = stored_here.then_some(record.entry_id);
    runs::insert_log(db, record.site_id, record.target_id, article_id, &mut record.log.clone())?;
    runs::add_counts(db, record.run_id, counts, healed == Some(true))?;
    if let Some(session) = &record.session {
        db.prepare_cached("UPDATE crawl_run SET session = ? WHERE id = ?")?
            .execute(params![session, record.run_id])?;
    }
    Ok(match stored_here {
        true => Recorded::Stored { article: record.article.clone(), cut: cut.to_vec() },
        false => Recorded::Duplicate(known),
    })
}

fn insert(db: &Connection, record: &ArticleRecord) -> Result<(), rusqlite::Error> {
    let article = &record.article;
    let published = article.published.as_ref();
    db.prepare_cached(
        "INSERT INTO article (id, site_id, target_id, dept_id, run_id, url, url_hash, native_post_id, title,
             publish_time, publish_date, publish_precision, source_raw, publisher, index_no, doc_no, topic_words,
             open_category, channel_name, channel_path, content_category, content_subcategory, content_text,
             truncated, raw_html_path, text_path, has_attachment, inline_image_count, status, fetch_strategy,
             provenance_json, metadata_json, fetched_at)
         VALUES (:id, :site, :target, (SELECT dept_id FROM crawl_target WHERE id = :target), :run, :url, :hash,
             :native, :title, :time, :date, :precision, :source, :publisher, :index_no, :doc_no, :topic_words,
             :open_category, :channel_name, :channel_path, :category, :subcategory, :text, :truncated, :raw_path,
             :text_path, :has_attachment, :images, :status, :strategy, :provenance, :metadata, :fetched_at)",
    )?
    .execute(named_params! {
        ":id": record.entry_id, ":site": record.site_id, ":target": record.target_id, ":run": record.run_id,
        ":url": article.url, ":hash": article.url_hash, ":native": article.native_post_id,
        ":title": article.title, ":time": published.map(|p| p.at.0), ":date": published.map(|p| &p.date),
        ":precision": published.map(|p| rows::precision(p.precision)), ":source": article.source_raw,
        ":publisher": article.publisher, ":index_no": article.index_no, ":doc_no": article.doc_no,
        ":topic_words": article.topic_words, ":open_category": article.open_category,
        ":channel_name": article.channel_name, ":channel_path": article.channel_path,
        ":category": article.content_category, ":subcategory": article.content_subcategory,
        ":text": article.content_text, ":truncated": article.truncated, ":raw_path": article.raw_html_path,
        ":text_path": article.text_path, ":has_attachment": article.has_attachment,
        ":images": article.inline_image_count, ":status": article.status.as_str(),
        ":strategy": article.fetch_strategy, ":provenance": json(&article.provenance),
        ":metadata": json(&article.metadata), ":fetched_at": article.fetched_at.0,
    })?;
    let mut attach = db.prepare_cached(
        "INSERT INTO attachment (article_id, url, file_path, filename, mime, size_bytes, sha256, download_status,
             error_msg) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
    )?;
    for file in &article.attachments {
        let status = match file.status {
            DownloadStatus::Done => "done",
            DownloadStatus::Failed => "failed",
        };
        let size = file.size_bytes.map(|size| i64::try_from(size).unwrap_or(i64::MAX));
        attach.execute(params![
            record.entry_id,
            file.url,
            file.file_path,
            file.filename,
            file.mime,
            size,
            file.sha256,
            status,
            file.error,
        ])?;
    }
    Ok(())
}

const SELECT: &str = "SELECT a.*, s.site_code, t.target_code FROM article a
     JOIN crawl_site s ON s.id = a.site_id JOIN crawl_target t ON t.id = a.target_id";

pub(super) fn by_id(db: &Connection, id: i64) -> Result<Option<Article>, Fault> {
    let query = db.prepare_cached(&format!("{SELECT} WHERE a.id = ?"))?;
    Ok(collect(db, query, [id])?.pop())
}

/// By number, address or piece of the hash; see [`crate::store::Store::find_article`].
pub(super) fn find(db: &Connection, key: &str) -> Result<Option<Article>, Fault> {
    // Eight digits can be a number or a piece of a hash: the number is what `ls` shows, so it goes first.
    if let Ok(id) = key.parse::<i64>()
        && let Some(article) = by_id(db, id)?
    {
        return Ok(Some(article));
    }
    if key.len() >= HASH_PREFIX && key.len() <= 64 && key.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        let from = key.to_ascii_lowercase();
        // Hex digits end at `f`, so `g` is above every continuation: a range on the unique index.
        let to = format!("{from}g");
        let query =
            db.prepare_cached(&format!("{SELECT} WHERE a.url_hash >= ? AND a.url_hash < ? LIMIT 2"))?;
        let mut found = collect(db, query, [from, to])?;
        return Ok(if found.len() == 1 { found.pop() } else { None });
    }
    // As it was written, by reading all rows: an index for a question asked by hand would cost every insert.
    // Who can normalise asks by the hash.
    let query = db.prepare_cached(&format!("{SELECT} WHERE a.url = ? LIMIT 1"))?;
    Ok(collect(db, query, [key])?.pop())
}

/// A page of articles by ascending number.
pub(super) fn page(db: &Connection, query: &ArticleQuery) -> Result<Vec<Article>, Fault> {
    // Only the conditions that are asked for, so that each form finds its index.
    let mut sql = format!("{SELECT} WHERE a.id > :after");
    let mut values: Vec<(&str, &dyn rusqlite::ToSql)> =
        vec![(":after", &query.after_id), (":limit", &query.limit)];
    if let Some(site) = &query.site {
        sql += " AND a.site_id = (SELECT id FROM crawl_site WHERE site_code = :site)";
        values.push((":site", site));
    }
    if let Some(target) = &query.target {
        sql += " AND a.target_id = (SELECT id FROM crawl_target WHERE target_code = :target)";
        values.push((":target", target));
    }
    if let Some(run) = &query.run {
        sql += " AND a.run_id = :run";
        values.push((":run", run));
    }
    sql += " ORDER BY a.id LIMIT :limit";
    collect(db, db.prepare_cached(&sql)?, values.as_slice())
}

fn collect(
    db: &Connection,
    mut query: CachedStatement<'_>,
    values: impl Params,
) -> Result<Vec<Article>, Fault> {
    let mut articles = query.query_map(values, rows::article)?.collect::<Result<Vec<_>, _>>()?;
    let mut attached = db.prepare_cached("SELECT * FROM attachment WHERE article_id = ? ORDER BY id")?;
    for article in &mut articles {
        article.attachments =
            attached.query_map([article.id], rows::attachment)?.collect::<Result<Vec<_>, _>>()?;
    }
    Ok(articles)
}

/// What is wrong with rows and files.
pub(super) fn check(db: &Connection, files: &Files) -> Result<Vec<String>, Fault> {
    let mut found = Vec::new();
    let mut integrity = db.prepare("PRAGMA integrity_check(100)")?;
    for line in integrity.query_map([], |row| row.get::<_, String>(0))? {
        let line = line?;
        if line != "ok" {
            found.push(format!("database: {line}"));
        }
    }
    let mut keys = db.prepare("PRAGMA foreign_key_check")?;
    let broken = keys.query_map([], |row| {
        Ok((row.get::<_, String>(0)?, row.get::<_, Option<i64>>(1)?, row.get::<_, String>(2)?))
    })?;
    for row in broken.take(CHECK_LINES) {
        let (table, id, parent) = row?;
        found.push(format!("{table} row {}: its {parent} is not there", id.unwrap_or_default()));
    }
    let mut named = db.prepare(
        "SELECT id, raw_html_path, NULL FROM article WHERE raw_html_path IS NOT NULL
         UNION ALL SELECT id, text_path, NULL FROM article WHERE text_path IS NOT NULL
         UNION ALL SELECT article_id, file_path, size_bytes FROM attachment WHERE file_path IS NOT NULL
         UNION ALL SELECT article_id, 'blobs/' || substr(sha256, 1, 2) || '/' || sha256, size_bytes FROM article_version",
    )?;
    let mut wrong = 0usize;
    let rows = named.query_map([], |row| {
        Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?, row.get::<_, Option<i64>>(2)?))
    })?;
    for row in rows {
        let (id, rel, size) = row?;
        if let Some(problem) = file_problem(files, &rel, size) {
            wrong += 1;
            if wrong <= CHECK_LINES {
                found.push(format!("article {id}: {rel}: {problem}"));
            }
        }
    }
    if wrong > CHECK_LINES {
        found.push(format!("… and {} more files", wrong - CHECK_LINES));
    }
    Ok(found)
}

fn file_problem(files: &Files, rel: &str, size: Option<i64>) -> Option<String> {
    let path = match files.os_path(rel) {
        Ok(path) => path,
        Err(error) => return Some(error.to_string()),
    };
    match std::fs::metadata(path) {
        Err(error) => Some(error.to_string()),
        Ok(there) if !there.is_file() => Some("is not a file".to_owned()),
        Ok(there) if size.is_some_and(|size| i64::try_from(there.len()) != Ok(size)) => {
            Some(format!("has {} bytes instead of {}", there.len(), size.unwrap_or_default()))
        }
        Ok(_) => None,
    }
}
