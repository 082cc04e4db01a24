//! A firewall's page is never taken for an article, and every request is stored with what it was worth.

use dibao::ErrorClass;
use dibao_replica::{Fault, FaultRule, NewPost};

use crate::bed::{Bed, NDRC, articles, crawl, site};
use crate::snapshot::number;

const XWFB: &str = "ndrc__xwfb";

#[tokio::test(flavor = "multi_thread")]
async fn a_challenge_is_a_failure_to_try_again_and_never_an_article() {
    let bed = Bed::new(20).await;
    let engine = bed.engine_with("data", &site("ndrc")).await;
    let page = "<html><head><script>$_ts=window['$_ts'];if(!$_ts)$_ts={};$_ts.nsd=1;</script></head><body></body></html>";
    for code in [412, 200] {
        let post = bed.replica.publish(NDRC, "xwfb", NewPost::default()).unwrap();
        let path = post.url.split_once(NDRC).unwrap().1;
        let fault = Fault::Status { code, retry_after: None, body: Some(page.into()) };
        bed.replica.fault(FaultRule::new(fault).path(path));
    }
    let report = crawl(&engine, XWFB).await;
    assert_eq!((report.items_new, report.items_failed), (10, 2), "{:?}", report.failures);
    for line in &report.failures {
        assert_eq!((line.class, line.will_retry), (ErrorClass::Blocked, true), "{}", line.message);
        assert!(line.message.contains("challenge"), "{}", line.message);
    }
    let count = |what: &str| {
        number(
            &bed.data("data"),
            &format!("SELECT count(*) FROM crawl_log WHERE purpose = 'detail' AND {what}"),
        )
    };
    assert_eq!(
        (count("verdict LIKE 'challenge%' AND http_status IN (200, 412)"), count("verdict = 'ok'")),
        (2, 10)
    );
    bed.replica.clear_faults();
    assert_eq!(crawl(&engine, XWFB).await.items_new, 2);
    assert_eq!(articles(&engine, XWFB).await.len(), 12);
}
