//! When somebody must be told that work keeps failing (S2-66), and when that it is well again. Pure.
//!
//! Judged in the transaction that ends the job, from a row per subject: no alert is lost or sent twice over a crash, and
//! several processes share one count. What is watched is an attempt's end: done, or failed (also when it will be
//! tried again, also when its host turned it away); being called off or given back says nothing.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::message::Message;
use crate::clock::Timestamp;

/// When an alert is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AlertRule {
    /// So many failures in a row, 1 to 100.
    pub after: u32,
    /// Within this time: a target that fails once a week is another matter.
    pub within: Duration,
    /// Said again after this long, while it still fails; none: once.
    pub repeat: Option<Duration>,
    /// Whether it is said that it is over.
    pub recovered: bool,
}

impl Default for AlertRule {
    /// Three in a row, as for a host's cooldown (S2-27), within three days; again once a day.
    fn default() -> Self {
        let day = Duration::from_secs(86_400);
        AlertRule { after: 3, within: 3 * day, repeat: Some(day), recovered: true }
    }
}

/// Who is told of what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AlertWatch {
    /// When.
    pub rule: AlertRule,
    /// The names of the channels.
    pub channels: Vec<String>,
    /// The kinds of work that are watched.
    pub kinds: Vec<String>,
}

/// What is remembered of a subject.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AlertState {
    /// Failures since it last went well.
    pub failures: u32,
    /// The first of them, in milliseconds.
    pub since: i64,
    /// The last ones, as many as the rule counts; milliseconds.
    pub recent: Vec<i64>,
    /// When it was last said; none: nobody was told.
    pub told_at: Option<i64>,
}

/// What is to be said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Alert {
    /// It fails.
    Failing,
    /// It still fails.
    StillFailing,
    /// It is over.
    Recovered,
}

/// One more end of an attempt: what is remembered from now on, and what is to be said.
pub fn judge(rule: &AlertRule, state: &AlertState, ok: bool, now: Timestamp) -> (AlertState, Option<Alert>) {
    if ok {
        let over = state.told_at.is_some() && rule.recovered;
        return (AlertState::default(), over.then_some(Alert::Recovered));
    }
    let mut next = state.clone();
    next.failures = next.failures.saturating_add(1);
    // On a clock that was set back nothing lies in the future.
    next.since = if state.failures == 0 { now.0 } else { state.since.min(now.0) };
    next.recent.iter_mut().for_each(|at| *at = (*at).min(now.0));
    next.recent.push(now.0);
    let after = rule.after.clamp(1, 100) as usize;
    let surplus = next.recent.len().saturating_sub(after);
    next.recent.drain(..surplus);
    let millis = |duration: Duration| i64::try_from(duration.as_millis()).unwrap_or(i64::MAX);
    let alert = match state.told_at {
        None => {
            let first = next.recent.first().copied().unwrap_or(now.0);
            let crossed = next.recent.len() == after && now.0.saturating_sub(first) <= millis(rule.within);
            crossed.then_some(Alert::Failing)
        }
        Some(told) => {
            let again =
                rule.repeat.is_some_and(|repeat| now.0.saturating_sub(told.min(now.0)) >= millis(repeat));
            again.then_some(Alert::StillFailing)
        }
    };
    next.told_at = match alert {
        Some(_) => Some(now.0),
        None => state.told_at.map(|told| told.min(now.0)),
    };
    (next, alert)
}

impl Alert {
    /// The message; `error` is the class of the last error and its words.
    pub fn message(
        self,
        subject: &str,
        state: &AlertState,
        error: Option<(&str, &str)>,
        key: &str,
        now: Timestamp,
    ) -> Message {
        let (event, title) = match self {
            Alert::Failing => (
                "alert",
                format!(
                    "{subject}: 连续失败 {} 次 / failed {} times in a row",
                    state.failures, state.failures
                ),
            ),
            Alert::StillFailing => (
                "alert",
                format!(
                    "{subject}: 仍在失败（{} 次）/ still failing ({} times)",
                    state.failures, state.failures
                ),
            ),
            Alert::Recovered => ("recovered", format!("{subject}: 已恢复 / recovered")),
        };
        let mut message = Message::new(key, event, title, now);
        let (class, words) = error.unwrap_or_default();
        message.text = words.to_owned();
        let since = if state.failures == 0 { String::new() } else { Timestamp(state.since).to_string() };
        for (name, value) in [
            ("target", subject.to_owned()),
            ("failures", state.failures.to_string()),
            ("since", since),
            ("error_class", class.to_owned()),
            ("error", words.to_owned()),
        ] {
            message.fields.insert(name.to_owned(), value);
        }
        message
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: i64 = 3_600_000;

    fn hours(hours: u64) -> Duration {
        Duration::from_secs(hours * 3_600)
    }

    /// What is said of a history of `(hour, went well)`.
    fn said(rule: &AlertRule, history: &[(i64, bool)]) -> Vec<(i64, Alert)> {
        let mut state = AlertState::default();
        let mut said = Vec::new();
        for (hour, ok) in history {
            let (next, alert) = judge(rule, &state, *ok, Timestamp(hour * HOUR));
            said.extend(alert.map(|alert| (*hour, alert)));
            state = next;
        }
        said
    }

    #[test]
    fn rules_say_what_they_promise() {
        use Alert::{Failing, Recovered, StillFailing};
        let rule = AlertRule { after: 3, within: hours(10), repeat: Some(hours(6)), recovered: true };
        let quiet = AlertRule { repeat: None, recovered: false, ..rule };
        let fails = |hours: &[i64]| hours.iter().map(|hour| (*hour, false)).collect::<Vec<_>>();
        let mut back = fails(&[0, 1, 2]);
        back.push((3, true));
        back.extend(fails(&[4, 5, 6]));
        for (rule, history, expected) in [
            (rule, fails(&[0, 1]), vec![]),
            (rule, fails(&[0, 1, 2, 3]), vec![(2, Failing)]),
            (rule, vec![(0, false), (1, false), (2, true), (3, false), (4, false)], vec![]),
            (rule, fails(&[0, 11, 22, 23, 24]), vec![(24, Failing)]),
            (
                rule,
                fails(&[0, 1, 2, 7, 8, 13, 14]),
                vec![(2, Failing), (8, StillFailing), (14, StillFailing)],
            ),
            (rule, back.clone(), vec![(2, Failing), (3, Recovered), (6, Failing)]),
            (quiet, back, vec![(2, Failing), (6, Failing)]),
            (quiet, fails(&[0, 1, 2, 100]), vec![(2, Failing)]),
            (AlertRule { after: 1, ..rule }, fails(&[5]), vec![(5, Failing)]),
            (rule, vec![(0, true), (1, true)], vec![]),
            // The clock is set back by a day between two failures.
            (rule, fails(&[30, 31, 7]), vec![(7, Failing)]),
            (rule, fails(&[30, 31, 32, 8, 14]), vec![(32, Failing), (14, StillFailing)]),
        ] {
            assert_eq!(said(&rule, &history), expected, "{history:?}");
        }
    }

    #[test]
    fn what_is_remembered_stays_small() {
        let rule = AlertRule::default();
        let mut state = AlertState::default();
        for at in 0..10_000 {
            state = judge(&rule, &state, false, Timestamp(at)).0;
        }
        assert_eq!((state.failures, state.recent.len(), state.since), (10_000, 3, 0));
    }
}
