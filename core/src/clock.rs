//! Time and randomness as values.
//!
//! Everything that decides something takes the time and the random bytes as arguments; these two
//! traits are where the arguments come from. Tests and replays bring their own.

use std::fmt;
use std::sync::Mutex;
use std::time::{SystemTime, UNIX_EPOCH};

use futures::future::BoxFuture;
use tokio::time::Instant;

use chrono::{DateTime, SecondsFormat, TimeZone, Utc};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A moment: milliseconds since 1970 in UTC. This is how the store keeps every time.
///
/// ```
/// use dibao::Timestamp;
/// assert_eq!(Timestamp(0).to_string(), "1970-01-01T00:00:00.000Z");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(pub i64);

impl Timestamp {
    /// The same moment as a `chrono` value; far out of range it saturates at 1970.
    pub fn to_utc(self) -> DateTime<Utc> {
        Utc.timestamp_millis_opt(self.0).single().unwrap_or_default()
    }

    /// RFC 3339 in the given zone, to the second.
    pub fn to_rfc3339(self, zone: chrono_tz::Tz) -> String {
        self.to_utc().with_timezone(&zone).to_rfc3339_opts(SecondsFormat::Secs, false)
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_utc().to_rfc3339_opts(SecondsFormat::Millis, true))
    }
}

impl<T: TimeZone> From<DateTime<T>> for Timestamp {
    fn from(time: DateTime<T>) -> Self {
        Timestamp(time.timestamp_millis())
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        DateTime::parse_from_rfc3339(&text).map(Timestamp::from).map_err(serde::de::Error::custom)
    }
}

impl schemars::JsonSchema for Timestamp {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Timestamp".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string", "format": "date-time" })
    }
}

/// A reading of a clock that all processes of a machine share and that nobody can set: for leases. It counts from the
/// machine's start, so readings of two boots cannot be compared.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Steady {
    /// Which start of the machine it counts from; empty where that is not known.
    pub boot: String,
    /// Milliseconds.
    pub ms: i64,
}

impl Steady {
    /// The same clock, later.
    pub fn after(mut self, duration: std::time::Duration) -> Steady {
        self.ms = self.ms.saturating_add(i64::try_from(duration.as_millis()).unwrap_or(i64::MAX));
        self
    }
}

/// What time it is.
pub trait Clock: Send + Sync + 'static {
    /// Now.
    fn now(&self) -> Timestamp;

    /// A reading that all processes of this machine share. The wall clock, unless the clock knows better.
    fn steady(&self) -> Steady {
        Steady { boot: String::new(), ms: self.now().0 }
    }

    /// A reading that never goes back, for intervals.
    fn instant(&self) -> Instant {
        Instant::now()
    }

    /// Waits until [`instant`](Self::instant) reads `until`.
    fn sleep_until(&self, until: Instant) -> BoxFuture<'static, ()> {
        Box::pin(tokio::time::sleep_until(until))
    }
}

/// Where random bytes come from: throttle jitter and the seeds handed to adapters.
pub trait Entropy: Send + Sync + 'static {
    /// Fills `bytes`.
    fn fill(&self, bytes: &mut [u8]);

    /// A number in `0.0..1.0`.
    fn unit(&self) -> f64 {
        let mut bytes = [0u8; 8];
        self.fill(&mut bytes);
        // 53 bits: as many as a f64 holds exactly.
        (u64::from_le_bytes(bytes) >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// The clock on the wall.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Timestamp(since.as_millis() as i64)
    }

    /// Time since the machine was started, sleep included, where the system tells which start that was.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    fn steady(&self) -> Steady {
        let Ok(boot) = std::fs::read_to_string("/proc/sys/kernel/random/boot_id") else {
            return Steady { boot: String::new(), ms: self.now().0 };
        };
        let time = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
        Steady { boot: boot.trim().to_owned(), ms: time.tv_sec * 1_000 + time.tv_nsec / 1_000_000 }
    }
}

/// A clock that stands still until it is moved.
#[derive(Debug)]
pub struct FixedClock(Mutex<Timestamp>);

impl FixedClock {
    /// A clock that shows `at`.
    pub fn new(at: Timestamp) -> Self {
        FixedClock(Mutex::new(at))
    }

    /// Moves the hands.
    pub fn set(&self, at: Timestamp) {
        *self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) = at;
    }
}

impl Clock for FixedClock {
    fn now(&self) -> Timestamp {
        *self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

/// The operating system's randomness.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemEntropy;

impl Entropy for SystemEntropy {
    fn fill(&self, bytes: &mut [u8]) {
        if getrandom::fill(bytes).is_err() {
            // No entropy device: jitter and paddings become predictable, nothing else breaks.
            bytes.fill(0x5a);
        }
    }
}

/// The same bytes for the same seed: for tests and replays.
#[derive(Debug)]
pub struct SeededEntropy(Mutex<u64>);

impl SeededEntropy {
    /// A sequence that is fixed by `seed`.
    pub fn new(seed: u64) -> Self {
        SeededEntropy(Mutex::new(seed))
    }
}

impl Entropy for SeededEntropy {
    fn fill(&self, bytes: &mut [u8]) {
        let mut state = self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        for chunk in bytes.chunks_mut(8) {
            // SplitMix64: well distributed and one line of state.
            *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut z = *state;
            z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            chunk.copy_from_slice(&(z ^ (z >> 31)).to_le_bytes()[..chunk.len()]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timestamp_survives_serde() {
        let at = Timestamp(1_775_784_600_123);
        let json = serde_json::to_string(&at).unwrap();
        assert_eq!(json, "\"2026-04-10T01:30:00.123Z\"");
        assert_eq!(serde_json::from_str::<Timestamp>(&json).unwrap(), at);
        assert_eq!(at.to_rfc3339(chrono_tz::Asia::Shanghai), "2026-04-10T09:30:00+08:00");
    }

    #[test]
    fn seeded_entropy_repeats_and_stays_in_the_unit_interval() {
        let (a, b) = (SeededEntropy::new(7), SeededEntropy::new(7));
        for _ in 0..1000 {
            let x = a.unit();
            assert_eq!(x, b.unit());
            assert!((0.0..1.0).contains(&x));
        }
    }
}
