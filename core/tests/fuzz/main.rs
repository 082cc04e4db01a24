//! The fuzz targets as ordinary tests: each over its committed seeds and over some thousands of mutations of them, the
//! same ones in every run. `cargo fuzz run TARGET` (see `fuzz/README.md`) goes on where this stops.
//!
//! An input that breaks a promise is printed as an escaped string: put it into `fuzz/seeds/TARGET/` with the fix.

#[path = "../../../fuzz/src/lib.rs"]
mod targets;

mod mutate;

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::Path;
use std::time::{Duration, Instant};

use mutate::Mutator;

/// Mutations of each target.
const ROUNDS: usize = 4000;

/// A slow machine does fewer: a check that takes minutes is one that is switched off.
const ENOUGH: Duration = Duration::from_secs(20);

fn check(target: &str, run: fn(&[u8])) {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/seeds").join(target);
    let mut paths: Vec<_> = std::fs::read_dir(&dir).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let seeds: Vec<Vec<u8>> = paths.iter().map(|path| std::fs::read(path).unwrap()).collect();
    assert!(seeds.len() >= 4, "{} has seeds", dir.display());
    let one = |input: &[u8]| {
        if let Err(broken) = catch_unwind(AssertUnwindSafe(|| run(input))) {
            eprintln!("{target} breaks on b\"{}\"", input.escape_ascii());
            resume_unwind(broken);
        }
    };
    seeds.iter().for_each(|seed| one(seed));
    one(b"");
    let begin = Instant::now();
    let mut mutator = Mutator::new(target, &seeds);
    for _ in 0..ROUNDS {
        if begin.elapsed() > ENOUGH {
            break;
        }
        one(mutator.next());
    }
}

#[test]
fn robots_are_read_and_decided_alike_whatever_is_in_them() {
    check("robots", targets::robots::run);
}

#[test]
fn an_answer_has_one_verdict_that_fits_its_status() {
    check("verdict", targets::verdict::run);
}

#[test]
fn decoding_loses_no_ascii_and_invents_nothing() {
    check("charset", targets::charset::run);
}

#[test]
fn cookies_redirects_and_addresses_stay_where_they_belong() {
    check("cookies_urls", targets::cookies_urls::run);
}

#[test]
fn a_host_cannot_ask_for_less_or_more_patience_than_it_gets() {
    check("retry_after", targets::retry_after::run);
}

#[test]
fn a_site_file_is_accepted_or_explained() {
    check("site_file", targets::site_file::run);
}

#[test]
fn a_page_gives_the_same_article_twice_and_every_field_has_its_proof() {
    check("extract", targets::extract::run);
}
