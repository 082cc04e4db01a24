//! `dibao discover`: a site's columns, and a site file that crawls as it is.

use serde_json::json;

use crate::stage::Stage;

#[tokio::test(flavor = "multi_thread")]
async fn a_found_site_is_written_to_a_file_that_crawls_as_it_is() {
    let stage = Stage::new().await;
    let line = "discover https://www.zhaoqing.gov.cn/zqhjj/gkmlpt/index#21023 -o found.yaml";
    let found =
        stage.dibao(line).await.exits(0).says(&["found.yaml: 3 columns, 1 of them without documents"]);
    let rows = found.rows();
    let ids: Vec<_> =
        rows.iter().map(|row| (row["id"].as_str().unwrap(), row["is_list"].as_bool().unwrap())).collect();
    assert_eq!(ids, [("90001", false), ("21023", true), ("21024", true), ("90002", false), ("99001", true)]);
    assert_eq!(rows[1]["path"], "重点领域信息公开/受理公告");
    assert_eq!(rows[1]["post_count"], json!(30 + 17));
    assert_eq!(rows[3]["jump_url"], "https://www.zhaoqing.gov.cn/zqhjj/ysqgk/");
    // Like any other request: robots.txt comes first.
    let asked = stage.asked();
    assert_eq!(asked, ["www.zhaoqing.gov.cn/robots.txt", "www.zhaoqing.gov.cn/zqhjj/gkmlpt/index"]);
    let file = stage.read("found.yaml");
    for words in ["adapter: gkmlpt", "758019", "重点领域信息公开/审批公告", "zhaoqing_zqhjj"] {
        assert!(file.contains(words), "{words}: {file}");
    }
    stage.replica.forget_requests();
    let reports = stage.dibao("crawl found.yaml --max-items 5").await.exits(0).rows();
    let count = |name: &str| reports.iter().filter_map(|row| row[name].as_u64()).sum::<u64>();
    // One post stands in both columns.
    assert_eq!(
        (count("items_seen"), count("items_new"), count("items_duplicate")),
        (10, 9, 1),
        "{reports:?}"
    );
    assert!(stage.asked().iter().all(|path| !path.ends_with("/gkmlpt/index")), "the number is in the file");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_site_that_no_adapter_knows_is_looked_at_page_by_page_and_its_file_crawls() {
    let stage = Stage::new().await;
    let line = "discover https://www.gdqy.gov.cn/ --pages 8 --depth 2 -o found.yaml";
    let said = ["looked at", "found 2 lists", "found.yaml: 2 columns"];
    let found = stage.dibao(line).await.exits(0).says(&said);
    let rows = found.rows();
    let names: Vec<_> =
        rows.iter().map(|row| (row["id"].as_str().unwrap(), row["name"].as_str().unwrap())).collect();
    assert_eq!(names, [("tzgg", "通知公告"), ("zlxx", "质量信息")]);
    assert_eq!(rows[0]["titles"].as_array().unwrap().len(), 3);
    let asked = stage.asked();
    assert_eq!(asked[0], "www.gdqy.gov.cn/robots.txt");
    // The host of the start and no other; nothing that robots.txt forbids; no document; each page once; no more than was said.
    assert!(asked.iter().all(|path| path.starts_with("www.gdqy.gov.cn/")), "{asked:?}");
    assert!(!asked.iter().any(|path| path.contains("/search/") || path.contains("post_")), "{asked:?}");
    assert!(!asked.iter().any(|path| path.contains("index_2")), "{asked:?}");
    let mut once = asked.clone();
    once.sort();
    once.dedup();
    assert_eq!(once.len(), asked.len(), "{asked:?}");
    let pages = asked.iter().filter(|path| !path.contains("robots.txt") && !path.contains("gkmlpt")).count();
    assert!(pages <= 8, "{asked:?}");
    let file = stage.read("found.yaml");
    for words in ["list_selector", "index_{page}.html", "质量信息"] {
        assert!(file.contains(words), "{words}: {file}");
    }
    let reports = stage.dibao("crawl found.yaml --max-items 25").await.exits(0).rows();
    let count = |name: &str| reports.iter().filter_map(|row| row[name].as_u64()).sum::<u64>();
    assert_eq!((count("items_failed"), reports.len()), (0, 2), "{reports:?}");
    // More than a page has: the second page was found too.
    assert!(count("items_new") > 40, "{reports:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_site_of_another_kind_is_told_what_was_looked_for() {
    let stage = Stage::new().await;
    let words = [
        "looked for `window._CONFIG` with SID and TREE in https://www.ndrc.gov.cn/gkmlpt/index: the page answered 404",
    ];
    let line = "discover https://www.ndrc.gov.cn/xwdt/ --adapter gkmlpt -o x.yaml";
    stage.dibao(line).await.exits(8).says(&words);
    // Neither is there a page at that address.
    stage.dibao("discover https://www.ndrc.gov.cn/xwdt/ -o x.yaml").await.exits(8).says(&["answered 404"]);
    let empty = "discover https://www.gdqy.gov.cn/ --depth 0 -o x.yaml";
    stage.dibao(empty).await.exits(8).says(&["no list of documents was found"]);
    assert!(!stage.path("x.yaml").exists());
    stage.dibao("discover nonsense").await.exits(2).says(&["is no web address"]);
    stage.dibao("discover https://www.ndrc.gov.cn/ --pages 0").await.exits(2).says(&["pages", "1 to 500"]);
}
