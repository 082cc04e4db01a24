//! Feeds: every format is crawled completely and exactly, over a thousand articles; then nothing, then what is new.

use std::collections::BTreeMap;

use dibao::ErrorClass;
use dibao::config::{SiteConfig, parse_site};
use dibao::crawl::StopReason;
use dibao::model::{Article, ArticleStatus, DownloadStatus, SourceType};
use dibao_replica::{Fault, FaultRule, FeedTruth, NewPost, ReplicaOptions};

use crate::bed::{Bed, articles, crawl, site};
use crate::snapshot::{Snapshot, sha256};

const HOST: &str = "www.people.com.cn";
const COLUMNS: [&str; 7] = ["rss2", "rss091", "rdf", "atom", "atom03", "json", "gb"];

/// All feeds of the replica as one site.
fn feeds() -> SiteConfig {
    let yaml = r#"
site_id: feeds
site_name: 人民网
base_url: https://www.people.com.cn
adapter: rss
columns:
  - {column_id: rss2, list_url: /rss/politics.xml}
  - column_id: rss091
    list_url: /rss/world.xml
    detail: {title: "h1.bt::text", publish_time: ".channel .time::text", source: ".channel .ly::text", content: .rm_txt_con}
  - {column_id: rdf, list_url: /rss/edu.xml, detail: {source: ".channel .ly::text", content: .rm_txt_con}}
  - {column_id: atom, list_url: /rss/law.atom}
  - column_id: atom03
    list_url: /rss/old.atom
    detail: {source: ".channel .ly::text", content: .rm_txt_con, attachment_css: .rm_txt_con a.fj}
  - {column_id: json, list_url: /rss/feed.json, params: {detail: feed}}
  - {column_id: gb, list_url: /rss/gb.xml, params: {detail: feed}}
"#;
    parse_site(yaml, "feeds.yaml").expect("a site file")
}

fn assert_true(column: &str, article: &Article, truth: &FeedTruth) {
    let place = format!("{column} {}", truth.url);
    assert_eq!(article.url, truth.url);
    assert_eq!(article.title, truth.title, "{place}");
    assert_eq!(article.status, ArticleStatus::Ready, "{place}");
    let published = article.published.as_ref().unwrap_or_else(|| panic!("{place} has no date"));
    let utc = truth.published - chrono::TimeDelta::hours(8);
    assert_eq!(published.at.to_utc().naive_utc(), utc, "{place}");
    assert_eq!(published.date, truth.published.format("%Y-%m-%d").to_string(), "{place}");
    assert_eq!(article.metadata.get("author"), truth.author.as_ref(), "{place}");
    assert_eq!(article.topic_words, truth.categories, "{place}");
    assert_eq!(article.source_raw, truth.source, "{place}");
    assert_eq!(article.native_post_id, truth.id, "{place}");
    let lines: Vec<&str> =
        article.content_text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    assert_eq!(lines, truth.paragraphs, "{place}");
    let files: BTreeMap<&str, String> =
        truth.files.iter().map(|(url, bytes)| (url.as_str(), sha256(bytes))).collect();
    let stored: BTreeMap<&str, String> = article
        .attachments
        .iter()
        .map(|file| {
            assert_eq!(file.status, DownloadStatus::Done, "{place} {}", file.url);
            (file.url.as_str(), file.sha256.clone().unwrap_or_default())
        })
        .collect();
    assert_eq!(stored, files, "{place}");
    assert!(!article.metadata.keys().any(|name| name.starts_with('_')), "{place}: {:?}", article.metadata);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_thousand_articles_in_seven_formats_are_what_was_published() {
    let options =
        ReplicaOptions { articles: 1001, only_hosts: vec![HOST.into()], ..ReplicaOptions::default() };
    let bed = Bed::with(options).await;
    let engine = bed.engine_with("data", &feeds()).await;
    let mut total = 0;
    for column in COLUMNS {
        let target = format!("feeds__{column}");
        let report = crawl(&engine, &target).await;
        assert_eq!(
            (report.items_failed, report.stop),
            (0, StopReason::LastPage),
            "{column} {:?}",
            report.failures
        );
        let mut truths: BTreeMap<String, FeedTruth> =
            bed.replica.feed_truth(column).into_iter().map(|truth| (truth.url.clone(), truth)).collect();
        let stored = articles(&engine, &target).await;
        for article in &stored {
            let truth =
                truths.remove(&article.url).unwrap_or_else(|| panic!("{} was not published", article.url));
            assert_true(column, article, &truth);
        }
        // The second column lists one post of the first, which is stored already.
        assert_eq!(truths.len(), usize::from(column == "rss091"), "{column} misses {:?}", truths.keys());
        total += stored.len();
    }
    assert_eq!(total, 1001);

    // Full texts come with the feed: no page of these was asked for.
    let pages = |column: &str| {
        let asked = bed.asked();
        let mark = format!("/c100{}-", COLUMNS.iter().position(|known| *known == column).unwrap());
        asked.iter().filter(|path| path.contains(&mark)).count()
    };
    for column in ["rss2", "atom", "json", "gb"] {
        assert_eq!(pages(column), 0, "{column}");
    }
    assert!(pages("rdf") > 100);

    let before = Snapshot::of(&bed.data("data"));
    for column in COLUMNS {
        let again = crawl(&engine, &format!("feeds__{column}")).await;
        assert_eq!((again.items_new, again.items_failed), (0, 0), "{column}");
        let forced = engine.crawl(format!("feeds__{column}")).force(true).run().await.unwrap();
        assert_eq!((forced.items_new, forced.items_failed), (0, 0), "{column}");
    }
    assert_eq!(Snapshot::of(&bed.data("data")), before);

    for column in COLUMNS {
        let post =
            NewPost { title: format!("{column} 的新通知 <1>"), attachments: 2, ..NewPost::default() };
        let published = bed.replica.publish(HOST, column, post).unwrap();
        let target = format!("feeds__{column}");
        let report = crawl(&engine, &target).await;
        assert_eq!((report.items_new, report.items_failed), (1, 0), "{column} {:?}", report.failures);
        let stored = articles(&engine, &target).await.pop().unwrap();
        assert_eq!(stored.url, published.url);
        assert_true(column, &stored, &bed.replica.feed_truth(column)[0]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_example_file_crawls_and_its_targets_are_feeds() {
    let bed = Bed::new(70).await;
    let engine = bed.engine_with("data", &site("people")).await;
    for column in ["politics", "world", "edu"] {
        let report = crawl(&engine, &format!("people__{column}")).await;
        assert!(report.items_new >= 10 && report.items_failed == 0, "{column}: {report:?}");
    }
    let sites = engine.store().sites().await.unwrap();
    assert_eq!(sites[0].source_type(), SourceType::Rss);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_in_the_place_of_a_feed_is_a_failure_and_a_feed_without_entries_is_not() {
    let bed = Bed::new(14).await;
    let engine = bed.engine_with("data", &feeds()).await;
    let id = bed.replica.fault(FaultRule::new(Fault::EmptyList).host(HOST).path("/rss/"));
    for column in COLUMNS {
        let report = crawl(&engine, &format!("feeds__{column}")).await;
        assert_eq!((report.items_new, report.stop), (0, StopReason::LastPage), "{column}");
    }
    bed.replica.remove_fault(id);
    bed.replica.fault(FaultRule::new(Fault::HtmlForFile).host(HOST).path("/rss/"));
    for column in COLUMNS {
        let error = engine.crawl(format!("feeds__{column}")).run().await.expect_err(column);
        assert_eq!(error.class(), ErrorClass::Shape, "{column}: {error}");
    }
}
