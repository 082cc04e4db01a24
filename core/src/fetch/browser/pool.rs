//! How many pages are open at once, and when a new process takes over from the old one: after so many pages, after so
//! long, above so much memory, or when it has ended by itself.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use serde_json::json;
use tokio::sync::{Mutex, Semaphore};
use tokio::time::{Instant, timeout};

use super::cdp::Cdp;
use super::find;
use super::launch::Process;
use super::options::BrowserOptions;
use super::relay::Relay;
use super::visit;
use crate::fetch::backend::{BackendOrder, BackendPage};
use crate::fetch::error::{FetchErrorKind, Phase};

/// Between two looks at the memory while a page is open.
const LOOK_EVERY: Duration = Duration::from_secs(1);

pub(super) struct Pool {
    tabs: Semaphore,
    relay: Relay,
    current: Arc<Mutex<Option<Arc<Chromium>>>>,
}

/// One process with its line. The last page that uses it ends it.
pub(super) struct Chromium {
    pub cdp: Cdp,
    process: Process,
    born: Instant,
    pages: AtomicU32,
    /// When its last page ended, in milliseconds since it was born.
    rested: AtomicU64,
}

impl Pool {
    pub fn new(options: &BrowserOptions) -> Result<Pool, String> {
        Ok(Pool {
            tabs: Semaphore::new(options.tabs.max(1)),
            relay: Relay::new().map_err(|why| format!("the browser's relay cannot be set up: {why}"))?,
            current: Arc::default(),
        })
    }

    pub async fn fetch(
        &self,
        options: &BrowserOptions,
        order: &BackendOrder<'_>,
    ) -> Result<BackendPage, FetchErrorKind> {
        // Waiting is our own affair, not the host's: it is no timeout of the page.
        let busy = || {
            FetchErrorKind::Backend("all its tabs were busy for too long; a later run tries again".to_owned())
        };
        let _tab =
            timeout(order.timeout, self.tabs.acquire()).await.ok().and_then(Result::ok).ok_or_else(busy)?;
        let chromium = self.chromium(options).await.map_err(FetchErrorKind::Backend)?;
        let late = FetchErrorKind::Timeout { what: Phase::Total, after: order.timeout };
        let done = tokio::select! {
            done = timeout(order.timeout, visit::visit(&chromium.cdp, &self.relay, options, order)) => {
                done.unwrap_or(Err(late))
            }
            why = chromium.outgrown(options) => Err(FetchErrorKind::Backend(why)),
        };
        self.retire(&chromium, options).await;
        self.rest(chromium, options.idle);
        done
    }

    /// The process at work, or a new one.
    async fn chromium(&self, options: &BrowserOptions) -> Result<Arc<Chromium>, String> {
        // Held while one starts: whoever comes meanwhile wants the same one.
        let mut current = self.current.lock().await;
        if let Some(chromium) = current.as_ref().filter(|chromium| !chromium.cdp.is_closed()) {
            chromium.pages.fetch_add(1, Ordering::Relaxed);
            return Ok(chromium.clone());
        }
        *current = None;
        let chromium = Arc::new(Chromium::start(&self.relay, options).await?);
        *current = Some(chromium.clone());
        Ok(chromium)
    }

    /// Ends a process of which nothing is asked for a while.
    fn rest(&self, chromium: Arc<Chromium>, idle: Duration) {
        let since = chromium.age_ms();
        chromium.rested.store(since, Ordering::Relaxed);
        let (current, resting) = (Arc::downgrade(&self.current), Arc::downgrade(&chromium));
        drop(chromium);
        tokio::spawn(async move {
            tokio::time::sleep(idle).await;
            let (Some(current), Some(resting)) = (current.upgrade(), resting.upgrade()) else { return };
            let mut current = current.lock().await;
            // Ours and the pool's: no page has it. A later page has its own clock.
            let unused = Arc::strong_count(&resting) <= 2 && resting.rested.load(Ordering::Relaxed) == since;
            if unused && current.as_ref().is_some_and(|current| Arc::ptr_eq(current, &resting)) {
                tracing::debug!("the browser is not needed any more");
                *current = None;
            }
        });
    }

    /// Gives up a process that has served long enough. Pages that are open in it go on.
    async fn retire(&self, chromium: &Arc<Chromium>, options: &BrowserOptions) {
        let Some(why) = chromium.retires(options) else { return };
        let mut current = self.current.lock().await;
        if current.as_ref().is_some_and(|current| Arc::ptr_eq(current, chromium)) {
            tracing::debug!(why, "a new browser takes over");
            *current = None;
        }
    }
}

impl Chromium {
    async fn start(relay: &Relay, options: &BrowserOptions) -> Result<Chromium, String> {
        let program = find::program(options.program.as_deref())?;
        let (process, pipes) = Process::start(&program, relay.key(), options)
            .map_err(|error| format!("{} does not start ({error})", program.display()))?;
        let cdp = Cdp::new(pipes);
        let greeted = timeout(options.start_time, async {
            cdp.call(None, "Browser.getVersion", json!({})).await?;
            cdp.call(None, "Target.setDiscoverTargets", json!({ "discover": true })).await
        });
        match greeted.await {
            Ok(Ok(_)) => {
                let (born, pages, rested) = (Instant::now(), AtomicU32::new(1), AtomicU64::new(0));
                Ok(Chromium { cdp, process, born, pages, rested })
            }
            Ok(Err(_)) => {
                let told = process.complaint().unwrap_or_else(|| "it said nothing".to_owned());
                Err(format!(
                    "{} ended while it started ({told}); where a container forbids user namespaces it needs the option no_sandbox",
                    program.display()
                ))
            }
            Err(_) => Err(format!("{} did not answer within {:?}", program.display(), options.start_time)),
        }
    }

    fn age_ms(&self) -> u64 {
        self.born.elapsed().as_millis() as u64
    }

    fn retires(&self, options: &BrowserOptions) -> Option<&'static str> {
        if self.cdp.is_closed() {
            return Some("it ended");
        }
        let pages = self.pages.load(Ordering::Relaxed);
        overdue(options, pages, self.born.elapsed(), || self.process.tree.memory())
    }

    /// Returns, with the reason, when it takes so much memory that it is ended at once, or has ended by itself.
    async fn outgrown(&self, options: &BrowserOptions) -> String {
        let limit = options.max_memory.saturating_mul(2);
        loop {
            tokio::select! {
                () = self.cdp.closed() => {
                    return "it ended in the middle of a page; the next page starts a new one".to_owned();
                }
                () = tokio::time::sleep(LOOK_EVERY) => (),
            }
            let taken = self.process.tree.memory();
            if taken > limit {
                self.process.tree.kill();
                return format!("it took {} MiB of memory and was ended", taken >> 20);
            }
        }
    }
}

/// Why a process has served long enough, if it has.
fn overdue(
    options: &BrowserOptions,
    pages: u32,
    age: Duration,
    memory: impl FnOnce() -> u64,
) -> Option<&'static str> {
    match () {
        () if pages >= options.max_pages => Some("pages"),
        () if age >= options.max_age => Some("age"),
        // Asked last: it means reading a lot of files.
        () if memory() > options.max_memory => Some("memory"),
        () => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_serves_until_its_pages_its_age_or_its_memory_are_over() {
        let seconds = Duration::from_secs;
        let options = BrowserOptions {
            max_pages: 3,
            max_age: seconds(60),
            max_memory: 100,
            ..BrowserOptions::default()
        };
        for (pages, age, memory, why) in [
            (2, 59, 100, None),
            (3, 0, 0, Some("pages")),
            (1, 60, 0, Some("age")),
            (1, 0, 101, Some("memory")),
        ] {
            assert_eq!(overdue(&options, pages, seconds(age), || memory), why);
        }
    }
}
