//! Conditional requests: a list that has not changed costs one request without a page. Counted at the server, which
//! answers `ETag`, `Last-Modified` and 304 as static file servers do.

use std::sync::Arc;

use dibao::Timestamp;
use dibao::clock::{Clock, FixedClock};
use dibao::config::load_site;
use dibao::crawl::StopReason;
use dibao_replica::{Fault, FaultRule, NewPost, ReplicaOptions};

use crate::bed::{Bed, NDRC, articles, counts, crawl, site, site_file};
use crate::snapshot::number;

const XWFB: &str = "ndrc__xwfb";
const LIST: &str = "/xwdt/xwfb/index.html";

async fn bed() -> Bed {
    Bed::with(ReplicaOptions { articles: 60, versions: true, ..ReplicaOptions::default() }).await
}

/// The conditional requests since the log was last forgotten, with the value of their `if-none-match`.
fn conditional(bed: &Bed) -> Vec<(String, String)> {
    let tag = |headers: &[(String, String)]| {
        headers.iter().find(|(name, _)| name == "if-none-match").map(|(_, value)| value.clone())
    };
    bed.replica.requests().into_iter().filter_map(|seen| Some((seen.path, tag(&seen.headers)?))).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_list_that_has_not_changed_costs_one_request_and_a_new_post_is_found() {
    let bed = bed().await;
    let engine = bed.engine_with("data", &site("ndrc")).await;
    let first = crawl(&engine, XWFB).await;
    assert_eq!((first.items_new, first.stop, first.pages_unchanged), (30, StopReason::LastPage, 0));
    assert!(conditional(&bed).is_empty(), "nothing is known before the first run");

    for _ in 0..2 {
        bed.forget();
        let again = crawl(&engine, XWFB).await;
        assert_eq!((counts(&again), again.stop), ((0, 0, 0, 0), StopReason::Unchanged));
        assert_eq!((again.pages, again.pages_unchanged, again.requests), (0, 1, 1));
        assert_eq!(bed.asked(), [LIST]);
        let asked = conditional(&bed);
        assert!(asked.len() == 1 && asked[0].1.starts_with("W/\""), "verbatim, weak as it is: {asked:?}");
    }
    let runs = "SELECT count(*) FROM crawl_run WHERE state = 'done' AND reason = 'unchanged' AND pages = 0";
    assert_eq!(number(&bed.data("data"), runs), 2);
    let lines = "SELECT count(*) FROM crawl_log WHERE http_status = 304 AND success AND verdict = 'ok'";
    assert_eq!(number(&bed.data("data"), lines), 2);

    let post = NewPost { title: "关于印发新政策的通知".into(), ..NewPost::default() };
    bed.replica.publish(NDRC, "xwfb", post).unwrap();
    bed.forget();
    let report = crawl(&engine, XWFB).await;
    assert_eq!((report.items_new, report.stop), (1, StopReason::EarlyStop));
    assert_eq!(conditional(&bed).len(), 1, "asked with the old version, answered with the new one");
    assert_eq!(articles(&engine, XWFB).await.len(), 31);
    assert_eq!(crawl(&engine, XWFB).await.stop, StopReason::Unchanged, "and that one is known now");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_list_is_read_whole_when_somebody_wants_it_or_reads_it_otherwise() {
    let bed = bed().await;
    let engine = bed.engine_with("data", &site("ndrc")).await;
    crawl(&engine, XWFB).await;
    // Everything was asked for.
    bed.forget();
    let forced = engine.crawl(XWFB).force(true).run().await.unwrap();
    assert_eq!((forced.stop, conditional(&bed).len()), (StopReason::LastPage, 0));
    // A preview is about rows.
    bed.forget();
    assert!(!engine.crawl(XWFB).preview().await.unwrap().rows.is_empty());
    assert!(conditional(&bed).is_empty());
    // Other settings may see other rows.
    let text = std::fs::read_to_string(site_file("ndrc")).unwrap();
    let other = bed.data("ndrc.yaml");
    std::fs::write(&other, text.replacen("max_pages: 30", "max_pages: 29", 1)).unwrap();
    engine.import_site_config(&load_site(other).unwrap()).await.unwrap();
    bed.forget();
    assert_eq!((crawl(&engine, XWFB).await.stop, conditional(&bed).len()), (StopReason::EarlyStop, 0));
    bed.forget();
    assert_eq!((crawl(&engine, XWFB).await.stop, conditional(&bed).len()), (StopReason::Unchanged, 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_waits_to_be_fetched_is_not_forgotten_for_an_unchanged_list() {
    let bed = bed().await;
    let engine = bed.engine_with("data", &site("ndrc")).await;
    let broken = Fault::Status { code: 500, retry_after: None, body: None };
    bed.replica.fault(FaultRule::new(broken).path("*/xwfb/20*.html").times(1));
    assert_eq!(crawl(&engine, XWFB).await.items_failed, 1);
    bed.forget();
    let second = crawl(&engine, XWFB).await;
    assert_eq!((second.items_new, second.stop), (1, StopReason::EarlyStop), "the failed one, then the list");
    assert!(conditional(&bed).is_empty());
    assert_eq!(crawl(&engine, XWFB).await.stop, StopReason::Unchanged);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_saw_only_a_part_of_its_list_leaves_nothing_to_compare_with() {
    let bed = bed().await;
    let engine = bed.engine_with("data", &site("ndrc")).await;
    let some = engine.crawl(XWFB).max_items(5).run().await.unwrap();
    assert_eq!((some.items_new, some.stop), (5, StopReason::MaxItems));
    bed.forget();
    crawl(&engine, XWFB).await;
    assert!(conditional(&bed).is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_version_is_compared_at_the_address_that_gave_it_behind_a_redirect() {
    let bed = bed().await;
    let engine = bed.engine_with("data", &site("ndrc")).await;
    let moved = Fault::RedirectTo { location: "/xwdt/xwfb/".into() };
    bed.replica.fault(FaultRule::new(moved).path(LIST));
    assert_eq!(crawl(&engine, XWFB).await.items_new, 30);
    bed.forget();
    assert_eq!(crawl(&engine, XWFB).await.stop, StopReason::Unchanged);
    assert_eq!(bed.asked(), [LIST, "/xwdt/xwfb/"]);
    let asked = conditional(&bed);
    assert_eq!(asked.iter().map(|(path, _)| path.as_str()).collect::<Vec<_>>(), ["/xwdt/xwfb/"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_always_says_unchanged_is_believed_for_a_day_and_robots_are_asked_with_their_version() {
    let bed = bed().await;
    let clock = Arc::new(FixedClock::new(Timestamp(1_800_000_000_000)));
    let engine = bed.builder("data").clock(clock.clone()).build().await.unwrap();
    engine.import_site_config(&site("ndrc")).await.unwrap();
    crawl(&engine, XWFB).await;
    let later = |hours: i64| clock.set(Timestamp(clock.now().0 + hours * 3_600_000));
    later(13);
    bed.forget();
    assert_eq!(crawl(&engine, XWFB).await.stop, StopReason::Unchanged);
    let asked = conditional(&bed);
    let paths: Vec<&str> = asked.iter().map(|(path, _)| path.as_str()).collect();
    assert_eq!(paths, ["/robots.txt", LIST], "both are half a day old and both are asked about");
    let said = "SELECT count(*) FROM crawl_log WHERE purpose = 'robots' AND http_status = 304";
    assert_eq!(number(&bed.data("data"), said), 1);
    later(11);
    bed.forget();
    assert_eq!(crawl(&engine, XWFB).await.stop, StopReason::EarlyStop, "a day has passed");
    assert!(conditional(&bed).iter().all(|(path, _)| path != LIST));
}
