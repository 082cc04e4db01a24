//! `dibao-bench`: the experiments as a program. `cargo xtask bench` builds and calls it; the hidden commands are the
//! child processes of the experiments.

use std::path::PathBuf;

use anyhow::Result;
use clap::{Args, Parser, Subcommand, ValueEnum};
use dibao_benches::crawl::{Survives, Who};
use dibao_benches::{crawl, figures, gate, languages, list, load, pages, queue, schedule, search, serve};

#[derive(Debug, Parser)]
#[command(name = "dibao-bench")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Measure and print the table
    Run {
        /// A short run: fewer rounds, fewer articles
        #[arg(long)]
        quick: bool,
        /// Only this experiment
        #[arg(long)]
        only: Option<Experiment>,
        /// Where `cargo xtask adapters` put the adapters
        #[arg(long, value_name = "DIR")]
        adapters: PathBuf,
        /// A Python interpreter that has trafilatura and gne
        #[arg(long, value_name = "FILE")]
        python: Option<PathBuf>,
        /// A Python interpreter that has croniter
        #[arg(long, value_name = "FILE")]
        croniter: Option<PathBuf>,
    },
    #[command(hide = true)]
    StartSchedules { dir: PathBuf },
    #[command(hide = true)]
    PrepareOnce(Crawl),
    #[command(hide = true)]
    CrawlOnce(Crawl),
    #[command(hide = true)]
    HostsOnce,
    #[command(hide = true)]
    LoadOnce {
        #[arg(long)]
        adapters: PathBuf,
        #[arg(long)]
        cache: PathBuf,
    },
}

#[derive(Debug, Args)]
struct Crawl {
    #[arg(long)]
    who: Who,
    #[arg(long)]
    survives: Survives,
    #[arg(long)]
    state: PathBuf,
    #[arg(long)]
    data: PathBuf,
    #[arg(long)]
    adapters: PathBuf,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Experiment {
    /// A list page and the trivial call
    List,
    /// The same turn in Rust, Python and JavaScript
    Languages,
    /// Compiling and the disk cache
    Load,
    /// The whole crawl
    Crawl,
    /// The gate's own time and memory
    Gate,
    /// Pages to articles, beside Python packages
    Pages,
    /// The durable queue
    Queue,
    /// A million schedules
    Schedule,
    /// Searching a large store while a crawl writes
    Search,
    /// The start of the daemon with thousands of targets
    Serve,
}

fn main() -> Result<()> {
    match Arguments::parse().command {
        Command::Run { quick, only, adapters, python, croniter } => {
            let wanted = |experiment| only.is_none_or(|only| only == experiment);
            let mut all = Vec::new();
            if wanted(Experiment::List) {
                let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
                all.extend(runtime.block_on(list::measure(&adapters, quick))?);
            }
            if wanted(Experiment::Languages) {
                let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
                all.extend(runtime.block_on(languages::measure(&adapters, quick))?);
            }
            if wanted(Experiment::Load) {
                all.extend(load::measure(&adapters, quick)?);
            }
            if wanted(Experiment::Gate) {
                let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
                all.extend(runtime.block_on(gate::measure(quick))?);
            }
            if wanted(Experiment::Queue) {
                let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
                all.extend(runtime.block_on(queue::measure(quick))?);
            }
            if wanted(Experiment::Schedule) {
                let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
                all.extend(runtime.block_on(schedule::measure(croniter.as_deref(), quick))?);
            }
            if wanted(Experiment::Search) {
                let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
                all.extend(runtime.block_on(search::measure(quick))?);
            }
            if wanted(Experiment::Serve) {
                let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
                all.extend(runtime.block_on(serve::measure(&adapters, quick))?);
            }
            if wanted(Experiment::Crawl) {
                all.extend(crawl::measure(&adapters, quick)?);
            }
            if wanted(Experiment::Pages) {
                all.extend(pages::measure(python.as_deref(), quick)?);
            }
            println!("{}", figures::table(&all));
        }
        Command::PrepareOnce(c) => crawl::prepare(c.who, c.survives, &c.state, &c.data, &c.adapters)?,
        Command::CrawlOnce(c) => {
            println!("{}", crawl::once(c.who, c.survives, &c.state, &c.data, &c.adapters)?.to_json());
        }
        Command::StartSchedules { dir } => {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
            let (seconds, peak) = runtime.block_on(schedule::start_once(&dir))?;
            println!("{seconds} {peak}");
        }
        Command::HostsOnce => {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
            println!("{}", runtime.block_on(gate::hosts_once())?);
        }
        Command::LoadOnce { adapters, cache } => {
            let (took, hit) = load::once(&adapters, &cache)?;
            println!("{took} {hit}");
        }
    }
    Ok(())
}
