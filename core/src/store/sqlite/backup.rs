//! A copy of everything while others write, and back again.
//!
//! The rows are one snapshot; then every file that they name is copied. Files are on the disk before the commit that
//! names them and are never changed in place, so what the snapshot names is there, unless its article was removed in
//! the meantime: then it leaves the copy too. The manifest is written last: a copy without one is not finished.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, OptionalExtension, params};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::{DATABASE, SqliteStore, connect};
use crate::clock::{Clock, SystemClock, Timestamp};
use crate::queue::JobTable;
use crate::store::files::{Durability, Files, blocking};
use crate::store::sanitize::hex;
use crate::store::{Store, StoreError, layout};

/// Tells a finished copy, and what is in it.
const MANIFEST: &str = "backup.json";
/// What is copied beside rows and their files, when it is there.
const SETTINGS: [&str; 3] = ["channels.toml", "dibao.toml", "adapters"];

/// What a copy holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Backup {
    /// The program that made it.
    pub version: String,
    /// The schema of its database.
    pub schema: i64,
    /// When it was made.
    pub made_at: Timestamp,
    /// Articles in it.
    pub articles: u64,
    /// Files in it, the database not counted.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
    /// sha256 of the database, in hex.
    pub database: String,
}

impl SqliteStore {
    /// Copies rows and files into a directory that is new or empty, while others go on writing.
    pub async fn backup(&self, to: impl Into<PathBuf>, now: Timestamp) -> Result<Backup, StoreError> {
        let (store, to) = (self.clone(), to.into());
        blocking(move || store.backup_now(&to, now)).await
    }

    fn backup_now(&self, to: &Path, now: Timestamp) -> Result<Backup, StoreError> {
        must_be_free(to)?;
        fs::create_dir_all(to).map_err(|error| StoreError::io(to, error))?;
        let root = self.files().root();
        if to.canonicalize().is_ok_and(|to| to.starts_with(root)) {
            let reason = format!("{} lies in the data directory; choose a place outside of it", to.display());
            return Err(StoreError::Refused { reason });
        }
        let database = to.join(DATABASE);
        {
            let live = connect(&root.join(DATABASE), Durability::Process)?;
            let failed = |error| StoreError::sql(&database, "copied its rows", error);
            live.execute("VACUUM INTO ?", [database.to_string_lossy()]).map_err(failed)?;
        }
        let mut made = Backup {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            schema: 0,
            made_at: now,
            articles: 0,
            files: 0,
            bytes: 0,
            database: String::new(),
        };
        {
            let copy = connect(&database, Durability::Process)?;
            self.copy_files(&copy, to, &mut made)?;
            let failed = |error| StoreError::sql(&database, "read its copy", error);
            made.schema = copy.pragma_query_value(None, "user_version", |row| row.get(0)).map_err(failed)?;
            let articles: i64 =
                copy.query_row("SELECT count(*) FROM article", [], |row| row.get(0)).map_err(failed)?;
            made.articles = articles.unsigned_abs();
            // One tidy file, whose hash says all.
            copy.pragma_update(None, "journal_mode", "delete").map_err(failed)?;
        }
        for name in SETTINGS {
            copy_all(&root.join(name), &to.join(name), &mut made)?;
        }
        made.database = hash_of(&database)?;
        let manifest = to.join(MANIFEST);
        let text = serde_json::to_vec_pretty(&made).unwrap_or_default();
        fs::write(&manifest, text).map_err(|error| StoreError::io(&manifest, error))?;
        settle(to)?;
        Ok(made)
    }

    fn copy_files(&self, copy: &Connection, to: &Path, made: &mut Backup) -> Result<(), StoreError> {
        let root = self.files().root().to_path_buf();
        let failed = |error| StoreError::sql(&to.join(DATABASE), "read its copy", error);
        let live = connect(&root.join(DATABASE), Durability::Process)?;
        let mut named = copy
            .prepare(
                "SELECT id, raw_html_path, NULL FROM article WHERE raw_html_path IS NOT NULL
                 UNION ALL SELECT id, text_path, NULL FROM article WHERE text_path IS NOT NULL
                 UNION ALL SELECT article_id, file_path, sha256 FROM attachment WHERE file_path IS NOT NULL
                 UNION ALL SELECT article_id, 'blobs/' || substr(sha256, 1, 2) || '/' || sha256, NULL FROM article_version",
            )
            .map_err(failed)?;
        let rows = named
            .query_map([], |row| {
                Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?, row.get::<_, Option<String>>(2)?))
            })
            .map_err(failed)?;
        let mut gone = Vec::new();
        for row in rows {
            let (article, rel, sha256) = row.map_err(failed)?;
            let (from, at) = (self.files().os_path(&rel)?, to.join(layout::checked(&rel)?));
            let copied = match &sha256 {
                Some(sha256) => copy_shared(&from, &to.join(layout::blob_path(sha256)), &at, made),
                None => copy_one(&from, &at, made),
            };
            match copied {
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    let there = live
                        .prepare_cached("SELECT 1 FROM article WHERE id = ?")
                        .and_then(|mut live| live.query_row([article], |_| Ok(())).optional())
                        .map_err(failed)?;
                    // A file that was missing before is missing in the copy too: `check` says so of both.
                    if there.is_none() {
                        gone.push(article);
                    }
                }
                Err(error) => return Err(StoreError::io(&at, error)),
            }
        }
        for article in gone {
            copy.execute("DELETE FROM article WHERE id = ?", params![article]).map_err(failed)?;
        }
        Ok(())
    }
}

/// Brings a copy back into a data directory that does not exist or is empty, and checks it there.
pub async fn restore(from: impl Into<PathBuf>, to: impl Into<PathBuf>) -> Result<Backup, StoreError> {
    let (from, to) = (from.into(), to.into());
    let target = to.clone();
    let made = blocking(move || restore_now(&from, &target)).await?;
    let files = Files::open(&to, Durability::Power)?;
    let store = SqliteStore::open(files)?;
    // Whoever was at work when the copy was made is at work on the store that was copied: here all of it waits again.
    let held = store.leases().await?.iter().map(|lease| (lease.token, lease.job.unwrap_or(0))).collect();
    store.give_back(held, SystemClock.now()).await?;
    let problems = store.check().await?;
    match problems.as_slice() {
        [] => Ok(made),
        [first, rest @ ..] => {
            let reason = format!(
                "it was restored, but {first} (and {} more); `dibao db check` lists them",
                rest.len()
            );
            Err(StoreError::Corrupt { path: to, reason })
        }
    }
}

fn restore_now(from: &Path, to: &Path) -> Result<Backup, StoreError> {
    let manifest = from.join(MANIFEST);
    let text = fs::read(&manifest).map_err(|error| StoreError::io(&manifest, error))?;
    let made: Backup = serde_json::from_slice(&text)
        .map_err(|error| StoreError::Corrupt { path: manifest.clone(), reason: error.to_string() })?;
    let database = from.join(DATABASE);
    if hash_of(&database)? != made.database {
        let reason = "it is not the database that was copied: its sha256 differs".to_owned();
        return Err(StoreError::Corrupt { path: database, reason });
    }
    must_be_free(to)?;
    // Beside it first: what is cut off leaves nothing that looks like a store.
    let name = to.file_name().map_or_else(|| "data".into(), |name| name.to_os_string());
    let beside = to.with_file_name(format!("{}.restoring", name.to_string_lossy()));
    if beside.exists() {
        fs::remove_dir_all(&beside).map_err(|error| StoreError::io(&beside, error))?;
    }
    let mut counted = Backup { files: 0, bytes: 0, ..made.clone() };
    copy_all(from, &beside, &mut counted)?;
    let _ = fs::remove_file(beside.join(MANIFEST));
    settle(&beside)?;
    if to.exists() {
        fs::remove_dir(to).map_err(|error| StoreError::io(to, error))?;
    }
    fs::rename(&beside, to).map_err(|error| StoreError::io(to, error))?;
    Ok(made)
}

/// New, or an empty directory: neither a store that is in use nor anything else is written over.
fn must_be_free(dir: &Path) -> Result<(), StoreError> {
    let refused = |what: &str| StoreError::Refused {
        reason: format!("{} {what}; name a directory that is new or empty", dir.display()),
    };
    match fs::read_dir(dir) {
        Ok(entries) => match entries.count() {
            0 => Ok(()),
            _ => Err(refused("is not empty")),
        },
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => Err(refused("is a file")),
        Err(error) => Err(StoreError::io(dir, error)),
    }
}

fn copy_one(from: &Path, to: &Path, made: &mut Backup) -> io::Result<()> {
    if let Some(dir) = to.parent() {
        fs::create_dir_all(dir)?;
    }
    made.bytes += fs::copy(from, to)?;
    made.files += 1;
    Ok(())
}

/// Equal contents are one file in the copy as well.
fn copy_shared(from: &Path, blob: &Path, to: &Path, made: &mut Backup) -> io::Result<()> {
    if !blob.exists() {
        copy_one(from, blob, made)?;
    }
    if let Some(dir) = to.parent() {
        fs::create_dir_all(dir)?;
    }
    if fs::hard_link(blob, to).is_err() {
        fs::copy(blob, to)?;
    }
    made.files += 1;
    Ok(())
}

/// A file or a tree, when it is there. Files with several names keep them.
fn copy_all(from: &Path, to: &Path, made: &mut Backup) -> Result<(), StoreError> {
    let mut linked = std::collections::HashMap::new();
    copy_tree(from, to, made, &mut linked).map_err(|error| StoreError::io(to, error))
}

fn copy_tree(
    from: &Path,
    to: &Path,
    made: &mut Backup,
    linked: &mut std::collections::HashMap<u64, PathBuf>,
) -> io::Result<()> {
    let about = match fs::symlink_metadata(from) {
        Ok(about) => about,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    if about.is_dir() {
        fs::create_dir_all(to)?;
        for entry in fs::read_dir(from)? {
            let entry = entry?;
            copy_tree(&entry.path(), &to.join(entry.file_name()), made, linked)?;
        }
        return Ok(());
    }
    if !about.is_file() {
        return Ok(());
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        if about.nlink() > 1 {
            if let Some(first) = linked.get(&about.ino())
                && fs::hard_link(first, to).is_ok()
            {
                made.files += 1;
                return Ok(());
            }
            linked.insert(about.ino(), to.to_path_buf());
        }
    }
    copy_one(from, to, made)
}

fn hash_of(file: &Path) -> Result<String, StoreError> {
    let failed = |error| StoreError::io(file, error);
    let mut open = fs::File::open(file).map_err(failed)?;
    let mut hash = Sha256::new();
    let mut piece = vec![0; 1 << 20];
    loop {
        match io::Read::read(&mut open, &mut piece).map_err(failed)? {
            0 => return Ok(hex(&hash.finalize())),
            read => hash.update(&piece[..read]),
        }
    }
}

/// Everything to the disk.
fn settle(dir: &Path) -> Result<(), StoreError> {
    #[cfg(target_os = "linux")]
    fs::File::open(dir)
        .and_then(|dir| rustix::fs::syncfs(&dir).map_err(io::Error::from))
        .map_err(|error| StoreError::io(dir, error))?;
    #[cfg(not(target_os = "linux"))]
    let _ = dir;
    Ok(())
}
