//! Why a schedule is due when it is: what makes it so, what would be earlier, what holds it back, with the numbers. Pure.
//!
//! Read from what is stored: the row, its last decisions, the source's statistics, the job. [`Explanation`] has it as data and
//! in words; `words` has the words, in English and Chinese.

mod words;

use serde::Serialize;

use super::budget::Budget;
use super::classic::SourceStats;
use super::cron::Lang;
use super::look::{Forecast, HeldUntil, Layer};
use super::row::{Decided, Rule, Schedule};
use super::trigger::{Adaptive, Trigger, cron_after};
use crate::clock::Timestamp;
use crate::queue::{Hold, Job, JobState};

/// Decisions that are told.
const TOLD: usize = 5;

/// What is known of a schedule.
#[derive(Clone, Debug)]
pub struct Facts {
    /// The row.
    pub schedule: Schedule,
    /// Its zone.
    pub zone: chrono_tz::Tz,
    /// Now.
    pub now: Timestamp,
    /// Its last decisions, the newest first.
    pub decisions: Vec<Decided>,
    /// The statistics of its source.
    pub stats: Option<SourceStats>,
    /// The job of its last time.
    pub job: Option<Job>,
    /// What holds its host back now.
    pub host: Vec<HeldUntil>,
    /// Whether its target and site are on; none: it has no target.
    pub target_on: Option<bool>,
    /// The price of a check.
    pub budget: Budget,
}

/// Where it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// It is off.
    Off,
    /// It waits for its due time.
    Waiting,
    /// It is due, and nobody has made its job yet.
    Due,
    /// Its job waits or runs.
    AtWork,
    /// It comes due only by hand, or has been.
    ByHand,
}

/// What makes it due when it is.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "by")]
pub enum Because {
    /// It is off.
    Off {
        /// Why.
        why: Option<String>,
    },
    /// A moment of its cron expression.
    Cron {
        /// The expression.
        cron: String,
        /// In words.
        words: String,
        /// Who said it (S2-48).
        origin: Option<String>,
    },
    /// Its interval.
    Interval {
        /// Seconds.
        seconds: u64,
    },
    /// An adaptive policy.
    Policy {
        /// Which.
        policy: Adaptive,
        /// What it expects, for the predictive ones.
        forecast: Option<Forecast>,
    },
    /// The policy would be earlier, but something holds it back.
    Held {
        /// Which policy.
        policy: Adaptive,
        /// When it would look.
        policy_at: Timestamp,
        /// What holds it back.
        by_layer: HeldUntil,
    },
    /// It was never looked at.
    NeverLooked,
    /// Its job was made; what that brings decides on the next time.
    Undecided,
    /// Once.
    Once {
        /// From then on it is too late.
        expires_at: Option<Timestamp>,
    },
    /// Only by hand.
    Manual,
}

/// A moment that would be earlier, and who wants it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Earlier {
    /// Then.
    pub at: Timestamp,
    /// `policy`, or `cron`.
    pub by: &'static str,
    /// What makes it later.
    pub not_because: &'static str,
}

/// Numbers of its source.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Numbers {
    /// Looks at it.
    pub checks: u64,
    /// Looks that found something.
    pub hits: u64,
    /// The share of them.
    pub hit_rate: f64,
    /// Its cadence, P0 to P6.
    pub cadence: String,
    /// When it was last looked at.
    pub last_check_at: Option<Timestamp>,
    /// Its newest article.
    pub last_article_at: Option<Timestamp>,
    /// Failures in a row.
    pub failures: u32,
    /// The last of them.
    pub last_error: Option<String>,
    /// The price of a check.
    pub price: f64,
    /// The budget it is steered to, in checks a day.
    pub budget: Option<f64>,
}

/// A decision with its words.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Told {
    /// The decision.
    #[serde(flatten)]
    pub decided: Decided,
    /// In words.
    pub words: String,
}

/// Why it is due when it is.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Explanation {
    /// The schedule.
    pub name: String,
    /// When it is due.
    pub due_at: Option<Timestamp>,
    /// Where it stands.
    pub standing: Standing,
    /// Why then.
    pub because: Because,
    /// What would be earlier.
    pub earlier: Vec<Earlier>,
    /// What holds it back now, the latest first: source, host, job, what the list said of itself.
    pub held: Vec<HeldUntil>,
    /// The job of its last time, while it is not over.
    pub job: Option<i64>,
    /// Numbers of its source.
    pub numbers: Option<Numbers>,
    /// Fields that were set by hand and that no reconciling touches.
    pub by_hand: Vec<super::row::ByHand>,
    /// The last decisions, the newest first.
    pub decisions: Vec<Told>,
    /// All of it in words, a line each.
    pub text: Vec<String>,
}

/// Explains.
pub fn explain(facts: &Facts, lang: Lang) -> Explanation {
    let row = &facts.schedule;
    let open = facts.job.as_ref().filter(|job| !job.state.is_end());
    let standing = match (row.enabled, open, row.next_due_at) {
        (false, ..) => Standing::Off,
        (_, Some(_), _) => Standing::AtWork,
        (_, _, None) => Standing::ByHand,
        (_, _, Some(due)) if due <= facts.now => Standing::Due,
        _ => Standing::Waiting,
    };
    let planned = facts.decisions.iter().find(|decided| decided.rule == Rule::Planned);
    let because = because(facts, planned, lang);
    let mut explanation = Explanation {
        name: row.name.clone(),
        due_at: row.next_due_at,
        standing,
        earlier: earlier(facts, planned, &because),
        because,
        held: held(facts, planned, open),
        job: open.map(|job| job.id),
        numbers: facts.stats.as_ref().map(|stats| numbers(stats, &facts.budget)),
        by_hand: row.operator_set.clone(),
        decisions: Vec::new(),
        text: Vec::new(),
    };
    explanation.decisions = facts
        .decisions
        .iter()
        .take(TOLD)
        .map(|decided| Told { decided: decided.clone(), words: words::decided(decided, facts.zone, lang) })
        .collect();
    explanation.text = words::all(&explanation, facts, lang);
    explanation
}

fn because(facts: &Facts, planned: Option<&Decided>, lang: Lang) -> Because {
    let row = &facts.schedule;
    if !row.enabled {
        return Because::Off { why: row.off_why.clone() };
    }
    let cron = |cron: &str| Because::Cron {
        cron: cron.to_owned(),
        words: super::cron::CronExpr::parse(cron).map(|cron| cron.describe(lang)).unwrap_or_default(),
        origin: row.origin.clone(),
    };
    match &row.trigger {
        Trigger::Cron { cron: expression } => cron(expression),
        Trigger::Interval { seconds } => Because::Interval { seconds: *seconds },
        Trigger::Once { expires_at, .. } => Because::Once { expires_at: *expires_at },
        Trigger::Manual => Because::Manual,
        Trigger::Adaptive { policy, .. } => {
            // Of the two moments the earlier one counts.
            if let (Some(expression), Some(due)) = (row.trigger.cron(), row.next_due_at)
                && (!row.trigger.adapts()
                    || match row.adaptive_at {
                        Some(at) => at > due,
                        // Nothing was planned yet: it is due by the cron at the cron's moments, and else for its first look.
                        None => cron_after(expression, Timestamp(due.0 - 1_000), facts.zone) == Ok(Some(due)),
                    })
            {
                return cron(expression);
            }
            let Some(planned) = planned else {
                let looked = facts.stats.is_some() || row.last_fired_at.is_some();
                return if looked { Because::Undecided } else { Because::NeverLooked };
            };
            if row.last_fired_at.is_some_and(|fired| fired > planned.at) {
                return Because::Undecided;
            }
            let input = |key: &str| planned.inputs.get(key).cloned().unwrap_or_default();
            let forecast = serde_json::from_value::<Forecast>(input("forecast")).ok();
            let holds: Vec<HeldUntil> = serde_json::from_value(input("holds")).unwrap_or_default();
            let won: Option<Layer> = serde_json::from_value(input("won")).ok();
            let policy_at = serde_json::from_value(input("policy_at")).ok();
            match (won, policy_at, holds.into_iter().next()) {
                (Some(won), Some(policy_at), Some(by_layer)) if won != Layer::Policy => {
                    Because::Held { policy: *policy, policy_at, by_layer }
                }
                _ => Because::Policy { policy: *policy, forecast },
            }
        }
    }
}

/// Moments before the due time that do not count, and why not.
fn earlier(facts: &Facts, planned: Option<&Decided>, because: &Because) -> Vec<Earlier> {
    let row = &facts.schedule;
    let Some(due) = row.next_due_at.filter(|_| row.enabled) else { return Vec::new() };
    let mut earlier = Vec::new();
    let mut add = |at: Option<Timestamp>, by, not_because| {
        if let Some(at) = at.filter(|at| *at < due && *at > facts.now) {
            earlier.push(Earlier { at, by, not_because });
        }
    };
    if let Because::Held { policy_at, .. } = because {
        add(Some(*policy_at), "policy", "held");
    } else if !row.trigger.adapts() {
        let at = planned.and_then(|planned| planned.inputs.get("policy_at").cloned());
        add(at.and_then(|at| serde_json::from_value(at).ok()), "policy", "cron_only");
    }
    if let Trigger::Adaptive { cron: Some(cron), .. } = &row.trigger
        && row.trigger.cron().is_none()
    {
        add(cron_after(cron, facts.now, facts.zone).ok().flatten(), "cron", "adaptive_only");
    }
    earlier.sort_by_key(|earlier| earlier.at);
    earlier
}

/// C7: source, host, job, and what the list said; the latest first.
fn held(facts: &Facts, planned: Option<&Decided>, open: Option<&Job>) -> Vec<HeldUntil> {
    let mut held = facts.host.clone();
    // What the list said of itself was heard at its last look.
    let heard = planned.and_then(|planned| planned.inputs.get("holds").cloned());
    let heard: Vec<HeldUntil> =
        heard.and_then(|holds| serde_json::from_value(holds).ok()).unwrap_or_default();
    held.extend(heard.into_iter().filter(|hold| hold.layer == Layer::Said));
    if let Some(stats) = &facts.stats {
        let until = Timestamp(stats.backoff_until.saturating_mul(1_000));
        let why = stats.last_error.clone().unwrap_or_default();
        held.push(HeldUntil { layer: Layer::Source, until, why });
    }
    if let Some(job) = open.filter(|job| matches!(job.state, JobState::RetryWait | JobState::Scheduled)) {
        let layer = match job.hold {
            Some(Hold::Source) => Layer::Source,
            Some(Hold::Host) => Layer::Host,
            _ => Layer::Job,
        };
        let why = job.hold_why.clone().unwrap_or_default();
        held.push(HeldUntil { layer, until: job.due_at, why });
    }
    held.retain(|held| held.until > facts.now);
    held.sort_by_key(|held| std::cmp::Reverse(held.until));
    held
}

fn numbers(stats: &SourceStats, budget: &Budget) -> Numbers {
    let time = |at: i64| (at > 0).then(|| Timestamp(at.saturating_mul(1_000)));
    Numbers {
        checks: stats.check_count,
        hits: stats.hit_count,
        hit_rate: stats.hit_rate(),
        cadence: stats.cadence.name().to_owned(),
        last_check_at: time(stats.last_check_at),
        last_article_at: time(stats.last_article_at),
        failures: stats.fail_count,
        last_error: stats.last_error.clone(),
        price: budget.price,
        budget: budget.checks_per_day,
    }
}

#[cfg(test)]
mod tests;
