//! Where everything is kept.

/// The store or the disk failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// Placeholder.
    #[error("{0}")]
    Other(String),
}
