//! What is known of every host: breaker, incident, learned limits, the last verdicts, today's ledger.
//!
//! All of it is in memory, so that a decision costs a lookup; what changed is handed out as rows for the store and
//! loaded again at the next start, so that a restarted process does not storm a host that it was avoiding. The
//! decisions themselves are those of [`breaker`](super::breaker) and [`escalate`]; this only keeps
//! their state together. No lock is held across an await: every call returns at once.
//!
//! A host is any key its caller chooses: a host name as a rule, a registrable domain where hosts share a limit.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::breaker::{Admission, Breaker, Outcome, Why};
use super::escalate::{self, Incident};
use super::grant::without_dot;
use super::ledger::Ledger;
use super::verdict::{Verdict, VerdictKind};
use crate::clock::{Clock, Timestamp};

/// More hosts than one process watches, at about a kilobyte each. Beyond it, those are forgotten first of which there
/// is nothing to remember.
pub const MAX_HOSTS: usize = 20_000;
/// Verdicts kept of each host: enough to see a pattern.
pub const RECENT: usize = 4;
/// Finished days kept until somebody takes them; a store that is away for longer has other troubles.
const MAX_FINISHED: usize = 7;

/// What a host taught us. It raises the interval of a site's settings and never lowers it (C10).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Limits {
    /// `Crawl-delay` of its robots.txt, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub crawl_delay_ms: Option<u32>,
    /// The interval it was found to bear, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval_ms: Option<u32>,
}

impl Limits {
    /// No request sooner than this after the last.
    pub fn floor(&self) -> Duration {
        Duration::from_millis(u64::from(self.crawl_delay_ms.max(self.interval_ms).unwrap_or(0)))
    }
}

/// One verdict of the past.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seen {
    /// When.
    pub at: Timestamp,
    /// Its kind.
    pub kind: VerdictKind,
    /// The status, if there was an answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
}

/// A host as it is stored and shown.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct HostRow {
    /// When something last happened.
    pub seen_at: Timestamp,
    /// Whether it may be asked.
    pub breaker: Breaker,
    /// Whether the browser was tried.
    pub incident: Incident,
    /// What it taught us.
    pub limits: Limits,
    /// The last verdicts, oldest first.
    pub recent: Vec<Seen>,
    /// The last verdict that was not good, with its evidence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trouble: Option<Verdict>,
    /// The days that changed, each with its whole numbers: a later row for the same day replaces an earlier one.
    pub days: Vec<Ledger>,
}

/// What became of the breaker. An opening must be stored at once: it has to survive a kill.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// Nothing that cannot wait.
    None,
    /// The host is left alone from now on, or for longer than before.
    Opened {
        /// Until then.
        until: Timestamp,
        /// The reason.
        why: Why,
    },
    /// It is well again.
    Closed,
}

/// The state of all hosts. Share it with an `Arc`.
pub struct Hosts {
    known: Mutex<HashMap<Box<str>, Host>>,
    capacity: usize,
    clock: Arc<dyn Clock>,
}

/// One host in memory.
#[derive(Debug)]
struct Host {
    breaker: Breaker,
    incident: Incident,
    limits: Limits,
    recent: [Option<Seen>; RECENT],
    trouble: Option<Box<Verdict>>,
    today: Ledger,
    finished: Vec<Ledger>,
    seen_at: Timestamp,
    dirty: bool,
}

impl Hosts {
    /// Nothing known yet; at most [`MAX_HOSTS`] remembered.
    pub fn new(clock: Arc<dyn Clock>) -> Hosts {
        Hosts::with_capacity(MAX_HOSTS, clock)
    }

    /// The same with another bound.
    pub fn with_capacity(capacity: usize, clock: Arc<dyn Clock>) -> Hosts {
        Hosts { known: Mutex::new(HashMap::new()), capacity: capacity.max(1), clock }
    }

    /// Takes over what was stored. A probe that was under way died with its process. Of the days only today's is
    /// needed.
    pub fn load(&self, rows: impl IntoIterator<Item = (String, HostRow)>) {
        let now = self.clock.now();
        let mut known = lock(&self.known);
        for (name, row) in rows {
            if known.len() >= self.capacity {
                make_room(&mut known, self.capacity, now);
            }
            known.insert(key(&name).into(), Host::from_row(row, now));
        }
    }

    /// What changed since the last call, for the store. A row that could not be stored goes to
    /// [`put_back`](Self::put_back).
    pub fn take_dirty(&self) -> Vec<(String, HostRow)> {
        let now = self.clock.now();
        let mut known = lock(&self.known);
        known
            .iter_mut()
            .filter(|(_, host)| host.dirty)
            .map(|(name, host)| {
                host.turn_page(now);
                host.dirty = false;
                let mut row = host.row();
                row.days.retain(|day| !day.is_empty());
                host.finished = Vec::new();
                (name.to_string(), row)
            })
            .collect()
    }

    /// Gives rows back that could not be stored: they are handed out again, with what happened since.
    pub fn put_back(&self, rows: Vec<(String, HostRow)>) {
        for (name, row) in rows {
            self.with(&name, |host, _| {
                for day in row.days {
                    let newer = host.finished.iter().any(|other| other.day == day.day);
                    if day.day < host.today.day && !newer {
                        host.finish(day);
                    }
                }
            });
        }
    }

    /// Why the host may not be asked now, if it may not: for refusing early, before a request waits for its turn.
    /// Not counted, and no probe is given out.
    pub fn refusal(&self, host: &str) -> Option<(Timestamp, Why)> {
        let now = self.clock.now();
        lock(&self.known).get(key(host))?.breaker.refusal(now)
    }

    /// Whether a request may go now: to be asked when it is really about to go, after its turn has come. What
    /// becomes of it goes to [`record`](Self::record), or to
    /// [`abandon_probe`](Self::abandon_probe) when a probe is dropped.
    pub fn admit(&self, host: &str) -> Admission {
        let now = self.clock.now();
        let mut known = lock(&self.known);
        // Of most hosts nothing is held against them: nothing to write down.
        let Some(host) = known.get_mut(key(host)) else { return Admission::Go };
        let before = host.breaker.probing_since;
        let admission = host.breaker.admit(now);
        if matches!(admission, Admission::Refuse { .. }) {
            host.turn_page(now);
            host.today.refused = host.today.refused.saturating_add(1);
            host.dirty = true;
        }
        host.dirty |= before != host.breaker.probing_since;
        admission
    }

    /// A probe that was dropped before it had an answer: the next request is the probe.
    pub fn abandon_probe(&self, host: &str) {
        let now = self.clock.now();
        if let Some(host) = lock(&self.known).get_mut(key(host)) {
            let before = host.breaker.clone();
            host.breaker.record(Outcome::Unclear, true, now);
            host.dirty |= before != host.breaker;
        }
    }

    /// Writes down one answer, or that there was none: each redirect hop and each tier by itself.
    /// `admission` is what [`admit`](Self::admit) said of it.
    pub fn record(&self, host: &str, admission: Admission, verdict: &Verdict, bytes: u64) -> Change {
        self.with(host, |host, now| {
            host.today.requests = host.today.requests.saturating_add(1);
            host.today.bytes = host.today.bytes.saturating_add(bytes);
            host.today.verdicts.count(verdict);
            host.recent.rotate_left(1);
            host.recent[RECENT - 1] = Some(Seen { at: now, kind: verdict.kind, status: verdict.status });
            if verdict.kind != VerdictKind::Ok {
                host.trouble = Some(Box::new(verdict.clone()));
            }
            host.incident.observe(verdict);
            host.change(now, |breaker| {
                breaker.record(escalate::outcome(verdict), admission == Admission::Probe, now);
                if let VerdictKind::RetryAfter(until) = verdict.kind {
                    breaker.cool(until, Why::RetryAfter, now);
                }
            })
        })
    }

    /// Leaves the host alone until then. Never shortens what is in force: for that, [`reset`](Self::reset) it.
    pub fn cool(&self, host: &str, until: Timestamp, why: Why) -> Change {
        self.with(host, |host, now| host.change(now, |breaker| breaker.cool(until, why, now)))
    }

    /// Holds nothing against the host any more: breaker, incident and learned interval. The ledger stays: it is
    /// what happened.
    pub fn reset(&self, host: &str) -> bool {
        let now = self.clock.now();
        let mut known = lock(&self.known);
        let Some(host) = known.get_mut(key(host)) else { return false };
        host.touch(now);
        host.breaker = Breaker::default();
        host.incident = Incident::default();
        host.limits.interval_ms = None;
        true
    }

    /// Whether the browser was tried in the present incident.
    pub fn escalated(&self, host: &str) -> bool {
        let now = self.clock.now();
        lock(&self.known).get(key(host)).is_some_and(|host| host.incident.escalated(now))
    }

    /// Takes the one browser attempt of the present incident; false when somebody was faster.
    pub fn claim_escalation(&self, host: &str) -> bool {
        self.with(host, |host, now| host.incident.claim(now))
    }

    /// What the host taught us.
    pub fn limits(&self, host: &str) -> Limits {
        lock(&self.known).get(key(host)).map(|host| host.limits).unwrap_or_default()
    }

    /// Writes down what the host taught us.
    pub fn learn(&self, host: &str, limits: impl FnOnce(&mut Limits)) {
        self.with(host, |host, _| limits(&mut host.limits));
    }

    /// robots.txt forbade a request; it was not sent.
    pub fn robots_denied(&self, host: &str) {
        self.with(host, |host, _| host.today.robots_denied = host.today.robots_denied.saturating_add(1));
    }

    /// What is known of one host, today's ledger included.
    pub fn get(&self, host: &str) -> Option<HostRow> {
        lock(&self.known).get(key(host)).map(Host::row)
    }

    /// What is known of all hosts, by name.
    pub fn all(&self) -> Vec<(String, HostRow)> {
        let mut rows: Vec<_> =
            lock(&self.known).iter().map(|(name, host)| (name.to_string(), host.row())).collect();
        rows.sort_by(|a, b| a.0.cmp(&b.0));
        rows
    }

    /// How many hosts are remembered.
    pub fn len(&self) -> usize {
        lock(&self.known).len()
    }

    /// None at all.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Changes a host, known or new.
    fn with<T>(&self, name: &str, change: impl FnOnce(&mut Host, Timestamp) -> T) -> T {
        let now = self.clock.now();
        let name = key(name);
        let mut known = lock(&self.known);
        if let Some(host) = known.get_mut(name) {
            host.touch(now);
            return change(host, now);
        }
        if known.len() >= self.capacity {
            make_room(&mut known, self.capacity, now);
        }
        let host = known.entry(name.into()).or_insert_with(|| Host::from_row(HostRow::default(), now));
        host.touch(now);
        change(host, now)
    }
}

impl Host {
    fn from_row(row: HostRow, now: Timestamp) -> Host {
        let mut recent = [None; RECENT];
        for (slot, seen) in recent.iter_mut().rev().zip(row.recent.into_iter().rev()) {
            *slot = Some(seen);
        }
        let empty = Ledger::of(now);
        let today = row.days.into_iter().find(|day| day.day == empty.day).unwrap_or(empty);
        Host {
            breaker: Breaker { probing_since: None, ..row.breaker },
            incident: row.incident,
            limits: row.limits,
            recent,
            trouble: row.trouble.map(Box::new),
            today,
            finished: Vec::new(),
            seen_at: row.seen_at,
            dirty: false,
        }
    }

    fn row(&self) -> HostRow {
        HostRow {
            seen_at: self.seen_at,
            breaker: self.breaker.clone(),
            incident: self.incident,
            limits: self.limits,
            recent: self.recent.iter().flatten().copied().collect(),
            trouble: self.trouble.as_deref().cloned(),
            days: self.finished.iter().chain([&self.today]).cloned().collect(),
        }
    }

    fn touch(&mut self, now: Timestamp) {
        self.turn_page(now);
        self.seen_at = now;
        self.dirty = true;
    }

    /// Begins a new page of the ledger when the day is another. A clock set back goes on with the page it has: a
    /// finished day is not opened again.
    fn turn_page(&mut self, now: Timestamp) {
        let fresh = Ledger::of(now);
        if fresh.day > self.today.day {
            let done = std::mem::replace(&mut self.today, fresh);
            if self.dirty && !done.is_empty() {
                self.finish(done);
            }
        }
    }

    fn finish(&mut self, day: Ledger) {
        if self.finished.len() >= MAX_FINISHED {
            self.finished.remove(0);
        }
        self.finished.push(day);
    }

    /// Does something to the breaker and tells what came of it.
    fn change(&mut self, now: Timestamp, act: impl FnOnce(&mut Breaker)) -> Change {
        let before = self.breaker.open_until;
        act(&mut self.breaker);
        match self.breaker.open_until {
            None if before.is_some() => Change::Closed,
            Some(until) if until > now && before.is_none_or(|before| until > before) => {
                let why = self.breaker.why.unwrap_or(Why::Failures);
                self.today.cooldowns = self.today.cooldowns.saturating_add(1);
                if why == Why::RetryAfter {
                    self.today.retry_after_honoured = self.today.retry_after_honoured.saturating_add(1);
                }
                Change::Opened { until, why }
            }
            _ => Change::None,
        }
    }

    /// How much would be lost with it, least first.
    fn worth(&self, now: Timestamp) -> u8 {
        let at_rest = self.breaker.is_at_rest() && !self.incident.escalated(now);
        match (at_rest, self.dirty) {
            // What was counted today and stored is counted from nothing if the host comes back today.
            (true, false) => u8::from(self.today.day >= Ledger::of(now).day && !self.today.is_empty()),
            (true, true) => 2,
            (false, _) => 3,
        }
    }
}

/// Forgets a tenth of the hosts: first those of which there is nothing to remember, then the longest unseen.
fn make_room(known: &mut HashMap<Box<str>, Host>, capacity: usize, now: Timestamp) {
    let mut order: Vec<_> =
        known.iter().map(|(name, host)| (host.worth(now), host.seen_at, name.clone())).collect();
    order.sort_unstable_by(|a, b| (a.0, a.1, Reverse(&a.2)).cmp(&(b.0, b.1, Reverse(&b.2))));
    let excess = known.len() + 1 - capacity.min(known.len() + 1);
    for (_, _, name) in order.into_iter().take(excess.max(capacity / 10).max(1)) {
        known.remove(&name);
    }
}

/// `url` writes hosts in lower case; the dot at their end is a spelling.
fn key(host: &str) -> &str {
    without_dot(host)
}

/// No code that holds the lock can panic half way, so a poisoned one is as good as any.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

#[cfg(test)]
#[path = "tests/hosts.rs"]
mod tests;
