//! What a turn costs: instructions of the guest, and what the host did for it.
//!
//! Selectors run in the host, where no instruction of the guest is counted: so the time of selections is kept beside the fuel, with
//! the slowest of them by name.

use std::time::Duration;

use serde::Serialize;

use super::contract::Query;

/// The cost of one turn, counted by hosts with [`HostOptions::measure`](super::HostOptions::measure).
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Cost {
    /// Instructions of the guest, by wasmtime's count: the same for the same call, on every machine.
    pub fuel: u64,
    /// Selections that the host made for it.
    pub selections: u32,
    /// Time the host spent on them and on readable text.
    pub host: Duration,
    /// The slowest selection: its rows, or what it read, and how long that took.
    pub slowest: Option<(String, Duration)>,
}

impl Cost {
    /// Counts a selection.
    pub(super) fn selected(&mut self, took: Duration, row: Option<&str>, queries: &[Query]) {
        self.selections += 1;
        self.host += took;
        if self.slowest.as_ref().is_none_or(|(_, slowest)| took > *slowest) {
            let css = match row {
                Some(row) => row.to_owned(),
                None => queries.iter().map(|query| query.css.as_str()).collect::<Vec<_>>().join("; "),
            };
            self.slowest = Some((css, took));
        }
    }

    /// Adds the cost of a further turn.
    pub fn add(&mut self, other: &Cost) {
        self.fuel = self.fuel.saturating_add(other.fuel);
        self.selections += other.selections;
        self.host += other.host;
        if let Some((css, took)) = &other.slowest
            && self.slowest.as_ref().is_none_or(|(_, slowest)| took > slowest)
        {
            self.slowest = Some((css.clone(), *took));
        }
    }
}
