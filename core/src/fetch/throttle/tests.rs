//! The pace against a clock that is given: tokio's, paused, or one that jumps.

use super::*;

impl Throttle {
    /// Waits for a turn and goes.
    async fn enter(
        &self,
        key: &str,
        policy: &HostPolicy,
        purpose: Purpose,
        floor: impl Fn() -> Duration,
    ) -> Pass {
        let turn = self.next(key, policy, purpose, floor).await;
        self.goes(turn)
    }
}
use crate::clock::{SeededEntropy, SystemClock, Timestamp};

const SECOND: Duration = Duration::from_secs(1);

fn throttle(max_in_flight: usize) -> Arc<Throttle> {
    let (entropy, clock) = (Arc::new(SeededEntropy::new(1)), Arc::new(SystemClock));
    Arc::new(Throttle::new(max_in_flight, 2 * SECOND, entropy, clock))
}

fn policy(max_concurrency: u32, min_interval: Duration, jitter: Duration) -> HostPolicy {
    HostPolicy { min_interval, jitter, ..HostPolicy::unpaced(max_concurrency) }
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
                .enter("a", &policy(1, 5 * SECOND, Duration::ZERO), Purpose::List, || Duration::ZERO)
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
        drop(throttle.enter("a", &policy(1, 5 * SECOND, 2 * SECOND), Purpose::List, || Duration::ZERO).await);
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
                .enter(&format!("host{i}"), &HostPolicy::default(), Purpose::List, || Duration::ZERO)
                .await,
        );
    }
    assert_eq!(Instant::now(), begin);
}

#[tokio::test(start_paused = true)]
async fn an_attachment_waits_no_longer_than_its_cap() {
    let throttle = throttle(16);
    let p = policy(1, 5 * SECOND, Duration::ZERO);
    drop(throttle.enter("a", &p, Purpose::Detail, || Duration::ZERO).await);
    let begin = Instant::now();
    drop(throttle.enter("a", &p, Purpose::Attachment, || Duration::ZERO).await);
    let waited = Instant::now() - begin;
    assert!(waited >= 2 * SECOND && waited < 3 * SECOND, "{waited:?}");
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_waiter_gives_its_place_back() {
    let throttle = throttle(16);
    let p = policy(1, 5 * SECOND, Duration::ZERO);
    let begin = Instant::now();
    let first = throttle.enter("a", &p, Purpose::List, || Duration::ZERO).await;
    // One that waits for the slot, one behind it in the queue, and later one that waits for the clock.
    let waits = |throttle: Arc<Throttle>| {
        tokio::spawn(async move { throttle.enter("a", &p, Purpose::List, || Duration::ZERO).await })
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
    drop(throttle.enter("a", &p, Purpose::List, || Duration::ZERO).await);
    let waited = Instant::now() - begin;
    assert!(waited >= 5 * SECOND && waited < 6 * SECOND, "only the first request counts: {waited:?}");
    assert!(lock(&throttle.slot("a").pace).active.is_empty());
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
                        .enter(&host, &HostPolicy::unpaced(per_host), Purpose::List, || Duration::ZERO)
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
        drop(throttle.enter(&format!("old{i}"), &p, Purpose::List, || Duration::ZERO).await);
    }
    tokio::time::sleep(30 * SECOND).await;
    drop(throttle.enter("young", &p, Purpose::List, || Duration::ZERO).await);
    assert_eq!(lock(&throttle.hosts).slots.len(), SWEEP_AT + 1, "nothing could be forgotten yet");
    lock(&throttle.hosts).sweep_at = SWEEP_AT;
    tokio::time::sleep(31 * SECOND).await;
    drop(throttle.enter("new", &p, Purpose::List, || Duration::ZERO).await);
    assert_eq!(lock(&throttle.hosts).slots.len(), 2, "the young one is still remembered");
}

#[tokio::test(start_paused = true)]
async fn a_rate_lets_a_burst_through_and_holds_back_the_rest_beside_the_interval() {
    let throttle = throttle(16);
    let begin = Instant::now();
    let fast = HostPolicy { rps: Some(2.0), burst: 3, ..HostPolicy::unpaced(10) };
    let mut starts = Vec::new();
    for _ in 0..6 {
        drop(throttle.enter("a", &fast, Purpose::List, || Duration::ZERO).await);
        starts.push((Instant::now() - begin).as_millis());
    }
    assert_eq!(starts[..3], [0, 0, 0]);
    for (start, expected) in starts[3..].iter().zip([500, 1000, 1500]) {
        assert!((expected..expected + 50).contains(start), "{starts:?}");
    }
    // The later of the two wins: an interval of two seconds is stricter than two a second.
    let slow = HostPolicy { min_interval: 2 * SECOND, ..fast };
    let begin = Instant::now();
    drop(throttle.enter("b", &slow, Purpose::List, || Duration::ZERO).await);
    drop(throttle.enter("b", &slow, Purpose::List, || Duration::ZERO).await);
    assert!(Instant::now() - begin >= 2 * SECOND);
}

#[tokio::test(start_paused = true)]
async fn of_two_sites_on_one_host_the_stricter_interval_holds_between_neighbours() {
    let (strict, loose) = (policy(1, 5 * SECOND, Duration::ZERO), HostPolicy::unpaced(4));
    for (policies, purpose, expected) in [
        ([&strict, &loose], Purpose::List, 5),
        ([&loose, &strict], Purpose::List, 5),
        ([&loose, &loose], Purpose::List, 0),
        // A file after a strict page is capped as it would be on the strict site itself.
        ([&strict, &loose], Purpose::Attachment, 2),
    ] {
        let throttle = throttle(16);
        drop(throttle.enter("a", policies[0], Purpose::List, || Duration::ZERO).await);
        let begin = Instant::now();
        drop(throttle.enter("a", policies[1], purpose, || Duration::ZERO).await);
        assert_eq!((Instant::now() - begin).as_secs(), expected);
    }
    let throttle = throttle(16);
    drop(throttle.enter("a", &loose, Purpose::List, || 7 * SECOND).await);
    let begin = Instant::now();
    drop(throttle.enter("a", &loose, Purpose::Attachment, || Duration::ZERO).await);
    assert_eq!((Instant::now() - begin).as_secs(), 7, "what the host asked for holds for whoever comes next");
}

#[tokio::test(start_paused = true)]
async fn nobody_joins_a_request_that_wants_the_host_for_itself() {
    let throttle = throttle(16);
    let (alone, many) = (HostPolicy::unpaced(1), HostPolicy::unpaced(3));
    let first = throttle.enter("a", &alone, Purpose::List, || Duration::ZERO).await;
    let join = |policy: HostPolicy| {
        let throttle = throttle.clone();
        tokio::spawn(async move { throttle.enter("a", &policy, Purpose::List, || Duration::ZERO).await })
    };
    let second = join(many);
    tokio::time::sleep(SECOND).await;
    assert!(!second.is_finished(), "the one under way is alone");
    drop(first);
    let second = second.await.unwrap();
    let third = join(many).await.unwrap();
    let fourth = join(alone);
    tokio::time::sleep(SECOND).await;
    assert!(!fourth.is_finished(), "it would not be alone");
    drop(second);
    tokio::time::sleep(SECOND).await;
    assert!(!fourth.is_finished());
    drop(third);
    drop(fourth.await.unwrap());
}

/// A clock that is where somebody sleeps to.
struct Jumping(Mutex<Instant>);

impl Clock for Jumping {
    fn now(&self) -> Timestamp {
        Timestamp(0)
    }

    fn instant(&self) -> Instant {
        *lock(&self.0)
    }

    fn sleep_until(&self, until: Instant) -> futures::future::BoxFuture<'static, ()> {
        let mut now = lock(&self.0);
        *now = until.max(*now);
        Box::pin(std::future::ready(()))
    }
}

#[tokio::test]
async fn a_day_on_another_clock_takes_no_time() {
    let begin = Instant::now();
    let clock = Arc::new(Jumping(Mutex::new(begin)));
    let throttle = Throttle::new(16, 2 * SECOND, Arc::new(SeededEntropy::new(1)), clock.clone());
    let day = policy(1, 60 * SECOND, Duration::ZERO);
    for _ in 0..=1440 {
        drop(throttle.enter("a", &day, Purpose::List, || Duration::ZERO).await);
    }
    assert_eq!(clock.instant() - begin, 86_400 * SECOND);
    assert!(begin.elapsed() < 60 * SECOND);
}
