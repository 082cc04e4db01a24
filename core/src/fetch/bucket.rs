//! The token bucket: how many requests may start over a longer time (C10, S4-3). Pure; the waiting is in `throttle`.
//!
//! Instead of tokens it keeps the moment at which everything that was taken is paid back, so that it is one value
//! and needs no timer. Each start costs `1 / rps` seconds; `burst` costs may be open at once. Over any window of
//! length T that makes at most `burst + rps · T` starts.

use std::time::Duration;

use tokio::time::Instant;

/// A bucket, full at first.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Bucket {
    paid_at: Option<Instant>,
}

/// What one start costs. Rounded up, so that never one more goes than was said.
fn cost(rps: f64) -> Duration {
    // A rate that is no rate, or slower than one a month, is one a month: `config` refuses both.
    const LONGEST: f64 = 30.0 * 86_400.0;
    let seconds = (1.0 / rps).clamp(0.0, LONGEST);
    let seconds = if seconds.is_nan() { LONGEST } else { seconds };
    Duration::from_nanos((seconds * 1e9).ceil() as u64)
}

impl Bucket {
    /// When the next request may start.
    pub fn earliest(&self, now: Instant, rps: f64, burst: u32) -> Instant {
        let Some(paid_at) = self.paid_at else { return now };
        let open = cost(rps).saturating_mul(burst.max(1) - 1);
        // `paid_at` - `open`, without falling off the beginning of the clock.
        match paid_at.saturating_duration_since(now).checked_sub(open) {
            Some(wait) => now + wait,
            None => now,
        }
    }

    /// A request starts.
    pub fn take(&mut self, now: Instant, rps: f64) {
        let from = self.paid_at.map_or(now, |paid_at| paid_at.max(now));
        self.paid_at = from.checked_add(cost(rps)).or(self.paid_at);
    }

    /// As many requests started at `at` as may start at once.
    pub fn empty(&mut self, at: Instant, rps: f64, burst: u32) {
        self.paid_at = self.paid_at.max(at.checked_add(cost(rps).saturating_mul(burst.max(1))));
    }

    /// When it is full again.
    pub fn full_at(&self) -> Option<Instant> {
        self.paid_at
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn a_full_bucket_lets_a_burst_through_and_then_one_at_a_time() {
        for (rps, burst, starts) in [
            (10.0, 3, [0, 0, 0, 100, 200, 300]),
            (1.0, 1, [0, 1000, 2000, 3000, 4000, 5000]),
            (0.5, 2, [0, 0, 2000, 4000, 6000, 8000]),
            (4.0, 0, [0, 250, 500, 750, 1000, 1250]),
        ] {
            let begin = Instant::now();
            let (mut bucket, mut now) = (Bucket::default(), begin);
            for expected in starts {
                now = bucket.earliest(now, rps, burst);
                assert_eq!((now - begin).as_millis(), expected, "{rps} {burst}");
                bucket.take(now, rps);
            }
        }
    }

    #[test]
    fn what_was_not_used_is_not_saved_beyond_the_burst() {
        let begin = Instant::now();
        let mut bucket = Bucket::default();
        bucket.take(begin, 1.0);
        let later = begin + 3_600_000 * MS;
        for _ in 0..2 {
            assert_eq!(bucket.earliest(later, 1.0, 2), later);
            bucket.take(later, 1.0);
        }
        assert_eq!(bucket.earliest(later, 1.0, 2), later + 1000 * MS);
    }

    #[test]
    fn a_strict_asker_waits_for_what_others_took() {
        let now = Instant::now();
        let mut bucket = Bucket::default();
        for _ in 0..10 {
            bucket.take(now, 10.0);
        }
        assert_eq!(bucket.earliest(now, 1.0, 1), now + 1000 * MS);
    }

    #[test]
    fn impossible_rates_do_not_panic() {
        for rps in [0.0, -1.0, f64::NAN, f64::INFINITY, f64::MIN_POSITIVE, 1e300] {
            let now = Instant::now();
            let mut bucket = Bucket::default();
            for _ in 0..3 {
                let at = bucket.earliest(now, rps, u32::MAX);
                bucket.take(at, rps);
                let _ = bucket.earliest(now, rps, 1);
            }
        }
    }

    proptest! {
        /// C10: over any window of length T, never more than burst + rps · T starts.
        #[test]
        fn no_window_has_more_starts_than_was_said(
            rps in 0.05f64..200.0,
            burst in 1u32..20,
            pauses in proptest::collection::vec(0u64..3_000_000, 2..120),
        ) {
            let begin = Instant::now();
            let (mut bucket, mut now, mut starts) = (Bucket::default(), begin, Vec::new());
            for pause in pauses {
                // Some knock at once, some after a while.
                now += Duration::from_micros(if pause % 2 == 0 { 0 } else { pause });
                now = bucket.earliest(now, rps, burst);
                bucket.take(now, rps);
                starts.push(now - begin);
            }
            for (i, from) in starts.iter().enumerate() {
                for (j, to) in starts.iter().enumerate().skip(i) {
                    let allowed = f64::from(burst) + rps * (*to - *from).as_secs_f64();
                    prop_assert!((j - i + 1) as f64 <= allowed + 1e-6, "{} in {:?}", j - i + 1, *to - *from);
                }
            }
        }
    }
}
