//! Manners: one request at a time per host, with room between them, and every one of them in the log.

use std::time::Duration;

use dibao_replica::{Fault, FaultRule};

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
