//! A run that was stopped or died goes on where it stood, even when the list has moved meanwhile.

use dibao::crawl::StopReason;
use dibao::{CrawlEvent, Streamed};
use dibao_replica::{Fault, FaultRule, NewPost};
use futures::StreamExt as _;
use tokio_util::sync::CancellationToken;

use crate::bed::{Bed, NDRC, articles, crawl, site, site_file};
use crate::program::Program;

const XWFB: &str = "ndrc__xwfb";

fn list_pages(asked: &[String]) -> Vec<&str> {
    asked.iter().filter_map(|path| path.strip_prefix("/xwdt/xwfb/index")).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_backfill_resumes_on_its_page() {
    let bed = Bed::new(240).await; // 120 rows: pages of 25
    let file = site_file("ndrc");
    let what = [file.to_str().unwrap(), "--column", "xwfb", "--force"];
    // Held in the midst of the third page's articles.
    let hold = bed.replica.fault(FaultRule::new(Fault::Hold).path("*/xwfb/20*.html").skip(60));
    let program = Program::crawl(&bed, &bed.data("data"), &what);
    bed.replica.wait_for(61, |seen| seen.path.contains("/xwfb/20") && seen.path.ends_with("html")).await;
    program.kill().await;
    bed.replica.remove_fault(hold);
    assert_eq!(list_pages(&bed.asked()), [".html", "_1.html", "_2.html"]);
    bed.forget();
    assert!(Program::crawl(&bed, &bed.data("data"), &what).end().await.success());
    let asked = bed.asked();
    // On from the fourth page to the end; then one look at the top for what is new since.
    assert_eq!(list_pages(&asked)[..2], ["_3.html", "_4.html"], "{asked:?}");
    assert_eq!(list_pages(&asked).iter().filter(|page| **page == ".html").count(), 1);
    assert!(!list_pages(&asked).contains(&"_1.html"), "{:?}", list_pages(&asked));
    let engine = bed.engine("data").await;
    assert_eq!(articles(&engine, XWFB).await.len(), 120);
}

/// Crawls until so many articles are stored, then asks it to stop.
async fn stop_after(engine: &dibao::Engine, wanted: usize) {
    let stop = CancellationToken::new();
    let mut events = std::pin::pin!(engine.crawl(XWFB).cancel_with(stop.clone()).stream());
    let mut stored = 0;
    while let Some(streamed) = events.next().await {
        match streamed.unwrap() {
            Streamed::Event(CrawlEvent::Stored(_)) => stored += 1,
            Streamed::Report(report) => assert_eq!(report.stop, StopReason::Cancelled),
            _ => {}
        }
        if stored == wanted {
            stop.cancel();
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn posts_published_while_a_backfill_was_down_do_not_end_it() {
    let bed = Bed::new(240).await;
    let engine = bed.engine_with("data", &site("ndrc")).await;
    stop_after(&engine, 50).await;
    // The list moves by six rows: page three now begins with more rows that this very run has stored than
    // end a run on any list.
    for _ in 0..6 {
        bed.replica.publish(NDRC, "xwfb", NewPost::default()).unwrap();
    }
    let report = crawl(&engine, XWFB).await;
    assert!(report.resumed);
    assert_eq!(articles(&engine, XWFB).await.len(), 126, "all of history and what is new");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_site_that_is_down_when_a_backfill_resumes_does_not_cost_its_history() {
    let bed = Bed::new(240).await;
    let engine = bed.engine_with("data", &site("ndrc")).await;
    stop_after(&engine, 50).await;
    for fault in [Fault::Reset, Fault::Status { code: 503, retry_after: None, body: None }] {
        let down = bed.replica.fault(FaultRule::new(fault).host(NDRC));
        for _ in 0..2 {
            // The list cannot be read, or the host is given up while what was left over is fetched.
            let end = engine.crawl(XWFB).run().await;
            assert!(end.is_err() || end.is_ok_and(|report| report.stop == StopReason::Cooldown));
        }
        bed.replica.remove_fault(down);
        engine.gate().hosts().reset(NDRC);
    }
    crawl(&engine, XWFB).await;
    assert_eq!(articles(&engine, XWFB).await.len(), 120);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_list_that_breaks_off_half_way_is_read_to_its_end_by_a_later_run() {
    let bed = Bed::new(240).await;
    let engine = bed.engine_with("data", &site("ndrc")).await;
    // Nothing to try again, as far as anybody can tell: our own rules forbid where the page leads.
    let away = Fault::RedirectTo { location: "http://10.0.0.1/".into() };
    let down = bed.replica.fault(FaultRule::new(away).path("/xwfb/index_2.html"));
    engine.crawl(XWFB).run().await.unwrap_err();
    assert_eq!(articles(&engine, XWFB).await.len(), 50);
    bed.replica.remove_fault(down);
    let report = crawl(&engine, XWFB).await;
    assert_eq!(articles(&engine, XWFB).await.len(), 120);
    assert_eq!(report.stop, StopReason::LastPage);
    assert_eq!(crawl(&engine, XWFB).await.stop, StopReason::EarlyStop, "and then runs are short again");
}
