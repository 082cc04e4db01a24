//! The queue against a small model of itself: random operations, the same states.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::open;
use crate::clock::{Steady, Timestamp};
use crate::error::ErrorClass;
use crate::queue::{
    Collect, Ended, Finish, Finished, Hold, JobQuery, JobState, JobTable, LeaseAsk, Leased, NewJob,
};
use crate::store::{SqliteStore, StoreError};

const BOOT: &str = "boot";
const LEASE: i64 = 60_000;

fn ask(now: i64) -> LeaseAsk {
    let until = Steady { boot: BOOT.into(), ms: now + LEASE };
    LeaseAsk { owner: "test".into(), kinds: vec!["work".into()], lanes: BTreeMap::new(), until }
}

fn done() -> Finish {
    Finish::Done { response: None, then: Vec::new() }
}

/// What the tests ask of the store, on a clock of their own.
struct Desk {
    store: SqliteStore,
    now: i64,
    _dir: tempfile::TempDir,
}

impl Desk {
    fn new() -> Desk {
        let dir = tempfile::tempdir().unwrap();
        Desk { store: open(dir.path()), now: 1_000_000, _dir: dir }
    }

    fn at(&self) -> Timestamp {
        Timestamp(self.now)
    }

    fn steady(&self) -> Steady {
        Steady { boot: BOOT.into(), ms: self.now }
    }

    async fn submit(&self, job: NewJob) -> i64 {
        self.store.submit(vec![job], self.at()).await.unwrap()[0].id
    }

    async fn lease(&self) -> Option<Leased> {
        self.store.lease(ask(self.now), self.at()).await.unwrap()
    }

    fn lost(&self) -> Collect {
        Collect { steady: self.steady(), dead: Vec::new(), max_stalled: 1, alerts: None }
    }

    async fn end(&self, leased: &Leased, how: Finish) -> Result<Finished, StoreError> {
        let ended = Ended { token: leased.token, id: leased.job.id, how, alerts: None };
        self.store.finish(ended, None, self.at()).await
    }

    async fn state(&self, id: i64) -> JobState {
        self.store.job(id).await.unwrap().unwrap().state
    }
}

fn work(lane: &str) -> NewJob {
    NewJob::new("work", lane)
}

#[tokio::test]
async fn within_a_lane_the_expired_come_first_then_priority_then_due_time() {
    let mut desk = Desk::new();
    let late = desk.submit(work("a").run_after(Timestamp(desk.now + 20))).await;
    let early = desk.submit(work("a").run_after(Timestamp(desk.now + 10))).await;
    let urgent = desk.submit(work("a").priority(5).run_after(Timestamp(desk.now + 30))).await;
    let over2 = desk.submit(work("a").expires_at(Timestamp(desk.now + 50))).await;
    let over1 = desk.submit(work("a").expires_at(Timestamp(desk.now + 40))).await;
    desk.now += 60;
    let mut order = Vec::new();
    while let Some(leased) = desk.lease().await {
        order.push((leased.job.id, leased.job.expiring));
        desk.end(&leased, done()).await.unwrap();
    }
    let expected = [(over1, true), (over2, true), (urgent, false), (early, false), (late, false)];
    assert_eq!(order, expected);
    // I6: what was picked as expired ends as expired, and is told so.
    assert_eq!(desk.state(over1).await, JobState::Expired);
    assert_eq!(desk.state(urgent).await, JobState::Done);
}

#[tokio::test]
async fn a_lane_with_ten_thousand_jobs_keeps_no_other_waiting() {
    let desk = Desk::new();
    let many = (0..10_000).map(|_| work("many")).collect();
    desk.store.submit(many, desk.at()).await.unwrap();
    let first = desk.lease().await.unwrap();
    let one = desk.submit(work("one")).await;
    // The worker of the long lane ends its job: the other lane is served next, not the ten thousand.
    let ended = Ended { token: first.token, id: first.job.id, how: done(), alerts: None };
    let next = desk.store.finish(ended, Some(ask(desk.now)), desk.at()).await.unwrap().next.unwrap();
    assert_eq!(next.job.id, one);
    let ended = Ended { token: next.token, id: next.job.id, how: done(), alerts: None };
    let again = desk.store.finish(ended, Some(ask(desk.now)), desk.at()).await.unwrap().next.unwrap();
    assert_eq!(again.job.lane, "many");
    // Nobody else waits: the same lease goes on with the next job of its lane.
    let ended = Ended { token: again.token, id: again.job.id, how: done(), alerts: None };
    let same = desk.store.finish(ended, Some(ask(desk.now)), desk.at()).await.unwrap().next.unwrap();
    assert_eq!((same.token, same.job.lane.as_str()), (again.token, "many"));
}

#[tokio::test]
async fn a_key_keeps_a_second_job_out_while_it_lives_or_for_ever() {
    let desk = Desk::new();
    let submit = |job| desk.store.submit(vec![job], desk.at());
    let first = submit(work("a").unique("live")).await.unwrap()[0];
    let second = submit(work("b").unique("live")).await.unwrap()[0];
    assert!(first.fresh && !second.fresh && first.id == second.id);
    let fired = submit(work("a").once("schedule 1 at 08:00")).await.unwrap()[0];
    while let Some(leased) = desk.lease().await {
        desk.end(&leased, done()).await.unwrap();
    }
    assert!(submit(work("a").unique("live")).await.unwrap()[0].fresh, "the first one has ended");
    let again = submit(work("a").once("schedule 1 at 08:00")).await.unwrap()[0];
    assert_eq!((again.id, again.fresh), (fired.id, false), "a schedule fires once for one due time");
}

#[tokio::test]
async fn a_worker_that_lost_its_lease_can_end_nothing_and_write_nothing() {
    let mut desk = Desk::new();
    let id = desk.submit(work("a")).await;
    let lost = desk.lease().await.unwrap();
    desk.now += LEASE + 1;
    desk.store.collect(desk.lost(), desk.at()).await.unwrap();
    let other = desk.lease().await.unwrap();
    assert!(other.job.id == id && other.token > lost.token && other.job.stalls == 1);
    for how in [done(), Finish::GivenBack, Finish::Cancelled] {
        let refused = desk.end(&lost, how).await.unwrap_err();
        assert!(matches!(refused, StoreError::Fenced { token } if token == lost.token), "{refused}");
    }
    let renewed = desk.store.renew(vec![lost.token, other.token], desk.steady()).await.unwrap();
    assert_eq!(renewed.lost, [lost.token]);
    desk.end(&other, done()).await.unwrap();
    assert_eq!(desk.state(id).await, JobState::Done);
}

#[tokio::test]
async fn a_job_whose_worker_is_lost_twice_has_failed() {
    let mut desk = Desk::new();
    let id = desk.submit(work("a")).await;
    for expected in [JobState::Queued, JobState::Failed] {
        desk.lease().await.unwrap();
        desk.now += LEASE + 1;
        let stalled = desk.store.collect(desk.lost(), desk.at()).await.unwrap();
        assert_eq!((stalled[0].id, stalled[0].state), (id, expected));
    }
    let job = desk.store.job(id).await.unwrap().unwrap();
    assert_eq!(job.error_class.as_deref(), Some("stalled"));
    // After the machine was started anew, every lease of before is void at once.
    let second = desk.submit(work("b")).await;
    desk.lease().await.unwrap();
    let reborn = Steady { boot: "another".into(), ms: 5 };
    let stalled = desk.store.collect(Collect { steady: reborn, ..desk.lost() }, desk.at()).await.unwrap();
    assert_eq!(stalled[0].id, second);
}

#[tokio::test]
async fn what_is_kept_of_finished_jobs_is_bounded_by_number_and_age() {
    use crate::queue::Retention;
    let mut desk = Desk::new();
    for _ in 0..30 {
        desk.submit(work("a")).await;
        let leased = desk.lease().await.unwrap();
        desk.now += 10;
        desk.end(&leased, done()).await.unwrap();
    }
    let keep = Retention { per_lane: 12, age: std::time::Duration::from_secs(3600) };
    assert_eq!(desk.store.prune(keep, desk.at()).await.unwrap(), 18);
    let left = desk.store.jobs(JobQuery::default()).await.unwrap();
    assert_eq!((left.len(), left.last().unwrap().id), (12, 19), "the newest stay");
    desk.now += 3_600_000 + 1;
    assert_eq!(desk.store.prune(keep, desk.at()).await.unwrap(), 12);
    assert!(desk.store.lanes().await.unwrap().is_empty(), "an empty lane is forgotten");
}

#[tokio::test]
async fn a_retried_job_waits_again_as_if_it_were_new() {
    let desk = Desk::new();
    let id = desk.submit(work("a").unique("k")).await;
    let leased = desk.lease().await.unwrap();
    let failed = Finish::Failed { class: ErrorClass::Shape, error: "x".repeat(5_000) };
    desk.end(&leased, failed).await.unwrap();
    let job = desk.store.job(id).await.unwrap().unwrap();
    assert!(job.error.unwrap().len() <= 2_010 && job.error_class.as_deref() == Some("shape"));
    assert_eq!(desk.store.retry(id, desk.at()).await.unwrap(), Some(JobState::Queued));
    let again = desk.lease().await.unwrap();
    assert_eq!((again.job.id, again.job.attempts), (id, 1));
    desk.end(&again, Finish::Cancelled).await.unwrap();
    let other = desk.submit(work("a").unique("k")).await;
    assert_ne!(other, id);
    let refused = desk.store.retry(id, desk.at()).await.unwrap_err();
    assert!(refused.to_string().contains("another one with the key"), "{refused}");
    assert_eq!(desk.store.retry(999, desk.at()).await.unwrap(), None);
    // A key that is taken for ever is not given back by the end of the one that has it.
    let leased = desk.lease().await.unwrap();
    desk.end(&leased, Finish::Cancelled).await.unwrap();
    desk.store.submit(vec![work("a").once("k")], desk.at()).await.unwrap();
    let leased = desk.lease().await.unwrap();
    desk.end(&leased, done()).await.unwrap();
    let refused = desk.store.retry(id, desk.at()).await.unwrap_err();
    assert!(matches!(refused, StoreError::Refused { .. }), "{refused}");
}

#[tokio::test]
async fn a_worker_that_is_known_to_be_dead_gives_up_its_slot_before_its_lease_ends() {
    let desk = Desk::new();
    let id = desk.submit(work("a")).await;
    desk.lease().await.unwrap();
    let leases = desk.store.leases().await.unwrap();
    assert_eq!((leases[0].owner.as_str(), leases[0].job), ("test", Some(id)));
    let other = Collect { dead: vec!["another".into()], ..desk.lost() };
    assert!(desk.store.collect(other, desk.at()).await.unwrap().is_empty());
    let dead = Collect { dead: vec!["test".into()], ..desk.lost() };
    let stalled = desk.store.collect(dead, desk.at()).await.unwrap();
    assert_eq!((stalled[0].id, stalled[0].state), (id, JobState::Queued));
    assert!(desk.store.leases().await.unwrap().is_empty());
}

#[tokio::test]
async fn workers_that_were_lost_count_no_more_once_the_job_has_achieved_something() {
    let mut desk = Desk::new();
    let id = desk.submit(work("a")).await;
    for expected in [JobState::Queued, JobState::Queued, JobState::Failed] {
        let leased = desk.lease().await.unwrap();
        if leased.job.stalls == 1 && expected == JobState::Queued {
            desk.store.forgive(vec![leased.token]).await.unwrap();
        }
        desk.now += LEASE + 1;
        let stalled = desk.store.collect(desk.lost(), desk.at()).await.unwrap();
        assert_eq!((stalled[0].id, stalled[0].state), (id, expected));
    }
}

#[tokio::test]
async fn what_is_given_back_waits_as_if_it_had_not_begun_and_what_is_lost_is_passed_over() {
    let mut desk = Desk::new();
    let first = desk.submit(work("a")).await;
    let lost = desk.lease().await.unwrap();
    desk.now += LEASE + 1;
    desk.store.collect(desk.lost(), desk.at()).await.unwrap();
    let other = desk.lease().await.unwrap();
    let second = desk.submit(work("b")).await;
    let mine = desk.lease().await.unwrap();
    let held = vec![(lost.token, first), (mine.token, second)];
    assert_eq!(desk.store.give_back(held, desk.at()).await.unwrap(), 1);
    let job = desk.store.job(second).await.unwrap().unwrap();
    assert_eq!((job.state, job.attempts, job.stalls), (JobState::Queued, 0, 0));
    assert_eq!(desk.state(first).await, JobState::Running, "another worker has it");
    desk.end(&other, done()).await.unwrap();
    assert!(desk.store.doctor(desk.steady(), false).await.unwrap().is_empty());
}

#[tokio::test]
async fn who_stands_in_line_for_a_lane_goes_before_its_jobs_and_after_those_who_came_first() {
    let mut desk = Desk::new();
    let reserve = async |desk: &Desk| {
        let until = ask(desk.now).until;
        desk.store.reserve("a", "hand", until, desk.at()).await.unwrap()
    };
    for _ in 0..2 {
        desk.submit(work("a")).await;
    }
    let running = desk.lease().await.unwrap();
    let (first, second) = (reserve(&desk).await, reserve(&desk).await);
    assert!(!desk.store.enter(first).await.unwrap() && !desk.store.enter(second).await.unwrap());
    let lane = desk.store.lanes().await.unwrap().remove(0);
    assert_eq!((lane.running, lane.queued), (1, 1), "a place in line is no slot");
    // The worker would go on in its lane; now the first in line does.
    let ended = Ended { token: running.token, id: running.job.id, how: done(), alerts: None };
    let finished = desk.store.finish(ended, Some(ask(desk.now)), desk.at()).await.unwrap();
    assert_eq!(finished.next, None);
    assert!(!desk.store.enter(second).await.unwrap());
    assert!(desk.store.enter(first).await.unwrap() && desk.store.enter(first).await.unwrap());
    assert_eq!(desk.lease().await, None);
    // It dies in its slot; the second has its turn, then the jobs.
    desk.now += LEASE;
    desk.store.renew(vec![second], ask(desk.now).until).await.unwrap();
    desk.now += 1;
    desk.store.collect(desk.lost(), desk.at()).await.unwrap();
    assert!(matches!(desk.store.enter(first).await, Err(StoreError::Fenced { .. })));
    assert!(desk.store.enter(second).await.unwrap());
    assert_eq!(desk.lease().await, None);
    assert_eq!(desk.store.give_back(vec![(second, 0)], desk.at()).await.unwrap(), 0);
    assert!(desk.lease().await.is_some());
    assert!(desk.store.doctor(desk.steady(), false).await.unwrap().is_empty());
}

#[derive(Clone, Debug)]
enum Op {
    Submit { lane: u8, priority: i8, delay: i64, expires: Option<i64>, key: Option<u8> },
    Lease,
    Finish { which: usize, how: u8, goes_on: bool },
    Pass(i64),
    Renew,
    Collect,
    Cancel(usize),
    Retry(usize),
    Reopen,
}

fn op() -> impl Strategy<Value = Op> {
    let submit =
        (0u8..4, -2i8..3, prop_oneof![Just(0i64), 1i64..90_000], proptest::option::of(1i64..120_000))
            .prop_flat_map(|(lane, priority, delay, expires)| {
                let key = proptest::option::weighted(0.2, 0u8..3);
                key.prop_map(move |key| Op::Submit { lane, priority, delay, expires, key })
            });
    prop_oneof![
        6 => submit,
        6 => Just(Op::Lease),
        6 => (any::<usize>(), 0u8..6, any::<bool>())
            .prop_map(|(which, how, goes_on)| Op::Finish { which, how, goes_on }),
        3 => (1i64..40_000).prop_map(Op::Pass),
        1 => Just(Op::Pass(LEASE + 1)),
        2 => Just(Op::Renew),
        2 => Just(Op::Collect),
        2 => any::<usize>().prop_map(Op::Cancel),
        1 => any::<usize>().prop_map(Op::Retry),
        1 => Just(Op::Reopen),
    ]
}

#[derive(Clone, Debug)]
struct ModelJob {
    lane: u8,
    state: JobState,
    priority: i8,
    due: i64,
    expires: Option<i64>,
    expiring: bool,
    stalls: u32,
    key: Option<u8>,
    token: Option<i64>,
}

/// The queue in a few lines, with linear scans in place of indexes.
#[derive(Default)]
struct Model {
    jobs: BTreeMap<i64, ModelJob>,
    /// Lane by number: slots, and the token it was last served with.
    lanes: BTreeMap<u8, (usize, i64)>,
    /// Tokens that are held, with their end.
    leases: BTreeMap<i64, (u8, i64)>,
    last_token: i64,
}

fn slots(lane: u8) -> usize {
    if lane == 3 { 2 } else { 1 }
}

impl Model {
    fn promote(&mut self, now: i64) {
        for job in self.jobs.values_mut() {
            if matches!(job.state, JobState::Scheduled | JobState::RetryWait) && job.due <= now {
                job.state = JobState::Queued;
            }
            let waits = matches!(job.state, JobState::Scheduled | JobState::Queued | JobState::RetryWait);
            if waits && !job.expiring && job.expires.is_some_and(|at| at <= now) {
                job.state = JobState::Queued;
                job.expiring = true;
            }
        }
    }

    fn head(&self, lane: u8) -> Option<i64> {
        let line = self.jobs.iter().filter(|(_, job)| job.lane == lane && job.state == JobState::Queued);
        line.min_by_key(|(id, job)| match job.expiring {
            true => (0, 0, job.expires.unwrap(), **id),
            false => (1, -i64::from(job.priority), job.due, **id),
        })
        .map(|(id, _)| *id)
    }

    /// The job that a lease must bring.
    fn expected(&self) -> Option<i64> {
        let busy = |lane: u8| self.leases.values().filter(|(held, _)| *held == lane).count();
        let free = self.lanes.iter().filter(|(lane, (slots, _))| busy(**lane) < *slots);
        let mut waiting: Vec<_> =
            free.filter_map(|(lane, (_, served))| Some((*served, *lane, self.head(*lane)?))).collect();
        waiting.sort();
        waiting.first().map(|(_, _, id)| *id)
    }

    /// A job begins under a lease, a new one or the one of the job before it.
    fn starts(&mut self, id: i64, token: i64, now: i64) {
        let job = self.jobs.get_mut(&id).unwrap();
        (job.state, job.token) = (JobState::Running, Some(token));
        if token > self.last_token {
            self.last_token = token;
            self.lanes.get_mut(&job.lane).unwrap().1 = 2 * token;
        }
        self.leases.insert(token, (job.lane, now + LEASE));
    }

    /// What the end of a job in a lane must bring: the next one of it while no other lane waits.
    fn goes_on(&mut self, lane: u8, token: i64, wanted: bool, now: i64) -> Option<i64> {
        if wanted {
            self.promote(now);
            let busy = |lane: u8| self.leases.values().filter(|(held, _)| *held == lane).count();
            let mut others =
                self.lanes.iter().filter(|(other, (slots, _))| **other != lane && busy(**other) < *slots);
            let next = self.head(lane);
            if next.is_some() && !others.any(|(other, _)| self.head(*other).is_some()) {
                return next;
            }
        }
        self.release(token);
        if wanted { self.expected() } else { None }
    }

    fn release(&mut self, token: i64) {
        self.leases.remove(&token);
    }
}

async fn agree(desk: &Desk, model: &Model) -> Result<(), TestCaseError> {
    let jobs = desk.store.jobs(JobQuery { limit: 10_000, ..JobQuery::default() }).await.unwrap();
    prop_assert_eq!(jobs.len(), model.jobs.len());
    for job in &jobs {
        let known = &model.jobs[&job.id];
        prop_assert_eq!(job.state, known.state, "job {} {:?}", job.id, known);
        prop_assert_eq!(job.token, known.token);
        prop_assert_eq!(job.stalls, known.stalls);
        prop_assert_eq!(job.expiring, known.expiring);
    }
    for lane in desk.store.lanes().await.unwrap() {
        let running = jobs.iter().filter(|job| job.lane == lane.lane && job.state.is_running()).count();
        prop_assert!(running <= lane.concurrency as usize, "never more at work than a lane has slots");
    }
    let ill = desk.store.doctor(Steady { boot: BOOT.into(), ms: i64::MIN }, false).await.unwrap();
    prop_assert!(ill.is_empty(), "{ill:?}");
    Ok(())
}

async fn play(ops: Vec<Op>) -> Result<(), TestCaseError> {
    let mut desk = Desk::new();
    let mut model = Model::default();
    for op in ops {
        let now = desk.now;
        match op {
            Op::Submit { lane, priority, delay, expires, key } => {
                let mut job = NewJob::new("work", format!("lane{lane}")).priority(priority.into());
                job.lane_concurrency = Some(slots(lane) as u32);
                job.run_after = (delay > 0).then_some(Timestamp(now + delay));
                job.expires_at = expires.map(|after| Timestamp(now + after));
                if let Some(key) = key {
                    job = job.unique(format!("key{key}"));
                }
                let submitted = desk.store.submit(vec![job], Timestamp(now)).await.unwrap()[0];
                let holder =
                    model.jobs.iter().find(|(_, job)| key.is_some() && job.key == key && !job.state.is_end());
                prop_assert_eq!(submitted.fresh, holder.is_none());
                let last = (2 * model.last_token - 1).max(0);
                model.lanes.entry(lane).or_insert((slots(lane), last));
                if let Some((id, _)) = holder {
                    prop_assert_eq!(submitted.id, *id);
                } else {
                    let state = if delay > 0 { JobState::Scheduled } else { JobState::Queued };
                    let expires = expires.map(|after| now + after);
                    let due = now + delay;
                    let (expiring, stalls, token) = (false, 0, None);
                    let job = ModelJob { lane, state, priority, due, expires, expiring, stalls, key, token };
                    model.jobs.insert(submitted.id, job);
                }
            }
            Op::Lease => {
                model.promote(now);
                let expected = model.expected();
                let leased = desk.lease().await;
                prop_assert_eq!(leased.as_ref().map(|leased| leased.job.id), expected);
                if let Some(Leased { token, job }) = leased {
                    prop_assert!(token > model.last_token, "tokens only grow");
                    model.starts(job.id, token, now);
                }
            }
            Op::Finish { which, how, goes_on } => {
                let running: Vec<i64> =
                    model.jobs.iter().filter(|(_, job)| job.token.is_some()).map(|(id, _)| *id).collect();
                let Some(id) = running.get(which % running.len().max(1)).copied() else { continue };
                let known = model.jobs.get_mut(&id).unwrap();
                let token = known.token.unwrap();
                let later = Timestamp(now + 30_000);
                let called_off = known.state == JobState::Cancelling;
                let (how, state) = match how {
                    0 | 1 if known.expiring => (done(), JobState::Expired),
                    0 | 1 => (done(), JobState::Done),
                    2 => {
                        let how = Finish::Failed { class: ErrorClass::Shape, error: "no".into() };
                        (how, JobState::Failed)
                    }
                    3 => {
                        let (class, error) = (ErrorClass::Network, "no".into());
                        (Finish::Retry { class, error, at: later, hold: Hold::Job }, JobState::RetryWait)
                    }
                    4 => {
                        let how =
                            Finish::Postponed { until: later, hold: Hold::Host, why: "it rests".into() };
                        (how, JobState::RetryWait)
                    }
                    _ => (Finish::GivenBack, JobState::Queued),
                };
                let comes_back = matches!(state, JobState::RetryWait | JobState::Queued);
                known.state = if called_off && comes_back { JobState::Cancelled } else { state };
                known.token = None;
                if known.state == JobState::RetryWait {
                    known.due = later.0;
                }
                let ended = Ended { token, id, how, alerts: None };
                let next = goes_on.then(|| ask(now));
                let lane = known.lane;
                let expected_state = known.state;
                let finished = desk.store.finish(ended, next, Timestamp(now)).await.unwrap();
                prop_assert_eq!(finished.state, expected_state);
                let expected = model.goes_on(lane, token, goes_on, now);
                prop_assert_eq!(finished.next.as_ref().map(|next| next.job.id), expected);
                if let Some(next) = finished.next {
                    prop_assert!(next.token == token || next.token > model.last_token);
                    model.starts(next.job.id, next.token, now);
                }
            }
            Op::Pass(time) => desk.now += time,
            Op::Renew => {
                let tokens: Vec<i64> = model.leases.keys().copied().collect();
                let until = Steady { boot: BOOT.into(), ms: now + LEASE };
                let renewed = desk.store.renew(tokens, until).await.unwrap();
                prop_assert!(renewed.lost.is_empty());
                model.leases.values_mut().for_each(|lease| lease.1 = now + LEASE);
            }
            Op::Collect => {
                let gone: Vec<i64> =
                    model.leases.iter().filter(|(_, lease)| lease.1 < now).map(|(token, _)| *token).collect();
                for token in gone {
                    model.release(token);
                    for job in model.jobs.values_mut().filter(|job| job.token == Some(token)) {
                        job.stalls += 1;
                        job.token = None;
                        job.state = match job.state {
                            JobState::Cancelling => JobState::Cancelled,
                            _ if job.stalls > 1 => JobState::Failed,
                            _ => JobState::Queued,
                        };
                    }
                }
                desk.store.collect(desk.lost(), Timestamp(now)).await.unwrap();
            }
            Op::Cancel(which) | Op::Retry(which) if model.jobs.is_empty() => {
                let _ = which;
            }
            Op::Cancel(which) => {
                let id = *model.jobs.keys().nth(which % model.jobs.len()).unwrap();
                let job = model.jobs.get_mut(&id).unwrap();
                match job.state {
                    JobState::Running => job.state = JobState::Cancelling,
                    JobState::Scheduled | JobState::Queued | JobState::RetryWait => {
                        job.state = JobState::Cancelled;
                    }
                    _ => {}
                }
                let state = job.state;
                prop_assert_eq!(desk.store.cancel(id, Timestamp(now)).await.unwrap(), Some(state));
            }
            Op::Retry(which) => {
                let id = *model.jobs.keys().nth(which % model.jobs.len()).unwrap();
                let key = model.jobs[&id].key;
                let taken = key.is_some()
                    && model
                        .jobs
                        .iter()
                        .any(|(other, job)| *other != id && job.key == key && !job.state.is_end());
                let job = model.jobs.get_mut(&id).unwrap();
                let ended_badly =
                    matches!(job.state, JobState::Failed | JobState::Expired | JobState::Cancelled);
                let outcome = desk.store.retry(id, Timestamp(now)).await;
                if ended_badly && taken {
                    prop_assert!(outcome.is_err());
                    continue;
                }
                if ended_badly {
                    (job.state, job.due, job.expiring, job.stalls) = (JobState::Queued, now, false, 0);
                    job.expires = job.expires.filter(|at| *at > now);
                } else if matches!(job.state, JobState::Scheduled | JobState::RetryWait) {
                    (job.state, job.due) = (JobState::Queued, now);
                }
                prop_assert_eq!(outcome.unwrap(), Some(job.state));
            }
            Op::Reopen => {
                let dir = desk._dir.path().to_path_buf();
                desk.store = open(&dir);
            }
        }
        agree(&desk, &model).await?;
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]
    #[test]
    fn the_queue_and_its_model_agree(ops in proptest::collection::vec(op(), 1..60)) {
        tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(play(ops))?;
    }
}

#[tokio::test]
async fn jobs_that_wait_are_told_by_kind_with_the_time_of_the_first() {
    let desk = Desk::new();
    for (kind, at) in [("hook:a", 900_000), ("hook:a", 800_000), ("work", 950_000), ("later", 2_000_000)] {
        desk.submit(NewJob::new(kind, kind).run_after(Timestamp(at))).await;
    }
    let waiting = desk.store.kinds_waiting(Timestamp(940_000)).await.unwrap();
    let told: Vec<_> = waiting.iter().map(|row| (row.kind.as_str(), row.jobs, row.since.0)).collect();
    assert_eq!(told, [("hook:a", 2, 800_000)]);
}
