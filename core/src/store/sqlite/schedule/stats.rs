//! The table of sources (S0-5 … S0-9): rows in and out; what a look does to one is decided in
//! [`classic`](crate::schedule::classic).

use rusqlite::{Connection, OptionalExtension, Row};

use super::super::rows::Fault;
use crate::clock::Timestamp;
use crate::schedule::classic::{Cadence, Frequency, SourceStats};

/// The row of a source; one that makes no sense counts as new (S0-38).
pub(in super::super) fn source_stats(
    db: &Connection,
    source: &str,
    now: Timestamp,
) -> Result<Option<SourceStats>, Fault> {
    let mut found = db.prepare_cached("SELECT * FROM source_stats WHERE source_id = ?")?;
    let row = found.query_row([source], |row| Ok(from_row(row))).optional()?;
    Ok(match row {
        None => None,
        Some(Some(stats)) => Some(stats),
        Some(None) => {
            tracing::warn!(source, "its row of statistics makes no sense and begins anew");
            let kind: Option<String> = db
                .prepare_cached("SELECT CAST(source_type AS TEXT) FROM source_stats WHERE source_id = ?")?
                .query_row([source], |row| row.get(0))?;
            Some(SourceStats::new(source, kind.as_deref().unwrap_or("rss"), now.0 / 1_000))
        }
    })
}

/// None: something in it cannot be.
fn from_row(row: &Row<'_>) -> Option<SourceStats> {
    let number = |column: &str| row.get::<_, Option<i64>>(column).ok().map(Option::unwrap_or_default);
    let count = |column: &str| number(column).filter(|number| *number >= 0);
    let hour = |column: &str, most: f64| match row.get::<_, Option<f64>>(column).ok()? {
        Some(hour) => (0.0..=most).contains(&hour).then_some(Some(hour)),
        None => Some(None),
    };
    let cadence: String = row.get("cadence").ok()?;
    let frequency: String = row.get("frequency_type").ok()?;
    let frequency = serde_json::from_value::<Frequency>(frequency.into()).ok()?;
    let (check_count, hit_count) = (count("check_count")?, count("hit_count")?);
    Some(SourceStats {
        source_id: row.get("source_id").ok()?,
        source_type: row.get("source_type").ok()?,
        frequency_type: frequency,
        cadence: Cadence::ALL.into_iter().find(|known| known.name() == cadence)?,
        avg_publish_hour: hour("avg_publish_hour", 24.0)?,
        std_publish_hour: hour("std_publish_hour", 24.0)?,
        next_due_at: number("next_due_at")?,
        last_check_at: number("last_check_at")?,
        last_article_at: number("last_article_at")?,
        fail_count: u32::try_from(count("fail_count")?).ok()?,
        backoff_until: number("backoff_until")?,
        last_error: row.get("last_error").ok()?,
        check_count: u64::try_from(check_count).ok()?,
        hit_count: u64::try_from(hit_count).ok().filter(|_| hit_count <= check_count)?,
        created_at: number("created_at")?,
        updated_at: number("updated_at")?,
    })
}
