//! Coming due: the job and the next due time, in one transaction (C1).

use rusqlite::{Connection, OptionalExtension, params};
use serde_json::json;

use super::super::queue::submit_one;
use super::super::rows::Fault;
use super::{clock, decide, from_row, key, record, schedule};
use crate::clock::Timestamp;
use crate::deliver::{Message, Notice};
use crate::queue::{NewJob, UniqueFor};
use crate::schedule::due::{Due, come_due};
use crate::schedule::{BY_HAND, Decided, Rule, SCHEDULED, Schedule};
use crate::schedule::{FireAsk, Fired, FiredByHand};
use crate::schedule::{Overlap, TriggerError};

pub(in super::super) fn fire(db: &Connection, ask: &FireAsk) -> Result<Fired, Fault> {
    let mut due = db.prepare_cached(
        "SELECT * FROM schedule WHERE next_due_at IS NOT NULL AND next_due_at <= ?1 AND next_due_at > ?2
         ORDER BY next_due_at, id LIMIT ?3",
    )?;
    let after = ask.after.map_or(i64::MIN, |at| at.0);
    let rows =
        due.query_map(params![ask.now.0, after, ask.limit], from_row)?.collect::<Result<Vec<_>, _>>()?;
    let mut fired = Fired { due: rows.len() as u32, ..Fired::default() };
    for row in rows {
        let Some(due) = row.next_due_at else { continue };
        let decided = match come_due(&row, due, ask.now, ask.zone) {
            Ok(came) => one(db, &row, due, came, ask.now)?,
            Err(error) => switch_off(db, &row, due, &error, ask)?,
        };
        fired.jobs += u32::from(matches!(decided, Rule::Fired | Rule::FiredLate));
        fired.decided.push((row.name, due, decided));
    }
    if fired.due > 0 {
        clock::seen(db, ask.now)?;
    }
    Ok(fired)
}

/// One due time.
fn one(db: &Connection, row: &Schedule, due: Timestamp, came: Due, now: Timestamp) -> Result<Rule, Fault> {
    let mut rule = came.rule;
    let mut job = None;
    if came.fires {
        if is_off(db, row)? {
            rule = Rule::TargetOff;
        } else if row.overlap == Overlap::Skip
            && let Some(open) = open_job(db, row)?
        {
            (rule, job) = (Rule::StillBusy, Some(open));
        } else {
            let submitted = submit_one(db, &job_of(row, due, came.expires_at), now)?;
            job = Some(submitted.id);
            if !submitted.fresh {
                rule = Rule::AlreadyFired;
            }
        }
    }
    let made = matches!(rule, Rule::Fired | Rule::FiredLate);
    let seq: i64 = db
        .prepare_cached(
            "UPDATE schedule SET next_due_at = ?2, adaptive_at = coalesce(?3, adaptive_at),
                 last_due_at = CASE WHEN ?4 THEN ?5 ELSE last_due_at END,
                 last_fired_at = CASE WHEN ?4 THEN ?6 ELSE last_fired_at END,
                 last_job = CASE WHEN ?4 THEN ?7 ELSE last_job END,
                 last_status = CASE WHEN ?8 THEN 'skipped' ELSE last_status END, decisions = decisions + 1
             WHERE id = ?1 RETURNING decisions",
        )?
        .query_row(
            params![
                row.id,
                came.next.map(|at| at.0),
                came.adaptive_at.map(|at| at.0),
                made,
                due.0,
                now.0,
                job,
                rule == Rule::Skipped
            ],
            |row| row.get(0),
        )?;
    let decided = Decided { at: now, rule, due_at: Some(due), next_at: came.next, job, inputs: came.inputs };
    record(db, row.id, seq, &decided)?;
    Ok(rule)
}

fn job_of(row: &Schedule, due: Timestamp, expires_at: Option<Timestamp>) -> NewJob {
    let mut job = NewJob::new(row.kind.clone(), row.lane.clone())
        .payload(row.payload.clone())
        .priority(row.priority)
        .run_after(due)
        .once(key(row.id, due));
    job.expires_at = expires_at;
    job
}

/// S2-50, the first of the two checks: the switches as they are at this moment.
fn is_off(db: &Connection, row: &Schedule) -> Result<bool, Fault> {
    let Some(target) = row.target() else { return Ok(false) };
    let on: Option<bool> = db
        .prepare_cached(
            "SELECT t.enabled AND s.enabled FROM crawl_target t JOIN crawl_site s ON s.id = t.site_id
             WHERE t.target_code = ?",
        )?
        .query_row([target], |row| row.get(0))
        .optional()?;
    Ok(on != Some(true))
}

/// The last job of a schedule, or a crawl of its target that was asked for by hand, if it is not over.
fn open_job(db: &Connection, row: &Schedule) -> Result<Option<i64>, Fault> {
    const OPEN: &str = "state IN ('scheduled', 'queued', 'retry_wait', 'running', 'cancelling')";
    if let Some(last) = row.last_job {
        let open = db
            .prepare_cached(&format!("SELECT id FROM job WHERE id = ? AND {OPEN}"))?
            .query_row([last], |row| row.get(0))
            .optional()?;
        if open.is_some() {
            return Ok(open);
        }
    }
    let Some(target) = row.target() else { return Ok(None) };
    let by_hand = db
        .prepare_cached(&format!(
            "SELECT id FROM job WHERE unique_key = ? AND unique_for = 'live' AND {OPEN}"
        ))?
        .query_row([format!("{}:{target}", row.kind)], |row| row.get(0))
        .optional()?;
    Ok(by_hand)
}

/// S3-8: one that cannot come due is switched off, and somebody is told.
fn switch_off(
    db: &Connection,
    row: &Schedule,
    due: Timestamp,
    error: &TriggerError,
    ask: &FireAsk,
) -> Result<Rule, Fault> {
    let why = error.to_string();
    tracing::warn!(schedule = %row.name, %error, "a schedule that cannot come due was switched off");
    db.prepare_cached(
        "UPDATE schedule SET enabled = 0, next_due_at = NULL, off_why = ?2, updated_at = ?3 WHERE id = ?1",
    )?
    .execute(params![row.id, why, ask.now.0])?;
    let (rule, due_at) = (Rule::BadCron, Some(due));
    decide(
        db,
        row.id,
        &Decided { at: ask.now, rule, due_at, next_at: None, job: None, inputs: json!({ "error": why }) },
    )?;
    if let Some(watch) = &ask.alerts {
        let message =
            format!("{}: 定时计划无效，已停用 / its schedule is invalid and was switched off", row.name);
        let key = format!("schedule-off:{}:{}", row.id, ask.now.0);
        let mut message = Message::new(&key, "alert", message, ask.now);
        message.text = why;
        message.fields.insert("schedule".to_owned(), row.name.clone());
        let notice = Notice::Message(Box::new(message));
        for channel in &watch.channels {
            submit_one(db, &notice.job(channel, &key), ask.now)?;
        }
    }
    Ok(rule)
}

pub(in super::super) fn fire_by_hand(
    db: &Connection,
    name: &str,
    now: Timestamp,
) -> Result<FiredByHand, Fault> {
    let Some(row) = schedule(db, name)? else { return Ok(FiredByHand::Missing) };
    if is_off(db, &row)? {
        return Ok(FiredByHand::TargetOff);
    }
    if let Some(open) = open_job(db, &row)? {
        return Ok(FiredByHand::Busy(open));
    }
    // Of its own: what is due by itself then is another job.
    let mut job = job_of(&row, now, None);
    job.unique = Some((format!("{SCHEDULED}{}{BY_HAND}", row.id), UniqueFor::Live));
    let submitted = submit_one(db, &job, now)?;
    db.prepare_cached("UPDATE schedule SET last_fired_at = ?2, last_job = ?3 WHERE id = ?1")?
        .execute(params![row.id, now.0, submitted.id])?;
    let (rule, job) = (Rule::ByHand, Some(submitted.id));
    let decided = Decided { at: now, rule, due_at: None, next_at: row.next_due_at, job, inputs: json!(null) };
    decide(db, row.id, &decided)?;
    Ok(FiredByHand::Job(submitted.id))
}
