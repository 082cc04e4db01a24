//! How hard one host may be asked (C10). Pure values; the waiting is done in `throttle`.

use std::time::Duration;

/// How hard one host may be asked (C10).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HostPolicy {
    /// Requests under way at once; 0 counts as 1.
    pub max_concurrency: u32,
    /// From the start of one request to the start of the next.
    pub min_interval: Duration,
    /// Up to this much is added to each interval, at random.
    pub jitter: Duration,
}

impl Default for HostPolicy {
    /// S2-29: one at a time, five seconds apart; a second of jitter, so that several columns of a
    /// site do not knock in step.
    fn default() -> Self {
        HostPolicy {
            max_concurrency: 1,
            min_interval: Duration::from_secs(5),
            jitter: Duration::from_secs(1),
        }
    }
}

impl HostPolicy {
    /// No waiting at all, `max_concurrency` at a time: for hosts that are one's own.
    pub fn unpaced(max_concurrency: u32) -> Self {
        HostPolicy { max_concurrency, min_interval: Duration::ZERO, jitter: Duration::ZERO }
    }

    /// The name under which the host of an address is paced and remembered.
    pub fn key_of<'u>(&self, url: &'u url::Url) -> std::borrow::Cow<'u, str> {
        std::borrow::Cow::Borrowed(url.host_str().map(super::grant::without_dot).unwrap_or_default())
    }
}
