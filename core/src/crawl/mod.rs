//! HOW a target is crawled: list pages until something says stop, then each new entry.
//!
//! Everything that decides is pure and lives in [`step`], [`dedup`] and [`verdict`]; the other
//! files carry out what was decided: they call the adapter, the gate and the store.
//!
//! A list page is recorded in one transaction together with the entries it brought and the cursor
//! of the next page; an article is recorded in one transaction that also takes its entry out of
//! the frontier. Between any two instructions the store therefore says exactly what is left to do,
//! and a run that was killed goes on from there.

mod attachments;
mod context;
pub mod dedup;
mod detail;
mod enrich;
mod filename;
mod list;
mod preview;
mod recheck;
mod report;
mod reread;
mod runner;
pub mod step;
mod trial;
mod turns;
pub mod verdict;

pub(crate) use context::CrawlContext;
pub use enrich::Enricher;
pub(crate) use preview::preview;
pub use preview::{Preview, PreviewRow};
pub use report::{CrawlEvent, FailureLine, Report, RobotsUse};
pub use reread::Reread;
pub(crate) use reread::reread;
pub(crate) use runner::run;
pub use step::StopReason;
pub(crate) use trial::trial;
pub use trial::{Trial, TrialEvent};
