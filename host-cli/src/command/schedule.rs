//! `dibao schedule`: what comes due and why; schedules made and changed; what a policy would have done to known histories, and its
//! decisions over a pipe.

mod change;
mod decide;
mod explain;
mod list;
mod simulate;

use clap::Subcommand;

use crate::exit::Exit;
use crate::open::OpenArgs;

#[derive(Subcommand)]
pub enum ScheduleCommand {
    /// List schedules: what makes them due, when, and how the last time went
    Ls(list::LsArgs),
    /// Draw how much comes due in each of the coming hours
    Next(list::NextArgs),
    /// Tell why a schedule is due when it is, what would be earlier, and what holds it back
    Explain(explain::ExplainArgs),
    /// Make a schedule: a crawl of a target at set times, or work of your own
    Add(change::AddArgs),
    /// Change what makes a schedule due; reconciling leaves alone what was set by hand
    Set(change::SetArgs),
    /// Remove schedules
    Rm {
        /// Names
        #[arg(required = true)]
        names: Vec<String>,
    },
    /// Switch schedules off until they are resumed
    Pause {
        /// Names, or codes of targets
        #[arg(required = true)]
        names: Vec<String>,
    },
    /// Switch schedules on again
    Resume {
        /// Names, or codes of targets
        #[arg(required = true)]
        names: Vec<String>,
    },
    /// Make the job of a schedule now; its due time stays as it is
    Run {
        /// Names, or codes of targets
        #[arg(required = true)]
        names: Vec<String>,
    },
    /// Show or set how many checks a day all adaptive sources together may make
    Budget {
        /// So many, or `none`
        #[arg(value_parser = change::budget)]
        checks_per_day: Option<change::Budget>,
    },
    /// Read changed site files now, and make schedules follow sites and targets, as a running daemon does every five minutes
    Reconcile,
    /// Replay publishing histories: how long items wait under each policy, at an equal number of checks
    Simulate(simulate::SimulateArgs),
    /// Answer JSON lines with the next check of a source and the reason
    ///
    /// Reads {"op":"open","id","tz","now","items":[unix…],"knob"} for the first look at a source and
    /// {"op":"check","id","now","new":[unix…],"knob"} for every later one, and answers each with {"next":unix,"why"}.
    /// `knob` multiplies the price of a check: bigger means fewer; where a number of checks a day is the measure, turn it until
    /// that is met. A line that cannot be answered gets {"error"} and the next one is taken; the exit code is then 9.
    Decide(decide::DecideArgs),
}

pub async fn run(open: &OpenArgs, command: ScheduleCommand) -> anyhow::Result<Exit> {
    match command {
        ScheduleCommand::Ls(args) => list::ls(open, args).await,
        ScheduleCommand::Next(args) => list::next(open, args).await,
        ScheduleCommand::Explain(args) => explain::run(open, args).await,
        ScheduleCommand::Add(args) => change::add(open, args).await,
        ScheduleCommand::Set(args) => change::set(open, args).await,
        ScheduleCommand::Rm { names } => change::each(open, names, change::Verb::Remove).await,
        ScheduleCommand::Pause { names } => change::each(open, names, change::Verb::Pause).await,
        ScheduleCommand::Resume { names } => change::each(open, names, change::Verb::Resume).await,
        ScheduleCommand::Run { names } => change::each(open, names, change::Verb::Run).await,
        ScheduleCommand::Budget { checks_per_day } => change::set_budget(open, checks_per_day).await,
        ScheduleCommand::Reconcile => change::reconcile(open).await,
        ScheduleCommand::Simulate(args) => simulate::run(open, args).await,
        ScheduleCommand::Decide(args) => decide::run(args),
    }
}

/// The engine of a store that is there, its schedules as sites and targets want them.
async fn engine(open: &OpenArgs) -> anyhow::Result<dibao::Engine> {
    open.must_exist()?;
    let engine = open.engine().await?;
    engine.follow_targets().await?;
    Ok(engine)
}

/// For clap: a policy, or the sentence that says what is wrong with it.
fn policy(text: &str) -> Result<dibao::schedule::policy::Policy, String> {
    text.parse().map_err(|error: dibao::schedule::policy::PolicyError| error.to_string())
}
