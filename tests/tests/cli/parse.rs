//! `dibao parse URL|FILE|-`: each way in, each format, and the table of `--explain`.

use std::process::Stdio;

use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;

use crate::plain::Plain;
use crate::stage::{Run, Stage, finish};

/// Meta, JSON-LD, a line and the address disagree, so that there are losers for every field.
const PAGE: &str = "<html><head><title>关于示例工作的通知_通知公告_某市人民政府</title>\
    <meta name=PubDate content='2026-04-10 09:30'><meta name=ContentSource content=本网>\
    <meta property='og:title' content='示例工作通知'>\
    <script type='application/ld+json'>{\"@type\":\"NewsArticle\",\"headline\":\"示例\",\"datePublished\":\"2026-04-11\"}</script></head><body>\
    <div class=nav><a href=/>首页</a><a href=/zw>政务公开</a></div><h1>关于示例工作的通知</h1>\
    <p>来源：某市民政局　发布时间：2026-04-12　作者：张三</p><div id=zoom onclick=steal()><p>某府〔2026〕7号</p>\
    <p>各县区人民政府：为了做好示例工作，切实兜住民生底线，现将有关事项通知如下，请认真贯彻执行。</p>\
    <h2>一、名单</h2><table><tr><th>姓名</th><th>金额</th></tr><tr><td>张某</td><td>300</td></tr></table>\
    <p><img src=/a.jpg alt=图><script>x()</script><a href='javascript:x()'>点击</a></p>\
    <p><a href='f.docx'>附件：示例表.docx</a></p></div><div class=footer>主办：某市人民政府</div></body></html>";
const TEXT: &str = "某府〔2026〕7号\n各县区人民政府：为了做好示例工作，切实兜住民生底线，现将有关事项通知如下，请认真贯彻执行。\n\
    一、名单\n姓名\t金额\n张某\t300\n点击\n附件：示例表.docx\n";

async fn piped(stage: &Stage, line: &str, bytes: &[u8]) -> Run {
    let mut child = stage.bare(line).stdin(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(bytes).await.unwrap();
    drop(stdin);
    Run::of(child.wait_with_output().await.unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_standard_input_and_an_address_give_the_same_in_every_format() {
    let stage = Stage::new().await;
    stage.write("page.html", PAGE);
    let plain =
        Plain::serve([("/tz/1.html".to_owned(), "text/html; charset=utf-8", PAGE.as_bytes().to_vec())]);
    let url = "http://www.plain.gov.cn/tz/1.html";
    for format in ["json", "text", "markdown", "html"] {
        let line = format!("--format {format}");
        let file = finish(stage.bare(&format!("parse page.html --url {url} {line}"))).await.exits(0).stdout;
        let stdin =
            piped(&stage, &format!("parse - --url {url} {line}"), PAGE.as_bytes()).await.exits(0).stdout;
        let mut command = stage.bare(&format!("parse {url} {line}"));
        command.args(["--interval", "0", "--resolve", &format!("www.plain.gov.cn={}", plain.addr())]);
        let web = finish(command).await.exits(0).stdout;
        assert_eq!((&stdin, &web), (&file, &file), "{format}");
        match format {
            "text" => assert_eq!(file, TEXT),
            "markdown" => assert!(
                file.contains("## 一、名单\n\n| 姓名 | 金额 |\n| --- | --- |\n| 张某 | 300 |\n")
                    && file.contains("[附件：示例表.docx](http://www.plain.gov.cn/tz/f.docx)"),
                "{file}"
            ),
            "html" => {
                assert!(file.contains("<td>张某</td>") && file.contains("/tz/f.docx\""), "{file}");
                for dead in ["script", "onclick", "javascript", "steal"] {
                    assert!(!file.contains(dead), "{dead}: {file}");
                }
            }
            _ => {
                let whole: Value = serde_json::from_str(&file).unwrap();
                assert_eq!(whole["text"], TEXT.trim_end());
                assert_eq!((&whole["kind"], &whole["encoding"]), (&json!("article"), &json!("UTF-8")));
                assert_eq!(
                    (&whole["inline_image_count"], &whole["lead_image"]),
                    (&json!(1), &json!("http://www.plain.gov.cn/a.jpg"))
                );
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_table_shows_who_won_and_who_lost_for_each_field() {
    let stage = Stage::new().await;
    stage.write("page.html", PAGE);
    let url = "--url http://www.example.gov.cn/tz/t20260409_1.html";
    let lines = finish(stage.bare(&format!("parse page.html --explain {url}"))).await.exits(0).rows();
    let of = |field: &str, chosen: bool| {
        lines
            .iter()
            .filter(|line| line["field"] == field && line["chosen"] == chosen)
            .map(|line| {
                let text = |key: &str| line[key].as_str().unwrap().to_owned();
                (text("engine"), text("value"))
            })
            .collect::<Vec<_>>()
    };
    let one = |engine: &str, value: &str| (engine.to_owned(), value.to_owned());
    assert_eq!(of("title", true), [one("page", "关于示例工作的通知")]);
    assert!(of("title", false).contains(&one("opengraph", "示例工作通知")), "{lines:?}");
    assert_eq!(of("published", true), [one("meta", "2026-04-10")]);
    let losers = of("published", false);
    for loser in [one("json-ld", "2026-04-11"), one("page", "2026-04-12"), one("address", "2026-04-09")] {
        assert!(losers.contains(&loser), "{loser:?} is not in {losers:?}");
    }
    assert_eq!(of("source", true), [one("meta", "本网")]);
    assert!(of("source", false).contains(&one("page", "某市民政局")), "{lines:?}");
    assert_eq!(of("author", true), [one("page", "张三")]);
    assert_eq!(of("doc_no", true), [one("page", "某府〔2026〕7号")]);
    assert_eq!(of("content", true).len(), 1);
    assert!(!of("content", false).is_empty(), "the regions that lost are shown: {lines:?}");
    for line in &lines {
        assert!((0.0..=1.0).contains(&line["confidence"].as_f64().unwrap()), "{line}");
        assert!(line["rule"].as_str().is_some_and(|rule| !rule.is_empty()), "{line}");
    }

    let table =
        finish(stage.bare(&format!("parse page.html --explain --rows table {url}"))).await.exits(0).stdout;
    for heading in ["field", "value", "engine", "rule", "position", "confidence"] {
        assert!(table.contains(heading), "{heading}: {table}");
    }
    let won = table.lines().filter(|line| line.contains('✓')).count();
    assert_eq!(won, lines.iter().filter(|line| line["chosen"] == true).count(), "{table}");
    assert!(table.contains("示例工作通知"), "losers are in the table: {table}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_page_is_said_and_nothing_is_written() {
    let stage = Stage::new().await;
    for (line, code, words) in [
        ("parse", 2, "PAGE"),
        ("parse page.html --format pdf", 2, "pdf"),
        ("parse no-such.html", 3, "no-such.html"),
        ("parse - --url ftp://x.cn/", 2, "ftp://x.cn/"),
        ("extract", 2, "--jsonl"),
    ] {
        let run = finish(stage.bare(line)).await.exits(code).says(&[words]);
        assert_eq!(run.stdout, "", "{line}");
    }
    // Whatever bytes come, the answer is one line of JSON.
    for bytes in [&b""[..], b"\0\0\xff\xfe<", "\u{1b}[31m<title>\u{1b}]0;x\u{7}".as_bytes(), b"%PDF-1.7"] {
        let article = piped(&stage, "parse -", bytes).await.exits(0).row();
        assert!(article["text"].is_string(), "{article}");
        let shown = piped(&stage, "parse - --format text", bytes).await.exits(0).stdout;
        assert!(!shown.contains('\u{1b}'), "{shown:?}");
    }
}

const FEED: &str = "<?xml version='1.0'?><!-- of a reader --><rss version='2.0'><channel>\
    <item><title>甲</title><link>/1.html</link><pubDate>Fri, 10 Apr 2026 09:38:30 +0800</pubDate></item>\
    <item><description>没有链接</description></item></channel></rss>";

#[tokio::test(flavor = "multi_thread")]
async fn a_page_at_hand_is_read_by_an_adapter_without_a_network() {
    let stage = Stage::new().await;
    let adapters = crate::stage::adapters().display().to_string();
    stage.write("feed.xml", FEED);
    let parse = async |line: &str| {
        let mut command = stage.bare(&format!("parse {line}"));
        command.args(["--adapters", &adapters]);
        finish(command).await
    };
    let url = "--url https://a.cn/rss/feed.xml";
    let named = parse(&format!("feed.xml --adapter rss {url}")).await.exits(0);
    let rows = named.rows();
    assert_eq!(
        (&rows[0]["url"], &rows[0]["published"]),
        (&json!("https://a.cn/1.html"), &json!("2026-04-10T09:38:30+08:00"))
    );
    assert_eq!((rows.len(), &rows[1]["title"]), (2, &json!("没有链接")));
    // A feed is known by its root, and said to be one.
    let known = parse(&format!("feed.xml {url}")).await.exits(0).says(&["a feed"]);
    assert_eq!(known.rows(), rows);
    // In the encoding that its answer had, from standard input.
    let (gb, _, _) = encoding_rs::GBK.encode(FEED);
    let line =
        format!("parse - --adapter rss {url} --content-type text/xml;charset=gbk --adapters {adapters}");
    assert_eq!(piped(&stage, &line, &gb).await.exits(0).rows(), rows);

    stage.write("page.html", PAGE);
    parse("page.html --adapter rss").await.exits(8).says(&["shape", "HTML"]);
    parse("page.html --adapter nobody").await.exits(7).says(&["nobody"]);
    parse("page.html --adapter rss --settings {\"detail\":1}").await.exits(2).says(&["detail"]);
    parse("page.html --adapter rss --settings [").await.exits(2).says(&["--settings"]);
    stage.write("list.html", "<ul><li><a href=/2.html>乙</a><span>2026-04-10</span></li></ul>");
    let settings = "{\"list_selector\":{\"row\":\"li\"}}";
    let list = parse(&format!("list.html --adapter yaml-css --settings {settings} {url}")).await.exits(0);
    assert_eq!((list.rows().len(), &list.rows()[0]["title"]), (1, &json!("乙")));
    let document = parse(&format!("page.html --adapter rss --document {url}")).await.exits(0);
    assert!(document.stdout.contains("article"), "{}", document.stdout);
}
