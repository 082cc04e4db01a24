//! Crawls through the queue: a replica, an engine, its own handlers.

#[path = "../e2e/bed.rs"]
#[allow(dead_code)]
pub mod bed;

use std::time::Duration;

use dibao::queue::{Hold, JobState, QueueEvent, WorkOptions};
use dibao::store::TargetLock;
use dibao::{CrawlJob, crawl_lane};
use dibao_replica::{Fault, FaultRule};
use futures::StreamExt;
use tokio_util::sync::CancellationToken;

use bed::{Bed, NDRC, site};

fn crawl(target: &str) -> CrawlJob {
    CrawlJob { target: target.into(), ..CrawlJob::default() }
}

#[tokio::test(flavor = "multi_thread")]
async fn targets_of_one_host_share_a_lane_and_are_crawled_once() {
    let bed = Bed::new(60).await;
    let engine = bed.engine_with("data", &site("ndrc")).await;
    let first = engine.submit_crawl(crawl("ndrc__xwfb"), 0).await.unwrap();
    let again = engine.submit_crawl(crawl("ndrc__xwfb"), 0).await.unwrap();
    assert!(first.fresh && !again.fresh && first.id == again.id, "in line already");
    let second = engine.submit_crawl(crawl("ndrc__tz"), 0).await.unwrap();
    let (site, target) = engine.store().target("ndrc__tz").await.unwrap().unwrap();
    assert_eq!(crawl_lane(&site, &target), NDRC);
    let options = WorkOptions::default();
    engine.queue().work(engine.handlers(), options, CancellationToken::new(), true).await.unwrap();
    for id in [first.id, second.id] {
        let job = engine.queue().table().job(id).await.unwrap().unwrap();
        assert_eq!((job.state, job.lane.as_str()), (JobState::Done, NDRC));
        assert!(job.response.unwrap().contains("\"failed\":0"));
    }
    let articles =
        bed::articles(&engine, "ndrc__xwfb").await.len() + bed::articles(&engine, "ndrc__tz").await.len();
    assert_eq!(articles, 60);
    let unknown = engine.submit_crawl(crawl("ndrc__nothing"), 0).await.unwrap_err();
    assert!(unknown.to_string().contains("ndrc__nothing"), "{unknown}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_host_that_is_left_alone_holds_its_jobs_back_and_says_so() {
    let bed = Bed::new(20).await;
    let engine = bed.engine_with("data", &site("ndrc")).await;
    let later = Fault::Status { code: 429, retry_after: Some("3600".into()), body: None };
    bed.replica.fault(FaultRule::new(later).path("/xwdt/"));
    let job = engine.submit_crawl(crawl("ndrc__xwfb"), 0).await.unwrap();
    let other = engine.submit_crawl(crawl("ndrc__tz"), 0).await.unwrap();
    let stop = CancellationToken::new();
    let work = engine.queue().work(engine.handlers(), WorkOptions::default(), stop.clone(), false);
    let wait = async {
        loop {
            let state = |id| engine.queue().table().job(id);
            let jobs = [state(job.id).await.unwrap().unwrap(), state(other.id).await.unwrap().unwrap()];
            if jobs.iter().all(|job| job.state == JobState::RetryWait) {
                stop.cancel();
                return jobs;
            }
            tokio::task::yield_now().await;
        }
    };
    let (worked, jobs) = tokio::join!(work, wait);
    worked.unwrap();
    let asked = bed.replica.request_count();
    for job in &jobs {
        assert!(job.hold == Some(Hold::Host) && job.attempts == 0, "{job:?}");
        assert!(job.due_at.0 - job.created_at.0 > 3_000_000, "as long as the host said");
    }
    assert!(asked <= 3, "{asked} requests: robots.txt, the refusal, and nothing after it");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_crawl_that_waits_for_its_hosts_turn_is_not_stuck() {
    let bed = Bed::new(20).await;
    let interval = Duration::from_secs(4);
    let engine = bed.builder("data").interval(Some(interval)).build().await.unwrap();
    // This loads the adapter, too: compiling it is no part of the crawl.
    engine.import_site_config(&site("ndrc")).await.unwrap();
    let job = CrawlJob { max_items: Some(1), ..crawl("ndrc__tz") };
    let id = engine.submit_crawl(job, 0).await.unwrap().id;
    // Shorter than one turn takes.
    let options = WorkOptions { no_progress: Some(interval / 2), ..WorkOptions::default() };
    let (stop, queue) = (CancellationToken::new(), engine.queue());
    let work = queue.work(engine.handlers(), options, stop.clone(), false);
    let wait = async {
        let mut events = std::pin::pin!(queue.watch());
        loop {
            let event = events.next().await;
            let Some(QueueEvent::Job { state, .. }) = event else { panic!("{event:?}") };
            if state != JobState::Running {
                break stop.cancel();
            }
        }
    };
    let (worked, ()) = tokio::join!(work, wait);
    worked.unwrap();
    let job = queue.table().job(id).await.unwrap().unwrap();
    assert_eq!((job.state, job.error), (JobState::Done, None));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lock_that_is_still_held_keeps_nobody_out_who_has_the_lease() {
    let bed = Bed::new(12).await;
    let engine = bed.engine_with("data", &site("ndrc")).await;
    // As of a worker that was paused in the midst of this crawl.
    let _held = TargetLock::try_take(&bed.data("data"), "ndrc__tz").unwrap().expect("free");
    let id = engine.submit_crawl(crawl("ndrc__tz"), 0).await.unwrap().id;
    engine
        .queue()
        .work(engine.handlers(), WorkOptions::default(), CancellationToken::new(), true)
        .await
        .unwrap();
    let job = engine.queue().table().job(id).await.unwrap().unwrap();
    assert_eq!((job.state, job.error), (JobState::Done, None));
}
