//! JavaScript: componentize-js puts SpiderMonkey and the project's modules into one component.

use std::path::Path;
use std::process::Command;

use crate::tools::{once, run, works};
use crate::{KitError, Project};

/// The module that exports `site`.
pub(crate) const SOURCE: &str = "adapter.js";
/// One version, so that the same sources make the same kind of component everywhere.
const VERSION: &str = "0.23.0";
/// componentize-js takes a few functions from jco. This one does without jco's own bundlers and compilers, half of the download.
const JCO: &str = "1.15.4";

/// No `fetch`: an adapter asks the host. What is left of WASI is linked to nothing.
const SCRIPT: &str = "
import { componentize } from '@bytecodealliance/componentize-js';
import { writeFile } from 'node:fs/promises';
const [sourcePath, witPath, out] = process.argv.slice(2);
try {
  const made = await componentize({ sourcePath, witPath, worldName: 'adapter', disableFeatures: ['http', 'fetch-event'] });
  await writeFile(out, made.component);
} catch (error) {
  console.error(error.message ?? String(error));
  process.exit(1);
}
";

pub(crate) fn build(project: &Project, tools: &Path) -> Result<Vec<u8>, KitError> {
    let node = once(tools, &format!("componentize-js-{VERSION}"), install)?;
    let scratch = tempfile::tempdir().map_err(KitError::io(Path::new("a temporary directory")))?;
    let out = scratch.path().join("adapter.wasm");
    // componentize-js only counts syntax errors; node shows them. By the ending it knows a module.
    let (source, module) = (project.dir.join(SOURCE), scratch.path().join("adapter.mjs"));
    std::fs::copy(&source, &module).map_err(KitError::io(&source))?;
    run(Command::new("node").arg("--check").arg(&module))
        .map_err(|reason| KitError::Build { tool: "node", reason })?;
    let mut componentize = Command::new("node");
    componentize.arg(node.join("build.mjs")).arg(&source).arg(project.wit(scratch.path())?).arg(&out);
    run(&mut componentize).map_err(|reason| KitError::Build { tool: "componentize-js", reason })?;
    std::fs::read(&out).map_err(KitError::io(&out))
}

fn install(dir: &Path) -> Result<(), KitError> {
    let missing =
        |tool| KitError::Missing { tool, fix: "install Node.js with npm (Debian: apt install nodejs npm)" };
    if !works("node", &["-e", "if (parseInt(process.versions.node) < 18) process.exit(1)"]) {
        return Err(missing("Node.js 18 or newer"));
    }
    if !works("npm", &["--version"]) {
        return Err(missing("npm"));
    }
    let manifest = serde_json::json!({
        "private": true,
        "dependencies": { "@bytecodealliance/componentize-js": VERSION },
        "overrides": { "@bytecodealliance/jco": JCO },
    });
    let write = |name: &str, text: String| {
        let path = dir.join(name);
        std::fs::write(&path, text).map_err(KitError::io(&path))
    };
    write("package.json", manifest.to_string())?;
    write("build.mjs", SCRIPT.to_owned())?;
    run(Command::new("npm").current_dir(dir).args([
        "install",
        "--no-audit",
        "--no-fund",
        "--loglevel=error",
    ]))
    .map_err(|reason| KitError::Install {
        package: format!("componentize-js {VERSION}"),
        dir: dir.into(),
        reason,
    })?;
    Ok(())
}
