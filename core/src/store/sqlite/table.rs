//! Joins the queue's steps to its trait.

use std::collections::BTreeMap;

use super::{SqliteStore, queue};
use crate::clock::{Steady, Timestamp};
use crate::queue::{
    Collect, Ended, Finished, Job, JobQuery, JobState, JobTable, LaneState, LeaseAsk, LeaseState, Leased,
    NewJob, NextDue, Renewed, Retention, Stalled, Submitted,
};
use crate::store::StoreFuture;

impl JobTable for SqliteStore {
    fn submit(&self, jobs: Vec<NewJob>, now: Timestamp) -> StoreFuture<'_, Vec<Submitted>> {
        self.write("submitted jobs", move |db| queue::submit(db, &jobs, now))
    }

    fn lease(&self, ask: LeaseAsk, now: Timestamp) -> StoreFuture<'_, Option<Leased>> {
        self.write("took a job", move |db| queue::lease(db, &ask, now))
    }

    fn finish(&self, ended: Ended, next: Option<LeaseAsk>, now: Timestamp) -> StoreFuture<'_, Finished> {
        self.write("ended a job", move |db| queue::finish(db, &ended, next.as_ref(), now))
    }

    fn give_back(&self, held: Vec<(i64, i64)>, now: Timestamp) -> StoreFuture<'_, u64> {
        self.write("gave jobs back", move |db| queue::give_back(db, &held, now))
    }

    fn forgive(&self, tokens: Vec<i64>) -> StoreFuture<'_, ()> {
        self.write("noted progress", move |db| queue::forgive(db, &tokens))
    }

    fn reserve(&self, lane: &str, owner: &str, until: Steady, now: Timestamp) -> StoreFuture<'_, i64> {
        let (lane, owner) = (lane.to_owned(), owner.to_owned());
        self.write("reserved a lane", move |db| queue::reserve(db, &lane, &owner, &until, now))
    }

    fn enter(&self, token: i64) -> StoreFuture<'_, bool> {
        self.write("entered a lane", move |db| queue::enter(db, token))
    }

    fn renew(&self, tokens: Vec<i64>, until: Steady) -> StoreFuture<'_, Renewed> {
        self.write("prolonged leases", move |db| queue::renew(db, &tokens, &until))
    }

    fn collect(&self, collect: Collect, now: Timestamp) -> StoreFuture<'_, Vec<Stalled>> {
        self.write("took back lost slots", move |db| queue::collect(db, &collect, now))
    }

    fn leases(&self) -> StoreFuture<'_, Vec<LeaseState>> {
        self.read("read the leases", queue::leases)
    }

    fn cancel(&self, id: i64, now: Timestamp) -> StoreFuture<'_, Option<JobState>> {
        self.write("called a job off", move |db| queue::cancel(db, id, now))
    }

    fn retry(&self, id: i64, now: Timestamp) -> StoreFuture<'_, Option<JobState>> {
        self.write("took a job up again", move |db| queue::retry(db, id, now))
    }

    fn job(&self, id: i64) -> StoreFuture<'_, Option<Job>> {
        self.read("read a job", move |db| queue::job(db, id))
    }

    fn jobs(&self, query: JobQuery) -> StoreFuture<'_, Vec<Job>> {
        self.read("read jobs", move |db| queue::jobs(db, &query))
    }

    fn lanes(&self) -> StoreFuture<'_, Vec<LaneState>> {
        self.read("read the lanes", queue::lanes)
    }

    fn next_due(&self, now: Timestamp) -> StoreFuture<'_, NextDue> {
        self.read("looked for work", move |db| queue::next_due(db, now))
    }

    fn has_open(&self, kinds: Vec<String>, lanes: BTreeMap<String, Vec<String>>) -> StoreFuture<'_, bool> {
        self.read("looked for work", move |db| queue::has_open(db, &kinds, &lanes))
    }

    fn set_lane(&self, lane: &str, concurrency: u32) -> StoreFuture<'_, ()> {
        let lane = lane.to_owned();
        self.write("set a lane", move |db| queue::set_lane(db, &lane, concurrency))
    }

    fn prune(&self, keep: Retention, now: Timestamp) -> StoreFuture<'_, u64> {
        self.write("forgot finished jobs", move |db| queue::prune(db, keep, now))
    }

    fn doctor(&self, steady: Steady, repair: bool) -> StoreFuture<'_, Vec<String>> {
        match repair {
            true => self.write("examined the queue", move |db| queue::doctor(db, &steady, true)),
            false => self.read("examined the queue", move |db| queue::doctor(db, &steady, false)),
        }
    }
}
