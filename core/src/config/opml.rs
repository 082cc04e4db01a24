//! OPML, the file in which feed readers exchange their lists: text in, feeds with their folders out, and back.
//!
//! Decides what an outline means, not what becomes of it. A list from anywhere is hostile: its size, its depth and its
//! number of feeds are bounded, and what a DOCTYPE declares is never expanded.

use std::collections::{BTreeMap, HashSet};

use quick_xml::events::{BytesStart, Event};
use quick_xml::reader::Reader;
use url::Url;

use super::error::{ConfigError, Place};
use crate::extract::charset;

/// Largest OPML file: ten thousand feeds are about 3 MB.
pub const MAX_OPML: u64 = 16 << 20;
/// Folders inside folders. Readers show two or three.
const DEEPEST: usize = 100;
/// Feeds of one file.
const MOST_FEEDS: usize = 20_000;
/// Characters of a name.
const LONGEST_NAME: usize = 200;

/// A feed as a list has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpmlFeed {
    /// Its name.
    pub title: String,
    /// Where it is.
    pub feed_url: Url,
    /// The site it belongs to.
    pub html_url: Option<Url>,
    /// The folders it lies in, outermost first.
    pub folders: Vec<String>,
}

/// The feeds of a list, each address once, and what was left out and why.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Opml {
    /// In the order of the list.
    pub feeds: Vec<OpmlFeed>,
    /// One line per outline that is no feed that can be crawled.
    pub left_out: Vec<String>,
}

/// Reads a list; `origin` names it in messages.
pub fn parse_opml(bytes: &[u8], origin: &str) -> Result<Opml, ConfigError> {
    if bytes.len() as u64 > MAX_OPML {
        return Err(ConfigError::TooLarge {
            origin: origin.to_owned(),
            size: bytes.len() as u64,
            limit: MAX_OPML,
        });
    }
    let decoded = charset::decode(bytes, None);
    let text = decoded.text.trim_start_matches('\u{feff}').trim_start();
    let mut reader = Reader::from_str(text);
    reader.config_mut().allow_dangling_amp = true;
    let mut opml = Opml::default();
    let mut folders: Vec<Option<String>> = Vec::new();
    let mut seen = HashSet::new();
    let mut is_opml = false;
    loop {
        let at = reader.buffer_position();
        let syntax = |message: String| ConfigError::Syntax {
            place: Place { origin: origin.to_owned(), at: Some(line(text, at)), path: String::new() },
            message,
        };
        let event = reader.read_event().map_err(|error| syntax(format!("not OPML: {error}")))?;
        match event {
            Event::Start(tag) if tag.name().0.eq_ignore_ascii_case("outline") && is_opml => {
                if folders.len() >= DEEPEST {
                    return Err(syntax(format!("folders {DEEPEST} deep; no reader shows so many")));
                }
                let outline = Outline::of(&tag);
                let folder = outline.folder();
                outline.take(&folders, &mut opml, &mut seen);
                folders.push(folder);
            }
            Event::Empty(tag) if tag.name().0.eq_ignore_ascii_case("outline") && is_opml => {
                Outline::of(&tag).take(&folders, &mut opml, &mut seen);
            }
            Event::End(tag) if tag.name().0.eq_ignore_ascii_case("outline") => {
                folders.pop();
            }
            Event::Start(tag) | Event::Empty(tag) if !is_opml => {
                is_opml = tag.name().0.eq_ignore_ascii_case("opml");
                if !is_opml {
                    return Err(syntax(format!("<{}> where <opml> was expected", tag.name().0)));
                }
            }
            Event::Eof if is_opml => return Ok(opml),
            Event::Eof => return Err(syntax("no <opml> in it".to_owned())),
            _ => {}
        }
        if opml.feeds.len() > MOST_FEEDS {
            return Err(syntax(format!("more than {MOST_FEEDS} feeds; split the list")));
        }
    }
}

/// Writes a list. Feeds in the same folders stand together; the order is kept within.
pub fn write_opml(feeds: &[OpmlFeed]) -> String {
    let mut out = String::from(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<opml version=\"2.0\">\n<head><title>dibao</title></head>\n<body>\n",
    );
    let mut by_folder: BTreeMap<&[String], Vec<&OpmlFeed>> = BTreeMap::new();
    for feed in feeds {
        by_folder.entry(&feed.folders).or_default().push(feed);
    }
    for (path, feeds) in by_folder {
        for (depth, folder) in path.iter().enumerate() {
            out.push_str(&format!("{}<outline text=\"{}\">\n", "  ".repeat(depth + 1), quoted(folder)));
        }
        let indent = "  ".repeat(path.len() + 1);
        for feed in feeds {
            let title = quoted(&feed.title);
            out.push_str(&format!(
                "{indent}<outline type=\"rss\" text=\"{title}\" title=\"{title}\" xmlUrl=\"{}\"",
                quoted(feed.feed_url.as_str())
            ));
            if let Some(html) = &feed.html_url {
                out.push_str(&format!(" htmlUrl=\"{}\"", quoted(html.as_str())));
            }
            out.push_str("/>\n");
        }
        for depth in (0..path.len()).rev() {
            out.push_str(&format!("{}</outline>\n", "  ".repeat(depth + 1)));
        }
    }
    out.push_str("</body>\n</opml>\n");
    out
}

/// The attributes that matter.
#[derive(Default)]
struct Outline {
    text: Option<String>,
    title: Option<String>,
    feed: Option<String>,
    html: Option<String>,
    category: Option<String>,
}

impl Outline {
    fn of(tag: &BytesStart<'_>) -> Outline {
        let mut outline = Outline::default();
        for attribute in tag.html_attributes().with_checks(false).flatten().take(100) {
            let place = match attribute.key.0.to_ascii_lowercase().as_str() {
                "text" => &mut outline.text,
                "title" => &mut outline.title,
                "xmlurl" => &mut outline.feed,
                "htmlurl" => &mut outline.html,
                "category" => &mut outline.category,
                _ => continue,
            };
            let value = unescaped(&attribute.value);
            if !value.trim().is_empty() {
                *place = Some(value);
            }
        }
        outline
    }

    /// Its name as a folder; a feed is none.
    fn folder(&self) -> Option<String> {
        if self.feed.is_some() {
            return None;
        }
        self.text.as_deref().or(self.title.as_deref()).map(name).filter(|name| !name.is_empty())
    }

    fn take(self, folders: &[Option<String>], opml: &mut Opml, seen: &mut HashSet<Url>) {
        let Some(address) = &self.feed else { return };
        let feed_url = match feed_address(address) {
            Ok(url) => url,
            Err(why) => {
                // Enough to see what is wrong with a list.
                if opml.left_out.len() >= MOST_FEEDS {
                    return;
                }
                opml.left_out.push(format!("{}: {why}", name(address)));
                return;
            }
        };
        if !seen.insert(feed_url.clone()) {
            return;
        }
        let mut folders: Vec<String> = folders.iter().flatten().cloned().collect();
        if folders.is_empty() {
            // OPML 2.0: `category="/a/b,/c"`, of which the first counts.
            let first = self.category.as_deref().and_then(|list| list.split(',').next()).unwrap_or_default();
            folders = first.split('/').map(name).filter(|part| !part.is_empty()).take(DEEPEST).collect();
        }
        let title = self.title.as_deref().or(self.text.as_deref()).map(name).unwrap_or_default();
        let html_url = self.html.as_deref().and_then(|html| web(html).ok());
        let title = if title.is_empty() { feed_url.to_string() } else { title };
        opml.feeds.push(OpmlFeed { title, feed_url, html_url, folders });
    }
}

/// `feed:https://…` and `feed://…` are what browsers once called them.
fn feed_address(text: &str) -> Result<Url, String> {
    let text = text.trim();
    let head = text.get(..7).unwrap_or_default().to_ascii_lowercase();
    let plain = match head.as_str() {
        "feed://" => format!("http://{}", &text[7..]),
        _ if head.starts_with("feed:") => text[5..].to_owned(),
        _ => text.to_owned(),
    };
    web(&plain)
}

fn web(text: &str) -> Result<Url, String> {
    let mut url = Url::parse(text.trim()).map_err(|why| format!("not an address ({why})"))?;
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
        return Err("not a web address".to_owned());
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err("it holds a user name or password".to_owned());
    }
    url.set_fragment(None);
    Ok(url)
}

/// The words of a name: folded, cut, without what drives a terminal.
fn name(text: &str) -> String {
    let words: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let folded = words.split_whitespace().collect::<Vec<_>>().join(" ");
    folded.chars().take(LONGEST_NAME).collect()
}

/// Only the five names of XML and numbers; others stay as they are.
fn unescaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let end = rest.bytes().take(12).position(|byte| byte == b';');
        let found = end.and_then(|end| {
            let name = &rest[1..end];
            let number = name.strip_prefix('#').and_then(|digits| match digits.strip_prefix(['x', 'X']) {
                Some(hex) => u32::from_str_radix(hex, 16).ok(),
                None => digits.parse().ok(),
            });
            let c = match name {
                "amp" => '&',
                "lt" => '<',
                "gt" => '>',
                "quot" => '"',
                "apos" => '\'',
                _ => number.and_then(char::from_u32)?,
            };
            Some((c, end + 1))
        });
        let (c, length) = found.unwrap_or(('&', 1));
        out.push(c);
        rest = &rest[length..];
    }
    out.push_str(rest);
    out
}

fn quoted(text: &str) -> String {
    let text: String = text.chars().filter(|c| !c.is_control()).collect();
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

fn line(text: &str, at: u64) -> (u32, u32) {
    let before = &text[..text.floor_char_boundary(usize::try_from(at).unwrap_or(usize::MAX).min(text.len()))];
    let line = before.matches('\n').count() as u32 + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() as u32 + 1;
    (line, column)
}
