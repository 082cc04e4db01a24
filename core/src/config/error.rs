//! What can be wrong with a site file, said so that it can be mended: file, line, key, fix.

use std::fmt;

/// Where in a file a mistake is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file, or what the text came from.
    pub origin: String,
    /// Line and column, counted from 1, where known.
    pub at: Option<(u32, u32)>,
    /// The keys that lead there: `columns[2].pagination.max_pages`; empty when unknown.
    pub path: String,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.origin)?;
        if let Some((line, column)) = self.at {
            write!(f, ":{line}:{column}")?;
        }
        if !self.path.is_empty() {
            write!(f, ": {}", self.path)?;
        }
        Ok(())
    }
}

/// A site file is wrong, or a name does not exist.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// The file cannot be read.
    #[error("{origin}: cannot be read: {source}")]
    Read {
        /// The file.
        origin: String,
        /// Why not.
        source: std::io::Error,
    },
    /// The file is too large to be a site file.
    #[error("{origin}: {size} bytes; a site file has at most {limit} (is this the right file?)")]
    TooLarge {
        /// The file.
        origin: String,
        /// Its size.
        size: u64,
        /// The largest size that is read.
        limit: u64,
    },
    /// Not YAML, or a value of the wrong kind.
    #[error("{place}: {message}")]
    Syntax {
        /// Where.
        place: Place,
        /// What the parser says.
        message: String,
    },
    /// A key that does not exist.
    #[error("{place}: unknown key `{key}`; {fix}")]
    UnknownKey {
        /// Where.
        place: Place,
        /// The key as written.
        key: String,
        /// What may have been meant.
        fix: String,
    },
    /// A value that cannot work.
    #[error("{place}: {message}; {fix}")]
    Invalid {
        /// Where.
        place: Place,
        /// What is wrong with it.
        message: String,
        /// What to write instead.
        fix: String,
    },
    /// A column that is neither listed nor covered by `default_column`.
    #[error("{origin}: site `{site}` has no column `{column}`; {fix}")]
    UnknownColumn {
        /// The file.
        origin: String,
        /// The site's code.
        site: String,
        /// The column asked for.
        column: String,
        /// What may have been meant.
        fix: String,
    },
    /// A name that is not stored.
    #[error("{what} `{name}`: is not stored here; {fix}")]
    Unknown {
        /// `site`, `target`, …
        what: &'static str,
        /// As it was given.
        name: String,
        /// What may have been meant.
        fix: String,
    },
    /// A site or target that is switched off.
    #[error(
        "`{name}`: is switched off; `dibao target toggle {name}` switches a target on; a site is switched in its file"
    )]
    Disabled {
        /// Its code.
        name: String,
    },
    /// An option of the engine, or a name given to it.
    #[error("{what}: {message}; {fix}")]
    Refused {
        /// The option or the name.
        what: String,
        /// What is wrong with it.
        message: String,
        /// What to do.
        fix: String,
    },
}

/// `did you mean …?` where something is near, else the whole choice.
pub fn suggestion<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let known: Vec<&str> = known.into_iter().collect();
    let near = known
        .iter()
        .map(|candidate| (strsim::damerau_levenshtein(word, candidate), *candidate))
        .min()
        // A third of the letters may be wrong: more is another word.
        .filter(|(distance, candidate)| *distance <= 1 + candidate.chars().count() / 3);
    match near {
        Some((_, candidate)) => format!("did you mean `{candidate}`?"),
        None if known.is_empty() => "there are none here".to_owned(),
        None => format!("known here: {}", known.join(", ")),
    }
}

impl ConfigError {
    /// A name that does not exist, with the nearest ones that do.
    pub(crate) fn unknown<'a>(
        what: &'static str,
        name: &str,
        known: impl IntoIterator<Item = &'a str>,
    ) -> ConfigError {
        // A site has thousands of targets: only what is near is said of many.
        let known: Vec<&str> = known.into_iter().collect();
        let fix = match suggestion(name, known.iter().copied()) {
            near if known.len() <= 30 || near.starts_with("did you mean") => near,
            _ => format!("there are {} others; list them", known.len()),
        };
        ConfigError::Unknown { what, name: name.to_owned(), fix }
    }

    /// A site or target that is switched off.
    pub(crate) fn disabled(name: &str) -> ConfigError {
        ConfigError::Disabled { name: name.to_owned() }
    }
}
