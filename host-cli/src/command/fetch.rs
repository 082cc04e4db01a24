//! `dibao fetch`: one address through the gate, with every decision if asked.
//!
//! Without `--explain` the body goes to standard output and the verdict to standard error; with it the decisions are
//! the data. Exit codes: 0 when the answer is good, else that of its trouble; 8 for an error status.

use std::io::Write;

use anyhow::Context;
use clap::{Args, ValueEnum};
use dibao::fetch::Step;
use dibao::fetch::escalate::Strategy;
use dibao::fetch::verdict::VerdictKind;
use serde::Serialize;
use url::Url;

use crate::exit::{Exit, Usage};
use crate::open::OpenArgs;
use crate::output::{complain, note, open_output, print_rows};

#[derive(Args)]
pub struct FetchArgs {
    /// Web address
    url: String,

    /// What fetches it [default: the strategy of the stored site it belongs to, else auto]
    #[arg(long, value_enum)]
    tier: Option<TierArg>,

    /// Print each decision of the gate in order and the verdict, instead of the body
    #[arg(long)]
    explain: bool,

    /// Write the body here (`-` = standard output)
    #[arg(long, short = 'o', value_name = "FILE")]
    output: Option<String>,
}

#[derive(Clone, Copy, ValueEnum)]
enum TierArg {
    /// HTTP, then a browser where HTTP is turned away
    Auto,
    /// HTTP only
    Http,
    /// A browser only
    Browser,
}

/// One line of `--explain`.
#[derive(Serialize)]
struct Line {
    step: usize,
    #[serde(flatten)]
    decision: Step,
}

pub async fn run(open: &OpenArgs, args: FetchArgs) -> anyhow::Result<Exit> {
    let url = Url::parse(&args.url)
        .ok()
        .filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host())
        .ok_or_else(|| Usage(format!("{:?} is no web address; write https://…", args.url)))?;
    let strategy = args.tier.map(|tier| match tier {
        TierArg::Auto => Strategy::Auto,
        TierArg::Http => Strategy::Http,
        TierArg::Browser => Strategy::Browser,
    });
    let (_scratch, engine) = open.engine_to_ask().await?;
    let looked = engine.look_up(url, strategy).await?;
    if args.explain {
        explain(looked.steps, &looked.result)?;
    }
    match looked.result {
        Ok(fetched) => {
            let shown = (!args.explain).then_some("-");
            if let Some(to) = args.output.as_deref().or(shown) {
                open_output(to)?.write_all(&fetched.body).with_context(|| to.to_owned())?;
            }
            let site = looked.site.map(|site| format!(", settings of {site}")).unwrap_or_default();
            note(format_args!(
                "{} {} by {}: {}{site}",
                fetched.status, fetched.url, fetched.tier, fetched.verdict
            ));
            Ok(match fetched.verdict.kind {
                VerdictKind::Ok | VerdictKind::Thin => Exit::Ok,
                _ => Exit::Server,
            })
        }
        Err(error) => {
            complain(&error);
            Ok(Exit::of_class(error.class()))
        }
    }
}

fn explain(
    steps: Vec<Step>,
    result: &Result<dibao::fetch::Fetched, dibao::fetch::FetchError>,
) -> anyhow::Result<()> {
    let mut lines: Vec<Line> =
        steps.into_iter().enumerate().map(|(index, decision)| Line { step: index + 1, decision }).collect();
    let (url, verdict) = match result {
        Ok(fetched) => (fetched.url.to_string(), Some(fetched.verdict.clone())),
        Err(error) => (error.url().map(Url::to_string).unwrap_or_default(), error.verdict()),
    };
    let detail = match (&verdict, result) {
        (Some(verdict), _) => verdict.to_string(),
        (None, Err(error)) => format!("none, nothing was sent: {}", error.kind()),
        (None, Ok(_)) => String::new(),
    };
    let decision = Step { check: "verdict", url, passed: result.is_ok(), detail: detail.into() };
    lines.push(Line { step: lines.len() + 1, decision });
    print_rows(&lines, &["", "check", "", "why", "address"], |line| {
        vec![
            line.step.to_string(),
            line.decision.check.to_owned(),
            if line.decision.passed { "pass" } else { "STOP" }.to_owned(),
            line.decision.detail.to_string(),
            line.decision.url.clone(),
        ]
    })
}
