//! Documents: from script, page, row, and the other address.

use dibao_adapter::{Article, Body, Entry, Failure, Found};
use serde_json::json;

use crate::both::{BASE, Target};

fn target() -> Target {
    Target::with(json!({"column_id": 21023, "sid": "763015"}))
}

fn entry() -> Entry {
    let url = format!("{BASE}/gkmlpt/content/3/3255/post_3255421.html");
    let mut entry = Entry::new(url, "列表标题".into());
    entry.fields = [
        ("doc_no", "清环函〔2026〕8号"),
        ("post_url", "https://www.example.gov.cn/dept/xxgk/content/post_3255421.html"),
        ("_file", "https://www.example.gov.cn/dept/attachment/0/306/306724/3255421.pdf 报告表.pdf"),
    ]
    .map(|(name, value)| (name.to_owned(), value.to_owned()))
    .to_vec();
    entry
}

fn pair(found: &Option<Found>) -> Option<(&str, &str)> {
    found.as_ref().map(|found| (found.value.as_str(), found.origin.as_str()))
}

fn field<'a>(article: &'a Article, name: &str) -> Option<(&'a str, &'a str)> {
    let found = article.fields.iter().find(|(known, _)| known == name).map(|(_, found)| found);
    found.map(|found| (found.value.as_str(), found.origin.as_str()))
}

fn files(article: &Article) -> Vec<(&str, Option<&str>)> {
    article.attachments.iter().map(|file| (file.url.as_str(), file.name.as_deref())).collect()
}

fn place(article: &Article) -> (&str, &str) {
    match &article.content {
        Some(Body::At(place)) => (&place.reply, &place.css),
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_script_of_a_page_comes_before_what_the_page_shows() {
    let article = target().detail(&entry(), &[(200, "detail/both.html")]).expect("an article");
    assert_eq!(pair(&article.title), Some(("示例项目环评受理公告", "js:_CONFIG.DETAIL.title")));
    assert_eq!(pair(&article.source), Some(("本网", "css:meta[name='ContentSource']::attr(content)")));
    let Some(Body::Html(body)) = &article.content else { panic!("{:?}", article.content) };
    assert_eq!(body.value, "<p>脚本里的正文&mdash;\"全文\"。</p><p>第二段。</p>");
    assert_eq!(body.origin, "js:_CONFIG.DETAIL.content");
    assert_eq!(
        field(&article, "index_no"),
        Some(("11441800MB2C00000G/2026-00271", "js:_CONFIG.DETAIL.identifier"))
    );
    assert_eq!(
        field(&article, "doc_no"),
        Some(("清环函〔2026〕9号", "js:_CONFIG.DETAIL.gkml_data.document_number"))
    );
    assert_eq!(field(&article, "open_category"), Some(("环境保护、公告", "css:div.classify td")));
    assert_eq!(field(&article, "topic_words"), None, "a dash is nothing");
    // From the script as text and as a list, from the row and from the page: each file once.
    assert_eq!(
        files(&article),
        [
            ("http://www.example.gov.cn/dept/attachment/0/306/306724/3255421.pdf", Some("报告表.pdf")),
            ("https://www.example.gov.cn/dept/attachment/0/306/306725/3255421.docx", Some("公参说明.docx")),
        ]
    );
}

#[test]
fn a_page_without_a_script_is_read_by_its_template() {
    let mut bare = entry();
    bare.fields.clear();
    let article = target().detail(&bare, &[(200, "detail/page.html")]).expect("an article");
    assert_eq!(
        pair(&article.title),
        Some(("关于示例的通知（全称）", "css:span.document-number::attr(title)"))
    );
    assert_eq!(place(&article), ("page", "div.article-content"));
    for (name, value) in
        [("index_no", "007/2026-1"), ("doc_no", "东环〔2026〕3号"), ("publisher", "东莞市厚街镇人民政府")]
    {
        assert_eq!(field(&article, name).map(|(value, _)| value), Some(value), "{name}");
    }
    assert_eq!(pair(&article.published).map(|(time, _)| time), Some("2026-07-06"));
    assert_eq!(files(&article), [("/dept/attachment/0/0/9/3255420.xlsx", Some("名单.xlsx"))]);
    // What the list said is not said again by the table.
    let article = target().detail(&entry(), &[(200, "detail/page.html")]).expect("an article");
    assert_eq!(field(&article, "doc_no"), None);
    let scan = target().detail(&bare, &[(200, "detail/scan.html")]).expect("an article");
    assert_eq!(place(&scan), ("page", "div.article-content"), "a picture is a body");
    assert_eq!(pair(&scan.title), Some(("列表标题", "list")));
}

#[test]
fn where_one_address_has_no_body_the_other_is_asked() {
    let mut target = target();
    let answers = [(200, "detail/hollow.html"), (200, "detail/content-system.html")];
    let article = target.detail(&entry(), &answers).expect("an article");
    assert_eq!(place(&article), ("other", "div.zw"));
    assert!(target.asked[1].ends_with("/dept/xxgk/content/post_3255421.html"));
    let moved = target.detail(&entry(), &[(404, ""), answers[1]]).expect("an article");
    assert_eq!(place(&moved), ("last", "div.zw"));
    let gone = target.detail(&entry(), &[(404, ""), (410, "")]);
    assert!(matches!(gone, Err(Failure::Gone)), "{gone:?}");
    // A page without a body is still a page.
    let hollow = target.detail(&entry(), &[(200, "detail/hollow.html"), (404, "")]).expect("an article");
    assert_eq!(files(&hollow).len(), 1);
    assert!(matches!(target.detail(&entry(), &[(403, "")]), Err(Failure::Refused(_))));
}

#[test]
fn a_row_that_leads_out_of_the_platform_is_a_document_by_itself() {
    let rows = target().list(None, &[(200, "list/links.json")]).expect("a page").entries;
    let article = target().detail(&rows[0], &[]).expect("an article without a single request");
    let Some(Body::Html(body)) = &article.content else { panic!("{:?}", article.content) };
    for words in ["图解：一张图读懂示例政策", "一图读懂。", "https://mp.weixin.qq.com/s/0123456789abcdef"]
    {
        assert!(body.value.contains(words), "{}", body.value);
    }
    // One that leads to the site's own host is read there, and is no error when nothing is there.
    let local = target().detail(&rows[1], &[(200, "detail/content-system.html")]).expect("an article");
    assert_eq!(place(&local), ("page", "div.zw"));
    assert!(target().detail(&rows[1], &[(404, "")]).is_ok());
}

#[test]
fn the_operators_selectors_come_first() {
    let mut target = Target::with(json!({"column_id": 1, "sid": 1, "detail": {
        "title": "h1.title::text", "content": "div.nothing, div.content", "publish_time": ".date-row::text",
        "attachment_css": "div.content", "fields": {"doc_no": ".date-row::text", "note": "h1::text"}}}));
    let article = target.detail(&entry(), &[(200, "detail/both.html")]).expect("an article");
    assert_eq!(pair(&article.title), Some(("示例项目环评受理公告", "css:h1.title::text")));
    assert_eq!(place(&article), ("page", "div.nothing, div.content"));
    assert_eq!(pair(&article.published), Some(("发布日期：2026-07-07", "css:.date-row::text")));
    assert_eq!(field(&article, "doc_no"), Some(("发布日期：2026-07-07", "css:.date-row::text")));
    assert_eq!(field(&article, "note").map(|(note, _)| note), Some("示例项目环评受理公告"));
}
