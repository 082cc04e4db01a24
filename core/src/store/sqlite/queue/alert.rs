//! Alerts over the ends of jobs, in the transaction that ends them: the count, and the deliveries that follow.

use rusqlite::{Connection, OptionalExtension, params};

use super::super::rows::Fault;
use super::submit_one;
use crate::clock::Timestamp;
use crate::deliver::Notice;
use crate::deliver::alert::{AlertState, AlertWatch, judge};
use crate::queue::{Finish, Hold, Job};

/// One more end of an attempt at a job.
pub(super) fn observe(
    db: &Connection,
    watch: &AlertWatch,
    job: &Job,
    how: &Finish,
    now: Timestamp,
) -> Result<(), Fault> {
    // That it was too late for a job says nothing about how such work goes.
    if job.expiring {
        return Ok(());
    }
    let error = match how {
        Finish::Done { .. } => None,
        Finish::Failed { class, error } | Finish::Retry { class, error, .. } => {
            Some((class.as_str(), error.as_str()))
        }
        // A host that turns us away for days is what alerts are for, though it is no attempt.
        Finish::Postponed { hold: Hold::Host, why, .. } => Some(("blocked", why.as_str())),
        Finish::Postponed { .. } | Finish::GivenBack | Finish::Cancelled => return Ok(()),
    };
    ended(db, watch, job, error, now)
}

/// An attempt at a job ended: well, or with an error of this class and in these words.
pub(super) fn ended(
    db: &Connection,
    watch: &AlertWatch,
    job: &Job,
    error: Option<(&str, &str)>,
    now: Timestamp,
) -> Result<(), Fault> {
    if !watch.kinds.contains(&job.kind) {
        return Ok(());
    }
    let named = job.payload.get("target").and_then(|target| target.as_str());
    let subject = named.or(job.unique_key.as_deref()).unwrap_or(&job.lane);
    let known: Option<String> = db
        .prepare_cached("SELECT state FROM alert WHERE subject = ?")?
        .query_row([subject], |row| row.get(0))
        .optional()?;
    if known.is_none() && error.is_none() {
        return Ok(());
    }
    // A row that cannot be read counts as none: an alert that comes late is better than a job that cannot end.
    let state: AlertState = known.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default();
    let (next, alert) = judge(&watch.rule, &state, error.is_none(), now);
    match error {
        None => db.prepare_cached("DELETE FROM alert WHERE subject = ?")?.execute([subject])?,
        Some(_) => db
            .prepare_cached(
                "INSERT INTO alert (subject, state) VALUES (?1, ?2) ON CONFLICT DO UPDATE SET state = ?2",
            )?
            .execute(params![subject, serde_json::to_string(&next).unwrap_or_default()])?,
    };
    let Some(alert) = alert else { return Ok(()) };
    let key = format!("alert:{}:{}", job.id, now.0);
    let notice = Notice::Message(Box::new(alert.message(subject, &next, error, &key, now)));
    for channel in &watch.channels {
        submit_one(db, &notice.job(channel, &key), now)?;
    }
    Ok(())
}
