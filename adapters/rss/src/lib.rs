//! The adapter for feeds: RSS 0.9x, 1.0 and 2.0, Atom 0.3 and 1.0, JSON Feed.
//!
//! `xml` walks through what calls itself XML, `read` and `json` make entries of it, `place` says where those are, `entry`
//! makes rows of them, `page` reads documents. A reader of our own and not a library: the maintained one (feed-rs) needs randomness, which a guest
//! does not have, makes a component of 2.5 MB, and keeps no date that it cannot parse itself.

mod address;
mod config;
mod date;
mod entities;
mod entry;
mod feed;
mod fit;
mod json;
mod list;
mod page;
mod place;
mod read;
mod words;
mod xml;

pub use config::{Config, Detail, Enclosures, Pagination, PaginationKind, Selectors, Way};
use dibao_adapter::{
    About, Adapter, Ctx, DetailStep, Entry, Expects, Failure, Host, ListStep, Reply, Request,
};
use serde::{Deserialize, Serialize};

/// The adapter.
pub struct Rss;

/// What is remembered of the pages before, to notice a feed that goes in circles.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Session {
    /// Hash of each page's address.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pages: Vec<u32>,
    /// Hash of the last page's rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows: Option<u32>,
}

impl Adapter for Rss {
    type Config = Config;
    type Session = Session;

    fn about() -> About {
        About {
            name: "rss".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            config_schema: include_str!("../config.schema.json").to_owned(),
            hosts: vec!["site".to_owned()],
            default_interval: 0,
        }
    }

    fn list_page(
        host: &impl Host,
        ctx: &mut Ctx<Config, Session>,
        cursor: Option<&str>,
        replies: &[Reply],
    ) -> Result<ListStep, Failure> {
        let place = list::Place::of(cursor)?;
        match replies.last() {
            None => Ok(ListStep::Fetch(vec![feed(&place.address(&ctx.config)?)])),
            Some(reply) => list::read(host, ctx, &place, reply).map(ListStep::Done),
        }
    }

    fn detail(
        host: &impl Host,
        ctx: &mut Ctx<Config, Session>,
        entry: &Entry,
        replies: &[Reply],
    ) -> Result<DetailStep, Failure> {
        if let Some(reply) = replies.last() {
            return page::from_page(host, &ctx.config, entry, reply).map(DetailStep::Done);
        }
        if !entry::has_page(entry) {
            return Ok(DetailStep::Done(page::from_feed(entry)));
        }
        let has_text = entry.fields.iter().any(|(name, _)| name == "_content0");
        match ctx.config.way() {
            Way::Feed => Ok(DetailStep::Done(page::from_feed(entry))),
            Way::Auto if has_text => Ok(DetailStep::Done(page::from_feed(entry))),
            _ => Ok(DetailStep::Fetch(vec![Request::page("page", &entry.url)])),
        }
    }
}

/// A feed is asked for as anything: some begin with a warning in HTML, and whether an answer is a feed is told here.
fn feed(url: &str) -> Request {
    let accept =
        "application/rss+xml, application/atom+xml, application/feed+json, application/xml;q=0.9, */*;q=0.5";
    Request {
        headers: vec![("accept".to_owned(), accept.to_owned())],
        expects: Expects::Any,
        ..Request::page("feed", url)
    }
}

dibao_adapter::export!(Rss);
