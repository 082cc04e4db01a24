//! A look is written down (S0-19, S0-22): the source's row, the schedule's due time and the decision, in one transaction, so that
//! looks of several processes add up.

use rusqlite::{Connection, OptionalExtension, params};
use serde_json::json;

use super::super::rows::Fault;
use super::{clock, decide, schedule, stats};
use crate::clock::Timestamp;
use crate::schedule::classic::{Entry, Looked, SourceStats, update_source_stats};
use crate::schedule::due::adaptive_policy;
use crate::schedule::look::{Layer, Look, LookHistory, PastLook, canonical, next_look};
use crate::schedule::said::{FeedSaid, Said};
use crate::schedule::{Adaptive, Combine, Decided, Rule, Trigger, target_schedule};

/// S0-18: entries that an analysis reads.
const RECENT: u32 = 30;
/// Looks that found something, and so many articles, are what a history goes by.
const LOOKS: u32 = 400;
const ARTICLES: u32 = 2_000;
/// Articles of the first look: what was on the page, and below it.
const FIRST_PAGE: usize = 300;

pub(in super::super) fn record_look(db: &Connection, look: &Look) -> Result<SourceStats, Fault> {
    let now = look.now.0.div_euclid(1_000);
    let old = match stats::source_stats(db, &look.target, look.now)? {
        Some(old) => old,
        None => SourceStats::new(&look.target, look.source_type.as_str(), now),
    };
    let entries = recent_entries(db, &look.target, RECENT)?;
    let error = match look.failed {
        Some(class) => {
            let waits = look.holds.iter().any(|hold| hold.layer == Layer::Host && hold.until > look.now);
            canonical(class, last_status(db, look)?, waits)
        }
        None => String::new(),
    };
    let looked = Looked { has_new_entries: look.new > 0, error_message: &error, entries: &entries };
    let mut stats = update_source_stats(old, looked, now, look.random, look.zone);
    if let Some(row) = schedule(db, &target_schedule(&look.target))? {
        let policy = adaptive_policy(&row.trigger);
        let said = said(db, row.id, look)?;
        let look = &Look { said: Some(said.clone()), ..look.clone() };
        let next = next_look(policy, &stats, look);
        let adapts = matches!(row.trigger, Trigger::Adaptive { .. });
        // What the policy would do is learned beside a cron that has the say, too.
        let counts = row.trigger.adapts();
        let due = match (
            counts && row.enabled,
            row.trigger.after(look.now, look.now, row.zone_or(look.zone), Some(next.at)),
        ) {
            (true, Ok(due)) => due,
            _ => row.next_due_at,
        };
        if adapts {
            db.prepare_cached("UPDATE schedule SET adaptive_at = ?2, next_due_at = ?3 WHERE id = ?1")?
                .execute(params![row.id, next.at.0, due.map(|at| at.0)])?;
        }
        let mut inputs = json!({
            "new": look.new,
            "cadence": stats.cadence,
            "frequency": stats.frequency_type,
            "checks": stats.check_count,
            "hits": stats.hit_count,
            "holds": next.holds,
        });
        if let Some(feed) = said.feed.filter(|feed| *feed != FeedSaid::default()) {
            inputs["feed"] = json!(feed);
        }
        if !error.is_empty() {
            inputs["error"] = json!(error);
            inputs["failures"] = json!(stats.fail_count);
        }
        if adapts {
            inputs["policy"] = json!(policy);
            inputs["policy_at"] = json!(next.policy_at);
            inputs["won"] = json!(next.won);
            inputs["adaptive_at"] = json!(next.at);
            if policy != Adaptive::Classic
                && let Some(forecast) = &look.forecast
            {
                inputs["forecast"] = json!(forecast);
            }
            if matches!(row.trigger, Trigger::Adaptive { combine: Combine::CronOnly, .. }) {
                inputs["cron_only"] = json!(true);
            }
        }
        let decided = Decided {
            at: look.now,
            rule: Rule::Planned,
            due_at: None,
            next_at: due,
            job: row.last_job,
            inputs,
        };
        decide(db, row.id, &decided)?;
        stats.next_due_at = due.map_or(0, |at| at.0.div_euclid(1_000));
        if counts && policy != Adaptive::Classic {
            count_check(db, look.now)?;
        }
    }
    stats::save(db, &stats)?;
    clock::changed(db, look.now)?;
    Ok(stats)
}

/// What the list says of itself. One that was not read, because it has not changed or failed, says as a feed what it said
/// when it was.
fn said(db: &Connection, schedule: i64, look: &Look) -> Result<Said, Fault> {
    let mut said = look.said.clone().unwrap_or_default();
    if said.feed.is_none() {
        let inputs: Option<String> = db
            .prepare_cached(
                "SELECT inputs FROM schedule_decision WHERE schedule_id = ? AND rule = 'planned' ORDER BY seq DESC LIMIT 1",
            )?
            .query_row([schedule], |row| row.get(0))
            .optional()?;
        let inputs: Option<serde_json::Value> = inputs.and_then(|text| serde_json::from_str(&text).ok());
        said.feed = inputs.and_then(|mut inputs| serde_json::from_value(inputs["feed"].take()).ok());
    }
    Ok(said)
}

/// The status of the last answer to a request for the list.
fn last_status(db: &Connection, look: &Look) -> Result<Option<u16>, Fault> {
    let status: Option<Option<u16>> = db
        .prepare_cached(
            "SELECT l.http_status FROM crawl_log l JOIN crawl_target t ON t.id = l.target_id
             WHERE t.target_code = ?1 AND l.purpose = 'list' AND l.occurred_at >= ?2 ORDER BY l.id DESC LIMIT 1",
        )?
        .query_row(params![look.target, look.since.0], |row| row.get(0))
        .optional()?;
    Ok(status.flatten())
}

fn count_check(db: &Connection, now: Timestamp) -> Result<(), Fault> {
    db.prepare_cached(
        "UPDATE schedule_budget SET checks = checks + 1, since = min(coalesce(since, ?1), ?1)",
    )?
    .execute([now.0])?;
    Ok(())
}

/// S0-18: the newest articles of a source, the newest first.
pub(in super::super) fn recent_entries(
    db: &Connection,
    target: &str,
    limit: u32,
) -> Result<Vec<Entry>, Fault> {
    let mut found = db.prepare_cached(
        "SELECT a.publish_time, a.publish_precision, a.fetched_at FROM article a
         JOIN crawl_target t ON t.id = a.target_id WHERE t.target_code = ? ORDER BY a.id DESC LIMIT ?",
    )?;
    let rows = found.query_map(params![target, limit], |row| {
        let precision: Option<String> = row.get(1)?;
        let seen = row.get::<_, i64>(2)?.div_euclid(1_000);
        let at = row.get::<_, Option<i64>>(0)?.map_or(0, |at| at.div_euclid(1_000));
        let date_only = precision.as_deref() == Some("day");
        // A moment that has not come is no moment (S0-37).
        let at = if at > seen.saturating_add(86_400) { 0 } else { at };
        Ok(Entry { published_at: at, first_seen_at: seen, date_only })
    })?;
    let mut entries = rows.collect::<Result<Vec<_>, _>>()?;
    entries.sort_by_key(|entry| std::cmp::Reverse(entry.published_at));
    Ok(entries)
}

/// What the looks at a target have shown: runs that were done and found something, each with the run before it.
pub(in super::super) fn history(db: &Connection, target: &str) -> Result<LookHistory, Fault> {
    let id: Option<i64> = db
        .prepare_cached("SELECT id FROM crawl_target WHERE target_code = ?")?
        .query_row([target], |row| row.get(0))
        .optional()?;
    let Some(id) = id else { return Ok(LookHistory::default()) };
    let mut runs = db.prepare_cached(
        "SELECT run, started_at, new, before FROM (
             SELECT id AS run, started_at, new, lag(started_at) OVER (ORDER BY id) AS before FROM crawl_run
             WHERE target_id = ?1 AND state = 'done')
         WHERE new > 0 ORDER BY run DESC LIMIT ?2",
    )?;
    let mut found = runs
        .query_map(params![id, LOOKS], |row| {
            let seconds = |at: i64| at.div_euclid(1_000);
            Ok((row.get::<_, i64>(0)?, seconds(row.get(1)?), row.get::<_, Option<i64>>(3)?.map(seconds)))
        })?
        .collect::<Result<Vec<(i64, i64, Option<i64>)>, _>>()?;
    found.reverse();
    let Some((first_run, ..)) = found.first().copied() else { return Ok(LookHistory::default()) };
    let mut articles = db.prepare_cached(
        "SELECT run_id, publish_time, publish_precision FROM article
         WHERE target_id = ?1 AND run_id >= ?2 ORDER BY id DESC LIMIT ?3",
    )?;
    let mut stamps = std::collections::HashMap::<i64, Vec<Option<i64>>>::new();
    let mut rows = articles.query(params![id, first_run, ARTICLES])?;
    let mut oldest_run = first_run;
    let mut count = 0;
    while let Some(row) = rows.next()? {
        let (run, at): (i64, Option<i64>) = (row.get(0)?, row.get(1)?);
        let day = row.get::<_, Option<String>>(2)?.as_deref() == Some("day");
        let moment = at.filter(|_| !day).map(|at| at.div_euclid(1_000));
        // The first look has nothing before it: there, a day is better than nothing.
        let moment = if run == first_run { at.map(|at| at.div_euclid(1_000)) } else { moment };
        stamps.entry(run).or_default().push(moment);
        count += 1;
        if count == ARTICLES {
            // What is older is not known whole.
            oldest_run = run;
        }
    }
    let mut looks: Vec<PastLook> = Vec::new();
    for (run, at, before) in found.into_iter().filter(|(run, ..)| *run >= oldest_run) {
        let mut new = stamps.remove(&run).unwrap_or_default();
        new.truncate(FIRST_PAGE);
        if let Some(before) = before
            && looks.last().is_some_and(|last| last.at < before)
        {
            looks.push(PastLook { at: before, new: Vec::new() });
        }
        looks.push(PastLook { at, new });
    }
    Ok(LookHistory { looks })
}
