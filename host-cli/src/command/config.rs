//! `dibao config`: what holds and who said so, and a file to begin with.

use std::io::Write;

use clap::parser::ValueSource;
use clap::{ArgMatches, Command, Subcommand};
use serde::Serialize;

use crate::config::{self, Kind, Layers, Origin, SETTINGS, Scope, Setting};
use crate::exit::Exit;
use crate::output::{note, print_rows};

#[derive(Subcommand)]
pub enum ConfigCommand {
    /// Every setting and its value; options of this command line count
    Show {
        /// Say where each value comes from: option, variable, file and line, or default
        #[arg(long)]
        origin: bool,
    },
    /// Print a dibao.toml with every setting at its default
    Example,
}

#[derive(Serialize)]
struct Row {
    setting: String,
    value: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    origin: Option<String>,
}

pub fn run(
    plain: &Command,
    matches: &ArgMatches,
    layers: &Layers,
    command: ConfigCommand,
) -> anyhow::Result<Exit> {
    match command {
        ConfigCommand::Show { origin } => {
            let rows: Vec<Row> = SETTINGS
                .iter()
                .map(|setting| {
                    let (values, said_by) = effective(plain, matches, layers, setting);
                    let value = (!values.is_empty()).then(|| values.join(", "));
                    Row { setting: setting.path(), value, origin: origin.then(|| said_by.to_string()) }
                })
                .collect();
            let mut headings = vec!["setting", "value"];
            headings.extend(origin.then_some("from"));
            print_rows(&rows, &headings, |row| {
                let value = row.value.clone().unwrap_or_else(|| "–".to_string());
                [row.setting.clone(), value].into_iter().chain(row.origin.clone()).collect()
            })?;
            match &layers.file {
                Some(file) => note(format_args!("file: {}", file.display())),
                None => note("file: none (--config FILE, DIBAO_CONFIG, or dibao.toml in this directory)"),
            }
        }
        ConfigCommand::Example => std::io::stdout().lock().write_all(example(plain).as_bytes())?,
    }
    Ok(Exit::Ok)
}

/// What holds for a setting. Options of `run` and `serve` cannot be given here; what they would get without one is shown.
fn effective(
    plain: &Command,
    matches: &ArgMatches,
    layers: &Layers,
    setting: &Setting,
) -> (Vec<String>, Origin) {
    let typed = setting.scope == Scope::Every
        && matches!(matches.value_source(setting.option), Some(ValueSource::CommandLine));
    if typed {
        let values: Vec<String> = match matches.try_get_raw(setting.option) {
            Ok(Some(raw)) => raw.map(|value| value.to_string_lossy().into_owned()).collect(),
            _ => Vec::new(),
        };
        // A switch has no text of its own.
        let values = match (values.is_empty(), setting.kind) {
            (true, Kind::Flag) => vec!["true".to_string()],
            (true, Kind::Number) => vec![matches.get_count(setting.option).to_string()],
            _ => values,
        };
        return (values, Origin::Option);
    }
    match layers.of_setting(setting) {
        Some(layer) => (layer.values.clone(), layer.origin.clone()),
        None => (defaults(plain, setting), Origin::Default),
    }
}

fn defaults(plain: &Command, setting: &Setting) -> Vec<String> {
    let Some(option) = config::option(plain, setting) else { return Vec::new() };
    let values: Vec<String> =
        option.get_default_values().iter().map(|value| value.to_string_lossy().into_owned()).collect();
    match (values.is_empty(), setting.kind, setting.key) {
        (true, Kind::Flag, _) => vec!["false".to_string()],
        (true, _, "verbose") => vec!["0".to_string()],
        _ => values,
    }
}

/// The table as a file in which nothing is said.
fn example(plain: &Command) -> String {
    let mut text = String::from(
        "# dibao.toml: read with --config FILE, DIBAO_CONFIG, or from the current directory.\n\
         # An option is stronger than a variable (DIBAO__SECTION__KEY), a variable than this file.\n\
         # Relative paths begin at this file. `dibao config show --origin` tells what holds.\n",
    );
    let mut section = "";
    for setting in SETTINGS {
        if setting.section != section {
            section = setting.section;
            text.push_str(&format!("\n[{section}]\n"));
        }
        let help =
            config::option(plain, setting).and_then(|option| option.get_help().map(ToString::to_string));
        text.push_str(&format!("# {}\n", help.unwrap_or_default()));
        let values = defaults(plain, setting);
        let value = match (setting.kind, values.first()) {
            (Kind::Texts | Kind::Paths, _) => "[]".to_string(),
            (Kind::Flag | Kind::Number, Some(value)) => value.clone(),
            (Kind::Number, None) => "0".to_string(),
            (_, value) => format!("{:?}", value.map(String::as_str).unwrap_or_default()),
        };
        text.push_str(&format!("# {} = {value}\n", setting.key));
    }
    text
}
