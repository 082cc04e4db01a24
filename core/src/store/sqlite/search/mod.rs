//! The full-text index: written in the transaction of its article, built again when asked, searched in bounded steps.

mod ask;
mod list;
mod whole;

pub(super) use ask::{ids, page};
pub(super) use whole::searched;

use rusqlite::{Connection, OptionalExtension, params};

use super::rows::Fault;
use crate::model::Article;
use crate::store::files::Files;
use crate::store::search::segment;

/// Articles that are added at once.
const PIECE: i64 = 256;

/// What the index is given of an article: cut on the caller's thread, because the writer is the narrow place.
#[derive(Clone, Debug)]
pub(super) struct Words {
    title: String,
    body: String,
    docno: String,
    date: Option<String>,
    status: &'static str,
}

impl Words {
    /// `body`: the whole text, cut into words; that of the article may be its beginning only.
    pub(super) fn of(article: &Article, body: String) -> Words {
        Words {
            title: segment(&article.title),
            body,
            docno: segment(article.doc_no.as_deref().unwrap_or_default()),
            date: article.published.as_ref().map(|published| published.date.clone()),
            status: article.status.as_str(),
        }
    }
}

pub(super) fn insert(
    db: &Connection,
    id: i64,
    site: i64,
    target: i64,
    words: &Words,
) -> Result<(), rusqlite::Error> {
    let tags = tags(site, target, words.status, words.date.as_deref());
    let key = key(db, words.date.as_deref())?;
    db.prepare_cached("INSERT INTO search_row (key, article_id) VALUES (?, ?)")?.execute(params![key, id])?;
    db.prepare_cached("INSERT INTO article_fts (rowid, title, body, docno, tags) VALUES (?, ?, ?, ?, ?)")?
        .execute(params![key, words.title, words.body, words.docno, tags])?;
    Ok(())
}

/// Numbers of a day: more articles than any source publishes, and few enough that the differences between them stay short.
const OF_A_DAY: i64 = 1 << 20;

/// The next free number of its day. Those without a day come before every day, which begin long after 1900.
fn key(db: &Connection, date: Option<&str>) -> Result<i64, rusqlite::Error> {
    let day = date.and_then(|date| date.parse::<chrono::NaiveDate>().ok()).map_or(0, |day| {
        let first = chrono::NaiveDate::from_ymd_opt(1900, 1, 1).unwrap_or_default();
        day.signed_duration_since(first).num_days()
    });
    let mut last = db.prepare_cached("SELECT max(key) FROM search_row WHERE key >= ? AND key < ?")?;
    // 1949 is the first year that a date is believed; what is older counts as having none.
    let dated = day >= FIRST_DAY;
    let mut from = if dated { day * OF_A_DAY } else { 1 };
    loop {
        let end = if dated { from + OF_A_DAY } else { FIRST_DAY * OF_A_DAY };
        let next =
            last.query_row([from, end], |row| row.get::<_, Option<i64>>(0))?.map_or(from, |last| last + 1);
        // A day that is full lends from the day before: the article is kept, a day off in the list.
        match next < end || from == 0 {
            true => return Ok(next),
            false => from -= OF_A_DAY,
        }
    }
}

/// 1 January 1949, in days since 1900.
const FIRST_DAY: i64 = 17_897;

fn tags(site: i64, target: i64, status: &str, date: Option<&str>) -> String {
    let mut tags = format!("s{site} t{target} x{status}");
    if let Some((year, month, day)) = date.and_then(day_of) {
        tags += &format!(" y{year} m{year}{month} d{year}{month}{day}");
    }
    tags
}

/// `2026-04-10` in its parts.
pub(super) fn day_of(date: &str) -> Option<(&str, &str, &str)> {
    let (year, month, day) = (date.get(..4)?, date.get(5..7)?, date.get(8..10)?);
    let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    (date.len() == 10 && digits(year) && digits(month) && digits(day)).then_some((year, month, day))
}

/// Works off a piece of the backlog; answers how many are left.
pub(super) fn work_off(db: &Connection, files: &Files) -> Result<u64, Fault> {
    let mut next = db.prepare_cached("SELECT article_id FROM search_backlog ORDER BY article_id LIMIT ?")?;
    let ids = next.query_map([PIECE], |row| row.get(0))?.collect::<Result<Vec<i64>, _>>()?;
    let mut read = db.prepare_cached(
        "SELECT site_id, target_id, title, content_text, doc_no, publish_date, status,
             truncated, text_path FROM article WHERE id = ?",
    )?;
    let mut done = db.prepare_cached("DELETE FROM search_backlog WHERE article_id = ?")?;
    for id in &ids {
        let found = read
            .query_row([id], |row| {
                let text = |at: usize| {
                    Ok::<_, rusqlite::Error>(segment(row.get_ref(at)?.as_str_or_null()?.unwrap_or_default()))
                };
                let status = match row.get_ref(6)?.as_str()? {
                    "ready" => "ready",
                    "raw" => "raw",
                    _ => "failed",
                };
                let whole = match row.get(7)? {
                    true => whole::read(files, row.get_ref(8)?.as_str_or_null()?),
                    false => None,
                };
                let body = whole.map_or_else(|| text(3), |whole| Ok(segment(&whole)))?;
                let words = Words { title: text(2)?, body, docno: text(4)?, date: row.get(5)?, status };
                Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?, words))
            })
            .optional()?;
        if let Some((site, target, words)) = found {
            let known: Option<i64> = db
                .prepare_cached("DELETE FROM search_row WHERE article_id = ? RETURNING key")?
                .query_row([id], |row| row.get(0))
                .optional()?;
            if let Some(key) = known {
                db.prepare_cached("DELETE FROM article_fts WHERE rowid = ?")?.execute([key])?;
            }
            insert(db, *id, site, target, &words)?;
        }
        done.execute([id])?;
    }
    if (ids.len() as i64) < PIECE {
        return Ok(0);
    }
    let left: i64 =
        db.prepare_cached("SELECT count(*) FROM search_backlog")?.query_row([], |row| row.get(0))?;
    Ok(left.unsigned_abs())
}

/// Forgets the index; everything is in the backlog again.
pub(super) fn forget(db: &Connection) -> Result<u64, Fault> {
    db.execute_batch(
        "INSERT INTO article_fts (article_fts) VALUES ('delete-all');
         DELETE FROM search_row;
         INSERT OR IGNORE INTO search_backlog SELECT id FROM article;",
    )?;
    let left: i64 = db.query_row("SELECT count(*) FROM search_backlog", [], |row| row.get(0))?;
    Ok(left.unsigned_abs())
}
