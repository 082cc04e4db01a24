//! Rust: cargo builds a core module for the bare target, and `wit-component` makes it a component.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use wit_component::ComponentEncoder;

use crate::{KitError, Project};

/// Adapters are built for the bare target: it has no WASI, so a component made from it imports nothing but the contract.
const WASM_TARGET: &str = "wasm32-unknown-unknown";

pub(crate) fn build(project: &Project) -> Result<Vec<u8>, KitError> {
    wasm_target()?;
    let module = module(&project.dir)?;
    let bytes = std::fs::read(&module).map_err(KitError::io(&module))?;
    encode(&bytes)
}

/// Makes sure that the standard library of the bare target is there.
pub fn wasm_target() -> Result<(), KitError> {
    if has_wasm_target()? {
        return Ok(());
    }
    eprintln!("installing the Rust target {WASM_TARGET} …");
    let added = Command::new("rustup").args(["target", "add", WASM_TARGET]).status();
    if matches!(added, Ok(status) if status.success()) && has_wasm_target()? {
        return Ok(());
    }
    Err(KitError::Missing {
        tool: "the Rust target wasm32-unknown-unknown",
        fix: "install it with `rustup target add wasm32-unknown-unknown` (Debian: apt install rustc-web libstd-rust-dev-wasm32)",
    })
}

/// Asks the compiler itself, so that it also works where there is no rustup.
fn has_wasm_target() -> Result<bool, KitError> {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let asked = Command::new(rustc)
        .args(["--print", "target-libdir", "--target", WASM_TARGET])
        .stderr(Stdio::null())
        .output();
    let asked = asked.map_err(|_| no_rust())?;
    let libdir = String::from_utf8_lossy(&asked.stdout);
    Ok(asked.status.success() && Path::new(libdir.trim()).is_dir())
}

fn no_rust() -> KitError {
    KitError::Missing { tool: "the Rust toolchain", fix: "install it from https://rustup.rs" }
}

/// Builds the package in a directory; where its module is.
fn module(dir: &Path) -> Result<PathBuf, KitError> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let built = Command::new(cargo)
        .current_dir(dir)
        .args(["build", "--lib", "--release", "--target", WASM_TARGET])
        .arg("--message-format=json-render-diagnostics")
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .map_err(|_| no_rust())?;
    let refused = |reason: &str| KitError::Build { tool: "cargo", reason: reason.to_owned() };
    if !built.status.success() {
        return Err(refused("the compiler's messages are above"));
    }
    let manifest = dir.join("Cargo.toml");
    let messages = String::from_utf8_lossy(&built.stdout);
    let artifact = |line: &str| -> Option<PathBuf> {
        let message: serde_json::Value = serde_json::from_str(line).ok()?;
        if Path::new(message["manifest_path"].as_str()?) != manifest {
            return None;
        }
        let files = message["filenames"].as_array()?.iter().filter_map(|file| file.as_str());
        files.map(PathBuf::from).find(|file| file.extension().is_some_and(|ending| ending == "wasm"))
    };
    messages.lines().find_map(artifact).ok_or_else(|| {
        refused("it makes no .wasm file; write `crate-type = [\"cdylib\"]` under [lib] in Cargo.toml")
    })
}

/// A core module becomes a component: the contract's types are already inside it.
pub fn encode(module: &[u8]) -> Result<Vec<u8>, KitError> {
    let encoded =
        ComponentEncoder::default().validate(true).module(module).and_then(|encoder| encoder.encode());
    encoded.map_err(|error| KitError::Build {
        tool: "wit-component",
        reason: format!("{error:#}; does the crate end with `dibao_adapter::export!(…);`?"),
    })
}
