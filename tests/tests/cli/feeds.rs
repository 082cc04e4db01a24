//! `dibao opml`: the list of a feed reader is crawled as it is, and comes out as it went in.

use crate::plain::Plain;
use crate::stage::{Stage, finish};

const LIST: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<opml version="2.0"><head><title>我的订阅</title></head><body>
  <outline text="要闻">
    <outline text="国内">
      <outline type="rss" text="时政" title="时政" xmlUrl="https://www.people.com.cn/rss/politics.xml" htmlUrl="https://www.people.com.cn/"/>
    </outline>
    <outline type="rss" text="法治 &amp; 法律" xmlUrl="https://www.people.com.cn/rss/law.atom"/>
  </outline>
  <outline type="rss" text="JSON" xmlUrl="https://www.people.com.cn/rss/feed.json"/>
  <outline type="rss" text="坏的" xmlUrl="ftp://a.cn/feed"/>
</body></opml>"#;

#[tokio::test(flavor = "multi_thread")]
async fn a_list_of_feeds_is_imported_crawled_and_exported() {
    let stage = Stage::new().await;
    stage.write("feeds.opml", LIST);
    let dry = stage.dibao("opml import feeds.opml --dry-run").await.exits(0).rows();
    assert!(!stage.path("data").exists(), "a dry run leaves nothing behind");
    let run = stage.dibao("opml import feeds.opml").await.exits(0);
    let run = run.says(&["4 feeds: 3 added, 0 known, 1 left out", "ftp://a.cn/feed: not a web address"]);
    let rows = run.rows();
    assert_eq!(rows, dry);
    let codes: Vec<&str> = rows.iter().map(|row| row["target"].as_str().unwrap()).collect();
    assert_eq!(codes, ["people_com_cn__politics", "people_com_cn__law", "people_com_cn__feed"]);
    stage.dibao("opml import feeds.opml").await.exits(0).says(&["0 added, 3 known"]);

    stage.dibao("crawl --all --max-items 3").await.exits(0);
    let articles = stage.dibao("export").await.exits(0).rows();
    assert_eq!(articles.len(), 9);
    let politics: Vec<_> = articles.iter().filter(|row| row["target"] == "people_com_cn__politics").collect();
    assert!(
        politics.iter().all(|row| row["content_category"] == "要闻" && row["content_subcategory"] == "国内")
    );

    stage.dibao("opml export -o out.opml").await.exits(0);
    stage.dibao("opml import out.opml --data other").await.exits(0).says(&["3 added, 0 known, 0 left out"]);
    assert_eq!(stage.dibao("opml export --data other").await.exits(0).stdout, stage.read("out.opml"));
    assert!(stage.read("out.opml").contains("<outline text=\"国内\">"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_is_no_list_is_refused_with_its_place() {
    let stage = Stage::new().await;
    stage.write("no.opml", "<?xml version=\"1.0\"?>\n<rss version=\"2.0\"/>");
    stage
        .dibao("opml import no.opml")
        .await
        .exits(2)
        .says(&["no.opml:2:1", "<rss> where <opml> was expected"]);
    stage.write("deep.opml", format!("<opml><body>{}", "<outline text='a'>".repeat(100_000)));
    stage.dibao("opml import deep.opml").await.exits(2).says(&["deep"]);
    stage.dibao("opml import missing.opml").await.exits(3).says(&["missing.opml"]);
}

const MIXED: &str = r#"<?xml version="1.0"?><rss version="2.0"><channel><title>汇总</title><link>http://www.plain.gov.cn/</link>
<item><title>在别处</title><link>http://elsewhere.example.cn/1.html</link><description>在别处的一条的摘要</description></item>
<item><title>已经删除</title><link>http://www.plain.gov.cn/gone.html</link><description>已经删除的一条的摘要</description></item>
<item><title>只有题目</title><link>http://elsewhere.example.cn/2.html</link></item>
<item><description>没有链接的一条短讯</description></item>
<item><title>没有链接</title><guid isPermaLink="false">urn:4</guid></item>
</channel></rss>"#;

#[tokio::test(flavor = "multi_thread")]
async fn entries_whose_page_is_gone_forbidden_or_nowhere_are_stored_with_what_the_feed_has() {
    let stage = Stage::new().await;
    let plain = Plain::serve([("/feed.xml".to_owned(), "text/xml", MIXED.as_bytes().to_vec())]);
    stage.write(
        "mixed.yaml",
        "{site_id: mixed, site_name: 汇总, base_url: 'http://www.plain.gov.cn', adapter: rss, interval_sec: 0, columns: [{column_id: all, list_url: /feed.xml}]}",
    );
    let crawl = async |more: &str| {
        let mut command = stage.bare(&format!("crawl mixed.yaml {more}"));
        command.args(["--resolve", &format!("www.plain.gov.cn={}", plain.addr())]);
        finish(command).await
    };
    // What has only a title says why there is no more.
    let run = crawl("").await;
    let errors = run.stderr.clone();
    assert!(errors.contains("may not reach http://elsewhere.example.cn"), "{errors}");
    let rows = finish(stage.bare("export")).await.exits(0).rows();
    let mut found: Vec<(&str, &str)> = rows
        .iter()
        .map(|row| (row["title"].as_str().unwrap(), row["content_text"].as_str().unwrap()))
        .collect();
    found.sort_unstable();
    assert_eq!(
        found,
        [
            ("在别处", "在别处的一条的摘要"),
            ("已经删除", "已经删除的一条的摘要"),
            ("没有链接", ""),
            ("没有链接的一条短讯", "没有链接的一条短讯"),
        ]
    );
    let asked: Vec<String> = plain.came().into_iter().filter(|path| path.contains("feed-entry")).collect();
    assert!(asked.is_empty(), "{asked:?}");
    crawl("").await;
    assert_eq!(finish(stage.bare("export")).await.exits(0).rows().len(), 4, "nothing is new");
}
