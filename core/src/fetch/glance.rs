//! What a body looks like at a glance: its shape, its title, and whether a reader would see any text. Pure.
//!
//! No parser runs here: every answer is looked at, and nearly all of them are what they should be. The first
//! [`WINDOW`] bytes are enough, and of an ordinary page only as much is read as shows [`ENOUGH`] characters.

use std::borrow::Cow;

use encoding_rs::{Encoding, UTF_8};

use crate::extract;

/// No challenge page hides its script further down; an article may be megabytes long.
pub(super) const WINDOW: usize = 64 << 10;
/// Of a page of which the first window shows nothing at all, so much is looked at.
const LARGEST_WINDOW: usize = 4 * WINDOW;
/// A page that shows this many characters is for readers. The pages that only run a script show none, those that
/// apologise show a sentence or two.
pub(super) const ENOUGH: usize = 200;
/// Titles longer than this are not read to their end.
const TITLE: usize = 200;

/// What kind of thing a body is, by its own first bytes: what servers say of them is often wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// Nothing but white space.
    Empty,
    Html,
    Xml,
    /// JSON, or a script that hands JSON to a function.
    Json,
    /// A file: what is named is its format.
    File(&'static str),
    /// None of these.
    Text,
}

/// The shape of a body.
pub(super) fn shape(body: &[u8], content_type: &str) -> Shape {
    for (magic, format) in [
        (&b"%PDF-"[..], "PDF"),
        (b"PK\x03\x04", "ZIP or Office"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "old Office"),
        (b"Rar!\x1a\x07", "RAR"),
        (b"7z\xbc\xaf\x27\x1c", "7z"),
        (b"\x1f\x8b\x08", "gzip"),
        (b"\x89PNG\r\n", "PNG"),
        (b"\xff\xd8\xff", "JPEG"),
        (b"GIF8", "GIF"),
        (b"{\\rtf", "RTF"),
    ] {
        if body.starts_with(magic) {
            return Shape::File(format);
        }
    }
    let utf16 = matches!(Encoding::for_bom(body), Some((encoding, _)) if encoding != UTF_8);
    if utf16 {
        let text = extract::decode(&body[..body.len().min(WINDOW)], None).text.into_owned();
        return text_shape(text.as_bytes(), content_type);
    }
    let head = &body[..body.len().min(WINDOW)];
    // Text of no kind has zero bytes; one page in UTF-16 without a mark is not worth the risk.
    if head.iter().take(1024).any(|byte| *byte == 0) {
        return Shape::File("binary");
    }
    text_shape(head, content_type)
}

fn text_shape(head: &[u8], content_type: &str) -> Shape {
    let mut rest = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
    let mut declared_xml = false;
    // Comments and declarations say little.
    loop {
        rest = rest.trim_ascii_start();
        if let Some(comment) = rest.strip_prefix(b"<!--") {
            rest = past(comment, b"-->");
        } else if rest.starts_with(b"<?") {
            declared_xml = declared_xml || starts_with(rest, b"<?xml");
            rest = past(rest, b"?>");
        } else {
            break;
        }
    }
    match rest.first() {
        None if head.trim_ascii().is_empty() => Shape::Empty,
        None if declared_xml => Shape::Xml,
        None => Shape::Html,
        Some(b'<') => markup(rest, content_type, declared_xml),
        Some(b'{' | b'[' | b'"') => Shape::Json,
        Some(b'0'..=b'9' | b'-')
            if rest.len() < 64 && rest.iter().all(|b| b"0123456789.eE+- \r\n".contains(b)) =>
        {
            Shape::Json
        }
        Some(_) if [&b"true"[..], b"false", b"null"].contains(&rest.trim_ascii()) => Shape::Json,
        Some(_) if is_callback(rest) => Shape::Json,
        Some(_) if says_html(content_type) && holds_tags(rest) => Shape::Html,
        Some(_) => Shape::Text,
    }
}

fn markup(rest: &[u8], content_type: &str, declared_xml: bool) -> Shape {
    if starts_with(rest, b"<!doctype") {
        let name = rest[9..].trim_ascii_start();
        return if starts_with(name, b"html") || !declared_xml { Shape::Html } else { Shape::Xml };
    }
    let name = &rest[1..rest.iter().skip(1).take(16).take_while(|b| b.is_ascii_alphanumeric()).count() + 1];
    let html = [
        "html", "head", "body", "script", "title", "meta", "link", "style", "div", "p", "h1", "h2", "h3",
        "table", "span", "br", "center", "form", "iframe", "img", "a", "b", "ul", "font", "noscript", "base",
        "section", "frameset",
    ];
    if html.iter().any(|tag| name.eq_ignore_ascii_case(tag.as_bytes())) {
        // `<link>` and `<title>` are elements of feeds as well, but never their first.
        return Shape::Html;
    }
    if says_html(content_type) && !declared_xml && !is_feed(name) { Shape::Html } else { Shape::Xml }
}

fn is_feed(name: &[u8]) -> bool {
    ["rss", "feed", "rdf", "urlset", "sitemapindex", "opml"]
        .iter()
        .any(|n| name.eq_ignore_ascii_case(n.as_bytes()))
}

/// `callback({…})`, with or without a guard before it.
fn is_callback(text: &[u8]) -> bool {
    let text = text.strip_prefix(b"/**/").unwrap_or(text).trim_ascii_start();
    let name = text.iter().take(80).take_while(|b| b.is_ascii_alphanumeric() || b"_$.".contains(b)).count();
    let Some(rest) = text[name..].strip_prefix(b"(") else { return false };
    name > 0 && matches!(rest.trim_ascii_start().first(), Some(b'{' | b'['))
}

fn holds_tags(text: &[u8]) -> bool {
    text.windows(2)
        .take(4096)
        .any(|pair| pair[0] == b'<' && (pair[1].is_ascii_alphabetic() || pair[1] == b'!'))
}

pub(super) fn says_html(content_type: &str) -> bool {
    starts_with(content_type.trim_ascii_start().as_bytes(), b"text/html")
        || starts_with(content_type.trim_ascii_start().as_bytes(), b"application/xhtml")
}

/// What a reader would see of the first [`WINDOW`] bytes.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Glance<'a> {
    /// Characters that show, counted up to [`ENOUGH`].
    pub visible: usize,
    /// The page's source, read only when little shows (or on request).
    pub source: Cow<'a, str>,
    /// What shows, without white space.
    pub shown: String,
    /// The first `<title>`; where the source was not read, only its ASCII is sure.
    pub title: String,
}

impl Glance<'_> {
    /// Too little shows for a page that is meant to be read.
    pub fn shows_little(&self) -> bool {
        self.visible < ENOUGH
    }
}

/// Looks at a page. `closely` reads the source even when enough shows: of a page that came with an error status.
pub(super) fn glance<'a>(body: &'a [u8], content_type: &str, closely: bool) -> Glance<'a> {
    let mut window = &body[..body.len().min(WINDOW)];
    // A long comment or style before everything else hides nothing.
    if body.len() > WINDOW && Scan::new(window).count(&mut Vec::new()) == 0 {
        window = &body[..body.len().min(LARGEST_WINDOW)];
    }
    let utf16 = matches!(Encoding::for_bom(window), Some((encoding, _)) if encoding != UTF_8);
    if !utf16 && !closely {
        let mut title = Vec::new();
        let visible = Scan::new(window).count(&mut title);
        if visible >= ENOUGH {
            // In ASCII, as it came: enough to tell the few titles for which the rest must be read.
            let title = entities(&String::from_utf8_lossy(&title)).trim().to_owned();
            return Glance { visible, source: Cow::Borrowed(""), shown: String::new(), title };
        }
    }
    // Cut at the window, a character may be cut too; what is lost is its half.
    let source = extract::decode(window, Some(content_type)).text;
    let mut scan = Scan::new(source.as_bytes());
    let (mut shown, mut title) = (Vec::new(), Vec::new());
    let visible = scan.read(&mut shown, &mut title);
    let text = |bytes: Vec<u8>| entities(&String::from_utf8_lossy(&bytes));
    Glance { visible, shown: text(shown), title: text(title).trim().to_owned(), source }
}

/// One pass over markup in any encoding that contains ASCII: no trail byte of GBK or GB18030 is a `<`, `>` or `&`.
struct Scan<'a> {
    rest: &'a [u8],
    /// A quote was opened and never closed: from there on quotes mean nothing, or a page of open quotes would be
    /// searched to its end for each of them.
    quotes_broken: bool,
}

impl<'a> Scan<'a> {
    fn new(rest: &'a [u8]) -> Scan<'a> {
        Scan { rest, quotes_broken: false }
    }

    fn count(&mut self, title: &mut Vec<u8>) -> usize {
        self.walk(|_| {}, |piece| add(title, piece))
    }

    fn read(&mut self, shown: &mut Vec<u8>, title: &mut Vec<u8>) -> usize {
        self.walk(
            |piece| shown.extend(piece.iter().filter(|b| !b.is_ascii_whitespace())),
            |piece| add(title, piece),
        )
    }

    /// Hands over the pieces of text that show, and the first title, until enough shows.
    fn walk(&mut self, mut shown: impl FnMut(&'a [u8]), mut title: impl FnMut(&'a [u8])) -> usize {
        let mut visible = 0;
        let mut titled = false;
        while !self.rest.is_empty() && visible < ENOUGH {
            if self.rest[0] == b'<' {
                match self.tag() {
                    Some(b"title") => {
                        let text = self.until_close(b"title");
                        if !titled {
                            title(text);
                        }
                        titled = true;
                    }
                    Some(name) => {
                        self.until_close(name);
                    }
                    None => {}
                }
                continue;
            }
            let end = self.rest.iter().position(|byte| *byte == b'<').unwrap_or(self.rest.len());
            // Text in one piece of 64 KB need not be read to its end either.
            let (piece, rest) = self.rest.split_at(end.min(4 * ENOUGH));
            self.rest = rest;
            visible += characters(piece);
            shown(piece);
        }
        visible
    }

    /// Goes past a tag or comment; tells the name of one whose content does not show.
    fn tag(&mut self) -> Option<&'static [u8]> {
        if let Some(comment) = self.rest.strip_prefix(b"<!--") {
            self.rest = past(comment, b"-->");
            return None;
        }
        // A `<` that begins no tag shows.
        if !self.rest.get(1).is_some_and(|b| b.is_ascii_alphabetic() || matches!(b, b'/' | b'!' | b'?')) {
            self.rest = &self.rest[1..];
            return None;
        }
        let hidden = [&b"script"[..], b"style", b"title", b"noscript", b"template", b"textarea", b"select"];
        let name = &self.rest[1..];
        let name = hidden.into_iter().find(|hidden| {
            starts_with(name, hidden) && !name.get(hidden.len()).is_some_and(u8::is_ascii_alphanumeric)
        });
        let (mut quote, broken) = (None, self.quotes_broken);
        let end = self.rest.iter().position(|byte| match (quote, byte) {
            (Some(open), byte) => {
                if open == *byte {
                    quote = None;
                }
                false
            }
            (None, b'"' | b'\'') if !broken => {
                quote = Some(*byte);
                false
            }
            (None, byte) => *byte == b'>',
        });
        // A quote that is never closed would swallow the page: such a tag ends at the first `>`.
        self.quotes_broken |= end.is_none();
        let end = end.or_else(|| self.rest.iter().position(|byte| *byte == b'>'));
        let closed_at_once = end.is_some_and(|end| end > 0 && self.rest[end - 1] == b'/');
        self.rest = end.map_or(&[][..], |end| &self.rest[end + 1..]);
        name.filter(|name| !(closed_at_once && *name != b"script"))
    }

    /// Goes past `</name>`; what was before it.
    fn until_close(&mut self, name: &[u8]) -> &'a [u8] {
        let all = self.rest;
        let mut from = 0;
        while let Some(at) = all[from..].iter().position(|byte| *byte == b'<') {
            let at = from + at;
            if all.get(at + 1) == Some(&b'/') && starts_with(&all[at + 2..], name) {
                self.rest = past(&all[at..], b">");
                return &all[..at];
            }
            from = at + 1;
        }
        self.rest = &[];
        all
    }
}

fn add(title: &mut Vec<u8>, piece: &[u8]) {
    let room = TITLE.saturating_sub(title.len());
    title.extend_from_slice(&piece[..piece.len().min(room)]);
}

/// About how many characters, white space apart. Three bytes that can be one character of UTF-8 are taken for it,
/// other bytes over 127 come in pairs; an entity is one. An estimate: a third more or less changes no verdict.
fn characters(text: &[u8]) -> usize {
    let (mut count, mut i) = (0, 0);
    while let Some(byte) = text.get(i) {
        let follows = |n: usize| text.get(i + n).is_some_and(|b| (0x80..0xc0).contains(b));
        i += match byte {
            b'&' => {
                let entity = text[i..].iter().take(12).position(|b| *b == b';').unwrap_or(0) + 1;
                if text[i..i + entity].eq_ignore_ascii_case(b"&nbsp;") {
                    i += entity;
                    continue;
                }
                entity
            }
            0..=0x20 => {
                i += 1;
                continue;
            }
            0x21..=0x7f => 1,
            0xe0..=0xef if follows(1) && follows(2) => {
                // The white space of Chinese typesetting: U+3000.
                if text[i..i + 3] == [0xe3, 0x80, 0x80] {
                    i += 3;
                    continue;
                }
                3
            }
            0xf0..=0xf7 if follows(1) && follows(2) && follows(3) => 4,
            _ => 2,
        };
        count += 1;
    }
    count
}

/// Numeric entities as characters: some of these pages are written in nothing else.
fn entities(text: &str) -> String {
    if !text.contains("&#") {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("&#") {
        out.push_str(&rest[..at]);
        rest = &rest[at + 2..];
        let (digits, radix) = match rest.strip_prefix(['x', 'X']) {
            Some(hex) => (hex, 16),
            None => (rest, 10),
        };
        let length = digits.bytes().take(8).take_while(u8::is_ascii_hexdigit).count();
        match u32::from_str_radix(&digits[..length], radix).ok().and_then(char::from_u32) {
            Some(c) => {
                out.push(c);
                rest = digits[length..].strip_prefix(';').unwrap_or(&digits[length..]);
            }
            None => out.push_str("&#"),
        }
    }
    out + rest
}

fn starts_with(text: &[u8], start: &[u8]) -> bool {
    text.get(..start.len()).is_some_and(|head| head.eq_ignore_ascii_case(start))
}

fn past<'a>(text: &'a [u8], end: &[u8]) -> &'a [u8] {
    text.windows(end.len()).position(|part| part == end).map_or(&[], |at| &text[at + end.len()..])
}

#[cfg(test)]
mod tests;
