//! Runs programs step by step and says what is being done, how long it took, and what to do when one fails.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result, bail};
use serde_json::Value;

/// A cargo command in the workspace. What the cargo that started this program told it of *its* package is not handed on: build
/// scripts that look at it would run again, and half of the dependencies be built again, whenever `cargo xtask` follows `cargo`.
pub fn cargo(workspace: &Path) -> Command {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.current_dir(workspace);
    for (name, _) in std::env::vars_os() {
        let own = name.to_str().is_some_and(|name| {
            name.starts_with("CARGO_PKG_")
                || name.starts_with("CARGO_MANIFEST_")
                || name == "CARGO_PRIMARY_PACKAGE"
        });
        if own {
            cargo.env_remove(name);
        }
    }
    cargo
}

/// Runs one step; a failing one ends everything with its name.
pub fn step(name: &str, work: impl FnOnce() -> Result<()>) -> Result<()> {
    eprintln!("── {name}");
    let began = Instant::now();
    work().with_context(|| format!("step `{name}` failed"))?;
    eprintln!("── {name}: ok, {:.0} s", began.elapsed().as_secs_f64());
    Ok(())
}

/// Runs a program to its end; anything but success is an error.
pub fn run(command: &mut Command) -> Result<()> {
    let status = command.status().with_context(|| format!("{:?} did not start", command.get_program()))?;
    if !status.success() {
        bail!("{:?} ended with {status}", command);
    }
    Ok(())
}

/// Where cargo leaves binaries of the development profile.
pub fn debug_dir(workspace: &Path) -> Result<PathBuf> {
    let output = cargo(workspace)
        .args(["metadata", "--no-deps", "--offline", "--format-version", "1"])
        .output()
        .context("cargo metadata did not start")?;
    let metadata: Value = serde_json::from_slice(&output.stdout).context("cargo metadata")?;
    let target = metadata["target_directory"].as_str().context("cargo metadata: target_directory")?;
    Ok(Path::new(target).join("debug"))
}
