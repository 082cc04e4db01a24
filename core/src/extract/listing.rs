//! Whether a page is a list of documents, and how its rows are read: dated links that repeat one shape. Pure.
//!
//! Decides which links are rows, which selectors find them again (they are run before they are proposed), and where the next
//! page is. Does not decide where to look next.

mod paging;
mod shape;

use std::collections::{BTreeMap, HashSet};
use std::time::{Duration, Instant};

use scraper::ElementRef;
use url::Url;

use super::date::parse_published;
use super::dom::{Budget, Doc, Go, NodeRef, walk};
use super::select;
use crate::adapter::contract::Query;
use crate::clock::Timestamp;
use crate::config::{ListSelector, Pagination};

/// Fewer dated links are no list, but a box on a page.
const FEWEST: usize = 5;
/// Rows are at most so many elements above their link.
const ROW_ABOVE: usize = 4;
/// Characters of a row beside its link: more is a text with a date in it.
const MOST_BESIDE: usize = 400;
/// Characters of running text beside the rows: more is a document with links under it.
const MOST_PROSE: usize = 1_500;
/// Links of one page that are looked at.
const MOST_LINKS: usize = 3_000;

/// Time for one page. A list of 20 rows takes a millisecond.
const LONGEST: Duration = Duration::from_secs(1);

/// What a page holds for somebody who looks for lists.
#[derive(Clone, Debug, Default)]
pub(crate) struct Looked {
    /// The list, if the page is one.
    pub(crate) listing: Option<Listing>,
    /// Every link, with its words, in the page's order.
    pub(crate) links: Vec<(Url, String)>,
    /// Links that are dated: documents, and no way to further lists.
    pub(crate) documents: HashSet<Url>,
    /// What the page calls itself.
    pub(crate) name: Option<String>,
}

/// A list of documents.
#[derive(Clone, Debug)]
pub(crate) struct Listing {
    pub(crate) selector: ListSelector,
    pub(crate) pagination: Option<Pagination>,
    /// Title and date of its rows, as the selectors read them.
    pub(crate) rows: Vec<(String, String)>,
}

/// A dated link.
struct Row<'a> {
    element: ElementRef<'a>,
    link: ElementRef<'a>,
    url: Url,
}

/// Looks at a page; relative dates count from `now`.
pub(crate) fn look(text: &str, base: &Url, zone: chrono_tz::Tz, now: Timestamp) -> Looked {
    let doc = Doc::page(text, Budget::default());
    let Some(root) = doc.root() else { return Looked::default() };
    let base = shape::base_of(root).and_then(|href| base.join(&href).ok()).unwrap_or_else(|| base.clone());
    let is_date = |text: &str| parse_published(text, zone, now).is_some();
    let mut looked = Looked { name: shape::name_of(root), ..Looked::default() };
    let mut groups: BTreeMap<String, Vec<Row<'_>>> = BTreeMap::new();
    let end = Instant::now() + LONGEST;
    for link in links(root) {
        if Instant::now() > end {
            break;
        }
        let Some(url) = address(&base, link) else { continue };
        let words = shape::text_of(link);
        if let Some(element) = row_of(link, &words, &is_date) {
            looked.documents.insert(url.clone());
            groups.entry(shape::row_selector(element)).or_default().push(Row {
                element,
                link,
                url: url.clone(),
            });
        }
        looked.links.push((url, words));
    }
    let dated: usize = groups.values().map(Vec::len).sum();
    let Some((row, rows)) = groups.into_iter().max_by_key(|(_, rows)| rows.len()) else { return looked };
    let different: HashSet<&Url> = rows.iter().map(|row| &row.url).collect();
    // Several boxes of equal size are a home page; its columns have pages of their own.
    let whole = different.len() >= FEWEST && rows.len() * 10 >= dated * 6;
    let date = |row: &Row<'_>| parse_published(&shape::text_of(row.element), zone, now).map(|date| date.at);
    if whole && !begins_anew(&rows, date) && prose(root, &rows) <= MOST_PROSE {
        looked.listing = selectors(&doc, &row, &rows, &is_date).map(|(selector, read)| Listing {
            selector,
            pagination: paging::find(root, &base, &looked.links),
            rows: read,
        });
    }
    looked
}

fn links(root: ElementRef<'_>) -> Vec<ElementRef<'_>> {
    let mut links = Vec::new();
    walk(
        *root,
        |node| {
            if let Some(link) = ElementRef::wrap(node).filter(|element| element.value().name() == "a")
                && links.len() < MOST_LINKS
            {
                links.push(link);
            }
            Go::In
        },
        |_| {},
    );
    links
}

fn address(base: &Url, link: ElementRef<'_>) -> Option<Url> {
    let href = link.value().attr("href")?.trim();
    if href.is_empty() || href.starts_with('#') || href.len() > 2_000 {
        return None;
    }
    let mut url = base.join(href).ok()?;
    url.set_fragment(None);
    (matches!(url.scheme(), "http" | "https") && url.has_host()).then_some(url)
}

/// The element that holds one titled link and its date.
fn row_of<'a>(link: ElementRef<'a>, words: &str, is_date: &impl Fn(&str) -> bool) -> Option<ElementRef<'a>> {
    let title = link.value().attr("title").unwrap_or(words);
    if !shape::is_title(title) && !shape::is_title(words) {
        return None;
    }
    let href = link.value().attr("href");
    let mut element = link;
    for _ in 0..=ROW_ABOVE {
        if matches!(element.value().name(), "body" | "html" | "ul" | "ol" | "table" | "tbody") {
            return None;
        }
        // A second title is a second row: what is above holds both.
        let other = element.descendants().filter_map(ElementRef::wrap).any(|other| {
            other.value().name() == "a"
                && other.value().attr("href") != href
                && (shape::is_title(other.value().attr("title").unwrap_or_default())
                    || shape::is_title(&shape::text_of(other)))
        });
        if other {
            return None;
        }
        let beside = shape::text_without(element, link);
        if beside.chars().count() > MOST_BESIDE {
            return None;
        }
        if is_date(&beside) {
            return Some(element);
        }
        // `<a><h3>…</h3><span>2026-04-10</span></a>`: the link is the row.
        if element == link && shape::dated_part(link, is_date).is_some() {
            return Some(match link.parent().and_then(ElementRef::wrap) {
                Some(parent) if parent.value().name() == "li" => parent,
                _ => link,
            });
        }
        element = element.parent().and_then(ElementRef::wrap)?;
    }
    None
}

/// Whether the rows are several lists of the same make, one beside the other: each begins with newer documents than the one before
/// ended with. A list that was only cut in pieces goes on downwards.
fn begins_anew(rows: &[Row<'_>], date: impl Fn(&Row<'_>) -> Option<Timestamp>) -> bool {
    let mut boxes: Vec<Vec<&Row<'_>>> = Vec::new();
    let mut before = None;
    for row in rows {
        let parent = row.element.parent().map(|parent| parent.id());
        match boxes.last_mut().filter(|_| parent == before) {
            Some(last) => last.push(row),
            None => boxes.push(vec![row]),
        }
        before = parent;
    }
    boxes.windows(2).any(|pair| {
        let [above, below] = pair else { return false };
        let (last, first) = (above.last().and_then(|row| date(row)), below.first().and_then(|row| date(row)));
        above.len() > 2
            && below.len() > 2
            && matches!((last, first), (Some(last), Some(first)) if first > last)
    })
}

/// Characters of text outside links, scripts and the rows.
fn prose(root: ElementRef<'_>, rows: &[Row<'_>]) -> usize {
    let rows: HashSet<_> = rows.iter().map(|row| row.element.id()).collect();
    let mut count = 0;
    walk(
        *root,
        |node: NodeRef<'_>| {
            if rows.contains(&node.id()) {
                return Go::Past;
            }
            match node.value() {
                scraper::Node::Element(element)
                    if matches!(
                        element.name(),
                        "a" | "script" | "style" | "noscript" | "select" | "head"
                    ) =>
                {
                    return Go::Past;
                }
                scraper::Node::Text(text) => count += text.chars().filter(|c| !c.is_whitespace()).count(),
                _ => {}
            }
            Go::In
        },
        |_| {},
    );
    count
}

/// Selectors that find these rows again, and what they read: the first candidates that do.
fn selectors(
    doc: &Doc,
    row: &str,
    rows: &[Row<'_>],
    is_date: &impl Fn(&str) -> bool,
) -> Option<(ListSelector, Vec<(String, String)>)> {
    let sample = rows.iter().find(|row| row.element != row.link).unwrap_or(rows.first()?);
    let wanted: HashSet<&str> = rows.iter().filter_map(|row| row.link.value().attr("href")).collect();
    let enough = |hits: usize| hits * 10 >= rows.len() * 8;
    let cells = |css: &str| -> Option<Vec<Option<String>>> {
        let query = Query { css: css.to_owned(), all: false };
        let table = select::select(doc, Some(row), &[query]).ok()?;
        Some(table.cells.into_iter().map(|cell| cell.map(|hit| hit.value)).collect())
    };
    let link = shape::link_selectors(sample.element, sample.link).into_iter().find(|css| {
        let found = cells(&format!("{css}::attr(href)"));
        found.is_some_and(|found| {
            enough(found.iter().flatten().filter(|href| wanted.contains(href.as_str())).count())
        })
    })?;
    let date = shape::date_selectors(sample.element, sample.link, is_date).into_iter().find(|css| {
        let found = cells(css);
        found.is_some_and(|found| enough(found.iter().flatten().filter(|text| is_date(text)).count()))
    })?;
    let title = format!("{link}::attr(title), {link}::text");
    let read = cells(&title)?.into_iter().zip(cells(&date)?);
    let read =
        read.filter_map(|(title, date)| Some((title?.trim().to_owned(), date?.trim().to_owned()))).collect();
    let usual = link == "a";
    let selector = ListSelector {
        row: row.to_owned(),
        href: (!usual).then(|| format!("{link}::attr(href)")),
        title: (!usual).then_some(title),
        date: Some(date),
        ..ListSelector::default()
    };
    Some((selector, read))
}

#[cfg(test)]
mod tests;
