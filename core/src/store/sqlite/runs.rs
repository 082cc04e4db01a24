//! Runs, the frontier and the request log.

use rusqlite::{Connection, OptionalExtension, Row, named_params, params};

use super::rows::{self, Fault, json};
use crate::clock::Timestamp;
use crate::model::{Entry, RequestLog};
use crate::store::types::{
    FailedEntry, FailureRecord, PageRecord, RunCounts, RunEnd, RunEndState, RunOptions, RunState,
};
use crate::store::{StoreError, sanitize};

/// How often an entry is tried before it is given up: five runs of an hourly target are most of a morning.
pub(super) const ATTEMPTS: u32 = 5;

/// Takes up the target's unfinished run, or makes a new one.
pub(super) fn begin(
    db: &Connection,
    target_id: i64,
    options: &RunOptions,
    now: Timestamp,
) -> Result<RunState, Fault> {
    let target: Option<i64> = db
        .prepare_cached("SELECT id FROM crawl_target WHERE id = ?")?
        .query_row([target_id], |row| row.get(0))
        .optional()?;
    if target.is_none() {
        return Err(StoreError::Missing { what: "target", name: format!("number {target_id}") }.into());
    }
    let ended: u32 = db
        .prepare_cached("SELECT count(*) FROM crawl_run WHERE target_id = ? AND state IN ('done', 'failed')")?
        .query_row([target_id], |row| row.get(0))?;
    let gap = db
        .prepare_cached(
            "SELECT 1 FROM crawl_run WHERE target_id = ?1 AND state = 'failed' AND pages > 0 AND NOT listing_done
                 AND id > (SELECT coalesce(max(id), 0) FROM crawl_run WHERE target_id = ?1 AND state = 'done')",
        )?
        .exists([target_id])?;
    let unfinished = db
        .prepare_cached(
            "SELECT * FROM crawl_run WHERE target_id = ? AND state IN ('running', 'interrupted')",
        )?
        .query_row([target_id], |row| run_state(row, ended, gap))
        .optional()?;
    if let Some(run) = unfinished {
        db.prepare_cached(
            "UPDATE crawl_run SET state = 'running', reason = NULL, ended_at = NULL WHERE id = ?",
        )?
        .execute([run.run_id])?;
        return Ok(run);
    }
    db.prepare_cached(
        "INSERT INTO crawl_run (target_id, state, options_json, started_at) VALUES (?, 'running', ?, ?)",
    )?
    .execute(params![target_id, json(options), now.0])?;
    Ok(RunState {
        run_id: db.last_insert_rowid(),
        resumed: false,
        options: options.clone(),
        cursor: None,
        session: Vec::new(),
        pages: 0,
        listing_done: false,
        counts: RunCounts::default(),
        runs_of_target: ended,
        gap,
    })
}

fn run_state(row: &Row<'_>, runs_of_target: u32, gap: bool) -> rusqlite::Result<RunState> {
    Ok(RunState {
        run_id: row.get("id")?,
        resumed: true,
        // Options of an older program that cannot be read any more: the defaults are a plain run.
        options: serde_json::from_str(row.get_ref("options_json")?.as_str()?).unwrap_or_default(),
        cursor: row.get("cursor")?,
        session: row.get("session")?,
        pages: row.get("pages")?,
        listing_done: row.get("listing_done")?,
        counts: RunCounts {
            listed: row.get("listed")?,
            new: row.get("new")?,
            duplicate: row.get("duplicate")?,
            failed: row.get("failed")?,
            attachments: row.get("attachments")?,
            attachments_failed: row.get("attachments_failed")?,
            requests: row.get("requests")?,
        },
        runs_of_target,
        gap,
    })
}

/// Puts a page's entries into the frontier and moves the run on.
pub(super) fn record_page(db: &Connection, page: &mut PageRecord) -> Result<Vec<Entry>, Fault> {
    let moved = db
        .prepare_cached(
            "UPDATE crawl_run SET cursor = ?2, session = ?3, listing_done = ?4, pages = pages + 1 WHERE id = ?1",
        )?
        .execute(params![page.run_id, page.cursor, page.session, page.listing_done])?;
    if moved == 0 {
        return Err(StoreError::Missing { what: "run", name: page.run_id.to_string() }.into());
    }
    let mut entries = Vec::with_capacity(page.entries.len());
    for entry in &page.entries {
        let mut entry = entry.clone();
        for cut in sanitize::clean_entry(&mut entry) {
            tracing::warn!(url = %entry.url, %cut, "a list row was cleaned");
        }
        entry.id = add_to_frontier(db, page.target_id, &entry, page.at)?;
        entries.push(entry);
    }
    insert_log(db, page.site_id, page.target_id, None, &mut page.log)?;
    let counts = RunCounts { requests: page.log.len() as u32, ..page.counts };
    add_counts(db, page.run_id, counts, false)?;
    Ok(entries)
}

/// The number of the entry's row: the one it has, or a new one.
fn add_to_frontier(db: &Connection, target_id: i64, entry: &Entry, at: Timestamp) -> Result<i64, Fault> {
    // Looked up first, as an insert that is ignored would use up a number.
    let waits: Option<(i64, bool)> = db
        .prepare_cached("SELECT id, state = 'dead' FROM entry WHERE target_id = ? AND url_hash = ?")?
        .query_row(params![target_id, entry.url_hash], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    if let Some((id, dead)) = waits {
        if dead {
            db.prepare_cached("UPDATE entry SET state = 'pending', attempts = 0 WHERE id = ?")?
                .execute([id])?;
        }
        return Ok(id);
    }
    let published = entry.published.as_ref();
    db.prepare_cached(
        "INSERT INTO entry (target_id, url, url_hash, native_post_id, title, published_raw, publish_time,
             publish_date, publish_precision, pinned, fields_json, found_at)
         VALUES (:target, :url, :hash, :native, :title, :raw, :time, :date, :precision, :pinned, :fields, :at)",
    )?
    .execute(named_params! {
        ":target": target_id, ":url": entry.url, ":hash": entry.url_hash, ":native": entry.native_id,
        ":title": entry.title, ":raw": entry.published_raw, ":time": published.map(|p| p.at.0),
        ":date": published.map(|p| &p.date), ":precision": published.map(|p| rows::precision(p.precision)),
        ":pinned": entry.pinned, ":fields": json(&entry.fields), ":at": at.0,
    })?;
    Ok(db.last_insert_rowid())
}

/// The frontier; see [`crate::store::Store::waiting`].
pub(super) fn waiting(db: &Connection, target_id: i64, limit: u32) -> Result<Vec<Entry>, Fault> {
    let mut query =
        db.prepare_cached("SELECT * FROM entry WHERE target_id = ? AND state = ? ORDER BY id LIMIT ?")?;
    let mut entries = Vec::new();
    for state in ["pending", "failed"] {
        let room = limit.saturating_sub(entries.len() as u32);
        for entry in query.query_map(params![target_id, state, room], rows::entry)? {
            entries.push(entry?);
        }
    }
    Ok(entries)
}

/// Counts a try of an entry, and gives it up when it was the last.
pub(super) fn record_failure(db: &Connection, failure: &mut FailureRecord) -> Result<(), Fault> {
    sanitize::clean_message(&mut failure.message);
    let again: Option<bool> = db
        .prepare_cached("SELECT failed_run IS ?2 FROM entry WHERE id = ?1")?
        .query_row(params![failure.entry_id, failure.run_id], |row| row.get(0))
        .optional()?;
    insert_log(db, failure.site_id, failure.target_id, None, &mut failure.log)?;
    let requests = failure.log.len() as u32;
    // Without a row there is nothing to try again: it was stored, or its target is gone.
    let failed = u32::from(again == Some(false));
    add_counts(db, failure.run_id, RunCounts { failed, requests, ..RunCounts::default() }, false)?;
    db.prepare_cached(
        "UPDATE entry SET attempts = attempts + 1, failed_run = :run, failed_at = :at, error_class = :class,
             error_msg = :message,
             state = CASE WHEN :final OR attempts + 1 >= :limit THEN 'dead' ELSE 'failed' END
         WHERE id = :id",
    )?
    .execute(named_params! {
        ":run": failure.run_id, ":at": failure.at.0, ":class": failure.class.as_str(),
        ":message": failure.message, ":final": failure.is_final, ":limit": ATTEMPTS, ":id": failure.entry_id,
    })?;
    Ok(())
}

/// The failure ledger.
pub(super) fn failures(
    db: &Connection,
    target_id: i64,
    run: Option<i64>,
    limit: u32,
) -> Result<Vec<FailedEntry>, Fault> {
    let mut query = db.prepare_cached(
        "SELECT * FROM entry WHERE target_id = ?1 AND state IN ('failed', 'dead')
             AND (?2 IS NULL OR failed_run = ?2) ORDER BY failed_at DESC, id DESC LIMIT ?3",
    )?;
    let failed = query.query_map(params![target_id, run, limit], |row| {
        Ok(FailedEntry {
            entry: rows::entry(row)?,
            class: row.get::<_, Option<String>>("error_class")?.unwrap_or_default(),
            message: row.get::<_, Option<String>>("error_msg")?.unwrap_or_default(),
            attempts: row.get("attempts")?,
            dead: row.get_ref("state")?.as_str()? == "dead",
            run_id: row.get::<_, Option<i64>>("failed_run")?.unwrap_or_default(),
            at: Timestamp(row.get::<_, Option<i64>>("failed_at")?.unwrap_or_default()),
        })
    })?;
    Ok(failed.collect::<Result<_, _>>()?)
}

/// Adds to a run's counters; `healed`: an entry that failed earlier in this run succeeded after all.
pub(super) fn add_counts(
    db: &Connection,
    run_id: i64,
    more: RunCounts,
    healed: bool,
) -> Result<(), rusqlite::Error> {
    db.prepare_cached(
        "UPDATE crawl_run SET listed = listed + :listed, new = new + :new, duplicate = duplicate + :duplicate,
             failed = max(0, failed + :failed), attachments = attachments + :attachments,
             attachments_failed = attachments_failed + :attachments_failed, requests = requests + :requests
         WHERE id = :id",
    )?
    .execute(named_params! {
        ":listed": more.listed, ":new": more.new, ":duplicate": more.duplicate,
        ":failed": i64::from(more.failed) - i64::from(healed), ":attachments": more.attachments,
        ":attachments_failed": more.attachments_failed, ":requests": more.requests, ":id": run_id,
    })?;
    Ok(())
}

/// Logs requests (S2-12).
pub(super) fn insert_log(
    db: &Connection,
    site_id: i64,
    target_id: i64,
    article_id: Option<i64>,
    log: &mut [RequestLog],
) -> Result<(), rusqlite::Error> {
    let mut insert = db.prepare_cached(
        "INSERT INTO crawl_log (site_id, target_id, article_id, occurred_at, purpose, success, http_status,
             fetch_strategy, duration_ms, error_msg, url, verdict) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    )?;
    for request in log {
        sanitize::clean_request(request);
        insert.execute(params![
            site_id,
            target_id,
            article_id,
            request.occurred_at.0,
            request.purpose,
            request.success,
            request.http_status,
            request.fetch_strategy,
            i64::try_from(request.duration_ms).unwrap_or(i64::MAX),
            request.error,
            request.url,
            request.verdict,
        ])?;
    }
    Ok(())
}

/// Ends a run; see [`crate::store::Store::end_run`].
pub(super) fn end(db: &Connection, run_id: i64, end: &RunEnd, now: Timestamp) -> Result<(), Fault> {
    let mut reason = end.reason.clone();
    sanitize::clean_message(&mut reason);
    let target: Option<i64> = db
        .prepare_cached(
            "UPDATE crawl_run SET state = ?2, reason = ?3, ended_at = ?4 WHERE id = ?1 RETURNING target_id",
        )?
        .query_row(params![run_id, end.state.as_str(), reason, now.0], |row| row.get(0))
        .optional()?;
    let Some(target) = target else {
        return Err(StoreError::Missing { what: "run", name: run_id.to_string() }.into());
    };
    if end.state != RunEndState::Interrupted {
        db.prepare_cached(
            "UPDATE crawl_target SET last_crawled_at = ?2,
                 last_article_time = max(coalesce(last_article_time, ?3), coalesce(?3, last_article_time))
             WHERE id = ?1",
        )?
        .execute(params![target, now.0, end.last_article_time.map(|time| time.0)])?;
    }
    Ok(())
}
