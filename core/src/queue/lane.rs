//! A slot of a lane for work that is no job: a crawl that somebody makes by hand takes its turn on the host as jobs do.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::handler::Life;
use super::job::Job;
use super::keeper::{Held, Keeper};
use super::owner;
use super::table::LeaseState;
use super::worker::{Queue, WorkOptions};
use crate::Result;
use crate::store::Store;

/// How soon it is looked whether a slot is free, at first and at most.
const LOOK: (Duration, Duration) = (Duration::from_millis(20), Duration::from_millis(500));

/// A slot of a lane; it is given back when this is dropped.
pub struct LaneHold {
    queue: Queue,
    keeper: Arc<Keeper>,
    token: i64,
    released: bool,
}

impl LaneHold {
    /// The store, under this lease.
    pub fn store(&self) -> Arc<dyn Store> {
        self.queue.store().fenced(self.token)
    }

    /// Gives it back, and waits until that is done: for programs that end next.
    pub async fn release(mut self) {
        self.released = true;
        self.give_back().await;
    }

    fn give_back(&self) -> impl Future<Output = ()> + Send + 'static {
        self.keeper.drop_lease(self.token);
        let (queue, token) = (self.queue.clone(), self.token);
        async move {
            if let Err(error) = queue.table().give_back(vec![(token, 0)], queue.now()).await {
                // It runs out by itself.
                tracing::warn!(token, %error, "a lane could not be given back");
            }
            queue.ring();
        }
    }
}

impl Drop for LaneHold {
    fn drop(&mut self) {
        if self.released {
            return;
        }
        let give_back = self.give_back();
        match tokio::runtime::Handle::try_current() {
            Ok(runtime) => drop(runtime.spawn(give_back)),
            Err(_) => futures::executor::block_on(give_back),
        }
    }
}

impl Queue {
    /// Takes a slot of a lane, before the jobs that wait there, and waits until one is free. `told` hears once of everybody
    /// who is at work there, with his job if it is one; an error of his ends the wait.
    pub async fn take_lane(
        &self,
        lane: &str,
        mut told: impl FnMut(&LeaseState, Option<&Job>) -> Result<()> + Send,
    ) -> Result<LaneHold> {
        let options = WorkOptions::default();
        let keeper = self.keep(options.lease)?;
        let until = self.steady().after(options.lease);
        let token = self.table().reserve(lane, &self.owner(), until, self.now()).await?;
        let (stop, lost) = (CancellationToken::new(), CancellationToken::new());
        let held = Held {
            job: 0,
            life: Life::begins(),
            no_progress: Duration::MAX,
            suspect: false,
            ending: false,
            stop,
            lost,
        };
        keeper.hold(token, held);
        let hold = LaneHold { queue: self.clone(), keeper, token, released: false };
        let (mut pause, longest) = LOOK;
        let mut known = HashSet::new();
        while !self.table().enter(token).await? {
            // Whoever has it may be dead.
            self.collect(options.max_stalled).await?;
            for lease in self.table().leases().await? {
                if lease.lane == lane && !lease.waiting && known.insert(lease.token) {
                    let job = match lease.job {
                        Some(id) => self.table().job(id).await?,
                        None => None,
                    };
                    told(&lease, job.as_ref())?;
                }
            }
            tokio::time::sleep(pause).await;
            pause = (2 * pause).min(longest);
        }
        Ok(hold)
    }

    fn owner(&self) -> String {
        owner::name(self.entropy())
    }
}
