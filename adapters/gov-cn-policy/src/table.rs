//! The table above a formal document: 索引号, 主题分类, 发文机关, 成文日期, 标题, 发文字号, 发布日期.
//!
//! It lies in tables within tables, and its labels are spaced out (`索 引 号：`, `标　　题：`). So only cells without a
//! table inside are read, in the order of the page, and a value is what follows its label: in the same cell, or in the next.

use dibao_adapter::{Host, HtmlPage, Query};

use crate::row;

/// Where the table is, best place first. The last one is every table outside of the text: labels are few, and their
/// first mention counts.
const CELLS: &str = ".pctoubukuang1 :is(td, th):not(:has(table)), table.bd1 :is(td, th):not(:has(table)), \
     .policyLibraryOverview_header :is(td, th):not(:has(table)), \
     :is(td, th):not(:has(table)):not(#UCAP-CONTENT):not(#UCAP-CONTENT *):not(.pages_content *)";

/// Labels without spaces, and what they are called in the store.
const LABELS: [(&str, &str); 16] = [
    ("索引号", "index_no"),
    ("主题分类", "open_category"),
    ("主题词", "topic_words"),
    ("发文机关", "publisher"),
    ("发文单位", "publisher"),
    ("发文机构", "publisher"),
    ("发布机构", "publisher"),
    ("成文日期", "written_date"),
    ("成文时间", "written_date"),
    ("标题", TITLE),
    ("名称", TITLE),
    ("发文字号", "doc_no"),
    ("文号", "doc_no"),
    ("发布日期", PUBLISHED),
    ("发布时间", PUBLISHED),
    ("有效性", "validity"),
];

/// The name under which the title is found here; the store has it elsewhere.
pub const TITLE: &str = "title";
/// The name under which the day of publication is found here.
pub const PUBLISHED: &str = "published";

/// A name of the store, the value, and the label that it stood behind.
pub type Line = (&'static str, String, &'static str);

/// The lines of the table; none where there is no table.
pub fn read(host: &impl Host, tag: &str) -> Vec<Line> {
    let query = Query { css: "::text".to_owned(), all: false };
    let page = HtmlPage::Reply(tag.to_owned());
    // A page with more cells than any selection may have has no table that could be read.
    let cells = host.select(&page, Some(CELLS), &[query]).map(|table| table.cells).unwrap_or_default();
    lines(cells.iter().map(|cell| cell.as_ref().map_or("", |hit| hit.value.as_str())))
}

fn lines<'a>(cells: impl Iterator<Item = &'a str>) -> Vec<Line> {
    let mut lines: Vec<Line> = Vec::new();
    let mut open: Option<(&'static str, &'static str)> = None;
    for cell in cells {
        match (label(cell), open.take()) {
            (Some((named, "")), _) => open = Some(named),
            (Some(((label, name), rest)), _) => push(&mut lines, name, rest, label),
            (None, Some((label, name))) => push(&mut lines, name, cell.trim(), label),
            (None, None) => {}
        }
    }
    lines
}

/// The first value counts: a page for telephones repeats the table.
fn push(lines: &mut Vec<Line>, name: &'static str, value: &str, label: &'static str) {
    if value.is_empty() || lines.iter().any(|(known, ..)| *known == name) {
        return;
    }
    let value = match name {
        "written_date" => row::day(value).unwrap_or_else(|| value.to_owned()),
        _ => value.to_owned(),
    };
    lines.push((name, row::value(value), label));
}

type Label = (&'static str, &'static str);

/// The label at the beginning of a cell and what stands behind it in the same cell.
fn label(cell: &str) -> Option<(Label, &str)> {
    LABELS.iter().find_map(|(label, name)| {
        let mut rest = cell.trim_start();
        for expected in label.chars() {
            rest = rest.trim_start_matches(is_gap).strip_prefix(expected)?;
        }
        let behind = rest.trim_start_matches(is_gap);
        let value = behind.strip_prefix([':', '：']).map(str::trim);
        match value {
            Some(value) => Some(((*label, *name), value)),
            // A cell that holds nothing but the label is one, colon or not; `标题一、` is text.
            None => behind.is_empty().then_some(((*label, *name), "")),
        }
    })
}

fn is_gap(c: char) -> bool {
    c.is_whitespace() || matches!(c, '\u{200b}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(cells: &[&str]) -> Vec<(&'static str, String)> {
        lines(cells.iter().copied()).into_iter().map(|(name, value, _)| (name, value)).collect()
    }

    #[test]
    fn labels_are_known_however_they_are_spaced() {
        let index = |text: &str| vec![("index_no", text.to_owned())];
        for label in
            ["索引号：", "索 引 号：", "索\u{3000}引\u{3000}号 :", "索引号", " 索\u{a0}引 号\u{200b}："]
        {
            assert_eq!(read(&[label, "000014349/2026-00011"]), index("000014349/2026-00011"), "{label:?}");
        }
        assert_eq!(read(&["索引号：000014349/2026-00011"]), index("000014349/2026-00011"));
    }

    #[test]
    fn a_value_is_never_taken_from_the_next_label() {
        assert_eq!(
            read(&[
                "发文机关：",
                "",
                "成文日期：",
                "2026年04月01日",
                "发文字号：",
                "发布日期：",
                "2026年04月10日"
            ]),
            [("written_date", "2026-04-01".to_owned()), ("published", "2026年04月10日".to_owned())]
        );
    }

    #[test]
    fn words_that_only_begin_like_a_label_are_text() {
        assert!(read(&["标题一、总则", "甲", "发文机关代字", "乙"]).is_empty());
    }

    #[test]
    fn the_first_mention_counts() {
        let doc_no = vec![("doc_no", "国发〔2026〕3号".to_owned())];
        assert_eq!(read(&["发文字号：", "国发〔2026〕3号", "发文字号：", "国发〔2025〕1号"]), doc_no);
    }
}
