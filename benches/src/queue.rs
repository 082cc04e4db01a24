//! What the queue costs: a job from submission to its end against bare rows in bare transactions, and the time to take a
//! job when a million wait.
//!
//! The bare loop writes what any durable queue must write: a row when work comes, a change when it is begun, a change
//! when it has ended; in groups of the same size, in the same journal mode, on the same disk.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use dibao::clock::SystemClock;
use dibao::queue::{Ended, Finish, JobTable, LeaseAsk, NewJob};
use dibao::store::{Durability, Files, SqliteStore};
use dibao::{Clock, Timestamp};
use rusqlite::{Connection, params};

use crate::figures::{Figure, Goal, Samples};
use crate::usage::Usage;

/// Rows in one transaction, and workers at once.
const GROUP: usize = 64;
/// Longer than the store's pause between two commits: what is timed is the step, not the pause.
const REST: Duration = Duration::from_millis(8);

/// The figures.
pub async fn measure(quick: bool) -> Result<Vec<Figure>> {
    let mut figures = vec![durable(if quick { 2_000 } else { 20_000 }).await?];
    figures.extend(lease(if quick { (1_000, 100_000, 1_000) } else { (1_000, 1_000_000, 10_000) }).await?);
    Ok(figures)
}

fn open(dir: &Path, durability: Durability) -> Result<Arc<SqliteStore>> {
    Ok(Arc::new(SqliteStore::open(Files::open(dir, durability)?)?))
}

fn ask() -> LeaseAsk {
    let until = SystemClock.steady().after(Duration::from_secs(600));
    LeaseAsk { owner: "bench".into(), kinds: vec!["empty".into()], lanes: Default::default(), until }
}

fn done(leased: dibao::queue::Leased) -> Ended {
    let how = Finish::Done { response: None, then: Vec::new() };
    Ended { token: leased.token, id: leased.job.id, how, alerts: None }
}

/// Jobs per second, each of them on the disk when it is submitted, begun and ended.
async fn durable(jobs: usize) -> Result<Figure> {
    let (mut ratios, mut rates, mut bares) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..3 {
        let dir = tempfile::tempdir()?;
        let bare = bare(dir.path(), jobs)?;
        let rate = through_the_queue(dir.path(), jobs).await?;
        ratios.push(rate / bare * 100.0);
        rates.push(rate);
        bares.push(bare);
    }
    let (rate, bare) = (Samples::new(rates).median(), Samples::new(bares).median());
    Ok(Figure {
        name: "durable jobs/s, of bare rows".into(),
        value: Samples::new(ratios).median(),
        unit: " %",
        goal: Goal::AtLeast(50.0),
        note: format!("{rate:.0} jobs/s, bare {bare:.0}; {jobs} jobs, groups of {GROUP}, synchronous=FULL"),
    })
}

async fn through_the_queue(dir: &Path, jobs: usize) -> Result<f64> {
    let table = open(&dir.join("queue"), Durability::Power)?;
    let begun = Instant::now();
    for first in (0..jobs).step_by(GROUP) {
        let group =
            (first..jobs.min(first + GROUP)).map(|n| NewJob::new("empty", format!("lane{}", n % GROUP)));
        table.submit(group.collect(), SystemClock.now()).await?;
    }
    let workers = (0..GROUP).map(|_| {
        let table = table.clone();
        tokio::spawn(async move {
            let mut ended = 0usize;
            let mut next = table.lease(ask(), SystemClock.now()).await?;
            while let Some(leased) = next {
                next = table.finish(done(leased), Some(ask()), SystemClock.now()).await?.next;
                ended += 1;
            }
            anyhow::Ok(ended)
        })
    });
    let mut ended = 0;
    for worker in workers.collect::<Vec<_>>() {
        ended += worker.await??;
    }
    anyhow::ensure!(ended == jobs, "{ended} of {jobs} jobs ended");
    Ok(jobs as f64 / begun.elapsed().as_secs_f64())
}

/// The same rows without a queue around them.
fn bare(dir: &Path, jobs: usize) -> Result<f64> {
    let db = Connection::open(dir.join("bare.db"))?;
    db.pragma_update(None, "journal_mode", "WAL")?;
    db.pragma_update(None, "synchronous", "FULL")?;
    db.execute_batch(
        "CREATE TABLE job (id INTEGER PRIMARY KEY, lane TEXT NOT NULL, state TEXT NOT NULL, payload TEXT NOT NULL,
             created_at INTEGER NOT NULL, started_at INTEGER, finished_at INTEGER);
         CREATE INDEX job_queue ON job (lane, id) WHERE state = 'queued';",
    )?;
    let begun = Instant::now();
    for step in ["insert", "begin", "end"] {
        for first in (0..jobs).step_by(GROUP) {
            db.execute_batch("BEGIN IMMEDIATE")?;
            for n in first..jobs.min(first + GROUP) {
                let now = SystemClock.now().0;
                match step {
                    "insert" => db
                        .prepare_cached("INSERT INTO job (id, lane, state, payload, created_at) VALUES (?, ?, 'queued', 'null', ?)")?
                        .execute(params![n as i64, format!("lane{}", n % GROUP), now])?,
                    "begin" => db
                        .prepare_cached("UPDATE job SET state = 'running', started_at = ? WHERE id = ?")?
                        .execute(params![now, n as i64])?,
                    _ => db
                        .prepare_cached("UPDATE job SET state = 'done', finished_at = ? WHERE id = ?")?
                        .execute(params![now, n as i64])?,
                };
            }
            db.execute_batch("COMMIT")?;
        }
    }
    Ok(jobs as f64 / begun.elapsed().as_secs_f64())
}

/// The time of a lease with few jobs and with many, and the memory in between.
async fn lease((few, many, lanes): (usize, usize, usize)) -> Result<Vec<Figure>> {
    let dir = tempfile::tempdir()?;
    let small = open(&dir.path().join("few"), Durability::Process)?;
    fill(&small, few, lanes.min(few / 100)).await?;
    let before = resident()?;
    let large = open(&dir.path().join("many"), Durability::Process)?;
    fill(&large, many, lanes).await?;
    // In turn, so that whatever else the machine does strikes both.
    let (mut with_few, mut with_many) = (Vec::new(), Vec::new());
    for _ in 0..100 {
        with_few.push(one(&small).await?);
        with_many.push(one(&large).await?);
    }
    let grown = resident()? - before;
    let (with_few, with_many) = (Samples::new(with_few).median(), Samples::new(with_many).median());
    let peak = Usage::of_this_process(0, 0.0)?.peak_mb;
    Ok(vec![
        Figure {
            name: format!("a lease with {many} jobs, of one with {few}"),
            value: with_many / with_few,
            unit: "×",
            goal: Goal::AtMost(3.0),
            note: format!("{with_many:.0} µs over {lanes} lanes, {with_few:.0} µs"),
        },
        Figure {
            name: format!("memory of {many} queued jobs"),
            value: grown,
            unit: " MB",
            goal: Goal::AtMost(64.0),
            note: format!("resident, beyond that of {few}; this process had {peak:.0} MB at most"),
        },
    ])
}

async fn fill(table: &SqliteStore, jobs: usize, lanes: usize) -> Result<()> {
    for first in (0..jobs).step_by(2_000) {
        let group = (first..jobs.min(first + 2_000))
            .map(|n| NewJob::new("empty", format!("lane{}", n % lanes.max(1))).payload(n.into()));
        table.submit(group.collect(), Timestamp(SystemClock.now().0)).await?;
    }
    Ok(())
}

/// Takes a job and ends it; the time of the first half in microseconds.
async fn one(table: &SqliteStore) -> Result<f64> {
    tokio::time::sleep(REST).await;
    let begun = Instant::now();
    let leased = table.lease(ask(), SystemClock.now()).await?.context("nothing to lease")?;
    let took = begun.elapsed().as_secs_f64() * 1e6;
    table.finish(done(leased), None, SystemClock.now()).await?;
    Ok(took)
}

/// Resident memory of this process in MB.
fn resident() -> Result<f64> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let kib = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kib: f64 =
        kib.and_then(|rest| rest.trim().strip_suffix(" kB")?.trim().parse().ok()).context("no VmRSS")?;
    Ok(kib * 1024.0 / 1e6)
}
