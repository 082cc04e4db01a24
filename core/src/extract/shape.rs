//! What kind of page it is, and where an element stands in it.
//!
//! Decides when a page leads to articles instead of being one. A list of links has nothing else; a portal has a line of text somewhere, which no
//! heading, date or name calls an article.

use super::generic::judge::Candidate;
use super::generic::outline::Outline;
use super::generic::words::Marks;
use super::page::{PageArticle, PageKind};

/// A text with fewer characters may be a line beside links.
const FEW: usize = 60;
/// Links of a page that leads elsewhere.
const MANY_LINKS: usize = 60;

/// Whether what was found is an article.
pub(crate) fn kind(
    outline: &Outline<'_>,
    best: &Candidate,
    text: &str,
    images: u32,
    files: usize,
) -> PageKind {
    let (mut len, mut link, mut marks, mut ends, mut links) = (0.0f64, 0.0f64, 0u32, 0u32, 0u32);
    for leaf in best.ranges.iter().flat_map(|(from, to)| &outline.leaves[*from as usize..*to as usize]) {
        len += f64::from(leaf.size.len);
        link += if leaf.link { f64::from(leaf.size.len) } else { 0.0 };
        marks += leaf.size.commas + leaf.size.ends;
        ends += leaf.size.ends;
        links += u32::from(leaf.link);
    }
    let lines = text.lines().count() as u32;
    if len == 0.0 {
        return if images > 0 || files > 0 { PageKind::Images } else { PageKind::Empty };
    }
    // Titles under each other: nearly all of it leads elsewhere, and no line is a sentence.
    if link / len > 0.7 && marks < lines * 2 && lines >= 5 && files * 2 < lines as usize {
        return PageKind::List;
    }
    // The same with columns: replies, views, the last activity.
    let named = best.roots.iter().any(|root| outline.el(*root).marks.has(Marks::BODY));
    if !named && link / len > 0.45 && links >= 6 && ends * 4 < lines && files * 2 < lines as usize {
        return PageKind::List;
    }
    PageKind::Article
}

/// Where an element stands: `html>body>div#zoom>p[2]`, from the last id downwards.
pub(crate) fn path(outline: &Outline<'_>, el: u32) -> String {
    let mut parts = Vec::new();
    for at in outline.up(el) {
        let Some(element) = outline.el(at).node.value().as_element() else { break };
        if let Some(id) = element
            .attr("id")
            .filter(|id| !id.is_empty() && id.len() < 60 && !id.contains(char::is_whitespace))
        {
            parts.push(format!("{}#{id}", element.name()));
            break;
        }
        let same = outline.children(outline.el(at).parent).filter(|other| {
            *other <= at
                && outline
                    .el(*other)
                    .node
                    .value()
                    .as_element()
                    .is_some_and(|other| other.name() == element.name())
        });
        let number = if outline.el(at).parent == at { 1 } else { same.count() };
        parts.push(if number > 1 {
            format!("{}[{number}]", element.name())
        } else {
            element.name().to_owned()
        });
        if parts.len() > 12 {
            break;
        }
    }
    parts.reverse();
    parts.join(">")
}

/// A portal or a forum's index: many links, and beside them only a line.
pub(crate) fn leads_elsewhere(outline: &Outline<'_>, article: &PageArticle) -> bool {
    let sure = |field: &str, least: f64| {
        article.provenance.get(field).is_some_and(|proof| proof.confidence >= least)
    };
    let named = article.provenance.get("content").is_some_and(|proof| proof.rule.contains("named"));
    if article.kind != PageKind::Article || named || sure("published", 0.6) || sure("title", 0.9) {
        return false;
    }
    let links = || outline.leaves.iter().filter(|leaf| leaf.link);
    let linked: usize = links().map(|leaf| leaf.size.tokens as usize).sum();
    let shown = article.text.chars().count();
    shown < FEW && links().count() >= MANY_LINKS && linked > shown * 8
}
