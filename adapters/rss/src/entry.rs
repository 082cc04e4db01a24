//! An entry of a feed as a row of a list, and back: what only the feed knows travels in fields of the row whose names
//! begin with `_`, which the host hands back with the row and keeps from the store.

use dibao_adapter::{Attachment, Ctx, Entry, Host};

use crate::address::{self, Room};
use crate::config::{Config, Enclosures, Way};
use crate::feed::{Item, Markup};
use crate::place::Place;
use crate::{Session, date, fit, words};

/// Bytes of the body in one field; the contract allows 64 KiB.
const PIECE: usize = 60 * 1024;
/// Pieces of a body: what is longer than a megabyte is read from its page.
const PIECES: usize = 16;
/// Characters that make what a feed calls the whole text an article.
const WHOLE: usize = 100;
/// Characters that make a description one.
const WHOLE_DESCRIPTION: usize = 500;
/// Characters of a summary that are kept.
const SUMMARY: usize = 1000;
/// Characters of a title made from the text.
const TITLE: usize = 60;
/// Bytes of an id that can be the same in two feeds of a site.
const SHORT_ID: usize = 8;

/// For the host as well: that nothing is to be asked for at the address.
const HAS_PAGE: &str = "has_page";
const CONTENT: &str = "_content";
/// What the feed has of a text that is to be read from its page.
const SHORT: &str = "_short";
const FILES: &str = "_files";
const SOURCE: &str = "_source";

/// The row of an entry that is at `place`.
pub fn row(
    host: &impl Host,
    ctx: &Ctx<Config, Session>,
    room: &Room,
    place: Place,
    mut item: Item,
) -> Option<Entry> {
    item.title = item.title.or(item.other_title.take());
    item.summary = item.summary.or(item.other_summary.take());
    let (url, way) = match &place {
        Place::Page(url) => (fit::link(url)?, ctx.config.way()),
        // There is nothing to read but what the feed has.
        Place::Nowhere(url) => (fit::link(url)?, Way::Feed),
    };
    let summary = item.summary.as_ref().map(|summary| words::plain(host, summary));
    let title = item.title.as_ref().map(|title| words::plain(host, title)).filter(|title| !title.is_empty());
    let title = title.or_else(|| {
        let text = summary.clone().or_else(|| item.content.as_ref().map(|text| words::plain(host, text)))?;
        Some(text.chars().take(TITLE).collect())
    });
    let published = item.published.or(item.updated).map(|raw| date::plain(&raw));
    let body = body(item.content, item.summary, way, room);
    let mut fields = Vec::new();
    let mut add = |name: &str, text: Option<String>| {
        if let Some(text) = text {
            fields.push((name.to_owned(), text));
        }
    };
    add("author", fit::value(&item.authors.join(", ")));
    add("publisher", item.publisher.as_deref().and_then(fit::value));
    add("topic_words", fit::value(&item.categories.join(", ")));
    add("summary", summary.and_then(|text| fit::value(&text.chars().take(SUMMARY).collect::<String>())));
    if matches!(place, Place::Nowhere(_)) {
        add(HAS_PAGE, Some("false".to_owned()));
    }
    add(SOURCE, item.source.as_deref().and_then(fit::value));
    if ctx.config.enclosures != Enclosures::None {
        let all = ctx.config.enclosures == Enclosures::All;
        let wanted = item.files.iter().filter(|file| all || is_document(&file.mime));
        let files: Vec<(String, Option<String>)> = wanted
            .filter_map(|file| Some((fit::link(&file.url)?, file.name.as_deref().and_then(fit::name))))
            .collect();
        add(FILES, pack(&files));
    }
    match body {
        Text::Whole(html) => {
            for (index, piece) in pieces(html).into_iter().enumerate() {
                add(&format!("{CONTENT}{index}"), Some(piece));
            }
        }
        Text::Short(html) => add(SHORT, pieces(html).into_iter().next()),
        Text::None => {}
    }
    Some(Entry {
        title: title.as_deref().and_then(fit::value).unwrap_or_default(),
        published: published.as_deref().and_then(fit::value),
        native_id: item.id.as_deref().and_then(|id| native_id(id, &ctx.target)),
        pinned: false,
        fields,
        url,
    })
}

/// What the feed gave of a body.
pub fn content(entry: &Entry) -> Option<String> {
    let mut pieces = (0..PIECES).map_while(|index| field(entry, &format!("{CONTENT}{index}"))).peekable();
    pieces.peek().is_some().then(|| pieces.collect())
}

/// What the feed gave of a text that its page should have.
pub fn short(entry: &Entry) -> Option<&str> {
    field(entry, SHORT)
}

/// Whether something can be asked for at its address.
pub fn has_page(entry: &Entry) -> bool {
    field(entry, HAS_PAGE) != Some("false")
}

/// The paper or feed it was taken from.
pub fn source(entry: &Entry) -> Option<&str> {
    field(entry, SOURCE)
}

/// The files that the feed named.
pub fn files(entry: &Entry) -> Vec<Attachment> {
    let packed = field(entry, FILES).unwrap_or("[]");
    let files: Vec<(String, Option<String>)> = serde_json::from_str(packed).unwrap_or_default();
    files.into_iter().map(|(url, name)| Attachment { url, name }).collect()
}

fn field<'a>(entry: &'a Entry, name: &str) -> Option<&'a str> {
    entry.fields.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
}

/// A number counts within its own feed only, so another feed of the site may have it too; whatever has a name in it
/// (an address, a `tag:`, a uuid) is good everywhere.
fn native_id(id: &str, target: &str) -> Option<String> {
    let id = fit::name(id)?;
    let bare = id.len() <= SHORT_ID && !id.contains([':', '/']);
    if bare { fit::name(&format!("{target}:{id}")) } else { Some(id) }
}

/// What a feed has of a text.
enum Text {
    /// As far as the settings ask.
    Whole(String),
    /// Less than that: better than nothing, if its page cannot be read.
    Short(String),
    None,
}

/// The body. Moved, not copied: a guest's memory is not given back.
fn body(content: Option<Markup>, summary: Option<Markup>, way: Way, room: &Room) -> Text {
    let html = |mut markup: Markup| {
        let base = markup.base.take();
        // A little more than is kept, so that it is seen to be too long.
        markup.text.truncate(markup.text.floor_char_boundary(PIECE * PIECES + 10));
        let html = words::html(markup);
        base.map(|base| address::join_all(room, &base, &html)).unwrap_or(html)
    };
    match way {
        Way::Page => Text::None,
        Way::Feed => content.or(summary).map_or(Text::None, |markup| Text::Whole(html(markup))),
        Way::Auto => {
            let fits = |html: &str, least| {
                html.len() <= PIECE * PIECES && words::visible(html, least) >= least && !words::is_cut(html)
            };
            let content = match content.map(html) {
                Some(content) if fits(&content, WHOLE) => return Text::Whole(content),
                other => other,
            };
            let summary = summary.map(html);
            let blocks = ["<p", "<br", "<div", "<P", "<BR", "<DIV"];
            match summary {
                Some(summary)
                    if blocks.iter().any(|tag| summary.contains(tag))
                        && fits(&summary, WHOLE_DESCRIPTION) =>
                {
                    Text::Whole(summary)
                }
                summary => content.or(summary).map_or(Text::None, Text::Short),
            }
        }
    }
}

fn pieces(html: String) -> Vec<String> {
    let is_clean = !html.contains(|c: char| c.is_control() && !matches!(c, '\n' | '\t'));
    if is_clean && (1..=PIECE).contains(&html.len()) {
        return vec![html];
    }
    let mut rest = html.as_str();
    let mut pieces = Vec::new();
    while !rest.is_empty() && pieces.len() < PIECES {
        let (piece, more) = rest.split_at(rest.floor_char_boundary(PIECE));
        pieces.push(fit::clean(piece));
        rest = more;
    }
    pieces
}

fn is_document(mime: &str) -> bool {
    let other = ["audio", "video", "image"];
    !other.iter().any(|kind| mime.starts_with(kind))
}

fn pack(files: &[(String, Option<String>)]) -> Option<String> {
    let mut kept = files.len().min(100);
    while kept > 0 {
        let packed = serde_json::to_string(&files[..kept]).ok()?;
        if packed.len() <= PIECE {
            return Some(packed);
        }
        kept /= 2;
    }
    None
}
