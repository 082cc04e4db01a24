//! Loading an adapter: compiled, and taken from the disk cache. Each time in a new process, as a command line does.

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use anyhow::{Context as _, Result, ensure};
use dibao::adapter::{AdapterHost, HostOptions};

use crate::figures::{Figure, Goal, Samples};

/// In the child: loads the bundled adapter with this cache directory; milliseconds, and whether the cache had it.
pub fn once(adapters: &Path, cache: &Path) -> Result<(f64, bool)> {
    let bytes = std::fs::read(adapters.join("yaml-css.wasm"))?;
    let host =
        AdapterHost::new(HostOptions { cache_dir: Some(cache.to_path_buf()), ..HostOptions::default() })?;
    let begin = Instant::now();
    let adapter = host.load(&bytes, "yaml-css")?;
    let took = begin.elapsed().as_secs_f64() * 1e3;
    drop(adapter);
    Ok((took, host.cache_hits().is_some_and(|hits| hits > 0)))
}

/// Measures both.
pub fn measure(adapters: &Path, quick: bool) -> Result<Vec<Figure>> {
    let (mut compiled, mut cached) = (Vec::new(), Vec::new());
    for _ in 0..if quick { 3 } else { 9 } {
        let cache = tempfile::tempdir()?;
        for hit in [false, true, true] {
            let (took, was_hit) = child(adapters, cache.path())?;
            ensure!(was_hit == hit, "the cache was expected to {} it", if hit { "have" } else { "lack" });
            if hit { cached.push(took) } else { compiled.push(took) }
        }
    }
    let (compiled, cached) = (Samples::new(compiled), Samples::new(cached));
    Ok(vec![Figure {
        name: "compile to cached load".into(),
        value: compiled.median() / cached.median(),
        unit: "×",
        goal: Goal::AtLeast(20.0),
        note: format!(
            "yaml-css in new processes: {:.0} ms to {:.2} ms; from {:.1}× to {:.1}×",
            compiled.median(),
            cached.median(),
            compiled.at(0.0) / cached.at(1.0),
            compiled.at(1.0) / cached.at(0.0),
        ),
    }])
}

fn child(adapters: &Path, cache: &Path) -> Result<(f64, bool)> {
    let mut command = Command::new(std::env::current_exe()?);
    let output =
        command.arg("load-once").arg("--adapters").arg(adapters).arg("--cache").arg(cache).output()?;
    ensure!(output.status.success(), "load: {}", String::from_utf8_lossy(&output.stderr));
    let line = String::from_utf8_lossy(&output.stdout);
    let (took, hit) = line.trim().split_once(' ').context("load: no answer")?;
    Ok((took.parse()?, hit.parse()?))
}
