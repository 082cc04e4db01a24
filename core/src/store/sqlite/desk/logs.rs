//! The log of requests and the alerts, read.

use rusqlite::{Connection, OptionalExtension, Row, ToSql};

use super::super::rows::Fault;
use super::audit::finish;
use crate::Refusal;
use crate::clock::Timestamp;
use crate::deliver::alert::AlertState;
use crate::desk::{AlertRow, LogQuery, LogRow, Page, Paging};
use crate::model::RequestLog;

/// A year and a day.
const MOST_HOURS: u32 = 366 * 24;
/// Rows of a log are counted so far; a busy store has millions.
const COUNTED: i64 = 10_000;

pub(super) const SELECT: &str = "SELECT l.*, s.site_code, t.target_code FROM crawl_log l
     JOIN crawl_site s ON s.id = l.site_id JOIN crawl_target t ON t.id = l.target_id";

pub(super) fn page(
    db: &Connection,
    query: &LogQuery,
    paging: &Paging,
    now: Timestamp,
) -> Result<Page<LogRow>, Fault> {
    let limit = paging.rows()?;
    let hours = query.hours.unwrap_or(24);
    if hours == 0 || hours > MOST_HOURS {
        return Err(
            Refusal::invalid("hours", format!("{hours} hours"), format!("write 1 to {MOST_HOURS}")).into()
        );
    }
    let since = now.0 - i64::from(hours) * 3_600_000;
    let place = paging.place("logs")?;
    let mut values: Vec<Box<dyn ToSql>> = Vec::new();
    let mut filter = String::from(" WHERE 1");
    if query.errors_only {
        filter += " AND l.success = 0";
    }
    if let Some(target) = &query.target {
        filter += " AND l.target_id = (SELECT id FROM crawl_target WHERE target_code = ?)";
        values.push(Box::new(target.clone()));
    }
    if let Some(site) = &query.site {
        filter += " AND l.target_id IN (SELECT t.id FROM crawl_target t JOIN crawl_site s ON s.id = t.site_id
             WHERE s.site_code = ?)";
        values.push(Box::new(site.clone()));
    }
    // Numbers grow with time: the first row of the span bounds the search without an index of times.
    let first = first_since(db, since)?;
    filter += " AND l.id >= ? AND l.occurred_at >= ?";
    values.extend([Box::new(first) as Box<dyn ToSql>, Box::new(since)]);
    let total: i64 = db
        .prepare(&format!("SELECT count(*) FROM (SELECT 1 FROM crawl_log l{filter} LIMIT {})", COUNTED + 1))?
        .query_row(rusqlite::params_from_iter(values.iter().map(AsRef::as_ref)), |row| row.get(0))?;
    let (before, seen, skip) = match place {
        Some(place) => (place.id, place.seen, 0),
        None => (i64::MAX, paging.skip(), i64::try_from(paging.skip()).unwrap_or(i64::MAX)),
    };
    values.extend([Box::new(before) as Box<dyn ToSql>, Box::new(limit), Box::new(skip)]);
    let mut found =
        db.prepare(&format!("{SELECT}{filter} AND l.id < ? ORDER BY l.id DESC LIMIT ? OFFSET ?"))?;
    let rows = found.query_map(rusqlite::params_from_iter(values.iter().map(AsRef::as_ref)), row)?;
    let items = rows.collect::<Result<Vec<_>, _>>()?;
    let exact = total <= COUNTED;
    // A count that was cut must not end the list.
    let reach = if exact { total } else { i64::MAX };
    let mut page = finish(items, reach, limit, seen, "logs", |row: &LogRow| row.id);
    page.total = u64::try_from(total.min(COUNTED)).unwrap_or(0);
    page.total_exact = exact;
    Ok(page)
}

/// The number of the first row that is not older than this.
pub(super) fn first_since(db: &Connection, since: i64) -> Result<i64, Fault> {
    let bounds: (Option<i64>, Option<i64>) = db
        .prepare_cached("SELECT min(id), max(id) FROM crawl_log")?
        .query_row([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let (Some(mut low), Some(mut high)) = bounds else { return Ok(0) };
    let mut at =
        db.prepare_cached("SELECT id, occurred_at FROM crawl_log WHERE id >= ? ORDER BY id LIMIT 1")?;
    // A run writes its requests when a step ends, so neighbours are out of order by minutes: an hour to spare.
    let since = since - 3_600_000;
    while low < high {
        let middle = low + (high - low) / 2;
        let (id, time): (i64, i64) = at.query_row([middle], |row| Ok((row.get(0)?, row.get(1)?)))?;
        if time < since { low = id + 1 } else { high = middle }
    }
    Ok(low)
}

pub(super) fn row(row: &Row<'_>) -> rusqlite::Result<LogRow> {
    Ok(LogRow {
        id: row.get("id")?,
        site: row.get("site_code")?,
        target: row.get("target_code")?,
        article_id: row.get("article_id")?,
        request: RequestLog {
            occurred_at: Timestamp(row.get("occurred_at")?),
            url: row.get("url")?,
            purpose: row.get("purpose")?,
            success: row.get("success")?,
            http_status: row.get("http_status")?,
            fetch_strategy: row.get("fetch_strategy")?,
            duration_ms: row.get::<_, i64>("duration_ms")?.unsigned_abs(),
            error: row.get("error_msg")?,
            verdict: row.get("verdict")?,
        },
    })
}

/// What keeps failing, the longest first.
pub(super) fn alerts(db: &Connection) -> Result<Vec<AlertRow>, Fault> {
    let mut found = db.prepare_cached("SELECT subject, state FROM alert")?;
    let rows = found.query_map([], |row| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?)))?;
    let mut alerts = Vec::new();
    let mut last = db.prepare_cached(
        "SELECT reason FROM crawl_run WHERE target_id = (SELECT id FROM crawl_target WHERE target_code = ?)
             AND state = 'failed' ORDER BY id DESC LIMIT 1",
    )?;
    for row in rows {
        let (subject, state) = row?;
        let state: AlertState = serde_json::from_str(&state).unwrap_or_default();
        let error: Option<Option<String>> = last.query_row([&subject], |row| row.get(0)).optional()?;
        alerts.push(AlertRow {
            subject,
            failures: state.failures,
            since: Timestamp(state.since),
            last: state.recent.last().copied().map(Timestamp),
            told_at: state.told_at.map(Timestamp),
            error: error.flatten(),
        });
    }
    alerts.sort_by(|a, b| (a.since.0, &a.subject).cmp(&(b.since.0, &b.subject)));
    Ok(alerts)
}
