//! A store in a directory, and a timer over it.

use std::path::Path;
use std::sync::Arc;

use chrono::TimeZone as _;
use chrono_tz::Tz;
use dibao::queue::{Job, JobQuery, JobTable};
use dibao::schedule::{Bell, Change, Changed, NewSchedule, Schedule, ScheduleTable, Timer, TimerOptions};
use dibao::store::{Durability, Files, SqliteStore};
use dibao::{Clock, Timestamp};

pub const SHANGHAI: Tz = chrono_tz::Asia::Shanghai;

pub fn store(dir: &Path) -> Arc<SqliteStore> {
    let files = Files::open(dir.join("data"), Durability::Process).unwrap();
    Arc::new(SqliteStore::open(files).unwrap())
}

/// The store of an engine's data directory, as another process has it.
pub fn store_at(data: &Path) -> SqliteStore {
    SqliteStore::open(Files::open(data, Durability::Process).unwrap()).unwrap()
}

/// A moment in Shanghai.
pub fn at(text: &str) -> Timestamp {
    let naive = chrono::NaiveDateTime::parse_from_str(text, "%Y-%m-%d %H:%M").unwrap();
    SHANGHAI.from_local_datetime(&naive).unwrap().into()
}

/// Makes a schedule.
pub async fn add(store: &SqliteStore, new: NewSchedule, now: Timestamp) -> Schedule {
    let changed = store.change(vec![Change::Add(Box::new(new))], now, SHANGHAI).await.unwrap();
    match changed.into_iter().next() {
        Some(Changed::Row(row)) => *row,
        other => panic!("{other:?}"),
    }
}

pub fn timer(store: &Arc<SqliteStore>, clock: Arc<dyn Clock>) -> Timer {
    // Nobody else writes here, and to listen would be on the machine's clock.
    let options = TimerOptions { listen: None, ..TimerOptions::default() };
    Timer::new(store.clone(), clock, SHANGHAI, Bell::default()).options(options)
}

/// All jobs, in the order in which they were made.
pub async fn jobs(store: &SqliteStore) -> Vec<Job> {
    let mut jobs = store.jobs(JobQuery { limit: 1_000_000, ..JobQuery::default() }).await.unwrap();
    jobs.reverse();
    jobs
}
