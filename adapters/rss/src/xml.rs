//! Walks through XML as feeds really have it, and hands over each element when it is complete.
//!
//! Forgives what readers of feeds forgive: stray `&` and `<`, undeclared names, tags closed in the wrong order, HTML
//! inside an element, an end that is missing. Decides nothing about feeds.

use std::borrow::Cow;

use quick_xml::events::{BytesStart, Event};
use quick_xml::reader::Reader;

use crate::{address, entities};

/// Elements inside elements. Feeds have five levels, HTML inside of them some dozens.
const DEEPEST: usize = 200;

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
    pub base: Option<String>,
    inside_from: usize,
    /// Prefixes that hold for it and everything inside.
    scope: Vec<(String, Ns)>,
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
pub fn walk(text: &str, url: &str, visitor: &mut impl Visitor) -> Result<(), String> {
    let text = &*repair(text);
    let mut reader = Reader::from_str(text);
    let config = reader.config_mut();
    config.allow_dangling_amp = true;
    config.allow_unmatched_ends = true;
    config.check_end_names = false;
    let mut stack: Vec<Element> = Vec::new();
    loop {
        let before = usize::try_from(reader.buffer_position()).unwrap_or(usize::MAX).min(text.len());
        let event = reader.read_event().map_err(|error| format!("{error} at byte {before}"))?;
        let after = usize::try_from(reader.buffer_position()).unwrap_or(usize::MAX).min(text.len());
        match event {
            Event::Start(start) => {
                if stack.len() >= DEEPEST {
                    return Err(format!("elements {DEEPEST} deep at byte {before}"));
                }
                let element = element(&start, &stack, url, after);
                if let Some(parent) = stack.last_mut() {
                    parent.has_children = true;
                }
                if !visitor.open(&stack, &element) {
                    return Ok(());
                }
                stack.push(element);
            }
            Event::Empty(start) => {
                let element = element(&start, &stack, url, after);
                if let Some(parent) = stack.last_mut() {
                    parent.has_children = true;
                }
                if !visitor.open(&stack, &element) {
                    return Ok(());
                }
                visitor.close(&stack, &element, "");
            }
            Event::End(end) => {
                let name = end.name().into_inner();
                // A tag that was never opened closes nothing; one further out closes what was forgotten.
                if let Some(at) = stack.iter().rposition(|open| open.name == name) {
                    while stack.len() > at {
                        let Some(closed) = stack.pop() else { break };
                        visitor.close(
                            &stack,
                            &closed,
                            text.get(closed.inside_from..before).unwrap_or_default(),
                        );
                    }
                }
            }
            Event::Text(part) => push_text(&mut stack, &part),
            Event::CData(part) => push_text(&mut stack, &part),
            Event::GeneralRef(reference) => {
                if let Some(top) = stack.last_mut() {
                    entities::push(&mut top.text, &reference);
                }
            }
            Event::Eof => {
                // What was begun and never ended is not whole.
                return match stack.is_empty() {
                    true => Ok(()),
                    false => Err(format!("it ends inside of <{}>", stack[stack.len() - 1].name)),
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

fn element(start: &BytesStart<'_>, above: &[Element], url: &str, inside_from: usize) -> Element {
    let name = start.name().into_inner().to_owned();
    let mut attributes = Vec::new();
    for attribute in start.html_attributes().with_checks(false).flatten().take(100) {
        attributes.push((attribute.key.into_inner().to_owned(), entities::resolve(&attribute.value)));
    }
    let scope: Vec<(String, Ns)> = attributes
        .iter()
        .filter_map(|(key, uri)| match key.strip_prefix("xmlns") {
            Some("") => Some((String::new(), vocabulary(uri))),
            Some(prefix) => Some((prefix.strip_prefix(':')?.to_owned(), vocabulary(uri))),
            None => None,
        })
        .collect();
    let (prefix, local) = name.split_once(':').unwrap_or(("", &name));
    let declared =
        |scope: &[(String, Ns)]| scope.iter().find(|(known, _)| known == prefix).map(|(_, ns)| *ns);
    let ns = declared(&scope)
        .or_else(|| above.iter().rev().find_map(|open| declared(&open.scope)))
        .unwrap_or_else(|| by_custom(prefix));
    let own_base = attributes.iter().find(|(key, _)| key == "xml:base").map(|(_, base)| base.as_str());
    let outer = above.last().and_then(|open| open.base.clone());
    let base = match own_base {
        Some(base) => Some(address::join(outer.as_deref().unwrap_or(url), base)),
        None => outer,
    };
    Element {
        ns,
        local: local.to_ascii_lowercase(),
        attributes,
        text: String::new(),
        has_children: false,
        base,
        inside_from,
        scope,
        name,
    }
}

/// A vocabulary by its address. Versions, `https` and final slashes differ from feed to feed.
fn vocabulary(uri: &str) -> Ns {
    let uri = uri.trim().to_ascii_lowercase();
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

/// A `<` that begins no tag is text: `a < b`, and `<通知>` too, as no feed has elements of that name.
fn repair(text: &str) -> Cow<'_, str> {
    let bytes = text.as_bytes();
    let mut out = String::new();
    let (mut copied, mut at) = (0, 0);
    while let Some(found) = text[at..].find('<') {
        let here = at + found;
        let rest = &text[here..];
        at = if rest.starts_with("<![CDATA[") {
            rest.find("]]>").map_or(text.len(), |end| here + end + 3)
        } else if rest.starts_with("<!--") {
            rest.find("-->").map_or(text.len(), |end| here + end + 3)
        } else {
            let next = bytes.get(here + 1).copied().unwrap_or(b' ');
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
