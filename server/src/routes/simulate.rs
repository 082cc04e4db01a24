//! What policies would have done to a publishing history: one that is sent, or the store's own. Only sizes are decided here.

use std::collections::HashSet;

use dibao::Timestamp;
use dibao::schedule::policy::Policy;
use dibao::schedule::simulate::{History, Score, Trace, compare};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::answer::Shown;
use crate::call::{Call, Route, Routes, Sent};
use crate::caller::Scope;
use crate::checked::Nothing;
use crate::problem::{Code, Problem};

/// Publish times of one simulation.
const MOST_TIMES: usize = 100_000;
/// Looks that are replayed for one answer: about half a minute of one core.
const MOST_LOOKS: f64 = 5e6;
/// Runs that it takes to hold a policy to a budget, as a rule.
const RUNS_AT_BUDGET: f64 = 12.0;
/// Looks a day of policies that choose for themselves, at most about so many.
const OWN_LOOKS: f64 = 96.0;
/// What is compared when nothing else is asked for.
const USUAL: [&str; 3] = ["predictive", "classic", "interval:3600"];

/// What is to be compared over which history.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Asked {
    /// Histories. Either these or `target_ids`.
    #[serde(default)]
    trace: Option<Sources>,
    /// Codes of targets whose own history is taken, as their looks have shown it.
    #[serde(default)]
    #[schemars(length(min = 1, max = 200))]
    target_ids: Option<Vec<String>>,
    /// Of the store's own history, only the last so many days.
    #[serde(default)]
    #[schemars(range(min = 1, max = 36_500))]
    days: Option<u32>,
    /// `classic`, `predictive`, `budget`, `interval:SECONDS` (60 or more) or `cron:EXPRESSION`.
    #[serde(default)]
    #[schemars(length(min = 1, max = 5), inner(length(min = 1, max = 200)))]
    policies: Option<Vec<String>>,
    /// Looks per source and day that every policy is held to; null: what the first one makes by itself.
    #[serde(default)]
    #[schemars(range(min = 0.01, max = 1440.0))]
    budget: Option<f64>,
}

/// Histories.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Sources {
    #[schemars(length(min = 1, max = 200))]
    sources: Vec<Source>,
}

/// When one source published.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Source {
    #[schemars(length(min = 1, max = 200))]
    id: String,
    /// `Asia/Shanghai` when nothing is said.
    #[serde(default)]
    #[schemars(length(max = 64))]
    tz: Option<String>,
    /// Seconds since 1970, in any order.
    #[schemars(length(max = 100_000))]
    published: Vec<i64>,
}

/// What came of it.
#[derive(Serialize, JsonSchema)]
pub struct Compared {
    /// Looks per source and day that were asked for.
    budget: Option<f64>,
    /// One for each policy, in the order of the question.
    policies: Vec<Score>,
}

pub fn add(routes: &mut Routes) {
    routes.add(
        Route::post(
            "/admin/api/schedules/simulate",
            Scope::Read,
            "What policies would have done to a publishing history",
        )
        .computes()
        .may(&[Code::NotFound]),
        simulate,
    );
}

async fn simulate(call: Call<Nothing, Nothing, Sent<Asked>>) -> Result<Shown<Compared>, Problem> {
    let Asked { trace, target_ids, days, policies, budget } = call.body.0;
    let policies = match policies {
        None => USUAL.iter().filter_map(|name| name.parse().ok()).collect(),
        Some(names) => {
            let read = |(at, name): (usize, &String)| policy(at, name);
            names.iter().enumerate().map(read).collect::<Result<Vec<_>, _>>()?
        }
    };
    let mut trace = match (trace, target_ids) {
        (Some(sources), None) => sent(sources)?,
        (None, Some(codes)) => {
            let known: HashSet<&String> = codes.iter().collect();
            if known.len() < codes.len() {
                return Err(Problem::invalid("target_ids", "one is named twice"));
            }
            let now = crate::auth::now_ms();
            let since = days.map(|days| Timestamp(now - i64::from(days) * 86_400_000));
            call.app.engine.schedule_history_trace(&codes, since).await?
        }
        _ => return Err(Problem::invalid("trace", "send either `trace` or `target_ids`")),
    };
    trace.tidy();
    sized(&trace, &policies, budget)?;
    let permit = call.app.computing.clone().try_acquire_owned();
    let permit = permit.map_err(|_| {
        Problem::new(Code::Throttled, "another simulation is under way; ask again when it has ended")
    })?;
    // Whoever does not wait for it keeps others waiting until it has ended: it cannot be broken off.
    let work = tokio::task::spawn_blocking(move || {
        let scores = compare(&policies, &trace, budget);
        drop(permit);
        scores
    });
    let scores = work.await.map_err(|error| Problem::new(Code::Internal, error.to_string()))?;
    Ok(Shown(Compared { budget, policies: scores }))
}

fn policy(at: usize, name: &str) -> Result<Policy, Problem> {
    let wrong = |why: String| Problem::invalid(format!("policies[{at}]"), why);
    match name.parse().map_err(|error: dibao::schedule::policy::PolicyError| wrong(error.to_string()))? {
        Policy::Interval(..60) => Err(wrong("an interval has 60 seconds or more".into())),
        policy => Ok(policy),
    }
}

fn sent(trace: Sources) -> Result<Trace, Problem> {
    let source = |(at, source): (usize, Source)| {
        let tz = match source.tz.as_deref() {
            None | Some("") => chrono_tz::Asia::Shanghai,
            Some(name) => name.parse().map_err(|_| {
                Problem::invalid(
                    format!("trace.sources[{at}].tz"),
                    format!("`{name}` is no time zone; write Asia/Shanghai"),
                )
            })?,
        };
        Ok(History { id: source.id, tz, published: source.published })
    };
    Ok(Trace { sources: trace.sources.into_iter().enumerate().map(source).collect::<Result<_, Problem>>()? })
}

/// Refuses what has nothing to replay, and what would take too long.
fn sized(trace: &Trace, policies: &[Policy], budget: Option<f64>) -> Result<(), Problem> {
    let times = || trace.sources.iter().flat_map(|source| &source.published);
    let count = times().count();
    if count < 2 {
        return Err(Problem::invalid("trace", "fewer than two publish times: nothing to replay"));
    }
    if count > MOST_TIMES {
        let words =
            format!("{count} publish times; send {MOST_TIMES} at most, or name fewer targets or days");
        return Err(Problem::invalid("trace", words));
    }
    let (first, last) = times().fold((i64::MAX, i64::MIN), |(a, b), at| (a.min(*at), b.max(*at)));
    let source_days = trace.sources.len() as f64 * (last - first) as f64 / 86_400.0;
    let looks: f64 = policies
        .iter()
        .enumerate()
        .map(|(at, policy)| {
            let own = match policy {
                Policy::Interval(seconds) => 86_400.0 / *seconds as f64,
                Policy::Cron(_) => 1_440.0,
                _ => OWN_LOOKS,
            };
            // All but the first are held to what that one makes.
            match budget {
                Some(budget) => budget * RUNS_AT_BUDGET,
                None if at == 0 => own,
                None => own * RUNS_AT_BUDGET,
            }
        })
        .sum::<f64>()
        * source_days;
    if looks > MOST_LOOKS {
        let words = format!(
            "about {looks:.0} looks would be replayed, {MOST_LOOKS:.0} at most are: send fewer sources, days or policies, or a smaller \
             budget; `dibao schedule simulate` has no such bound"
        );
        return Err(Problem::invalid("trace", words));
    }
    Ok(())
}
