//! Sites that want to know who asks (C9): one job signs in again; who cannot is parked, and somebody is told.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use dibao::deliver::{CredentialProvider, DELIVER};
use dibao::queue::{Job, JobQuery, JobState, WorkOptions};
use dibao::{CREDENTIAL, CrawlJob, Engine};
use dibao_replica::{Fault, FaultRule};
use futures::StreamExt as _;
use futures::future::BoxFuture;
use tokio_util::sync::CancellationToken;
use url::Url;

use super::crawls::bed::{Bed, site};
use super::receiver::Receiver;

/// Signs in at one site, if it knows how, and counts how often it was asked.
struct Door {
    cookie: Option<&'static str>,
    asked: Arc<AtomicU32>,
}

impl CredentialProvider for Door {
    fn credential(&self, name: &str) -> Result<String, String> {
        Err(format!("there is no `{name}`"))
    }

    fn sign_in<'a>(&'a self, site: &'a str, base: &'a Url) -> BoxFuture<'a, Result<Vec<String>, String>> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        assert_eq!((site, base.host_str()), ("ndrc", Some("www.ndrc.gov.cn")));
        let cookie = self.cookie.map(|cookie| vec![cookie.to_owned()]);
        Box::pin(async move { cookie.ok_or_else(|| "the password has expired".to_owned()) })
    }
}

async fn engine(bed: &Bed, door: Door) -> Engine {
    let engine = bed.builder("data").credentials(Arc::new(door)).build().await.unwrap();
    engine.import_site_config(&site("ndrc")).await.unwrap();
    engine.follow_targets().await.unwrap();
    let refused = Fault::Status { code: 401, retry_after: None, body: None };
    bed.replica.fault(FaultRule::new(refused).path("/xwdt/xwfb/"));
    engine
}

fn crawl() -> CrawlJob {
    CrawlJob { target: "ndrc__xwfb".into(), max_items: Some(3), ..CrawlJob::default() }
}

/// The one job that signs in, once it is in this state.
async fn signing_in(engine: &Engine, state: JobState, attempts: u32) -> Job {
    let mut events = std::pin::pin!(engine.queue().watch());
    loop {
        let query = JobQuery { kind: Some(CREDENTIAL.into()), ..JobQuery::default() };
        let jobs = engine.queue().table().jobs(query).await.unwrap();
        assert!(jobs.len() <= 1, "signed in twice at once: {jobs:?}");
        if let Some(job) = jobs.into_iter().find(|job| job.state == state && job.attempts == attempts) {
            return job;
        }
        let happened = tokio::time::timeout(Duration::from_secs(60), events.next()).await;
        assert!(
            happened.is_ok(),
            "nothing happens: {:?}",
            engine.queue().table().jobs(JobQuery::default()).await
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_site_that_answers_401_is_signed_in_at_once_and_its_cookies_go_along() {
    let bed = Bed::new(10).await;
    let asked = Arc::new(AtomicU32::new(0));
    let cookie = Some("session=abc; Path=/; Max-Age=3600");
    let engine = engine(&bed, Door { cookie, asked: asked.clone() }).await;
    let refused = engine.submit_crawl(crawl(), 0).await.unwrap();
    let stop = CancellationToken::new();
    let work = engine.queue().work(engine.handlers(), WorkOptions::default(), stop.clone(), false);
    let wait = async {
        let ended = engine.queue().wait(refused.id).await.unwrap().unwrap();
        assert_eq!((ended.state, ended.error_class.as_deref()), (JobState::Failed, Some("auth")));
        let signed = signing_in(&engine, JobState::Done, 1).await;
        assert_eq!(signed.response.as_deref(), Some("signed in: 1 cookies"));
        bed.replica.clear_faults();
        bed.forget();
        let again = engine.submit_crawl(crawl(), 0).await.unwrap();
        let ended = engine.queue().wait(again.id).await.unwrap().unwrap();
        assert_eq!(ended.state, JobState::Done, "{ended:?}");
        stop.cancel();
    };
    let (worked, ()) = tokio::join!(work, wait);
    worked.unwrap();
    let seen = bed.replica.requests();
    let list = seen.iter().find(|seen| seen.path.starts_with("/xwdt/xwfb/")).expect("the list was asked for");
    assert!(list.header("cookie").unwrap_or("").contains("session=abc"), "{list:?}");
    assert_eq!(asked.load(Ordering::SeqCst), 1);
    let schedule = engine.schedules().get("ndrc__xwfb").await.unwrap();
    assert!(schedule.enabled, "its source keeps its cadence");
}

#[tokio::test(flavor = "multi_thread")]
async fn after_three_failures_to_sign_in_the_sources_are_parked_and_somebody_is_told() {
    let bed = Bed::new(10).await;
    let receiver = Receiver::start("ok").await;
    std::fs::create_dir_all(bed.data("data")).unwrap();
    let text =
        format!("[channels.all]\nkind = \"webhook\"\nurl = \"{}/all\"\ntell = [\"alerts\"]\n", receiver.url);
    std::fs::write(bed.data("data").join("channels.toml"), text).unwrap();
    let asked = Arc::new(AtomicU32::new(0));
    let engine = engine(&bed, Door { cookie: None, asked: asked.clone() }).await;
    engine.submit_crawl(crawl(), 0).await.unwrap();
    let stop = CancellationToken::new();
    let work = engine.queue().work(engine.handlers(), WorkOptions::default(), stop.clone(), false);
    let wait = async {
        for attempt in 1..3 {
            let waits = signing_in(&engine, JobState::RetryWait, attempt).await;
            assert!(engine.schedules().get("ndrc__xwfb").await.unwrap().enabled, "after {attempt}");
            // What would be in five minutes, now.
            engine.queue().retry(waits.id).await.unwrap();
        }
        let ended = signing_in(&engine, JobState::Failed, 3).await;
        assert!(ended.error.unwrap().contains("the password has expired"));
        let query = JobQuery { kind: Some(DELIVER.into()), ..JobQuery::default() };
        let told = engine.queue().table().jobs(query).await.unwrap().remove(0);
        assert_eq!(engine.queue().wait(told.id).await.unwrap().unwrap().state, JobState::Done);
        stop.cancel();
    };
    let (worked, ()) = tokio::join!(work, wait);
    worked.unwrap();
    assert_eq!(asked.load(Ordering::SeqCst), 3);
    for target in ["ndrc__tz", "ndrc__xwfb"] {
        let parked = engine.schedules().get(target).await.unwrap();
        assert!(!parked.enabled && parked.next_due_at.is_none());
        assert!(parked.off_why.unwrap().contains("the password has expired"));
    }
    // Reconciling does not undo it; whoever has mended it does.
    engine.reconcile().await.unwrap();
    assert!(!engine.schedules().get("ndrc__xwfb").await.unwrap().enabled);
    assert!(engine.schedules().resume("ndrc__xwfb").await.unwrap().enabled);
    let told = receiver.heard();
    assert_eq!(told.len(), 1);
    assert!(String::from_utf8_lossy(&told[0].body).contains("the password has expired"));
}
