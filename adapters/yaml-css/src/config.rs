//! The settings of one target, as the host hands them over: `config.schema.json` in types.

use std::collections::BTreeMap;

use serde::Deserialize;

/// Settings of one target.
#[derive(Clone, Debug, Deserialize)]
pub struct Config {
    /// The list's first page.
    pub list_url: String,
    /// Rows of an HTML list.
    #[serde(default)]
    pub list_selector: Option<ListSelector>,
    /// Rows of a JSON list.
    #[serde(default)]
    pub list_json: Option<ListJson>,
    /// How further pages are found.
    #[serde(default)]
    pub pagination: Pagination,
    /// What is read from a document.
    #[serde(default)]
    pub detail: Detail,
}

/// Rows of an HTML list (S2-19); all but `row` relative to the row.
#[derive(Clone, Debug, Deserialize)]
pub struct ListSelector {
    /// One match per row.
    pub row: String,
    /// The link.
    #[serde(default = "href")]
    pub href: String,
    /// The title.
    #[serde(default = "title")]
    pub title: String,
    /// The date.
    #[serde(default)]
    pub date: Option<String>,
    /// Matches in rows kept at the top.
    #[serde(default)]
    pub pinned: Option<String>,
    /// A selector, or a piece of the address with `{digits}`.
    #[serde(default)]
    pub native_id: Option<String>,
}

/// Rows of a JSON list, by dotted paths.
#[derive(Clone, Debug, Deserialize)]
pub struct ListJson {
    /// Where the JSON is, relative to `list_url`.
    #[serde(default)]
    pub source: Option<String>,
    /// Path of the array.
    #[serde(default)]
    pub rows: String,
    /// Path of the address.
    pub url: String,
    /// Path of the title.
    pub title: String,
    /// Path of the date.
    #[serde(default)]
    pub date: Option<String>,
    /// Path of the site's own number.
    #[serde(default)]
    pub native_id: Option<String>,
    /// Further fields.
    #[serde(default)]
    pub fields: BTreeMap<String, String>,
}

/// How further pages are found (S2-21).
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Pagination {
    /// Which way.
    #[serde(rename = "type", default)]
    pub kind: PaginationKind,
    /// The query parameter that holds the number.
    #[serde(default)]
    pub param: Option<String>,
    /// What takes the place of the last path segment.
    #[serde(default)]
    pub pattern: Option<String>,
    /// The number that the second page has.
    #[serde(default)]
    pub start: Option<u32>,
    /// How many pages are read at most.
    #[serde(default)]
    pub max_pages: Option<u32>,
}

/// The ways of finding further pages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PaginationKind {
    /// There is one page.
    #[default]
    None,
    /// `?page=2`.
    PageParam,
    /// `index_2.html`.
    PathPattern,
}

/// What is read from a document (S2-20).
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Detail {
    /// The title.
    #[serde(default)]
    pub title: Option<String>,
    /// The time of publication.
    #[serde(default)]
    pub publish_time: Option<String>,
    /// 来源.
    #[serde(default)]
    pub source: Option<String>,
    /// The body.
    #[serde(default)]
    pub content: Option<String>,
    /// Links to attachments.
    #[serde(default)]
    pub attachment_css: Option<String>,
    /// Further fields.
    #[serde(default)]
    pub fields: BTreeMap<String, String>,
}

fn href() -> String {
    "a::attr(href)".to_owned()
}

/// Lists cut long titles and keep the whole one in the attribute.
fn title() -> String {
    "a::attr(title), a::text".to_owned()
}
