//! `dibao run`: the timer that fires schedules and the workers for the queue, until a signal ends them.

use std::time::Duration;

use clap::Args;
use dibao::queue::WorkOptions;

use crate::exit::Exit;
use crate::open::{OpenArgs, seconds};
use crate::output::note;
use crate::signals::drain_then_abort;

#[derive(Args)]
pub struct RunArgs {
    /// How many jobs to work on at a time; one host is never crawled twice at once
    #[arg(long, short, default_value_t = 3, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=64))]
    jobs: u32,

    /// How long what is under way may take to end after the first signal, in seconds
    #[arg(long, default_value = "30", value_name = "SECONDS", value_parser = seconds)]
    drain: Duration,

    /// Only work off the queue: end when nothing is left in it, fire no schedules
    #[arg(long)]
    until_empty: bool,

    /// Only work on the queue: fire no schedules
    #[arg(long)]
    no_schedules: bool,

    /// How often site files are looked at for changes, in seconds; changes of the store are followed at once
    #[arg(
        long,
        env = "SCHEDULER_RECONCILE_SEC",
        default_value = "300",
        value_name = "SECONDS",
        value_parser = seconds
    )]
    reconcile: Duration,
}

pub async fn run(open: &OpenArgs, args: RunArgs) -> anyhow::Result<Exit> {
    open.must_exist()?;
    let engine = open.builder_in(open.data.clone())?.reconcile_every(args.reconcile).build().await?;
    let stop = drain_then_abort();
    let options = WorkOptions { workers: args.jobs as usize, drain: args.drain, ..WorkOptions::default() };
    note("dibao: working; Ctrl-C ends it");
    if args.until_empty || args.no_schedules {
        engine.queue().work(engine.handlers(), options, stop.clone(), args.until_empty).await?;
        engine.gate().flush().await;
    } else {
        engine.run(engine.handlers(), options, stop.clone()).await?;
    }
    Ok(if stop.is_cancelled() { Exit::Interrupted } else { Exit::Ok })
}
