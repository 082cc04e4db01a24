//! What happens when a schedule is due: whether it makes a job, under which times, and when it is due next. Pure.

use chrono_tz::Tz;
use serde_json::{Value, json};

use super::row::{Rule, Schedule};
use super::trigger::{Adaptive, Misfire, Trigger, TriggerError, cron_after};
use crate::clock::Timestamp;

/// Later than this is late: longer than a timer sleeps (C2), so that one which runs is never late.
pub const GRACE_MS: i64 = 60_000;
/// Due times that were missed are counted up to this many.
const MOST_MISSED: u32 = 1_000;
/// How soon a source is looked at again whose look brought no decision (S0-23, S0-38): the default cadence.
pub const FALLBACK_MS: i64 = 3_600_000;

/// What becomes of a due time.
#[derive(Clone, Debug, PartialEq)]
pub struct Due {
    /// A job is to be made, unless something known only to the table speaks against it.
    pub fires: bool,
    /// It is too late for that job from then on.
    pub expires_at: Option<Timestamp>,
    /// When the schedule is due next.
    pub next: Option<Timestamp>,
    /// What counts as the policy's decision until the look has brought one.
    pub adaptive_at: Option<Timestamp>,
    /// Why.
    pub rule: Rule,
    /// The numbers.
    pub inputs: Value,
}

/// What becomes of the due time of a schedule at `now`, which is not before it.
pub fn come_due(
    schedule: &Schedule,
    due: Timestamp,
    now: Timestamp,
    engine_zone: Tz,
) -> Result<Due, TriggerError> {
    let zone = schedule.zone_or(engine_zone);
    let adaptive_at = match &schedule.trigger {
        Trigger::Adaptive { .. } => Some(Timestamp(now.0.saturating_add(FALLBACK_MS))),
        _ => None,
    };
    let late = now.0.saturating_sub(due.0);
    let skips = schedule.misfire == Misfire::Skip && late > GRACE_MS;
    // What is left out takes no later due time with it that is not late yet.
    let until = if skips { Timestamp(now.0.saturating_sub(GRACE_MS + 1)) } else { now };
    let next = schedule.trigger.after(due, until, zone, adaptive_at)?;
    if next.is_none() && matches!(schedule.trigger, Trigger::Cron { .. }) {
        return Err(TriggerError("it never comes due again".to_owned()));
    }
    let (missed, last) = missed(&schedule.trigger, due, until, zone)?;
    let expires_at = match (&schedule.trigger, schedule.misfire, schedule.expires_sec) {
        (Trigger::Once { expires_at, .. }, ..) => *expires_at,
        (_, Misfire::Expire, Some(seconds)) => {
            let life = i64::try_from(seconds).unwrap_or(i64::MAX / 1_000).saturating_mul(1_000);
            Some(Timestamp(last.0.saturating_add(life)))
        }
        _ => None,
    };
    let (fires, rule) = if skips {
        (false, Rule::Skipped)
    } else if late > GRACE_MS || missed > 1 {
        (true, Rule::FiredLate)
    } else {
        (true, Rule::Fired)
    };
    let mut inputs = json!({ "late_ms": late });
    if missed > 1 {
        inputs["missed"] = json!(missed);
    }
    Ok(Due { fires, expires_at, next, adaptive_at, rule, inputs })
}

/// How many due times there were up to now, and the last of them.
fn missed(
    trigger: &Trigger,
    due: Timestamp,
    now: Timestamp,
    zone: Tz,
) -> Result<(u32, Timestamp), TriggerError> {
    let (mut count, mut last) = (1, due);
    match trigger {
        Trigger::Interval { seconds } => {
            let step = i64::try_from(*seconds).unwrap_or(i64::MAX / 2_000).max(1) * 1_000;
            let more = now.0.saturating_sub(due.0).max(0) / step;
            count = u32::try_from(more.saturating_add(1)).unwrap_or(MOST_MISSED).min(MOST_MISSED);
            last = Timestamp(due.0.saturating_add(more.saturating_mul(step)));
        }
        _ => {
            let Some(cron) = trigger.cron() else { return Ok((count, last)) };
            while count < MOST_MISSED
                && let Some(next) = cron_after(cron, last, zone)?
                && next <= now
            {
                (count, last) = (count + 1, next);
            }
        }
    }
    Ok((count, last))
}

/// When a schedule should be due that was planned under a clock which has been set back since; none: as it is.
/// `fired` says whether a due time has made its job before.
pub fn set_back(
    schedule: &Schedule,
    now: Timestamp,
    engine_zone: Tz,
    mut fired: impl FnMut(Timestamp) -> bool,
) -> Option<(Timestamp, Option<Timestamp>)> {
    let planned = schedule.next_due_at?;
    let zone = schedule.zone_or(engine_zone);
    let adaptive_at = match schedule.trigger {
        Trigger::Adaptive { .. } => {
            let soon = Timestamp(now.0.saturating_add(FALLBACK_MS));
            Some(schedule.adaptive_at.map_or(soon, |at| at.min(soon)))
        }
        _ => None,
    };
    let mut next = match &schedule.trigger {
        Trigger::Once { .. } | Trigger::Manual => return None,
        trigger => trigger.after(now, now, zone, adaptive_at).ok()??,
    };
    for _ in 0..MOST_MISSED {
        if next >= planned {
            return None;
        }
        if !fired(next) {
            return Some((next, adaptive_at));
        }
        next = schedule.trigger.after(next, next, zone, adaptive_at.filter(|at| *at > next)).ok()??;
    }
    None
}

/// The policy that decides on the next look at a schedule's target.
pub fn adaptive_policy(trigger: &Trigger) -> Adaptive {
    match trigger {
        Trigger::Adaptive { policy, .. } => *policy,
        _ => Adaptive::default(),
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::schedule::row::NewSchedule;
    use crate::schedule::trigger::Overlap;
    use chrono_tz::Asia::Shanghai;

    /// 2026-04-10T09:00:00+08:00.
    const NINE: Timestamp = Timestamp(1_775_782_800_000);

    pub fn stored(new: NewSchedule) -> Schedule {
        Schedule {
            id: 1,
            name: new.name,
            title: new.title,
            kind: new.kind,
            lane: new.lane,
            payload: new.payload,
            priority: 0,
            trigger: new.trigger,
            zone: None,
            misfire: new.misfire,
            expires_sec: new.expires_sec,
            overlap: Overlap::default(),
            enabled: true,
            off_why: None,
            origin: None,
            operator_set: Vec::new(),
            next_due_at: None,
            adaptive_at: None,
            last_due_at: None,
            last_fired_at: None,
            last_job: None,
            last_run_at: None,
            last_status: None,
            last_error: None,
            last_response: None,
            run_count: 0,
            error_count: 0,
            created_at: Timestamp(0),
            updated_at: Timestamp(0),
        }
    }

    fn hourly(misfire: Misfire, expires_sec: Option<u64>) -> Schedule {
        let trigger = Trigger::Cron { cron: "0 * * * *".into() };
        stored(NewSchedule { misfire, expires_sec, ..NewSchedule::new("a", "hook", trigger) })
    }

    fn after(minutes: i64) -> Timestamp {
        Timestamp(NINE.0 + minutes * 60_000)
    }

    #[test]
    fn missed_due_times_are_made_up_for_once_or_left_out_or_expire() {
        use Misfire::{Expire, RunOnce, Skip};
        for (misfire, expires, now, fires, rule, expires_at, next) in [
            (RunOnce, None, 0, true, Rule::Fired, None, 60),
            (RunOnce, None, 10, true, Rule::FiredLate, None, 60),
            (RunOnce, None, 600, true, Rule::FiredLate, None, 660),
            (Skip, None, 1, true, Rule::Fired, None, 60),
            (Skip, None, 2, false, Rule::Skipped, None, 60),
            // What came due half a minute ago is not late, whatever was missed before.
            (Skip, None, 120, false, Rule::Skipped, None, 120),
            (Skip, None, 121, false, Rule::Skipped, None, 120),
            (Skip, None, 122, false, Rule::Skipped, None, 180),
            // The last missed one was at 600 minutes: its hour has not passed yet.
            (Expire, Some(3_600), 605, true, Rule::FiredLate, Some(660), 660),
            (Expire, Some(60), 605, true, Rule::FiredLate, Some(601), 660),
        ] {
            let came = come_due(&hourly(misfire, expires), NINE, after(now), Shanghai).unwrap();
            let got = (came.fires, came.rule, came.expires_at, came.next);
            assert_eq!(got, (fires, rule, expires_at.map(after), Some(after(next))), "{misfire:?} {now}");
        }
    }

    #[test]
    fn a_clock_that_was_set_back_brings_due_times_forward_but_none_a_second_time() {
        let mut schedule = hourly(Misfire::RunOnce, None);
        schedule.next_due_at = Some(after(25 * 60));
        let planned = |fired: &[i64]| {
            let fired: Vec<_> = fired.iter().map(|at| after(*at)).collect();
            set_back(&schedule, after(10), Shanghai, |at| fired.contains(&at)).map(|(next, _)| next)
        };
        assert_eq!(planned(&[]), Some(after(60)));
        assert_eq!(planned(&[60, 120]), Some(after(180)));
        schedule.next_due_at = Some(after(60));
        assert_eq!(set_back(&schedule, after(10), Shanghai, |_| false), None);
    }
}
