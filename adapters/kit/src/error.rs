//! What can go wrong with an adapter project: each error says what to do.

use std::path::{Path, PathBuf};

/// A project could not be begun or built.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KitError {
    /// No adapter can be called that.
    #[error(
        "{0:?} cannot be the name of an adapter: 1 to 40 lower-case letters, digits and hyphens, a letter first, for example city-news"
    )]
    Name(String),
    /// There is something already.
    #[error("{0} is there already and is left as it is; choose another name or directory")]
    Exists(PathBuf),
    /// No project.
    #[error(
        "{0} is no adapter project: it has neither Cargo.toml (Rust) nor app.py (Python) nor adapter.js (JavaScript); `dibao adapter new NAME` begins one"
    )]
    NoProject(PathBuf),
    /// A tool of the language is not there.
    #[error("{tool} is needed to build this adapter and is not there; {fix}")]
    Missing {
        /// Which.
        tool: &'static str,
        /// How to get it.
        fix: &'static str,
    },
    /// A registry could not give what is needed.
    #[error("{package} could not be installed into {dir}: {reason}")]
    Install {
        /// What.
        package: String,
        /// Where to.
        dir: PathBuf,
        /// The last words of the installer.
        reason: String,
    },
    /// The language's own tool refused the project.
    #[error("the adapter did not build ({tool}): {reason}")]
    Build {
        /// Which tool.
        tool: &'static str,
        /// Its last words.
        reason: String,
    },
    /// A file or directory.
    #[error("{path}: {source}")]
    Io {
        /// Which one.
        path: PathBuf,
        /// The system's words.
        source: std::io::Error,
    },
}

impl KitError {
    /// Says which path it was about.
    pub(crate) fn io(path: &Path) -> impl FnOnce(std::io::Error) -> KitError + use<> {
        let path = path.to_path_buf();
        move |source| KitError::Io { path, source }
    }
}
