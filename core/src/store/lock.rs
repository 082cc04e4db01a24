//! One run of a target at a time, across processes.
//!
//! An advisory lock on `<data>/locks/<target>.lock`. The system releases it with the process, so a
//! killed run leaves nothing behind that somebody would have to clean up.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::Path;

use super::error::StoreError;
use super::layout;

/// The right to run a target; given back when dropped.
#[derive(Debug)]
#[must_use = "the lock is given back when this is dropped"]
pub struct TargetLock {
    _file: File,
}

impl TargetLock {
    /// Takes the lock of a target below `data_dir`; none when another run holds it.
    pub fn try_take(data_dir: &Path, target: &str) -> Result<Option<TargetLock>, StoreError> {
        let dir = data_dir.join("locks");
        fs::create_dir_all(&dir).map_err(|error| StoreError::io(&dir, error))?;
        let path = dir.join(format!("{}.lock", layout::segment(target)));
        // The file stays: removing it would let a third process lock a new file beside a held old one.
        let file = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .open(&path)
            .map_err(|error| StoreError::io(&path, error))?;
        match file.try_lock() {
            Ok(()) => Ok(Some(TargetLock { _file: file })),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Unsupported => {
                tracing::warn!(path = %path.display(), "this file system has no locks; runs of one target are not kept apart");
                Ok(Some(TargetLock { _file: file }))
            }
            Err(TryLockError::Error(error)) => Err(StoreError::io(&path, error)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_is_run_once_at_a_time() {
        let dir = tempfile::tempdir().unwrap();
        let held = TargetLock::try_take(dir.path(), "a__b").unwrap().expect("free");
        assert!(TargetLock::try_take(dir.path(), "a__b").unwrap().is_none());
        assert!(TargetLock::try_take(dir.path(), "a__c").unwrap().is_some(), "another target is free");
        drop(held);
        assert!(TargetLock::try_take(dir.path(), "a__b").unwrap().is_some(), "given back");
    }

    #[test]
    fn a_hostile_code_locks_inside_the_directory() {
        let dir = tempfile::tempdir().unwrap();
        let _held = TargetLock::try_take(dir.path(), "../../x").unwrap().expect("free");
        assert_eq!(fs::read_dir(dir.path().join("locks")).unwrap().count(), 1);
    }
}
