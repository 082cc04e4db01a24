//! An entry of a feed as a row of a list, and back: what only the feed knows travels in fields of the row whose names
//! begin with `_`, which the host hands back with the row and keeps from the store.

use dibao_adapter::{Attachment, Ctx, Entry, Host};

use crate::config::{Config, Enclosures, Way};
use crate::feed::{Item, Markup};
use crate::{Session, address, date, fit, words};

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

const CONTENT: &str = "_content";
const FILES: &str = "_files";
const SOURCE: &str = "_source";

/// The row; none when there is no address.
pub fn row(host: &impl Host, ctx: &Ctx<Config, Session>, mut item: Item) -> Option<Entry> {
    item.title = item.title.or(item.other_title.take());
    item.summary = item.summary.or(item.other_summary.take());
    let id_as_link = item.id.as_deref().filter(|id| item.id_is_link && address::is_web(id));
    let web = |link: &Option<String>| link.clone().filter(|link| address::is_web(link));
    let url = web(&item.link).or_else(|| id_as_link.map(str::to_owned)).or_else(|| web(&item.other_link))?;
    let url = fit::link(&url)?;
    let summary = item.summary.as_ref().map(|summary| words::plain(host, summary));
    let title = item.title.as_ref().map(|title| words::plain(host, title)).filter(|title| !title.is_empty());
    let title = title.or_else(|| {
        let text = summary.clone().or_else(|| item.content.as_ref().map(|text| words::plain(host, text)))?;
        Some(text.chars().take(TITLE).collect())
    });
    let published = item.published.or(item.updated).map(|raw| date::plain(&raw));
    let body = body(item.content, item.summary, ctx.config.way());
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
    add(SOURCE, item.source.as_deref().and_then(fit::value));
    if ctx.config.enclosures != Enclosures::None {
        let all = ctx.config.enclosures == Enclosures::All;
        let wanted = item.files.iter().filter(|file| all || is_document(&file.mime));
        let files: Vec<(String, Option<String>)> = wanted
            .filter_map(|file| Some((fit::link(&file.url)?, file.name.as_deref().and_then(fit::name))))
            .collect();
        add(FILES, pack(&files));
    }
    for (index, piece) in pieces(body.unwrap_or_default()).into_iter().enumerate() {
        add(&format!("{CONTENT}{index}"), Some(piece));
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

/// The body, where the feed has it as far as the settings ask. Moved, not copied: a guest's memory is not given back.
fn body(content: Option<Markup>, summary: Option<Markup>, way: Way) -> Option<String> {
    let html = |mut markup: Markup| {
        let base = markup.base.take();
        let html = words::html(markup);
        base.map(|base| address::join_all(&base, &html)).unwrap_or(html)
    };
    match way {
        Way::Page => None,
        Way::Feed => content.or(summary).map(html),
        Way::Auto => {
            let fits = |html: &String, least| {
                html.len() <= PIECE * PIECES && words::visible(html, least) >= least && !words::is_cut(html)
            };
            content.map(html).filter(|html| fits(html, WHOLE)).or_else(|| {
                let summary = summary.map(html)?;
                let blocks = ["<p", "<br", "<div", "<P", "<BR", "<DIV"];
                let written_as_text = blocks.iter().any(|tag| summary.contains(tag));
                Some(summary).filter(|html| written_as_text && fits(html, WHOLE_DESCRIPTION))
            })
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
