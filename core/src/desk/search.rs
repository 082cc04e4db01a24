//! Searching articles: what is asked, what is found. Plain data.

use serde::{Deserialize, Serialize};

use crate::clock::Timestamp;
use crate::model::Published;

/// Which articles. All of it must hold; nothing said: all articles, the newest published first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SearchQuery {
    /// Words in title and body, two Chinese characters or more each; `"…"` keeps words together, `-word` must not be there.
    pub q: Option<String>,
    /// Only of this site, by code.
    pub site: Option<String>,
    /// Only of this target, by code.
    pub target: Option<String>,
    /// Only of this department.
    pub department: Option<i64>,
    /// `ready`, `failed` or `raw`.
    pub status: Option<String>,
    /// Only published on this day or later, `YYYY-MM-DD`.
    pub from: Option<String>,
    /// Only published on this day or earlier.
    pub to: Option<String>,
    /// Only with this in the document number, in any brackets and width.
    pub doc_no: Option<String>,
}

/// A piece of a text; `hit`: it is what was asked for. Not escaped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Piece {
    /// The piece.
    pub text: String,
    /// Whether it is to be marked.
    pub hit: bool,
}

/// An article that was found.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct SearchHit {
    /// Its number.
    pub id: i64,
    /// Code of its site.
    pub site: String,
    /// Code of its target.
    pub target: String,
    /// Name of its target.
    pub target_name: String,
    /// Its department.
    pub dept_id: Option<i64>,
    /// Its address.
    pub url: String,
    /// Its title, with marks.
    pub title: Vec<Piece>,
    /// A part of its text, with marks.
    pub snippet: Vec<Piece>,
    /// When it was published.
    pub published: Option<Published>,
    /// 发文字号.
    pub doc_no: Option<String>,
    /// Issuing body.
    pub publisher: Option<String>,
    /// `ready`, `failed` or `raw`.
    pub status: String,
    /// Whether it has attachments.
    pub has_attachment: bool,
    /// When it was fetched.
    pub fetched_at: Timestamp,
    /// How well it fits, where that was weighed.
    pub score: Option<f64>,
}

/// The numbers of all articles that a question finds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct FoundIds {
    /// How many there are here.
    pub count: u32,
    /// Whether these are all.
    pub complete: bool,
    /// The numbers, in the order of the list.
    pub ids: Vec<i64>,
}
