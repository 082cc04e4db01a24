//! From the bytes of a page to an article whose every field says where it came from.
//!
//! Bytes become text in [`charset`], text becomes a tree within a budget (`dom`), and [`Pages`] keeps the trees of one
//! turn for everyone who asks: selectors (`css`, `select`) and readable text (`text`).

pub mod charset;
pub mod css;
mod dom;
mod pages;
mod select;
mod text;

pub use pages::Pages;
pub use select::SelectError;
