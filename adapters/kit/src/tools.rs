//! Where the tools of other languages are kept, and how they get there: once per version, for all projects, never into the
//! user's own environments.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use crate::KitError;

/// Lines of a failed program that are worth showing.
const LAST_LINES: usize = 12;

/// Where tools are installed: `DIBAO_TOOLS`, else `dibao/tools` in the user's cache directory.
pub fn home() -> PathBuf {
    let named = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    named("DIBAO_TOOLS").unwrap_or_else(|| {
        let cache = named("XDG_CACHE_HOME").or_else(|| Some(named("HOME")?.join(".cache")));
        cache.unwrap_or_else(std::env::temp_dir).join("dibao/tools")
    })
}

/// A directory that `install` has filled once. Two processes do not fill it at the same time, and one that was killed
/// meanwhile leaves nothing that is taken for whole.
pub(crate) fn once(
    tools: &Path,
    name: &str,
    install: impl FnOnce(&Path) -> Result<(), KitError>,
) -> Result<PathBuf, KitError> {
    let dir = tools.join(name);
    let ready = dir.join(".ready");
    if ready.exists() {
        return Ok(dir);
    }
    std::fs::create_dir_all(tools).map_err(KitError::io(tools))?;
    let path = tools.join(format!("{name}.lock"));
    let lock = File::create(&path).map_err(KitError::io(&path))?;
    lock.lock().map_err(KitError::io(&path))?;
    if !ready.exists() {
        if dir.exists() {
            std::fs::remove_dir_all(&dir).map_err(KitError::io(&dir))?;
        }
        std::fs::create_dir_all(&dir).map_err(KitError::io(&dir))?;
        eprintln!("installing {name} into {} (once) …", tools.display());
        install(&dir)?;
        std::fs::write(&ready, name).map_err(KitError::io(&ready))?;
    }
    Ok(dir)
}

/// Whether a program starts and is content.
pub(crate) fn works(program: &str, arguments: &[&str]) -> bool {
    let quiet = Command::new(program).args(arguments).stdin(Stdio::null()).output();
    quiet.is_ok_and(|output| output.status.success())
}

/// Runs a program to its end; its last words when it fails.
pub(crate) fn run(command: &mut Command) -> Result<Output, String> {
    // The tools are written in Rust too: their own frames are of no use to an author.
    let output = command.env("RUST_BACKTRACE", "0").stdin(Stdio::null()).output();
    let output = output.map_err(|error| format!("{:?} did not start: {error}", command.get_program()))?;
    if output.status.success() {
        return Ok(output);
    }
    let words =
        [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
    let lines: Vec<&str> = words.lines().filter(|line| !line.trim().is_empty()).collect();
    Err(lines[lines.len().saturating_sub(LAST_LINES)..].join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_is_installed_once_and_again_after_a_failure() {
        let dir = tempfile::tempdir().unwrap();
        let fail = |_: &Path| Err(KitError::Name("x".into()));
        assert!(once(dir.path(), "tool-1", fail).is_err());
        let half = |at: &Path| {
            assert!(at.read_dir().unwrap().next().is_none(), "nothing of the failed one is left");
            std::fs::write(at.join("file"), "").map_err(KitError::io(at))
        };
        let at = once(dir.path(), "tool-1", half).unwrap();
        assert!(at.join("file").exists());
        assert_eq!(once(dir.path(), "tool-1", fail).unwrap(), at);
    }
}
