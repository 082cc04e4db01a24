//! The example adapters in other languages: built as their authors would, into `target/adapters/examples`.
//!
//! What was built from the same sources before is left alone, so that a warm check does not wait for interpreters. Python and Node.js
//! must be there: an example that is not built is an error, not a silence.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use dibao_adapter_kit::{Project, WIT, build};
use sha2::{Digest, Sha256};

use crate::adapters::{hex, write_if_changed, write_lock};
use crate::setup;

/// Name of the adapter, folder under `adapters/examples`, and its source.
const EXAMPLES: [(&str, &str, &str); 2] =
    [("nfcms", "javascript", "adapter.js"), ("xinhua", "python", "app.py")];

/// Builds what has changed and pins all of them.
pub fn run(workspace: &Path) -> Result<()> {
    let out = workspace.join("target/adapters/examples");
    fs::create_dir_all(&out).with_context(|| format!("cannot create {}", out.display()))?;
    let mut pins = Vec::new();
    for (name, folder, source) in EXAMPLES {
        let dir = workspace.join("adapters/examples").join(folder);
        let file = out.join(format!("{name}.wasm"));
        let stamp = stamp(&dir.join(source), workspace)?;
        let noted = out.join(format!("{name}.stamp"));
        let fresh = file.exists() && fs::read_to_string(&noted).is_ok_and(|old| old == stamp);
        if !fresh {
            interpreters()?;
            let project = Project::find(&dir)?;
            let component = build(&project, &tools(workspace))?;
            write_if_changed(&file, &component)?;
            write_if_changed(&noted, stamp.as_bytes())?;
        }
        let component = fs::read(&file).with_context(|| format!("cannot read {}", file.display()))?;
        let sha256 = hex(&Sha256::digest(&component));
        eprintln!(
            "{name:<14} {:>7} KiB   {}  {}",
            component.len() / 1024,
            &sha256[..12],
            if fresh { "unchanged" } else { "written" }
        );
        pins.push((name.to_owned(), sha256, vec!["site".to_owned()]));
    }
    write_lock(&out, pins)
}

/// Where the tools of other languages are: with the rest of what is built, so that a cached target brings them along.
pub fn tools(workspace: &Path) -> PathBuf {
    workspace.join("target/adapter-tools")
}

/// What a component was made from: the source, the contract and the kit.
fn stamp(source: &Path, workspace: &Path) -> Result<String> {
    let mut hash = Sha256::new();
    let kit = workspace.join("adapters/kit/src");
    let files = [source.to_path_buf(), kit.join("python.rs"), kit.join("javascript.rs")];
    for file in files {
        hash.update(fs::read(&file).with_context(|| format!("cannot read {}", file.display()))?);
    }
    hash.update(WIT);
    Ok(hex(&hash.finalize()))
}

/// Makes sure that Python and Node.js are there.
pub fn interpreters() -> Result<()> {
    let works = |program: &str, args: &[&str]| {
        let quiet = Command::new(program).args(args).stdout(Stdio::null()).stderr(Stdio::null()).status();
        matches!(quiet, Ok(status) if status.success())
    };
    let ready = || {
        works("python3", &["-c", "import venv, ensurepip"])
            && works("node", &["--version"])
            && works("npm", &["--version"])
    };
    if ready() {
        return Ok(());
    }
    let packages = ["python3", "python3-venv", "nodejs", "npm"];
    if setup::install(&packages) && ready() {
        return Ok(());
    }
    bail!(
        "the example adapters cannot be built here: install Python 3 with venv and Node.js with npm (Debian: apt install {})",
        packages.join(" ")
    );
}
