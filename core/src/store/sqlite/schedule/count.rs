//! Schedules counted: by what they do, and by the hour in which they come due.

use chrono_tz::Tz;
use rusqlite::{Connection, OptionalExtension, params};

use super::super::rows::Fault;
use super::{trigger, word};
use crate::clock::Timestamp;
use crate::schedule::ScheduleCounts;
use crate::schedule::load::{Adder, Coming, Load};

pub(in super::super) fn counts(db: &Connection, now: Timestamp) -> Result<ScheduleCounts, Fault> {
    let mut all = db.prepare_cached(
        "SELECT count(*), total(enabled), total(next_due_at <= ?1), total(last_status = 'error'), total(run_count),
             total(error_count), min(next_due_at) FROM schedule",
    )?;
    Ok(all.query_row([now.0], |row| {
        // `total` never overflows, and counts are far below what a float holds exactly.
        let count = |place: usize| row.get::<_, f64>(place).map(|count| count as u64);
        Ok(ScheduleCounts {
            total: row.get::<_, i64>(0)?.unsigned_abs(),
            enabled: count(1)?,
            due: count(2)?,
            failing: count(3)?,
            runs: count(4)?,
            errors: count(5)?,
            next_due_at: row.get::<_, Option<i64>>(6)?.map(Timestamp),
        })
    })?)
}

/// What the program does for itself is no load: it asks no site for anything.
pub(in super::super) fn load(db: &Connection, now: Timestamp, hours: u32, zone: Tz) -> Result<Load, Fault> {
    let mut adder = Adder::new(now, hours);
    let mut due = db.prepare_cached(
        "SELECT trigger, cron, interval_sec, adaptive, combine, once_at, expires_at, zone, next_due_at, last_due_at
         FROM schedule WHERE next_due_at IS NOT NULL AND name NOT LIKE 'builtin:%'",
    )?;
    let mut rows = due.query(params![])?;
    while let Some(row) = rows.next()? {
        adder.add(&Coming {
            trigger: trigger(row)?,
            zone: word(row, "zone")?.unwrap_or(zone),
            due: Timestamp(row.get("next_due_at")?),
            last: row.get::<_, Option<i64>>("last_due_at")?.map(Timestamp),
        });
    }
    Ok(adder.load())
}

pub(in super::super) fn target_is_on(db: &Connection, target: &str) -> Result<bool, Fault> {
    let on: Option<bool> = db
        .prepare_cached(
            "SELECT t.enabled AND s.enabled FROM crawl_target t JOIN crawl_site s ON s.id = t.site_id
             WHERE t.target_code = ?",
        )?
        .query_row([target], |row| row.get(0))
        .optional()?;
    Ok(on == Some(true))
}
