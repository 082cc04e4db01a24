//! What is inside an article's region and is not the article.
//!
//! Decides which leaves of a region are left out: navigation, share bars, related lists, forms, comments, captions' credit lines, editors' and
//! copyright lines. A branch that holds most of the region's text is never left out, whatever its name. Does not choose the region.

use super::outline::{Outline, Tag};
use super::sums::{Sum, Sums};
use super::words::Marks;

/// What is left of a region.
#[derive(Debug, Default)]
pub(crate) struct Kept {
    /// Leaves that are the article.
    pub ranges: Vec<(u32, u32)>,
    /// Elements that are not, with all below them.
    pub dropped: Vec<u32>,
}

/// The part of the region that is the article.
pub(crate) fn keep(outline: &Outline<'_>, sums: &Sums, roots: &[u32], counts: &[bool]) -> Kept {
    let whole: f64 = roots.iter().map(|at| sums.below(outline.el(*at)).len).sum();
    let (mut ranges, mut dropped) = (Vec::new(), Vec::new());
    // One first heading is the title; several are the article's own.
    let firsts = |root: &u32| {
        (*root..outline.el(*root).end).filter(|at| outline.el(*at).tag == Tag::Heading(1)).count()
    };
    let title = roots.iter().map(firsts).sum::<usize>() <= 1;
    for root in roots {
        let mut at = *root;
        let end = outline.el(*root).end;
        let mut from = outline.el(*root).from;
        while at < end {
            let el = outline.el(at);
            if at != *root && is_junk(outline, sums, at, whole, title) {
                push(&mut ranges, from, el.from);
                dropped.push(at);
                from = el.to;
                at = el.end;
            } else {
                at += 1;
            }
        }
        push(&mut ranges, from, outline.el(*root).to);
    }
    Kept { ranges: without(ranges, counts), dropped }
}

fn push(ranges: &mut Vec<(u32, u32)>, from: u32, to: u32) {
    if from < to {
        ranges.push((from, to));
    }
}

/// Splits ranges around leaves that do not count.
fn without(ranges: Vec<(u32, u32)>, counts: &[bool]) -> Vec<(u32, u32)> {
    let mut out = Vec::with_capacity(ranges.len());
    for (from, to) in ranges {
        let mut start = from;
        for at in from..to {
            if !counts[at as usize] {
                push(&mut out, start, at);
                start = at + 1;
            }
        }
        push(&mut out, start, to);
    }
    out
}

fn is_junk(outline: &Outline<'_>, sums: &Sums, at: u32, whole: f64, title: bool) -> bool {
    let el = outline.el(at);
    if el.hidden {
        return false;
    }
    let sum = sums.below(el);
    if sum.len == 0.0 {
        return false;
    }
    let share = sum.len / whole.max(1.0);
    let density = sum.link_density();
    match el.tag {
        Tag::Nav | Tag::Footer | Tag::Aside => return share < 0.4,
        Tag::Form | Tag::Field => return share < 0.3,
        Tag::Caption => return true,
        Tag::Header => return share < 0.2 && sum.ends < 3,
        _ => {}
    }
    if el.tag == Tag::Heading(1) && title {
        return true;
    }
    if !el.block && el.tag != Tag::Inline {
        return false;
    }
    if el.marks.has(Marks::COMMENTS) && !el.marks.has(Marks::BODY) && share < 0.8 {
        return true;
    }
    if el.marks.has(Marks::CAPTION) && share < 0.3 {
        return true;
    }
    // What is quoted is part of the text, whatever it shows.
    let good = el.marks.has(Marks::BODY) || el.tag == Tag::Quote;
    if el.marks.has(Marks::FURNITURE) && !good {
        let prose = is_prose(&sum);
        if share < 0.15 && !prose || density > 0.3 && share < 0.4 || share < 0.05 {
            return true;
        }
    }
    // A text about its author stands beside the article, not in it.
    if el.marks.has(Marks::AUTHOR) && !good && el.block && share < 0.15 {
        return true;
    }
    // Their first words are prose.
    if el.marks.has(Marks::OTHERS) && !good && el.block && share < 0.25 && outline.below(at).links > 0 {
        return true;
    }
    if el.marks.has(Marks::UNLIKELY)
        && !el.marks.has(Marks::MAYBE)
        && !good
        && share < 0.25
        && (!is_prose(&sum) || density > 0.2)
    {
        return true;
    }
    if el.marks.has(Marks::BYLINE) && share < 0.1 && sum.len < 300.0 && !is_prose(&sum) && el.block {
        return true;
    }
    // Lists and boxes of links.
    if el.block && !matches!(el.tag, Tag::P | Tag::Td | Tag::Row | Tag::Heading(_)) {
        let counts = outline.below(at);
        let marks = sum.commas + sum.ends;
        let beside = (sum.len - sum.link_len) / f64::from(counts.links.max(1));
        let few = counts.links >= 2 && density > 0.7 && beside < 25.0;
        let box_of_links = counts.links >= 3
            && density > 0.5
            && beside < 20.0
            && f64::from(marks) < f64::from(counts.links) * 2.0;
        let table = el.tag == Tag::Table && density < 0.85;
        if (few || box_of_links) && share < 0.4 && !table {
            return true;
        }
        if el.marks.has(Marks::NEGATIVE) && !el.marks.has(Marks::POSITIVE) && share < 0.1 && density > 0.25 {
            return true;
        }
    }
    false
}

/// Sentences rather than labels.
fn is_prose(sum: &Sum) -> bool {
    sum.len > 250.0 && f64::from(sum.commas + sum.ends) > sum.len / 120.0 && sum.link_density() < 0.3
}
