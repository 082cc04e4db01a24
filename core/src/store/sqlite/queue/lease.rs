//! How jobs come to workers: what is due is put in line, the lane that waited longest is served, its slot is leased.

use std::cmp::Reverse;

use rusqlite::{Connection, OptionalExtension, params};

use super::super::rows::Fault;
use super::{EXPIRED_FIRST, count_queued};
use crate::clock::{Steady, Timestamp};
use crate::queue::{LeaseAsk, LeaseState, Leased, Renewed};
use crate::store::StoreError;

/// Slots from here on are none, but places in line for one. No lane has so many slots.
pub(super) const IN_LINE: i64 = 1 << 20;

/// Jobs put in line in one go: keeps a transaction short after a night off; the next call takes the next ones.
const AT_ONCE: u32 = 500;

/// Puts in line what has come due, and ahead of it what has expired. In the order of their times.
pub(in super::super) fn promote(db: &Connection, now: Timestamp) -> Result<(), Fault> {
    let due: Vec<(i64, String)> = db
        .prepare_cached(
            "SELECT id, lane FROM job WHERE state IN ('scheduled', 'retry_wait') AND due_at <= ?
             ORDER BY due_at LIMIT ?",
        )?
        .query_map(params![now.0, AT_ONCE], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<Result<_, _>>()?;
    for (id, lane) in due {
        db.prepare_cached(
            "UPDATE job SET state = 'queued', order_at = CASE WHEN expiring THEN expires_at ELSE due_at END,
                 hold = NULL, hold_why = NULL WHERE id = ?",
        )?
        .execute([id])?;
        count_queued(db, &lane, 1)?;
    }
    let expired: Vec<(i64, String, bool)> = db
        .prepare_cached(
            "SELECT id, lane, state = 'queued' FROM job WHERE expires_at IS NOT NULL AND expiring = 0
                 AND state IN ('scheduled', 'queued', 'retry_wait') AND expires_at <= ?
             ORDER BY expires_at LIMIT ?",
        )?
        .query_map(params![now.0, AT_ONCE], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?
        .collect::<Result<_, _>>()?;
    for (id, lane, in_line) in expired {
        db.prepare_cached(
            "UPDATE job SET state = 'queued', expiring = 1, rank = ?2, order_at = expires_at,
                 hold = NULL, hold_why = NULL WHERE id = ?1",
        )?
        .execute(params![id, EXPIRED_FIRST])?;
        if !in_line {
            count_queued(db, &lane, 1)?;
        }
    }
    Ok(())
}

/// Takes a slot of the lane that waited longest, with its first job of a kind the asker can do.
pub(in super::super) fn lease(
    db: &Connection,
    ask: &LeaseAsk,
    now: Timestamp,
) -> Result<Option<Leased>, Fault> {
    promote(db, now)?;
    let mut lanes = db.prepare_cached(
        "SELECT name FROM lane WHERE queued > 0 AND busy < concurrency ORDER BY served, name",
    )?;
    let mut lanes = lanes.query([])?;
    // The first lane has such a job as a rule: processes that share a store mostly do the same work.
    while let Some(lane) = lanes.next()? {
        let lane: String = lane.get(0)?;
        let Some(id) = head(db, &lane, ask)? else { continue };
        let slot = free_slot(db, &lane)?;
        let token: i64 = db
            .prepare_cached(
                "INSERT INTO lease (lane, slot, owner, boot, until, taken_at) VALUES (?, ?, ?, ?, ?, ?)
                 RETURNING token",
            )?
            .query_row(params![lane, slot, ask.owner, ask.until.boot, ask.until.ms, now.0], |row| {
                row.get(0)
            })?;
        db.prepare_cached("UPDATE lane SET busy = busy + 1, served = 2 * ?2 WHERE name = ?1")?
            .execute(params![lane, token])?;
        return start(db, id, &lane, slot, token, now).map(Some);
    }
    Ok(None)
}

/// The first job in line of a lane that the asker can do: one seek for each kind.
pub(super) fn head(db: &Connection, lane: &str, ask: &LeaseAsk) -> Result<Option<i64>, Fault> {
    let mut line = db.prepare_cached(
        "SELECT rank, order_at, id FROM job WHERE lane = ? AND kind = ? AND state = 'queued'
         ORDER BY rank DESC, order_at, id LIMIT 1",
    )?;
    let mut first: Option<(Reverse<i64>, i64, i64)> = None;
    for kind in &ask.kinds {
        if ask.lanes.get(kind).is_some_and(|lanes| !lanes.iter().any(|known| known == lane)) {
            continue;
        }
        let found = line
            .query_row(params![lane, kind], |row| Ok((Reverse(row.get(0)?), row.get(1)?, row.get(2)?)))
            .optional()?;
        first = first.into_iter().chain(found).min();
    }
    Ok(first.map(|(_, _, id)| id))
}

fn free_slot(db: &Connection, lane: &str) -> Result<i64, Fault> {
    let mut taken = db.prepare_cached("SELECT slot FROM lease WHERE lane = ? ORDER BY slot")?;
    let mut rows = taken.query([lane])?;
    let mut free = 0;
    while let Some(row) = rows.next()? {
        if row.get::<_, i64>(0)? > free {
            break;
        }
        free += 1;
    }
    Ok(free)
}

/// A job begins under a lease.
pub(super) fn start(
    db: &Connection,
    id: i64,
    lane: &str,
    slot: i64,
    token: i64,
    now: Timestamp,
) -> Result<Leased, Fault> {
    db.prepare_cached(
        "UPDATE job SET state = 'running', slot = ?2, token = ?3, attempts = attempts + 1, started_at = ?4,
             hold = NULL, hold_why = NULL WHERE id = ?1",
    )?
    .execute(params![id, slot, token, now.0])?;
    count_queued(db, lane, -1)?;
    let job = super::job(db, id)?.ok_or_else(|| missing(id))?;
    Ok(Leased { token, job })
}

pub(super) fn missing(id: i64) -> StoreError {
    StoreError::Missing { what: "job", name: id.to_string() }
}

/// Refuses what comes under a lease that is gone. Asked in the transaction of every effect.
pub(in super::super) fn fence(db: &Connection, token: i64) -> Result<(), Fault> {
    let held = db
        .prepare_cached("SELECT 1 FROM lease WHERE token = ?")?
        .query_row([token], |_| Ok(()))
        .optional()?;
    held.ok_or_else(|| StoreError::Fenced { token }.into())
}

/// Stands in line for a slot of a lane.
pub(in super::super) fn reserve(
    db: &Connection,
    lane: &str,
    owner: &str,
    until: &Steady,
    now: Timestamp,
) -> Result<i64, Fault> {
    super::ensure_lane(db, lane, None)?;
    // Behind those who stand there already.
    let token: i64 = db
        .prepare_cached(
            "INSERT INTO lease (lane, slot, owner, boot, until, taken_at)
             SELECT ?1, max(coalesce(max(slot), 0), ?2 - 1) + 1, ?3, ?4, ?5, ?6 FROM lease WHERE lane = ?1
             RETURNING token",
        )?
        .query_row(params![lane, IN_LINE, owner, until.boot, until.ms, now.0], |row| row.get(0))?;
    db.prepare_cached("UPDATE lane SET busy = busy + 1 WHERE name = ?")?.execute([lane])?;
    enter(db, token)?;
    Ok(token)
}

/// Takes a slot for the first in line, if one is free.
pub(in super::super) fn enter(db: &Connection, token: i64) -> Result<bool, Fault> {
    let held: Option<(String, i64)> = db
        .prepare_cached("SELECT lane, slot FROM lease WHERE token = ?")?
        .query_row([token], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    let Some((lane, slot)) = held else { return Err(StoreError::Fenced { token }.into()) };
    if slot < IN_LINE {
        return Ok(true);
    }
    let free: bool = db
        .prepare_cached(
            "SELECT (SELECT count(*) FROM lease WHERE lane = ?1 AND slot < ?2) < concurrency
                 AND (SELECT min(token) FROM lease WHERE lane = ?1 AND slot >= ?2) = ?3
             FROM lane WHERE name = ?1",
        )?
        .query_row(params![lane, IN_LINE, token], |row| row.get(0))?;
    if free {
        let slot = free_slot(db, &lane)?;
        db.prepare_cached("UPDATE lease SET slot = ?2 WHERE token = ?1")?.execute(params![token, slot])?;
        db.prepare_cached("UPDATE lane SET served = max(served, 2 * ?2) WHERE name = ?1")?
            .execute(params![lane, token])?;
    }
    Ok(free)
}

/// Whether somebody stands in line for a slot of a lane, before its jobs.
pub(super) fn is_wanted(db: &Connection, lane: &str) -> Result<bool, Fault> {
    let mut wanted = db.prepare_cached("SELECT EXISTS (SELECT 1 FROM lease WHERE lane = ? AND slot >= ?)")?;
    Ok(wanted.query_row(params![lane, IN_LINE], |row| row.get(0))?)
}

/// The slots that are leased at the moment.
pub(in super::super) fn leases(db: &Connection) -> Result<Vec<LeaseState>, Fault> {
    let mut statement = db.prepare_cached(
        "SELECT lease.token, lease.lane, lease.slot, lease.owner, lease.boot, job.id, lease.taken_at
         FROM lease LEFT JOIN job ON job.token = lease.token ORDER BY lease.token",
    )?;
    let rows = statement.query_map([], |row| {
        Ok(LeaseState {
            token: row.get(0)?,
            lane: row.get(1)?,
            slot: row.get(2)?,
            owner: row.get(3)?,
            boot: row.get(4)?,
            job: row.get(5)?,
            waiting: row.get::<_, i64>(2)? >= IN_LINE,
            taken_at: Timestamp(row.get(6)?),
        })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Workers that were lost before are held against these jobs no more.
pub(in super::super) fn forgive(db: &Connection, tokens: &[i64]) -> Result<(), Fault> {
    for token in tokens {
        db.prepare_cached("UPDATE job SET stalls = 0 WHERE token = ? AND stalls > 0")?.execute([token])?;
    }
    Ok(())
}

pub(in super::super) fn renew(db: &Connection, tokens: &[i64], until: &Steady) -> Result<Renewed, Fault> {
    let mut renewed = Renewed::default();
    for token in tokens {
        let held = db
            .prepare_cached("UPDATE lease SET until = ?2, boot = ?3 WHERE token = ?1")?
            .execute(params![token, until.ms, until.boot])?;
        if held == 0 {
            renewed.lost.push(*token);
            continue;
        }
        let asked: Option<i64> = db
            .prepare_cached("SELECT id FROM job WHERE token = ? AND state = 'cancelling'")?
            .query_row([token], |row| row.get(0))
            .optional()?;
        renewed.cancelling.extend(asked);
    }
    Ok(renewed)
}
