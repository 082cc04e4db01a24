//! When a request may go: one after the other per host, with room between them (S2-29, S2-64, C10).
//!
//! The pace is a pure function of the last start and the policy. Around it, each host has a turnstile: whoever
//! stands in it is the next to go, everybody else queues in the order of arrival. Nothing is written down
//! before the moment a request may go, so one that is dropped while it waits leaves no trace.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, sleep_until};

use super::ask::Purpose;
use super::policy::HostPolicy;
use crate::clock::Entropy;

/// The room between the starts of two requests. `unit` is in `0.0..1.0`.
fn gap(policy: &HostPolicy, purpose: Purpose, attachment_cap: Duration, unit: f64) -> Duration {
    let gap = policy.min_interval.saturating_add(policy.jitter.mul_f64(unit.clamp(0.0, 1.0)));
    if purpose == Purpose::Attachment { gap.min(attachment_cap) } else { gap }
}

/// When a request may start.
fn start_at(last: Option<Instant>, now: Instant, gap: Duration) -> Instant {
    match last {
        // An interval too long for the clock is as good as a month: no crawl waits that long.
        Some(last) => now.max(last.checked_add(gap).unwrap_or(now + Duration::from_secs(30 * 86_400))),
        None => now,
    }
}

/// The pace of all hosts, and the number of requests under way.
pub(super) struct Throttle {
    hosts: Mutex<Hosts>,
    in_flight: Arc<Semaphore>,
    attachment_cap: Duration,
    entropy: Arc<dyn Entropy>,
}

struct Hosts {
    slots: HashMap<String, Arc<Slot>>,
    /// At this many hosts, those are forgotten that nothing can be said of any more.
    sweep_at: usize,
}

/// More hosts than one process watches; a slot is about 200 bytes.
const SWEEP_AT: usize = 4096;

#[derive(Default)]
struct Slot {
    turnstile: tokio::sync::Mutex<()>,
    pace: Mutex<Pace>,
    /// Rung whenever a request ends.
    freed: Notify,
}

#[derive(Default)]
struct Pace {
    active: u32,
    last_start: Option<Instant>,
    /// From here on the last start is of no consequence.
    clear_at: Option<Instant>,
}

/// The right to have one request under way; it ends when this is dropped.
pub(super) struct Pass {
    slot: Arc<Slot>,
    _flight: Option<OwnedSemaphorePermit>,
}

impl Drop for Pass {
    fn drop(&mut self) {
        let mut pace = lock(&self.slot.pace);
        pace.active = pace.active.saturating_sub(1);
        drop(pace);
        self.slot.freed.notify_one();
    }
}

impl Throttle {
    pub fn new(max_in_flight: usize, attachment_cap: Duration, entropy: Arc<dyn Entropy>) -> Throttle {
        Throttle {
            hosts: Mutex::new(Hosts { slots: HashMap::new(), sweep_at: SWEEP_AT }),
            in_flight: Arc::new(Semaphore::new(max_in_flight.clamp(1, Semaphore::MAX_PERMITS))),
            attachment_cap,
            entropy,
        }
    }

    /// Waits for the turn of a request to `host`.
    /// `floor` is what the host itself asks for: no setting and no purpose goes below it.
    pub async fn enter(&self, host: &str, policy: &HostPolicy, purpose: Purpose, floor: Duration) -> Pass {
        let slot = self.slot(host);
        let turn = slot.turnstile.lock().await;
        while lock(&slot.pace).active >= policy.max_concurrency.max(1) {
            slot.freed.notified().await;
        }
        let unit = if policy.jitter.is_zero() { 0.0 } else { self.entropy.unit() };
        let gap = gap(policy, purpose, self.attachment_cap, unit).max(floor);
        if !gap.is_zero() {
            let start = start_at(lock(&slot.pace).last_start, Instant::now(), gap);
            if start > Instant::now() {
                sleep_until(start).await;
            }
        }
        // Last, so that nobody holds one of these while he waits for a slow host; before the start is written
        // down, so that the interval is kept between real starts.
        let flight = self.in_flight.clone().acquire_owned().await.ok();
        let now = Instant::now();
        let mut pace = lock(&slot.pace);
        pace.active += 1;
        pace.last_start = Some(now);
        let longest = policy.min_interval.saturating_add(policy.jitter).max(floor);
        pace.clear_at = pace.clear_at.max(now.checked_add(longest));
        drop(pace);
        drop(turn);
        Pass { slot, _flight: flight }
    }

    fn slot(&self, host: &str) -> Arc<Slot> {
        let mut hosts = lock(&self.hosts);
        if let Some(slot) = hosts.slots.get(host) {
            return slot.clone();
        }
        if hosts.slots.len() >= hosts.sweep_at {
            let now = Instant::now();
            // Nobody waits there, nothing is under way, and the interval has run out.
            hosts.slots.retain(|_, slot| {
                Arc::strong_count(slot) > 1 || lock(&slot.pace).clear_at.is_some_and(|clear| clear > now)
            });
            hosts.sweep_at = SWEEP_AT.max(hosts.slots.len() * 2);
        }
        hosts.slots.entry(host.to_owned()).or_default().clone()
    }
}

/// No code that holds these locks can panic half way, so a poisoned one is as good as any.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::SeededEntropy;

    const SECOND: Duration = Duration::from_secs(1);

    fn throttle(max_in_flight: usize) -> Arc<Throttle> {
        Arc::new(Throttle::new(max_in_flight, 2 * SECOND, Arc::new(SeededEntropy::new(1))))
    }

    fn policy(max_concurrency: u32, min_interval: Duration, jitter: Duration) -> HostPolicy {
        HostPolicy { max_concurrency, min_interval, jitter }
    }

    #[test]
    fn the_gap_is_interval_plus_jitter_and_capped_for_attachments() {
        let p = policy(1, 5 * SECOND, 2 * SECOND);
        assert_eq!(gap(&p, Purpose::List, SECOND, 0.0), 5 * SECOND);
        assert_eq!(gap(&p, Purpose::Detail, SECOND, 0.5), 6 * SECOND);
        assert_eq!(gap(&p, Purpose::Attachment, SECOND, 0.5), SECOND);
        assert_eq!(gap(&policy(1, SECOND / 2, Duration::ZERO), Purpose::Attachment, SECOND, 0.0), SECOND / 2);
        assert_eq!(gap(&policy(1, Duration::MAX, SECOND), Purpose::List, SECOND, 1.0), Duration::MAX);
    }

    #[tokio::test(start_paused = true)]
    async fn requests_to_one_host_start_an_interval_apart_in_the_order_they_came() {
        let throttle = throttle(16);
        let begin = Instant::now();
        let (tx, mut rx) = tokio::sync::mpsc::unbounded_channel();
        for i in 0..5 {
            let (throttle, tx) = (throttle.clone(), tx.clone());
            tokio::spawn(async move {
                let pass = throttle
                    .enter("a", &policy(1, 5 * SECOND, Duration::ZERO), Purpose::List, Duration::ZERO)
                    .await;
                tx.send((i, Instant::now() - begin)).unwrap();
                drop(pass);
            });
            tokio::task::yield_now().await;
        }
        for i in 0..5u32 {
            let (who, when) = rx.recv().await.unwrap();
            assert_eq!(who, i);
            assert!(when >= 5 * SECOND * i && when < 5 * SECOND * i + SECOND / 10, "{i}: {when:?}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn jitter_stays_within_its_bounds() {
        let throttle = throttle(16);
        let mut last = None;
        for _ in 0..50 {
            drop(
                throttle.enter("a", &policy(1, 5 * SECOND, 2 * SECOND), Purpose::List, Duration::ZERO).await,
            );
            let now = Instant::now();
            if let Some(last) = last {
                let gap: Duration = now - last;
                assert!(gap >= 5 * SECOND && gap < 7 * SECOND + SECOND / 10, "{gap:?}");
            }
            last = Some(now);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn hosts_do_not_wait_for_each_other() {
        let throttle = throttle(16);
        let begin = Instant::now();
        for i in 0..10 {
            drop(
                throttle
                    .enter(&format!("host{i}"), &HostPolicy::default(), Purpose::List, Duration::ZERO)
                    .await,
            );
        }
        assert_eq!(Instant::now(), begin);
    }

    #[tokio::test(start_paused = true)]
    async fn an_attachment_waits_no_longer_than_its_cap() {
        let throttle = throttle(16);
        let p = policy(1, 5 * SECOND, Duration::ZERO);
        drop(throttle.enter("a", &p, Purpose::Detail, Duration::ZERO).await);
        let begin = Instant::now();
        drop(throttle.enter("a", &p, Purpose::Attachment, Duration::ZERO).await);
        let waited = Instant::now() - begin;
        assert!(waited >= 2 * SECOND && waited < 3 * SECOND, "{waited:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_cancelled_waiter_gives_its_place_back() {
        let throttle = throttle(16);
        let p = policy(1, 5 * SECOND, Duration::ZERO);
        let begin = Instant::now();
        let first = throttle.enter("a", &p, Purpose::List, Duration::ZERO).await;
        // One that waits for the slot, one behind it in the queue, and later one that waits for the clock.
        let waits = |throttle: Arc<Throttle>| {
            tokio::spawn(async move { throttle.enter("a", &p, Purpose::List, Duration::ZERO).await })
        };
        let (second, third) = (waits(throttle.clone()), waits(throttle.clone()));
        tokio::task::yield_now().await;
        second.abort();
        third.abort();
        tokio::task::yield_now().await;
        drop(first);
        let fourth = waits(throttle.clone());
        tokio::time::sleep(SECOND).await;
        fourth.abort();
        drop(throttle.enter("a", &p, Purpose::List, Duration::ZERO).await);
        let waited = Instant::now() - begin;
        assert!(waited >= 5 * SECOND && waited < 6 * SECOND, "only the first request counts: {waited:?}");
        assert_eq!(lock(&throttle.slot("a").pace).active, 0);
        assert_eq!(throttle.in_flight.available_permits(), 16);
    }

    #[tokio::test(start_paused = true)]
    async fn no_more_than_the_allowed_number_is_under_way() {
        for (max_in_flight, per_host, hosts, expected) in
            [(16, 2, 1, 2), (16, 1, 40, 16), (3, 10, 1, 3), (16, 0, 1, 1)]
        {
            let throttle = throttle(max_in_flight);
            let count = Arc::new(Mutex::new((0u32, 0u32)));
            let tasks: Vec<_> = (0..40)
                .map(|i| {
                    let (throttle, count) = (throttle.clone(), count.clone());
                    tokio::spawn(async move {
                        let host = format!("host{}", i % hosts);
                        let _pass = throttle
                            .enter(&host, &HostPolicy::unpaced(per_host), Purpose::List, Duration::ZERO)
                            .await;
                        {
                            let mut count = lock(&count);
                            count.0 += 1;
                            count.1 = count.1.max(count.0);
                        }
                        tokio::time::sleep(SECOND).await;
                        lock(&count).0 -= 1;
                    })
                })
                .collect();
            for task in tasks {
                task.await.unwrap();
            }
            assert_eq!(lock(&count).1, expected, "{max_in_flight} {per_host} {hosts}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn hosts_are_forgotten_only_when_their_interval_has_run_out() {
        let throttle = throttle(16);
        let p = policy(1, 60 * SECOND, Duration::ZERO);
        for i in 0..SWEEP_AT {
            drop(throttle.enter(&format!("old{i}"), &p, Purpose::List, Duration::ZERO).await);
        }
        tokio::time::sleep(30 * SECOND).await;
        drop(throttle.enter("young", &p, Purpose::List, Duration::ZERO).await);
        assert_eq!(lock(&throttle.hosts).slots.len(), SWEEP_AT + 1, "nothing could be forgotten yet");
        lock(&throttle.hosts).sweep_at = SWEEP_AT;
        tokio::time::sleep(31 * SECOND).await;
        drop(throttle.enter("new", &p, Purpose::List, Duration::ZERO).await);
        assert_eq!(lock(&throttle.hosts).slots.len(), 2, "the young one is still remembered");
    }
}
