//! What an engine counts while it works, for whoever draws curves. Names come from short lists: a tier, what an answer was worth, an
//! adapter; never a host or an address.
//!
//! Counters only grow and end with the engine. What is known of hosts over the days is in the [ledger](crate::fetch::ledger).

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use crate::adapter::Cost;
use crate::fetch::{FetchError, FetchErrorKind, Hop};

/// Upper ends of the classes of durations, in seconds; the last class has none.
pub const BOUNDS: [f64; 10] = [0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0];
/// Adapters that are told apart; a program has a handful.
const MOST_ADAPTERS: usize = 64;

/// Durations by class.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Durations {
    /// How many were within each of [`BOUNDS`] and above the one before; then those above all.
    pub classes: [u64; BOUNDS.len() + 1],
    /// All of them together, in seconds.
    pub sum: f64,
}

impl Durations {
    /// How many there are.
    pub fn count(&self) -> u64 {
        self.classes.iter().sum()
    }

    fn add(&mut self, took: Duration) {
        let seconds = took.as_secs_f64();
        let class = BOUNDS.iter().position(|bound| seconds <= *bound).unwrap_or(BOUNDS.len());
        self.classes[class] += 1;
        self.sum += seconds;
    }
}

/// What adapters did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Turns {
    /// Calls into the component.
    pub turns: u64,
    /// Instructions, when they are counted ([`EngineBuilder::measure_turns`](crate::EngineBuilder::measure_turns)).
    pub fuel: u64,
}

/// What was counted so far.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Counts {
    /// Answers by tier and by what they were worth: the names of [`VerdictKind`](crate::fetch::verdict::VerdictKind), `robots` for what
    /// robots.txt forbade and `refused` for what our other rules did.
    pub fetches: BTreeMap<(&'static str, &'static str), u64>,
    /// Time on the wire by tier, redirects included, waiting for a turn not.
    pub durations: BTreeMap<&'static str, Durations>,
    /// Turns by adapter.
    pub adapters: BTreeMap<String, Turns>,
}

/// The counters of an engine.
#[derive(Debug, Default)]
pub struct Tally(Mutex<Counts>);

impl Tally {
    /// What was counted so far.
    pub fn counts(&self) -> Counts {
        self.lock().clone()
    }

    /// One ask that was answered: its last answer, and those before it.
    pub(crate) fn fetched(&self, hops: &[Hop], tier: &'static str, worth: &'static str, took: Duration) {
        let mut counts = self.lock();
        for hop in hops {
            *counts.fetches.entry((hop.tier, hop.verdict.kind.name())).or_default() += 1;
        }
        *counts.fetches.entry((tier, worth)).or_default() += 1;
        counts.durations.entry(tier).or_default().add(took);
    }

    /// One that was not.
    pub(crate) fn failed(&self, error: &FetchError) {
        let worth = match (error.kind(), error.verdict()) {
            (FetchErrorKind::Robots { .. } | FetchErrorKind::RobotsUnreachable { .. }, _) => "robots",
            (_, Some(verdict)) => verdict.kind.name(),
            _ => "refused",
        };
        if error.was_sent() {
            return self.fetched(error.hops(), error.tier(), worth, error.duration());
        }
        *self.lock().fetches.entry((error.tier(), worth)).or_default() += 1;
    }

    /// One turn of an adapter.
    pub(crate) fn turned(&self, adapter: &str, cost: Option<&Cost>) {
        let mut counts = self.lock();
        let full = counts.adapters.len() >= MOST_ADAPTERS && !counts.adapters.contains_key(adapter);
        let name = if full { "other" } else { adapter };
        let turns = match counts.adapters.get_mut(name) {
            Some(turns) => turns,
            None => counts.adapters.entry(name.to_owned()).or_default(),
        };
        turns.turns += 1;
        turns.fuel = turns.fuel.saturating_add(cost.map_or(0, |cost| cost.fuel));
    }

    fn lock(&self) -> MutexGuard<'_, Counts> {
        self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_fall_into_their_classes_and_adapters_stay_few() {
        let tally = Tally::default();
        for took in [0.01, 0.05, 0.06, 3.0, 100.0] {
            tally.fetched(&[], "http", "ok", Duration::from_secs_f64(took));
        }
        (0..1_000).for_each(|n| tally.turned(&format!("adapter-{n}"), None));
        let counts = tally.counts();
        let http = &counts.durations["http"];
        assert_eq!((http.classes, http.count()), ([2, 1, 0, 0, 0, 0, 1, 0, 0, 0, 1], 5));
        assert!((http.sum - 103.12).abs() < 1e-9);
        assert_eq!(counts.fetches[&("http", "ok")], 5);
        assert_eq!((counts.adapters.len(), counts.adapters["other"].turns), (MOST_ADAPTERS + 1, 1_000 - 64));
    }
}
