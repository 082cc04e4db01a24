//! Signs of life: how work deep inside tells whoever watches over it that it is not stuck.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// Hears that something is at work, and for how long it may be silent because what it waits for has a known end.
/// The default one hears nothing. Cheap to clone.
#[derive(Clone, Default)]
pub struct Pulse(Option<Arc<dyn Fn(Duration) + Send + Sync>>);

impl Pulse {
    /// One that calls this with each sign: nothing need be heard for so long.
    pub fn new(hear: impl Fn(Duration) + Send + Sync + 'static) -> Pulse {
        Pulse(Some(Arc::new(hear)))
    }

    /// It is at work.
    pub fn beat(&self) {
        self.rest(Duration::ZERO);
    }

    /// It is at work, and waits for something that ends after so long.
    pub fn rest(&self, silent: Duration) {
        if let Some(hear) = &self.0 {
            hear(silent);
        }
    }

    /// Whether anybody listens.
    pub fn is_heard(&self) -> bool {
        self.0.is_some()
    }
}

impl fmt::Debug for Pulse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_heard() { "Pulse(heard)" } else { "Pulse" })
    }
}
