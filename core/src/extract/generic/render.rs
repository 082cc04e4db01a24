//! Walks the kept part of a region in order.
//!
//! Decides nothing: whoever writes text, Markdown or HTML hears of each element that opens and closes and of each piece of text.

use super::judge::Candidate;
use super::outline::Outline;
use crate::extract::text::Lines;

/// Hears what a region holds.
pub(crate) trait Hear {
    fn open(&mut self, el: u32);
    fn text(&mut self, leaf: u32);
    fn close(&mut self, el: u32);
}

/// Tells `hear` of the region of `candidate`.
pub(crate) fn tell(outline: &Outline<'_>, candidate: &Candidate, hear: &mut impl Hear) {
    let mut kept = vec![false; outline.leaves.len()];
    for (from, to) in &candidate.ranges {
        kept[*from as usize..*to as usize].fill(true);
    }
    let mut dropped = candidate.dropped.iter().copied().peekable();
    let mut open: Vec<u32> = Vec::new();
    for root in &candidate.roots {
        let (end, mut leaf) = (outline.el(*root).end, outline.el(*root).from);
        let mut at = *root;
        while at < end {
            let el = outline.el(at);
            say(outline, &kept, leaf..el.from, &mut open, hear);
            leaf = leaf.max(el.from);
            while let Some(top) = open.last().copied() {
                if outline.el(top).end > at {
                    break;
                }
                hear.close(top);
                open.pop();
            }
            if dropped.peek() == Some(&at) {
                dropped.next();
                leaf = el.to;
                at = el.end;
                continue;
            }
            hear.open(at);
            open.push(at);
            at += 1;
        }
        say(outline, &kept, leaf..outline.el(*root).to, &mut open, hear);
        while let Some(top) = open.pop() {
            hear.close(top);
        }
    }
}

fn say(
    outline: &Outline<'_>,
    kept: &[bool],
    leaves: std::ops::Range<u32>,
    open: &mut Vec<u32>,
    hear: &mut impl Hear,
) {
    for leaf in leaves {
        let parent = outline.leaves[leaf as usize].el;
        while let Some(top) = open.last().copied() {
            if top == parent {
                break;
            }
            hear.close(top);
            open.pop();
        }
        if kept[leaf as usize] {
            hear.text(leaf);
        }
    }
}

/// The region as readable text (S2-34), with the number of its pictures.
pub(crate) fn text(outline: &Outline<'_>, candidate: &Candidate) -> String {
    let mut plain = Plain { outline, lines: Lines::default() };
    tell(outline, candidate, &mut plain);
    plain.lines.text
}

struct Plain<'o, 'a> {
    outline: &'o Outline<'a>,
    lines: Lines,
}

impl Hear for Plain<'_, '_> {
    fn open(&mut self, el: u32) {
        self.lines.open(self.outline.el(el).kind);
    }

    fn text(&mut self, leaf: u32) {
        let leaf = &self.outline.leaves[leaf as usize];
        self.lines.push(leaf.before);
        self.lines.push(leaf.text);
    }

    fn close(&mut self, el: u32) {
        self.lines.close(self.outline.el(el).kind);
    }
}
