//! Where everything is kept: rows behind the [`Store`] trait, files behind [`Files`].
//!
//! The trait is the seam between the crawler and a database. It speaks in whole steps of a crawl
//! (a list page was read, an article was read, an entry failed), and each of them is **one
//! transaction**: rows, counters, cursor, session and frontier move together or not at all. That is
//! what makes `kill -9` harmless: a crawl that is started again finds exactly the steps that were
//! answered, and repeats at most the one that was not.
//!
//! An entry takes its number when its list page is recorded, and the article keeps it. So the paths
//! that hold the number (`attachments/<site>/<target>/<article id>/…`, S2-42) are known before the
//! article is committed, and a crashed run writes the same files again instead of leaving orphans.
//!
//! [`SqliteStore`] is the implementation: one writer thread that commits in groups, readers beside it.
//! What is *not* decided here: which entries are worth fetching, when a run stops, what an article's
//! status is. That is the crawl's business.

mod blobs;
mod error;
mod files;
pub mod layout;
mod lock;
pub mod sanitize;
pub(crate) mod search;
mod shelf;
mod sqlite;
mod types;

use std::sync::Arc;

use futures::future::BoxFuture;

use crate::clock::Timestamp;
use crate::fetch::hosts::HostRow;
use crate::fetch::ledger::Ledger;
use crate::fetch::reserve::{Reserved, Wish};
use crate::fetch::robots::{Origin, RobotsCopy};
use crate::model::{Article, Entry, Pace, RequestLog, Site, Target};
use crate::schedule::classic::SourceStats;
use crate::schedule::look::Look;

pub use blobs::{Blob, BlobWriter};
pub use error::StoreError;
pub use files::{Durability, Files};
pub use lock::TargetLock;
pub use shelf::{Entrusted, StoreShelf};
pub(crate) use sqlite::{ArticleFiles, AuditEntry, Marks, SiteWrite, Span, TargetWrite};
pub use sqlite::{Backup, SqliteStore, database_path, restore};
pub use types::{
    ArticleQuery, ArticleRecord, EntryKey, FailedEntry, FailureRecord, Known, ListValidators, PageRecord,
    Recorded, RunCounts, RunEnd, RunEndState, RunOptions, RunState, SiteChange,
};

/// What every method of the store returns.
///
/// A call whose future is dropped may still take effect: once the writer has accepted a step it is
/// carried through.
pub type StoreFuture<'a, T> = BoxFuture<'a, Result<T, StoreError>>;

/// The rows: sites, targets, runs, the frontier, articles and the request log.
pub trait Store: Send + Sync + 'static {
    /// Stores a site with its targets, or brings a stored one (same code) up to date.
    ///
    /// Targets that are stored but not among `targets` are disabled, never deleted, because articles
    /// hang on them. What the operator set by hand (for example [`Store::set_target_enabled`]) survives.
    fn put_site(&self, site: Site, targets: Vec<Target>) -> StoreFuture<'_, SiteChange>;

    /// Stores one target of a stored site, or brings it up to date; its siblings are left alone.
    /// Returns it as stored, with its row number.
    fn put_target(&self, site: &str, target: Target) -> StoreFuture<'_, Target>;

    /// All sites by code.
    fn sites(&self) -> StoreFuture<'_, Vec<Site>>;

    /// One site.
    fn site(&self, code: &str) -> StoreFuture<'_, Option<Site>>;

    /// The targets of one site or of all, by site and in the order in which they were stored.
    fn targets(&self, site: Option<&str>) -> StoreFuture<'_, Vec<(Site, Target)>>;

    /// One target with its site.
    fn target(&self, code: &str) -> StoreFuture<'_, Option<(Site, Target)>>;

    /// Switches a target on or off by hand; later imports leave the switch alone. False: no such target.
    fn set_target_enabled(&self, code: &str, on: bool) -> StoreFuture<'_, bool>;

    /// Sets what the operator says about a target's pace, in place of what was said before; imports leave it
    /// alone. False: no such target.
    fn set_target_pace(&self, code: &str, pace: Pace) -> StoreFuture<'_, bool>;

    /// Begins a run, or takes up the target's unfinished one with the options *that* run was begun with.
    ///
    /// The caller holds the target's lock (see [`TargetLock`]), so an unfinished run is one that was
    /// interrupted or killed.
    fn begin_run(&self, target_id: i64, options: RunOptions, now: Timestamp) -> StoreFuture<'_, RunState>;

    /// What is known of each key, in the order of `keys` (S2-41, I10).
    fn known(&self, site_id: i64, target_id: i64, keys: Vec<EntryKey>) -> StoreFuture<'_, Vec<Known>>;

    /// Records a list page: its entries join the frontier, cursor, session and counters move on.
    ///
    /// Returns the entries in order with their row numbers. An entry that already waits in this target's
    /// frontier keeps its number; one that was given up ([`Known::Dead`]) is revived.
    fn record_page(&self, page: PageRecord) -> StoreFuture<'_, Vec<Entry>>;

    /// The frontier of a target: entries never tried first, then failed ones that may be tried again;
    /// each in the order in which they were recorded.
    fn waiting(&self, target_id: i64, limit: u32) -> StoreFuture<'_, Vec<Entry>>;

    /// Records an article with its attachments and requests and takes its entry out of the frontier.
    ///
    /// Dirty fields are cleaned and cut (S2-16), never refused. That another run was faster is an
    /// answer ([`Recorded::Duplicate`]), not an error.
    fn record_article(&self, record: ArticleRecord) -> StoreFuture<'_, Recorded>;

    /// Records that an entry could not be read. It is tried again by later runs until it was final or
    /// tried five times.
    fn record_failure(&self, failure: FailureRecord) -> StoreFuture<'_, ()>;

    /// Entries of a target that failed, newest first: the failure ledger. `run`: only what failed in that run.
    fn failures(&self, target_id: i64, run: Option<i64>, limit: u32) -> StoreFuture<'_, Vec<FailedEntry>>;

    /// Logs requests that belong to no page or article.
    fn log_requests(&self, site_id: i64, target_id: i64, log: Vec<RequestLog>) -> StoreFuture<'_, ()>;

    /// Ends a run. Unless it was only interrupted, the target's `last_crawled_at` and
    /// `last_article_time` move forward.
    fn end_run(&self, run_id: i64, end: RunEnd, now: Timestamp) -> StoreFuture<'_, ()>;

    /// The version of a target's list that was last kept. A store that keeps none has every run read the list.
    fn list_validators(&self, _target_id: i64) -> StoreFuture<'_, Option<ListValidators>> {
        Box::pin(std::future::ready(Ok(None)))
    }

    /// Keeps a version of a target's list in place of the one before.
    fn keep_list_validators(&self, _target_id: i64, _kept: ListValidators) -> StoreFuture<'_, ()> {
        Box::pin(std::future::ready(Ok(())))
    }

    /// Writes down what a crawl of a target brought, so that the next look at it is planned: the source's statistics (S0-19),
    /// the due time of its schedule and why. A store without schedules keeps nothing.
    fn record_look(&self, _look: Look) -> StoreFuture<'_, Option<SourceStats>> {
        Box::pin(std::future::ready(Ok(None)))
    }

    /// An article by its row number.
    fn article(&self, id: i64) -> StoreFuture<'_, Option<Article>>;

    /// An article by row number, by at least 8 characters of its `url_hash` when they name one article only,
    /// or by its address as stored. The hash is the quick way to ask for an address.
    fn find_article(&self, key: &str) -> StoreFuture<'_, Option<Article>>;

    /// Articles by ascending row number after `after_id`: a page of a listing or an export.
    fn articles(&self, query: ArticleQuery) -> StoreFuture<'_, Vec<Article>>;

    /// The copy of an origin's robots.txt that was last kept. A store that keeps none has the file asked for
    /// by every process.
    fn robots(&self, _origin: &Origin) -> StoreFuture<'_, Option<RobotsCopy>> {
        Box::pin(std::future::ready(Ok(None)))
    }

    /// Keeps a copy of an origin's robots.txt in place of the one before.
    fn save_robots(&self, _origin: &Origin, _copy: &RobotsCopy) -> StoreFuture<'_, ()> {
        Box::pin(std::future::ready(Ok(())))
    }

    /// What is known of a host. A store that keeps nothing has every process learn for itself.
    fn host(&self, _host: &str) -> StoreFuture<'_, Option<HostRow>> {
        Box::pin(std::future::ready(Ok(None)))
    }

    /// What is known of all hosts, by name.
    fn hosts(&self) -> StoreFuture<'_, Vec<(String, HostRow)>> {
        Box::pin(std::future::ready(Ok(Vec::new())))
    }

    /// Joins rows with those that are stored ([`HostRow::join`]) and adds up their days.
    fn save_hosts(&self, _rows: Vec<(String, HostRow)>, _now: Timestamp) -> StoreFuture<'_, ()> {
        Box::pin(std::future::ready(Ok(())))
    }

    /// Takes the next start of a host ([`reserve`](crate::fetch::reserve::reserve)), in one transaction. None: the store
    /// keeps nothing of hosts.
    fn reserve_start(&self, _host: &str, _wish: Wish) -> StoreFuture<'_, Option<Reserved>> {
        Box::pin(std::future::ready(Ok(None)))
    }

    /// The politeness ledger of one host or of all, the newest days first.
    fn host_days(&self, _host: Option<&str>, _limit: u32) -> StoreFuture<'_, Vec<(String, Ledger)>> {
        Box::pin(std::future::ready(Ok(Vec::new())))
    }

    /// The same store, for a worker: whatever is written through it is written only while the lease with this token is
    /// held, which is checked in the same transaction; else the answer is [`StoreError::Fenced`].
    fn fenced(&self, token: i64) -> Arc<dyn Store>;

    /// What is wrong with rows and files, one line each; empty = clean.
    fn check(&self) -> StoreFuture<'_, Vec<String>>;
}
