//! `dibao opml`: the list of a feed reader is crawled as it is, and comes out as it went in.

use crate::stage::Stage;

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
