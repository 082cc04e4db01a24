//! The served API against its own description: `schemathesis` makes requests that fit it and requests that do not, and every
//! answer must be one that is described. In an environment of its own under `target/`.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::steps::{debug_dir, run};

/// The version the options below were written for.
const PACKAGE: &str = "schemathesis==4.32.5";
/// What is checked. Wrong credentials are throttled on purpose; who may what is a test of its own.
const CHECKS: &str = "not_a_server_error,status_code_conformance,content_type_conformance,response_headers_conformance,\
    response_schema_conformance,negative_data_rejection,unsupported_method";

/// Serves an empty store and asks it everything. Without a package index it is left out with a word, but never on CI.
pub fn check(workspace: &Path) -> Result<()> {
    let debug = debug_dir(workspace)?;
    let program = match installed(&debug) {
        Ok(program) => program,
        Err(missing) if std::env::var_os("CI").is_none() => {
            eprintln!("{missing:#}");
            return Ok(());
        }
        Err(missing) => return Err(missing),
    };
    let data = tempfile::tempdir()?;
    let served = Served::start(&debug.join("dibao"), data.path(), &debug.join("../adapters"))?;
    run(Command::new(program)
        .current_dir(data.path())
        .arg("run")
        .arg(format!("{}/admin/api/openapi.json", served.base))
        .args(["--checks", CHECKS, "--phases", "examples,coverage,fuzzing"])
        .args(["--max-examples", "10", "--max-time", "120", "--request-timeout", "30"])
        .args(["--generation-deterministic", "--continue-on-failure", "--no-color", "--warnings", "off"])
        // Events never end, and discovery asks a remote site.
        .args(["--exclude-path", "/admin/api/events", "--exclude-path", "/admin/api/targets/discover-html"]))
}

fn installed(debug: &Path) -> Result<PathBuf> {
    let home = debug.join("../schemathesis");
    let program = home.join("bin/st");
    let works = || {
        Command::new(&program)
            .arg("--version")
            .stdout(Stdio::null())
            .status()
            .is_ok_and(|done| done.success())
    };
    if works() {
        return Ok(program);
    }
    eprintln!("installing {PACKAGE} into {} …", home.display());
    let words =
        "the API was not checked against its description: python3 with venv and a package index are needed";
    run(Command::new("python3").args(["-m", "venv"]).arg(&home)).context(words)?;
    run(Command::new(home.join("bin/python")).args([
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
        PACKAGE,
    ]))
    .context(words)?;
    if !works() {
        bail!("{words}");
    }
    Ok(program)
}

/// A program that serves until this is dropped.
struct Served {
    child: Child,
    base: String,
}

impl Served {
    fn start(program: &Path, data: &Path, adapters: &Path) -> Result<Served> {
        let mut child = Command::new(program)
            .args(["serve", "--listen", "127.0.0.1:0", "--data"])
            .arg(data.join("data"))
            .arg("--adapters")
            .arg(adapters)
            .env_remove("ADMIN_PASSWORD")
            .env_remove("ADMIN_PASSWORD_FILE")
            .stderr(Stdio::piped())
            .spawn()
            .with_context(|| format!("{} did not start", program.display()))?;
        let mut lines = BufReader::new(child.stderr.take().context("its standard error")?).lines();
        let mut said = String::new();
        for line in lines.by_ref() {
            let line = line?;
            if let Some((_, rest)) = line.split_once("serving at ") {
                let base = rest.split("/admin/").next().unwrap_or_default().to_owned();
                // What it says from now on is for nobody, but it must be able to say it.
                std::thread::spawn(move || lines.for_each(drop));
                return Ok(Served { child, base });
            }
            said.push_str(&line);
            said.push('\n');
        }
        bail!("it did not serve: {said}")
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
