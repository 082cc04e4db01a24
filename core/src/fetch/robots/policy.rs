//! What holds for an origin: its rules, everything, or nothing; why, and until when (S2-53, I19). Pure.
//!
//! RFC 9309 §2.3.1 knows three ways in which a file cannot be had. There is none (4xx, endless redirects):
//! everything is allowed. It cannot be reached (5xx, no connection) or the host is overloaded (429): the last good
//! copy holds on, up to a day, and then the operator's [`OnUnreachable`]. The standard would deny; sites of this
//! kind are often behind a firewall that answers 5xx to `/robots.txt` alone, so that the default is to allow, and
//! every report says so.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::copy::RobotsCopy;
use crate::clock::Timestamp;

/// RFC 9309 §2.3.1.2 asks for at least five to be followed.
pub const MAX_REDIRECTS: usize = 5;

/// What came of asking for a robots.txt, redirects followed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RobotsAnswer {
    /// 2xx, with as much of the body as was read.
    File {
        /// The status.
        status: u16,
        /// The body; what is beyond [`MAX_BODY`](super::MAX_BODY) is ignored.
        body: Vec<u8>,
        /// The header of that name.
        etag: Option<String>,
        /// The header of that name.
        last_modified: Option<String>,
    },
    /// Any other status.
    Status {
        /// The status.
        status: u16,
        /// How long the host asked to be left alone.
        retry_after: Option<Duration>,
    },
    /// More than [`MAX_REDIRECTS`], or in a circle.
    TooManyRedirects,
    /// There was no answer, or the request was not allowed; in words.
    Unreachable(String),
    /// Its host is left alone at the moment; in words.
    NotAsked(String),
}

/// What is done about hosts whose robots.txt cannot be reached and of which there is no copy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OnUnreachable {
    /// Go on as if there were none.
    #[default]
    Allow,
    /// Stay away until it can be read, as RFC 9309 §2.3.1.4 wants it.
    Deny,
}

/// How long things hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RobotsTimes {
    /// A copy younger than this is not asked for again.
    pub fresh_for: Duration,
    /// A copy older than this is not used any more (RFC 9309 §2.4).
    pub usable_for: Duration,
    /// After an error, the file is asked for again.
    pub retry_after: Duration,
}

impl Default for RobotsTimes {
    fn default() -> Self {
        RobotsTimes {
            // Half of a day, so that a host has the other half to recover before its last copy runs out.
            fresh_for: Duration::from_secs(12 * 3600),
            usable_for: Duration::from_secs(24 * 3600),
            // Shorter would be knocking, longer would lose a run.
            retry_after: Duration::from_secs(600),
        }
    }
}

/// An attempt that told nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trouble {
    /// What happened.
    pub words: String,
    /// Not asked again before.
    pub retry_at: Timestamp,
}

/// What an answer teaches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Learned {
    /// A definite answer: in place of every copy before.
    Copy(RobotsCopy),
    /// The copy at hand is still the file's text.
    Unchanged,
    /// Nothing.
    Trouble(Trouble),
}

/// What holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    /// What to go by.
    pub basis: Basis,
    /// Why, in words.
    pub reason: String,
    /// It is to be asked again from then on.
    pub until: Timestamp,
}

/// What to go by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Basis {
    /// The rules of the copy at hand.
    Copy,
    /// No rules: everything is allowed.
    AllowAll,
    /// Nothing is allowed.
    DenyAll,
    /// Nothing is known: the file has to be asked for.
    Ask,
}

/// What an answer teaches. Only to a request that was conditional, "unchanged" is an answer.
pub fn learn(answer: RobotsAnswer, is_conditional: bool, times: &RobotsTimes, now: Timestamp) -> Learned {
    let trouble = |words: String, asked: Option<Duration>| {
        // A host may ask for more patience than ours, for a day at most; never for less.
        let wait = asked.unwrap_or_default().min(times.usable_for).max(times.retry_after);
        // At least a moment, or whoever asks now would have to ask again at once.
        Learned::Trouble(Trouble { words, retry_at: later(now, wait.max(Duration::from_secs(1))) })
    };
    match answer {
        RobotsAnswer::File { status, body, etag, last_modified } => {
            Learned::Copy(RobotsCopy { etag, last_modified, ..RobotsCopy::new(now, status, &body) })
        }
        RobotsAnswer::TooManyRedirects => Learned::Copy(RobotsCopy::new(now, TOO_MANY_REDIRECTS, b"")),
        RobotsAnswer::Status { status: 304, .. } if is_conditional => Learned::Unchanged,
        RobotsAnswer::Status { status: 429, retry_after } => {
            trouble("429, too many requests".into(), retry_after)
        }
        // A redirect that leads nowhere and a page that is not there are the same: there is no file.
        RobotsAnswer::Status { status: status @ (300..=303 | 305..=499), .. } => {
            Learned::Copy(RobotsCopy::new(now, status, b""))
        }
        RobotsAnswer::Status { status, retry_after } => trouble(format!("status {status}"), retry_after),
        RobotsAnswer::Unreachable(words) => trouble(words, None),
        // Holds for a moment only: who asks when the host may be asked again has to ask for the file first.
        RobotsAnswer::NotAsked(words) => {
            Learned::Trouble(Trouble { words, retry_at: later(now, Duration::from_secs(1)) })
        }
    }
}

/// What holds now, from the last good copy and what the last attempt ran into.
pub fn decide(
    copy: Option<&RobotsCopy>,
    trouble: Option<&Trouble>,
    on_unreachable: OnUnreachable,
    times: &RobotsTimes,
    now: Timestamp,
) -> Decision {
    let age = copy.and_then(|copy| age(copy.fetched_at, now));
    if let (Some(copy), Some(age)) = (copy, age)
        && age < times.fresh_for.min(times.usable_for)
    {
        let until = later(copy.fetched_at, times.fresh_for.min(times.usable_for));
        return from_copy(copy, String::new(), until);
    }
    // A retry further away than any that is ever set: the clock was turned back.
    let waits = |trouble: &&Trouble| {
        now < trouble.retry_at && trouble.retry_at <= later(now, times.usable_for.max(times.retry_after))
    };
    let Some(trouble) = trouble.filter(waits) else {
        return Decision { basis: Basis::Ask, reason: "robots.txt is not known yet".into(), until: now };
    };
    if let (Some(copy), Some(age)) = (copy, age)
        && age < times.usable_for
    {
        let until = later(copy.fetched_at, times.usable_for).min(trouble.retry_at);
        let aside = format!(", as it was {} ago; now unreachable: {}", rough(age), trouble.words);
        return from_copy(copy, aside, until);
    }
    let (basis, setting) = match on_unreachable {
        OnUnreachable::Allow => (Basis::AllowAll, "allow"),
        OnUnreachable::Deny => (Basis::DenyAll, "deny"),
    };
    Decision {
        basis,
        reason: format!("robots.txt is unreachable ({}), and on_unreachable is {setting}", trouble.words),
        until: trouble.retry_at,
    }
}

fn from_copy(copy: &RobotsCopy, aside: String, until: Timestamp) -> Decision {
    let (basis, reason) = match copy.status {
        200..=299 => (Basis::Copy, format!("robots.txt{aside}")),
        TOO_MANY_REDIRECTS => (Basis::AllowAll, format!("robots.txt is redirected without end{aside}")),
        status => (Basis::AllowAll, format!("there is no robots.txt (status {status}){aside}")),
    };
    Decision { basis, reason, until }
}

/// How a chain that was not followed to its end is kept: no server answers that.
const TOO_MANY_REDIRECTS: u16 = 310;

/// How old something is; none when it is of the future, which only a clock that was wrong can have written.
fn age(at: Timestamp, now: Timestamp) -> Option<Duration> {
    u64::try_from(now.0.checked_sub(at.0)?).ok().map(Duration::from_millis)
}

fn later(at: Timestamp, wait: Duration) -> Timestamp {
    Timestamp(at.0.saturating_add(i64::try_from(wait.as_millis()).unwrap_or(i64::MAX)))
}

/// To the larger unit.
fn rough(age: Duration) -> String {
    match age.as_secs() {
        seconds @ 0..120 => format!("{seconds} s"),
        seconds @ 120..7200 => format!("{} min", seconds / 60),
        seconds => format!("{} h", seconds / 3600),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: i64 = 3_600_000;
    const NOW: Timestamp = Timestamp(1_800_000_000_000);

    fn ago(hours: i64) -> Timestamp {
        Timestamp(NOW.0 - hours * HOUR)
    }

    fn status(status: u16) -> RobotsAnswer {
        RobotsAnswer::Status { status, retry_after: None }
    }

    fn file(body: &str) -> RobotsAnswer {
        RobotsAnswer::File { status: 200, body: body.into(), etag: None, last_modified: None }
    }

    #[test]
    fn an_answer_and_the_last_copy_decide_what_holds() {
        use Basis::*;
        use OnUnreachable::{Allow, Deny};
        let broken = || RobotsAnswer::Unreachable("connection reset".into());
        let minutes = |m: i64| NOW.0 + m * 60_000;
        let day = NOW.0 + 12 * HOUR;
        // answer, age of the last good copy in hours, setting => what holds, until, a word of the reason
        #[rustfmt::skip]
        let table = [
            (file("x"), None, Allow, Copy, day, "robots.txt"),
            (file("x"), Some(30), Deny, Copy, day, "robots.txt"),
            (file(""), None, Deny, Copy, day, "robots.txt"),
            // §2.3.1.2: redirects that do not end are as no file
            (RobotsAnswer::TooManyRedirects, None, Deny, AllowAll, day, "without end"),
            (status(301), None, Deny, AllowAll, day, "no robots.txt (status 301)"),
            // §2.3.1.3: unavailable
            (status(400), None, Deny, AllowAll, day, "status 400"),
            (status(401), None, Deny, AllowAll, day, "status 401"),
            (status(403), Some(13), Deny, AllowAll, day, "status 403"),
            (status(404), None, Deny, AllowAll, day, "status 404"),
            (status(410), None, Allow, AllowAll, day, "status 410"),
            (status(451), None, Deny, AllowAll, day, "status 451"),
            (status(499), None, Deny, AllowAll, day, "status 499"),
            // §2.3.1.4: unreachable
            (status(429), None, Deny, DenyAll, minutes(10), "too many requests"),
            (status(429), None, Allow, AllowAll, minutes(10), "on_unreachable is allow"),
            (status(429), Some(13), Deny, Copy, minutes(10), "13 h ago"),
            (status(500), None, Deny, DenyAll, minutes(10), "status 500"),
            (status(503), None, Allow, AllowAll, minutes(10), "status 503"),
            (status(503), Some(13), Deny, Copy, minutes(10), "status 503"),
            (status(599), Some(23), Deny, Copy, minutes(10), "23 h ago"),
            (status(503), Some(24), Deny, DenyAll, minutes(10), "on_unreachable is deny"),
            (status(503), Some(24), Allow, AllowAll, minutes(10), "on_unreachable is allow"),
            (status(503), Some(9000), Deny, DenyAll, minutes(10), "status 503"),
            (status(503), Some(-2), Deny, DenyAll, minutes(10), "status 503"),
            (status(304), None, Deny, DenyAll, minutes(10), "status 304"),
            (status(100), None, Deny, DenyAll, minutes(10), "status 100"),
            (status(0), None, Deny, DenyAll, minutes(10), "status 0"),
            (status(999), None, Allow, AllowAll, minutes(10), "status 999"),
            (broken(), None, Allow, AllowAll, minutes(10), "connection reset"),
            (broken(), None, Deny, DenyAll, minutes(10), "connection reset"),
            (broken(), Some(14), Deny, Copy, minutes(10), "connection reset"),
            (broken(), Some(25), Deny, DenyAll, minutes(10), "connection reset"),
        ];
        let times = RobotsTimes::default();
        for (answer, age, setting, basis, until, word) in table {
            let what = format!("{answer:?} {age:?} {setting:?}");
            let old = age.map(|hours| RobotsCopy::new(ago(hours), 200, b"old"));
            let (copy, trouble) = match learn(answer, old.is_some(), &times, NOW) {
                Learned::Copy(copy) => (Some(copy), None),
                Learned::Unchanged => panic!("{what}"),
                Learned::Trouble(trouble) => (old, Some(trouble)),
            };
            let decision = decide(copy.as_ref(), trouble.as_ref(), setting, &times, NOW);
            assert_eq!((decision.basis, decision.until.0), (basis, until), "{what}");
            assert!(decision.reason.contains(word), "{what}: {}", decision.reason);
        }
    }

    #[test]
    fn a_copy_is_fresh_for_half_a_day_and_an_error_holds_ten_minutes() {
        let times = RobotsTimes::default();
        let at = |copy_age: Option<i64>, retry_in: Option<i64>| {
            let copy = copy_age.map(|hours| RobotsCopy::new(ago(hours), 200, b""));
            let trouble = retry_in.map(|ms| Trouble { words: "x".into(), retry_at: Timestamp(NOW.0 + ms) });
            decide(copy.as_ref(), trouble.as_ref(), OnUnreachable::Deny, &times, NOW).basis
        };
        assert_eq!(at(None, None), Basis::Ask);
        assert_eq!(at(Some(0), None), Basis::Copy);
        assert_eq!(at(Some(11), None), Basis::Copy);
        assert_eq!(at(Some(12), None), Basis::Ask);
        assert_eq!(at(Some(-1), None), Basis::Ask, "a copy from the future");
        assert_eq!(at(Some(12), Some(1)), Basis::Copy);
        assert_eq!(at(Some(12), Some(0)), Basis::Ask);
        assert_eq!(at(None, Some(1)), Basis::DenyAll);
        assert_eq!(at(None, Some(-1)), Basis::Ask);
        assert_eq!(at(None, Some(25 * HOUR)), Basis::Ask, "no error holds longer than a day");
        assert_eq!(at(Some(1), Some(1)), Basis::Copy);
    }

    #[test]
    fn a_host_may_ask_for_more_patience_but_not_for_less_or_for_ever() {
        for (asked, minutes) in [(0, 10), (60, 10), (1200, 20), (86_400, 1440), (u64::MAX, 1440)] {
            let answer = RobotsAnswer::Status { status: 503, retry_after: Some(Duration::from_secs(asked)) };
            let Learned::Trouble(trouble) = learn(answer, false, &RobotsTimes::default(), NOW) else {
                panic!("{asked}")
            };
            assert_eq!(trouble.retry_at.0 - NOW.0, minutes * 60_000, "{asked}");
        }
    }

    #[test]
    fn a_last_copy_that_runs_out_before_the_next_attempt_ends_then() {
        let copy = RobotsCopy::new(Timestamp(ago(24).0 + 1000), 200, b"");
        let trouble = Trouble { words: "x".into(), retry_at: Timestamp(NOW.0 + 600_000) };
        let decide =
            |now| decide(Some(&copy), Some(&trouble), OnUnreachable::Deny, &RobotsTimes::default(), now);
        assert_eq!((decide(NOW).basis, decide(NOW).until.0), (Basis::Copy, NOW.0 + 1000));
        assert_eq!(decide(Timestamp(NOW.0 + 1000)).basis, Basis::DenyAll);
    }

    #[test]
    fn unchanged_answers_only_a_conditional_request() {
        let times = RobotsTimes::default();
        assert_eq!(learn(status(304), true, &times, NOW), Learned::Unchanged);
        assert!(matches!(learn(status(304), false, &times, NOW), Learned::Trouble(_)));
    }
}
