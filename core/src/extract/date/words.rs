//! Dates in words: `March 5, 2024`, `5 Mar 2024 10:30`, `3小时前`, `昨天 09:30`.
//!
//! Decides what names of months and relative forms mean. A relative form is read from the moment the page was fetched.

use chrono::{Duration, NaiveDate, NaiveTime};
use chrono_tz::Tz;

use super::{Reader, local, offset, published, time};
use crate::clock::Timestamp;
use crate::model::{Precision, Published};

const MONTHS: [&str; 12] =
    ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

/// The first date with the name of a month.
pub(super) fn with_month(text: &[char], zone: Tz) -> Option<Published> {
    let mut at = 0;
    while at < text.len() {
        let begins = text[at].is_ascii_alphabetic()
            && (at == 0 || !text[at - 1].is_alphanumeric() || text[at - 1].is_ascii_digit());
        if begins
            && let Some((month, end)) = month_at(text, at)
            && let Some(found) =
                day_first(text, at, month, end, zone).or_else(|| month_first(text, month, end, zone))
        {
            return Some(found);
        }
        at += 1;
    }
    None
}

/// Names of months that are not the English ones.
const OTHERS: [(&str, u32); 38] = [
    ("sept", 9),
    ("januar", 1),
    ("jänner", 1),
    ("februar", 2),
    ("märz", 3),
    ("mai", 5),
    ("juni", 6),
    ("juli", 7),
    ("oktober", 10),
    ("okt", 10),
    ("dezember", 12),
    ("dez", 12),
    ("janvier", 1),
    ("février", 2),
    ("mars", 3),
    ("avril", 4),
    ("juin", 6),
    ("juillet", 7),
    ("août", 8),
    ("septembre", 9),
    ("octobre", 10),
    ("novembre", 11),
    ("décembre", 12),
    ("enero", 1),
    ("febrero", 2),
    ("marzo", 3),
    ("abril", 4),
    ("mayo", 5),
    ("junio", 6),
    ("julio", 7),
    ("agosto", 8),
    ("septiembre", 9),
    ("octubre", 10),
    ("noviembre", 11),
    ("diciembre", 12),
    ("janeiro", 1),
    ("março", 3),
    ("maio", 5),
];

fn month_at(text: &[char], at: usize) -> Option<(u32, usize)> {
    let word: String = text[at..].iter().take(10).take_while(|c| c.is_alphabetic()).collect();
    let end = at + word.chars().count();
    let word = word.to_lowercase();
    let full = [
        "january",
        "february",
        "march",
        "april",
        "may",
        "june",
        "july",
        "august",
        "september",
        "october",
        "november",
        "december",
    ];
    let month = full
        .iter()
        .position(|name| *name == word)
        .or_else(|| MONTHS.iter().position(|name| *name == word))
        .map(|month| month as u32 + 1)
        .or_else(|| OTHERS.iter().find(|(name, _)| *name == word).map(|(_, month)| *month))?;
    Some((month, end))
}

/// `March 5, 2024` and `March 5th 2024`.
fn month_first(text: &[char], month: u32, end: usize, zone: Tz) -> Option<Published> {
    let mut reader = Reader { text, at: end };
    reader.one_of(".");
    reader.spaces();
    let day = reader.number(2)?;
    ordinal(&mut reader);
    reader.one_of(",");
    reader.spaces();
    let behind = reader.at;
    if let Some(year) = reader.number(4).filter(|year| *year > 1000) {
        return finish(reader, year, month, day, zone);
    }
    reader.at = behind;
    clock_first(reader, month, day, zone)
}

/// `Mar 05 08:00:00 CST 2024`, as Java and C write it. `CST` is China's as well as Chicago's: it is taken for the site's own.
fn clock_first(mut reader: Reader<'_>, month: u32, day: u32, zone: Tz) -> Option<Published> {
    let (clock, precision) = time(&mut reader)?;
    reader.spaces();
    let mut name = String::new();
    while let Some(c) = reader.peek().filter(|c| c.is_ascii_alphabetic() && name.len() < 5) {
        name.push(c);
        reader.at += 1;
    }
    reader.spaces();
    let year = reader.number(4).filter(|year| *year > 1000)?;
    let date = NaiveDate::from_ymd_opt(year as i32, month, day)?;
    Some(match name.as_str() {
        "GMT" | "UTC" | "Z" => published(date.and_time(clock).and_utc(), zone, precision),
        _ => local(date, clock, precision, zone),
    })
}

/// `5 March 2024`, `5th of March, 2024`.
fn day_first(text: &[char], at: usize, month: u32, end: usize, zone: Tz) -> Option<Published> {
    let mut start = at;
    while start > 0
        && (text[start - 1].is_whitespace() || "-./,stndrhofe".contains(text[start - 1]))
        && at - start < 8
    {
        start -= 1;
    }
    let mut first = start;
    while first > 0 && text[first - 1].is_ascii_digit() {
        first -= 1;
    }
    let day: u32 =
        text[first..start].iter().collect::<String>().parse().ok().filter(|day| (1..=31).contains(day))?;
    let mut reader = Reader { text, at: end };
    for _ in 0..3 {
        reader.one_of(" .,-/");
    }
    if reader.word("de ") {
        reader.spaces();
    }
    let year = reader.number(4).filter(|year| *year > 1000)?;
    finish(reader, year, month, day, zone)
}

fn ordinal(reader: &mut Reader<'_>) {
    let _ = ["st", "nd", "rd", "th"].iter().any(|ending| reader.word(ending));
}

fn finish(mut reader: Reader<'_>, year: u32, month: u32, day: u32, zone: Tz) -> Option<Published> {
    let date = NaiveDate::from_ymd_opt(year as i32, month, day)?;
    reader.one_of(",");
    reader.spaces();
    let _ = reader.word("at ");
    let Some((clock, precision)) = time(&mut reader) else {
        return Some(local(date, NaiveTime::MIN, Precision::Day, zone));
    };
    Some(match offset(&mut reader) {
        Some(minutes) => {
            let at = date.and_time(clock).checked_sub_signed(Duration::minutes(minutes))?.and_utc();
            published(at, zone, precision)
        }
        None => local(date, clock, precision, zone),
    })
}

/// `3小时前`, `5 分钟前`, `2天前`, `昨天 09:30`, `今天`, `3 hours ago`, `yesterday`.
pub(crate) fn relative(text: &[char], zone: Tz, now: Timestamp) -> Option<Published> {
    let today = now.to_utc().with_timezone(&zone).date_naive();
    for at in 0..text.len() {
        for (word, back) in [
            ("今天", 0),
            ("今日", 0),
            ("昨天", 1),
            ("昨日", 1),
            ("前天", 2),
            ("yesterday", 1),
            ("Yesterday", 1),
            ("today", 0),
            ("Today", 0),
        ] {
            let mut reader = Reader { text, at };
            if !reader.word(word) {
                continue;
            }
            let date = today - Duration::days(back);
            return Some(match time(&mut reader) {
                Some((clock, precision)) => local(date, clock, precision, zone),
                // 今日 in a sentence is no date, and `今天：晴` is the weather.
                None if text[..at]
                    .iter()
                    .chain(&text[at + word.chars().count()..])
                    .all(|c| c.is_whitespace()) =>
                {
                    local(date, NaiveTime::MIN, Precision::Day, zone)
                }
                None => return None,
            });
        }
        if !text[at].is_ascii_digit() || (at > 0 && text[at - 1].is_ascii_digit()) {
            let Some(minutes) = just(text, at) else { continue };
            return Some(published(now.to_utc() - Duration::minutes(minutes), zone, Precision::Minute));
        }
        let mut reader = Reader { text, at };
        let Some(number) = reader.number(3) else { continue };
        reader.spaces();
        let number = i64::from(number);
        for (words, length, precision) in [
            (
                &["秒前", "秒钟前", "seconds ago", "secs ago"][..],
                Duration::seconds(number),
                Precision::Minute,
            ),
            (
                &["分钟前", "分前", "minutes ago", "minute ago", "mins ago", "min ago"][..],
                Duration::minutes(number),
                Precision::Minute,
            ),
            (
                &["小时前", "个小时前", "hours ago", "hour ago"][..],
                Duration::hours(number),
                Precision::Minute,
            ),
            (&["天前", "日前", "days ago", "day ago"][..], Duration::days(number), Precision::Day),
            (&["周前", "星期前", "weeks ago", "week ago"][..], Duration::weeks(number), Precision::Day),
        ] {
            if words.iter().any(|word| Reader { text, at: reader.at }.word(word)) {
                let when = now.to_utc() - length;
                return Some(match precision {
                    Precision::Day => {
                        local(when.with_timezone(&zone).date_naive(), NaiveTime::MIN, Precision::Day, zone)
                    }
                    _ => published(when, zone, precision),
                });
            }
        }
    }
    None
}

/// `刚刚`, `半小时前`: how many minutes ago that is.
fn just(text: &[char], at: usize) -> Option<i64> {
    let words = [("刚刚", 0), ("刚才", 0), ("just now", 0), ("半小时前", 30), ("半个小时前", 30)];
    let (_, minutes) = words.iter().find(|(word, _)| Reader { text, at }.word(word))?;
    (text.len() < 20).then_some(*minutes)
}
