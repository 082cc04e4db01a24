//! Removing targets and sites with all that hangs on them. Articles and logs go before, in pieces (`articles`), so that
//! the writer is never held for long.

use rusqlite::{Connection, params};

use super::super::rows::Fault;
use super::{edit, targets};
use crate::Refusal;
use crate::schedule::target_schedule;

pub(super) fn log_of_target(db: &Connection, code: &str, limit: u32) -> Result<usize, Fault> {
    Ok(db
        .prepare_cached(
            "DELETE FROM crawl_log WHERE id IN (SELECT id FROM crawl_log
                 WHERE target_id = (SELECT id FROM crawl_target WHERE target_code = ?1) LIMIT ?2)",
        )?
        .execute(params![code, limit])?)
}

/// The rest of a target. `alone`: its site goes on without it, and forgets its column.
pub(super) fn target(db: &Connection, code: &str, alone: bool) -> Result<(), Fault> {
    if active(db, code)? {
        let message = format!("{code} is being crawled; cancel that job first");
        return Err(Refusal::conflict("active", message).into());
    }
    db.prepare_cached("DELETE FROM schedule WHERE name = ?")?.execute([target_schedule(code)])?;
    db.prepare_cached("DELETE FROM source_stats WHERE source_id = ?")?.execute([code])?;
    db.prepare_cached("DELETE FROM alert WHERE subject = ?")?.execute([code])?;
    if alone {
        forget_column(db, code)?;
    }
    let gone = db.prepare_cached("DELETE FROM crawl_target WHERE target_code = ?")?.execute([code])?;
    if gone == 0 {
        return Err(Refusal::not_found("target", code).into());
    }
    edit::touched(db)
}

pub(super) fn site(db: &Connection, code: &str) -> Result<(), Fault> {
    let Some(id) = targets::site_id(db, code)? else { return Err(Refusal::not_found("site", code).into()) };
    let mut of_site = db.prepare_cached("SELECT target_code FROM crawl_target WHERE site_id = ?")?;
    let codes = of_site.query_map([id], |row| row.get::<_, String>(0))?.collect::<Result<Vec<_>, _>>()?;
    for target in codes {
        self::target(db, &target, false)?;
    }
    db.prepare_cached("DELETE FROM site_file WHERE site_code = ?")?.execute([code])?;
    db.prepare_cached("DELETE FROM crawl_site WHERE id = ?")?.execute([id])?;
    edit::touched(db)
}

/// A crawl of it is at work.
fn active(db: &Connection, code: &str) -> Result<bool, Fault> {
    Ok(db
        .prepare_cached(
            "SELECT 1 FROM job WHERE state IN ('running', 'cancelling') AND kind = 'crawl'
                 AND json_extract(payload, '$.target') = ?",
        )?
        .exists([code])?)
}

/// Out of the settings that its site keeps, so that changing the site does not bring it back.
fn forget_column(db: &Connection, code: &str) -> Result<(), Fault> {
    db.prepare_cached(
        "UPDATE crawl_site SET source_json = json_set(source_json, '$.columns', json((
             SELECT json_group_array(json(value)) FROM json_each(source_json, '$.columns')
             WHERE site_code || '__' || json_extract(value, '$.column_id') <> ?1)))
         WHERE id = (SELECT site_id FROM crawl_target WHERE target_code = ?1)
             AND json_type(source_json, '$.columns') = 'array'",
    )?
    .execute([code])?;
    Ok(())
}
