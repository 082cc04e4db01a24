//! Counting. Everything here reads indexes or few rows, so that a page may ask again and again.

use std::collections::{BTreeMap, HashMap};

use rusqlite::{Connection, OptionalExtension, Row, params};

use super::super::rows::Fault;
use super::logs;
use crate::clock::Timestamp;
use crate::desk::{
    DayCount, DeptCount, Freshness, HourCount, LogRow, Overview, Pulse, RunRow, SiteCount, TargetHealth,
    Trouble, advice,
};
use crate::store::RunCounts;

/// Runs and errors that are shown of a target.
const LAST: u32 = 20;

/// The moments from which is counted.
#[derive(Clone, Debug)]
pub(crate) struct Marks {
    pub(crate) now: Timestamp,
    /// Midnight in the engine's zone.
    pub(crate) today: Timestamp,
    /// Six midnights before that.
    pub(crate) week: Timestamp,
    /// The beginnings of the last 24 hours, the oldest first.
    pub(crate) hours: Vec<Timestamp>,
}

/// A day with its bounds.
#[derive(Clone, Debug)]
pub(crate) struct Span {
    pub(crate) day: String,
    pub(crate) from: Timestamp,
    pub(crate) to: Timestamp,
}

fn count(db: &Connection, sql: &str, values: impl rusqlite::Params) -> Result<u64, Fault> {
    let number: i64 = db.prepare_cached(sql)?.query_row(values, |row| row.get(0))?;
    Ok(u64::try_from(number).unwrap_or(0))
}

pub(super) fn overview(db: &Connection, marks: &Marks) -> Result<Overview, Fault> {
    let mut found = Overview { at: marks.now, ..Overview::default() };
    found.sites = count(db, "SELECT count(*) FROM crawl_site", [])?;
    found.sites_enabled = count(db, "SELECT count(*) FROM crawl_site WHERE enabled", [])?;
    found.targets = count(db, "SELECT count(*) FROM crawl_target", [])?;
    found.targets_enabled = count(
        db,
        "SELECT count(*) FROM crawl_target t JOIN crawl_site s ON s.id = t.site_id WHERE t.enabled AND s.enabled",
        [],
    )?;
    found.targets_failing =
        pulses(db)?.values().filter(|target| target.pulse == Pulse::Failing).count() as u64;
    found.articles = count(db, "SELECT count(*) FROM article", [])?;
    let mut states =
        db.prepare_cached("SELECT status, count(*) FROM article WHERE status <> 'ready' GROUP BY status")?;
    found.by_status = states
        .query_map([], |row| Ok((row.get(0)?, row.get::<_, i64>(1)?.unsigned_abs())))?
        .collect::<Result<BTreeMap<_, _>, _>>()?;
    let others: u64 = found.by_status.values().sum();
    found.by_status.insert("ready".to_owned(), found.articles.saturating_sub(others));
    let since = "SELECT count(*) FROM article WHERE fetched_at >= ?";
    found.articles_today = count(db, since, [marks.today.0])?;
    found.articles_week = count(db, since, [marks.week.0])?;
    found.attachments = count(db, "SELECT count(*) FROM attachment", [])?;
    found.frontier = count(db, "SELECT count(*) FROM entry WHERE state <> 'dead'", [])?;
    found.given_up = count(db, "SELECT count(*) FROM entry WHERE state = 'dead'", [])?;
    let mut jobs = db.prepare_cached(
        "SELECT state, count(*) FROM job WHERE finished_at IS NULL OR finished_at >= ? GROUP BY state",
    )?;
    found.jobs = jobs
        .query_map([marks.now.0 - 86_400_000], |row| Ok((row.get(0)?, row.get::<_, i64>(1)?.unsigned_abs())))?
        .collect::<Result<_, _>>()?;
    found.alerts = count(db, "SELECT count(*) FROM alert", [])?;
    found.hours = hours(db, marks)?;
    let last: Option<i64> =
        db.prepare_cached("SELECT max(fetched_at) FROM article")?.query_row([], |row| row.get(0))?;
    found.last_article_at = last.map(Timestamp);
    Ok(found)
}

fn hours(db: &Connection, marks: &Marks) -> Result<Vec<HourCount>, Fault> {
    let mut hours: Vec<HourCount> =
        marks.hours.iter().map(|from| HourCount { from: *from, ..HourCount::default() }).collect();
    let Some(first) = marks.hours.first() else { return Ok(hours) };
    let slot = |at: i64| marks.hours.partition_point(|from| from.0 <= at).checked_sub(1);
    let mut fetched = db.prepare_cached("SELECT fetched_at FROM article WHERE fetched_at >= ?")?;
    let mut rows = fetched.query([first.0])?;
    while let Some(row) = rows.next()? {
        if let Some(hour) = slot(row.get(0)?).and_then(|slot| hours.get_mut(slot)) {
            hour.articles += 1;
        }
    }
    let begin = logs::first_since(db, first.0)?;
    let mut asked =
        db.prepare_cached("SELECT occurred_at, success FROM crawl_log WHERE id >= ? AND occurred_at >= ?")?;
    let mut rows = asked.query(params![begin, first.0])?;
    while let Some(row) = rows.next()? {
        if let Some(hour) = slot(row.get(0)?).and_then(|slot| hours.get_mut(slot)) {
            hour.requests += 1;
            hour.failed += u64::from(!row.get::<_, bool>(1)?);
        }
    }
    Ok(hours)
}

pub(super) fn by_site(db: &Connection, marks: &Marks) -> Result<Vec<SiteCount>, Fault> {
    let mut sites = db.prepare_cached(
        "SELECT s.id, s.site_code, s.site_name, s.enabled, (SELECT count(*) FROM crawl_target t WHERE t.site_id = s.id)
         FROM crawl_site s ORDER BY s.site_code",
    )?;
    let mut found = sites
        .query_map([], |row| {
            let site = SiteCount {
                site: row.get(1)?,
                name: row.get(2)?,
                enabled: row.get(3)?,
                targets: row.get::<_, i64>(4)?.unsigned_abs(),
                ..SiteCount::default()
            };
            Ok((row.get::<_, i64>(0)?, site))
        })?
        .collect::<Result<Vec<_>, _>>()?;
    let all = grouped(db, "SELECT site_id, count(*) FROM article GROUP BY site_id", [])?;
    let since = "SELECT site_id, count(*) FROM article WHERE fetched_at >= ? GROUP BY site_id";
    let today = grouped(db, since, [marks.today.0])?;
    let week = grouped(db, since, [marks.week.0])?;
    let bad =
        grouped(db, "SELECT site_id, count(*) FROM article WHERE status <> 'ready' GROUP BY site_id", [])?;
    for (id, site) in &mut found {
        let of = |counts: &HashMap<Option<i64>, u64>| counts.get(&Some(*id)).copied().unwrap_or(0);
        (site.articles, site.today, site.week, site.not_ready) = (of(&all), of(&today), of(&week), of(&bad));
    }
    Ok(found.into_iter().map(|(_, site)| site).collect())
}

pub(super) fn by_dept(db: &Connection, marks: &Marks) -> Result<Vec<DeptCount>, Fault> {
    let mut departments = db.prepare_cached(
        "SELECT dept_id, full_name, region, category, (SELECT count(*) FROM crawl_target t WHERE t.dept_id = d.dept_id)
         FROM local_department d ORDER BY region, category, full_name",
    )?;
    let mut found = departments
        .query_map([], |row| {
            Ok(DeptCount {
                dept_id: row.get(0)?,
                name: row.get(1)?,
                region: row.get(2)?,
                category: row.get(3)?,
                targets: row.get::<_, i64>(4)?.unsigned_abs(),
                ..DeptCount::default()
            })
        })?
        .collect::<Result<Vec<_>, _>>()?;
    let all =
        grouped(db, "SELECT dept_id, count(*) FROM article WHERE dept_id IS NOT NULL GROUP BY dept_id", [])?;
    let week = grouped(
        db,
        "SELECT dept_id, count(*) FROM article WHERE fetched_at >= ? GROUP BY dept_id",
        [marks.week.0],
    )?;
    let given: u64 = all.values().sum();
    let articles = count(db, "SELECT count(*) FROM article", [])?;
    let targets = count(db, "SELECT count(*) FROM crawl_target WHERE dept_id IS NULL", [])?;
    found.push(DeptCount { targets, ..DeptCount::default() });
    for dept in &mut found {
        dept.articles = match dept.dept_id {
            None => articles.saturating_sub(given),
            some => all.get(&some).copied().unwrap_or(0),
        };
        dept.week = week.get(&dept.dept_id).copied().unwrap_or(0);
    }
    Ok(found)
}

fn grouped(
    db: &Connection,
    sql: &str,
    values: impl rusqlite::Params,
) -> Result<HashMap<Option<i64>, u64>, Fault> {
    let mut counts = db.prepare_cached(sql)?;
    let rows = counts.query_map(values, |row| Ok((row.get(0)?, row.get::<_, i64>(1)?.unsigned_abs())))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

pub(super) fn by_day(db: &Connection, days: &[Span], site: Option<&str>) -> Result<Vec<DayCount>, Fault> {
    let of_site = "AND (?3 IS NULL OR site_id = (SELECT id FROM crawl_site WHERE site_code = ?3))";
    let plain = site.is_none();
    let counted = |column: &str, span: &Span| {
        let sql = format!(
            "SELECT count(*) FROM article WHERE {column} >= ?1 AND {column} < ?2 {}",
            if plain { "AND ?3 IS NULL" } else { of_site }
        );
        count(db, &sql, params![span.from.0, span.to.0, site])
    };
    days.iter()
        .map(|span| {
            let (fetched, published) = (counted("fetched_at", span)?, counted("publish_time", span)?);
            Ok(DayCount { day: span.day.clone(), fetched, published })
        })
        .collect()
}

/// How each target is doing, by number.
struct TargetPulse {
    site: i64,
    pulse: Pulse,
    last_good: Option<i64>,
}

fn pulses(db: &Connection) -> Result<HashMap<i64, TargetPulse>, Fault> {
    let mut found = db.prepare_cached(
        "SELECT t.id, t.site_id, t.enabled AND s.enabled,
             (SELECT state FROM crawl_run r WHERE r.target_id = t.id AND state IN ('done', 'failed') ORDER BY id DESC LIMIT 1),
             (SELECT ended_at FROM crawl_run r WHERE r.target_id = t.id AND state = 'done' ORDER BY id DESC LIMIT 1)
         FROM crawl_target t JOIN crawl_site s ON s.id = t.site_id",
    )?;
    let rows = found.query_map([], |row| {
        let last: Option<String> = row.get(3)?;
        let pulse = match (row.get::<_, bool>(2)?, last.as_deref()) {
            (false, _) => Pulse::Off,
            (true, None) => Pulse::Never,
            (true, Some("failed")) => Pulse::Failing,
            (true, Some(_)) => Pulse::Ok,
        };
        Ok((row.get(0)?, TargetPulse { site: row.get(1)?, pulse, last_good: row.get(4)? }))
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

pub(super) fn freshness(db: &Connection) -> Result<Vec<Freshness>, Fault> {
    let mut by_site: HashMap<i64, Vec<TargetPulse>> = HashMap::new();
    for (_, target) in pulses(db)? {
        by_site.entry(target.site).or_default().push(target);
    }
    let mut sites = db.prepare_cached(
        "SELECT s.id, s.site_code, s.site_name,
             (SELECT max(last_article_time) FROM crawl_target t WHERE t.site_id = s.id),
             (SELECT max((SELECT fetched_at FROM article a WHERE a.target_id = t.id ORDER BY a.id DESC LIMIT 1))
                 FROM crawl_target t WHERE t.site_id = s.id), s.enabled
         FROM crawl_site s ORDER BY s.site_code",
    )?;
    let rows = sites.query_map([], |row| {
        let targets = by_site.get(&row.get(0)?).map(Vec::as_slice).unwrap_or_default();
        let on = || targets.iter().filter(|target| target.pulse != Pulse::Off);
        // A site that is on and has no target yet is not off: nobody looked at it.
        let bare = targets.is_empty() && row.get(5)?;
        let has = |pulse: Pulse| on().any(|target| target.pulse == pulse) || (bare && pulse == Pulse::Never);
        Ok(Freshness {
            site: row.get(1)?,
            name: row.get(2)?,
            pulse: [Pulse::Failing, Pulse::Never, Pulse::Ok]
                .into_iter()
                .find(|pulse| has(*pulse))
                .unwrap_or(Pulse::Off),
            targets: on().count() as u64,
            failing: on().filter(|target| target.pulse == Pulse::Failing).count() as u64,
            last_good_run: targets.iter().filter_map(|target| target.last_good).max().map(Timestamp),
            last_article: row.get::<_, Option<i64>>(4)?.map(Timestamp),
            newest_published: row.get::<_, Option<i64>>(3)?.map(Timestamp),
        })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

pub(super) fn health(db: &Connection, code: &str) -> Result<Option<TargetHealth>, Fault> {
    let target: Option<(i64, bool)> = db
        .prepare_cached(
            "SELECT t.id, t.enabled AND s.enabled FROM crawl_target t JOIN crawl_site s ON s.id = t.site_id
             WHERE t.target_code = ?",
        )?
        .query_row([code], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    let Some((id, on)) = target else { return Ok(None) };
    let mut found =
        db.prepare_cached("SELECT * FROM crawl_run WHERE target_id = ? ORDER BY id DESC LIMIT ?")?;
    let runs = found.query_map(params![id, LAST], run)?.collect::<Result<Vec<_>, _>>()?;
    let good: Option<(i64, i64)> = db
        .prepare_cached(
            "SELECT id, ended_at FROM crawl_run WHERE target_id = ? AND state = 'done' ORDER BY id DESC LIMIT 1",
        )?
        .query_row([id], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    let mut found = db.prepare_cached(&format!(
        "{} WHERE l.target_id = ? AND l.success = 0 ORDER BY l.id DESC LIMIT ?",
        logs::SELECT
    ))?;
    let errors: Vec<LogRow> = found.query_map(params![id, LAST], logs::row)?.collect::<Result<_, _>>()?;
    let (failures, since): (i64, Option<i64>) = db
        .prepare_cached(
            "SELECT count(*), min(started_at) FROM crawl_run WHERE target_id = ?1 AND state = 'failed' AND id > ?2",
        )?
        .query_row(params![id, good.map_or(0, |(run, _)| run)], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let last: Option<i64> = db
        .prepare_cached("SELECT fetched_at FROM article WHERE target_id = ? ORDER BY id DESC LIMIT 1")?
        .query_row([id], |row| row.get(0))
        .optional()?;
    let failed_entries =
        count(db, "SELECT count(*) FROM entry WHERE target_id = ? AND state <> 'pending'", [id])?;
    let class: Option<String> = db
        .prepare_cached(
            "SELECT error_class FROM entry WHERE target_id = ? AND failed_at IS NOT NULL ORDER BY failed_at DESC LIMIT 1",
        )?
        .query_row([id], |row| row.get(0))
        .optional()?
        .flatten();
    let pulse = match (on, failures > 0, good) {
        (false, ..) => Pulse::Off,
        (true, true, _) => Pulse::Failing,
        (true, false, None) => Pulse::Never,
        (true, false, Some(_)) => Pulse::Ok,
    };
    let trouble = since.map(|since| {
        let reason = runs.iter().find(|run| run.state == "failed").and_then(|run| run.reason.clone());
        let why = reason.unwrap_or_else(|| "its runs fail".to_owned());
        let said =
            errors.first().and_then(|row| row.request.verdict.as_deref().or(row.request.error.as_deref()));
        let advice = advice(None, &why);
        // The run's own words first; where they say nothing, the last request's, then the last document's.
        let advice = match (advice.code, said) {
            ("look", Some(said)) => self::advice(class.as_deref(), said),
            ("look", None) => self::advice(class.as_deref(), &why),
            _ => advice,
        };
        Trouble {
            since: Timestamp(since),
            failures: failures.unsigned_abs(),
            why,
            class: class.clone(),
            advice,
        }
    });
    Ok(Some(TargetHealth {
        target: code.to_owned(),
        pulse,
        last_good_run: good.map(|(_, at)| Timestamp(at)),
        last_article: last.map(Timestamp),
        trouble,
        runs,
        errors,
        failed_entries,
    }))
}

fn run(row: &Row<'_>) -> rusqlite::Result<RunRow> {
    Ok(RunRow {
        id: row.get("id")?,
        state: row.get("state")?,
        reason: row.get("reason")?,
        started_at: Timestamp(row.get("started_at")?),
        ended_at: row.get::<_, Option<i64>>("ended_at")?.map(Timestamp),
        counts: RunCounts {
            listed: row.get("listed")?,
            new: row.get("new")?,
            duplicate: row.get("duplicate")?,
            failed: row.get("failed")?,
            attachments: row.get("attachments")?,
            attachments_failed: row.get("attachments_failed")?,
            requests: row.get("requests")?,
        },
    })
}
