//! The Python packages that dibao is measured beside, in environments of their own under `target/`.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// An environment: its directory, what is installed, what must be importable.
struct Environment {
    home: &'static str,
    packages: &'static [&'static str],
    imports: &'static str,
}

/// What extraction is measured beside; lxml's cleaner is a package of its own that both need.
const EXTRACTORS: Environment = Environment {
    home: "bench-python",
    packages: &["trafilatura", "gne", "lxml_html_clean"],
    imports: "import trafilatura, gne",
};

/// What cron expressions are measured beside.
const CRONITER: Environment =
    Environment { home: "bench-python-cron", packages: &["croniter"], imports: "import croniter" };

/// The interpreter that has the extractors.
pub fn with_extractors(target: &Path) -> Option<PathBuf> {
    EXTRACTORS.interpreter(target)
}

/// The interpreter that has croniter.
pub fn with_croniter(target: &Path) -> Option<PathBuf> {
    CRONITER.interpreter(target)
}

impl Environment {
    /// The interpreter that has the packages, installed now if they are missing; else one sentence says why not.
    fn interpreter(&self, target: &Path) -> Option<PathBuf> {
        let home = target.join(self.home);
        let python = home.join("bin/python");
        let works = |python: &Path| {
            let test = Command::new(python)
                .args(["-c", self.imports])
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .status();
            matches!(test, Ok(status) if status.success())
        };
        if works(&python) {
            return Some(python);
        }
        let packages = self.packages.join(", ");
        eprintln!("installing {packages} into {} …", home.display());
        let made = Command::new("python3").args(["-m", "venv"]).arg(&home).stdout(Stdio::null()).status();
        let installed = matches!(made, Ok(status) if status.success())
            && Command::new(&python)
                .args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"])
                .args(self.packages)
                .stdout(Stdio::null())
                .status()
                .is_ok_and(|status| status.success());
        if installed && works(&python) {
            return Some(python);
        }
        eprintln!(
            "dibao is measured alone: {packages} could not be installed (python3 with venv and a package index are needed)"
        );
        None
    }
}
