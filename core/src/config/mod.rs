//! Site files: YAML in, sites and targets out, every mistake named with its place.

/// A site file is wrong, or a name does not exist.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// Placeholder.
    #[error("{0}")]
    Other(String),
}
