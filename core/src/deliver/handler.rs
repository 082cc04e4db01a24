//! Deliveries as jobs: how an announcement is put in line, and how a worker carries it out.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};

use super::channel::DeliveryError;
use super::channels::Channels;
use super::message::Message;
use super::rest::Rest;
use crate::clock::{Clock, Timestamp};
use crate::error::ErrorClass;
use crate::queue::{
    Hold, JobContext, JobDone, JobFailed, JobHandler, JobResult, JobRules, NewJob, RetryPolicy,
};

/// The kind of a delivery.
pub const DELIVER: &str = "deliver";

/// What begins the name of a channel's lane.
const LANE: &str = "deliver:";

/// A channel that says "not so fast" and not how long is left alone for this long.
const PAUSE: Duration = Duration::from_secs(60);
/// A channel that has nothing but this to say for so long is not waited for as if it were no attempt.
const LONGEST: Duration = Duration::from_secs(2 * 86_400);

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
    rests: Mutex<HashMap<String, Rest>>,
}

impl DeliverHandler {
    /// A handler for these channels.
    pub fn new(channels: Arc<Channels>, clock: Arc<dyn Clock>) -> DeliverHandler {
        DeliverHandler { channels, clock, rests: Mutex::default() }
    }

    fn resting<T>(&self, channel: &str, of: impl FnOnce(&mut Rest) -> T) -> T {
        let mut rests = self.rests.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        of(rests.entry(channel.to_owned()).or_default())
    }

    /// Whether it was put off for long enough.
    fn is_old(&self, job: &JobContext) -> bool {
        self.clock.now().0.saturating_sub(job.job.created_at.0) > LONGEST.as_millis() as i64
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
            let (now, per_minute) = (self.clock.now(), self.channels.per_minute(channel));
            if let Err((until, why)) = self.resting(channel, |rest| rest.go(per_minute, now)) {
                return Err(JobFailed::Postponed { until, hold: Hold::Host, why });
            }
            match self.channels.send(channel, &message).await {
                Ok(receipt) => Ok(JobDone::saying(receipt.0)),
                // One that asks for time gets it for everything that waits for it, and it is no attempt.
                Err(DeliveryError { class: ErrorClass::Busy, message, retry_after }) if !self.is_old(job) => {
                    let wait = i64::try_from(retry_after.unwrap_or(PAUSE).as_millis()).unwrap_or(i64::MAX);
                    let until = Timestamp(self.clock.now().0.saturating_add(wait));
                    self.resting(channel, |rest| rest.rests(until, message.clone()));
                    Err(JobFailed::Postponed { until, hold: Hold::Host, why: message })
                }
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

    /// One whose secret is not set here, or that is not in the file of this process, is left to processes that know more.
    fn lanes(&self) -> Option<Vec<String>> {
        Some(self.channels.usable().map(lane).collect())
    }

    fn rules(&self) -> JobRules {
        let wall = Some(Duration::from_secs(20 * 60));
        JobRules { retry: RetryPolicy::DELIVERY, wall, no_progress: Duration::from_secs(20 * 60) }
    }
}

fn failed(class: ErrorClass, message: String) -> JobFailed {
    JobFailed::Error { class, message, not_before: None }
}
