//! The whole job: thousands of articles from ten hosts, by dibao and by the yardstick, each in a process of its own.

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use anyhow::{Context as _, Result, ensure};
use clap::ValueEnum;
use clap::builder::PossibleValue;
use dibao::store::Durability;

use crate::figures::{Figure, Goal, Samples};
use crate::usage::Usage;
use crate::world::{Server, Size, World};
use crate::{bare, contender};

/// Who crawls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Who {
    /// dibao.
    Dibao,
    /// The yardstick.
    Bare,
}

/// What stored means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Survives {
    /// The loss of power: dibao's default.
    Power,
    /// The end of the process.
    Process,
}

impl Survives {
    fn durability(self) -> Durability {
        match self {
            Survives::Power => Durability::Power,
            Survives::Process => Durability::Process,
        }
    }
}

/// In the child: imports the sites into an empty directory, where there is something to import.
pub fn prepare(who: Who, survives: Survives, state: &Path, data: &Path, adapters: &Path) -> Result<()> {
    let world = World::read(state)?;
    match who {
        Who::Bare => Ok(()),
        Who::Dibao => tokio::runtime::Runtime::new()?.block_on(contender::import(
            &world,
            data,
            adapters,
            survives.durability(),
        )),
    }
}

/// In the child: one crawl into a directory that was prepared.
pub fn once(who: Who, survives: Survives, state: &Path, data: &Path, adapters: &Path) -> Result<Usage> {
    let begin = Instant::now();
    let world = World::read(state)?;
    let runtime = tokio::runtime::Runtime::new()?;
    let stored = runtime.block_on(async {
        match who {
            Who::Bare => bare::crawl(&world, data, survives == Survives::Power).await,
            Who::Dibao => contender::crawl(&world, data, adapters, survives.durability()).await,
        }
    })?;
    drop(runtime);
    Usage::of_this_process(stored, begin.elapsed().as_secs_f64())
}

/// Measures both contenders under both meanings of stored.
pub fn measure(adapters: &Path, quick: bool) -> Result<Vec<Figure>> {
    let (size, rounds) =
        if quick { (Size { hosts: 10, articles: 60 }, 1) } else { (Size { hosts: 10, articles: 500 }, 3) };
    // Beside the adapters and not in /tmp, which may be memory: durable is to mean something.
    let place = adapters.parent().unwrap_or(adapters);
    let dir = tempfile::Builder::new().prefix("bench").tempdir_in(place)?;
    let server = Server::start(dir.path(), size)?;
    let mut figures = Vec::new();
    for survives in [Survives::Power, Survives::Process] {
        let (mut dibao, mut bare) = (Vec::new(), Vec::new());
        for round in 0..rounds {
            let order = if round % 2 == 0 { [Who::Bare, Who::Dibao] } else { [Who::Dibao, Who::Bare] };
            for who in order {
                let usage = child(who, survives, &server, dir.path(), adapters)
                    .with_context(|| format!("{who:?} crawling"))?;
                ensure!(usage.articles == size.total(), "{who:?} stored {usage:?} of {}", size.total());
                eprintln!(
                    "crawl, {survives:?}, round {}: {who:?} {:.1} s, {:.2} ms CPU an article, {:.0} MB",
                    round + 1,
                    usage.seconds,
                    usage.cpu_ms(),
                    usage.peak_mb
                );
                if who == Who::Dibao { dibao.push(usage) } else { bare.push(usage) }
            }
        }
        figures.extend(compare(survives, size, &dibao, &bare));
    }
    Ok(figures)
}

fn compare(survives: Survives, size: Size, dibao: &[Usage], bare: &[Usage]) -> Vec<Figure> {
    let samples = |of: &[Usage], value: fn(&Usage) -> f64| Samples::new(of.iter().map(value).collect());
    let stored = match survives {
        Survives::Power => "synced",
        Survives::Process => "not synced",
    };
    let (fast, bare_fast) = (samples(dibao, Usage::rate), samples(bare, Usage::rate));
    let (cpu, bare_cpu) = (samples(dibao, Usage::cpu_ms), samples(bare, Usage::cpu_ms));
    let (memory, bare_memory) = (samples(dibao, |u| u.peak_mb), samples(bare, |u| u.peak_mb));
    let mut figures = vec![
        Figure {
            name: format!("crawl ({stored}), throughput to bare loop"),
            value: fast.median() / bare_fast.median(),
            unit: "×",
            goal: Goal::AtLeast(1.0),
            note: format!(
                "{} articles: {:.0}/s ({:.0}–{:.0}) to {:.0}/s ({:.0}–{:.0})",
                size.total(),
                fast.median(),
                fast.at(0.0),
                fast.at(1.0),
                bare_fast.median(),
                bare_fast.at(0.0),
                bare_fast.at(1.0),
            ),
        },
        Figure {
            name: format!("crawl ({stored}), CPU an article to bare loop"),
            value: cpu.median() / bare_cpu.median(),
            unit: "×",
            goal: Goal::AtMost(1.2),
            note: format!(
                "{:.2} ms ({:.2}–{:.2}) to {:.2} ms ({:.2}–{:.2})",
                cpu.median(),
                cpu.at(0.0),
                cpu.at(1.0),
                bare_cpu.median(),
                bare_cpu.at(0.0),
                bare_cpu.at(1.0),
            ),
        },
        Figure {
            name: format!("crawl ({stored}), peak memory"),
            value: memory.at(1.0),
            unit: " MB",
            goal: Goal::AtMost(100.0),
            note: format!("the worst round; the bare loop {:.0} MB", bare_memory.at(1.0)),
        },
    ];
    for (figure, why) in figures.iter_mut().zip(WHY) {
        if figure.met() == Some(false) {
            figure.note = format!("{}; {why}", figure.note);
        }
    }
    figures
}

/// Why a figure may miss its goal, in the order of the figures; from profiles of both contenders.
const WHY: [&str; 3] = [
    "both are bound by the processor, which they share with the replica: see the next line",
    "beyond the bare loop: frontier, request log and their indexes (the writer takes twice its time), two \
     sandboxed turns and their hops between threads, layout-keeping text, cleaning",
    "texts that wait for their commit, pooled instances, the database cache",
];

/// Prepares and crawls, each in a process of its own. The data stays until the end of the experiment: ext4 is slow to
/// give out again what was freed a moment ago, and the next contender would pay for it.
fn child(who: Who, survives: Survives, server: &Server, dir: &Path, adapters: &Path) -> Result<Usage> {
    let data = tempfile::tempdir_in(dir)?.keep();
    let name =
        |value: Option<PossibleValue>| value.map(|value| value.get_name().to_owned()).unwrap_or_default();
    let mut line = Vec::new();
    for command in ["prepare-once", "crawl-once"] {
        let output = Command::new(std::env::current_exe()?)
            .arg(command)
            .args(["--who", &name(who.to_possible_value())])
            .args(["--survives", &name(survives.to_possible_value())])
            .arg("--state")
            .arg(&server.state)
            .arg("--data")
            .arg(&data)
            .arg("--adapters")
            .arg(adapters)
            .output()?;
        ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr).trim());
        line = output.stdout;
    }
    let line = serde_json::from_slice(&line).context("no figures came back")?;
    Usage::from_json(&line).context("figures are missing")
}
