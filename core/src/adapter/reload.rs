//! Development mode: an adapter whose file may change while it is used.
//!
//! Before a turn the file is looked at; changed bytes are loaded anew, without a pin, and turns that began before finish on the
//! component they began with. Bytes that cannot be loaded (a file half written, a mistake) leave the old component in use.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use super::{AdapterError, AdapterHost, Loaded, Registry};

/// Length and time of a file: cheap to ask for before every turn.
type Stamp = Option<(u64, SystemTime)>;

/// An adapter in development.
pub(crate) struct Live {
    registry: Registry,
    host: AdapterHost,
    name: String,
    file: PathBuf,
    kept: Mutex<(Stamp, Loaded)>,
}

impl Live {
    /// Loads an adapter as its file is now, pinned or not.
    pub fn load(registry: &Registry, host: &AdapterHost, name: &str) -> Result<Live, AdapterError> {
        let file = registry.file_of(name)?;
        // Before the bytes: a change between the two is seen next time.
        let stamp = stamp(&file);
        let loaded = registry.load_unpinned(host, name)?;
        let kept = Mutex::new((stamp, loaded));
        Ok(Live { registry: registry.clone(), host: host.clone(), name: name.to_owned(), file, kept })
    }

    /// The adapter as its file is now. May compile: not for threads that drive async tasks.
    pub fn current(&self) -> Loaded {
        // Whoever comes meanwhile waits for the new one instead of compiling it too.
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let now = stamp(&self.file);
        if now.is_none() || now == kept.0 {
            return kept.1.clone();
        }
        kept.0 = now;
        match self.registry.load_unpinned(&self.host, &self.name) {
            Ok(loaded) if loaded.adapter.sha256() == kept.1.adapter.sha256() => {}
            Ok(loaded) => {
                tracing::info!(adapter = %self.name, sha256 = %loaded.adapter.sha256(), "loaded anew: its file has changed");
                kept.1 = loaded;
            }
            Err(error) => {
                tracing::warn!(adapter = %self.name, "its file has changed, the old one stays in use: {error}")
            }
        }
        kept.1.clone()
    }
}

fn stamp(file: &std::path::Path) -> Stamp {
    let meta = std::fs::metadata(file).ok()?;
    Some((meta.len(), meta.modified().ok()?))
}

#[cfg(test)]
#[path = "../../tests/hostile/make.rs"]
#[allow(dead_code, missing_docs, reason = "the sandbox's own tests use the rest")]
mod make;

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::adapter::contract::Context;
    use crate::adapter::{Adapter, Call, HostOptions, Step};

    /// An adapter that asks for one address.
    fn asks_for(url: &str) -> Vec<u8> {
        make::Guest { name: "news", ..make::requests(&[("list", url)]) }.build()
    }

    fn asked(adapter: &Adapter) -> String {
        let context = Context {
            target: "a__b".into(),
            base: "https://a.gov.cn".into(),
            config: "{}".into(),
            session: vec![],
            now: 0,
            seed: vec![0; 32],
        };
        adapter.turn(&context, Call::List { cursor: None }, Arc::default(), |turn, _| {
            match turn.unwrap().step {
                Step::Fetch(requests) => requests[0].url.clone(),
                other => panic!("{other:?}"),
            }
        })
    }

    #[test]
    fn a_changed_file_is_loaded_anew_and_whoever_has_the_old_component_keeps_it() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("news.wasm");
        std::fs::write(&file, asks_for("/old")).unwrap();
        let registry = Registry::open(dir.path()).unwrap();
        let host = AdapterHost::new(HostOptions::default()).unwrap();
        let live = Live::load(&registry, &host, "news").unwrap();
        let old = live.current().adapter;
        assert_eq!(live.current().granted, ["site"]);

        std::fs::write(&file, asks_for("/newer")).unwrap();
        let new = live.current().adapter;
        assert_eq!((asked(&old).as_str(), asked(&new).as_str()), ("/old", "/newer"));

        for broken in [&b"\0asm"[..], b"", &asks_for("/newest")[..500]] {
            std::fs::write(&file, broken).unwrap();
            assert_eq!(asked(&live.current().adapter), "/newer", "the last good one stays");
        }
        std::fs::remove_file(&file).unwrap();
        assert_eq!(asked(&live.current().adapter), "/newer");
        std::fs::write(&file, asks_for("/newest")).unwrap();
        assert_eq!(asked(&live.current().adapter), "/newest");
    }
}
