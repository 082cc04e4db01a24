//! One crawl, from its description to its report.

use std::sync::Arc;

use futures::Stream;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use url::Url;

use super::{Engine, blocking};
use crate::Result;
use crate::config::ConfigError;
use crate::crawl::{self, CrawlEvent, Preview, Report};
use crate::error::Error;
use crate::model::{Site, Target};
use crate::pulse::Pulse;
use crate::store::{RunCounts, RunOptions, RunState, Store, TargetLock};

/// Events that may wait for a slow reader before the crawl waits for him.
const EVENT_BUFFER: usize = 64;

/// What is crawled.
pub(super) enum Of {
    Code(String),
    Rows(Box<(Site, Target)>),
}

/// A crawl that is being described; [`CrawlRequest::run`] does it.
#[must_use = "a crawl does nothing until `run`, `stream` or `preview` is awaited"]
pub struct CrawlRequest {
    engine: Engine,
    of: Of,
    pub(super) options: RunOptions,
    pub(super) cancel: CancellationToken,
    /// What is stored is stored through this one, in place of the engine's own.
    pub(super) store: Option<Arc<dyn Store>>,
    pub(super) pulse: Pulse,
}

impl CrawlRequest {
    pub(super) fn new(engine: Engine, of: Of) -> Self {
        CrawlRequest {
            engine,
            of,
            options: RunOptions::default(),
            cancel: CancellationToken::new(),
            store: None,
            pulse: Pulse::default(),
        }
    }

    /// Looks at the first `max` rows of the list only.
    pub fn max_items(mut self, max: impl Into<Option<u32>>) -> Self {
        self.options.max_items = max.into();
        self
    }

    /// Does not stop at known articles: reads the whole list.
    pub fn force(mut self, force: bool) -> Self {
        self.options.force = force;
        self
    }

    /// Cancelling the token lets the articles under way finish, starts no further one and ends the
    /// run as interrupted; the next run goes on from there.
    pub fn cancel_with(mut self, token: CancellationToken) -> Self {
        self.cancel = token;
        self
    }

    /// Stores through this store, that of a job under its lease, and lets the job's watch hear that it is at work.
    pub(super) fn under(mut self, store: Arc<dyn Store>, pulse: Pulse) -> Self {
        self.store = Some(store);
        self.pulse = pulse;
        self
    }

    /// Crawls.
    ///
    /// An article that cannot be read is counted in the report; a list that cannot be read is an
    /// error. Dropping the future is safe: what was stored stays, and the next run goes on.
    pub async fn run(self) -> Result<Report> {
        self.go(None).await
    }

    /// Crawls, and yields what happens as it happens; the report comes last.
    ///
    /// The crawl goes on only while the stream is polled, so a slow reader slows it down and
    /// nothing is ever dropped.
    pub fn stream(self) -> impl Stream<Item = Result<Streamed>> + Send {
        let (sender, mut events) = mpsc::channel(EVENT_BUFFER);
        let mut crawl = Box::pin(async move { self.go(Some(sender)).await });
        let mut ended: Option<Result<Report>> = None;
        futures::stream::poll_fn(move |task| {
            use std::task::Poll;
            loop {
                match events.poll_recv(task) {
                    Poll::Ready(Some(event)) => return Poll::Ready(Some(Ok(Streamed::Event(event)))),
                    Poll::Ready(None) => {
                        return Poll::Ready(
                            ended.take().map(|end| end.map(|report| Streamed::Report(Box::new(report)))),
                        );
                    }
                    Poll::Pending if ended.is_some() => return Poll::Pending,
                    Poll::Pending => match crawl.as_mut().poll(task) {
                        Poll::Ready(end) => ended = Some(end),
                        Poll::Pending => match events.poll_recv(task) {
                            Poll::Ready(Some(event)) => return Poll::Ready(Some(Ok(Streamed::Event(event)))),
                            _ => return Poll::Pending,
                        },
                    },
                }
            }
        })
    }

    /// Reads the lists and says what a crawl would do; stores nothing.
    pub async fn preview(mut self) -> Result<Preview> {
        let (site, target) = match std::mem::replace(&mut self.of, Of::Code(String::new())) {
            Of::Rows(rows) => *rows,
            Of::Code(code) => self.engine.stored_target(&code).await?,
        };
        let ctx = self.engine.context(&self, site, target).await?;
        let state = RunState {
            run_id: 0,
            resumed: false,
            options: self.options.clone(),
            cursor: None,
            session: Vec::new(),
            pages: 0,
            listing_done: false,
            counts: RunCounts::default(),
            runs_of_target: 0,
            gap: false,
        };
        crawl::preview(&ctx, &state).await
    }

    async fn go(mut self, events: Option<mpsc::Sender<CrawlEvent>>) -> Result<Report> {
        let code = match &self.of {
            Of::Code(code) => code.clone(),
            Of::Rows(rows) => rows.1.code.clone(),
        };
        let (site, target) = self.engine.stored_target(&code).await?;
        // S2-50: checked here for every way in.
        if !(site.enabled && target.enabled) {
            return Err(ConfigError::disabled(if target.enabled { &site.code } else { &target.code }).into());
        }
        let root = self.engine.inner.files.root().to_path_buf();
        let held = code.clone();
        let lock = blocking(move || Ok(TargetLock::try_take(&root, &held)?)).await?;
        // Whoever works under a lease has the right to: then the lock is only a word to those who have none, and one that
        // is still held belongs to a worker that was paused and can store nothing any more.
        if lock.is_none() && self.store.is_none() {
            return Err(Error::Busy(code));
        }
        let _lock = lock;
        // Whoever listens hears the end when all of it is done, and not when the crawl lets go.
        let _open = events.clone();
        let since = self.engine.inner.settings.clock.now();
        // A crawl by hand takes its turn on the host as jobs do; what it stores is stored under a lease, too.
        let lane = match self.store {
            Some(_) => None,
            None => Some(self.engine.take_lane(&site, &target, events.as_ref()).await?),
        };
        if let Some(lane) = &lane {
            self.store = Some(lane.store());
        }
        let store = self.store.clone().unwrap_or_else(|| self.engine.inner.store.clone());
        let report = match self.engine.context(&self, site.clone(), target.clone()).await {
            Ok(mut ctx) => {
                ctx.events = events;
                let host = Url::parse(&site.base_url).map(|url| ctx.gate.key(&ctx.policy, &url));
                let lane = super::crawl_lane(&site, &target);
                let _hosts = self.engine.entrust(lane.clone(), host.unwrap_or(lane), &store);
                let report = crawl::run(&ctx, self.options.clone()).await;
                // What was counted on the way is stored with the run.
                ctx.gate.flush().await;
                report
            }
            Err(error) => Err(error),
        };
        self.engine.plan_next(&store, (&site, &target), since, &report).await;
        if let Some(lane) = lane.and_then(Arc::into_inner) {
            lane.release().await;
        }
        report
    }
}

/// What [`CrawlRequest::stream`] yields.
#[derive(Clone, Debug)]
pub enum Streamed {
    /// Something happened.
    Event(CrawlEvent),
    /// The crawl ended; nothing comes after it.
    Report(Box<Report>),
}
