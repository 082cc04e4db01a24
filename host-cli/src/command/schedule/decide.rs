//! `dibao schedule decide`: one decision per line, with what is known of each source kept in memory.

use std::collections::HashMap;
use std::io;

use chrono_tz::Tz;
use clap::Args;
use dibao::schedule::policy::{Decision, Policy, Watched};
use serde::{Deserialize, Serialize};

use crate::exit::Exit;
use crate::lines::answer_lines;

/// A page of a hundred thousand items.
const MAX_LINE: usize = 4 << 20;
/// A source takes some kilobytes.
const MOST_SOURCES: usize = 1_000_000;

#[derive(Args)]
pub struct DecideArgs {
    /// classic, predictive, budget or interval:SECONDS. Without a knob predictive stays within two base intervals of a
    /// source's cadence; with one it does not, as budget never does: both can be held to two checks a day
    #[arg(long, default_value = "predictive", value_parser = super::policy)]
    policy: Policy,
}

pub fn run(args: DecideArgs) -> anyhow::Result<Exit> {
    let mut exit = Exit::Ok;
    let mut sources = HashMap::new();
    answer_lines(MAX_LINE, io::stdin().lock(), io::stdout().lock(), |number, line| {
        match line.and_then(|line| answer(&args.policy, &mut sources, line)) {
            Ok(Decision { next, why }) => Answer::Next { next, why },
            Err(error) => {
                exit = Exit::Partial;
                Answer::Error { error: format!("line {number}: {error}") }
            }
        }
    })?;
    Ok(exit)
}

#[derive(Deserialize)]
#[serde(tag = "op", rename_all = "lowercase")]
enum Ask {
    Open {
        id: Id,
        tz: Option<String>,
        now: f64,
        #[serde(default)]
        items: Vec<f64>,
        knob: Option<f64>,
    },
    Check {
        id: Id,
        now: f64,
        #[serde(default)]
        new: Vec<f64>,
        knob: Option<f64>,
    },
}

/// Names come as text or as numbers.
#[derive(Deserialize, PartialEq, Eq, Hash)]
#[serde(untagged)]
enum Id {
    Text(String),
    Number(i64),
}

#[derive(Serialize)]
#[serde(untagged)]
enum Answer {
    Next { next: i64, why: String },
    Error { error: String },
}

fn answer(policy: &Policy, sources: &mut HashMap<Id, Watched>, line: &[u8]) -> Result<Decision, String> {
    match serde_json::from_slice(line).map_err(|error| error.to_string())? {
        Ask::Open { id, tz, now, items, knob } => {
            let tz = tz.as_deref().unwrap_or("Asia/Shanghai");
            let zone: Tz = tz.parse().map_err(|_| format!("{tz:?} is no time zone; write Asia/Shanghai"))?;
            if sources.len() >= MOST_SOURCES && !sources.contains_key(&id) {
                return Err(format!("more than {MOST_SOURCES} sources are open"));
            }
            let name = match &id {
                Id::Text(text) => text.clone(),
                Id::Number(number) => number.to_string(),
            };
            let (watched, decision) =
                Watched::open(policy, &name, zone, second(now)?, &seconds(&items), price(knob)?);
            sources.insert(id, watched);
            Ok(decision)
        }
        Ask::Check { id, now, new, knob } => {
            let (now, knob) = (second(now)?, price(knob)?);
            let source = sources.get_mut(&id).ok_or("this id is not open; send {\"op\":\"open\",…} first")?;
            Ok(source.look(now, &seconds(&new), knob))
        }
    }
}

fn second(now: f64) -> Result<i64, String> {
    // Until the year 5000: beyond it, somebody sent milliseconds.
    if (0.0..95_617_584_000.0).contains(&now) {
        return Ok(now as i64);
    }
    Err(format!("now is {now}; it is in seconds since 1970"))
}

fn seconds(times: &[f64]) -> Vec<i64> {
    times.iter().map(|at| *at as i64).collect()
}

fn price(knob: Option<f64>) -> Result<Option<f64>, String> {
    match knob {
        Some(knob) if knob <= 0.0 || !knob.is_finite() => {
            Err(format!("knob is {knob}; it must be above zero"))
        }
        knob => Ok(knob),
    }
}
