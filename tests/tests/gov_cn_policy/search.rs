//! Profiles `zcwjk` and `zuixin`: both shapes of the search, its two ways of saying nothing, and the static feed.

use dibao_adapter::{Entry, Failure, Page};
use serde_json::json;

use crate::both::{Target, answer, reply};

fn target(query: serde_json::Value) -> Target {
    Target::with(json!({"policy_profile": "zcwjk", "zcwjk": {"query": query}}))
}

fn list(query: serde_json::Value, cursor: Option<&str>, fixture: &str) -> Result<Page, Failure> {
    target(query).list(cursor, reply("list", &format!("zcwjk/{fixture}.json")))
}

fn field<'a>(entry: &'a Entry, name: &str) -> Option<&'a str> {
    entry.fields.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
}

#[test]
fn all_parameters_are_sent_and_the_doubtful_one_is_not() {
    let mut target = Target::with(json!({"policy_profile": "zcwjk", "page_size": 5,
        "zcwjk": {"query": {"t": "zhengcelibrary_gw", "q": "示例 a&b", "p": "9", "more": "1"}}}));
    let request = target.asks(Some("3"), Vec::new());
    assert_eq!(
        request.url,
        "https://sousuo.www.gov.cn/search-gov/data?t=zhengcelibrary_gw&q=%E7%A4%BA%E4%BE%8B%20a%26b&timetype=timeqb&mintime=&maxtime=\
         &sort=pubtime&sortType=1&searchfield=title&pcodeJiguan=&childtype=&subchildtype=&tsbq=&pubtimeyear=&pubtimeqarter=&puborg=\
         &pcodeYear=&pcodeNum=&filetype=&inpro=&bmfl=&dup=&orpro=&more=1&p=3&n=5"
    );
    let headers: Vec<_> =
        request.headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    assert_eq!(
        headers,
        [
            ("accept", "application/json, text/plain, */*"),
            ("referer", "https://sousuo.www.gov.cn/zcwjk/policyDocumentLibrary")
        ]
    );
}

#[test]
fn classes_are_merged_newest_first_and_a_document_in_two_of_them_is_one() {
    let page = list(json!({}), None, "grouped").expect("a page");
    let rows: Vec<_> = page
        .entries
        .iter()
        .map(|entry| (entry.url.as_str(), entry.native_id.as_deref(), entry.published.as_deref()))
        .collect();
    assert_eq!(
        rows,
        [
            (
                "http://www.gov.cn/zhengce/zhengceku/202604/content_7000005.htm",
                Some("7000005"),
                Some("2026-04-10 17:00:00")
            ),
            (
                "https://www.gov.cn/zhengce/content/202604/content_7000001.htm",
                Some("7000001"),
                Some("2026.04.10")
            ),
            (
                "https://www.gov.cn/zhengce/zhengceku/202604/content_7000002.htm",
                Some("7000002"),
                Some("2026-04-09")
            ),
            ("https://www.gov.cn/gongbao/2026/issue_1/", Some("gb-1"), Some("2020.01.02")),
        ]
    );
    assert_eq!(page.next.as_deref(), Some("2"));
    let first = &page.entries[1];
    assert_eq!(first.title, "国务院关于示例的通知");
    for (name, value) in [
        ("doc_no", "国发〔2026〕3号"),
        ("publisher", "国务院"),
        ("index_no", "000014349/2026-00011"),
        ("open_category", "综合政务\\电子政务"),
        ("summary", "关于示例的摘要第二行"),
        ("channel_name", "国务院文件"),
    ] {
        assert_eq!(field(first, name), Some(value), "{name}");
    }
}

#[test]
fn every_value_has_its_second_names() {
    let page = list(json!({}), None, "grouped").expect("a page");
    let of =
        |id: &str| page.entries.iter().find(|entry| entry.native_id.as_deref() == Some(id)).expect("a row");
    let pair = |id: &str| (field(of(id), "doc_no"), field(of(id), "publisher"));
    assert_eq!(pair("7000005"), (Some("工信部〔2026〕1号"), Some("工业和信息化部")));
    assert_eq!(pair("7000002"), (Some("财办〔2026〕2号"), Some("财政部")));
    assert_eq!(pair("gb-1"), (None, Some("国务院办公厅")));
}

#[test]
fn a_row_above_unread_ones_of_another_class_does_not_end_an_incremental_run() {
    let page = list(json!({}), None, "grouped").expect("a page");
    // Both gongwen and bumenfile go on; this page reaches down to 04-10 in the former, so that what is older than that
    // and of another class may stand above documents that are on the next page.
    let pins: Vec<_> = page.entries.iter().map(|entry| entry.pinned).collect();
    assert_eq!(pins, [false, false, true, true]);
    let single = list(json!({"t": "zhengcelibrary_gw"}), None, "single").expect("a page");
    assert!(single.entries.iter().all(|entry| !entry.pinned));
}

#[test]
fn one_class_is_read_from_the_top() {
    let page = list(json!({"t": "zhengcelibrary_gw"}), Some("2"), "single").expect("a page");
    assert_eq!((page.entries.len(), page.next.as_deref()), (1, Some("3")));
    assert_eq!(field(&page.entries[0], "channel_name"), Some("国务院文件"));
    // Counts as words and no `totalpage`: 21 rows are two pages of 20.
    let page = list(json!({"t": "zhengcelibrary_gw"}), None, "single-words").expect("a page");
    assert_eq!(page.next.as_deref(), Some("2"));
    let page = list(json!({"t": "zhengcelibrary_gw"}), Some("2"), "single-words").expect("a page");
    assert_eq!(page.next, None);
}

#[test]
fn a_search_that_gives_less_rows_than_asked_for_is_read_to_its_end() {
    let page = |rows: usize, total: usize, page: &str| {
        let row = |n: usize| json!({"url": format!("https://www.gov.cn/content_{n}.htm")});
        let rows: Vec<_> = (0..rows).map(row).collect();
        let body = json!({"code": 200, "searchVO": {"totalCount": 0, "listVO": null, "catMap": {
            "gongwen": {"totalCount": total, "listVO": rows}, "gongbao": {"totalCount": 0, "listVO": []}}}});
        let cursor = (page != "1").then_some(page);
        let list = |mut target: Target| target.list(cursor, answer("list", 200, &body.to_string()));
        let target =
            Target::with(json!({"policy_profile": "zcwjk", "page_size": 100, "hard_max_pages": 200}));
        list(target).expect("a page").next.is_some()
    };
    assert!(page(100, 201, "1") && page(100, 201, "2") && !page(1, 201, "3"), "as it should be");
    assert!(!page(100, 100, "1") && !page(7, 7, "1"), "one page");
    assert!(
        page(50, 6210, "1") && page(50, 6210, "63") && page(50, 6210, "124"),
        "fifty instead of a hundred"
    );
    assert!(!page(0, 6210, "126"), "an empty page is the end");
}

#[test]
fn an_empty_page_ends_the_list() {
    for fixture in ["single-past-the-end", "grouped-past-the-end"] {
        let page = list(json!({}), Some("400"), fixture).expect("the end");
        assert!(page.entries.is_empty() && page.next.is_none(), "{fixture}");
        // The whole library on its first page is never empty.
        assert!(matches!(list(json!({}), None, fixture), Err(Failure::Shape(_))), "{fixture}");
    }
}

#[test]
fn nothing_found_is_an_answer_and_incomplete_parameters_are_not() {
    for (query, cursor) in [(json!({"q": "没有"}), None), (json!({}), Some("3")), (json!({}), None)] {
        let page = list(query, cursor, "none").expect("no rows");
        assert!(page.entries.is_empty() && page.next.is_none());
    }
    for query in [json!({}), json!({"q": "词"})] {
        let failure = list(query, None, "incomplete").unwrap_err();
        assert!(matches!(&failure, Failure::Shape(words) if words.contains("zcwjk.query")), "{failure:?}");
    }
    assert!(matches!(list(json!({}), Some("2"), "incomplete"), Err(Failure::Shape(_))));
}

#[test]
fn other_codes_and_other_shapes_are_failures() {
    assert!(
        matches!(list(json!({}), None, "busy"), Err(Failure::Refused(words)) if words.contains("系统繁忙"))
    );
    for body in ["{}", "[]", "{\"code\":200}", "{\"code\":200,\"searchVO\":[]}", "<html></html>"] {
        let failure = target(json!({})).list(None, answer("list", 200, body)).unwrap_err();
        assert!(matches!(failure, Failure::Shape(_)), "{body}: {failure:?}");
    }
}

#[test]
fn the_static_feed_is_one_page() {
    let mut target = Target::with(json!({"policy_profile": "zuixin"}));
    assert_eq!(target.asks(None, Vec::new()).url, "https://www.gov.cn/zhengce/zuixin/ZUIXINZHENGCE.json");
    let page = target.list(None, reply("list", "zuixin/feed.json")).expect("a page");
    let rows: Vec<_> = page
        .entries
        .iter()
        .map(|entry| (entry.native_id.as_deref(), entry.title.as_str(), entry.published.as_deref()))
        .collect();
    assert_eq!(
        rows,
        [
            (Some("7000009"), "国务院关于最新政策的通知", Some("2026-04-10")),
            (Some("7000008"), "另一篇", Some("2026-04-09"))
        ]
    );
    assert_eq!(page.next, None);
    for body in ["{}", "[]", "[1]"] {
        assert!(matches!(target.list(None, answer("list", 200, body)), Err(Failure::Shape(_))), "{body}");
    }
}
