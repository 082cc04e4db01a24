//! Joins the steps of schedules to their trait.

use std::sync::Arc;

use chrono_tz::Tz;

use super::super::SqliteStore;
use super::{budget, change, clock, count, files, fire, look, stats};
use crate::clock::Timestamp;
use crate::deliver::alert::AlertWatch;
use crate::model::SourceType;
use crate::schedule::budget::Budget;
use crate::schedule::classic::{Entry, SourceStats};
use crate::schedule::load::Load;
use crate::schedule::look::LookHistory;
use crate::schedule::{Change, Changed, Decided, Schedule};
use crate::schedule::{
    FireAsk, Fired, FiredByHand, ScheduleCounts, ScheduleQuery, ScheduleTable, SiteFile, SourceCounts, Wake,
};
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

    fn schedule_counts(&self, now: Timestamp) -> StoreFuture<'_, ScheduleCounts> {
        self.read("counted schedules", move |db| count::counts(db, now))
    }

    fn load(&self, now: Timestamp, hours: u32, zone: Tz) -> StoreFuture<'_, Load> {
        self.read("counted what comes due", move |db| count::load(db, now, hours, zone))
    }

    fn target_is_on(&self, target: &str) -> StoreFuture<'_, bool> {
        let target = target.to_owned();
        self.read("read a switch", move |db| count::target_is_on(db, &target))
    }

    fn mark_dirty(&self) -> StoreFuture<'_, ()> {
        self.write("marked schedules", clock::mark_dirty)
    }

    fn settle(&self, dirty: i64) -> StoreFuture<'_, ()> {
        self.write("marked schedules", move |db| clock::settle(db, dirty))
    }

    fn site_files(&self) -> StoreFuture<'_, Vec<SiteFile>> {
        self.read("read the site files", files::site_files)
    }

    fn keep_site_file(
        &self,
        file: SiteFile,
        alert: Option<Arc<AlertWatch>>,
        now: Timestamp,
    ) -> StoreFuture<'_, ()> {
        self.write("kept a site file", move |db| files::keep_site_file(db, &file, alert.as_ref(), now))
    }

    fn source_stats(&self, source: &str, now: Timestamp) -> StoreFuture<'_, Option<SourceStats>> {
        let source = source.to_owned();
        self.read("read a source", move |db| stats::source_stats(db, &source, now))
    }

    fn recent_entries(&self, source: &str, limit: u32) -> StoreFuture<'_, Vec<Entry>> {
        let source = source.to_owned();
        self.read("read a source's entries", move |db| look::recent_entries(db, &source, limit))
    }

    fn due_sources(
        &self,
        now: Timestamp,
        source_type: Option<SourceType>,
        limit: u32,
    ) -> StoreFuture<'_, Vec<SourceStats>> {
        let source_type = source_type.map(SourceType::as_str);
        self.read("looked for due sources", move |db| stats::due_sources(db, now, source_type, limit))
    }

    fn source_counts(
        &self,
        now: Timestamp,
        source_type: Option<SourceType>,
    ) -> StoreFuture<'_, SourceCounts> {
        let source_type = source_type.map(SourceType::as_str);
        self.read("counted sources", move |db| stats::source_counts(db, now, source_type))
    }

    fn budget(&self) -> StoreFuture<'_, Budget> {
        self.read("read the budget", budget::budget)
    }

    fn set_budget(&self, checks_per_day: Option<f64>) -> StoreFuture<'_, Budget> {
        self.write("set the budget", move |db| budget::set_budget(db, checks_per_day))
    }

    fn steer_budget(&self, now: Timestamp) -> StoreFuture<'_, Budget> {
        self.write("steered the budget", move |db| budget::steer(db, now))
    }

    fn look_history(&self, target: &str) -> StoreFuture<'_, LookHistory> {
        let target = target.to_owned();
        self.read("read the looks at a target", move |db| look::history(db, &target))
    }
}
