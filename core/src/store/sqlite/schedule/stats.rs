//! The table of sources (S0-5 … S0-9): rows in and out; what a look does to one is decided in
//! [`classic`](crate::schedule::classic).

use rusqlite::{Connection, OptionalExtension, Row};

use super::super::rows::Fault;
use crate::clock::Timestamp;
use crate::schedule::SourceCounts;
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

/// Writes the row of a source.
pub(super) fn save(db: &Connection, stats: &SourceStats) -> Result<(), Fault> {
    db.prepare_cached(
        "INSERT OR REPLACE INTO source_stats (source_id, source_type, frequency_type, cadence, avg_publish_hour,
             std_publish_hour, next_due_at, last_check_at, last_article_at, fail_count, backoff_until, last_error,
             check_count, hit_count, created_at, updated_at)
         VALUES (:id, :type, :frequency, :cadence, :avg, :std, :next, :check, :article, :fails, :backoff, :error,
             :checks, :hits, :created, :updated)",
    )?
    .execute(rusqlite::named_params! {
        ":id": stats.source_id, ":type": stats.source_type, ":frequency": stats.frequency_type.name(),
        ":cadence": stats.cadence.name(), ":avg": stats.avg_publish_hour, ":std": stats.std_publish_hour,
        ":next": stats.next_due_at, ":check": stats.last_check_at, ":article": stats.last_article_at,
        ":fails": stats.fail_count, ":backoff": stats.backoff_until, ":error": stats.last_error,
        ":checks": count(stats.check_count), ":hits": count(stats.hit_count), ":created": stats.created_at,
        ":updated": stats.updated_at,
    })?;
    Ok(())
}

/// S0-20: sources that are due, the longest overdue first.
pub(in super::super) fn due_sources(
    db: &Connection,
    now: Timestamp,
    source_type: Option<&str>,
    limit: u32,
) -> Result<Vec<SourceStats>, Fault> {
    let seconds = now.0.div_euclid(1_000);
    let mut found = db.prepare_cached(
        "SELECT * FROM source_stats WHERE next_due_at <= ?1 AND backoff_until <= ?1 AND (?2 IS NULL OR source_type = ?2)
         ORDER BY next_due_at, source_id LIMIT ?3",
    )?;
    let rows = found.query_map(rusqlite::params![seconds, source_type, limit], |row| Ok(from_row(row)))?;
    Ok(rows.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
}

/// S0-20: all sources of a type together.
pub(in super::super) fn source_counts(
    db: &Connection,
    now: Timestamp,
    source_type: Option<&str>,
) -> Result<SourceCounts, Fault> {
    let seconds = now.0.div_euclid(1_000);
    let mut found = db.prepare_cached(
        "SELECT cadence, count(*), total(check_count), total(hit_count), total(next_due_at <= ?1), total(fail_count > 0)
         FROM source_stats WHERE ?2 IS NULL OR source_type = ?2 GROUP BY cadence ORDER BY cadence",
    )?;
    let mut counts = SourceCounts::default();
    let mut rows = found.query(rusqlite::params![seconds, source_type])?;
    while let Some(row) = rows.next()? {
        let number = |place: usize| row.get::<_, f64>(place).map(|number| number as u64);
        let sources = row.get::<_, i64>(1)?.unsigned_abs();
        counts.sources += sources;
        counts.checks += number(2)?;
        counts.hits += number(3)?;
        counts.due += number(4)?;
        counts.failing += number(5)?;
        counts.cadences.insert(row.get::<_, Option<String>>(0)?.unwrap_or_default(), sources);
    }
    Ok(counts)
}

fn count(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
