//! A directory with an adapter in it: which language it is in, and the component it makes.

use std::path::{Path, PathBuf};

use crate::{KitError, WIT, javascript, python, rust};

/// The languages with a kit. Others implement the contract by their own tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// Through the bare wasm target and the SDK.
    Rust,
    /// Through componentize-py.
    Python,
    /// Through componentize-js.
    JavaScript,
}

/// An adapter project.
#[derive(Clone, Debug)]
pub struct Project {
    /// Where.
    pub dir: PathBuf,
    /// In which language.
    pub language: Language,
}

impl Project {
    /// Looks at a directory.
    pub fn find(dir: &Path) -> Result<Project, KitError> {
        let has = |file: &str| dir.join(file).is_file();
        let language = match () {
            () if has("Cargo.toml") => Language::Rust,
            () if has(python::SOURCE) => Language::Python,
            () if has(javascript::SOURCE) => Language::JavaScript,
            () => return Err(KitError::NoProject(dir.to_path_buf())),
        };
        // The tools of the languages run in other directories.
        let dir = dir.canonicalize().map_err(KitError::io(dir))?;
        Ok(Project { dir, language })
    }

    /// The contract that the project was begun with; ours when it has none of its own.
    pub(crate) fn wit(&self, scratch: &Path) -> Result<PathBuf, KitError> {
        let own = self.dir.join("wit");
        if own.is_dir() {
            return Ok(own);
        }
        let wit = scratch.join("wit");
        std::fs::create_dir_all(&wit).map_err(KitError::io(&wit))?;
        let file = wit.join("adapter.wit");
        std::fs::write(&file, WIT).map_err(KitError::io(&file))?;
        Ok(wit)
    }
}

/// Builds a project: the bytes of its component. `tools` is where missing tools are installed; see
/// [`tools::home`](crate::tools::home). What the language's own tools have to say goes to standard error.
pub fn build(project: &Project, tools: &Path) -> Result<Vec<u8>, KitError> {
    match project.language {
        Language::Rust => rust::build(project),
        Language::Python => python::build(project, tools),
        Language::JavaScript => javascript::build(project, tools),
    }
}
