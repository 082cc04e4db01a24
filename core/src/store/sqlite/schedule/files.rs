//! Site files as they were last read (I15).

use std::sync::Arc;

use rusqlite::{Connection, params};
use serde_json::json;

use super::super::queue::submit_one;
use super::super::rows::Fault;
use crate::clock::Timestamp;
use crate::deliver::alert::AlertWatch;
use crate::deliver::{Message, Notice};
use crate::schedule::SiteFile;

/// The files of sites that have one and are not edited elsewhere, with what was last made of them.
pub(in super::super) fn site_files(db: &Connection) -> Result<Vec<SiteFile>, Fault> {
    let mut found = db.prepare_cached(
        "SELECT s.site_code, s.yaml_path, coalesce(f.sha256, ''), f.error FROM crawl_site s
         LEFT JOIN site_file f ON f.site_code = s.site_code AND f.path = s.yaml_path
         WHERE s.yaml_path IS NOT NULL AND s.managed_by = 'yaml' ORDER BY s.site_code",
    )?;
    let rows = found.query_map([], |row| {
        Ok(SiteFile { site: row.get(0)?, path: row.get(1)?, sha256: row.get(2)?, error: row.get(3)? })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

pub(in super::super) fn keep_site_file(
    db: &Connection,
    file: &SiteFile,
    alert: Option<&Arc<AlertWatch>>,
    now: Timestamp,
) -> Result<(), Fault> {
    db.prepare_cached(
        "INSERT INTO site_file (site_code, path, sha256, error, checked_at) VALUES (?1, ?2, ?3, ?4, ?5)
         ON CONFLICT (site_code) DO UPDATE SET path = ?2, sha256 = ?3, error = ?4, checked_at = ?5",
    )?
    .execute(params![file.site, file.path, file.sha256, file.error, now.0])?;
    let (Some(error), Some(watch)) = (&file.error, alert) else { return Ok(()) };
    let title = format!(
        "{}: 站点文件无效，继续使用上一版 / its site file is invalid, the last good one holds",
        file.site
    );
    let key = format!("site-file:{}:{}:{}", file.site, file.sha256, now.0);
    let mut message = Message::new(&key, "alert", title, now);
    message.text.clone_from(error);
    message.fields.insert("site".to_owned(), file.site.clone());
    message.fields.insert("path".to_owned(), file.path.clone());
    let notice = Notice::Message(Box::new(message));
    for channel in &watch.channels {
        submit_one(db, &notice.job(channel, &key), now)?;
    }
    tracing::warn!(site = %file.site, detail = %json!(error), "a site file is invalid; the last good one holds");
    Ok(())
}
