//! Candidates by structure: paragraphs speak for what is above them.
//!
//! Two scorers. [`wide`] works in the manner of readability: five levels up, names of classes count, the best node climbs while its parent is
//! better, and siblings that look alike join. [`tight`] works in the manner of the older arc90 script: only the parent and its parent are
//! scored and nothing climbs, so it stays close to the paragraphs. They err on different pages.

use super::outline::{Outline, Tag};
use super::sums::Sums;
use super::words::Marks;

/// A paragraph shorter than this says nothing.
const SHORTEST: f64 = 25.0;
/// What a class name is worth.
const NAME: f64 = 25.0;

/// A paragraph: one line of text and the element whose child it is.
struct Paragraph {
    /// The element that gets the whole score.
    holder: u32,
    score: f64,
    /// In a list item: readability does not count those.
    item: bool,
}

fn paragraphs(outline: &Outline<'_>, counts: &[bool]) -> Vec<Paragraph> {
    let mut out = Vec::new();
    let leaves = &outline.leaves;
    let mut at = 0;
    while at < leaves.len() {
        let (line, start) = (leaves[at].line, at);
        let (mut len, mut commas, mut link) = (0.0, 0, 0.0);
        while at < leaves.len() && leaves[at].line == line {
            if counts[at] {
                len += f64::from(leaves[at].size.len);
                commas += leaves[at].size.commas;
                if leaves[at].link {
                    link += f64::from(leaves[at].size.len);
                }
            }
            at += 1;
        }
        if len < SHORTEST {
            continue;
        }
        // The innermost block around the line.
        let Some(inner) = outline.up(leaves[start].el).find(|el| outline.el(*el).block) else { continue };
        let el = outline.el(inner);
        // A block with other blocks in it is the parent of a paragraph that nobody marked; one without is the paragraph.
        let holder = if el.has_block { inner } else { el.parent };
        let item = matches!(el.tag, Tag::Item);
        let score = 1.0 + f64::from(commas) + (len / 100.0).min(3.0);
        out.push(Paragraph { holder, score: score * (1.0 - link / len), item });
    }
    out
}

fn tag_worth(tag: Tag) -> f64 {
    match tag {
        Tag::Div | Tag::Article | Tag::Main | Tag::Section => 5.0,
        Tag::Pre | Tag::Td | Tag::Quote => 3.0,
        Tag::List | Tag::Item | Tag::Form => -3.0,
        Tag::Heading(_) => -5.0,
        _ => 0.0,
    }
}

fn name_worth(marks: Marks) -> f64 {
    let for_it = if marks.has(Marks::POSITIVE) || marks.has(Marks::BODY) { NAME } else { 0.0 };
    let against = if marks.has(Marks::NEGATIVE) { NAME } else { 0.0 };
    for_it - against
}

/// In the manner of readability.
pub(crate) fn wide(outline: &Outline<'_>, sums: &Sums, counts: &[bool]) -> Option<Vec<u32>> {
    let mut scores = vec![f64::NAN; outline.els.len()];
    for paragraph in paragraphs(outline, counts) {
        if paragraph.item {
            continue;
        }
        for (level, at) in outline.up(paragraph.holder).filter(|at| outline.el(*at).block).take(5).enumerate()
        {
            let el = outline.el(at);
            let score = &mut scores[at as usize];
            if score.is_nan() {
                *score = tag_worth(el.tag) + name_worth(el.marks);
            }
            *score += paragraph.score / [1.0, 2.0, 6.0, 9.0, 12.0][level.min(4)];
        }
    }
    for (at, score) in scores.iter_mut().enumerate() {
        if !score.is_nan() {
            *score *= 1.0 - sums.below(&outline.els[at]).link_density();
        }
    }
    let best = |scores: &[f64]| {
        scores
            .iter()
            .enumerate()
            .filter(|(_, s)| !s.is_nan())
            .max_by(|a, b| a.1.total_cmp(b.1))
            .map(|(at, _)| at as u32)
    };
    let mut top = best(&scores)?;
    if matches!(outline.el(top).tag, Tag::Body) {
        return Some(vec![top]);
    }
    // When several good nodes share an ancestor, the article is spread over them.
    let mut ranked: Vec<u32> = (0..scores.len() as u32).filter(|at| !scores[*at as usize].is_nan()).collect();
    ranked.sort_by(|a, b| scores[*b as usize].total_cmp(&scores[*a as usize]));
    let good: Vec<u32> = ranked
        .iter()
        .take(5)
        .skip(1)
        .copied()
        .filter(|at| scores[*at as usize] >= 0.75 * scores[top as usize])
        .collect();
    if good.len() >= 3 {
        let shared = outline.up(top).skip(1).find(|above| {
            !matches!(outline.el(*above).tag, Tag::Body)
                && good.iter().filter(|at| outline.is_in(**at, *above)).count() >= 3
        });
        if let Some(above) = shared {
            top = above;
            if scores[top as usize].is_nan() {
                scores[top as usize] = 0.0;
            }
        }
    }
    // Climb while the parent is better than its child was.
    let mut last = scores[top as usize];
    let floor = last / 3.0;
    let mut at = outline.el(top).parent;
    while !matches!(outline.el(at).tag, Tag::Body) && at != outline.el(at).parent {
        let score = scores[at as usize];
        if score.is_nan() {
            at = outline.el(at).parent;
            continue;
        }
        if score < floor {
            break;
        }
        if score > last {
            top = at;
            break;
        }
        last = score;
        at = outline.el(at).parent;
    }
    // An only child stands for its parent.
    loop {
        let parent = outline.el(top).parent;
        if parent == top
            || matches!(outline.el(parent).tag, Tag::Body)
            || outline.children(parent).nth(1).is_some()
        {
            break;
        }
        top = parent;
    }
    Some(with_siblings(outline, sums, &scores, top))
}

/// In the manner of arc90.
pub(crate) fn tight(outline: &Outline<'_>, sums: &Sums, counts: &[bool]) -> Option<Vec<u32>> {
    let mut scores = vec![f64::NAN; outline.els.len()];
    for paragraph in paragraphs(outline, counts) {
        for (level, at) in outline.up(paragraph.holder).filter(|at| outline.el(*at).block).take(2).enumerate()
        {
            let el = outline.el(at);
            let score = &mut scores[at as usize];
            if score.is_nan() {
                *score = tag_worth(el.tag) + name_worth(el.marks);
            }
            *score += paragraph.score / [1.0, 2.0][level.min(1)];
        }
    }
    for (at, score) in scores.iter_mut().enumerate() {
        if !score.is_nan() {
            *score *= 1.0 - sums.below(&outline.els[at]).link_density();
        }
    }
    let top =
        scores.iter().enumerate().filter(|(_, s)| !s.is_nan()).max_by(|a, b| a.1.total_cmp(b.1))?.0 as u32;
    Some(with_siblings(outline, sums, &scores, top))
}

/// The other parts of an article that its template cut into several boxes of one kind (around advertisements, or one per section). A first
/// heading between two boxes begins another article.
pub(crate) fn with_likes(outline: &Outline<'_>, sums: &Sums, roots: Vec<u32>) -> Vec<u32> {
    let [top] = roots[..] else { return roots };
    let el = outline.el(top);
    let Some(class) =
        el.node.value().as_element().and_then(|el| el.attr("class")).filter(|class| class.len() > 3)
    else {
        return roots;
    };
    // `story-body story-body-2`: the first name is the kind.
    let kind = class.split_ascii_whitespace().next().unwrap_or(class);
    let least = sums.below(el).len * 0.12;
    let mut out = Vec::new();
    let (mut at, mut comments) = (0, 0);
    while at < outline.els.len() as u32 {
        let other = outline.el(at);
        if other.marks.has(Marks::COMMENTS) {
            comments = comments.max(other.end);
        }
        if at == top {
            out.push(at);
            at = other.end;
            continue;
        }
        let alike = other.tag == el.tag
            && !outline.is_in(top, at)
            && other
                .node
                .value()
                .as_element()
                .and_then(|other| other.attr("class"))
                .and_then(|class| class.split_ascii_whitespace().next())
                == Some(kind);
        if alike && at >= comments {
            let sum = sums.below(other);
            if sum.len >= least.max(150.0) && sum.link_density() < 0.3 && sum.commas + sum.ends >= 3 {
                out.push(at);
                at = other.end;
                continue;
            }
        }
        at += 1;
    }
    let whole: f64 = out.iter().map(|at| sums.below(outline.el(*at)).len).sum();
    let between = |pair: &[u32]| {
        (outline.el(pair[0]).end..pair[1])
            .any(|at| outline.el(at).tag == Tag::Heading(1) && !outline.el(at).hidden)
    };
    if out.len() > 12 || out.windows(2).any(between) || whole < sums.below(el).len {
        return roots;
    }
    out
}

/// Siblings that belong to the article: they have a good score themselves or are paragraphs of prose.
fn with_siblings(outline: &Outline<'_>, sums: &Sums, scores: &[f64], top: u32) -> Vec<u32> {
    let best = scores[top as usize];
    let enough = (best * 0.2).max(10.0);
    let parent = outline.el(top).parent;
    if parent == top || matches!(outline.el(top).tag, Tag::Body | Tag::Td) {
        return vec![top];
    }
    let top_class = outline.el(top).node.value().as_element().and_then(|el| el.attr("class")).unwrap_or("");
    let mut out = Vec::new();
    for at in outline.children(parent) {
        let el = outline.el(at);
        if at == top {
            out.push(at);
            continue;
        }
        let score = scores[at as usize];
        let class = el.node.value().as_element().and_then(|el| el.attr("class")).unwrap_or("");
        let bonus = if !top_class.is_empty() && class == top_class { best * 0.2 } else { 0.0 };
        // Beside a node that bears the name of a body only its likes belong to it.
        let alike = !outline.el(top).marks.has(Marks::BODY) || el.marks.has(Marks::BODY) || bonus > 0.0;
        let sum = sums.below(el);
        let prose = sum.link_density() < 0.4 && sum.commas + sum.ends >= 2;
        if !score.is_nan() && score + bonus >= enough && alike && prose {
            out.push(at);
        } else if el.tag == Tag::P {
            let density = sum.link_density();
            if (sum.len > 80.0 && density < 0.25)
                || (sum.len > 0.0 && sum.len <= 80.0 && density == 0.0 && sum.ends > 0)
            {
                out.push(at);
            }
        }
    }
    out
}
