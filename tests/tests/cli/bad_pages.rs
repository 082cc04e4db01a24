//! Pages that are not what they say, or meant to do harm: the rest of the list is read all the same.

use serde_json::Value;

use crate::plain::Plain;
use crate::stage::{Stage, finish};

const HTML: &str = "text/html; charset=utf-8";
const SITE: &str = "\
site_id: plain
site_name: 试验站
base_url: http://www.plain.gov.cn
columns:
  - column_id: news
    list_url: http://www.plain.gov.cn/list.html
    list_selector: {row: li}
    detail: {title: h1::text, content: div.body}
";

fn page(title: &str, body: &str) -> String {
    format!(
        "<html><head><title>{title}</title></head><body><h1>{title}</h1><div class=body>{body}</div></body></html>"
    )
}

/// Crawls a list of these pages, in this order; what was stored, by path, and the report.
async fn crawl(
    stage: &Stage,
    list: &[(&str, &str)],
    pages: Vec<(&str, Vec<u8>)>,
) -> (crate::stage::Run, Vec<Value>) {
    let rows: String =
        list.iter().map(|(path, title)| format!("<li><a href='{path}'>{title}</a></li>")).collect();
    let served = pages.into_iter().map(|(path, body)| (path.to_owned(), HTML, body));
    let list = ("/list.html".to_owned(), HTML, format!("<ul>{rows}</ul>").into_bytes());
    let plain = Plain::serve(served.chain([list]));
    stage.write("plain.yaml", SITE);
    let mut command = stage.bare("crawl plain.yaml -o out.jsonl -v");
    command.args(["--interval", "0", "--resolve", &format!("www.plain.gov.cn={}", plain.addr())]);
    let run = finish(command).await;
    assert!(!run.stderr.contains("panicked"), "{}", run.stderr);
    (run, crate::stage::rows(&stage.read("out.jsonl")))
}

fn find<'a>(articles: &'a [Value], path: &str) -> &'a Value {
    let found =
        articles.iter().find(|article| article["url"].as_str().is_some_and(|url| url.ends_with(path)));
    found.unwrap_or_else(|| panic!("{path} is not stored"))
}

/// Bytes that look random and are the same every time.
fn noise(length: usize) -> Vec<u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut bytes = Vec::with_capacity(length);
    while bytes.len() < length {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        bytes.push((state >> 56) as u8);
    }
    bytes
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_in_another_encoding_than_it_says_is_read_and_noise_harms_nobody() {
    let stage = Stage::with_five().await;
    let text = "按照全省统一部署，现就有关事项通知如下。".repeat(20);
    let gbk = encoding_rs::GBK.encode(&page("关于印发办法的通知", &text)).0.into_owned();
    let mut stray = page("夹杂坏字节的页面", &text).into_bytes();
    stray.splice(200..200, [0xff, 0xfe, 0x00, 0xc3]);
    let list = [("/gbk.html", "甲"), ("/noise.html", "乙"), ("/stray.html", "丙"), ("/good.html", "丁")];
    let pages = vec![
        ("/gbk.html", gbk),
        ("/noise.html", noise(60_000)),
        ("/stray.html", stray),
        ("/good.html", page("正常页面", &text).into_bytes()),
    ];
    let (run, articles) = crawl(&stage, &list, pages).await;
    assert!(run.code == 0 || run.code == 9, "{}", run.stderr);
    let gbk = find(&articles, "/gbk.html");
    assert_eq!(gbk["title"], "关于印发办法的通知");
    assert_eq!(gbk["content_text"], text.as_str());
    assert_eq!(find(&articles, "/stray.html")["title"], "夹杂坏字节的页面");
    assert_eq!(find(&articles, "/good.html")["content_text"], text.as_str());
    stage.intact().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hundred_thousand_nested_tags_cost_neither_the_stack_nor_the_run() {
    let stage = Stage::with_five().await;
    let deep = |tag: &str| {
        format!("{}深{}", format!("<{tag}>").repeat(100_000), format!("</{tag}>").repeat(100_000))
    };
    let text = "现就有关事项通知如下。".repeat(20);
    let list = [("/div.html", "甲"), ("/b.html", "乙"), ("/table.html", "丙"), ("/good.html", "丁")];
    let pages = vec![
        ("/div.html", page("深层", &deep("div")).into_bytes()),
        ("/b.html", page("深层", &deep("b")).into_bytes()),
        ("/table.html", page("深层", &"<table><tr><td>".repeat(100_000)).into_bytes()),
        ("/good.html", page("正常页面", &text).into_bytes()),
    ];
    let (run, articles) = crawl(&stage, &list, pages).await;
    assert!(run.code == 0 || run.code == 9, "{} {}", run.code, run.stderr);
    assert_eq!(find(&articles, "/good.html")["content_text"], text.as_str());
    let report = run.row();
    assert_eq!(
        report["items_new"].as_u64().unwrap() + report["items_failed"].as_u64().unwrap(),
        4,
        "{report}"
    );
    stage.intact().await;

    // As a list it is a page without rows.
    stage.write("deep.yaml", SITE.replace("plain", "deep"));
    let plain = Plain::serve([("/list.html".to_owned(), HTML, page("深层", &deep("div")).into_bytes())]);
    let mut command = stage.bare("crawl deep.yaml");
    command.args(["--interval", "0", "--resolve", &format!("www.deep.gov.cn={}", plain.addr())]);
    finish(command).await.exits(8).says(&["deep__news", "not shaped as expected"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn hostile_titles_never_reach_the_terminal_raw() {
    let stage = Stage::with_five().await;
    // Set the window title, clear the screen, eight-bit CSI, turn the direction of writing around.
    let escapes = "\u{1b}]0;pwned\u{7}\u{1b}[2J\u{9b}31m\u{202e}通知\r&#27;[31m&#155;2J";
    let huge = "长".repeat(1_200_000);
    let text = "现就有关事项通知如下。".repeat(20);
    let long_row = "行".repeat(300_000);
    let list = [
        ("/escape.html", escapes),
        ("/huge.html", "乙"),
        ("/row.html", long_row.as_str()),
        ("/gone\u{1b}[2J.html", escapes),
    ];
    let pages = vec![
        ("/escape.html", page(escapes, &format!("{escapes}{text}")).into_bytes()),
        ("/huge.html", page(&huge, &text).into_bytes()),
        ("/row.html", page("行", &text).into_bytes()),
    ];
    let (run, articles) = crawl(&stage, &list, pages).await;
    let run = run.exits(9);
    let number = find(&articles, "/escape.html")["id"].to_string();
    let title = find(&articles, "/huge.html")["title"].as_str().unwrap();
    assert_eq!(title.chars().count(), 4000, "cut as S2-15 says");
    assert_eq!(find(&articles, "/row.html")["title"], "行");
    let mut seen = vec![run.stdout, run.stderr, stage.read("out.jsonl")];
    for line in [
        format!("show {number}"),
        format!("show {number} --rows table"),
        "crawl plain__news --dry-run --rows table --force".into(),
        "crawl plain__news --dry-run --force".into(),
        "export --format csv --site plain".into(),
        "export --site plain".into(),
    ] {
        let run = stage.dibao(&line).await;
        seen.extend([run.stdout, run.stderr]);
    }
    for text in seen {
        let raw = text.chars().find(|c| c.is_control() && !matches!(c, '\n' | '\t'));
        assert_eq!(raw, None, "{}", text.escape_debug().take(600).collect::<String>());
        assert!(
            text.lines().all(|line| !line.contains("\u{202e}")) || text.starts_with("id,"),
            "direction of writing"
        );
        assert!(text.len() < 200_000, "{} bytes", text.len());
    }
    stage.intact().await;
}
