//! A directory of adapters and its lock: decides which bytes may be loaded.
//!
//! Only bytes whose hash the operator pinned are ever given to the host; the bytes that were hashed are the bytes that
//! are loaded.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};

use super::inspect::{inspect, sha256_hex};
use super::lock::{Lock, Pin};
use super::{Adapter, AdapterError, AdapterHost, Limits, validate};

/// A directory with `*.wasm` files and `adapters.lock`.
#[derive(Clone, Debug)]
pub struct Registry {
    dir: PathBuf,
}

/// An adapter that is in the directory or in the lock.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Entry {
    /// By the file's name.
    pub name: String,
    /// Where it is or should be.
    pub path: PathBuf,
    /// In bytes; none when the file is missing.
    pub size: Option<u64>,
    /// Whether it may be loaded.
    pub state: PinState,
    /// What the operator grants.
    pub granted: Vec<String>,
    /// Memory the operator grants instead of the default.
    pub memory_mib: Option<u32>,
}

/// How a file stands to its pin.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case", tag = "state")]
pub enum PinState {
    /// The bytes are the approved ones.
    Pinned {
        /// Their hash.
        sha256: String,
    },
    /// The bytes are others.
    Changed {
        /// The hash in the lock.
        pinned: String,
        /// The hash of the file.
        actual: String,
    },
    /// Nobody approved it.
    Unpinned {
        /// The hash of the file.
        actual: String,
    },
    /// In the lock, but not in the directory.
    Missing,
}

/// An adapter with what the operator grants it.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// Ready for turns.
    pub adapter: Adapter,
    /// Hosts; the effective grant is what the adapter wants and is granted.
    pub granted: Vec<String>,
}

impl Registry {
    /// Opens a directory; it must exist and its lock, when there is one, must be readable.
    pub fn open(dir: impl Into<PathBuf>) -> Result<Registry, AdapterError> {
        let dir = dir.into();
        std::fs::read_dir(&dir).map_err(|source| AdapterError::Io { path: dir.clone(), source })?;
        Lock::read(&dir)?;
        Ok(Registry { dir })
    }

    /// The directory.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Everything in the directory and in the lock, by name.
    pub fn entries(&self) -> Result<Vec<Entry>, AdapterError> {
        let lock = Lock::read(&self.dir)?;
        let io = |source| AdapterError::Io { path: self.dir.clone(), source };
        let mut files: BTreeMap<String, PathBuf> = BTreeMap::new();
        for (name, pin) in &lock.adapters {
            files.insert(name.clone(), self.dir.join(&pin.file));
        }
        for found in std::fs::read_dir(&self.dir).map_err(io)? {
            let path = found.map_err(io)?.path();
            if path.extension().is_some_and(|extension| extension == "wasm") {
                let pinned = lock
                    .adapters
                    .values()
                    .any(|pin| path.file_name().is_some_and(|f| f == pin.file.as_str()));
                if let (false, Ok(name)) = (pinned, name_of(&path)) {
                    files.entry(name).or_insert(path);
                }
            }
        }
        files.into_iter().map(|(name, path)| entry(name, path, &lock)).collect()
    }

    /// Loads a pinned adapter by name. Site files may write `gov_cn_policy` for `gov-cn-policy`, as S2-24 does.
    pub fn load(&self, host: &AdapterHost, name: &str) -> Result<Loaded, AdapterError> {
        let name = name.replace('_', "-");
        let name = name.as_str();
        let lock = Lock::read(&self.dir)?;
        let Some(pin) = lock.adapters.get(name) else {
            let entries = self.entries()?;
            if let Some(Entry { path, state: PinState::Unpinned { actual }, .. }) =
                entries.iter().find(|entry| entry.name == name)
            {
                return Err(AdapterError::Unpinned { file: path.clone(), actual: actual.clone() });
            }
            return Err(self.unknown(name, &entries));
        };
        let path = self.dir.join(&pin.file);
        if !path.exists() {
            return Err(AdapterError::Missing { name: name.into(), file: path });
        }
        let bytes = read(&path, host.limits().component_bytes)?;
        let actual = sha256_hex(&bytes);
        if actual != pin.sha256 {
            return Err(AdapterError::Changed { file: path, pinned: pin.sha256.clone(), actual });
        }
        let origin = path.display().to_string();
        let adapter = host.load_with_memory(&bytes, &origin, pin.memory_mib)?;
        if adapter.about().name != name {
            return Err(AdapterError::Misnamed { origin, name: adapter.about().name.clone() });
        }
        Ok(Loaded { adapter, granted: pin.hosts.clone() })
    }

    /// Loads an adapter whether or not its bytes are those of its pin: for development. One without a pin gets the hosts of its
    /// sites.
    pub(super) fn load_unpinned(&self, host: &AdapterHost, name: &str) -> Result<Loaded, AdapterError> {
        let lock = Lock::read(&self.dir)?;
        let pin = lock.adapters.get(name);
        let path = self.file_of(name)?;
        let bytes = read(&path, host.limits().component_bytes)?;
        let origin = path.display().to_string();
        let adapter = host.load_with_memory(&bytes, &origin, pin.and_then(|pin| pin.memory_mib))?;
        if adapter.about().name != name {
            return Err(AdapterError::Misnamed { origin, name: adapter.about().name.clone() });
        }
        let granted = pin.map_or_else(|| vec!["site".to_owned()], |pin| pin.hosts.clone());
        Ok(Loaded { adapter, granted })
    }

    /// Where the file of an adapter is, by the lock or by its name.
    pub(super) fn file_of(&self, name: &str) -> Result<PathBuf, AdapterError> {
        let entries = self.entries()?;
        match entries.iter().find(|entry| entry.name == name) {
            Some(entry) if entry.size.is_some() => Ok(entry.path.clone()),
            Some(entry) => Err(AdapterError::Missing { name: name.into(), file: entry.path.clone() }),
            None => Err(self.unknown(name, &entries)),
        }
    }

    fn unknown(&self, name: &str, entries: &[Entry]) -> AdapterError {
        let known: Vec<_> = entries.iter().map(|entry| entry.name.as_str()).collect();
        let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
        AdapterError::Unknown { name: name.into(), dir: self.dir.clone(), known }
    }

    /// Approves the bytes of a file in this directory (a bare name, or a path to it). `hosts` replaces the grant;
    /// none keeps it, and grants a new adapter the hosts of its sites only.
    pub fn pin(&self, file: impl AsRef<Path>, hosts: Option<Vec<String>>) -> Result<Entry, AdapterError> {
        let path = self.dir.join(file.as_ref().file_name().unwrap_or_default());
        let name = name_of(&path)?;
        let limit = Limits::default().component_bytes;
        let bytes = read(&path, limit)?;
        // What could never be loaded is not approved either.
        let inspection = inspect(&bytes, &path.display().to_string(), limit)?;
        let mut lock = Lock::read(&self.dir)?;
        let old = lock.adapters.remove(&name);
        let (old_hosts, memory_mib) =
            old.map_or((vec!["site".to_owned()], None), |pin| (pin.hosts, pin.memory_mib));
        let hosts = hosts.unwrap_or(old_hosts);
        if let Some(host) = hosts.iter().find(|host| !validate::is_host_pattern(host)) {
            let reason =
                format!("host {host:?} is not `site`, `*`, `https://host[:port]` or `https://*.domain`");
            return Err(AdapterError::Lock { file: self.dir.join(super::lock::LOCK_FILE), reason });
        }
        let file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        lock.adapters.insert(name.clone(), Pin { file, sha256: inspection.sha256, hosts, memory_mib });
        lock.write(&self.dir)?;
        entry(name, path, &lock)
    }
}

fn entry(name: String, path: PathBuf, lock: &Lock) -> Result<Entry, AdapterError> {
    let pin = lock.adapters.get(&name);
    let size = std::fs::metadata(&path).ok().map(|meta| meta.len());
    let actual = match size {
        Some(_) => Some(sha256_hex(&read(&path, Limits::default().component_bytes)?)),
        None => None,
    };
    let state = match (actual, pin) {
        (None, _) => PinState::Missing,
        (Some(actual), None) => PinState::Unpinned { actual },
        (Some(actual), Some(pin)) if actual == pin.sha256 => PinState::Pinned { sha256: actual },
        (Some(actual), Some(pin)) => PinState::Changed { pinned: pin.sha256.clone(), actual },
    };
    let granted = pin.map(|pin| pin.hosts.clone()).unwrap_or_default();
    Ok(Entry { name, path, size, state, granted, memory_mib: pin.and_then(|pin| pin.memory_mib) })
}

/// The adapter's name by its file: cargo writes hyphens as underscores.
fn name_of(path: &Path) -> Result<String, AdapterError> {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy().replace('_', "-");
    if path.extension().is_some_and(|extension| extension == "wasm") && validate::is_name(&stem) {
        return Ok(stem);
    }
    let message = "an adapter's file is called NAME.wasm, NAME of lower-case letters, digits and hyphens";
    Err(AdapterError::Io {
        path: path.into(),
        source: std::io::Error::new(std::io::ErrorKind::InvalidInput, message),
    })
}

/// Reads a file that may be no larger than `limit`.
fn read(path: &Path, limit: usize) -> Result<Vec<u8>, AdapterError> {
    let io = |source| AdapterError::Io { path: path.into(), source };
    let mut bytes = Vec::new();
    let file = std::fs::File::open(path).map_err(io)?;
    file.take(limit as u64 + 1).read_to_end(&mut bytes).map_err(io)?;
    if bytes.len() > limit {
        let origin = path.display().to_string();
        return Err(AdapterError::TooLarge { origin, size: bytes.len(), limit });
    }
    Ok(bytes)
}
