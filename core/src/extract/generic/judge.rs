//! Which candidate is the article.
//!
//! Each scorer has a voice. A candidate's worth is how much it agrees with the others (overlap of the leaves they keep, weighed by tokens: the
//! same as comparing their texts, without writing them), with a little for evidence on the page itself. Does not look for candidates.

use super::outline::Outline;

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

/// Sets the worth of each and returns the best.
pub(crate) fn judge(outline: &Outline<'_>, candidates: &mut [Candidate]) -> Option<usize> {
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
    (0..worths.len()).max_by(|a, b| worths[*a].total_cmp(&worths[*b]).then(b.cmp(a)))
}
