//! After a look at a target: when to look next, and what holds that back (C7). Pure.
//!
//! The policy says when a look pays. Three layers may hold it back: the source rests after a failure, its host is left alone, a
//! feed or cache header says that there will be nothing new before. The latest of them wins, and is written down.

use chrono::Timelike as _;
use serde::{Deserialize, Serialize};

use super::classic::SourceStats;
use super::predictive::{Mode, Reason, Source};
use super::said::Said;
use super::trigger::Adaptive;
use crate::clock::Timestamp;
use crate::error::ErrorClass;
use crate::model::SourceType;

/// What a crawl of a target brought, as far as the next look is concerned.
#[derive(Clone, Debug)]
pub struct Look {
    /// Code of the target.
    pub target: String,
    /// What kind of source it is (C17).
    pub source_type: SourceType,
    /// When the look began.
    pub since: Timestamp,
    /// When it ended.
    pub now: Timestamp,
    /// Articles that were not known.
    pub new: u32,
    /// Why there was nothing to be seen; none: there was.
    pub failed: Option<ErrorClass>,
    /// What the predictive policy expects; none: the policy is another, or nothing could be computed.
    pub forecast: Option<Forecast>,
    /// What holds the next look back, beside the rest of the source itself.
    pub holds: Vec<HeldUntil>,
    /// What the list said of itself; none: it was not read.
    pub said: Option<Said>,
    /// The zone in which the source publishes.
    pub zone: chrono_tz::Tz,
    /// Random in `0.0..1.0`.
    pub random: f64,
}

/// What the predictive policy decided, with its numbers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Forecast {
    /// When the next look pays.
    pub next: Timestamp,
    /// Articles expected by then.
    pub expected: f64,
    /// Articles a day.
    pub per_day: f64,
    /// The price of a check it was computed with.
    pub price: f64,
    /// The decision in one English sentence.
    pub why: String,
    /// What it came down to.
    #[serde(default)]
    pub reason: Reason,
}

/// Who can hold a look back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Layer {
    /// Nobody: the policy's own moment.
    Policy,
    /// The source rests after a failure (S0-13).
    Source,
    /// Its host is left alone: a cooldown, or what it asked for with Retry-After.
    Host,
    /// The job of its last time waits for its next attempt.
    Job,
    /// The pace of its host: no request before.
    Pace,
    /// What it said itself: the cache headers of its list, or the feed.
    Said,
}

/// A layer that holds a look back.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HeldUntil {
    /// Which.
    pub layer: Layer,
    /// Until then.
    pub until: Timestamp,
    /// In a word or two.
    pub why: String,
}

/// When to look next, and who says so.
#[derive(Clone, Debug, PartialEq)]
pub struct Next {
    /// Then.
    pub at: Timestamp,
    /// What the policy alone would say.
    pub policy_at: Timestamp,
    /// Whose word it is.
    pub won: Layer,
    /// All that hold it back, the latest first.
    pub holds: Vec<HeldUntil>,
}

/// The next look at a source whose row has been brought up to date with this one.
pub fn next_look(policy: Adaptive, stats: &SourceStats, look: &Look) -> Next {
    let seconds = |at: i64| Timestamp(at.saturating_mul(1_000));
    // Without a forecast the cadence decides (S0-38).
    let policy_at = match (policy, &look.forecast) {
        (Adaptive::Predictive | Adaptive::Budget, Some(forecast)) => forecast.next,
        // Of a source that rests the row tells the end of the rest, which is another layer's word.
        _ if stats.backoff_until > 0 => {
            Timestamp(look.now.0.saturating_add(stats.cadence.seconds().saturating_mul(1_000)))
        }
        _ => seconds(stats.next_due_at),
    };
    let policy_at = policy_at.max(Timestamp(look.now.0.saturating_add(1_000)));
    let mut holds = look.holds.clone();
    if stats.backoff_until > 0 {
        let why = stats.last_error.clone().unwrap_or_default();
        holds.push(HeldUntil { layer: Layer::Source, until: seconds(stats.backoff_until), why });
    }
    if let Some(said) = &look.said {
        // Hours are skipped from the moment that everything else leads to.
        let otherwise = holds.iter().map(|hold| hold.until).fold(policy_at, Timestamp::max);
        holds.extend(said.holds(look.now, otherwise));
    }
    holds.retain(|hold| hold.until > look.now);
    holds.sort_by_key(|hold| std::cmp::Reverse(hold.until));
    let (at, won) = match holds.first() {
        Some(hold) if hold.until > policy_at => (hold.until, hold.layer),
        _ => (policy_at, Layer::Policy),
    };
    Next { at, policy_at, won, holds }
}

/// The words of a failure from which its rest is computed (S0-13), made of the status where there was one and of the class, and
/// never of the words of a page (I5). A host that said when to come back has been heard by another layer: its 429 is an
/// ordinary failure of the source (C8).
pub fn canonical(class: ErrorClass, status: Option<u16>, asked_to_wait: bool) -> String {
    match (status, class) {
        (Some(429), _) if asked_to_wait => "asked to wait".to_owned(),
        (Some(429), _) => "429".to_owned(),
        (Some(401), _) | (None, ErrorClass::Auth) => "401".to_owned(),
        (Some(403), _) => "403".to_owned(),
        (Some(status), class) => format!("{} {status}", class.as_str()),
        (None, class) => class.as_str().to_owned(),
    }
}

/// What looks at a target have shown so far, the oldest first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LookHistory {
    /// Looks that ended well and between which nothing else is known: those that found something, each with the one before it.
    pub looks: Vec<PastLook>,
}

/// One of them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PastLook {
    /// When, in seconds since 1970.
    pub at: i64,
    /// Publish times of what it was the first to see, in seconds. What tells no moment (a day without an hour, nothing at all)
    /// is none: the article came between this look and the one before (I4).
    pub new: Vec<Option<i64>>,
}

impl LookHistory {
    /// The source as it is known after all of them, and after one more that ended `now`; none: it was never looked at.
    pub fn source(&self, zone: chrono_tz::Tz, now: i64) -> Option<Source> {
        let (first, rest) = self.looks.split_first()?;
        let page: Vec<i64> = first.new.iter().flatten().copied().collect();
        let mut source = Source::open(zone, first.at, &page);
        for look in rest {
            // A stamp at the look itself tells nothing, and is how "somewhere in between" is said.
            let new: Vec<i64> = look.new.iter().map(|at| at.unwrap_or(look.at)).collect();
            source.look(look.at, &new);
        }
        if self.looks.last().is_some_and(|last| last.at < now) {
            source.look(now, &[]);
        }
        Some(source)
    }

    /// When what the looks found was published, as far as it is known, in order: what tells no moment counts in the middle
    /// between the look that found it and the one before. Of the first look, which has none before it, midnights are
    /// left out: they are days, not moments.
    pub fn published(&self, zone: chrono_tz::Tz) -> Vec<i64> {
        let mut published = Vec::new();
        let mut before = None;
        for look in &self.looks {
            match before {
                None => published.extend(look.new.iter().flatten().filter(|at| !is_midnight(**at, zone))),
                Some(before) => {
                    let middle = look.at - (look.at - before) / 2;
                    published.extend(look.new.iter().map(|at| at.unwrap_or(middle)));
                }
            }
            before = Some(look.at);
        }
        published.sort_unstable();
        published
    }

    /// What the predictive policy says after these looks.
    pub fn forecast(
        &self,
        policy: Adaptive,
        zone: chrono_tz::Tz,
        now: Timestamp,
        price: f64,
    ) -> Option<Forecast> {
        let mode = match policy {
            Adaptive::Predictive => Mode::Bounded,
            Adaptive::Budget => Mode::Budget,
            Adaptive::Classic => return None,
        };
        let mut source = self.source(zone, now.0.div_euclid(1_000))?;
        let decision = source.decide(price, mode);
        Some(Forecast {
            next: Timestamp(decision.next.saturating_mul(1_000)),
            expected: source.expected(),
            per_day: source.per_day(),
            price,
            why: decision.why,
            reason: source.reason(),
        })
    }
}

fn is_midnight(at: i64, zone: chrono_tz::Tz) -> bool {
    Timestamp(at.saturating_mul(1_000)).to_utc().with_timezone(&zone).num_seconds_from_midnight() == 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::classic::calculate_backoff;
    use chrono_tz::Asia::Shanghai;

    const NOW: Timestamp = Timestamp(1_775_784_600_000);

    fn at(minutes: i64) -> Timestamp {
        Timestamp(NOW.0 + minutes * 60_000)
    }

    fn look(holds: Vec<HeldUntil>, forecast: Option<i64>) -> Look {
        let forecast = forecast.map(|minutes| Forecast {
            next: at(minutes),
            expected: 1.0,
            per_day: 4.0,
            price: 1.0,
            why: String::new(),
            reason: Reason::Pays,
        });
        Look {
            target: "a__x".into(),
            source_type: SourceType::Custom,
            since: NOW,
            now: NOW,
            new: 0,
            failed: None,
            forecast,
            holds,
            said: None,
            zone: Shanghai,
            random: 0.5,
        }
    }

    fn stats(next: i64, backoff: i64) -> SourceStats {
        let mut stats = SourceStats::new("a__x", "custom", NOW.0 / 1_000);
        stats.next_due_at = at(next).0 / 1_000;
        stats.backoff_until = if backoff > 0 { at(backoff).0 / 1_000 } else { 0 };
        stats
    }

    #[test]
    fn c7_the_latest_layer_wins_and_is_named() {
        let held = |layer, minutes| HeldUntil { layer, until: at(minutes), why: String::new() };
        use Adaptive::{Classic, Predictive};
        for (policy, cadence, backoff, forecast, holds, expected, won) in [
            (Predictive, 60, 0, Some(20), vec![], 20, Layer::Policy),
            (Classic, 60, 0, Some(20), vec![], 60, Layer::Policy),
            // Nothing could be computed: the cadence.
            (Predictive, 60, 0, None, vec![], 60, Layer::Policy),
            (Predictive, 60, 0, Some(20), vec![held(Layer::Host, 30)], 30, Layer::Host),
            (Predictive, 60, 0, Some(40), vec![held(Layer::Host, 30)], 40, Layer::Policy),
            (Predictive, 60, 720, Some(20), vec![held(Layer::Host, 30)], 720, Layer::Source),
            (
                Predictive,
                60,
                0,
                Some(20),
                vec![held(Layer::Said, 90), held(Layer::Host, 30)],
                90,
                Layer::Said,
            ),
            // What is over holds nothing back.
            (Predictive, 60, 0, Some(20), vec![held(Layer::Host, -5)], 20, Layer::Policy),
        ] {
            let next = next_look(policy, &stats(cadence, backoff), &look(holds, forecast));
            assert_eq!((next.at, next.won), (at(expected), won), "{policy:?} {forecast:?}");
            assert!(next.at > NOW);
        }
    }

    #[test]
    fn what_a_list_says_of_itself_counts_like_the_other_layers_and_its_hours_after_them() {
        use crate::schedule::said::{FeedSaid, Said};
        // 09:30 in Shanghai is 01:30; three o'clock and four are skipped.
        let feed = FeedSaid { ttl: 40, skip_hours: 0b11000, ..FeedSaid::default() };
        for (forecast, pace, expected, won) in
            [(20, 0, 40, Layer::Said), (50, 0, 50, Layer::Policy), (20, 95, 210, Layer::Said)]
        {
            let pace = HeldUntil { layer: Layer::Pace, until: at(pace), why: String::new() };
            let mut look = look(vec![pace], Some(forecast));
            look.said = Some(Said { fresh_until: None, feed: Some(feed) });
            let next = next_look(Adaptive::Budget, &stats(60, 0), &look);
            assert_eq!((next.at, next.won), (at(expected), won), "{forecast}");
        }
    }

    #[test]
    fn i5_only_the_status_and_the_class_speak_to_the_back_off() {
        use ErrorClass::*;
        for (class, status, seconds) in [
            (Server, Some(429), 6 * 3_600),
            (Auth, Some(401), 0),
            (Auth, None, 0),
            (Blocked, Some(403), 12 * 3_600),
            (Server, Some(502), 900),
            (Network, None, 900),
        ] {
            assert_eq!(
                calculate_backoff(1, &canonical(class, status, false)),
                seconds,
                "{class:?} {status:?}"
            );
        }
        assert_eq!(calculate_backoff(1, &canonical(Server, Some(429), true)), 900, "C8");
        // No class has one of the words in its name.
        for class in [Config, Storage, Network, Tls, Adapter, Server, Blocked, Shape, Gone, Busy] {
            assert_eq!(calculate_backoff(1, &canonical(class, None, false)), 900, "{class:?}");
        }
    }

    /// Nine o'clock of a day in April 2026, in seconds.
    fn nine(day: i64) -> i64 {
        1_775_782_800 + day * 86_400
    }

    #[test]
    fn i4_days_without_an_hour_teach_no_hour_and_looks_do() {
        // Fourteen days, looked at every hour; an article each day at nine, of which only the day is told.
        let mut history = LookHistory::default();
        for hour in 0..14 * 24 {
            let at = nine(0) + 600 + hour * 3_600;
            let new = if hour % 24 == 0 { vec![None] } else { vec![] };
            history.looks.push(PastLook { at, new });
        }
        let last = history.looks.last().unwrap().at;
        let forecast = history.forecast(Adaptive::Budget, Shanghai, Timestamp(last * 1_000), 4.0).unwrap();
        let after = forecast.next.0 / 1_000 - nine(14);
        assert!(
            (-3_600..5_400).contains(&after),
            "{after} s after the article of the next day: {}",
            forecast.why
        );
        assert!((0.5..2.0).contains(&forecast.per_day), "{}", forecast.per_day);
    }

    #[test]
    fn i4_a_history_is_replayed_with_moments_and_never_with_days() {
        let page = vec![Some(nine(-2)), Some(nine(0) - 9 * 3_600), None];
        let looks = [(nine(0), page), (nine(1), vec![]), (nine(1) + 600, vec![None, Some(nine(1) + 60)])];
        let history =
            LookHistory { looks: looks.into_iter().map(|(at, new)| PastLook { at, new }).collect() };
        assert_eq!(history.published(Shanghai), [nine(-2), nine(1) + 60, nine(1) + 300]);
    }
}
