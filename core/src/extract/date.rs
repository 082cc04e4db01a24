//! When a document was published, from what the site wrote.
//!
//! Decides which part of a text is a date and how exact it is. A date needs year, month and day; a list's `04-10` says too
//! little. Dates before 1949 or in the future are something else (a telephone number, a deadline) and are passed over. Times without
//! a zone are in the site's zone.

mod words;

use chrono::{DateTime, Duration, FixedOffset, NaiveDate, NaiveTime, TimeZone, Utc};
use chrono_tz::Tz;

use crate::clock::Timestamp;
use crate::model::{Precision, Published};

/// How much of a text is looked at: a date line is short, and this is called for every row.
const LOOK_AT: usize = 2_000;
/// The republic's first year: no document on these sites is older.
const FIRST_YEAR: i32 = 1949;
/// Clocks of sites run ahead, and notices are dated on the next working day.
const AHEAD_DAYS: i64 = 2;

/// The first date in `raw`, in the forms that Chinese sites, feeds and English media use; relative forms (`3小时前`) count from `now`.
///
/// ```
/// use dibao::{Timestamp, extract::parse_published};
/// let now = Timestamp(1_780_000_000_000);
/// let found = parse_published("发布时间：2026年4月10日 09:30 来源：本网", chrono_tz::Asia::Shanghai, now).unwrap();
/// assert_eq!(found.at.to_string(), "2026-04-10T01:30:00.000Z");
/// ```
pub fn parse_published(raw: &str, zone: Tz, now: Timestamp) -> Option<Published> {
    absolute(raw, zone, now).or_else(|| parse_in_words(raw, zone, now))
}

/// The first relative date: `3小时前`, `昨天 09:30`.
pub(crate) fn parse_in_words(raw: &str, zone: Tz, now: Timestamp) -> Option<Published> {
    words::relative(&plain(raw), zone, now)
}

/// The first date that needs no other one to be understood.
pub(crate) fn absolute(raw: &str, zone: Tz, now: Timestamp) -> Option<Published> {
    read(raw, Zone { zone, written: false }, now)
}

/// The same, the day being that of the offset it is written with: what readers of a page see whose zone nobody knows.
pub(crate) fn absolute_as_written(raw: &str, zone: Tz, now: Timestamp) -> Option<Published> {
    read(raw, Zone { zone, written: true }, now)
}

/// Whose days count.
#[derive(Clone, Copy)]
struct Zone {
    zone: Tz,
    /// An offset beside a time is the site's own.
    written: bool,
}

impl Zone {
    fn day(self, at: DateTime<FixedOffset>, precision: Precision) -> Published {
        let mut found = published(at.to_utc(), self.zone, precision);
        if self.written && at.offset().local_minus_utc() != 0 {
            found.date = at.format("%Y-%m-%d").to_string();
        }
        found
    }
}

fn read(raw: &str, zone: Zone, now: Timestamp) -> Option<Published> {
    let text = plain(raw);
    let known = |published: &Published| {
        let latest = now.to_utc() + Duration::days(AHEAD_DAYS);
        let at = published.at.to_utc();
        published
            .date
            .get(..4)
            .and_then(|year| year.parse::<i32>().ok())
            .is_some_and(|year| year >= FIRST_YEAR)
            && at <= latest
    };
    let whole: String = text.iter().collect();
    if let Some(published) = whole_text(whole.trim(), zone).filter(known) {
        return Some(published);
    }
    (0..text.len())
        .filter(|at| text[*at].is_ascii_digit() && (*at == 0 || !text[*at - 1].is_ascii_digit()))
        .find_map(|at| date_at(Reader { text: &text, at }, zone).filter(known))
        .or_else(|| words::with_month(&text, zone.zone).filter(known))
}

/// Forms that are a date only when there is nothing else: seconds or milliseconds since 1970, and the dates of feeds.
fn whole_text(text: &str, zone: Zone) -> Option<Published> {
    if text.bytes().all(|b| b.is_ascii_digit()) {
        let number: i64 = text.parse().ok()?;
        let millis = match text.len() {
            9 | 10 => number.checked_mul(1000)?,
            12 | 13 => number,
            _ => return None,
        };
        // Twelve digits are rather `202604100930`.
        if text.len() == 12
            && text.starts_with("20")
            && date_at(Reader { text: &plain(text), at: 0 }, zone).is_some()
        {
            return None;
        }
        return Some(published(Utc.timestamp_millis_opt(millis).single()?, zone.zone, Precision::Second));
    }
    Some(zone.day(DateTime::parse_from_rfc2822(text).ok()?, Precision::Second))
}

fn date_at(mut reader: Reader<'_>, zone: Zone) -> Option<Published> {
    let (date, compact_time) = date(&mut reader)?;
    if let Some((time, precision)) = compact_time {
        return Some(local(date, time, precision, zone.zone));
    }
    let Some((time, precision)) = basic_time(&mut reader).or_else(|| time(&mut reader)) else {
        return Some(local(date, NaiveTime::MIN, Precision::Day, zone.zone));
    };
    match offset(&mut reader) {
        Some(minutes) => {
            let offset = FixedOffset::east_opt(i32::try_from(minutes * 60).ok()?)?;
            Some(zone.day(date.and_time(time).and_local_timezone(offset).single()?, precision))
        }
        None => Some(local(date, time, precision, zone.zone)),
    }
}

type Clock = (NaiveTime, Precision);

fn date(reader: &mut Reader<'_>) -> Option<(NaiveDate, Option<Clock>)> {
    let digits = reader.digits();
    let part = |from: usize, to: usize| digits.get(from..to).and_then(|part| part.parse::<u32>().ok());
    if matches!(digits.len(), 8 | 12 | 14) {
        let date = NaiveDate::from_ymd_opt(part(0, 4)? as i32, part(4, 6)?, part(6, 8)?)?;
        let time = match digits.len() {
            8 => None,
            12 => Some((NaiveTime::from_hms_opt(part(8, 10)?, part(10, 12)?, 0)?, Precision::Minute)),
            _ => Some((
                NaiveTime::from_hms_opt(part(8, 10)?, part(10, 12)?, part(12, 14)?)?,
                Precision::Second,
            )),
        };
        return Some((date, time));
    }
    if digits.len() <= 2 {
        return day_first(reader, digits.parse().ok()?);
    }
    if digits.len() != 4 {
        return None;
    }
    let year = part(0, 4)? as i32;
    let behind = reader.at;
    reader.spaces();
    let Some(separator) = reader.one_of("-/.年－–—") else {
        return (reader.at > behind).then(|| spaced(reader, year)).flatten();
    };
    reader.spaces();
    let month = reader.number(2)?;
    reader.spaces();
    let second = reader.one_of("-/.月－–—")?;
    if (separator == '年') != (second == '月') {
        return None;
    }
    reader.spaces();
    let day = reader.number(2)?;
    let before = reader.at;
    reader.spaces();
    if reader.one_of("日号").is_none() {
        reader.at = before;
    }
    Some((NaiveDate::from_ymd_opt(year, month, day)?, None))
}

/// `10.04.2026`: with dots the day comes first wherever it is written so. With slashes it depends on the country, and only a day above twelve tells.
fn day_first(reader: &mut Reader<'_>, first: u32) -> Option<(NaiveDate, Option<Clock>)> {
    let separator = reader.one_of("./")?;
    let second = reader.number(2)?;
    reader.one_of(&separator.to_string())?;
    let year = reader.digits();
    if year.len() != 4 {
        return None;
    }
    let (month, day) = match separator {
        '.' => (second, first),
        _ if first > 12 => (second, first),
        _ if second > 12 || first == second => (first, second),
        _ => return None,
    };
    Some((NaiveDate::from_ymd_opt(year.parse().ok()?, month, day)?, None))
}

/// `2026 04/10 09:38`: year, day and time in elements of their own. Without the time it may be anything.
fn spaced(reader: &mut Reader<'_>, year: i32) -> Option<(NaiveDate, Option<Clock>)> {
    let month = reader.number(2)?;
    reader.spaces();
    reader.one_of("/-.")?;
    reader.spaces();
    let date = NaiveDate::from_ymd_opt(year, month, reader.number(2)?)?;
    Some((date, Some(time(reader)?)))
}

/// `T093015` behind `20260410`: the basic form of ISO 8601.
fn basic_time(reader: &mut Reader<'_>) -> Option<Clock> {
    let behind_digit = reader.at.checked_sub(1).is_some_and(|at| reader.text[at].is_ascii_digit());
    let before = reader.at;
    let digits = match reader.one_of("Tt") {
        Some(_) if behind_digit => reader.digits(),
        _ => String::new(),
    };
    let part = |from: usize, to: usize| digits.get(from..to).and_then(|part| part.parse::<u32>().ok());
    let clock = || match digits.len() {
        4 => Some((NaiveTime::from_hms_opt(part(0, 2)?, part(2, 4)?, 0)?, Precision::Minute)),
        6 => Some((NaiveTime::from_hms_opt(part(0, 2)?, part(2, 4)?, part(4, 6)?)?, Precision::Second)),
        _ => None,
    };
    let clock = clock();
    if clock.is_none() {
        reader.at = before;
    }
    clock
}

/// A time right behind a date; on failure the date stands alone.
fn time(reader: &mut Reader<'_>) -> Option<Clock> {
    // `T`, `-`, a weekday, brackets: whatever templates put between date and time, but no other words.
    for _ in 0..12 {
        if reader.one_of(" \tTt-,:()（）[]|星期周一二三四五六日天\n\r").is_none() {
            break;
        }
    }
    let afternoon = if reader.word("下午") || reader.word("晚上") {
        true
    } else {
        let _ = reader.word("上午") || reader.word("凌晨") || reader.word("早上");
        false
    };
    reader.spaces();
    let mut hour = reader.number(2)?;
    reader.spaces();
    let separator = reader.one_of(":时点時")?;
    reader.spaces();
    let Some(minute) = reader.number(2) else {
        // `9时` without minutes.
        return (separator != ':')
            .then(|| NaiveTime::from_hms_opt(hour, 0, 0))
            .flatten()
            .map(|t| (t, Precision::Minute));
    };
    let before = reader.at;
    reader.spaces();
    let second = match reader.one_of(":分") {
        Some(_) => {
            let behind = reader.at;
            reader.spaces();
            let second = reader.number(2);
            if second.is_none() {
                reader.at = behind;
            }
            second
        }
        None => {
            reader.at = before;
            None
        }
    };
    if second.is_some() {
        reader.one_of("秒");
        if reader.peek() == Some('.') && reader.text.get(reader.at + 1).is_some_and(char::is_ascii_digit) {
            reader.at += 1;
            reader.digits();
        }
    }
    let before = reader.at;
    reader.spaces();
    let pm = reader.word("PM") || reader.word("pm");
    let am = !pm && (reader.word("AM") || reader.word("am"));
    if !pm && !am {
        reader.at = before;
    }
    if (pm || afternoon) && hour < 12 {
        hour += 12;
    } else if am && hour == 12 {
        hour = 0;
    }
    let time = NaiveTime::from_hms_opt(hour, minute, second.unwrap_or(0))?;
    Some((time, if second.is_some() { Precision::Second } else { Precision::Minute }))
}

/// `Z`, `+08:00`, `+0800` in minutes; none when there is no zone.
fn offset(reader: &mut Reader<'_>) -> Option<i64> {
    if reader.one_of("Zz").is_some() {
        return Some(0);
    }
    reader.spaces();
    let sign = match reader.one_of("+-")? {
        '+' => 1,
        _ => -1,
    };
    let digits = reader.digits();
    let (hours, minutes) = match digits.len() {
        2 => {
            let minutes = if reader.one_of(":").is_some() { reader.number(2)? } else { 0 };
            (digits.parse::<u32>().ok()?, minutes)
        }
        4 => (digits[..2].parse().ok()?, digits[2..].parse().ok()?),
        _ => return None,
    };
    (hours <= 14 && minutes < 60).then(|| sign * i64::from(hours * 60 + minutes))
}

fn local(date: NaiveDate, time: NaiveTime, precision: Precision, zone: Tz) -> Published {
    let naive = date.and_time(time);
    let found = zone.from_local_datetime(&naive);
    // An hour that a change of clocks left out is read as if it had not been.
    let at = found.earliest().map(|at| at.to_utc()).unwrap_or_else(|| naive.and_utc());
    Published { at: at.into(), date: date.format("%Y-%m-%d").to_string(), precision }
}

fn published(at: DateTime<Utc>, zone: Tz, precision: Precision) -> Published {
    Published { at: at.into(), date: at.with_timezone(&zone).format("%Y-%m-%d").to_string(), precision }
}

/// The text with full-width characters and Chinese numerals as plain ones.
fn plain(raw: &str) -> Vec<char> {
    let narrow = |c: char| match c {
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(c as u32 - 0xfee0).unwrap_or(c),
        '\u{a0}' | '\u{3000}' | '\u{2002}'..='\u{2009}' => ' ',
        '∶' | '︰' => ':',
        _ => c,
    };
    let text: Vec<char> =
        raw.chars().take(LOOK_AT).filter(|c| !matches!(c, '\u{200b}' | '\u{feff}')).map(narrow).collect();
    let mut out = Vec::with_capacity(text.len());
    let mut at = 0;
    while at < text.len() {
        let length = text[at..].iter().take_while(|c| numeral(**c).is_some()).count();
        let unit = text[at + length..].iter().find(|c| **c != ' ');
        match (length, unit) {
            (1.., Some('年' | '月' | '日' | '号')) => {
                out.extend(arabic(&text[at..at + length]).chars());
                at += length;
            }
            (0, _) => {
                out.push(text[at]);
                at += 1;
            }
            _ => {
                out.extend(&text[at..at + length]);
                at += length;
            }
        }
    }
    out
}

fn numeral(c: char) -> Option<u32> {
    "〇一二三四五六七八九十".chars().position(|n| n == c).map(|n| n as u32).or(match c {
        '零' | '○' | 'Ｏ' | '◯' | 'O' => Some(0),
        '元' => Some(1),
        _ => None,
    })
}

/// `二〇二六` digit by digit, `二十一` by tens.
fn arabic(numerals: &[char]) -> String {
    let values: Vec<u32> = numerals.iter().filter_map(|c| numeral(*c)).collect();
    match values.iter().position(|value| *value == 10) {
        None => values.iter().map(u32::to_string).collect(),
        Some(ten) => {
            let tens = if ten == 0 { 1 } else { values[ten - 1] };
            let ones = values.get(ten + 1).copied().unwrap_or(0);
            (tens * 10 + ones).to_string()
        }
    }
}

struct Reader<'a> {
    text: &'a [char],
    at: usize,
}

impl Reader<'_> {
    fn peek(&self) -> Option<char> {
        self.text.get(self.at).copied()
    }

    fn spaces(&mut self) {
        while self.peek().is_some_and(|c| c.is_whitespace()) {
            self.at += 1;
        }
    }

    fn one_of(&mut self, set: &str) -> Option<char> {
        let c = self.peek().filter(|c| set.contains(*c))?;
        self.at += 1;
        Some(c)
    }

    fn word(&mut self, word: &str) -> bool {
        let length = word.chars().count();
        let here = self
            .text
            .get(self.at..self.at + length)
            .is_some_and(|text| text.iter().copied().eq(word.chars()));
        if here {
            self.at += length;
        }
        here
    }

    fn digits(&mut self) -> String {
        let start = self.at;
        while self.peek().is_some_and(|c| c.is_ascii_digit()) {
            self.at += 1;
        }
        self.text[start..self.at].iter().collect()
    }

    /// A number of at most `most` digits; longer runs are something else.
    fn number(&mut self, most: usize) -> Option<u32> {
        let start = self.at;
        let digits = self.digits();
        if digits.is_empty() || digits.len() > most {
            self.at = start;
            return None;
        }
        digits.parse().ok()
    }
}

#[cfg(test)]
mod tests;
