//! The timer: sleeps to the earliest due time and makes jobs of what is due (C2, S3-1).
//!
//! It holds nothing: what is due is asked of the table, so a million schedules cost no memory and a timer of another process
//! may come and go. It wakes at the due time, at a change in this process, at a change in another one, and after 15 s
//! (60 s when nothing waits) in any case, because a machine that was asleep or a clock that was set tells nobody.
//!
//! A clock that goes **ahead** makes schedules overdue: each is made up for as its misfire policy says. One that goes **back**
//! is seen by the latest time from which a due time was computed; what was planned too far ahead is brought forward, and
//! a due time that made its job before makes none again.

use std::sync::Arc;
use std::time::Duration;

use chrono_tz::Tz;
use futures::future::BoxFuture;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use super::due::GRACE_MS;
use super::table::{FireAsk, Fired, ScheduleTable};
use crate::Result;
use crate::clock::{Clock, Timestamp};
use crate::deliver::alert::AlertWatch;
use crate::error::Error;
use crate::store::StoreError;

/// A clock that shows this much less than before was set back; less is the usual correction of a clock.
const SET_BACK_MS: i64 = 2_000;
/// Rows that are planned anew in one transaction after that.
const SET_BACK_ROWS: u32 = 2_000;
/// After an error of the store.
const AFTER_ERROR: Duration = Duration::from_secs(5);

/// How a timer works. The defaults are those of the requirements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimerOptions {
    /// The longest sleep while a job waits or runs (S1-8).
    pub busy: Duration,
    /// The longest sleep otherwise (S3-1).
    pub idle: Duration,
    /// How often a change of another process is listened for, on the machine's clock; none: not before the next waking.
    pub listen: Option<Duration>,
    /// Schedules that are fired in one transaction.
    pub batch: u32,
    /// Of schedules that are overdue, so many are fired at a time …
    pub backlog: u32,
    /// … and after each time the queue and everybody else who writes has so long for himself.
    pub breath: Duration,
}

impl Default for TimerOptions {
    fn default() -> Self {
        TimerOptions {
            busy: Duration::from_secs(15),
            idle: Duration::from_secs(60),
            listen: Some(Duration::from_millis(500)),
            batch: 500,
            backlog: 200,
            breath: Duration::from_millis(100),
        }
    }
}

/// Rung when something may have come due earlier; heard by every timer of this process that shares it.
#[derive(Clone, Debug, Default)]
pub struct Bell(Arc<Notify>);

impl Bell {
    /// Wakes whoever sleeps.
    pub fn ring(&self) {
        // One that is about to sleep hears it too: it listens before it asks the table.
        self.0.notify_waiters();
    }
}

/// What one look at the clock brought.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pass {
    /// Jobs that were made.
    pub jobs: u32,
    /// How long there is nothing to do, if nothing changes.
    pub sleep: Duration,
}

/// Makes schedules follow sites and targets again.
type Follow = Box<dyn Fn() -> BoxFuture<'static, Result<()>> + Send + Sync>;
/// Told of everything that was fired.
type Told = Box<dyn Fn(&Fired) + Send + Sync>;

/// Makes jobs of what is due.
pub struct Timer {
    table: Arc<dyn ScheduleTable>,
    clock: Arc<dyn Clock>,
    zone: Tz,
    options: TimerOptions,
    bell: Bell,
    alerts: Option<Arc<AlertWatch>>,
    told: Option<Told>,
    follow: Option<Follow>,
}

impl Timer {
    /// A timer over a table.
    pub fn new(table: Arc<dyn ScheduleTable>, clock: Arc<dyn Clock>, zone: Tz, bell: Bell) -> Timer {
        Timer {
            table,
            clock,
            zone,
            options: TimerOptions::default(),
            bell,
            alerts: None,
            told: None,
            follow: None,
        }
    }

    /// With other options.
    pub fn options(mut self, options: TimerOptions) -> Timer {
        self.options = options;
        self
    }

    /// Who is told of a schedule that had to be switched off.
    pub fn alerting(mut self, watch: Option<Arc<AlertWatch>>) -> Timer {
        self.alerts = watch;
        self
    }

    /// Told of everything that was fired, after it is so.
    pub fn telling(mut self, told: impl Fn(&Fired) + Send + Sync + 'static) -> Timer {
        self.told = Some(Box::new(told));
        self
    }

    /// Called when sites or targets have changed, before anything is fired.
    pub fn following(
        mut self,
        follow: impl Fn() -> BoxFuture<'static, Result<()>> + Send + Sync + 'static,
    ) -> Timer {
        self.follow = Some(Box::new(follow));
        self
    }

    /// Fires and sleeps until `stop` is cancelled. Dropping it is safe at any moment.
    pub async fn run(&self, stop: CancellationToken) -> Result<()> {
        let mut changes = None;
        while !stop.is_cancelled() {
            let rung = self.bell.0.notified();
            let sleep = match self.pass_from(&mut changes).await {
                Ok(pass) => pass.sleep,
                Err(Error::Store(StoreError::Closed)) => return Err(StoreError::Closed.into()),
                Err(error) => {
                    tracing::warn!(%error, "schedules could not be fired; tried again soon");
                    AFTER_ERROR
                }
            };
            let until = self.clock.instant() + sleep;
            tokio::select! {
                () = stop.cancelled() => {}
                () = rung => {}
                () = self.clock.sleep_until(until) => {}
                () = self.changed_elsewhere(changes) => {}
            }
        }
        Ok(())
    }

    /// Fires what is due now, and says how long to sleep. For programs that have a loop of their own.
    pub async fn pass(&self) -> Result<Pass> {
        self.pass_from(&mut None).await
    }

    async fn pass_from(&self, changes: &mut Option<i64>) -> Result<Pass> {
        let mut wake = self.table.wake().await?;
        if wake.dirty > 0
            && let Some(follow) = &self.follow
        {
            // What cannot be followed now is no reason to fire nothing; the next waking tries again.
            if let Err(error) = follow().await {
                tracing::warn!(%error, "schedules could not follow sites and targets");
            }
            wake = self.table.wake().await?;
        }
        *changes = Some(wake.changes);
        let now = self.clock.now();
        if now.0 < wake.seen_at.0.saturating_sub(SET_BACK_MS) {
            self.set_back(now, wake.seen_at).await?;
        } else if wake.earliest.is_none_or(|earliest| earliest > now) {
            return Ok(Pass { jobs: 0, sleep: self.nap(wake.earliest, wake.busy, now) });
        }
        // What is due now goes before what is long overdue.
        let mut jobs = 0;
        let grace = Timestamp(now.0.saturating_sub(GRACE_MS));
        loop {
            let fired = self.fire(Some(grace), self.options.batch).await?;
            jobs += fired.jobs;
            if fired.due < self.options.batch {
                break;
            }
        }
        let overdue = self.fire(None, self.options.backlog).await?;
        jobs += overdue.jobs;
        if overdue.due >= self.options.backlog {
            return Ok(Pass { jobs, sleep: self.options.breath });
        }
        let wake = self.table.wake().await?;
        Ok(Pass { jobs, sleep: self.nap(wake.earliest, wake.busy || jobs > 0, self.clock.now()) })
    }

    async fn fire(&self, after: Option<Timestamp>, limit: u32) -> Result<Fired> {
        let (now, zone, alerts) = (self.clock.now(), self.zone, self.alerts.clone());
        let fired = self.table.fire(FireAsk { now, after, limit, zone, alerts }).await?;
        if fired.due > 0
            && let Some(told) = &self.told
        {
            told(&fired);
        }
        Ok(fired)
    }

    async fn set_back(&self, now: Timestamp, before: Timestamp) -> Result<()> {
        tracing::warn!(%before, %now, "the clock was set back; schedules are planned anew");
        let mut after = 0;
        while let Some(last) = self.table.clock_set_back(now, self.zone, after, SET_BACK_ROWS).await? {
            after = last;
        }
        Ok(())
    }

    fn nap(&self, earliest: Option<Timestamp>, busy: bool, now: Timestamp) -> Duration {
        let cap = if busy { self.options.busy } else { self.options.idle };
        let until = earliest.map_or(i64::MAX, |at| at.0.saturating_sub(now.0).max(0));
        Duration::from_millis(until.unsigned_abs()).min(cap)
    }

    /// Ends when another process has changed something.
    async fn changed_elsewhere(&self, known: Option<i64>) {
        let (Some(listen), Some(known)) = (self.options.listen, known) else {
            return std::future::pending().await;
        };
        loop {
            tokio::time::sleep(listen).await;
            match self.table.changes().await {
                Ok(changes) if changes == known => {}
                _ => return,
            }
        }
    }
}
