//! Tokens, of which only the hash is kept, and answers to requests with a key.

use rusqlite::{Connection, OptionalExtension, Row, params};

use super::super::rows::{Fault, unreadable};
use crate::Refusal;
use crate::clock::Timestamp;
use crate::desk::{Begun, Scope, TokenRow};

/// Answers are given again for so long.
const KEPT: i64 = 86_400_000;
/// A request that has not answered after this was cut off; its key is free. None is given longer than 180 s.
const CUT_OFF: i64 = 200_000;
/// Use is written down once in this time.
const USED: i64 = 60_000;

pub(super) fn add(
    db: &Connection,
    name: &str,
    hash: &str,
    scope: Scope,
    now: Timestamp,
    expires: Option<Timestamp>,
) -> Result<TokenRow, Fault> {
    if db.prepare_cached("SELECT 1 FROM api_token WHERE name = ?")?.exists([name])? {
        let message = format!("there is a token `{name}` already; choose another name, or remove it first");
        return Err(Refusal::conflict("exists", message).into());
    }
    let row = db
        .prepare_cached(
            "INSERT INTO api_token (name, hash, scope, created_at, expires_at) VALUES (?, ?, ?, ?, ?) RETURNING *",
        )?
        .query_row(params![name, hash, scope.as_str(), now.0, expires.map(|at| at.0)], row)?;
    Ok(row)
}

pub(super) fn all(db: &Connection) -> Result<Vec<TokenRow>, Fault> {
    let mut found = db.prepare_cached("SELECT * FROM api_token ORDER BY id")?;
    Ok(found.query_map([], row)?.collect::<Result<_, _>>()?)
}

/// By name or number. The row stays, for the audit.
pub(super) fn revoke(db: &Connection, key: &str, now: Timestamp) -> Result<TokenRow, Fault> {
    let gone = db
        .prepare_cached(
            "UPDATE api_token SET revoked_at = coalesce(revoked_at, ?2), name = CASE WHEN revoked_at IS NULL
                 THEN name || ' #' || id ELSE name END
             WHERE (name = ?1 OR id = CAST(?1 AS INTEGER) AND ?1 GLOB '[0-9]*') RETURNING *",
        )?
        .query_row(params![key, now.0], row)
        .optional()?;
    gone.ok_or_else(|| Refusal::not_found("token", key).into())
}

/// What a token must be to hold.
const HOLDS: &str = "revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ?2)";

pub(super) fn find(db: &Connection, hash: &str, now: Timestamp) -> Result<Option<TokenRow>, Fault> {
    let mut found = db.prepare_cached(&format!("SELECT * FROM api_token WHERE hash = ?1 AND {HOLDS}"))?;
    Ok(found.query_row(params![hash, now.0], row).optional()?)
}

pub(super) fn held(db: &Connection, id: i64, now: Timestamp) -> Result<Option<TokenRow>, Fault> {
    let mut found = db.prepare_cached(&format!("SELECT * FROM api_token WHERE id = ?1 AND {HOLDS}"))?;
    Ok(found.query_row(params![id, now.0], row).optional()?)
}

pub(super) fn is_stale(token: &TokenRow, now: Timestamp) -> bool {
    token.used_at.is_none_or(|at| now.0 - at.0 >= USED)
}

pub(super) fn used(db: &Connection, id: i64, now: Timestamp) -> Result<(), Fault> {
    db.prepare_cached("UPDATE api_token SET used_at = ?2 WHERE id = ?1")?.execute(params![id, now.0])?;
    Ok(())
}

fn row(row: &Row<'_>) -> rusqlite::Result<TokenRow> {
    let time = |column: &str| row.get::<_, Option<i64>>(column).map(|at| at.map(Timestamp));
    Ok(TokenRow {
        id: row.get("id")?,
        name: row.get("name")?,
        scope: row.get_ref("scope")?.as_str()?.parse().map_err(|error| unreadable("scope", error))?,
        created_at: Timestamp(row.get("created_at")?),
        expires_at: time("expires_at")?,
        used_at: time("used_at")?,
        revoked_at: time("revoked_at")?,
    })
}

pub(super) fn begin(
    db: &Connection,
    actor: &str,
    key: &str,
    asked: &str,
    now: Timestamp,
) -> Result<Begun, Fault> {
    db.prepare_cached("DELETE FROM idempotency WHERE at < ?1 OR (status IS NULL AND at < ?2)")?
        .execute(params![now.0 - KEPT, now.0 - CUT_OFF])?;
    let known: Option<(String, Option<u16>, Option<String>)> = db
        .prepare_cached("SELECT asked, status, answer FROM idempotency WHERE actor = ? AND key = ?")?
        .query_row(params![actor, key], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
        .optional()?;
    match known {
        None => {
            db.prepare_cached("INSERT INTO idempotency (actor, key, asked, at) VALUES (?, ?, ?, ?)")?
                .execute(params![actor, key, asked, now.0])?;
            Ok(Begun::Go)
        }
        Some((before, ..)) if before != asked => {
            let message = "this Idempotency-Key was used for another request; use a new one";
            Err(Refusal::conflict("idempotency", message).into())
        }
        Some((_, Some(status), answer)) => Ok(Begun::Answered { status, answer: answer.unwrap_or_default() }),
        Some(_) => {
            let message = "the first request with this Idempotency-Key is still under way";
            Err(Refusal::conflict("idempotency", message).into())
        }
    }
}

/// None: it failed, and may be tried again under the same key.
pub(super) fn end(db: &Connection, actor: &str, key: &str, answer: Option<(u16, &str)>) -> Result<(), Fault> {
    match answer {
        Some((status, body)) => db
            .prepare_cached("UPDATE idempotency SET status = ?3, answer = ?4 WHERE actor = ?1 AND key = ?2")?
            .execute(params![actor, key, status, body])?,
        None => db
            .prepare_cached("DELETE FROM idempotency WHERE actor = ?1 AND key = ?2")?
            .execute(params![actor, key])?,
    };
    Ok(())
}
