//! One gate for every request there is.

use crate::error::ErrorClass;

/// A request failed or was not allowed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FetchError {
    /// Placeholder.
    #[error("{0}")]
    Other(String),
}

impl FetchError {
    /// The class of the error.
    pub fn class(&self) -> ErrorClass {
        ErrorClass::Network
    }
}
