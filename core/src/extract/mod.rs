//! From the bytes of a page to an article whose every field says where it came from.
//!
//! Bytes become text in [`charset`], text becomes a tree within a budget (`dom`), and [`Pages`] keeps the trees of one turn for
//! everyone who asks: selectors (`css`, `select`), readable text (`text`), and [`article`], which puts the fields together from what
//! the adapter found, the page and the list. [`normalize`] says when two addresses are the same document.

mod article;
mod attachments;
pub mod charset;
pub mod css;
mod date;
mod dom;
pub mod normalize;
mod pages;
mod select;
mod text;
mod title;

pub use article::{ENOUGH_HTML, Extracted, article};
pub use charset::{Decoded, decode};
pub use date::parse_published;
pub use normalize::{normalize_url, url_hash};
pub use pages::Pages;
pub use select::SelectError;
