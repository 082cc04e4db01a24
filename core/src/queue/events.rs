//! What happens in the queue of this process, for whoever watches. A slow watcher is told how much he missed.

use futures::Stream;
use serde::Serialize;
use tokio::sync::broadcast;

use super::job::{Job, JobState};

/// Events kept for a slow watcher.
const KEPT: usize = 1_024;

/// Something happened to a job.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum QueueEvent {
    /// A job changed its state.
    Job {
        /// The job.
        id: i64,
        /// Its kind.
        kind: String,
        /// Its lane.
        lane: String,
        /// Where it stands now.
        state: JobState,
        /// The error, if that is what happened.
        error: Option<String>,
    },
    /// The watcher was too slow; so many events are not to be had any more. The jobs themselves are in the store.
    Missed(u64),
}

/// Tells watchers.
#[derive(Clone, Debug)]
pub(super) struct Events(broadcast::Sender<QueueEvent>);

impl Events {
    pub fn new() -> Events {
        Events(broadcast::channel(KEPT).0)
    }

    pub fn tell(&self, job: &Job, state: JobState, error: Option<&str>) {
        self.tell_of(job.id, &job.kind, &job.lane, state, error);
    }

    pub fn tell_of(&self, id: i64, kind: &str, lane: &str, state: JobState, error: Option<&str>) {
        // Nobody need listen.
        let _ = self.0.send(QueueEvent::Job {
            id,
            kind: kind.to_owned(),
            lane: lane.to_owned(),
            state,
            error: error.map(str::to_owned),
        });
    }

    pub fn watch(&self) -> impl Stream<Item = QueueEvent> + Send + 'static {
        let receiver = self.0.subscribe();
        futures::stream::unfold(receiver, |mut receiver| async move {
            match receiver.recv().await {
                Ok(event) => Some((event, receiver)),
                Err(broadcast::error::RecvError::Lagged(missed)) => {
                    Some((QueueEvent::Missed(missed), receiver))
                }
                Err(broadcast::error::RecvError::Closed) => None,
            }
        })
    }
}
