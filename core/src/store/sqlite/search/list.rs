//! Articles under filters by publication time, without words; and rows of what was found.

use rusqlite::{Connection, OptionalExtension, Row, ToSql};

use super::super::rows::{self, Fault};
use super::day_of;
use super::whole::{self, folded};
use crate::Refusal;
use crate::clock::Timestamp;
use crate::desk::{Cursor, Page, Piece, SearchHit, SearchQuery};
use crate::store::files::Files;
use crate::store::search::marked;

/// Rows that are counted; more are a lower bound.
const COUNTED: i64 = 100_000;
/// Characters of a snippet.
const SNIPPET: usize = 120;
/// What a word in the title counts, beside one in the body.
const TITLE: f64 = 6.0;

type Values = Vec<Box<dyn ToSql>>;

pub(super) fn page(
    db: &Connection,
    files: &Files,
    query: &SearchQuery,
    limit: u32,
    offset: u64,
    place: Option<Cursor>,
    asked: &str,
) -> Result<Page<SearchHit>, Fault> {
    let (filter, mut values) = filter(query)?;
    let total: i64 = db
        .prepare(&format!(
            "SELECT count(*) FROM (SELECT 1 FROM article a WHERE {filter} LIMIT {})",
            COUNTED + 1
        ))?
        .query_row(rusqlite::params_from_iter(values.iter().map(AsRef::as_ref)), |row| row.get(0))?;
    let exact = total <= COUNTED;
    let total = u64::try_from(total.min(COUNTED)).unwrap_or(0);
    // Without a publication time last; -1 stands for none in a cursor.
    let mut after = String::new();
    let (skip, seen) = match &place {
        None => (i64::try_from(offset).unwrap_or(i64::MAX), offset),
        Some(place) if place.at == i64::MIN => {
            after = " AND a.publish_time IS NULL AND a.id < ?".to_owned();
            values.push(Box::new(place.id));
            (0, place.seen)
        }
        Some(place) => {
            after =
                " AND (a.publish_time < ? OR (a.publish_time = ? AND a.id < ?) OR a.publish_time IS NULL)"
                    .to_owned();
            values.extend([Box::new(place.at) as Box<dyn ToSql>, Box::new(place.at), Box::new(place.id)]);
            (0, place.seen)
        }
    };
    values.extend([Box::new(limit) as Box<dyn ToSql>, Box::new(skip)]);
    let mut found = db.prepare(&format!(
        "SELECT a.id, a.publish_time FROM article a WHERE {filter}{after}
         ORDER BY a.publish_time DESC, a.id DESC LIMIT ? OFFSET ?"
    ))?;
    let rows = found.query_map(rusqlite::params_from_iter(values.iter().map(AsRef::as_ref)), |row| {
        Ok((row.get::<_, i64>(0)?, row.get::<_, Option<i64>>(1)?))
    })?;
    let rows = rows.collect::<Result<Vec<_>, _>>()?;
    let next = seen + rows.len() as u64;
    let more = rows.len() == limit as usize && (!exact || next < total);
    let cursor = rows.last().filter(|_| more).map(|(id, at)| {
        Cursor { at: at.unwrap_or(i64::MIN), id: *id, seen: next, asked: asked.to_owned() }.write("search")
    });
    let chosen: Vec<_> = rows.iter().map(|(id, _)| (*id, None)).collect();
    let items = hits(db, files, &chosen, &[])?;
    Ok(Page { count: items.len() as u32, total, total_exact: exact, limit, offset: seen, items, cursor })
}

pub(super) fn ids(db: &Connection, query: &SearchQuery, limit: usize) -> Result<Vec<i64>, Fault> {
    let (filter, mut values) = filter(query)?;
    values.push(Box::new(limit as i64));
    let mut found = db.prepare(&format!(
        "SELECT a.id FROM article a WHERE {filter} ORDER BY a.publish_time DESC, a.id DESC LIMIT ?"
    ))?;
    let rows =
        found.query_map(rusqlite::params_from_iter(values.iter().map(AsRef::as_ref)), |row| row.get(0))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Only the conditions that are asked for, so that each form finds its index.
fn filter(query: &SearchQuery) -> Result<(String, Values), Refusal> {
    let mut sql = String::from("1");
    let mut values: Values = Vec::new();
    if let Some(target) = &query.target {
        sql += " AND a.target_id = (SELECT id FROM crawl_target WHERE target_code = ?)";
        values.push(Box::new(target.clone()));
    }
    if let Some(site) = &query.site {
        // One index is enough: that of the target is the narrower one.
        sql += if query.target.is_some() { " AND +a.site_id" } else { " AND a.site_id" };
        sql += " = (SELECT id FROM crawl_site WHERE site_code = ?)";
        values.push(Box::new(site.clone()));
    }
    if let Some(department) = query.department {
        let narrow = query.site.is_some() || query.target.is_some();
        sql += if narrow { " AND +a.dept_id = ?" } else { " AND a.dept_id = ?" };
        values.push(Box::new(department));
    }
    match status(query)? {
        Some("ready") => sql += " AND a.status = 'ready'",
        // Said twice, so that the index of those that are not ready is seen to serve.
        Some(other) => {
            sql += " AND a.status <> 'ready' AND a.status = ?";
            values.push(Box::new(other));
        }
        None => {}
    }
    for (field, text, condition) in
        [("from", &query.from, " AND a.publish_date >= ?"), ("to", &query.to, " AND a.publish_date <= ?")]
    {
        let Some(text) = text else { continue };
        let day = day_of(text).and_then(|_| text.parse::<chrono::NaiveDate>().ok());
        let Some(day) = day else {
            return Err(Refusal::invalid(field, format!("`{text}` is no day"), "write YYYY-MM-DD"));
        };
        sql += condition;
        values.push(Box::new(text.clone()));
        // The day is in the site's own zone: a day more on either side bounds the time, which is what is indexed.
        let midnight = day.and_hms_opt(0, 0, 0).unwrap_or_default().and_utc().timestamp_millis();
        let (bound, at) = match field {
            "from" => (" AND a.publish_time >= ?", midnight - 86_400_000),
            _ => (" AND a.publish_time <= ?", midnight + 2 * 86_400_000),
        };
        sql += bound;
        values.push(Box::new(at));
    }
    Ok((sql, values))
}

pub(super) fn status(query: &SearchQuery) -> Result<Option<&'static str>, Refusal> {
    match query.status.as_deref() {
        None | Some("") => Ok(None),
        Some("ready") => Ok(Some("ready")),
        Some("failed") => Ok(Some("failed")),
        Some("raw") => Ok(Some("raw")),
        Some(other) => {
            Err(Refusal::invalid("status", format!("`{other}` is no status"), "write ready, failed or raw"))
        }
    }
}

/// The rows of what was found, in that order, with marks.
pub(super) fn hits(
    db: &Connection,
    files: &Files,
    chosen: &[(i64, Option<f64>)],
    words: &[String],
) -> Result<Vec<SearchHit>, Fault> {
    let mut read = db.prepare_cached(
        "SELECT a.id, s.site_code, t.target_code, t.target_name, a.dept_id, a.url, a.title, a.content_text, a.publish_time,
             a.publish_date, a.publish_precision, a.doc_no, a.publisher, a.status, a.has_attachment, a.fetched_at, a.truncated,
             a.text_path FROM article a JOIN crawl_site s ON s.id = a.site_id JOIN crawl_target t ON t.id = a.target_id WHERE a.id = ?",
    )?;
    let mut hits = Vec::with_capacity(chosen.len());
    for (id, score) in chosen {
        let hit = read
            .query_row([id], |row| {
                Ok(SearchHit {
                    id: row.get("id")?,
                    site: row.get("site_code")?,
                    target: row.get("target_code")?,
                    target_name: row.get("target_name")?,
                    dept_id: row.get("dept_id")?,
                    url: row.get("url")?,
                    title: marked(row.get_ref("title")?.as_str()?, words, usize::MAX),
                    snippet: snippet(files, row, words)?,
                    published: rows::published(row)?,
                    doc_no: row.get("doc_no")?,
                    publisher: row.get("publisher")?,
                    status: row.get("status")?,
                    has_attachment: row.get("has_attachment")?,
                    fetched_at: Timestamp(row.get("fetched_at")?),
                    score: *score,
                })
            })
            .optional()?;
        hits.extend(hit);
    }
    Ok(hits)
}

/// The place of the words, or the beginning. In a long text it may be beyond what the row holds.
fn snippet(files: &Files, row: &Row<'_>, words: &[String]) -> rusqlite::Result<Vec<Piece>> {
    let near = marked(row.get_ref("content_text")?.as_str()?, words, SNIPPET);
    let found = words.is_empty() || near.iter().any(|piece| piece.hit);
    if found || !row.get("truncated")? {
        return Ok(near);
    }
    let whole = whole::read(files, row.get_ref("text_path")?.as_str_or_null()?);
    let far = whole.and_then(|whole| whole::near(&whole, words));
    Ok(far.map_or(near, |far| marked(&far, words, SNIPPET)))
}

/// BM25 of each over the rows themselves, the heaviest first, of equals the newest. Frequency in the whole store is not asked:
/// that would read every match; it is taken from these.
pub(super) fn weights(
    db: &Connection,
    files: &Files,
    ids: &[i64],
    words: &[String],
) -> Result<Vec<(i64, f64)>, Fault> {
    let mut read = db.prepare_cached(
        "SELECT title, content_text, publish_time, truncated, text_path FROM article WHERE id = ?",
    )?;
    let mut found = Vec::with_capacity(ids.len());
    for id in ids {
        let counts = read
            .query_row([id], |row| {
                let (title, mut body) =
                    (folded(row.get_ref(0)?.as_str()?), folded(row.get_ref(1)?.as_str()?));
                let elsewhere =
                    |word: &String| !title.contains(word.as_str()) && !body.contains(word.as_str());
                if row.get(3)? && words.iter().any(elsewhere) {
                    let whole = whole::read(files, row.get_ref(4)?.as_str_or_null()?);
                    body = whole.map_or(body, |whole| folded(&whole));
                }
                let count = |word: &String| {
                    let of = |text: &str| text.matches(word.as_str()).count() as f64;
                    TITLE * of(&title) + of(&body)
                };
                let counts: Vec<f64> = words.iter().map(count).collect();
                Ok((counts, (title.len() + body.len()) as f64, row.get::<_, Option<i64>>(2)?))
            })
            .optional()?;
        found.extend(counts.map(|(counts, length, at)| (*id, counts, length, at)));
    }
    let usual = found.iter().map(|(_, _, length, _)| length).sum::<f64>() / found.len().max(1) as f64;
    let rarity: Vec<f64> = (0..words.len())
        .map(|word| {
            // More places in all are a more frequent word.
            let places: f64 = found.iter().map(|(_, counts, ..)| counts[word]).sum();
            (1.0 + found.len() as f64 / (0.5 + places)).ln()
        })
        .collect();
    let mut weighed: Vec<(i64, f64, i64)> = found
        .into_iter()
        .map(|(id, counts, length, at)| {
            let damp = 1.2 * (0.25 + 0.75 * length / usual.max(1.0));
            let weight =
                counts.iter().zip(&rarity).map(|(count, rare)| rare * count * 2.2 / (count + damp)).sum();
            (id, weight, at.unwrap_or(i64::MIN))
        })
        .collect();
    weighed.sort_by(|a, b| b.1.total_cmp(&a.1).then(b.2.cmp(&a.2)).then(b.0.cmp(&a.0)));
    Ok(weighed.into_iter().map(|(id, weight, _)| (id, weight)).collect())
}
