//! `cargo xtask setup`: the tools a build needs beyond cargo itself.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

/// Adapters are built for the bare target: it has no WASI, so a component made from it
/// imports nothing but the contract.
pub const WASM_TARGET: &str = "wasm32-unknown-unknown";

/// Installs what is missing.
pub fn run() -> Result<()> {
    wasm_target()?;
    eprintln!("ready: {WASM_TARGET} is installed");
    Ok(())
}

/// Makes sure that the standard library for adapters is there.
pub fn wasm_target() -> Result<()> {
    if has_wasm_target()? {
        return Ok(());
    }
    eprintln!("installing the Rust target {WASM_TARGET} …");
    let added = Command::new("rustup").args(["target", "add", WASM_TARGET]).status();
    if matches!(&added, Ok(status) if status.success()) && has_wasm_target()? {
        return Ok(());
    }
    bail!(
        "the Rust target {WASM_TARGET} is missing and could not be installed ({}).\n\
         With rustup:   rustup target add {WASM_TARGET}\n\
         With Debian:   apt install rustc-web libstd-rust-dev-wasm32\n\
         Then run `cargo xtask adapters` again.",
        match added {
            Ok(status) => format!("rustup ended with {status}"),
            Err(error) => format!("rustup did not start: {error}"),
        }
    );
}

/// Asks the compiler itself, so that it also works where there is no rustup.
fn has_wasm_target() -> Result<bool> {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc)
        .args(["--print", "target-libdir", "--target", WASM_TARGET])
        .stderr(Stdio::null())
        .output()
        .context("rustc did not start")?;
    let libdir = String::from_utf8_lossy(&output.stdout);
    Ok(output.status.success() && Path::new(libdir.trim()).is_dir())
}
