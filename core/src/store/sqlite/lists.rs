//! The version of each list's first page that was last read, so that the next run can ask whether there is another.

use rusqlite::{Connection, OptionalExtension, params};

use super::rows::Fault;
use crate::clock::Timestamp;
use crate::fetch::Validators;
use crate::store::types::ListValidators;

/// What was last kept for a target; a row that nobody could have kept is no row.
pub(super) fn validators(db: &Connection, target_id: i64) -> Result<Option<ListValidators>, Fault> {
    let row = db
        .prepare_cached(
            "SELECT url, etag, last_modified, basis, saved_at FROM list_validator WHERE target_id = ?",
        )?
        .query_row([target_id], |row| {
            let kept = Validators::kept(row.get(0)?, row.get(1)?, row.get(2)?);
            Ok((kept, row.get(3)?, Timestamp(row.get(4)?)))
        })
        .optional()?;
    Ok(row.and_then(|(validators, basis, saved_at)| {
        Some(ListValidators { validators: validators?, basis, saved_at })
    }))
}

/// Keeps a version in place of the one before.
pub(super) fn keep(db: &Connection, target_id: i64, kept: &ListValidators) -> Result<(), Fault> {
    let Validators { url, etag, last_modified } = &kept.validators;
    db.prepare_cached(
        "INSERT OR REPLACE INTO list_validator (target_id, url, etag, last_modified, basis, saved_at)
         VALUES (?, ?, ?, ?, ?, ?)",
    )?
    .execute(params![target_id, url, etag, last_modified, kept.basis, kept.saved_at.0])?;
    Ok(())
}
