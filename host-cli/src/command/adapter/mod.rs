//! `dibao adapter`: ls, check, pin here; new, build, test, run and record, for authors, in files of their own.

pub mod author;
mod build;
mod record;
mod run;
mod test;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::Context;
use clap::Subcommand;
use dibao::adapter::{AdapterHost, HostOptions, PinState, Registry, RegistryEntry};
use dibao::fetch::HostPattern;
use serde_json::json;

use crate::exit::Exit;
use crate::open::OpenArgs;
use crate::output::{is_for_people, json_line, note, print_rows, printable};

#[derive(Subcommand)]
pub enum AdapterCommand {
    /// List the adapters with their pins and grants
    Ls,
    /// Say what a component is and whether it would be accepted
    Check {
        /// A .wasm file
        file: PathBuf,
    },
    /// Approve the bytes of an adapter and the hosts it may reach
    Pin {
        /// A .wasm file; one outside the adapter directory is copied into it
        file: PathBuf,
        /// Grant this host instead of what was granted before: site, https://HOST or https://*.DOMAIN
        #[arg(long = "grant", value_name = "HOST", value_parser = host)]
        hosts: Vec<String>,
    },
    /// Begin an adapter: a project that builds and passes its tests as it is
    New(build::NewArgs),
    /// Build an adapter project into a component
    Build(build::BuildArgs),
    /// Replay recorded cases and show where the adapter's words differ
    Test(test::TestArgs),
    /// Try an adapter on an address: what it asks for and gets, turn by turn
    Run(run::RunArgs),
    /// Record one polite live run as test cases, without cookies and tokens
    Record(record::RecordArgs),
}

fn host(text: &str) -> Result<String, String> {
    HostPattern::parse(text).map(|_| text.to_string()).map_err(|error| error.to_string())
}

pub async fn run(open: &OpenArgs, command: AdapterCommand) -> anyhow::Result<Exit> {
    match command {
        AdapterCommand::Ls => {
            let entries = open.registry()?.entries()?;
            if entries.is_empty() {
                note("no adapter is here; `dibao adapter pin FILE.wasm` adds one");
            }
            print_rows(&entries, &["adapter", "state", "size", "granted hosts", "file"], |entry| {
                let state = match &entry.state {
                    PinState::Pinned { .. } => "pinned",
                    PinState::Changed { .. } => "changed since it was pinned",
                    PinState::Unpinned { .. } => "not pinned",
                    PinState::Missing => "missing",
                };
                vec![
                    entry.name.clone(),
                    state.to_string(),
                    entry.size.map_or(String::new(), |size| format!("{} KiB", size / 1024)),
                    entry.granted.join(", "),
                    entry.path.display().to_string(),
                ]
            })?;
        }
        AdapterCommand::Check { file } => check(file)?,
        AdapterCommand::Pin { file, hosts } => {
            let entry = pin(&open.adapter_home(), &file, hosts)?;
            note(format_args!("{}: pinned, may reach {}", entry.name, entry.granted.join(", ")));
        }
        AdapterCommand::New(args) => build::begin(args)?,
        AdapterCommand::Build(args) => build::run(args)?,
        AdapterCommand::Test(args) => return test::run(args),
        AdapterCommand::Run(args) => return run::run(open, args).await,
        AdapterCommand::Record(args) => return record::run(open, args).await,
    }
    Ok(Exit::Ok)
}

/// Puts a file into the directory and approves it. What would be refused replaces nothing.
fn pin(dir: &Path, file: &Path, hosts: Vec<String>) -> anyhow::Result<RegistryEntry> {
    let name = file.file_name().with_context(|| format!("{} is no file", file.display()))?;
    let inside = dir.join(name);
    // A bare name may mean a file of the directory.
    let file = if file.exists() || !inside.exists() { file } else { &inside };
    let bytes = std::fs::read(file).with_context(|| format!("cannot read {}", file.display()))?;
    AdapterHost::new(kept())?.load(&bytes, &file.display().to_string())?;
    std::fs::create_dir_all(dir).with_context(|| format!("cannot make {}", dir.display()))?;
    let registry = Registry::open(dir)?;
    if !same_file(file, &inside) {
        let copied = || -> anyhow::Result<()> {
            let mut copy = tempfile::NamedTempFile::new_in(dir)?;
            copy.write_all(&bytes)?;
            copy.persist(&inside)?;
            Ok(())
        };
        copied().with_context(|| format!("cannot copy {} to {}", file.display(), inside.display()))?;
    }
    Ok(registry.pin(&inside, (!hosts.is_empty()).then_some(hosts))?)
}

/// Compiled code is kept between commands: an interpreter takes a minute without optimisation.
fn kept() -> HostOptions {
    HostOptions { cache_dir: Some(author::compiled()), ..HostOptions::default() }
}

fn same_file(a: &Path, b: &Path) -> bool {
    matches!((a.canonicalize(), b.canonicalize()), (Ok(a), Ok(b)) if a == b)
}

/// Imports, version, schema, hosts, size and compile time; a refused component says why.
fn check(file: PathBuf) -> anyhow::Result<()> {
    let bytes = std::fs::read(&file).with_context(|| format!("cannot read {}", file.display()))?;
    let origin = file.display().to_string();
    let host = AdapterHost::new(kept())?;
    let inspection = host.inspect_as(&bytes, &origin)?;
    let began = Instant::now();
    let adapter = host.load(&bytes, &origin)?;
    let loaded = began.elapsed();
    let about = adapter.about();
    let schema: serde_json::Value = serde_json::from_str(&about.config_schema)?;
    let mut out = std::io::stdout().lock();
    if !is_for_people() {
        let facts = json!({
            "file": origin,
            "accepted": true,
            "name": about.name,
            "version": about.version,
            "inspection": inspection,
            "hosts": about.hosts,
            "default_interval_sec": about.default_interval,
            "compile_ms": adapter.compile_time().as_millis() as u64,
            "config_schema": schema,
        });
        out.write_all(json_line(&facts)?.as_bytes())?;
        return Ok(());
    }
    let mut line = |name: &str, value: String| writeln!(out, "{name:<14} {}", printable(&value));
    line("adapter", format!("{} {}", about.name, about.version))?;
    line("contract", format!("dibao:adapter@{}", inspection.contract))?;
    line("size", format!("{} bytes", inspection.size))?;
    line("sha256", inspection.sha256.clone())?;
    line("imports", inspection.imports.join("\n               "))?;
    line("interpreted", if inspection.interpreted { "yes (WASI, linked to nothing)" } else { "no" }.into())?;
    line("wanted hosts", about.hosts.join(", "))?;
    let interval = match about.default_interval {
        0 => "the site's".to_string(),
        seconds => format!("{seconds} s"),
    };
    line("interval", interval)?;
    line(
        "compile time",
        format!("{} ms of {} ms to load", adapter.compile_time().as_millis(), loaded.as_millis()),
    )?;
    line("config schema", serde_json::to_string_pretty(&schema)?)?;
    Ok(())
}
