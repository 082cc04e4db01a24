//! The settings of one feed, as the host hands them over: `config.schema.json` in types.

use std::collections::BTreeMap;

use serde::Deserialize;

/// Settings of one feed.
#[derive(Clone, Debug, Deserialize)]
pub struct Config {
    /// The feed's address.
    pub list_url: String,
    /// Where the body of a document comes from.
    #[serde(default)]
    pub detail: Detail,
    /// Which enclosures are kept.
    #[serde(default)]
    pub enclosures: Enclosures,
    /// For feeds that have more pages and do not link them.
    #[serde(default)]
    pub pagination: Pagination,
}

/// Where the body of a document comes from.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub enum Detail {
    /// One of the ways by name.
    Way(Way),
    /// From the page, by these selectors (S2-52, mixed mode).
    Selectors(Selectors),
}

impl Default for Detail {
    fn default() -> Detail {
        Detail::Way(Way::Auto)
    }
}

/// The ways by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Way {
    /// The feed where it has the whole text, else the page.
    Auto,
    /// What the feed has, however little: no page is fetched.
    Feed,
    /// The page, whatever the feed has.
    Page,
}

impl Config {
    /// The way that holds.
    pub fn way(&self) -> Way {
        match &self.detail {
            Detail::Way(way) => *way,
            Detail::Selectors(_) => Way::Page,
        }
    }
}

/// What is read from a page.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Selectors {
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

/// Which enclosures are kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Enclosures {
    /// All but sound, film and pictures: an hour of sound is larger than a year of notices.
    #[default]
    Documents,
    /// All.
    All,
    /// None.
    None,
}

/// How further pages are found where the feed does not link them.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Pagination {
    /// Which way.
    #[serde(rename = "type", default)]
    pub kind: PaginationKind,
    /// The query parameter that holds the number.
    #[serde(default)]
    pub param: Option<String>,
    /// The number of the second page.
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
    /// Only by the feed's own links.
    #[default]
    None,
    /// `?paged=2`.
    PageParam,
}
