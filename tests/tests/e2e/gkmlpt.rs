//! Guangdong's catalogue, whole: every post of every kind of host is stored as it was published, once.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{Duration, SecondsFormat};
use dibao::config::{SiteConfig, parse_site};
use dibao::crawl::StopReason;
use dibao::model::{Article, ArticleStatus, DownloadStatus};
use dibao::{Engine, ErrorClass};
use dibao_replica::{GkmlptFile, GkmlptPost, NewPost, ReplicaOptions};

use crate::bed::{Bed, articles, counts, crawl, site};

/// A host with its two columns: the target's and the site's own names.
struct Place {
    host: &'static str,
    site: SiteConfig,
    columns: [(&'static str, &'static str); 2],
}

fn inline(text: &str) -> SiteConfig {
    parse_site(text, "inline").unwrap_or_else(|error| panic!("{error}"))
}

fn zhaoqing() -> Place {
    let columns = [("zqhjj__slgg", "21023"), ("zqhjj__spgg", "21024")];
    Place { host: "www.zhaoqing.gov.cn", site: site("zqhjj"), columns }
}

fn dongguan() -> Place {
    let columns = [("dghlz__tzgg", "4101"), ("dghlz__gfxwj", "4102")];
    Place { host: "www.dg.gov.cn", site: site("dghlz"), columns }
}

fn pingshan() -> Place {
    let site = inline(
        "site_id: ps\nsite_name: 坪山\nbase_url: https://www.szpsq.gov.cn/psozhzx/gkmlpt/index\nadapter: gkmlpt\ncolumns:\n\
         - {column_id: a, params: {column_id: 2972}}\n- {column_id: b, params: {column_id: \"2973\", sid: 755041}}\n",
    );
    Place { host: "www.szpsq.gov.cn", site, columns: [("ps__a", "2972"), ("ps__b", "2973")] }
}

/// Lists in the words of S2-23.
fn yangjiang() -> Place {
    let site = inline(
        "site_id: yj\nsite_name: 阳江\nbase_url: https://www.yangjiang.gov.cn\nadapter: gkmlpt\nadapter_params:\n  page_size: 20\n  \
         list_api_path_tpl: /gkmlpt/api/list/{column_id}?page={page}&page_size={page_size}&sid={sid}\ncolumns:\n\
         - {column_id: a, params: {column_id: 801}}\n- {column_id: b, params: {column_id: 802}}\n",
    );
    Place { host: "www.yangjiang.gov.cn", site, columns: [("yj__a", "801"), ("yj__b", "802")] }
}

async fn bed(place: &Place, articles: u64) -> Bed {
    let only_hosts = vec![place.host.to_owned()];
    Bed::with(ReplicaOptions { articles, only_hosts, ..ReplicaOptions::default() }).await
}

/// What was published in all columns, by number.
fn published(bed: &Bed, place: &Place) -> BTreeMap<u64, GkmlptPost> {
    let posts = place.columns.iter().flat_map(|(_, id)| bed.replica.gkmlpt_posts(place.host, id).unwrap());
    posts.map(|post| (post.id, post)).collect()
}

/// What is stored of all columns, by number.
async fn stored(engine: &Engine, place: &Place) -> BTreeMap<u64, Article> {
    let mut all = BTreeMap::new();
    for (target, _) in place.columns {
        for article in articles(engine, target).await {
            let id = article.native_post_id.as_deref().and_then(|id| id.parse().ok()).expect("a number");
            assert!(all.insert(id, article).is_none(), "{id} is stored twice");
        }
    }
    all
}

/// Every field of an article is what the generator made.
fn assert_as_published(article: &Article, post: &GkmlptPost) {
    let id = post.id;
    assert_eq!(article.title, post.title, "{id}");
    let at = article.published.as_ref().unwrap_or_else(|| panic!("{id} has no time")).at.to_utc()
        + Duration::hours(8);
    let at = at.to_rfc3339_opts(SecondsFormat::Secs, true);
    assert_eq!(at.trim_end_matches('Z').replace('T', " "), post.published, "{id}");
    assert_eq!(article.doc_no, post.doc_no, "{id}");
    assert_eq!(article.index_no, post.index_no, "{id}");
    assert_eq!(article.publisher, post.publisher, "{id}");
    assert_eq!(article.topic_words, post.topic_words, "{id}");
    assert_eq!(article.open_category.as_deref(), Some(post.open_category.as_str()), "{id}");
    assert_eq!(article.metadata.get("written_date"), Some(&post.written), "{id}");
    assert_eq!(article.metadata.get("validity").map(String::as_str), post.validity, "{id}");
    assert!(article.metadata.keys().all(|name| !name.starts_with('_')), "{:?}", article.metadata);
    assert_eq!(article.status, ArticleStatus::Ready, "{id}");
    let lines: Vec<&str> =
        article.content_text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    match (&post.lines, &post.link) {
        (Some(due), _) => assert_eq!(&lines, due, "{id}"),
        (None, Some(link)) => {
            assert_eq!(&article.url, link, "{id}");
            assert!(
                lines[0] == post.title && lines.last().is_some_and(|line| line.contains(link)),
                "{id}: {lines:?}"
            );
        }
        (None, None) => panic!("{id} is neither"),
    }
    let mut files: Vec<GkmlptFile> = article
        .attachments
        .iter()
        .map(|file| {
            assert_eq!(file.status, DownloadStatus::Done, "{id}: {file:?}");
            GkmlptFile { name: file.filename.clone(), sha256: file.sha256.clone().unwrap_or_default() }
        })
        .collect();
    files.sort();
    assert_eq!(files, post.files, "{id}");
}

async fn compare(bed: &Bed, engine: &Engine, place: &Place) {
    let (posts, stored) = (published(bed, place), stored(engine, place).await);
    let numbers = |ids: Vec<&u64>| ids.into_iter().copied().collect::<BTreeSet<u64>>();
    assert_eq!(numbers(stored.keys().collect()), numbers(posts.keys().collect()), "{}", place.host);
    for (id, post) in &posts {
        assert_as_published(&stored[id], post);
    }
}

/// The promises of every bundled adapter, on one host.
async fn is_crawled_whole(place: Place, number: u64) {
    let bed = bed(&place, number).await;
    let engine = bed.engine_with("data", &place.site).await;
    let mut new = 0;
    for (target, column) in place.columns {
        let report = crawl(&engine, target).await;
        assert_eq!(report.items_failed, 0, "{:?}", report.failures);
        assert_eq!(
            report.items_seen as usize,
            bed.replica.gkmlpt_posts(place.host, column).unwrap().len(),
            "{target}"
        );
        assert_eq!(report.stop, StopReason::LastPage);
        new += report.items_new;
    }
    assert_eq!(u64::from(new), number);
    compare(&bed, &engine, &place).await;

    for (target, _) in place.columns {
        let report = crawl(&engine, target).await;
        assert_eq!((report.items_new, report.items_failed), (0, 0), "{target}");
    }
    let (target, column) = place.columns[0];
    let post = NewPost {
        title: "关于<新增>公告 & 附件的通知".into(), attachments: 2, ..NewPost::default()
    };
    bed.replica.publish(place.host, column, post).unwrap();
    assert_eq!(crawl(&engine, target).await.items_new, 1);
    compare(&bed, &engine, &place).await;

    let before = stored(&engine, &place).await;
    for (target, _) in place.columns {
        let report = engine.crawl(target).force(true).run().await.unwrap();
        assert_eq!((report.items_new, report.items_failed), (0, 0), "{target}: {:?}", report.failures);
    }
    assert_eq!(stored(&engine, &place).await, before);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_host_that_counts_and_ends_with_a_404() {
    is_crawled_whole(zhaoqing(), 1_000).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_host_that_writes_numbers_as_text_and_ends_with_an_empty_page() {
    is_crawled_whole(dongguan(), 1_000).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_host_with_bodies_in_scripts_or_at_the_other_address() {
    is_crawled_whole(pingshan(), 300).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_host_that_answers_in_the_seeds_words() {
    is_crawled_whole(yangjiang(), 300).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_site_without_columns_is_read_column_by_column_and_incrementally_so() {
    let place = Place { columns: [("all__all", "21023"), ("all__all", "21024")], ..zhaoqing() };
    let bed = bed(&place, 250).await;
    let all = "site_id: all\nsite_name: 全部\nbase_url: https://www.zhaoqing.gov.cn/zqhjj\nadapter: gkmlpt\ncolumns: [{column_id: all}]\n";
    let engine = bed.engine_with("data", &inline(all)).await;
    let report = crawl(&engine, "all__all").await;
    // One post is in both columns.
    assert_eq!(counts(&report), (251, 250, 1, 0), "{:?}", report.failures);
    let stored = articles(&engine, "all__all").await;
    assert!(stored.iter().all(|article| {
        article.channel_path.as_deref().is_some_and(|path| path.starts_with("重点领域信息公开/"))
    }));
    // A post in the second column is found though the first one has nothing new.
    bed.replica.publish(place.host, "21024", NewPost::default()).unwrap();
    assert_eq!(crawl(&engine, "all__all").await.items_new, 1);
    // The list of all columns is a list like any other.
    let zero = all.replace("[{column_id: all}]", "[{column_id: all, params: {column_id: 0}}]");
    let engine = bed.engine_with("zero", &inline(&zero)).await;
    assert_eq!(crawl(&engine, "all__all").await.items_new, 251);
    assert_eq!(crawl(&engine, "all__all").await.items_new, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_host_that_hangs_up_on_strangers_is_read_under_a_name_it_likes() {
    let bed = Bed::with(ReplicaOptions {
        articles: 20,
        only_hosts: vec!["www.shantou.gov.cn".into()],
        ..ReplicaOptions::default()
    })
    .await;
    let text = "site_id: st\nsite_name: 汕头\nbase_url: https://www.shantou.gov.cn/sthbj\nadapter: gkmlpt\ncolumns:\n\
                - {column_id: a, params: {column_id: 6001}}\n";
    let engine = bed.engine_with("stranger", &inline(text)).await;
    let error = engine.crawl("st__a").run().await.expect_err("a reset");
    assert_eq!(error.class(), ErrorClass::Network, "{error}");
    let agent = "user_agent: Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko; dibao)\n";
    let engine = bed.engine_with("known", &inline(&format!("{text}{agent}"))).await;
    assert_eq!(crawl(&engine, "st__a").await.items_new, 10);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_is_no_list_is_an_error_and_never_an_empty_column() {
    use dibao_replica::{Fault, FaultRule};
    let place = zhaoqing();
    let bed = bed(&place, 20).await;
    let engine = bed.engine_with("data", &place.site).await;
    for (body, words) in [
        // The gate sees what is a page, the adapter everything else.
        (
            "<html><head><title>系统维护</title></head><body><p>系统维护中</p></body></html>",
            "HTML where JSON was asked for",
        ),
        ("系统维护中，请稍后访问", "is not the JSON of a list"),
        (r#"{"code":500,"message":"error","data":null}"#, "neither `articles` nor `result.data.list`"),
    ] {
        let fault = Fault::Status { code: 200, retry_after: None, body: Some(body.into()) };
        let rule = bed.replica.fault(FaultRule { path: Some("/api/all/".into()), ..FaultRule::new(fault) });
        let error = engine.crawl("zqhjj__slgg").run().await.expect_err(body);
        assert!(error.to_string().contains(words), "{error}");
        bed.replica.remove_fault(rule);
    }
    assert_eq!(crawl(&engine, "zqhjj__slgg").await.items_new, 10);
}
