//! What a million schedules cost: to start on them, to hold them, to fire one, to fire ten thousand of the same second; and the next
//! moment of a cron expression beside croniter (PyPI); and how many looks a minute the predictive policy decides.
//!
//! Time is given to the timer, not waited for. Start and memory are measured in a process of its own, which finds the million
//! made by this one.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use chrono::{DateTime, Utc};
use dibao::queue::{JobQuery, JobTable};
use dibao::schedule::cron::CronExpr;
use dibao::schedule::policy::Policy;
use dibao::schedule::simulate::{replay, synthetic};
use dibao::schedule::{
    Bell, Change, NewSchedule, Overlap, ScheduleEdit, ScheduleTable, Timer, TimerOptions, Trigger,
};
use dibao::store::{Durability, Files, SqliteStore};
use dibao::{Clock, Timestamp};

use crate::figures::{Figure, Goal, Samples};
use crate::usage::Usage;

const ZONE: chrono_tz::Tz = chrono_tz::Asia::Shanghai;
/// 2026-04-10T01:00:00Z.
const BEGIN: i64 = 1_775_782_800_000;
/// Schedules made in one transaction.
const BATCH: usize = 20_000;
/// Longer than the store's pause between two commits: what is timed is the step, not the pause.
const REST: Duration = Duration::from_millis(8);
const SAME_SECOND: usize = 10_000;

/// A clock that stands where it is put.
struct Still(i64);

impl Clock for Still {
    fn now(&self) -> Timestamp {
        Timestamp(self.0)
    }
}

/// The expressions whose next moments are asked for, each from so many beginnings.
const EXPRESSIONS: [&str; 8] = [
    "* * * * *",
    "*/15 * * * *",
    "0 9 * * 1-5",
    "30 2 1 * *",
    "0 0 29 2 *",
    "5,35 8-18/2 * * *",
    "0 12 * 1,7 0",
    "0 4 8-14 * *",
];

const SCRIPT: &str = r#"
import sys, time
from datetime import datetime, timezone
from croniter import croniter
rounds, begin, expressions = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]
def once():
    for expression in expressions:
        for n in range(rounds):
            start = datetime.fromtimestamp(begin + n * 86_461, timezone.utc)
            croniter(expression, start).get_next(datetime)
once()
best = None
for _ in range(3):
    begun = time.process_time()
    once()
    took = time.process_time() - begun
    best = took if best is None else min(best, took)
print(rounds * len(expressions) / best)
"#;

/// The figures; `python` is an interpreter that has croniter.
pub async fn measure(python: Option<&Path>, quick: bool) -> Result<Vec<Figure>> {
    let (few, many) = if quick { (1_000, 100_000) } else { (1_000, 1_000_000) };
    let mut figures = Vec::new();
    let dir = tempfile::tempdir()?;
    let small = cost_of_firing(&dir.path().join("few"), few).await?;
    let large = cost_of_firing(&dir.path().join("many"), many).await?;
    figures.push(Figure {
        name: format!("firing one of {many} schedules, to one of {few}"),
        value: large.median() / small.median(),
        unit: "×",
        goal: Goal::AtMost(2.0),
        note: format!("median of one pass: {:.2} and {:.2} ms", small.median(), large.median()),
    });
    figures.extend(start(&dir.path().join("many"), many)?);
    figures.push(same_second(&dir.path().join("many"), many).await?);
    figures.extend(next_moments(python, quick)?);
    figures.push(never()?);
    figures.push(decisions(quick)?);
    Ok(figures)
}

fn open(dir: &Path) -> Result<Arc<SqliteStore>> {
    Ok(Arc::new(SqliteStore::open(Files::open(dir, Durability::Process)?)?))
}

/// Schedules of all kinds, due over the coming day.
fn schedule(n: usize) -> NewSchedule {
    let trigger = match n % 4 {
        0 => Trigger::Interval { seconds: 3_600 + (n as u64 % 86_400) },
        1 => Trigger::Interval { seconds: 86_400 },
        _ => Trigger::Cron { cron: format!("{} {} * * *", n % 60, n / 60 % 24) },
    };
    let mut new = NewSchedule::new(format!("s{n:07}"), "empty", trigger).lane(format!("lane{}", n % 500));
    new.overlap = Overlap::Queue;
    new
}

async fn fill(table: &SqliteStore, count: usize) -> Result<()> {
    for first in (0..count).step_by(BATCH) {
        let changes = (first..count.min(first + BATCH)).map(|n| Change::Add(Box::new(schedule(n))));
        table.change(changes.collect(), Timestamp(BEGIN), ZONE).await?;
    }
    Ok(())
}

/// How long a pass takes that finds exactly one schedule due, in milliseconds.
async fn cost_of_firing(dir: &Path, count: usize) -> Result<Samples> {
    let table = open(dir)?;
    fill(&table, count).await?;
    let mut samples = Vec::new();
    for round in 0..60u64 {
        // One that is due now, and nothing else is.
        let now = BEGIN + round as i64 * 10;
        let soon = Trigger::Once { at: Timestamp(now), expires_at: None };
        let name = format!("s{:07}", (round as usize * 7_919) % count);
        let edit = ScheduleEdit { trigger: Some(soon), ..ScheduleEdit::default() };
        table.change(vec![Change::Edit(name, Box::new(edit))], Timestamp(now), ZONE).await?;
        tokio::time::sleep(REST).await;
        let timer = timer(&table, now);
        let begun = Instant::now();
        let pass = timer.pass().await?;
        samples.push(begun.elapsed().as_secs_f64() * 1e3);
        anyhow::ensure!(pass.jobs == 1, "{} jobs in place of one", pass.jobs);
    }
    // The first ones warm the caches.
    Ok(Samples::new(samples.split_off(10)))
}

fn timer(table: &Arc<SqliteStore>, now: i64) -> Timer {
    let options = TimerOptions { listen: None, ..TimerOptions::default() };
    Timer::new(table.clone(), Arc::new(Still(now)), ZONE, Bell::default()).options(options)
}

/// From opening the store to the first look at what is due, in a process of its own.
fn start(dir: &Path, many: usize) -> Result<Vec<Figure>> {
    let output = Command::new(std::env::current_exe()?).arg("start-schedules").arg(dir).output()?;
    let said = String::from_utf8_lossy(&output.stdout);
    let mut words = said.split_whitespace().map(str::parse::<f64>);
    let (Some(Ok(seconds)), Some(Ok(peak))) = (words.next(), words.next()) else {
        bail!("the start gave no figure: {}", String::from_utf8_lossy(&output.stderr));
    };
    let figure = |name: &str, value, unit, goal, note: &str| Figure {
        name: name.to_owned(),
        value,
        unit,
        goal,
        note: note.to_owned(),
    };
    Ok(vec![
        figure(
            &format!("start on {many} schedules"),
            seconds,
            " s",
            Goal::AtMost(5.0),
            "opening the store, the load of 24 hours, the first pass",
        ),
        figure("the same: peak memory", peak, " MB", Goal::AtMost(300.0), "whole process"),
    ])
}

/// What the process of `start` does: seconds and MB.
pub async fn start_once(dir: &Path) -> Result<(f64, f64)> {
    let begun = Instant::now();
    let table = open(dir)?;
    let pass = timer(&table, BEGIN + 1_000).pass().await?;
    std::hint::black_box(pass);
    std::hint::black_box(table.load(Timestamp(BEGIN), 24, ZONE).await?);
    let seconds = begun.elapsed().as_secs_f64();
    Ok((seconds, Usage::of_this_process(0, seconds)?.peak_mb))
}

/// Ten thousand that are due in the same second: until the last of them is a job.
async fn same_second(dir: &Path, many: usize) -> Result<Figure> {
    let table = open(dir)?;
    let due = BEGIN + 5_000;
    let new = |n| {
        let at = Timestamp(due + (n as i64 * 7_919) % 1_000);
        Change::Add(Box::new(NewSchedule::new(
            format!("x{n:05}"),
            "same",
            Trigger::Once { at, expires_at: None },
        )))
    };
    table.change((0..SAME_SECOND).map(new).collect(), Timestamp(BEGIN), ZONE).await?;
    let timer = timer(&table, due + 1_000);
    let begun = Instant::now();
    let pass = timer.pass().await?;
    anyhow::ensure!(pass.jobs == SAME_SECOND as u32, "{} of {SAME_SECOND} were fired", pass.jobs);
    let seconds = begun.elapsed().as_secs_f64();
    let query = JobQuery { kind: Some("same".into()), limit: 1_000_000, ..JobQuery::default() };
    let mut jobs = table.jobs(query).await?;
    jobs.reverse();
    anyhow::ensure!(jobs.len() == SAME_SECOND && jobs.is_sorted_by_key(|job| job.due_at), "not in order");
    Ok(Figure {
        name: format!("{SAME_SECOND} due in one second: all are jobs after"),
        value: seconds,
        unit: " s",
        goal: Goal::AtMost(2.0),
        note: format!("among {many} schedules; in the order of their due times"),
    })
}

/// How long it takes to find out that an expression never comes due: the slowest of several.
fn never() -> Result<Figure> {
    let mut slowest: f64 = 0.0;
    let impossible = ["0 0 30 2 *", "0 0 31 2,4,6,9,11 *", "*/5 * 31 4 *", "0 0 L-30 2 *", "0 0 30W 2 *"];
    for expression in impossible {
        for zone in [chrono_tz::UTC, ZONE, chrono_tz::America::New_York] {
            let mut took = Vec::new();
            for _ in 0..50 {
                let begun = Instant::now();
                let next = CronExpr::parse(expression)?.next_after(Timestamp(BEGIN).to_utc(), zone);
                took.push(begun.elapsed().as_secs_f64() * 1e3);
                anyhow::ensure!(next.is_none(), "{expression} comes due");
            }
            slowest = slowest.max(Samples::new(took).median());
        }
    }
    Ok(Figure {
        name: "a date that does not exist: never, after".into(),
        value: slowest,
        unit: " ms",
        goal: Goal::AtMost(1.0),
        note: format!("median; the slowest of {} expressions in three zones", impossible.len()),
    })
}

/// What `dibao schedule decide` asks of the policy, with what a feed set publishes in four weeks: looks a minute on one core.
fn decisions(quick: bool) -> Result<Figure> {
    const DAYS: i64 = 28;
    let trace = synthetic::trace(synthetic::Kind::FeedSet, if quick { 20 } else { 200 });
    let from = synthetic::START + DAYS * 86_400;
    let begun = Instant::now();
    let mut checks = 0;
    for source in &trace.sources {
        let until = from + DAYS * 86_400;
        let outcome =
            replay(&Policy::Budget, &source.id, source.tz, Some(0.6), &source.published, from, until);
        checks += outcome.checks;
    }
    let a_minute = checks as f64 * 60.0 / begun.elapsed().as_secs_f64();
    anyhow::ensure!(checks > 1_000, "only {checks} looks");
    Ok(Figure {
        name: "decisions of the predictive policy a minute".into(),
        value: a_minute,
        unit: "",
        goal: Goal::AtLeast(1e6),
        note: format!("{checks} looks at {} sources, learning included, one core", trace.sources.len()),
    })
}

/// Next moments per processor second, parsing included, as croniter does it.
fn next_moments(python: Option<&Path>, quick: bool) -> Result<Vec<Figure>> {
    let rounds = if quick { 300 } else { 1_500 };
    let begin = BEGIN / 1_000;
    let mut best = f64::INFINITY;
    for _ in 0..5 {
        let begun = Instant::now();
        for expression in EXPRESSIONS {
            for n in 0..rounds {
                let parsed = CronExpr::parse(expression)?;
                let from: DateTime<Utc> = Timestamp((begin + n * 86_461) * 1_000).to_utc();
                std::hint::black_box(parsed.next_after(from, chrono_tz::UTC));
            }
        }
        best = best.min(begun.elapsed().as_secs_f64());
    }
    let count = EXPRESSIONS.len() as f64 * rounds as f64;
    let own = count / best;
    let Some(python) = python else {
        eprintln!("croniter is not measured: no Python environment has it (see above)");
        return Ok(vec![Figure {
            name: "next moments of a cron per second".into(),
            value: own,
            unit: "",
            goal: Goal::None,
            note: "parsing included".into(),
        }]);
    };
    let output = Command::new(python)
        .args(["-c", SCRIPT, &rounds.to_string(), &begin.to_string()])
        .args(EXPRESSIONS)
        .output()
        .with_context(|| format!("{} did not start", python.display()))?;
    let said = String::from_utf8_lossy(&output.stdout);
    let Some(theirs) = said.trim().lines().last().and_then(|line| line.parse::<f64>().ok()) else {
        bail!("croniter gave no figure: {}", String::from_utf8_lossy(&output.stderr).trim());
    };
    Ok(vec![Figure {
        name: "next moment of a cron, beside croniter (PyPI)".into(),
        value: own / theirs,
        unit: "×",
        goal: Goal::AtLeast(20.0),
        note: format!(
            "{own:.0} and {theirs:.0} a second, parsing included, {} expressions",
            EXPRESSIONS.len()
        ),
    }])
}
