//! What can go wrong with an adapter: before it runs ([`AdapterError`]) and while it does ([`TurnError`]).

use std::fmt;
use std::path::PathBuf;

use super::contract::Failure;
use super::{Cost, LogLine};
use crate::error::ErrorClass;

/// An adapter was refused, could not be loaded, or does not accept its settings.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AdapterError {
    /// Not WebAssembly at all.
    #[error(
        "{origin}: not a WebAssembly component ({found}); an adapter is a .wasm file as `cargo xtask adapters` or `wasm-tools component new` makes it"
    )]
    NotWasm {
        /// The file or other place the bytes came from.
        origin: String,
        /// What the bytes look like.
        found: String,
    },
    /// A core module: not yet a component.
    #[error(
        "{origin}: a core WebAssembly module, not a component; turn it into one with `wasm-tools component new {origin} -o ADAPTER.wasm` (bundled adapters: `cargo xtask adapters`)"
    )]
    CoreModule {
        /// Where from.
        origin: String,
    },
    /// The file ends too early.
    #[error("{origin}: the file is cut off at byte {at} of a component; copy or build it again")]
    Truncated {
        /// Where from.
        origin: String,
        /// How many bytes there are.
        at: usize,
    },
    /// The bytes are not a valid component.
    #[error("{origin}: not a valid component: {reason} (at byte {at}); build it again")]
    Malformed {
        /// Where from.
        origin: String,
        /// The validator's words.
        reason: String,
        /// Where in the file.
        at: usize,
    },
    /// The file is larger than the host reads.
    #[error("{origin}: {size} bytes; the host loads components of up to {limit}")]
    TooLarge {
        /// Where from.
        origin: String,
        /// Of the file.
        size: usize,
        /// The limit.
        limit: usize,
    },
    /// It wants something an adapter is never given.
    #[error("{origin}: imports `{import}`, which adapters are not given: only log, html and charset of dibao:adapter@{supported}, and WASI 0.2 for interpreted guests (linked to nothing); remove the dependency that needs it", supported = super::CONTRACT_VERSION)]
    ForbiddenImport {
        /// Where from.
        origin: String,
        /// The import's name.
        import: String,
    },
    /// Made for another version of the contract.
    #[error("{origin}: made for {found}, this dibao speaks dibao:adapter@{supported}; {}", upgrade(found), supported = super::CONTRACT_VERSION)]
    WrongVersion {
        /// Where from.
        origin: String,
        /// The versioned name that was found.
        found: String,
    },
    /// A component of another kind.
    #[error("{origin}: a component, but not an adapter: it does not export `dibao:adapter/site@{supported}` (it exports {found}); see adapters-wit/README.md", supported = super::CONTRACT_VERSION)]
    NotAnAdapter {
        /// Where from.
        origin: String,
        /// What it exports instead.
        found: String,
    },
    /// The names fit, the types behind them do not; or the component asks for more than the pool has.
    #[error("{origin}: cannot be linked: {reason}; rebuild it against adapters-wit/wit/v0.1")]
    Link {
        /// Where from.
        origin: String,
        /// wasmtime's words.
        reason: String,
    },
    /// It could not be compiled.
    #[error("{origin}: cannot be compiled: {reason}")]
    Compile {
        /// Where from.
        origin: String,
        /// wasmtime's words.
        reason: String,
    },
    /// It trapped or hit a limit when it was asked to describe itself.
    #[error("{origin}: {kind} in describe(): {reason}; the adapter must be fixed")]
    Describe {
        /// Where from.
        origin: String,
        /// Which limit.
        kind: TrapKind,
        /// In words.
        reason: String,
    },
    /// What it says of itself makes no sense.
    #[error("{origin}: describe() answers a bad {field}: {reason}; the adapter must be fixed")]
    About {
        /// Where from.
        origin: String,
        /// The field of `about`.
        field: &'static str,
        /// What is wrong with it.
        reason: String,
    },
    /// A target's settings do not fit the adapter's schema.
    #[error("settings refused by adapter {adapter}: at `{at}`: {reason}")]
    Settings {
        /// The adapter's name.
        adapter: String,
        /// JSON pointer into the settings.
        at: String,
        /// What is wrong there.
        reason: String,
    },
    /// No such adapter.
    #[error("no adapter `{name}` in {dir}; there are: {known}")]
    Unknown {
        /// The name asked for.
        name: String,
        /// The registry's directory.
        dir: PathBuf,
        /// The names there are.
        known: String,
    },
    /// There is no directory to take adapters from.
    #[error(
        "adapter `{name}` is needed, but {dir} does not exist; `cargo xtask adapters` builds the bundled adapters into target/adapters: name that directory with --adapters, DIBAO_ADAPTERS or EngineBuilder::adapters"
    )]
    NoDirectory {
        /// The name asked for.
        name: String,
        /// Where they were looked for.
        dir: PathBuf,
    },
    /// Pinned, but its file is not there.
    #[error(
        "{file} is pinned in adapters.lock but is not there; copy it back, build it again, or remove [adapters.{name}] from the lock"
    )]
    Missing {
        /// The adapter's name.
        name: String,
        /// Where it should be.
        file: PathBuf,
    },
    /// Nobody has approved these bytes.
    #[error("{file} is not pinned (sha256 {actual}); when you trust it: `dibao adapter pin {file}`")]
    Unpinned {
        /// The file.
        file: PathBuf,
        /// Its hash.
        actual: String,
    },
    /// The bytes are not those that were approved.
    #[error(
        "{file} has changed: adapters.lock pins sha256 {pinned}, the file is {actual}; when you trust the new one: `dibao adapter pin {file}`"
    )]
    Changed {
        /// The file.
        file: PathBuf,
        /// The hash in the lock.
        pinned: String,
        /// The hash of the file.
        actual: String,
    },
    /// The file is called one thing, the adapter another.
    #[error("{origin} calls itself `{name}`; rename the file to {name}.wasm and pin it again")]
    Misnamed {
        /// The file.
        origin: String,
        /// The name in `describe()`.
        name: String,
    },
    /// `adapters.lock` cannot be read.
    #[error(
        "{file}: {reason}; mend it, or remove it and pin the adapters again with `dibao adapter pin FILE`"
    )]
    Lock {
        /// The lock file.
        file: PathBuf,
        /// What is wrong.
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
    /// The sandbox itself could not be set up.
    #[error("cannot set up the adapter host: {0}")]
    Host(String),
}

impl AdapterError {
    /// The class of the error.
    pub fn class(&self) -> ErrorClass {
        match self {
            Self::Settings { .. } | Self::Lock { .. } => ErrorClass::Config,
            Self::Io { .. } => ErrorClass::Storage,
            _ => ErrorClass::Adapter,
        }
    }

    /// Whether the same call may succeed later with nothing changed.
    pub fn is_retryable(&self) -> bool {
        self.class().is_retryable()
    }
}

/// Which side has to move when the versions differ.
fn upgrade(found: &str) -> String {
    let version = |text: &str| -> Option<Vec<u64>> {
        let text = text.rsplit_once('@').map_or(text, |(_, version)| version);
        text.split(['-', '+']).next()?.split('.').map(|part| part.parse().ok()).collect()
    };
    let ours = super::CONTRACT_VERSION;
    match (version(found), version(ours)) {
        (Some(theirs), Some(our)) if theirs > our => format!(
            "the adapter is newer: upgrade dibao, or ask for a build of the adapter against contract {ours}"
        ),
        _ => format!(
            "the adapter is older: upgrade the adapter, or rebuild it against contract {ours} (`dibao adapter build`)"
        ),
    }
}

/// Which wall of the sandbox an adapter ran into.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TrapKind {
    /// Ran longer than a turn may.
    Deadline,
    /// Wanted more memory.
    Memory,
    /// Wanted a larger table.
    Table,
    /// Sent more bytes than a call may.
    ResultSize,
    /// Recursed too deep.
    Stack,
    /// Trapped by itself (a panic, a division by zero, …).
    Trap,
    /// Trapped before its first call.
    Start,
    /// Answered with values that the contract forbids.
    Invalid,
}

impl fmt::Display for TrapKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Deadline => "deadline",
            Self::Memory => "memory limit",
            Self::Table => "table limit",
            Self::ResultSize => "result size limit",
            Self::Stack => "stack limit",
            Self::Trap => "trap",
            Self::Start => "trap at start",
            Self::Invalid => "invalid answer",
        })
    }
}

/// A turn that gave no step.
#[derive(Clone, Debug, thiserror::Error)]
pub enum TurnError {
    /// The adapter gave up with a reason of the contract.
    #[error("adapter {adapter}, {step}: {}", words(failure))]
    Failure {
        /// The adapter's name.
        adapter: String,
        /// `list-page` or `detail`.
        step: &'static str,
        /// What it answered; one policy each.
        failure: Failure,
        /// What it logged.
        log: Vec<LogLine>,
        /// What the turn cost, when the host measures.
        cost: Option<Box<Cost>>,
    },
    /// The adapter ran into a wall; its instance is gone, the host goes on.
    #[error("adapter {adapter}, {step}: {kind}: {reason}")]
    Trap {
        /// The adapter's name.
        adapter: String,
        /// `list-page` or `detail`.
        step: &'static str,
        /// In words.
        reason: String,
        /// Which wall.
        kind: TrapKind,
    },
    /// The adapter trapped too often in a row and is not called any more.
    #[error(
        "adapter {adapter}, {step}: quarantined after {traps} traps in a row, the last: {last}; fix or update the adapter and load it again"
    )]
    Quarantined {
        /// The adapter's name.
        adapter: String,
        /// `list-page` or `detail`.
        step: &'static str,
        /// How many.
        traps: u32,
        /// The reason of the last one.
        last: String,
    },
}

impl TurnError {
    /// The class of the error.
    pub fn class(&self) -> ErrorClass {
        match self {
            Self::Failure { failure, .. } => match failure {
                Failure::Config(_) => ErrorClass::Config,
                Failure::Shape(_) => ErrorClass::Shape,
                Failure::Refused(_) => ErrorClass::Blocked,
                Failure::Stale(_) => ErrorClass::Auth,
                Failure::Gone => ErrorClass::Gone,
            },
            Self::Trap { .. } | Self::Quarantined { .. } => ErrorClass::Adapter,
        }
    }

    /// Whether the same call may succeed later with nothing changed.
    pub fn is_retryable(&self) -> bool {
        self.class().is_retryable()
    }
}

fn words(failure: &Failure) -> String {
    match failure {
        Failure::Config(why) => format!("the settings cannot work: {why}"),
        Failure::Shape(why) => format!("the page is not shaped as expected: {why}"),
        Failure::Refused(why) => format!("the site turned us away: {why}"),
        Failure::Stale(why) => format!("the session is no longer accepted: {why}"),
        Failure::Gone => "the document is gone".to_owned(),
    }
}
