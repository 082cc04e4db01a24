//! `dibao queue`: what waits, what is at work, what became of it; call off, try again, examine.
//!
//! The rows are in the store: a running daemon heeds a change within seconds.

use clap::{Subcommand, ValueEnum};
use dibao::queue::{Job, JobQuery, JobState, JobTable};
use dibao::{Clock, Timestamp, clock::SystemClock};
use serde_json::Value;

use crate::exit::{Exit, Usage};
use crate::open::{OpenArgs, audited};
use crate::output::{is_for_people, json_line, minute, note, print_rows, short};

#[derive(Subcommand)]
pub enum QueueCommand {
    /// List jobs, the newest first
    Ls {
        /// Only in this state; may be given several times
        #[arg(long, short, value_enum)]
        state: Vec<State>,
        /// Only of this lane (a host, for crawls)
        #[arg(long)]
        lane: Option<String>,
        /// Only of this kind
        #[arg(long)]
        kind: Option<String>,
        /// At most so many
        #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=10_000))]
        limit: u32,
    },
    /// List lanes: what waits in them, what is at work, the age of the oldest
    Lanes,
    /// Show all that is known of a job
    Show {
        /// Its number
        id: i64,
    },
    /// Call jobs off; one that is at work is asked to stop
    Cancel {
        /// Their numbers
        #[arg(required = true)]
        ids: Vec<i64>,
    },
    /// Let jobs that ended badly, or wait for their time, start now
    Retry {
        /// Their numbers
        #[arg(required = true)]
        ids: Vec<i64>,
    },
    /// Look for what does not add up
    Doctor {
        /// Set counters right, and let jobs wait again that nobody works on
        #[arg(long)]
        repair: bool,
    },
}

/// The states of jobs, as they are written on the command line.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub enum State {
    Scheduled,
    Queued,
    RetryWait,
    Running,
    Cancelling,
    Done,
    Failed,
    Expired,
    Cancelled,
}

impl From<State> for JobState {
    fn from(state: State) -> JobState {
        match state {
            State::Scheduled => JobState::Scheduled,
            State::Queued => JobState::Queued,
            State::RetryWait => JobState::RetryWait,
            State::Running => JobState::Running,
            State::Cancelling => JobState::Cancelling,
            State::Done => JobState::Done,
            State::Failed => JobState::Failed,
            State::Expired => JobState::Expired,
            State::Cancelled => JobState::Cancelled,
        }
    }
}

pub async fn run(open: &OpenArgs, command: QueueCommand) -> anyhow::Result<Exit> {
    let table = open.store()?;
    let now = SystemClock.now();
    match command {
        QueueCommand::Ls { state, lane, kind, limit } => {
            let states = state.into_iter().map(JobState::from).collect();
            let jobs = table.jobs(JobQuery { states, lane, kind, limit, ..JobQuery::default() }).await?;
            let headings = ["id", "kind", "lane", "state", "due", "age", "attempts", "what", "why"];
            print_rows(&jobs, &headings, |job| line(job, now))?;
        }
        QueueCommand::Lanes => {
            let lanes = table.lanes().await?;
            let headings = ["lane", "queued", "waiting", "running", "slots", "oldest"];
            print_rows(&lanes, &headings, |lane| {
                vec![
                    lane.lane.clone(),
                    lane.queued.to_string(),
                    lane.waiting.to_string(),
                    lane.running.to_string(),
                    lane.concurrency.to_string(),
                    lane.oldest.map(|at| age(at, now)).unwrap_or_default(),
                ]
            })?;
        }
        QueueCommand::Show { id } => show(&table.job(id).await?.ok_or_else(|| unknown(id))?)?,
        QueueCommand::Cancel { ids } => {
            for id in ids {
                let work = async { table.cancel(id, now).await?.ok_or_else(|| unknown(id)) };
                match audited(&table, "job.cancel", &id.to_string(), Value::Null, work).await? {
                    JobState::Cancelling => note(format_args!("job {id} is asked to stop")),
                    JobState::Cancelled => note(format_args!("job {id} is cancelled")),
                    state => note(format_args!("job {id} has ended: {}", state.as_str())),
                }
            }
        }
        QueueCommand::Retry { ids } => {
            for id in ids {
                let work = async { table.retry(id, now).await?.ok_or_else(|| unknown(id)) };
                match audited(&table, "job.retry", &id.to_string(), Value::Null, work).await? {
                    JobState::Queued => note(format_args!("job {id} waits for a worker (`dibao run`)")),
                    state => note(format_args!("job {id} is {}: nothing to try again", state.as_str())),
                }
            }
        }
        QueueCommand::Doctor { repair } => {
            let found = table.doctor(SystemClock.steady(), repair).await?;
            for line in &found {
                println!("{line}");
            }
            if !found.is_empty() && !repair {
                note("`dibao queue doctor --repair` sets right what can be set right");
                return Ok(Exit::Storage);
            }
            if found.is_empty() {
                note("the queue is well");
            }
        }
    }
    Ok(Exit::Ok)
}

fn unknown(id: i64) -> anyhow::Error {
    Usage(format!("there is no job {id}; `dibao queue ls` lists them, finished ones are forgotten in time"))
        .into()
}

fn line(job: &Job, now: Timestamp) -> Vec<String> {
    let what = job.payload.get("target").and_then(|target| target.as_str());
    let what = what.map_or_else(|| job.payload.to_string(), str::to_owned);
    let why = job.hold_why.as_ref().or(job.error.as_ref()).cloned().unwrap_or_default();
    vec![
        job.id.to_string(),
        job.kind.clone(),
        job.lane.clone(),
        job.state.as_str().to_owned(),
        minute(job.due_at),
        age(job.finished_at.unwrap_or(job.created_at), now),
        job.attempts.to_string(),
        short(&what, 40),
        short(&why, 60),
    ]
}

/// How long ago, in one unit.
fn age(at: Timestamp, now: Timestamp) -> String {
    let seconds = (now.0 - at.0).max(0) / 1000;
    match seconds {
        0..=119 => format!("{seconds} s"),
        120..=7_199 => format!("{} min", seconds / 60),
        7_200..=172_799 => format!("{} h", seconds / 3_600),
        _ => format!("{} d", seconds / 86_400),
    }
}

fn show(job: &Job) -> anyhow::Result<()> {
    if !is_for_people() {
        print!("{}", json_line(job)?);
        return Ok(());
    }
    let Value::Object(fields) = serde_json::to_value(job)? else { return Ok(()) };
    let rows: Vec<(String, String)> = fields
        .into_iter()
        .map(|(key, value)| (key, value.as_str().map_or_else(|| value.to_string(), str::to_owned)))
        .collect();
    print_rows(&rows, &["field", "value"], |(key, value)| vec![key.clone(), value.clone()])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_age_has_one_unit() {
        let now = Timestamp(1_000_000_000);
        for (before, words) in [(0, "0 s"), (90, "90 s"), (600, "10 min"), (7_200, "2 h"), (864_000, "10 d")]
        {
            assert_eq!(age(Timestamp(now.0 - before * 1000), now), words);
        }
    }
}
