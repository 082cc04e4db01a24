//! What goes where: data to standard output, words to standard error.

use std::io::{self, IsTerminal, Write};

use clap::{Args, ValueEnum};
use comfy_table::{ContentArrangement, Table, presets};
use serde::Serialize;
use tracing_subscriber::EnvFilter;

/// How much is said on standard error.
#[derive(Args)]
pub struct LogArgs {
    /// Say more (-v: each failure and request trouble, -vv: everything)
    #[arg(long, short, global = true, action = clap::ArgAction::Count)]
    pub verbose: u8,

    /// Say nothing but errors
    #[arg(long, short, global = true)]
    pub quiet: bool,

    /// How log lines look
    #[arg(long, global = true, value_enum, default_value_t = LogFormat::Text)]
    pub log_format: LogFormat,

    /// How results look on standard output [default: a table on a terminal, JSON lines when piped]
    #[arg(long, global = true, value_enum)]
    pub format: Option<RowFormat>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum RowFormat {
    Table,
    Jsonl,
}

/// Set once at the start, by `--format`.
static FORMAT: std::sync::OnceLock<RowFormat> = std::sync::OnceLock::new();

/// Whether results are for people.
pub fn is_for_people() -> bool {
    match FORMAT.get() {
        Some(format) => *format == RowFormat::Table,
        None => io::stdout().is_terminal(),
    }
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    Text,
    Json,
}

/// Starts logging; `RUST_LOG` overrules the flags.
pub fn start_logging(args: &LogArgs) {
    if let Some(format) = args.format {
        let _ = FORMAT.set(format);
    }
    let level = match (args.quiet, args.verbose) {
        (true, _) => "error",
        (_, 0) => "warn",
        (_, 1) => "warn,dibao=debug",
        _ => "info,dibao=trace",
    };
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new(level));
    let ansi = io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    let builder = tracing_subscriber::fmt().with_env_filter(filter).with_writer(io::stderr).with_ansi(ansi);
    match args.log_format {
        LogFormat::Text => builder.init(),
        LogFormat::Json => builder.json().init(),
    }
}

/// Rows for people on a terminal, JSON lines for programs.
pub fn print_rows<T: Serialize>(
    rows: &[T],
    headings: &[&str],
    cells: impl Fn(&T) -> Vec<String>,
) -> anyhow::Result<()> {
    if is_for_people() {
        return print_table(rows, headings, cells);
    }
    let mut out = io::stdout().lock();
    for row in rows {
        serde_json::to_writer(&mut out, row).map_err(io::Error::from)?;
        out.write_all(b"\n")?;
    }
    Ok(())
}

/// A table, wherever it goes.
pub fn print_table<T>(
    rows: &[T],
    headings: &[&str],
    cells: impl Fn(&T) -> Vec<String>,
) -> anyhow::Result<()> {
    let mut table = Table::new();
    table.load_style(presets::UTF8_HORIZONTAL_ONLY).set_content_arrangement(ContentArrangement::Dynamic);
    table.set_header(headings.iter().copied());
    for row in rows {
        table.add_row(cells(row).into_iter().map(|cell| printable(&cell)));
    }
    writeln!(io::stdout(), "{table}")?;
    Ok(())
}

/// Remote text on a terminal: no control characters, so that no page can move the cursor.
pub fn printable(text: &str) -> String {
    text.chars().map(|c| if c.is_control() && c != '\n' { ' ' } else { c }).collect()
}

/// Cut to a width that fits a table.
pub fn short(text: &str, chars: usize) -> String {
    if text.chars().count() <= chars {
        return text.to_string();
    }
    text.chars().take(chars.saturating_sub(1)).chain(['…']).collect()
}

/// A file, or standard output for `-`.
pub fn open_output(path: &str) -> anyhow::Result<Box<dyn Write + Send>> {
    if path == "-" {
        return Ok(Box::new(io::stdout()));
    }
    let file =
        std::fs::File::create(path).map_err(|error| anyhow::Error::from(error).context(path.to_string()))?;
    Ok(Box::new(io::BufWriter::new(file)))
}
