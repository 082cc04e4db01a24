//! `dibao adapter new` and `dibao adapter build`.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::{Args, ValueEnum};
use dibao::adapter::{AdapterHost, HostOptions};
use dibao_adapter_kit::{Language, Project, tools};

use super::author::compiled;
use crate::output::note;

#[derive(Args)]
pub struct NewArgs {
    /// Name of the adapter: lower-case letters, digits and hyphens
    name: String,

    /// Language it is written in
    #[arg(long, value_enum, default_value_t = LanguageArg::Rust)]
    lang: LanguageArg,

    /// Directory of the project [default: NAME]
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
}

#[derive(Clone, Copy, ValueEnum)]
enum LanguageArg {
    Rust,
    Python,
    #[value(name = "javascript", alias = "js")]
    JavaScript,
}

#[derive(Args)]
pub struct BuildArgs {
    /// Directory of the project
    #[arg(default_value = ".")]
    dir: PathBuf,

    /// Write the component here [default: NAME.wasm in the project]
    #[arg(long, short = 'o', value_name = "FILE")]
    output: Option<PathBuf>,
}

pub fn begin(args: NewArgs) -> anyhow::Result<()> {
    let language = match args.lang {
        LanguageArg::Rust => Language::Rust,
        LanguageArg::Python => Language::Python,
        LanguageArg::JavaScript => Language::JavaScript,
    };
    let dir = args.dir.unwrap_or_else(|| PathBuf::from(&args.name));
    let files = dibao_adapter_kit::begin(&args.name, language, &dir)?;
    let shown = dir.display();
    note(format_args!(
        "{shown}: {} files; next: dibao adapter build {shown} && dibao adapter test {shown}",
        files.len()
    ));
    Ok(())
}

/// Builds, and writes only what the host accepts.
pub fn run(args: BuildArgs) -> anyhow::Result<()> {
    let project = Project::find(&args.dir)?;
    let component = dibao_adapter_kit::build(&project, &tools::home())?;
    let host = AdapterHost::new(HostOptions { cache_dir: Some(compiled()), ..HostOptions::default() })?;
    let adapter = host.load(&component, &args.dir.display().to_string())?;
    let about = adapter.about();
    let file = args.output.unwrap_or_else(|| args.dir.join(format!("{}.wasm", about.name)));
    write(&file, &component).with_context(|| format!("cannot write {}", file.display()))?;
    note(format_args!(
        "{}: {} {}, {} KiB, wants {}",
        file.display(),
        about.name,
        about.version,
        component.len() / 1024,
        about.hosts.join(", ")
    ));
    Ok(())
}

/// In one step: whoever loads it meanwhile sees the old bytes or the new ones.
fn write(file: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let dir = file.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut new = tempfile::NamedTempFile::new_in(dir)?;
    new.write_all(bytes)?;
    new.persist(file)?;
    Ok(())
}
