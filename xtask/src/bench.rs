//! `cargo xtask bench`: builds adapters and optimised programs, then prints the table of ratios. A figure that misses its goal
//! is printed, not punished: only an experiment that cannot be made is an error.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::steps::cargo;
use crate::{adapters, python};

/// Runs the experiments; `quick` for a short look, `only` for one of them.
pub fn run(workspace: &Path, quick: bool, only: Option<&str>) -> Result<()> {
    adapters::run(workspace)?;
    let status = cargo(workspace)
        .args([
            "build",
            "--release",
            "--bins",
            "--package",
            "dibao-benches",
            "--package",
            "dibao-tests",
            "--package",
            "dibao-cli",
        ])
        .status()
        .context("cargo build did not start")?;
    if !status.success() {
        bail!("the benchmarks did not build; the compiler's messages are above");
    }
    let mut bench = Command::new(release_dir(workspace)?.join("dibao-bench"));
    bench.arg("run").arg("--adapters").arg(workspace.join("target/adapters"));
    if only.is_none_or(|only| only == "pages")
        && let Some(python) = python::with_extractors(&adapters::target_dir(workspace)?)
    {
        bench.arg("--python").arg(python);
    }
    if only.is_none_or(|only| only == "schedule")
        && let Some(python) = python::with_croniter(&adapters::target_dir(workspace)?)
    {
        bench.arg("--croniter").arg(python);
    }
    if quick {
        bench.arg("--quick");
    }
    if let Some(only) = only {
        bench.args(["--only", only]);
    }
    let status = bench.status().context("dibao-bench did not start")?;
    if !status.success() {
        bail!("an experiment could not be made; its message is above");
    }
    Ok(())
}

/// Where cargo leaves optimised programs.
fn release_dir(workspace: &Path) -> Result<PathBuf> {
    Ok(adapters::target_dir(workspace)?.join("release"))
}
