//! What is known of every host: breaker, incident, learned limits, cookies, the last verdicts, today's ledger.
//!
//! All of it is in memory, so that a decision costs a lookup; what changed is handed out as rows for the store and
//! taken over again at the next start, so that a restarted process does not storm a host that it was avoiding. The
//! decisions themselves are those of [`breaker`](super::breaker) and [`escalate`]; this only keeps
//! their state together. No lock is held across an await: every call returns at once.
//!
//! A host is any key its caller chooses: a host name as a rule, a registrable domain where hosts share a limit.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use url::Url;

use super::breaker::{Admission, Breaker, Outcome, Why};
use super::cookies::{Cookie, CookiePool};
use super::escalate::{self, Incident};
use super::grant::without_dot;
pub use super::host::{HostRow, Limits, Seen};
use super::ledger::Ledger;
use super::verdict::{Verdict, VerdictKind};
use crate::clock::{Clock, Timestamp};

/// More hosts than one process watches, at about a kilobyte each. Beyond it, those are forgotten first of which there
/// is nothing to remember.
pub const MAX_HOSTS: usize = 20_000;
/// Verdicts kept of each host: enough to see a pattern.
pub const RECENT: usize = 4;
/// Days of counting kept until somebody takes them; a store that is away for longer has other troubles.
const MAX_DAYS: usize = 7;
/// What another process or the operator wrote down is heeded after this long at the latest.
const REFRESH: i64 = 5_000;

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
    /// Boxed: half of a table is empty places.
    known: Mutex<HashMap<Box<str>, Box<Host>>>,
    capacity: usize,
    clock: Arc<dyn Clock>,
}

/// One host in memory.
#[derive(Debug, Default)]
struct Host {
    breaker: Breaker,
    incident: Incident,
    limits: Limits,
    recent: [Option<Seen>; RECENT],
    trouble: Option<Box<Verdict>>,
    cookies: Option<Box<CookiePool>>,
    /// What was counted and not yet stored, a page a day.
    days: Vec<Ledger>,
    seen_at: Timestamp,
    started_at: Option<Timestamp>,
    started_room_ms: u32,
    /// The last start was another process's and nobody here knows of it yet.
    started_elsewhere: bool,
    breaker_at: Timestamp,
    reset_at: Option<Timestamp>,
    loaded_at: Option<Timestamp>,
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

    /// Whether the store should be asked what it knows of the host: at first, and every few seconds after that,
    /// because others write there too.
    pub fn wants_row(&self, host: &str) -> bool {
        let now = self.clock.now();
        let loaded = lock(&self.known).get(key(host)).and_then(|host| host.loaded_at);
        // A moment of the future is from before the clock was set back.
        loaded.is_none_or(|at| !(0..REFRESH).contains(&now.0.saturating_sub(at.0)))
    }

    /// Takes over what the store knows; none: nothing. A probe that was under way was another's: whether it still is
    /// is known in the store ([`reserve`](super::reserve)).
    pub fn load(&self, host: &str, row: Option<HostRow>) {
        self.change(host, |host, now| {
            host.loaded_at = Some(now);
            let Some(mut row) = row else { return };
            row.breaker.probing_since = None;
            let probing = host.breaker.probing_since;
            let (dirty, days) = (host.dirty, std::mem::take(&mut host.days));
            let started_elsewhere = host.started_elsewhere || row.started_at > host.started_at;
            let joined = host.row().join(row, now);
            *host = Host { loaded_at: Some(now), dirty, days, started_elsewhere, ..Host::from_row(joined) };
            host.breaker.probing_since = probing;
        });
    }

    /// What changed since the last call, for the store. A row that could not be stored goes to
    /// [`put_back`](Self::put_back).
    pub fn take_dirty(&self) -> Vec<(String, HostRow)> {
        let mut known = lock(&self.known);
        let dirty = known.iter_mut().filter(|(_, host)| host.dirty);
        dirty.map(|(name, host)| (name.to_string(), host.take())).collect()
    }

    /// The same for one host.
    pub fn take(&self, host: &str) -> Option<(String, HostRow)> {
        let mut known = lock(&self.known);
        let name = key(host);
        known.get_mut(name).filter(|host| host.dirty).map(|host| (name.to_owned(), host.take()))
    }

    /// Gives rows back that could not be stored: they are handed out again, with what happened since.
    pub fn put_back(&self, rows: Vec<(String, HostRow)>) {
        for (name, row) in rows {
            self.change(&name, |host, _| {
                host.dirty = true;
                row.days.iter().for_each(|day| *host.page(day) += day);
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
        host.dirty |= before != host.breaker.probing_since;
        admission
    }

    /// A request goes to the host now, and wants so much room around it.
    pub fn starts(&self, host: &str, room: Duration) {
        self.change(host, |host, now| {
            host.dirty = true;
            host.started_at = Some(now);
            host.started_room_ms = u32::try_from(room.as_millis()).unwrap_or(u32::MAX);
        });
    }

    /// The last start that is known, and when what is known of the breaker was last changed.
    pub fn known_until(&self, host: &str) -> (Option<Timestamp>, Timestamp) {
        let known = lock(&self.known);
        known.get(key(host)).map(|host| (host.started_at, host.breaker_at)).unwrap_or_default()
    }

    /// How long ago a request to the host started in another process, or in one before this, and the room it wanted
    /// around it; told once.
    pub fn started_elsewhere(&self, host: &str) -> Option<(Duration, Duration)> {
        let now = self.clock.now();
        let mut known = lock(&self.known);
        let host = known.get_mut(key(host)).filter(|host| host.started_elsewhere)?;
        host.started_elsewhere = false;
        // One of the future is from before the clock was set back: then it was just now. A start is kept to the
        // millisecond, and not to be taken for an earlier one.
        let ago = now.0.saturating_sub(host.started_at?.0).saturating_sub(1).max(0);
        Some((Duration::from_millis(ago as u64), Duration::from_millis(host.started_room_ms.into())))
    }

    /// A request went and was dropped, or nothing can be said of its answer: it was a request all the same.
    pub fn went_unjudged(&self, host: &str) {
        self.with(host, |host, now| bump(&mut host.today(now).requests));
    }

    /// A request that was not sent because the host is left alone.
    pub fn refused(&self, host: &str) {
        self.with(host, |host, now| bump(&mut host.today(now).refused));
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

    /// Writes down one answer, or that there was none. `admission` is what [`admit`](Self::admit) said of it,
    /// `requests` how many it took: one, except for a browser.
    pub fn record(
        &self,
        host: &str,
        admission: Admission,
        verdict: &Verdict,
        requests: u32,
        bytes: u64,
    ) -> Change {
        self.with(host, |host, now| {
            host.note(verdict, requests, bytes, now);
            host.fails(admission, verdict, now)
        })
    }

    /// Writes down an answer on the way to the last one: what it means for the host's health the last one tells, or
    /// [`left`](Self::left) when that comes from another host.
    pub fn record_hop(&self, host: &str, verdict: &Verdict) {
        self.with(host, |host, now| host.note(verdict, 1, 0, now));
    }

    /// The host answered with a redirect to another: it is well.
    pub fn left(&self, host: &str, admission: Admission) -> Change {
        self.with(host, |host, now| {
            let probe = admission == Admission::Probe;
            host.breaks(now, |breaker| breaker.record(Outcome::Success, probe, now))
        })
    }

    /// Counts a failure that is no answer of its own, such as redirects that run in a circle.
    pub fn failed(&self, host: &str, admission: Admission, verdict: &Verdict) -> Change {
        self.with(host, |host, now| {
            host.trouble = Some(Box::new(verdict.clone()));
            host.fails(admission, verdict, now)
        })
    }

    /// Leaves the host alone until then. Never shortens what is in force: for that, [`reset`](Self::reset) it.
    pub fn cool(&self, host: &str, until: Timestamp, why: Why) -> Change {
        self.with(host, |host, now| host.breaks(now, |breaker| breaker.cool(until, why, now)))
    }

    /// Holds nothing against the host any more: breaker, incident, learned interval, cookies. The ledger stays: it is
    /// what happened. False: nothing is known of it.
    pub fn reset(&self, host: &str) -> bool {
        let now = self.clock.now();
        let mut known = lock(&self.known);
        let Some(host) = known.get_mut(key(host)) else { return false };
        let (loaded_at, days) = (host.loaded_at, std::mem::take(&mut host.days));
        let started_elsewhere = host.started_elsewhere;
        let mut row = host.row();
        row.reset(now);
        **host = Host { loaded_at, days, dirty: true, started_elsewhere, ..Host::from_row(row) };
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

    /// The cookies that go with a request to `url`.
    pub fn cookies(&self, host: &str, url: &Url) -> Vec<Cookie> {
        let now = self.clock.now();
        let known = lock(&self.known);
        let pool = known.get(key(host)).and_then(|host| host.cookies.as_ref());
        pool.map(|pool| pool.for_url(url, now)).unwrap_or_default()
    }

    /// Keeps cookies that `url`'s host set.
    pub fn earn(&self, host: &str, url: &Url, cookies: impl IntoIterator<Item = Cookie>) {
        self.with(host, |host, now| {
            let mut pool = host.cookies.take().unwrap_or_default();
            pool.keep(cookies, url, now);
            host.cookies = Some(pool).filter(|pool| !pool.is_empty());
        });
    }

    /// S2-28: cookies that did not help are forgotten.
    pub fn forget_cookies(&self, host: &str, url: &Url) {
        self.with(host, |host, now| {
            if let Some(pool) = &mut host.cookies {
                pool.forget(url, now);
            }
        });
    }

    /// What the host taught us.
    pub fn limits(&self, host: &str) -> Limits {
        lock(&self.known).get(key(host)).map(|host| host.limits).unwrap_or_default()
    }

    /// Lets the host teach us by an answer; `interval` is what the settings put between requests.
    pub fn learn(&self, host: &str, verdict: &Verdict, interval: Duration) {
        let mut known = lock(&self.known);
        if let Some(host) = known.get_mut(key(host)) {
            let before = host.limits;
            host.limits.learn(verdict, interval);
            host.dirty |= before != host.limits;
        }
    }

    /// Writes down the `Crawl-delay` of its robots.txt.
    pub fn crawl_delay(&self, host: &str, delay: Duration) {
        let ms = u32::try_from(delay.as_millis()).unwrap_or(u32::MAX);
        let wanted = Some(ms).filter(|ms| *ms > 0);
        if self.limits(host).crawl_delay_ms != wanted {
            self.with(host, |host, _| host.limits.crawl_delay_ms = wanted);
        }
    }

    /// robots.txt forbade a request; it was not sent.
    pub fn robots_denied(&self, host: &str) {
        self.with(host, |host, now| bump(&mut host.today(now).robots_denied));
    }

    /// What is known of one host, with what was counted and not yet stored.
    pub fn get(&self, host: &str) -> Option<HostRow> {
        lock(&self.known).get(key(host)).map(|host| host.row())
    }

    /// How many hosts are remembered.
    pub fn len(&self) -> usize {
        lock(&self.known).len()
    }

    /// None at all.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Changes a host, known or new, because something happened.
    fn with<T>(&self, name: &str, change: impl FnOnce(&mut Host, Timestamp) -> T) -> T {
        self.change(name, |host, now| {
            host.seen_at = now;
            host.dirty = true;
            change(host, now)
        })
    }

    fn change<T>(&self, name: &str, change: impl FnOnce(&mut Host, Timestamp) -> T) -> T {
        let now = self.clock.now();
        let name = key(name);
        let mut known = lock(&self.known);
        if let Some(host) = known.get_mut(name) {
            return change(host, now);
        }
        if known.len() >= self.capacity {
            make_room(&mut known, self.capacity, now);
        }
        change(known.entry(name.into()).or_default(), now)
    }
}

impl Host {
    fn from_row(row: HostRow) -> Host {
        let mut recent = [None; RECENT];
        for (slot, seen) in recent.iter_mut().rev().zip(row.recent.into_iter().rev()) {
            *slot = Some(seen);
        }
        Host {
            breaker: row.breaker,
            incident: row.incident,
            limits: row.limits,
            recent,
            trouble: row.trouble.map(Box::new),
            cookies: Some(Box::new(row.cookies)).filter(|pool| !pool.is_empty()),
            days: row.days,
            seen_at: row.seen_at,
            started_at: row.started_at,
            started_room_ms: row.started_room_ms,
            started_elsewhere: false,
            breaker_at: row.breaker_at,
            reset_at: row.reset_at,
            loaded_at: None,
            dirty: false,
        }
    }

    fn row(&self) -> HostRow {
        HostRow {
            seen_at: self.seen_at,
            started_at: self.started_at,
            started_room_ms: self.started_room_ms,
            started_by: None,
            reset_at: self.reset_at,
            breaker: self.breaker.clone(),
            breaker_at: self.breaker_at,
            probe: None,
            incident: self.incident,
            limits: self.limits,
            recent: self.recent.iter().flatten().copied().collect(),
            trouble: self.trouble.as_deref().cloned(),
            cookies: self.cookies.as_deref().cloned().unwrap_or_default(),
            days: self.days.clone(),
        }
    }

    /// The row for the store, with what was counted since the last one.
    fn take(&mut self) -> HostRow {
        self.dirty = false;
        let row = self.row();
        self.days = Vec::new();
        row
    }

    fn today(&mut self, now: Timestamp) -> &mut Ledger {
        self.page(&Ledger::of(now))
    }

    /// The page of a day, a new one when there is none.
    fn page(&mut self, of: &Ledger) -> &mut Ledger {
        let found = self.days.iter().position(|page| page.day == of.day);
        let index = found.unwrap_or_else(|| {
            if self.days.len() >= MAX_DAYS {
                self.days.remove(0);
            }
            self.days.push(Ledger { day: of.day, ..Ledger::default() });
            self.days.len() - 1
        });
        &mut self.days[index]
    }

    fn note(&mut self, verdict: &Verdict, requests: u32, bytes: u64, now: Timestamp) {
        let today = self.today(now);
        today.requests = today.requests.saturating_add(requests);
        today.bytes = today.bytes.saturating_add(bytes);
        today.verdicts.count(verdict);
        self.recent.rotate_left(1);
        self.recent[RECENT - 1] = Some(Seen { at: now, kind: verdict.kind, status: verdict.status });
        if verdict.kind != VerdictKind::Ok {
            self.trouble = Some(Box::new(verdict.clone()));
        }
    }

    /// What an answer means for the breaker and the incident.
    fn fails(&mut self, admission: Admission, verdict: &Verdict, now: Timestamp) -> Change {
        self.incident.observe(verdict);
        let change = self.breaks(now, |breaker| {
            breaker.record(escalate::outcome(verdict), admission == Admission::Probe, now);
            if let VerdictKind::RetryAfter(until) = verdict.kind {
                breaker.cool(until, Why::RetryAfter, now);
            }
        });
        // Heeded also where the host is left alone for longer, for another reason.
        if let VerdictKind::RetryAfter(until) = verdict.kind
            && self.breaker.open_until.is_some_and(|open| open >= until)
        {
            bump(&mut self.today(now).retry_after_honoured);
        }
        change
    }

    /// Does something to the breaker and tells what came of it.
    fn breaks(&mut self, now: Timestamp, act: impl FnOnce(&mut Breaker)) -> Change {
        let before = self.breaker.clone();
        act(&mut self.breaker);
        if before != self.breaker {
            self.breaker_at = now;
        }
        match (before.open_until, self.breaker.open_until) {
            (Some(_), None) => Change::Closed,
            (before, Some(until)) if until > now && before.is_none_or(|before| until > before) => {
                // One that grows while it is in force is still the same.
                if before.is_none_or(|before| before <= now) {
                    bump(&mut self.today(now).cooldowns);
                }
                Change::Opened { until, why: self.breaker.why.unwrap_or(Why::Failures) }
            }
            _ => Change::None,
        }
    }

    /// How much would be lost with it, least first.
    fn worth(&self, now: Timestamp) -> u8 {
        let at_rest = self.breaker.is_at_rest() && !self.incident.escalated(now) && self.cookies.is_none();
        match (at_rest, self.dirty) {
            (true, false) => 0,
            (true, true) => 1,
            (false, _) => 2,
        }
    }
}

fn bump(counter: &mut u32) {
    *counter = counter.saturating_add(1);
}

/// Forgets a tenth of the hosts: first those of which there is nothing to remember, then the longest unseen.
fn make_room(known: &mut HashMap<Box<str>, Box<Host>>, capacity: usize, now: Timestamp) {
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
