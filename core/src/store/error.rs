//! What can go wrong with the store, each with the place and the fix.

use std::io;
use std::path::{Path, PathBuf};

use rusqlite::ErrorCode;

/// The store or the disk failed. Rows that were answered before are intact in every case.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The database cannot be opened or made.
    #[error("cannot open the store {}: {reason}; check that the directory exists, that it is a directory, and that you may write to it", path.display())]
    Open {
        /// The database or its directory.
        path: PathBuf,
        /// What the system said.
        reason: String,
    },
    /// The place may not be written to.
    #[error("{} is read-only; make it writable for this user, or choose another data directory", path.display())]
    ReadOnly {
        /// The database, directory or file.
        path: PathBuf,
    },
    /// No space is left.
    #[error("the disk of {} is full; free some space and run the same command again: what was stored is intact and the crawl goes on from there", path.display())]
    Full {
        /// The database or file that could not grow.
        path: PathBuf,
    },
    /// The database file is damaged or is something else.
    #[error("{} is damaged or not a dibao store ({reason}); restore it from a backup, or move it away to begin anew", path.display())]
    Corrupt {
        /// The database.
        path: PathBuf,
        /// What SQLite said.
        reason: String,
    },
    /// Another process kept the database locked for longer than we waited.
    #[error("the store {} stayed locked by another process; find what holds it (for example an open sqlite3 shell) and try again", path.display())]
    Locked {
        /// The database.
        path: PathBuf,
    },
    /// The database has a schema this program does not know.
    #[error("{} was made by a newer dibao (schema {found}, this one knows {known}); update dibao, or choose another data directory", path.display())]
    Migration {
        /// The database.
        path: PathBuf,
        /// Its schema version.
        found: i64,
        /// The newest version this program knows.
        known: i64,
    },
    /// A statement failed for another reason.
    #[error("the store {} failed while it {doing}: {source}", path.display())]
    Sql {
        /// The database.
        path: PathBuf,
        /// What was being done.
        doing: &'static str,
        /// What SQLite said.
        source: rusqlite::Error,
    },
    /// A file could not be read or written.
    #[error("{}: {source}; check the path and the rights of this user", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A path would leave the data directory (S2-43).
    #[error("the path {rel:?} would leave the data directory; it was refused")]
    Outside {
        /// The path as it was given.
        rel: String,
    },
    /// Something that is referred to is not stored.
    #[error("there is no {what} {name} in the store; list them with `dibao site ls` or `dibao target ls`")]
    Missing {
        /// `site`, `target`, `run`, `entry`.
        what: &'static str,
        /// Its code or number.
        name: String,
    },
    /// A target's code belongs to another site already.
    #[error("the target code {code} belongs to the site {site}; rename the column or the site")]
    Taken {
        /// The target's code.
        code: String,
        /// The site that has it.
        site: String,
    },
    /// A stored value cannot be read back.
    #[error("the store {} holds a value that cannot be read ({reason}); run `dibao db check`", path.display())]
    Value {
        /// The database.
        path: PathBuf,
        /// Which, and why.
        reason: String,
    },
    /// A step was not written, for a reason that hit others as well.
    #[error("not written: {reason}")]
    Lost {
        /// The reason, with its place and fix.
        reason: String,
    },
    /// The lease under which this was to be written is gone: another worker has its place.
    #[error("not written: the lease {token} is gone, another worker has taken its place")]
    Fenced {
        /// The token of the lease.
        token: i64,
    },
    /// What was given cannot be stored.
    #[error("{reason}")]
    Refused {
        /// What, and why.
        reason: String,
    },
    /// What was asked for cannot be done with what is stored.
    #[error(transparent)]
    Declined(Box<crate::Refusal>),
    /// The program is wrong; the step was taken back.
    #[error(
        "a bug in dibao: the store panicked while it {doing}; nothing of this step was kept, please report it"
    )]
    Bug {
        /// What was being done.
        doing: &'static str,
    },
    /// The store was closed, or its writer ended.
    #[error("the store is closed; open it again")]
    Closed,
}

impl From<crate::Refusal> for StoreError {
    fn from(refusal: crate::Refusal) -> Self {
        StoreError::Declined(Box::new(refusal))
    }
}

impl StoreError {
    /// Whether the same call may succeed later with nothing changed.
    pub fn is_retryable(&self) -> bool {
        matches!(self, Self::Locked { .. })
    }

    /// Sorts an error of SQLite: the few an operator can do something about have their own variant.
    pub(crate) fn sql(path: &Path, doing: &'static str, source: rusqlite::Error) -> Self {
        let path = path.to_path_buf();
        let reason = || source.to_string();
        if let rusqlite::Error::FromSqlConversionFailure(..) | rusqlite::Error::InvalidColumnType(..) = source
        {
            return Self::Value { path, reason: reason() };
        }
        match source.sqlite_error_code() {
            Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => Self::ReadOnly { path },
            Some(ErrorCode::DiskFull) => Self::Full { path },
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
                Self::Corrupt { path, reason: reason() }
            }
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Locked { path },
            Some(ErrorCode::CannotOpen) => Self::Open { path, reason: reason() },
            _ => Self::Sql { path, doing, source },
        }
    }

    /// Sorts an error of the file system.
    pub(crate) fn io(path: &Path, source: io::Error) -> Self {
        let path = path.to_path_buf();
        match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::Full { path },
            io::ErrorKind::ReadOnlyFilesystem | io::ErrorKind::PermissionDenied => Self::ReadOnly { path },
            _ => Self::Io { path, source },
        }
    }
}
