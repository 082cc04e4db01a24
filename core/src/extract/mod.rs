//! From the bytes of a page to an article whose every field says where it came from.
//!
//! Bytes become text in [`charset`], text becomes a tree within a budget (`dom`), and [`Pages`] keeps the trees of one turn for
//! everyone who asks: selectors (`css`, `select`), readable text (`text`), and [`article`], which puts the fields together from what
//! the adapter found, the page and the list. [`normalize`] says when two addresses are the same document.
//!
//! [`page`] stands alone: a pure function from bytes, address and options to an article, for a page nobody wrote selectors for.

mod article;
mod attachments;
mod byline;
pub mod charset;
pub mod css;
mod date;
mod docno;
mod document;
mod dom;
mod endings;
mod generic;
mod headline;
pub(crate) mod listing;
mod markdown;
mod meta;
pub mod normalize;
mod page;
mod pages;
mod select;
mod shape;
mod stamps;
mod text;
mod title;
mod value;
mod when;
mod write;

pub use article::{ENOUGH_HTML, Extracted, Setting, article};
pub use charset::{Decoded, decode};
pub use date::parse_published;
pub use docno::{DocNo, doc_numbers};
pub use document::Document;
pub use dom::Cut;
pub use endings::Endings;
pub use normalize::{normalize_url, url_hash};
pub use page::{Loser, Options, PageArticle, PageKind, Policy, page};
pub use pages::Pages;
pub use select::SelectError;
pub use value::Proof;
