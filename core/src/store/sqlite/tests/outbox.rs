//! What follows from an article or from a job's end is stored with it, or neither is.

use std::sync::Arc;
use std::time::Duration;

use super::{Bench, NOW, entry};
use crate::clock::{Steady, Timestamp};
use crate::deliver::alert::{AlertRule, AlertWatch};
use crate::error::ErrorClass;
use crate::queue::{Collect, Ended, Finish, JobQuery, JobState, JobTable, LeaseAsk, NewJob};
use crate::store::{Durability, Recorded, Store, StoreError};

fn in_lane(lane: &str) -> JobQuery {
    JobQuery { lane: Some(lane.into()), ..JobQuery::default() }
}

fn ask(kinds: &[&str]) -> LeaseAsk {
    let until = Steady { boot: "b".into(), ms: 60_000 };
    let kinds = kinds.iter().map(|kind| (*kind).to_owned()).collect();
    LeaseAsk { owner: "t".into(), kinds, lanes: Default::default(), until }
}

#[tokio::test]
async fn an_article_and_its_announcement_are_stored_together_or_not_at_all() {
    let dir = tempfile::tempdir().unwrap();
    let desk = Bench::open(dir.path(), Durability::Process).await;
    let page = desk.page(desk.target_id, vec![entry("https://www.gd.gov.cn/1", None)]);
    let entries = desk.store.record_page(page).await.unwrap();
    let mut record = desk.record(&entries[0]);
    record.then = vec![NewJob::new("deliver", "hook").once("k"), NewJob::new("", "broken")];
    let refused = desk.store.record_article(record.clone()).await.unwrap_err();
    assert!(matches!(refused, StoreError::Refused { .. }), "{refused}");
    assert!(
        desk.store.article(entries[0].id).await.unwrap().is_none(),
        "no article without its announcement"
    );
    assert!(desk.store.jobs(in_lane("hook")).await.unwrap().is_empty(), "and none without its article");
    record.then.pop();
    let stored = desk.store.record_article(record.clone()).await.unwrap();
    assert!(matches!(stored, Recorded::Stored { .. }));
    assert_eq!(desk.store.jobs(in_lane("hook")).await.unwrap().len(), 1);
    // Found once more, under another entry: it is no news.
    let page = desk.page(desk.target_id, vec![entry("https://www.gd.gov.cn/1", None)]);
    desk.store.record_page(page).await.unwrap();
    record.then = vec![NewJob::new("deliver", "hook").once("another")];
    assert!(matches!(desk.store.record_article(record).await, Ok(Recorded::Duplicate(_))));
    assert_eq!(desk.store.jobs(in_lane("hook")).await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_worker_finds_its_kind_behind_any_number_of_others_and_in_their_order() {
    let dir = tempfile::tempdir().unwrap();
    let store = super::open(dir.path());
    let others = (0..500).map(|_| NewJob::new("other", "a").priority(9));
    store.submit(others.collect(), NOW).await.unwrap();
    let late = NewJob::new("x", "a").priority(1);
    let jobs = vec![late.clone(), NewJob::new("y", "a").priority(2), late, NewJob::new("y", "a").priority(1)];
    let ids: Vec<i64> = store.submit(jobs, NOW).await.unwrap().iter().map(|job| job.id).collect();
    let mut order = Vec::new();
    while let Some(leased) = store.lease(ask(&["x", "y"]), NOW).await.unwrap() {
        order.push(leased.job.id);
        let how = Finish::Done { response: None, then: Vec::new() };
        let ended = Ended { token: leased.token, id: leased.job.id, how, alerts: None };
        store.finish(ended, None, NOW).await.unwrap();
    }
    assert_eq!(order, [ids[1], ids[0], ids[2], ids[3]], "one line for all kinds");
    assert!(!store.has_open(vec!["x".into(), "y".into()], Default::default()).await.unwrap());
    assert!(store.has_open(vec!["x".into(), "other".into()], Default::default()).await.unwrap());
    let lanes = store.lanes().await.unwrap();
    assert_eq!((lanes[0].queued, lanes[0].running, lanes[0].oldest), (500, 0, Some(NOW)));
}

#[tokio::test]
async fn an_alert_is_submitted_by_the_end_that_crosses_the_rule_and_by_no_refused_one() {
    let dir = tempfile::tempdir().unwrap();
    let store = super::open(dir.path());
    let rule = AlertRule { after: 2, within: Duration::from_secs(60), repeat: None, recovered: true };
    let watch = Arc::new(AlertWatch {
        rule,
        channels: vec!["ops".into(), "boss".into()],
        kinds: vec!["crawl".into()],
    });
    for round in 0..3 {
        let payload = serde_json::json!({"target": "t"});
        store.submit(vec![NewJob::new("crawl", "a").payload(payload)], NOW).await.unwrap();
        let leased = store.lease(ask(&["crawl"]), NOW).await.unwrap().unwrap();
        let how = Finish::Failed { class: ErrorClass::Shape, error: "x".into() };
        let ended = Ended { token: leased.token, id: leased.job.id, how, alerts: Some(watch.clone()) };
        store.finish(ended.clone(), None, Timestamp(NOW.0 + round)).await.unwrap();
        // The same end again is refused, and counts for nothing.
        let again = store.finish(ended, None, NOW).await;
        assert!(matches!(again, Err(StoreError::Fenced { .. })));
        let told = store.jobs(in_lane("deliver:ops")).await.unwrap().len();
        assert_eq!(told, usize::from(round >= 1), "after {} failures", round + 1);
    }
    let boss = store.jobs(in_lane("deliver:boss")).await.unwrap();
    assert_eq!(boss[0].payload["message"]["fields"]["failures"], "2");
}

fn watch(after: u32) -> Arc<AlertWatch> {
    let rule = AlertRule { after, within: Duration::from_secs(60), repeat: None, recovered: true };
    Arc::new(AlertWatch { rule, channels: vec!["ops".into()], kinds: vec!["crawl".into()] })
}

async fn told(store: &crate::store::SqliteStore) -> Vec<String> {
    let jobs = store.jobs(in_lane("deliver:ops")).await.unwrap();
    jobs.iter().rev().map(|job| job.payload["message"]["event"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn a_crawl_that_came_too_late_is_no_recovery() {
    let dir = tempfile::tempdir().unwrap();
    let store = super::open(dir.path());
    let end = async |expires: Option<Timestamp>, how: Finish| {
        let mut job = NewJob::new("crawl", "a").payload(serde_json::json!({"target": "t"}));
        job.expires_at = expires;
        store.submit(vec![job], NOW).await.unwrap();
        let leased = store.lease(ask(&["crawl"]), NOW).await.unwrap().unwrap();
        let ended = Ended { token: leased.token, id: leased.job.id, how, alerts: Some(watch(1)) };
        store.finish(ended, None, NOW).await.unwrap().state
    };
    let failed = || Finish::Failed { class: ErrorClass::Shape, error: "x".into() };
    let done = || Finish::Done { response: None, then: Vec::new() };
    assert_eq!(end(None, failed()).await, JobState::Failed);
    assert_eq!(end(Some(NOW), done()).await, JobState::Expired);
    assert_eq!(told(&store).await, ["alert"], "nobody looked at the site");
    assert_eq!(end(None, done()).await, JobState::Done);
    assert_eq!(told(&store).await, ["alert", "recovered"]);
}

#[tokio::test]
async fn a_crawl_that_keeps_losing_its_workers_is_a_failure_that_somebody_is_told_of() {
    let dir = tempfile::tempdir().unwrap();
    let store = super::open(dir.path());
    let job = NewJob::new("crawl", "a").payload(serde_json::json!({"target": "t"}));
    store.submit(vec![job], NOW).await.unwrap();
    for expected in [JobState::Queued, JobState::Failed] {
        store.lease(ask(&["crawl"]), NOW).await.unwrap().unwrap();
        let steady = Steady { boot: "b".into(), ms: 60_001 };
        let lost = Collect { steady, dead: Vec::new(), max_stalled: 1, alerts: Some(watch(1)) };
        assert_eq!(store.collect(lost, NOW).await.unwrap()[0].state, expected);
    }
    assert_eq!(told(&store).await, ["alert"]);
    let jobs = store.jobs(in_lane("deliver:ops")).await.unwrap();
    assert_eq!(jobs[0].payload["message"]["fields"]["error_class"], "stalled");
}
