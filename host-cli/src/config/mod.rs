//! What holds when the command line does not say: variables, then `dibao.toml`, then what is built in.
//!
//! Each setting is an option of the parser; what was said elsewhere becomes its default, so that it is checked and shown by
//! the same code as an option that was typed.

mod file;
mod settings;

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use clap::builder::OsStr as ClapStr;
use clap::{Arg, ArgAction, Command};

pub use settings::{Kind, SETTINGS, Scope, Setting};

use crate::exit::Usage;

/// The file that is read from the current directory without being named.
const USUAL: &str = "dibao.toml";

/// Who said what holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    Option,
    Variable(String),
    File { path: PathBuf, line: usize },
    Default,
}

impl std::fmt::Display for Origin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Origin::Option => f.write_str("option"),
            Origin::Variable(name) => write!(f, "variable {name}"),
            Origin::File { path, line } => write!(f, "{}:{line}", path.display()),
            Origin::Default => f.write_str("default"),
        }
    }
}

/// What was said of one setting, the strongest voice first.
pub struct Layer {
    pub setting: &'static Setting,
    pub values: Vec<String>,
    pub origin: Origin,
}

/// What was said outside the command line.
pub struct Layers {
    /// The file that was read.
    pub file: Option<PathBuf>,
    pub said: Vec<Layer>,
}

impl Layers {
    /// Reads file and variables, and checks every value as if it had been typed.
    pub fn read(command: &Command, args: &[OsString]) -> Result<Layers, Usage> {
        let variable = |name: &str| std::env::var_os(name);
        let file = match named(args).or_else(|| variable("DIBAO_CONFIG").filter(|name| !name.is_empty())) {
            Some(name) => Some(PathBuf::from(name)),
            None => Some(PathBuf::from(USUAL)).filter(|usual| usual.is_file()),
        };
        Layers::of(command, file, &variable).map_err(Usage)
    }

    fn of(
        command: &Command,
        file: Option<PathBuf>,
        variable: &dyn Fn(&str) -> Option<OsString>,
    ) -> Result<Layers, String> {
        let mut said = Vec::new();
        for setting in SETTINGS {
            said.extend(from_variables(setting, variable)?);
        }
        if let Some(path) = &file {
            for one in file::read(path)? {
                if !said.iter().any(|layer: &Layer| layer.setting.option == one.setting.option) {
                    let origin = Origin::File { path: path.clone(), line: one.line };
                    said.push(Layer { setting: one.setting, values: one.values, origin });
                }
            }
        }
        for layer in &said {
            check(command, layer)?;
        }
        Ok(Layers { file, said })
    }

    /// The parser with what was said as its defaults.
    pub fn onto(&self, mut command: Command) -> Command {
        for Layer { setting, values, .. } in &self.said {
            let values: Vec<ClapStr> = values.iter().map(|value| ClapStr::from(value.clone())).collect();
            match setting.scope.commands() {
                [] => command = command.mut_arg(setting.option, |arg| arg.default_values(values)),
                names => {
                    for name in names {
                        let values = values.clone();
                        command = command.mut_subcommand(name, |sub| {
                            sub.mut_arg(setting.option, |arg| arg.default_values(values))
                        });
                    }
                }
            }
        }
        command
    }

    pub fn of_setting(&self, setting: &Setting) -> Option<&Layer> {
        self.said.iter().find(|layer| layer.setting.option == setting.option)
    }
}

/// The option in the parser that a setting is.
pub fn option<'a>(command: &'a Command, setting: &Setting) -> Option<&'a Arg> {
    let home = match setting.scope.commands() {
        [] => Some(command),
        // All that have it have the same.
        names => names.first().and_then(|name| command.find_subcommand(name)),
    }?;
    home.get_arguments().find(|arg| arg.get_id() == setting.option)
}

/// `--config FILE` anywhere before `--`: it must be known before the parser is complete.
fn named(args: &[OsString]) -> Option<OsString> {
    let mut args = args.iter().skip(1).take_while(|arg| *arg != "--");
    while let Some(arg) = args.next() {
        if arg == "--config" {
            return args.next().cloned();
        }
        if let Some(name) = arg.to_str().and_then(|arg| arg.strip_prefix("--config=")) {
            return Some(OsStr::new(name).to_os_string());
        }
    }
    None
}

fn from_variables(
    setting: &'static Setting,
    variable: &dyn Fn(&str) -> Option<OsString>,
) -> Result<Option<Layer>, String> {
    let own = setting.variable();
    for name in setting.names.iter().copied().chain([own.as_str()]) {
        let Some(value) = variable(name).filter(|value| !value.is_empty()) else { continue };
        let value = value.into_string().map_err(|_| format!("{name}: its value is not UTF-8"))?;
        let Some(value) = translated(name, value) else { continue };
        let values = match setting.kind {
            Kind::Flag => {
                let on = switch(&value).ok_or_else(|| format!("{name}: write true or false"))?;
                vec![on.to_string()]
            }
            Kind::Texts | Kind::Paths => {
                value.split(',').map(str::trim).filter(|part| !part.is_empty()).map(String::from).collect()
            }
            _ => vec![value],
        };
        let origin = Origin::Variable(name.to_string());
        return Ok(Some(Layer { setting, values, origin }));
    }
    Ok(None)
}

/// Variables of older deployments that say a thing in another way. None: it says nothing to us.
fn translated(name: &str, value: String) -> Option<String> {
    match name {
        // The store is a directory; other databases are not ours.
        "DATABASE_URL" => {
            let path = value.strip_prefix("sqlite://").or_else(|| value.strip_prefix("sqlite:"))?;
            let path = Path::new(path.split('?').next()?);
            let dir = path.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."));
            Some(dir.to_string_lossy().into_owned())
        }
        "SKIP_CHROMIUM" => (switch(&value) == Some(true)).then(|| "off".to_string()),
        _ => Some(value),
    }
}

fn switch(word: &str) -> Option<bool> {
    match word.trim().to_ascii_lowercase().as_str() {
        "1" | "true" | "yes" | "on" => Some(true),
        "0" | "false" | "no" | "off" => Some(false),
        _ => None,
    }
}

/// Has the option's own parser look at the value, so that the message names the place where it was said.
fn check(command: &Command, layer: &Layer) -> Result<(), String> {
    let Some(arg) = option(command, layer.setting) else {
        return Err(format!("{} is not an option of this program", layer.setting.path()));
    };
    if matches!(arg.get_action(), ArgAction::SetTrue) {
        return Ok(());
    }
    if matches!(arg.get_action(), ArgAction::Count) {
        return match layer.values.iter().all(|value| value.parse::<u8>().is_ok()) {
            true => Ok(()),
            false => Err(format!("{}: {} must be 0, 1 or 2", layer.origin, layer.setting.path())),
        };
    }
    let alone = Command::new("check").no_binary_name(true).disable_help_flag(true).arg(
        arg.clone()
            .env(None::<&str>)
            .global(false)
            .long("value")
            .short(None)
            .default_values(Vec::<&str>::new()),
    );
    for value in &layer.values {
        if let Err(error) = alone.clone().try_get_matches_from([format!("--value={value}")]) {
            let words = std::error::Error::source(&error).map(ToString::to_string);
            let words = words.unwrap_or_else(|| match error.get(clap::error::ContextKind::ValidValue) {
                Some(valid) => format!("possible values: {valid}"),
                None => "not a value of this setting".to_string(),
            });
            return Err(format!("{}: {} = {value:?}: {words}", layer.origin, layer.setting.path()));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
