//! `dibao adapter record`: one polite live run as test cases. Secrets are taken out first, then the adapter is asked again with what
//! is left, so that what the cases expect is what a replay gives.

use std::path::PathBuf;

use anyhow::bail;
use clap::Args;
use dibao::adapter::fixture::{CASE_FILE, Case, CaseCall};
use dibao::adapter::replay::replay;
use dibao::adapter::scrub::scrub;

use super::author::{Subject, TrialArgs};
use super::run::steps;
use crate::exit::{Exit, Usage};
use crate::open::OpenArgs;
use crate::output::note;

#[derive(Args)]
pub struct RecordArgs {
    #[command(flatten)]
    trial: TrialArgs,

    /// Name of the case; documents get `-document` behind it
    #[arg(long, value_name = "NAME", value_parser = case_name)]
    case: String,

    /// Folder of cases [default: fixtures beside the component]
    #[arg(long, value_name = "DIR")]
    fixtures: Option<PathBuf>,

    /// Replace cases of this name
    #[arg(long)]
    replace: bool,
}

fn case_name(text: &str) -> Result<String, String> {
    let good = !text.is_empty()
        && text.len() <= 80
        && !text.starts_with('.')
        && text.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | '.'));
    if good { Ok(text.to_owned()) } else { Err("letters, digits, hyphens and underscores".to_owned()) }
}

pub async fn run(open: &OpenArgs, args: RecordArgs) -> anyhow::Result<Exit> {
    let subject = Subject::find(&args.trial.adapter)?;
    let fixtures = args.fixtures.clone().unwrap_or_else(|| subject.fixtures());
    // Asked before the site is: nobody should be bothered for nothing.
    for number in 0..=args.trial.documents {
        let dir = fixtures.join(folder(&args.case, number, &args.trial));
        if dir.join(CASE_FILE).exists() && !args.replace {
            return Err(Usage(format!(
                "{} is there already; add --replace, or choose another --case",
                dir.display()
            ))
            .into());
        }
    }
    let (adapter, recorded) = steps(open, &args.trial, &subject, false).await?;
    let mut documents = 0;
    for step in recorded {
        let number = match step.case.call {
            CaseCall::List { .. } => 0,
            CaseCall::Detail { .. } => {
                documents += 1;
                documents
            }
        };
        let dir = fixtures.join(folder(&args.case, number, &args.trial));
        let (case, words) = clean(&adapter, step.case)?;
        case.write(&dir)?;
        note(format_args!("{}: {words}", dir.display()));
    }
    Ok(Exit::Ok)
}

/// The folder of the list (0) or of a document.
fn folder(case: &str, number: usize, trial: &TrialArgs) -> String {
    match number {
        0 => case.to_owned(),
        1 if trial.document => case.to_owned(),
        1 => format!("{case}-document"),
        _ => format!("{case}-document-{number}"),
    }
}

/// The case without secrets, and what the adapter says to it.
fn clean(adapter: &dibao::adapter::Adapter, mut case: Case) -> anyhow::Result<(Case, String)> {
    let live = case.expected.as_ref().map(|expected| expected.ending.kind());
    let taken = scrub(&mut case);
    let replayed = replay(adapter, &case);
    let Some(case) = replayed.blessed(&case) else {
        bail!("without its secrets the run cannot be replayed: the adapter says {:?}", replayed.end);
    };
    let kind = case.expected.as_ref().map(|expected| expected.ending.kind());
    if kind != live {
        bail!(
            "without its secrets the run comes to a {} instead of a {}; nothing was written",
            kind.unwrap_or("nothing"),
            live.unwrap_or("nothing")
        );
    }
    let requests: usize = case.exchanges.iter().map(|exchange| exchange.requests.len()).sum();
    let kind = kind.map_or("nothing", |kind| if kind == "article" { "an article" } else { kind });
    let (secrets, headers) = (taken.secrets, taken.headers);
    let words =
        format!("{kind}, requests: {requests}, secrets masked: {secrets}, headers left out: {headers}");
    Ok((case, words))
}
