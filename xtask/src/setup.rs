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
    match openssl() {
        Ok(()) => eprintln!("ready: OpenSSL's headers are installed (for the feature native-tls)"),
        // Only a feature needs it, so its absence is said and is no failure.
        Err(missing) => eprintln!("{missing}"),
    }
    match chromium() {
        Ok(()) => eprintln!("ready: Chromium is installed (for sites that turn plain HTTP away)"),
        Err(missing) => eprintln!("{missing}"),
    }
    match chinese_font() {
        Ok(()) => eprintln!("ready: a font with Chinese letters is installed (for pictures of the page)"),
        Err(missing) => eprintln!("{missing}"),
    }
    match crate::examples::interpreters() {
        Ok(()) => eprintln!("ready: Python and Node.js are installed (for the example adapters)"),
        Err(missing) => eprintln!("{missing}"),
    }
    Ok(())
}

/// Makes sure that there is a Chromium for the browser tier and its tests.
pub fn chromium() -> Result<()> {
    if has_chromium() || (install(&["chromium"]) && has_chromium()) {
        return Ok(());
    }
    bail!(
        "there is no Chromium here: install it (Debian: apt install chromium) or name it with DIBAO_CHROMIUM; everything else works without"
    );
}

/// Makes sure that Chinese letters can be drawn: a picture of the page without one shows boxes.
pub fn chinese_font() -> Result<()> {
    if has_chinese_font() || (install(&["fontconfig", "fonts-wqy-zenhei"]) && has_chinese_font()) {
        return Ok(());
    }
    bail!("no font here has Chinese letters: install one (Debian: apt install fonts-wqy-zenhei)");
}

fn has_chinese_font() -> bool {
    let listed = Command::new("fc-list").args([":lang=zh", "family"]).stderr(Stdio::null()).output();
    listed.is_ok_and(|listed| !listed.stdout.trim_ascii().is_empty())
}

fn has_chromium() -> bool {
    let named = std::env::var_os("DIBAO_CHROMIUM").is_some_and(|file| Path::new(&file).is_file());
    let names = ["chromium", "chromium-browser", "google-chrome-stable", "google-chrome", "chrome"];
    let path = std::env::var_os("PATH").unwrap_or_default();
    named || std::env::split_paths(&path).any(|dir| names.iter().any(|name| dir.join(name).is_file()))
}

/// Installs packages of Debian, which only root can; false when that did not work.
pub fn install(packages: &[&str]) -> bool {
    let root = Command::new("id").arg("-u").output().is_ok_and(|id| id.stdout.trim_ascii() == b"0");
    if !root {
        return false;
    }
    eprintln!("installing {} …", packages.join(", "));
    let apt = |args: &[&str]| {
        let status = Command::new("apt-get").args(args).env("DEBIAN_FRONTEND", "noninteractive").status();
        matches!(status, Ok(status) if status.success())
    };
    let wanted = [&["install", "--yes", "--no-install-recommends"], packages].concat();
    // A machine that was never asked has no lists of packages.
    apt(&wanted) || (apt(&["update"]) && apt(&wanted))
}

/// Makes sure that the feature `native-tls` can be built and tested: headers of OpenSSL, pkg-config, the program.
pub fn openssl() -> Result<()> {
    if has_openssl() {
        return Ok(());
    }
    let packages = ["libssl-dev", "pkg-config", "openssl"];
    if install(&packages) && has_openssl() {
        return Ok(());
    }
    bail!(
        "the feature native-tls cannot be built here: install OpenSSL's headers (Debian: apt install {})",
        packages.join(" ")
    );
}

/// Makes sure that the program `openssl` is there: tests hold what adapters encrypt against it.
pub fn openssl_program() -> Result<()> {
    let there = || {
        let quiet =
            Command::new("openssl").arg("version").stdout(Stdio::null()).stderr(Stdio::null()).status();
        matches!(quiet, Ok(status) if status.success())
    };
    if there() || (install(&["openssl"]) && there()) {
        return Ok(());
    }
    bail!("tests compare with the program openssl: install it (Debian: apt install openssl)");
}

fn has_openssl() -> bool {
    let works = |program: &str, args: &[&str]| {
        let quiet = Command::new(program).args(args).stdout(Stdio::null()).stderr(Stdio::null()).status();
        matches!(quiet, Ok(status) if status.success())
    };
    works("pkg-config", &["--exists", "openssl"]) && works("openssl", &["version"])
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
