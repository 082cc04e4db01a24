//! Writing what an operator says about sites and targets; what was set by hand is marked, so that imports leave it alone.

use rusqlite::{Connection, named_params, params};
use serde_json::Value;

use super::super::rows::{Fault, json};
use super::super::sites;
use crate::model::{Site, Target};
use crate::{Refusal, store::StoreError};

/// A site that is made or changed, with its targets as its settings give them.
#[derive(Clone, Debug)]
pub(crate) struct SiteWrite {
    pub(crate) site: Site,
    pub(crate) targets: Vec<Target>,
    /// Refused when the code is taken.
    pub(crate) new: bool,
    /// The whole list of keys that were set by hand.
    pub(crate) operator_set: Vec<String>,
    /// None: as it is.
    pub(crate) crawl_plan: Option<Option<Value>>,
}

/// A target that is made or changed; it is written as it is here.
#[derive(Clone, Debug)]
pub(crate) struct TargetWrite {
    pub(crate) site: String,
    pub(crate) target: Target,
    /// Refused when the code is taken.
    pub(crate) new: bool,
    /// The whole list of what was set by hand.
    pub(crate) operator_set: Vec<String>,
    /// None: as it is.
    pub(crate) dept_id: Option<Option<i64>>,
}

pub(super) fn site(db: &Connection, write: &SiteWrite) -> Result<(), Fault> {
    let known = sites::site(db, &write.site.code)?;
    match (&known, write.new) {
        (Some(_), true) => {
            let message =
                format!("the site {} exists already; change it, or choose another site_id", write.site.code);
            return Err(Refusal::conflict("exists", message).into());
        }
        (None, false) => return Err(Refusal::not_found("site", &write.site.code).into()),
        _ => {}
    }
    let id = sites::upsert_site(db, &write.site)?;
    for target in &write.targets {
        sites::upsert_target(db, id, target)?;
    }
    if write.new {
        db.prepare_cached("UPDATE crawl_site SET managed_by = 'admin' WHERE id = ?")?.execute([id])?;
    }
    marks(db, write)?;
    touched(db)
}

/// Only the settings that a site keeps as they were written: its targets are written one by one.
pub(super) fn source(db: &Connection, write: &SiteWrite) -> Result<(), Fault> {
    let changed = db
        .prepare_cached("UPDATE crawl_site SET source_json = ?2, hosts_json = ?3 WHERE site_code = ?1")?
        .execute(params![write.site.code, json(&write.site.source), json(&write.site.hosts)])?;
    if changed == 0 {
        return Err(Refusal::not_found("site", &write.site.code).into());
    }
    touched(db)
}

fn marks(db: &Connection, write: &SiteWrite) -> Result<(), Fault> {
    db.prepare_cached("UPDATE crawl_site SET operator_set = ?2 WHERE site_code = ?1")?
        .execute(params![write.site.code, json(&write.operator_set)])?;
    if let Some(plan) = &write.crawl_plan {
        db.prepare_cached("UPDATE crawl_site SET crawl_plan_json = ?2 WHERE site_code = ?1")?
            .execute(params![write.site.code, plan.as_ref().map(json)])?;
    }
    Ok(())
}

pub(super) fn target(db: &Connection, write: &TargetWrite) -> Result<(), Fault> {
    let Some(site) = sites::site(db, &write.site)? else {
        return Err(Refusal::not_found("site", &write.site).into());
    };
    let code = &write.target.code;
    match (sites::stored_target(db, code)?, write.new) {
        (Some(_), true) => {
            let message = format!("the target {code} exists already; change it, or choose another column_id");
            return Err(Refusal::conflict("exists", message).into());
        }
        (None, false) => return Err(Refusal::not_found("target", code).into()),
        (Some((known, _)), _) if known.site_id != site.id => {
            return Err(StoreError::Taken { code: code.clone(), site: write.site.clone() }.into());
        }
        _ => {}
    }
    sites::write_target(db, &Target { site_id: site.id, ..write.target.clone() })?;
    db.prepare_cached(
        "UPDATE crawl_target SET operator_set = :marks, pace_json = :pace WHERE target_code = :code",
    )?
    .execute(named_params! {
        ":marks": json(&write.operator_set), ":pace": json(&write.target.pace), ":code": code,
    })?;
    if let Some(dept) = write.dept_id {
        if let Some(id) = dept
            && !db.prepare_cached("SELECT 1 FROM local_department WHERE dept_id = ?")?.exists([id])?
        {
            return Err(
                Refusal::invalid("dept_id", format!("there is no department {id}"), "make it first").into()
            );
        }
        db.prepare_cached("UPDATE crawl_target SET dept_id = ?2 WHERE target_code = ?1")?
            .execute(params![code, dept])?;
        // What was collected belongs to whoever the target belongs to.
        db.prepare_cached(
            "UPDATE article SET dept_id = ?2 WHERE target_id = (SELECT id FROM crawl_target WHERE target_code = ?1)
                 AND dept_id IS NOT ?2",
        )?
        .execute(params![code, dept])?;
    }
    touched(db)
}

pub(super) fn switch_site(db: &Connection, code: &str, on: bool) -> Result<(), Fault> {
    let changed = db
        .prepare_cached(
            "UPDATE crawl_site SET enabled = ?2,
                 operator_set = (SELECT json_group_array(value) FROM (
                     SELECT value FROM json_each(operator_set) WHERE value <> 'enabled' UNION ALL SELECT 'enabled')),
                 source_json = CASE WHEN json_type(source_json) = 'object'
                     THEN json_set(source_json, '$.enabled', json(?3)) ELSE source_json END
             WHERE site_code = ?1",
        )?
        .execute(params![code, on, if on { "true" } else { "false" }])?;
    if changed == 0 {
        return Err(Refusal::not_found("site", code).into());
    }
    touched(db)
}

pub(super) fn switch_target(db: &Connection, code: &str, on: bool) -> Result<(), Fault> {
    if !sites::set_target_enabled(db, code, on)? {
        return Err(Refusal::not_found("target", code).into());
    }
    touched(db)
}

/// Schedules are to follow what changed here.
pub(super) fn touched(db: &Connection) -> Result<(), Fault> {
    db.prepare_cached("UPDATE schedule_clock SET dirty = 1, changes = changes + 1 WHERE id = 1")?
        .execute([])?;
    Ok(())
}
