//! What a user of the `dibao` command can count on: the real process against the replica sites over TLS.

mod adapters;
mod articles;
mod bad_disk;
mod bad_files;
mod bad_network;
mod bad_pages;
mod crawl;
mod cron;
mod discover;
mod examples;
mod exits;
mod extract;
mod feeds;
#[path = "../../../core/tests/hostile/make.rs"]
#[allow(dead_code, reason = "the sandbox's own tests use the rest")]
mod guest;
mod hosts;
mod isolation;
mod kit;
mod pages;
mod parse;
mod plain;
mod queue;
mod robots;
mod schedule;
mod settings;
mod sites;
mod stage;
