//! Documents in both templates, old and new.

use dibao_adapter::{Article, Body, Entry, Failure};
use serde_json::json;

use crate::both::{Target, answer, reply, row};

fn read(fixture: &str) -> Article {
    read_as(&row(), fixture)
}

fn read_as(entry: &Entry, fixture: &str) -> Article {
    Target::with(json!({}))
        .detail(entry, reply("page", &format!("pages/{fixture}.html")))
        .expect("an article")
}

fn field<'a>(article: &'a Article, name: &str) -> Option<&'a str> {
    article.fields.iter().find(|(known, _)| known == name).map(|(_, found)| found.value.as_str())
}

fn title(article: &Article) -> Option<&str> {
    article.title.as_ref().map(|found| found.value.as_str())
}

fn published(article: &Article) -> Option<&str> {
    article.published.as_ref().map(|found| found.value.as_str())
}

fn files(article: &Article) -> Vec<(&str, Option<&str>)> {
    article.attachments.iter().map(|file| (file.url.as_str(), file.name.as_deref())).collect()
}

#[test]
fn a_formal_document_gives_its_whole_table() {
    let article = read("formal");
    assert_eq!(title(&article), Some("国务院办公厅关于示例事项的通知"));
    assert_eq!(published(&article), Some("2026-04-10-17:00:00"));
    assert!(article.source.is_none());
    for (name, value) in [
        ("index_no", Some("000014349/2026-00011")),
        ("open_category", Some("综合政务\\电子政务")),
        ("publisher", Some("国务院办公厅")),
        ("written_date", Some("2026-04-01")),
        ("doc_no", Some("国办发〔2026〕9号")),
        ("topic_words", None),
        ("manuscript_id", Some("7000001")),
        ("modified", Some("2026-04-11-08:00:00")),
        ("author", Some("张三")),
        ("keywords", Some("示例;事项")),
        ("summary", Some("摘要")),
        ("channel_name", Some("国务院文件")),
        ("catalog", Some("国务院文件/国办发")),
    ] {
        assert_eq!(field(&article, name), value, "{name}");
    }
    let origin =
        |name: &str| article.fields.iter().find(|(known, _)| known == name).map(|f| f.1.origin.as_str());
    assert_eq!((origin("publisher"), origin("author")), (Some("table:发文机关"), Some("meta:author")));
    let link = "./7000001/files/0123456789abcdef0123456789abcdef.pdf";
    assert_eq!(files(&article), [(link, Some("附件：示例.pdf"))]);
    assert!(matches!(&article.content, Some(Body::At(place)) if place.css.starts_with("td#UCAP-CONTENT")));
}

#[test]
fn an_old_document_with_spaced_labels_headers_nested_tables_and_two_ends_is_read() {
    let article = read("old-formal");
    for (name, value) in [
        ("index_no", "000014349/2008-00032"),
        ("open_category", "城乡建设、环境保护\\城市规划"),
        ("publisher", "国务院"),
        ("written_date", "2008-03-09"),
        ("doc_no", "国函〔2008〕22号"),
    ] {
        assert_eq!(field(&article, name), Some(value), "{name}");
    }
    assert_eq!(title(&article), Some("国务院关于旧事项的批复"));
    assert_eq!(published(&article), Some("2008年03月28日"));
}

#[test]
fn the_day_of_the_table_does_not_hide_the_hour_of_the_list() {
    let listed = Entry { published: Some("2008-03-28 09:00:00".into()), ..row() };
    assert_eq!(published(&read_as(&listed, "old-formal")), None);
    let listed = Entry { published: Some("2008-03-28".into()), ..row() };
    assert_eq!(published(&read_as(&listed, "old-formal")), Some("2008年03月28日"));
}

#[test]
fn an_article_gives_the_span_that_says_its_source() {
    let article = read("article");
    assert_eq!((title(&article), published(&article)), (Some("一图读懂示例"), Some("2026-04-09-09:38:30")));
    assert_eq!(article.source.as_ref().map(|found| found.value.as_str()), Some("新华社"));
    assert_eq!(files(&article), [("/zhengce/202604/W020260409.docx", Some("完整名称.docx"))]);
}

#[test]
fn a_document_of_the_library_has_a_table_and_an_article() {
    let article = read("library");
    assert_eq!(title(&article), Some("工业和信息化部关于部门文件的公告"));
    assert_eq!(published(&article), Some("2026-04-10 10:00"));
    assert_eq!(
        (field(&article, "publisher"), field(&article, "doc_no"), field(&article, "written_date")),
        (Some("工业和信息化部"), Some("工信部〔2026〕1号"), Some("2026-04-02"))
    );
}

#[test]
fn what_the_list_knows_better_is_left_to_it() {
    let fields = [("channel_name", "国务院文件"), ("summary", "列表的摘要")];
    let fields = fields.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
    let article = read_as(&Entry { fields, ..row() }, "formal");
    assert_eq!((field(&article, "channel_name"), field(&article, "summary")), (None, None));
}

#[test]
fn an_unknown_template_is_left_to_the_host() {
    let article = read("unknown-template");
    assert_eq!(title(&article), Some("某文件"));
    assert!(article.published.is_none() && article.fields.is_empty() && article.attachments.is_empty());
}

#[test]
fn selectors_of_a_site_file_come_first() {
    let target = Target::with(json!({"detail": {
        "title": ".policyLibraryOverview_header td:nth-child(2)::text", "publish_time": "#no", "source": ".tit::text",
        "content": ".somewhere", "attachment_css": "ul.jiedu_list a", "fields": {"validity": ".tit::text"}}}));
    let article = target.detail(&row(), reply("page", "pages/library.html")).expect("an article");
    assert_eq!(title(&article), Some("工业和信息化部关于部门文件的公告"));
    assert_eq!(published(&article), Some("2026-04-10 10:00"));
    assert_eq!(article.source.as_ref().map(|found| found.value.as_str()), Some("标 题："));
    assert_eq!(field(&article, "validity"), Some("标 题："));
    let article = target.detail(&row(), reply("page", "pages/article.html")).expect("an article");
    assert_eq!(files(&article)[0], ("content_1.htm", Some("相关")));
    let bad = Target::with(json!({"detail": {"title": "h1["}}));
    assert!(matches!(bad.detail(&row(), reply("page", "pages/article.html")), Err(Failure::Config(_))));
}

#[test]
fn a_document_that_is_gone_says_so() {
    let target = Target::with(json!({}));
    for status in [404, 410] {
        assert!(matches!(target.detail(&row(), answer("page", status, "<p>")), Err(Failure::Gone)));
    }
    for status in [403, 412, 502] {
        assert!(matches!(target.detail(&row(), answer("page", status, "<p>")), Err(Failure::Refused(_))));
    }
}
