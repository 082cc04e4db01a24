//! A worker that was paused past its lease wakes up and is refused: one test for each kind of commit.

use super::*;
use crate::clock::{FixedClock, Steady};
use crate::error::ErrorClass;
use crate::fetch::robots::{Origin, RobotsCopy};
use crate::fetch::{HostShelf, Validators};
use crate::model::Entry;
use crate::queue::{Collect, Ended, Finish, Hold, JobTable, LeaseAsk, Leased, NewJob};
use crate::schedule::look::Look;
use crate::store::{ListValidators, RunEndState, StoreShelf};

const HOST: &str = "www.gd.gov.cn";

fn ask(ms: i64) -> LeaseAsk {
    let until = Steady { boot: "b".into(), ms };
    LeaseAsk { owner: "test".into(), kinds: vec!["crawl".into()], lanes: Default::default(), until }
}

/// A crawl that was under way when its process was paused, and the worker that has its place now.
struct Paused {
    store: SqliteStore,
    site: Site,
    target: Target,
    run: i64,
    entry: Entry,
    /// What the paused process still holds.
    lease: Leased,
    mine: Arc<dyn Store>,
    /// What whoever took its place holds.
    theirs: Arc<dyn Store>,
    _dir: tempfile::TempDir,
}

impl Paused {
    async fn stage() -> Paused {
        let dir = tempfile::tempdir().unwrap();
        let store = open(dir.path());
        store.put_site(site("gd"), vec![target("gd", "wjk")]).await.unwrap();
        let (site, target) = store.target("gd__wjk").await.unwrap().unwrap();
        store.submit(vec![NewJob::new("crawl", HOST)], NOW).await.unwrap();
        let lease = store.lease(ask(60_000), NOW).await.unwrap().unwrap();
        let mine = store.fenced(lease.token);

        // While the lease is held, everything goes through.
        let run = mine.begin_run(target.id, RunOptions::default(), NOW).await.unwrap().run_id;
        let page = page(&site, &target, run);
        let entry = mine.record_page(page).await.unwrap().remove(0);

        // The process sleeps past its lease; another one takes its place.
        let later = Steady { boot: "b".into(), ms: 60_001 };
        let lost = Collect { steady: later, dead: Vec::new(), max_stalled: 1, alerts: None };
        assert_eq!(store.collect(lost, NOW).await.unwrap().len(), 1);
        let other = store.lease(ask(120_000), NOW).await.unwrap().unwrap();
        assert!(other.token > lease.token);
        let theirs = store.fenced(other.token);
        Paused { store, site, target, run, entry, lease, mine, theirs, _dir: dir }
    }

    fn article(&self) -> ArticleRecord {
        ArticleRecord {
            run_id: self.run,
            site_id: self.site.id,
            target_id: self.target.id,
            entry_id: self.entry.id,
            article: Arc::new(article(&self.entry)),
            log: Vec::new(),
            session: None,
            then: vec![NewJob::new("deliver", "announce")],
        }
    }

    fn failure(&self) -> FailureRecord {
        FailureRecord {
            run_id: self.run,
            site_id: self.site.id,
            target_id: self.target.id,
            entry_id: self.entry.id,
            at: NOW,
            class: ErrorClass::Network,
            message: "reset".into(),
            is_final: false,
            log: Vec::new(),
        }
    }

    /// The paused worker says how its job ended; whoever has the job now is not disturbed by it.
    async fn end_is_refused(&self, how: Finish) {
        let before = self.store.job(self.lease.job.id).await.unwrap();
        let ended = Ended { token: self.lease.token, id: self.lease.job.id, how, alerts: None };
        refused(self.store.finish(ended, Some(ask(1)), NOW).await);
        assert_eq!(self.store.job(self.lease.job.id).await.unwrap(), before);
        let lanes = self.store.lanes().await.unwrap();
        assert!(lanes.iter().all(|lane| lane.lane == HOST), "work followed from a refused end: {lanes:?}");
    }
}

fn page(site: &Site, target: &Target, run_id: i64) -> PageRecord {
    PageRecord {
        run_id,
        site_id: site.id,
        target_id: target.id,
        at: NOW,
        entries: vec![entry("https://www.gd.gov.cn/1", None)],
        ..PageRecord::default()
    }
}

fn refused<T: std::fmt::Debug>(outcome: Result<T, StoreError>) {
    assert!(matches!(outcome, Err(StoreError::Fenced { .. })), "{outcome:?}");
}

#[tokio::test]
async fn whoever_woke_too_late_begins_no_run() {
    let it = Paused::stage().await;
    refused(it.mine.begin_run(it.target.id, RunOptions::default(), NOW).await);
    it.theirs.begin_run(it.target.id, RunOptions::default(), NOW).await.unwrap();
}

#[tokio::test]
async fn whoever_woke_too_late_records_no_list_page() {
    let it = Paused::stage().await;
    refused(it.mine.record_page(page(&it.site, &it.target, it.run)).await);
    it.theirs.record_page(page(&it.site, &it.target, it.run)).await.unwrap();
}

#[tokio::test]
async fn whoever_woke_too_late_stores_no_article_and_announces_none() {
    let it = Paused::stage().await;
    refused(it.mine.record_article(it.article()).await);
    assert!(it.store.lanes().await.unwrap().iter().all(|lane| lane.lane == HOST), "it was announced");
    assert!(matches!(it.theirs.record_article(it.article()).await.unwrap(), Recorded::Stored { .. }));
}

#[tokio::test]
async fn whoever_woke_too_late_counts_no_failure() {
    let it = Paused::stage().await;
    refused(it.mine.record_failure(it.failure()).await);
    assert!(it.store.failures(it.target.id, None, 10).await.unwrap().is_empty());
    it.theirs.record_failure(it.failure()).await.unwrap();
}

#[tokio::test]
async fn whoever_woke_too_late_logs_no_request() {
    let it = Paused::stage().await;
    let log = || vec![request("https://www.gd.gov.cn/1")];
    refused(it.mine.log_requests(it.site.id, it.target.id, log()).await);
    it.theirs.log_requests(it.site.id, it.target.id, log()).await.unwrap();
}

#[tokio::test]
async fn whoever_woke_too_late_ends_no_run() {
    let it = Paused::stage().await;
    let end = || RunEnd { state: RunEndState::Done, reason: "last_page".into(), last_article_time: None };
    refused(it.mine.end_run(it.run, end(), NOW).await);
    it.theirs.end_run(it.run, end(), NOW).await.unwrap();
}

#[tokio::test]
async fn whoever_woke_too_late_writes_no_pace_and_no_breaker() {
    let it = Paused::stage().await;
    let pace = || vec![(HOST.to_owned(), HostRow::default())];
    refused(it.mine.save_hosts(pace(), NOW).await);
    it.theirs.save_hosts(pace(), NOW).await.unwrap();
}

#[tokio::test]
async fn whoever_woke_too_late_keeps_no_robots_file_and_plans_no_look() {
    let it = Paused::stage().await;
    let origin = Origin::of(&format!("https://{HOST}/").parse().unwrap()).unwrap();
    let copy = RobotsCopy::new(NOW, 200, b"User-agent: *");
    refused(it.mine.save_robots(&origin, &copy).await);
    assert!(it.store.robots(&origin).await.unwrap().is_none());
    it.theirs.save_robots(&origin, &copy).await.unwrap();
    let look = || Look {
        target: it.target.code.clone(),
        source_type: it.site.source_type(),
        since: NOW,
        now: NOW,
        new: 1,
        failed: None,
        forecast: None,
        holds: Vec::new(),
        said: None,
        zone: chrono_tz::UTC,
        random: 0.5,
    };
    refused(it.mine.record_look(look()).await);
    it.theirs.record_look(look()).await.unwrap();
}

#[tokio::test]
async fn a_shelf_writes_what_is_known_of_a_host_under_the_lease_on_it() {
    let it = Paused::stage().await;
    let shelf = Arc::new(StoreShelf::new(Arc::new(it.store.clone()), Arc::new(FixedClock::new(NOW))));
    let row = |host: &str| (host.to_owned(), HostRow { started_at: Some(NOW), ..HostRow::default() });
    let mine = shelf.entrust(HOST, it.mine.clone());
    // The row of the host is not written, and not kept for later either; that of another host is.
    assert!(HostShelf::save(&*shelf, &[row(HOST), row("www.gdqy.gov.cn")]).await);
    assert!(it.store.host(HOST).await.unwrap().is_none());
    assert!(it.store.host("www.gdqy.gov.cn").await.unwrap().is_some());
    drop(mine);
    let theirs = shelf.entrust(HOST, it.theirs.clone());
    assert!(HostShelf::save(&*shelf, &[row(HOST)]).await);
    assert!(it.store.host(HOST).await.unwrap().is_some());
    drop(theirs);
}

#[tokio::test]
async fn whoever_woke_too_late_keeps_no_version_of_the_list() {
    let it = Paused::stage().await;
    let kept = || ListValidators {
        validators: Validators::kept(String::new(), Some("\"1\"".into()), None).unwrap(),
        basis: "b".into(),
        saved_at: NOW,
    };
    refused(it.mine.keep_list_validators(it.target.id, kept()).await);
    it.theirs.keep_list_validators(it.target.id, kept()).await.unwrap();
}

#[tokio::test]
async fn whoever_woke_too_late_may_read() {
    let it = Paused::stage().await;
    assert_eq!(it.mine.waiting(it.target.id, 10).await.unwrap().len(), 1);
}

#[tokio::test]
async fn whoever_woke_too_late_has_not_done_its_job() {
    let then = vec![NewJob::new("deliver", "webhook")];
    Paused::stage().await.end_is_refused(Finish::Done { response: None, then }).await;
}

#[tokio::test]
async fn whoever_woke_too_late_has_not_failed_its_job() {
    let (class, error) = (ErrorClass::Network, "x".to_owned());
    Paused::stage().await.end_is_refused(Finish::Failed { class, error }).await;
}

#[tokio::test]
async fn whoever_woke_too_late_plans_no_retry() {
    let (class, error) = (ErrorClass::Network, "x".to_owned());
    Paused::stage().await.end_is_refused(Finish::Retry { class, error, at: NOW, hold: Hold::Job }).await;
}

#[tokio::test]
async fn whoever_woke_too_late_postpones_nothing() {
    let (until, hold, why) = (NOW, Hold::Host, "cooling".to_owned());
    Paused::stage().await.end_is_refused(Finish::Postponed { until, hold, why }).await;
}

#[tokio::test]
async fn whoever_woke_too_late_gives_nothing_back() {
    Paused::stage().await.end_is_refused(Finish::GivenBack).await;
}

#[tokio::test]
async fn whoever_woke_too_late_calls_nothing_off() {
    Paused::stage().await.end_is_refused(Finish::Cancelled).await;
}
