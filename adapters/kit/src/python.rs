//! Python: componentize-py puts CPython and the project's modules into one component.

use std::path::Path;
use std::process::Command;

use crate::tools::{once, run, works};
use crate::{KitError, Project};

/// The module that has the class `Site`.
pub(crate) const SOURCE: &str = "app.py";
/// One version, so that the same sources make the same kind of component everywhere.
const VERSION: &str = "0.25.1";

pub(crate) fn build(project: &Project, tools: &Path) -> Result<Vec<u8>, KitError> {
    let venv = once(tools, &format!("componentize-py-{VERSION}"), install)?;
    let scratch = tempfile::tempdir().map_err(KitError::io(Path::new("a temporary directory")))?;
    let out = scratch.path().join("adapter.wasm");
    let mut componentize = Command::new(venv.join("bin/componentize-py"));
    componentize
        // Not the project's directory: what lies around there is not read by accident.
        .current_dir(scratch.path())
        .arg("--wit-path")
        .arg(project.wit(scratch.path())?)
        .args(["--world", "adapter", "componentize", "app", "--python-path"])
        .arg(&project.dir)
        .arg("--output")
        .arg(&out);
    run(&mut componentize).map_err(|reason| KitError::Build { tool: "componentize-py", reason })?;
    std::fs::read(&out).map_err(KitError::io(&out))
}

fn install(dir: &Path) -> Result<(), KitError> {
    let python = ["python3", "python"]
        .into_iter()
        .find(|python| works(python, &["-c", "import sys; assert sys.version_info >= (3, 10)"]));
    let missing = |tool, fix| KitError::Missing { tool, fix };
    let python = python.ok_or_else(|| {
        missing("Python 3.10 or newer", "install it (Debian: apt install python3 python3-venv)")
    })?;
    if !works(python, &["-c", "import venv, ensurepip"]) {
        return Err(missing("Python's venv with pip", "install it (Debian: apt install python3-venv)"));
    }
    let failed = |reason| KitError::Install {
        package: format!("componentize-py {VERSION}"),
        dir: dir.to_path_buf(),
        reason,
    };
    run(Command::new(python).args(["-m", "venv"]).arg(dir)).map_err(failed)?;
    let pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"];
    run(Command::new(dir.join("bin/python")).args(pip).arg(format!("componentize-py=={VERSION}")))
        .map_err(failed)?;
    Ok(())
}
