//! Workers: take a job, run its handler under the job's clocks, write down what came of it, take the next.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use futures::Stream;
use tokio::sync::Notify;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

use super::events::{Events, QueueEvent};
use super::handler::{Handlers, JobContext, JobDone, JobFailed, JobHandler, JobResult, JobRules, Life};
use super::job::{Finish, Hold, Job, JobState, NewJob, Submitted};
use super::keeper::{Held, Keeper};
use super::owner;
use super::table::{Collect, Ended, Finished, JobTable, LeaseAsk, Leased, Retention};
use super::trouble::{Trouble, trouble};
use crate::Result;
use crate::clock::{Clock, Entropy, Steady, Timestamp};
use crate::deliver::alert::AlertWatch;
use crate::error::{Error, ErrorClass};
use crate::store::{Store, StoreError};

/// A job that stopped without having been asked to waits so long.
const UNASKED: Duration = Duration::from_secs(30);

/// How workers work. The defaults are those of the requirements.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WorkOptions {
    /// Jobs at work at once in this process (S3-5).
    pub workers: usize,
    /// How long a slot stays with a worker that no longer speaks (C4).
    pub lease: Duration,
    /// How often slots of lost workers are looked for (S4-9).
    pub stall_scan: Duration,
    /// How often a job may lose its worker before it counts as failed (S4-9).
    pub max_stalled: u32,
    /// How long jobs under way may take to end once the workers stop (S3-5).
    pub drain: Duration,
    /// How long a job that was called off may take to end.
    pub cancel_grace: Duration,
    /// How long an idle worker sleeps at most: another process may have submitted something.
    pub idle: Duration,
    /// Finished jobs that are kept.
    pub retention: Retention,
    /// How long a job may give no sign of life (C5), in place of what its kind says.
    pub no_progress: Option<Duration>,
    /// How long a store is waited for that cannot be written: a full disk, a lock. Then the workers end.
    pub patience: Duration,
}

impl Default for WorkOptions {
    fn default() -> Self {
        WorkOptions {
            workers: 3,
            lease: Duration::from_secs(60),
            stall_scan: Duration::from_secs(30),
            max_stalled: 1,
            drain: Duration::from_secs(30),
            cancel_grace: Duration::from_secs(10),
            idle: Duration::from_secs(1),
            retention: Retention::default(),
            no_progress: None,
            patience: Duration::from_secs(3600),
        }
    }
}

/// The queue of a store: submit, watch, call off, and work. Cheap to clone.
#[derive(Clone)]
pub struct Queue {
    table: Arc<dyn JobTable>,
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    entropy: Arc<dyn Entropy>,
    events: Events,
    bell: Arc<Notify>,
    /// Of those who work through this queue at the moment.
    keepers: Arc<std::sync::Mutex<Vec<Weak<Keeper>>>>,
    alerts: Option<Arc<AlertWatch>>,
    stalled: Arc<AtomicU64>,
    kinds: Arc<std::sync::Mutex<Option<Vec<String>>>>,
}

impl Queue {
    /// The queue in a store.
    pub fn new(
        table: Arc<dyn JobTable>,
        store: Arc<dyn Store>,
        clock: Arc<dyn Clock>,
        entropy: Arc<dyn Entropy>,
    ) -> Queue {
        let (bell, keepers, stalled, kinds) = Default::default();
        Queue {
            table,
            store,
            clock,
            entropy,
            events: Events::new(),
            bell,
            keepers,
            alerts: None,
            stalled,
            kinds,
        }
    }

    /// The same, and somebody is told when work that is done through it keeps failing (S2-66).
    pub fn alerting(mut self, watch: Option<Arc<AlertWatch>>) -> Queue {
        self.alerts = watch;
        self
    }

    /// The rows behind it.
    pub fn table(&self) -> &Arc<dyn JobTable> {
        &self.table
    }

    pub(super) fn store(&self) -> &Arc<dyn Store> {
        &self.store
    }

    pub(super) fn entropy(&self) -> &dyn Entropy {
        &*self.entropy
    }

    pub(super) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    pub(super) fn steady(&self) -> Steady {
        self.clock.steady()
    }

    /// Submits one job.
    pub async fn submit(&self, job: NewJob) -> Result<Submitted> {
        let submitted = self.submit_all(vec![job]).await?;
        submitted.first().copied().ok_or(Error::Store(StoreError::Closed))
    }

    /// Submits jobs, all of them or none.
    pub async fn submit_all(&self, jobs: Vec<NewJob>) -> Result<Vec<Submitted>> {
        let now = self.clock.now();
        let named: Vec<_> =
            jobs.iter().map(|job| (job.kind.clone(), job.lane.clone(), job.state(now))).collect();
        let submitted = self.table.submit(jobs, now).await?;
        for (job, (kind, lane, state)) in submitted.iter().zip(&named).filter(|(job, _)| job.fresh) {
            self.events.tell_of(job.id, kind, lane, *state, None);
        }
        self.bell.notify_waiters();
        Ok(submitted)
    }

    /// Jobs whose workers were lost, as this process has found since its start.
    pub fn stalled(&self) -> u64 {
        self.stalled.load(Ordering::Relaxed)
    }

    /// The kinds of work that workers of this process do; none: it has no workers.
    pub fn kinds(&self) -> Option<Vec<String>> {
        lock(&self.kinds).clone()
    }

    /// Wakes idle workers: somebody has put a job into the store.
    pub fn ring(&self) {
        self.bell.notify_waiters();
    }

    /// Calls a job off. One that waits is cancelled at once, one that is at work is asked to stop; the answer is its
    /// state now, none when there is no such job.
    pub async fn cancel(&self, id: i64) -> Result<Option<JobState>> {
        let before = self.table.job(id).await?;
        let state = self.table.cancel(id, self.clock.now()).await?;
        self.tell_change(before, state);
        self.keepers().iter().for_each(|keeper| keeper.stop_job(id));
        Ok(state)
    }

    /// Lets a job that ended badly, or waits for its time, start now.
    pub async fn retry(&self, id: i64) -> Result<Option<JobState>> {
        let before = self.table.job(id).await?;
        let state = self.table.retry(id, self.clock.now()).await?;
        self.tell_change(before, state);
        self.bell.notify_waiters();
        Ok(state)
    }

    /// Gives back at once everything that is worked on through this queue, in one write: what is under way is dropped and waits
    /// again as if it had not begun, for whoever comes next. For a program that must end now. Answers how many jobs.
    pub async fn abandon(&self) -> Result<u64> {
        let held = self.keepers().iter().flat_map(|keeper| keeper.drop_all()).collect();
        Ok(self.table.give_back(held, self.clock.now()).await?)
    }

    fn keepers(&self) -> Vec<Arc<Keeper>> {
        lock(&self.keepers).iter().filter_map(Weak::upgrade).collect()
    }

    /// A keeper for those who work through this queue from now on.
    pub(super) fn keep(&self, lease: Duration) -> Result<Arc<Keeper>> {
        let keeper = Arc::new(Keeper::start(self.table.clone(), self.clock.clone(), lease)?);
        let mut keepers = lock(&self.keepers);
        keepers.retain(|keeper| keeper.strong_count() > 0);
        keepers.push(Arc::downgrade(&keeper));
        drop(keepers);
        Ok(keeper)
    }

    fn tell_change(&self, before: Option<Job>, state: Option<JobState>) {
        if let (Some(job), Some(state)) = (before, state)
            && job.state != state
        {
            self.events.tell(&job, state, None);
        }
    }

    /// Takes back the slots of workers that are gone.
    pub(crate) async fn collect(&self, max_stalled: u32) -> Result<usize> {
        let steady = self.clock.steady();
        let mut owners: Vec<String> = (self.table.leases().await?.into_iter())
            .filter(|lease| lease.boot == steady.boot)
            .map(|lease| lease.owner)
            .collect();
        owners.sort();
        owners.dedup();
        owners.retain(|owner| owner::is_dead(owner));
        let collect = Collect { steady, dead: owners, max_stalled, alerts: self.alerts.clone() };
        let stalled = self.table.collect(collect, self.clock.now()).await?;
        for job in &stalled {
            self.events.tell_of(job.id, &job.kind, &job.lane, job.state, Some("its worker died or was lost"));
        }
        if !stalled.is_empty() {
            self.stalled.fetch_add(stalled.len() as u64, Ordering::Relaxed);
            self.bell.notify_waiters();
        }
        Ok(stalled.len())
    }

    /// Waits until a job has ended, whoever works on it. None: there is no such job, or it was forgotten.
    pub async fn wait(&self, id: i64) -> Result<Option<Job>> {
        loop {
            let mut events = std::pin::pin!(self.watch());
            match self.table.job(id).await? {
                Some(job) if !job.state.is_end() => {}
                ended => return Ok(ended),
            }
            // Another process may have it: then nobody here tells.
            let told = async {
                use futures::StreamExt;
                while let Some(event) = events.next().await {
                    match event {
                        QueueEvent::Job { id: other, .. } if other != id => {}
                        _ => break,
                    }
                }
            };
            let _ = tokio::time::timeout(Duration::from_secs(1), told).await;
        }
    }

    /// What happens to jobs of this process from now on. A slow watcher is told how much he missed, never less.
    pub fn watch(&self) -> impl Stream<Item = QueueEvent> + Send + 'static {
        self.events.watch()
    }

    /// Works until `stop` is cancelled; then starts nothing more, asks what is under way to end and waits up to
    /// [`WorkOptions::drain`] for it. What has not ended by then, and all of it when this future is dropped, waits
    /// again: nothing is lost. With `until_empty` it also ends when nothing is left that could start by itself.
    pub async fn work(
        &self,
        handlers: Handlers,
        options: WorkOptions,
        stop: CancellationToken,
        until_empty: bool,
    ) -> Result<()> {
        let keeper = self.keep(options.lease)?;
        *lock(&self.kinds) = Some(handlers.kinds());
        let crew = Arc::new(Crew {
            queue: self.clone(),
            kinds: handlers.kinds(),
            lanes: handlers.lanes(),
            handlers,
            options,
            stop: stop.clone(),
            drained: CancellationToken::new(),
            until_empty,
            keeper,
            owner: owner::name(&*self.entropy),
        });
        crew.care().await;
        let mut tasks = JoinSet::new();
        for _ in 0..options.workers.max(1) {
            let crew = crew.clone();
            tasks.spawn(async move { crew.worker().await });
        }
        let mut first_error = None;
        let mut drain = std::pin::pin!(async {
            stop.cancelled().await;
            sleep(options.drain).await;
        });
        let mut late = false;
        let mut next_care = Instant::now() + options.stall_scan;
        loop {
            tokio::select! {
                ended = tasks.join_next() => match ended {
                    None => break,
                    Some(Ok(Ok(()))) => {}
                    Some(Ok(Err(error))) => {
                        stop.cancel();
                        first_error = first_error.or(Some(error));
                    }
                    // A handler's panic is caught where it runs; this is a bug of the worker's own.
                    Some(Err(error)) => {
                        stop.cancel();
                        if error.is_panic() {
                            std::panic::resume_unwind(error.into_panic());
                        }
                    }
                },
                () = &mut drain, if !late => {
                    late = true;
                    crew.drained.cancel();
                }
                () = tokio::time::sleep_until(next_care) => {
                    crew.care().await;
                    next_care = Instant::now() + options.stall_scan;
                }
            }
        }
        *lock(&self.kinds) = None;
        first_error.map_or(Ok(()), Err)
    }
}

/// What the workers of one process share.
struct Crew {
    queue: Queue,
    handlers: Handlers,
    kinds: Vec<String>,
    lanes: BTreeMap<String, Vec<String>>,
    options: WorkOptions,
    stop: CancellationToken,
    /// Time is up for what is under way.
    drained: CancellationToken,
    until_empty: bool,
    keeper: Arc<Keeper>,
    owner: String,
}

impl Crew {
    fn ask(&self) -> LeaseAsk {
        LeaseAsk {
            owner: self.owner.clone(),
            kinds: self.kinds.clone(),
            lanes: self.lanes.clone(),
            until: self.queue.clock.steady().after(self.options.lease),
        }
    }

    async fn worker(&self) -> Result<()> {
        let mut next: Option<Leased> = None;
        let mut patience = Patience::of(&self.options);
        loop {
            if next.is_none() {
                if self.stop.is_cancelled() {
                    return Ok(());
                }
                let leased = self.queue.table.lease(self.ask(), self.queue.clock.now()).await;
                next = match leased {
                    Ok(leased) => leased,
                    Err(error) => {
                        self.bear(error, &mut patience).await?;
                        continue;
                    }
                };
                patience = Patience::of(&self.options);
            }
            let Some(leased) = next.take() else {
                if self.nothing_left().await? {
                    return Ok(());
                }
                continue;
            };
            next = self.one(leased).await?;
        }
    }

    /// Sleeps until something may be due. True: nothing will be, and nobody waits for more.
    async fn nothing_left(&self) -> Result<bool> {
        let rung = self.queue.bell.notified();
        let due = self.queue.table.next_due(self.queue.clock.now()).await?;
        // What others must do, because nobody here knows how, is not waited for.
        if self.until_empty && !self.queue.table.has_open(self.kinds.clone(), self.lanes.clone()).await? {
            return Ok(true);
        }
        let now = self.queue.clock.now().0;
        let until = due.at.map_or(i64::MAX, |at| at.0.saturating_sub(now));
        let nap = Duration::from_millis(until.max(5) as u64).min(self.options.idle);
        tokio::select! {
            () = rung => {}
            () = sleep(nap) => {}
            () = self.stop.cancelled() => {}
        }
        Ok(false)
    }

    /// Runs one job and writes down what came of it; brings the next one.
    async fn one(&self, Leased { token, job }: Leased) -> Result<Option<Leased>> {
        let stop = self.stop.child_token();
        let lost = CancellationToken::new();
        let life = Life::begins();
        let handler = self.handlers.of(&job.kind);
        let mut rules = handler.map(|handler| handler.rules()).unwrap_or_default();
        rules.no_progress = self.options.no_progress.unwrap_or(rules.no_progress);
        let held = Held {
            job: job.id,
            life: life.clone(),
            no_progress: rules.no_progress,
            suspect: job.stalls > 0,
            ending: false,
            stop: stop.clone(),
            lost: lost.clone(),
        };
        self.keeper.hold(token, held);
        // The lease is kept until the end is written down.
        let _given = Given { keeper: &self.keeper, token };
        self.queue.events.tell(&job, JobState::Running, None);
        let how = match handler {
            Some(handler) => {
                let store = self.queue.store.fenced(token);
                let context = JobContext { store, job: job.clone(), stop, life };
                self.carry_out(handler.clone(), context, &rules, &lost).await
            }
            // Only kinds that have a handler are asked for.
            None => Some(Finish::GivenBack),
        };
        let finished = match how {
            Some(how) => self.write_down(&job, token, how, &lost).await?,
            None => None,
        };
        match finished {
            Some(finished) => Ok(finished.next),
            // Somebody else has the job now; what was done in the store under the old lease was refused as well.
            None => {
                if let Ok(Some(job)) = self.queue.table.job(job.id).await {
                    self.queue.events.tell(&job, job.state, None);
                }
                Ok(None)
            }
        }
    }

    /// Writes down what came of a job. A store that cannot be written now is waited for; what it will not have is the fault
    /// of this job and of no other. None: the job goes on elsewhere.
    async fn write_down(
        &self,
        job: &Job,
        token: i64,
        how: Finish,
        lost: &CancellationToken,
    ) -> Result<Option<Finished>> {
        self.keeper.ends(token);
        let mut ended = Ended { token, id: job.id, how, alerts: self.queue.alerts.clone() };
        let (mut patience, mut refused) = (Patience::of(&self.options), false);
        loop {
            let next = (!self.stop.is_cancelled()).then(|| self.ask());
            let error = match self.queue.table.finish(ended.clone(), next, self.queue.clock.now()).await {
                Ok(finished) => {
                    // Told when it is so: whoever looks the job up now finds it as he was told.
                    self.queue.events.tell(job, finished.state, words(&ended.how));
                    return Ok(Some(finished));
                }
                Err(error) => error,
            };
            match trouble(&error) {
                Trouble::LeaseGone => {
                    tracing::warn!(token, job = job.id, "the lease was lost; the job goes on elsewhere");
                    return Ok(None);
                }
                Trouble::OfThisStep if !refused => {
                    tracing::warn!(job = job.id, %error, "what came of a job cannot be stored; it has failed");
                    let error = format!("what came of it cannot be stored: {error}");
                    ended.how = Finish::Failed { class: ErrorClass::Config, error };
                    refused = true;
                }
                // Not even that: the lease runs out, and the job is one that loses its workers.
                Trouble::OfThisStep => {
                    tracing::error!(job = job.id, %error, "the end of a job cannot be stored");
                    return Ok(None);
                }
                Trouble::Passing | Trouble::OfTheStore => {
                    tokio::select! {
                        borne = self.bear(error, &mut patience) => borne?,
                        () = lost.cancelled() => return Ok(None),
                    }
                }
            }
        }
    }

    /// Waits a little for a store that cannot be written at the moment; an error when it has been waited for long enough, or
    /// waiting will not help.
    async fn bear(&self, error: StoreError, patience: &mut Patience) -> Result<()> {
        if trouble(&error) != Trouble::Passing || self.drained.is_cancelled() {
            return Err(error.into());
        }
        let Some(pause) = patience.next() else { return Err(error.into()) };
        tracing::warn!(%error, "the store cannot be written; it is tried again in {} s", pause.as_secs_f32());
        tokio::select! {
            () = sleep(pause) => {}
            () = self.drained.cancelled() => {}
        }
        Ok(())
    }

    /// The handler under its clocks. None: the lease is lost, there is nothing to write down.
    async fn carry_out(
        &self,
        handler: Arc<dyn JobHandler>,
        context: JobContext,
        rules: &JobRules,
        lost: &CancellationToken,
    ) -> Option<Finish> {
        let expiring = context.job.expiring;
        let run = async {
            use futures::FutureExt;
            let work = match expiring {
                true => handler.on_expired(&context),
                false => handler.run(&context),
            };
            std::panic::AssertUnwindSafe(work).catch_unwind().await
        };
        let wall = async {
            match rules.wall {
                Some(wall) => sleep(wall).await,
                None => std::future::pending().await,
            }
        };
        let stopped = async {
            context.stop.cancelled().await;
            // The worker ends: what is under way has until the drain is over. The job alone: its own grace.
            if !self.stop.is_cancelled() {
                tokio::select! {
                    () = sleep(self.options.cancel_grace) => {}
                    () = self.drained.cancelled() => {}
                }
            } else {
                self.drained.cancelled().await;
            }
        };
        let called_off = || context.stop.is_cancelled() && !self.stop.is_cancelled();
        tokio::select! {
            biased;
            () = lost.cancelled() => None,
            done = run => Some(match done {
                Ok(result) => self.judge(&context, result, rules, called_off()),
                Err(panic) => Finish::Failed { class: ErrorClass::Adapter, error: panicked(&*panic) },
            }),
            () = wall => Some(self.timed_out(&context.job, rules, "its wall limit")),
            () = stuck(&context, rules.no_progress) => {
                Some(self.timed_out(&context.job, rules, "its time without progress"))
            }
            () = stopped => Some(if called_off() { Finish::Cancelled } else { Finish::GivenBack }),
        }
    }

    fn judge(&self, context: &JobContext, result: JobResult, rules: &JobRules, called_off: bool) -> Finish {
        match result {
            Ok(JobDone { response, then }) => Finish::Done { response, then },
            Err(JobFailed::Interrupted) if called_off => Finish::Cancelled,
            Err(JobFailed::Interrupted) if context.stop.is_cancelled() => Finish::GivenBack,
            // Nobody asked it to stop: taken up at once it might stop for ever.
            Err(JobFailed::Interrupted) => Finish::Postponed {
                until: Timestamp(self.queue.clock.now().0.saturating_add(UNASKED.as_millis() as i64)),
                hold: Hold::Job,
                why: "it stopped, and nobody had asked it to".to_owned(),
            },
            Err(JobFailed::Postponed { until, hold, why }) => Finish::Postponed { until, hold, why },
            Err(JobFailed::Error { class, message, not_before }) => {
                self.failed(&context.job, rules, class, message, not_before)
            }
        }
    }

    fn timed_out(&self, job: &Job, rules: &JobRules, what: &str) -> Finish {
        self.failed(job, rules, ErrorClass::Network, format!("timeout: it took longer than {what}"), None)
    }

    fn failed(
        &self,
        job: &Job,
        rules: &JobRules,
        class: ErrorClass,
        error: String,
        not_before: Option<(Hold, Timestamp)>,
    ) -> Finish {
        // A start that was lost with its worker was taken back: attempts are those that came to an end.
        match rules.retry.delay(job.attempts, class, self.queue.entropy.unit()) {
            Some(delay) => {
                let at = Timestamp(self.queue.clock.now().0.saturating_add(delay.as_millis() as i64));
                let (hold, at) = match not_before {
                    Some((hold, until)) if until > at => (hold, until),
                    _ => (Hold::Job, at),
                };
                Finish::Retry { class, error, at, hold }
            }
            None => Finish::Failed { class, error },
        }
    }

    /// What is done now and then: slots of lost workers, jobs long done.
    async fn care(&self) {
        let (queue, now) = (&self.queue, self.queue.clock.now());
        match queue.collect(self.options.max_stalled).await {
            Ok(0) => {}
            Ok(jobs) => tracing::warn!(jobs, "jobs whose workers were lost wait again or have failed"),
            Err(error) => tracing::warn!(%error, "slots of lost workers could not be taken back"),
        }
        if let Err(error) = queue.table.prune(self.options.retention, now).await {
            tracing::warn!(%error, "finished jobs could not be forgotten");
        }
    }
}

/// A lease that is being worked under; the keeper lets go of it when this is dropped.
struct Given<'a> {
    keeper: &'a Keeper,
    token: i64,
}

impl Drop for Given<'_> {
    fn drop(&mut self) {
        self.keeper.drop_lease(self.token);
    }
}

/// Ends when a job made no progress for too long.
async fn stuck(context: &JobContext, limit: Duration) {
    loop {
        let idle = context.life.idle();
        if idle >= limit {
            return;
        }
        sleep(limit - idle).await;
    }
}

fn panicked(panic: &(dyn std::any::Any + Send)) -> String {
    let words = panic.downcast_ref::<&str>().copied().map(str::to_owned);
    let words = words.or_else(|| panic.downcast_ref::<String>().cloned());
    format!("its handler panicked: {}", words.as_deref().unwrap_or("without words"))
}

/// The error in what came of a job.
fn words(how: &Finish) -> Option<&str> {
    match how {
        Finish::Failed { error, .. } | Finish::Retry { error, .. } => Some(error),
        Finish::Postponed { why, .. } => Some(why),
        Finish::Done { .. } | Finish::GivenBack | Finish::Cancelled => None,
    }
}

/// How long a store is still waited for.
struct Patience {
    pause: Duration,
    left: Duration,
}

impl Patience {
    fn of(options: &WorkOptions) -> Patience {
        Patience { pause: Duration::from_millis(200), left: options.patience }
    }

    /// The next pause, each twice as long up to half a minute; none: it was long enough.
    fn next(&mut self) -> Option<Duration> {
        let pause = self.pause.min(self.left);
        self.left -= pause;
        self.pause = (2 * self.pause).min(Duration::from_secs(30));
        (!pause.is_zero()).then_some(pause)
    }
}

fn lock<T>(mutex: &std::sync::Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}
