//! Removing articles with what hangs on them. Rows go first; the caller removes the files that no row names any more, so
//! a crash in between leaves files without rows and never rows without files.

use rusqlite::{Connection, OptionalExtension, params};

use super::super::articles;
use super::super::rows::Fault;
use crate::Refusal;
use crate::desk::Department;
use crate::model::Article;

/// What lay on the disk for an article that is gone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ArticleFiles {
    /// Relative to the data directory.
    pub(crate) paths: Vec<String>,
    /// Contents that other articles may still use.
    pub(crate) blobs: Vec<String>,
}

pub(super) fn with_department(
    db: &Connection,
    id: i64,
) -> Result<Option<(Article, Option<Department>)>, Fault> {
    let Some(article) = articles::by_id(db, id)? else { return Ok(None) };
    let department = db
        .prepare_cached(
            "SELECT d.* FROM local_department d JOIN article a ON a.dept_id = d.dept_id WHERE a.id = ?",
        )?
        .query_row([id], super::departments::from_row)
        .optional()?;
    Ok(Some((article, department)))
}

pub(super) fn drop_all(db: &Connection, ids: &[i64]) -> Result<Vec<ArticleFiles>, Fault> {
    ids.iter().map(|id| one(db, *id)?.ok_or_else(|| Refusal::not_found("article", id).into())).collect()
}

pub(super) fn drop_of_target(db: &Connection, target: &str, limit: u32) -> Result<Vec<ArticleFiles>, Fault> {
    let mut found = db.prepare_cached(
        "SELECT id FROM article WHERE target_id = (SELECT id FROM crawl_target WHERE target_code = ?1) LIMIT ?2",
    )?;
    let ids = found.query_map(params![target, limit], |row| row.get(0))?.collect::<Result<Vec<i64>, _>>()?;
    Ok(ids.into_iter().map(|id| one(db, id)).collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
}

fn one(db: &Connection, id: i64) -> Result<Option<ArticleFiles>, Fault> {
    let mut files = ArticleFiles::default();
    let mut attached = db.prepare_cached("SELECT file_path, sha256 FROM attachment WHERE article_id = ?")?;
    let rows = attached
        .query_map([id], |row| Ok((row.get::<_, Option<String>>(0)?, row.get::<_, Option<String>>(1)?)))?;
    for row in rows {
        let (path, blob) = row?;
        files.paths.extend(path);
        files.blobs.extend(blob);
    }
    let mut versions = db.prepare_cached("SELECT sha256 FROM article_version WHERE article_id = ?")?;
    for blob in versions.query_map([id], |row| row.get(0))? {
        files.blobs.push(blob?);
    }
    let gone = db
        .prepare_cached("DELETE FROM article WHERE id = ? RETURNING raw_html_path, text_path")?
        .query_row([id], |row| Ok([row.get::<_, Option<String>>(0)?, row.get(1)?]))
        .optional()?;
    let Some(paths) = gone else { return Ok(None) };
    files.paths.extend(paths.into_iter().flatten());
    Ok(Some(files))
}

pub(super) fn unused_blobs(db: &Connection, sha256: &[String]) -> Result<Vec<String>, Fault> {
    let mut used = db.prepare_cached(
        "SELECT 1 FROM attachment WHERE sha256 = ?1 UNION ALL SELECT 1 FROM article_version WHERE sha256 = ?1",
    )?;
    let mut unused = Vec::new();
    for blob in sha256 {
        if !used.exists([blob])? {
            unused.push(blob.clone());
        }
    }
    Ok(unused)
}
