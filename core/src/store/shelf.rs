//! Lends the store to the gate as the place where what it knows of hosts outlives the process.

use std::sync::Arc;

use futures::future::BoxFuture;

use super::Store;
use crate::fetch::robots::{Origin, RobotsCopy, RobotsShelf};

/// A store as a shelf. What it cannot keep is logged, and only asked for again.
pub struct StoreShelf(Arc<dyn Store>);

impl StoreShelf {
    /// A shelf in this store.
    pub fn new(store: Arc<dyn Store>) -> StoreShelf {
        StoreShelf(store)
    }
}

impl RobotsShelf for StoreShelf {
    fn load<'a>(&'a self, origin: &'a Origin) -> BoxFuture<'a, Option<RobotsCopy>> {
        Box::pin(async move {
            self.0.robots(origin).await.unwrap_or_else(|error| {
                tracing::warn!(%origin, "the copy of robots.txt could not be read: {error}");
                None
            })
        })
    }

    fn save<'a>(&'a self, origin: &'a Origin, copy: &'a RobotsCopy) -> BoxFuture<'a, ()> {
        Box::pin(async move {
            if let Err(error) = self.0.save_robots(origin, copy).await {
                tracing::warn!(%origin, "robots.txt could not be kept: {error}");
            }
        })
    }
}
