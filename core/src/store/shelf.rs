//! Lends the store to the gate as the place where what it knows of hosts outlives the process.

use std::sync::Arc;

use futures::future::BoxFuture;

use super::Store;
use crate::clock::Clock;
use crate::fetch::HostShelf;
use crate::fetch::hosts::HostRow;
use crate::fetch::reserve::{Reserved, Wish};
use crate::fetch::robots::{Origin, RobotsCopy, RobotsShelf};

/// A store as a shelf. What it cannot keep is logged, and only asked for again.
pub struct StoreShelf {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
}

impl StoreShelf {
    /// A shelf in this store.
    pub fn new(store: Arc<dyn Store>, clock: Arc<dyn Clock>) -> StoreShelf {
        StoreShelf { store, clock }
    }
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
            if let Err(error) = self.store.save_robots(origin, copy).await {
                tracing::warn!(%origin, "robots.txt could not be kept: {error}");
            }
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
            let saved = self.store.save_hosts(rows.to_vec(), self.clock.now()).await;
            if let Err(error) = &saved {
                tracing::warn!(hosts = rows.len(), "what is known of hosts could not be stored: {error}");
            }
            saved.is_ok()
        })
    }

    fn reserve<'a>(&'a self, host: &'a str, wish: Wish) -> BoxFuture<'a, Option<Reserved>> {
        Box::pin(async move {
            self.store.reserve_start(host, wish).await.unwrap_or_else(|error| {
                tracing::warn!(%host, "the start of a request could not be stored: {error}");
                Some(Reserved::Go)
            })
        })
    }
}
