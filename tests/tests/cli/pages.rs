//! `dibao parse`, `dibao extract`, and pages that no selector fits: any page gives its article, and says why.

use std::process::Stdio;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};

use crate::plain::Plain;
use crate::stage::{Stage, finish};

const PAGE: &str = "<html><head><title>关于示例工作的通知_某市人民政府</title>\
    <meta name=PubDate content='2026-04-10 09:30'></head><body><div class=nav><a href=/>首页</a></div>\
    <h1>关于示例工作的通知</h1><p>来源：某市民政局　发布时间：2026-04-10 09:30</p><div class=wz><p>某府〔2026〕7号</p>\
    <p>各县区人民政府：为了做好示例工作，切实兜住民生底线，现将有关事项通知如下，请认真贯彻执行。</p>\
    <p>一、提高思想认识，加强组织领导，压实工作责任，确保各项措施落到实处、取得实效。</p>\
    <p><a href='f.docx'>附件：示例表.docx</a></p></div><div class=footer>主办：某市人民政府</div></body></html>";

#[tokio::test(flavor = "multi_thread")]
async fn a_file_is_read_without_any_network_and_each_field_is_explained() {
    let stage = Stage::new().await;
    stage.write("page.html", PAGE);
    let url = "--url http://www.example.gov.cn/tz/1.html";
    let article = finish(stage.bare(&format!("parse page.html {url}"))).await.exits(0).row();
    assert_eq!(article["title"], "关于示例工作的通知");
    assert_eq!(article["published"]["date"], "2026-04-10");
    assert_eq!(article["source"], "某市民政局");
    assert_eq!(article["document"]["doc_numbers"][0], json!({"issuer": "某府", "year": 2026, "serial": 7}));
    assert_eq!(article["attachments"][0]["url"], "http://www.example.gov.cn/tz/f.docx");

    let text = finish(stage.bare("parse page.html --format text")).await.exits(0).stdout;
    assert!(text.starts_with("某府〔2026〕7号\n各县区人民政府：") && !text.contains("主办"), "{text}");
    let markdown =
        finish(stage.bare(&format!("parse page.html --format markdown {url}"))).await.exits(0).stdout;
    assert!(markdown.contains("[附件：示例表.docx](http://www.example.gov.cn/tz/f.docx)"), "{markdown}");
    let html = finish(stage.bare("parse page.html --format html")).await.exits(0).stdout;
    assert!(html.contains("<p>某府〔2026〕7号</p>"), "{html}");

    let lines = finish(stage.bare("parse page.html --explain")).await.exits(0).rows();
    let chosen =
        |field: &str| lines.iter().find(|line| line["field"] == field && line["chosen"] == true).unwrap();
    assert_eq!(
        (&chosen("published")["engine"], &chosen("published")["rule"]),
        (&json!("meta"), &json!("pubdate"))
    );
    assert_eq!(chosen("content")["engine"], "generic");
    assert!(chosen("content")["at"].as_str().unwrap().contains("div"), "{}", chosen("content"));
    assert!(lines.iter().any(|line| line["field"] == "title" && line["chosen"] == false), "losers are shown");
    let table = finish(stage.bare("parse page.html --explain --rows table")).await.exits(0).stdout;
    assert!(table.contains("confidence") && table.contains('✓'), "{table}");
    finish(stage.bare("parse no-such-page.html")).await.exits(3).says(&["no-such-page.html"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_address_is_read_through_the_gate() {
    let stage = Stage::new().await;
    let plain = Plain::serve([("/1.html".to_owned(), "text/html; charset=utf-8", PAGE.as_bytes().to_vec())]);
    let mut command = stage.bare("parse http://www.plain.gov.cn/1.html");
    command.args(["--interval", "0", "--resolve", &format!("www.plain.gov.cn={}", plain.addr())]);
    let article = finish(command).await.exits(0).row();
    assert_eq!(article["title"], "关于示例工作的通知");
    assert!(plain.came().contains(&"/robots.txt".to_owned()), "the gate asked first: {:?}", plain.came());
}

#[tokio::test(flavor = "multi_thread")]
async fn each_line_is_answered_before_the_next_one_is_asked() {
    let stage = Stage::new().await;
    let mut command = stage.bare("extract --jsonl");
    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
    let mut questions = child.stdin.take().unwrap();
    let mut answers = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut ask = async |line: String| {
        questions.write_all(line.as_bytes()).await.unwrap();
        questions.write_all(b"\n").await.unwrap();
        // Without the flush this would wait for ever: the question after it is not asked yet.
        serde_json::from_str::<Value>(&answers.next_line().await.unwrap().unwrap()).unwrap()
    };
    for id in 0..3 {
        let answer =
            ask(json!({"id": id, "html": PAGE, "url": "http://x.gov.cn/a/1.html"}).to_string()).await;
        let keys: Vec<&str> = answer.as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(keys, ["id", "title", "text", "date", "source", "author", "attachments", "provenance"]);
        assert_eq!((&answer["id"], &answer["date"]), (&json!(id), &json!("2026-04-10")));
        let bad = ask(format!("{{\"id\":\"bad{id}\",\"html\":7}}")).await;
        assert_eq!(bad["id"], json!(format!("bad{id}")));
        assert!(bad["error"].as_str().is_some_and(|error| error.contains("html")), "{bad}");
    }
    drop(questions);
    assert!(child.wait().await.unwrap().success());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_whose_content_selector_matches_nothing_is_stored_with_what_the_page_shows() {
    let stage = Stage::new().await;
    let list = "<ul><li><a href='/1.html'>关于示例工作的通知</a></li></ul>";
    let plain = Plain::serve([
        ("/list.html".to_owned(), "text/html", list.as_bytes().to_vec()),
        ("/1.html".to_owned(), "text/html; charset=utf-8", PAGE.as_bytes().to_vec()),
        ("/f.docx".to_owned(), "application/octet-stream", b"PK".to_vec()),
    ]);
    stage.write(
        "plain.yaml",
        "site_id: plain\nsite_name: 某市\nbase_url: http://www.plain.gov.cn\ncolumns:\n  - column_id: news\n    \
         list_url: http://www.plain.gov.cn/list.html\n    list_selector: {row: li}\n    \
         detail: {title: h1::text, content: div.moved-elsewhere}\n",
    );
    let mut command = stage.bare("crawl plain.yaml -o out.jsonl");
    command.args(["--interval", "0", "--resolve", &format!("www.plain.gov.cn={}", plain.addr())]);
    finish(command).await.exits(0);
    let article = crate::stage::rows(&stage.read("out.jsonl")).remove(0);
    assert_eq!(article["status"], "ready");
    assert!(article["content_text"].as_str().unwrap().contains("切实兜住民生底线"), "{article}");
    assert_eq!(article["metadata"]["used_fallback"], "true");
    assert!(article["provenance"]["content"].as_str().unwrap().starts_with("generic:"), "{article}");
    assert_eq!(
        (&article["doc_no"], &article["metadata"]["doc_no_key"]),
        (&json!("某府〔2026〕7号"), &json!("某府|2026|7"))
    );
    assert_eq!(article["has_attachment"], true);
    assert_eq!(article["provenance"]["title"], "css:h1::text", "what the selectors found stays theirs");
}
