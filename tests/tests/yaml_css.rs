//! yaml-css on saved pages of every family, with the bundled site files. Each call is made twice, natively and in
//! the sandbox, and must give the same answer.

mod support;

use dibao_adapter::{Article, Body, Entry, Failure, Found};
use serde_json::json;
use support::{Column, reply};

/// Address, title, date, number, pinned.
type Row<'a> = (&'a str, &'a str, Option<&'a str>, Option<&'a str>, bool);

fn rows(entries: &[Entry]) -> Vec<Row<'_>> {
    fn row(entry: &Entry) -> Row<'_> {
        let Entry { url, title, published, native_id, pinned, .. } = entry;
        (url, title, published.as_deref(), native_id.as_deref(), *pinned)
    }
    entries.iter().map(row).collect()
}

fn pair(found: &Option<Found>) -> Option<(&str, &str)> {
    found.as_ref().map(|found| (found.value.as_str(), found.origin.as_str()))
}

fn files(article: &Article) -> Vec<(&str, Option<&str>)> {
    article.attachments.iter().map(|file| (file.url.as_str(), file.name.as_deref())).collect()
}

#[test]
fn trs_rows_keep_whole_titles_and_pins_and_lose_scripts() {
    let mut column = Column::of("ndrc", "tz");
    assert_eq!(column.first_request(None).url, "https://www.ndrc.gov.cn/xxgk/zcfb/tz/index.html");
    let page = column.list(None, reply("ndrc/list.html", 200)).expect("a page");
    let title = "国家发展改革委关于示例事项的通知（全称）";
    assert_eq!(
        rows(&page.entries),
        [
            (
                "./202401/t20240105_1300001.html",
                "关于印发示例工作方案（置顶）的通知",
                Some("2024/01/05"),
                Some("1300001"),
                true
            ),
            ("./202604/t20260410_1400003.html", title, Some("2026/04/10"), Some("1400003"), false),
            ("../fzggwl/202604/t20260409_1400002.html", "示例令", Some("2026/04/09"), Some("1400002"), true),
            (
                "//www.ndrc.gov.cn/xwdt/xwfb/202604/t20260408_1400001.html",
                "示例新闻 & 解读",
                None,
                Some("1400001"),
                false
            ),
        ]
    );
    assert_eq!(page.next.as_deref(), Some("2"));
    assert_eq!(column.first_request(Some("2")).url, "https://www.ndrc.gov.cn/xxgk/zcfb/tz/index_1.html");
}

#[test]
fn trs_documents_name_the_alternative_that_matched() {
    let article = Column::of("ndrc", "xwfb").detail(reply("ndrc/page.html", 200)).expect("an article");
    assert_eq!(
        pair(&article.title),
        Some(("国家发展改革委关于示例事项的通知", "css:h2.article_title::text"))
    );
    assert_eq!(
        pair(&article.published),
        Some(("2026-04-10 09:38:30", "css:meta[name='PubDate']::attr(content)"))
    );
    assert_eq!(pair(&article.source), Some(("来源：法规司", "css:.laiyuantext span::text")));
    assert!(
        matches!(&article.content, Some(Body::At(place)) if place.reply == "page" && place.css.contains("TRS_Editor"))
    );
    assert_eq!(
        files(&article),
        [
            ("./P020260410000000001.pdf", Some("示例方案.pdf")),
            ("./P020260410000000002.docx", Some("附件2：示例表格")),
        ]
    );
}

#[test]
fn nf_cms_counts_from_two_and_keeps_file_names_in_alt() {
    let mut column = Column::of("gdqy", "tzgg");
    let page = column.list(None, reply("gdqy/list.html", 200)).expect("a page");
    let url = |id| format!("http://www.gdqy.gov.cn/gdqy/newxxgk/tzgg/content/post_{id}.html");
    assert_eq!(
        rows(&page.entries),
        [
            (url(1900002).as_str(), "关于示例的通告", Some("2026-04-10"), Some("1900002"), true),
            (url(1900001).as_str(), "关于另一示例的公示", Some("2026-04-09"), Some("1900001"), false),
        ]
    );
    let second = column.first_request(page.next.as_deref());
    assert_eq!(second.url, "https://www.gdqy.gov.cn/gdqy/newxxgk/tzgg/index_2.html");
    let article = column.detail(reply("gdqy/page.html", 200)).expect("an article");
    assert_eq!(pair(&article.title).map(|found| found.0), Some("关于示例的通告"));
    assert_eq!(files(&article), [("/attachment/0/1/1234/1900002.xlsx", Some("示例名单.xlsx"))]);
}

#[test]
fn the_document_library_gives_its_metadata() {
    let mut column = Column::of("gd", "yf");
    let page = column.list(None, reply("gd/list.html", 200)).expect("a page");
    assert_eq!(rows(&page.entries)[0].1, "广东省人民政府关于示例的意见");
    let article = column.detail(reply("gd/page.html", 200)).expect("an article");
    let fields: Vec<_> =
        article.fields.iter().map(|(name, found)| (name.as_str(), found.value.as_str())).collect();
    assert_eq!(
        fields,
        [
            ("doc_no", "粤府〔2026〕1号"),
            ("index_no", "006939748/2026-00001"),
            ("publisher", "广东省人民政府")
        ]
    );
}

#[test]
fn gov_cn_is_read_in_both_templates() {
    let mut column = Column::of("govcn", "zuixin");
    let page = column.list(None, reply("govcn/list.html", 200)).expect("a page");
    assert_eq!(
        rows(&page.entries),
        [
            (
                "/zhengce/content/202604/content_6946002.htm",
                "国务院办公厅关于示例的通知",
                Some("2026-04-10"),
                Some("6946002"),
                false
            ),
            ("../202604/content_6946001.htm", "一图读懂示例", Some("2026-04-09"), Some("6946001"), false),
        ]
    );
    let a = column.detail(reply("govcn/a.html", 200)).expect("template A");
    assert_eq!(pair(&a.title), Some(("国务院办公厅关于示例的通知", "css:td.zcwj_title::text")));
    assert_eq!(pair(&a.published).map(|found| found.0), Some("2026-04-10-09:38:30"));
    assert_eq!(files(&a), [("./6946002/files/abc.pdf", Some("附件：示例.pdf"))]);
    let b = column.detail(reply("govcn/b.html", 200)).expect("template B");
    assert_eq!(pair(&b.title), Some(("一图读懂示例", "css:h1#ti::text")));
    assert_eq!(pair(&b.source).map(|found| found.0), Some("来源：新华社"));
}

#[test]
fn xinhua_is_read_from_its_data_source_and_from_its_page() {
    let mut column = Column::of("xinhua", "zxbd");
    let source = "https://www.news.cn/politics/leaders/xijinping/ds_f20e1073e7a74e839072c20b31557fcc.json";
    assert_eq!(column.first_request(None).url, source);
    let page = column.list(None, reply("xinhua/ds.json", 200)).expect("a page");
    assert_eq!(
        rows(&page.entries),
        [
            (
                "/politics/20260410/0123456789abcdef0123456789abcdef/c.html",
                "示例标题 & 其他",
                Some("2026-04-10 09:38:30"),
                Some("20260410abcdef"),
                false
            ),
            ("../20260409/c_1.htm", "只有显示标题", Some("2026-04-09 08:00:00"), Some("20260409"), false),
        ]
    );
    assert_eq!(page.next, None);
    let page = Column::of("xinhua", "zxbd_page").list(None, reply("xinhua/list.html", 200)).expect("a page");
    let dates: Vec<_> = rows(&page.entries).iter().map(|row| (row.1, row.2)).collect();
    assert_eq!(dates, [("示例标题", Some("2026-04-10")), ("旧式一行", Some("2026-04-09"))]);
    let article = column.detail(reply("xinhua/page.html", 200)).expect("an article");
    assert_eq!(pair(&article.title), Some(("示例标题", "css:span.title::text")));
}

#[test]
fn a_gbk_site_is_read_and_paged_by_parameter() {
    let mut column = Column::of("tongcheng", "tzgg");
    let page = column.list(None, reply("tongcheng/list.html", 200)).expect("a page");
    assert_eq!(
        rows(&page.entries)[0],
        ("show.asp?id=3002", "关于朱镕基塘清淤的公告", Some("[2026-4-10]"), Some("3002"), false)
    );
    let second = column.first_request(page.next.as_deref());
    assert_eq!(second.url, "https://www.tongcheng.gov.cn/list.asp?id=13&page=2");
    let article = column.detail(reply("tongcheng/page.html", 200)).expect("an article");
    assert_eq!(files(&article), [("/UploadFile/2026/附件一.doc", Some("附件一.doc"))]);
}

#[test]
fn rows_that_hanweb_wraps_in_a_script_are_rows() {
    let selector = json!({"row": "recordset li", "date": "span::text", "native_id": "_{digits}.html"});
    let url = "https://www.example.gov.cn/col/col1/index.html";
    let mut column = Column::with(json!({"list_url": url, "list_selector": selector}));
    let page = column.list(None, reply("hanweb/list.html", 200)).expect("a page");
    assert_eq!(
        rows(&page.entries),
        [
            (
                "/art/2026/4/10/art_1_14002.html",
                "关于示例事项的通知（全称）",
                Some("2026-04-10"),
                Some("14002"),
                false
            ),
            ("/art/2026/4/9/art_1_14001.html", "另一通知", Some("2026-04-09"), Some("14001"), false),
        ]
    );
}

#[test]
fn the_static_json_of_a_portal_is_a_list() {
    let list = json!({"rows": "articles", "url": "url", "title": "title", "date": "date, visible_publish_time",
        "native_id": "id", "fields": {"publisher": "EXT_fwdw"}});
    let url = "https://www.sz.gov.cn/cn/xxgk/zfxxgj/tzgg/index.html";
    let mut list_json = list.clone();
    list_json["source"] = json!("/postmeta/i/18.json");
    let mut column = Column::with(json!({"list_url": url, "list_json": list_json}));
    assert_eq!(column.first_request(None).url, "https://www.sz.gov.cn/postmeta/i/18.json");
    let page = column.list(None, reply("sz/postmeta.json", 200)).expect("a page");
    let first = &page.entries[0];
    assert_eq!((first.title.as_str(), first.native_id.as_deref()), ("深圳市示例公告", Some("12728907")));
    assert_eq!(first.fields, [("publisher".to_owned(), "市示例局".to_owned())]);
    assert_eq!(page.entries[1].published.as_deref(), Some("1775750400"));
}

#[test]
fn no_rows_are_a_failure_on_the_first_page_and_the_end_on_a_later_one() {
    let mut column = Column::of("ndrc", "tz");
    let failure = column.list(None, reply("ndrc/stub.html", 200)).expect_err("a stub");
    assert!(
        matches!(&failure, Failure::Shape(words) if words.contains("ul.u-list > li:not(.empty)")),
        "{failure:?}"
    );
    for (fixture, status) in [("ndrc/stub.html", 200), ("ndrc/stub.html", 404), ("ndrc/stub.html", 410)] {
        let page = column.list(Some("2"), reply(fixture, status)).expect("the end");
        assert!(page.entries.is_empty() && page.next.is_none());
    }
    assert!(matches!(column.list(None, reply("ndrc/stub.html", 404)), Err(Failure::Shape(_))));
    assert!(matches!(column.list(Some("2"), reply("ndrc/stub.html", 403)), Err(Failure::Refused(_))));
    assert!(matches!(column.list(None, reply("ndrc/page.html", 503)), Err(Failure::Refused(_))));
    let mut json = Column::of("xinhua", "zxbd");
    assert!(matches!(json.list(None, reply("ndrc/stub.html", 200)), Err(Failure::Shape(_))));
}

#[test]
fn a_page_that_repeats_the_one_before_ends_the_list() {
    let mut column = Column::of("gdqy", "tzgg");
    column.list(None, reply("gdqy/list.html", 200)).expect("page 1");
    let again = column.list(Some("2"), reply("gdqy/list.html", 200)).expect("the same page");
    assert!(again.entries.is_empty() && again.next.is_none());
    // The next run begins anew.
    assert_eq!(column.list(None, reply("gdqy/list.html", 200)).expect("page 1").entries.len(), 2);
}

#[test]
fn a_document_that_is_gone_says_so() {
    for status in [404, 410] {
        let gone = Column::of("gd", "yf").detail(reply("ndrc/stub.html", status));
        assert!(matches!(gone, Err(Failure::Gone)), "{gone:?}");
    }
    assert!(matches!(Column::of("gd", "yf").detail(reply("gd/page.html", 412)), Err(Failure::Refused(_))));
}

#[test]
fn a_title_attribute_counts_only_where_the_file_says_so() {
    let html = "<ul><li><a href='/1' title='属性'>文字</a></li></ul>";
    for (selector, title) in [
        (json!({"row": "li"}), "属性"),
        (json!({"row": "li", "title": "a::text"}), "文字"),
        (json!({"row": "li", "title": "b::text, a::text"}), "文字"),
    ] {
        let mut column = Column::with(json!({"list_url": "https://a.cn/", "list_selector": selector}));
        let page = column.list(None, support::page(html)).expect("a page");
        assert_eq!(page.entries[0].title, title);
    }
}

#[test]
fn settings_and_stored_state_that_cannot_work_are_told_apart() {
    let mut column = Column::with(json!({"list_url": "https://a.cn/", "list_selector": {"row": "li["}}));
    assert!(matches!(column.list(None, support::page("<li>")), Err(Failure::Config(_))));
    let mut column = Column::of("ndrc", "tz");
    column.session = b"not json".to_vec();
    assert!(matches!(column.list(None, reply("ndrc/list.html", 200)), Err(Failure::Stale(_))));
    column.session = Vec::new();
    assert!(matches!(column.list(Some("x"), reply("ndrc/list.html", 200)), Err(Failure::Stale(_))));
}
