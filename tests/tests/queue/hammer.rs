//! Eight processes on one file: SQLite lets one write at a time, and nobody hears of that.
//!
//! The processes are this test program itself, started again with a directory in its environment.

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;

use dibao::clock::{SeededEntropy, SystemClock};
use dibao::queue::{
    Handlers, JobContext, JobDone, JobHandler, JobQuery, JobResult, JobState, JobTable as _, NewJob, Queue,
    Retention, WorkOptions,
};
use dibao::store::{Durability, Files, SqliteStore};
use futures::future::BoxFuture;
use tokio_util::sync::CancellationToken;

const DIR: &str = "DIBAO_TEST_HAMMER_DIR";
const PROCESSES: usize = 8;
const ROUNDS: usize = 30;
const AT_ONCE: usize = 4;

fn store(dir: &Path) -> Arc<SqliteStore> {
    Arc::new(SqliteStore::open(Files::open(dir, Durability::Power).unwrap()).unwrap())
}

struct Nothing;

impl JobHandler for Nothing {
    fn run<'a>(&'a self, _: &'a JobContext) -> BoxFuture<'a, JobResult> {
        Box::pin(async { Ok(JobDone::saying("done")) })
    }
}

/// One process: opens the store while others do, submits, works, reads, calls off; does nothing in an ordinary run.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hammering_process() {
    let Some(dir) = std::env::var_os(DIR) else { return };
    let store = store(Path::new(&dir));
    let me = std::process::id();
    let entropy = Arc::new(SeededEntropy::new(u64::from(me)));
    let queue = Queue::new(store.clone(), store.clone(), Arc::new(SystemClock), entropy);
    for round in 0..ROUNDS {
        let jobs = (0..AT_ONCE)
            .map(|n| NewJob::new("nothing", format!("lane{n}")).once(format!("{me} {round} {n}")));
        let submitted = queue.submit_all(jobs.collect()).await.unwrap();
        assert!(submitted.iter().all(|job| job.fresh));
        store.lanes().await.unwrap();
        store.jobs(JobQuery::default()).await.unwrap();
        if round % 10 == 9 {
            let handlers = Handlers::new().with("nothing", Nothing);
            let stop = CancellationToken::new();
            let retention = Retention { per_lane: 100_000, ..Retention::default() };
            let options = WorkOptions { retention, ..WorkOptions::default() };
            let work = queue.work(handlers, options, stop.clone(), false);
            let wait = async {
                for job in &submitted {
                    queue.wait(job.id).await.unwrap();
                }
                stop.cancel();
            };
            let (worked, ()) = tokio::join!(work, wait);
            worked.unwrap();
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn eight_processes_on_one_store_never_hear_that_it_is_locked() {
    let dir = tempfile::tempdir().unwrap();
    let children: Vec<_> = (0..PROCESSES)
        .map(|_| {
            Command::new(std::env::current_exe().unwrap())
                .args(["hammer::hammering_process", "--exact", "--test-threads=1", "--nocapture"])
                .env(DIR, dir.path())
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .unwrap()
        })
        .collect();
    for child in children {
        let ended = child.wait_with_output().unwrap();
        let said =
            format!("{}{}", String::from_utf8_lossy(&ended.stdout), String::from_utf8_lossy(&ended.stderr));
        assert!(ended.status.success(), "{said}");
        assert!(!said.contains("locked") && !said.contains("busy"), "{said}");
    }
    let store = store(dir.path());
    let jobs = store.jobs(JobQuery { limit: 10_000, ..JobQuery::default() }).await.unwrap();
    assert_eq!(jobs.len(), PROCESSES * ROUNDS * AT_ONCE, "every submission is there once");
    assert!(jobs.iter().filter(|job| job.state == JobState::Done).count() >= PROCESSES * AT_ONCE);
}
