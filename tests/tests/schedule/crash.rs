//! `kill -9` around firing, a hundred times, with a real process: every due time makes exactly one job.
//!
//! The timer is this test program itself, started again with a directory in its environment. Its clock is a file that this
//! test sets ahead, so that there is always something to fire.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use dibao::queue::{JobQuery, JobTable as _};
use dibao::schedule::{Bell, Change, NewSchedule, Overlap, ScheduleTable as _, Timer, TimerOptions, Trigger};
use dibao::store::SqliteStore;
use dibao::{Clock, Timestamp};
use tokio_util::sync::CancellationToken;

use crate::bed::{SHANGHAI, at, store};

const DIR: &str = "DIBAO_TEST_TIMER_DIR";
const KILLS: u64 = 100;
/// Due in each step of the clock.
const STEP: i64 = 40;

/// What a file says.
struct FileClock(PathBuf);

impl Clock for FileClock {
    fn now(&self) -> Timestamp {
        let text = std::fs::read_to_string(self.0.join("now")).unwrap_or_default();
        Timestamp(text.trim().parse().unwrap_or_else(|_| at("2026-04-10 09:00").0))
    }
}

fn set_clock(dir: &Path, now: i64) {
    // Whole or not at all: the other process may look at any moment.
    std::fs::write(dir.join("next"), now.to_string()).unwrap();
    std::fs::rename(dir.join("next"), dir.join("now")).unwrap();
}

/// The timer process; does nothing in an ordinary run of the tests.
#[test]
fn timer_process() {
    let Some(dir) = std::env::var_os(DIR).map(PathBuf::from) else { return };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async move {
        let store = store(&dir);
        // Few at a time, so that there are many moments to die at; and a short nap, as the clock is set by somebody else.
        let options = TimerOptions {
            busy: Duration::from_millis(2),
            idle: Duration::from_millis(2),
            listen: None,
            batch: 3,
            backlog: 3,
            breath: Duration::from_millis(1),
        };
        let clock = Arc::new(FileClock(dir));
        let timer = Timer::new(store, clock, SHANGHAI, Bell::default()).options(options);
        timer.run(CancellationToken::new()).await.unwrap();
    });
}

/// A process that ends with the test.
struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn start(dir: &Path) -> Process {
    let child = Command::new(std::env::current_exe().unwrap())
        .args(["crash::timer_process", "--exact", "--test-threads=1", "--nocapture"])
        .env(DIR, dir)
        .stdout(Stdio::null())
        .stderr(Stdio::inherit())
        .spawn()
        .unwrap();
    Process(child)
}

async fn count(store: &SqliteStore) -> usize {
    let query = JobQuery { limit: 1_000_000, ..JobQuery::default() };
    store.jobs(query).await.unwrap().len()
}

/// Waits until something holds; a busy machine takes its time.
async fn until(what: &str, mut holds: impl AsyncFnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(120);
    while !holds().await {
        assert!(Instant::now() < deadline, "{what} did not come");
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_a_hundred_times_around_firing_no_due_time_is_lost_and_none_comes_twice() {
    let dir = tempfile::tempdir().unwrap();
    let store = store(dir.path());
    let begin = at("2026-04-10 09:00").0;
    set_clock(dir.path(), begin);
    // One-shots of which each has its own due time, and intervals that go on through all of it.
    let once = (0..KILLS as i64 * STEP).map(|n| {
        let at = Timestamp(begin + 1_000 + n * 25);
        NewSchedule::new(format!("once{n:05}"), "hook", Trigger::Once { at, expires_at: None })
    });
    let intervals = (0..5).map(|n| {
        let new = NewSchedule::new(format!("every{n}"), "hook", Trigger::Interval { seconds: 1 });
        NewSchedule { overlap: Overlap::Queue, ..new }
    });
    let changes: Vec<Change> = once.chain(intervals).map(|new| Change::Add(Box::new(new))).collect();
    let all = changes.len();
    store.change(changes, Timestamp(begin), SHANGHAI).await.unwrap();
    let mut timer = start(dir.path());
    let mut struck_while_firing = 0;
    for kill in 0..KILLS {
        let before = count(&store).await;
        set_clock(dir.path(), begin + 1_000 + (kill as i64 + 1) * STEP * 25);
        // As soon as it fires; every fourth one before, in the midst of its start.
        if kill % 4 != 3 {
            until("firing", async || count(&store).await > before).await;
        }
        timer.0.kill().unwrap();
        timer.0.wait().unwrap();
        let fired = count(&store).await - before;
        struck_while_firing += u64::from(fired > 0 && fired < STEP as usize);
        timer = start(dir.path());
    }
    let end = begin + 1_000 + KILLS as i64 * STEP * 25;
    until("the end", async || store.wake().await.unwrap().earliest.is_none_or(|earliest| earliest.0 > end))
        .await;
    drop(timer);
    assert!(struck_while_firing >= KILLS / 4, "only {struck_while_firing} kills struck while it fired");

    let query = JobQuery { limit: 1_000_000, ..JobQuery::default() };
    let mut made: BTreeMap<String, Vec<i64>> = BTreeMap::new();
    for job in store.jobs(query).await.unwrap() {
        assert!(job.created_at >= job.due_at, "nothing fires early: {job:?}");
        made.entry(job.lane).or_default().push(job.due_at.0);
    }
    assert_eq!(made.len(), all, "every schedule has fired");
    for (lane, dues) in &mut made {
        dues.sort_unstable();
        if lane.starts_with("once") {
            assert_eq!(dues.len(), 1, "{lane}");
            continue;
        }
        let distinct = dues.windows(2).all(|pair| pair[0] < pair[1]);
        assert!(distinct && dues.iter().all(|due| (due - begin) % 1_000 == 0), "{lane}: {dues:?}");
        // A due time without a job was made up for by the one before it, and the record says by which.
        let row = store.schedule(lane).await.unwrap().unwrap();
        assert_eq!(row.last_due_at.map(|at| at.0), dues.last().copied());
        assert!(row.next_due_at.unwrap().0 > end);
    }
    assert_eq!(store.wake().await.unwrap().earliest.map(|at| at.0 > end), Some(true));
}
