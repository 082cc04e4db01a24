//! Schedules in tables: rows in and out. How they change is in `change`, how they come due in `fire`, what their jobs tell in
//! `ended`.

mod budget;
mod change;
mod clock;
mod count;
mod ended;
mod files;
mod fire;
mod join;
mod look;
mod stats;

pub(super) use ended::ended;
pub(super) use look::record_look;

use rusqlite::types::{FromSql, ValueRef};
use rusqlite::{Connection, OptionalExtension, Row, ToSql, params};
use serde_json::Value;

use super::rows::{Fault, json, unreadable};
use crate::clock::Timestamp;
use crate::schedule::ScheduleQuery;
use crate::schedule::Trigger;
use crate::schedule::{Decided, Rule, SCHEDULED, Schedule};

/// Decisions that are kept of each schedule.
pub(super) const KEPT: i64 = 32;

/// The key of the job of a due time (C1).
pub(super) fn key(schedule: i64, due: Timestamp) -> String {
    format!("{SCHEDULED}{schedule}:{}", due.0)
}

/// The schedule whose job has this key.
pub(super) fn schedule_of(key: &str) -> Option<i64> {
    key.strip_prefix(SCHEDULED)?.split(':').next()?.parse().ok()
}

pub(super) fn schedule(db: &Connection, name: &str) -> Result<Option<Schedule>, Fault> {
    let mut found = db.prepare_cached("SELECT * FROM schedule WHERE name = ?")?;
    Ok(found.query_row([name], from_row).optional()?)
}

pub(super) fn schedules(db: &Connection, query: &ScheduleQuery) -> Result<Vec<Schedule>, Fault> {
    let mut sql = String::from("SELECT * FROM schedule WHERE true");
    let mut values: Vec<Box<dyn ToSql>> = Vec::new();
    let mut wanted = |words: &str, value: Box<dyn ToSql>| {
        sql += words;
        values.push(value);
    };
    if let Some(prefix) = &query.prefix {
        wanted(" AND name >= ?", Box::new(prefix.clone()));
        wanted(" AND substr(name, 1, ?)", Box::new(prefix.chars().count() as i64));
        wanted(" = ?", Box::new(prefix.clone()));
    }
    if let Some(kind) = &query.kind {
        wanted(" AND kind = ?", Box::new(kind.clone()));
    }
    if let Some(after) = &query.after_name {
        wanted(" AND name > ?", Box::new(after.clone()));
    }
    if let Some(before) = query.due_before {
        wanted(" AND next_due_at < ?", Box::new(before.0));
    }
    if query.enabled_only {
        sql += " AND enabled = 1";
    }
    sql += if query.due_before.is_some() { " ORDER BY next_due_at, id" } else { " ORDER BY name" };
    sql += " LIMIT ?";
    values.push(Box::new(if query.limit == 0 { 1_000 } else { query.limit }));
    let mut statement = db.prepare(&sql)?;
    let rows = statement.query_map(rusqlite::params_from_iter(values.iter().map(AsRef::as_ref)), from_row)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

pub(super) fn from_row(row: &Row<'_>) -> rusqlite::Result<Schedule> {
    let time = |column: &str| row.get::<_, Option<i64>>(column).map(|at| at.map(Timestamp));
    Ok(Schedule {
        id: row.get("id")?,
        name: row.get("name")?,
        title: row.get("title")?,
        kind: row.get("kind")?,
        lane: row.get("lane")?,
        payload: from_json(row, "payload")?,
        priority: row.get("priority")?,
        trigger: trigger(row)?,
        zone: word(row, "zone")?,
        misfire: word(row, "misfire")?.unwrap_or_default(),
        expires_sec: row.get::<_, Option<i64>>("expires_sec")?.map(i64::unsigned_abs),
        overlap: word(row, "overlap")?.unwrap_or_default(),
        enabled: row.get("enabled")?,
        off_why: row.get("off_why")?,
        origin: row.get("origin")?,
        operator_set: from_json(row, "operator_set")?,
        next_due_at: time("next_due_at")?,
        adaptive_at: time("adaptive_at")?,
        last_due_at: time("last_due_at")?,
        last_fired_at: time("last_fired_at")?,
        last_job: row.get("last_job")?,
        last_run_at: time("last_run_at")?,
        last_status: row.get("last_status")?,
        last_error: row.get("last_error")?,
        last_response: row.get("last_response")?,
        run_count: row.get::<_, i64>("run_count")?.unsigned_abs(),
        error_count: row.get::<_, i64>("error_count")?.unsigned_abs(),
        created_at: Timestamp(row.get("created_at")?),
        updated_at: Timestamp(row.get("updated_at")?),
    })
}

pub(super) fn trigger(row: &Row<'_>) -> rusqlite::Result<Trigger> {
    let cron = || row.get::<_, Option<String>>("cron");
    Ok(match row.get_ref("trigger")?.as_str()? {
        "cron" => Trigger::Cron { cron: cron()?.unwrap_or_default() },
        "interval" => Trigger::Interval {
            seconds: row.get::<_, Option<i64>>("interval_sec")?.unwrap_or_default().unsigned_abs(),
        },
        "adaptive" => Trigger::Adaptive {
            policy: word(row, "adaptive")?.unwrap_or_default(),
            cron: cron()?,
            combine: word(row, "combine")?.unwrap_or_default(),
        },
        "once" => Trigger::Once {
            at: Timestamp(row.get::<_, Option<i64>>("once_at")?.unwrap_or_default()),
            expires_at: row.get::<_, Option<i64>>("expires_at")?.map(Timestamp),
        },
        _ => Trigger::Manual,
    })
}

/// A value that is stored as a word.
pub(super) fn word<T: std::str::FromStr<Err: std::fmt::Display>>(
    row: &Row<'_>,
    column: &str,
) -> rusqlite::Result<Option<T>> {
    let Some(word) = row.get_ref(column)?.as_str_or_null()? else { return Ok(None) };
    word.parse().map(Some).map_err(|error| unreadable(column, error))
}

fn from_json<T: serde::de::DeserializeOwned>(row: &Row<'_>, column: &str) -> rusqlite::Result<T> {
    serde_json::from_str(row.get_ref(column)?.as_str()?).map_err(|error| unreadable(column, error))
}

/// Writes a decision over the oldest one that is kept.
pub(super) fn decide(db: &Connection, schedule: i64, decided: &Decided) -> Result<(), Fault> {
    let seq: i64 = db
        .prepare_cached("UPDATE schedule SET decisions = decisions + 1 WHERE id = ? RETURNING decisions")?
        .query_row([schedule], |row| row.get(0))?;
    record(db, schedule, seq, decided)
}

/// The same for a row whose count moves with the rest of it.
fn record(db: &Connection, schedule: i64, seq: i64, decided: &Decided) -> Result<(), Fault> {
    db.prepare_cached(
        "INSERT OR REPLACE INTO schedule_decision (schedule_id, slot, seq, at, rule, due_at, next_at, job_id, inputs)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
    )?
    .execute(params![
        schedule,
        seq % KEPT,
        seq,
        decided.at.0,
        decided.rule,
        decided.due_at.map(|at| at.0),
        decided.next_at.map(|at| at.0),
        decided.job,
        json(&decided.inputs)
    ])?;
    Ok(())
}

pub(super) fn decisions(db: &Connection, id: i64, limit: u32) -> Result<Vec<Decided>, Fault> {
    let mut found = db.prepare_cached(
        "SELECT at, rule, due_at, next_at, job_id, inputs FROM schedule_decision WHERE schedule_id = ?
         ORDER BY seq DESC LIMIT ?",
    )?;
    let rows = found.query_map(params![id, limit], |row| {
        let time = |column: &str| row.get::<_, Option<i64>>(column).map(|at| at.map(Timestamp));
        Ok(Decided {
            at: Timestamp(row.get("at")?),
            rule: row.get("rule")?,
            due_at: time("due_at")?,
            next_at: time("next_at")?,
            job: row.get("job_id")?,
            inputs: from_json::<Value>(row, "inputs")?,
        })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

impl ToSql for Rule {
    fn to_sql(&self) -> rusqlite::Result<rusqlite::types::ToSqlOutput<'_>> {
        Ok(self.as_str().into())
    }
}

impl FromSql for Rule {
    fn column_result(value: ValueRef<'_>) -> rusqlite::types::FromSqlResult<Rule> {
        let word = value.as_str()?;
        serde_json::from_value(Value::from(word))
            .map_err(|error| rusqlite::types::FromSqlError::Other(error.into()))
    }
}
