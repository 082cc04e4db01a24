//! What a schedule remembers of its jobs, written in the transaction that ends them (S3-6).

use rusqlite::{Connection, params};

use super::super::rows::Fault;
use super::schedule_of;
use crate::clock::Timestamp;
use crate::queue::{Job, JobState};

/// A job has ended; does nothing unless a schedule made it.
pub(in super::super) fn ended(
    db: &Connection,
    job: &Job,
    state: JobState,
    error: Option<&str>,
    response: Option<&str>,
    now: Timestamp,
) -> Result<(), Fault> {
    let Some(schedule) = job.unique_key.as_deref().and_then(schedule_of) else { return Ok(()) };
    let (status, ok, failed) = match state {
        JobState::Done => ("ok", 1, 0),
        JobState::Failed => ("error", 0, 1),
        _ => ("skipped", 0, 0),
    };
    db.prepare_cached(
        "UPDATE schedule SET last_run_at = ?2, last_status = ?3, last_error = ?4,
             last_response = coalesce(?5, last_response), run_count = run_count + ?6,
             error_count = error_count + ?7 WHERE id = ?1",
    )?
    .execute(params![schedule, now.0, status, error, response, ok, failed])?;
    Ok(())
}
