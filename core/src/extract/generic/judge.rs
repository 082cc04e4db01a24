//! Which candidate is the article.
//!
//! Each scorer has a voice. A candidate's worth is how much it agrees with the others (overlap of the leaves they keep, weighed by tokens: the
//! same as comparing their texts, without writing them), with a little for evidence on the page itself. Does not look for candidates.

use super::outline::{Outline, Tag};
use super::sums::Sums;
use super::words::Marks;

/// What a scorer proposes.
#[derive(Clone, Debug)]
pub(crate) struct Candidate {
    /// Who proposed it.
    pub engine: &'static str,
    /// The elements it is made of.
    pub roots: Vec<u32>,
    /// The leaves that are kept.
    pub ranges: Vec<(u32, u32)>,
    /// Elements that are left out.
    pub dropped: Vec<u32>,
    /// Tokens in them.
    pub tokens: u32,
    /// How much a voice counts when it is asked.
    pub voice: f64,
    /// Evidence of its own, around 0.
    pub evidence: f64,
    /// What the judge said, for those who ask why.
    pub worth: f64,
}

/// F1 of two candidates over tokens.
pub(crate) fn overlap(outline: &Outline<'_>, a: &Candidate, b: &Candidate) -> f64 {
    let (mut i, mut j, mut both) = (0, 0, 0u32);
    while let (Some(x), Some(y)) = (a.ranges.get(i), b.ranges.get(j)) {
        let (from, to) = (x.0.max(y.0), x.1.min(y.1));
        if from < to {
            both +=
                outline.leaves[from as usize..to as usize].iter().map(|leaf| leaf.size.tokens).sum::<u32>();
        }
        if x.1 <= y.1 {
            i += 1;
        } else {
            j += 1;
        }
    }
    let all = a.tokens + b.tokens;
    if all == 0 { 0.0 } else { 2.0 * f64::from(both) / f64::from(all) }
}

/// A candidate this close to the best may be taken instead.
const NEAR: f64 = 0.05;
/// A winner with a smaller part of what the best stretch of lines holds is a note beside the article.
const SPECK: u32 = 20;

/// Sets the worth of each and returns the best.
pub(crate) fn judge(outline: &Outline<'_>, sums: &Sums, candidates: &mut [Candidate]) -> Option<usize> {
    let worths: Vec<f64> = (0..candidates.len())
        .map(|me| {
            let voices: f64 =
                candidates.iter().enumerate().filter(|(other, _)| *other != me).map(|(_, c)| c.voice).sum();
            let agreed: f64 = candidates
                .iter()
                .enumerate()
                .filter(|(other, _)| *other != me)
                .map(|(_, other)| overlap(outline, &candidates[me], other) * other.voice)
                .sum();
            let agreement = if voices > 0.0 { agreed / voices } else { 1.0 };
            agreement + candidates[me].evidence
        })
        .collect();
    for (candidate, worth) in candidates.iter_mut().zip(&worths) {
        candidate.worth = *worth;
    }
    let stretch = candidates.iter().filter(|c| c.engine == "run").map(|c| c.tokens).max().unwrap_or(0);
    let best = (0..worths.len())
        .filter(|at| candidates[*at].tokens.saturating_mul(SPECK) >= stretch)
        .max_by(|a, b| worths[*a].total_cmp(&worths[*b]).then(b.cmp(a)))?;
    let wider = (0..worths.len())
        .filter(|at| {
            worths[*at] >= worths[best] - NEAR && adds(outline, sums, &candidates[best], &candidates[*at])
        })
        .max_by(|a, b| worths[*a].total_cmp(&worths[*b]).then(b.cmp(a)));
    Some(wider.unwrap_or(best))
}

/// Whether one candidate holds all of the other and besides that text of the same kind: a template cut the article into modules.
fn adds(outline: &Outline<'_>, sums: &Sums, inner: &Candidate, outer: &Candidate) -> bool {
    let [root] = outer.roots[..] else { return false };
    let held = inner.roots.iter().all(|at| *at != root && outline.is_in(*at, root));
    // What bears the name of a body is whole.
    let named = inner.roots.iter().any(|at| outline.el(*at).marks.has(Marks::BODY));
    if !held || named || matches!(outline.el(root).tag, Tag::Body) {
        return false;
    }
    let sum = |candidate: &Candidate| {
        let parts = candidate.ranges.iter().map(|(from, to)| sums.between(*from, *to));
        parts.fold((0.0, 0.0, 0), |sum, part| {
            (sum.0 + part.len, sum.1 + part.link_len, sum.2 + part.commas + part.ends)
        })
    };
    let (a, b) = (sum(inner), sum(outer));
    let (len, link, marks) = (b.0 - a.0, b.1 - a.1, b.2.saturating_sub(a.2));
    len > a.0 * 0.25 && link < len * 0.2 && f64::from(marks) > len / 90.0
}

#[cfg(test)]
mod tests {
    use super::super::super::dom::{Budget, Doc};
    use super::*;

    const PROSE: &str = "<p>为了做好示例工作，切实兜住民生底线，现将有关事项通知如下，请认真贯彻执行。</p>";

    /// Which of two elements is taken, when the first is a little better.
    fn taken(page: &str, engines: [&'static str; 2], tags: [Tag; 2]) -> &'static str {
        let doc = Doc::page(page, Budget::default());
        let outline = Outline::of(doc.html.tree.root());
        let sums = Sums::of(&outline, |_| true);
        let candidate = |at: usize, evidence| {
            let root = outline.els.iter().position(|el| el.tag == tags[at]).unwrap_or_default() as u32;
            let el = outline.el(root);
            let tokens = sums.below(el).tokens;
            let (roots, ranges) = (vec![root], vec![(el.from, el.to)]);
            let (engine, dropped) = (engines[at], vec![]);
            Candidate { engine, roots, ranges, dropped, tokens, voice: 1.0, evidence, worth: 0.0 }
        };
        let mut candidates = vec![candidate(0, 0.04), candidate(1, 0.0)];
        let best = judge(&outline, &sums, &mut candidates).unwrap();
        candidates[best].engine
    }

    #[test]
    fn of_two_that_are_nearly_as_good_the_one_with_more_prose_is_taken() {
        let taken = |inner: &str, beside: &str| {
            let page = format!("<main><div {inner}>{}</div><div>{beside}</div></main>", PROSE.repeat(5));
            taken(&page, ["inner", "outer"], [Tag::Div, Tag::Main])
        };
        let more = "<p>一、提高思想认识，加强组织领导。</p>".repeat(5);
        assert_eq!(taken("", &more), "outer");
        assert_eq!(taken("class=article-content", &more), "inner", "a body by its name is whole");
        assert_eq!(taken("", &more.replace("<p>", "<p><a href=/a>")), "inner", "links");
        assert_eq!(taken("", &"<p>字号 大 中 小 打印 关闭 收藏 分享</p>".repeat(9)), "inner", "no sentences");
        assert_eq!(taken("", "<p>一、提高思想认识，加强组织领导。</p>"), "inner", "hardly more");
    }

    #[test]
    fn a_winner_that_is_a_speck_beside_the_best_stretch_of_lines_is_refused() {
        for (times, expected) in [(10, "structure"), (30, "run")] {
            let page = format!("<main>{}</main><section>{PROSE}</section>", PROSE.repeat(times));
            let engines = ["structure", "run"];
            assert_eq!(taken(&page, engines, [Tag::Section, Tag::Main]), expected, "{times}");
        }
    }
}
