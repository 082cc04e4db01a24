//! Development mode: which adapters are looked at anew before each turn. Off unless the builder says so.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};

use crate::adapter::{AdapterError, AdapterHost, Live, Loaded, Registry};

/// The adapters of the directory that were used so far; none: not in development.
pub(super) struct Development(Option<Mutex<HashMap<String, Arc<Live>>>>);

impl Development {
    /// On or off.
    pub fn new(on: bool) -> Development {
        Development(on.then(Mutex::default))
    }

    pub fn is_on(&self) -> bool {
        self.0.is_some()
    }

    /// An adapter that was loaded before; none when not in development.
    pub fn get(&self, name: &str) -> Option<Arc<Live>> {
        self.lock()?.get(name).cloned()
    }

    /// The adapter as its file is now; none when not in development.
    pub fn load(
        &self,
        registry: &Registry,
        host: &AdapterHost,
        name: &str,
    ) -> Result<Option<Loaded>, AdapterError> {
        let Some(mut known) = self.lock() else { return Ok(None) };
        let live = match known.get(name) {
            Some(live) => live.clone(),
            None => {
                let live = Arc::new(Live::load(registry, host, name)?);
                known.insert(name.to_owned(), live.clone());
                live
            }
        };
        drop(known);
        Ok(Some(live.current()))
    }

    fn lock(&self) -> Option<MutexGuard<'_, HashMap<String, Arc<Live>>>> {
        let known = self.0.as_ref()?;
        Some(known.lock().unwrap_or_else(|poisoned| poisoned.into_inner()))
    }
}
