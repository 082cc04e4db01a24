//! Manners: one request at a time per host, with room between them, and every one of them in the log.

use std::time::Duration;

use dibao::clock::SystemClock;
use dibao::fetch::breaker::{Breaker, Why};
use dibao::fetch::hosts::HostRow;
use dibao::{Clock as _, Timestamp};
use dibao_replica::{Fault, FaultRule};
use futures::StreamExt as _;

use crate::bed::{Bed, NDRC, crawl, site};
use crate::snapshot::{number, open};

#[tokio::test(flavor = "multi_thread")]
async fn the_log_has_one_row_per_request() {
    let bed = Bed::new(120).await;
    let engine = bed.engine_with("data", &site("ndrc")).await;
    bed.replica.fault(FaultRule::new(Fault::Reset).path("*/xwfb/20*.html").skip(4).times(2));
    bed.replica.fault(
        FaultRule::new(Fault::Status { code: 404, retry_after: None, body: None }).path("/P0").times(2),
    );
    for target in ["ndrc__xwfb", "ndrc__tz", "ndrc__xwfb"] {
        let before = (bed.replica.request_count(), rows(&bed));
        let report = crawl(&engine, target).await;
        let asked = bed.replica.request_count() - before.0;
        assert_eq!(rows(&bed) - before.1, asked as i64, "{target}");
        assert_eq!(u64::from(report.requests), asked, "{target}: and the report counts them");
    }
    let logged: Vec<String> = {
        let db = open(&bed.data("data"));
        let mut query = db.prepare("SELECT url FROM crawl_log").unwrap();
        query.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
    };
    let mut logged: Vec<&str> = logged.iter().map(|url| url.split_once(NDRC).unwrap().1).collect();
    let asked = bed.asked();
    let mut asked: Vec<&str> = asked.iter().map(String::as_str).collect();
    logged.sort_unstable();
    asked.sort_unstable();
    assert_eq!(logged, asked);
}

#[tokio::test(flavor = "multi_thread")]
async fn every_hop_of_a_redirect_is_in_the_log() {
    let bed = Bed::new(20).await;
    let engine = bed.engine_with("data", &site("ndrc")).await;
    let there = Fault::RedirectTo { location: "/xwdt/xwfb/index_1.html".into() };
    bed.replica.fault(FaultRule::new(there).path("*/xwfb/20*.html").times(1));
    bed.replica.fault(FaultRule::new(Fault::RedirectLoop).path("*/xwfb/20*.html").skip(1).times(1));
    crawl(&engine, "ndrc__xwfb").await;
    assert_eq!(rows(&bed), bed.replica.request_count() as i64);
    assert!(number(&bed.data("data"), "SELECT count(*) FROM crawl_log WHERE http_status = 302") >= 1);
}

fn rows(bed: &Bed) -> i64 {
    number(&bed.data("data"), "SELECT count(*) FROM crawl_log")
}

#[tokio::test(flavor = "multi_thread")]
async fn two_columns_of_one_host_never_have_two_requests_under_way() {
    let bed = Bed::new(40).await; // Xinhua's posts have no files
    let engine = bed.engine_with("data", &site("xinhua")).await;
    bed.replica.fault(FaultRule::new(Fault::Delay { ms: 3 }));
    let (a, b) = tokio::join!(crawl(&engine, "xinhua__zxbd"), crawl(&engine, "xinhua__tech"));
    assert_eq!(a.items_new + b.items_new, 40);
    assert_eq!(bed.replica.peak("www.news.cn"), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_wait_for_each_other_also_where_files_come_two_at_a_time() {
    let bed = Bed::new(40).await;
    let engine = bed.engine_with("data", &site("ndrc")).await;
    bed.replica.fault(FaultRule::new(Fault::Delay { ms: 3 }));
    tokio::join!(crawl(&engine, "ndrc__xwfb"), crawl(&engine, "ndrc__tz"));
    assert!(bed.replica.peak(NDRC) <= 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn more_at_once_only_where_the_site_file_says_so() {
    let bed = Bed::new(40).await;
    let mut config = site("xinhua");
    config.concurrency = Some(3);
    let engine = bed.engine_with("data", &config).await;
    let hold = bed.replica.fault(FaultRule::new(Fault::Hold).path("/c.html"));
    let run = tokio::spawn(engine.crawl("xinhua__zxbd").run());
    // Three have arrived and none was answered: that is three at once.
    bed.replica.wait_for(3, |seen| seen.path.ends_with("/c.html")).await;
    bed.replica.remove_fault(hold);
    run.await.unwrap().unwrap();
    assert!(bed.replica.peak("www.news.cn") <= 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_interval_lies_between_any_two_requests() {
    let bed = Bed::new(8).await;
    let interval = Duration::from_millis(60);
    // The site file's own interval, in a file of a site; no word of the engine's overrules it.
    let mut config = site("ndrc");
    (config.interval_sec, config.interval_jitter_sec) = (Some(interval.as_secs_f64()), Some(0.0));
    let engine = bed.builder("data").interval(None).build().await.unwrap();
    engine.import_site_config(&config).await.unwrap();
    tokio::join!(crawl(&engine, "ndrc__xwfb"), crawl(&engine, "ndrc__tz"));
    let times: Vec<Duration> = bed.replica.requests().into_iter().map(|seen| seen.at).collect();
    assert!(times.len() >= 10);
    // Between starts; what arrives may be a little closer together than what was sent.
    let slack = Duration::from_millis(20);
    let total = *times.last().unwrap() - times[0] + slack;
    assert!(total >= interval * (times.len() as u32 - 1), "{total:?} for {} requests", times.len());
}

#[tokio::test(flavor = "multi_thread")]
async fn engines_that_share_a_store_keep_the_interval_between_them() {
    let bed = Bed::new(8).await;
    let interval = Duration::from_millis(1000);
    let mut engines = Vec::new();
    for _ in 0..3 {
        engines.push(bed.builder("data").interval(Some(interval)).build().await.unwrap());
    }
    let page = || format!("https://{NDRC}/xwdt/xwfb/index.html").parse().unwrap();
    let asking = engines.iter().map(|engine| async {
        for _ in 0..2 {
            engine.look_up(page(), None).await.unwrap().result.unwrap();
        }
    });
    futures::future::join_all(asking).await;
    let times: Vec<Duration> = bed.replica.requests().into_iter().map(|seen| seen.at).collect();
    assert!(times.len() >= 6, "{times:?}");
    // Between starts; what arrives may be a little closer together than what was sent.
    for pair in times.windows(2) {
        assert!(pair[1] - pair[0] >= interval * 7 / 10, "{times:?}");
    }
    let total = *times.last().unwrap() - times[0] + interval * 3 / 10;
    assert!(total >= interval * (times.len() as u32 - 1), "{times:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn engines_that_share_a_store_send_one_probe_between_them() {
    let bed = Bed::new(8).await;
    let page = || format!("https://{NDRC}/xwdt/xwfb/index.html").parse().unwrap();
    let first = bed.engine("data").await;
    first.look_up(page(), None).await.unwrap().result.unwrap();
    // An opening that is over: the next request is the probe.
    let now = SystemClock.now();
    let mut row = HostRow { breaker_at: Timestamp(now.0 - 300_000), seen_at: now, ..HostRow::default() };
    row.breaker = Breaker {
        net_failures: 3,
        any_failures: 3,
        trips: 1,
        open_until: Some(Timestamp(now.0 - 1)),
        why: Some(Why::Network),
        ..Breaker::default()
    };
    row.reset_at = Some(Timestamp(now.0 - 300_000));
    first.store().save_hosts(vec![(NDRC.to_owned(), row)], now).await.unwrap();
    let mut engines = Vec::new();
    for _ in 0..4 {
        engines.push(bed.engine("data").await);
    }
    bed.forget();
    let hold = bed.replica.fault(FaultRule::new(Fault::Hold));
    let mut asking: futures::stream::FuturesUnordered<_> =
        engines.iter().map(|engine| async { engine.look_up(page(), None).await.unwrap().result }).collect();
    // All but the one that the host has not answered are told to wait.
    for _ in 1..engines.len() {
        let error = asking.next().await.unwrap().unwrap_err();
        assert!(error.to_string().contains("a probe is under way"), "{error}");
    }
    tokio::select! {
        _ = bed.replica.wait_for(1, |_| true) => {}
        answer = asking.next() => panic!("nobody was to answer: {answer:?}"),
    }
    assert_eq!(bed.asked().len(), 1, "{:?}", bed.asked());
    bed.replica.remove_fault(hold);
    asking.next().await.unwrap().unwrap();
    drop(asking);
    // It closes the breaker for all of them.
    for engine in &engines {
        engine.look_up(page(), None).await.unwrap().result.unwrap();
    }
}
