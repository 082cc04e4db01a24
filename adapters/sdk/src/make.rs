//! Short ways to make the contract's records.

use crate::{Article, Body, Entry, Expects, Found, Method, Place, Request};

impl Request {
    /// A plain GET of a web page.
    pub fn page(tag: &str, url: &str) -> Request {
        Request {
            tag: tag.to_owned(),
            method: Method::Get,
            url: url.to_owned(),
            headers: Vec::new(),
            body: None,
            expects: Expects::Html,
        }
    }

    /// A plain GET of JSON.
    pub fn json(tag: &str, url: &str) -> Request {
        Request { expects: Expects::Json, ..Request::page(tag, url) }
    }
}

impl Entry {
    /// A row of which only address and title are known.
    pub fn new(url: String, title: String) -> Entry {
        Entry { url, title, published: None, native_id: None, pinned: false, fields: Vec::new() }
    }
}

/// A value and where it was found.
pub fn found(value: impl Into<String>, origin: impl Into<String>) -> Found {
    Found { value: value.into(), origin: origin.into() }
}

/// A body that the host reads from the page it has already parsed.
pub fn at(reply: &str, css: &str) -> Body {
    Body::At(Place { reply: reply.to_owned(), css: css.to_owned() })
}

/// An article of which nothing is known yet: fill in what was found.
pub fn nothing_found() -> Article {
    Article {
        title: None,
        published: None,
        source: None,
        content: None,
        fields: Vec::new(),
        attachments: Vec::new(),
    }
}
