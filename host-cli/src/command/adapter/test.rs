//! `dibao adapter test`: replays recorded cases. Rows to standard output, differences to standard error; exits with 1 when a case
//! does not hold.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use dibao::adapter::fixture::{Case, cases_in};
use dibao::adapter::replay::{Difference, replay};
use dibao::adapter::{Adapter, Cost};
use serde::Serialize;
use similar::TextDiff;

use super::author::Subject;
use crate::exit::{Exit, Usage};
use crate::output::{note, print_rows, printable};

#[derive(Args)]
pub struct TestArgs {
    /// A project directory, or a .wasm file
    #[arg(default_value = ".")]
    adapter: PathBuf,

    /// Folder of cases, or one case [default: fixtures beside the component]
    #[arg(long, value_name = "DIR")]
    fixtures: Option<PathBuf>,

    /// Write what the adapter says now as what it shall say
    #[arg(long)]
    bless: bool,
}

/// One case.
#[derive(Serialize)]
struct Row {
    case: String,
    passed: bool,
    /// What was rewritten.
    blessed: bool,
    turns: usize,
    cost: Option<Cost>,
    differences: Vec<Difference>,
}

pub fn run(args: TestArgs) -> anyhow::Result<Exit> {
    let subject = Subject::find(&args.adapter)?;
    let fixtures = args.fixtures.unwrap_or_else(|| subject.fixtures());
    let cases = if fixtures.exists() { cases_in(&fixtures)? } else { Vec::new() };
    if cases.is_empty() {
        let message = format!(
            "there is no case in {}; `dibao adapter record {} --url https://… --case NAME` records one",
            fixtures.display(),
            args.adapter.display()
        );
        return Err(Usage(message).into());
    }
    let adapter = subject.load()?;
    let mut rows = Vec::with_capacity(cases.len());
    for dir in &cases {
        rows.push(one(&adapter, dir, args.bless)?);
    }
    print_rows(&rows, &["case", "", "turns", "fuel", "host", "slowest selection"], |row| {
        let cost = row.cost.clone().unwrap_or_default();
        let slowest = cost.slowest.map(|(css, took)| format!("{} µs  {css}", took.as_micros()));
        vec![
            row.case.clone(),
            if row.blessed {
                "blessed"
            } else if row.passed {
                "ok"
            } else {
                "FAIL"
            }
            .to_owned(),
            row.turns.to_string(),
            grouped(cost.fuel),
            format!("{} µs", cost.host.as_micros()),
            slowest.unwrap_or_default(),
        ]
    })?;
    for row in rows.iter().filter(|row| !row.passed) {
        for difference in &row.differences {
            show(&row.case, difference)?;
        }
    }
    let failed = rows.iter().filter(|row| !row.passed).count();
    note(format_args!("{} cases, {failed} failed", rows.len()));
    Ok(if failed == 0 { Exit::Ok } else { Exit::Other })
}

fn one(adapter: &Adapter, dir: &Path, bless: bool) -> anyhow::Result<Row> {
    let case = Case::read(dir)?;
    let replayed = replay(adapter, &case);
    let differences = replayed.differences(&case);
    let mut blessed = false;
    if bless
        && !differences.is_empty()
        && let Some(new) = replayed.blessed(&case)
    {
        new.write(dir)?;
        blessed = true;
    }
    Ok(Row {
        case: dir.file_name().unwrap_or(dir.as_os_str()).to_string_lossy().into_owned(),
        passed: differences.is_empty() || blessed,
        blessed,
        turns: replayed.turns,
        cost: replayed.cost,
        differences,
    })
}

/// A difference as `diff -u` shows it: what the case says with `-`, what the adapter says with `+`.
fn show(case: &str, difference: &Difference) -> std::io::Result<()> {
    let lines = |text: &str| format!("{text}\n");
    let (expected, actual) = (lines(&difference.expected), lines(&difference.actual));
    let diff = TextDiff::from_lines(&expected, &actual);
    let mut unified = diff.unified_diff();
    let header =
        (format!("{case}: {} (recorded)", difference.at), format!("{case}: {} (adapter)", difference.at));
    let text = unified.context_radius(3).header(&header.0, &header.1).to_string();
    writeln!(std::io::stderr(), "{}", printable(&text))
}

/// 12 345 678
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push(' ');
        }
        grouped.push(digit);
    }
    grouped
}

#[cfg(test)]
mod tests {
    use super::grouped;

    #[test]
    fn numbers_are_grouped_by_thousands() {
        for (number, text) in [(0, "0"), (999, "999"), (1000, "1 000"), (1234567, "1 234 567")] {
            assert_eq!(grouped(number), text);
        }
    }
}
