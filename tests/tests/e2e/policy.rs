//! The policy library of gov.cn, by its gateway and by its search: everything that is in it is stored as it is, and the
//! next run finds what is new.

use std::collections::BTreeMap;

use dibao::Engine;
use dibao::config::SiteConfig;
use dibao::crawl::StopReason;
use dibao::model::{Article, ArticleStatus, DownloadStatus, Precision};
use dibao_replica::{NewPost, PolicyTruth, ReplicaOptions};
use serde_json::json;

use crate::bed::{Bed, articles, counts, crawl, site};
use crate::snapshot::{Snapshot, sha256};

const XXGK: &str = "govcn-policy__xxgk";
const ZCWJK: &str = "govcn-policy__zcwjk";
const LIBRARY: &str = "www.gov.cn";
const GATEWAY: &str = "sousuoht.www.gov.cn";

/// The bundled site file with the replica's public key instead of the site's: all that tells them apart.
fn library(bed: &Bed) -> SiteConfig {
    let mut library = site("govcn-policy");
    library.adapter_params.insert("xxgk".into(), json!({ "public_key": bed.replica.athena_public_key() }));
    for column in &mut library.columns {
        column.enabled = true;
    }
    library
}

async fn bed(articles: u64) -> Bed {
    let only_hosts = vec![LIBRARY.to_owned()];
    Bed::with(ReplicaOptions { articles, only_hosts, ..ReplicaOptions::default() }).await
}

async fn engine(bed: &Bed) -> Engine {
    bed.engine_with("data", &library(bed)).await
}

/// What the gateway was asked, by method: GET is a warm-up, POST a list.
fn gateway(bed: &Bed) -> Vec<String> {
    let asked = bed.replica.requests().into_iter();
    asked
        .filter(|seen| seen.host == GATEWAY && seen.path.starts_with("/athena/"))
        .map(|seen| seen.method)
        .collect()
}

/// The address without its scheme: old rows say `http`.
fn place(url: &str) -> String {
    url.split_once("://").map_or(url, |(_, rest)| rest).to_owned()
}

/// Every field of every document.
fn assert_true(stored: &[Article], truth: &[PolicyTruth], bed: &Bed) {
    let stored: BTreeMap<String, &Article> =
        stored.iter().map(|article| (place(&article.url), article)).collect();
    assert_eq!(stored.len(), truth.len());
    for wanted in truth {
        let article = stored.get(&place(&wanted.url)).unwrap_or_else(|| panic!("{} is missing", wanted.url));
        let url = &wanted.url;
        assert_eq!(article.status, ArticleStatus::Ready, "{url}");
        assert_eq!(article.title, wanted.title, "{url}");
        assert_eq!(article.native_post_id.as_deref(), Some(wanted.native_id.as_str()), "{url}");
        let published = article.published.as_ref().unwrap_or_else(|| panic!("{url} has no time"));
        let china = published.at.to_utc() + chrono::TimeDelta::hours(8);
        assert_eq!(china.format("%F %T").to_string(), wanted.published, "{url}");
        assert_eq!(
            (published.precision, published.date.as_str()),
            (Precision::Second, &wanted.published[..10])
        );
        assert_eq!(article.source_raw, wanted.source, "{url}");
        for (name, value, true_value) in [
            ("doc_no", &article.doc_no, &wanted.doc_no),
            ("publisher", &article.publisher, &wanted.publisher),
            ("index_no", &article.index_no, &wanted.index_no),
            ("open_category", &article.open_category, &wanted.topic),
        ] {
            assert_eq!(value.as_ref(), Some(true_value), "{name} of {url}");
        }
        // Articles of template B have no such line, and no list tells it.
        if wanted.source.is_none() {
            assert_eq!(article.metadata.get("written_date"), Some(&wanted.written), "{url}");
        }
        assert_eq!(article.metadata.get("manuscript_id"), Some(&wanted.native_id), "{url}");
        let lines: Vec<&str> =
            article.content_text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        assert_eq!(lines, wanted.lines, "{url}");
        let files: Vec<_> = article
            .attachments
            .iter()
            .map(|file| {
                assert_eq!(file.status, DownloadStatus::Done, "{url}: {:?}", file.error);
                let path = bed.data("data").join(file.file_path.as_ref().expect("a path"));
                (place(&file.url), file.filename.clone(), sha256(&std::fs::read(path).expect("the file")))
            })
            .collect();
        let wanted: Vec<_> =
            wanted.files.iter().map(|(url, name, bytes)| (place(url), name.clone(), sha256(bytes))).collect();
        assert_eq!(files, wanted, "{url}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_gateway_is_crawled_completely_and_then_only_for_what_is_new() {
    let bed = bed(2_002).await;
    let engine = engine(&bed).await;
    let first = crawl(&engine, XXGK).await;
    assert_eq!((counts(&first), first.stop), ((1_001, 1_001, 0, 0), StopReason::LastPage));
    let truth = bed.replica.policy_truth(0);
    assert_eq!(truth.len(), 1_001);
    assert_true(&articles(&engine, XXGK).await, &truth, &bed);
    let asked = gateway(&bed);
    assert_eq!(
        (asked.len(), asked.iter().filter(|method| *method == "GET").count()),
        (12, 1),
        "one code is enough"
    );

    bed.forget();
    let second = crawl(&engine, XXGK).await;
    assert_eq!((counts(&second), second.stop), ((1, 0, 1, 0), StopReason::EarlyStop));

    let new = NewPost {
        title: "国务院办公厅关于新文件的通知".into(), attachments: 2, ..NewPost::default()
    };
    let published = bed.replica.publish(LIBRARY, "zuixin", new).unwrap();
    let third = crawl(&engine, XXGK).await;
    assert_eq!((third.items_new, third.stop), (1, StopReason::EarlyStop));
    let all = articles(&engine, XXGK).await;
    assert_eq!(place(&all.last().unwrap().url), place(&published.url));
    assert_true(&all, &bed.replica.policy_truth(0), &bed);

    let before = Snapshot::of(&bed.data("data"));
    let forced = engine.crawl(XXGK).force(true).run().await.unwrap();
    assert_eq!((counts(&forced), forced.stop), ((1_002, 0, 1_002, 0), StopReason::LastPage));
    before.assert_same(&Snapshot::of(&bed.data("data")));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_search_is_crawled_completely_in_all_its_classes() {
    let bed = bed(1_000).await;
    let engine = engine(&bed).await;
    let first = crawl(&engine, ZCWJK).await;
    assert_eq!((first.items_new, first.items_failed, first.stop), (1_000, 0, StopReason::LastPage));
    let mut truth = bed.replica.policy_truth(0);
    let formal = truth.len();
    // One post of the first column is listed in the second too.
    let listed: Vec<String> = truth.iter().map(|truth| truth.url.clone()).collect();
    truth.extend(bed.replica.policy_truth(1).into_iter().filter(|truth| !listed.contains(&truth.url)));
    let all = articles(&engine, ZCWJK).await;
    assert_true(&all, &truth, &bed);
    let class =
        |name: &str| all.iter().filter(|article| article.channel_name.as_deref() == Some(name)).count();
    // What is in the gazette is met there first, unless it is among the newest.
    assert!(class("公报") > 0);
    assert_eq!((class("国务院文件") + class("公报"), class("部门文件")), (formal, 1_000 - formal));
    assert!(all.iter().all(|article| article.metadata["summary"].starts_with("关于示例的摘要。")));

    let second = crawl(&engine, ZCWJK).await;
    assert_eq!((second.items_new, second.stop), (0, StopReason::EarlyStop));
    for (column, title) in [("zuixin", "新公文"), ("jiedu", "新部门文件")] {
        bed.replica.publish(LIBRARY, column, NewPost { title: title.into(), ..NewPost::default() }).unwrap();
    }
    let third = crawl(&engine, ZCWJK).await;
    assert_eq!((third.items_new, third.stop), (2, StopReason::EarlyStop));
    let before = Snapshot::of(&bed.data("data"));
    let forced = engine.crawl(ZCWJK).force(true).run().await.unwrap();
    assert_eq!((forced.items_new, forced.items_failed, forced.stop), (0, 0, StopReason::LastPage));
    before.assert_same(&Snapshot::of(&bed.data("data")));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_code_that_changes_in_the_midst_of_the_list_is_asked_for_again() {
    let bed = bed(1_000).await;
    let engine = engine(&bed).await;
    bed.replica.athena_rotates_every(1);
    let report = crawl(&engine, XXGK).await;
    assert_eq!((counts(&report), report.stop), ((500, 500, 0, 0), StopReason::LastPage));
    // Page 1 with a fresh code; then each page first with the old code, and again after a new warm-up.
    let expected: Vec<&str> = ["GET", "POST"].into_iter().chain(["POST", "GET", "POST"].repeat(4)).collect();
    assert_eq!(gateway(&bed), expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_run_asks_for_a_code_of_its_own() {
    let bed = bed(60).await;
    let engine = engine(&bed).await;
    assert_eq!(crawl(&engine, XXGK).await.items_new, 30);
    bed.replica.rotate_athena_code();
    bed.replica.publish(LIBRARY, "zuixin", NewPost::default()).unwrap();
    bed.forget();
    let report = crawl(&engine, XXGK).await;
    assert_eq!((report.items_new, report.stop), (1, StopReason::EarlyStop));
    assert_eq!(gateway(&bed), ["GET", "POST"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_sites_own_key_is_refused_by_the_replica() {
    let bed = bed(10).await;
    let mut library = library(&bed);
    library.adapter_params.shift_remove("xxgk");
    let engine = bed.engine_with("data", &library).await;
    let error = engine.crawl(XXGK).run().await.unwrap_err().to_string();
    assert!(error.contains("athena_0001") && error.contains("xxgk.public_key"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn one_class_a_search_and_the_static_feed_list_what_they_should() {
    let bed = bed(300).await;
    let mut library = library(&bed);
    let title = bed.replica.policy_truth(0)[7].title.clone();
    let gw = library.columns.iter_mut().find(|column| column.column_id == "gw").unwrap();
    gw.params["zcwjk"]["query"]["q"] = json!(title);
    let engine = bed.engine_with("data", &library).await;
    assert_eq!(crawl(&engine, "govcn-policy__gw").await.items_new, 1, "by its whole title");
    let feed = crawl(&engine, "govcn-policy__zuixin").await;
    assert_eq!(
        (feed.items_new, feed.items_duplicate),
        (149, 1),
        "the one that is there already is not fetched again"
    );
    let xxgk = crawl(&engine, XXGK).await;
    assert_eq!((xxgk.items_new, xxgk.items_duplicate), (0, 150));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_search_without_a_hit_is_an_empty_list_and_an_incomplete_one_is_an_error() {
    let bed = bed(10).await;
    let mut library = library(&bed);
    let gw = library.columns.iter_mut().find(|column| column.column_id == "gw").unwrap();
    gw.params["zcwjk"]["query"]["q"] = json!("没有这样的文件");
    let engine = bed.engine_with("data", &library).await;
    let report = crawl(&engine, "govcn-policy__gw").await;
    assert_eq!((counts(&report), report.stop), ((0, 0, 0, 0), StopReason::LastPage));

    let gw = library.columns.iter_mut().find(|column| column.column_id == "gw").unwrap();
    gw.params["zcwjk"]["query"]["type"] = json!("gwyzcwjk");
    let engine = bed.engine_with("other", &library).await;
    let error = engine.crawl("govcn-policy__gw").run().await.unwrap_err().to_string();
    assert!(error.contains("incomplete") && error.contains("zcwjk.query"), "{error}");
}
