//! Incremental runs: the first known article is the border of history, and three things only look like it.

use dibao::crawl::StopReason;
use dibao_replica::NewPost;

use crate::bed::{Bed, NDRC, articles, counts, crawl, site};

const XWFB: &str = "ndrc__xwfb";
const TZ: &str = "ndrc__tz";

fn post(title: &str) -> NewPost {
    NewPost { title: title.into(), ..NewPost::default() }
}

/// Which of the requests were for articles.
fn details(asked: &[String]) -> Vec<&String> {
    asked.iter().filter(|path| path.contains("/t20")).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_next_run_stops_at_the_first_known_article() {
    let bed = Bed::new(120).await;
    let engine = bed.engine_with("data", &site("govcn")).await;
    let first = crawl(&engine, "govcn__zuixin").await;
    assert_eq!((first.items_new, first.stop), (60, StopReason::LastPage));
    bed.forget();
    let second = crawl(&engine, "govcn__zuixin").await;
    assert_eq!((counts(&second), second.stop), ((1, 0, 1, 0), StopReason::EarlyStop));
    assert_eq!(bed.asked(), ["/zhengce/zuixin/home.htm"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_list_that_may_have_pins_is_read_three_known_rows_deep() {
    let bed = Bed::new(120).await;
    let engine = bed.engine_with("data", &site("ndrc")).await;
    crawl(&engine, XWFB).await;
    bed.forget();
    let second = crawl(&engine, XWFB).await;
    assert_eq!((counts(&second), second.stop), ((3, 0, 3, 0), StopReason::EarlyStop));
    assert_eq!(bed.asked(), ["/xwdt/xwfb/index.html"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_post_is_all_that_the_next_run_fetches() {
    let bed = Bed::new(120).await;
    let engine = bed.engine_with("data", &site("ndrc")).await;
    crawl(&engine, XWFB).await;
    let published = bed.replica.publish(NDRC, "xwfb", post("关于印发新政策的通知")).unwrap();
    bed.forget();
    let report = crawl(&engine, XWFB).await;
    assert_eq!((report.items_new, report.stop), (1, StopReason::EarlyStop));
    let asked = bed.asked();
    assert_eq!(asked.len(), 2, "{asked:?}");
    assert!(published.url.ends_with(&asked[1]));
    let newest = articles(&engine, XWFB).await.pop().unwrap();
    assert_eq!(
        (newest.title.as_str(), newest.url.as_str()),
        ("关于印发新政策的通知", published.url.as_str())
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pinned_old_post_does_not_end_the_run() {
    let bed = Bed::new(120).await;
    let engine = bed.engine_with("data", &site("ndrc")).await;
    let first = crawl(&engine, TZ).await;
    assert_eq!(first.items_new, 61, "60 of its own and the one it shares");
    bed.replica.publish(NDRC, "tz", post("置顶之下的新通知")).unwrap();
    let report = crawl(&engine, TZ).await;
    assert_eq!((report.items_new, report.stop), (1, StopReason::EarlyStop));
    assert_eq!(articles(&engine, TZ).await.pop().unwrap().title, "置顶之下的新通知");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_post_in_two_columns_is_stored_once_and_the_second_column_goes_on() {
    let bed = Bed::new(120).await;
    let engine = bed.engine_with("data", &site("ndrc")).await;
    let first = crawl(&engine, XWFB).await;
    let preview = engine.crawl(TZ).preview().await.unwrap();
    let of_other: Vec<_> = preview
        .rows
        .iter()
        .filter(|row| serde_json::to_value(row.decision).unwrap() == "duplicate_other_target")
        .collect();
    assert_eq!(of_other.len(), 1);
    bed.forget();
    let second = crawl(&engine, TZ).await;
    // The pinned post is listed twice, the shared one is known: neither ends the run.
    assert_eq!((counts(&second), second.stop), ((62, 60, 2, 0), StopReason::LastPage));
    assert_eq!(first.items_new + second.items_new, 120);
    let asked = bed.asked();
    assert_eq!(details(&asked).len(), 60);
    assert!(
        !asked.iter().any(|path| of_other[0].entry.url.ends_with(path)),
        "the shared post is not asked again"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn force_reads_the_whole_list_and_fetches_nothing_twice() {
    let bed = Bed::new(120).await;
    let engine = bed.engine_with("data", &site("ndrc")).await;
    crawl(&engine, XWFB).await;
    bed.forget();
    let report = engine.crawl(XWFB).force(true).run().await.unwrap();
    assert_eq!((counts(&report), report.stop), ((60, 0, 60, 0), StopReason::LastPage));
    let asked = bed.asked();
    assert_eq!(details(&asked), Vec::<&String>::new());
    assert!(asked.len() >= 3, "all list pages: {asked:?}");
}
