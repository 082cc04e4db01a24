//! What goes where: data to standard output, words to standard error.
//!
//! Nothing here panics when whoever read the output has gone, and no text from outside reaches a terminal raw.

use std::fmt::Display;
use std::io::{self, IsTerminal, Write};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use clap::{Args, ValueEnum};
use comfy_table::{ContentArrangement, LineStyle, Table, TableStyle};
use dibao::Timestamp;
use serde::Serialize;
use tracing_subscriber::EnvFilter;

/// Narrower than this, a terminal has not said its width (`script`, some CI): the table would be one letter wide.
const NARROWEST: u16 = 60;
/// What a table then gets.
const USUAL_WIDTH: u16 = 120;
/// An error is read by a person; a page that ends up in one is not.
const LONGEST_LINE: usize = 4000;

static QUIET: AtomicBool = AtomicBool::new(false);

/// How much is said on standard error.
#[derive(Args)]
#[command(next_help_heading = "Messages")]
pub struct LogArgs {
    /// Say more (-v: each request and failure, -vv: everything)
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
    pub rows: Option<RowFormat>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum RowFormat {
    Table,
    Jsonl,
}

/// Set once at the start, by `--rows`.
static ROWS: OnceLock<RowFormat> = OnceLock::new();

/// Whether results are for people.
pub fn is_for_people() -> bool {
    match ROWS.get() {
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
    QUIET.store(args.quiet, Ordering::Relaxed);
    if let Some(rows) = args.rows {
        let _ = ROWS.set(rows);
    }
    let level = match (args.quiet, args.verbose) {
        (true, _) => "error",
        (_, 0) => "warn",
        (_, 1) => "warn,dibao=debug",
        _ => "info,dibao=trace",
    };
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new(level));
    let ansi =
        io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    let builder = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(io::stderr)
        .with_ansi(ansi)
        .log_internal_errors(false);
    match args.log_format {
        LogFormat::Text => builder.init(),
        LogFormat::Json => builder.json().init(),
    }
}

/// A line for people, on standard error; not with `--quiet`.
pub fn note(words: impl Display) {
    if !QUIET.load(Ordering::Relaxed) {
        let _ = writeln!(io::stderr(), "{}", short(&printable(&words.to_string()), LONGEST_LINE));
    }
}

/// An error, on standard error.
pub fn complain(words: impl Display) {
    let _ = writeln!(io::stderr(), "dibao: {}", short(&printable(&words.to_string()), LONGEST_LINE));
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
        out.write_all(json_line(row)?.as_bytes())?;
    }
    Ok(())
}

fn print_table<T>(rows: &[T], headings: &[&str], cells: impl Fn(&T) -> Vec<String>) -> anyhow::Result<()> {
    let mut table = Table::new();
    // One line under the headings: rows can be selected, compared and grepped.
    let style = TableStyle::new().header_separator(LineStyle::none().fill('─').junction('─'));
    table.load_style(style).set_content_arrangement(ContentArrangement::Dynamic);
    table.set_width(table.width().filter(|width| *width >= NARROWEST).unwrap_or(USUAL_WIDTH));
    table.set_header(headings.iter().copied());
    for row in rows {
        table.add_row(cells(row).into_iter().map(|cell| printable(&cell)));
    }
    writeln!(io::stdout(), "{table}")?;
    Ok(())
}

/// A value as one line of JSON. What drives terminals is escaped, so that the line may be looked at.
pub fn json_line(value: &impl Serialize) -> anyhow::Result<String> {
    let json = serde_json::to_string(value)?;
    let mut line = String::with_capacity(json.len() + 1);
    for c in json.chars() {
        // Inside JSON such a character can only be part of a string.
        if is_unsafe(c) {
            line.push_str(&format!("\\u{:04x}", u32::from(c)));
        } else {
            line.push(c);
        }
    }
    line.push('\n');
    Ok(line)
}

/// Remote text on a terminal: nothing that moves the cursor, and nothing that turns the order of letters around.
pub fn printable(text: &str) -> String {
    text.chars().map(|c| if is_unsafe(c) && c != '\n' { ' ' } else { c }).collect()
}

/// Control characters (C0, DEL, C1), line separators, and the marks that override the direction of writing.
fn is_unsafe(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200e}' | '\u{200f}' | '\u{2028}' | '\u{2029}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Cut to a width that fits.
pub fn short(text: &str, chars: usize) -> String {
    if text.chars().nth(chars).is_none() {
        return text.to_string();
    }
    text.chars().take(chars.saturating_sub(1)).chain(['…']).collect()
}

/// A moment for people, in China's zone, to the minute.
pub fn minute(at: Timestamp) -> String {
    let full = at.to_rfc3339(chrono_tz::Asia::Shanghai);
    full.get(..16).unwrap_or(&full).replace('T', " ")
}

/// A file, or standard output for `-`. Not buffered: what was written is there, whatever happens next.
pub fn open_output(path: &str) -> anyhow::Result<Box<dyn Write + Send>> {
    if path == "-" {
        return Ok(Box::new(io::stdout()));
    }
    let file = std::fs::File::create(path)
        .map_err(|error| anyhow::Error::from(error).context(format!("cannot write {path}")))?;
    Ok(Box::new(file))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_drives_a_terminal() {
        let hostile = "a\u{1b}]0;pwned\u{7}b\u{9b}31mc\u{202e}d\re";
        assert_eq!(printable(hostile), "a ]0;pwned b 31mc d e");
        let line = json_line(&hostile).unwrap();
        assert!(!line.trim_end().chars().any(is_unsafe), "{line:?}");
        assert_eq!(serde_json::from_str::<String>(&line).unwrap(), hostile);
    }

    #[test]
    fn text_is_cut_by_characters() {
        assert_eq!(short("通知公告", 4), "通知公告");
        assert_eq!(short("通知公告栏", 4), "通知公…");
    }
}
