//! Fields of pages that say them in many ways: each table names a field, each row a way.

use dibao::Timestamp;
use dibao::extract::{self, Options, PageArticle};

const NOW: Timestamp = Timestamp(1_780_000_000_000);
const PROSE: &str = "<p>各县区人民政府：为了做好示例工作，切实兜住民生底线，现将有关事项通知如下，请认真贯彻执行。</p>\
    <p>一、提高思想认识，加强组织领导，压实工作责任，确保各项措施落到实处、取得实效。</p>";

fn read(page: &str) -> PageArticle {
    let url = "https://www.example.gov.cn/tz/1.html";
    extract::page(page.as_bytes(), url, &Options { formats: true, ..Options::at(NOW) })
}

/// A page with something in its head, above its text, and in its text.
fn page(head: &str, above: &str, inside: &str) -> String {
    format!(
        "<html><head><title>关于示例工作的通知_某市人民政府</title>{head}</head><body><div class=nav><a href=/>首页</a></div>\
         {above}<h1>关于示例工作的通知</h1><div id=zoom>{PROSE}{inside}</div></body></html>"
    )
}

#[test]
fn what_makes_it_a_document_is_read_from_every_shape_of_a_metadata_table() {
    let shapes = [
        (
            "cells",
            "<table><tr><td>索 引 号：</td><td>00001/2026-1</td><td>主题分类：</td><td>民政</td></tr><tr><td>发文机关：</td>\
            <td>某市民政局</td><td>成文日期：</td><td>2026年4月1日</td></tr><tr><td>发文字号：</td><td>某民发〔2026〕7号</td>\
            <td>有 效 性：</td><td>失效</td></tr></table>",
        ),
        (
            "cells without colons",
            "<table><tr><th>索引号</th><td>00001/2026-1</td><th>主题分类</th><td>民政</td></tr><tr><th>发文机关</th>\
            <td>某市民政局</td><th>成文日期</th><td>2026-04-01</td></tr><tr><th>文号</th><td>某民发[2026]7号</td><th>是否有效</th><td>否</td></tr></table>",
        ),
        (
            "items",
            "<ul><li><b>索引号：</b>00001/2026-1</li><li><b>主题分类：</b>民政</li><li><b>发布机构：</b>某市民政局</li>\
            <li><b>生成日期：</b>2026/4/1</li><li><b>文　　号：</b>某民发（2026）7号</li><li><b>时效性：</b>已废止</li></ul>",
        ),
        (
            "label and value in spans",
            "<div><span>索引号:</span><span>00001/2026-1</span></div><div><span>信息分类:</span><span>民政</span></div>\
            <div><span>发文单位:</span><span></span></div><div><span>发文机构:</span><span>某市民政局</span></div>\
            <div><span>发文日期:</span><span>2026.4.1</span></div><div><span>发文文号:</span><span>某民发【2026】7号</span></div>\
            <div><span>效力状态:</span><span>失效</span></div>",
        ),
        (
            "terms",
            "<dl><dt>索引号</dt><dd>00001/2026-1</dd><dt>分类</dt><dd>民政</dd><dt>制发机关</dt><dd>某市民政局</dd><dt>成文时间</dt>\
            <dd>二〇二六年四月一日</dd><dt>文件编号</dt><dd>某民发﹝２０２６﹞７号</dd><dt>文件状态</dt><dd>废止</dd></dl>",
        ),
        (
            "brackets",
            "<p>【索引号】00001/2026-1</p><p>【主题分类】民政</p><p>【发文机关】某市民政局</p><p>【成文日期】2026年04月01日</p>\
            <p>【发文字号】某民发［2026］第7号</p><p>【有效性】失效</p>",
        ),
    ];
    for (name, table) in shapes {
        let article = read(&page("", table, ""));
        let document = &article.document;
        let read = (
            document.index_no.as_deref(),
            document.topic.as_deref(),
            document.issuer.as_deref(),
            document.written.as_ref().map(|written| written.date.as_str()),
            document.validity.as_deref(),
        );
        let expected =
            (Some("00001/2026-1"), Some("民政"), Some("某市民政局"), Some("2026-04-01"), Some("invalid"));
        assert_eq!(read, expected, "{name}: {document:?}");
        let keys: Vec<String> = document.doc_numbers.iter().map(|no| no.key()).collect();
        assert_eq!(keys, ["某民发|2026|7"], "{name}: {document:?}");
        for field in ["doc_no", "index_no", "publisher", "topic", "written", "validity"] {
            let proof = &article.provenance[field];
            assert!(proof.engine == "page" && proof.at.is_some(), "{name}: {field} {proof}");
        }
        // With nothing else known the day of writing stands in for that of publication, and says so.
        let proof = &article.provenance["published"];
        assert!(proof.rule == "day of writing" && proof.confidence <= 0.5, "{name}: {proof}");
        assert!(
            article.text.starts_with("各县区人民政府") && article.text.ends_with("取得实效。"),
            "{name}: {}",
            article.text
        );
    }
}

#[test]
fn the_number_at_the_head_of_the_text_counts_and_one_in_a_sentence_does_not() {
    for (line, expected) in [
        ("<p align=center>某民发〔2026〕7号</p>", &["某民发|2026|7"][..]),
        ("<p>某民发〔2026〕7号　某财发〔2026〕9号</p>", &["某民发|2026|7", "某财发|2026|9"]),
        ("<p>（某民发［２０２６］７号）</p>", &["某民发|2026|7"]),
        ("<p>某市人民政府令第12号</p>", &["某市人民政府令||12"]),
        ("<p>某省财政厅公告2026年第3号</p>", &["某省财政厅公告|2026|3"]),
        ("<p>根据某民发〔2026〕7号文件要求，结合我市实际，制定本方案。</p>", &[]),
        ("<p>关于转发某民发〔2026〕7号的通知</p>", &[]),
    ] {
        let html = page("", "", "").replace("<div id=zoom>", &format!("<div id=zoom>{line}"));
        let keys: Vec<String> = read(&html).document.doc_numbers.iter().map(|no| no.key()).collect();
        assert_eq!(keys, expected, "{line}");
    }
}

#[test]
fn publication_writing_and_change_are_three_days() {
    let table = "<table><tr><td>成文日期：</td><td>2026-04-01</td><td>发布日期：</td><td>2026-04-10</td></tr></table>";
    for (name, html, published, precision, written, modified) in [
        (
            "metas",
            page(
                "<meta name=PubDate content='2026-04-10 09:30'><meta name=lastmodifiedtime content='2026-04-12'>",
                "",
                "",
            ),
            Some("2026-04-10"),
            "Minute",
            None,
            Some("2026-04-12"),
        ),
        ("a table", page("", table, ""), Some("2026-04-10"), "Day", Some("2026-04-01"), None),
        (
            "a line",
            page("", "", "").replace("</h1>", "</h1><p>发布时间：2026-04-10 09:30:15 来源：本网</p>"),
            Some("2026-04-10"),
            "Second",
            None,
            None,
        ),
        (
            "JSON-LD",
            page(
                "<script type=application/ld+json>{\"@type\":\"NewsArticle\",\"datePublished\":\"2026-04-10T01:30:00Z\",\
            \"dateModified\":\"2026-04-12T01:30:00Z\"}</script>",
                "",
                "",
            ),
            Some("2026-04-10"),
            "Second",
            None,
            Some("2026-04-12"),
        ),
        (
            "a signature",
            page("<meta name=pubdate content=2026-04-10>", "", "<p>某市民政局</p><p>2026年4月1日</p>"),
            Some("2026-04-10"),
            "Day",
            Some("2026-04-01"),
            None,
        ),
        (
            "only a signature",
            page("", "", "<p>某市民政局</p><p>二〇二六年四月一日</p>"),
            Some("2026-04-01"),
            "Day",
            Some("2026-04-01"),
            None,
        ),
        ("a deadline", page("", "", "<p>报名截止时间：2026年12月31日。</p>"), None, "", None, None),
        ("the future", page("<meta name=pubdate content=2031-04-10>", "", ""), None, "", None, None),
        ("before 1949", page("<meta name=pubdate content=1931-04-10>", "", ""), None, "", None, None),
        (
            "a template's blank",
            page("<meta name=pubdate content='0000-00-00 00:00'>", "", ""),
            None,
            "",
            None,
            None,
        ),
    ] {
        let article = read(&html);
        let day = |published: &Option<dibao::model::Published>| {
            published.as_ref().map(|published| published.date.clone())
        };
        let read = (day(&article.published), day(&article.document.written), day(&article.modified));
        let owned = |day: Option<&str>| day.map(str::to_owned);
        assert_eq!(
            read,
            (owned(published), owned(written), owned(modified)),
            "{name}: {:?}",
            article.provenance
        );
        let exact =
            article.published.map(|published| format!("{:?}", published.precision)).unwrap_or_default();
        assert_eq!(exact, precision, "{name}");
    }
}

#[test]
fn pictures_are_counted_and_icons_are_not() {
    for (inside, count, lead) in [
        (
            "<p><img src=a.jpg><img data-src=b.jpg src=data:image/gif;base64,x></p>",
            2,
            Some("https://www.example.gov.cn/tz/a.jpg"),
        ),
        ("<p><img src=data:image/gif;base64,x></p>", 0, None),
        ("<p><img src=/fileTypeImages/icon_pdf.gif><a href=a.pdf>示例.pdf</a></p>", 0, None),
        (
            "<p><img src=/s.gif width=1 height=1><img src=c.png width=600></p>",
            1,
            Some("https://www.example.gov.cn/tz/c.png"),
        ),
        ("<p><img src='javascript:x()'><img></p>", 1, None),
    ] {
        let article = read(&page("", "", inside));
        assert_eq!(
            (article.inline_image_count, article.lead_image.as_ref().map(url::Url::as_str)),
            (count, lead),
            "{inside}"
        );
    }
    let article = read(&page("<meta property=og:image content=/lead.jpg>", "", "<p><img src=a.jpg></p>"));
    assert_eq!(article.lead_image.map(String::from).as_deref(), Some("https://www.example.gov.cn/lead.jpg"));
    assert_eq!(article.provenance["lead_image"].engine, "meta");
}

#[test]
fn nothing_active_survives_as_html_or_markdown() {
    for hostile in [
        "<script>alert(1)</script>",
        "<ScRiPt src=//x></sCrIpT >",
        "<p onclick=alert(1) onmouseover='alert(1)' style='background:url(javascript:alert(1))'>各地要认真落实。</p>",
        "<a href=javascript:alert(1)>点</a><a href=' JaVaScRiPt:alert(1)'>点</a><a href='java\nscript:alert(1)'>点</a><a href='&#106;avascript:alert(1)'>点</a>",
        "<a href=vbscript:alert(1)>点</a><a href='data:text/html,<script>alert(1)</script>'>点</a>",
        "<img src=x onerror=alert(1)><img src=javascript:alert(1)><img srcset='javascript:alert(1)'>",
        "<svg onload=alert(1)><script>alert(1)</script><a xlink:href=javascript:alert(1)>点</a></svg>",
        "<math><mtext><script>alert(1)</script></mtext></math>",
        "<iframe src=javascript:alert(1)></iframe><object data=x></object><embed src=x><form action=javascript:alert(1)><input onfocus=alert(1)></form>",
        "<base href='javascript:alert(1)//'><a href=x>点</a>",
        "<meta http-equiv=refresh content='0;url=javascript:alert(1)'><link rel=stylesheet href=//x>",
        "<noscript><p title='</noscript><img src=x onerror=alert(1)>'></noscript>",
        "<template><img src=x onerror=alert(1)></template><style>@import 'javascript:alert(1)'</style>",
        "<table background=javascript:alert(1)><tr><td background='javascript:alert(1)'>格</td></tr></table>",
        "<p title='\"><script>alert(1)</script>'>&lt;script&gt;alert(1)&lt;/script&gt;</p>",
        "<a href='https://x.cn/\"onmouseover=alert(1)'>点</a><a href='https://x.cn/)[x](javascript:alert(1)'>点</a>",
        "<img src='https://x.cn/a.png' alt='](javascript:alert(1)) \"onerror=alert(1)'>",
        "<details ontoggle=alert(1) open>各地</details><video><source onerror=alert(1)></video>",
    ] {
        let article = read(&page("", "", &format!("{hostile}<p>以上事项请遵照执行，不得有误。</p>")));
        assert!(article.html.contains("以上事项请遵照执行"), "{hostile}: {}", article.html);
        // Only tags and attributes can do anything: text is shown.
        let mut tags = String::new();
        for tag in article.html.split('<').skip(1) {
            tags.push_str(&tag.split('>').next().unwrap_or_default().to_ascii_lowercase());
            tags.push('\n');
        }
        for dead in [
            "script",
            "iframe",
            "object",
            "embed",
            "form",
            "svg",
            "style",
            "javascript",
            "vbscript",
            "data:",
            " on",
            "base",
            "meta",
            "link",
            "srcset",
        ] {
            let harmless = |line: &&str| {
                !line.contains(dead)
                    || (line.starts_with("a href=\"https://x.cn/")
                        || line.starts_with("img src=\"https://x.cn/"))
            };
            assert!(tags.lines().all(|line| harmless(&line)), "{dead} of {hostile}: {}", article.html);
        }
        assert!(!article.html.contains("\" on"), "{hostile}: {}", article.html);
        for scheme in ["](javascript:", "](vbscript:", "](data:", "](JaVa"] {
            assert!(!article.markdown.replace("\\]", "").contains(scheme), "{hostile}: {}", article.markdown);
        }
    }
}
