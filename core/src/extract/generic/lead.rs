//! Prose between the headline and the region.
//!
//! Decides whether an article begins before the region that was chosen: some templates put the first paragraphs, or a lead in larger letters, into
//! boxes of their own. Only sentences count, and nothing below a heading or a name of furniture, captions, bylines or summaries. What the region left out stays out.

use super::judge::Candidate;
use super::outline::{El, Outline, Tag};
use super::words::Marks;

/// Leaves between headline and region that are looked at.
const MOST: u32 = 120;
/// Leaves of the region in which a line is looked for once more.
const AGAIN: usize = 200;
/// How much of one of them.
const OF_ONE: usize = 2_000;
/// Shorter lines are labels.
const SHORTEST: f32 = 80.0;

/// Adds the lines that belong to the article.
pub(crate) fn add(outline: &Outline<'_>, region: &mut Candidate, headline: Option<u32>) {
    let (Some(title), Some((first, _)), Some(root)) =
        (headline, region.ranges.first().copied(), region.roots.first().copied())
    else {
        return;
    };
    let from = outline.el(title).to;
    let until = first.min(outline.el(root).from);
    if from >= until || until - from > MOST {
        return;
    }
    let (mut roots, mut ranges, mut tokens) = (Vec::new(), Vec::new(), 0);
    let mut at = from;
    while at < until {
        let (line, start) = (outline.leaves[at as usize].line, at);
        while at < until && outline.leaves[at as usize].line == line {
            at += 1;
        }
        let Some(block) = prose(outline, start, at).filter(|block| is_free(outline, *block, root)) else {
            continue;
        };
        if repeats(outline, region, start) {
            continue;
        }
        if roots.last().is_none_or(|last| !outline.is_in(block, *last)) {
            roots.push(block);
        }
        ranges.push((start, at));
        tokens +=
            outline.leaves[start as usize..at as usize].iter().map(|leaf| leaf.size.tokens).sum::<u32>();
    }
    // One line above a Chinese text is its summary: the text itself says it again. More than the region is another article.
    let summary = ranges.len() == 1 && is_han(outline, ranges[0].0);
    if roots.is_empty() || tokens > region.tokens || summary {
        return;
    }
    roots.append(&mut region.roots);
    ranges.append(&mut region.ranges);
    (region.roots, region.ranges) = (roots, ranges);
    region.tokens += tokens;
}

fn is_han(outline: &Outline<'_>, leaf: u32) -> bool {
    let leaf = &outline.leaves[leaf as usize];
    leaf.text.chars().filter(|c| ('\u{4e00}'..='\u{9fff}').contains(c)).count() as u32 * 2 > leaf.size.tokens
}

/// The block of a line that holds a sentence.
fn prose(outline: &Outline<'_>, from: u32, to: u32) -> Option<u32> {
    let (mut len, mut link, mut tokens, mut ends) = (0.0, 0.0, 0, 0);
    let leaves = &outline.leaves[from as usize..to as usize];
    for leaf in leaves {
        if leaf.hidden {
            return None;
        }
        len += leaf.size.len;
        link += if leaf.link { leaf.size.len } else { 0.0 };
        tokens += leaf.size.tokens;
        ends += leaf.size.ends;
    }
    let enough = len >= SHORTEST && link * 5.0 < len && tokens >= 10 && ends >= 1;
    enough.then(|| outline.up(leaves[0].el).find(|el| outline.el(*el).block)).flatten()
}

/// Whether nothing between the block and what it shares with the region says that it is something else.
fn is_free(outline: &Outline<'_>, block: u32, root: u32) -> bool {
    if outline.is_in(root, block) || outline.is_in(block, root) {
        return false;
    }
    let shared = outline.common(block, root);
    outline.up(block).take_while(|at| *at != shared).all(|at| {
        let el = outline.el(at);
        let marks = el.marks;
        let other = [Marks::UNLIKELY, Marks::FURNITURE, Marks::COMMENTS, Marks::CAPTION, Marks::BYLINE]
            .iter()
            .any(|mark| marks.has(*mark));
        let tag = matches!(
            el.tag,
            Tag::Nav
                | Tag::Aside
                | Tag::Footer
                | Tag::Form
                | Tag::Field
                | Tag::Caption
                | Tag::Figure
                | Tag::Link
                | Tag::Item
                | Tag::Heading(_)
        );
        !other && !tag && !is_summary(el)
    })
}

/// What editors write under a headline: its text says again what the article says.
fn is_summary(el: &El<'_>) -> bool {
    const NAMES: [&str; 8] =
        ["dek", "deck", "subhead", "subtitle", "sub-title", "summary", "abstract", "standfirst"];
    let class = el.node.value().as_element().and_then(|element| element.attr("class")).unwrap_or_default();
    let class = class[..class.floor_char_boundary(200)].to_ascii_lowercase();
    NAMES.iter().any(|name| class.contains(name))
}

/// Whether the region says the same: some pages show their description above the text.
fn repeats(outline: &Outline<'_>, region: &Candidate, leaf: u32) -> bool {
    let text = outline.leaves[leaf as usize].text.trim();
    let head = &text[..text.floor_char_boundary(60)];
    region
        .ranges
        .iter()
        .flat_map(|(from, to)| &outline.leaves[*from as usize..*to as usize])
        .take(AGAIN)
        .any(|other| other.text[..other.text.floor_char_boundary(OF_ONE)].contains(head))
}
