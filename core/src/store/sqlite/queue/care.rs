//! Looking after the queue: slots of dead workers, jobs that are long done, counters that do not add up.

use rusqlite::{Connection, params};

use super::super::rows::Fault;
use super::alert;
use super::finish::{release, terminal, wait};
use crate::clock::{Steady, Timestamp};
use crate::queue::{Collect, Job, JobState, Outcome, Retention, Stalled};

/// Jobs forgotten in one transaction.
const PRUNE_AT_ONCE: u32 = 2_000;

/// Takes back the slots whose lease ran out, was given out before the machine was started anew, or belongs to the dead.
pub(in super::super) fn collect(
    db: &Connection,
    ask: &Collect,
    now: Timestamp,
) -> Result<Vec<Stalled>, Fault> {
    let gone: Vec<(i64, Option<i64>)> = db
        .prepare_cached(
            "SELECT lease.token, job.id FROM lease LEFT JOIN job ON job.token = lease.token
             WHERE lease.boot <> ?1 OR lease.until < ?2 OR lease.owner IN (SELECT value FROM json_each(?3))",
        )?
        .query_map(params![ask.steady.boot, ask.steady.ms, serde_json::json!(ask.dead).to_string()], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })?
        .collect::<Result<_, _>>()?;
    clock_went_back(db, now)?;
    let mut stalled = Vec::new();
    for (token, id) in gone {
        if let Some(id) = id
            && let Some(mut job) = super::job(db, id)?
        {
            job.stalls += 1;
            db.prepare_cached("UPDATE job SET stalls = ?2 WHERE id = ?1")?
                .execute(params![id, job.stalls])?;
            let state = lost_its_worker(db, &job, ask, now)?;
            stalled.push(Stalled { id, kind: job.kind, lane: job.lane, state });
        }
        release(db, token)?;
    }
    Ok(stalled)
}

fn lost_its_worker(db: &Connection, job: &Job, ask: &Collect, now: Timestamp) -> Result<JobState, Fault> {
    match job.state {
        JobState::Cancelling => {
            terminal(db, job, JobState::Cancelled, Outcome::Cancelled, None, None, now)?;
            Ok(JobState::Cancelled)
        }
        _ if job.stalls > ask.max_stalled => {
            let words = format!("its worker died or was lost {} times while it ran", job.stalls);
            let error = Some(("stalled", words.as_str()));
            let outcome = if job.expiring { Outcome::Expired } else { Outcome::Executed };
            terminal(db, job, JobState::Failed, outcome, error, None, now)?;
            if let Some(watch) = &ask.alerts
                && !job.expiring
            {
                alert::ended(db, watch, job, error, now)?;
            }
            Ok(JobState::Failed)
        }
        _ => {
            wait(db, job, JobState::Queued, job.due_at, None, true)?;
            Ok(JobState::Queued)
        }
    }
}

/// A job that was started in what is the future now was put off on a clock that has been set back since: it waits as
/// long as it was meant to, not until that day comes again.
fn clock_went_back(db: &Connection, now: Timestamp) -> Result<(), Fault> {
    db.prepare_cached(
        "UPDATE job SET due_at = ?1 + max(due_at - started_at, 0), started_at = ?1
         WHERE state = 'retry_wait' AND due_at > ?1 AND started_at > ?1 + 5000",
    )?
    .execute([now.0])?;
    Ok(())
}

/// Forgets finished jobs: those beyond the number kept in their lane, and the old ones.
pub(in super::super) fn prune(db: &Connection, keep: Retention, now: Timestamp) -> Result<u64, Fault> {
    let oldest = now.0.saturating_sub(i64::try_from(keep.age.as_millis()).unwrap_or(i64::MAX));
    let lanes: Vec<String> = db
        .prepare_cached(
            "SELECT name FROM lane WHERE finished > ?1 OR (finished > 0 AND EXISTS (SELECT 1 FROM job
                 WHERE lane = name AND finished_at IS NOT NULL AND finished_at < ?2))",
        )?
        .query_map(params![keep.per_lane, oldest], |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    let mut forgotten = 0;
    for lane in lanes {
        let gone = db
            .prepare_cached(
                "DELETE FROM job WHERE id IN (
                     SELECT id FROM job WHERE lane = ?1 AND finished_at IS NOT NULL
                         AND (finished_at < ?2 OR finished_at < coalesce((SELECT finished_at FROM job
                             WHERE lane = ?1 AND finished_at IS NOT NULL
                             ORDER BY finished_at DESC LIMIT 1 OFFSET ?3), -1))
                     LIMIT ?4)",
            )?
            .execute(params![lane, oldest, keep.per_lane.saturating_sub(1), PRUNE_AT_ONCE])?;
        if gone > 0 {
            db.prepare_cached("UPDATE lane SET finished = max(finished - ?2, 0) WHERE name = ?1")?
                .execute(params![lane, gone as i64])?;
            forgotten += gone as u64;
        }
    }
    db.prepare_cached("DELETE FROM job_count WHERE jobs = 0")?.execute([])?;
    // A lane in which nothing is left is made again when it is needed.
    db.prepare_cached(
        "DELETE FROM lane WHERE queued = 0 AND busy = 0 AND finished = 0 AND concurrency = 1
             AND NOT EXISTS (SELECT 1 FROM job WHERE lane = name)
             AND NOT EXISTS (SELECT 1 FROM lease WHERE lane = name)",
    )?
    .execute([])?;
    Ok(forgotten)
}

/// What does not add up. The unique indexes make the worst impossible; this looks for the rest.
pub(in super::super) fn doctor(db: &Connection, steady: &Steady, repair: bool) -> Result<Vec<String>, Fault> {
    let mut found = Vec::new();
    let mut counters = db.prepare_cached(
        "SELECT name, queued, busy, finished,
             (SELECT count(*) FROM job WHERE lane = name AND state = 'queued'),
             (SELECT count(*) FROM lease WHERE lane = name),
             (SELECT count(*) FROM job WHERE lane = name AND finished_at IS NOT NULL)
         FROM lane",
    )?;
    let mut rows = counters.query([])?;
    while let Some(row) = rows.next()? {
        let lane: String = row.get(0)?;
        for (what, counter, true_count) in [("queued", 1, 4), ("leased", 2, 5), ("finished", 3, 6)] {
            let (counted, truth): (i64, i64) = (row.get(counter)?, row.get(true_count)?);
            if counted != truth {
                found.push(format!("lane {lane}: counts {counted} {what} jobs, has {truth}"));
            }
        }
    }
    if repair && !found.is_empty() {
        db.execute(
            "UPDATE lane SET queued = (SELECT count(*) FROM job WHERE lane = name AND state = 'queued'),
                 busy = (SELECT count(*) FROM lease WHERE lane = name),
                 finished = (SELECT count(*) FROM job WHERE lane = name AND finished_at IS NOT NULL)",
            [],
        )?;
    }
    let mut orphans = db.prepare_cached(
        "SELECT id FROM job WHERE token IS NOT NULL AND token NOT IN (SELECT token FROM lease)",
    )?;
    for id in orphans.query_map([], |row| row.get::<_, i64>(0))? {
        let id = id?;
        found.push(format!("job {id} runs under a lease that does not exist"));
        if repair && let Some(job) = super::job(db, id)? {
            wait(db, &job, JobState::Queued, job.due_at, None, true)?;
        }
    }
    let dead: i64 = db
        .prepare_cached("SELECT count(*) FROM lease WHERE boot <> ?1 OR until < ?2")?
        .query_row(params![steady.boot, steady.ms], |row| row.get(0))?;
    if dead > 0 {
        found.push(format!(
            "{dead} slots belong to workers that are gone; running workers take them back within half a minute"
        ));
    }
    Ok(found)
}
