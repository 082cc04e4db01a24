//! `adapters.lock`: which bytes the operator approved, and what they may reach.
//!
//! ```toml
//! [adapters.yaml-css]
//! file = "yaml-css.wasm"
//! sha256 = "…"
//! hosts = ["site"]
//! memory_mib = 128        # optional
//! ```

use std::collections::BTreeMap;
use std::io::{ErrorKind, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::{AdapterError, validate};

/// The file's name in the registry's directory.
pub(super) const LOCK_FILE: &str = "adapters.lock";

/// The memory an operator can grant: what 32-bit WebAssembly can address.
const MAX_MEMORY_MIB: u32 = 4096;

/// The whole file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Lock {
    #[serde(default)]
    pub adapters: BTreeMap<String, Pin>,
}

/// One approved file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Pin {
    pub file: String,
    pub sha256: String,
    #[serde(default)]
    pub hosts: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_mib: Option<u32>,
}

impl Lock {
    /// Reads and checks the lock of a directory; none is an empty one.
    pub fn read(dir: &Path) -> Result<Lock, AdapterError> {
        let file = dir.join(LOCK_FILE);
        let text = match std::fs::read_to_string(&file) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Lock::default()),
            Err(source) => return Err(AdapterError::Io { path: file, source }),
        };
        let lock: Lock = match toml::from_str(&text) {
            Ok(lock) => lock,
            Err(error) => return Err(AdapterError::Lock { file, reason: error.to_string() }),
        };
        match lock.adapters.iter().find_map(|(name, pin)| pin.misfit(name)) {
            Some(reason) => Err(AdapterError::Lock { file, reason }),
            None => Ok(lock),
        }
    }

    /// Writes the lock: a reader sees the old one or the new one, also after a crash.
    pub fn write(&self, dir: &Path) -> Result<(), AdapterError> {
        let file = dir.join(LOCK_FILE);
        let text = toml::to_string_pretty(self)
            .map_err(|error| AdapterError::Lock { file: file.clone(), reason: error.to_string() })?;
        let write = || -> std::io::Result<()> {
            let mut new = tempfile::NamedTempFile::new_in(dir)?;
            new.write_all(
                b"# Approved adapters. `dibao adapter pin FILE` writes it; hosts may be edited by hand.\n\n",
            )?;
            new.write_all(text.as_bytes())?;
            new.as_file().sync_all()?;
            new.persist(&file).map_err(|error| error.error)?;
            std::fs::File::open(dir)?.sync_all()
        };
        write().map_err(|source| AdapterError::Io { path: file.clone(), source })
    }
}

impl Pin {
    fn misfit(&self, name: &str) -> Option<String> {
        let at = format!("[adapters.{name}]");
        if !validate::is_name(name) {
            return Some(format!("{at}: a name has lower-case letters, digits and hyphens"));
        }
        if !is_bare_wasm(&self.file) {
            return Some(format!("{at}: file {:?} must be a .wasm file in the same directory", self.file));
        }
        if self.sha256.len() != 64
            || !self.sha256.bytes().all(|b| b.is_ascii_hexdigit() && !b.is_ascii_uppercase())
        {
            return Some(format!("{at}: sha256 must be 64 lower-case hex digits"));
        }
        if let Some(host) = self.hosts.iter().find(|host| !validate::is_host_pattern(host)) {
            return Some(format!(
                "{at}: host {host:?} is not `site`, `*`, `https://host[:port]` or `https://*.domain`"
            ));
        }
        if self.memory_mib.is_some_and(|mib| mib == 0 || mib > MAX_MEMORY_MIB) {
            return Some(format!("{at}: memory_mib must be 1 to {MAX_MEMORY_MIB}"));
        }
        None
    }
}

/// A file name without any directory.
fn is_bare_wasm(file: &str) -> bool {
    file.ends_with(".wasm") && Path::new(file).file_name().is_some_and(|name| name == file)
}
