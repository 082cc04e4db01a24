//! The second tier: a real Chromium that runs a page's scripts, for hosts that turn plain HTTP away (S2-26, S4-5). It
//! says honestly who asks, forges nothing and solves nothing: it only does what pages expect of any browser.
//!
//! | file | what it decides |
//! |---|---|
//! | `find` | where the program is |
//! | `launch` | how it is started, and that nothing of it outlives us |
//! | `flags` | the switches it is started with |
//! | `tree` | which processes are its own, and how much memory they take |
//! | `cdp` | commands to it and events from it |
//! | `pool` | how many pages at once, when a new process takes over |
//! | `proxy`, `relay` | where its connections go |
//! | `screening` | which requests of a page go out |
//! | `watch` | what a page is doing |
//! | `tab`, `visit`, `read` | one page: open, load, wait, read |
//!
//! **Every connection is ours.** Each page has a browser context of its own, so no cookie passes from host to host,
//! and each context has a loopback proxy of its own that lives as long as the fetch. Chromium resolves no name by
//! itself and knows no other way out; the proxy asks the gate's [`Screen`](super::Screen) about every host and
//! connects only to the addresses it gives. So a name that changes its mind (rebinding), a socket, a worker or a
//! prefetch gains nothing. Requests of the page are looked at a second time before they are sent, where their whole
//! address and kind are known.
//!
//! **Nothing outlives us.** Commands go over pipes (`--remote-debugging-pipe`), not over a port that others on the
//! machine could use; when this process dies in whatever way the pipes close, Chromium ends, and the shell that waits
//! for it removes its profile and ends what is left of its process group.
//!
//! **Why no crate.** What is needed here is two dozen commands, over a pipe rather than a port that others on the machine
//! could use, with a child that ends even when no destructor runs, and `core` free of `unsafe`.

mod cdp;
mod find;
mod flags;
mod launch;
mod options;
mod pool;
mod proxy;
mod read;
mod relay;
mod screening;
mod tab;
mod tree;
mod visit;
mod watch;

use futures::future::BoxFuture;

pub use options::BrowserOptions;

use super::backend::{BackendOrder, BackendPage, FetchBackend, Unavailable};
use super::error::{FetchError, FetchErrorKind};
use pool::Pool;

/// Chromium as a [`FetchBackend`]. Nothing is started before the first page is asked for; dropping it ends all
/// processes that it started.
pub struct Browser {
    options: BrowserOptions,
    pool: Pool,
}

impl Browser {
    /// A browser with these settings; fails when they cannot work. That there is no Chromium is no failure: see
    /// [`FetchBackend::available`].
    pub fn new(options: BrowserOptions) -> Result<Browser, FetchError> {
        let pool = Pool::new(&options).map_err(FetchError::setup)?;
        Ok(Browser { options, pool })
    }
}

impl FetchBackend for Browser {
    fn name(&self) -> &'static str {
        "browser"
    }

    fn available(&self) -> BoxFuture<'_, Result<(), Unavailable>> {
        let found = find::program(self.options.program.as_deref()).map(drop).map_err(Unavailable);
        Box::pin(std::future::ready(found))
    }

    fn fetch<'a>(&'a self, order: BackendOrder<'a>) -> BoxFuture<'a, Result<BackendPage, FetchErrorKind>> {
        Box::pin(async move {
            if order.screen.proxy().is_some() {
                // Going there directly would be the very thing the operator wanted to avoid.
                let why = "the site is reached through a proxy, which the browser does not do; use `default_strategy: http`";
                return Err(FetchErrorKind::Backend(why.to_owned()));
            }
            self.pool.fetch(&self.options, &order).await
        })
    }
}
