//! `dibao run`: the timer that fires schedules and the workers for the queue, until a signal ends them.

use clap::Args;

use crate::exit::{Exit, Usage};
use crate::open::OpenArgs;
use crate::output::note;
use crate::signals::drain_then_abort;
use crate::work::WorkArgs;

#[derive(Args)]
pub struct RunArgs {
    #[command(flatten)]
    work: WorkArgs,

    /// Only work off the queue: end when nothing is left in it, fire no schedules
    #[arg(long)]
    until_empty: bool,

    /// Only work on the queue: fire no schedules
    #[arg(long)]
    no_schedules: bool,
}

pub async fn run(open: &OpenArgs, args: RunArgs) -> anyhow::Result<Exit> {
    open.must_exist()?;
    if args.work.jobs == 0 {
        return Err(Usage("--jobs 0 would work on nothing; write 1 to 64".to_string()).into());
    }
    let engine = open.builder_in(open.data.clone())?.reconcile_every(args.work.reconcile).build().await?;
    let stop = drain_then_abort(Some(engine.queue().clone()));
    let options = args.work.options();
    note("dibao: working; Ctrl-C ends it");
    open.note_missing_contact();
    if args.until_empty || args.no_schedules {
        engine.queue().work(engine.handlers(), options, stop.clone(), args.until_empty).await?;
        engine.gate().flush().await;
    } else {
        engine.run(engine.handlers(), options, stop.clone()).await?;
    }
    Ok(if stop.is_cancelled() { Exit::Interrupted } else { Exit::Ok })
}
