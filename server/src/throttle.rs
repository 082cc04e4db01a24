//! How often somebody may be wrong about who he is. Pure: the moment is an argument.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// So many mistakes cost nothing: people mistype.
const FREE: u32 = 5;
/// The longest wait.
const LONGEST: Duration = Duration::from_secs(300);
/// Nothing wrong for so long, and all is forgotten.
const FORGOTTEN: Duration = Duration::from_secs(15 * 60);
/// Addresses that are remembered.
const KEPT: usize = 10_000;

/// Failures by client.
#[derive(Debug, Default)]
pub struct Throttle(Mutex<HashMap<IpAddr, Failures>>);

#[derive(Clone, Copy, Debug)]
struct Failures {
    count: u32,
    last: Instant,
}

impl Failures {
    fn wait(self, now: Instant) -> Option<Duration> {
        let over = self.count.checked_sub(FREE)?;
        let wait = Duration::from_secs(1u64 << over.min(16)).min(LONGEST);
        wait.checked_sub(now.saturating_duration_since(self.last)).filter(|left| !left.is_zero())
    }
}

impl Throttle {
    /// How long this client must wait before it may try again.
    pub fn wait(&self, client: IpAddr, now: Instant) -> Option<Duration> {
        self.lock().get(&network(client))?.wait(now)
    }

    /// It was wrong once more.
    pub fn failed(&self, client: IpAddr, now: Instant) {
        let mut known = self.lock();
        if known.len() >= KEPT {
            known.retain(|_, failures| now.saturating_duration_since(failures.last) < FORGOTTEN);
        }
        if known.len() >= KEPT {
            let oldest = known.iter().min_by_key(|(_, failures)| failures.last).map(|(client, _)| *client);
            oldest.map(|client| known.remove(&client));
        }
        let failures = known.entry(network(client)).or_insert(Failures { count: 0, last: now });
        if now.saturating_duration_since(failures.last) >= FORGOTTEN {
            failures.count = 0;
        }
        *failures = Failures { count: failures.count.saturating_add(1), last: now };
    }

    /// It was right.
    pub fn succeeded(&self, client: IpAddr) {
        self.lock().remove(&network(client));
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<IpAddr, Failures>> {
        self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

/// Whoever has one IPv6 address has 2⁶⁴ of them.
fn network(client: IpAddr) -> IpAddr {
    match client.to_canonical() {
        IpAddr::V6(v6) => IpAddr::V6((u128::from(v6) & !u128::from(u64::MAX)).into()),
        v4 => v4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_mistake_beyond_the_free_ones_doubles_the_wait_of_that_client_only() {
        let (throttle, begin) = (Throttle::default(), Instant::now());
        let (a, b) = (IpAddr::from([1, 2, 3, 4]), IpAddr::from([1, 2, 3, 5]));
        for _ in 0..FREE - 1 {
            throttle.failed(a, begin);
        }
        assert_eq!(throttle.wait(a, begin), None);
        for seconds in [1, 2, 4, 8] {
            throttle.failed(a, begin);
            assert_eq!(throttle.wait(a, begin), Some(Duration::from_secs(seconds)));
        }
        assert_eq!(throttle.wait(b, begin), None);
        assert_eq!(throttle.wait(a, begin + Duration::from_secs(8)), None);
        for _ in 0..40 {
            throttle.failed(a, begin);
        }
        assert_eq!(throttle.wait(a, begin), Some(LONGEST));
        throttle.failed(a, begin + FORGOTTEN);
        assert_eq!(throttle.wait(a, begin + FORGOTTEN), None);
    }

    #[test]
    fn who_was_right_begins_anew_and_memory_is_bounded() {
        let (throttle, now) = (Throttle::default(), Instant::now());
        let client = IpAddr::from([1, 2, 3, 4]);
        (0..9).for_each(|_| throttle.failed(client, now));
        throttle.succeeded(client);
        assert_eq!(throttle.wait(client, now), None);
        for n in 0..(KEPT as u32 + 50) {
            throttle.failed(IpAddr::from(n.to_be_bytes()), now);
        }
        assert!(throttle.lock().len() <= KEPT);
    }

    #[test]
    fn one_household_of_ipv6_is_one_client() {
        let (throttle, now) = (Throttle::default(), Instant::now());
        for n in 0..9u16 {
            throttle.failed(IpAddr::from([0x2001, 0xdb8, 0, 1, 0, 0, 0, n]), now);
        }
        assert!(throttle.wait(IpAddr::from([0x2001, 0xdb8, 0, 1, 7, 7, 7, 7]), now).is_some());
        assert!(throttle.wait(IpAddr::from([0x2001, 0xdb8, 0, 2, 0, 0, 0, 0]), now).is_none());
    }
}
