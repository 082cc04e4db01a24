//! The Python packages that extraction is measured beside, in an environment of their own under `target/`.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What is installed; lxml's cleaner is a package of its own that both need.
const PACKAGES: [&str; 3] = ["trafilatura", "gne", "lxml_html_clean"];

/// The interpreter that has them, installed now if it is missing; else one sentence says why not.
pub fn with_extractors(target: &Path) -> Option<PathBuf> {
    let home = target.join("bench-python");
    let python = home.join("bin/python");
    let works = |python: &Path| {
        let test = Command::new(python)
            .args(["-c", "import trafilatura, gne"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        matches!(test, Ok(status) if status.success())
    };
    if works(&python) {
        return Some(python);
    }
    eprintln!("installing {} into {} …", PACKAGES.join(", "), home.display());
    let made = Command::new("python3").args(["-m", "venv"]).arg(&home).stdout(Stdio::null()).status();
    let installed = matches!(made, Ok(status) if status.success())
        && Command::new(&python)
            .args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"])
            .args(PACKAGES)
            .stdout(Stdio::null())
            .status()
            .is_ok_and(|status| status.success());
    if installed && works(&python) {
        return Some(python);
    }
    eprintln!(
        "extraction is measured alone: {} could not be installed (python3 with venv and a package index are needed)",
        PACKAGES.join(", ")
    );
    None
}
