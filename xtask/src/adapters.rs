//! `cargo xtask adapters`: every crate under `adapters/` that makes a cdylib becomes a component
//! in `target/adapters`, pinned in the `adapters.lock` beside it.
//!
//! The result always lies in the workspace's own `target/adapters`, where tests, examples and the
//! command line look for it, wherever cargo keeps its own output.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::examples;
use crate::setup::{self, WASM_TARGET};
use crate::steps::cargo;

/// The cargo profile of the workspace manifest made for guests.
const PROFILE: &str = "adapter";

/// Bytes of a component: what a process compiles in a moment.
const LARGEST: usize = 400_000;

/// A crate that becomes a component.
struct Guest {
    /// The name of its folder: the adapter's name.
    name: String,
    package: String,
    /// The module cargo leaves in its output directory.
    module: String,
    /// Hosts granted to it in the bundled lock file.
    hosts: Vec<String>,
}

/// Builds, encodes and pins all of them, and the examples in other languages.
pub fn run(workspace: &Path) -> Result<()> {
    bundled(workspace)?;
    examples::run(workspace)
}

/// Those that come with the program.
pub fn bundled(workspace: &Path) -> Result<()> {
    setup::wasm_target()?;
    let (guests, cargo_target) = guests(workspace)?;
    build(workspace, &guests)?;

    let out = workspace.join("target/adapters");
    fs::create_dir_all(&out).with_context(|| format!("cannot create {}", out.display()))?;
    let mut pins = Vec::new();
    for guest in &guests {
        let module = cargo_target.join(WASM_TARGET).join(PROFILE).join(&guest.module);
        let component = encode(&module)?;
        if component.len() > LARGEST {
            bail!("{} has {} bytes; a bundled adapter has at most {LARGEST}", guest.name, component.len());
        }
        let file = format!("{}.wasm", guest.name);
        let changed = write_if_changed(&out.join(&file), &component)?;
        let sha256 = hex(&Sha256::digest(&component));
        eprintln!(
            "{:<14} {:>7} bytes  {}  {}",
            guest.name,
            component.len(),
            &sha256[..12],
            if changed { "written" } else { "unchanged" },
        );
        pins.push((guest.name.clone(), sha256, guest.hosts.clone()));
    }
    write_lock(&out, pins)
}

/// The lock of a directory of adapters: name, sha256 and granted hosts of each.
pub fn write_lock(dir: &Path, pins: Vec<(String, String, Vec<String>)>) -> Result<()> {
    let pins = pins.into_iter().map(|(name, sha256, hosts)| {
        let file = format!("{name}.wasm");
        (name, pin(&file, &sha256, &hosts))
    });
    let lock: BTreeMap<String, toml::Value> = pins.collect();
    let lock =
        toml::Table::from_iter([("adapters".to_owned(), toml::Value::Table(toml::Table::from_iter(lock)))]);
    let text = format!(
        "# The bundled adapters by their bytes; written by `cargo xtask adapters`.\n\n{}",
        toml::to_string(&lock).context("adapters.lock")?
    );
    write_if_changed(&dir.join("adapters.lock"), text.as_bytes())?;
    Ok(())
}

/// Where cargo puts what it builds.
pub fn target_dir(workspace: &Path) -> Result<PathBuf> {
    Ok(guests(workspace)?.1)
}

/// The adapter crates of the workspace, and where cargo puts what it builds.
fn guests(workspace: &Path) -> Result<(Vec<Guest>, PathBuf)> {
    let output = cargo(workspace)
        .args(["metadata", "--no-deps", "--offline", "--format-version", "1"])
        .output()
        .context("cargo metadata did not start")?;
    if !output.status.success() {
        bail!("cargo metadata failed: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    let metadata: Value = serde_json::from_slice(&output.stdout).context("cargo metadata")?;
    let target = metadata["target_directory"].as_str().context("cargo metadata: target_directory")?;
    let adapters = workspace.join("adapters");
    let mut guests: Vec<Guest> = metadata["packages"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|package| guest(package, &adapters))
        .collect();
    guests.sort_by(|a, b| a.name.cmp(&b.name));
    Ok((guests, PathBuf::from(target)))
}

/// A package as an adapter: it lies in a folder of `adapters` and makes a cdylib.
fn guest(package: &Value, adapters: &Path) -> Option<Guest> {
    let folder = Path::new(package["manifest_path"].as_str()?).parent()?;
    if folder.parent()? != adapters {
        return None;
    }
    let library = package["targets"].as_array()?.iter().find(|target| {
        target["crate_types"].as_array().is_some_and(|types| types.iter().any(|t| t == "cdylib"))
    })?;
    // `[package.metadata.dibao] hosts = […]` in the adapter's manifest.
    let hosts: Vec<String> = package["metadata"]["dibao"]["hosts"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|host| host.as_str().map(str::to_owned))
        .collect();
    Some(Guest {
        name: folder.file_name()?.to_str()?.to_owned(),
        package: package["name"].as_str()?.to_owned(),
        module: format!("{}.wasm", library["name"].as_str()?.replace('-', "_")),
        hosts: if hosts.is_empty() { vec!["site".to_owned()] } else { hosts },
    })
}

fn build(workspace: &Path, guests: &[Guest]) -> Result<()> {
    let mut cargo = cargo(workspace);
    cargo.args(["build", "--lib", "--target", WASM_TARGET, "--profile", PROFILE]);
    for guest in guests {
        cargo.args(["--package", &guest.package]);
    }
    let status = cargo.status().context("cargo build did not start")?;
    if !status.success() {
        bail!("the adapters did not build; the compiler's messages are above");
    }
    Ok(())
}

/// A core module becomes a component.
fn encode(module: &Path) -> Result<Vec<u8>> {
    let bytes = fs::read(module).with_context(|| format!("cannot read {}", module.display()))?;
    dibao_adapter_kit::encode(&bytes)
        .with_context(|| format!("{} cannot become a component", module.display()))
}

fn pin(file: &str, sha256: &str, hosts: &[String]) -> toml::Value {
    let hosts = hosts.iter().cloned().map(toml::Value::String).collect();
    toml::Value::Table(toml::Table::from_iter([
        ("file".to_owned(), toml::Value::String(file.to_owned())),
        ("sha256".to_owned(), toml::Value::String(sha256.to_owned())),
        ("hosts".to_owned(), toml::Value::Array(hosts)),
    ]))
}

/// Replaces the file in one step, and leaves an equal one alone, so that whatever is built
/// from it is not built again.
pub fn write_if_changed(path: &Path, bytes: &[u8]) -> Result<bool> {
    if fs::read(path).is_ok_and(|old| old == bytes) {
        return Ok(false);
    }
    let mut temporary = path.as_os_str().to_owned();
    temporary.push(format!(".{}.tmp", std::process::id()));
    let temporary = PathBuf::from(temporary);
    fs::write(&temporary, bytes)
        .and_then(|()| fs::rename(&temporary, path))
        .with_context(|| format!("cannot write {}", path.display()))?;
    Ok(true)
}

pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
