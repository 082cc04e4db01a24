//! How jobs end, are called off, and are taken up again.

use rusqlite::{Connection, OptionalExtension, params};

use super::super::rows::Fault;
use super::super::schedule;
use super::alert;
use super::lease::{self, head, missing, start};
use super::{count_queued, submit_one};
use crate::clock::Timestamp;
use crate::error::ErrorClass;
use crate::queue::{Ended, Finish, Finished, Hold, Job, JobState, LeaseAsk, Leased, Outcome};
use crate::store::StoreError;
use crate::store::sanitize::clean;

/// S3-6: what is kept of a handler's words.
const MAX_RESPONSE: usize = 1_000;
/// What is kept of an error's words.
const MAX_ERROR: usize = 2_000;

/// Ends a job under its lease, then goes on as [`JobTable::finish`](crate::queue::JobTable::finish) says.
pub(in super::super) fn finish(
    db: &Connection,
    ended: &Ended,
    next: Option<&LeaseAsk>,
    now: Timestamp,
) -> Result<Finished, Fault> {
    lease::fence(db, ended.token)?;
    let job = super::job(db, ended.id)?.ok_or_else(|| missing(ended.id))?;
    if job.token != Some(ended.token) {
        return Err(StoreError::Fenced { token: ended.token }.into());
    }
    let state = end(db, &job, &ended.how, now)?;
    if let Some(watch) = &ended.alerts {
        alert::observe(db, watch, &job, &ended.how, now)?;
    }
    let Some(ask) = next else {
        release(db, ended.token)?;
        return Ok(Finished { state, next: None });
    };
    let next = go_on(db, &job, ended.token, ask, now)?;
    Ok(Finished { state, next })
}

/// The next job after this one: of the same lane while no other waits.
fn go_on(
    db: &Connection,
    job: &Job,
    token: i64,
    ask: &LeaseAsk,
    now: Timestamp,
) -> Result<Option<Leased>, Fault> {
    lease::promote(db, now)?;
    let others: bool = db
        .prepare_cached(
            "SELECT EXISTS (SELECT 1 FROM lane WHERE queued > 0 AND busy < concurrency AND name <> ?)",
        )?
        .query_row([&job.lane], |row| row.get(0))?;
    if !others
        && !lease::is_wanted(db, &job.lane)?
        && let Some(id) = head(db, &job.lane, ask)?
    {
        let slot = i64::from(job.slot.unwrap_or_default());
        db.prepare_cached("UPDATE lease SET until = ?2, boot = ?3 WHERE token = ?1")?.execute(params![
            token,
            ask.until.ms,
            ask.until.boot
        ])?;
        return start(db, id, &job.lane, slot, token, now).map(Some);
    }
    release(db, token)?;
    lease::lease(db, ask, now)
}

/// Gives jobs back with their slots, all of those that are still held.
pub(in super::super) fn give_back(
    db: &Connection,
    held: &[(i64, i64)],
    now: Timestamp,
) -> Result<u64, Fault> {
    let mut given = 0;
    for (token, id) in held {
        if let Some(job) = super::job(db, *id)?
            && job.token == Some(*token)
        {
            end(db, &job, &Finish::GivenBack, now)?;
            given += 1;
        }
        release(db, *token)?;
    }
    Ok(given)
}

/// Writes down how a job ended, or that it waits again; answers its state now.
fn end(db: &Connection, job: &Job, how: &Finish, now: Timestamp) -> Result<JobState, Fault> {
    let asked_to_stop = job.state == JobState::Cancelling;
    match how {
        Finish::Done { response, then } => {
            for follow in then {
                submit_one(db, follow, now)?;
            }
            let (state, outcome) = match job.expiring {
                true => (JobState::Expired, Outcome::Expired),
                false => (JobState::Done, Outcome::Executed),
            };
            let response = response.as_deref().map(|text| cut(text, MAX_RESPONSE));
            terminal(db, job, state, outcome, None, response.as_deref(), now)?;
            Ok(state)
        }
        Finish::Failed { class, error } => {
            let outcome = if job.expiring { Outcome::Expired } else { Outcome::Executed };
            terminal(db, job, JobState::Failed, outcome, Some((class.as_str(), error)), None, now)?;
            Ok(JobState::Failed)
        }
        Finish::Cancelled => called_off(db, job, now),
        // Whoever was asked to stop does not come back.
        _ if asked_to_stop => called_off(db, job, now),
        Finish::Retry { class, error, at, hold } => {
            let words = format!("attempt {} failed: {error}", job.attempts);
            wait(db, job, JobState::RetryWait, *at, Some((*hold, &words)), false)?;
            note_error(db, job.id, *class, error)?;
            Ok(JobState::RetryWait)
        }
        Finish::Postponed { until, hold, why } => {
            wait(db, job, JobState::RetryWait, *until, Some((*hold, why)), true)?;
            Ok(JobState::RetryWait)
        }
        Finish::GivenBack => {
            wait(db, job, JobState::Queued, job.due_at, None, true)?;
            Ok(JobState::Queued)
        }
    }
}

fn called_off(db: &Connection, job: &Job, now: Timestamp) -> Result<JobState, Fault> {
    terminal(db, job, JobState::Cancelled, Outcome::Cancelled, None, None, now)?;
    Ok(JobState::Cancelled)
}

pub(super) fn terminal(
    db: &Connection,
    job: &Job,
    state: JobState,
    outcome: Outcome,
    error: Option<(&str, &str)>,
    response: Option<&str>,
    now: Timestamp,
) -> Result<(), Fault> {
    let error = error.map(|(class, words)| (class, cut(words, MAX_ERROR)));
    db.prepare_cached(
        "UPDATE job SET state = ?2, outcome = ?3, error_class = ?4, error = ?5,
             response = coalesce(?6, response), finished_at = ?7, slot = NULL, token = NULL,
             hold = NULL, hold_why = NULL WHERE id = ?1",
    )?
    .execute(params![
        job.id,
        state.as_str(),
        outcome.as_str(),
        error.as_ref().map(|(class, _)| class),
        error.as_ref().map(|(_, words)| words),
        response,
        now.0
    ])?;
    db.prepare_cached("UPDATE lane SET finished = finished + 1 WHERE name = ?")?.execute([&job.lane])?;
    schedule::ended(db, job, state, error.as_ref().map(|(_, words)| words.as_str()), response, now)
}

/// A job waits again; `uncounted`: as if it had not been started.
pub(super) fn wait(
    db: &Connection,
    job: &Job,
    state: JobState,
    due: Timestamp,
    hold: Option<(Hold, &str)>,
    uncounted: bool,
) -> Result<(), Fault> {
    db.prepare_cached(
        "UPDATE job SET state = ?2, due_at = ?3, order_at = CASE WHEN expiring THEN expires_at ELSE ?3 END,
             hold = ?4, hold_why = ?5, attempts = max(attempts - ?6, 0), slot = NULL, token = NULL WHERE id = ?1",
    )?
    .execute(params![
        job.id,
        state.as_str(),
        due.0,
        hold.map(|(hold, _)| hold.as_str()),
        hold.map(|(_, why)| cut(why, MAX_ERROR)),
        u32::from(uncounted)
    ])?;
    if state == JobState::Queued {
        count_queued(db, &job.lane, 1)?;
    }
    Ok(())
}

fn note_error(db: &Connection, id: i64, class: ErrorClass, error: &str) -> Result<(), Fault> {
    db.prepare_cached("UPDATE job SET error_class = ?2, error = ?3 WHERE id = ?1")?.execute(params![
        id,
        class.as_str(),
        cut(error, MAX_ERROR)
    ])?;
    Ok(())
}

/// Gives a slot back.
pub(super) fn release(db: &Connection, token: i64) -> Result<(), Fault> {
    let lane: Option<String> = db
        .prepare_cached("DELETE FROM lease WHERE token = ? RETURNING lane")?
        .query_row([token], |row| row.get(0))
        .optional()?;
    if let Some(lane) = lane {
        db.prepare_cached("UPDATE lane SET busy = max(busy - 1, 0) WHERE name = ?")?.execute([lane])?;
    }
    Ok(())
}

pub(in super::super) fn cancel(db: &Connection, id: i64, now: Timestamp) -> Result<Option<JobState>, Fault> {
    let Some(job) = super::job(db, id)? else { return Ok(None) };
    match job.state {
        JobState::Running => {
            db.prepare_cached("UPDATE job SET state = 'cancelling' WHERE id = ?")?.execute([id])?;
            Ok(Some(JobState::Cancelling))
        }
        JobState::Scheduled | JobState::Queued | JobState::RetryWait => {
            if job.state == JobState::Queued {
                count_queued(db, &job.lane, -1)?;
            }
            terminal(db, &job, JobState::Cancelled, Outcome::Cancelled, None, None, now)?;
            Ok(Some(JobState::Cancelled))
        }
        ended_or_ending => Ok(Some(ended_or_ending)),
    }
}

pub(in super::super) fn retry(db: &Connection, id: i64, now: Timestamp) -> Result<Option<JobState>, Fault> {
    let Some(job) = super::job(db, id)? else { return Ok(None) };
    match job.state {
        JobState::Failed | JobState::Expired | JobState::Cancelled => {
            // A key that another job has taken since stays with that one.
            let taken: bool = db
                .prepare_cached(
                    "SELECT EXISTS (SELECT 1 FROM job WHERE unique_key = ?1 AND id <> ?2
                         AND (unique_for = 'ever' OR state IN ('scheduled', 'queued', 'retry_wait', 'running', 'cancelling')))",
                )?
                .query_row(params![job.unique_key, id], |row| row.get(0))?;
            if taken {
                let key = job.unique_key.unwrap_or_default();
                let reason = format!("job {id} cannot wait again: another one with the key `{key}` does");
                return Err(StoreError::Refused { reason }.into());
            }
            db.prepare_cached(
                "UPDATE job SET state = 'queued', due_at = ?2, order_at = ?2, rank = priority, attempts = 0,
                     stalls = 0, expiring = 0, expires_at = CASE WHEN expires_at <= ?2 THEN NULL ELSE expires_at END,
                     outcome = NULL, error_class = NULL, error = NULL, response = NULL, finished_at = NULL
                 WHERE id = ?1",
            )?
            .execute(params![id, now.0])?;
            db.prepare_cached(
                "UPDATE lane SET queued = queued + 1, finished = max(finished - 1, 0) WHERE name = ?",
            )?
            .execute([&job.lane])?;
            Ok(Some(JobState::Queued))
        }
        // One that waits for its time may go at once.
        JobState::Scheduled | JobState::RetryWait => {
            wait(db, &job, JobState::Queued, now, None, false)?;
            Ok(Some(JobState::Queued))
        }
        other => Ok(Some(other)),
    }
}

/// Words as they are kept: clean and not too many.
fn cut(text: &str, longest: usize) -> String {
    let mut text = text.to_owned();
    let _ = clean("job", &mut text, longest);
    text
}
