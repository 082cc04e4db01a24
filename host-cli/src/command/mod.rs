//! One file per subcommand.

pub mod adapter;
pub mod crawl;
pub mod db;
pub mod export;
pub mod fetch;
pub mod host;
pub mod robots;
pub mod show;
pub mod site;
pub mod target;
