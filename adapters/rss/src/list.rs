//! One page of a feed: an answer in, rows out.
//!
//! What is not a feed is a failure, never an empty success (S2-31). A feed without entries is a feed.

use std::borrow::Cow;

use dibao_adapter::{Ctx, Entry, Failure, Host, Level, Page, Reply, Select};

use crate::address::Room;
use crate::config::{Config, PaginationKind};
use crate::feed::{Feed, SEED, hash};
use crate::read::NotAFeed;
use crate::{Session, address, entry, json, place, read};

/// How much of an answer is looked at for the beginning of a feed.
const JUNK: usize = 64 * 1024;
/// Pages whose addresses are remembered; the session holds 64 KiB.
const REMEMBERED: usize = 2000;
/// Bytes of a place that the host keeps.
const LONGEST_PLACE: usize = 4000;

/// Where a page is.
pub enum Place {
    First,
    /// At an address that the feed named.
    At(String),
    /// By its number.
    Number(u32),
}

impl Place {
    /// What a cursor means.
    pub fn of(cursor: Option<&str>) -> Result<Place, Failure> {
        let stale = || Failure::Stale("the stored cursor names no page of a feed".to_owned());
        match cursor {
            None => Ok(Place::First),
            Some(text) => match text.strip_prefix("page ") {
                Some(number) => number.parse().map(Place::Number).map_err(|_| stale()),
                None => Ok(Place::At(text.strip_prefix("at ").ok_or_else(stale)?.to_owned())),
            },
        }
    }

    /// The page's address.
    pub fn address(&self, config: &Config) -> Result<String, Failure> {
        match self {
            Place::First => Ok(config.list_url.clone()),
            Place::At(url) => Ok(url.clone()),
            Place::Number(number) => {
                let param = config.pagination.param.as_deref();
                let param = param.ok_or_else(|| Failure::Config("pagination.param is missing".to_owned()))?;
                let shown = config.pagination.start.unwrap_or(2).saturating_add(number.saturating_sub(2));
                let (address, _) = config.list_url.split_once('#').unwrap_or((&config.list_url, ""));
                let mark = if address.contains('?') { '&' } else { '?' };
                Ok(format!("{address}{mark}{param}={shown}"))
            }
        }
    }
}

/// Reads the answer to the request for a page.
pub fn read(
    host: &impl Host,
    ctx: &mut Ctx<Config, Session>,
    place: &Place,
    reply: &Reply,
) -> Result<Page, Failure> {
    let first = matches!(place, Place::First);
    if first {
        ctx.session = Session::default();
    }
    match reply.status {
        0..=399 => {}
        // WordPress answers so to the number after the last.
        404 | 410 if !first => return Ok(end()),
        404 | 410 => {
            return Err(Failure::Shape(format!(
                "{} answered {}: the feed has moved; correct list_url",
                reply.url, reply.status
            )));
        }
        status => return Err(Failure::Refused(format!("{} answered {status}", reply.url))),
    }
    let room = Room::new();
    let feed = parse(host, reply, &room)?;
    if let Some(why) = &feed.broken {
        let count = feed.items.len();
        host.log(Level::Warn, &format!("{} is broken ({why}): {count} entries before that", reply.url));
    }
    let all = feed.items.len();
    // Not the address of this page: an entry moves to later ones.
    let home = feed.home.filter(|home| address::is_web(home) && home.len() <= LONGEST_PLACE);
    let places = place::all(&feed.items, home.as_deref().unwrap_or(&ctx.config.list_url));
    let mut entries: Vec<Entry> = feed
        .items
        .into_iter()
        .zip(places)
        .filter_map(|(item, place)| entry::row(host, ctx, &room, place?, item))
        .collect();
    if entries.is_empty() && all > 0 {
        return Err(Failure::Shape(format!("none of the {all} entries of {} says anything", reply.url)));
    }
    if entries.len() < all {
        host.log(
            Level::Warn,
            &format!("{} of {all} entries say nothing or have no usable address", all - entries.len()),
        );
    }
    only_own_ids(&mut entries);
    let rows = entries.iter().fold(SEED, |rows, entry| hash(rows, &entry.url));
    if !first && ctx.session.rows == Some(rows) {
        return Ok(end());
    }
    ctx.session.rows = Some(rows);
    ctx.session.pages.push(hash(SEED, &place.address(&ctx.config)?));
    let next = if entries.is_empty() { None } else { next(ctx, place, feed.next) };
    Ok(Page { entries, next })
}

fn end() -> Page {
    Page { entries: Vec::new(), next: None }
}

/// The feed's own link, else the next number.
fn next(ctx: &Ctx<Config, Session>, place: &Place, linked: Option<String>) -> Option<String> {
    if let Some(url) = linked {
        let known = ctx.session.pages.contains(&hash(SEED, &url)) || url == ctx.config.list_url;
        let good = !known
            && address::is_web(&url)
            && url.len() <= LONGEST_PLACE
            && ctx.session.pages.len() < REMEMBERED;
        return (good && !url.contains(|c: char| c.is_control())).then(|| format!("at {url}"));
    }
    let number = match place {
        Place::First => 1,
        Place::Number(number) => *number,
        Place::At(_) => return None,
    };
    let paging = &ctx.config.pagination;
    let more = paging.kind == PaginationKind::PageParam && number < paging.max_pages.unwrap_or(1);
    more.then(|| format!("page {}", number + 1))
}

/// An id that several entries share tells none of them.
fn only_own_ids(entries: &mut [Entry]) {
    let ids = place::twice(entries.iter().filter_map(|entry| entry.native_id.as_deref()));
    let shared: Vec<String> = ids.into_iter().map(str::to_owned).collect();
    if shared.is_empty() {
        return;
    }
    for entry in entries {
        if entry.native_id.as_ref().is_some_and(|id| shared.binary_search(id).is_ok()) {
            entry.native_id = None;
        }
    }
}

fn parse(host: &impl Host, reply: &Reply, room: &Room) -> Result<Feed, Failure> {
    let shape = |why: String| {
        let why: String = why.chars().take(300).map(|c| if c.is_control() { ' ' } else { c }).collect();
        Failure::Shape(format!("{} is no feed: {why}", reply.url))
    };
    let text = decode(host, reply);
    let text = text.trim_start_matches('\u{feff}').trim_start();
    if text.is_empty() {
        return Err(shape("the answer is empty".to_owned()));
    }
    if text.starts_with('{') {
        return json::read(text, &reply.url, room).map_err(shape);
    }
    if starts_with(text, "<!doctype html") || starts_with(text, "<html") {
        return Err(shape(html(host, reply)));
    }
    let start = beginning(text).unwrap_or(0);
    if start > 0 {
        host.log(Level::Info, &format!("{start} bytes stand before the feed"));
    }
    read::read(&text[start..], &reply.url, room).map_err(|not| match not {
        NotAFeed::Html => shape(html(host, reply)),
        NotAFeed::Other(root) => shape(format!("<{root}> is neither RSS nor Atom")),
        NotAFeed::Unreadable(why) => shape(why),
    })
}

/// Where the feed begins: some programs print a warning or an empty line first.
fn beginning(text: &str) -> Option<usize> {
    let head = text[..text.floor_char_boundary(JUNK)].to_ascii_lowercase();
    ["<?xml", "<rss", "<feed", "<rdf:rdf", "<channel", "<entry"]
        .iter()
        .filter_map(|mark| head.find(mark))
        .min()
}

fn starts_with(text: &str, start: &str) -> bool {
    text.get(..start.len()).is_some_and(|head| head.eq_ignore_ascii_case(start))
}

/// UTF-8 that calls itself nothing else is read where it stands; everything else is decoded by the host.
fn decode<'a>(host: &impl Host, reply: &'a Reply) -> Cow<'a, str> {
    let content_type =
        reply.headers.iter().find(|(name, _)| name == "content-type").map(|(_, value)| value.as_str());
    let head = &reply.body[..reply.body.len().min(200)];
    let head = String::from_utf8_lossy(head).to_ascii_lowercase();
    let says_other =
        |text: &str, mark: &str| text.split_once(mark).is_some_and(|(_, rest)| !rest.contains("utf-8"));
    let other = says_other(&head, "encoding=")
        || content_type.is_some_and(|text| says_other(&text.to_ascii_lowercase(), "charset="));
    match std::str::from_utf8(&reply.body) {
        Ok(text) if !other => Cow::Borrowed(text),
        _ => Cow::Owned(host.decode(&reply.body, content_type)),
    }
}

/// What to say of a page: where its feeds are, if it names some.
fn html(host: &impl Host, reply: &Reply) -> String {
    let css = "link[rel~='alternate'][type*='rss']::attr(href), link[rel~='alternate'][type*='atom']::attr(href), \
        link[rel~='alternate'][type*='feed+json']::attr(href)";
    let found = Select::reply(&reply.tag).one(css).run(host).ok();
    let link = found.and_then(|mut rows| rows.iter_mut().next().and_then(|mut row| row.take(0)));
    match link {
        Some(link) => format!("HTML, which names the feed {}", address::join(&reply.url, &link)),
        None => "HTML".to_owned(),
    }
}
