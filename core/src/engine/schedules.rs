//! Schedules of an engine: those of its targets follow sites and targets, its own are made when it runs.

use std::collections::HashMap;
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use serde::{Deserialize as _, Serialize};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::{CRAWL, CrawlJob, Engine, crawl_lane};
use crate::Result;
use crate::config::{SiteConfig, Timing};
use crate::model::{Site, Target};
use crate::queue::{Handlers, JobContext, JobDone, JobHandler, JobResult, WorkOptions};
use crate::schedule::cron::Lang;
use crate::schedule::explain::{Explanation, Facts, explain};
use crate::schedule::{
    ByHand, Change, NewSchedule, Schedule, ScheduleEdit, ScheduleQuery, Schedules, TARGET_PREFIX, Timer,
    Trigger, target_schedule,
};

/// What reconciling is called as a schedule (S2-47), and as a kind of job.
pub const RECONCILE: &str = "builtin:reconcile";
/// What steering the budget of checks is called.
pub const BUDGET: &str = "builtin:budget";
/// At which it is steered: once a day, when little is published.
const BUDGET_CRON: &str = "30 3 * * *";
/// S2-47, unless the engine says otherwise.
pub(super) const RECONCILE_EVERY: Duration = Duration::from_secs(300);
/// S0-21: what an adaptive policy asks for goes before what a cron asks for.
const ADAPTIVE_PRIORITY: i32 = 10;
/// Why the schedule of a target is off.
const TARGET_OFF: &str = "its target or the site is switched off";
/// Schedules that are read at once.
const PAGE: u32 = 10_000;
/// Changes that are made in one transaction.
const BATCH: usize = 1_000;

/// What became of schedules when they followed sites and targets.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Reconciled {
    /// Targets that have a schedule now.
    pub added: u32,
    /// Schedules that were switched off or removed with their targets.
    pub removed: u32,
    /// Schedules that were changed otherwise.
    pub changed: u32,
    /// Sites whose file has changed and was read.
    pub sites: Vec<String>,
    /// Sites whose file cannot be read, and why; the last good one holds.
    pub invalid: Vec<(String, String)>,
}

impl Engine {
    /// The schedules of this engine's store.
    pub fn schedules(&self) -> Schedules {
        let settings = &self.inner.settings;
        Schedules::new(
            self.inner.table.clone(),
            self.inner.queue.clone(),
            settings.clock.clone(),
            settings.zone,
            self.inner.bell.clone(),
        )
    }

    /// Makes the schedules of targets follow sites and targets, if anything has changed there: a target has one, which is on
    /// as its site and the target are, and comes due as they say ([`Timing`]). What was set by hand stays (I14).
    ///
    /// Changes through the engine do this at once; changes of others are noticed while [`Engine::run`] runs.
    pub async fn follow_targets(&self) -> Result<Reconciled> {
        let wake = self.inner.table.wake().await?;
        if wake.dirty == 0 {
            return Ok(Reconciled::default());
        }
        let mut stored = HashMap::new();
        let mut query =
            ScheduleQuery { prefix: Some(TARGET_PREFIX.to_owned()), limit: PAGE, ..Default::default() };
        loop {
            let page = self.inner.table.schedules(query.clone()).await?;
            let full = page.len() == PAGE as usize;
            query.after_name = page.last().map(|last| last.name.clone());
            stored.extend(page.into_iter().map(|row| (row.name.clone(), row)));
            if !full {
                break;
            }
        }
        let (mut changes, mut done) = (Vec::new(), Reconciled::default());
        for site in self.inner.store.sites().await? {
            let file = SiteConfig::deserialize(&site.source).ok();
            for (site, target) in self.inner.store.targets(Some(&site.code)).await? {
                let wanted = wanted(&site, &target, file.as_ref());
                let on = site.enabled && target.enabled;
                match stored.remove(&wanted.name) {
                    None if on => {
                        done.added += 1;
                        changes.push(Change::Add(Box::new(wanted)));
                    }
                    None => {}
                    Some(row) => {
                        if let Some(edit) = difference(&row, &wanted, on) {
                            match edit.enabled {
                                Some((false, _)) => done.removed += 1,
                                _ => done.changed += 1,
                            }
                            changes.push(Change::Edit(row.name, Box::new(edit)));
                        }
                    }
                }
            }
        }
        // What is left has no target any more.
        done.removed += stored.len() as u32;
        changes.extend(stored.into_keys().map(Change::Remove));
        let settings = &self.inner.settings;
        for batch in changes.chunks(BATCH) {
            self.inner.table.change(batch.to_vec(), settings.clock.now(), settings.zone).await?;
        }
        self.inner.table.settle(wake.dirty).await?;
        self.inner.bell.ring();
        Ok(done)
    }

    /// Why a schedule is due when it is, in words: what would be earlier, what holds it back, with the numbers. By its name or
    /// the code of its target.
    pub async fn explain(&self, name: &str, lang: Lang) -> Result<Explanation> {
        let (inner, settings) = (&self.inner, &self.inner.settings);
        let schedule = self.schedules().get(name).await?;
        let now = settings.clock.now();
        let mut facts = Facts {
            zone: schedule.zone_or(settings.zone),
            now,
            decisions: inner.table.decisions(schedule.id, 32).await?,
            stats: None,
            job: None,
            host: Vec::new(),
            target_on: None,
            budget: inner.table.budget().await?,
            schedule,
        };
        if let Some(job) = facts.schedule.last_job {
            facts.job = inner.queue.table().job(job).await?;
        }
        if let Some(code) = facts.schedule.target() {
            facts.stats = inner.table.source_stats(code, now).await?;
            facts.target_on = Some(inner.table.target_is_on(code).await?);
            if let Some((site, target)) = inner.store.target(code).await? {
                // Another process may have asked the host last.
                let lane = crawl_lane(&site, &target);
                if self.gate().hosts().wants_row(&lane) {
                    self.gate().hosts().load(&lane, inner.store.host(&lane).await?);
                }
                facts.host = self.holds(&site, &target, now);
            }
        }
        Ok(explain(&facts, lang))
    }

    /// Makes the engine's own schedules; those that are there stay as they are (S3-11).
    async fn make_builtins(&self) -> Result<()> {
        let settings = &self.inner.settings;
        let every = Trigger::Interval { seconds: settings.reconcile.as_secs().max(1) };
        let reconcile = NewSchedule::new(RECONCILE, RECONCILE, every.clone())
            .title("站点与计划同步 / schedules follow sites and targets");
        let budget = NewSchedule::new(BUDGET, BUDGET, Trigger::Cron { cron: BUDGET_CRON.to_owned() })
            .title("检查预算调价 / the price of a check follows the budget");
        let table = &self.inner.table;
        let changes = [reconcile, budget].map(|new| Change::Add(Box::new(new))).to_vec();
        table.change(changes, settings.clock.now(), settings.zone).await?;
        // The interval is a setting of the engine, unless somebody set the trigger by hand.
        if let Some(known) = table.schedule(RECONCILE).await?
            && known.trigger != every
            && !known.operator_set.contains(&ByHand::Trigger)
        {
            let edit = ScheduleEdit { trigger: Some(every), ..ScheduleEdit::default() };
            let edit = Change::Edit(RECONCILE.to_owned(), Box::new(edit));
            table.change(vec![edit], settings.clock.now(), settings.zone).await?;
        }
        Ok(())
    }

    /// The timer of this engine: makes jobs of what comes due while it [runs](Timer::run).
    pub async fn timer(&self) -> Result<Timer> {
        self.make_builtins().await?;
        let (inner, settings) = (&self.inner, &self.inner.settings);
        let (queue, engine) = (inner.queue.clone(), self.clone());
        let timer =
            Timer::new(inner.table.clone(), settings.clock.clone(), settings.zone, inner.bell.clone())
                .alerting(inner.channels.alerts(&[CRAWL]))
                .telling(move |_| queue.ring())
                .following(move || {
                    let engine = engine.clone();
                    async move { engine.follow_targets().await.map(|_| ()) }.boxed()
                });
        Ok(timer)
    }

    /// Fires what comes due and works on it until `stop` is cancelled; then drains as [`Queue::work`] does. This is what
    /// `dibao run` does. Nothing goes on after it has returned, or was dropped.
    ///
    /// [`Queue::work`]: crate::queue::Queue::work
    pub async fn run(&self, handlers: Handlers, options: WorkOptions, stop: CancellationToken) -> Result<()> {
        // Site files may have changed while nobody looked.
        self.reconcile().await?;
        let timer = self.timer().await?;
        let fire = async {
            let fired = timer.run(stop.clone()).await;
            // Without a timer this is no scheduler: workers end with it.
            stop.cancel();
            fired
        };
        let (fired, worked) = tokio::join!(fire, self.queue().work(handlers, options, stop.clone(), false));
        self.gate().flush().await;
        worked.and(fired)
    }
}

/// The schedule that a target should have.
fn wanted(site: &Site, target: &Target, file: Option<&SiteConfig>) -> NewSchedule {
    let timing = Timing::of(site, target, file);
    let crawl = CrawlJob { target: target.code.clone(), ..CrawlJob::default() };
    let mut new = NewSchedule::new(target_schedule(&target.code), CRAWL, timing.trigger)
        .lane(crawl_lane(site, target))
        .payload(json!(crawl))
        .title(target.name.clone());
    if matches!(new.trigger, Trigger::Adaptive { .. }) {
        new.priority = ADAPTIVE_PRIORITY;
    }
    new.origin = Some(timing.origin.as_str().to_owned());
    new
}

/// What has to change; none: nothing. What was set by hand is as it should be.
fn difference(row: &Schedule, wanted: &NewSchedule, on: bool) -> Option<ScheduleEdit> {
    let by_hand = |field| row.operator_set.contains(&field);
    let mut edit = ScheduleEdit::default();
    if row.title != wanted.title && !wanted.title.is_empty() {
        edit.title = Some(wanted.title.clone());
    }
    if row.payload != wanted.payload {
        edit.payload = Some(wanted.payload.clone());
    }
    if row.lane != wanted.lane {
        edit.lane = Some(wanted.lane.clone());
    }
    let other = row.trigger != wanted.trigger;
    if !by_hand(ByHand::Trigger) {
        if other {
            edit.trigger = Some(wanted.trigger.clone());
        }
        if row.priority != wanted.priority {
            edit.priority = Some(wanted.priority);
        }
        if row.origin != wanted.origin {
            edit.origin = Some(wanted.origin.clone());
        }
    }
    if !by_hand(ByHand::Zone) && row.zone != wanted.zone {
        edit.zone = Some(wanted.zone);
    }
    if !by_hand(ByHand::Misfire) && (row.misfire, row.expires_sec) != (wanted.misfire, wanted.expires_sec) {
        edit.misfire = Some((wanted.misfire, wanted.expires_sec));
    }
    if !by_hand(ByHand::Enabled) && row.enabled != on {
        // One whose cron could not be read stays off until there is another (S3-8).
        let broken = on && row.off_why.as_deref().is_some_and(|why| why != TARGET_OFF);
        if !broken || edit.trigger.is_some() {
            edit.enabled = Some((on, (!on).then(|| TARGET_OFF.to_owned())));
        }
    }
    (edit != ScheduleEdit::default()).then_some(edit)
}

/// `builtin:budget` as a job.
pub(super) struct BudgetHandler(pub Engine);

impl JobHandler for BudgetHandler {
    fn run<'a>(&'a self, _: &'a JobContext) -> BoxFuture<'a, JobResult> {
        Box::pin(async move {
            let now = self.0.inner.settings.clock.now();
            let budget = self.0.inner.table.steer_budget(now).await.map_err(crate::Error::from)?;
            Ok(JobDone::saying(json!(budget).to_string()))
        })
    }
}
