//! Joins the steps of schedules to their trait.

use chrono_tz::Tz;

use super::super::SqliteStore;
use super::{change, clock, fire, stats};
use crate::clock::Timestamp;
use crate::schedule::classic::SourceStats;
use crate::schedule::{Change, Changed, Decided, Schedule};
use crate::schedule::{FireAsk, Fired, FiredByHand, ScheduleQuery, ScheduleTable, Wake};
use crate::store::StoreFuture;

impl ScheduleTable for SqliteStore {
    fn change(&self, changes: Vec<Change>, now: Timestamp, zone: Tz) -> StoreFuture<'_, Vec<Changed>> {
        self.write("changed schedules", move |db| change::change(db, &changes, now, zone))
    }

    fn fire(&self, ask: FireAsk) -> StoreFuture<'_, Fired> {
        self.write("fired schedules", move |db| fire::fire(db, &ask))
    }

    fn fire_by_hand(&self, name: &str, now: Timestamp) -> StoreFuture<'_, FiredByHand> {
        let name = name.to_owned();
        self.write("fired a schedule", move |db| fire::fire_by_hand(db, &name, now))
    }

    fn wake(&self) -> StoreFuture<'_, Wake> {
        self.read("looked for what is due", clock::wake)
    }

    fn changes(&self) -> StoreFuture<'_, i64> {
        self.read("looked for changes", clock::changes)
    }

    fn clock_set_back(
        &self,
        now: Timestamp,
        zone: Tz,
        after: i64,
        limit: u32,
    ) -> StoreFuture<'_, Option<i64>> {
        self.write("planned anew", move |db| clock::clock_set_back(db, now, zone, after, limit))
    }

    fn schedule(&self, name: &str) -> StoreFuture<'_, Option<Schedule>> {
        let name = name.to_owned();
        self.read("read a schedule", move |db| super::schedule(db, &name))
    }

    fn schedules(&self, query: ScheduleQuery) -> StoreFuture<'_, Vec<Schedule>> {
        self.read("read schedules", move |db| super::schedules(db, &query))
    }

    fn decisions(&self, id: i64, limit: u32) -> StoreFuture<'_, Vec<Decided>> {
        self.read("read decisions", move |db| super::decisions(db, id, limit))
    }

    fn source_stats(&self, source: &str, now: Timestamp) -> StoreFuture<'_, Option<SourceStats>> {
        let source = source.to_owned();
        self.read("read a source", move |db| stats::source_stats(db, &source, now))
    }
}
