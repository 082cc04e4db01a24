//! A whole site behind a firewall, and one whose lists only a script makes.

use dibao_replica::{Fault, FaultRule};

use crate::bed::{Bed, articles, crawl, site};
use crate::stage::{GDQY, chromium, quick};

#[tokio::test(flavor = "multi_thread")]
async fn a_site_behind_a_firewall_is_crawled_with_one_visit_of_the_browser() {
    if !chromium().await {
        return;
    }
    let bed = Bed::new(16).await;
    let fault = Fault::Challenge { code: 412, cookie: "pass=one".into() };
    bed.replica.fault(FaultRule::new(fault).host(GDQY));
    let engine = bed.builder("data").browser(quick()).build().await.expect("an engine");
    engine.import_site_config(&site("gdqy")).await.expect("a good site file");
    let report = crawl(&engine, "gdqy__tzgg").await;
    assert_eq!((report.items_new, report.items_failed), (8, 0), "{:?}", report.failures);
    let by = |tier: &str| {
        let connection = rusqlite::Connection::open(dibao::store::database_path(&bed.data("data"))).unwrap();
        let asked = "SELECT count(*) FROM crawl_log WHERE fetch_strategy = ?1 AND http_status = 200";
        connection.query_row(asked, [tier], |row| row.get::<_, i64>(0)).unwrap()
    };
    assert_eq!(by("browser"), 1, "the first page");
    assert!(by("http") >= 8, "everything else");

    // The same site by the browser alone: the site file says so, and what its pages are to be waited for.
    let mut config = site("gdqy");
    config.default_strategy = dibao::config::Strategy::Browser;
    config.browser = Some(dibao::fetch::Rendering { wait_for: Some("body".into()), ..Default::default() });
    let engine = bed.builder("other").browser(quick()).build().await.expect("an engine");
    engine.import_site_config(&config).await.expect("a good site file");
    bed.forget();
    let report = engine.crawl("gdqy__tzgg").max_items(2).run().await.expect("a crawl");
    assert_eq!((report.items_new, report.items_failed), (2, 0), "{:?}", report.failures);
    assert_eq!(articles(&engine, "gdqy__tzgg").await.len(), 2);
}
