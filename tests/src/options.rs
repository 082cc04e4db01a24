//! What a caller may choose before a replica starts. No defaults live anywhere else.

use std::ops::RangeInclusive;

/// Knobs of a replica. All of them cost nothing at start: pages are made when they are asked for.
#[derive(Debug, Clone)]
pub struct ReplicaOptions {
    /// Distinct articles per site, 1 to 100,000 (0 counts as 1).
    pub articles: u64,
    /// Everything on every page is a pure function of this.
    pub seed: u64,
    /// Size of a whole article page in KiB; the real pages lie between 5 and 60.
    pub article_kib: RangeInclusive<u32>,
    /// Adds `bench0.gov.cn` … with one column and no attachments each.
    pub bench_hosts: u32,
    /// Serve only these hosts; empty means all of them.
    pub only_hosts: Vec<String>,
    /// Offer the TLS port. Without it only plain HTTP answers.
    pub tls: bool,
    /// Compress text for clients that accept gzip.
    pub gzip: bool,
    /// Send `ETag` and `Last-Modified`, and 304 to those who have the version. Off: every page is sent whole.
    pub versions: bool,
    /// Send `Cache-Control: max-age` of so many seconds with whatever has a version.
    pub max_age: Option<u32>,
    /// How many requests the log remembers; older ones are forgotten, the count goes on.
    pub log_capacity: usize,
}

impl Default for ReplicaOptions {
    fn default() -> Self {
        Self {
            articles: 200,
            seed: 1,
            article_kib: 8..=24,
            bench_hosts: 0,
            only_hosts: Vec::new(),
            tls: true,
            gzip: true,
            versions: false,
            max_age: None,
            log_capacity: 20_000,
        }
    }
}
