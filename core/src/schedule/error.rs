//! What can be refused about a schedule, in variants that an HTTP layer can answer with its own numbers.

use crate::error::ErrorClass;

/// A schedule cannot be had, made, changed or run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ScheduleError {
    /// There is none of that name (404).
    #[error("there is no schedule `{name}`; {fix}")]
    Unknown {
        /// The name asked for.
        name: String,
        /// What may have been meant.
        fix: String,
    },
    /// There is one of that name already (409).
    #[error("there is a schedule `{name}` already; change it, or choose another name")]
    Taken {
        /// The name.
        name: String,
    },
    /// It belongs to the program or to a target, and this is not for changing by hand (403, S3-11).
    #[error("`{name}`: {what} cannot be changed: {why}")]
    Protected {
        /// The schedule.
        name: String,
        /// What was to be changed: a field, or `it` for all of it.
        what: &'static str,
        /// Why not, and what to do instead.
        why: String,
    },
    /// The job of its last time is not over (409, S3-10).
    #[error("`{name}` is at work already: job {job} is not over; wait for it, or `dibao queue cancel {job}`")]
    Active {
        /// The schedule.
        name: String,
        /// That job.
        job: i64,
    },
    /// What it would crawl is switched off (409, S2-50).
    #[error("`{name}` is not run: {why}")]
    Off {
        /// The schedule.
        name: String,
        /// What is off, and how it is switched on.
        why: String,
    },
    /// A value that cannot work (422).
    #[error("{field}: {message}")]
    Invalid {
        /// The field: `name`, `cron`, `interval`, `at`, `expires_at`, `payload`, …
        field: &'static str,
        /// What is wrong with it, and what to write instead.
        message: String,
    },
}

impl ScheduleError {
    /// The class of the error.
    pub fn class(&self) -> ErrorClass {
        match self {
            ScheduleError::Active { .. } => ErrorClass::Busy,
            _ => ErrorClass::Config,
        }
    }
}
