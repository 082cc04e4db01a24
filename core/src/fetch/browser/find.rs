//! Where Chromium is on this machine.

use std::env;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// The names under which distributions install it, the free ones first.
const NAMES: [&str; 6] =
    ["chromium", "chromium-browser", "google-chrome-stable", "google-chrome", "chrome", "microsoft-edge"];

/// The program, or one sentence that says what is missing and how to get it.
pub(super) fn program(named: Option<&Path>) -> Result<PathBuf, String> {
    program_in(named, env::var_os("PATH").as_deref())
}

fn program_in(named: Option<&Path>, path: Option<&OsStr>) -> Result<PathBuf, String> {
    let dirs = || path.map(env::split_paths).into_iter().flatten();
    let within = |name: &Path| dirs().map(|dir| dir.join(name)).find(|file| is_program(file));
    if let Some(named) = named {
        // As in a shell: a bare name is looked for, a path is a path.
        let found = match named.components().count() {
            1 => within(named),
            _ => Some(named.to_owned()).filter(|file| is_program(file)),
        };
        return found.ok_or_else(|| {
            format!(
                "{} is no program; name the file of Chromium or Chrome with --chromium or DIBAO_CHROMIUM",
                named.display()
            )
        });
    }
    NAMES.iter().find_map(|name| within(Path::new(name))).ok_or_else(|| {
        "no Chromium is installed; install it (Debian: apt install chromium) or name it with --chromium or DIBAO_CHROMIUM"
            .to_owned()
    })
}

fn is_program(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    file.metadata().is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn the_named_program_wins_then_the_usual_names_then_a_sentence_with_the_fix() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().as_os_str();
        let none = program_in(None, Some(path)).unwrap_err();
        assert!(none.contains("apt install chromium") && none.contains("DIBAO_CHROMIUM"), "{none}");
        let put = |name: &str, mode: u32| {
            let file = dir.path().join(name);
            std::fs::write(&file, "").unwrap();
            std::fs::set_permissions(&file, PermissionsExt::from_mode(mode)).unwrap();
            file
        };
        put("chromium", 0o644);
        let chrome = put("google-chrome", 0o755);
        assert_eq!(program_in(None, Some(path)), Ok(chrome.clone()));
        let own = put("mine", 0o755);
        assert_eq!(program_in(Some(Path::new("mine")), Some(path)), Ok(own.clone()));
        assert_eq!(program_in(Some(&own), None), Ok(own));
        let wrong = program_in(Some(&dir.path().join("nothing")), Some(path)).unwrap_err();
        assert!(wrong.contains("nothing is no program"), "{wrong}");
    }
}
