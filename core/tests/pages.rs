//! Pages in the shape of the families this library reads, each with what must come out of it: the text is compared whole.
//!
//! `pages/<family>.html` is the page, `.json` the fields that must hold, `.txt` the text. No page is of a real site; each has the markup
//! that its content system or kind of site writes.

#[path = "pages/days.rs"]
mod days;
#[path = "pages/fields.rs"]
mod fields;
#[path = "pages/regions.rs"]
mod regions;
#[path = "pages/titles.rs"]
mod titles;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use dibao::Timestamp;
use dibao::extract::{self, Options, PageArticle, PageKind};
use proptest::prelude::*;
use serde_json::{Value, json};

/// 2026-05-28.
const NOW: Timestamp = Timestamp(1_780_000_000_000);

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/pages")
}

fn families() -> Vec<PathBuf> {
    let mut pages: Vec<PathBuf> = std::fs::read_dir(folder())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|end| end == "html"))
        .collect();
    pages.sort();
    pages
}

fn read(page: &[u8], url: &str) -> PageArticle {
    extract::page(page, url, &Options { formats: true, ..Options::at(NOW) })
}

/// The fields of an article under the names that the fixtures use.
fn fields(article: &PageArticle) -> Value {
    let document = &article.document;
    let day = |published: &Option<dibao::model::Published>| {
        published.as_ref().map(|published| published.date.clone())
    };
    let files: Vec<Value> = article.attachments.iter().map(|(url, name)| json!([url, name])).collect();
    let keys: Vec<String> = document.doc_numbers.iter().map(|no| no.key()).collect();
    json!({
        "kind": article.kind,
        "title": article.title,
        "date": day(&article.published),
        "precision": article.published.as_ref().map(|published| format!("{:?}", published.precision)),
        "modified": day(&article.modified),
        "written": day(&document.written),
        "source": article.source,
        "author": article.author,
        "attachments": files,
        "images": article.inline_image_count,
        "encoding": article.encoding,
        "doc_no": document.doc_no,
        "doc_keys": keys,
        "index_no": document.index_no,
        "publisher": document.issuer,
        "topic": document.topic,
        "validity": document.validity,
    })
}

#[test]
fn every_family_gives_its_fields_and_its_whole_text() {
    let families = families();
    assert!(families.len() >= 25, "{} families", families.len());
    let mut wrong = Vec::new();
    for path in families {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let expected: Value =
            serde_json::from_slice(&std::fs::read(path.with_extension("json")).unwrap()).unwrap();
        let text = std::fs::read_to_string(path.with_extension("txt")).unwrap();
        let article = read(&std::fs::read(&path).unwrap(), expected["url"].as_str().unwrap());
        let got = fields(&article);
        for (field, value) in expected.as_object().unwrap().iter().filter(|(field, _)| *field != "url") {
            let read = &got[field];
            let same = match (read, value) {
                (Value::String(a), Value::String(b)) if field == "encoding" => a.eq_ignore_ascii_case(b),
                (a, b) => a == b,
            };
            if !same {
                wrong.push(format!("{name}: {field} is {read}, not {value}"));
            }
        }
        if article.text != text.trim_end_matches('\n') {
            wrong.push(format!("{name}: the text is\n{}\nnot\n{text}", article.text));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_field_says_where_it_came_from() {
    for path in families() {
        let article = read(&std::fs::read(&path).unwrap(), "https://www.example.gov.cn/a/b.html");
        let proven = |field: &str, there: bool| {
            assert_eq!(article.provenance.contains_key(field), there, "{}: {field}", path.display());
        };
        proven("title", article.title.is_some());
        proven("published", article.published.is_some());
        proven("source", article.source.is_some());
        proven("author", article.author.is_some());
        proven("doc_no", article.document.doc_no.is_some());
        if article.kind == PageKind::Article {
            proven("content", true);
            let proof = &article.provenance["content"];
            assert!(proof.at.is_some() && proof.offset.is_some(), "{}: {proof}", path.display());
        }
        for proof in article.provenance.values().chain(article.losers.iter().map(|loser| &loser.proof)) {
            assert!((0.0..=1.0).contains(&proof.confidence), "{proof}");
        }
    }
}

#[test]
fn tables_headings_links_and_pictures_survive_as_markdown_and_html() {
    let page = "<title>示例公告</title><h1>示例公告</h1><div id=zoom onclick=steal()><h2>一、总体要求</h2>\
        <p>各单位要按照<a href='/f.html'>示例方案</a>的要求，认真组织实施，确保取得实效。<script>x()</script></p>\
        <table><tr><th>姓名<th>金额</tr><tr><td>张某<td>10|20</tr></table>\
        <ol><li>第一，提高认识。<li>第二，加强领导。</ol><p><img src='data:x' data-src=/a.jpg alt=图 onerror=x()></p>\
        <p><a href='javascript:x()'>点击</a>&lt;b&gt; 以上事项请遵照执行，不得有误。</p></div>";
    let article = read(page.as_bytes(), "https://x.cn/d/");
    assert_eq!(
        article.markdown,
        "## 一、总体要求\n\n各单位要按照[示例方案](https://x.cn/f.html)的要求，认真组织实施，确保取得实效。\n\n\
         | 姓名 | 金额 |\n| --- | --- |\n| 张某 | 10\\|20 |\n\n1. 第一，提高认识。\n2. 第二，加强领导。\n\n\
         ![图](https://x.cn/a.jpg)\n\n点击\\<b> 以上事项请遵照执行，不得有误。"
    );
    for dead in ["script", "onclick", "onerror", "javascript:", "data:"] {
        assert!(!article.html.contains(dead), "{dead}: {}", article.html);
    }
    assert!(article.html.contains("<a href=\"https://x.cn/f.html\">示例方案</a>"), "{}", article.html);
    assert!(article.html.contains("<td>张某</td>") && article.html.contains("&lt;b&gt;"), "{}", article.html);
}

#[test]
fn dates_ahead_and_before_1949_are_not_publications() {
    for (day, expected) in [("2026-04-10", true), ("2099-04-10", false), ("1948-04-10", false)] {
        let page = format!(
            "<h1>关于示例的通知</h1><p>发布时间：{day}</p><div id=zoom><p>各单位要认真组织实施，确保取得实效。</p></div>"
        );
        assert_eq!(read(page.as_bytes(), "").published.is_some(), expected, "{day}");
    }
}

const SENTENCE: &str = "各地区要认真组织实施，确保取得实效。";

#[test]
fn hostile_pages_end_in_time_on_a_small_stack() {
    let prose = SENTENCE.repeat(20);
    let pages: Vec<(&str, String)> = vec![
        ("100,000 nested tags", "<div>".repeat(100_000) + &prose),
        ("nested formatting", "<b>".repeat(100_000) + &prose),
        ("10 MB attribute", format!("<div title=\"{}\"><p>{prose}", "a".repeat(10_000_000))),
        ("10 MB class", format!("<div class=\"{}\"><p>{prose}", "content ".repeat(1_250_000))),
        ("a million tiny elements", "<i>x</i>".repeat(1_000_000)),
        ("unclosed everything", "<table><tr><td><div><p><b><a href=x><li><span>".repeat(20_000)),
        (
            "many headings",
            format!("<title>{prose}</title>") + &format!("<h2>{SENTENCE}</h2>").repeat(100_000),
        ),
        ("many boxes of one class", format!("<div class=item><p>{prose}</p></div>").repeat(10_000)),
        ("deep JSON-LD", format!("<script type=application/ld+json>{}</script>", "[".repeat(200_000))),
        ("dates that are none", "<p>2024-13-45 </p>".repeat(200_000)),
    ];
    let work = move || {
        for (name, page) in pages {
            let begun = Instant::now();
            let article = read(page.as_bytes(), "https://x.cn/");
            // The parser's own budget is two seconds; what follows must not multiply it, even without optimisation.
            assert!(begun.elapsed() < Duration::from_secs(60), "{name} took {:?}", begun.elapsed());
            assert!(article.text.len() <= page.len(), "{name}");
        }
    };
    std::thread::Builder::new().stack_size(2 << 20).spawn(work).unwrap().join().unwrap();
}

#[test]
fn twice_the_page_takes_no_more_than_a_few_times_as_long() {
    let page = |paragraphs: usize| {
        let boxes = format!(
            "<div class='item c'><h3>{SENTENCE}</h3><p>{}</p><a href=x>更多</a></div>",
            SENTENCE.repeat(4)
        );
        format!("<title>示例</title><h1>示例</h1><div id=zoom>{}</div>", boxes.repeat(paragraphs))
    };
    let time = |page: &str| {
        let best = (0..3).map(|_| {
            let begun = Instant::now();
            assert!(!read(page.as_bytes(), "").text.is_empty());
            begun.elapsed()
        });
        best.min().unwrap_or_default()
    };
    let (small, large) = (time(&page(1_000)), time(&page(8_000)));
    assert!(large < small * 8 * 6, "8 times the page took {small:?} and {large:?}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..2000)) {
        let _ = read(&bytes, "https://x.cn/");
    }

    #[test]
    fn no_markup_panics_and_the_same_page_gives_the_same_article(
        page in "(<[/!]?(div|table|tr|td|a href=x|b|p|h1|title|meta name=pubdate content=|article|li|ul|br|time datetime=|script|img src=x|figure|form|pre)[ >]|2026-04-10|来源：|责任编辑：|国办发〔2026〕5号|各地要认真落实，确保实效。|[a-z<>&;=\"' -]|中|\u{a0}|年){0,120}"
    ) {
        let (first, second) = (read(page.as_bytes(), "https://x.cn/"), read(page.as_bytes(), "https://x.cn/"));
        prop_assert_eq!(&first.text, &second.text);
        prop_assert_eq!(first.title, second.title);
        prop_assert!(!first.text.contains("\n\n\n"));
        prop_assert!(!first.html.contains("<script"));
    }
}
