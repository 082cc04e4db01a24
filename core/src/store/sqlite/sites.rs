//! Sites and targets: imports that keep what the operator set by hand.

use rusqlite::{Connection, OptionalExtension, named_params, params};

use super::rows::{self, Fault, json};
use crate::model::{Pace, Site, Target};
use crate::store::StoreError;
use crate::store::types::SiteChange;

/// Stores a site and its targets; see [`crate::store::Store::put_site`].
pub(super) fn put_site(db: &Connection, site: &Site, targets: &[Target]) -> Result<SiteChange, Fault> {
    let site_id = upsert_site(db, site)?;
    let mut change = SiteChange { site_id, ..SiteChange::default() };
    for target in targets {
        match upsert_target(db, site_id, target)? {
            Upsert::Added => change.added.push(target.code.clone()),
            Upsert::Changed => change.changed.push(target.code.clone()),
            Upsert::Same => {}
        }
    }
    let mut stored =
        db.prepare_cached("SELECT target_code FROM crawl_target WHERE site_id = ? AND enabled = 1")?;
    let on = stored.query_map([site_id], |row| row.get::<_, String>(0))?.collect::<Result<Vec<_>, _>>()?;
    for code in on {
        if !targets.iter().any(|target| target.code == code) {
            // Out of the file is a later word than an old switch to "on": the mark goes, so that a column that
            // comes back follows the file again.
            set_enabled(db, &code, false, None)?;
            change.disabled.push(code);
        }
    }
    Ok(change)
}

/// Stores one target; see [`crate::store::Store::put_target`].
pub(super) fn put_target(db: &Connection, site_code: &str, target: &Target) -> Result<Target, Fault> {
    let Some(site) = site(db, site_code)? else {
        return Err(StoreError::Missing { what: "site", name: site_code.to_owned() }.into());
    };
    upsert_target(db, site.id, target)?;
    let stored = stored_target(db, &target.code)?;
    stored.map(|(target, _)| target).ok_or_else(|| missing_target(&target.code))
}

pub(super) fn sites(db: &Connection) -> Result<Vec<Site>, Fault> {
    let mut query =
        db.prepare_cached(&format!("SELECT {} FROM crawl_site s ORDER BY s.site_code", rows::SITE))?;
    Ok(query.query_map([], rows::site)?.collect::<Result<_, _>>()?)
}

pub(super) fn site(db: &Connection, code: &str) -> Result<Option<Site>, Fault> {
    let mut query =
        db.prepare_cached(&format!("SELECT {} FROM crawl_site s WHERE s.site_code = ?", rows::SITE))?;
    Ok(query.query_row([code], rows::site).optional()?)
}

/// Targets with their sites, of one site or with one code when given.
pub(super) fn targets(
    db: &Connection,
    site: Option<&str>,
    code: Option<&str>,
) -> Result<Vec<(Site, Target)>, Fault> {
    let mut query = db.prepare_cached(&format!(
        "SELECT {}, {} FROM crawl_target t JOIN crawl_site s ON s.id = t.site_id
         WHERE (?1 IS NULL OR s.site_code = ?1) AND (?2 IS NULL OR t.target_code = ?2)
         ORDER BY s.site_code, t.id",
        rows::SITE,
        rows::TARGET
    ))?;
    let found = query.query_map(params![site, code], |row| Ok((rows::site(row)?, rows::target(row)?)))?;
    Ok(found.collect::<Result<_, _>>()?)
}

pub(super) fn set_target_enabled(db: &Connection, code: &str, on: bool) -> Result<bool, Fault> {
    set_enabled(db, code, on, Some("enabled"))
}

/// Sets the switch, and sets or removes the mark that it was set by hand.
fn set_enabled(db: &Connection, code: &str, on: bool, mark: Option<&str>) -> Result<bool, Fault> {
    let Some((_, mut marks)) = stored_target(db, code)? else { return Ok(false) };
    marks.retain(|name| name != "enabled");
    marks.extend(mark.map(str::to_owned));
    db.prepare_cached("UPDATE crawl_target SET enabled = ?2, operator_set = ?3 WHERE target_code = ?1")?
        .execute(params![code, on, json(&marks)])?;
    Ok(true)
}

/// What the operator says about a target's pace. It has a column of its own, which no import touches (I14).
pub(super) fn set_target_pace(db: &Connection, code: &str, pace: &Pace) -> Result<bool, Fault> {
    let changed = db
        .prepare_cached("UPDATE crawl_target SET pace_json = ?2 WHERE target_code = ?1")?
        .execute(params![code, json(pace)])?;
    Ok(changed > 0)
}

pub(super) fn upsert_site(db: &Connection, site: &Site) -> Result<i64, Fault> {
    let mut upsert = db.prepare_cached(
        "INSERT INTO crawl_site (site_code, site_name, base_url, cms_adapter, adapter_params_json,
             default_fetch_strategy, schedule_cron, enabled, respect_robots, concurrency, hosts_json, yaml_path,
             source_json)
         VALUES (:code, :name, :base_url, :adapter, :params, :strategy, :cron, :enabled, :robots, :concurrency,
             :hosts, :yaml, :source)
         ON CONFLICT (site_code) DO UPDATE SET site_name = excluded.site_name, base_url = excluded.base_url,
             cms_adapter = excluded.cms_adapter, adapter_params_json = excluded.adapter_params_json,
             default_fetch_strategy = excluded.default_fetch_strategy, schedule_cron = excluded.schedule_cron,
             enabled = excluded.enabled, respect_robots = excluded.respect_robots,
             concurrency = excluded.concurrency, hosts_json = excluded.hosts_json,
             yaml_path = excluded.yaml_path, source_json = excluded.source_json
         RETURNING id",
    )?;
    let id = upsert.query_row(
        named_params! {
            ":code": site.code, ":name": site.name, ":base_url": site.base_url, ":adapter": site.adapter,
            ":params": site.source.get("adapter_params").map(json), ":strategy": site.strategy,
            ":cron": site.schedule, ":enabled": site.enabled, ":robots": site.respect_robots,
            ":concurrency": site.concurrency, ":hosts": json(&site.hosts), ":yaml": site.yaml_path,
            ":source": json(&site.source),
        },
        |row| row.get(0),
    )?;
    Ok(id)
}

pub(super) enum Upsert {
    Added,
    Changed,
    Same,
}

pub(super) fn upsert_target(db: &Connection, site_id: i64, wanted: &Target) -> Result<Upsert, Fault> {
    let stored = stored_target(db, &wanted.code)?;
    let Some((stored, by_hand)) = stored else {
        write_target(db, &Target { site_id, ..wanted.clone() })?;
        return Ok(Upsert::Added);
    };
    if stored.site_id != site_id {
        let mut owner = db.prepare_cached("SELECT site_code FROM crawl_site WHERE id = ?")?;
        let site = owner.query_row([stored.site_id], |row| row.get(0))?;
        return Err(StoreError::Taken { code: wanted.code.clone(), site }.into());
    }
    let mut target = Target {
        id: stored.id,
        site_id,
        last_crawled_at: stored.last_crawled_at,
        last_article_time: stored.last_article_time,
        pace: stored.pace.clone(),
        ..wanted.clone()
    };
    for column in &by_hand {
        match column.as_str() {
            "enabled" => target.enabled = stored.enabled,
            "target_name" => target.name.clone_from(&stored.name),
            "entry_url" => target.entry_url.clone_from(&stored.entry_url),
            "channel_name" => target.channel_name.clone_from(&stored.channel_name),
            "channel_path" => target.channel_path.clone_from(&stored.channel_path),
            "content_category" => target.content_category.clone_from(&stored.content_category),
            "content_subcategory" => target.content_subcategory.clone_from(&stored.content_subcategory),
            "config_json" => target.config.clone_from(&stored.config),
            // No columns of the row: the engine keeps them when it reads a file (`engine/desk/keep.rs`).
            "created" | "stop_after_duplicates" | "full_sweep_every" | "dept_id" => {}
            "schedule_cron" => target.schedule.clone_from(&stored.schedule),
            "interval_sec" => target.interval_sec = stored.interval_sec,
            "interval_jitter_sec" => target.interval_jitter_sec = stored.interval_jitter_sec,
            "parser_override_json" => target.parser_override.clone_from(&stored.parser_override),
            // Set by a newer program perhaps; what it protects is not ours to overwrite.
            other => tracing::warn!(target = %wanted.code, column = other, "unknown column set by hand"),
        }
    }
    if target == stored {
        return Ok(Upsert::Same);
    }
    write_target(db, &target)?;
    Ok(Upsert::Changed)
}

pub(super) fn write_target(db: &Connection, target: &Target) -> Result<(), Fault> {
    let mut upsert = db.prepare_cached(
        "INSERT INTO crawl_target (site_id, target_code, target_name, entry_url, channel_name, channel_path,
             content_category, content_subcategory, schedule_cron, interval_sec, interval_jitter_sec, config_json,
             parser_override_json, enabled)
         VALUES (:site_id, :code, :name, :entry_url, :channel_name, :channel_path, :category, :subcategory,
             :cron, :interval, :jitter, :config, :override, :enabled)
         ON CONFLICT (target_code) DO UPDATE SET target_name = excluded.target_name,
             entry_url = excluded.entry_url, channel_name = excluded.channel_name,
             channel_path = excluded.channel_path, content_category = excluded.content_category,
             content_subcategory = excluded.content_subcategory, schedule_cron = excluded.schedule_cron,
             interval_sec = excluded.interval_sec, interval_jitter_sec = excluded.interval_jitter_sec,
             config_json = excluded.config_json, parser_override_json = excluded.parser_override_json,
             enabled = excluded.enabled",
    )?;
    upsert.execute(named_params! {
        ":site_id": target.site_id, ":code": target.code, ":name": target.name, ":entry_url": target.entry_url,
        ":channel_name": target.channel_name, ":channel_path": target.channel_path,
        ":category": target.content_category, ":subcategory": target.content_subcategory,
        ":cron": target.schedule, ":interval": target.interval_sec, ":jitter": target.interval_jitter_sec,
        ":config": json(&target.config), ":override": target.parser_override.as_ref().map(json),
        ":enabled": target.enabled,
    })?;
    Ok(())
}

pub(super) fn stored_target(db: &Connection, code: &str) -> Result<Option<(Target, Vec<String>)>, Fault> {
    let sql = format!("SELECT {} FROM crawl_target t WHERE t.target_code = ?", rows::TARGET);
    let mut query = db.prepare_cached(&sql)?;
    let found = query.query_row([code], |row| Ok((rows::target(row)?, rows::operator_set(row)?)));
    Ok(found.optional()?)
}

fn missing_target(code: &str) -> Fault {
    StoreError::Missing { what: "target", name: code.to_owned() }.into()
}
