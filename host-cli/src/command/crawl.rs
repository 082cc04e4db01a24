//! `dibao crawl`: a site file or stored targets, several hosts at a time.

use std::collections::BTreeMap;
use std::io::{IsTerminal, Write};
use std::path::Path;
use std::str::FromStr;
use std::sync::{Arc, Mutex};

use anyhow::Context;
use clap::Args;
use dibao::config::{SiteConfig, load_site};
use dibao::crawl::{Preview, StopReason};
use dibao::model::Site;
use dibao::{CrawlEvent, Engine, Error, ErrorClass, Report, Streamed};
use futures::{StreamExt, stream};
use tokio_util::sync::CancellationToken;
use url::Url;

use crate::exit::{Exit, Usage, words};
use crate::open::OpenArgs;
use crate::output::{LogArgs, open_output, print_rows, printable, short};
use crate::progress::Board;
use crate::signals::drain_then_abort;

#[derive(Args)]
pub struct CrawlArgs {
    /// A site file (site.yaml), a stored site, or stored targets (site__column)
    #[arg(required_unless_present = "all", value_name = "FILE|SITE|TARGET")]
    what: Vec<String>,

    /// Only these columns of the site
    #[arg(long, short, value_name = "COLUMN")]
    column: Vec<String>,

    /// Every stored target that is switched on
    #[arg(long, conflicts_with = "what")]
    all: bool,

    /// Look at the first N rows of each list only
    #[arg(long, value_name = "N")]
    max_items: Option<u32>,

    /// Do not stop at the first known article
    #[arg(long)]
    force: bool,

    /// Show requests and rows, store nothing
    #[arg(long)]
    dry_run: bool,

    /// Write new articles to this file as JSON lines (- for standard output)
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

type Output = Arc<Mutex<Option<Box<dyn Write + Send>>>>;

pub async fn run(open: &OpenArgs, logging: &LogArgs, args: CrawlArgs) -> anyhow::Result<Exit> {
    if args.dry_run {
        return dry_run(open, &args).await;
    }
    let engine = open.engine().await?;
    let lanes = by_host(targets(&engine, &args).await?);
    let output: Output = Arc::new(Mutex::new(args.output.as_deref().map(open_output).transpose()?));
    let cancel = drain_then_abort();
    let board = Board::new(logging.quiet);
    let args = &args;
    let ends: Vec<End> = stream::iter(lanes.into_values())
        .map(|lane| {
            let (engine, board, output, cancel) = (&engine, &board, &output, &cancel);
            async move {
                let mut ends = Vec::new();
                for target in lane {
                    if cancel.is_cancelled() {
                        break;
                    }
                    ends.push(crawl_one(engine, &target, args, board, output, cancel).await);
                }
                ends
            }
        })
        .buffer_unordered(args.jobs as usize)
        .concat()
        .await;
    if let Some(mut output) = output.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).take() {
        output.flush().context("writing the output")?;
    }
    let exit = judge(&ends, args.fail_on, cancel.is_cancelled());
    for end in &ends {
        if let Err(error) = &end.result {
            eprintln!("dibao: {}: {}", end.target, words(error));
        }
    }
    // With `-o -` standard output belongs to the articles.
    if args.output.as_deref() != Some("-") {
        print_reports(&ends)?;
    }
    Ok(exit)
}

/// How one target ended.
struct End {
    target: String,
    result: anyhow::Result<Report>,
}

async fn crawl_one(
    engine: &Engine,
    target: &str,
    args: &CrawlArgs,
    board: &Board,
    output: &Output,
    cancel: &CancellationToken,
) -> End {
    let mut lane = board.lane(target);
    let request =
        engine.crawl(target).max_items(args.max_items).force(args.force).cancel_with(cancel.clone());
    let mut events = std::pin::pin!(request.stream());
    let mut result = Err(Error::Interrupted.into());
    while let Some(streamed) = events.next().await {
        match streamed {
            Ok(Streamed::Event(event)) => {
                lane.see(&event);
                if let CrawlEvent::Stored(article) = event
                    && let Some(output) =
                        output.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).as_mut()
                {
                    let written = serde_json::to_string(&article)
                        .map_err(std::io::Error::from)
                        .and_then(|line| writeln!(output, "{line}"));
                    if let Err(error) = written {
                        result = Err(anyhow::Error::from(error).context("writing the output"));
                        break;
                    }
                }
            }
            Ok(Streamed::Report(report)) => result = Ok(*report),
            Err(error) => result = Err(error.into()),
        }
    }
    lane.end();
    End { target: target.to_string(), result }
}

/// The targets that are meant, each with the host it is crawled on. Site files are imported first.
async fn targets(engine: &Engine, args: &CrawlArgs) -> anyhow::Result<Vec<(String, String)>> {
    let mut found = Vec::new();
    let stored = |site: Option<String>| async move { engine.store().targets(site.as_deref()).await };
    if args.all {
        for (site, target) in stored(None).await? {
            if site.enabled && target.enabled {
                found.push((host_of(&site), target.code));
            }
        }
    }
    for what in &args.what {
        if is_file(what) {
            let config = load_site(what)?;
            engine.import_site_config(&config).await?;
            found.extend(columns_of(engine, &config.site_id, Some(&config), &args.column).await?);
        } else if what.contains("__") {
            let Some((site, target)) = engine.store().target(what).await? else {
                // The engine names the nearest ones.
                engine.crawl(what.clone()).run().await?;
                continue;
            };
            found.push((host_of(&site), target.code));
        } else if engine.store().site(what).await?.is_some() {
            found.extend(columns_of(engine, what, None, &args.column).await?);
        } else {
            let message =
                format!("`{what}` is neither a file, nor a stored site, nor a target (site__column)");
            return Err(Usage(message).into());
        }
    }
    found.dedup();
    if found.is_empty() {
        return Err(Usage("there is nothing to crawl: no target is switched on".to_string()).into());
    }
    Ok(found)
}

async fn columns_of(
    engine: &Engine,
    site: &str,
    config: Option<&SiteConfig>,
    columns: &[String],
) -> anyhow::Result<Vec<(String, String)>> {
    let mut found = Vec::new();
    if columns.is_empty() {
        for (site, target) in engine.store().targets(Some(site)).await? {
            if target.enabled {
                found.push((host_of(&site), target.code));
            }
        }
    }
    for column in columns {
        let code = format!("{site}__{column}");
        if let Some(config) = config {
            // Also columns that only `default_column` describes.
            let target = config.column_target(column)?;
            engine.store().put_target(site, target).await?;
        }
        match engine.store().target(&code).await? {
            Some((site, target)) => found.push((host_of(&site), target.code)),
            None => {
                return Err(Usage(format!(
                    "site `{site}` has no column `{column}`; `dibao target ls {site}` shows them"
                ))
                .into());
            }
        }
    }
    Ok(found)
}

fn is_file(what: &str) -> bool {
    what.ends_with(".yaml") || what.ends_with(".yml") || Path::new(what).is_file()
}

fn host_of(site: &Site) -> String {
    let host = Url::parse(&site.base_url).ok().and_then(|url| url.host_str().map(str::to_lowercase));
    host.unwrap_or_else(|| site.code.clone())
}

/// S2-46: targets of one host one after the other, hosts beside each other.
fn by_host(targets: Vec<(String, String)>) -> BTreeMap<String, Vec<String>> {
    let mut lanes: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (host, target) in targets {
        lanes.entry(host).or_default().push(target);
    }
    lanes
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

fn print_reports(ends: &[End]) -> anyhow::Result<()> {
    let reports: Vec<&Report> = ends.iter().filter_map(|end| end.result.as_ref().ok()).collect();
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
            report.stop.as_str().to_string(),
            format!("{:.1} s", report.elapsed.as_secs_f64()),
        ]
    })?;
    if std::io::stdout().is_terminal() {
        for line in reports.iter().flat_map(|report| &report.failures) {
            let again = if line.will_retry { "will be tried again" } else { "given up" };
            println!("failed: {} ({}, {again}): {}", line.url, line.class.as_str(), printable(&line.message));
        }
    }
    Ok(())
}

/// Reads lists for real and stores nothing, not even the site.
async fn dry_run(open: &OpenArgs, args: &CrawlArgs) -> anyhow::Result<Exit> {
    // What is known can only be told from a store; without one an empty one stands in and is removed.
    let scratch = tempfile::tempdir().context("a temporary directory")?;
    let stored = dibao::store::database_path(&open.data).exists();
    let engine =
        open.engine_in(if stored { open.data.clone() } else { scratch.path().to_path_buf() }).await?;
    let cancel = drain_then_abort();
    let mut requests = Vec::new();
    for what in &args.what {
        if is_file(what) {
            let config = load_site(what)?;
            let (mut site, rows) = config.into_rows()?;
            let mut targets = rows;
            if !args.column.is_empty() {
                targets = args.column.iter().map(|c| config.column_target(c)).collect::<Result<_, _>>()?;
            }
            for mut target in targets {
                if let Some((known_site, known)) = engine.store().target(&target.code).await? {
                    site.id = known_site.id;
                    target.id = known.id;
                    target.site_id = known.site_id;
                }
                let code = target.code.clone();
                requests.push((code, engine.crawl_unstored(site.clone(), target)));
            }
        } else {
            requests.push((what.clone(), engine.crawl(what.clone())));
        }
    }
    let mut exit = Exit::Ok;
    for (code, request) in requests {
        let request = request.max_items(args.max_items).force(args.force).cancel_with(cancel.clone());
        match request.preview().await {
            Ok(preview) => show_preview(&code, &preview)?,
            Err(error) if error.class() == ErrorClass::Interrupted => return Ok(Exit::Interrupted),
            Err(error) => {
                eprintln!("dibao: {code}: {error}");
                exit = exit.worse(Exit::of_class(error.class()));
            }
        }
    }
    Ok(exit)
}

fn show_preview(code: &str, preview: &Preview) -> anyhow::Result<()> {
    for request in &preview.requests {
        let status = request.http_status.map_or("-".to_string(), |status| status.to_string());
        eprintln!("{code}: {} {} {status} {} ms", request.purpose, request.url, request.duration_ms);
    }
    print_rows(&preview.rows, &["decision", "date", "title", "url"], |row| {
        let date = row.entry.published.as_ref().map_or("", |published| published.date.as_str());
        let decision = serde_json::to_value(row.decision).ok();
        let decision = decision.as_ref().and_then(|value| value.as_str()).unwrap_or("").to_string();
        vec![decision, date.to_string(), short(&row.entry.title, 40), row.entry.url.clone()]
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

    #[test]
    fn two_sites_on_one_host_share_a_lane() {
        let lanes = by_host(vec![
            ("www.gd.gov.cn".into(), "a__x".into()),
            ("www.gov.cn".into(), "c__y".into()),
            ("www.gd.gov.cn".into(), "b__z".into()),
        ]);
        assert_eq!(lanes["www.gd.gov.cn"], ["a__x", "b__z"]);
    }
}
