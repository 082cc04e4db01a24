//! What a schedule remembers of its jobs (S3-6, S3-8).

use std::time::Duration;

use dibao::queue::{Handlers, JobContext, JobDone, JobFailed, JobHandler, JobResult, WorkOptions};
use dibao::schedule::{NewSchedule, ScheduleEdit, Trigger};
use dibao::{Clock as _, Engine, ErrorClass, Timestamp};
use futures::future::BoxFuture;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::bed::at;
use crate::clock::LeapClock;
use crate::service::engine;

/// Ends as its payload says.
struct AsTold;

impl JobHandler for AsTold {
    fn run<'a>(&'a self, job: &'a JobContext) -> BoxFuture<'a, JobResult> {
        let said = job.job.payload.as_str().unwrap_or_default().to_owned();
        Box::pin(async move {
            match said.as_str() {
                "fails" => Err(JobFailed::Error {
                    class: ErrorClass::Shape,
                    message: "no such page".into(),
                    not_before: None,
                }),
                said => Ok(JobDone::saying(said.repeat(3_000))),
            }
        })
    }
}

/// The next due time comes, its job is made and worked on.
async fn one_round(engine: &Engine, clock: &LeapClock) {
    clock.set(Timestamp(clock.now().0 + 3_600_000));
    assert_eq!(engine.timer().await.unwrap().pass().await.unwrap().jobs, 1);
    let options = WorkOptions { idle: Duration::from_millis(10), ..WorkOptions::default() };
    let handlers = Handlers::new().with("hook", AsTold);
    engine.queue().work(handlers, options, CancellationToken::new(), true).await.unwrap();
}

#[tokio::test]
async fn s3_6_how_the_last_job_ended_is_kept_its_words_cut_at_a_thousand_and_a_failure_keeps_the_schedule() {
    let dir = tempfile::tempdir().unwrap();
    let clock = LeapClock::at(at("2026-04-10 09:30"));
    let engine = engine(dir.path(), &clock).await;
    let schedules = engine.schedules();
    // What the program brings itself comes due too; here only this one counts.
    engine.timer().await.unwrap();
    for own in [dibao::RECONCILE, dibao::BUDGET] {
        schedules.pause(own).await.unwrap();
    }
    let hourly = Trigger::Cron { cron: "0 * * * *".into() };
    let new = NewSchedule { payload: json!("长"), ..NewSchedule::new("hello", "hook", hourly) };
    schedules.add(new).await.unwrap();

    one_round(&engine, &clock).await;
    let row = schedules.get("hello").await.unwrap();
    assert_eq!((row.last_status.as_deref(), row.run_count, row.error_count), (Some("ok"), 1, 0));
    assert_eq!(row.last_response.unwrap().chars().count(), 1_000);
    assert_eq!(row.last_run_at, Some(clock.now()));

    let edit = ScheduleEdit { payload: Some(json!("fails")), ..ScheduleEdit::default() };
    schedules.edit("hello", edit).await.unwrap();
    for errors in 1..=2 {
        one_round(&engine, &clock).await;
        let row = schedules.get("hello").await.unwrap();
        assert_eq!((row.last_status.as_deref(), row.run_count, row.error_count), (Some("error"), 1, errors));
        assert!(row.last_error.unwrap().contains("no such page"));
        assert!(row.enabled && row.next_due_at > Some(clock.now()), "S3-8: it stays");
    }
}
