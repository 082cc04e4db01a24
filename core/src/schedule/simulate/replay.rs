//! One source's history against one policy, from look to look.

use chrono_tz::Tz;

use crate::schedule::policy::{Policy, Watched};

/// Rows on the list that a look sees.
pub const PAGE: usize = 20;

/// What came of it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    /// Looks after the first one.
    pub checks: u64,
    /// Looks that found something.
    pub hits: u64,
    /// How long each item waited to be found, in seconds.
    pub delays: Vec<i64>,
    /// Items that twenty newer ones had pushed off the list before anybody looked. Their delay counts all the same.
    pub pushed_off: u64,
}

/// Replays sorted publish times. The source is opened at `from` with what its list then shows; what is still unseen at
/// `until` counts as found then, by a look that is not counted.
pub fn replay(
    policy: &Policy,
    id: &str,
    zone: Tz,
    knob: Option<f64>,
    published: &[i64],
    from: i64,
    until: i64,
) -> Outcome {
    let mut seen = published.partition_point(|item| *item <= from);
    let page = &published[seen.saturating_sub(PAGE)..seen];
    let (mut watched, mut decision) = Watched::open(policy, id, zone, from, page, knob);
    let mut outcome = Outcome::default();
    let mut now = from;
    loop {
        let is_over = decision.next >= until;
        now = if is_over { until } else { decision.next.max(now + 1) };
        let end = seen + published[seen..].partition_point(|item| *item <= now);
        let new = &published[seen..end];
        outcome.delays.extend(new.iter().map(|item| now - item));
        outcome.pushed_off += new.len().saturating_sub(PAGE) as u64;
        if is_over {
            return outcome;
        }
        outcome.checks += 1;
        outcome.hits += u64::from(!new.is_empty());
        decision = watched.look(now, &new[new.len().saturating_sub(PAGE)..], knob);
        seen = end;
    }
}
