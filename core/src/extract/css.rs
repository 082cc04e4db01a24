//! The selector language of site files and adapters: CSS with endings and ordered alternatives.
//!
//! Decides what a selector text means (I12, I13): top-level commas separate alternatives that are tried in
//! order, and each may end in `::text`, `::attr(name)` or `::html`. Does not run selectors.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use html5ever::{LocalName, QualName, ns};
use scraper::Selector;

/// Longest selector text. Real ones are below 300 bytes; a parser that recurses must not see megabytes.
const LONGEST: usize = 4 * 1024;
/// Longest single alternative: the matcher recurses once per combinator.
const LONGEST_ALTERNATIVE: usize = 1024;
/// Deepest nesting of `:not(…)`, `:is(…)`, `:has(…)`: the parser recurses for each.
const DEEPEST: usize = 8;
/// Compiled selectors kept per thread. A site uses about ten; all targets of a run share a thread's cache.
const CACHED: usize = 512;

/// A compiled selector text.
#[derive(Debug)]
pub(crate) struct Css {
    /// In the order in which they are tried; never empty.
    pub alternatives: Vec<Alternative>,
}

/// One alternative.
#[derive(Debug)]
pub(crate) struct Alternative {
    /// Its text without ending.
    pub css: String,
    /// None when only an ending was written: the row itself.
    pub selector: Option<Selector>,
    /// What was written after `::`.
    pub ending: Option<Ending>,
    /// Whether one match may visit all siblings or descendants (`~`, `:has`): run under a clock.
    pub costly: bool,
}

/// What is read from a matching node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// All text, white space folded.
    Text,
    /// An attribute.
    Attr(QualName),
    /// Outer HTML.
    Html,
}

/// Says what is wrong with a selector text, if anything is.
///
/// ```
/// use dibao::extract::css;
/// assert!(css::check("h1.title::text, meta[name=\"ArticleTitle\"]::attr(content)").is_ok());
/// assert!(css::check("a::href").unwrap_err().contains("::attr(href)"));
/// ```
pub fn check(text: &str) -> Result<(), String> {
    compile(text).map(|_| ())
}

/// The compiled form of `text`, from this thread's cache when it has been seen before.
pub(crate) fn compile(text: &str) -> Result<Rc<Css>, String> {
    thread_local! {
        // Selectors are not `Send`, and a cache per thread needs no lock.
        static COMPILED: RefCell<HashMap<String, Rc<Css>>> = RefCell::default();
    }
    COMPILED.with_borrow_mut(|cache| {
        if let Some(css) = cache.get(text) {
            return Ok(css.clone());
        }
        let css = Rc::new(parse(text)?);
        if cache.len() >= CACHED {
            // Emptying costs a few microseconds once in 512 new selectors; an order of use would cost on each hit.
            cache.clear();
        }
        cache.insert(text.to_owned(), css.clone());
        Ok(css)
    })
}

fn parse(text: &str) -> Result<Css, String> {
    if text.len() > LONGEST {
        return Err(format!("it is longer than {LONGEST} bytes"));
    }
    let alternatives = split(text)?.into_iter().map(alternative).collect::<Result<Vec<_>, _>>()?;
    Ok(Css { alternatives })
}

/// A part of the text between top-level commas, and where its top-level `::` is.
#[derive(Debug, PartialEq)]
struct Piece<'a> {
    text: &'a str,
    ending: Option<usize>,
}

/// Splits at the commas that are outside of brackets and quotes.
fn split(text: &str) -> Result<Vec<Piece<'_>>, String> {
    let bytes = text.as_bytes();
    let (mut pieces, mut open, mut start, mut ending) = (Vec::new(), Vec::new(), 0, None);
    let mut quote = None;
    let mut at = 0;
    while at < bytes.len() {
        let byte = bytes[at];
        match (quote, byte) {
            (_, b'\\') => at += 1,
            (Some(mark), _) if byte == mark => quote = None,
            (Some(_), _) => {}
            (None, b'"' | b'\'') => quote = Some(byte),
            (None, b'(') => open.push(b')'),
            (None, b'[') => open.push(b']'),
            (None, b')' | b']') if open.pop() != Some(byte) => {
                return Err(format!("`{}` at byte {at} closes nothing", char::from(byte)));
            }
            (None, b':') if open.is_empty() && ending.is_none() && bytes.get(at + 1) == Some(&b':') => {
                ending = Some(at - start);
                at += 1;
            }
            (None, b',') if open.is_empty() => {
                pieces.push(Piece { text: &text[start..at], ending });
                (start, ending) = (at + 1, None);
            }
            _ => {}
        }
        if open.len() > DEEPEST {
            return Err(format!("brackets are nested deeper than {DEEPEST}"));
        }
        at += 1;
    }
    if quote.is_some() {
        return Err("a quote is not closed".into());
    }
    if let Some(bracket) = open.pop() {
        return Err(format!("`{}` is missing", char::from(bracket)));
    }
    pieces.push(Piece { text: &text[start..], ending });
    Ok(pieces)
}

fn alternative(piece: Piece<'_>) -> Result<Alternative, String> {
    let (css, ending) = match piece.ending {
        Some(at) => (piece.text[..at].trim(), Some(ending(piece.text[at + 2..].trim())?)),
        None => (piece.text.trim(), None),
    };
    if css.is_empty() && ending.is_none() {
        return Err("an alternative is empty; remove the extra comma".into());
    }
    if css.len() > LONGEST_ALTERNATIVE {
        return Err(format!("an alternative is longer than {LONGEST_ALTERNATIVE} bytes"));
    }
    let selector = match css {
        "" => None,
        _ => Some(Selector::parse(css).map_err(|error| format!("`{css}` is not valid CSS: {error}"))?),
    };
    Ok(Alternative { css: css.to_owned(), selector, ending, costly: is_costly(css) })
}

fn ending(text: &str) -> Result<Ending, String> {
    let lower = text.to_ascii_lowercase();
    match lower.as_str() {
        "text" => return Ok(Ending::Text),
        "html" => return Ok(Ending::Html),
        _ => {}
    }
    let name = lower
        .strip_prefix("attr(")
        .and_then(|rest| rest.strip_suffix(')'))
        .map(|name| name.trim().trim_matches(|mark| mark == '"' || mark == '\''));
    match name {
        Some(name) if !name.is_empty() && !name.contains(['(', ')', ' ', ',', '"', '\'', '<', '>', '=']) => {
            Ok(Ending::Attr(QualName::new(None, ns!(), LocalName::from(name))))
        }
        Some(_) => Err(format!("`::{text}` names no attribute; write for example ::attr(href)")),
        None if !lower.is_empty() && lower.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-') => Err(
            format!("`::{text}` is not an ending; use ::text, ::html or, for an attribute, ::attr({lower})"),
        ),
        None => Err(format!(
            "`::{text}` is not an ending; use ::text, ::html or ::attr(name), and nothing after it"
        )),
    }
}

fn is_costly(css: &str) -> bool {
    let bytes = css.as_bytes();
    let sibling = bytes.iter().enumerate().any(|(at, b)| *b == b'~' && bytes.get(at + 1) != Some(&b'='));
    sibling || css.to_ascii_lowercase().contains(":has(")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(text: &str) -> Vec<&str> {
        split(text).unwrap().into_iter().map(|piece| piece.text.trim()).collect()
    }

    #[test]
    fn commas_split_only_at_the_top_level() {
        for (text, expected) in [
            ("a", vec!["a"]),
            ("a, b", vec!["a", "b"]),
            (":is(h1, h2) a, b", vec![":is(h1, h2) a", "b"]),
            ("a[title=\"x,y\"], b", vec!["a[title=\"x,y\"]", "b"]),
            ("a[title='x],y'], b", vec!["a[title='x],y']", "b"]),
            (r"a\,b, c", vec![r"a\,b", "c"]),
            ("a:not([x=')'], b):not(c), d::attr(e)", vec!["a:not([x=')'], b):not(c)", "d::attr(e)"]),
            ("标题, 日期", vec!["标题", "日期"]),
        ] {
            assert_eq!(pieces(text), expected, "{text}");
        }
    }

    #[test]
    fn endings_are_read_and_the_rest_is_css() {
        for (text, has_selector, expected) in [
            ("a", true, None),
            ("a::text", true, Some(Ending::Text)),
            ("a ::text", true, Some(Ending::Text)),
            ("a::HTML", true, Some(Ending::Html)),
            (
                "::attr( href )",
                false,
                Some(Ending::Attr(QualName::new(None, ns!(), LocalName::from("href")))),
            ),
            (
                "a[x='::html']::attr('Data-X')",
                true,
                Some(Ending::Attr(QualName::new(None, ns!(), LocalName::from("data-x")))),
            ),
            ("a[x='::html']", true, None),
        ] {
            let css = compile(text).unwrap();
            assert_eq!(css.alternatives.len(), 1, "{text}");
            assert_eq!(css.alternatives[0].ending, expected, "{text}");
            assert_eq!(css.alternatives[0].selector.is_some(), has_selector, "{text}");
        }
    }

    #[test]
    fn a_bad_selector_is_refused_with_words_that_help() {
        for (text, words) in [
            ("", "empty"),
            ("a,,b", "comma"),
            ("a, ", "comma"),
            ("a[", "`]` is missing"),
            ("a)", "closes nothing"),
            ("a[x='y]", "quote"),
            ("a::first-line", "::text"),
            ("a::href", "::attr(href)"),
            ("a::attr()", "names no attribute"),
            ("a::text b", "nothing after it"),
            ("a::text::html", "nothing after it"),
            ("<a>", "not valid CSS"),
            ("a >", "not valid CSS"),
            ("div:contains(x)", "not valid CSS"),
        ] {
            let error = check(text).unwrap_err();
            assert!(error.contains(words), "{text}: {error}");
        }
        assert!(check(&format!("{}a{}", ":not(".repeat(5000), ")".repeat(5000))).is_err());
        assert!(check(&":not(".repeat(200)).is_err());
        assert!(check(&"a ".repeat(5000)).is_err());
    }

    #[test]
    fn selectors_that_may_walk_far_are_known() {
        for (text, costly) in
            [("a ~ b", true), ("a[x~=b]", false), ("p:HAS(a)", true), ("ul > li:nth-child(2)", false)]
        {
            assert_eq!(compile(text).unwrap().alternatives[0].costly, costly, "{text}");
        }
    }

    #[test]
    fn the_cache_stays_bounded_and_right() {
        for n in 0..CACHED * 2 {
            assert!(compile(&format!("a.c{n}")).is_ok());
        }
        let (one, two) = (compile("b").unwrap(), compile("b").unwrap());
        assert!(Rc::ptr_eq(&one, &two));
    }

    proptest::proptest! {
        #[test]
        fn no_text_panics_the_parser(text in "[ -~,:()\\[\\]\"'\\\\中]{0,60}") {
            let _ = check(&text);
        }
    }
}
