//! A new project: an adapter that already works on its own fixtures, to be changed one piece at a time.
//!
//! Everything comes out of this crate: whoever has only the program and a toolchain can build what it writes. A Rust project carries
//! the contract and the SDK as source.

use std::path::{Path, PathBuf};

use crate::{KitError, Language, WIT};

/// A file of a template: its path in the project, and its text with `{{name}}` for the adapter's name.
type File = (&'static str, &'static str);

macro_rules! template {
    ($($path:literal from $source:literal),* $(,)?) => { &[$(($path, include_str!(concat!("../", $source)))),*] };
}

/// The same in every language: the adapter answers alike.
const SHARED: &[File] = template![
    "README.md" from "templates/README.md",
    "site.yaml" from "templates/site.yaml",
    ".gitignore" from "templates/gitignore",
    "fixtures/list/case.json" from "templates/fixtures/list/case.json",
    "fixtures/list/expected.json" from "templates/fixtures/list/expected.json",
    "fixtures/list/1-list.html" from "templates/fixtures/list/1-list.html",
    "fixtures/past-the-end/case.json" from "templates/fixtures/past-the-end/case.json",
    "fixtures/past-the-end/expected.json" from "templates/fixtures/past-the-end/expected.json",
    "fixtures/past-the-end/1-list.html" from "templates/fixtures/past-the-end/1-list.html",
    "fixtures/document/case.json" from "templates/fixtures/document/case.json",
    "fixtures/document/expected.json" from "templates/fixtures/document/expected.json",
    "fixtures/document/1-page.html" from "templates/fixtures/document/1-page.html",
    "fixtures/gone/case.json" from "templates/fixtures/gone/case.json",
    "fixtures/gone/expected.json" from "templates/fixtures/gone/expected.json",
    "fixtures/gone/1-page.html" from "templates/fixtures/gone/1-page.html",
];

const RUST: &[File] = template![
    "Cargo.toml" from "templates/rust/Cargo.toml.in",
    "src/lib.rs" from "templates/rust/lib.rs",
    "sdk/Cargo.toml" from "templates/rust/sdk.toml.in",
    "sdk/src/adapter.rs" from "../sdk/src/adapter.rs",
    "sdk/src/allocator.rs" from "../sdk/src/allocator.rs",
    "sdk/src/bindings.rs" from "../sdk/src/bindings.rs",
    "sdk/src/host.rs" from "../sdk/src/host.rs",
    "sdk/src/json.rs" from "../sdk/src/json.rs",
    "sdk/src/lib.rs" from "../sdk/src/lib.rs",
    "sdk/src/make.rs" from "../sdk/src/make.rs",
    "sdk/src/select.rs" from "../sdk/src/select.rs",
    "sdk/src/turn.rs" from "../sdk/src/turn.rs",
];

const PYTHON: &[File] = template!["app.py" from "templates/python/app.py"];
const JAVASCRIPT: &[File] = template!["adapter.js" from "templates/javascript/adapter.js"];

/// Where the SDK looks for the contract in this repository, and where it does in a project.
const WIT_HERE: &str = "\"../../adapters-wit/wit/v0.1\"";
const WIT_THERE: &str = "\"../wit\"";

/// Begins a project in `dir`, which must not exist or be empty: nothing is ever overwritten. Gives the files that were written.
pub fn begin(name: &str, language: Language, dir: &Path) -> Result<Vec<PathBuf>, KitError> {
    if !is_name(name) {
        return Err(KitError::Name(name.to_owned()));
    }
    let taken = match dir.read_dir() {
        Ok(mut inside) => inside.next().is_some(),
        Err(error) => error.kind() != std::io::ErrorKind::NotFound,
    };
    if taken {
        return Err(KitError::Exists(dir.to_path_buf()));
    }
    let own = match language {
        Language::Rust => RUST,
        Language::Python => PYTHON,
        Language::JavaScript => JAVASCRIPT,
    };
    let contract: &[File] = &[("wit/adapter.wit", WIT)];
    let mut written = Vec::new();
    for (path, text) in own.iter().chain(SHARED).chain(contract) {
        let path = dir.join(path);
        let folder = path.parent().unwrap_or(dir);
        std::fs::create_dir_all(folder).map_err(KitError::io(folder))?;
        std::fs::write(&path, text.replace("{{name}}", name).replace(WIT_HERE, WIT_THERE))
            .map_err(KitError::io(&path))?;
        written.push(path);
    }
    Ok(written)
}

/// Whether an adapter can be called that: the contract's names, short enough for file names and with a letter first.
pub fn is_name(name: &str) -> bool {
    (1..=40).contains(&name.len())
        && name.starts_with(|c: char| c.is_ascii_lowercase())
        && !name.ends_with('-')
        && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_contract() {
        for good in ["a", "city-news", "gkmlpt2"] {
            assert!(is_name(good), "{good}");
        }
        for bad in ["", "-a", "a-", "2nd", "City", "a_b", "a b", "../x", "新闻", &"a".repeat(41)] {
            assert!(!is_name(bad), "{bad}");
            let dir = tempfile::tempdir().unwrap();
            assert!(matches!(begin(bad, Language::Python, &dir.path().join("x")), Err(KitError::Name(_))));
        }
    }

    #[test]
    fn nothing_is_ever_overwritten() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("mine.txt"), "mine").unwrap();
        let error = begin("news", Language::Python, dir.path()).unwrap_err();
        assert!(matches!(error, KitError::Exists(_)), "{error}");
        assert_eq!(dir.path().read_dir().unwrap().count(), 1);
        let file = dir.path().join("mine.txt");
        assert!(begin("news", Language::Rust, &file).is_err());
        assert_eq!(std::fs::read_to_string(file).unwrap(), "mine");
    }

    #[test]
    fn a_rust_project_carries_the_whole_sdk_and_no_name_is_left_open() {
        let dir = tempfile::tempdir().unwrap();
        let project = dir.path().join("news");
        for path in begin("news", Language::Rust, &project).unwrap() {
            let text = std::fs::read_to_string(&path).unwrap();
            assert!(!text.contains("{{"), "{}", path.display());
            assert!(!text.contains("adapters-wit"), "{}", path.display());
        }
        let sdk = Path::new(env!("CARGO_MANIFEST_DIR")).join("../sdk/src");
        for file in sdk.read_dir().unwrap() {
            let name = file.unwrap().file_name();
            assert!(project.join("sdk/src").join(&name).is_file(), "template.rs does not list {name:?}");
        }
    }

    #[test]
    fn the_sdk_is_built_with_the_versions_of_this_workspace() {
        let table = include_str!("../../../Cargo.toml");
        let manifest = include_str!("../templates/rust/sdk.toml.in");
        for line in
            manifest.lines().filter(|line| line.starts_with("serde") || line.starts_with("wit-bindgen"))
        {
            let line = line.replace(", features = [\"preserve_order\"]", "");
            assert!(table.contains(line.trim_end_matches(" }")), "{line}");
        }
    }
}
