//! Lends the store to the gate as the place where what it knows of hosts outlives the process.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use futures::future::BoxFuture;

use super::{Store, StoreError};
use crate::clock::Clock;
use crate::fetch::HostShelf;
use crate::fetch::hosts::HostRow;
use crate::fetch::reserve::{Reserved, Wish};
use crate::fetch::robots::{Origin, RobotsCopy, RobotsShelf};

/// Who works on a host: a number of its own, and the store it writes through.
type Keeper = (u64, Arc<dyn Store>);

/// A store as a shelf. What it cannot keep is logged, and only asked for again.
pub struct StoreShelf {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    entrusted: Mutex<HashMap<String, Vec<Keeper>>>,
    next: AtomicU64,
}

impl StoreShelf {
    /// A shelf in this store.
    pub fn new(store: Arc<dyn Store>, clock: Arc<dyn Clock>) -> StoreShelf {
        StoreShelf { store, clock, entrusted: Mutex::default(), next: AtomicU64::new(0) }
    }

    /// Until this is dropped, what is known of a host is written through this store: that of a job, under the lease on the
    /// host's lane. What it refuses, because the lease is gone, is not written at all: whoever has the lane knows better.
    pub fn entrust(self: &Arc<Self>, host: &str, store: Arc<dyn Store>) -> Entrusted {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        lock(&self.entrusted).entry(host.to_owned()).or_default().push((number, store));
        Entrusted { shelf: self.clone(), host: host.to_owned(), number }
    }

    /// The store of whoever works on a host now.
    fn keeper(&self, host: &str) -> Option<Arc<dyn Store>> {
        lock(&self.entrusted).get(host)?.last().map(|(_, store)| store.clone())
    }
}

/// See [`StoreShelf::entrust`].
pub struct Entrusted {
    shelf: Arc<StoreShelf>,
    host: String,
    number: u64,
}

impl Drop for Entrusted {
    fn drop(&mut self) {
        let mut entrusted = lock(&self.shelf.entrusted);
        if let Some(stores) = entrusted.get_mut(&self.host) {
            stores.retain(|(number, _)| *number != self.number);
            if stores.is_empty() {
                entrusted.remove(&self.host);
            }
        }
    }
}

/// Whether it need not be written once more: it is written, or the lease under which it was to be written is gone.
fn is_settled(what: &str, saved: Result<(), StoreError>) -> bool {
    match saved {
        Ok(()) => true,
        Err(StoreError::Fenced { token }) => {
            tracing::info!(
                what,
                token,
                "what is known of a host is not written: another worker has its lane"
            );
            true
        }
        Err(error) => {
            tracing::warn!(what, "what is known of hosts could not be stored: {error}");
            false
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

impl RobotsShelf for StoreShelf {
    fn load<'a>(&'a self, origin: &'a Origin) -> BoxFuture<'a, Option<RobotsCopy>> {
        Box::pin(async move {
            self.store.robots(origin).await.unwrap_or_else(|error| {
                tracing::warn!(%origin, "the copy of robots.txt could not be read: {error}");
                None
            })
        })
    }

    fn save<'a>(&'a self, origin: &'a Origin, copy: &'a RobotsCopy) -> BoxFuture<'a, ()> {
        Box::pin(async move {
            let url = url::Url::parse(origin.as_str()).ok();
            let keeper = url.as_ref().and_then(url::Url::host_str).and_then(|host| self.keeper(host));
            is_settled(
                origin.as_str(),
                keeper.as_ref().unwrap_or(&self.store).save_robots(origin, copy).await,
            );
        })
    }
}

impl HostShelf for StoreShelf {
    fn load<'a>(&'a self, host: &'a str) -> BoxFuture<'a, Option<HostRow>> {
        Box::pin(async move {
            self.store.host(host).await.unwrap_or_else(|error| {
                tracing::warn!(%host, "what is known of the host could not be read: {error}");
                None
            })
        })
    }

    fn save<'a>(&'a self, rows: &'a [(String, HostRow)]) -> BoxFuture<'a, bool> {
        Box::pin(async move {
            let (now, mut free, mut settled) = (self.clock.now(), Vec::new(), 0);
            for row in rows {
                match self.keeper(&row.0) {
                    None => free.push(row.clone()),
                    Some(store) => {
                        let saved = store.save_hosts(vec![row.clone()], now).await;
                        settled += usize::from(is_settled(&row.0, saved));
                    }
                }
            }
            let many = free.len();
            if many > 0 && is_settled("hosts", self.store.save_hosts(free, now).await) {
                settled += many;
            }
            // Of some that are stored nothing may come twice: rather a count of the others is lost.
            settled > 0
        })
    }

    // Not under a lease: that a request goes is news to everybody, whoever sends it.
    fn reserve<'a>(&'a self, host: &'a str, wish: Wish) -> BoxFuture<'a, Option<Reserved>> {
        Box::pin(async move {
            self.store.reserve_start(host, wish).await.unwrap_or_else(|error| {
                tracing::warn!(%host, "the start of a request could not be stored: {error}");
                Some(Reserved::Go)
            })
        })
    }
}
