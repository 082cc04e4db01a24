//! The policies by name, and one source watched by one of them: what `dibao schedule decide` and the simulator ask.

use std::fmt;
use std::str::FromStr;

use chrono::DateTime;
use chrono_tz::Tz;

use super::classic::{Entry, Looked, SourceStats, update_source_stats};
use super::cron::CronExpr;
use super::predictive::{Mode, Source};

/// Entries that the classic policy is shown (S0-18).
const RECENT: usize = 30;

/// When to look next, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    /// Seconds since 1970, always later than the look it follows.
    pub next: i64,
    /// One sentence.
    pub why: String,
}

/// A way to choose the next look.
#[derive(Clone)]
pub enum Policy {
    /// The compatible one, [`classic`](super::classic).
    Classic,
    /// [`predictive`](super::predictive), within two base intervals; whoever sends a knob decides how often, and the bound is gone.
    Predictive,
    /// The same without that bound, knob or no knob.
    Budget,
    /// Every so many seconds.
    Interval(i64),
    /// At the moments of a cron expression.
    Cron(CronExpr),
}

/// A policy that is none, with what to write instead.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct PolicyError(String);

impl FromStr for Policy {
    type Err = PolicyError;

    fn from_str(text: &str) -> Result<Policy, PolicyError> {
        match text.split_once(':') {
            None if text == "classic" => Ok(Policy::Classic),
            None if text == "predictive" => Ok(Policy::Predictive),
            None if text == "budget" => Ok(Policy::Budget),
            Some(("interval", seconds)) => match seconds.parse() {
                Ok(seconds @ 1..=31_536_000) => Ok(Policy::Interval(seconds)),
                _ => Err(PolicyError(format!("interval:{seconds} needs seconds from 1 to 31536000"))),
            },
            Some(("cron", expression)) => CronExpr::parse(expression)
                .map(Policy::Cron)
                .map_err(|why| PolicyError(format!("cron:{expression}: {why}"))),
            _ => Err(PolicyError(format!(
                "{text:?} is no policy; there are classic, predictive, budget, interval:SECONDS and cron:EXPRESSION"
            ))),
        }
    }
}

impl fmt::Display for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Policy::Classic => f.write_str("classic"),
            Policy::Predictive => f.write_str("predictive"),
            Policy::Budget => f.write_str("budget"),
            Policy::Interval(seconds) => write!(f, "interval:{seconds}"),
            Policy::Cron(expression) => write!(f, "cron:{}", expression.as_str()),
        }
    }
}

impl fmt::Debug for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// One source under one policy.
#[derive(Clone, Debug)]
pub struct Watched {
    zone: Tz,
    policy: Policy,
    state: State,
}

#[derive(Clone, Debug)]
enum State {
    Classic(Box<SourceStats>, Vec<Entry>),
    Predictive(Box<Source>),
    /// Policies that know nothing of a source.
    Plain,
}

impl Watched {
    /// The first look: the publish times on the page, and the first decision. `knob` as in [`look`](Watched::look).
    pub fn open(
        policy: &Policy,
        id: &str,
        zone: Tz,
        now: i64,
        page: &[i64],
        knob: Option<f64>,
    ) -> (Watched, Decision) {
        let state = match policy {
            Policy::Classic => State::Classic(Box::new(SourceStats::new(id, "rss", now)), Vec::new()),
            Policy::Predictive | Policy::Budget => State::Predictive(Box::new(Source::open(zone, now, page))),
            Policy::Interval(_) | Policy::Cron(..) => State::Plain,
        };
        let mut watched = Watched { zone, policy: policy.clone(), state };
        let decision = match &mut watched.state {
            State::Predictive(source) => source.decide(knob.unwrap_or(1.0), mode(policy, knob)),
            _ => watched.look(now, page, knob),
        };
        (watched, decision)
    }

    /// A later look: the publish times that it was the first to see. `knob` multiplies the price of a look; of the
    /// policies that know no price it multiplies the wait, and cron does not listen to it. None is a knob that nobody
    /// turns: 1, and `predictive` stays within its bounds.
    pub fn look(&mut self, now: i64, new: &[i64], knob: Option<f64>) -> Decision {
        let mode = mode(&self.policy, knob);
        let knob = knob.unwrap_or(1.0);
        match &mut self.state {
            State::Predictive(source) => {
                source.look(now, new);
                source.decide(knob, mode)
            }
            State::Classic(row, entries) => {
                entries.extend(new.iter().map(|at| Entry::at(*at)));
                entries.sort_by_key(|entry| std::cmp::Reverse(entry.published_at));
                entries.truncate(RECENT);
                let looked = Looked { has_new_entries: !new.is_empty(), error_message: "", entries };
                let random = even(&row.source_id, row.check_count);
                **row = update_source_stats((**row).clone(), looked, now, random, self.zone);
                let wait = scaled(row.next_due_at.saturating_sub(now), knob);
                let why = format!(
                    "{} sources have cadence {}, {} s between looks",
                    row.frequency_type.name(),
                    row.cadence.name(),
                    row.cadence.seconds()
                );
                Decision { next: now.saturating_add(wait), why }
            }
            State::Plain => self.plain(now, knob),
        }
    }

    fn plain(&self, now: i64, knob: f64) -> Decision {
        match &self.policy {
            Policy::Interval(seconds) => Decision {
                next: now.saturating_add(scaled(*seconds, knob)),
                why: format!("every {} s", scaled(*seconds, knob)),
            },
            Policy::Cron(cron) => {
                let next = DateTime::from_timestamp(now, 0).and_then(|now| cron.next_after(now, self.zone));
                match next {
                    Some(next) => Decision {
                        next: next.timestamp().max(now.saturating_add(1)),
                        why: format!("{} fires then", cron.as_str()),
                    },
                    None => Decision { next: i64::MAX, why: format!("{} never fires again", cron.as_str()) },
                }
            }
            _ => Decision { next: now.saturating_add(1), why: String::new() },
        }
    }
}

/// A set of sources that is held to a budget cannot also be held to cadences: the busy ones alone would use it up, and
/// the slow ones pay for it. A step at knob 1 would leave budgets that no knob meets, so any knob lifts the bound.
fn mode(policy: &Policy, knob: Option<f64>) -> Mode {
    match (policy, knob) {
        (Policy::Predictive, None) => Mode::Bounded,
        _ => Mode::Budget,
    }
}

fn scaled(wait: i64, knob: f64) -> i64 {
    let knob = if knob.is_finite() { knob.max(0.0) } else { 1.0 };
    ((wait as f64 * knob) as i64).max(1)
}

/// A number in 0 … 1 that looks random and is the same for the same source and look.
fn even(id: &str, count: u64) -> f64 {
    let mut z = count.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    for byte in id.bytes() {
        z = (z ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3);
    }
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
}
