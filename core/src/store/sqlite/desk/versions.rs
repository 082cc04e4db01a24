//! What the page of an article was at other times: which rows there are, and which go when there are too many.

use rusqlite::{Connection, params};

use super::super::rows::Fault;
use crate::clock::Timestamp;
use crate::desk::PageVersion;
use crate::store::Blob;

/// Versions of one page that are kept: the first, and the newest.
const KEPT: usize = 10;

pub(super) fn all(db: &Connection, article: i64) -> Result<Vec<PageVersion>, Fault> {
    let mut found = db.prepare_cached(
        "SELECT id, at, sha256, size_bytes FROM article_version WHERE article_id = ? ORDER BY id",
    )?;
    let rows = found.query_map([article], |row| {
        Ok(PageVersion {
            n: row.get(0)?,
            at: Timestamp(row.get(1)?),
            sha256: row.get(2)?,
            size_bytes: row.get::<_, i64>(3)?.unsigned_abs(),
        })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Adds versions, the oldest first; answers the contents that no version of this article holds any more.
pub(super) fn add(db: &Connection, article: i64, new: &[(Timestamp, Blob)]) -> Result<Vec<String>, Fault> {
    let mut insert = db.prepare_cached(
        "INSERT INTO article_version (article_id, at, sha256, size_bytes) VALUES (?, ?, ?, ?)",
    )?;
    for (at, blob) in new {
        insert.execute(params![article, at.0, blob.sha256, i64::try_from(blob.size).unwrap_or(i64::MAX)])?;
    }
    let rows = all(db, article)?;
    let mut gone = Vec::new();
    // The first stays: it is what the fields were read from.
    for row in rows.iter().skip(1).take(rows.len().saturating_sub(KEPT)) {
        db.prepare_cached("DELETE FROM article_version WHERE id = ?")?.execute([row.n])?;
        gone.push(row.sha256.clone());
    }
    Ok(gone)
}
