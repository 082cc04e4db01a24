//! Places of connections: so many at once. Whoever comes when all are taken gets a place of the client that has the most,
//! the one that is used the least: nobody keeps others out by holding connections, and a proxy with many of them is served.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Instant;

use tokio_util::sync::CancellationToken;

/// What a connection is doing; the least first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Doing {
    /// It has asked for nothing yet, or does not take its answer.
    Nothing,
    /// It was answered, or listens.
    Waiting,
    /// A request of it is being worked on.
    Asking,
}

/// All places.
pub struct Places {
    most: usize,
    since: Instant,
    held: Mutex<Held>,
}

#[derive(Default)]
struct Held {
    next: u64,
    lines: HashMap<u64, Arc<Line>>,
}

/// One connection.
pub struct Line {
    client: IpAddr,
    since: Instant,
    doing: AtomicU8,
    /// When bytes last went either way, in milliseconds.
    moved: AtomicU64,
    /// Cancelled when its place is given to another.
    pub let_go: CancellationToken,
}

/// A place that is held until it is dropped.
pub struct Place {
    places: Arc<Places>,
    number: u64,
    pub line: Arc<Line>,
}

impl Places {
    pub fn new(most: usize) -> Places {
        Places { most: most.max(1), since: Instant::now(), held: Mutex::default() }
    }

    /// A place for whoever comes from here; if there was none, somebody is let go.
    pub fn take(self: &Arc<Places>, from: IpAddr) -> Place {
        let line = Arc::new(Line {
            client: network(from),
            since: self.since,
            doing: AtomicU8::new(Doing::Nothing as u8),
            moved: AtomicU64::new(0),
            let_go: CancellationToken::new(),
        });
        line.moved();
        let mut held = self.held();
        if held.lines.len() >= self.most {
            let seen = held.lines.iter().map(|(number, line)| (*number, line.client, line.use_of()));
            if let Some(gone) = least(seen.collect()).and_then(|number| held.lines.remove(&number)) {
                tracing::debug!(client = %gone.client, "all places were taken: a connection was let go");
                gone.let_go.cancel();
            }
        }
        let number = held.next;
        held.next += 1;
        held.lines.insert(number, line.clone());
        drop(held);
        Place { places: self.clone(), number, line }
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.places.held().lines.remove(&self.number);
    }
}

impl Line {
    pub fn does(&self, doing: Doing) {
        self.doing.store(doing as u8, Ordering::Relaxed);
    }

    /// Bytes went either way.
    pub fn moved(&self) {
        self.moved.store(self.since.elapsed().as_millis() as u64, Ordering::Relaxed);
    }

    /// Whether it ever asked for anything.
    pub fn is_new(&self) -> bool {
        self.doing.load(Ordering::Relaxed) == Doing::Nothing as u8
    }

    fn use_of(&self) -> (u8, u64) {
        (self.doing.load(Ordering::Relaxed), self.moved.load(Ordering::Relaxed))
    }
}

/// Who counts as one client: an address, or in IPv6 what one household is given.
fn network(from: IpAddr) -> IpAddr {
    match from.to_canonical() {
        IpAddr::V6(long) => Ipv6Addr::from_bits(long.to_bits() & !u128::from(u64::MAX)).into(),
        short => short,
    }
}

/// Of those who have the most, the one that is used the least.
fn least(lines: Vec<(u64, IpAddr, (u8, u64))>) -> Option<u64> {
    let mut counts: HashMap<IpAddr, usize> = HashMap::new();
    for (_, client, _) in &lines {
        *counts.entry(*client).or_default() += 1;
    }
    let most = counts.values().copied().max()?;
    let of_the_most = lines.into_iter().filter(|(_, client, _)| counts.get(client) == Some(&most));
    of_the_most.min_by_key(|(number, _, used)| (*used, *number)).map(|(number, ..)| number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_client_with_the_most_loses_what_it_uses_least() {
        let of = |last: u8| IpAddr::from([10, 0, 0, last]);
        let table = [
            // One of many is let go, and not the only one of another, however long that was silent.
            (vec![(0, of(1), (0, 0)), (1, of(2), (0, 9)), (2, of(2), (0, 8))], Some(2)),
            // Who listens, and more so whose request is worked on, is spared before who asked for nothing.
            (vec![(0, of(1), (2, 1)), (1, of(1), (1, 2)), (2, of(1), (0, 9))], Some(2)),
            (vec![(0, of(1), (2, 1)), (1, of(1), (1, 2))], Some(1)),
            (vec![(0, of(1), (0, 5)), (1, of(2), (0, 4))], Some(1)),
            (vec![], None),
        ];
        for (lines, gone) in table {
            assert_eq!(least(lines.clone()), gone, "{lines:?}");
        }
    }

    #[test]
    fn a_place_is_always_found_and_given_back() {
        let places = Arc::new(Places::new(2));
        let one = places.take([10, 0, 0, 1].into());
        let two = places.take([10, 0, 0, 1].into());
        let other = places.take([10, 0, 0, 2].into());
        assert!(one.line.let_go.is_cancelled() && !two.line.let_go.is_cancelled());
        drop(one);
        assert!(!other.line.let_go.is_cancelled());
        drop((two, other));
        assert!(places.held().lines.is_empty());
    }

    #[test]
    fn one_household_is_one_client() {
        let of = |text: &str| network(text.parse().unwrap());
        assert_eq!(of("2001:db8:1:2:a::1"), of("2001:db8:1:2:b::2"));
        assert_ne!(of("2001:db8:1:2::1"), of("2001:db8:1:3::1"));
        assert_eq!(of("::ffff:10.0.0.1"), of("10.0.0.1"));
    }
}
