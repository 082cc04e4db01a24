//! What a run tells while it goes and when it ends.

use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;

use super::step::StopReason;
use crate::clock::Timestamp;
use crate::error::ErrorClass;
use crate::fetch::RobotsMode;
use crate::model::Article;
use crate::schedule::said::Said;

/// The failure ledger names at most this many entries; the count is always exact.
pub(crate) const MAX_LEDGER: usize = 200;

/// One entry that could not be read, and why.
#[derive(Clone, Debug, Serialize)]
pub struct FailureLine {
    /// Address.
    pub url: String,
    /// Title as the list shows it; empty for the list itself.
    pub title: String,
    /// Kind of trouble.
    pub class: ErrorClass,
    /// In words.
    pub message: String,
    /// Whether a later run tries again.
    pub will_retry: bool,
}

/// What was made of robots.txt in a run (S2-53).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum RobotsUse {
    /// What it forbids was not fetched.
    Respected,
    /// It was passed over, as the site file says.
    Bypassed,
}

/// What came of a crawl.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Report {
    /// Code of the target.
    pub target: String,
    /// Row number of the last run that this crawl made.
    pub run_id: i64,
    /// Whether an unfinished run was taken up first.
    pub resumed: bool,
    /// List pages read.
    pub pages: u32,
    /// List pages that have not changed since they were last read, so that nothing on them was looked at.
    pub pages_unchanged: u32,
    /// Rows looked at.
    pub items_seen: u32,
    /// Articles stored.
    pub items_new: u32,
    /// Rows that were known.
    pub items_duplicate: u32,
    /// Entries that could not be read.
    pub items_failed: u32,
    /// Attachments downloaded.
    pub attachments: u32,
    /// Attachments that could not be had.
    pub attachments_failed: u32,
    /// Requests made.
    pub requests: u32,
    /// Why it ended.
    pub stop: StopReason,
    /// When the host may be asked again, for a run that ended because it is left alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cooling_until: Option<Timestamp>,
    /// Whether robots.txt had its say.
    pub robots: RobotsUse,
    /// What the list said about when it is worth another look.
    #[serde(skip)]
    pub said: Option<Said>,
    /// What failed, the first 200 entries of it.
    pub failures: Vec<FailureLine>,
    /// How long it took.
    #[serde(serialize_with = "seconds")]
    pub elapsed: Duration,
}

fn seconds<S: serde::Serializer>(elapsed: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64((elapsed.as_secs_f64() * 1000.0).round() / 1000.0)
}

impl Report {
    pub(crate) fn new(target: &str, robots: RobotsMode) -> Self {
        Report {
            target: target.to_string(),
            run_id: 0,
            resumed: false,
            pages: 0,
            pages_unchanged: 0,
            items_seen: 0,
            items_new: 0,
            items_duplicate: 0,
            items_failed: 0,
            attachments: 0,
            attachments_failed: 0,
            requests: 0,
            stop: StopReason::LastPage,
            cooling_until: None,
            said: None,
            robots: match robots {
                RobotsMode::Respect { .. } => RobotsUse::Respected,
                RobotsMode::Bypass => RobotsUse::Bypassed,
            },
            failures: Vec::new(),
            elapsed: Duration::ZERO,
        }
    }

    /// Whether the list itself could be read.
    pub fn list_was_readable(&self) -> bool {
        self.stop != StopReason::ListFailed
    }

    pub(crate) fn failed(&mut self, line: FailureLine) {
        if self.failures.len() < MAX_LEDGER {
            self.failures.push(line);
        }
    }
}

/// What happens during a crawl, in order.
///
/// Events go through a bounded channel: a slow reader slows the crawl down, nothing is dropped.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum CrawlEvent {
    /// Somebody else is at work on the host; the crawl begins when it is its turn.
    Waiting {
        /// The lane: the host.
        lane: String,
        /// The number of the process.
        process: String,
        /// Its job, if it is one.
        job: Option<i64>,
    },
    /// A run begins; with `resumed` an unfinished one is taken up.
    Started {
        /// Code of the target.
        target: String,
        /// Row number of the run.
        run_id: i64,
        /// Whether an unfinished run is taken up.
        resumed: bool,
    },
    /// A list page was read and recorded.
    Listed {
        /// Code of the target.
        target: String,
        /// Which page of this run.
        page: u32,
        /// Rows on it.
        rows: u32,
        /// Rows that will be fetched.
        fresh: u32,
    },
    /// The list has not changed since it was last read; the run ends.
    Unchanged {
        /// Code of the target.
        target: String,
    },
    /// An article was stored.
    Stored(Arc<Article>),
    /// An entry turned out to be known only when it was stored.
    Duplicate {
        /// Address.
        url: String,
    },
    /// An entry, or the list, could not be read.
    Failed(FailureLine),
}
