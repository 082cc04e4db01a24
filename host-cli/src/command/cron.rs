//! `dibao cron`: when an expression is due, what it says in words, what is wrong with it. One at a time for people, by lines of
//! JSON for scripts.

use std::io::Write;

use chrono::{DateTime, NaiveDateTime, TimeZone, Utc};
use chrono_tz::Tz;
use clap::{Args, Subcommand, ValueEnum};
use dibao::schedule::cron::{CronError, CronExpr, Dialect, Lang};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::exit::{Exit, Usage};
use crate::lines::answer_lines;
use crate::output::{is_for_people, note};

/// Times that one question may ask for.
const MOST: u32 = 10_000;
/// A question of a batch is some hundred bytes; what is longer is none.
const MAX_LINE: usize = 1 << 20;

#[derive(Subcommand)]
pub enum CronCommand {
    /// When it is due next
    #[command(
        after_help = "Examples:\n  dibao cron next '0 9 * * 1-5'\n  dibao cron next '0 9 * * MON' --from 2026-04-10T00:00:00+08:00 --tz Asia/Shanghai -n 3 --json\n  echo '{\"id\":1,\"expr\":\"@daily\",\"tz\":\"UTC\",\"from\":\"2026-01-01T00:00:00Z\",\"inclusive\":true}' | dibao cron next --jsonl"
    )]
    Next {
        #[command(flatten)]
        which: Which,
        /// Count from this moment (RFC 3339, or a local time of the zone) [default: now]
        #[arg(long, value_name = "TIME")]
        from: Option<String>,
        /// Time zone
        #[arg(long, value_name = "ZONE", default_value = "Asia/Shanghai")]
        tz: Tz,
        /// How many
        #[arg(short, long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=i64::from(MOST)))]
        n: u32,
        /// The moment itself counts when it is due
        #[arg(long)]
        inclusive: bool,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// What it says, in words; six fields begin with seconds
    #[command(
        after_help = "Examples:\n  dibao cron describe '0 9 * * 1-5' --lang en\n  echo '{\"expr\":\"30 0 9 * * 1-5\"}' | dibao cron describe --jsonl   # {\"expr\",\"zh\",\"en\"}, and \"id\" where one was given"
    )]
    Describe {
        #[command(flatten)]
        which: Which,
        /// Language
        #[arg(long, value_enum, default_value_t = Language::Zh)]
        lang: Language,
        /// natural, or s3: field by field
        #[arg(long, value_enum, default_value_t = Style::Natural)]
        style: Style,
    },
    /// Whether it means anything, and which field is wrong
    Validate {
        #[command(flatten)]
        which: Which,
    },
}

/// The expression, and how it counts.
#[derive(Args)]
pub struct Which {
    /// Minute, hour, day of month, month, day of week; or @daily and its like
    #[arg(required_unless_present = "jsonl", conflicts_with = "jsonl")]
    expr: Option<String>,
    /// Read one question per line from standard input, write one answer per line
    #[arg(long)]
    jsonl: bool,
    /// Allow a sixth field, in front, for seconds
    #[arg(long)]
    seconds: bool,
    /// Weekdays count as in APScheduler: 0 = Monday
    #[arg(long)]
    apscheduler: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Language {
    Zh,
    En,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Style {
    Natural,
    S3,
}

/// One line of a batch.
#[derive(Deserialize)]
struct Question {
    #[serde(default)]
    id: Value,
    expr: String,
    #[serde(default)]
    seconds: Option<bool>,
    #[serde(default)]
    tz: Option<String>,
    #[serde(default)]
    from: Option<String>,
    #[serde(default)]
    inclusive: Option<bool>,
}

impl Which {
    fn dialect(&self, seconds: Option<bool>) -> Dialect {
        Dialect { seconds: seconds.unwrap_or(self.seconds), monday_is_zero: self.apscheduler }
    }

    fn parse(&self, seconds: Option<bool>) -> anyhow::Result<CronExpr> {
        let text = self.expr.as_deref().unwrap_or_default();
        CronExpr::parse_as(text, self.dialect(seconds)).map_err(|error| Usage(error.to_string()).into())
    }
}

pub fn run(command: CronCommand) -> anyhow::Result<Exit> {
    match command {
        CronCommand::Next { which, tz, .. } if which.jsonl => batch(|question| {
            let cron = CronExpr::parse_as(&question.expr, which.dialect(question.seconds))
                .map_err(|error| error.to_string())?;
            let zone = match &question.tz {
                Some(name) => name.parse().map_err(|_| format!("{name} is not a time zone"))?,
                None => tz,
            };
            let from = moment(question.from.as_deref(), zone)?;
            let next = if question.inclusive.unwrap_or_default() {
                cron.next_from(from, zone)
            } else {
                cron.next_after(from, zone)
            };
            Ok(json!({"id": question.id, "next": next.map(written)}))
        }),
        CronCommand::Next { which, from, tz, n, inclusive, json } => {
            let cron = which.parse(None)?;
            let mut at = moment(from.as_deref(), tz).map_err(Usage)?;
            let mut times = Vec::new();
            while times.len() < n as usize {
                let first = inclusive && times.is_empty();
                let Some(next) = (if first { cron.next_from(at, tz) } else { cron.next_after(at, tz) })
                else {
                    break;
                };
                at = next.to_utc();
                times.push(written(next));
            }
            let mut out = std::io::stdout();
            if json || !is_for_people() {
                writeln!(out, "{}", json!({"expr": cron.as_str(), "tz": tz.name(), "next": times}))?;
            } else {
                for time in &times {
                    writeln!(out, "{time}")?;
                }
            }
            if times.is_empty() {
                note(format_args!("`{cron}` is never due"));
            }
            Ok(Exit::Ok)
        }
        CronCommand::Describe { which, .. } if which.jsonl => batch(|question| {
            let seconds = question.seconds.unwrap_or(true);
            let cron = CronExpr::parse_as(&question.expr, which.dialect(Some(seconds)))
                .map_err(|error| error.to_string())?;
            let words = |lang| cron.describe(lang);
            let mut said = json!({"expr": question.expr, "zh": words(Lang::Zh), "en": words(Lang::En)});
            if !question.id.is_null() {
                said["id"] = question.id.clone();
            }
            Ok(said)
        }),
        CronCommand::Describe { which, lang, style } => {
            // Nothing runs by it: what has six fields can only be meant with seconds.
            let cron = which.parse(Some(true))?;
            let words = match (style, lang) {
                (Style::S3, _) => cron.describe_s3(),
                (Style::Natural, Language::Zh) => cron.describe(Lang::Zh),
                (Style::Natural, Language::En) => cron.describe(Lang::En),
            };
            writeln!(std::io::stdout(), "{words}")?;
            Ok(Exit::Ok)
        }
        CronCommand::Validate { which } if which.jsonl => batch(|question| {
            Ok(verdict(&CronExpr::parse_as(&question.expr, which.dialect(question.seconds)), question))
        }),
        CronCommand::Validate { which } => {
            let text = which.expr.clone().unwrap_or_default();
            let parsed = CronExpr::parse_as(&text, which.dialect(None));
            if !is_for_people() {
                let question = Question {
                    id: Value::Null,
                    expr: text,
                    seconds: None,
                    tz: None,
                    from: None,
                    inclusive: None,
                };
                writeln!(std::io::stdout(), "{}", verdict(&parsed, &question))?;
            }
            let cron = parsed.map_err(|error| Usage(error.to_string()))?;
            if is_for_people() {
                writeln!(std::io::stdout(), "{cron}  {}", cron.describe(Lang::Zh))?;
            }
            Ok(Exit::Ok)
        }
    }
}

fn verdict(parsed: &Result<CronExpr, CronError>, question: &Question) -> Value {
    match parsed {
        Ok(cron) => json!({"id": question.id, "expr": question.expr, "valid": true, "posix": cron.as_str()}),
        Err(error) => json!({
            "id": question.id, "expr": question.expr, "valid": false, "field": error.field, "text": error.text,
            "error": error.to_string(),
        }),
    }
}

/// An answer for each line, in order; a question that cannot be answered is answered with an error.
fn batch(mut answer: impl FnMut(&Question) -> Result<Value, String>) -> anyhow::Result<Exit> {
    answer_lines(MAX_LINE, std::io::stdin().lock(), std::io::stdout().lock(), |number, line| match line {
        Ok(line) => one(number, line, &mut answer),
        Err(error) => json!({"id": null, "error": format!("line {number}: {error}")}),
    })?;
    Ok(Exit::Ok)
}

fn one(number: u64, line: &[u8], answer: &mut impl FnMut(&Question) -> Result<Value, String>) -> Value {
    match serde_json::from_slice::<Question>(line) {
        Ok(question) => answer(&question).unwrap_or_else(|error| match question.id.is_null() {
            true => json!({"expr": question.expr, "error": error}),
            false => json!({"id": question.id, "error": error}),
        }),
        Err(error) => {
            let id = serde_json::from_slice::<Value>(line).ok().and_then(|value| value.get("id").cloned());
            json!({"id": id, "error": format!("line {number}: {error}")})
        }
    }
}

/// RFC 3339, a local time of the zone, or now.
fn moment(text: Option<&str>, zone: Tz) -> Result<DateTime<Utc>, String> {
    let Some(text) = text else { return Ok(Utc::now()) };
    if let Ok(at) = DateTime::parse_from_rfc3339(text) {
        return Ok(at.to_utc());
    }
    let local = ["%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M", "%Y-%m-%d %H:%M"]
        .iter()
        .find_map(|form| NaiveDateTime::parse_from_str(text, form).ok());
    let at = local.and_then(|local| zone.from_local_datetime(&local).earliest());
    at.map(|at| at.to_utc()).ok_or_else(|| format!("{text} is not a time such as 2026-04-10T09:00:00+08:00"))
}

fn written(at: DateTime<Tz>) -> String {
    at.format("%Y-%m-%dT%H:%M:%S%:z").to_string()
}
