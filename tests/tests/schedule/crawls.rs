//! Schedules that crawl: a replica, an engine that runs, site files that change.

#[path = "../e2e/bed.rs"]
#[allow(dead_code)]
pub mod bed;

use std::sync::Arc;
use std::time::Duration;

use dibao::config::parse_site;
use dibao::queue::{JobQuery, JobState, WorkOptions};
use dibao::schedule::cron::Lang;
use dibao::schedule::look::{HeldUntil, Layer};
use dibao::schedule::{Rule, ScheduleQuery, Trigger};
use dibao::{CrawlJob, Engine};
use dibao_replica::{Fault, FaultRule, ReplicaOptions};
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

#[tokio::test(flavor = "multi_thread")]
async fn what_a_feed_and_the_cache_headers_of_a_list_say_puts_off_the_next_look_and_is_told() {
    let options =
        ReplicaOptions { articles: 12, versions: true, max_age: Some(4_000), ..ReplicaOptions::default() };
    let bed = Bed::with(options).await;
    let people = std::fs::read_to_string(site_file("people")).unwrap().replace("schedule:", "#");
    let engine = bed.engine_with("data", &parse_site(&people, "people.yaml").unwrap()).await;
    let schedules = engine.schedules();
    let minutes = |span: i64| span / 60_000;
    for (unchanged, feed, cache) in [(0, 90, 66), (1, 90, 66)] {
        // By RSS a ttl of 90 minutes, by HTTP 4,000 seconds.
        let report = bed::crawl(&engine, "people__politics").await;
        assert_eq!(report.pages_unchanged, unchanged, "the second time there is only a 304 to read");
        let decided = schedules.decisions("people__politics", 5).await.unwrap();
        let planned = decided.iter().find(|decided| decided.rule == Rule::Planned).unwrap();
        let holds: Vec<HeldUntil> = serde_json::from_value(planned.inputs["holds"].clone()).unwrap();
        let said = |why: &str| {
            let hold = holds.iter().find(|hold| hold.layer == Layer::Said && hold.why.contains(why));
            minutes(hold.unwrap_or_else(|| panic!("{why}: {planned:?}")).until.0 - planned.at.0)
        };
        assert!((feed - 1..=feed).contains(&said("ttl")), "{planned:?}");
        // It counts from the answer; the run went on for a while.
        assert!((cache - 15..=cache).contains(&said("cache headers")), "{planned:?}");
        let row = schedules.get("people__politics").await.unwrap();
        assert!(minutes(row.next_due_at.unwrap().0 - planned.at.0) >= feed - 1, "{row:?}");
    }
    for (lang, words) in
        [(Lang::En, ["the feed's ttl", "says there is nothing new"]), (Lang::Zh, ["ttl", "此前不会更新"])]
    {
        let told = engine.explain("people__politics", lang).await.unwrap();
        let text = told.text.join("\n");
        assert!(told.held.iter().any(|held| held.layer == Layer::Said), "{told:?}");
        assert!(words.iter().all(|words| text.contains(words)), "{text}");
    }
    // A feed that says nothing is held back by its headers alone.
    bed::crawl(&engine, "people__world").await;
    let decided = schedules.decisions("people__world", 5).await.unwrap();
    let planned = decided.iter().find(|decided| decided.rule == Rule::Planned).unwrap();
    let holds = planned.inputs["holds"].to_string();
    assert!(holds.contains("cache headers") && !holds.contains("ttl"), "{holds}");
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

#[tokio::test(flavor = "multi_thread")]
async fn i15_a_site_file_whose_adapter_is_missing_is_tried_again_without_being_touched() {
    let bed = Bed::new(5).await;
    let files = tempfile::tempdir().unwrap();
    let (path, own) = (files.path().join("ndrc.yaml"), files.path().join("adapters"));
    std::fs::create_dir(&own).unwrap();
    for file in ["yaml-css.wasm", "adapters.lock"] {
        std::fs::copy(bed::adapters().join(file), own.join(file)).unwrap();
    }
    std::fs::create_dir_all(bed.data("data")).unwrap();
    let channels = "[channels.ops]\nkind = \"file\"\npath = \"ops.jsonl\"\ntell = [\"alerts\"]\n";
    std::fs::write(bed.data("data").join("channels.toml"), channels).unwrap();
    std::fs::write(&path, text()).unwrap();
    let engine = bed.builder("data").adapters(&own).build().await.unwrap();
    engine.import_site(&path).await.unwrap();
    let told = async || {
        let query = JobQuery { kind: Some("deliver".into()), limit: 100, ..Default::default() };
        engine.queue().table().jobs(query).await.unwrap().len()
    };

    let feeds = "site_id: ndrc\nsite_name: 发改委\nbase_url: https://www.ndrc.gov.cn\nadapter: rss\n\
                 columns:\n  - {column_id: xwfb, list_url: /feed.xml, schedule: '15 6 * * *'}\n";
    std::fs::write(&path, feeds).unwrap();
    for _ in 0..2 {
        let done = engine.reconcile().await.unwrap();
        assert!(done.sites.is_empty() && done.invalid[0].1.contains("rss"), "{done:?}");
    }
    assert_eq!(told().await, 1, "the same mistake is told once");
    let row = engine.schedules().get("ndrc__xwfb").await.unwrap();
    assert!(matches!(row.trigger, Trigger::Adaptive { .. }), "the last good one holds");

    std::fs::copy(bed::adapters().join("rss.wasm"), own.join("rss.wasm")).unwrap();
    let done = engine.reconcile().await.unwrap();
    assert_eq!((done.sites, done.invalid), (vec!["ndrc".to_owned()], vec![]));
    let row = engine.schedules().get("ndrc__xwfb").await.unwrap();
    assert_eq!(row.trigger, Trigger::Cron { cron: "15 6 * * *".into() });
    assert_eq!(engine.reconcile().await.unwrap(), dibao::Reconciled::default(), "and that was all");
}
