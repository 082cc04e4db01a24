//! Cron expressions as POSIX has them (S3-4, C14): five fields, 0 and 7 are Sunday, day of month *or* day of week.
//!
//! `field` reads one field, `parse` all of them, `next` finds the next moment, `zh` and `en` say it in words.
//!
//! The crates of this kind (`cron`, `croner`) disagree with these users on the grammar, on the days and on changes of the
//! clock, so that only a search would be left of them; on bit sets that search is a page of code and under a microsecond.
//!
//! # Two day fields
//! A day field counts as any when it is `*`, `?` or `*/1`, and then the other one decides. When both say something, either of
//! them makes a day due, as POSIX has it, also where one is `*/2`: that some crons take both together as soon as
//! one *begins* with `*` is known as a bug of theirs, and the schedules that are taken over come from implementations without it.
//!
//! # Changes of the clock
//! A *fixed* job names its minutes and hours; an *interval* job has a `*` (or `*/n`) in one of them. Where the clock jumps
//! ahead, a fixed job that fell into the gap runs once, at its end, and an interval job skips it. Where the
//! clock goes back, a fixed job runs once, the first time, and an interval job runs both times.

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
    /// Five fields, or one of `@yearly`, `@annually`, `@monthly`, `@weekly`, `@daily`, `@midnight`, `@hourly`.
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

    /// Whether minutes or hours are written with `*`: see the module's words on changes of the clock.
    fn is_interval(&self) -> bool {
        self.minute.star || self.hour.star || (self.with_seconds && self.second.star)
    }

    fn any_day_of_month(&self) -> bool {
        self.day.is_any() && self.from_end == 0 && self.nearest == 0 && !self.last_working
    }

    /// One of the day fields is any and the other names all there are.
    fn is_every_day(&self) -> bool {
        (self.any_weekday() && self.day.numbers().len() == 31)
            || (self.any_day_of_month() && self.weekday.numbers().len() == 7)
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
