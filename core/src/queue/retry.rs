//! Whether and when a failed job is tried again (C11). Pure.

use std::time::Duration;

use crate::error::ErrorClass;

/// Per kind of work. The delay of the n-th retry is `first × 2^(n−1)`, at most `longest`, plus up to a tenth of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetryPolicy {
    /// Retries after the first attempt; 0: none (S1-15).
    pub retries: u32,
    /// Before the first retry.
    pub first: Duration,
    /// No longer than this.
    pub longest: Duration,
}

impl RetryPolicy {
    /// S1-15: an error is the end.
    pub const NEVER: RetryPolicy = RetryPolicy { retries: 0, first: Duration::ZERO, longest: Duration::ZERO };
    /// For crawls: what a host refuses now it may allow in a quarter of an hour (S0-13).
    pub const CRAWL: RetryPolicy = RetryPolicy {
        retries: 3,
        first: Duration::from_secs(15 * 60),
        longest: Duration::from_secs(24 * 3600),
    };
    /// For deliveries: quickly at first, then for two days.
    pub const DELIVERY: RetryPolicy =
        RetryPolicy { retries: 18, first: Duration::from_secs(10), longest: Duration::from_secs(6 * 3600) };

    /// How long to wait before the next attempt, when there is one. `failures` counts those so far, this one included;
    /// `unit` is random in `0.0..1.0`.
    pub fn delay(&self, failures: u32, class: ErrorClass, unit: f64) -> Option<Duration> {
        let wanted = class.is_retryable() && failures >= 1 && failures <= self.retries;
        wanted.then(|| {
            let doubled = 1u32.checked_shl(failures - 1).unwrap_or(u32::MAX);
            let delay = self.first.saturating_mul(doubled).min(self.longest);
            delay.saturating_add(delay.mul_f64(0.1 * unit.clamp(0.0, 1.0)))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_double_up_to_the_longest_and_end_with_the_retries() {
        let policy =
            RetryPolicy { retries: 5, first: Duration::from_secs(10), longest: Duration::from_secs(60) };
        let delays: Vec<_> =
            (0..8).map(|n| policy.delay(n, ErrorClass::Network, 0.0).map(|d| d.as_secs())).collect();
        assert_eq!(delays, [None, Some(10), Some(20), Some(40), Some(60), Some(60), None, None]);
        let jittered = policy.delay(5, ErrorClass::Network, 1.0).unwrap();
        assert_eq!(jittered, Duration::from_secs(66));
    }

    #[test]
    fn a_delivery_is_tried_for_two_days() {
        let delays = (1..).map_while(|n| RetryPolicy::DELIVERY.delay(n, ErrorClass::Network, 0.0));
        let hours = delays.sum::<Duration>().as_secs() / 3600;
        assert!((44..=52).contains(&hours), "{hours} h");
    }

    #[test]
    fn what_would_fail_again_is_not_tried_again() {
        for class in [ErrorClass::Config, ErrorClass::Shape, ErrorClass::Gone, ErrorClass::Blocked] {
            assert_eq!(RetryPolicy::CRAWL.delay(1, class, 0.5), None, "{class:?}");
        }
        assert_eq!(RetryPolicy::NEVER.delay(1, ErrorClass::Network, 0.5), None, "S1-15");
        let huge = RetryPolicy { retries: u32::MAX, ..RetryPolicy::CRAWL };
        assert!(huge.delay(u32::MAX, ErrorClass::Network, 1.0).unwrap() <= huge.longest * 2);
    }
}
