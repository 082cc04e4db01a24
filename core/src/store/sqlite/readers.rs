//! Readers beside the writer: a few connections, used on the blocking pool, that see what is committed.

use std::path::Path;
use std::sync::{Arc, Mutex};

use rusqlite::Connection;
use tokio::sync::Semaphore;

use super::rows::Fault;
use crate::store::StoreError;
use crate::store::files::{Durability, blocking, lock};

/// Readers at once. Queries take well under a millisecond; more would only fight for the cores.
const READERS: usize = 4;

#[derive(Debug)]
pub(super) struct Readers {
    shared: Arc<Shared>,
    permits: Arc<Semaphore>,
}

#[derive(Debug)]
struct Shared {
    path: Arc<Path>,
    durability: Durability,
    idle: Mutex<Vec<Connection>>,
}

impl Readers {
    pub(super) fn new(path: Arc<Path>, durability: Durability) -> Readers {
        let shared = Shared { path, durability, idle: Mutex::default() };
        Readers { shared: Arc::new(shared), permits: Arc::new(Semaphore::new(READERS)) }
    }

    pub(super) async fn run<T, F>(&self, doing: &'static str, query: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> Result<T, Fault> + Send + 'static,
    {
        let permit = self.permits.clone().acquire_owned().await.map_err(|_| StoreError::Closed)?;
        let shared = self.shared.clone();
        blocking(move || {
            let _permit = permit;
            let idle = lock(&shared.idle).pop();
            let db = idle.map_or_else(|| shared.connect(), Ok)?;
            // One read transaction: a query of several statements sees one state of the store.
            let begun = db.execute_batch("BEGIN").map_err(Fault::from);
            let outcome = begun.and_then(|()| query(&db));
            let ended = db.execute_batch("COMMIT").map_err(Fault::from);
            let outcome = outcome.and_then(|value| ended.map(|()| value));
            if outcome.is_ok() {
                lock(&shared.idle).push(db);
            }
            outcome.map_err(|fault| fault.at(&shared.path, doing))
        })
        .await
    }
}

impl Shared {
    fn connect(&self) -> Result<Connection, StoreError> {
        let db = super::connect(&self.path, self.durability)?;
        db.pragma_update(None, "query_only", "on")
            .map_err(|error| StoreError::sql(&self.path, "opened a reader", error))?;
        Ok(db)
    }
}
