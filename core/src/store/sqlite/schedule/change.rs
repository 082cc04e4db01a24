//! Making, changing and removing schedules.

use chrono_tz::Tz;
use rusqlite::{Connection, named_params};
use serde_json::json as value;

use super::super::rows::{Fault, json};
use super::{clock, decide, schedule};
use crate::clock::Timestamp;
use crate::schedule::{Change, Changed, Decided, NewSchedule, Rule, Schedule, ScheduleEdit};
use crate::schedule::{Combine, Trigger};
use crate::store::StoreError;

pub(in super::super) fn change(
    db: &Connection,
    changes: &[Change],
    now: Timestamp,
    zone: Tz,
) -> Result<Vec<Changed>, Fault> {
    let changed = changes.iter().map(|change| one(db, change, now, zone)).collect::<Result<Vec<_>, _>>()?;
    if changed.iter().any(|changed| matches!(changed, Changed::Row(_) | Changed::Removed)) {
        clock::changed(db, now)?;
    }
    Ok(changed)
}

fn one(db: &Connection, change: &Change, now: Timestamp, zone: Tz) -> Result<Changed, Fault> {
    match change {
        Change::Add(new) => match schedule(db, &new.name)? {
            Some(known) => Ok(Changed::Kept(Box::new(known))),
            None => add(db, new, now, zone).map(|row| Changed::Row(Box::new(row))),
        },
        Change::Edit(name, edit) => match schedule(db, name)? {
            Some(known) => self::edit(db, known, edit, now, zone).map(|row| Changed::Row(Box::new(row))),
            None => Ok(Changed::Missing),
        },
        Change::Remove(name) => {
            let gone = db.prepare_cached("DELETE FROM schedule WHERE name = ?")?.execute([name])?;
            Ok(if gone > 0 { Changed::Removed } else { Changed::Missing })
        }
    }
}

fn add(db: &Connection, new: &NewSchedule, now: Timestamp, zone: Tz) -> Result<Schedule, Fault> {
    let payload = json(&new.payload);
    for (what, text, longest) in [
        ("name", new.name.as_str(), 300),
        ("kind", &new.kind, 300),
        ("lane", &new.lane, 300),
        ("payload", &payload, 1 << 20),
    ] {
        if text.is_empty() || text.len() > longest {
            let reason =
                format!("the {what} of a schedule has {} bytes; 1 to {longest} are allowed", text.len());
            return Err(StoreError::Refused { reason }.into());
        }
    }
    let due = due_of(&new.trigger, new.enabled, now, new.zone.unwrap_or(zone), None);
    db.prepare_cached(
        "INSERT INTO schedule (name, title, kind, lane, payload, priority, trigger, cron, interval_sec, adaptive, combine,
             once_at, expires_at, zone, misfire, expires_sec, overlap, enabled, origin, next_due_at, created_at, updated_at)
         VALUES (:name, :title, :kind, :lane, :payload, :priority, :trigger, :cron, :interval, :adaptive, :combine,
             :once_at, :expires_at, :zone, :misfire, :expires_sec, :overlap, :enabled, :origin, :due, :now, :now)",
    )?
    .execute(named_params! {
        ":name": new.name, ":title": if new.title.is_empty() { &new.name } else { &new.title }, ":kind": new.kind,
        ":lane": new.lane, ":payload": payload, ":priority": new.priority, ":trigger": new.trigger.name(),
        ":cron": Columns::of(&new.trigger).cron, ":interval": Columns::of(&new.trigger).interval,
        ":adaptive": Columns::of(&new.trigger).adaptive, ":combine": Columns::of(&new.trigger).combine,
        ":once_at": Columns::of(&new.trigger).once_at, ":expires_at": Columns::of(&new.trigger).expires_at,
        ":zone": new.zone.map(|zone| zone.name()), ":misfire": new.misfire.as_str(),
        ":expires_sec": new.expires_sec.map(|seconds| seconds as i64), ":overlap": new.overlap.as_str(),
        ":enabled": new.enabled, ":origin": new.origin, ":due": due.map(|at| at.0), ":now": now.0,
    })?;
    let row = schedule(db, &new.name)?.ok_or_else(|| missing(&new.name))?;
    set(db, &row, now)?;
    Ok(row)
}

fn edit(
    db: &Connection,
    known: Schedule,
    edit: &ScheduleEdit,
    now: Timestamp,
    zone: Tz,
) -> Result<Schedule, Fault> {
    let mut row = known.clone();
    let keep = |to: &mut String, from: &Option<String>| {
        if let Some(from) = from {
            to.clone_from(from);
        }
    };
    keep(&mut row.title, &edit.title);
    keep(&mut row.lane, &edit.lane);
    row.payload = edit.payload.clone().unwrap_or(row.payload);
    row.trigger = edit.trigger.clone().unwrap_or(row.trigger);
    row.origin = edit.origin.clone().unwrap_or(row.origin);
    row.priority = edit.priority.unwrap_or(row.priority);
    row.zone = edit.zone.unwrap_or(row.zone);
    row.overlap = edit.overlap.unwrap_or(row.overlap);
    if let Some((misfire, expires)) = edit.misfire {
        (row.misfire, row.expires_sec) = (misfire, expires);
    }
    if let Some((enabled, why)) = &edit.enabled {
        (row.enabled, row.off_why) = (*enabled, why.clone().filter(|_| !enabled));
    }
    row.operator_set.retain(|field| !edit.not_by_hand.contains(field) && !edit.by_hand.contains(field));
    row.operator_set.extend(&edit.by_hand);
    if row == known {
        return Ok(known);
    }
    // A new title does not move anything; another trigger, zone or switch does.
    if (&row.trigger, row.zone, row.enabled) != (&known.trigger, known.zone, known.enabled) {
        row.next_due_at = due_of(&row.trigger, row.enabled, now, row.zone_or(zone), row.adaptive_at);
    }
    let columns = Columns::of(&row.trigger);
    db.prepare_cached(
        "UPDATE schedule SET title = :title, lane = :lane, payload = :payload, priority = :priority, trigger = :trigger,
             cron = :cron, interval_sec = :interval, adaptive = :adaptive, combine = :combine, once_at = :once_at,
             expires_at = :expires_at, zone = :zone, misfire = :misfire, expires_sec = :expires_sec,
             overlap = :overlap, enabled = :enabled, off_why = :off_why, origin = :origin,
             operator_set = :by_hand, next_due_at = :due, updated_at = :now WHERE id = :id",
    )?
    .execute(named_params! {
        ":id": row.id, ":title": row.title, ":lane": row.lane, ":payload": json(&row.payload),
        ":priority": row.priority, ":trigger": row.trigger.name(), ":cron": columns.cron,
        ":interval": columns.interval, ":adaptive": columns.adaptive, ":combine": columns.combine,
        ":once_at": columns.once_at, ":expires_at": columns.expires_at, ":zone": row.zone.map(|zone| zone.name()),
        ":misfire": row.misfire.as_str(), ":expires_sec": row.expires_sec.map(|seconds| seconds as i64),
        ":overlap": row.overlap.as_str(), ":enabled": row.enabled, ":off_why": row.off_why, ":origin": row.origin,
        ":by_hand": json(&row.operator_set), ":due": row.next_due_at.map(|at| at.0), ":now": now.0,
    })?;
    row.updated_at = now;
    set(db, &row, now)?;
    Ok(row)
}

/// Leaves a record of what a schedule is from now on.
fn set(db: &Connection, row: &Schedule, now: Timestamp) -> Result<(), Fault> {
    let inputs = value!({ "trigger": row.trigger, "enabled": row.enabled, "origin": row.origin });
    let (due_at, next_at, job) = (None, row.next_due_at, None);
    decide(db, row.id, &Decided { at: now, rule: Rule::Set, due_at, next_at, job, inputs })
}

/// When a schedule that is on is due; one that cannot come due is due now, so that it is found out and told (S3-8).
fn due_of(
    trigger: &Trigger,
    enabled: bool,
    now: Timestamp,
    zone: Tz,
    adaptive_at: Option<Timestamp>,
) -> Option<Timestamp> {
    let due = || match trigger.first(now, zone, adaptive_at) {
        Ok(None) if matches!(trigger, Trigger::Cron { .. }) => Some(now),
        Ok(due) => due,
        Err(_) => Some(now),
    };
    enabled.then(due).flatten()
}

/// A trigger in columns.
struct Columns<'a> {
    cron: Option<&'a str>,
    interval: Option<i64>,
    adaptive: Option<&'static str>,
    combine: &'static str,
    once_at: Option<i64>,
    expires_at: Option<i64>,
}

impl<'a> Columns<'a> {
    fn of(trigger: &'a Trigger) -> Columns<'a> {
        let mut columns = Columns {
            cron: None,
            interval: None,
            adaptive: None,
            combine: Combine::default().as_str(),
            once_at: None,
            expires_at: None,
        };
        match trigger {
            Trigger::Cron { cron } => columns.cron = Some(cron),
            Trigger::Interval { seconds } => {
                columns.interval = Some(i64::try_from(*seconds).unwrap_or(i64::MAX))
            }
            Trigger::Adaptive { policy, cron, combine } => {
                columns.adaptive = Some(policy.as_str());
                columns.cron = cron.as_deref();
                columns.combine = combine.as_str();
            }
            Trigger::Once { at, expires_at } => {
                columns.once_at = Some(at.0);
                columns.expires_at = expires_at.map(|at| at.0);
            }
            Trigger::Manual => {}
        }
        columns
    }
}

fn missing(name: &str) -> Fault {
    StoreError::Missing { what: "schedule", name: name.to_owned() }.into()
}
