//! What the command's exit code says: one number per kind of trouble.

use dibao::{Error, ErrorClass};

/// The table shown by `--help`.
pub const HELP: &str = "Exit codes:
    0  ok                       7  adapter missing, refused or trapped
    1  other error              8  the site answered with an error or turned us away,
    2  usage or configuration      a page is not shaped as expected, a rule forbids the request
    3  storage or files         9  partial: some items failed (see --fail-on)
    4  network                 10  no items (with --fail-on no-items)
    5  TLS                     75  busy: the target is being crawled already, or its host cools down
    6  credentials            130  interrupted; the next run goes on from there
  Of several targets an interruption counts first, then the lowest code.";

/// An exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    Ok,
    Other,
    Usage,
    Storage,
    Network,
    Tls,
    Auth,
    Adapter,
    Server,
    Partial,
    NoItems,
    Busy,
    Interrupted,
}

impl Exit {
    pub fn code(self) -> u8 {
        match self {
            Exit::Ok => 0,
            Exit::Other => 1,
            Exit::Usage => 2,
            Exit::Storage => 3,
            Exit::Network => 4,
            Exit::Tls => 5,
            Exit::Auth => 6,
            Exit::Adapter => 7,
            Exit::Server => 8,
            Exit::Partial => 9,
            Exit::NoItems => 10,
            Exit::Busy => 75,
            Exit::Interrupted => 130,
        }
    }

    /// The code of an error: of the library's error somewhere in its chain, else of I/O, else 1.
    pub fn of(error: &anyhow::Error) -> Exit {
        for cause in error.chain() {
            if let Some(error) = cause.downcast_ref::<Error>() {
                return Exit::of_class(error.class());
            }
            if let Some(told) = cause.downcast_ref::<Told>() {
                return told.exit;
            }
            if cause.is::<dibao::config::ConfigError>() {
                return Exit::Usage;
            }
            if let Some(error) = cause.downcast_ref::<dibao::adapter::AdapterError>() {
                return Exit::of_class(error.class());
            }
            if let Some(error) = cause.downcast_ref::<dibao_server::ServerError>() {
                return Exit::of_server(error);
            }
            if let Some(error) = cause.downcast_ref::<dibao_adapter_kit::KitError>() {
                return Exit::of_kit(error);
            }
            if cause.is::<dibao::adapter::fixture::FixtureError>() {
                return Exit::Usage;
            }
            if cause.is::<dibao::store::StoreError>() || cause.is::<std::io::Error>() {
                return Exit::Storage;
            }
            if cause.is::<Usage>() {
                return Exit::Usage;
            }
        }
        Exit::Other
    }

    fn of_kit(error: &dibao_adapter_kit::KitError) -> Exit {
        use dibao_adapter_kit::KitError;
        match error {
            KitError::Io { .. } => Exit::Storage,
            KitError::Install { .. } => Exit::Network,
            KitError::Build { .. } => Exit::Adapter,
            _ => Exit::Usage,
        }
    }

    fn of_server(error: &dibao_server::ServerError) -> Exit {
        use dibao_server::ServerError;
        match error {
            ServerError::Engine(error) => Exit::of_class(error.class()),
            ServerError::Open { .. } | ServerError::Setting { .. } => Exit::Usage,
            _ => Exit::Network,
        }
    }

    pub fn of_class(class: ErrorClass) -> Exit {
        match class {
            ErrorClass::Config => Exit::Usage,
            ErrorClass::Storage => Exit::Storage,
            ErrorClass::Network => Exit::Network,
            ErrorClass::Tls => Exit::Tls,
            ErrorClass::Auth => Exit::Auth,
            ErrorClass::Adapter => Exit::Adapter,
            ErrorClass::Server | ErrorClass::Blocked | ErrorClass::Shape | ErrorClass::Gone => Exit::Server,
            ErrorClass::Busy => Exit::Busy,
            ErrorClass::Interrupted => Exit::Interrupted,
            _ => Exit::Other,
        }
    }

    /// Of several, the one that counts: an interruption, then the lowest code as in wget.
    pub fn worse(self, other: Exit) -> Exit {
        match (self, other) {
            (Exit::Ok, exit) | (exit, Exit::Ok) => exit,
            (Exit::Interrupted, _) | (_, Exit::Interrupted) => Exit::Interrupted,
            (a, b) if a.code() <= b.code() => a,
            (_, b) => b,
        }
    }
}

impl From<Exit> for std::process::ExitCode {
    fn from(exit: Exit) -> Self {
        exit.code().into()
    }
}

/// An error of the library, retold where the error itself is somebody else's.
#[derive(Debug, thiserror::Error)]
#[error("{words}")]
pub struct Told {
    words: String,
    exit: Exit,
}

impl Told {
    pub fn of(error: &Error) -> Told {
        Told { words: error.to_string(), exit: Exit::of_class(error.class()) }
    }

    /// In words of our own.
    pub fn new(words: String, exit: Exit) -> Told {
        Told { words, exit }
    }
}

/// Something the caller asked for that cannot be.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Usage(pub String);

/// An error in one line, with its causes, without saying the same twice.
pub fn words(error: &anyhow::Error) -> String {
    let mut words = String::new();
    for cause in error.chain() {
        let text = cause.to_string();
        if words.is_empty() {
            words = text;
        } else if !words.contains(&text) {
            words.push_str(": ");
            words.push_str(&text);
        }
    }
    words
}

/// Whoever read our output has gone, as `head` does: nothing is wrong.
pub fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        cause
            .downcast_ref::<std::io::Error>()
            .is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interruption_counts_most_then_the_lowest_code() {
        assert_eq!(Exit::Ok.worse(Exit::Partial), Exit::Partial);
        assert_eq!(Exit::Partial.worse(Exit::Network), Exit::Network);
        assert_eq!(Exit::Storage.worse(Exit::Interrupted), Exit::Interrupted);
    }
}
