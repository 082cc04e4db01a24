//! What was asked for cannot be done, and what would have to change: the few kinds that a caller acts on.
//!
//! Every error of the library that is the asker's own is one of these ([`Error::refusal`]); what is left is trouble of
//! the store, the disk or the network. An HTTP layer needs no more than [`Refusal::http_status`].

use serde::Serialize;

use crate::adapter::AdapterError;
use crate::config::ConfigError;
use crate::error::Error;
use crate::store::StoreError;

/// Why something that was asked for is not done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, thiserror::Error)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Refusal {
    /// What it is about does not exist.
    #[error("there is no {what} `{name}`; {fix}")]
    NotFound {
        /// `site`, `target`, `article`, `department`, `job`, …
        what: String,
        /// Its code or number.
        name: String,
        /// What may have been meant.
        fix: String,
    },
    /// It does not go together with what is stored or under way.
    #[error("{message}")]
    Conflict {
        /// Which way: `active`, `disabled`, `exists`, `in_use`, `idempotency`.
        code: &'static str,
        /// In words, with what to do.
        message: String,
    },
    /// The program brings it, and it may not be changed that way (S3-11).
    #[error("`{name}` comes with the program; {message}")]
    Builtin {
        /// Its name.
        name: String,
        /// What may be changed.
        message: String,
    },
    /// A value cannot work.
    #[error("{field}: {message}; {fix}")]
    Invalid {
        /// Which: the key, with its way when it lies deeper (`columns[2].schedule`).
        field: String,
        /// What is wrong with it.
        message: String,
        /// What to write instead.
        fix: String,
    },
}

impl Refusal {
    /// A word that does not change with the wording: `not_found`, `active`, `disabled`, `exists`, `builtin`, `invalid`, …
    pub fn code(&self) -> &'static str {
        match self {
            Refusal::NotFound { .. } => "not_found",
            Refusal::Conflict { code, .. } => code,
            Refusal::Builtin { .. } => "builtin",
            Refusal::Invalid { .. } => "invalid",
        }
    }

    /// The field that is wrong.
    pub fn field(&self) -> Option<&str> {
        match self {
            Refusal::Invalid { field, .. } => Some(field),
            _ => None,
        }
    }

    /// 404, 409, 403 or 422.
    pub fn http_status(&self) -> u16 {
        match self {
            Refusal::NotFound { .. } => 404,
            Refusal::Conflict { .. } => 409,
            Refusal::Builtin { .. } => 403,
            Refusal::Invalid { .. } => 422,
        }
    }

    pub(crate) fn not_found(what: &str, name: impl ToString) -> Refusal {
        let fix = format!("look at the list of {what}s");
        Refusal::NotFound { what: what.to_owned(), name: name.to_string(), fix }
    }

    pub(crate) fn invalid(field: &str, message: impl Into<String>, fix: impl Into<String>) -> Refusal {
        Refusal::Invalid { field: field.to_owned(), message: message.into(), fix: fix.into() }
    }

    pub(crate) fn conflict(code: &'static str, message: impl Into<String>) -> Refusal {
        Refusal::Conflict { code, message: message.into() }
    }
}

impl Error {
    /// The refusal that this error is; none: it is trouble that nobody asked for.
    pub fn refusal(&self) -> Option<Refusal> {
        match self {
            Error::Refused(refusal) => Some((**refusal).clone()),
            Error::Store(StoreError::Declined(refusal)) => Some((**refusal).clone()),
            Error::Store(error) => of_store(error),
            Error::Config(error) => Some(of_config(error)),
            Error::Adapter(error) => of_adapter(error),
            Error::Busy(_) => Some(Refusal::conflict("active", self.to_string())),
            _ => None,
        }
    }
}

impl From<Refusal> for Error {
    fn from(refusal: Refusal) -> Self {
        Error::Refused(Box::new(refusal))
    }
}

fn of_store(error: &StoreError) -> Option<Refusal> {
    match error {
        StoreError::Missing { what, name } => Some(Refusal::not_found(what, name)),
        StoreError::Taken { .. } => Some(Refusal::conflict("exists", error.to_string())),
        StoreError::Refused { reason } => Some(Refusal::invalid("", reason, "change it")),
        _ => None,
    }
}

fn of_config(error: &ConfigError) -> Refusal {
    match error {
        ConfigError::Unknown { what, name, fix } => {
            Refusal::NotFound { what: (*what).to_owned(), name: name.clone(), fix: fix.clone() }
        }
        ConfigError::Disabled { .. } => Refusal::conflict("disabled", error.to_string()),
        ConfigError::UnknownKey { key, fix, .. } => Refusal::invalid(key, "is not known", fix),
        ConfigError::Invalid { place, message, fix } => Refusal::invalid(&place.path, message, fix),
        ConfigError::UnknownColumn { column, fix, .. } => {
            Refusal::NotFound { what: "column".to_owned(), name: column.clone(), fix: fix.clone() }
        }
        ConfigError::Refused { what, message, fix } => {
            // `interval_sec=x` is about `interval_sec`.
            let field = what.trim_matches('`').split('=').next().unwrap_or_default();
            Refusal::invalid(field, message, fix)
        }
        ConfigError::Syntax { place, message } => Refusal::invalid(&place.path, message, "mend it"),
        other => Refusal::invalid("", other.to_string(), "mend it"),
    }
}

fn of_adapter(error: &AdapterError) -> Option<Refusal> {
    match error {
        AdapterError::Settings { at, reason, .. } => {
            Some(Refusal::invalid(at, reason, "the adapter's schema says what may stand there"))
        }
        _ if matches!(error.class(), crate::ErrorClass::Config) => {
            Some(Refusal::invalid("adapter", error.to_string(), "`dibao adapter ls` shows what there is"))
        }
        _ => None,
    }
}
