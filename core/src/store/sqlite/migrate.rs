//! Brings a database to the schema this program knows (S2-17): `user_version` counts the steps taken.

use std::path::Path;

use rusqlite::{Connection, TransactionBehavior};

use crate::store::StoreError;

/// The steps in order; step N leads from version N to N + 1. A released step is never edited.
pub(super) const STEPS: &[&str] = &[
    include_str!("schema.sql"),
    include_str!("schema_2.sql"),
    include_str!("schema_3.sql"),
    include_str!("schema_4.sql"),
    include_str!("schema_5.sql"),
    include_str!("schema_6.sql"),
    include_str!("schema_7.sql"),
    include_str!("schema_8.sql"),
    include_str!("schema_9.sql"),
    include_str!("schema_10.sql"),
    include_str!("schema_11.sql"),
    include_str!("schema_12.sql"),
    include_str!("schema_13.sql"),
];

/// `diba`: tells a dibao database from any other in its header.
pub(super) const APPLICATION_ID: i64 = 0x6469_6261;

/// Runs the missing steps in one transaction.
pub(super) fn migrate(connection: &mut Connection, path: &Path) -> Result<(), StoreError> {
    let fail = |error| StoreError::sql(path, "brought its schema up to date", error);
    let known = STEPS.len() as i64;
    if version(connection).map_err(fail)? == known && application(connection).map_err(fail)? == APPLICATION_ID
    {
        return Ok(());
    }
    // Asked again inside: another process may have been faster.
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(fail)?;
    let found = version(&transaction).map_err(fail)?;
    let tables: i64 =
        transaction.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0)).map_err(fail)?;
    if tables > 0 && application(&transaction).map_err(fail)? != APPLICATION_ID {
        let reason = "it is a database of another program".to_owned();
        return Err(StoreError::Corrupt { path: path.to_path_buf(), reason });
    }
    if found > known {
        return Err(StoreError::Migration { path: path.to_path_buf(), found, known });
    }
    for step in &STEPS[usize::try_from(found).unwrap_or(0)..] {
        transaction.execute_batch(step).map_err(fail)?;
    }
    transaction.pragma_update(None, "application_id", APPLICATION_ID).map_err(fail)?;
    transaction.pragma_update(None, "user_version", known).map_err(fail)?;
    transaction.commit().map_err(fail)
}

fn version(connection: &Connection) -> rusqlite::Result<i64> {
    connection.pragma_query_value(None, "user_version", |row| row.get(0))
}

fn application(connection: &Connection) -> rusqlite::Result<i64> {
    connection.pragma_query_value(None, "application_id", |row| row.get(0))
}
