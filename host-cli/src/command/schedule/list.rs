//! `dibao schedule ls` and `next`.

use clap::Args;
use dibao::schedule::load::HourLoad;
use dibao::schedule::{Schedule, ScheduleQuery, Trigger};

use crate::exit::Exit;
use crate::open::OpenArgs;
use crate::output::{minute, note, print_rows, short};

/// The longest bar, in letters.
const WIDEST: u64 = 50;

#[derive(Args)]
pub struct LsArgs {
    /// Only with names that begin so, such as `target.ndrc` or `builtin:`
    prefix: Option<String>,
    /// Only those that make jobs of this kind
    #[arg(long)]
    kind: Option<String>,
    /// Only those that are on
    #[arg(long)]
    on: bool,
    /// At most so many
    #[arg(long, default_value_t = 1_000, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    limit: u32,
}

#[derive(Args)]
pub struct NextArgs {
    /// So many hours
    #[arg(long, default_value_t = 24, value_parser = clap::value_parser!(u32).range(1..=744))]
    hours: u32,
}

pub async fn ls(open: &OpenArgs, args: LsArgs) -> anyhow::Result<Exit> {
    let schedules = super::engine(open).await?.schedules();
    let query = ScheduleQuery {
        prefix: args.prefix,
        kind: args.kind,
        enabled_only: args.on,
        limit: args.limit,
        ..ScheduleQuery::default()
    };
    let rows = schedules.list(query).await?;
    if rows.is_empty() {
        note(
            "no schedule is stored; targets get theirs when their site is imported, `dibao schedule add` makes others",
        );
    }
    let headings = ["schedule", "due", "by", "from", "on", "last", "runs", "errors", "why"];
    print_rows(&rows, &headings, |row| {
        vec![
            row.name.clone(),
            row.next_due_at.map(minute).unwrap_or_default(),
            short(&by(row), 40),
            row.origin.clone().unwrap_or_default(),
            if row.enabled { "yes" } else { "no" }.to_owned(),
            row.last_status.clone().unwrap_or_default(),
            row.run_count.to_string(),
            row.error_count.to_string(),
            short(row.off_why.as_ref().or(row.last_error.as_ref()).map_or("", String::as_str), 60),
        ]
    })?;
    Ok(Exit::Ok)
}

/// What makes it due, in a word or two.
fn by(row: &Schedule) -> String {
    match &row.trigger {
        Trigger::Cron { cron } => cron.clone(),
        Trigger::Interval { seconds } => format!("every {seconds} s"),
        Trigger::Adaptive { policy, cron: None, .. } => policy.as_str().to_owned(),
        Trigger::Adaptive { policy, cron: Some(cron), combine } => {
            format!("{} · {cron} · {}", policy.as_str(), combine.as_str())
        }
        Trigger::Once { .. } => "once".to_owned(),
        Trigger::Manual => "by hand".to_owned(),
    }
}

pub async fn next(open: &OpenArgs, args: NextArgs) -> anyhow::Result<Exit> {
    let load = super::engine(open).await?.schedules().load(args.hours).await?;
    let most = load.hours.iter().map(HourLoad::total).max().unwrap_or_default().max(1);
    print_rows(&load.hours, &["hour", "due", "cron", "interval", "adaptive", "once", ""], |hour| {
        let bar = (hour.total() * WIDEST).div_ceil(most);
        vec![
            minute(hour.from),
            hour.total().to_string(),
            hour.cron.to_string(),
            hour.interval.to_string(),
            hour.adaptive.to_string(),
            hour.once.to_string(),
            "█".repeat(usize::try_from(bar).unwrap_or_default()),
        ]
    })?;
    note(format_args!("{} schedules have a due time, {} of them are overdue", load.schedules, load.overdue));
    Ok(Exit::Ok)
}
