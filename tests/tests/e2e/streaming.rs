//! A crawl as a stream: nothing is lost on a slow reader, and a reader may go away.

use dibao::{CrawlEvent, Error, Streamed};
use dibao_replica::{Fault, FaultRule};
use futures::StreamExt as _;

use crate::bed::{Bed, articles, crawl, site};

const XWFB: &str = "ndrc__xwfb";

#[tokio::test(flavor = "multi_thread")]
async fn a_slow_reader_gets_every_article_and_then_the_report() {
    let bed = Bed::new(240).await; // more articles than the channel has room for
    let engine = bed.engine_with("data", &site("ndrc")).await;
    let mut events = std::pin::pin!(engine.crawl(XWFB).stream());
    let (mut urls, mut report) = (Vec::new(), None);
    while let Some(streamed) = events.next().await {
        assert!(report.is_none(), "the report comes last");
        match streamed.unwrap() {
            Streamed::Event(CrawlEvent::Stored(article)) => {
                let kept = engine.store().article(article.id).await.unwrap();
                assert!(kept.is_some(), "an event tells of what is stored already");
                urls.push(article.url.clone());
                if urls.len() % 20 == 0 {
                    tokio::time::sleep(std::time::Duration::from_millis(20)).await;
                }
            }
            Streamed::Report(last) => report = Some(last),
            _ => {}
        }
    }
    let stored: Vec<String> = articles(&engine, XWFB).await.into_iter().map(|article| article.url).collect();
    assert_eq!(urls, stored);
    assert_eq!(report.unwrap().items_new as usize, stored.len());
}

#[tokio::test(flavor = "multi_thread")]
async fn articles_arrive_while_the_crawl_goes_on() {
    let bed = Bed::new(60).await;
    let engine = bed.engine_with("data", &site("ndrc")).await;
    // Nothing but the first three articles is ever answered, and their events come nevertheless.
    bed.replica.fault(FaultRule::new(Fault::Hold).path("*/xwfb/20*.html").skip(3));
    let mut events = std::pin::pin!(engine.crawl(XWFB).stream());
    let mut stored = 0;
    while stored < 3 {
        if let Streamed::Event(CrawlEvent::Stored(_)) = events.next().await.unwrap().unwrap() {
            stored += 1;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_that_is_dropped_half_way_leaves_a_run_to_take_up() {
    let bed = Bed::new(120).await;
    let engine = bed.engine_with("data", &site("ndrc")).await;
    for stop in [1, 7, 20] {
        let mut events = Box::pin(engine.crawl(XWFB).stream());
        let mut stored = 0;
        while stored < stop {
            if let Streamed::Event(CrawlEvent::Stored(_)) = events.next().await.unwrap().unwrap() {
                stored += 1;
            }
        }
    }
    let report = crawl(&engine, XWFB).await;
    assert!(report.resumed);
    assert_eq!(articles(&engine, XWFB).await.len(), 60);
    assert_eq!(engine.store().check().await.unwrap(), Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_crawl_of_the_same_target_is_told_that_it_is_busy() {
    let bed = Bed::new(60).await;
    let engine = bed.engine_with("data", &site("ndrc")).await;
    let hold = bed.replica.fault(FaultRule::new(Fault::Hold));
    let first = tokio::spawn(engine.crawl(XWFB).run());
    bed.replica.wait_for(1, |_| true).await;
    assert!(matches!(engine.crawl(XWFB).run().await, Err(Error::Busy(target)) if target == XWFB));
    // Another engine on the same directory, as another process would be.
    let other = bed.engine("data").await;
    assert!(matches!(other.crawl(XWFB).run().await, Err(Error::Busy(_))));
    bed.replica.remove_fault(hold);
    assert_eq!(first.await.unwrap().unwrap().items_new, 30);
    assert_eq!(crawl(&other, XWFB).await.items_new, 0, "and when the first is done, the second may");
}
