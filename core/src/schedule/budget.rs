//! One price of a check for all adaptive sources, steered so that together they make as many checks a day as they may. Pure.
//!
//! The checks of a source go by one over the square root of the price (see [`predictive`](super::predictive)), so the price
//! that was too low by a factor in checks is too low by its square. It moves once a day and never far, because a day differs
//! from the next.

use serde::Serialize;

use crate::clock::Timestamp;

/// In one step the price moves by this factor at most.
const FARTHEST: f64 = 4.0;
/// It stays within these bounds, whatever is asked for.
const BOUNDS: (f64, f64) = (1e-3, 1e4);
/// A price that was looked at for less than this is not judged yet, and the day is taken as it was from this on.
pub const SHORTEST_MS: i64 = 6 * 3_600_000;
const DAY_MS: f64 = 86_400_000.0;

/// What all adaptive sources together may do, and what a check costs because of it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Budget {
    /// Checks a day; none: as many as they want at the price of 1.
    pub checks_per_day: Option<f64>,
    /// The price of a check.
    pub price: f64,
    /// Checks since the price was last looked at.
    pub checks: u64,
    /// When that counting began.
    pub since: Option<Timestamp>,
    /// When the price was last looked at.
    pub steered_at: Option<Timestamp>,
}

impl Default for Budget {
    fn default() -> Self {
        Budget { checks_per_day: None, price: 1.0, checks: 0, since: None, steered_at: None }
    }
}

impl Budget {
    /// Checks a day at the present price; none: nobody knows yet.
    pub fn rate(&self, now: Timestamp) -> Option<f64> {
        let watched = now.0.saturating_sub(self.since?.0);
        (watched >= SHORTEST_MS).then(|| self.checks as f64 * DAY_MS / watched as f64)
    }

    /// The budget after a look at it: a new price, and counting begins anew. None: there is nothing to go by yet.
    pub fn steered(&self, now: Timestamp) -> Option<Budget> {
        let made = self.rate(now)?;
        let price = match self.checks_per_day {
            None => 1.0,
            Some(wanted) => {
                let factor = (made / wanted.max(1e-6)).powi(2);
                (self.price * factor.clamp(1.0 / FARTHEST, FARTHEST)).clamp(BOUNDS.0, BOUNDS.1)
            }
        };
        Some(Budget { price, checks: 0, since: Some(now), steered_at: Some(now), ..*self })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::predictive::{Mode, Source};
    use chrono_tz::Asia::Shanghai;

    const DAY: i64 = 86_400;

    /// Sources that publish every so many seconds, looked at for some days under one budget: checks of each day.
    fn days(wanted: f64, every: &[i64], days: i64) -> Vec<u64> {
        let begin = 1_775_782_800;
        let page = |step: i64| (1..40).map(|n| begin - n * step).collect::<Vec<_>>();
        let mut sources: Vec<(Source, i64, i64)> =
            every.iter().map(|step| (Source::open(Shanghai, begin, &page(*step)), *step, begin)).collect();
        let mut budget = Budget { checks_per_day: Some(wanted), ..Budget::default() };
        let mut checks = Vec::new();
        for day in 0..days {
            let (from, until) = (begin + day * DAY, begin + (day + 1) * DAY);
            let mut made = 0;
            for (source, step, due) in &mut sources {
                let mut last = from.max(*due - 1);
                while *due < until {
                    let new: Vec<i64> = ((last - begin) / *step + 1..=(*due - begin) / *step)
                        .map(|n| begin + n * *step)
                        .filter(|at| *at < *due)
                        .collect();
                    source.look(*due, &new);
                    last = *due;
                    made += 1;
                    *due = source.decide(budget.price, Mode::Budget).next;
                }
            }
            checks.push(made);
            let count = |at: i64| Timestamp(at * 1_000);
            budget = Budget { checks: made, since: Some(count(from)), ..budget };
            budget = budget.steered(count(until)).unwrap();
        }
        checks
    }

    #[test]
    fn a_set_of_sources_comes_to_its_budget_and_stays_there() {
        let every = [900, 3_600, 7_200, 20_000, 43_200, 90_000, 200_000, 600_000];
        for wanted in [48.0, 120.0, 300.0] {
            let checks = days(wanted, &every, 24);
            let last = checks[17..].iter().sum::<u64>() as f64 / 7.0;
            assert!((last / wanted - 1.0).abs() < 0.15, "wanted {wanted}, made {checks:?}");
        }
    }

    #[test]
    fn a_price_moves_by_no_more_than_its_step_and_only_when_it_was_watched() {
        let budget = Budget {
            checks_per_day: Some(100.0),
            checks: 10_000,
            since: Some(Timestamp(0)),
            ..Budget::default()
        };
        assert_eq!(budget.steered(Timestamp(SHORTEST_MS - 1)), None, "too soon");
        let day = Timestamp(DAY * 1_000);
        let steered = budget.steered(day).unwrap();
        assert_eq!((steered.price, steered.checks, steered.since), (FARTHEST, 0, Some(day)));
        let idle = Budget { checks: 0, ..budget }.steered(day).unwrap();
        assert_eq!(idle.price, 1.0 / FARTHEST);
        let free = Budget { checks_per_day: None, price: 3.0, ..budget }.steered(day).unwrap();
        assert_eq!(free.price, 1.0, "without a budget a check costs what it costs");
    }
}
