//! Adapters in other languages keep the promises of the Rust ones: one table, the same checks for every row.
//!
//! `cargo xtask adapters` builds the examples in Python and JavaScript into `target/adapters/examples`.

use std::path::{Path, PathBuf};

use dibao::Engine;
use dibao::adapter::fixture::{Case, CaseCall, cases_in};
use dibao::adapter::replay::{End, replay};
use dibao::adapter::{Adapter, AdapterHost, HostOptions, Registry};
use dibao::config::load_site;
use dibao::model::{Article, DownloadStatus};
use dibao_replica::{NewPost, Post};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestCaseError, TestRunner};

use crate::bed::{Bed, adapters, articles, counts, crawl, site_file};

/// Posts of the column that is crawled by an example; a site spreads its posts over two.
const POSTS: u64 = 240;

/// An adapter on a column of the replica.
struct Reader {
    adapters: PathBuf,
    site_file: PathBuf,
    target: &'static str,
    host: &'static str,
    column: &'static str,
    /// Whether the site hangs files on its posts.
    files: bool,
    posts: u64,
}

fn example(language: &str, target: &'static str, host: &'static str, column: &'static str) -> Reader {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../adapters/examples").join(language);
    Reader {
        adapters: adapters().join("examples"),
        site_file: dir.join("site.yaml"),
        target,
        host,
        column,
        files: host != "www.news.cn",
        posts: POSTS,
    }
}

fn bundled(file: &str, target: &'static str, host: &'static str, column: &'static str) -> Reader {
    let files = host != "www.news.cn";
    Reader { adapters: adapters(), site_file: site_file(file), target, host, column, files, posts: POSTS }
}

#[tokio::test(flavor = "multi_thread")]
async fn python_reads_xinhua() {
    keeps_its_promises(example("python", "xinhua__zxbd", "www.news.cn", "zxbd")).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn javascript_reads_a_portal_of_nf_cms() {
    keeps_its_promises(example("javascript", "nfcms__tzgg", "www.gdqy.gov.cn", "tzgg")).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn javascript_reads_a_document_library_of_nf_cms() {
    keeps_its_promises(example("javascript", "nfcms__yf", "www.gd.gov.cn", "yf")).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn rust_reads_the_same_columns() {
    keeps_its_promises(bundled("xinhua", "xinhua__zxbd", "www.news.cn", "zxbd")).await;
    let portal = bundled("gdqy", "gdqy__tzgg", "www.gdqy.gov.cn", "tzgg");
    // What is promised of every bundled adapter: a thousand, field by field.
    keeps_its_promises(Reader { posts: 1_000, ..portal }).await;
    keeps_its_promises(bundled("gd", "gd__yf", "www.gd.gov.cn", "yf")).await;
}

/// An example adapter, ready for turns.
fn loaded(name: &str) -> Adapter {
    let cache_dir = Some(adapters().with_file_name("adapter-compiled"));
    let host = AdapterHost::new(HostOptions { cache_dir, ..HostOptions::default() }).expect("a host");
    let registry = Registry::open(adapters().join("examples")).expect("run `cargo xtask adapters` first");
    registry.load(&host, name).expect("run `cargo xtask adapters` first").adapter
}

fn fixtures(language: &str) -> Vec<Case> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../adapters/examples").join(language);
    let cases = cases_in(&dir.join("fixtures")).expect("the example has cases");
    cases.iter().map(|case| Case::read(case).expect("a good case")).collect()
}

#[test]
fn the_examples_answer_as_recorded_to_every_oddity() {
    for (name, language, count) in [("xinhua", "python", 12), ("nfcms", "javascript", 15)] {
        let (adapter, cases) = (loaded(name), fixtures(language));
        assert!(cases.len() >= count, "{} cases", cases.len());
        for case in cases {
            let differences = replay(&adapter, &case).differences(&case);
            assert!(differences.is_empty(), "{name}: {differences:#?}");
        }
    }
}

#[test]
fn an_exception_is_told_in_the_words_of_its_language() {
    for (name, language, words) in
        [("xinhua", "python", "KeyError: 'list_url'"), ("nfcms", "javascript", "JSON")]
    {
        let mut case = fixtures(language).remove(0);
        case.call = CaseCall::List { cursor: None };
        case.context.config = if language == "python" { "{}" } else { "not json" }.into();
        match replay(&loaded(name), &case).end {
            End::Trap(reason) => assert!(reason.contains(words), "{name}: {reason}"),
            other => panic!("{name}: {other:?}"),
        }
    }
}

/// Bytes, JSON and HTML that no site should send.
fn body() -> impl Strategy<Value = Vec<u8>> {
    let json =
        r#"[\[{]{0,3}("datasource"|"title"|"publishUrl"|"\\ud800"|null|-?[0-9]{1,30}|[:,{}\[\]]){0,30}"#;
    let rows = r#"(<li>|</li>|<a href="(x|//|http://\[|javascript:1|\x00)">|<ul class="news_list">|<div class="page">|<span>|题){0,30}"#;
    prop_oneof![
        proptest::collection::vec(any::<u8>(), 0..300),
        json.prop_map(String::into_bytes),
        rows.prop_map(String::into_bytes),
        (1usize..40_000).prop_map(|depth| "[".repeat(depth).into_bytes()),
        Just(
            br#"{"datasource":[{"title":"\ud83d","publishUrl":"/a","contentId":1e999,"publishTime":{}}]}"#
                .to_vec()
        ),
    ]
}

#[test]
fn no_reply_makes_an_example_trap() {
    for (name, language) in [("xinhua", "python"), ("nfcms", "javascript")] {
        let (adapter, cases) = (loaded(name), fixtures(language));
        let mut runner = TestRunner::new(Config { cases: 60, ..Config::default() });
        let which = (0..cases.len(), body(), prop_oneof![Just(200u16), Just(404), 100u16..600]);
        let outcome = runner.run(&which, |(index, body, status)| {
            let mut case = cases[index].clone();
            for reply in case.exchanges.iter_mut().flat_map(|exchange| &mut exchange.replies) {
                (reply.body, reply.status) = (body.clone(), status);
            }
            match replay(&adapter, &case).end {
                End::Trap(words) => Err(TestCaseError::fail(words)),
                _ => Ok(()),
            }
        });
        outcome.unwrap_or_else(|error| panic!("{name}: {error}"));
    }
}

async fn keeps_its_promises(reader: Reader) {
    let bed = Bed::new(2 * reader.posts).await;
    let engine = open(&bed, &reader).await;

    // Complete, and every field is what was written.
    let first = crawl(&engine, reader.target).await;
    assert_eq!(first.items_failed, 0, "{:?}", first.failures);
    assert_eq!(u64::from(first.items_new), reader.posts, "{:?}", counts(&first));
    all_as_written(&bed, &engine, &reader, reader.posts as usize).await;

    // Nothing is new, and looking again changes nothing.
    bed.forget();
    let second = crawl(&engine, reader.target).await;
    assert_eq!((second.items_new, second.items_failed), (0, 0));
    assert!(bed.asked().len() <= 3, "{:?}", bed.asked());
    let before = articles(&engine, reader.target).await;
    let forced = engine.crawl(reader.target).force(true).run().await.expect("a forced run");
    assert_eq!((forced.items_new, forced.items_failed), (0, 0), "{:?}", forced.failures);
    assert_eq!(articles(&engine, reader.target).await, before);

    // A new post is found, and nothing else is asked for.
    let post = NewPost { attachments: usize::from(reader.files), ..NewPost::default() };
    let published = bed.replica.publish(reader.host, reader.column, post).expect("published");
    let third = crawl(&engine, reader.target).await;
    assert_eq!((third.items_new, third.items_failed), (1, 0));
    assert!(articles(&engine, reader.target).await.iter().any(|article| article.url == published.url));
    all_as_written(&bed, &engine, &reader, reader.posts as usize + 1).await;
}

async fn open(bed: &Bed, reader: &Reader) -> Engine {
    assert!(reader.adapters.is_dir(), "the examples are not built; run `cargo xtask adapters` first");
    // An interpreter takes seconds to compile: once for all tests and runs.
    let compiled = adapters().with_file_name("adapter-compiled");
    let engine = bed
        .builder("data")
        .adapters(&reader.adapters)
        .adapter_cache(compiled)
        .build()
        .await
        .expect("an engine");
    let mut site = load_site(&reader.site_file).expect("the site file is good");
    // A site file says how far back its operator wants to look; here it is everything.
    let defaults = site.default_column.iter_mut().filter_map(|column| column.pagination.as_mut());
    let columns = site.columns.iter_mut().filter_map(|column| column.pagination.as_mut());
    defaults.chain(columns).for_each(|pagination| pagination.max_pages = Some(80));
    engine.import_site_config(&site).await.expect("the site file fits its adapter");
    engine
}

async fn all_as_written(bed: &Bed, engine: &Engine, reader: &Reader, count: usize) {
    let posts = bed.replica.posts(reader.host, reader.column);
    let found = articles(engine, reader.target).await;
    assert_eq!((posts.len(), found.len()), (count, count));
    for post in &posts {
        let article = found.iter().find(|article| article.url == post.url);
        as_written(article.unwrap_or_else(|| panic!("{} is not stored", post.url)), post);
    }
}

fn as_written(article: &Article, post: &Post) {
    let at = &post.url;
    assert_eq!(article.title, post.title, "{at}");
    let published = article.published.as_ref().unwrap_or_else(|| panic!("{at} has no date"));
    let china = published.at.to_utc() + chrono::TimeDelta::hours(8);
    // To the minute: the portals show no seconds.
    assert_eq!(china.format("%Y-%m-%d %H:%M").to_string(), post.published[..16], "{at}");
    assert_eq!(article.source_raw.as_deref(), Some(post.source.as_str()), "{at}");
    let lines = article.content_text.lines().map(str::trim).filter(|line| !line.is_empty());
    let lines: Vec<&str> = lines.filter(|line| *line != "点击下载").collect();
    assert_eq!(lines, post.paragraphs, "{at}");
    assert_eq!(article.doc_no, post.doc_no, "{at}");
    assert_eq!(article.index_no, post.index_no, "{at}");
    let files: Vec<(String, String)> = article
        .attachments
        .iter()
        .map(|file| {
            assert_eq!(file.status, DownloadStatus::Done, "{at}: {:?}", file.error);
            (file.filename.clone(), file.sha256.clone().unwrap_or_default())
        })
        .collect();
    assert_eq!(files, post.files, "{at}");
}
