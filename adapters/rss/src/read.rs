//! RSS 0.9x, 1.0 and 2.0, and Atom 0.3 and 1.0: elements in, entries out.
//!
//! One reader for all: feeds mix their vocabularies (Atom links in RSS, Dublin Core everywhere), and what an element
//! means does not depend on the root it stands under.

use crate::address;
use crate::feed::{Feed, File, Item, Kind, Markup};
use crate::xml::{self, Element, Ns, Visitor};

/// Entries of one feed that are read; the contract allows no more rows on a page.
const MOST_ITEMS: usize = 10_000;
/// Files, authors and categories of one entry.
const MOST_PARTS: usize = 100;

/// Why a text is not a feed.
#[derive(Debug, PartialEq, Eq)]
pub enum NotAFeed {
    /// A page: nobody should take that for an empty feed.
    Html,
    /// XML of another kind, by its root.
    Other(String),
    /// Not XML.
    Unreadable(String),
}

/// Reads a feed in XML; relative addresses are relative to `url`.
pub fn read(text: &str, url: &str) -> Result<Feed, NotAFeed> {
    let mut reading = Reading { url, root: None, feed: Feed::default(), item: None, next_archive: None };
    let walked = xml::walk(text, url, &mut reading);
    match reading.root.as_deref() {
        Some("rss" | "rdf" | "feed") => {}
        Some("html" | "head" | "body" | "div" | "script" | "meta") => return Err(NotAFeed::Html),
        Some(other) => return Err(NotAFeed::Other(other.to_owned())),
        None => return Err(NotAFeed::Unreadable(walked.err().unwrap_or_else(|| "no element".to_owned()))),
    }
    let Reading { mut feed, next_archive, .. } = reading;
    feed.next = feed.next.or(next_archive);
    feed.broken = walked.err();
    match feed.broken {
        Some(why) if feed.items.is_empty() => Err(NotAFeed::Unreadable(why)),
        _ => Ok(feed),
    }
}

struct Reading<'a> {
    url: &'a str,
    root: Option<String>,
    feed: Feed,
    /// The entry that is being read, and how many elements it stands in.
    item: Option<(Item, usize)>,
    /// The older half of an archived feed.
    next_archive: Option<String>,
}

impl Visitor for Reading<'_> {
    fn open(&mut self, above: &[Element], element: &Element) -> bool {
        if self.root.is_none() {
            self.root = Some(element.local.clone());
            return matches!(element.local.as_str(), "rss" | "rdf" | "feed");
        }
        let is_item = match element.local.as_str() {
            "item" => matches!(element.ns, Ns::Plain | Ns::Other),
            "entry" => matches!(element.ns, Ns::Atom | Ns::Plain),
            _ => false,
        };
        if is_item && self.item.is_none() {
            let id = element.attributes.iter().find(|(key, _)| key == "rdf:about" || key == "about");
            let item = Item { id: id.map(|(_, about)| about.clone()), id_is_link: true, ..Item::default() };
            self.item = Some((item, above.len()));
        }
        self.feed.items.len() < MOST_ITEMS
    }

    fn close(&mut self, above: &[Element], element: &Element, inside: &str) {
        match self.item.take() {
            Some((item, depth)) if depth == above.len() => self.feed.items.push(item),
            Some((mut item, depth)) => {
                match above.len() - depth {
                    1 => field(&mut item, element, inside, self.url),
                    2 => part(&mut item, &above[depth + 1], element, self.url),
                    3 if above[depth + 1].ns == Ns::Media => media(&mut item, element, self.url),
                    _ => {}
                }
                self.item = Some((item, depth));
            }
            None => self.about_feed(element),
        }
    }
}

impl Reading<'_> {
    fn about_feed(&mut self, element: &Element) {
        if element.local != "link" {
            return;
        }
        if let (Some(rel), Some(href)) = (element.attribute("rel"), element.attribute("href")) {
            let link = || Some(whole(element, href, self.url));
            match rel {
                "next" => self.feed.next = link(),
                "prev-archive" => self.next_archive = link(),
                _ => {}
            }
        }
    }
}

/// A child of an entry.
fn field(item: &mut Item, element: &Element, inside: &str, url: &str) {
    let text = element.text.trim();
    let words = || (!text.is_empty()).then(|| text.to_owned());
    match (element.ns, element.local.as_str()) {
        (Ns::Plain | Ns::Atom | Ns::DublinCore, "title") => set(&mut item.title, markup(element, inside)),
        (Ns::Media | Ns::Itunes, "title") => set(&mut item.other_title, markup(element, inside)),
        (Ns::Plain | Ns::Atom, "link") => link(item, element, url),
        (Ns::FeedBurner, "origlink") => item.link = words().or(item.link.take()),
        (Ns::Plain, "guid") => {
            item.id = words();
            item.id_is_link =
                !element.attribute("ispermalink").is_some_and(|says| says.eq_ignore_ascii_case("false"));
        }
        (Ns::Atom | Ns::Plain, "id") => item.id = words(),
        (Ns::DublinCore, "identifier") => set(&mut item.id, words()),
        (Ns::Plain, "pubdate" | "date") => item.published = words().or(item.published.take()),
        (Ns::Atom | Ns::Plain, "published" | "issued") => item.published = words().or(item.published.take()),
        (Ns::Atom | Ns::Plain, "created") => set(&mut item.published, words()),
        (Ns::DublinCore, "date") | (Ns::DublinTerms, "issued" | "created" | "available") => {
            set(&mut item.published, words());
        }
        (Ns::Atom | Ns::Plain, "updated" | "modified") | (Ns::DublinTerms, "modified") => {
            set(&mut item.updated, words());
        }
        (Ns::Plain, "author") if !element.has_children => push(&mut item.authors, author(text)),
        (Ns::DublinCore, "creator" | "author") => push(&mut item.authors, author(text)),
        (Ns::Itunes, "author") if item.authors.is_empty() => push(&mut item.authors, text),
        (Ns::DublinCore, "publisher") => set(&mut item.publisher, words()),
        (Ns::Plain | Ns::Atom, "category") => {
            let named = element.attribute("label").or(element.attribute("term")).unwrap_or(text);
            push(&mut item.categories, named);
        }
        (Ns::DublinCore, "subject") => push(&mut item.categories, text),
        (Ns::Plain, "description") | (Ns::Atom | Ns::Plain, "summary") | (Ns::DublinCore, "description") => {
            set(&mut item.summary, markup(element, inside));
        }
        (Ns::Itunes, "summary" | "subtitle") => set(&mut item.other_summary, markup(element, inside)),
        // It is there for HTML, so no tag in it is a word.
        (Ns::Content, "encoded") => {
            item.content = markup(element, inside).map(|markup| Markup { kind: Kind::Html, ..markup });
        }
        (Ns::Xhtml, "body") => item.content = markup(element, inside),
        (Ns::Plain, "body" | "fullitem") => set(&mut item.content, markup(element, inside)),
        (Ns::Atom | Ns::Plain, "content") => match element.attribute("src") {
            Some(src) => set(&mut item.link, Some(whole(element, src, url))),
            None => set(&mut item.content, markup(element, inside)),
        },
        (Ns::Plain | Ns::Atom, "enclosure") => {
            let address = element.attribute("url").or(element.attribute("href"));
            file(item, element, address, element.attribute("title"), url);
        }
        (Ns::Media, "content") => media(item, element, url),
        (Ns::Plain, "source") => set(&mut item.source, words()),
        _ => {}
    }
}

/// A child of a child: the name of an author, the title of the source.
fn part(item: &mut Item, parent: &Element, element: &Element, url: &str) {
    match (parent.local.as_str(), element.local.as_str()) {
        ("author", "name") => push(&mut item.authors, &element.text),
        ("source", "title") if !element.text.trim().is_empty() => {
            set(&mut item.source, Some(element.text.trim().to_owned()));
        }
        ("group", "content") => media(item, element, url),
        _ => {}
    }
}

fn link(item: &mut Item, element: &Element, url: &str) {
    let Some(href) = element.attribute("href") else {
        if !element.text.trim().is_empty() {
            set(&mut item.link, Some(whole(element, &element.text, url)));
        }
        return;
    };
    match element.attribute("rel").unwrap_or("alternate") {
        "alternate" => {
            let readable = element.attribute("type").is_none_or(|mime| mime.contains("html"));
            let place = if readable { &mut item.link } else { &mut item.other_link };
            set(place, Some(whole(element, href, url)));
        }
        "enclosure" => file(item, element, Some(href), element.attribute("title"), url),
        _ => {}
    }
}

fn media(item: &mut Item, element: &Element, url: &str) {
    if element.ns == Ns::Media && element.local == "content" {
        file(item, element, element.attribute("url"), None, url);
    }
}

fn file(item: &mut Item, element: &Element, address: Option<&str>, name: Option<&str>, url: &str) {
    let Some(address) = address.map(str::trim).filter(|address| !address.is_empty()) else { return };
    let mime = element.attribute("type").or(element.attribute("medium")).unwrap_or_default();
    let address = whole(element, address, url);
    if item.files.len() < MOST_PARTS && item.files.iter().all(|known| known.url != address) {
        let file = File { url: address, name: name.map(str::to_owned), mime: mime.to_ascii_lowercase() };
        item.files.push(file);
    }
}

/// The words of an element, and whether they are HTML.
fn markup(element: &Element, inside: &str) -> Option<Markup> {
    let kind = element.attribute("type").unwrap_or_default();
    let mode = element.attribute("mode").unwrap_or_default();
    let (text, kind) = if element.has_children {
        // XHTML, or HTML that nobody escaped: its source is the value.
        (inside.replace("<xhtml:", "<").replace("</xhtml:", "</"), Kind::Html)
    } else {
        let kind = match kind {
            _ if mode == "base64" => return encoded(element),
            "html" | "text/html" | "xhtml" | "application/xhtml+xml" => Kind::Html,
            "text" | "text/plain" if mode == "escaped" => Kind::Either,
            "text" | "text/plain" | "plain" => Kind::Plain,
            "" if element.ns == Ns::Atom => Kind::Plain,
            "" => Kind::Either,
            // A file of another kind, in base64 as Atom wants it.
            _ if element.ns == Ns::Atom && !kind.contains("xml") => return encoded(element),
            _ => return None,
        };
        (element.text.trim().to_owned(), kind)
    };
    (!text.trim().is_empty()).then(|| Markup { text, kind, base: element.base.clone() })
}

/// Words in base64, where they are words.
fn encoded(element: &Element) -> Option<Markup> {
    let text = String::from_utf8(base64(&element.text)?).ok()?;
    let good = !text.trim().is_empty() && !text.contains('\0');
    good.then(|| Markup { text: text.trim().to_owned(), kind: Kind::Either, base: element.base.clone() })
}

/// Bytes from base64, white space and final `=` aside.
fn base64(text: &str) -> Option<Vec<u8>> {
    let (mut bytes, mut bits, mut held) = (Vec::with_capacity(text.len() / 4 * 3), 0u32, 0);
    for byte in text.bytes().filter(|byte| !byte.is_ascii_whitespace() && *byte != b'=') {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        };
        (bits, held) = (bits << 6 | u32::from(value), held + 6);
        if held >= 8 {
            held -= 8;
            bytes.push((bits >> held) as u8);
        }
    }
    Some(bytes)
}

fn whole(element: &Element, link: &str, url: &str) -> String {
    address::join(element.base.as_deref().unwrap_or(url), link)
}

/// `editor@example.cn (张三)` is 张三.
fn author(text: &str) -> &str {
    match text.split_once('(') {
        Some((mail, name)) if mail.contains('@') => name.trim_end_matches(')').trim(),
        _ => text,
    }
}

fn push(list: &mut Vec<String>, text: &str) {
    let text = text.trim();
    if !text.is_empty() && list.len() < MOST_PARTS && list.iter().all(|known| known != text) {
        list.push(text.to_owned());
    }
}

/// The first one counts.
fn set<T>(place: &mut Option<T>, value: Option<T>) {
    if place.is_none() {
        *place = value;
    }
}
