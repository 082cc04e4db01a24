//! One error type for the library, sorted into classes that callers can act on.

use crate::adapter::AdapterError;
use crate::config::ConfigError;
use crate::fetch::FetchError;
use crate::refusal::Refusal;
use crate::schedule::ScheduleError;
use crate::store::StoreError;

/// What kind of trouble an error is: decides retries, and the exit code of the command line.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ErrorClass {
    /// Wrong use: a bad option, file or name. Someone must change something.
    Config,
    /// The store or the disk.
    Storage,
    /// No answer: DNS, connect, reset, timeout.
    Network,
    /// The TLS handshake or certificate.
    Tls,
    /// Credentials are missing or refused.
    Auth,
    /// An adapter trapped, hit a limit or was refused.
    Adapter,
    /// The site answered with an error.
    Server,
    /// The site turned us away, or our own rules forbid the request.
    Blocked,
    /// The page is not what the adapter expects: the site may have changed.
    Shape,
    /// The document is gone for good.
    Gone,
    /// Somebody else is at work on it, or its host cools down.
    Busy,
    /// Stopped on request.
    Interrupted,
}

impl ErrorClass {
    /// Whether the same call may succeed later with nothing changed.
    pub fn is_retryable(self) -> bool {
        matches!(self, Self::Network | Self::Server | Self::Busy | Self::Interrupted)
    }

    /// The name under which it is stored and shown.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Config => "config",
            Self::Storage => "storage",
            Self::Network => "network",
            Self::Tls => "tls",
            Self::Auth => "auth",
            Self::Adapter => "adapter",
            Self::Server => "server",
            Self::Blocked => "blocked",
            Self::Shape => "shape",
            Self::Gone => "gone",
            Self::Busy => "busy",
            Self::Interrupted => "interrupted",
        }
    }
}

/// Everything that can go wrong in the library.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A site file, an engine option or a name.
    #[error(transparent)]
    Config(Box<ConfigError>),
    /// The store or the files beside it.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A request.
    #[error(transparent)]
    Fetch(#[from] FetchError),
    /// An adapter.
    #[error(transparent)]
    Adapter(Box<AdapterError>),
    /// A schedule that cannot be had, made, changed or run.
    #[error(transparent)]
    Schedule(#[from] ScheduleError),
    /// A step that was tried for the author of an adapter could not go on.
    #[error("{target}: {message}")]
    Trial {
        /// Code of the target.
        target: String,
        /// What kind of trouble.
        class: ErrorClass,
        /// In words.
        message: String,
    },
    /// A list page could not be read, so the run could not go on. What was stored stays.
    #[error("{target}: the list could not be read: {message}")]
    List {
        /// Code of the target.
        target: String,
        /// What kind of trouble.
        class: ErrorClass,
        /// In words.
        message: String,
    },
    /// Another run of the same target is under way.
    #[error("{0} is being crawled already; wait for that run, or cancel it")]
    Busy(String),
    /// What was asked for cannot be done.
    #[error(transparent)]
    Refused(Box<Refusal>),
    /// Stopped on request; what was stored stays, and the next run goes on from there.
    #[error("interrupted; the next run goes on from here")]
    Interrupted,
}

impl Error {
    /// The class of the error.
    pub fn class(&self) -> ErrorClass {
        match self {
            Error::Config(_) | Error::Refused(_) => ErrorClass::Config,
            Error::Store(StoreError::Declined(_)) => ErrorClass::Config,
            Error::Store(_) => ErrorClass::Storage,
            Error::Fetch(error) => error.class(),
            Error::Adapter(error) => error.class(),
            Error::Schedule(error) => error.class(),
            Error::List { class, .. } | Error::Trial { class, .. } => *class,
            Error::Busy(_) => ErrorClass::Busy,
            Error::Interrupted => ErrorClass::Interrupted,
        }
    }

    /// Whether the same call may succeed later with nothing changed.
    pub fn is_retryable(&self) -> bool {
        match self {
            Error::Fetch(error) => error.is_retryable(),
            other => other.class().is_retryable(),
        }
    }
}

// The two large ones are boxed, so that every `Result` of the library stays small.
impl From<ConfigError> for Error {
    fn from(error: ConfigError) -> Self {
        Error::Config(Box::new(error))
    }
}

impl From<AdapterError> for Error {
    fn from(error: AdapterError) -> Self {
        Error::Adapter(Box::new(error))
    }
}
