//! Limits, and looking without touching.

use dibao::crawl::StopReason;

use crate::bed::{Bed, articles, crawl, site};
use crate::snapshot::{number, tree};

const XWFB: &str = "ndrc__xwfb";

#[tokio::test(flavor = "multi_thread")]
async fn max_items_are_the_first_rows_of_the_list() {
    let bed = Bed::new(240).await;
    let engine = bed.engine_with("data", &site("ndrc")).await;
    let listed = engine.crawl(XWFB).max_items(30).preview().await.unwrap();
    let report = engine.crawl(XWFB).max_items(30).run().await.unwrap();
    assert_eq!((report.items_seen, report.items_new, report.stop), (30, 30, StopReason::MaxItems));
    assert_eq!(report.pages, 2);
    let stored: Vec<String> = articles(&engine, XWFB).await.into_iter().map(|article| article.url).collect();
    let rows: Vec<String> = listed.rows.into_iter().map(|row| row.entry.url).collect();
    assert_eq!(stored, rows);
}

#[tokio::test(flavor = "multi_thread")]
async fn no_more_list_pages_are_read_than_the_site_file_allows() {
    let bed = Bed::new(240).await;
    let mut config = site("ndrc");
    config.columns[0].pagination.as_mut().unwrap().max_pages = Some(2);
    let engine = bed.engine_with("data", &config).await;
    let report = crawl(&engine, XWFB).await;
    assert_eq!((report.pages, report.items_new), (2, 50));
    assert!(!bed.asked().iter().any(|path| path.contains("index_2")));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dry_run_asks_for_lists_only_and_stores_nothing() {
    let bed = Bed::new(120).await;
    let engine = bed.engine_with("data", &site("ndrc")).await;
    let before = tree(&bed.data("data"));
    let preview = engine.crawl(XWFB).preview().await.unwrap();
    assert_eq!(preview.rows.len(), 60);
    assert_eq!(preview.requests.len() as u64, bed.replica.request_count());
    let lists = |path: &String| path.starts_with("/xwdt/xwfb/index");
    let other: Vec<String> = bed.asked().into_iter().filter(|path| !lists(path)).collect();
    assert_eq!(other, ["/robots.txt"], "permission is asked for before a dry run, too");
    for table in ["article", "entry", "crawl_run", "crawl_log", "attachment"] {
        let count = number(&bed.data("data"), &format!("SELECT count(*) FROM {table}"));
        assert_eq!(count, 0, "{table}");
    }
    assert_eq!(tree(&bed.data("data")), before);
}
