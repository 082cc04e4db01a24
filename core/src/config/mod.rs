//! Site files: YAML in, sites and targets out, every mistake named with its place.
//!
//! `model` is what may be written, `parse` reads it, `check` finds what cannot work, `resolve` applies aliases
//! and defaults and makes the rows of the store, `pace` is the chain of who says how hard a host is asked, `timing` that of who says when, `export` writes the rows as YAML again,
//! `keep` lays over a file what was set by hand, `opml` and `feeds` read and write the lists of feed readers.

mod check;
mod error;
mod export;
mod feeds;
mod keep;
mod model;
mod opml;
mod pace;
mod parse;
mod place;
mod resolve;
mod timing;

pub use check::HARD_MAX_PAGES;
pub use error::{ConfigError, Place, suggestion};
pub use export::export_site;
pub use feeds::{FeedImport, feeds_of_targets, sites_of_feeds};
pub(crate) use keep::{keep_by_hand, written};
pub use model::{
    Column, ColumnDefaults, DEFAULT_ADAPTER, Detail, ListJson, ListSelector, Pagination, PaginationKind,
    SiteConfig, Strategy, site_schema,
};
pub use opml::{MAX_OPML, Opml, OpmlFeed, parse_opml, write_opml};
pub(crate) use pace::KEYS as PACE_KEYS;
pub use pace::{EffectivePace, PaceLayers, Setting, SettingOrigin};
pub use parse::{MAX_FILE, load_site, parse_site};
pub(crate) use parse::{read_pem, sha256};
pub(crate) use resolve::lay_over;
pub use resolve::{Incremental, effective_config};
pub use timing::{AdaptiveKey, DEFAULT_CRON, Timing, TimingOrigin, spread_cron};

#[cfg(test)]
mod opml_tests;
#[cfg(test)]
mod tests;
