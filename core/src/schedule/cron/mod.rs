//! Cron expressions as POSIX has them (S3-4, C14): five fields, 0 and 7 are Sunday, day of month *or* day of week.
//!
//! `field` reads one field, `parse` all of them, `next` finds the next moment, `zh` and `en` say it in words.
//!
//! The crates of this kind (`cron`, `croner`) disagree with these users on the grammar, on the days and on changes of the
//! clock, so that only a search would be left of them; on bit sets that search is a page of code and under a microsecond.
//!
//! # What is read
//! | written | in | means |
//! |---|---|---|
//! | `*`, or `?` alone | any field | all there are |
//! | `5`, `JAN`, `MON` | any field | this one; 0 and 7 are Sunday |
//! | `8-18`, `22-2`, `FRI-MON` | any field | from one to the other, also around the end |
//! | `*/15`, `5/15`, `8-18/2` | any field | every so many |
//! | `1,15,L` | any field | each of these |
//! | `L`, `L-2`, `10-L` | day of month | the last day, two days before it, from the 10th on |
//! | `15W`, `LW`, `L-2W` | day of month | the working day (Monday to Friday) of the month nearest that day |
//! | `5#2`, `5#L`, `5L`, `1-5#1` | day of week | the second Friday, the last one; each of these days |
//! | `@yearly` `@annually` `@monthly` `@weekly` `@daily` `@midnight` `@hourly` `@every_minute` | the whole | `@every_second` where seconds are allowed |
//!
//! # Two day fields
//! A day field counts as any when it is `*`, `?` or `*/1`, or has one of them in its list, and then the other one decides. When both say something, either of
//! them makes a day due, as POSIX has it, also where one is `*/2`: that some crons take both together as soon as
//! one *begins* with `*` is known as a bug of theirs, and the schedules that are taken over come from implementations without it.
//!
//! # Changes of the clock
//! A *fixed* job names its minutes and hours; an *interval* job has a `*` (or `*/n`) in one of them. Where the clock jumps
//! ahead, a fixed job that fell into the gap runs once, at its end, and an interval job skips it. Where the
//! clock goes back, a fixed job runs once, the first time, and an interval job runs both times; so does one whose
//! minutes or hours are a range or have steps (`0 8-18`, `0/30 1`), because it goes on at its pace.

mod en;
mod field;
mod next;
mod parse;
mod shape;
#[cfg(test)]
mod tests;
mod zh;

use std::fmt;
use std::str::FromStr;

use field::Field;

/// A checked cron expression.
///
/// ```
/// use chrono::{TimeZone, Utc};
/// use dibao::schedule::cron::{CronExpr, Lang};
/// let cron = CronExpr::parse("0 9 * * 1-5")?;
/// let friday = Utc.with_ymd_and_hms(2026, 4, 10, 9, 0, 0).unwrap();
/// let next = cron.next_after(friday, chrono_tz::Asia::Shanghai).unwrap();
/// assert_eq!(next.to_rfc3339(), "2026-04-13T09:00:00+08:00");
/// assert_eq!(cron.describe(Lang::Zh), "工作日 09:00");
/// # Ok::<(), dibao::schedule::cron::CronError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CronExpr {
    second: Field,
    minute: Field,
    hour: Field,
    day: Field,
    month: Field,
    weekday: Field,
    /// The last day of the month and days counted from it: bit `n` is `L-n`.
    from_end: u32,
    /// `nW`: the working day nearest to each of these.
    nearest: u32,
    /// `L-nW`: the same, bit `n` is n days before the last.
    nearest_from_end: u32,
    /// `LW`.
    last_working: bool,
    /// `n#k`: bit `n` of the k-th entry.
    nth: [u8; 5],
    /// `nL`.
    last_weekday: u8,
    with_seconds: bool,
    text: String,
}

/// What is accepted beside the standard.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dialect {
    /// A sixth field in front, for seconds, is allowed.
    pub seconds: bool,
    /// APScheduler's weekdays, 0 = Monday to 6 = Sunday, are translated (C14).
    pub monday_is_zero: bool,
}

/// A language for descriptions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lang {
    /// Chinese.
    Zh,
    /// English.
    En,
}

/// The fields of an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FieldName {
    /// 0–59, when asked for.
    Second,
    /// 0–59.
    Minute,
    /// 0–23.
    Hour,
    /// 1–31.
    DayOfMonth,
    /// 1–12 or names.
    Month,
    /// 0–7 or names; 0 and 7 are Sunday.
    DayOfWeek,
}

impl fmt::Display for FieldName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Second => "second",
            Self::Minute => "minute",
            Self::Hour => "hour",
            Self::DayOfMonth => "day of month",
            Self::Month => "month",
            Self::DayOfWeek => "day of week",
        })
    }
}

/// An expression that means nothing, with the field that is wrong.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}`{text}` {message}; {fix}", field.map(|field| format!("{field}: ")).unwrap_or_default())]
pub struct CronError {
    /// The field; none when the number of fields is wrong.
    pub field: Option<FieldName>,
    /// The part that is wrong.
    pub text: String,
    /// What is wrong with it.
    pub message: String,
    /// What to write instead.
    pub fix: String,
}

impl CronExpr {
    /// Five fields, or one of `@yearly`, `@annually`, `@monthly`, `@weekly`, `@daily`, `@midnight`, `@hourly`, `@every_minute`.
    pub fn parse(text: &str) -> Result<CronExpr, CronError> {
        CronExpr::parse_as(text, Dialect::default())
    }

    /// The same with what the dialect allows beside.
    pub fn parse_as(text: &str, dialect: Dialect) -> Result<CronExpr, CronError> {
        parse::parse(text, dialect)
    }

    /// In words: as a person would say it, every fact of it, and no two schedules alike.
    pub fn describe(&self, lang: Lang) -> String {
        match lang {
            Lang::Zh => zh::describe(self),
            Lang::En => en::describe(self),
        }
    }

    /// In the words of S3-3, field by field: `在第 0 分钟 在 9 点`.
    pub fn describe_s3(&self) -> String {
        zh::describe_s3(self)
    }

    /// The expression in POSIX terms: `@daily` written out, weekdays by name where they were translated.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether it is not made up for in a gap: see the module's words on changes of the clock.
    fn skips_gaps(&self) -> bool {
        self.times().any(|field| field.star)
    }

    /// Whether both of two equal hours count.
    fn runs_twice(&self) -> bool {
        self.times().any(|field| field.star || field.ranged)
    }

    fn times(&self) -> impl Iterator<Item = Field> {
        [self.second, self.minute, self.hour].into_iter()
    }

    fn any_day_of_month(&self) -> bool {
        self.day.is_any()
            && self.from_end == 0
            && self.nearest == 0
            && self.nearest_from_end == 0
            && !self.last_working
    }

    /// Both day fields are any, or one that counts names all there are.
    fn is_every_day(&self) -> bool {
        let all = (self.day.numbers().len() == 31, self.weekday.numbers().len() == 7);
        match (self.any_day_of_month(), self.any_weekday()) {
            (true, true) => true,
            (false, true) => all.0,
            (true, false) => all.1,
            (false, false) => all.0 || all.1,
        }
    }

    fn any_weekday(&self) -> bool {
        self.weekday.is_any() && self.nth == [0; 5] && self.last_weekday == 0
    }
}

impl fmt::Display for CronExpr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl FromStr for CronExpr {
    type Err = CronError;

    fn from_str(text: &str) -> Result<CronExpr, CronError> {
        CronExpr::parse(text)
    }
}
