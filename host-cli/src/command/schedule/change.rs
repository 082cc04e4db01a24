//! `dibao schedule add`, `set`, `rm`, `pause`, `resume`, `run`, `budget`, `reconcile`.

use std::time::Duration;

use clap::{ArgGroup, Args};
use dibao::schedule::{Adaptive, Combine, Misfire, NewSchedule, Overlap, Schedule, ScheduleEdit, Trigger};
use dibao::{CRAWL, Clock, CrawlJob, Timestamp, clock::SystemClock, crawl_lane};
use serde_json::Value;

use crate::exit::{Exit, Usage};
use crate::open::{OpenArgs, actor};
use crate::output::{minute, note, print_rows};

/// What makes a schedule due.
#[derive(Args)]
pub struct When {
    /// At the moments of a cron expression
    #[arg(long, value_name = "EXPR")]
    cron: Option<String>,
    /// Every so many seconds
    #[arg(long, value_name = "SECONDS")]
    every: Option<u64>,
    /// When something new is expected: predictive, classic or budget; with --cron both count
    #[arg(long, value_name = "POLICY")]
    adaptive: Option<Adaptive>,
    /// How --cron and --adaptive share a target: either, cron_only, adaptive_only
    #[arg(long, value_name = "HOW", requires = "adaptive")]
    combine: Option<Combine>,
    /// Once, at this moment (RFC 3339)
    #[arg(long, value_name = "TIME", value_parser = time)]
    at: Option<Timestamp>,
    /// Once, after so many seconds
    #[arg(long = "in", value_name = "SECONDS", conflicts_with = "at")]
    after: Option<u64>,
    /// For --at and --in: too late so many seconds after it was due
    #[arg(long, value_name = "SECONDS")]
    expires: Option<u64>,
    /// Only by hand
    #[arg(long)]
    manual: bool,
}

fn time(text: &str) -> Result<Timestamp, String> {
    serde_json::from_value(Value::from(text))
        .map_err(|_| "not a moment; write it as 2026-04-10T09:00:00+08:00".to_owned())
}

impl When {
    /// The trigger that was asked for; none: nothing was.
    fn trigger(&self, now: Timestamp) -> anyhow::Result<Option<Trigger>> {
        let later =
            |at: Timestamp, seconds: u64| {
                Timestamp(at.0.saturating_add(
                    i64::try_from(Duration::from_secs(seconds).as_millis()).unwrap_or(i64::MAX),
                ))
            };
        let once = self.at.or_else(|| self.after.map(|seconds| later(now, seconds)));
        let wanted = [
            self.cron.is_some() || self.adaptive.is_some(),
            self.every.is_some(),
            once.is_some(),
            self.manual,
        ];
        if wanted.iter().filter(|wanted| **wanted).count() > 1 {
            return Err(Usage(
                "several things would make it due; give one of --cron (with or without --adaptive), --every, --at, --in, --manual".to_owned(),
            )
            .into());
        }
        Ok(match (&self.cron, self.adaptive, self.every, once) {
            (cron, Some(policy), ..) => Some(Trigger::Adaptive {
                policy,
                cron: cron.clone(),
                combine: self.combine.unwrap_or_default(),
            }),
            (Some(cron), ..) => Some(Trigger::Cron { cron: cron.clone() }),
            (_, _, Some(seconds), _) => Some(Trigger::Interval { seconds }),
            (_, _, _, Some(at)) => {
                Some(Trigger::Once { at, expires_at: self.expires.map(|seconds| later(at, seconds)) })
            }
            _ if self.manual => Some(Trigger::Manual),
            _ => None,
        })
    }
}

/// What holds beside that.
#[derive(Args)]
pub struct Rules {
    /// Its time zone, such as Asia/Shanghai
    #[arg(long, value_name = "ZONE")]
    tz: Option<chrono_tz::Tz>,
    /// What is done about due times that were missed: run_once, skip, expire
    #[arg(long, value_name = "POLICY")]
    misfire: Option<Misfire>,
    /// With --misfire expire: too late so many seconds after it was due
    #[arg(long, value_name = "SECONDS")]
    expires_after: Option<u64>,
    /// What is done while the last job is not over: skip, queue
    #[arg(long, value_name = "RULE")]
    overlap: Option<Overlap>,
}

#[derive(Args)]
#[command(group(ArgGroup::new("work").required(true).args(["crawl", "kind"])))]
pub struct AddArgs {
    /// Its name
    name: String,
    #[command(flatten)]
    when: When,
    #[command(flatten)]
    rules: Rules,
    /// Crawls this target
    #[arg(long, value_name = "TARGET")]
    crawl: Option<String>,
    /// With --crawl: only the first rows of the list
    #[arg(long, value_name = "N", requires = "crawl")]
    max_items: Option<u32>,
    /// With --crawl: does not stop at known articles
    #[arg(long, requires = "crawl")]
    force: bool,
    /// The kind of its jobs: names a handler of the program that works on them
    #[arg(long, conflicts_with = "crawl")]
    kind: Option<String>,
    /// What the handler is told, as JSON
    #[arg(long, value_name = "JSON", value_parser = json, conflicts_with = "crawl")]
    payload: Option<Value>,
    /// The lane of its jobs, of which one runs at a time [default: its name; a crawl's host]
    #[arg(long, conflicts_with = "crawl")]
    lane: Option<String>,
    /// A name for people
    #[arg(long)]
    title: Option<String>,
}

fn json(text: &str) -> Result<Value, String> {
    serde_json::from_str(text).map_err(|error| format!("not JSON: {error}"))
}

#[derive(Args)]
pub struct SetArgs {
    /// Name, or code of a target
    name: String,
    #[command(flatten)]
    when: When,
    #[command(flatten)]
    rules: Rules,
    /// What the handler is told, as JSON
    #[arg(long, value_name = "JSON", value_parser = json)]
    payload: Option<Value>,
    /// A name for people
    #[arg(long)]
    title: Option<String>,
    /// Follow the site file again in everything that was set by hand
    #[arg(long, exclusive = false)]
    auto: bool,
}

pub async fn add(open: &OpenArgs, args: AddArgs) -> anyhow::Result<Exit> {
    let engine = super::engine(open).await?;
    let Some(trigger) = args.when.trigger(SystemClock.now())? else {
        return Err(Usage(
            "nothing makes it due; give --cron, --every, --adaptive, --at, --in or --manual".to_owned(),
        )
        .into());
    };
    let mut new =
        NewSchedule::new(&args.name, args.kind.clone().unwrap_or_else(|| CRAWL.to_owned()), trigger);
    if let Some(code) = &args.crawl {
        let Some((site, target)) = engine.store().target(code).await? else {
            return Err(super::super::target::known_target(&open.store()?, code)
                .await
                .err()
                .unwrap_or_else(|| Usage(format!("target `{code}` is not stored")).into()));
        };
        let job = CrawlJob { target: code.clone(), max_items: args.max_items, force: args.force };
        new = new.lane(crawl_lane(&site, &target)).payload(serde_json::to_value(job)?);
    } else {
        new.payload = args.payload.unwrap_or_default();
        new.lane = args.lane.unwrap_or(new.lane);
    }
    new.title = args.title.unwrap_or_default();
    new.zone = args.rules.tz;
    new.misfire = args.rules.misfire.unwrap_or_default();
    new.expires_sec = args.rules.expires_after;
    new.overlap = args.rules.overlap.unwrap_or_default();
    let (desk, detail) = (engine.desk(actor()), serde_json::json!({ "trigger": new.trigger }));
    let schedules = engine.schedules();
    let work = schedules.add(new);
    tell(&desk.audited("schedule.create", &args.name, detail, work).await?);
    Ok(Exit::Ok)
}

pub async fn set(open: &OpenArgs, args: SetArgs) -> anyhow::Result<Exit> {
    let engine = super::engine(open).await?;
    let schedules = engine.schedules();
    let known = schedules.get(&args.name).await?;
    let edit = ScheduleEdit {
        title: args.title,
        payload: args.payload,
        trigger: args.when.trigger(SystemClock.now())?,
        zone: args.rules.tz.map(Some),
        misfire: args.rules.misfire.map(|misfire| (misfire, args.rules.expires_after)),
        overlap: args.rules.overlap,
        ..ScheduleEdit::default()
    };
    if edit == ScheduleEdit::default() && !args.auto {
        return Err(
            Usage("nothing is to be set; `dibao schedule set --help` lists what can be".to_owned()).into()
        );
    }
    let detail = serde_json::json!({ "trigger": edit.trigger, "auto": args.auto });
    let work = async {
        if args.auto {
            schedules.follow_rule(&known.name).await?;
            engine.follow_targets().await?;
        }
        schedules.edit(&known.name, edit).await
    };
    tell(&engine.desk(actor()).audited("schedule.update", &known.name, detail, work).await?);
    Ok(Exit::Ok)
}

fn tell(row: &Schedule) {
    match row.next_due_at {
        Some(due) => note(format_args!("{}: due at {}", row.name, minute(due))),
        None if !row.enabled => note(format_args!("{}: off", row.name)),
        None => note(format_args!("{}: does not come due by itself", row.name)),
    }
}

/// What is done to several of them.
#[derive(Clone, Copy)]
pub enum Verb {
    Remove,
    Pause,
    Resume,
    Run,
}

pub async fn each(open: &OpenArgs, names: Vec<String>, verb: Verb) -> anyhow::Result<Exit> {
    let engine = super::engine(open).await?;
    let (desk, schedules) = (engine.desk(actor()), engine.schedules());
    let switch = |on: bool| serde_json::json!({ "enabled": on });
    for name in names {
        match verb {
            Verb::Remove => {
                let work = schedules.remove(&name);
                desk.audited("schedule.delete", &name, Value::Null, work).await?;
                note(format_args!("{name}: removed"));
            }
            Verb::Pause => {
                let work = schedules.pause(&name);
                tell(&desk.audited("schedule.update", &name, switch(false), work).await?);
            }
            Verb::Resume => {
                let work = schedules.resume(&name);
                tell(&desk.audited("schedule.update", &name, switch(true), work).await?);
            }
            Verb::Run => {
                let work = schedules.run_now(&name);
                let job = desk.audited("schedule.run", &name, Value::Null, work).await?;
                note(format_args!("{name}: job {job} waits for a worker (`dibao run`)"));
            }
        }
    }
    Ok(Exit::Ok)
}

/// A number of checks, or none.
#[derive(Clone, Copy, Debug)]
pub struct Budget(Option<f64>);

/// For clap.
pub fn budget(text: &str) -> Result<Budget, String> {
    match text {
        "none" => Ok(Budget(None)),
        text => text
            .parse()
            .map(|checks| Budget(Some(checks)))
            .map_err(|_| "write a number of checks a day, or `none`".to_owned()),
    }
}

pub async fn set_budget(open: &OpenArgs, wanted: Option<Budget>) -> anyhow::Result<Exit> {
    let engine = super::engine(open).await?;
    let schedules = engine.schedules();
    let budget = match wanted {
        Some(Budget(checks)) => {
            let detail = serde_json::json!({ "checks_per_day": checks });
            let work = schedules.set_budget(checks);
            engine.desk(actor()).audited("schedule.budget", "budget", detail, work).await?
        }
        None => schedules.budget().await?,
    };
    let headings = ["checks a day", "price", "checks", "since"];
    print_rows(&[budget], &headings, |budget| {
        vec![
            budget.checks_per_day.map_or_else(|| "none".to_owned(), |checks| checks.to_string()),
            format!("{:.3}", budget.price),
            budget.checks.to_string(),
            budget.since.map(minute).unwrap_or_default(),
        ]
    })?;
    Ok(Exit::Ok)
}

pub async fn reconcile(open: &OpenArgs) -> anyhow::Result<Exit> {
    let done = super::engine(open).await?.reconcile().await?;
    for (site, error) in &done.invalid {
        note(format_args!("{site}: its file is invalid, the last good one holds: {error}"));
    }
    let headings = ["sites read", "added", "removed", "changed"];
    let invalid = !done.invalid.is_empty();
    print_rows(&[done], &headings, |done| {
        vec![
            done.sites.join(", "),
            done.added.to_string(),
            done.removed.to_string(),
            done.changed.to_string(),
        ]
    })?;
    Ok(if invalid { Exit::Partial } else { Exit::Ok })
}
