//! The queue in tables: submitting and looking. How jobs come to workers is in `lease`, how they end in `finish`.

mod alert;
mod care;
mod finish;
mod lease;

pub(super) use care::{collect, doctor, prune};
pub(super) use finish::{cancel, finish, give_back, retry};
pub(super) use lease::{enter, fence, forgive, lease, leases, renew, reserve};

use std::collections::BTreeMap;

use rusqlite::{Connection, OptionalExtension, Row, ToSql, params};

use super::rows::{Fault, unreadable};
use crate::clock::Timestamp;
use crate::queue::{Hold, Job, JobQuery, JobState, LaneState, NewJob, NextDue, Submitted, UniqueFor};
use crate::store::StoreError;

/// Before every priority: what has expired is dealt with first (S1-10).
pub(super) const EXPIRED_FIRST: i64 = i64::MAX;

/// The largest payload: work is described, not carried.
const MAX_PAYLOAD: usize = 1 << 20;
/// Names and keys.
const MAX_NAME: usize = 500;

pub(super) fn submit(db: &Connection, jobs: &[NewJob], now: Timestamp) -> Result<Vec<Submitted>, Fault> {
    jobs.iter().map(|job| submit_one(db, job, now)).collect()
}

pub(super) fn submit_one(db: &Connection, job: &NewJob, now: Timestamp) -> Result<Submitted, Fault> {
    let payload = job.payload.to_string();
    for (what, text, longest) in [
        ("kind", job.kind.as_str(), MAX_NAME),
        ("lane", &job.lane, MAX_NAME),
        ("unique key", job.unique.as_ref().map_or("-", |(key, _)| key), MAX_NAME),
        ("payload", &payload, MAX_PAYLOAD),
    ] {
        if text.is_empty() || text.len() > longest {
            let reason = format!("the {what} of a job has {} bytes; 1 to {longest} are allowed", text.len());
            return Err(StoreError::Refused { reason }.into());
        }
    }
    ensure_lane(db, &job.lane, job.lane_concurrency)?;
    let due = job.run_after.map_or(now, |at| at.max(Timestamp(0)));
    let state = if due <= now { JobState::Queued } else { JobState::Scheduled };
    let (key, scope) = match &job.unique {
        Some((key, UniqueFor::Live)) => (Some(key), Some("live")),
        Some((key, UniqueFor::Ever)) => (Some(key), Some("ever")),
        None => (None, None),
    };
    let id = db
        .prepare_cached(
            "INSERT INTO job (kind, lane, state, priority, rank, order_at, payload, unique_key, unique_for,
                 due_at, expires_at, created_at)
             VALUES (?1, ?2, ?3, ?4, ?4, ?5, ?6, ?7, ?8, ?5, ?9, ?10)
             ON CONFLICT DO NOTHING RETURNING id",
        )?
        .query_row(
            params![
                job.kind,
                job.lane,
                state.as_str(),
                job.priority,
                due.0,
                payload,
                key,
                scope,
                job.expires_at.map(|at| at.0),
                now.0
            ],
            |row| row.get(0),
        )
        .optional()?;
    let Some(id) = id else {
        let held = db
            .prepare_cached(
                "SELECT id FROM job WHERE unique_key = ? ORDER BY finished_at IS NOT NULL, id DESC LIMIT 1",
            )?
            .query_row([key], |row| row.get(0))?;
        return Ok(Submitted { id: held, fresh: false });
    };
    if state == JobState::Queued {
        count_queued(db, &job.lane, 1)?;
    }
    Ok(Submitted { id, fresh: true })
}

/// Makes the lane if it is new: it joins the line before the lane that is served at the moment.
pub(super) fn ensure_lane(db: &Connection, lane: &str, concurrency: Option<u32>) -> Result<(), Fault> {
    db.prepare_cached(
        "INSERT INTO lane (name, concurrency, served)
         VALUES (?1, coalesce(?2, 1), coalesce((SELECT 2 * seq - 1 FROM sqlite_sequence WHERE name = 'lease'), 0))
         ON CONFLICT (name) DO UPDATE SET concurrency = ?2 WHERE ?2 > concurrency",
    )?
    .execute(params![lane, concurrency.map(|slots| slots.clamp(1, 1000))])?;
    Ok(())
}

pub(super) fn set_lane(db: &Connection, lane: &str, concurrency: u32) -> Result<(), Fault> {
    ensure_lane(db, lane, None)?;
    db.prepare_cached("UPDATE lane SET concurrency = ?2 WHERE name = ?1")?
        .execute(params![lane, concurrency.clamp(1, 1000)])?;
    Ok(())
}

pub(super) fn count_queued(db: &Connection, lane: &str, change: i64) -> Result<(), Fault> {
    db.prepare_cached("UPDATE lane SET queued = max(queued + ?2, 0) WHERE name = ?1")?
        .execute(params![lane, change])?;
    Ok(())
}

pub(super) fn job(db: &Connection, id: i64) -> Result<Option<Job>, Fault> {
    Ok(db.prepare_cached("SELECT * FROM job WHERE id = ?")?.query_row([id], from_row).optional()?)
}

pub(super) fn jobs(db: &Connection, query: &JobQuery) -> Result<Vec<Job>, Fault> {
    let mut sql = String::from("SELECT * FROM job WHERE id < ?");
    let mut values: Vec<Box<dyn ToSql>> = vec![Box::new(query.before_id.unwrap_or(i64::MAX))];
    for (column, wanted) in [("lane", &query.lane), ("kind", &query.kind)] {
        if let Some(wanted) = wanted {
            sql += &format!(" AND {column} = ?");
            values.push(Box::new(wanted.clone()));
        }
    }
    if !query.states.is_empty() {
        let names: Vec<String> = query.states.iter().map(|state| format!("'{}'", state.as_str())).collect();
        sql += &format!(" AND state IN ({})", names.join(", "));
    }
    if let Some(ids) = &query.ids {
        // As one value: there is no bound to their number.
        sql += " AND id IN (SELECT value FROM json_each(?))";
        values.push(Box::new(serde_json::json!(ids).to_string()));
    }
    sql += " ORDER BY id DESC LIMIT ?";
    values.push(Box::new(if query.limit == 0 { 100 } else { query.limit }));
    let mut statement = db.prepare(&sql)?;
    let rows = statement.query_map(rusqlite::params_from_iter(values.iter().map(AsRef::as_ref)), from_row)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

pub(super) fn lanes(db: &Connection) -> Result<Vec<LaneState>, Fault> {
    let mut statement = db.prepare_cached(
        // Each set of jobs is gone through once, not once for each lane.
        "WITH next AS (SELECT lane, count(*) AS many FROM lease WHERE slot >= ?1 GROUP BY lane),
             waits AS (SELECT lane, count(*) AS jobs FROM job WHERE state IN ('scheduled', 'retry_wait') GROUP BY lane),
             oldest AS (SELECT lane, min(due_at) AS at FROM job WHERE state = 'queued' GROUP BY lane)
         SELECT name, concurrency, queued, busy - coalesce(next.many, 0), coalesce(waits.jobs, 0), oldest.at
         FROM lane LEFT JOIN next ON next.lane = name LEFT JOIN waits ON waits.lane = name LEFT JOIN oldest ON oldest.lane = name
         ORDER BY queued = 0, busy = 0, name",
    )?;
    let rows = statement.query_map([lease::IN_LINE], |row| {
        Ok(LaneState {
            lane: row.get(0)?,
            concurrency: row.get(1)?,
            queued: row.get(2)?,
            running: row.get(3)?,
            waiting: row.get(4)?,
            oldest: row.get::<_, Option<i64>>(5)?.map(Timestamp),
        })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

pub(super) fn next_due(db: &Connection, now: Timestamp) -> Result<NextDue, Fault> {
    let ready: bool = db
        .prepare_cached("SELECT EXISTS (SELECT 1 FROM lane WHERE queued > 0 AND busy < concurrency)")?
        .query_row([], |row| row.get(0))?;
    let due: Option<i64> = db
        .prepare_cached("SELECT min(due_at) FROM job WHERE state IN ('scheduled', 'retry_wait')")?
        .query_row([], |row| row.get(0))?;
    let expiry: Option<i64> = db
        .prepare_cached(
            "SELECT min(expires_at) FROM job WHERE expires_at IS NOT NULL AND expiring = 0
                 AND state IN ('scheduled', 'queued', 'retry_wait')",
        )?
        .query_row([], |row| row.get(0))?;
    let at = [due, expiry].into_iter().flatten().min().map(Timestamp);
    Ok(NextDue { ready: ready || at.is_some_and(|at| at <= now), at })
}

/// Whether a job of these kinds waits or runs, where only some lanes count in one of those.
pub(super) fn has_open(
    db: &Connection,
    kinds: &[String],
    lanes: &BTreeMap<String, Vec<String>>,
) -> Result<bool, Fault> {
    // One question for each partial index.
    let mut open = db.prepare_cached(
        "SELECT EXISTS (SELECT 1 FROM job WHERE state = 'queued' AND kind = ?1
                 AND (?2 IS NULL OR lane IN (SELECT value FROM json_each(?2))))
             OR EXISTS (SELECT 1 FROM job WHERE state IN ('running', 'cancelling') AND kind = ?1
                 AND (?2 IS NULL OR lane IN (SELECT value FROM json_each(?2))))
             OR EXISTS (SELECT 1 FROM job WHERE state IN ('scheduled', 'retry_wait') AND kind = ?1
                 AND (?2 IS NULL OR lane IN (SELECT value FROM json_each(?2))))",
    )?;
    for kind in kinds {
        let only = lanes.get(kind).map(|lanes| serde_json::json!(lanes).to_string());
        if open.query_row(params![kind, only], |row| row.get(0))? {
            return Ok(true);
        }
    }
    Ok(false)
}

fn from_row(row: &Row<'_>) -> rusqlite::Result<Job> {
    let state = row.get_ref("state")?.as_str()?;
    let payload = row.get_ref("payload")?.as_str()?;
    let time = |column: &str| row.get::<_, Option<i64>>(column).map(|at| at.map(Timestamp));
    Ok(Job {
        id: row.get("id")?,
        kind: row.get("kind")?,
        lane: row.get("lane")?,
        state: JobState::named(state).ok_or_else(|| unreadable("state", format!("`{state}` is no state")))?,
        payload: serde_json::from_str(payload).map_err(|error| unreadable("payload", error))?,
        priority: row.get("priority")?,
        unique_key: row.get("unique_key")?,
        due_at: Timestamp(row.get("due_at")?),
        expires_at: time("expires_at")?,
        expiring: row.get("expiring")?,
        attempts: row.get("attempts")?,
        stalls: row.get("stalls")?,
        hold: row.get_ref("hold")?.as_str_or_null()?.and_then(Hold::named),
        hold_why: row.get("hold_why")?,
        outcome: row.get("outcome")?,
        error_class: row.get("error_class")?,
        error: row.get("error")?,
        response: row.get("response")?,
        created_at: Timestamp(row.get("created_at")?),
        started_at: time("started_at")?,
        finished_at: time("finished_at")?,
        token: row.get("token")?,
        slot: row.get("slot")?,
    })
}
