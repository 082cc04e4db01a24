//! The lanes in which this engine crawls without a job. Its crawls of one host share a slot: their pace is one throttle's.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, Weak};

use tokio::sync::mpsc;

use super::work::{CRAWL, CrawlJob};
use super::{Engine, crawl_lane};
use crate::Result;
use crate::crawl::CrawlEvent;
use crate::error::Error;
use crate::fetch::Gate;
use crate::model::{Site, Target};
use crate::queue::{LaneHold, process};
use crate::store::{Entrusted, Store};

/// By name; whoever waits for a lane waits for the others of this engine with it.
pub(super) type Lanes = Mutex<HashMap<String, Arc<tokio::sync::Mutex<Weak<LaneHold>>>>>;

impl Engine {
    /// The right to crawl a target now: a slot of its host's lane (S2-46). Waits until there is one, and tells for whom; a
    /// target that is being crawled is an error at once.
    pub(super) async fn take_lane(
        &self,
        site: &Site,
        target: &Target,
        events: Option<&mpsc::Sender<CrawlEvent>>,
    ) -> Result<Arc<LaneHold>> {
        let lane = crawl_lane(site, target);
        let shared = {
            let mut lanes = self.inner.lanes.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            lanes.retain(|_, known| Arc::strong_count(known) > 1 || is_held(known));
            lanes.entry(lane.clone()).or_default().clone()
        };
        let mut held = shared.lock().await;
        if let Some(hold) = held.upgrade() {
            return Ok(hold);
        }
        let hold = self
            .queue()
            .take_lane(&lane, |lease, job| {
                let same = job.filter(|job| job.kind == CRAWL).is_some_and(|job| {
                    let asked = serde_json::from_value::<CrawlJob>(job.payload.clone());
                    asked.is_ok_and(|asked| asked.target == target.code)
                });
                if same {
                    return Err(Error::Busy(target.code.clone()));
                }
                let event = CrawlEvent::Waiting {
                    lane: lane.clone(),
                    process: process(&lease.owner).to_owned(),
                    job: lease.job,
                };
                // Who reads slowly knows already that nothing moves.
                if let Some(events) = events {
                    let _ = events.try_send(event);
                }
                Ok(())
            })
            .await?;
        let hold = Arc::new(hold);
        *held = Arc::downgrade(&hold);
        Ok(hold)
    }
}

/// The hosts of a crawl, whose pace and breaker are written under its lease until this is dropped.
pub(super) struct Hosts {
    gate: Gate,
    entrusted: Vec<Entrusted>,
}

impl Engine {
    /// What is known of a target's host is written through this store from now on.
    pub(super) fn entrust(&self, lane: String, key: String, store: &Arc<dyn Store>) -> Hosts {
        let mut hosts = vec![lane, key];
        hosts.dedup();
        let entrusted = hosts.iter().map(|host| self.inner.shelf.entrust(host, store.clone())).collect();
        Hosts { gate: self.gate().clone(), entrusted }
    }
}

impl Drop for Hosts {
    fn drop(&mut self) {
        // A crawl that was dropped leaves something to write, and so does one that lost its lease: that is refused.
        let (gate, entrusted) = (self.gate.clone(), std::mem::take(&mut self.entrusted));
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move {
                gate.flush().await;
                drop(entrusted);
            });
        }
    }
}

fn is_held(lane: &tokio::sync::Mutex<Weak<LaneHold>>) -> bool {
    lane.try_lock().is_ok_and(|held| held.strong_count() > 0)
}
