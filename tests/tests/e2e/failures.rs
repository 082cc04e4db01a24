//! One article's failure never ends a run: the ledger names it, and the next run tries again what may heal.

use std::time::Duration;

use dibao::ErrorClass;
use dibao::fetch::Timeouts;
use dibao::model::{ArticleStatus, DownloadStatus};
use dibao_replica::{Fault, FaultRule, NewPost};

use crate::bed::{Bed, NDRC, articles, crawl, site};

const XWFB: &str = "ndrc__xwfb";

fn status(code: u16) -> Fault {
    Fault::Status { code, retry_after: None, body: None }
}

fn redirect(location: &str) -> Fault {
    Fault::RedirectTo { location: location.into() }
}

/// Timeouts so short that a dripping body meets them soon; loopback answers within them.
fn hasty() -> Timeouts {
    let short = Duration::from_millis(1500);
    Timeouts { connect: short, read: short, total: short, download: short }
}

async fn engine(bed: &Bed) -> dibao::Engine {
    let builder = bed.builder("data").gate(|gate| {
        gate.timeouts = hasty();
        gate.body_cap = 2 << 20;
    });
    let engine = builder.build().await.unwrap();
    engine.import_site_config(&site("ndrc")).await.unwrap();
    engine
}

/// The path of a new post with this title.
fn publish(bed: &Bed, attachments: usize) -> String {
    let post = bed.replica.publish(NDRC, "xwfb", NewPost { attachments, ..NewPost::default() }).unwrap();
    post.url.split_once(NDRC).unwrap().1.to_string()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_article_that_fails_is_named_and_tried_again_only_if_that_may_help() {
    use ErrorClass::{Blocked, Gone, Network, Server};
    let table = [
        (Fault::Reset, Network, true),
        (Fault::Truncate, Network, true),
        (Fault::WrongLength { delta: 1000 }, Network, true),
        (status(404), Gone, false),
        (status(410), Gone, false),
        (status(503), Server, true),
        (Fault::SlowDrip { interval_ms: 40 }, Network, true),
        (redirect("http://10.0.0.1/admin"), Blocked, false),
        (redirect("http://169.254.169.254/latest/meta-data/"), Blocked, false),
        (redirect("https://[::ffff:127.0.0.1]/"), Blocked, false),
    ];
    let bed = Bed::new(20).await;
    let engine = engine(&bed).await;
    let strikes: Vec<_> = table
        .iter()
        .map(|(fault, class, again)| {
            let path = publish(&bed, 0);
            bed.replica.fault(FaultRule::new(fault.clone()).path(&path));
            // A good page between two bad ones: a host with several failures in a row is left alone.
            publish(&bed, 0);
            (path, fault, *class, *again)
        })
        .collect();
    let report = crawl(&engine, XWFB).await;
    assert_eq!((report.items_new as usize, report.items_failed as usize), (10 + table.len(), table.len()));
    for (path, fault, class, again) in &strikes {
        let line = report.failures.iter().find(|line| line.url.ends_with(path));
        let line = line.unwrap_or_else(|| panic!("{fault:?} is not in the ledger"));
        assert_eq!((line.class, line.will_retry), (*class, *again), "{fault:?}: {}", line.message);
    }
    let target = engine.store().target(XWFB).await.unwrap().unwrap().1;
    let ledger = engine.store().failures(target.id, Some(report.run_id), 100).await.unwrap();
    assert_eq!(ledger.len(), table.len(), "the store keeps the ledger");

    bed.replica.clear_faults();
    bed.forget();
    let next = crawl(&engine, XWFB).await;
    let healed = strikes.iter().filter(|(_, _, _, again)| *again).count();
    assert_eq!((next.items_new as usize, next.items_failed), (healed, 0));
    let asked = bed.asked();
    for (path, fault, _, again) in &strikes {
        assert_eq!(asked.contains(path), *again, "{fault:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_article_that_would_flood_us_is_cut_off_and_the_run_goes_on() {
    let bed = Bed::new(20).await;
    let engine = engine(&bed).await;
    let floods =
        [Fault::HugeBody { bytes: 100 << 20 }, Fault::GzipBomb { bytes: 128 << 20 }, Fault::RedirectLoop];
    for fault in &floods {
        let path = publish(&bed, 0);
        bed.replica.fault(FaultRule::new(fault.clone()).path(path));
    }
    let report = crawl(&engine, XWFB).await;
    assert_eq!((report.items_new, report.items_failed), (10, 3));
    let messages: Vec<&str> = report.failures.iter().map(|line| line.message.as_str()).collect();
    assert_eq!(messages.iter().filter(|text| text.contains("larger than")).count(), 2, "{messages:?}");
    assert!(messages.iter().any(|text| text.contains("redirects run in a circle")), "{messages:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_attachment_that_fails_leaves_its_article_ready() {
    let table = [
        Fault::Reset,
        Fault::Truncate,
        Fault::WrongLength { delta: 1000 },
        status(404),
        status(503),
        Fault::SlowDrip { interval_ms: 40 },
        redirect("http://10.0.0.1/x.pdf"),
        Fault::RedirectLoop,
        Fault::HtmlForFile,
    ];
    let bed = Bed::new(20).await;
    let engine = engine(&bed).await;
    let mut paths = Vec::new();
    for fault in &table {
        let path = publish(&bed, 2);
        // The first of its two files, by the post's number.
        let number = path.rsplit_once('_').unwrap().1.trim_end_matches(".html");
        bed.replica.fault(FaultRule::new(fault.clone()).path(format!("{number}0.pdf")));
        paths.push(path);
    }
    let report = crawl(&engine, XWFB).await;
    assert_eq!((report.items_failed, report.attachments_failed as usize), (0, table.len()));
    let stored = articles(&engine, XWFB).await;
    for (path, fault) in paths.iter().zip(&table) {
        let article = stored.iter().find(|article| article.url.ends_with(path)).unwrap();
        assert_eq!(article.status, ArticleStatus::Ready, "{fault:?}");
        let [first, second] = &article.attachments[..] else { panic!("{:?}", article.attachments) };
        assert_eq!(
            (first.status, second.status),
            (DownloadStatus::Failed, DownloadStatus::Done),
            "{fault:?}"
        );
        assert!(first.error.as_ref().is_some_and(|why| !why.is_empty()), "{fault:?}");
        assert_eq!((&first.file_path, &first.sha256), (&None, &None), "{fault:?}");
    }
    assert_eq!(engine.store().check().await.unwrap(), Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_list_that_cannot_be_read_is_an_error_and_earlier_articles_stay() {
    let bed = Bed::new(20).await;
    let engine = engine(&bed).await;
    crawl(&engine, XWFB).await;
    for fault in [Fault::EmptyList, status(503), status(404), Fault::Reset] {
        let rule = bed.replica.fault(FaultRule::new(fault.clone()).path("/xwfb/index.html"));
        let error = engine.crawl(XWFB).run().await.expect_err("no list");
        assert!(!error.to_string().is_empty(), "{fault:?}");
        bed.replica.remove_fault(rule);
    }
    assert_eq!(articles(&engine, XWFB).await.len(), 10);
    assert_eq!(crawl(&engine, XWFB).await.items_failed, 0);
}
