//! Site files: YAML in, sites and targets out, every mistake named with its place.
//!
//! `model` is what may be written, `parse` reads it, `check` finds what cannot work, `resolve` applies aliases
//! and defaults and makes the rows of the store, `export` writes the rows as YAML again.

mod check;
mod error;
mod export;
mod model;
mod parse;
mod place;
mod resolve;

pub use check::HARD_MAX_PAGES;
pub use error::{ConfigError, Place, suggestion};
pub use export::export_site;
pub use model::{
    Column, ColumnDefaults, DEFAULT_ADAPTER, Detail, ListJson, ListSelector, Pagination, PaginationKind,
    SiteConfig, Strategy, site_schema,
};
pub use parse::{MAX_FILE, load_site, parse_site};
pub use resolve::{Incremental, effective_config};

#[cfg(test)]
mod tests;
