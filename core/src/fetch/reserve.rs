//! The next start of a host, and the place of its probe, where several processes work on one store. Pure: the store
//! asks inside one transaction, so that of two that want to go at once one goes and the other is told when.
//!
//! Within a process the throttle and the breaker decide. This is asked last, by requests that are a second or more
//! apart and by probes; where hosts are asked more often than that, a transaction costs more than it is worth.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::breaker::PROBE_TIMEOUT;
use super::host::HostRow;
use crate::clock::Timestamp;

/// What a request that is about to go wants to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wish {
    /// The time.
    pub now: Timestamp,
    /// The room it leaves to the start before it.
    pub room: Duration,
    /// The room that the start after it has to leave.
    pub wanted: Duration,
    /// The last start of others that it has kept its distance from.
    pub seen: Option<Timestamp>,
    /// How old what it knows of the breaker is.
    pub breaker_at: Timestamp,
    /// It goes as the single probe.
    pub probe: bool,
    /// Who asks: a number of its own for each gate.
    pub owner: u64,
}

/// The answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reserved {
    /// It goes, and everybody knows.
    Go,
    /// Somebody else started then; ask again after this long.
    Wait(Timestamp, Duration),
    /// Somebody else's probe is under way; until then at the latest.
    Probing(Timestamp),
    /// The breaker was changed meanwhile; this is what is known now.
    Stale(Box<HostRow>),
}

/// A probe under way, and whose.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Probe {
    /// Since when.
    pub since: Timestamp,
    /// Whose.
    pub owner: u64,
}

/// Decides, and writes a start into the row when the request goes.
pub fn reserve(row: &mut HostRow, wish: &Wish) -> Reserved {
    let Wish { now, .. } = *wish;
    // As within a process: the larger of what it asks for itself and what the one before it asked for.
    let room = wish.room.max(Duration::from_millis(row.started_room_ms.into()));
    if row.breaker_at > wish.breaker_at {
        return Reserved::Stale(Box::new(row.clone()));
    }
    if wish.probe
        && let Some(Probe { since, owner }) = row.probe
        && owner != wish.owner
        && distance(since, now) < PROBE_TIMEOUT
    {
        return Reserved::Probing(after(since, PROBE_TIMEOUT));
    }
    // A start that lies ahead by more than the room is from before the clock was set back; by less, somebody was
    // faster by a moment.
    if row.started_by != Some(wish.owner)
        && row.started_at > wish.seen
        && let Some(started_at) = row.started_at
        && distance(started_at, now) < room
    {
        let ms = after(started_at, room).0.saturating_sub(now.0).max(1);
        return Reserved::Wait(started_at, Duration::from_millis(ms as u64));
    }
    (row.started_at, row.started_by) = (row.started_at.max(Some(now)), Some(wish.owner));
    row.started_room_ms = u32::try_from(wish.wanted.as_millis()).unwrap_or(u32::MAX);
    if wish.probe {
        row.probe = Some(Probe { since: now, owner: wish.owner });
    }
    Reserved::Go
}

fn distance(a: Timestamp, b: Timestamp) -> Duration {
    Duration::from_millis(a.0.abs_diff(b.0))
}

fn after(at: Timestamp, wait: Duration) -> Timestamp {
    Timestamp(at.0.saturating_add(i64::try_from(wait.as_millis()).unwrap_or(i64::MAX)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const T: i64 = 1_794_988_800_000;

    fn wish(at: i64, owner: u64) -> Wish {
        let room = Duration::from_secs(5);
        Wish {
            now: Timestamp(T + at),
            room,
            wanted: room,
            seen: None,
            breaker_at: Timestamp(T),
            probe: false,
            owner,
        }
    }

    #[test]
    fn of_two_that_want_to_go_one_goes_and_the_other_keeps_its_distance() {
        let mut row = HostRow::default();
        assert_eq!(reserve(&mut row, &wish(0, 1)), Reserved::Go);
        let wait = |ms| Reserved::Wait(Timestamp(T), Duration::from_millis(ms));
        assert_eq!(reserve(&mut row, &wish(0, 2)), wait(5000));
        assert_eq!(reserve(&mut row, &wish(-3, 2)), wait(5003), "it looked at its clock a moment earlier");
        assert_eq!(reserve(&mut row, &wish(4999, 2)), wait(1));
        assert_eq!(row.started_at, Some(Timestamp(T)), "who waits leaves no trace");
        assert_eq!(reserve(&mut row, &wish(5000, 2)), Reserved::Go);
        assert_eq!(row.started_at, Some(Timestamp(T + 5000)));
        // What it knows of it has kept its distance from already, whatever the clock says.
        let knows = Wish { seen: Some(Timestamp(T + 5000)), ..wish(5001, 1) };
        assert_eq!(reserve(&mut row, &knows), Reserved::Go);
        assert_eq!(
            reserve(&mut row, &wish(5002, 1)),
            Reserved::Go,
            "its own starts are the throttle's business"
        );
        assert!(matches!(reserve(&mut row, &wish(5002, 2)), Reserved::Wait(..)));
        // Who asks for less room himself leaves what the one before him wanted.
        let hasty = Wish { room: Duration::ZERO, wanted: Duration::ZERO, ..wish(5003, 2) };
        assert!(matches!(reserve(&mut row, &hasty), Reserved::Wait(..)));
        // The clock was set back by an hour.
        assert_eq!(reserve(&mut row, &wish(-3_600_000, 2)), Reserved::Go);
    }

    #[test]
    fn one_probe_is_out_until_it_can_have_no_answer_any_more() {
        let mut row = HostRow::default();
        let none = Duration::ZERO;
        let probe = |at, owner| Wish { probe: true, room: none, wanted: none, ..wish(at, owner) };
        let timeout = PROBE_TIMEOUT.as_millis() as i64;
        assert_eq!(reserve(&mut row, &probe(0, 1)), Reserved::Go);
        let until = Reserved::Probing(Timestamp(T + timeout));
        assert_eq!(reserve(&mut row, &probe(1, 2)), until);
        assert_eq!(reserve(&mut row, &probe(timeout - 1, 2)), until);
        assert_eq!(reserve(&mut row, &probe(2, 1)), Reserved::Go, "its owner knows what became of it");
        assert_eq!(reserve(&mut row, &probe(timeout + 2, 2)), Reserved::Go);
        // It outlives what others store of the host, and not a reset.
        let later = Timestamp(T + 9);
        let stored = HostRow { seen_at: later, ..HostRow::default() }.join(row.clone(), later);
        assert_eq!(stored.probe, row.probe);
        let mut reset = stored.clone();
        reset.reset(later);
        assert_eq!(reset.clone().join(stored, later).probe, None);
    }

    #[test]
    fn who_does_not_know_how_the_breaker_is_is_told() {
        let mut row = HostRow { breaker_at: Timestamp(T + 1), ..HostRow::default() };
        assert_eq!(reserve(&mut row.clone(), &wish(2, 1)), Reserved::Stale(Box::new(row.clone())));
        let knows = Wish { breaker_at: Timestamp(T + 1), ..wish(2, 1) };
        assert_eq!(reserve(&mut row, &knows), Reserved::Go);
    }
}
