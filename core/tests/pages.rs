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
use std::time::Duration;

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
fn a_page_that_only_shows_a_file_leads_to_it() {
    for page in [
        "<title>关于示例的通知</title><h1>关于示例的通知</h1><iframe src='/p/v.pdf' width=100%></iframe>",
        "<title>关于示例的通知</title><iframe src='/pdfjs/web/viewer.html?file=/p/v.pdf'></iframe>",
        "<title>关于示例的通知</title><h1>关于示例的通知</h1><div id=zoom><object data=../p/v.pdf></object></div>",
        "<title>关于示例的通知</title><embed src=/p/v.pdf>",
    ] {
        let article = read(page.as_bytes(), "https://x.cn/d/1.html");
        let files: Vec<&str> = article.attachments.iter().map(|(url, _)| url.as_str()).collect();
        assert_eq!(files, ["https://x.cn/p/v.pdf"], "{page}");
        assert_eq!(article.kind, PageKind::Images, "{page}");
    }
}

#[test]
fn the_sign_beside_a_file_is_no_picture_of_the_article() {
    let page = format!(
        "<h1>关于示例的通知</h1><div id=zoom><p>{}</p><p><a href=/f.pdf><img src=/i.gif>附件</a></p></div>",
        SENTENCE.repeat(6)
    );
    let article = read(page.as_bytes(), "https://x.cn/d/1.html");
    assert_eq!((article.inline_image_count, article.lead_image), (0, None));
    assert_eq!(article.attachments.len(), 1);
    let page = page.replace("/f.pdf", "/f.html");
    assert_eq!(read(page.as_bytes(), "https://x.cn/d/1.html").inline_image_count, 1);
}

#[test]
fn an_order_has_its_number_under_its_name_and_several_offices_count_as_the_first() {
    for (head, keys) in [
        ("<p>中华人民共和国国务院令</p><p>第763号</p>", "中华人民共和国国务院令||763"),
        ("<p>中华人民共和国主席令</p><p>（第一〇一号）</p>", "中华人民共和国主席令||101"),
        ("<p>国家发展和改革委员会令2024年第12号</p>", "国家发展和改革委员会令|2024|12"),
        ("<p>财政部 税务总局 海关总署公告2024年第5号</p>", "财政部公告|2024|5"),
        ("<p>（国办发〔2024〕5号）</p>", "国办发|2024|5"),
        ("<p>建办〔2024〕12-1号</p>", "建办|2024|12-1"),
    ] {
        let page = format!("<h1>关于示例的决定</h1><div id=zoom>{head}<p>{}</p></div>", SENTENCE.repeat(6));
        let document = read(page.as_bytes(), "").document;
        let found: Vec<String> = document.doc_numbers.iter().map(|no| no.key()).collect();
        assert_eq!(found, [keys], "{head}: {:?}", document.doc_no);
    }
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

/// An article behind whatever came before it.
fn planted() -> String {
    let paragraphs: String = (0..8).map(|n| format!("<p>PLANTED {n}：{}</p>", SENTENCE.repeat(6))).collect();
    format!("<div class=article><h1>关于示例的通知</h1>{paragraphs}</div>")
}

#[test]
fn an_article_survives_a_hostile_page_on_a_small_stack() {
    let prose = SENTENCE.repeat(20);
    let pages: Vec<(&str, String)> = vec![
        ("100,000 nested tags", "<div>".repeat(100_000)),
        ("nested formatting", "<b>".repeat(100_000)),
        ("rows that were never closed", (0..600).map(|n| format!("<div class=row>第{n}行")).collect()),
        (
            "formatting that was never closed",
            (0..700).map(|n| format!("<p><font size={n}>第{n}段")).collect(),
        ),
        ("10 MB attribute", format!("<div title=\"{}\">", "a".repeat(10_000_000))),
        ("10 MB class", format!("<div class=\"{}\">", "content ".repeat(1_250_000))),
        ("100,000 attributes", format!("<p{}>", (0..100_000).map(|n| format!(" a{n}")).collect::<String>())),
        ("a million tiny elements", "<i>x</i>".repeat(1_000_000)),
        ("a million empty elements", "<i></i>".repeat(1_000_000)),
        ("unclosed everything", "<table><tr><td><div><p><b><a href=x><li><span>".repeat(20_000)),
        ("deep JSON-LD", format!("<script type=application/ld+json>{}</script>", "[".repeat(200_000))),
        ("dates that are none", "<p>2024-13-45 </p>".repeat(200_000)),
        ("values of scripts", format!("<script>{}</script>", "ct=".repeat(60_000))),
        ("related", "<p>相关阅读</p><p><a>新闻</a></p>".repeat(5_000)),
    ];
    let alone: Vec<(&str, String)> = vec![
        (
            "many headings",
            format!("<title>{prose}</title>") + &format!("<h2>{SENTENCE}</h2>").repeat(100_000),
        ),
        ("many boxes of one class", format!("<div class=item><p>{prose}</p></div>").repeat(10_000)),
        ("editors' lines", "<p>责任编辑：张三</p>".repeat(20_000)),
    ];
    let work = move || {
        for (name, page) in pages {
            let article = read((page + &planted()).as_bytes(), "https://x.cn/");
            for n in 0..8 {
                assert!(
                    article.text.contains(&format!("PLANTED {n}：{SENTENCE}")),
                    "{name}: {:?}",
                    article.cut
                );
            }
            // Whoever lost markup says so.
            assert_eq!(article.cut.is_some(), article.provenance.contains_key("cut"), "{name}");
            let sure = article.provenance["content"].confidence;
            assert!(article.cut.is_none() || sure <= 0.7, "{name}: {sure}");
        }
        for (name, page) in alone {
            let article = read(page.as_bytes(), "https://x.cn/");
            assert!(article.text.len() <= page.len(), "{name}");
        }
    };
    std::thread::Builder::new().stack_size(2 << 20).spawn(work).unwrap().join().unwrap();
}

/// Bytes of the smaller page.
const SMALL: usize = 8 * 1024;
/// How many times larger the other one is.
const LARGER: usize = 8;

/// `piece` again and again, numbered where it says `#`.
fn repeated(piece: &str, bytes: usize) -> String {
    let mut out = String::with_capacity(bytes + piece.len());
    let mut number = 0;
    while out.len() < bytes {
        out.push_str(&piece.replace('#', &number.to_string()));
        number += 1;
    }
    out
}

#[test]
fn a_larger_page_takes_longer_only_in_proportion() {
    let boxes = format!(
        "<div class='item c'><h3>{SENTENCE}</h3><p>{}</p><a href=x>更多</a></div>",
        SENTENCE.repeat(4)
    );
    let prose = format!("<p>{}</p>", SENTENCE.repeat(5));
    // What comes first stands once, the second is repeated, the third closes.
    let cases: Vec<(&str, &str, &str)> = vec![
        ("<h1>示例</h1><div id=zoom>", &boxes, "</div>"),
        ("", &prose, ""),
        ("", SENTENCE, ""),
        ("", "<p>2024-03-05</p>", ""),
        ("", "2024-03-05 ", ""),
        ("", "<p>2024-13-45</p>", ""),
        ("", "<p>发布时间：2024-03-05 10:00</p>", ""),
        ("", "<time datetime='2024-03-05T10:00:00'>x</time>", ""),
        ("", "<span class=time title='2024-03-05 10:00:00'>x</span>", ""),
        ("", "<p>来源：本网 作者：张三</p>", ""),
        ("", "<p>By Jane Doe</p>", ""),
        ("", "<p>发文字号：", ""),
        ("", "国办发〔2024〕#号、", ""),
        ("", "<p>财政部 税务总局令第#号", ""),
        ("", "第", ""),
        ("", "<a href=/a/#.html>新闻#</a>", ""),
        ("<div id=zoom>", "<p><a href=/a/#.pdf>附件#.pdf</a>，各地要认真落实，确保实效。</p>", "</div>"),
        (
            "<div id=zoom>",
            "<p><a href=/a/1.pdf><img src=i.gif></a>，各地要认真落实，确保实效。</p>",
            "</div>",
        ),
        ("", "<iframe src=#.pdf></iframe>", ""),
        ("", "<h2>第#节标题示例</h2>", ""),
        ("", "<div class=title>关于示例的通知</div>", ""),
        ("<div><span class=title><span class=title><span class=title>", SENTENCE, ""),
        ("", "<meta name=a# content=2024-03-05>", ""),
        ("", "<meta name=pubdate content=2024-03-05>", ""),
        ("<title>", "关于示例-", "</title>"),
        ("", "<script type=application/ld+json>{\"@type\":\"NewsArticle\",\"headline\":\"x\"}</script>", ""),
        ("<script type=application/ld+json>{\"@graph\":[", "{\"@type\":\"NewsArticle\"},", "0]}</script>"),
        ("", "<span itemprop=author>张三</span><span itemprop=datePublished>2024-03-05</span>", ""),
        ("<script>", "ct=", "</script>"),
        ("<script>", "pubtime:ct=", "</script>"),
        ("", "<script>ct=ct=pubtime=1</script>", ""),
        ("<p>x<!--", "-> ", "-->"),
        ("", "<!-- x -->", ""),
        ("", "&nbsp;&lt;&amp", ""),
        ("<p", " a#", ">"),
        ("", "<html a#>", ""),
        ("", "<p a#=\">\">x", ""),
        ("", "<x#>", ""),
        ("<table>", "<tr><td colspan=1000 rowspan=1000>12<td>张三</td></tr>", "</table>"),
        ("", "<table><tr><td>", ""),
        ("<table>", "x<tr>", "</table>"),
        ("", "<ul><li>各地要认真落实", ""),
        ("", "<p>相关阅读</p><p><a>新闻</a></p>", ""),
        ("", "<p>责任编辑：张三</p>", ""),
        ("", "<p>打印</p><p>广告</p>", ""),
        ("", "<p>版权声明：侵权删除</p>", ""),
        ("", "<div class=comment><p>各地要认真落实，确保实效。</p></div>", ""),
        ("", "<p><font size=#>第#段。", ""),
        ("", "<b id=#><div>x</b>", ""),
        ("", "<b><p>", ""),
        ("", "<div>", ""),
        ("", "<i></i>", ""),
        ("", "<", ""),
    ];
    // Of this thread alone: what other programs do on the machine does not count.
    let clock = || {
        let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
        Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
    };
    let time = |page: &str| {
        let best = (0..2).map(|_| {
            let begun = clock();
            let _ = read(page.as_bytes(), "https://x.cn/");
            clock().saturating_sub(begun)
        });
        best.min().unwrap_or_default()
    };
    let mut slow = Vec::new();
    for (open, piece, close) in cases {
        let page = |bytes: usize| format!("{open}{}{close}{}", repeated(piece, bytes), planted());
        // Lines are compared quickly: only larger pages tell.
        let lines = ["<p>相关阅读", "<p>责任编辑"].iter().any(|line| piece.starts_with(line));
        let least = if lines { 8 * SMALL } else { SMALL };
        let (small, large) = (time(&page(least)), time(&page(least * LARGER)));
        // What grows with the square takes 64 times as long.
        if large > small * (LARGER * 4) as u32 + Duration::from_millis(5) {
            slow.push(format!("{open}{piece}: {small:?} and {large:?}"));
        }
    }
    assert!(slow.is_empty(), "{LARGER} times the page took more than in proportion:\n{}", slow.join("\n"));
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
