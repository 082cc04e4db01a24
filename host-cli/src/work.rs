//! What `dibao run` and `dibao serve` share: how jobs are worked on.

use std::time::Duration;

use clap::Args;
use dibao::queue::{Retention, WorkOptions};

use crate::open::seconds;

#[derive(Args)]
#[command(next_help_heading = "How jobs are worked on")]
pub struct WorkArgs {
    /// How many jobs to work on at a time; one host is never crawled twice at once. 0: none (`serve` only)
    #[arg(long, short, default_value_t = 3, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=64))]
    pub jobs: u32,

    /// How long what is under way may take to end after the first signal, in seconds
    #[arg(long, default_value = "30", value_name = "SECONDS", value_parser = seconds)]
    pub drain: Duration,

    /// How long a host stays with a worker that no longer speaks, in seconds
    #[arg(long, default_value = "60", value_name = "SECONDS", value_parser = some_seconds)]
    pub lease: Duration,

    /// How often lost workers are looked for, in seconds
    #[arg(long, default_value = "30", value_name = "SECONDS", value_parser = some_seconds)]
    pub stall_scan: Duration,

    /// How often a job may lose its worker before it counts as failed
    #[arg(long, default_value_t = 1, value_name = "N")]
    pub max_stalled: u32,

    /// How long a job may give no sign of life before it is given up, in seconds; waiting for a host's turn is one. 0: as its
    /// kind says, 300 for crawls
    #[arg(long, default_value = "0", value_name = "SECONDS", value_parser = seconds)]
    pub no_progress: Duration,

    /// How many finished jobs of a host are kept
    #[arg(long, default_value_t = Retention::default().per_lane, value_name = "N")]
    pub keep_jobs: u32,

    /// How often site files are looked at for changes, in seconds; changes of the store are followed at once
    #[arg(long, default_value = "300", value_name = "SECONDS", value_parser = some_seconds)]
    pub reconcile: Duration,
}

impl WorkArgs {
    pub fn options(&self) -> WorkOptions {
        WorkOptions {
            workers: self.jobs as usize,
            drain: self.drain,
            lease: self.lease,
            stall_scan: self.stall_scan,
            max_stalled: self.max_stalled,
            no_progress: Some(self.no_progress).filter(|limit| !limit.is_zero()),
            retention: Retention { per_lane: self.keep_jobs, ..Retention::default() },
            ..WorkOptions::default()
        }
    }
}

/// Seconds that make sense as a rhythm: a tenth or more.
fn some_seconds(text: &str) -> Result<Duration, String> {
    let span = seconds(text)?;
    if span < Duration::from_millis(100) {
        return Err("write a number of seconds, 0.1 or more".to_string());
    }
    Ok(span)
}
