//! RSS 0.9x, 1.0 and 2.0, Atom 0.3 and 1.0, and the Channel Definition Format: elements in, entries out.
//!
//! One reader for all: feeds mix their vocabularies (Atom links in RSS, Dublin Core everywhere), and what an element
//! means does not depend on the root it stands under.

use crate::address::Room;
use crate::feed::{Feed, File, Item, Kind, Markup};
use crate::xml::{self, Element, Ns, Visitor};

/// Entries of one feed that are read; the contract allows no more rows on a page.
const MOST_ITEMS: usize = 10_000;

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
pub fn read(text: &str, url: &str, room: &Room) -> Result<Feed, NotAFeed> {
    let place = Place { url, room };
    let mut reading = Reading { place, root: None, feed: Feed::default(), item: None, next_archive: None };
    let walked = xml::walk(text, url, room, &mut reading);
    match reading.root.as_deref() {
        Some(root) if is_feed(root) => {}
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

/// Roots of feeds; a lone `<entry>` is a document of Atom too.
fn is_feed(root: &str) -> bool {
    matches!(root, "rss" | "rdf" | "feed" | "channel" | "entry")
}

/// What relative addresses are relative to.
#[derive(Clone, Copy)]
struct Place<'a> {
    url: &'a str,
    room: &'a Room,
}

impl Place<'_> {
    fn whole(self, element: &Element, link: &str) -> Option<String> {
        self.room.join(element.base.as_deref().unwrap_or(self.url), link)
    }
}

struct Reading<'a> {
    place: Place<'a>,
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
            if element.local != "entry" {
                return is_feed(&element.local);
            }
        }
        let is_item = match element.local.as_str() {
            "item" => matches!(element.ns, Ns::Plain | Ns::Other),
            "entry" => matches!(element.ns, Ns::Atom | Ns::Plain),
            _ => false,
        };
        if is_item && self.item.is_none() {
            let id = element.attributes.iter().find(|(key, _)| key == "rdf:about" || key == "about");
            let mut item =
                Item { id: id.map(|(_, about)| about.clone()), id_is_link: true, ..Item::default() };
            // The Channel Definition Format has them here.
            item.link = element.attribute("href").and_then(|href| self.place.whole(element, href));
            item.updated = element.attribute("lastmod").map(str::to_owned);
            self.item = Some((item, above.len()));
        }
        self.feed.items.len() < MOST_ITEMS
    }

    fn close(&mut self, above: &[Element], element: &Element, inside: &str) {
        match self.item.take() {
            Some((item, depth)) if depth == above.len() => self.feed.items.push(item),
            Some((mut item, depth)) => {
                match above.len() - depth {
                    1 => field(&mut item, element, inside, self.place),
                    2 => part(&mut item, &above[depth + 1], element, inside, self.place),
                    3 if above[depth + 1].ns == Ns::Media => media(&mut item, element, self.place),
                    _ => {}
                }
                self.item = Some((item, depth));
            }
            None => self.about_feed(above, element),
        }
    }
}

impl Reading<'_> {
    fn about_feed(&mut self, above: &[Element], element: &Element) {
        if element.local != "link" {
            return;
        }
        let Some(href) = element.attribute("href") else {
            // Not the link of the channel's picture.
            let of_feed =
                above.last().is_some_and(|parent| matches!(parent.local.as_str(), "channel" | "feed"));
            if of_feed && self.feed.home.is_none() && !element.text.trim().is_empty() {
                self.feed.home = self.place.whole(element, &element.text);
            }
            return;
        };
        let link = || self.place.whole(element, href);
        match element.attribute("rel").unwrap_or("alternate") {
            "next" => self.feed.next = link(),
            "prev-archive" => self.next_archive = link(),
            "alternate" if self.feed.home.is_none() => self.feed.home = link(),
            _ => {}
        }
    }
}

/// A child of an entry.
fn field(item: &mut Item, element: &Element, inside: &str, place: Place<'_>) {
    let text = element.text.trim();
    let words = || (!text.is_empty()).then(|| text.to_owned());
    match (element.ns, element.local.as_str()) {
        (Ns::Plain | Ns::Atom | Ns::DublinCore, "title") => set(&mut item.title, markup(element, inside)),
        (Ns::Media | Ns::Itunes, "title") => set(&mut item.other_title, markup(element, inside)),
        (Ns::Plain | Ns::Atom, "link") => link(item, element, place),
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
        (Ns::Plain, "author") if !element.has_children => item.add_author(author(text)),
        (Ns::DublinCore, "creator" | "author") => item.add_author(author(text)),
        (Ns::Itunes, "author") if item.authors.is_empty() => item.add_author(author(text)),
        (Ns::DublinCore, "publisher") => set(&mut item.publisher, words()),
        (Ns::Plain | Ns::Atom, "category") => {
            let named = element.attribute("label").or(element.attribute("term")).unwrap_or(text);
            item.add_category(named);
        }
        (Ns::DublinCore, "subject") => item.add_category(text),
        (Ns::Media | Ns::Itunes, "category" | "keywords") => topics(item, element),
        (Ns::Plain, "description" | "abstract")
        | (Ns::Atom | Ns::Plain, "summary")
        | (Ns::DublinCore, "description") => {
            set(&mut item.summary, markup(element, inside));
        }
        (Ns::Itunes, "summary" | "subtitle") | (Ns::Media, "description") => {
            set(&mut item.other_summary, markup(element, inside));
        }
        // It is there for HTML, so no tag in it is a word.
        (Ns::Content, "encoded") => {
            item.content = markup(element, inside).map(|markup| Markup { kind: Kind::Html, ..markup });
        }
        (Ns::Xhtml, "body") => item.content = markup(element, inside),
        (Ns::Plain, "body" | "fullitem") => set(&mut item.content, markup(element, inside)),
        (Ns::Atom | Ns::Plain, "content") => match element.attribute("src") {
            Some(src) => set(&mut item.link, place.whole(element, src)),
            None => set(&mut item.content, markup(element, inside)),
        },
        (Ns::Plain | Ns::Atom, "enclosure") => {
            let address = element.attribute("url").or(element.attribute("href"));
            file(item, element, address, element.attribute("title"), place);
        }
        (Ns::Media, "content") => media(item, element, place),
        (Ns::Plain, "source") => set(&mut item.source, words()),
        _ => {}
    }
}

/// A child of a child: the name of an author, the title of the source.
fn part(item: &mut Item, parent: &Element, element: &Element, inside: &str, place: Place<'_>) {
    match (parent.local.as_str(), element.local.as_str()) {
        ("group" | "content", "title") if element.ns == Ns::Media => {
            set(&mut item.other_title, markup(element, inside));
        }
        ("group" | "content", "description") if element.ns == Ns::Media => {
            set(&mut item.other_summary, markup(element, inside));
        }
        ("group" | "content", "category" | "keywords") if element.ns == Ns::Media => topics(item, element),
        ("author", "name") => item.add_author(author(&element.text)),
        ("source", "title") if !element.text.trim().is_empty() => {
            set(&mut item.source, Some(element.text.trim().to_owned()));
        }
        ("group", "content") => media(item, element, place),
        _ => {}
    }
}

/// What films and podcasts are about: a label, a text, or words between commas.
fn topics(item: &mut Item, element: &Element) {
    let named = element.attribute("label").or(element.attribute("text"));
    match named {
        Some(named) => item.add_category(named),
        None => element.text.split(',').for_each(|word| item.add_category(word)),
    }
}

fn link(item: &mut Item, element: &Element, place: Place<'_>) {
    let Some(href) = element.attribute("href") else {
        if !element.text.trim().is_empty() {
            set(&mut item.link, place.whole(element, &element.text));
        }
        return;
    };
    match element.attribute("rel").unwrap_or("alternate") {
        "alternate" => {
            let readable = element.attribute("type").is_none_or(|mime| mime.contains("html"));
            let held = if readable { &mut item.link } else { &mut item.other_link };
            set(held, place.whole(element, href));
        }
        "enclosure" => file(item, element, Some(href), element.attribute("title"), place),
        _ => {}
    }
}

fn media(item: &mut Item, element: &Element, place: Place<'_>) {
    if element.ns == Ns::Media && element.local == "content" {
        file(item, element, element.attribute("url"), None, place);
    }
}

fn file(item: &mut Item, element: &Element, address: Option<&str>, name: Option<&str>, place: Place<'_>) {
    let Some(address) = address.map(str::trim).filter(|address| !address.is_empty()) else { return };
    let mime = element.attribute("type").or(element.attribute("medium")).unwrap_or_default();
    let Some(address) = place.whole(element, address) else { return };
    item.add_file(File { url: address, name: name.map(str::to_owned), mime: mime.to_ascii_lowercase() });
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

/// `editor@example.cn (张三)`, `张三 (editor@example.cn)` and `张三 <editor@example.cn>` are 张三.
fn author(text: &str) -> &str {
    let text = text.trim();
    let Some((before, rest)) = text.split_once(['(', '<']) else { return text };
    let (before, inside) = (before.trim(), rest.trim_end_matches([')', '>']).trim());
    match (before.contains('@'), inside.contains('@')) {
        (true, false) if !inside.is_empty() => inside,
        (false, true) if !before.is_empty() => before,
        (false, true) => inside,
        _ => text,
    }
}

/// The first one counts.
fn set<T>(place: &mut Option<T>, value: Option<T>) {
    if place.is_none() {
        *place = value;
    }
}

#[cfg(test)]
mod tests {
    use super::author;

    #[test]
    fn an_author_is_a_name_and_not_where_to_write_to() {
        for (written, name) in [
            ("editor@example.cn (张三)", "张三"),
            ("张三 (editor@example.cn)", "张三"),
            ("张三 <editor@example.cn>", "张三"),
            ("<editor@example.cn>", "editor@example.cn"),
            ("editor@example.cn", "editor@example.cn"),
            ("张三 (记者)", "张三 (记者)"),
            ("a@b.cn (c@d.cn)", "a@b.cn (c@d.cn)"),
        ] {
            assert_eq!(author(written), name, "{written}");
        }
    }
}
