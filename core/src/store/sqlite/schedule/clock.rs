//! What timers of all processes share: the count of changes, and the latest time that anybody planned from.

use chrono_tz::Tz;
use rusqlite::{Connection, OptionalExtension, params};
use serde_json::json;

use super::super::rows::Fault;
use super::{decide, from_row, key};
use crate::clock::Timestamp;
use crate::schedule::Wake;
use crate::schedule::due::set_back;
use crate::schedule::{Decided, Rule};

pub(in super::super) fn wake(db: &Connection) -> Result<Wake, Fault> {
    let earliest: Option<i64> = db
        .prepare_cached("SELECT min(next_due_at) FROM schedule WHERE next_due_at IS NOT NULL")?
        .query_row([], |row| row.get(0))?;
    let busy: bool = db
        .prepare_cached(
            "SELECT EXISTS (SELECT 1 FROM lane WHERE queued > 0 AND busy < concurrency) OR EXISTS (SELECT 1 FROM lease)",
        )?
        .query_row([], |row| row.get(0))?;
    let (changes, dirty, seen_at) = db
        .prepare_cached("SELECT changes, dirty, seen_at FROM schedule_clock")?
        .query_row([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
    Ok(Wake { earliest: earliest.map(Timestamp), busy, changes, dirty, seen_at: Timestamp(seen_at) })
}

pub(in super::super) fn changes(db: &Connection) -> Result<i64, Fault> {
    Ok(db.prepare_cached("SELECT changes FROM schedule_clock")?.query_row([], |row| row.get(0))?)
}

pub(in super::super) fn mark_dirty(db: &Connection) -> Result<(), Fault> {
    db.prepare_cached("UPDATE schedule_clock SET dirty = dirty + 1, changes = changes + 1")?.execute([])?;
    Ok(())
}

/// What was changed since the count was read stays to be done.
pub(in super::super) fn settle(db: &Connection, dirty: i64) -> Result<(), Fault> {
    db.prepare_cached("UPDATE schedule_clock SET dirty = 0 WHERE dirty = ?")?.execute([dirty])?;
    Ok(())
}

/// Something may be due earlier than the timers know.
pub(super) fn changed(db: &Connection, now: Timestamp) -> Result<(), Fault> {
    db.prepare_cached("UPDATE schedule_clock SET changes = changes + 1, seen_at = max(seen_at, ?)")?
        .execute([now.0])?;
    Ok(())
}

/// A due time was computed from this moment.
pub(super) fn seen(db: &Connection, now: Timestamp) -> Result<(), Fault> {
    db.prepare_cached("UPDATE schedule_clock SET seen_at = ?1 WHERE seen_at < ?1")?.execute([now.0])?;
    Ok(())
}

/// See [`ScheduleTable::clock_set_back`](crate::schedule::ScheduleTable::clock_set_back).
pub(in super::super) fn clock_set_back(
    db: &Connection,
    now: Timestamp,
    zone: Tz,
    after: i64,
    limit: u32,
) -> Result<Option<i64>, Fault> {
    let mut rows = db.prepare_cached("SELECT * FROM schedule WHERE id > ? ORDER BY id LIMIT ?")?;
    let rows = rows.query_map(params![after, limit], from_row)?.collect::<Result<Vec<_>, _>>()?;
    for row in &rows {
        let mut fault = None;
        let planned = set_back(row, now, zone, |due| match has_fired(db, row.id, due) {
            Ok(fired) => fired,
            Err(error) => {
                fault = Some(error);
                true
            }
        });
        if let Some(fault) = fault {
            return Err(fault);
        }
        let Some((next, adaptive_at)) = planned else { continue };
        db.prepare_cached("UPDATE schedule SET next_due_at = ?2, adaptive_at = ?3 WHERE id = ?1")?
            .execute(params![row.id, next.0, adaptive_at.map(|at| at.0)])?;
        let inputs = json!({ "was_due_at": row.next_due_at });
        let decided = Decided {
            at: now,
            rule: Rule::ClockSetBack,
            due_at: None,
            next_at: Some(next),
            job: None,
            inputs,
        };
        decide(db, row.id, &decided)?;
    }
    if rows.len() < limit as usize {
        // All are planned by this clock now. Not before: a process that dies on the way begins anew.
        db.prepare_cached("UPDATE schedule_clock SET seen_at = ?")?.execute([now.0])?;
        return Ok(None);
    }
    Ok(rows.last().map(|row| row.id))
}

/// Whether a due time made its job, as far as anybody remembers.
fn has_fired(db: &Connection, schedule: i64, due: Timestamp) -> Result<bool, Fault> {
    let job = db
        .prepare_cached("SELECT 1 FROM job WHERE unique_key = ? AND unique_for = 'ever'")?
        .query_row([key(schedule, due)], |_| Ok(()))
        .optional()?;
    let record = db
        .prepare_cached(
            "SELECT 1 FROM schedule_decision WHERE schedule_id = ? AND due_at = ? AND rule IN ('fired', 'fired_late')",
        )?
        .query_row(params![schedule, due.0], |_| Ok(()))
        .optional()?;
    Ok(job.or(record).is_some())
}
