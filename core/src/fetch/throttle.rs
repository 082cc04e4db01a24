//! When a request may go: one after the other per host, with room between them (S2-29, S2-64, C10).
//!
//! The pace is a pure function of the last start and the policy. Around it, each host has a turnstile: whoever
//! stands in it is the next to go, everybody else queues in the order of arrival. Nothing is written down
//! before the moment a request may go, so one that is dropped while it waits leaves no trace.
//!
//! Two sites on one host may say different things. Then the stricter one holds between two neighbours: the room
//! before a request is the larger of what it asks for itself and what the request before it asked for, and no
//! request joins others unless all of them, and itself, allow so many at once. A token bucket is shared: each start
//! costs what its own rate says, so a slow site waits until what a fast one took is paid back.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use tokio::sync::{Notify, OwnedMutexGuard, OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;

use super::ask::Purpose;
use super::bucket::Bucket;
use super::policy::HostPolicy;
use crate::clock::{Clock, Entropy};

/// The room between the starts of two requests. `unit` is in `0.0..1.0`.
fn gap(policy: &HostPolicy, purpose: Purpose, attachment_cap: Duration, unit: f64) -> Duration {
    let gap = policy.min_interval.saturating_add(policy.jitter.mul_f64(unit.clamp(0.0, 1.0)));
    let cap = policy.attachment_cap.unwrap_or(attachment_cap);
    if purpose == Purpose::Attachment { gap.min(cap) } else { gap }
}

/// The last request that started, and what was asked for around it.
#[derive(Clone, Copy)]
struct Last {
    start: Instant,
    policy: HostPolicy,
    /// What the host itself asked for.
    floor: Duration,
}

/// When a request may start that asks for `own` room. Jitter is drawn once per pair, by the later one.
fn start_at(
    last: Option<&Last>,
    now: Instant,
    own: Duration,
    purpose: Purpose,
    attachment_cap: Duration,
) -> Instant {
    let Some(last) = last else { return now };
    let room = own.max(gap(&last.policy, purpose, attachment_cap, 0.0)).max(last.floor);
    // An interval too long for the clock is as good as a month: no crawl waits that long.
    now.max(last.start.checked_add(room).unwrap_or(now + Duration::from_secs(30 * 86_400)))
}

/// The pace of all hosts, and the number of requests under way.
pub(super) struct Throttle {
    hosts: Mutex<Hosts>,
    in_flight: Arc<Semaphore>,
    attachment_cap: Duration,
    entropy: Arc<dyn Entropy>,
    clock: Arc<dyn Clock>,
}

struct Hosts {
    slots: HashMap<String, Arc<Slot>>,
    /// At this many hosts, those are forgotten that nothing can be said of any more.
    sweep_at: usize,
}

/// More hosts than one process watches; a slot is about 300 bytes.
const SWEEP_AT: usize = 4096;

#[derive(Default)]
struct Slot {
    turnstile: Arc<tokio::sync::Mutex<()>>,
    pace: Mutex<Pace>,
    /// Rung whenever a request ends.
    freed: Notify,
}

#[derive(Default)]
struct Pace {
    /// One number per request under way: how many it bears beside itself, itself included.
    active: Vec<u32>,
    last: Option<Last>,
    bucket: Bucket,
    /// When the one who stands in the turnstile may go.
    goes_at: Option<Instant>,
    /// From here on the last start is of no consequence.
    clear_at: Option<Instant>,
}

impl Pace {
    /// Whether a request may join those under way.
    fn has_room(&self, own: u32) -> bool {
        let least = self.active.iter().copied().fold(own, u32::min);
        self.active.len() < least as usize
    }
}

/// The turn of a request: nobody else of its host goes before it. Dropped, it leaves no trace.
pub(super) struct Turn {
    slot: Arc<Slot>,
    policy: HostPolicy,
    floor: Duration,
    /// The room it leaves to the start before it.
    pub room: Duration,
    flight: Option<OwnedSemaphorePermit>,
    _turn: OwnedMutexGuard<()>,
}

/// The right to have one request under way; it ends when this is dropped.
pub(super) struct Pass {
    slot: Arc<Slot>,
    limit: u32,
    _flight: Option<OwnedSemaphorePermit>,
}

impl Drop for Pass {
    fn drop(&mut self) {
        let mut pace = lock(&self.slot.pace);
        if let Some(index) = pace.active.iter().position(|limit| *limit == self.limit) {
            pace.active.swap_remove(index);
        }
        drop(pace);
        self.slot.freed.notify_one();
    }
}

impl Throttle {
    pub fn new(
        max_in_flight: usize,
        attachment_cap: Duration,
        entropy: Arc<dyn Entropy>,
        clock: Arc<dyn Clock>,
    ) -> Throttle {
        Throttle {
            hosts: Mutex::new(Hosts { slots: HashMap::new(), sweep_at: SWEEP_AT }),
            in_flight: Arc::new(Semaphore::new(max_in_flight.clamp(1, Semaphore::MAX_PERMITS))),
            attachment_cap,
            entropy,
            clock,
        }
    }

    /// Waits for the turn of a request to what shares the pace `key` (see [`HostPolicy::key_of`]).
    /// `floor` is what the host itself asks for: no setting and no purpose goes below it. It is asked when the request
    /// is the next to go: the answers before it may have taught something.
    pub async fn next(
        &self,
        key: &str,
        policy: &HostPolicy,
        purpose: Purpose,
        floor: impl Fn() -> Duration,
    ) -> Turn {
        let slot = self.slot(key);
        let turn = slot.turnstile.clone().lock_owned().await;
        let limit = policy.max_concurrency.max(1);
        while !lock(&slot.pace).has_room(limit) {
            slot.freed.notified().await;
        }
        let floor = floor();
        let unit = if policy.jitter.is_zero() { 0.0 } else { self.entropy.unit() };
        let room = gap(policy, purpose, self.attachment_cap, unit).max(floor);
        let now = self.clock.instant();
        let start = {
            let mut pace = lock(&slot.pace);
            let start = start_at(pace.last.as_ref(), now, room, purpose, self.attachment_cap);
            let start = match policy.rps {
                Some(rps) => start.max(pace.bucket.earliest(now, rps, policy.burst)),
                None => start,
            };
            pace.goes_at = Some(start);
            start
        };
        if start > now {
            self.clock.sleep_until(start).await;
        }
        // Last, so that nobody holds one of these while he waits for a slow host; before the start is written
        // down, so that the interval is kept between real starts.
        let flight = self.in_flight.clone().acquire_owned().await.ok();
        Turn { slot, policy: *policy, floor, room, flight, _turn: turn }
    }

    /// Somebody elsewhere was faster: the turn comes after this long, and stays the next one here.
    pub async fn wait(&self, turn: &mut Turn, wait: Duration) {
        turn.flight = None;
        let until = self.clock.instant() + wait;
        lock(&turn.slot.pace).goes_at = Some(until);
        self.clock.sleep_until(until).await;
        turn.flight = self.in_flight.clone().acquire_owned().await.ok();
    }

    /// The request goes now.
    pub fn goes(&self, turn: Turn) -> Pass {
        let Turn { slot, policy, floor, flight, .. } = turn;
        let limit = policy.max_concurrency.max(1);
        let now = self.clock.instant();
        let mut pace = lock(&slot.pace);
        pace.active.push(limit);
        pace.last = Some(Last { start: now, policy, floor });
        if let Some(rps) = policy.rps {
            pace.bucket.take(now, rps);
        }
        let longest = policy.min_interval.saturating_add(policy.jitter).max(floor);
        pace.clear_at = pace.clear_at.max(now.checked_add(longest)).max(pace.bucket.full_at());
        drop(pace);
        Pass { slot, limit, _flight: flight }
    }

    /// How long whoever is next still waits, as far as that is known: the end of a wait that is no standstill.
    pub fn next_goes_in(&self, key: &str) -> Option<Duration> {
        let slot = lock(&self.hosts).slots.get(key)?.clone();
        let at = lock(&slot.pace).goes_at?;
        at.checked_duration_since(self.clock.instant())
    }

    /// A request to `key` is known to have started then in another process, or in one before this; none: so long ago
    /// that the clock has no moment for it. What it took of the bucket nobody knows: all of it, to be safe.
    pub fn resume(&self, key: &str, policy: &HostPolicy, floor: Duration, start: Option<Instant>) {
        let Some(start) = start else { return };
        let slot = self.slot(key);
        let mut pace = lock(&slot.pace);
        if pace.last.is_some_and(|last| last.start >= start) {
            return;
        }
        pace.last = Some(Last { start, policy: *policy, floor });
        if let Some(rps) = policy.rps {
            pace.bucket.empty(start, rps, policy.burst);
        }
        let longest = policy.min_interval.saturating_add(policy.jitter).max(floor);
        pace.clear_at = pace.clear_at.max(start.checked_add(longest)).max(pace.bucket.full_at());
    }

    fn slot(&self, key: &str) -> Arc<Slot> {
        let mut hosts = lock(&self.hosts);
        if let Some(slot) = hosts.slots.get(key) {
            return slot.clone();
        }
        if hosts.slots.len() >= hosts.sweep_at {
            let now = self.clock.instant();
            // Nobody waits there, nothing is under way, and the interval has run out.
            hosts.slots.retain(|_, slot| {
                Arc::strong_count(slot) > 1 || lock(&slot.pace).clear_at.is_some_and(|clear| clear > now)
            });
            hosts.sweep_at = SWEEP_AT.max(hosts.slots.len() * 2);
        }
        hosts.slots.entry(key.to_owned()).or_default().clone()
    }
}

/// No code that holds these locks can panic half way, so a poisoned one is as good as any.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

#[cfg(test)]
mod tests;
