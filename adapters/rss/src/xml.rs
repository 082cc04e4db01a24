//! Walks through XML as feeds really have it, and hands over each element when it is complete.
//!
//! Forgives what readers of feeds forgive: stray `&` and `<`, undeclared names, tags closed in the wrong order, HTML
//! inside an element, an end that is missing. Decides nothing about feeds.

use std::borrow::Cow;
use std::rc::Rc;

use quick_xml::events::{BytesStart, Event};
use quick_xml::reader::Reader;

use crate::address::Room;
use crate::entities;

/// Elements inside elements. Feeds have five levels, HTML inside of them some dozens.
const DEEPEST: usize = 200;
/// Elements of one text: ten thousand entries with twenty each. What reading one costs is thousands of instructions.
const MOST_ELEMENTS: usize = 200_000;
/// References of one text: eight megabytes of escaped HTML have half a million.
const MOST_REFERENCES: usize = 800_000;
/// Prefixes that one text declares. Some programs do so for every entry.
const MOST_DECLARATIONS: usize = 50_000;
/// Attributes of one element.
const MOST_ATTRIBUTES: usize = 100;
/// Attributes of one text: the largest feeds have fewer, and each takes memory that a guest does not get back.
const ALL_ATTRIBUTES: usize = 100_000;
/// Prefixes that hold at one place. Feeds declare some dozens.
const MOST_PREFIXES: usize = 500;
/// End tags that close nothing: each is looked for among all open elements.
const MOST_STRAYS: usize = 20_000;
/// Bytes of a vocabulary's address.
const LONGEST_URI: usize = 500;

/// The vocabularies that feeds are written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ns {
    /// RSS, or no vocabulary at all.
    Plain,
    Atom,
    Rdf,
    /// `content:encoded`.
    Content,
    DublinCore,
    /// `dcterms:issued` and its like.
    DublinTerms,
    Media,
    Xhtml,
    FeedBurner,
    /// What podcasts say of themselves.
    Itunes,
    Other,
}

/// An element that was opened.
pub struct Element {
    /// As written, with its prefix.
    name: String,
    pub ns: Ns,
    /// Without its prefix, in lower case.
    pub local: String,
    pub attributes: Vec<(String, String)>,
    /// Its own text, references resolved, without that of its children.
    pub text: String,
    /// Whether there are elements in it.
    pub has_children: bool,
    /// `xml:base` that holds inside of it, made whole.
    pub base: Option<Rc<str>>,
    inside_from: usize,
    /// What the prefixes that it declares meant before.
    before: Vec<(String, Option<Ns>)>,
}

impl Element {
    /// An attribute by its name without prefix.
    pub fn attribute(&self, name: &str) -> Option<&str> {
        let found = self.attributes.iter().find(|(key, _)| {
            key.rsplit(':').next().unwrap_or(key).eq_ignore_ascii_case(name) && !key.starts_with("xmlns")
        });
        found.map(|(_, value)| value.as_str())
    }
}

/// What is told of the elements.
pub trait Visitor {
    /// An element begins; `above` are those it stands in. False ends the walk.
    fn open(&mut self, above: &[Element], element: &Element) -> bool;
    /// An element is complete; `inside` is its source.
    fn close(&mut self, above: &[Element], element: &Element, inside: &str);
}

/// Walks to the end; an error tells where the text could no longer be read. Relative `xml:base` are relative to `url`.
pub fn walk(text: &str, url: &str, room: &Room, visitor: &mut impl Visitor) -> Result<(), String> {
    let text = &*repair(text);
    let mut reader = Reader::from_str(text);
    let config = reader.config_mut();
    config.allow_dangling_amp = true;
    config.allow_unmatched_ends = true;
    config.check_end_names = false;
    let mut walk = Walk {
        url,
        room,
        stack: Vec::new(),
        prefixes: Vec::new(),
        attributes_left: ALL_ATTRIBUTES,
        declarations_left: MOST_DECLARATIONS,
        scratch: Vec::new(),
    };
    let (mut strays, mut elements, mut references) = (0, 0, 0);
    loop {
        let before = usize::try_from(reader.buffer_position()).unwrap_or(usize::MAX).min(text.len());
        let event = reader.read_event().map_err(|error| format!("{error} at byte {before}"))?;
        let after = usize::try_from(reader.buffer_position()).unwrap_or(usize::MAX).min(text.len());
        elements += usize::from(matches!(event, Event::Start(_) | Event::Empty(_)));
        if elements > MOST_ELEMENTS {
            return Err(format!("more than {MOST_ELEMENTS} elements"));
        }
        match event {
            Event::Start(start) => {
                if walk.stack.len() >= DEEPEST {
                    return Err(format!("elements {DEEPEST} deep at byte {before}"));
                }
                let element = walk.element(&start, after);
                if !visitor.open(&walk.stack, &element) {
                    return Ok(());
                }
                walk.stack.push(element);
            }
            Event::Empty(start) => {
                let element = walk.element(&start, after);
                if !visitor.open(&walk.stack, &element) {
                    return Ok(());
                }
                visitor.close(&walk.stack, &element, "");
                walk.leave(element);
            }
            Event::End(end) => {
                let name = end.name().into_inner();
                // A tag that was never opened closes nothing; one further out closes what was forgotten.
                let Some(at) = walk.stack.iter().rposition(|open| open.name == name) else {
                    strays += 1;
                    match strays > MOST_STRAYS {
                        true => return Err(format!("{MOST_STRAYS} end tags close nothing")),
                        false => continue,
                    }
                };
                while walk.stack.len() > at {
                    let Some(closed) = walk.stack.pop() else { break };
                    let inside = text.get(closed.inside_from..before).unwrap_or_default();
                    visitor.close(&walk.stack, &closed, inside);
                    walk.leave(closed);
                }
            }
            Event::Text(part) => push_text(&mut walk.stack, &part),
            Event::CData(part) => push_text(&mut walk.stack, &part),
            Event::GeneralRef(reference) => {
                references += 1;
                if references > MOST_REFERENCES {
                    return Err(format!("more than {MOST_REFERENCES} references"));
                }
                if let Some(top) = walk.stack.last_mut() {
                    entities::push(&mut top.text, &reference);
                }
            }
            Event::Eof => {
                // What was begun and never ended is not whole.
                return match walk.stack.last() {
                    None => Ok(()),
                    Some(open) => Err(format!("it ends inside of <{}>", open.name)),
                };
            }
            Event::Comment(_) | Event::Decl(_) | Event::PI(_) | Event::DocType(_) => {}
        }
    }
}

fn push_text(stack: &mut [Element], text: &str) {
    if let Some(top) = stack.last_mut() {
        top.text.push_str(text);
    }
}

/// Where a walk is.
struct Walk<'a> {
    url: &'a str,
    room: &'a Room,
    stack: Vec<Element>,
    /// What prefixes mean here, in their order.
    prefixes: Vec<(String, Ns)>,
    attributes_left: usize,
    declarations_left: usize,
    /// Attributes while they are counted.
    scratch: Vec<(String, String)>,
}

impl Walk<'_> {
    /// An element that begins here. Its declarations hold from now on, until it is left.
    fn element(&mut self, start: &BytesStart<'_>, inside_from: usize) -> Element {
        if let Some(parent) = self.stack.last_mut() {
            parent.has_children = true;
        }
        let name = start.name().into_inner().to_owned();
        let most = MOST_ATTRIBUTES.min(self.attributes_left);
        let mut written = start.html_attributes();
        let found = written.with_checks(false).flatten().take(most);
        let found = found
            .map(|attribute| (attribute.key.into_inner().to_owned(), entities::resolve(&attribute.value)));
        self.scratch.extend(found);
        // Of just their number: what a vector has to spare is lost to a guest.
        let attributes: Vec<(String, String)> = self.scratch.drain(..).collect();
        self.attributes_left -= attributes.len();
        let mut before = Vec::new();
        for (key, uri) in &attributes {
            let prefix = match key.strip_prefix("xmlns") {
                Some("") => "",
                Some(prefix) => match prefix.strip_prefix(':') {
                    Some(prefix) => prefix,
                    None => continue,
                },
                None => continue,
            };
            if self.declarations_left == 0 {
                break;
            }
            self.declarations_left -= 1;
            match self.find(prefix) {
                Ok(at) => before.push((prefix.to_owned(), Some(self.prefixes[at].1))),
                Err(_) if self.prefixes.len() >= MOST_PREFIXES => continue,
                Err(_) => before.push((prefix.to_owned(), None)),
            }
            self.mean(prefix.to_owned(), Some(vocabulary(uri)));
        }
        let (prefix, local) = name.split_once(':').unwrap_or(("", &name));
        let ns = self.find(prefix).map_or_else(|_| by_custom(prefix), |at| self.prefixes[at].1);
        let outer = self.stack.last().and_then(|open| open.base.clone());
        let own = attributes
            .iter()
            .find(|(key, _)| key == "xml:base")
            .and_then(|(_, base)| self.room.join(outer.as_deref().unwrap_or(self.url), base).map(Rc::from));
        Element {
            ns,
            local: local.to_ascii_lowercase(),
            attributes,
            text: String::new(),
            has_children: false,
            base: own.or(outer),
            inside_from,
            before,
            name,
        }
    }

    /// What its prefixes meant before it, they mean again.
    fn leave(&mut self, element: Element) {
        for (prefix, old) in element.before.into_iter().rev() {
            self.mean(prefix, old);
        }
    }

    fn find(&self, prefix: &str) -> Result<usize, usize> {
        self.prefixes.binary_search_by(|(known, _)| known.as_str().cmp(prefix))
    }

    fn mean(&mut self, prefix: String, ns: Option<Ns>) {
        match (self.find(&prefix), ns) {
            (Ok(at), Some(ns)) => self.prefixes[at].1 = ns,
            (Err(at), Some(ns)) => self.prefixes.insert(at, (prefix, ns)),
            (Ok(at), None) => drop(self.prefixes.remove(at)),
            (Err(_), None) => {}
        }
    }
}

/// A vocabulary by its address. Versions, `https` and final slashes differ from feed to feed.
fn vocabulary(uri: &str) -> Ns {
    let uri = uri[..uri.floor_char_boundary(LONGEST_URI)].trim().to_ascii_lowercase();
    let known = [
        ("purl.org/rss/1.0/modules/content", Ns::Content),
        ("purl.org/rss/1.0/modules/", Ns::Other),
        ("purl.org/rss/1.0", Ns::Plain),
        ("purl.org/dc/elements", Ns::DublinCore),
        ("purl.org/dc/terms", Ns::DublinTerms),
        ("www.w3.org/2005/atom", Ns::Atom),
        ("purl.org/atom/ns", Ns::Atom),
        ("netscape.com/rdf", Ns::Plain),
        ("backend.userland.com", Ns::Plain),
        ("22-rdf-syntax-ns", Ns::Rdf),
        ("search.yahoo.com/mrss", Ns::Media),
        ("www.w3.org/1999/xhtml", Ns::Xhtml),
        ("feedburner", Ns::FeedBurner),
        ("itunes.com/dtds", Ns::Itunes),
    ];
    known.iter().find(|(part, _)| uri.contains(part)).map_or(Ns::Other, |(_, ns)| *ns)
}

/// A prefix that nobody declared means what it usually means.
fn by_custom(prefix: &str) -> Ns {
    match prefix {
        "" => Ns::Plain,
        "content" => Ns::Content,
        "dc" => Ns::DublinCore,
        "dcterms" => Ns::DublinTerms,
        "atom" | "a10" | "atom10" => Ns::Atom,
        "media" => Ns::Media,
        "rdf" => Ns::Rdf,
        "xhtml" => Ns::Xhtml,
        "feedburner" => Ns::FeedBurner,
        "itunes" => Ns::Itunes,
        _ => Ns::Other,
    }
}

/// A `<` that begins no tag is text: `a < b`, and `<通知>` too, as no feed has elements of that name. The mark of a CDATA
/// section that never ends is left out: what stands in it is read as if it had not been marked.
fn repair(text: &str) -> Cow<'_, str> {
    let bytes = text.as_bytes();
    let mut out = String::new();
    let (mut copied, mut at) = (0, 0);
    let mut may_end = true;
    while let Some(found) = bytes[at..].iter().position(|byte| *byte == b'<') {
        let here = at + found;
        let next = bytes.get(here + 1).copied().unwrap_or(b' ');
        let rest = if next == b'!' { &text[here..] } else { "" };
        at = if let Some(inside) = rest.strip_prefix("<![CDATA[") {
            match may_end.then(|| inside.find("]]>")).flatten() {
                Some(end) => here + "<![CDATA[".len() + end + 3,
                None => {
                    may_end = false;
                    out.push_str(&text[copied..here]);
                    copied = here + "<![CDATA[".len();
                    copied
                }
            }
        } else if rest.starts_with("<!--") {
            rest.find("-->").map_or(text.len(), |end| here + end + 3)
        } else {
            if !(next.is_ascii_alphabetic() || b"/!?_:".contains(&next)) {
                out.push_str(&text[copied..here]);
                out.push_str("&lt;");
                copied = here + 1;
            }
            here + 1
        };
    }
    if copied == 0 && out.is_empty() {
        return Cow::Borrowed(text);
    }
    out.push_str(&text[copied..]);
    Cow::Owned(out)
}
