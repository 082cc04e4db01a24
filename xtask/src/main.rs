//! `cargo xtask <command>`: what a contributor runs. One file per command; nothing is decided here.

mod adapters;
mod api;
mod bench;
mod demo;
mod examples;
mod python;
mod setup;
mod steps;
mod test;

use std::path::{Path, PathBuf};

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(name = "cargo xtask", about = "Set-up, adapters, demo, tests and benchmarks")]
struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Install what the build needs and is missing.
    Setup,
    /// Build the bundled adapters into target/adapters, and the examples in other languages.
    Adapters {
        /// Only those that come with the program: neither Python nor Node.js is needed.
        #[arg(long)]
        bundled: bool,
    },
    /// Crawl replica sites on loopback: the main job, no network needed.
    Demo,
    /// The whole check: formatting, lints, unit, property, doc and end-to-end tests.
    Test,
    /// Measure against plain code for the same job and print the table of ratios.
    Bench {
        /// A short run: fewer rounds, fewer articles.
        #[arg(long)]
        quick: bool,
        /// Only `list`, `languages`, `load`, `gate`, `pages`, `queue`, `schedule`, `crawl`, `search` or `serve`.
        #[arg(long)]
        only: Option<String>,
    },
}

fn main() -> std::process::ExitCode {
    let done = match Args::parse().command {
        Command::Setup => setup::run(),
        Command::Adapters { bundled: true } => adapters::bundled(&workspace()),
        Command::Adapters { bundled: false } => adapters::run(&workspace()),
        Command::Demo => demo::run_demo(&workspace()),
        Command::Test => test::run_all(&workspace()),
        Command::Bench { quick, only } => bench::run(&workspace(), quick, only.as_deref()),
    };
    if let Err(error) = done {
        eprintln!("xtask: {error:#}");
        return std::process::ExitCode::FAILURE;
    }
    std::process::ExitCode::SUCCESS
}

/// The root of the workspace this xtask was built from.
fn workspace() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_path_buf()
}
