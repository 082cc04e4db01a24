//! The next moment at which an expression is due. Pure: the moment and the zone are arguments.

use chrono::{
    DateTime, Datelike, Duration, LocalResult, NaiveDate, NaiveDateTime, NaiveTime, TimeZone, Timelike, Utc,
};
use chrono_tz::Tz;

use super::CronExpr;

/// Each kind of year (which weekday it begins with, leap or not) comes again within so many, the skipped leap year of 2100
/// included: what has not come by then never comes.
const CYCLE: i32 = 40;
/// Later moments cannot be written as RFC 3339 has them.
const LAST_YEAR: i32 = 9_999;

impl CronExpr {
    /// The first moment after `after`; none when it never comes.
    pub fn next_after(&self, after: DateTime<Utc>, zone: Tz) -> Option<DateTime<Tz>> {
        let whole = after.timestamp();
        let after = DateTime::from_timestamp(whole, 0)?;
        let local = zone.from_utc_datetime(&after.naive_utc()).naive_local();
        let found = self.next_in_zone(after, local, zone);
        found.map(|at| at.with_timezone(&zone)).filter(|at| at.year() <= LAST_YEAR)
    }

    /// The first moment from `from` on.
    pub fn next_from(&self, from: DateTime<Utc>, zone: Tz) -> Option<DateTime<Tz>> {
        match from.timestamp_subsec_nanos() {
            0 => self.next_after(from.checked_sub_signed(Duration::seconds(1))?, zone),
            _ => self.next_after(from, zone),
        }
    }

    /// In a gap at its end or never, in an overlap once or twice: see the module's words on changes of the clock.
    fn next_in_zone(&self, after: DateTime<Utc>, local: NaiveDateTime, zone: Tz) -> Option<DateTime<Utc>> {
        let (skips_gaps, runs_twice) = (self.skips_gaps(), self.runs_twice());
        let again = if runs_twice { self.second_time(after, local, zone) } else { None };
        let mut from = local;
        let ahead = loop {
            let Some(due) = self.next_local(from) else { break None };
            let at = match zone.from_local_datetime(&due) {
                LocalResult::Single(at) => at.to_utc(),
                LocalResult::Ambiguous(one, two) => {
                    let (first, second) = (one.to_utc().min(two.to_utc()), one.to_utc().max(two.to_utc()));
                    if runs_twice && first <= after { second } else { first }
                }
                // What falls into a gap is skipped in one step: Samoa once left out a whole day.
                LocalResult::None if skips_gaps => {
                    from = last_of_gap(due, zone);
                    continue;
                }
                LocalResult::None => end_of_gap(due, zone)?,
            };
            if at > after {
                break Some(at);
            }
            from = due;
        };
        match (again, ahead) {
            (Some(again), Some(ahead)) => Some(again.min(ahead)),
            (again, ahead) => again.or(ahead),
        }
    }

    /// From within the first of two equal hours, the first moment of the second that is due.
    fn second_time(&self, after: DateTime<Utc>, local: NaiveDateTime, zone: Tz) -> Option<DateTime<Utc>> {
        let LocalResult::Ambiguous(one, two) = zone.from_local_datetime(&local) else { return None };
        let second = one.to_utc().max(two.to_utc());
        if after >= second {
            return None;
        }
        let shown = |at: DateTime<Utc>| zone.from_utc_datetime(&at.naive_utc()).naive_local();
        let behind = second.naive_utc() - shown(second);
        // The clock goes back at the first moment that shows what the second of the two shows, or less.
        let turn = first_moment(after, second, |at| at.naive_utc() - shown(at) == behind);
        let due = self.next_local(shown(turn) - Duration::seconds(1))?;
        let at = (due + behind).and_utc();
        // Beyond the overlap the search ahead finds it.
        (shown(at) == due).then_some(at)
    }

    /// The first time on the calendar after this one.
    fn next_local(&self, after: NaiveDateTime) -> Option<NaiveDateTime> {
        let start = after.checked_add_signed(Duration::seconds(1))?;
        if self.is_day(start.date())
            && let Some(time) = self.time_from(start.time())
        {
            return Some(start.date().and_time(time));
        }
        let first = self.time_from(NaiveTime::MIN)?;
        self.day_after(start.date()).map(|day| day.and_time(first))
    }

    fn time_from(&self, time: NaiveTime) -> Option<NaiveTime> {
        let (hour, minute, second) = (time.hour(), time.minute(), time.second());
        if self.hour.has(hour) {
            if self.minute.has(minute)
                && let Some(second) = self.second.from(second)
            {
                return NaiveTime::from_hms_opt(hour, minute, second);
            }
            if let Some(minute) = self.minute.from(minute + 1) {
                return NaiveTime::from_hms_opt(hour, minute, self.second.from(0)?);
            }
        }
        NaiveTime::from_hms_opt(self.hour.from(hour + 1)?, self.minute.from(0)?, self.second.from(0)?)
    }

    fn is_day(&self, day: NaiveDate) -> bool {
        self.month.has(day.month()) && self.days(day.year(), day.month()) >> day.day() & 1 == 1
    }

    fn day_after(&self, day: NaiveDate) -> Option<NaiveDate> {
        let (mut year, mut month) = (day.year(), day.month());
        let mut from = day.day() + 1;
        while year <= day.year() + CYCLE {
            if self.month.has(month) {
                let rest = self.days(year, month) >> from << from;
                if rest != 0 {
                    return NaiveDate::from_ymd_opt(year, month, rest.trailing_zeros());
                }
            }
            from = 0;
            // The next month that counts, perhaps of the next year.
            (year, month) = match self.month.from(month + 1) {
                Some(next) => (year, next),
                None => (year + 1, self.month.from(1)?),
            };
        }
        None
    }

    /// The days of a month that count, as bits.
    fn days(&self, year: i32, month: u32) -> u64 {
        let Some(first) = NaiveDate::from_ymd_opt(year, month, 1) else { return 0 };
        let length = u32::from(first.num_days_in_month());
        let all = ((1u64 << length) - 1) << 1;
        let offset = first.weekday().num_days_from_sunday();
        let weekday_of = |day: u32| (offset + day - 1) % 7;
        match (self.any_day_of_month(), self.any_weekday()) {
            (true, true) => all,
            (false, true) => self.days_of_month(length, &weekday_of) & all,
            (true, false) => self.days_of_week(length, &weekday_of) & all,
            // POSIX: either of them.
            (false, false) => {
                (self.days_of_month(length, &weekday_of) | self.days_of_week(length, &weekday_of)) & all
            }
        }
    }

    fn days_of_month(&self, length: u32, weekday_of: &impl Fn(u32) -> u32) -> u64 {
        let mut days = self.day.set;
        for back in (0..length).filter(|back| self.from_end >> back & 1 == 1) {
            days |= 1 << (length - back);
        }
        let of_end = |day: u32| self.nearest_from_end >> (length - day) & 1 == 1;
        for day in (1..=length).filter(|day| self.nearest >> day & 1 == 1 || of_end(*day)) {
            // Never out of the month: Saturday the 1st moves to Monday the 3rd.
            days |= 1
                << match weekday_of(day) {
                    6 if day == 1 => 3,
                    6 => day - 1,
                    0 if day == length => day - 2,
                    0 => day + 1,
                    _ => day,
                };
        }
        if self.last_working {
            days |= 1 << (length - [2, 0, 0, 0, 0, 0, 1][weekday_of(length) as usize]);
        }
        days
    }

    fn days_of_week(&self, length: u32, weekday_of: &impl Fn(u32) -> u32) -> u64 {
        (1..=length)
            .filter(|day| {
                let weekday = weekday_of(*day);
                self.weekday.has(weekday)
                    || self.nth[((day - 1) / 7) as usize] >> weekday & 1 == 1
                    || (day + 7 > length && self.last_weekday >> weekday & 1 == 1)
            })
            .fold(0, |days, day| days | 1 << day)
    }
}

/// The last second on the calendar of the gap that `due` is in.
fn last_of_gap(due: NaiveDateTime, zone: Tz) -> NaiveDateTime {
    let end = end_of_gap(due, zone).map(|end| zone.from_utc_datetime(&end.naive_utc()).naive_local());
    end.map_or(due, |end| due.max(end - Duration::seconds(1)))
}

/// The first moment after the clock jumped over `due`.
fn end_of_gap(due: NaiveDateTime, zone: Tz) -> Option<DateTime<Utc>> {
    let near = due.and_utc();
    let (early, late) = (near - Duration::days(2), near + Duration::days(2));
    let shown = |at: DateTime<Utc>| zone.from_utc_datetime(&at.naive_utc()).naive_local();
    (shown(late) > due).then(|| first_moment(early, late, |at| shown(at) > due))
}

/// The first second in `(early, late]` for which `is` holds; it holds for `late` and from some moment on.
fn first_moment(
    early: DateTime<Utc>,
    late: DateTime<Utc>,
    is: impl Fn(DateTime<Utc>) -> bool,
) -> DateTime<Utc> {
    let (mut early, mut late) = (early.timestamp(), late.timestamp());
    while late - early > 1 {
        let middle = early + (late - early) / 2;
        match DateTime::from_timestamp(middle, 0).is_some_and(&is) {
            true => late = middle,
            false => early = middle,
        }
    }
    DateTime::from_timestamp(late, 0).unwrap_or_default()
}
