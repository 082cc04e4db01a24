//! One file per subcommand.

pub mod adapter;
pub mod config;
pub mod crawl;
pub mod cron;
pub mod db;
pub mod deliver;
pub mod discover;
pub mod export;
pub mod extract;
pub mod fetch;
pub mod host;
pub mod opml;
pub mod org;
pub mod parse;
pub mod queue;
pub mod robots;
pub mod run;
pub mod schedule;
pub mod search;
pub mod serve;
pub mod show;
pub mod site;
pub mod target;
pub mod token;
