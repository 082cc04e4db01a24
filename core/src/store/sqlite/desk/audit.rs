//! Who changed what (one row each), and how that is read.

use rusqlite::{Connection, ToSql, params};
use serde_json::Value;

use super::super::rows::{Fault, json, unreadable};
use crate::clock::Timestamp;
use crate::desk::{Actor, AuditQuery, AuditRow, Cursor, Page, Paging};

/// Longest detail: what was said, not what it was about.
const LONGEST: usize = 16 << 10;

/// An audit row before it has its number.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) at: Timestamp,
    pub(crate) actor: Actor,
    pub(crate) action: &'static str,
    pub(crate) subject: String,
    pub(crate) outcome: String,
    pub(crate) detail: Value,
}

pub(super) fn insert(db: &Connection, entry: &Entry) -> Result<(), Fault> {
    let mut detail = json(&entry.detail);
    if detail.len() > LONGEST {
        detail = json(&serde_json::json!({ "cut": detail.len() }));
    }
    let short = |text: &str| -> String { text.chars().filter(|c| !c.is_control()).take(300).collect() };
    db.prepare_cached(
        "INSERT INTO audit (at, actor, via, request, action, subject, outcome, detail) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
    )?
    .execute(params![
        entry.at.0,
        short(&entry.actor.name),
        short(&entry.actor.via),
        entry.actor.request.as_deref().map(short),
        entry.action,
        short(&entry.subject),
        entry.outcome,
        detail,
    ])?;
    Ok(())
}

pub(super) fn page(db: &Connection, query: &AuditQuery, paging: &Paging) -> Result<Page<AuditRow>, Fault> {
    let limit = paging.rows()?;
    let place = paging.place("audit")?;
    let mut filter = String::from("WHERE 1");
    let mut values: Vec<Box<dyn ToSql>> = Vec::new();
    if let Some(actor) = &query.actor {
        filter += " AND actor = ?";
        values.push(Box::new(actor.clone()));
    }
    if let Some(action) = &query.action {
        filter += " AND action >= ? AND substr(action, 1, length(?)) = ?";
        (0..3).for_each(|_| values.push(Box::new(action.clone())));
    }
    if let Some(subject) = &query.subject {
        filter += " AND subject = ?";
        values.push(Box::new(subject.clone()));
    }
    let all = rusqlite::params_from_iter(values.iter().map(AsRef::as_ref));
    let total: i64 =
        db.prepare(&format!("SELECT count(*) FROM audit {filter}"))?.query_row(all, |row| row.get(0))?;
    let (before, seen) = place.map_or((i64::MAX, paging.skip()), |place| (place.id, place.seen));
    let skip = if paging.cursor.is_some() { 0 } else { i64::try_from(paging.skip()).unwrap_or(i64::MAX) };
    values.extend([Box::new(before) as Box<dyn ToSql>, Box::new(limit), Box::new(skip)]);
    let mut statement =
        db.prepare(&format!("SELECT * FROM audit {filter} AND id < ? ORDER BY id DESC LIMIT ? OFFSET ?"))?;
    let rows = statement.query_map(rusqlite::params_from_iter(values.iter().map(AsRef::as_ref)), |row| {
        Ok(AuditRow {
            id: row.get("id")?,
            at: Timestamp(row.get("at")?),
            actor: row.get("actor")?,
            via: row.get("via")?,
            request: row.get("request")?,
            action: row.get("action")?,
            subject: row.get("subject")?,
            outcome: row.get("outcome")?,
            detail: serde_json::from_str(row.get_ref("detail")?.as_str()?)
                .map_err(|error| unreadable("detail", error))?,
        })
    })?;
    let items = rows.collect::<Result<Vec<_>, _>>()?;
    Ok(finish(items, total, limit, seen, "audit", |row| row.id))
}

/// A page of rows by descending number.
pub(super) fn finish<T>(
    items: Vec<T>,
    total: i64,
    limit: u32,
    seen: u64,
    list: &str,
    id: impl Fn(&T) -> i64,
) -> Page<T> {
    let total = u64::try_from(total).unwrap_or(0);
    let next = seen + items.len() as u64;
    let cursor = items
        .last()
        .filter(|_| items.len() == limit as usize && next < total)
        .map(|last| Cursor { id: id(last), seen: next, ..Cursor::default() }.write(list));
    Page { count: items.len() as u32, total, total_exact: true, limit, offset: seen, items, cursor }
}
