//! Deliveries as jobs: how an announcement is put in line, and how a worker carries it out.

use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};

use super::channels::Channels;
use super::message::Message;
use crate::clock::{Clock, Timestamp};
use crate::error::ErrorClass;
use crate::queue::{
    Hold, JobContext, JobDone, JobFailed, JobHandler, JobResult, JobRules, NewJob, RetryPolicy,
};

/// The kind of a delivery.
pub const DELIVER: &str = "deliver";

/// What begins the name of a channel's lane.
const LANE: &str = "deliver:";

/// The lane of a channel: one that is down holds up nobody else.
pub fn lane(channel: &str) -> String {
    format!("{LANE}{channel}")
}

/// What a delivery is told.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Notice {
    /// A stored article, by its number.
    Article(i64),
    /// A message as it is.
    Message(Box<Message>),
}

impl Notice {
    /// The job that tells a channel. `key` is the same however often the same thing is announced; a second job with it
    /// is not made as long as the first is remembered.
    pub fn job(&self, channel: &str, key: &str) -> NewJob {
        let payload = serde_json::to_value(self).unwrap_or_default();
        NewJob::new(DELIVER, lane(channel)).once(format!("{}:{key}", lane(channel))).payload(payload)
    }
}

/// Carries out deliveries: at least once, tried again for two days.
pub struct DeliverHandler {
    channels: Arc<Channels>,
    clock: Arc<dyn Clock>,
}

impl DeliverHandler {
    /// A handler for these channels.
    pub fn new(channels: Arc<Channels>, clock: Arc<dyn Clock>) -> DeliverHandler {
        DeliverHandler { channels, clock }
    }

    async fn message(&self, job: &JobContext, channel: &str) -> Result<Message, JobFailed> {
        let notice = serde_json::from_value::<Notice>(job.job.payload.clone());
        let notice = notice.map_err(|error| {
            failed(ErrorClass::Config, format!("what the job is told cannot be read: {error}"))
        })?;
        let key = job.job.unique_key.as_deref();
        // Of the message, not of the channel: two channels that lead to one place tell it once.
        let key = key.map(|key| key.strip_prefix(&format!("{}:", lane(channel))).unwrap_or(key).to_owned());
        let key = key.unwrap_or_else(|| format!("job:{}", job.job.id));
        match notice {
            Notice::Message(message) => Ok(Message { key, ..*message }),
            Notice::Article(id) => {
                let article = job
                    .store
                    .article(id)
                    .await
                    .map_err(|error| JobFailed::from(crate::Error::from(error)))?;
                let article = article.ok_or_else(|| {
                    failed(ErrorClass::Gone, format!("article {id} is not in the store any more"))
                })?;
                Ok(Message::of_article(&article, key))
            }
        }
    }
}

impl JobHandler for DeliverHandler {
    fn run<'a>(&'a self, job: &'a JobContext) -> BoxFuture<'a, JobResult> {
        Box::pin(async move {
            let channel = job.job.lane.strip_prefix(LANE).unwrap_or_default();
            let message = self.message(job, channel).await?;
            match self.channels.send(channel, &message).await {
                Ok(receipt) => Ok(JobDone::saying(receipt.0)),
                Err(error) => {
                    let wait = error.retry_after.map(|wait| {
                        let wait = i64::try_from(wait.as_millis()).unwrap_or(i64::MAX);
                        (Hold::Host, Timestamp(self.clock.now().0.saturating_add(wait)))
                    });
                    Err(JobFailed::Error { class: error.class, message: error.message, not_before: wait })
                }
            }
        })
    }

    fn rules(&self) -> JobRules {
        let wall = Some(Duration::from_secs(20 * 60));
        JobRules { retry: RetryPolicy::DELIVERY, wall, no_progress: Duration::from_secs(20 * 60) }
    }
}

fn failed(class: ErrorClass, message: String) -> JobFailed {
    JobFailed::Error { class, message, not_before: None }
}
