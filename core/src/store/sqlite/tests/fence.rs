//! A worker that was paused past its lease wakes up and is refused, in every kind of commit.

use super::*;
use crate::clock::Steady;
use crate::error::ErrorClass;
use crate::queue::{Ended, Finish, Hold, JobTable, LeaseAsk, NewJob};
use crate::store::RunEndState;

fn refused<T: std::fmt::Debug>(what: &str, outcome: Result<T, StoreError>) {
    assert!(matches!(outcome, Err(StoreError::Fenced { .. })), "{what}: {outcome:?}");
}

fn ask(ms: i64) -> LeaseAsk {
    let until = Steady { boot: "b".into(), ms };
    LeaseAsk { owner: "test".into(), kinds: vec!["crawl".into()], until }
}

#[tokio::test]
async fn nothing_is_written_under_a_lease_that_is_gone() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    store.put_site(site("gd"), vec![target("gd", "wjk")]).await.unwrap();
    let (site, target) = store.target("gd__wjk").await.unwrap().unwrap();
    store.submit(vec![NewJob::new("crawl", "www.gd.gov.cn")], NOW).await.unwrap();
    let leased = store.lease(ask(60_000), NOW).await.unwrap().unwrap();
    let mine = store.fenced(leased.token);

    // While the lease is held, everything goes through.
    let run = mine.begin_run(target.id, RunOptions::default(), NOW).await.unwrap();
    let page = PageRecord {
        run_id: run.run_id,
        site_id: site.id,
        target_id: target.id,
        at: NOW,
        entries: vec![entry("https://www.gd.gov.cn/1", None)],
        ..PageRecord::default()
    };
    let entries = mine.record_page(page.clone()).await.unwrap();
    let record = ArticleRecord {
        run_id: run.run_id,
        site_id: site.id,
        target_id: target.id,
        entry_id: entries[0].id,
        article: Arc::new(article(&entries[0])),
        log: Vec::new(),
        session: None,
        then: vec![NewJob::new("deliver", "announce")],
    };

    // The process sleeps past its lease; another one takes its place.
    let later = Steady { boot: "b".into(), ms: 60_001 };
    assert_eq!(store.collect(later, 1, NOW).await.unwrap().len(), 1);
    let other = store.lease(ask(120_000), NOW).await.unwrap().unwrap();
    assert!(other.token > leased.token);

    // It wakes up.
    let failure = FailureRecord {
        run_id: run.run_id,
        site_id: site.id,
        target_id: target.id,
        entry_id: entries[0].id,
        at: NOW,
        class: ErrorClass::Network,
        message: "reset".into(),
        is_final: false,
        log: Vec::new(),
    };
    let end = RunEnd { state: RunEndState::Done, reason: "last_page".into(), last_article_time: None };
    refused("a run", mine.begin_run(target.id, RunOptions::default(), NOW).await);
    refused("a list page", mine.record_page(page).await);
    refused("an article", mine.record_article(record.clone()).await);
    refused("a failure", mine.record_failure(failure).await);
    let log = vec![request("https://www.gd.gov.cn/1")];
    refused("the request log", mine.log_requests(site.id, target.id, log).await);
    refused("the end of a run", mine.end_run(run.run_id, end, NOW).await);
    let pace = vec![("www.gd.gov.cn".to_owned(), HostRow::default())];
    refused("pace and breaker", mine.save_hosts(pace, NOW).await);
    let origin = Origin::of(&url::Url::parse("https://www.gd.gov.cn/").unwrap()).unwrap();
    assert!(mine.robots(&origin).await.unwrap().is_none(), "reading is free");
    for how in [
        Finish::Done { response: None, then: vec![NewJob::new("deliver", "webhook")] },
        Finish::Failed { class: ErrorClass::Network, error: "x".into() },
        Finish::Retry { class: ErrorClass::Network, error: "x".into(), at: NOW, hold: Hold::Job },
        Finish::GivenBack,
        Finish::Cancelled,
    ] {
        let ended = Ended { token: leased.token, id: leased.job.id, how, alerts: None };
        refused("an outcome", store.finish(ended, Some(ask(1)), NOW).await);
    }
    let lanes = store.lanes().await.unwrap();
    assert!(
        lanes.iter().all(|lane| !["webhook", "announce"].contains(&lane.lane.as_str())),
        "a delivery came of a refused step"
    );

    // Whoever holds the lease goes on.
    let theirs = store.fenced(other.token);
    assert!(matches!(theirs.record_article(record).await.unwrap(), Recorded::Stored { .. }));
}
