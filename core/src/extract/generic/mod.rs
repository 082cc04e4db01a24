//! The body of a page nobody wrote selectors for.
//!
//! One tree, one walk into flat tables (`outline`), candidates from scorers with different ideas (`structure`, `density`, names of bodies),
//! each cleaned (`clean`), and a judge who picks by agreement and evidence (`judge`). Decides how often to try again with
//! milder rules when too little is found. Does not render text and does not read other fields.

pub(crate) mod clean;
mod density;
pub(crate) mod judge;
pub(crate) mod lead;
pub(crate) mod lines;
pub(crate) mod outline;
pub(crate) mod render;
pub(crate) mod size;
mod structure;
pub(crate) mod sums;
pub(crate) mod trim;
pub(crate) mod words;

use judge::Candidate;
use outline::{Outline, Tag};
use sums::Sums;
use words::Marks;

/// Below this much text (letters) the milder rules are tried as well.
const ENOUGH: f64 = 250.0;
/// Below this everything is tried.
const ANYTHING: f64 = 40.0;

/// A region with more tokens is not looked through for what it says of rights.
const FEW: u32 = 400;

/// The region that was chosen and those that were not.
#[derive(Debug)]
pub(crate) struct Choice {
    /// All candidates; losers are shown to whoever asks why.
    pub candidates: Vec<Candidate>,
    /// Which one won.
    pub best: usize,
    /// How sure the judge is: the mean agreement with the winner.
    pub confidence: f64,
    /// Rules were relaxed to find anything: hidden text, unlikely names.
    pub relaxed: bool,
}

/// Looks for the body.
pub(crate) fn choose(outline: &Outline<'_>, headline: Option<u32>) -> Option<Choice> {
    if outline.leaves.is_empty() {
        return None;
    }
    let strict = attempt(outline, headline, &counting(outline, Strictness::Strict));
    if strict.as_ref().is_some_and(|(_, len)| *len >= ENOUGH) {
        return strict.map(|(choice, _)| choice);
    }
    let mut best = strict;
    for strictness in [Strictness::Mild, Strictness::Hidden, Strictness::All] {
        if strictness == Strictness::All && best.as_ref().is_some_and(|(_, len)| *len >= ANYTHING) {
            break;
        }
        let next = attempt(outline, headline, &counting(outline, strictness));
        if let Some((mut choice, len)) = next
            && best.as_ref().is_none_or(|(_, known)| len > known * 2.0)
        {
            choice.relaxed = true;
            best = Some((choice, len));
        }
    }
    match pictures(outline, best.as_ref().map(|(choice, _)| choice)) {
        Some(choice) => Some(choice),
        None => best.map(|(choice, _)| choice),
    }
}

/// A body whose text is in pictures: an element that content systems call the body holds them, and what was found elsewhere is little.
fn pictures(outline: &Outline<'_>, found: Option<&Choice>) -> Option<Choice> {
    let chosen = found.map(|choice| &choice.candidates[choice.best]);
    let at = outline.els.iter().enumerate().find_map(|(at, el)| {
        let named = el.marks.has(Marks::BODY) && !el.hidden;
        (named && outline.below(at as u32).images > 0).then_some(at as u32)
    })?;
    let apart = |root: &u32| !outline.is_in(*root, at) && !outline.is_in(at, *root);
    if chosen.is_some_and(|chosen| !chosen.roots.iter().all(apart)) {
        return None;
    }
    let el = outline.el(at);
    let ranges: Vec<(u32, u32)> = (el.from < el.to).then_some((el.from, el.to)).into_iter().collect();
    let tokens = outline.leaves[el.from as usize..el.to as usize].iter().map(|leaf| leaf.size.tokens).sum();
    let candidate = Candidate {
        engine: "pictures",
        roots: vec![at],
        ranges,
        dropped: Vec::new(),
        tokens,
        voice: 1.0,
        evidence: 0.0,
        worth: 0.6,
    };
    Some(Choice { candidates: vec![candidate], best: 0, confidence: 0.6, relaxed: false })
}

/// What is left out before anything is scored.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Strictness {
    /// What is hidden, and what lies below unlikely names.
    Strict,
    /// What is hidden, navigation, footers and comments.
    Mild,
    /// Navigation, footers and comments: some pages show their text by script.
    Hidden,
    /// Nothing.
    All,
}

/// Which leaves count.
fn counting(outline: &Outline<'_>, strictness: Strictness) -> Vec<bool> {
    let with_hidden = matches!(strictness, Strictness::Hidden | Strictness::All);
    let mut counts: Vec<bool> = outline.leaves.iter().map(|leaf| with_hidden || !leaf.hidden).collect();
    if strictness == Strictness::All {
        return counts;
    }
    // A name says little of an element that holds the page: `no-sidebar`, `menu-open`, `cookie-shown`.
    let visible = Sums::of(outline, |at| counts[at]);
    let all = visible.between(0, outline.leaves.len() as u32);
    let holds_page = |el: &outline::El<'_>| {
        let sum = visible.below(el);
        let part = (sum.len - sum.link_len) / (all.len - all.link_len).max(1.0);
        let most = if el.marks.has(Marks::COMMENTS) { 0.9 } else { 0.5 };
        part > most && sum.len - sum.link_len > ENOUGH * 2.0 && sum.ends + sum.commas > 12
    };
    let mut at = 0;
    while at < outline.els.len() {
        let el = &outline.els[at];
        if !matches!(el.tag, Tag::Nav | Tag::Footer | Tag::Aside) && holds_page(el) {
            at += 1;
            continue;
        }
        let maybe = el.marks.has(Marks::MAYBE) || el.marks.has(Marks::BODY);
        let unlikely = el.marks.has(Marks::UNLIKELY) && !maybe;
        let furniture = unlikely && el.marks.has(Marks::FURNITURE);
        let may_be = matches!(
            el.tag,
            Tag::Body
                | Tag::Article
                | Tag::Main
                | Tag::Link
                | Tag::Heading(_)
                | Tag::Td
                | Tag::Table
                | Tag::Row
        );
        let named = if strictness == Strictness::Strict { unlikely } else { furniture };
        if (named && !may_be) || matches!(el.tag, Tag::Nav | Tag::Footer | Tag::Aside) {
            counts[el.from as usize..el.to as usize].fill(false);
            at = el.end as usize;
        } else {
            at += 1;
        }
    }
    counts
}

fn attempt(outline: &Outline<'_>, headline: Option<u32>, counts: &[bool]) -> Option<(Choice, f64)> {
    let sums = Sums::of(outline, |at| counts[at]);
    let mut candidates: Vec<Candidate> = Vec::with_capacity(6);
    let mut add = |engine: &'static str, roots: Option<Vec<u32>>, voice: f64| {
        let Some(roots) = roots else { return };
        let clean::Kept { ranges, dropped } = clean::keep(outline, &sums, &roots, counts);
        let tokens = ranges
            .iter()
            .flat_map(|(from, to)| &outline.leaves[*from as usize..*to as usize])
            .map(|leaf| leaf.size.tokens)
            .sum();
        if tokens == 0 {
            return;
        }
        let evidence = evidence(outline, &sums, &roots, headline) - 0.6 * rights(outline, &ranges, tokens);
        candidates.push(Candidate { engine, roots, ranges, dropped, tokens, voice, evidence, worth: 0.0 });
    };
    add("structure", structure::wide(outline, &sums, counts), 1.0);
    let likes = |roots: Vec<u32>| structure::with_likes(outline, &sums, roots);
    add("paragraphs", structure::tight(outline, &sums, counts).map(likes), 1.0);
    add("density", density::dense(outline, &sums).map(likes), 1.0);
    add("run", density::run(outline, counts), 0.6);
    add("named", named(outline, &sums, headline).map(likes), 0.8);
    let best = judge::judge(outline, &sums, &mut candidates)?;
    let chosen = &candidates[best];
    let len = chosen.ranges.iter().map(|(from, to)| sums.between(*from, *to).len).sum();
    let confidence = (chosen.worth - chosen.evidence).clamp(0.0, 1.0);
    Some((Choice { best, confidence, relaxed: false, candidates }, len))
}

/// Which part of a short region is about rights and liability.
fn rights(outline: &Outline<'_>, ranges: &[(u32, u32)], tokens: u32) -> f64 {
    if tokens > FEW {
        return 0.0;
    }
    let leaves = ranges.iter().flat_map(|(from, to)| &outline.leaves[*from as usize..*to as usize]);
    let about: u32 = leaves.filter(|leaf| lines::tells_rights(leaf)).map(|leaf| leaf.size.tokens).sum();
    f64::from(about) / f64::from(tokens.max(1))
}

/// The element that content systems call the body: the one with most prose of those that bear such a name. Where the headline is in an article
/// of its own, no other is meant.
fn named(outline: &Outline<'_>, sums: &Sums, headline: Option<u32>) -> Option<Vec<u32>> {
    let own = headline.and_then(|headline| own_article(outline, sums, headline));
    let within = own.map_or(0..outline.els.len(), |own| own as usize..outline.el(own).end as usize);
    let mut best: Option<(f64, u32)> = None;
    for (at, el) in outline.els.iter().enumerate().take(within.end).skip(within.start) {
        if !el.marks.has(Marks::BODY) && el.tag != Tag::Article {
            continue;
        }
        let sum = sums.below(el);
        let prose = (sum.len - sum.link_len) * (1.0 - sum.link_density());
        let worth = prose * if el.marks.has(Marks::BODY) { 1.0 } else { 0.5 };
        // Nested bodies: the inner one, unless it leaves much behind.
        let better = best.is_none_or(|(known, other)| {
            if outline.is_in(at as u32, other) { worth > known * 0.8 } else { worth > known }
        });
        if better && sum.len > 40.0 {
            best = Some((worth, at as u32));
        }
    }
    best.map(|(_, at)| vec![at])
}

/// Small things that speak for a region, whatever the others say.
fn evidence(outline: &Outline<'_>, sums: &Sums, roots: &[u32], headline: Option<u32>) -> f64 {
    let mut evidence = 0.0;
    if roots.iter().any(|at| outline.el(*at).marks.has(Marks::BODY)) {
        evidence += 0.06;
    }
    let (mut len, mut link, mut marks) = (0.0, 0.0, 0);
    for at in roots {
        let sum = sums.below(outline.el(*at));
        len += sum.len;
        link += sum.link_len;
        marks += sum.commas + sum.ends;
    }
    if len > 0.0 {
        evidence -= 0.2 * (link / len);
        evidence += 0.03 * (f64::from(marks) / (len / 40.0)).min(1.0);
    }
    // An article begins behind its headline.
    if let (Some(headline), Some(first)) = (headline, roots.first()) {
        let end = outline.el(*roots.last().unwrap_or(first)).end;
        if headline < end {
            evidence += 0.05;
        } else {
            evidence -= 0.1;
        }
        evidence += beside(outline, headline, *first);
        // And not behind more prose than it has itself.
        let (from, to) = (outline.el(headline).to, outline.el(*first).from);
        if from < to {
            let passed = sums.between(from, to);
            if passed.len - passed.link_len > (len - link) * 1.5 && passed.ends > marks / 2 {
                evidence -= 0.15;
            }
        }
    }
    evidence
}

/// A page may have several articles: the one whose headline is the page's is meant.
fn beside(outline: &Outline<'_>, headline: u32, root: u32) -> f64 {
    match (article_of(outline, headline), article_of(outline, root)) {
        (Some(own), Some(other)) if !outline.is_in(own, other) && !outline.is_in(other, own) => -0.15,
        _ => 0.0,
    }
}

/// The article that the headline is in, where it has a text.
fn own_article(outline: &Outline<'_>, sums: &Sums, headline: u32) -> Option<u32> {
    article_of(outline, headline).filter(|own| {
        let sum = sums.below(outline.el(*own));
        sum.len - sum.link_len > ENOUGH * 2.0
    })
}

fn article_of(outline: &Outline<'_>, at: u32) -> Option<u32> {
    outline.up(at).find(|above| outline.el(*above).tag == Tag::Article)
}

#[cfg(test)]
mod tests {
    use super::super::dom::{Budget, Doc};
    use super::*;

    #[test]
    fn of_several_articles_the_one_with_the_headline_is_meant() {
        let prose = "<p>为了做好示例工作，切实兜住民生底线，现将有关事项通知如下，请各单位认真贯彻执行，确保取得实效。</p>".repeat(8);
        let page =
            format!("<article><h1>示例</h1>{prose}</article><article><h2>其他</h2>{prose}{prose}</article>");
        let doc = Doc::page(&page, Budget::default());
        let outline = Outline::of(doc.html.tree.root());
        let sums = Sums::of(&outline, |_| true);
        let articles: Vec<u32> =
            (0..outline.els.len() as u32).filter(|at| outline.el(*at).tag == Tag::Article).collect();
        let headline = articles[0] + 1;
        assert_eq!(named(&outline, &sums, Some(headline)), Some(vec![articles[0]]));
        assert_eq!(
            named(&outline, &sums, None),
            Some(vec![articles[1]]),
            "the longer one, where nothing is known"
        );
        assert!(beside(&outline, headline, articles[1]) < 0.0);
        assert_eq!(beside(&outline, headline, articles[0]), 0.0);
        assert_eq!(beside(&outline, headline, 0), 0.0, "what holds both is judged by its text");
    }
}
