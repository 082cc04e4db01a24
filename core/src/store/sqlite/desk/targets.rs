//! Sites and targets as an operator sees them.

use rusqlite::{Connection, OptionalExtension, Row, ToSql, params};

use super::super::rows::{self, Fault, unreadable};
use crate::desk::{Department, Page, Paging, SiteRow, TargetQuery, TargetRow};

const FROM: &str = "FROM crawl_target t JOIN crawl_site s ON s.id = t.site_id
     LEFT JOIN local_department d ON d.dept_id = t.dept_id";

fn select() -> String {
    format!(
        "SELECT {}, s.site_code, s.site_name, s.enabled AS s_enabled, d.dept_id AS d_id, d.full_name, d.short_name,
             d.region, d.category {FROM}",
        rows::TARGET
    )
}

pub(super) fn site_rows(db: &Connection, code: Option<&str>) -> Result<Vec<SiteRow>, Fault> {
    let mut found = db.prepare_cached(&format!(
        "SELECT {}, s.managed_by, s.crawl_plan_json, s.operator_set AS s_operator_set FROM crawl_site s
         WHERE ?1 IS NULL OR s.site_code = ?1 ORDER BY s.site_code",
        rows::SITE
    ))?;
    let mut sites = found
        .query_map([code], |row| {
            Ok(SiteRow {
                site: rows::site(row)?,
                managed_by: row.get("managed_by")?,
                crawl_plan: value(row, "crawl_plan_json")?,
                operator_set: value(row, "s_operator_set")?.unwrap_or_default(),
                targets: Vec::new(),
            })
        })?
        .collect::<Result<Vec<_>, _>>()?;
    let mut targets = db.prepare_cached(&format!(
        "{} WHERE ?1 IS NULL OR s.site_code = ?1 ORDER BY s.site_code, t.id",
        select()
    ))?;
    let mut at = 0;
    for target in targets.query_map([code], target_row)? {
        let target = target?;
        while at < sites.len() && sites[at].site.code != target.site {
            at += 1;
        }
        if let Some(site) = sites.get_mut(at) {
            site.targets.push(target);
        }
    }
    Ok(sites)
}

pub(super) fn row(db: &Connection, code: &str) -> Result<Option<TargetRow>, Fault> {
    let mut found = db.prepare_cached(&format!("{} WHERE t.target_code = ?", select()))?;
    Ok(found.query_row([code], target_row).optional()?)
}

/// Conditions with their values, only those that are asked for.
fn conditions(query: &TargetQuery) -> (String, Vec<Box<dyn ToSql>>) {
    let mut sql = String::from(" WHERE 1");
    let mut values: Vec<Box<dyn ToSql>> = Vec::new();
    if let Some(site) = &query.site {
        sql += " AND s.site_code = ?";
        values.push(Box::new(site.clone()));
    }
    if let Some(department) = query.department {
        sql += " AND t.dept_id = ?";
        values.push(Box::new(department));
    }
    if let Some(enabled) = query.enabled {
        sql += " AND (t.enabled AND s.enabled) = ?";
        values.push(Box::new(enabled));
    }
    for word in query.q.as_deref().unwrap_or_default().split_whitespace().take(8) {
        sql += " AND instr(lower(t.target_code || ' ' || t.target_name || ' ' || t.entry_url || ' ' || s.site_name || ' '
             || coalesce(t.channel_path, t.channel_name, '')), lower(?)) > 0";
        values.push(Box::new(word.to_owned()));
    }
    (sql, values)
}

pub(super) fn page(db: &Connection, query: &TargetQuery, paging: &Paging) -> Result<Page<TargetRow>, Fault> {
    let (filter, values) = conditions(query);
    // Thousands at most: the whole list is one way of counting and of cutting.
    let mut found = db.prepare(&format!("{}{filter} ORDER BY s.site_code, t.id", select()))?;
    let rows = found.query_map(rusqlite::params_from_iter(values.iter().map(AsRef::as_ref)), target_row)?;
    Ok(Page::of(rows.collect::<Result<_, _>>()?, paging, "targets")?)
}

pub(super) fn codes(db: &Connection, query: &TargetQuery) -> Result<Vec<String>, Fault> {
    let (filter, values) = conditions(query);
    let mut found = db.prepare(&format!("SELECT t.target_code {FROM}{filter} ORDER BY s.site_code, t.id"))?;
    let rows =
        found.query_map(rusqlite::params_from_iter(values.iter().map(AsRef::as_ref)), |row| row.get(0))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

fn target_row(row: &Row<'_>) -> rusqlite::Result<TargetRow> {
    let department = row.get::<_, Option<i64>>("d_id")?.map(|dept_id| {
        Ok::<_, rusqlite::Error>(Department {
            dept_id,
            full_name: row.get("full_name")?,
            short_name: row.get("short_name")?,
            region: row.get("region")?,
            category: row.get("category")?,
        })
    });
    Ok(TargetRow {
        target: rows::target(row)?,
        site: row.get("site_code")?,
        site_name: row.get("site_name")?,
        site_enabled: row.get("s_enabled")?,
        department: department.transpose()?,
        operator_set: rows::operator_set(row)?,
    })
}

fn value<T: serde::de::DeserializeOwned>(row: &Row<'_>, column: &str) -> rusqlite::Result<Option<T>> {
    let Some(text) = row.get_ref(column)?.as_str_or_null()? else { return Ok(None) };
    serde_json::from_str::<Option<T>>(text).map_err(|error| unreadable(column, error))
}

/// The number of a site.
pub(super) fn site_id(db: &Connection, code: &str) -> Result<Option<i64>, Fault> {
    let mut found = db.prepare_cached("SELECT id FROM crawl_site WHERE site_code = ?")?;
    Ok(found.query_row(params![code], |row| row.get(0)).optional()?)
}
