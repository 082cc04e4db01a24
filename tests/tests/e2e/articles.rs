//! What is stored is what was published: title, time, source and body, on every family of site.

use dibao::clock::FixedClock;
use dibao::model::{Article, ArticleStatus, Precision};
use dibao_replica::{NewPost, Published};

use crate::bed::{Bed, articles, crawl, site};

const TITLE: &str = "关于进一步加强“放管服”改革工作的通知（2026年第8号）";
const FIRST: &str = "各省、自治区、直辖市人民政府，国务院各部委、各直属机构：";
const SECOND: &str = "为深入贯彻落实党中央、国务院决策部署，现就有关事项通知如下，请结合实际认真贯彻执行。";

fn post() -> NewPost {
    NewPost {
        title: TITLE.into(),
        published: Some("2026-04-11 08:05:09".into()),
        paragraphs: vec![FIRST.into(), SECOND.into()],
        attachments: 0,
    }
}

/// Publishes the post, crawls the column and returns what was stored of it.
async fn read(file: &str, host: &str, column: &str) -> (Article, Published) {
    let bed = Bed::new(60).await;
    let published = bed.replica.publish(host, column, post()).unwrap();
    let engine = bed.engine_with("data", &site(file)).await;
    let target = format!("{file}__{column}");
    let report = crawl(&engine, &target).await;
    assert_eq!(report.items_failed, 0, "{:?}", report.failures);
    let all = articles(&engine, &target).await;
    assert!(all.len() >= 31, "{}", all.len());
    for article in &all {
        assert_eq!(article.status, ArticleStatus::Ready, "{}", article.url);
        assert!(article.published.is_some(), "{}", article.url);
        assert!(!article.content_text.contains('\u{FFFD}'), "{}", article.url);
    }
    let found = all.into_iter().find(|article| article.url == published.url);
    (found.unwrap_or_else(|| panic!("{} is not stored", published.url)), published)
}

fn assert_read(article: &Article, precision: Precision, source: Option<&str>) {
    assert_eq!(article.title, TITLE);
    let published = article.published.as_ref().unwrap();
    assert_eq!(published.date, "2026-04-11");
    assert_eq!(published.precision, precision);
    // 08:05:09 in China is 00:05:09 in UTC.
    let time = published.at.to_utc().format("%F %T").to_string();
    let wanted = if precision == Precision::Second { "2026-04-11 00:05:09" } else { "2026-04-11 00:05:00" };
    assert_eq!(time, wanted);
    assert_eq!(article.source_raw.as_deref(), source);
    let lines: Vec<&str> =
        article.content_text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    assert_eq!(lines[..2], [FIRST, SECOND], "{lines:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn trs() {
    let (article, _) = read("ndrc", "www.ndrc.gov.cn", "xwfb").await;
    assert_read(&article, Precision::Second, Some("本网"));
}

#[tokio::test(flavor = "multi_thread")]
async fn nf_cms() {
    let (article, _) = read("gdqy", "www.gdqy.gov.cn", "tzgg").await;
    assert_read(&article, Precision::Minute, Some("本网"));
    let (article, _) = read("gd", "www.gd.gov.cn", "yf").await;
    assert_read(&article, Precision::Minute, Some("本网"));
}

#[tokio::test(flavor = "multi_thread")]
async fn gov_cn_in_both_templates() {
    let (article, _) = read("govcn", "www.gov.cn", "zuixin").await;
    assert_read(&article, Precision::Second, None);
    let (article, _) = read("govcn", "www.gov.cn", "jiedu").await;
    assert_read(&article, Precision::Second, Some("本网"));
}

#[tokio::test(flavor = "multi_thread")]
async fn xinhua() {
    let (article, _) = read("xinhua", "www.news.cn", "zxbd").await;
    assert_read(&article, Precision::Second, Some("新华网"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_site_in_gbk() {
    let (article, _) = read("tongcheng", "www.tongcheng.gov.cn", "zwdt").await;
    assert_read(&article, Precision::Second, article.source_raw.as_deref());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_clock_of_the_callers_dates_what_is_stored() {
    let bed = Bed::new(4).await;
    let now = dibao::Timestamp(1_800_000_000_000);
    let engine = bed.builder("data").clock(std::sync::Arc::new(FixedClock::new(now))).build().await.unwrap();
    engine.import_site_config(&site("ndrc")).await.unwrap();
    crawl(&engine, "ndrc__xwfb").await;
    assert!(articles(&engine, "ndrc__xwfb").await.iter().all(|article| article.fetched_at == now));
}
