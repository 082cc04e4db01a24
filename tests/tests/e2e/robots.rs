//! robots.txt: what it forbids is never asked for; counted at the server.

use std::sync::Arc;
use std::time::Duration;

use dibao::clock::FixedClock;
use dibao::crawl::RobotsUse;
use dibao::{ErrorClass, Timestamp};
use dibao_replica::{Fault, FaultRule, NewPost};

use crate::bed::{Bed, NDRC, articles, crawl, site};
use crate::snapshot::number;

const XWFB: &str = "ndrc__xwfb";

/// The site's robots.txt from now on.
fn robots(bed: &Bed, text: &str) -> u64 {
    let fault = Fault::Status { code: 200, retry_after: None, body: Some(text.into()) };
    bed.replica.fault(FaultRule::new(fault).path("/robots.txt"))
}

fn asked_for_robots(bed: &Bed) -> usize {
    bed.asked().iter().filter(|path| *path == "/robots.txt").count()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_robots_forbids_is_not_asked_for_and_given_up_with_the_rule() {
    let bed = Bed::new(20).await;
    let post = bed.replica.publish(NDRC, "xwfb", NewPost::default()).unwrap();
    let path = post.url.split_once(NDRC).unwrap().1;
    robots(&bed, &format!("User-agent: dibao\nDisallow: {path}\n\nUser-agent: *\nDisallow: /\n"));
    let engine = bed.engine_with("data", &site("ndrc")).await;
    for failed in [1, 0] {
        let report = crawl(&engine, XWFB).await;
        assert_eq!((report.items_failed, report.robots), (failed, RobotsUse::Respected));
        for line in &report.failures {
            assert_eq!((line.class, line.will_retry), (ErrorClass::Blocked, false));
            let rule = format!("line 2: Disallow: {path}");
            assert!(
                line.message.contains(&rule) && line.message.contains("respect_robots"),
                "{}",
                line.message
            );
        }
    }
    assert_eq!(articles(&engine, XWFB).await.len(), 10, "the others are stored");
    assert!(!bed.asked().iter().any(|asked| asked == path));
    assert_eq!(asked_for_robots(&bed), 1, "one question serves two runs");
    let logged = "SELECT count(*) FROM crawl_log WHERE purpose = 'robots' AND http_status = 200";
    assert_eq!(number(&bed.data("data"), logged), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_redirect_to_a_forbidden_page_ends_before_it() {
    let bed = Bed::new(20).await;
    let engine = bed.engine_with("data", &site("ndrc")).await;
    let away = Fault::RedirectTo { location: "/search/all.html".into() };
    bed.replica.fault(FaultRule::new(away).path("*/xwfb/20*.html").times(1));
    let report = crawl(&engine, XWFB).await;
    assert_eq!(report.items_failed, 1);
    assert!(report.failures[0].message.contains("Disallow: /search/"), "{}", report.failures[0].message);
    assert!(!bed.asked().iter().any(|path| path.starts_with("/search/")));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_site_that_says_so_is_read_without_robots_and_the_report_tells() {
    let bed = Bed::new(20).await;
    robots(&bed, "User-agent: *\nDisallow: /\n");
    let mut config = site("ndrc");
    let engine = bed.engine_with("data", &config).await;
    let error = engine.crawl(XWFB).run().await.unwrap_err();
    assert!(error.to_string().contains("line 2: Disallow: /"), "{error}");
    config.respect_robots = false;
    engine.import_site_config(&config).await.unwrap();
    let report = crawl(&engine, XWFB).await;
    assert_eq!((report.items_new, report.robots), (10, RobotsUse::Bypassed));
    assert_eq!(asked_for_robots(&bed), 1, "only the run that respects it asked");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_robots_that_cannot_be_read_leaves_the_last_good_copy_in_force() {
    let bed = Bed::new(20).await;
    let hour = 3_600_000;
    let clock = Arc::new(FixedClock::new(Timestamp(1_800_000_000_000)));
    let first = robots(&bed, "User-agent: *\nDisallow: /xwdt/xwfb/20\n");
    let open = async || {
        let engine = bed.builder("data").clock(clock.clone()).build().await.unwrap();
        engine.import_site_config(&site("ndrc")).await.unwrap();
        engine
    };
    assert_eq!(crawl(&open().await, XWFB).await.items_failed, 10);
    bed.replica.remove_fault(first);
    let challenge = "<html><head><script>var _0x1=document.cookie;$_ts=window['$_ts'];</script></head><body></body></html>";
    for (fault, hours) in [
        (Fault::Status { code: 503, retry_after: None, body: None }, 13),
        (Fault::Reset, 14),
        (Fault::Status { code: 412, retry_after: None, body: Some(challenge.into()) }, 15),
    ] {
        clock.set(Timestamp(1_800_000_000_000 + hours * hour));
        let name = format!("{fault:?}");
        let fault = bed.replica.fault(FaultRule::new(fault).path("/robots.txt"));
        bed.replica.publish(NDRC, "xwfb", NewPost::default()).unwrap();
        // A new engine each time: the copy is in the store.
        let report = crawl(&open().await, XWFB).await;
        assert_eq!((report.items_new, report.items_failed), (0, 1), "{name}");
        bed.replica.remove_fault(fault);
    }
    assert_eq!(asked_for_robots(&bed), 4);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_crawl_delay_raises_the_pace() {
    let bed = Bed::new(8).await;
    robots(&bed, "User-agent: *\nCrawl-delay: 0.15\n");
    let engine = bed.engine_with("data", &site("xinhua")).await; // the engine itself would not wait at all
    crawl(&engine, "xinhua__zxbd").await;
    let times: Vec<Duration> = bed.replica.requests().into_iter().map(|seen| seen.at).collect();
    assert!(times.len() >= 5, "{times:?}");
    let slack = Duration::from_millis(20);
    let total = *times.last().unwrap() - times[0] + slack;
    assert!(total >= Duration::from_millis(150) * (times.len() as u32 - 1), "{times:?}");
}
