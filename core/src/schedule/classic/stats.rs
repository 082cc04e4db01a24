//! One row of `source_stats` and what a look does to it (S0-5 … S0-8, S0-19); where rows are kept is not decided here.

use chrono_tz::Tz;
use serde::{Deserialize, Serialize};

use super::backoff::calculate_backoff;
use super::cadence::{Cadence, Frequency};
use super::entry::{Entry, calculate_publish_time_stats, classify_update_frequency, typical_hour};
use super::next::calculate_next_check_time;

/// A row, with the seed's names.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the columns are the seed's own (S0-5 … S0-8)")]
pub struct SourceStats {
    pub source_id: String,
    pub source_type: String,
    pub frequency_type: Frequency,
    pub cadence: Cadence,
    pub avg_publish_hour: Option<f64>,
    pub std_publish_hour: Option<f64>,
    pub next_due_at: i64,
    pub last_check_at: i64,
    pub last_article_at: i64,
    pub fail_count: u32,
    pub backoff_until: i64,
    pub last_error: Option<String>,
    pub check_count: u64,
    pub hit_count: u64,
    pub created_at: i64,
    pub updated_at: i64,
}

impl SourceStats {
    /// The row of a source that was never looked at (S0-34).
    pub fn new(source_id: &str, source_type: &str, now: i64) -> SourceStats {
        SourceStats {
            source_id: source_id.into(),
            source_type: source_type.into(),
            frequency_type: Frequency::default(),
            cadence: Cadence::default(),
            avg_publish_hour: None,
            std_publish_hour: None,
            next_due_at: 0,
            last_check_at: 0,
            last_article_at: 0,
            fail_count: 0,
            backoff_until: 0,
            last_error: None,
            check_count: 0,
            hit_count: 0,
            created_at: now,
            updated_at: now,
        }
    }

    /// The share of looks that found something; zero before the first (S0-27).
    pub fn hit_rate(&self) -> f64 {
        if self.check_count == 0 {
            return 0.0;
        }
        (self.hit_count.min(self.check_count)) as f64 / self.check_count as f64
    }

    /// Whether this look, already counted, is one after which the entries are read again (S0-33).
    pub fn wants_analysis(&self, has_new_entries: bool) -> bool {
        self.check_count.is_multiple_of(10) || (has_new_entries && self.check_count <= 3)
    }
}

/// What a look came back with.
#[derive(Clone, Copy, Debug)]
pub struct Looked<'a> {
    /// Something was there that was not known.
    pub has_new_entries: bool,
    /// Empty when the look succeeded.
    pub error_message: &'a str,
    /// The latest entries of the source, the newest first; asked for only when [`SourceStats::wants_analysis`].
    pub entries: &'a [Entry],
}

/// The row after a look (S0-19): counters, success or back-off, a new analysis when it is time, the next due moment.
pub fn update_source_stats(
    old: SourceStats,
    looked: Looked<'_>,
    now: i64,
    random: f64,
    zone: Tz,
) -> SourceStats {
    let mut row = old;
    row.check_count = row.check_count.saturating_add(1);
    row.hit_count = row.hit_count.saturating_add(u64::from(looked.has_new_entries)).min(row.check_count);
    row.last_check_at = now;
    row.updated_at = now;
    if let Some(latest) = looked.entries.iter().map(|entry| entry.published_at).filter(|at| *at <= now).max()
    {
        row.last_article_at = row.last_article_at.max(latest);
    } else if looked.has_new_entries {
        row.last_article_at = now;
    }
    if row.wants_analysis(looked.has_new_entries) {
        (row.frequency_type, row.cadence) = classify_update_frequency(looked.entries, zone);
        (row.avg_publish_hour, row.std_publish_hour) = calculate_publish_time_stats(looked.entries, zone);
        if row.avg_publish_hour.is_some() && typical_hour(looked.entries, zone).is_none() {
            // I3: the mean is kept as the seed wants it, but nobody is sent there: 6 is never "regular".
            row.std_publish_hour = Some(6.0);
        }
    }
    let next = calculate_next_check_time(
        now,
        random,
        zone,
        row.cadence,
        row.frequency_type,
        row.avg_publish_hour,
        row.std_publish_hour,
        row.last_article_at,
    );
    if looked.error_message.is_empty() {
        (row.fail_count, row.backoff_until, row.last_error) = (0, 0, None);
        row.next_due_at = next;
    } else {
        row.fail_count = row.fail_count.saturating_add(1);
        let rest = calculate_backoff(row.fail_count, looked.error_message);
        row.last_error = Some(looked.error_message.into());
        row.backoff_until = if rest > 0 { now.saturating_add(rest) } else { 0 };
        // An expired login does not slow the source down (C9): it keeps its cadence.
        row.next_due_at = if rest > 0 { row.backoff_until } else { next };
    }
    row
}

/// The rows that are due, the longest overdue first (S0-20).
pub fn due_sources<'a>(
    rows: impl IntoIterator<Item = &'a SourceStats>,
    now: i64,
    source_type: Option<&str>,
    limit: usize,
) -> Vec<&'a SourceStats> {
    let wanted = |row: &&SourceStats| {
        row.next_due_at <= now
            && row.backoff_until <= now
            && source_type.is_none_or(|kind| kind == row.source_type)
    };
    let mut due: Vec<_> = rows.into_iter().filter(wanted).collect();
    due.sort_by(|a, b| (a.next_due_at, &a.source_id).cmp(&(b.next_due_at, &b.source_id)));
    due.truncate(limit);
    due
}
