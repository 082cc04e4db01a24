//! `dibao crawl`: a site file or stored targets, several hosts at a time.

mod dry_run;
mod pick;
mod queued;
mod sink;

use std::io::Write;
use std::str::FromStr;
use std::sync::Arc;

use clap::Args;
use dibao::crawl::StopReason;
use dibao::{CrawlEvent, Engine, Error, Report, Streamed};
use futures::{StreamExt, stream};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use self::sink::Sink;
use crate::exit::{Exit, Usage, words};
use crate::open::OpenArgs;
use crate::output::{LogArgs, complain, is_for_people, json_line, print_rows};
use crate::progress::Board;
use crate::signals::drain_then_abort;

const EXAMPLES: &str = "Examples:
  dibao crawl site.yaml --column zxbd --max-items 20 -o out.jsonl   the newest 20, new ones into a file
  dibao crawl site.yaml --dry-run                                   what would be done, nothing stored
  dibao crawl ndrc ndrc__tz                                         what was stored before
  dibao crawl --all --jobs 8 -o - >> all.jsonl                      everything, added to a file";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct CrawlArgs {
    /// A site file (site.yaml; it is imported first), a stored site, or stored targets (site__column)
    #[arg(required_unless_present = "all", value_name = "FILE|SITE|TARGET")]
    what: Vec<String>,

    /// Only these columns of the site
    #[arg(long, short, value_name = "COLUMN")]
    column: Vec<String>,

    /// Every stored target that is switched on
    #[arg(long, conflicts_with_all = ["what", "column"])]
    all: bool,

    /// Look at the first N rows of each list only
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    max_items: Option<u32>,

    /// Do not stop at the first known article
    #[arg(long)]
    force: bool,

    /// Show requests and rows, store nothing
    #[arg(long, conflicts_with = "output")]
    dry_run: bool,

    /// Write the new articles of this run to this file as JSON lines; it is replaced (- for standard output)
    #[arg(long, short, value_name = "FILE")]
    output: Option<String>,

    /// How many hosts to crawl at a time; one host is never crawled twice at once
    #[arg(long, short, default_value_t = 3, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=64))]
    jobs: u32,

    /// When failed items make the exit code non-zero: never, any, partial:PERCENT or no-items
    #[arg(long, default_value = "any", value_name = "WHEN")]
    fail_on: FailOn,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum FailOn {
    Never,
    Any,
    Partial(f64),
    NoItems,
}

impl FromStr for FailOn {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once(':') {
            None if text == "never" => Ok(FailOn::Never),
            None if text == "any" => Ok(FailOn::Any),
            None if text == "no-items" => Ok(FailOn::NoItems),
            Some(("partial", percent)) => match percent.trim_end_matches('%').parse() {
                Ok(percent) if (0.0..=100.0).contains(&percent) => Ok(FailOn::Partial(percent)),
                _ => Err(format!("`{percent}` is no percentage from 0 to 100")),
            },
            _ => Err("write never, any, partial:PERCENT or no-items".to_string()),
        }
    }
}

pub async fn run(open: &OpenArgs, logging: &LogArgs, args: CrawlArgs) -> anyhow::Result<Exit> {
    let given = pick::read(&args.what, &args.column)?;
    if args.dry_run {
        return dry_run::run(open, &args, &given).await;
    }
    if !given.iter().any(|given| matches!(given, pick::Given::File(_))) {
        open.must_exist()?;
    }
    let engine = open.engine().await?;
    let targets = match args.all {
        true => pick::all(&engine).await?,
        false => pick::store(&engine, &given, &args.column).await?,
    };
    if targets.is_empty() {
        return Err(nothing());
    }
    let sink = args.output.as_deref().map(Sink::open).transpose()?.map(Arc::new);
    let cancel = drain_then_abort(Some(engine.queue().clone()));
    let job = Job { engine, args, sink, cancel, board: Board::new(logging.quiet) };
    let ends: Vec<End> = match job.args.all {
        true => queued::run(&job, &targets).await?,
        false => {
            stream::iter(pick::by_host(&targets).into_values())
                .map(|lane| job.lane(lane))
                .buffer_unordered(job.args.jobs as usize)
                .concat()
                .await
        }
    };
    if job.sink.as_ref().is_some_and(|sink| sink.reader_gone()) {
        return Ok(Exit::Ok);
    }
    for end in &ends {
        if let Err(error) = &end.result {
            let words = words(error);
            // Most errors name their target themselves.
            let prefix =
                if words.contains(&end.target) { String::new() } else { format!("{}: ", end.target) };
            complain(format_args!("{prefix}{words}"));
        }
    }
    if !job.sink.as_ref().is_some_and(|sink| sink.is_stdout()) {
        print_reports(&ends)?;
    }
    Ok(judge(&ends, job.args.fail_on, job.cancel.is_cancelled()))
}

fn nothing() -> anyhow::Error {
    Usage("there is nothing to crawl: no target is switched on; `dibao target ls` shows them".into()).into()
}

/// What all targets of one command share.
struct Job {
    engine: Engine,
    args: CrawlArgs,
    sink: Option<Arc<Sink>>,
    cancel: CancellationToken,
    board: Board,
}

/// How one target ended.
struct End {
    target: String,
    result: anyhow::Result<Report>,
}

impl Job {
    /// The targets of one host, one after the other.
    async fn lane(&self, targets: Vec<String>) -> Vec<End> {
        let mut ends = Vec::new();
        for target in targets {
            if self.cancel.is_cancelled() {
                break;
            }
            let result = self.target(&target).await;
            ends.push(End { target, result });
        }
        ends
    }

    async fn target(&self, target: &str) -> anyhow::Result<Report> {
        let mut lane = self.board.lane(target);
        let request = self.engine.crawl(target).max_items(self.args.max_items).force(self.args.force);
        let mut events = std::pin::pin!(request.cancel_with(self.cancel.clone()).stream());
        let mut result = Err(Error::Interrupted.into());
        while let Some(streamed) = events.next().await {
            match streamed {
                Ok(Streamed::Event(event)) => {
                    lane.see(&event);
                    if let (CrawlEvent::Stored(article), Some(sink)) = (&event, &self.sink) {
                        match sink.put(article) {
                            Ok(true) => {}
                            // Nobody reads any more: what is under way is finished, then it ends.
                            Ok(false) => self.cancel.cancel(),
                            // Stopping here is safe: what is stored stays, the next run goes on.
                            Err(error) => {
                                lane.end(true);
                                return Err(error);
                            }
                        }
                    }
                }
                Ok(Streamed::Report(report)) => result = Ok(*report),
                Err(error) => result = Err(error.into()),
            }
        }
        lane.end(result.is_ok());
        result
    }
}

fn judge(ends: &[End], fail_on: FailOn, cancelled: bool) -> Exit {
    let mut exit = if cancelled { Exit::Interrupted } else { Exit::Ok };
    let (mut new, mut failed) = (0, 0);
    for end in ends {
        match &end.result {
            Ok(report) => {
                new += report.items_new;
                failed += report.items_failed;
                if report.stop == StopReason::Cancelled {
                    exit = exit.worse(Exit::Interrupted);
                }
                if report.stop == StopReason::Cooldown {
                    exit = exit.worse(Exit::Busy);
                }
            }
            Err(error) => exit = exit.worse(Exit::of(error)),
        }
    }
    let share = 100.0 * f64::from(failed) / f64::from((new + failed).max(1));
    let partial = match fail_on {
        FailOn::Never => false,
        FailOn::Any | FailOn::NoItems => failed > 0,
        FailOn::Partial(percent) => failed > 0 && share >= percent,
    };
    if partial {
        exit = exit.worse(Exit::Partial);
    }
    if fail_on == FailOn::NoItems && new == 0 {
        exit = exit.worse(Exit::NoItems);
    }
    exit
}

/// A line for each target. A program gets the failed ones too, a person has just read of them.
fn print_reports(ends: &[End]) -> anyhow::Result<()> {
    if !is_for_people() {
        let mut out = std::io::stdout().lock();
        for end in ends {
            let line = match &end.result {
                Ok(report) => json_line(report)?,
                Err(error) => json_line(&json!({
                    "target": end.target,
                    "error": words(error),
                    "exit_code": Exit::of(error).code(),
                }))?,
            };
            out.write_all(line.as_bytes())?;
        }
        return Ok(());
    }
    let reports: Vec<&Report> = ends.iter().filter_map(|end| end.result.as_ref().ok()).collect();
    if reports.is_empty() {
        return Ok(());
    }
    let headings = ["site", "target", "listed", "new", "duplicate", "failed", "attachments", "stop", "time"];
    print_rows(&reports, &headings, |report| {
        let (site, column) = report.target.split_once("__").unwrap_or(("", &report.target));
        vec![
            site.to_string(),
            column.to_string(),
            report.items_seen.to_string(),
            report.items_new.to_string(),
            report.items_duplicate.to_string(),
            report.items_failed.to_string(),
            report.attachments.to_string(),
            report.stop.as_str().replace('_', " "),
            format!("{:.1} s", report.elapsed.as_secs_f64()),
        ]
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fail_on_is_read_or_explained() {
        assert_eq!("partial:5%".parse(), Ok(FailOn::Partial(5.0)));
        assert_eq!("never".parse(), Ok(FailOn::Never));
        assert!("partial:500".parse::<FailOn>().is_err());
        assert!("sometimes".parse::<FailOn>().unwrap_err().contains("no-items"));
    }
}
