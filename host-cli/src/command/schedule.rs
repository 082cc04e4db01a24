//! `dibao schedule`: what a policy would have done to known histories, and its decisions over a pipe.

mod decide;
mod simulate;

use clap::Subcommand;

use crate::exit::Exit;

#[derive(Subcommand)]
pub enum ScheduleCommand {
    /// Replay publishing histories: how long items wait under each policy, at an equal number of checks
    Simulate(simulate::SimulateArgs),
    /// Answer JSON lines with the next check of a source and the reason
    ///
    /// Reads {"op":"open","id","tz","now","items":[unix…],"knob"} for the first look at a source and
    /// {"op":"check","id","now","new":[unix…],"knob"} for every later one, and answers each with {"next":unix,"why"}.
    /// `knob` multiplies the price of a check: bigger means fewer. A line that cannot be answered gets {"error"} and
    /// the next one is taken; the exit code is then 9.
    Decide(decide::DecideArgs),
}

pub fn run(command: ScheduleCommand) -> anyhow::Result<Exit> {
    match command {
        ScheduleCommand::Simulate(args) => simulate::run(args),
        ScheduleCommand::Decide(args) => decide::run(args),
    }
}

/// For clap: a policy, or the sentence that says what is wrong with it.
fn policy(text: &str) -> Result<dibao::schedule::policy::Policy, String> {
    text.parse().map_err(|error: dibao::schedule::policy::PolicyError| error.to_string())
}
