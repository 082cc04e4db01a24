//! What a user of the `dibao` command can count on: the real process against the replica sites over TLS.

mod adapters;
mod articles;
mod bad_disk;
mod bad_files;
mod bad_network;
mod bad_pages;
mod crawl;
mod examples;
mod exits;
#[path = "../../../core/tests/hostile/make.rs"]
#[allow(dead_code, reason = "the sandbox's own tests use the rest")]
mod guest;
mod isolation;
mod plain;
mod sites;
mod stage;
