//! `dibao adapter`: ls, check, pin.

use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::time::Instant;

use anyhow::Context;
use clap::Subcommand;
use dibao::adapter::{AdapterHost, HostOptions, PinState};
use serde_json::json;

use crate::exit::Exit;
use crate::open::OpenArgs;
use crate::output::print_rows;

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
        #[arg(long = "grant", value_name = "HOST")]
        hosts: Vec<String>,
    },
}

pub async fn run(open: &OpenArgs, command: AdapterCommand) -> anyhow::Result<Exit> {
    match command {
        AdapterCommand::Ls => {
            let entries = open.registry()?.entries()?;
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
            let registry = open.registry()?;
            let inside = registry.dir().join(file.file_name().context("that is no file")?);
            if !inside.exists() || (file.exists() && !same_file(&file, &inside)) {
                std::fs::copy(&file, &inside)
                    .with_context(|| format!("copying {} to {}", file.display(), inside.display()))?;
            }
            let entry = registry.pin(&inside, (!hosts.is_empty()).then_some(hosts))?;
            eprintln!("{}: pinned, may reach {}", entry.name, entry.granted.join(", "));
        }
    }
    Ok(Exit::Ok)
}

fn same_file(a: &std::path::Path, b: &std::path::Path) -> bool {
    matches!((a.canonicalize(), b.canonicalize()), (Ok(a), Ok(b)) if a == b)
}

/// Imports, version, schema, hosts, size and compile time; a refused component says why.
fn check(file: PathBuf) -> anyhow::Result<()> {
    let bytes = std::fs::read(&file).with_context(|| file.display().to_string())?;
    let origin = file.display().to_string();
    let host = AdapterHost::new(HostOptions::default())?;
    let inspection = host.inspect_as(&bytes, &origin)?;
    let began = Instant::now();
    let adapter = host.load(&bytes, &origin)?;
    let loaded = began.elapsed();
    let about = adapter.about();
    let schema: serde_json::Value = serde_json::from_str(&about.config_schema)?;
    let mut out = std::io::stdout().lock();
    if !out.is_terminal() {
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
        writeln!(out, "{facts}")?;
        return Ok(());
    }
    let mut line = |name: &str, value: String| writeln!(out, "{name:<14} {value}");
    line("adapter", format!("{} {}", about.name, about.version))?;
    line("contract", inspection.contract.clone())?;
    line("size", format!("{} bytes", inspection.size))?;
    line("sha256", inspection.sha256.clone())?;
    line("imports", inspection.imports.join("\n               "))?;
    line("interpreted", if inspection.interpreted { "yes (WASI, linked to nothing)" } else { "no" }.into())?;
    line("wanted hosts", about.hosts.join(", "))?;
    line("interval", format!("{} s", about.default_interval))?;
    line(
        "compile time",
        format!("{} ms of {} ms to load", adapter.compile_time().as_millis(), loaded.as_millis()),
    )?;
    line("config schema", serde_json::to_string_pretty(&schema)?)?;
    Ok(())
}
