//! A copy that is made while a crawl writes is whole, and comes back as a store.

use dibao::desk::{Actor, Paging, SearchQuery};
use dibao::store::{ArticleQuery, restore};
use futures::StreamExt;

use crate::bed::{Bed, articles, site};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_copy_of_a_store_that_is_being_written_is_whole() {
    let bed = Bed::new(150).await;
    let engine = bed.engine_with("d", &site("ndrc")).await;
    let mut events = Box::pin(engine.crawl("ndrc__tz").stream());
    // The crawl is in its midst: some articles are stored, more are on their way.
    for _ in 0..20 {
        events.next().await.expect("it goes on").expect("the replica answers");
    }
    let rest = tokio::spawn(async move { while events.next().await.is_some() {} });
    let copy = bed.data("copy");
    let made = engine.backup(&copy).await.expect("a copy");
    rest.await.unwrap();
    let all = articles(&engine, "ndrc__tz").await.len() as u64;
    assert!(made.articles > 0 && made.articles <= all, "{made:?} of {all}");

    for taken in [copy.clone(), bed.data("d"), bed.data("d").join("inside")] {
        engine.backup(&taken).await.expect_err("neither over something nor into the store itself");
    }
    restore(&copy, bed.data("d")).await.expect_err("a place that is in use stays as it is");
    let back = bed.data("back");
    assert_eq!(restore(&copy, &back).await.expect("it is whole"), made);

    let engine = bed.engine("back").await;
    assert_eq!(articles(&engine, "ndrc__tz").await.len() as u64, made.articles);
    for article in
        engine.store().articles(ArticleQuery { limit: 1000, ..ArticleQuery::default() }).await.unwrap()
    {
        let rel = article.raw_html_path.expect("the page is kept");
        assert!(!engine.files().read(&rel).await.expect("it is in the copy").is_empty());
    }
    let found = engine
        .desk(Actor::new("amy", "test"))
        .search(SearchQuery::default(), Paging::first(1))
        .await
        .unwrap();
    assert_eq!(found.total, made.articles);
    // And it goes on from there: nothing is stored twice, nothing is left out.
    engine.crawl("ndrc__tz").run().await.expect("the crawl goes on");
    assert_eq!(articles(&engine, "ndrc__tz").await.len() as u64, all);
}

#[tokio::test]
async fn a_copy_that_was_changed_is_not_brought_back() {
    let bed = Bed::new(12).await;
    let engine = bed.engine_with("d", &site("ndrc")).await;
    let copy = bed.data("copy");
    engine.backup(&copy).await.expect("a copy");
    let database = copy.join("dibao.db");
    let mut bytes = std::fs::read(&database).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&database, bytes).unwrap();
    let back = bed.data("back");
    restore(&copy, &back).await.expect_err("it is not what was copied");
    assert!(!back.exists());
}
