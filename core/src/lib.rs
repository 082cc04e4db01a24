//! dibao 邸报 watches official web sites and keeps what they publish, with proof of where every
//! field came from.
//!
//! A **site** is described by a YAML file; its columns are **targets**. What a site looks like on
//! the wire is known by an **adapter**, a WASM component in a sandbox that never touches the
//! network: it is given pages and answers with rows, fields or further requests. Every request goes
//! through one **gate**. What was found is kept in an embedded **store**: rows in SQLite, pages,
//! texts and attachments as files beside it. Killing the process at any moment loses nothing; the
//! next run goes on where the last one stopped.
//!
//! ```
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # tokio::runtime::Runtime::new()?.block_on(async {
//! # let replica = dibao_replica::Replica::start(dibao_replica::ReplicaOptions {
//! #     articles: 12, ..Default::default() }).await?;
//! # let dir = tempfile::tempdir()?;
//! # let data = dir.path();
//! # let adapters = std::env::var("DIBAO_ADAPTERS")?;
//! let engine = dibao::Engine::builder()
//!     .data_dir(data)                  // database and files
//!     .adapters(adapters)              // a directory of .wasm files and its adapters.lock
//! #     .resolve("www.ndrc.gov.cn", replica.addr())
//! #     .root_certificate(replica.ca_pem())
//! #     .interval(Some(std::time::Duration::ZERO))
//!     .build()
//!     .await?;
//! engine.import_site("../sites/ndrc.yaml").await?;
//! let report = engine.crawl("ndrc__tz").max_items(20).run().await?;
//! println!("{} new of {}", report.items_new, report.items_seen);
//! # assert!(report.items_new > 0 && report.items_failed == 0);
//!
//! let again = engine.crawl("ndrc__tz").run().await?;
//! assert_eq!(again.items_new, 0); // stopped at the first known article
//! # Ok(())
//! # })
//! # }
//! ```
//!
//! # Where to look
//! - [`Engine`] opens everything; [`Engine::crawl`] describes a crawl, [`CrawlRequest::run`] does it
//!   and [`CrawlRequest::stream`] yields articles as they arrive.
//! - [`config`] reads site files, [`adapter`] loads components, [`fetch`] is the gate, [`extract`]
//!   turns pages into articles, [`crawl`] is the loop, [`store`] keeps what came of it.
//! - Every error has a [`class`](Error::class) and knows whether it [is retryable](Error::is_retryable).
//!
//! # What the library does not do
//! It starts no runtime and no log subscriber: futures run on the tokio runtime that polls them, and
//! events go to `tracing` if you listen. The only threads of its own are the store's writer and the clock that ends an
//! adapter's turn, which end with the [`Engine`], and while [`queue::Queue::work`] or a crawl runs one that keeps its leases.
#![forbid(unsafe_code)]
#![deny(missing_docs)]

pub mod adapter;
pub mod clock;
pub mod config;
pub mod crawl;
pub mod deliver;
pub mod desk;
mod engine;
mod error;
pub mod extract;
pub mod fetch;
pub mod model;
mod pulse;
pub mod queue;
mod refusal;
pub mod schedule;
pub mod store;
pub mod tally;

pub use clock::{Clock, Entropy, Steady, Timestamp};
pub use crawl::{CrawlEvent, Report};
pub use engine::{
    BUDGET, CRAWL, CREDENTIAL, CrawlEnd, CrawlJob, CrawlRequest, CrawlWatcher, Desk, Discovered, Engine,
    EngineBuilder, FoundColumn, HostDetail, HostLine, KnownRobots, Lookup, MESSAGE, RECONCILE, Reconciled,
    Streamed, SurveyOptions, TargetSettings, TrialRequest, Walked, crawl_job, crawl_lane, crawl_report,
};
pub use error::{Error, ErrorClass};
pub use pulse::Pulse;
pub use refusal::Refusal;

/// The library's result type.
pub type Result<T, E = Error> = std::result::Result<T, E>;
