//! Schedules that crawl: a replica, an engine that runs, site files that change.

#[path = "../e2e/bed.rs"]
#[allow(dead_code)]
pub mod bed;

use std::sync::Arc;
use std::time::Duration;

use dibao::config::parse_site;
use dibao::queue::{JobQuery, JobState, WorkOptions};
use dibao::schedule::cron::Lang;
use dibao::schedule::look::Layer;
use dibao::schedule::{Rule, ScheduleQuery, Trigger};
use dibao::{CrawlJob, Engine};
use dibao_replica::{Fault, FaultRule};
use tokio_util::sync::CancellationToken;

use bed::{Bed, site_file};

/// Runs an engine until something holds.
async fn run_until(engine: &Engine, what: &str, mut holds: impl AsyncFnMut() -> bool) {
    let stop = CancellationToken::new();
    let options = WorkOptions { idle: Duration::from_millis(20), ..WorkOptions::default() };
    let run = engine.run(engine.handlers(), options, stop.clone());
    let look = async {
        let deadline = tokio::time::Instant::now() + Duration::from_secs(120);
        while !holds().await {
            if tokio::time::Instant::now() >= deadline {
                let jobs = engine.queue().table().jobs(JobQuery::default()).await.unwrap();
                panic!("{what} did not come: {jobs:#?}");
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        stop.cancel();
    };
    let (ran, ()) = tokio::join!(run, look);
    ran.unwrap();
}

async fn done(engine: &Engine) -> usize {
    let query = JobQuery {
        states: vec![JobState::Done],
        kind: Some("crawl".into()),
        limit: 1_000,
        ..Default::default()
    };
    engine.queue().table().jobs(query).await.unwrap().len()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_running_engine_crawls_what_is_due_and_plans_the_next_look_from_what_it_found() {
    let bed = Bed::new(40).await;
    let engine = bed.engine_with("data", &site()).await;
    let schedules = engine.schedules();
    let targets =
        schedules.list(ScheduleQuery { prefix: Some("target.".into()), ..Default::default() }).await.unwrap();
    assert!(targets.len() >= 2);
    run_until(&engine, "the crawls", async || done(&engine).await >= targets.len()).await;
    for row in &targets {
        let code = row.target().unwrap();
        let row = schedules.get(code).await.unwrap();
        let decided = schedules.decisions(code, 10).await.unwrap();
        let planned =
            decided.iter().find(|decided| decided.rule == Rule::Planned).expect("a plan after the look");
        assert_eq!((row.run_count, row.last_status.as_deref()), (1, Some("ok")));
        assert!(row.next_due_at.unwrap() > planned.at, "{row:?}");
        let stats = schedules.source(code).await.unwrap().unwrap();
        assert_eq!((stats.check_count, stats.hit_count), (1, 1));
        let forecast = &planned.inputs["forecast"];
        assert!(forecast["per_day"].as_f64().unwrap() > 0.0, "{planned:?}");
        for (lang, words) in [(Lang::En, "expects"), (Lang::Zh, "预计")] {
            let told = engine.explain(code, lang).await.unwrap();
            assert!(told.text.join("\n").contains(words), "{:?}", told.text);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_scheduled_crawl_that_fails_rests_as_its_status_says_and_a_hand_may_still_crawl() {
    let bed = Bed::new(20).await;
    let engine = bed.engine_with("data", &site()).await;
    let schedules = engine.schedules();
    schedules.pause("ndrc__tz").await.unwrap();
    bed.replica
        .fault(FaultRule::new(Fault::Status { code: 403, retry_after: None, body: None }).path("/xwdt/*"));
    let fails =
        async || schedules.source("ndrc__xwfb").await.unwrap().is_some_and(|stats| stats.fail_count > 0);
    run_until(&engine, "the failure", fails).await;
    let stats = schedules.source("ndrc__xwfb").await.unwrap().unwrap();
    assert_eq!(stats.last_error.as_deref(), Some("403"), "I5: the status, not the words of the page");
    assert_eq!(stats.backoff_until - stats.last_check_at, 12 * 3_600, "S0-13");
    let row = schedules.get("ndrc__xwfb").await.unwrap();
    let planned = schedules.decisions("ndrc__xwfb", 10).await.unwrap();
    let planned = planned.iter().find(|decided| decided.rule == Rule::Planned).unwrap();
    assert_eq!(planned.inputs["won"], serde_json::json!(Layer::Source), "{planned:?}");
    assert_eq!(row.next_due_at.map(|at| at.0 / 1_000), Some(stats.backoff_until));
    bed.replica.clear_faults();
    engine.gate().hosts().reset(bed::NDRC);
    let report = bed::crawl(&engine, "ndrc__xwfb").await;
    assert!(report.items_new > 0);
    let stats = schedules.source("ndrc__xwfb").await.unwrap().unwrap();
    assert_eq!((stats.fail_count, stats.backoff_until), (0, 0), "S0-31");
    assert!(schedules.get("ndrc__xwfb").await.unwrap().next_due_at < row.next_due_at);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_host_that_said_when_to_come_back_is_the_layer_that_counts() {
    let bed = Bed::new(20).await;
    let engine = bed.engine_with("data", &site()).await;
    let schedules = engine.schedules();
    schedules.pause("ndrc__tz").await.unwrap();
    let later = Fault::Status { code: 429, retry_after: Some("7200".into()), body: None };
    bed.replica.fault(FaultRule::new(later).path("/xwdt/*"));
    let job = engine
        .submit_crawl(CrawlJob { target: "ndrc__xwfb".into(), ..CrawlJob::default() }, 0)
        .await
        .unwrap();
    let waits = async || {
        let job = engine.queue().table().job(job.id).await.unwrap().unwrap();
        matches!(job.state, JobState::RetryWait)
    };
    run_until(&engine, "the wait", waits).await;
    let told = engine.explain("ndrc__xwfb", Lang::En).await.unwrap();
    assert!(
        told.held.iter().any(|held| held.layer == Layer::Host
            && held.until.0 - dibao::Clock::now(&dibao::clock::SystemClock).0 > 6_000_000),
        "{told:?}"
    );
}

/// The site file of the project without its crons: what is left is looked at when something is expected.
fn text() -> String {
    let text = std::fs::read_to_string(site_file("ndrc")).unwrap();
    let lines = text.lines().filter(|line| !line.trim_start().starts_with("schedule:"));
    lines.map(|line| format!("{line}\n")).collect()
}

fn site() -> dibao::config::SiteConfig {
    parse_site(&text(), "ndrc.yaml").unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn i15_a_site_file_that_changes_is_followed_and_a_broken_one_leaves_the_last_good_one_with_one_alert() {
    let bed = Bed::new(5).await;
    let files = tempfile::tempdir().unwrap();
    let path = files.path().join("ndrc.yaml");
    std::fs::write(&path, text()).unwrap();
    std::fs::create_dir_all(bed.data("data")).unwrap();
    std::fs::write(
        bed.data("data").join("channels.toml"),
        "[channels.ops]\nkind = \"file\"\npath = \"ops.jsonl\"\ntell = [\"alerts\"]\n",
    )
    .unwrap();
    let engine = Arc::new(bed.engine("data").await);
    engine.import_site(&path).await.unwrap();
    assert_eq!(engine.reconcile().await.unwrap(), dibao::Reconciled::default(), "nothing has changed");
    let good = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, format!("{good}\nschedule: '15 6 * * *'\n")).unwrap();
    let done = engine.reconcile().await.unwrap();
    assert_eq!((done.sites.as_slice(), done.invalid.len()), (&["ndrc".to_owned()][..], 0));
    let row = engine.schedules().get("ndrc__xwfb").await.unwrap();
    assert_eq!(
        (row.trigger, row.origin.as_deref()),
        (Trigger::Cron { cron: "15 6 * * *".into() }, Some("site"))
    );

    let alerts = async || {
        let query = JobQuery { kind: Some("deliver".into()), limit: 100, ..Default::default() };
        engine.queue().table().jobs(query).await.unwrap().len()
    };
    for broken in [format!("{good}\nschedul: x\n"), format!("{good}\nschedule: daily\n")] {
        let before = alerts().await;
        std::fs::write(&path, broken).unwrap();
        let done = engine.reconcile().await.unwrap();
        assert!(done.sites.is_empty() && done.invalid[0].1.contains("ndrc.yaml:"), "{done:?}");
        engine.reconcile().await.unwrap();
        assert_eq!(alerts().await - before, 1, "told once");
    }
    let row = engine.schedules().get("ndrc__xwfb").await.unwrap();
    assert_eq!(row.trigger, Trigger::Cron { cron: "15 6 * * *".into() }, "the last good one holds");
    std::fs::remove_file(&path).unwrap();
    assert_eq!(engine.reconcile().await.unwrap().invalid.len(), 1);
    std::fs::write(&path, good).unwrap();
    assert_eq!(engine.reconcile().await.unwrap().sites, ["ndrc"]);
}
