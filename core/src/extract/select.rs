//! Runs compiled selectors over a tree.
//!
//! Decides which node answers a query: alternatives in order, document order within each, and the first value that is
//! not empty (I12). Bounded in rows, bytes and time, because both page and selector may be hostile.

use std::time::{Duration, Instant};

use scraper::{ElementRef, Selector};

use super::css::{self, Alternative, Css, Ending};
use super::dom::{Doc, Go, NodeRef, walk};
use crate::adapter::contract::{Hit, Query, Table};

/// Rows of one page. Lists have 10 to 100; an API-like page may have some thousands.
const MOST_ROWS: usize = 10_000;
/// Bytes of all values together: nested rows can repeat a page as often as it is deep.
const MOST_BYTES: usize = 16 << 20;
/// Values of one query with `all` in one row.
const MOST_MATCHES: usize = 10_000;
/// Time for one call. A page of 20 rows takes about a tenth of a millisecond.
const LONGEST: Duration = Duration::from_secs(2);
/// Elements between two looks at the clock where one match may walk far.
const BETWEEN_CHECKS: u32 = 32;

/// Why nothing could be selected. Adapters see these words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SelectError {
    /// The selector text is wrong.
    #[error("bad selector `{css}`: {why}")]
    Selector {
        /// The text.
        css: String,
        /// What is wrong with it.
        why: String,
    },
    /// No reply of this turn has the tag.
    #[error("no reply is tagged `{tag}`; this turn has {known}")]
    Reply {
        /// The tag.
        tag: String,
        /// The tags there are.
        known: String,
    },
    /// The answer would be too large, or take too long.
    #[error("`{css}` finds too much: {limit}")]
    TooMuch {
        /// The selector at which it stopped.
        css: String,
        /// The limit that was reached.
        limit: &'static str,
    },
}

fn compile(css: &str) -> Result<std::rc::Rc<Css>, SelectError> {
    css::compile(css).map_err(|why| SelectError::Selector { css: shorten(css), why })
}

fn shorten(css: &str) -> String {
    css[..css.floor_char_boundary(200)].to_owned()
}

/// For each match of `row`, or once for the whole page, one cell per query.
pub(crate) fn select(doc: &Doc, row: Option<&str>, queries: &[Query]) -> Result<Table, SelectError> {
    let compiled = queries.iter().map(|query| compile(&query.css)).collect::<Result<Vec<_>, _>>()?;
    let clock = Clock { end: Instant::now() + LONGEST };
    let (alternative, rows) = match row {
        Some(row) => rows(doc, row, &clock)?,
        None => (0, doc.root().into_iter().collect()),
    };
    let mut cells = Vec::with_capacity(rows.len().saturating_mul(queries.len()).min(1 << 16));
    let mut bytes = 0;
    for element in &rows {
        let scope = Scope { element: *element, whole: row.is_none(), fragment: doc.fragment };
        for (query, css) in queries.iter().zip(&compiled) {
            let cell = first(css, scope, query.all, &clock).map_err(|limit| limit.of(&query.css))?;
            if let Some(hit) = &cell {
                bytes += hit.value.len() + hit.more.iter().map(String::len).sum::<usize>();
            }
            if bytes > MOST_BYTES {
                return Err(Limit::Bytes.of(&query.css));
            }
            cells.push(cell);
        }
    }
    Ok(Table { alternative, rows: rows.len() as u32, cells })
}

/// Where a document's body is: the first match that holds anything, by alternatives in order; when all are empty, the
/// first match. With the alternative's text.
pub(crate) fn place<'a>(doc: &'a Doc, css: &str) -> Result<Option<(String, ElementRef<'a>)>, SelectError> {
    let compiled = without_ending(css)?;
    let Some(root) = doc.root() else { return Ok(None) };
    let scope = Scope { element: root, whole: true, fragment: doc.fragment };
    let clock = Clock { end: Instant::now() + LONGEST };
    let mut empty = None;
    for alternative in &compiled.alternatives {
        let mut found = None;
        each(alternative, scope, &clock, |element| {
            if holds_anything(element) {
                found = Some(element);
            } else if empty.is_none() {
                empty = Some((alternative.css.clone(), element));
            }
            found.is_none()
        })
        .map_err(|limit| limit.of(css))?;
        if let Some(element) = found {
            return Ok(Some((alternative.css.clone(), element)));
        }
    }
    Ok(empty)
}

fn holds_anything(element: ElementRef<'_>) -> bool {
    element.descendants().any(|node| match node.value() {
        scraper::Node::Text(text) => {
            let script = |parent: NodeRef<'_>| {
                parent
                    .value()
                    .as_element()
                    .is_some_and(|e| matches!(e.name(), "script" | "style" | "noscript"))
            };
            text.chars().any(|c| !c.is_whitespace()) && !node.parent().is_some_and(script)
        }
        scraper::Node::Element(element) => {
            matches!(element.name(), "img" | "a" | "video" | "iframe" | "embed")
        }
        _ => false,
    })
}

fn without_ending(css: &str) -> Result<std::rc::Rc<Css>, SelectError> {
    let compiled = compile(css)?;
    if compiled.alternatives.iter().any(|alternative| alternative.ending.is_some()) {
        let why = "it names nodes, not values: remove the `::` ending".to_owned();
        return Err(SelectError::Selector { css: shorten(css), why });
    }
    Ok(compiled)
}

/// The matches of the first alternative that has any.
fn rows<'a>(doc: &'a Doc, css: &str, clock: &Clock) -> Result<(u32, Vec<ElementRef<'a>>), SelectError> {
    let compiled = without_ending(css)?;
    let mut rows = Vec::new();
    let Some(root) = doc.root() else { return Ok((0, rows)) };
    let scope = Scope { element: root, whole: true, fragment: doc.fragment };
    for (index, alternative) in compiled.alternatives.iter().enumerate() {
        let found = each(alternative, scope, clock, |element| {
            rows.push(element);
            rows.len() <= MOST_ROWS
        });
        found.map_err(|limit| limit.of(css))?;
        if rows.len() > MOST_ROWS {
            return Err(Limit::Rows.of(css));
        }
        if !rows.is_empty() {
            return Ok((index as u32, rows));
        }
    }
    Ok((0, rows))
}

/// What a query is relative to.
#[derive(Clone, Copy)]
struct Scope<'a> {
    element: ElementRef<'a>,
    /// The page: its outermost element may itself match.
    whole: bool,
    /// The outermost element was made up by the parser.
    fragment: bool,
}

fn first(css: &Css, scope: Scope<'_>, all: bool, clock: &Clock) -> Result<Option<Hit>, Limit> {
    for (index, alternative) in css.alternatives.iter().enumerate() {
        let mut hit: Option<Hit> = None;
        let mut over = false;
        each(alternative, scope, clock, |element| {
            let value = value(element, alternative.ending.as_ref(), scope);
            if value.is_empty() {
                return true;
            }
            match &mut hit {
                None => hit = Some(Hit { alternative: index as u32, value, more: Vec::new() }),
                Some(hit) => hit.more.push(value),
            }
            over = hit.as_ref().is_some_and(|hit| hit.more.len() >= MOST_MATCHES);
            all && !over
        })?;
        if over {
            return Err(Limit::Matches);
        }
        if hit.is_some() {
            return Ok(hit);
        }
    }
    Ok(None)
}

/// Hands the matches to `take` in document order until it says stop.
fn each<'a>(
    alternative: &Alternative,
    scope: Scope<'a>,
    clock: &Clock,
    mut take: impl FnMut(ElementRef<'a>) -> bool,
) -> Result<(), Limit> {
    clock.check()?;
    let Some(selector) = &alternative.selector else {
        take(scope.element);
        return Ok(());
    };
    if scope.whole && !scope.fragment && selector.matches(&scope.element) && !take(scope.element) {
        return Ok(());
    }
    if alternative.costly {
        return each_under_clock(selector, scope.element, clock, take);
    }
    for (n, element) in scope.element.select(selector).enumerate() {
        if !take(element) {
            break;
        }
        if n % 64 == 63 {
            clock.check()?;
        }
    }
    Ok(())
}

/// The same for selectors of which a single match may take as long as the page is wide.
fn each_under_clock<'a>(
    selector: &Selector,
    within: ElementRef<'a>,
    clock: &Clock,
    mut take: impl FnMut(ElementRef<'a>) -> bool,
) -> Result<(), Limit> {
    let mut seen = 0u32;
    for element in within.descendent_elements().skip(1) {
        seen = seen.wrapping_add(1);
        if seen.is_multiple_of(BETWEEN_CHECKS) {
            clock.check()?;
        }
        if selector.matches_with_scope(&element, Some(within)) && !take(element) {
            break;
        }
    }
    Ok(())
}

fn value(element: ElementRef<'_>, ending: Option<&Ending>, scope: Scope<'_>) -> String {
    match ending {
        None | Some(Ending::Text) => folded_text(*element),
        Some(Ending::Attr(name)) => {
            element.value().attrs.get(name).map(|value| value.trim().to_owned()).unwrap_or_default()
        }
        Some(Ending::Html) if scope.fragment && element == scope.element => element.inner_html(),
        Some(Ending::Html) => element.html(),
    }
}

/// All text below a node but that of scripts and styles; runs of white space become one space.
pub(crate) fn folded_text(node: NodeRef<'_>) -> String {
    let mut folded = Folded::default();
    walk(
        node,
        |node| {
            match node.value() {
                scraper::Node::Text(text) => folded.push(text),
                scraper::Node::Element(element)
                    if matches!(element.name(), "script" | "style" | "template") =>
                {
                    return Go::Past;
                }
                _ => {}
            }
            Go::In
        },
        |_| {},
    );
    folded.text
}

/// `text` with white space folded and trimmed.
pub(crate) fn fold(text: &str) -> String {
    let mut folded = Folded::default();
    folded.push(text);
    folded.text
}

#[derive(Default)]
struct Folded {
    text: String,
    space: bool,
}

impl Folded {
    fn push(&mut self, text: &str) {
        // No-break and ideographic spaces are white space here; zero-width characters are nothing at all.
        let gap = |c: char| c.is_whitespace() || matches!(c, '\u{200b}' | '\u{feff}');
        let mut rest = text;
        loop {
            let word = rest.trim_start_matches(|c: char| {
                self.space |= c.is_whitespace();
                gap(c)
            });
            // The closure above also sees the first character that stays, which is no white space.
            if word.is_empty() {
                return;
            }
            let end = word.find(gap).unwrap_or(word.len());
            if self.space && !self.text.is_empty() {
                self.text.push(' ');
            }
            self.space = false;
            self.text.push_str(&word[..end]);
            rest = &word[end..];
        }
    }
}

struct Clock {
    end: Instant,
}

impl Clock {
    fn check(&self) -> Result<(), Limit> {
        if Instant::now() > self.end { Err(Limit::Time) } else { Ok(()) }
    }
}

#[derive(Clone, Copy, Debug)]
enum Limit {
    Rows,
    Bytes,
    Matches,
    Time,
}

impl Limit {
    fn of(self, css: &str) -> SelectError {
        let limit = match self {
            Limit::Rows => "more than 10,000 rows",
            Limit::Bytes => "more than 16 MiB of values",
            Limit::Matches => "more than 10,000 values in one row",
            Limit::Time => "more than 2 seconds of work",
        };
        SelectError::TooMuch { css: shorten(css), limit }
    }
}

#[cfg(test)]
mod tests;
