//! `dibao schedule simulate`: policies side by side over the same histories.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::PathBuf;

use anyhow::Context;
use clap::Args;
use dibao::clock::SystemClock;
use dibao::schedule::policy::Policy;
use dibao::schedule::simulate::synthetic::{self, Kind};
use dibao::schedule::simulate::{Score, Trace, compare};
use dibao::{Clock as _, Timestamp};
use serde::Serialize;

use crate::exit::{Exit, Usage};
use crate::open::OpenArgs;
use crate::output::print_rows;

/// Fifty million publish times; more is a mistake.
const MAX_TRACE: u64 = 1 << 30;
/// What is compared when nothing else is asked for.
const USUAL: [&str; 3] = ["predictive", "classic", "interval:3600"];

#[derive(Args)]
pub struct SimulateArgs {
    /// Histories: {"sources":[{"id","tz","published":[epoch…]}]} (`-` = standard input)
    #[arg(long, value_name = "FILE", required_unless_present_any = ["synthetic", "from_store"])]
    trace: Option<PathBuf>,

    /// What the store's own looks have shown of these targets, or of all
    #[arg(long, value_name = "TARGET", num_args = 0.., conflicts_with = "trace")]
    from_store: Option<Vec<String>>,

    /// Of the store's own history, only the last so many days
    #[arg(long, value_name = "N", requires = "from_store", value_parser = clap::value_parser!(u32).range(1..=36_500))]
    days: Option<u32>,

    /// Made-up histories of thirteen kinds instead, one table row per kind and policy
    #[arg(long, conflicts_with_all = ["trace", "from_store"])]
    synthetic: bool,

    /// classic, predictive, budget, interval:SECONDS or cron:EXPRESSION; several are compared
    #[arg(long, value_name = "POLICY", value_parser = super::policy)]
    policy: Vec<Policy>,

    /// Checks per source and day that every policy is held to [default: what the first policy makes by itself]
    #[arg(long, value_name = "N", value_parser = budget)]
    budget: Option<f64>,

    /// One JSON object with all results
    #[arg(long)]
    json: bool,
}

fn budget(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(budget) if (0.01..=1440.0).contains(&budget) => Ok(budget),
        _ => Err("checks per source and day, from 0.01 to 1440".into()),
    }
}

/// A row of the table.
#[derive(Serialize)]
struct Row {
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<&'static str>,
    #[serde(flatten)]
    score: Score,
}

#[derive(Serialize)]
struct Report {
    budget: Option<f64>,
    policies: Vec<Row>,
}

pub async fn run(open: &OpenArgs, mut args: SimulateArgs) -> anyhow::Result<Exit> {
    if args.policy.is_empty() {
        args.policy = USUAL.iter().filter_map(|name| name.parse().ok()).collect();
    }
    let compared = |kind, trace: &Trace| {
        let scores = compare(&args.policy, trace, args.budget);
        scores.into_iter().map(move |score| Row { kind, score })
    };
    let mut rows = Vec::new();
    if let Some(path) = &args.trace {
        let trace = replayable(read(path)?, &path.display().to_string())?;
        rows.extend(compared(None, &trace));
    } else if let Some(targets) = &args.from_store {
        let trace = from_store(open, targets, args.days).await?;
        rows.extend(compared(None, &trace));
    } else {
        for kind in Kind::ALL {
            let sources = if kind == Kind::FeedSet { 60 } else { 6 };
            rows.extend(compared(Some(kind.name()), &synthetic::trace(kind, sources)));
        }
    }
    if args.json {
        let report = Report { budget: args.budget, policies: rows };
        let mut out = io::stdout().lock();
        serde_json::to_writer_pretty(&mut out, &report)?;
        writeln!(out)?;
        return Ok(Exit::Ok);
    }
    let headings = [
        "kind",
        "policy",
        "checks/day",
        "hit rate",
        "by item h",
        "by source h",
        "median h",
        "p90 h",
        "pushed off",
        "",
    ];
    print_rows(&rows, &headings, |Row { kind, score }| {
        vec![
            kind.unwrap_or_default().into(),
            score.policy.clone(),
            format!("{:.2}", score.checks_per_source_day),
            format!("{:.3}", score.hit_rate),
            format!("{:.3}", score.mean_delay_items_h),
            format!("{:.3}", score.mean_delay_sources_h),
            format!("{:.3}", score.median_delay_h),
            format!("{:.3}", score.p90_delay_h),
            score.pushed_off.to_string(),
            if score.budget_met { "" } else { "its bounds do not allow the budget" }.into(),
        ]
    })?;
    Ok(Exit::Ok)
}

fn read(path: &PathBuf) -> anyhow::Result<Trace> {
    let mut text = Vec::new();
    let shown = path.display().to_string();
    if path.as_os_str() == "-" {
        io::stdin().lock().take(MAX_TRACE + 1).read_to_end(&mut text)?;
    } else {
        let file = File::open(path).with_context(|| shown.clone())?;
        file.take(MAX_TRACE + 1).read_to_end(&mut text).with_context(|| shown.clone())?;
    }
    if text.len() as u64 > MAX_TRACE {
        return Err(Usage(format!("{shown} is larger than {MAX_TRACE} bytes")).into());
    }
    let mut trace: Trace = serde_json::from_slice(&text).map_err(|error| {
        Usage(format!(
            "{shown}: {error}; a trace is {{\"sources\":[{{\"id\",\"tz\",\"published\":[seconds…]}}]}}"
        ))
    })?;
    trace.tidy();
    Ok(trace)
}

async fn from_store(open: &OpenArgs, targets: &[String], days: Option<u32>) -> anyhow::Result<Trace> {
    let engine = super::engine(open).await?;
    let since = days.map(|days| Timestamp(SystemClock.now().0 - i64::from(days) * 86_400_000));
    let trace = engine.schedule_history_trace(targets, since).await?;
    replayable(trace, "what the looks at these targets have shown")
}

fn replayable(trace: Trace, shown: &str) -> anyhow::Result<Trace> {
    if trace.sources.iter().map(|source| source.published.len()).sum::<usize>() < 2 {
        return Err(Usage(format!("{shown} has fewer than two publish times: nothing to replay")).into());
    }
    Ok(trace)
}
