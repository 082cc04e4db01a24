//! `dibao show`, `dibao export`, `dibao db check`: what was stored is found again, in Chinese too.

use crate::stage::Stage;

#[tokio::test(flavor = "multi_thread")]
async fn an_article_is_shown_by_number_address_or_hash() {
    let stage = Stage::with_five().await;
    let article = stage.dibao("export").await.exits(0).rows().remove(2);
    let (url, hash) = (article["url"].as_str().unwrap(), article["url_hash"].as_str().unwrap());
    let number = article["id"].to_string();
    // The address as stored, and as somebody might have copied it.
    let plain = url.replace("https://", "http://") + "#top";
    for key in [number.as_str(), url, &plain, hash, &hash[..8]] {
        let shown = stage.dibao(&format!("show {key}")).await.exits(0).row();
        assert_eq!(shown, article, "{key}");
    }
    stage.dibao("show 99999").await.exits(2).says(&["no article `99999`", "url_hash"]);
    let people = stage.dibao(&format!("show {number} --rows table")).await.exits(0).stdout;
    let title = article["title"].as_str().unwrap();
    assert!(people.starts_with("title ") && people.contains(title), "{people}");
    assert!(people.contains("[css:h2.article_title::text]"), "where each field was found: {people}");
}

#[tokio::test(flavor = "multi_thread")]
async fn csv_and_json_lines_say_the_same_and_keep_every_character() {
    let stage = Stage::with_five().await;
    stage.dibao("crawl ndrc__tz --max-items 3").await.exits(0);
    let json = stage.dibao("export --format jsonl").await.exits(0).rows();
    assert_eq!(json.len(), 8);
    stage.dibao("export --format csv --bom -o all.csv").await.exits(0).says(&["8 articles"]);
    let bytes = std::fs::read(stage.path("all.csv")).unwrap();
    let text = bytes.strip_prefix("\u{feff}".as_bytes()).expect("a byte order mark");
    let mut csv = csv::Reader::from_reader(text);
    let heads = csv.headers().unwrap().clone();
    let rows: Vec<csv::StringRecord> = csv.records().map(|row| row.expect("a CSV row")).collect();
    assert_eq!(rows.len(), json.len());
    for (row, article) in rows.iter().zip(&json) {
        for (name, value) in
            [("title", "title"), ("url", "url"), ("target", "target"), ("content_text", "content_text")]
        {
            let at = heads.iter().position(|head| head == name).unwrap();
            assert_eq!(row.get(at), article[value].as_str(), "{name}");
        }
        assert!(row.iter().any(|cell| cell.contains('的')), "Chinese text: {row:?}");
    }
    let csv = stage.dibao("export --format csv --site ndrc --target ndrc__tz").await.exits(0).stdout;
    assert!(csv.starts_with("id,site,target,url,title,"), "{csv}");
    assert_eq!(csv::Reader::from_reader(csv.as_bytes()).records().count(), 3);
    // Where an earlier export ended, the next one begins.
    let last = json[5]["id"].to_string();
    assert_eq!(stage.dibao(&format!("export --after {last}")).await.exits(0).rows(), json[6..]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lost_file_is_noticed_and_named() {
    let stage = Stage::with_five().await;
    stage.dibao("db check").await.exits(0).says(&["clean"]);
    let article = stage.dibao("show 1").await.exits(0).row();
    let page = article["raw_html_path"].as_str().unwrap();
    std::fs::remove_file(stage.path("data").join(page)).unwrap();
    let run = stage.dibao("db check").await.exits(3).says(&["1 problem"]);
    assert!(run.stdout.contains(page), "{}", run.stdout);
}
