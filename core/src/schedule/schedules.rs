//! Schedules as a program has them: list, make, change, remove, pause, resume, run now (S3-1, S3-2, S3-11).
//!
//! What the program brings (`builtin:…`) and what follows a target (`target.…`) can be switched and timed anew, not
//! renamed or removed. What is set by hand on a target's schedule stays until it is given back with [`Schedules::follow_rule`].

use std::sync::Arc;

use chrono_tz::Tz;
use serde_json::Value;

use super::budget::Budget;
use super::classic::SourceStats;
use super::error::ScheduleError;
use super::load::{Load, MOST_HOURS};
use super::row::{
    BUILTIN_PREFIX, ByHand, Change, Changed, Decided, NewSchedule, Schedule, ScheduleEdit, TARGET_PREFIX,
    target_schedule,
};
use super::table::{FiredByHand, ScheduleCounts, ScheduleQuery, ScheduleTable, SourceCounts};
use super::timer::Bell;
use super::trigger::{Misfire, Trigger};
use crate::Result;
use crate::clock::{Clock, Timestamp};
use crate::config::suggestion;
use crate::model::SourceType;
use crate::queue::Queue;

/// Why a schedule is off that was paused by hand.
const PAUSED: &str = "paused by hand";
/// The longest name, in bytes.
const LONGEST_NAME: usize = 200;

/// The schedules of a store. Cheap to clone.
#[derive(Clone)]
pub struct Schedules {
    pub(super) table: Arc<dyn ScheduleTable>,
    pub(super) queue: Queue,
    pub(super) clock: Arc<dyn Clock>,
    zone: Tz,
    bell: Bell,
}

impl Schedules {
    /// The schedules in a table; `zone` is the zone of those that name none.
    pub fn new(
        table: Arc<dyn ScheduleTable>,
        queue: Queue,
        clock: Arc<dyn Clock>,
        zone: Tz,
        bell: Bell,
    ) -> Schedules {
        Schedules { table, queue, clock, zone, bell }
    }

    /// The rows behind it.
    pub fn table(&self) -> &Arc<dyn ScheduleTable> {
        &self.table
    }

    /// The zone of schedules that name none.
    pub fn zone(&self) -> Tz {
        self.zone
    }

    /// Schedules by name, or by due time.
    pub async fn list(&self, query: ScheduleQuery) -> Result<Vec<Schedule>> {
        Ok(self.table.schedules(query).await?)
    }

    /// How many there are, are on, are due, failed last.
    pub async fn counts(&self) -> Result<ScheduleCounts> {
        Ok(self.table.schedule_counts(self.clock.now()).await?)
    }

    /// One schedule, by its name or by the code of its target; an unknown one is an error.
    pub async fn get(&self, name: &str) -> Result<Schedule> {
        if let Some(found) = self.table.schedule(name).await? {
            return Ok(found);
        }
        match self.table.schedule(&target_schedule(name)).await? {
            Some(found) => Ok(found),
            None => Err(self.unknown(name).await?.into()),
        }
    }

    /// The last decisions about a schedule, the newest first.
    pub async fn decisions(&self, name: &str, limit: u32) -> Result<Vec<Decided>> {
        let schedule = self.get(name).await?;
        Ok(self.table.decisions(schedule.id, limit).await?)
    }

    /// Makes a schedule. Its name is new, and neither a target's nor the program's.
    pub async fn add(&self, new: NewSchedule) -> Result<Schedule> {
        name_of(&new.name)?;
        let now = self.clock.now();
        check(&new.trigger, now, new.zone.unwrap_or(self.zone))?;
        misfire(new.misfire, new.expires_sec)?;
        for (field, text) in [("kind", &new.kind), ("lane", &new.lane)] {
            if text.trim().is_empty() {
                let message = "it is empty; the kind names the handler, the lane whatever runs one at a time";
                return Err(ScheduleError::Invalid { field, message: message.to_owned() }.into());
            }
        }
        let name = new.name.clone();
        match self.change(Change::Add(Box::new(new))).await? {
            Changed::Row(row) => Ok(*row),
            _ => Err(ScheduleError::Taken { name }.into()),
        }
    }

    /// Changes a schedule by hand. On one that follows a target, trigger, zone, misfire policy and switch are kept as set by
    /// hand: reconciling leaves them alone (I14).
    pub async fn edit(&self, name: &str, mut edit: ScheduleEdit) -> Result<Schedule> {
        let known = self.get(name).await?;
        protect(&known, &edit)?;
        let now = self.clock.now();
        let zone = edit.zone.unwrap_or(known.zone).unwrap_or(self.zone);
        if let Some(trigger) = &edit.trigger {
            check(trigger, now, zone)?;
        }
        let (policy, expires) = edit.misfire.unwrap_or((known.misfire, known.expires_sec));
        misfire(policy, expires)?;
        if known.target().is_some() || known.is_builtin() {
            let set = [
                (ByHand::Trigger, edit.trigger.is_some()),
                (ByHand::Zone, edit.zone.is_some()),
                (ByHand::Misfire, edit.misfire.is_some()),
                (ByHand::Enabled, edit.enabled.is_some()),
            ];
            let new = set.into_iter().filter(|(field, set)| *set && !edit.not_by_hand.contains(field));
            edit.by_hand.extend(new.map(|(field, _)| field));
            if edit.trigger.is_some() && edit.origin.is_none() {
                edit.origin = Some(Some("operator".to_owned()));
            }
        }
        self.changed(&known.name, edit).await
    }

    /// Removes a schedule; its jobs stay.
    pub async fn remove(&self, name: &str) -> Result<()> {
        let known = self.get(name).await?;
        let why = match (known.is_builtin(), known.target()) {
            (true, _) => "the program brings it; pause it instead".to_owned(),
            (_, Some(target)) => format!(
                "it follows its target; pause it, or switch the target off with `dibao target toggle {target} --off`"
            ),
            _ => String::new(),
        };
        if !why.is_empty() {
            return Err(ScheduleError::Protected { name: known.name, what: "it", why }.into());
        }
        match self.change(Change::Remove(known.name)).await? {
            Changed::Missing => Err(self.unknown(name).await?.into()),
            _ => Ok(()),
        }
    }

    /// Switches a schedule off until [`resume`](Self::resume); a job under way goes on.
    pub async fn pause(&self, name: &str) -> Result<Schedule> {
        let edit =
            ScheduleEdit { enabled: Some((false, Some(PAUSED.to_owned()))), ..ScheduleEdit::default() };
        self.edit(name, edit).await
    }

    /// Switches a schedule on again. One whose cron could not be read needs another cron first (S3-8).
    pub async fn resume(&self, name: &str) -> Result<Schedule> {
        let known = self.get(name).await?;
        check(&known.trigger, self.clock.now(), known.zone_or(self.zone))?;
        if let Some(target) = known.target()
            && !self.table.target_is_on(target).await?
        {
            let why = format!(
                "its target or the site is switched off; `dibao target toggle {target} --on` switches a target on"
            );
            return Err(ScheduleError::Off { name: known.name, why }.into());
        }
        let edit = ScheduleEdit {
            enabled: Some((true, None)),
            not_by_hand: vec![ByHand::Enabled],
            ..ScheduleEdit::default()
        };
        self.changed(&known.name, edit).await
    }

    /// Gives everything that was set by hand back to the rule; what that says is set by the next reconciling, which the
    /// engine does at once.
    pub async fn follow_rule(&self, name: &str) -> Result<Schedule> {
        let known = self.get(name).await?;
        let edit = ScheduleEdit {
            not_by_hand: vec![ByHand::Trigger, ByHand::Zone, ByHand::Misfire, ByHand::Enabled],
            ..ScheduleEdit::default()
        };
        let row = self.changed(&known.name, edit).await?;
        self.table.mark_dirty().await?;
        Ok(row)
    }

    /// Makes a job of a schedule now; its due time stays as it is. Refused while its last job is not over (S3-10), or its
    /// target or site is off (S2-50).
    pub async fn run_now(&self, name: &str) -> Result<i64> {
        let known = self.get(name).await?;
        let name = known.name.clone();
        let fired = self.table.fire_by_hand(&name, self.clock.now()).await?;
        match fired {
            FiredByHand::Job(job) => {
                self.queue.ring();
                Ok(job)
            }
            FiredByHand::Busy(job) => Err(ScheduleError::Active { name, job }.into()),
            FiredByHand::TargetOff => {
                let why = "its target or the site is switched off".to_owned();
                Err(ScheduleError::Off { name, why }.into())
            }
            FiredByHand::Missing => Err(self.unknown(&name).await?.into()),
        }
    }

    /// How much comes due in each of the next hours, at most 31 days of them.
    pub async fn load(&self, hours: u32) -> Result<Load> {
        if !(1..=MOST_HOURS).contains(&hours) {
            let message = format!("{hours} hours cannot be shown; ask for 1 to {MOST_HOURS}");
            return Err(ScheduleError::Invalid { field: "hours", message }.into());
        }
        Ok(self.table.load(self.clock.now(), hours, self.zone).await?)
    }

    /// What all adaptive sources together may do, and what a check costs because of it.
    pub async fn budget(&self) -> Result<Budget> {
        Ok(self.table.budget().await?)
    }

    /// Sets how many checks a day all adaptive sources together may make; none: as many as they want. The price is steered
    /// towards it once a day. Sources of the policy `predictive` are looked at twice in a base interval whatever that costs;
    /// those of `budget` can be held to any budget.
    pub async fn set_budget(&self, checks_per_day: Option<f64>) -> Result<Budget> {
        if checks_per_day.is_some_and(|checks| !(0.01..=1e9).contains(&checks)) {
            let message = "a budget is 0.01 to 1000000000 checks a day".to_owned();
            return Err(ScheduleError::Invalid { field: "checks_per_day", message }.into());
        }
        Ok(self.table.set_budget(checks_per_day).await?)
    }

    /// The statistics of a source (S0-18); none: it was never looked at.
    pub async fn source(&self, target: &str) -> Result<Option<SourceStats>> {
        Ok(self.table.source_stats(target, self.clock.now()).await?)
    }

    /// Sources of a type that are due, the longest overdue first (S0-20).
    pub async fn due_sources(&self, of: Option<SourceType>, limit: u32) -> Result<Vec<SourceStats>> {
        Ok(self.table.due_sources(self.clock.now(), of, limit).await?)
    }

    /// All sources of a type together (S0-20).
    pub async fn source_counts(&self, of: Option<SourceType>) -> Result<SourceCounts> {
        Ok(self.table.source_counts(self.clock.now(), of).await?)
    }

    /// One change, and whoever sleeps until something is due hears of it.
    async fn change(&self, change: Change) -> Result<Changed> {
        let changed = self.table.change(vec![change], self.clock.now(), self.zone).await?;
        self.bell.ring();
        Ok(changed.into_iter().next().unwrap_or(Changed::Missing))
    }

    async fn changed(&self, name: &str, edit: ScheduleEdit) -> Result<Schedule> {
        match self.change(Change::Edit(name.to_owned(), Box::new(edit))).await? {
            Changed::Row(row) | Changed::Kept(row) => Ok(*row),
            _ => Err(self.unknown(name).await?.into()),
        }
    }

    async fn unknown(&self, name: &str) -> Result<ScheduleError> {
        let known = self.list(ScheduleQuery::default()).await?;
        let names = known.iter().flat_map(|known| [Some(known.name.as_str()), known.target()]).flatten();
        Ok(ScheduleError::Unknown { name: name.to_owned(), fix: suggestion(name, names) })
    }
}

/// A name of one's own.
fn name_of(name: &str) -> Result<(), ScheduleError> {
    let invalid = |message: String| Err(ScheduleError::Invalid { field: "name", message });
    if name.trim() != name || name.is_empty() || name.len() > LONGEST_NAME {
        return invalid(format!(
            "`{name}` is no name; write 1 to {LONGEST_NAME} bytes without spaces around"
        ));
    }
    if name.chars().any(char::is_control) {
        return invalid("a name has no control characters".to_owned());
    }
    for prefix in [BUILTIN_PREFIX, TARGET_PREFIX] {
        if name.starts_with(prefix) {
            return invalid(format!("names that begin with `{prefix}` are not for making; choose another"));
        }
    }
    Ok(())
}

/// S3-11, and the same for what follows a target.
fn protect(known: &Schedule, edit: &ScheduleEdit) -> Result<(), ScheduleError> {
    let why = match (known.is_builtin(), known.target()) {
        (true, _) => "the program brings it; its trigger and its switch can be changed",
        (_, Some(_)) => "it follows its target; its trigger, zone and switch can be changed",
        _ => return Ok(()),
    };
    let changed = |new: &Option<String>, old: &str| new.as_deref().is_some_and(|new| new != old);
    let payload = |new: &Option<Value>| new.as_ref().is_some_and(|new| *new != known.payload);
    let what = match edit {
        edit if changed(&edit.title, &known.title) => "title",
        edit if payload(&edit.payload) => "payload",
        edit if changed(&edit.lane, &known.lane) => "lane",
        _ => return Ok(()),
    };
    Err(ScheduleError::Protected { name: known.name.clone(), what, why: why.to_owned() })
}

fn check(trigger: &Trigger, now: Timestamp, zone: Tz) -> Result<(), ScheduleError> {
    let field = match trigger {
        Trigger::Interval { .. } => "interval",
        Trigger::Once { .. } => "expires_at",
        _ => "cron",
    };
    trigger.check(now, zone).map_err(|error| ScheduleError::Invalid { field, message: error.to_string() })
}

fn misfire(misfire: Misfire, expires: Option<u64>) -> Result<(), ScheduleError> {
    if misfire == Misfire::Expire && expires.is_none_or(|seconds| seconds == 0) {
        let message = "with the misfire policy `expire`, say after how many seconds".to_owned();
        return Err(ScheduleError::Invalid { field: "expires_sec", message });
    }
    Ok(())
}
