//! One-shots (S1): serial, in order, told when they are too late, never lost.

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use dibao::queue::{Handlers, JobContext, JobDone, JobFailed, JobHandler, JobResult, JobState, WorkOptions};
use dibao::schedule::{ONCE, OneShot};
use dibao::{Clock as _, Engine, ErrorClass, Timestamp};
use futures::future::BoxFuture;
use serde_json::json;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use crate::bed::at;
use crate::clock::LeapClock;

/// Writes down what it is told, and that nobody else runs meanwhile.
#[derive(Clone, Default)]
struct Diary {
    lines: Arc<Mutex<Vec<String>>>,
    running: Arc<tokio::sync::Mutex<()>>,
}

impl Diary {
    async fn write(&self, what: &str, job: &JobContext) -> JobResult {
        let alone = self.running.try_lock();
        assert!(alone.is_ok(), "S1-2: two run at once");
        tokio::task::yield_now().await;
        let word = job.job.payload.as_str().unwrap().to_owned();
        self.lines.lock().unwrap().push(format!("{what} {word}"));
        if word == "fails" {
            let (class, not_before) = (ErrorClass::Network, None);
            return Err(JobFailed::Error { class, message: "no luck".into(), not_before });
        }
        Ok(JobDone::default())
    }

    fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.lines.lock().unwrap())
    }
}

impl JobHandler for Diary {
    fn run<'a>(&'a self, job: &'a JobContext) -> BoxFuture<'a, JobResult> {
        Box::pin(self.write("run", job))
    }

    fn on_expired<'a>(&'a self, job: &'a JobContext) -> BoxFuture<'a, JobResult> {
        Box::pin(self.write("expired", job))
    }
}

async fn work(engine: &Engine, diary: &Diary) {
    let options = WorkOptions { idle: Duration::from_millis(10), ..WorkOptions::default() };
    let handlers = Handlers::new().with(ONCE, diary.clone());
    engine.queue().work(handlers, options, CancellationToken::new(), true).await.unwrap();
}

fn one(word: &str, seconds: u64) -> OneShot {
    OneShot::new(Duration::from_secs(seconds), json!(word))
}

async fn open(dir: &Path, clock: &Arc<LeapClock>) -> Engine {
    Engine::builder().data_dir(dir).clock(clock.clone()).build().await.unwrap()
}

#[tokio::test]
async fn one_shots_run_one_at_a_time_the_expired_first_and_a_program_that_was_off_loses_none() {
    let dir = tempfile::tempdir().unwrap();
    let diary = Diary::default();
    let clock = LeapClock::at(at("2026-04-10 09:30"));
    let ids = {
        let engine = open(dir.path(), &clock).await;
        let schedules = engine.schedules();
        let mut ids = Vec::new();
        for one in [
            one("second", 2),
            one("first", 1),
            one("fails", 3),
            one("late b", 1).expires_in(Duration::from_secs(6)),
            one("late a", 4).expires_in(Duration::from_secs(1)),
            one("cancelled", 1),
        ] {
            ids.push(schedules.add_once(one).await.unwrap());
        }
        assert_eq!(schedules.cancel_once(ids[5]).await.unwrap(), Some(JobState::Cancelled));
        assert_eq!(schedules.cancel_once(4_711).await.unwrap(), None);
        ids
    };
    // Nobody works until all of it is due, or too late.
    clock.set(Timestamp(clock.now().0 + 60_000));
    let engine = open(dir.path(), &clock).await;
    engine.schedules().rehydrate().await.unwrap();
    work(&engine, &diary).await;
    // S1-10: what expired by when it did, then the rest by when it was to run.
    assert_eq!(diary.take(), ["expired late a", "expired late b", "run first", "run second", "run fails"]);
    let state = |id| engine.queue().table().job(id);
    let failed = state(ids[2]).await.unwrap().unwrap();
    assert_eq!((failed.state, failed.attempts), (JobState::Failed, 1), "S1-15: no second try");
    assert!(failed.error.unwrap().contains("no luck") && failed.finished_at.is_some());
    assert_eq!(state(ids[3]).await.unwrap().unwrap().state, JobState::Expired);
    assert_eq!(engine.schedules().one_shots(10).await.unwrap().len(), 6);
    work(&engine, &diary).await;
    assert!(diary.take().is_empty(), "nothing comes twice");
}

/// Never comes back: its program dies first.
struct Dies(Arc<Notify>);

impl JobHandler for Dies {
    fn run<'a>(&'a self, _: &'a JobContext) -> BoxFuture<'a, JobResult> {
        self.0.notify_one();
        Box::pin(std::future::pending())
    }
}

#[tokio::test]
async fn s1_12_what_ran_when_its_program_died_runs_again_and_what_is_too_late_by_then_is_told() {
    for (expires, expected) in [(None, "run word"), (Some(30), "expired word")] {
        let dir = tempfile::tempdir().unwrap();
        let clock = LeapClock::at(at("2026-04-10 09:30"));
        let died = async {
            let engine = open(dir.path(), &clock).await;
            let mut one = one("word", 1);
            one.expires_in = expires.map(Duration::from_secs);
            engine.schedules().add_once(one).await.unwrap();
            clock.set(Timestamp(clock.now().0 + 2_000));
            let begun = Arc::new(Notify::new());
            let handlers = Handlers::new().with(ONCE, Dies(begun.clone()));
            let options = WorkOptions { idle: Duration::from_millis(10), ..WorkOptions::default() };
            let queue = engine.queue();
            tokio::select! {
                ended = queue.work(handlers, options, CancellationToken::new(), true) => panic!("{ended:?}"),
                () = begun.notified() => {}
            }
        };
        died.await;
        clock.set(Timestamp(clock.now().0 + 600_000));
        let (engine, diary) = (open(dir.path(), &clock).await, Diary::default());
        assert_eq!(engine.schedules().rehydrate().await.unwrap(), 1);
        work(&engine, &diary).await;
        assert_eq!(diary.take(), [expected]);
    }
}

#[tokio::test]
async fn a_one_shot_waits_for_its_time() {
    let dir = tempfile::tempdir().unwrap();
    let engine = Engine::builder().data_dir(dir.path()).build().await.unwrap();
    let far = engine.schedules().add_once(one("far", 86_400)).await.unwrap();
    let job = engine.queue().table().job(far).await.unwrap().unwrap();
    assert_eq!((job.state, job.lane.as_str()), (JobState::Scheduled, "serial"));
    assert!(job.due_at.0 - job.created_at.0 >= 86_400_000);
}
