//! Lists: what rows say, where columns end, how a site's number and columns are found.

use dibao_adapter::{Entry, Failure, Page};
use serde_json::json;

use crate::both::Target;

const LIST: &str = "https://www.example.gov.cn/dept/gkmlpt/api/all/21023";
const INDEX: &str = "https://www.example.gov.cn/dept/gkmlpt/index";

/// A target that needs no index.
fn plain() -> Target {
    Target::with(json!({"column_id": 21023, "sid": "763015"}))
}

fn read(fixture: &str) -> Page {
    plain().list(None, &[(200, fixture)]).unwrap_or_else(|failure| panic!("{fixture}: {failure:?}"))
}

fn field<'a>(entry: &'a Entry, name: &str) -> Option<&'a str> {
    entry.fields.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
}

#[test]
fn a_row_is_read_with_everything_the_catalogue_knows() {
    let page = read("list/normal.json");
    let entry = &page.entries[0];
    assert_eq!(entry.url, "https://www.example.gov.cn/dept/gkmlpt/content/3/3255/post_3255421.html");
    assert_eq!(entry.title, "示例项目环评受理公告");
    assert_eq!(
        (entry.published.as_deref(), entry.native_id.as_deref()),
        (Some("1783411200"), Some("3255421"))
    );
    for (name, value) in [
        ("doc_no", Some("清环函〔2026〕9号")),
        ("index_no", Some("11441800MB2C00000G/2026-00271")),
        ("publisher", Some("清远市生态环境局")),
        ("topic_words", Some("环评")),
        ("channel_name", Some("受理公告")),
        ("open_category", Some("环境保护、公告")),
        ("theme", Some("环境保护")),
        ("genre", Some("公告")),
        ("written_date", Some("2026-07-07")),
        ("abstract", None),
        ("validity", None),
        ("post_url", Some("https://www.example.gov.cn/dept/xxgk/content/post_3255421.html")),
        ("_file", Some("https://www.example.gov.cn/dept/attachment/0/306/306724/3255421.pdf 报告表.pdf")),
    ] {
        assert_eq!(field(entry, name), value, "{name}");
    }
    assert!(!entry.pinned);
}

#[test]
fn numbers_flags_and_attachments_may_be_text_and_addresses_odd() {
    let page = read("list/text.json");
    let [first, second, third] = &page.entries[..] else { panic!("{:?}", page.entries) };
    assert_eq!(first.url, "http://www.example.gov.cn/dept/gkmlpt/content/3/3255/post_3255420.html");
    assert_eq!(first.title, "关于<示例>通知&公告");
    assert_eq!(
        (first.published.as_deref(), first.native_id.as_deref()),
        (Some("1783411200"), Some("3255420"))
    );
    assert_eq!((field(first, "doc_no"), field(first, "index_no")), (None, None));
    assert_eq!((field(first, "validity"), field(first, "abstract")), (Some("失效"), Some("摘要。")));
    assert_eq!(
        field(first, "_file"),
        Some("//www.example.gov.cn/dept/attachment/0/0/9/3255420.xlsx 名单.xlsx")
    );
    assert_eq!(second.url, "//www.example.gov.cn/dept/gkmlpt/content/3/3255/post_3255419.html");
    assert_eq!(field(second, "validity"), Some("废止"));
    // Its address follows from its number.
    assert_eq!(third.url, "https://www.example.gov.cn/dept/gkmlpt/content/3/3255/post_3255418.html");
}

#[test]
fn of_several_times_the_most_trusted_one_that_can_be_is_taken() {
    let times: Vec<Option<String>> =
        read("list/times.json").entries.into_iter().map(|e| e.published).collect();
    let due = ["1783411200", "1783411300", "1783411400", "2026-07-07 18:00:00", "2026-07-07"];
    assert_eq!(times, due.map(|time| Some(time.to_owned())).into_iter().chain([None]).collect::<Vec<_>>());
}

#[test]
fn the_shapes_of_a_list_are_all_read() {
    let seed = &read("list/seed-shape.json").entries[0];
    assert_eq!((seed.url.as_str(), seed.title.as_str()), ("/gkmlpt/content/0/0/post_77.html", "政府文件"));
    assert_eq!((seed.native_id.as_deref(), seed.published.as_deref()), (Some("77"), Some("2026-07-07")));
    assert_eq!(read("list/numbered.json").entries.len(), 2);
    assert_eq!(read("list/encoded-twice.json").entries[0].title, "甲");
    assert_eq!(read("list/links.json").entries.len(), 2);
}

#[test]
fn the_search_of_the_province_can_stand_in_for_the_list() {
    let template = "https://search.gd.gov.cn/jsonp/site/{sid}?page={page}&pagesize=20&isgkml=1&classify_main={column_id}&callback=cb";
    let mut target =
        Target::with(json!({"column_id": 21023, "sid": "763015", "list_api_path_tpl": template}));
    let page = target.list(None, &[(200, "list/province-search.js")]).expect("a page");
    assert_eq!(
        target.asked[0],
        "https://search.gd.gov.cn/jsonp/site/763015?page=1&pagesize=20&isgkml=1&classify_main=21023&callback=cb"
    );
    let [first, second] = &page.entries[..] else { panic!("{:?}", page.entries) };
    assert_eq!((first.title.as_str(), first.published.as_deref()), ("关于环评的公告", Some("2026-07-07")));
    assert_eq!((field(first, "doc_no"), second.title.as_str()), (Some("清环函〔2026〕9号"), "另一公告"));
    assert!(field(first, "_file").is_some_and(|file| file.ends_with("/3255421.pdf 报告表.pdf")));
    assert_eq!(page.next, None, "2 of 2");
    let found = &read("list/province-files.json").entries[0];
    assert_eq!(found.published.as_deref(), Some("2026-07-05 09:30:00"));
    assert_eq!(field(found, "index_no"), Some("11441800MB2C00000G/2026-00269"));
}

#[test]
fn a_count_of_less_than_was_listed_is_not_believed() {
    assert_eq!(read("list/counts-nothing.json").next.as_deref(), Some("21023:2:2"));
}

#[test]
fn a_column_ends_where_its_count_says_and_not_where_its_counter_does() {
    let mut target = plain();
    let next = target.list(None, &[(200, "list/normal.json")]).expect("a page").next;
    assert_eq!(next.as_deref(), Some("21023:2:1"), "1 of 188");
    // 203 posts by the counter, 188 by the list: nothing more to ask for.
    let last = target.list(Some("21023:2:187"), &[(200, "list/past-the-end.json")]).expect("a page");
    assert_eq!((last.entries.len(), last.next), (0, None));
    let counted = target.list(Some("21023:9:5"), &[(200, "list/times.json")]).expect("a page");
    assert_eq!(counted.next, None, "6 of 6");
    assert_eq!(
        target.asked[0],
        format!("{LIST}?page=1&sid=763015"),
        "page 0 is page 1: it is not asked for twice"
    );
    assert_eq!(target.asked[1], format!("{LIST}?page=2&sid=763015"));
}

#[test]
fn a_column_that_is_not_counted_ends_with_a_404_or_an_empty_page_or_a_repetition() {
    let mut target = plain();
    let next = target.list(None, &[(200, "list/text.json")]).expect("a page").next;
    assert_eq!(next.as_deref(), Some("21023:2:5"));
    for end in [(404, ""), (410, ""), (200, "list/past-the-end.json"), (200, "list/text.json")] {
        let mut again = plain();
        again.session = target.session.clone();
        let page = again.list(next.as_deref(), &[end]).expect("the end");
        assert_eq!((page.entries.len(), page.next), (0, None), "{end:?}");
    }
    let empty = plain().list(None, &[(200, "list/empty.json")]).expect("an empty column");
    assert_eq!((empty.entries.len(), empty.next), (0, None));
}

#[test]
fn what_is_no_list_is_never_a_list_without_rows() {
    for (status, fixture, words) in [
        (200, "list/not-json.html", "is not the JSON of a list"),
        (200, "list/error.json", "neither `articles` nor `result.data.list`"),
        (404, "", "there is no such list"),
    ] {
        let failure = plain().list(None, &[(status, fixture)]).expect_err(fixture);
        assert!(matches!(&failure, Failure::Shape(why) if why.contains(words)), "{fixture}: {failure:?}");
    }
    // Not even on a later page.
    let later = plain().list(Some("21023:2:100"), &[(200, "list/not-json.html")]);
    assert!(matches!(later, Err(Failure::Shape(_))), "{later:?}");
    assert!(matches!(plain().list(None, &[(503, "")]), Err(Failure::Refused(_))));
    assert!(matches!(plain().list(Some("2"), &[]), Err(Failure::Stale(_))));
}

#[test]
fn a_column_is_not_read_further_than_it_may_be() {
    let mut target = Target::with(json!({"column_id": "21023", "sid": 763015, "hard_max_pages": 2}));
    let page = target.list(Some("21023:2:100"), &[(200, "list/text.json")]).expect("a page");
    assert_eq!(page.next, None);
}

#[test]
fn the_number_of_a_site_is_found_in_its_index_or_left_out() {
    let mut target = Target::with(json!({"column_id": 21023}));
    target.list(None, &[(200, "index/index.html"), (200, "list/normal.json")]).expect("a page");
    assert_eq!(target.asked, [INDEX.to_owned(), format!("{LIST}?page=1&sid=763015")]);
    // It is remembered.
    target.list(Some("21023:2:100"), &[(200, "list/normal.json")]).expect("a page");
    assert_eq!(target.asked[2], format!("{LIST}?page=2&sid=763015"));
    for index in [(404, ""), (200, "index/other-site.html")] {
        let mut target = Target::with(json!({"column_id": 21023}));
        target.list(None, &[index, (200, "list/normal.json")]).expect("a page");
        assert_eq!(target.asked[1], format!("{LIST}?page=1"));
    }
}

#[test]
fn a_column_may_be_named_and_without_one_all_are_read() {
    for name in ["审批公告", "建设项目环评/审批公告"] {
        let mut target = Target::with(json!({"column_name": name}));
        let page = target.list(None, &[(200, "index/index.html"), (200, "list/times.json")]).expect("a page");
        assert!(target.asked[1].contains("/all/21024?"), "{:?}", target.asked);
        assert_eq!(field(&page.entries[0], "channel_path"), Some("建设项目环评/审批公告"));
        assert_eq!((page.next, page.entries[0].pinned), (None, false));
    }
    let mut all = Target::with(json!({}));
    let page = all.list(None, &[(200, "index/index.html"), (200, "list/times.json")]).expect("a page");
    // A known row of one column must not end the run before the next column was seen.
    assert!(page.entries.iter().all(|entry| entry.pinned));
    let page = all.list(page.next.as_deref(), &[(404, "")]).expect("a column that is passed over");
    let page = all.list(page.next.as_deref(), &[(200, "list/empty.json")]).expect("the last column");
    assert_eq!(page.next, None);
    let columns: Vec<&str> = all.asked[1..].iter().filter_map(|url| url.split(['/', '?']).nth(7)).collect();
    assert_eq!(columns, ["21023", "21024", "21031"], "leaves that lead nowhere else, in the tree's order");
    let mut none = Target::with(json!({"column_name": "没有的栏目"}));
    assert!(matches!(none.list(None, &[(200, "index/index.html")]), Err(Failure::Shape(_))));
    let mut nothing = Target::with(json!({}));
    assert!(matches!(nothing.list(None, &[(200, "index/other-site.html")]), Err(Failure::Shape(_))));
}

#[test]
fn the_columns_of_a_site_can_be_listed() {
    let mut target = Target::with(json!({"discover": true}));
    let page = target.list(None, &[(200, "index/index.html")]).expect("columns");
    let rows: Vec<_> = page
        .entries
        .iter()
        .map(|e| (e.native_id.as_deref(), e.title.as_str(), field(e, "post_count"), field(e, "is_list")))
        .collect();
    assert_eq!(
        rows,
        [
            (Some("21022"), "建设项目环评", Some("0"), Some("false")),
            (Some("21023"), "受理公告", Some("203"), Some("true")),
            (Some("21024"), "审批公告", Some("12"), Some("true")),
            (Some("21030"), "依申请公开", Some("0"), Some("false")),
            (Some("21031"), "年度报告", Some("0"), Some("true")),
        ]
    );
    let first = &page.entries[0];
    assert_eq!(
        (field(first, "sid"), field(first, "root")),
        (Some("763015"), Some("https://www.example.gov.cn/dept"))
    );
    assert_eq!(field(first, "site_name"), Some("清远市生态环境局政府信息公开目录"));
    // Not below the address that was given: perhaps at the root of its host.
    let mut target = Target::with(json!({"discover": true}));
    let page = target.list(None, &[(404, ""), (200, "index/index.html")]).expect("columns");
    assert_eq!(target.asked[1], "https://www.example.gov.cn/gkmlpt/index");
    assert_eq!(field(&page.entries[0], "root"), Some("https://www.example.gov.cn"));
    for (answer, words) in
        [("index/other-site.html", "looked for `window._CONFIG`"), ("index/no-tree.html", "no TREE")]
    {
        let mut target = Target::with(json!({"discover": true}));
        let failure = target.list(None, &[(404, ""), (200, answer)]).expect_err(answer);
        assert!(matches!(&failure, Failure::Shape(why) if why.contains(words)), "{failure:?}");
    }
}
