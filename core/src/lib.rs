//! dibao 邸报 watches official web sites and keeps what they publish.
#![forbid(unsafe_code)]
#![deny(missing_docs)]

pub mod adapter;
pub mod clock;
pub mod config;
pub mod crawl;
mod engine;
mod error;
pub mod extract;
pub mod fetch;
pub mod model;
pub mod store;

pub use clock::{Clock, Entropy, Timestamp};
pub use crawl::{CrawlEvent, Report};
pub use engine::{CrawlRequest, Engine, EngineBuilder, Streamed};
pub use error::{Error, ErrorClass};

/// The library's result type.
pub type Result<T, E = Error> = std::result::Result<T, E>;
