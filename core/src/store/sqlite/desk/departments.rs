//! Departments (S2-13).

use rusqlite::{Connection, OptionalExtension, Row, params};

use super::super::rows::Fault;
use crate::Refusal;
use crate::desk::{Department, DepartmentEdit};

/// Longest of its texts, in characters.
const LONGEST: usize = 200;

pub(super) fn all(
    db: &Connection,
    region: Option<&str>,
    category: Option<&str>,
) -> Result<Vec<Department>, Fault> {
    let mut found = db.prepare_cached(
        "SELECT * FROM local_department WHERE (?1 IS NULL OR region = ?1) AND (?2 IS NULL OR category = ?2)
         ORDER BY region, category, full_name, dept_id",
    )?;
    Ok(found.query_map(params![region, category], from_row)?.collect::<Result<_, _>>()?)
}

pub(super) fn from_row(row: &Row<'_>) -> rusqlite::Result<Department> {
    Ok(Department {
        dept_id: row.get("dept_id")?,
        full_name: row.get("full_name")?,
        short_name: row.get("short_name")?,
        region: row.get("region")?,
        category: row.get("category")?,
    })
}

pub(super) fn add(db: &Connection, edit: &DepartmentEdit) -> Result<Department, Fault> {
    let name = text("full_name", edit.full_name.as_deref())?.flatten();
    let Some(name) = name else {
        return Err(Refusal::invalid("full_name", "the name is missing", "write it").into());
    };
    if let Some(id) = edit.dept_id
        && (id <= 0 || get(db, id)?.is_some())
    {
        let fault = match id {
            ..=0 => Refusal::invalid("dept_id", "numbers begin at 1", "leave it out for the next free one"),
            _ => Refusal::conflict("exists", format!("the department {id} exists already")),
        };
        return Err(fault.into());
    }
    let id: i64 = db
        .prepare_cached(
            "INSERT INTO local_department (dept_id, full_name, short_name, region, category) VALUES (?, ?, ?, ?, ?)
             RETURNING dept_id",
        )?
        .query_row(
            params![
                edit.dept_id,
                name,
                text("short_name", edit.short_name.as_deref())?.flatten(),
                text("region", edit.region.as_deref())?.flatten(),
                text("category", edit.category.as_deref())?.flatten(),
            ],
            |row| row.get(0),
        )?;
    get(db, id)?.ok_or_else(|| Refusal::not_found("department", id).into())
}

pub(super) fn edit(db: &Connection, id: i64, edit: &DepartmentEdit) -> Result<Department, Fault> {
    let Some(mut row) = get(db, id)? else { return Err(Refusal::not_found("department", id).into()) };
    if edit.dept_id.is_some_and(|other| other != id) {
        return Err(Refusal::invalid("dept_id", "a number stays", "leave it out").into());
    }
    if let Some(name) = text("full_name", edit.full_name.as_deref())? {
        row.full_name = name.ok_or_else(|| Refusal::invalid("full_name", "the name is empty", "write it"))?;
    }
    for (field, said, kept) in [
        ("short_name", &edit.short_name, &mut row.short_name),
        ("region", &edit.region, &mut row.region),
        ("category", &edit.category, &mut row.category),
    ] {
        if let Some(said) = text(field, said.as_deref())? {
            *kept = said;
        }
    }
    db.prepare_cached(
        "UPDATE local_department SET full_name = ?2, short_name = ?3, region = ?4, category = ?5 WHERE dept_id = ?1",
    )?
    .execute(params![id, row.full_name, row.short_name, row.region, row.category])?;
    Ok(row)
}

/// Its targets and articles stay, without a department.
pub(super) fn remove(db: &Connection, id: i64) -> Result<(), Fault> {
    let gone = db.prepare_cached("DELETE FROM local_department WHERE dept_id = ?")?.execute([id])?;
    if gone == 0 { Err(Refusal::not_found("department", id).into()) } else { Ok(()) }
}

fn get(db: &Connection, id: i64) -> Result<Option<Department>, Fault> {
    let mut found = db.prepare_cached("SELECT * FROM local_department WHERE dept_id = ?")?;
    Ok(found.query_row([id], from_row).optional()?)
}

/// None: nothing was said; inner none: taken back.
fn text(field: &str, said: Option<&str>) -> Result<Option<Option<String>>, Refusal> {
    let Some(said) = said else { return Ok(None) };
    let clean = said.trim();
    if clean.chars().count() > LONGEST || clean.chars().any(char::is_control) {
        let fix = format!("write at most {LONGEST} characters on one line");
        return Err(Refusal::invalid(field, "is too long or has control characters", fix));
    }
    Ok(Some((!clean.is_empty()).then(|| clean.to_owned())))
}
