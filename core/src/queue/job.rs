//! What a piece of work is: the values that cross the seam of the queue. Plain data.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::clock::Timestamp;
use crate::error::ErrorClass;

/// Where a job stands. The first three wait, the next two are at work, the last four are ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum JobState {
    /// Its time has not come.
    Scheduled,
    /// It may start as soon as its lane has a free slot.
    Queued,
    /// It failed, or was put off, and may start again later.
    RetryWait,
    /// It is at work.
    Running,
    /// It is at work and was asked to stop.
    Cancelling,
    /// It was carried out.
    Done,
    /// It could not be carried out.
    Failed,
    /// Its time passed before it could start.
    Expired,
    /// Somebody called it off.
    Cancelled,
}

impl JobState {
    /// All of them, in the order of a life.
    pub const ALL: [JobState; 9] = [
        JobState::Scheduled,
        JobState::Queued,
        JobState::RetryWait,
        JobState::Running,
        JobState::Cancelling,
        JobState::Done,
        JobState::Failed,
        JobState::Expired,
        JobState::Cancelled,
    ];

    /// The name under which it is stored and shown.
    pub fn as_str(self) -> &'static str {
        match self {
            JobState::Scheduled => "scheduled",
            JobState::Queued => "queued",
            JobState::RetryWait => "retry_wait",
            JobState::Running => "running",
            JobState::Cancelling => "cancelling",
            JobState::Done => "done",
            JobState::Failed => "failed",
            JobState::Expired => "expired",
            JobState::Cancelled => "cancelled",
        }
    }

    /// The state of that name.
    pub fn named(name: &str) -> Option<JobState> {
        JobState::ALL.into_iter().find(|state| state.as_str() == name)
    }

    /// Nothing happens to it any more.
    pub fn is_end(self) -> bool {
        matches!(self, JobState::Done | JobState::Failed | JobState::Expired | JobState::Cancelled)
    }

    /// A worker has it.
    pub fn is_running(self) -> bool {
        matches!(self, JobState::Running | JobState::Cancelling)
    }
}

/// For how long a key keeps a second job out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum UniqueFor {
    /// While the first one waits or runs: "crawl this target" asked for twice is one job.
    Live,
    /// As long as the first one is remembered: a schedule fires once for one due time.
    Ever,
}

/// Which layer holds a job back (C7). The latest of them wins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Hold {
    /// The source rests: it failed, or has nothing to say.
    Source,
    /// Its host is left alone.
    Host,
    /// The job itself waits before it is tried again.
    Job,
}

impl Hold {
    /// The name under which it is stored and shown.
    pub fn as_str(self) -> &'static str {
        match self {
            Hold::Source => "source",
            Hold::Host => "host",
            Hold::Job => "job",
        }
    }

    /// The layer of that name.
    pub fn named(name: &str) -> Option<Hold> {
        [Hold::Source, Hold::Host, Hold::Job].into_iter().find(|hold| hold.as_str() == name)
    }

    /// Of several layers the one that ends last, with its end. None holds nothing back.
    pub fn latest(layers: impl IntoIterator<Item = (Hold, Option<Timestamp>)>) -> Option<(Hold, Timestamp)> {
        let known = layers.into_iter().filter_map(|(hold, until)| Some((hold, until?)));
        // The first of equals: the source is named before its host, the host before the job.
        known.reduce(|best, next| if next.1 > best.1 { next } else { best })
    }
}

/// A job that is to be submitted.
#[derive(Clone, Debug, PartialEq)]
pub struct NewJob {
    /// What kind of work: names the handler.
    pub kind: String,
    /// The lane it waits in.
    pub lane: String,
    /// Slots of that lane, when it is not known yet or this is more than it has; none: as it is, 1 at first.
    pub lane_concurrency: Option<u32>,
    /// What the handler is told.
    pub payload: Value,
    /// Larger goes first within its lane.
    pub priority: i32,
    /// Not before; none: at once.
    pub run_after: Option<Timestamp>,
    /// Not after: then the handler's `on_expired` is called in place of `run`.
    pub expires_at: Option<Timestamp>,
    /// Keeps a second job with the same key out.
    pub unique: Option<(String, UniqueFor)>,
}

impl NewJob {
    /// Where it stands when it is submitted.
    pub(crate) fn state(&self, now: Timestamp) -> JobState {
        if self.run_after.is_some_and(|at| at > now) { JobState::Scheduled } else { JobState::Queued }
    }

    /// Work of a kind in a lane, to be done at once.
    pub fn new(kind: impl Into<String>, lane: impl Into<String>) -> NewJob {
        NewJob {
            kind: kind.into(),
            lane: lane.into(),
            lane_concurrency: None,
            payload: Value::Null,
            priority: 0,
            run_after: None,
            expires_at: None,
            unique: None,
        }
    }

    /// What the handler is told.
    pub fn payload(mut self, payload: Value) -> Self {
        self.payload = payload;
        self
    }

    /// Larger goes first within its lane.
    pub fn priority(mut self, priority: i32) -> Self {
        self.priority = priority;
        self
    }

    /// Not before this moment.
    pub fn run_after(mut self, at: Timestamp) -> Self {
        self.run_after = Some(at);
        self
    }

    /// Not after this moment.
    pub fn expires_at(mut self, at: Timestamp) -> Self {
        self.expires_at = Some(at);
        self
    }

    /// Only one with this key waits or runs at a time.
    pub fn unique(mut self, key: impl Into<String>) -> Self {
        self.unique = Some((key.into(), UniqueFor::Live));
        self
    }

    /// Only one with this key as long as it is remembered.
    pub fn once(mut self, key: impl Into<String>) -> Self {
        self.unique = Some((key.into(), UniqueFor::Ever));
        self
    }
}

/// What became of a submission.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Submitted {
    /// The job: the new one, or the one that had the key already.
    pub id: i64,
    /// Whether it is new.
    pub fresh: bool,
}

/// How a job ended, apart from its state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// Its handler ran, well or not.
    Executed,
    /// Its handler was told that it expired.
    Expired,
    /// It was called off.
    Cancelled,
}

impl Outcome {
    /// The name under which it is stored and shown.
    pub fn as_str(self) -> &'static str {
        match self {
            Outcome::Executed => "executed",
            Outcome::Expired => "expired",
            Outcome::Cancelled => "cancelled",
        }
    }
}

/// A job as it is stored.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Job {
    /// Its number.
    pub id: i64,
    /// What kind of work.
    pub kind: String,
    /// The lane it waits in.
    pub lane: String,
    /// Where it stands.
    pub state: JobState,
    /// What the handler is told.
    pub payload: Value,
    /// Larger goes first within its lane.
    pub priority: i32,
    /// Its key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unique_key: Option<String>,
    /// When it may start.
    pub due_at: Timestamp,
    /// When it is too late to start.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
    /// Whether it is too late: its handler's `on_expired` is what runs, or ran.
    pub expiring: bool,
    /// How often it was started.
    pub attempts: u32,
    /// How often its worker died or was lost while it ran.
    pub stalls: u32,
    /// What holds it back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hold: Option<Hold>,
    /// The same in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hold_why: Option<String>,
    /// How it ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<String>,
    /// The class of its last error, by [`ErrorClass::as_str`], or `stalled`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_class: Option<String>,
    /// Its last error in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// What its handler said last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub response: Option<String>,
    /// When it was submitted.
    pub created_at: Timestamp,
    /// When it was last started.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub started_at: Option<Timestamp>,
    /// When it ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub finished_at: Option<Timestamp>,
    /// The token of the lease it runs under.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token: Option<i64>,
    /// The slot of its lane it runs in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slot: Option<u32>,
}

/// What a worker says of a job it had.
#[derive(Clone, Debug, PartialEq)]
pub enum Finish {
    /// Carried out, or its expiry was.
    Done {
        /// What the handler has to say; cut at 1,000 characters (S3-6).
        response: Option<String>,
        /// Work that follows from it, submitted in the same transaction.
        then: Vec<NewJob>,
    },
    /// Failed for good.
    Failed {
        /// What kind of trouble.
        class: ErrorClass,
        /// In words.
        error: String,
    },
    /// Failed, to be tried again.
    Retry {
        /// What kind of trouble.
        class: ErrorClass,
        /// In words.
        error: String,
        /// Not before.
        at: Timestamp,
        /// Which layer says so.
        hold: Hold,
    },
    /// Could not begin: something holds it back. Not counted as an attempt.
    Postponed {
        /// Until then.
        until: Timestamp,
        /// Which layer.
        hold: Hold,
        /// In words.
        why: String,
    },
    /// Given back as it was, because the worker stops. Not counted as an attempt.
    GivenBack,
    /// Stopped, as it was asked to.
    Cancelled,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_layer_that_ends_last_is_the_reason() {
        let at = |ms| Some(Timestamp(ms));
        for (source, host, job, expected) in [
            (None, None, None, None),
            (at(5), None, None, Some((Hold::Source, 5))),
            (at(5), at(9), at(7), Some((Hold::Host, 9))),
            (at(5), at(5), at(5), Some((Hold::Source, 5))),
            (None, at(3), at(8), Some((Hold::Job, 8))),
        ] {
            let latest = Hold::latest([(Hold::Source, source), (Hold::Host, host), (Hold::Job, job)]);
            assert_eq!(latest.map(|(hold, until)| (hold, until.0)), expected);
        }
    }

    #[test]
    fn states_and_layers_keep_their_names() {
        for state in JobState::ALL {
            assert_eq!(JobState::named(state.as_str()), Some(state));
        }
        assert_eq!(Hold::named("host"), Some(Hold::Host));
        assert_eq!(JobState::named("lost"), None);
    }
}
