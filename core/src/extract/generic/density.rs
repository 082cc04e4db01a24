//! Candidates by density, without looking at names or at what is a paragraph.
//!
//! [`dense`] works in the manner of GNE: much text per tag, many marks of punctuation, many paragraphs. [`run`] reads the page as a row of
//! lines, gives prose a plus and links a minus, and takes the stretch with the largest sum (the manner of boilerpipe and of maximum subsequence
//! segmentation); the candidate is what holds that stretch.

use super::outline::{Outline, Tag};
use super::sums::Sums;

/// In the manner of GNE.
pub(crate) fn dense(outline: &Outline<'_>, sums: &Sums) -> Option<Vec<u32>> {
    let mut best: Option<(f64, u32)> = None;
    for (at, el) in outline.els.iter().enumerate() {
        if !el.block
            || matches!(el.tag, Tag::Body | Tag::Row | Tag::P | Tag::Heading(_) | Tag::OtherBlock | Tag::Item)
        {
            continue;
        }
        let sum = sums.below(el);
        if sum.tokens < 8 {
            continue;
        }
        let counts = outline.below(at as u32);
        let plain = sum.len - sum.link_len;
        let tags = f64::from(counts.all.saturating_sub(counts.links)).max(1.0);
        let density = plain / tags;
        let marks = f64::from(sum.commas + sum.ends + sum.marks);
        // Symbols: letters per mark; prose has one each ten or so Han characters.
        let symbols = plain / (marks + 1.0);
        // Direct paragraphs and lines speak for a node; those deep below are their own parents' merit.
        let lines = lines_of(outline, at as u32);
        let score = (plain.max(1.0)).ln()
            * density.max(1.0).ln()
            * (f64::from(lines) + 2.0).ln()
            * symbols.clamp(1.0, 60.0).ln().max(0.1)
            * (1.0 - sum.link_density()).powi(2)
            * (marks + 1.0).ln();
        if best.is_none_or(|(known, _)| score > known) {
            best = Some((score, at as u32));
        }
    }
    best.map(|(_, at)| vec![at])
}

/// Lines of text that are the node's own or its children's.
fn lines_of(outline: &Outline<'_>, at: u32) -> u32 {
    let is_line = |child: &u32| {
        let el = outline.el(*child);
        matches!(el.tag, Tag::P | Tag::Section | Tag::Quote | Tag::Pre) || (el.block && !el.has_block)
    };
    outline.children(at).filter(is_line).count() as u32 + u32::from(outline.el(at).has_text)
}

/// The best stretch of lines.
pub(crate) fn run(outline: &Outline<'_>, counts: &[bool]) -> Option<Vec<u32>> {
    let leaves = &outline.leaves;
    let (mut best, mut here) = ((0.0, 0, 0), (0.0, 0));
    let mut at = 0;
    while at < leaves.len() {
        let (line, start) = (leaves[at].line, at);
        let (mut len, mut link, mut marks) = (0.0, 0.0, 0);
        while at < leaves.len() && leaves[at].line == line {
            if counts[at] {
                len += f64::from(leaves[at].size.len);
                marks += leaves[at].size.commas + leaves[at].size.ends;
                if leaves[at].link {
                    link += f64::from(leaves[at].size.len);
                }
            }
            at += 1;
        }
        if len == 0.0 {
            continue;
        }
        let density = link / len;
        let worth = if density > 0.5 {
            -12.0 - (link / 10.0).min(10.0)
        } else if marks == 0 && len < 40.0 {
            -4.0
        } else if marks == 0 {
            1.0
        } else {
            (len / 10.0).min(60.0) * (1.0 - density)
        };
        if here.0 <= 0.0 {
            here = (0.0, start);
        }
        here.0 += worth;
        if here.0 > best.0 {
            best = (here.0, here.1, at);
        }
    }
    if best.2 == 0 {
        return None;
    }
    let (first, last) = (leaves[best.1].el, leaves[best.2 - 1].el);
    let shared = outline.common(first, last);
    outline.up(shared).find(|at| outline.el(*at).block).map(|at| {
        // A single paragraph is hardly ever all of it.
        if matches!(outline.el(at).tag, Tag::P | Tag::Heading(_)) {
            vec![outline.el(at).parent]
        } else {
            vec![at]
        }
    })
}
