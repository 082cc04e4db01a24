//! What an error of the store means for a worker: whose fault it is, and whether waiting helps. Pure.

use rusqlite::ErrorCode;

use crate::store::StoreError;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Trouble {
    /// Another worker has the job.
    LeaseGone,
    /// The store will not have this, and would have something else.
    OfThisStep,
    /// It will go again: a full disk, a lock.
    Passing,
    /// It will not.
    OfTheStore,
}

pub(super) fn trouble(error: &StoreError) -> Trouble {
    match error {
        StoreError::Fenced { .. } => Trouble::LeaseGone,
        StoreError::Refused { .. }
        | StoreError::Declined(_)
        | StoreError::Missing { .. }
        | StoreError::Outside { .. }
        | StoreError::Taken { .. }
        | StoreError::Value { .. }
        | StoreError::Bug { .. } => Trouble::OfThisStep,
        StoreError::Sql { source, .. } => match source.sqlite_error_code() {
            // A rule of the schema, or no error of SQLite at all: the same again would end the same.
            None | Some(ErrorCode::ConstraintViolation | ErrorCode::TooBig | ErrorCode::TypeMismatch) => {
                Trouble::OfThisStep
            }
            Some(_) => Trouble::Passing,
        },
        StoreError::Full { .. }
        | StoreError::Locked { .. }
        | StoreError::ReadOnly { .. }
        | StoreError::Io { .. }
        | StoreError::Lost { .. } => Trouble::Passing,
        StoreError::Open { .. }
        | StoreError::Corrupt { .. }
        | StoreError::Migration { .. }
        | StoreError::Closed => Trouble::OfTheStore,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_passes_and_what_is_refused_is_the_fault_of_one_step() {
        let refused = StoreError::Refused { reason: "too long".into() };
        let path = std::path::PathBuf::from("data/dibao.db");
        let broken = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_CONSTRAINT_UNIQUE);
        let broken = rusqlite::Error::SqliteFailure(broken, None);
        for (error, expected) in [
            (StoreError::Fenced { token: 1 }, Trouble::LeaseGone),
            (refused, Trouble::OfThisStep),
            (
                StoreError::Sql { path: path.clone(), doing: "ended a job", source: broken },
                Trouble::OfThisStep,
            ),
            (StoreError::Full { path: path.clone() }, Trouble::Passing),
            (StoreError::Locked { path: path.clone() }, Trouble::Passing),
            (StoreError::Corrupt { path, reason: "torn".into() }, Trouble::OfTheStore),
            (StoreError::Closed, Trouble::OfTheStore),
        ] {
            assert_eq!(trouble(&error), expected, "{error}");
        }
    }
}
