use super::super::dom::Budget;
use super::*;

const LIST: &str = "<!doctype html><body class=b><ul class=list>\
        <li><a href='./1.html' title='全称 一'>全称…</a><span>2026/04/10</span></li>\
        <li><a href=' /2.html '>\u{a0}第二\n <b>条</b>　<script>no</script></a><em>2026-04-09</em></li>\
        <li class=line></li></ul><ul class=other><li>x</ul>";

fn query(css: &str) -> Query {
    Query { css: css.into(), all: false }
}

fn cells(row: Option<&str>, queries: &[&str]) -> Vec<Option<(u32, String)>> {
    let doc = Doc::page(LIST, Budget::default());
    let queries: Vec<_> = queries.iter().map(|css| query(css)).collect();
    let table = select(&doc, row, &queries).unwrap();
    assert_eq!(table.cells.len(), table.rows as usize * queries.len());
    table.cells.into_iter().map(|cell| cell.map(|hit| (hit.alternative, hit.value))).collect()
}

fn hit(alternative: u32, value: &str) -> Option<(u32, String)> {
    Some((alternative, value.to_owned()))
}

#[test]
fn fields_are_relative_to_their_row_and_the_first_non_empty_alternative_wins() {
    let cells = cells(
        Some("ul.missing li, ul.list li:not(.line), li"),
        &["a::attr(href)", "a::attr(title), a::text", "span, em", "::attr(class)"],
    );
    assert_eq!(
        cells,
        [
            hit(0, "./1.html"),
            hit(0, "全称 一"),
            hit(0, "2026/04/10"),
            None,
            hit(0, "/2.html"),
            hit(1, "第二 条"),
            hit(1, "2026-04-09"),
            None,
        ]
    );
}

#[test]
fn the_alternative_of_the_rows_is_told() {
    let doc = Doc::page(LIST, Budget::default());
    let table = select(&doc, Some("table tr, ul.other li"), &[]).unwrap();
    assert_eq!((table.alternative, table.rows), (1, 1));
    let none = select(&doc, Some("table tr"), &[query("a")]).unwrap();
    assert_eq!((none.alternative, none.rows, none.cells.len()), (0, 0, 0));
}

#[test]
fn an_empty_match_gives_way_to_the_next_match_then_to_the_next_alternative() {
    assert_eq!(cells(None, &["li.line, em"]), [hit(1, "2026-04-09")]);
    assert_eq!(cells(None, &["a::attr(title)"]), [hit(0, "全称 一")]);
    assert_eq!(cells(None, &["a::attr(nothing)"]), [None]);
}

#[test]
fn an_ending_alone_reads_the_row_itself() {
    assert_eq!(
        cells(Some("em"), &["::text", "::html"]),
        [hit(0, "2026-04-09"), hit(0, "<em>2026-04-09</em>")]
    );
    assert_eq!(
        cells(None, &["body::attr(class)", "html > body > ul::attr(class)"]),
        [hit(0, "b"), hit(0, "list")]
    );
}

#[test]
fn all_gives_every_match_of_the_winning_alternative_only() {
    let doc = Doc::page(LIST, Budget::default());
    let queries = [Query { css: "table, a::attr(href), em".into(), all: true }];
    let table = select(&doc, None, &queries).unwrap();
    let hit = table.cells[0].as_ref().unwrap();
    assert_eq!(
        (hit.alternative, hit.value.as_str(), hit.more.as_slice()),
        (1, "./1.html", ["/2.html".to_owned()].as_slice())
    );
}

#[test]
fn document_order_holds_where_the_parser_moved_nodes() {
    // The parser creates the table first and then puts the misplaced paragraph in front of it.
    let doc = Doc::page("<table><tr><td><i>second</i></td></tr><i>first</i></table>", Budget::default());
    let table = select(&doc, None, &[query("i")]).unwrap();
    assert_eq!(table.cells[0].as_ref().unwrap().value, "first");
}

#[test]
fn bad_selectors_are_named() {
    let doc = Doc::page(LIST, Budget::default());
    for (row, css, words) in [
        (None, "a[", "bad selector `a[`"),
        (Some("li["), "a", "bad selector `li[`"),
        (Some("li::text"), "a", "remove the `::` ending"),
        (None, "a::href", "::attr(href)"),
    ] {
        let error = select(&doc, row, &[query(css)]).unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    }
    assert!(place(&doc, "a::text").is_err());
}

#[test]
fn answers_that_would_be_too_large_are_refused() {
    let many = Doc::page(&"<i>x</i>".repeat(MOST_ROWS + 1), Budget::default());
    assert!(select(&many, Some("i"), &[]).unwrap_err().to_string().contains("rows"));
    let all = [Query { css: "i".into(), all: true }];
    assert!(select(&many, None, &all).unwrap_err().to_string().contains("values"));
    let deep = Doc::page(&format!("{}{}", "<div>".repeat(400), "x".repeat(100_000)), Budget::default());
    assert!(select(&deep, Some("div"), &[query("::html")]).unwrap_err().to_string().contains("16 MiB"));
}

#[test]
fn a_selector_that_walks_far_is_stopped_by_the_clock() {
    let doc = Doc::page(&"<i>".repeat(200).replace('>', "></i>").repeat(500), Budget::default());
    let clock = Clock { end: Instant::now() };
    let css = css::compile("b ~ i, i:has(~ b)").unwrap();
    let scope = Scope { element: doc.root().unwrap(), whole: true, fragment: false };
    for alternative in &css.alternatives {
        assert!(matches!(each(alternative, scope, &clock, |_| true), Err(Limit::Time)));
    }
    // Given time, it finds what CSS says.
    let doc = Doc::page("<b></b><i>1</i><i>2</i>", Budget::default());
    let all = [Query { css: "b ~ i".into(), all: true }];
    assert_eq!(select(&doc, None, &all).unwrap().cells[0].as_ref().unwrap().more, ["2"]);
}

#[test]
fn white_space_of_all_kinds_folds() {
    for (text, expected) in [
        ("", ""),
        (" \n\t", ""),
        (" a ", "a"),
        ("a\u{a0}\u{3000} b", "a b"),
        ("a\u{200b}b", "ab"),
        ("\u{feff}标 题", "标 题"),
    ] {
        assert_eq!(fold(text), expected, "{text:?}");
    }
}

proptest::proptest! {
    #[test]
    fn no_page_and_selector_panic(page in "(<[/]?(div|table|tr|td|a|p|li)( href=x)?>|[a-z ]|中){0,60}", css in "[a-z .#>~+*:,()\\[\\]=\"]{0,20}(::text|::html|::attr\\(href\\))?") {
        let doc = Doc::either(&page, Budget::default());
        let _ = select(&doc, None, &[query(&css)]);
        let _ = select(&doc, Some(&css), &[query("::html"), query("a")]);
    }

    #[test]
    fn folding_twice_is_folding_once(text in "\\PC{0,40}") {
        let once = fold(&text);
        proptest::prop_assert_eq!(fold(&once), once);
    }
}
