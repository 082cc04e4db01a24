//! From bytes to an [`Adapter`]: compile, link, ask it to describe itself, check the answer.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use wasmtime::component::Component;

use super::AdapterError;
use super::bindings::AdapterPre;
use super::contract::About;
use super::host::Inner;
use super::inspect::Inspection;
use super::state::State;
use super::{schema, turn, validate};

/// A loaded adapter. Cheap to clone; every turn has an instance of its own.
#[derive(Clone)]
pub struct Adapter {
    pub(super) inner: Arc<Loaded>,
}

pub(super) struct Loaded {
    pub host: Arc<Inner>,
    pub pre: AdapterPre<State>,
    pub about: About,
    pub inspection: Inspection,
    pub memory: usize,
    pub deadline: Duration,
    /// By target: traps since the last step that came to an end, and the last one's reason.
    pub traps: Mutex<BTreeMap<String, (u32, String)>>,
    schema: jsonschema::Validator,
    compile_time: Duration,
}

pub(super) fn load(
    host: &Arc<Inner>,
    bytes: &[u8],
    origin: &str,
    inspection: Inspection,
    memory_mib: Option<u32>,
) -> Result<Adapter, AdapterError> {
    let limits = &host.limits;
    let interpreted = inspection.interpreted;
    let memory = match memory_mib {
        Some(mib) => (mib as usize).saturating_mul(1 << 20),
        None if interpreted => limits.interpreted_memory,
        None => limits.memory,
    };
    let deadline = if interpreted { limits.interpreted_deadline } else { limits.deadline };
    let room = host.room(interpreted, memory);

    let started = Instant::now();
    let component = Component::new(&room.engine, bytes)
        .map_err(|error| AdapterError::Compile { origin: origin.into(), reason: format!("{error:#}") })?;
    let compile_time = started.elapsed();
    let link =
        |error: wasmtime::Error| AdapterError::Link { origin: origin.into(), reason: format!("{error:#}") };
    let pre = AdapterPre::new(room.linker.instantiate_pre(&component).map_err(link)?).map_err(link)?;

    let seat = turn::Seat { host, pre: &pre, memory, deadline, interpreted };
    let about = seat.describe().map_err(|(kind, reason)| AdapterError::Describe {
        origin: origin.into(),
        kind,
        reason,
    })?;
    let bad = |(field, reason): (&'static str, String)| AdapterError::About {
        origin: origin.into(),
        field,
        reason,
    };
    let config_schema = validate::about(&about).map_err(bad)?;
    let schema = schema::compile(&config_schema).map_err(|reason| bad(("config-schema", reason)))?;

    let host = Arc::clone(host);
    let traps = Mutex::default();
    let loaded = Loaded { host, pre, about, inspection, memory, deadline, traps, schema, compile_time };
    Ok(Adapter { inner: Arc::new(loaded) })
}

impl Adapter {
    /// What the adapter says of itself.
    pub fn about(&self) -> &About {
        &self.inner.about
    }

    /// What its bytes said before it was compiled.
    pub fn inspection(&self) -> &Inspection {
        &self.inner.inspection
    }

    /// Hash of its bytes.
    pub fn sha256(&self) -> &str {
        &self.inner.inspection.sha256
    }

    /// How long it took to compile, or to read from the cache.
    pub fn compile_time(&self) -> Duration {
        self.inner.compile_time
    }

    /// Whether `settings` fit the schema of `describe()`; the first misfit is named.
    pub fn check_config(&self, settings: &serde_json::Value) -> Result<(), AdapterError> {
        match self.inner.schema.iter_errors(settings).next() {
            None => Ok(()),
            Some(error) => Err(AdapterError::Settings {
                adapter: self.inner.about.name.clone(),
                at: match error.instance_path().as_str() {
                    "" => "/".to_owned(),
                    path => path.to_owned(),
                },
                reason: error.to_string(),
            }),
        }
    }
}

impl std::fmt::Debug for Adapter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Adapter({} {}, {})", self.inner.about.name, self.inner.about.version, self.sha256())
    }
}
