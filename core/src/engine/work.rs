//! Crawls as jobs: how a target is put in line, and how a worker crawls it under its lease.

use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};
use url::Url;

use super::credential::{CredentialHandler, credential_job};
use super::message::MessageHandler;
use super::reconcile::ReconcileHandler;
use super::request::Streamed;
use super::schedules::BudgetHandler;
use super::{BUDGET, CREDENTIAL, Engine, MESSAGE, RECONCILE};
use crate::Result;
use crate::clock::Timestamp;
use crate::crawl::{CrawlEvent, Report, StopReason};
use crate::deliver::{DELIVER, DeliverHandler};
use crate::error::{Error, ErrorClass};
use crate::fetch::RobotsMode;
use crate::model::{Site, Target};
use crate::queue::{
    Handlers, Hold, Job, JobContext, JobDone, JobFailed, JobHandler, JobResult, JobRules, JobState, NewJob,
    Queue, RetryPolicy, Submitted,
};
use crate::schedule::{BY_HAND, SCHEDULED};

/// The kind of a crawl.
pub const CRAWL: &str = "crawl";
/// A target that is being crawled already is looked at again after this long.
const BUSY: Duration = Duration::from_secs(5);

/// What a crawl job is told.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CrawlJob {
    /// Code of the target.
    pub target: String,
    /// Only the first rows of the list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_items: Option<u32>,
    /// Does not stop at known articles.
    #[serde(default)]
    pub force: bool,
}

/// Hears of crawls that workers of this process make: the job's number and what happened.
pub type CrawlWatcher = Arc<dyn Fn(&str, &CrawlEvent) + Send + Sync>;
/// Hears how a crawl of this process ended.
pub type CrawlEnd = Arc<dyn Fn(&str, &Result<Report>) + Send + Sync>;

impl Engine {
    /// The queue of this engine's store.
    pub fn queue(&self) -> &Queue {
        &self.inner.queue
    }

    /// The work this engine does by itself: crawls, deliveries, messages, reconciling, signing in. Add your own with [`Handlers::with`].
    pub fn handlers(&self) -> Handlers {
        let deliver = DeliverHandler::new(self.inner.channels.clone(), self.inner.settings.clock.clone());
        self.watched_handlers(None, None)
            .with(DELIVER, deliver)
            .with(CREDENTIAL, CredentialHandler(self.clone()))
            .with(RECONCILE, ReconcileHandler(self.clone()))
            .with(BUDGET, BudgetHandler(self.clone()))
            .with(MESSAGE, MessageHandler(self.clone()))
    }

    /// Only crawls, with somebody who hears of each of them.
    pub fn watched_handlers(&self, watcher: Option<CrawlWatcher>, end: Option<CrawlEnd>) -> Handlers {
        Handlers::new().with(CRAWL, CrawlHandler { engine: self.clone(), watcher, end })
    }

    /// Puts a crawl of a stored target in line, in the lane of its host. A target that is in line already, or at work,
    /// is not put there twice.
    pub async fn submit_crawl(&self, job: CrawlJob, priority: i32) -> Result<Submitted> {
        let (site, target) = self.stored_target(&job.target).await?;
        self.queue().submit(crawl_job(&site, &target, &job).priority(priority)).await
    }
}

/// The job of a crawl: two sites on one host share its lane (S2-44).
pub fn crawl_job(site: &Site, target: &Target, job: &CrawlJob) -> NewJob {
    let key = format!("{CRAWL}:{}", target.code);
    NewJob::new(CRAWL, crawl_lane(site, target)).unique(key).payload(serde_json::json!(job))
}

/// The host a target is crawled on, in lower case.
pub fn crawl_lane(site: &Site, target: &Target) -> String {
    let host = |text: &str| Url::parse(text).ok()?.host_str().map(str::to_ascii_lowercase);
    host(&site.base_url).or_else(|| host(&target.entry_url)).unwrap_or_else(|| site.code.clone())
}

struct CrawlHandler {
    engine: Engine,
    watcher: Option<CrawlWatcher>,
    end: Option<CrawlEnd>,
}

impl JobHandler for CrawlHandler {
    fn run<'a>(&'a self, context: &'a JobContext) -> BoxFuture<'a, JobResult> {
        Box::pin(async move {
            let asked = serde_json::from_value::<CrawlJob>(context.job.payload.clone());
            let asked = asked.map_err(|error| JobFailed::Error {
                class: ErrorClass::Config,
                message: format!("what the job is told cannot be read: {error}"),
                not_before: None,
            })?;
            if let Some(until) = self.rests(&asked.target, context).await? {
                let why = "the source rests after a failure".to_owned();
                return Err(JobFailed::Postponed { until, hold: Hold::Source, why });
            }
            let ended = self.crawl(&asked, context).await;
            if let Some(end) = &self.end {
                end(&asked.target, &ended);
            }
            match ended {
                Ok(ended) => report(ended),
                Err(error) => {
                    if error.class() == ErrorClass::Auth {
                        self.ask_for_credentials(&asked.target).await?;
                    }
                    let rests = self.rests(&asked.target, context).await?;
                    Err(self.held_back(error, &context.job.lane, rests))
                }
            }
        })
    }

    fn rules(&self) -> JobRules {
        JobRules { retry: RetryPolicy::CRAWL, ..JobRules::default() }
    }
}

impl CrawlHandler {
    async fn crawl(&self, asked: &CrawlJob, context: &JobContext) -> Result<Report> {
        let request = self
            .engine
            .crawl(asked.target.clone())
            .max_items(asked.max_items)
            .force(asked.force)
            .cancel_with(context.stop.clone())
            .under(context.store.clone(), context.pulse());
        let mut events = std::pin::pin!(request.stream());
        let mut ended = Err(Error::Interrupted);
        while let Some(streamed) = events.next().await {
            context.alive(Duration::ZERO);
            match streamed {
                Ok(Streamed::Event(event)) => {
                    // What is stored is never done again; a run that begins has achieved nothing yet.
                    if matches!(event, CrawlEvent::Listed { .. } | CrawlEvent::Stored(_)) {
                        context.progress();
                    }
                    if let Some(watcher) = &self.watcher {
                        watcher(&asked.target, &event);
                    }
                }
                Ok(Streamed::Report(report)) => ended = Ok(*report),
                Err(error) => ended = Err(error),
            }
        }
        ended
    }
}

impl CrawlHandler {
    /// Until when the source of a scheduled crawl rests (S0-13). Whoever asks by hand means now.
    async fn rests(&self, target: &str, context: &JobContext) -> Result<Option<Timestamp>> {
        if !is_scheduled(&context.job) {
            return Ok(None);
        }
        let now = self.engine.inner.settings.clock.now();
        let stats = self.engine.inner.table.source_stats(target, now).await?;
        let until = stats.map_or(Timestamp(0), |stats| Timestamp(stats.backoff_until.saturating_mul(1_000)));
        Ok((until > now).then_some(until))
    }

    /// C9: the site of this target wants to know who asks.
    async fn ask_for_credentials(&self, target: &str) -> Result<()> {
        let (site, _) = self.engine.stored_target(target).await?;
        self.engine.queue().submit(credential_job(&site.code)).await?;
        Ok(())
    }

    /// C7: a crawl that failed because its host is left alone waits for the host, whatever its own policy says; one whose
    /// source rests waits for that.
    fn held_back(&self, error: Error, host: &str, rests: Option<Timestamp>) -> JobFailed {
        if let Error::Busy(_) = error {
            // Somebody crawls the target by hand: no failure, and soon over.
            let now = self.engine.inner.settings.clock.now().0;
            let until = Timestamp(now.saturating_add(BUSY.as_millis() as i64));
            return JobFailed::Postponed { until, hold: Hold::Job, why: error.to_string() };
        }
        let cooling = self.engine.gate().hosts().refusal(host);
        match (JobFailed::from(error), cooling) {
            (
                JobFailed::Error { class: ErrorClass::Busy | ErrorClass::Blocked, message, .. },
                Some((until, why)),
            ) => {
                let why = format!("its host is left alone ({}): {message}", why.as_str());
                JobFailed::Postponed { until, hold: Hold::Host, why }
            }
            (JobFailed::Error { class, message, .. }, cooling) => {
                let host = cooling.map(|(until, _)| until);
                let not_before = Hold::latest([(Hold::Source, rests), (Hold::Host, host)]);
                JobFailed::Error { class, message, not_before }
            }
            (failed, _) => failed,
        }
    }
}

/// Whether a schedule made a job by itself.
fn is_scheduled(job: &Job) -> bool {
    job.unique_key.as_deref().is_some_and(|key| key.starts_with(SCHEDULED) && !key.ends_with(BY_HAND))
}

/// What a report means for its job.
fn report(report: Report) -> JobResult {
    match report.stop {
        StopReason::Cancelled => Err(JobFailed::Interrupted),
        // C7: the host is the layer that holds it back.
        StopReason::Cooldown if let Some(until) = report.cooling_until => Err(JobFailed::Postponed {
            until,
            hold: Hold::Host,
            why: "its host is left alone until then".to_owned(),
        }),
        _ => {
            let summary = serde_json::json!(Summary {
                run: report.run_id,
                new: report.items_new,
                seen: report.items_seen,
                duplicate: report.items_duplicate,
                failed: report.items_failed,
                pages: report.pages,
                requests: report.requests,
                stop: report.stop,
            });
            Ok(JobDone::saying(summary.to_string()))
        }
    }
}

/// What a crawl job says of itself when it is done.
#[derive(Debug, Serialize, Deserialize)]
struct Summary {
    run: i64,
    new: u32,
    seen: u32,
    #[serde(default)]
    duplicate: u32,
    failed: u32,
    #[serde(default)]
    pages: u32,
    requests: u32,
    stop: StopReason,
}

/// What came of a crawl that some worker made, by what its job says: the counts, without the single failures. None: the job is
/// no crawl, or is not done.
pub fn crawl_report(job: &Job) -> Option<Report> {
    if job.kind != CRAWL || job.state != JobState::Done {
        return None;
    }
    let told: Summary = serde_json::from_str(job.response.as_deref()?).ok()?;
    let asked: CrawlJob = serde_json::from_value(job.payload.clone()).ok()?;
    let mut report = Report::new(&asked.target, RobotsMode::default());
    report.run_id = told.run;
    (report.items_new, report.items_seen) = (told.new, told.seen);
    (report.items_duplicate, report.items_failed) = (told.duplicate, told.failed);
    (report.pages, report.requests, report.stop) = (told.pages, told.requests, told.stop);
    if let (Some(from), Some(to)) = (job.started_at, job.finished_at) {
        report.elapsed = Duration::from_millis(u64::try_from(to.0 - from.0).unwrap_or(0));
    }
    Some(report)
}
