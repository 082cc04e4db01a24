//! Workers in one process: order, retries, clocks, calling off, draining, watching.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use dibao::clock::{SeededEntropy, SystemClock};
use dibao::queue::{
    Handlers, Hold, JobContext, JobDone, JobFailed, JobHandler, JobResult, JobRules, JobState, NewJob, Queue,
    QueueEvent, RetryPolicy, WorkOptions,
};
use dibao::store::{Durability, Files, SqliteStore};
use dibao::{Clock, ErrorClass, Timestamp};
use futures::StreamExt;
use futures::future::BoxFuture;
use serde_json::json;
use tempfile::TempDir;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// A queue on a disk of its own.
pub struct Shop {
    pub queue: Queue,
    _dir: TempDir,
}

impl Shop {
    pub fn open() -> Shop {
        let dir = tempfile::tempdir().unwrap();
        let files = Files::open(dir.path(), Durability::Process).unwrap();
        let store = Arc::new(SqliteStore::open(files).unwrap());
        let queue = Queue::new(store.clone(), store, Arc::new(SystemClock), Arc::new(SeededEntropy::new(1)));
        Shop { queue, _dir: dir }
    }

    pub async fn work(&self, handlers: Handlers) {
        let options = WorkOptions { idle: Duration::from_millis(20), ..WorkOptions::default() };
        self.queue.work(handlers, options, CancellationToken::new(), true).await.unwrap();
    }

    async fn state(&self, id: i64) -> JobState {
        self.queue.table().job(id).await.unwrap().unwrap().state
    }
}

/// A handler made of functions.
struct Does<R> {
    run: R,
    rules: JobRules,
    expired: Arc<AtomicU32>,
}

fn does<R>(run: R) -> Does<R>
where
    R: for<'a> Fn(&'a JobContext) -> BoxFuture<'a, JobResult> + Send + Sync + 'static,
{
    Does { run, rules: JobRules::default(), expired: Arc::default() }
}

impl<R> JobHandler for Does<R>
where
    R: for<'a> Fn(&'a JobContext) -> BoxFuture<'a, JobResult> + Send + Sync + 'static,
{
    fn run<'a>(&'a self, job: &'a JobContext) -> BoxFuture<'a, JobResult> {
        (self.run)(job)
    }

    fn on_expired<'a>(&'a self, _job: &'a JobContext) -> BoxFuture<'a, JobResult> {
        self.expired.fetch_add(1, Ordering::SeqCst);
        Box::pin(std::future::ready(Ok(JobDone::saying("too late"))))
    }

    fn rules(&self) -> JobRules {
        self.rules
    }
}

fn network(message: &str) -> JobFailed {
    JobFailed::Error { class: ErrorClass::Network, message: message.into(), not_before: None }
}

#[tokio::test]
async fn a_serial_lane_runs_one_at_a_time_in_the_order_of_their_due_times() {
    let shop = Shop::open();
    let now = SystemClock.now().0;
    for n in 0..20 {
        // Submitted in the wrong order.
        let job = NewJob::new("note", "serial").payload(json!(n)).run_after(Timestamp(now - n));
        shop.queue.submit(job).await.unwrap();
    }
    let (seen, at_once) = (Arc::new(Mutex::new(Vec::new())), Arc::new(AtomicU32::new(0)));
    let (notes, busy) = (seen.clone(), at_once.clone());
    let handler = does(move |job| {
        let (notes, busy) = (notes.clone(), busy.clone());
        Box::pin(async move {
            assert_eq!(busy.fetch_add(1, Ordering::SeqCst), 0, "S1-2: strictly serial");
            tokio::task::yield_now().await;
            notes.lock().unwrap().push(job.job.payload.as_i64().unwrap());
            busy.fetch_sub(1, Ordering::SeqCst);
            Ok(JobDone::default())
        })
    });
    shop.work(Handlers::new().with("note", handler)).await;
    assert_eq!(*seen.lock().unwrap(), (0..20).rev().collect::<Vec<i64>>());
}

#[tokio::test]
async fn what_expired_is_told_so_and_never_run() {
    let shop = Shop::open();
    let now = SystemClock.now().0;
    let late = NewJob::new("note", "serial").run_after(Timestamp(now - 9)).expires_at(Timestamp(now - 1));
    let late = shop.queue.submit(late).await.unwrap().id;
    let handler = does(|_| Box::pin(async { panic!("I6: it must not run") }));
    let expired = handler.expired.clone();
    shop.work(Handlers::new().with("note", handler)).await;
    let job = shop.queue.table().job(late).await.unwrap().unwrap();
    assert_eq!((job.state, expired.load(Ordering::SeqCst)), (JobState::Expired, 1));
    assert_eq!((job.outcome.as_deref(), job.response.as_deref()), (Some("expired"), Some("too late")));
}

#[tokio::test]
async fn a_failure_is_tried_again_by_its_class_and_a_panic_is_a_failure() {
    let shop = Shop::open();
    let submit = |kind: &str| shop.queue.submit(NewJob::new(kind, kind));
    let flaky = submit("flaky").await.unwrap().id;
    let wrong = submit("wrong").await.unwrap().id;
    let broken = submit("broken").await.unwrap().id;
    let tries = Arc::new(AtomicU32::new(0));
    let count = tries.clone();
    let retry =
        RetryPolicy { retries: 3, first: Duration::from_millis(5), longest: Duration::from_millis(20) };
    let mut handler = does(move |_| {
        let count = count.clone();
        Box::pin(async move {
            match count.fetch_add(1, Ordering::SeqCst) {
                0 | 1 => Err(network("reset")),
                _ => Ok(JobDone::saying("at last")),
            }
        })
    });
    handler.rules.retry = retry;
    let mut shape = does(|_| {
        Box::pin(async {
            let (class, not_before) = (ErrorClass::Shape, None);
            Err(JobFailed::Error { class, message: "another layout".into(), not_before })
        })
    });
    shape.rules.retry = retry;
    let panics = does(|_| Box::pin(async { panic!("oh") }));
    let handlers = Handlers::new().with("flaky", handler).with("wrong", shape).with("broken", panics);
    shop.work(handlers).await;
    let job = shop.queue.table().job(flaky).await.unwrap().unwrap();
    assert_eq!((job.state, job.attempts, tries.load(Ordering::SeqCst)), (JobState::Done, 3, 3));
    let job = shop.queue.table().job(wrong).await.unwrap().unwrap();
    assert_eq!((job.state, job.attempts), (JobState::Failed, 1), "trying again would not help");
    let job = shop.queue.table().job(broken).await.unwrap().unwrap();
    assert!(job.state == JobState::Failed && job.error.unwrap().contains("panicked: oh"));
}

#[tokio::test]
async fn a_job_without_progress_is_given_up_and_one_with_progress_is_not() {
    let shop = Shop::open();
    let stuck = shop.queue.submit(NewJob::new("stuck", "a")).await.unwrap().id;
    let slow = shop.queue.submit(NewJob::new("slow", "b")).await.unwrap().id;
    let endless = shop.queue.submit(NewJob::new("endless", "c")).await.unwrap().id;
    let limit = Duration::from_millis(400);
    let mut hangs = does(|_| Box::pin(std::future::pending()));
    hangs.rules.no_progress = limit;
    let mut moves = does(|job| {
        Box::pin(async move {
            for _ in 0..12 {
                tokio::time::sleep(Duration::from_millis(60)).await;
                job.progress();
            }
            Ok(JobDone::default())
        })
    });
    moves.rules.no_progress = limit;
    let mut busy = does(|job| {
        Box::pin(async move {
            loop {
                tokio::time::sleep(Duration::from_millis(10)).await;
                job.progress();
            }
        })
    });
    busy.rules.wall = Some(limit);
    shop.work(Handlers::new().with("stuck", hangs).with("slow", moves).with("endless", busy)).await;
    assert_eq!(shop.state(slow).await, JobState::Done);
    for (id, words) in [(stuck, "without progress"), (endless, "wall limit")] {
        let job = shop.queue.table().job(id).await.unwrap().unwrap();
        assert_eq!(job.state, JobState::Failed);
        assert!(job.error.as_deref().unwrap().contains(words), "{:?}", job.error);
    }
}

#[tokio::test]
async fn a_running_job_is_called_off_and_a_drained_one_waits_again() {
    for drain in [false, true] {
        let shop = Shop::open();
        let id = shop.queue.submit(NewJob::new("long", "a")).await.unwrap().id;
        let begun = Arc::new(Notify::new());
        let bell = begun.clone();
        let handler = does(move |job| {
            let bell = bell.clone();
            Box::pin(async move {
                bell.notify_one();
                job.stop.cancelled().await;
                Err(JobFailed::Interrupted)
            })
        });
        let stop = CancellationToken::new();
        let handlers = Handlers::new().with("long", handler);
        let work = shop.queue.work(handlers, WorkOptions::default(), stop.clone(), !drain);
        let tell = async {
            begun.notified().await;
            match drain {
                true => stop.cancel(),
                false => {
                    assert_eq!(shop.queue.cancel(id).await.unwrap(), Some(JobState::Cancelling));
                }
            }
        };
        let (worked, ()) = tokio::join!(work, tell);
        worked.unwrap();
        let job = shop.queue.table().job(id).await.unwrap().unwrap();
        match drain {
            true => assert_eq!((job.state, job.attempts), (JobState::Queued, 0), "as if it had not begun"),
            false => assert_eq!(job.state, JobState::Cancelled),
        }
    }
}

#[tokio::test]
async fn a_job_that_is_held_back_waits_for_its_reason_and_uses_no_attempt() {
    let shop = Shop::open();
    let id = shop.queue.submit(NewJob::new("held", "a")).await.unwrap().id;
    let until = Timestamp(SystemClock.now().0 + 3_600_000);
    let handler = does(move |_| {
        let why = "the host is left alone".to_owned();
        Box::pin(async move { Err(JobFailed::Postponed { until, hold: Hold::Host, why }) })
    });
    let (stop, events) = (CancellationToken::new(), shop.queue.watch());
    let handlers = Handlers::new().with("held", handler);
    let work = shop.queue.work(handlers, WorkOptions::default(), stop.clone(), false);
    let watch = async {
        let mut events = std::pin::pin!(events);
        loop {
            let event = events.next().await.unwrap();
            if matches!(event, QueueEvent::Job { state: JobState::RetryWait, .. }) {
                break stop.cancel();
            }
        }
    };
    let (worked, ()) = tokio::join!(work, watch);
    worked.unwrap();
    let job = shop.queue.table().job(id).await.unwrap().unwrap();
    assert_eq!((job.state, job.attempts, job.due_at), (JobState::RetryWait, 0, until));
    assert_eq!((job.hold, job.hold_why.as_deref()), (Some(Hold::Host), Some("the host is left alone")));
}

#[tokio::test]
async fn a_slow_watcher_is_told_how_much_he_missed() {
    let shop = Shop::open();
    let jobs = (0..1_500).map(|n| NewJob::new("note", format!("lane{}", n % 3))).collect();
    let ids = shop.queue.submit_all(jobs).await.unwrap();
    let mut events = std::pin::pin!(shop.queue.watch());
    let handler = does(|_| Box::pin(async { Ok(JobDone::default()) }));
    shop.work(Handlers::new().with("note", handler)).await;
    // Two events a job, and a watcher who did not look until now.
    let Some(QueueEvent::Missed(missed)) = events.next().await else { panic!("he was not told") };
    let mut heard = 0;
    while let Ok(Some(_)) = tokio::time::timeout(Duration::from_millis(50), events.next()).await {
        heard += 1;
    }
    assert_eq!(missed + heard, 2 * ids.len() as u64);
    let last = shop.queue.wait(ids.last().unwrap().id).await.unwrap().unwrap();
    assert_eq!(last.state, JobState::Done, "the jobs themselves are in the store");
}

#[tokio::test]
async fn work_that_follows_is_submitted_with_the_end_of_its_cause() {
    let shop = Shop::open();
    let first = shop.queue.submit(NewJob::new("first", "a")).await.unwrap().id;
    let handler = does(|job| {
        let then = vec![NewJob::new("second", "b").once(format!("after:{}", job.job.id))];
        Box::pin(async move { Ok(JobDone { response: None, then }) })
    });
    let seen = Arc::new(AtomicU32::new(0));
    let count = seen.clone();
    let second = does(move |_| {
        count.fetch_add(1, Ordering::SeqCst);
        Box::pin(async { Ok(JobDone::default()) })
    });
    shop.work(Handlers::new().with("first", handler).with("second", second)).await;
    assert_eq!((shop.state(first).await, seen.load(Ordering::SeqCst)), (JobState::Done, 1));
}

#[tokio::test]
async fn who_hears_of_an_end_finds_it_stored() {
    let shop = Shop::open();
    let handler = does(|_| Box::pin(async { Ok(JobDone::default()) }));
    let ids = shop.queue.submit_all((0..50).map(|_| NewJob::new("note", "a")).collect()).await.unwrap();
    let events = shop.queue.watch();
    let watch = async {
        let mut events = std::pin::pin!(events);
        let mut ended = 0;
        while ended < ids.len() {
            if let Some(QueueEvent::Job { id, state: JobState::Done, .. }) = events.next().await {
                assert_eq!(shop.state(id).await, JobState::Done);
                ended += 1;
            }
        }
    };
    tokio::join!(shop.work(Handlers::new().with("note", handler)), watch);
}

#[tokio::test]
async fn work_that_nobody_here_can_do_is_not_waited_for() {
    let shop = Shop::open();
    let foreign = shop.queue.submit(NewJob::new("foreign", "a")).await.unwrap().id;
    let far = Timestamp(SystemClock.now().0 + 3_600_000);
    shop.queue.submit(NewJob::new("foreign", "b").run_after(far)).await.unwrap();
    let own = shop.queue.submit(NewJob::new("own", "a")).await.unwrap().id;
    let handler = does(|_| Box::pin(async { Ok(JobDone::default()) }));
    shop.work(Handlers::new().with("own", handler)).await;
    assert_eq!((shop.state(own).await, shop.state(foreign).await), (JobState::Done, JobState::Queued));
}

#[tokio::test]
async fn a_job_that_waits_for_something_with_an_end_is_not_given_up_before_it() {
    let shop = Shop::open();
    let patient = shop.queue.submit(NewJob::new("patient", "a")).await.unwrap().id;
    let stuck = shop.queue.submit(NewJob::new("stuck", "b")).await.unwrap().id;
    let limit = Duration::from_millis(300);
    let mut waits = does(|job| {
        Box::pin(async move {
            job.alive(Duration::from_millis(900));
            // A sign of something else that is under way does not shorten the wait.
            job.pulse().beat();
            tokio::time::sleep(Duration::from_millis(1_000)).await;
            Ok(JobDone::default())
        })
    });
    waits.rules.no_progress = limit;
    let mut hangs = does(|job| {
        Box::pin(async move {
            job.alive(Duration::from_millis(200));
            std::future::pending().await
        })
    });
    hangs.rules.no_progress = limit;
    shop.work(Handlers::new().with("patient", waits).with("stuck", hangs)).await;
    assert_eq!((shop.state(patient).await, shop.state(stuck).await), (JobState::Done, JobState::Failed));
}

#[tokio::test]
async fn a_worker_that_must_go_at_once_gives_everything_back() {
    let shop = Shop::open();
    let ids = ["a", "b"].map(|lane| NewJob::new("long", lane));
    let ids = shop.queue.submit_all(ids.to_vec()).await.unwrap();
    let begun = Arc::new(tokio::sync::Semaphore::new(0));
    let bell = begun.clone();
    let handler = does(move |_| {
        let bell = bell.clone();
        Box::pin(async move {
            bell.add_permits(1);
            std::future::pending().await
        })
    });
    let stop = CancellationToken::new();
    let work =
        shop.queue.work(Handlers::new().with("long", handler), WorkOptions::default(), stop.clone(), false);
    let abandon = async {
        let _both = begun.acquire_many(2).await.unwrap();
        stop.cancel();
        assert_eq!(shop.queue.abandon().await.unwrap(), 2);
    };
    let (worked, ()) = tokio::join!(work, abandon);
    worked.unwrap();
    for job in ids {
        let job = shop.queue.table().job(job.id).await.unwrap().unwrap();
        assert_eq!((job.state, job.attempts, job.stalls), (JobState::Queued, 0, 0));
    }
    assert!(shop.queue.table().leases().await.unwrap().is_empty());
}

#[tokio::test]
async fn what_a_job_cannot_have_stored_fails_that_job_and_stops_no_worker() {
    let shop = Shop::open();
    let bad = shop.queue.submit(NewJob::new("bad", "a")).await.unwrap().id;
    let good = shop.queue.submit(NewJob::new("good", "a")).await.unwrap().id;
    let follows = does(|_| {
        let then = vec![NewJob::new("", "work of no kind")];
        Box::pin(async move { Ok(JobDone { response: None, then }) })
    });
    let fine = does(|_| Box::pin(async { Ok(JobDone::default()) }));
    shop.work(Handlers::new().with("bad", follows).with("good", fine)).await;
    let job = shop.queue.table().job(bad).await.unwrap().unwrap();
    assert_eq!((job.state, job.error_class.as_deref()), (JobState::Failed, Some("config")));
    assert!(job.error.as_deref().unwrap().contains("kind of a job has 0 bytes"), "{:?}", job.error);
    assert_eq!(shop.state(good).await, JobState::Done);
    assert!(shop.queue.table().leases().await.unwrap().is_empty());
}

#[tokio::test]
async fn every_change_of_a_job_is_told_as_it_is_stored() {
    let shop = Shop::open();
    let mut events = std::pin::pin!(shop.queue.watch());
    let mut next = async || match events.next().await.unwrap() {
        QueueEvent::Job { id, state, .. } => (id, state),
        QueueEvent::Missed(count) => panic!("{count} events are missing"),
    };
    let far = Timestamp(SystemClock.now().0 + 3_600_000);
    let id = shop.queue.submit(NewJob::new("note", "a").unique("k").run_after(far)).await.unwrap().id;
    assert_eq!(next().await, (id, JobState::Scheduled));
    let again = NewJob::new("note", "a").unique("k");
    assert!(!shop.queue.submit(again).await.unwrap().fresh, "no event: nothing changed");
    shop.queue.cancel(id).await.unwrap();
    shop.queue.cancel(id).await.unwrap();
    assert_eq!(next().await, (id, JobState::Cancelled));
    shop.queue.retry(id).await.unwrap();
    assert_eq!(next().await, (id, JobState::Queued));
    // Called off while it runs, it answers with something that would be tried again: it is not.
    let queue = shop.queue.clone();
    let mut handler = does(move |job| {
        let queue = queue.clone();
        Box::pin(async move {
            queue.cancel(job.job.id).await.unwrap();
            Err(network("reset"))
        })
    });
    handler.rules.retry = RetryPolicy::CRAWL;
    shop.work(Handlers::new().with("note", handler)).await;
    assert_eq!(next().await, (id, JobState::Running));
    assert_eq!(next().await, (id, JobState::Cancelling));
    assert_eq!(next().await, (id, JobState::Cancelled));
    assert_eq!(shop.state(id).await, JobState::Cancelled);
}

#[tokio::test]
async fn a_job_that_stops_by_itself_is_not_taken_up_again_at_once() {
    let shop = Shop::open();
    let id = shop.queue.submit(NewJob::new("moody", "a")).await.unwrap().id;
    let (stop, runs) = (CancellationToken::new(), Arc::new(AtomicU32::new(0)));
    let count = runs.clone();
    let handler = does(move |_| {
        count.fetch_add(1, Ordering::SeqCst);
        Box::pin(async { Err(JobFailed::Interrupted) })
    });
    let mut events = std::pin::pin!(shop.queue.watch());
    let work =
        shop.queue.work(Handlers::new().with("moody", handler), WorkOptions::default(), stop.clone(), false);
    let watch = async {
        while !matches!(events.next().await, Some(QueueEvent::Job { state: JobState::RetryWait, .. })) {}
        stop.cancel();
    };
    let (worked, ()) = tokio::join!(work, watch);
    worked.unwrap();
    let job = shop.queue.table().job(id).await.unwrap().unwrap();
    assert_eq!((job.state, job.attempts, runs.load(Ordering::SeqCst)), (JobState::RetryWait, 0, 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_handler_that_blocks_its_thread_loses_its_lane_all_the_same() {
    let shop = Shop::open();
    let id = shop.queue.submit(NewJob::new("block", "a")).await.unwrap().id;
    let (release, blocked) = std::sync::mpsc::channel::<()>();
    let (blocked, runs) = (Mutex::new(blocked), Arc::new(AtomicU32::new(0)));
    let count = runs.clone();
    let mut handler = does(move |_| {
        if count.fetch_add(1, Ordering::SeqCst) == 0 {
            // Ends with the test, and nothing else ends it.
            let _ = blocked.lock().unwrap().recv();
        }
        Box::pin(async { Ok(JobDone::default()) })
    });
    handler.rules.no_progress = Duration::from_millis(200);
    let options = WorkOptions {
        lease: Duration::from_millis(600),
        stall_scan: Duration::from_millis(100),
        idle: Duration::from_millis(20),
        ..WorkOptions::default()
    };
    let stop = CancellationToken::new();
    let work = shop.queue.work(Handlers::new().with("block", handler), options, stop.clone(), false);
    let wait = async {
        assert_eq!(shop.queue.wait(id).await.unwrap().unwrap().state, JobState::Done);
        stop.cancel();
        drop(release);
    };
    let (worked, ()) = tokio::join!(work, wait);
    worked.unwrap();
    assert_eq!(runs.load(Ordering::SeqCst), 2);
}
