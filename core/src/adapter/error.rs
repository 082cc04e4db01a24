//! What can go wrong with an adapter.

use crate::error::ErrorClass;

/// An adapter could not be loaded, or a call into it failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AdapterError {
    /// Placeholder.
    #[error("{0}")]
    Other(String),
}

impl AdapterError {
    /// The class of the error.
    pub fn class(&self) -> ErrorClass {
        ErrorClass::Adapter
    }
}
