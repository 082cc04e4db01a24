//! The budget of checks: one row.

use rusqlite::{Connection, params};

use super::super::rows::Fault;
use crate::clock::Timestamp;
use crate::schedule::budget::Budget;

pub(in super::super) fn budget(db: &Connection) -> Result<Budget, Fault> {
    let mut found =
        db.prepare_cached("SELECT checks_per_day, price, checks, since, steered_at FROM schedule_budget")?;
    Ok(found.query_row([], |row| {
        let time = |place: usize| row.get::<_, Option<i64>>(place).map(|at| at.map(Timestamp));
        Ok(Budget {
            checks_per_day: row.get(0)?,
            price: row.get(1)?,
            checks: row.get::<_, i64>(2)?.unsigned_abs(),
            since: time(3)?,
            steered_at: time(4)?,
        })
    })?)
}

/// Another budget: what was counted under the old one stays, the price is kept until it is steered.
pub(in super::super) fn set_budget(db: &Connection, checks_per_day: Option<f64>) -> Result<Budget, Fault> {
    db.prepare_cached(
        "UPDATE schedule_budget SET checks_per_day = ?1, price = CASE WHEN ?1 IS NULL THEN 1.0 ELSE price END",
    )?
    .execute([checks_per_day])?;
    budget(db)
}

/// Steers the price, once a day however many processes ask.
pub(in super::super) fn steer(db: &Connection, now: Timestamp) -> Result<Budget, Fault> {
    let old = budget(db)?;
    let Some(new) = old.steered(now) else { return Ok(old) };
    db.prepare_cached("UPDATE schedule_budget SET price = ?1, checks = 0, since = ?2, steered_at = ?2")?
        .execute(params![new.price, now.0])?;
    tracing::info!(from = old.price, to = new.price, checks = old.checks, "the price of a check was steered");
    Ok(new)
}
