//! What an operator sets for the browser.

use std::path::PathBuf;
use std::time::Duration;

use super::super::rendering::Part;

/// Settings of a [`Browser`](super::Browser).
#[derive(Clone, Debug)]
pub struct BrowserOptions {
    /// The program; none: the usual names are looked for.
    pub program: Option<PathBuf>,
    /// Where its profile is made, a directory that goes with it; none: the system's temporary directory.
    pub scratch: Option<PathBuf>,
    /// Pages open at once.
    pub tabs: usize,
    /// What is not loaded, for sites that say nothing. Text is what is wanted.
    pub block: Vec<Part>,
    /// After so many pages a new process takes over: what leaks, leaks slowly.
    pub max_pages: u32,
    /// After this time a new process takes over.
    pub max_age: Duration,
    /// When nothing was asked of it for this long it is ended; the next page starts a new one.
    pub idle: Duration,
    /// Bytes of memory of all its processes after which a new one takes over; at twice as much it is ended at once.
    pub max_memory: u64,
    /// For the program to start.
    pub start_time: Duration,
    /// For a page that is loaded but does not come to rest; then it is taken as it stands.
    pub settle: Duration,
    /// For a firewall's page to let us through: its script loads the real one.
    pub patience: Duration,
    /// Runs without Chromium's own sandbox. As root this is so in any case, because Chromium refuses to start
    /// otherwise; set it where a container forbids user namespaces.
    pub no_sandbox: bool,
}

impl Default for BrowserOptions {
    fn default() -> Self {
        BrowserOptions {
            program: None,
            scratch: None,
            // A page costs a core for a second or two, and 100 MB.
            tabs: 2,
            block: vec![Part::Image, Part::Media, Part::Font],
            max_pages: 200,
            max_age: Duration::from_secs(3600),
            idle: Duration::from_secs(120),
            // At rest it holds a quarter of this.
            max_memory: 1 << 30,
            start_time: Duration::from_secs(30),
            settle: Duration::from_secs(8),
            patience: Duration::from_secs(15),
            no_sandbox: false,
        }
    }
}
