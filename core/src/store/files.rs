//! Files beside the rows: written whole or not at all, always below the data directory (S2-42, S2-43).
//!
//! Every file is written under `tmp/<process>/` and renamed into place, so a reader, and a crash, sees the
//! old file, no file or the whole file. With [`Durability::Power`] everything that was written is forced to the
//! disk by [`Files::settle`], which the store calls before the commit that names the files: one call for a
//! whole group of articles instead of an fsync for each of their files.

use std::collections::HashSet;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use bytes::Bytes;

use super::blobs::{Blob, BlobWriter};
use super::error::StoreError;
use super::layout;

/// What an answered write survives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// The end of the process at any instruction.
    Process,
    /// The loss of power too.
    #[default]
    Power,
}

/// The data directory. Clones share it.
#[derive(Clone, Debug)]
pub struct Files {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    root: PathBuf,
    durability: Durability,
    /// This process's own place for half-written files.
    tmp: PathBuf,
    /// Held as long as this value lives: tells others that `tmp` is in use.
    _tmp_lock: File,
    next: AtomicU64,
    /// Directories, relative, that exist and were seen to be inside the root.
    made: Mutex<HashSet<String>>,
    /// Directories with entries that power loss could take back.
    unsettled: Mutex<HashSet<PathBuf>>,
}

impl Drop for Inner {
    fn drop(&mut self) {
        // What is left in it belongs to nobody. If this fails, the next process sweeps it.
        let _ = fs::remove_dir_all(&self.tmp);
    }
}

impl Files {
    /// Opens or makes a data directory and sweeps what dead processes left half-written in it.
    pub fn open(data_dir: impl AsRef<Path>, durability: Durability) -> Result<Files, StoreError> {
        let data_dir = data_dir.as_ref();
        fs::create_dir_all(data_dir).map_err(|error| open_error(data_dir, error))?;
        let root = data_dir.canonicalize().map_err(|error| open_error(data_dir, error))?;
        let (tmp, lock) = claim_tmp(&root.join("tmp")).map_err(|error| open_error(&root, error))?;
        Ok(Files {
            inner: Arc::new(Inner {
                root,
                durability,
                tmp,
                _tmp_lock: lock,
                next: AtomicU64::new(0),
                made: Mutex::default(),
                unsettled: Mutex::default(),
            }),
        })
    }

    /// The data directory, with links resolved.
    pub fn root(&self) -> &Path {
        &self.inner.root
    }

    /// What an answered write survives.
    pub fn durability(&self) -> Durability {
        self.inner.durability
    }

    /// Writes a file whole, over an older one of the same name.
    pub async fn write(&self, rel: &str, bytes: impl Into<Bytes>) -> Result<(), StoreError> {
        let (files, rel, bytes) = (self.clone(), rel.to_owned(), bytes.into());
        blocking(move || files.write_now(&rel, &bytes)).await
    }

    /// [`Files::write`] on the calling thread.
    pub fn write_now(&self, rel: &str, bytes: &[u8]) -> Result<(), StoreError> {
        let path = self.place(rel)?;
        let tmp = self.tmp_path();
        let written = (|| {
            let mut file = OpenOptions::new().write(true).create_new(true).open(&tmp)?;
            file.write_all(bytes)?;
            self.force(&file)
        })();
        let placed = written.and_then(|()| self.rename(&tmp, &path, rel));
        placed.map_err(|error| {
            let _ = fs::remove_file(&tmp);
            StoreError::io(&path, error)
        })
    }

    /// Reads a file.
    pub async fn read(&self, rel: &str) -> Result<Vec<u8>, StoreError> {
        let (files, rel) = (self.clone(), rel.to_owned());
        blocking(move || {
            let path = files.os_path(&rel)?;
            fs::read(&path).map_err(|error| StoreError::io(&path, error))
        })
        .await
    }

    /// Removes files that no row names any more, and blobs that nothing else is a link to. What is gone already is no error.
    pub(crate) async fn remove(&self, rels: Vec<String>, blobs: Vec<String>) -> Result<(), StoreError> {
        let files = self.clone();
        blocking(move || {
            for rel in rels {
                let path = files.os_path(&rel)?;
                remove_file(&path)?;
                // The directory of an article's attachments is its own, and its number is never given again.
                if rel.starts_with("attachments/")
                    && let Some(dir) = path.parent()
                {
                    let _ = fs::remove_dir(dir);
                }
            }
            for sha256 in blobs {
                let path = files.os_path(&layout::blob_path(&sha256))?;
                if !is_linked(&path) {
                    remove_file(&path)?;
                }
            }
            Ok(())
        })
        .await
    }

    /// Begins a blob: bytes that are kept once under their sha256 (S2-66).
    pub async fn blob(&self) -> Result<BlobWriter, StoreError> {
        BlobWriter::begin(self.clone()).await
    }

    /// Gives a blob a name in the layout: a hard link, or a copy where the file system has none.
    /// Doing it again changes nothing.
    pub async fn link(&self, blob: &Blob, rel: &str) -> Result<(), StoreError> {
        let (files, blob, rel) = (self.clone(), blob.clone(), rel.to_owned());
        blocking(move || files.link_now(&blob, &rel)).await
    }

    fn link_now(&self, blob: &Blob, rel: &str) -> Result<(), StoreError> {
        let (from, to) = (self.place(&blob.path)?, self.place(rel)?);
        // Linked beside and renamed over: a name that is taken by something older is replaced whole.
        let tmp = self.tmp_path();
        let copy = |_| {
            fs::copy(&from, &tmp)?;
            self.force(&File::open(&tmp)?)
        };
        let placed = fs::hard_link(&from, &tmp).or_else(copy).and_then(|()| self.rename(&tmp, &to, rel));
        // A rename between two links of the same file leaves both: the name in tmp has to go either way.
        let _ = fs::remove_file(&tmp);
        placed.map_err(|error| StoreError::io(&to, error))
    }

    /// Where a relative path is on the disk (S2-43): refused when it leaves the data directory by its words
    /// or through a symbolic link.
    pub fn os_path(&self, rel: &str) -> Result<PathBuf, StoreError> {
        let path = self.inner.root.join(layout::checked(rel)?);
        let outside = || StoreError::Outside { rel: rel.to_owned() };
        // The deepest part that exists decides where the rest would come to lie.
        for part in path.ancestors() {
            match part.canonicalize() {
                Ok(real) if real.starts_with(&self.inner.root) => return Ok(path),
                Ok(_) => return Err(outside()),
                // A link to nowhere exists, but where it leads cannot be checked.
                Err(_) if part.is_symlink() => return Err(outside()),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(StoreError::io(part, error)),
            }
        }
        Err(outside())
    }

    /// Forces to the disk the names of all files written so far. Does nothing unless power loss is to be survived.
    pub fn settle(&self) -> Result<(), StoreError> {
        if self.inner.durability == Durability::Process {
            return Ok(());
        }
        let dirs = std::mem::take(&mut *lock(&self.inner.unsettled));
        if dirs.is_empty() {
            return Ok(());
        }
        self.force_all(&dirs).inspect_err(|_| lock(&self.inner.unsettled).extend(dirs))
    }

    /// All dirty pages of the file system at once: bytes and names.
    #[cfg(target_os = "linux")]
    fn force_all(&self, _: &HashSet<PathBuf>) -> Result<(), StoreError> {
        let root = &self.inner.root;
        let forced = File::open(root).and_then(|root| rustix::fs::syncfs(&root).map_err(io::Error::from));
        forced.map_err(|error| StoreError::io(root, error))
    }

    /// The names; bytes were forced when they were written.
    #[cfg(not(target_os = "linux"))]
    fn force_all(&self, dirs: &HashSet<PathBuf>) -> Result<(), StoreError> {
        for dir in dirs {
            let forced = File::open(dir).and_then(|dir| dir.sync_all());
            forced.map_err(|error| StoreError::io(dir, error))?;
        }
        Ok(())
    }

    /// Forces one file's bytes where [`Files::settle`] cannot do it for all of them.
    fn force(&self, file: &File) -> io::Result<()> {
        let needed = self.inner.durability == Durability::Power && cfg!(not(target_os = "linux"));
        if needed { file.sync_data() } else { Ok(()) }
    }

    /// A free name among the half-written files.
    pub(super) fn tmp_path(&self) -> PathBuf {
        self.inner.tmp.join(self.inner.next.fetch_add(1, Ordering::Relaxed).to_string())
    }

    /// The place of a file, with its directory made.
    pub(super) fn place(&self, rel: &str) -> Result<PathBuf, StoreError> {
        let path = self.inner.root.join(layout::checked(rel)?);
        let dir = rel.rsplit_once('/').map_or("", |(dir, _)| dir);
        if lock(&self.inner.made).contains(dir) {
            return Ok(path);
        }
        let path = self.os_path(rel)?;
        self.make_dir(path.parent().unwrap_or(&self.inner.root))?;
        let mut made = lock(&self.inner.made);
        // One directory per article with attachments: forget before it grows without end.
        if made.len() > 10_000 {
            made.clear();
        }
        made.insert(dir.to_owned());
        Ok(path)
    }

    /// Moves a finished file into place; makes its directory again should somebody have removed it.
    pub(super) fn rename(&self, from: &Path, to: &Path, rel: &str) -> io::Result<()> {
        match fs::rename(from, to) {
            Err(error) if error.kind() == io::ErrorKind::NotFound && from.exists() => {
                lock(&self.inner.made).clear();
                self.place(rel).map_err(io::Error::other)?;
                fs::rename(from, to)?;
            }
            other => other?,
        }
        if self.inner.durability == Durability::Power
            && let Some(dir) = to.parent()
        {
            lock(&self.inner.unsettled).insert(dir.to_path_buf());
        }
        Ok(())
    }

    fn make_dir(&self, dir: &Path) -> Result<(), StoreError> {
        let mut fresh = Vec::new();
        let mut at = dir;
        while at != self.inner.root && !at.is_dir() {
            fresh.push(at.to_path_buf());
            match at.parent() {
                Some(parent) => at = parent,
                None => break,
            }
        }
        fs::create_dir_all(dir).map_err(|error| StoreError::io(dir, error))?;
        if self.inner.durability == Durability::Power {
            let parents = fresh.iter().filter_map(|dir| dir.parent()).map(Path::to_path_buf);
            lock(&self.inner.unsettled).extend(parents);
        }
        Ok(())
    }
}

/// Runs file work where it may block.
pub(super) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, StoreError> + Send + 'static,
) -> Result<T, StoreError> {
    tokio::task::spawn_blocking(work).await.unwrap_or(Err(StoreError::Closed))
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

fn remove_file(path: &Path) -> Result<(), StoreError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(StoreError::io(path, error)),
        _ => Ok(()),
    }
}

/// Whether somebody links to these bytes: an attachment whose row is about to be written.
#[cfg(unix)]
fn is_linked(path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    fs::metadata(path).is_ok_and(|there| there.nlink() > 1)
}

#[cfg(not(unix))]
fn is_linked(_: &Path) -> bool {
    false
}

fn open_error(path: &Path, error: io::Error) -> StoreError {
    match StoreError::io(path, error) {
        StoreError::Io { path, source } => StoreError::Open { path, reason: source.to_string() },
        sorted => sorted,
    }
}

/// Makes and locks a directory for this value's half-written files, and removes those of the dead.
fn claim_tmp(tmp: &Path) -> io::Result<(PathBuf, File)> {
    fs::create_dir_all(tmp)?;
    // One at a time: a directory that is made but not yet locked looks like one of the dead.
    let gate = OpenOptions::new().create(true).truncate(false).write(true).open(tmp.join("gate"))?;
    gate.lock()?;
    for left in fs::read_dir(tmp)?.flatten() {
        let path = left.path();
        if !path.is_dir() {
            continue;
        }
        let dead = match File::open(path.join("lock")) {
            Ok(file) => file.try_lock().is_ok(),
            Err(error) => error.kind() == io::ErrorKind::NotFound,
        };
        if dead {
            // Somebody else's files perhaps: what cannot be removed is no reason not to start.
            if let Err(error) = fs::remove_dir_all(&path) {
                tracing::warn!(path = %path.display(), %error, "cannot remove what a dead process left");
            }
        }
    }
    let mut number = 0u32;
    let dir = loop {
        let dir = tmp.join(format!("{}-{number}", std::process::id()));
        match fs::create_dir(&dir) {
            Ok(()) => break dir,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
            Err(error) => return Err(error),
        }
    };
    let file = OpenOptions::new().create(true).truncate(false).write(true).open(dir.join("lock"))?;
    file.lock()?;
    Ok((dir, file))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(dir: &Path) -> Files {
        Files::open(dir, Durability::Process).unwrap()
    }

    #[tokio::test]
    async fn a_file_is_replaced_whole_and_leaves_no_half_ones() {
        let dir = tempfile::tempdir().unwrap();
        let files = files(dir.path());
        files.write("text/a/b/2026/04/x.txt", "one").await.unwrap();
        files.write("text/a/b/2026/04/x.txt", "two two").await.unwrap();
        assert_eq!(files.read("text/a/b/2026/04/x.txt").await.unwrap(), b"two two");
        let left: Vec<_> = fs::read_dir(&files.inner.tmp).unwrap().flatten().map(|e| e.file_name()).collect();
        assert_eq!(left, ["lock"]);
        fs::remove_dir_all(dir.path().join("text")).unwrap();
        files.write("text/a/b/2026/04/x.txt", "back").await.unwrap();
        assert_eq!(files.read("text/a/b/2026/04/x.txt").await.unwrap(), b"back");
    }

    #[tokio::test]
    async fn power_durable_writes_settle_their_directories() {
        let dir = tempfile::tempdir().unwrap();
        let files = Files::open(dir.path(), Durability::Power).unwrap();
        files.write("a/b/c", "x").await.unwrap();
        assert_eq!(lock(&files.inner.unsettled).len(), 3, "the root, a and a/b");
        files.settle().unwrap();
        assert!(lock(&files.inner.unsettled).is_empty());
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn no_path_leaves_the_data_directory() {
        let dir = tempfile::tempdir().unwrap();
        let elsewhere = tempfile::tempdir().unwrap();
        let files = files(dir.path());
        std::os::unix::fs::symlink(elsewhere.path(), dir.path().join("out")).unwrap();
        std::os::unix::fs::symlink("/nowhere/at/all", dir.path().join("dangling")).unwrap();
        fs::create_dir(dir.path().join("in")).unwrap();
        std::os::unix::fs::symlink(dir.path().join("in"), dir.path().join("inner")).unwrap();
        for rel in ["../x", "/etc/x", "out/x", "out/deep/x", "dangling", "dangling/x", "a/../../x"] {
            let refused = files.write(rel, "x").await;
            assert!(matches!(refused, Err(StoreError::Outside { .. })), "{rel}: {refused:?}");
            assert!(matches!(files.os_path(rel), Err(StoreError::Outside { .. })), "{rel}");
        }
        assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 0);
        files.write("inner/x", "a link that stays inside is fine").await.unwrap();
    }

    #[test]
    fn what_dead_processes_left_is_swept_and_what_the_living_write_is_not() {
        let dir = tempfile::tempdir().unwrap();
        let living = files(dir.path());
        fs::write(living.tmp_path(), "half").unwrap();
        let dead = dir.path().join("tmp/4194305-0");
        fs::create_dir(&dead).unwrap();
        fs::write(dead.join("lock"), "").unwrap();
        fs::write(dead.join("0"), "half").unwrap();
        let other = files(dir.path());
        assert!(!dead.exists());
        assert!(living.inner.tmp.join("0").exists());
        assert_ne!(living.inner.tmp, other.inner.tmp);
        let gone = living.inner.tmp.clone();
        drop(living);
        assert!(!gone.exists());
    }

    #[test]
    fn a_data_directory_that_is_a_file_is_a_clear_error() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("data");
        fs::write(&path, "").unwrap();
        let error = Files::open(&path, Durability::Process).unwrap_err();
        assert!(matches!(error, StoreError::Open { .. }), "{error:?}");
        assert!(error.to_string().contains(path.to_str().unwrap()), "{error}");
    }
}
