//! When a host wants to be asked again: `Retry-After`, in seconds or as a date (C8). Pure.
//!
//! Decides the moment only; who waits for it, and that nobody escalates meanwhile, is decided elsewhere.

use std::time::Duration;

use chrono::{Datelike, NaiveDate};

use crate::clock::Timestamp;

/// C8: "0" and dates of the past are common, and to come back at once is never what was meant.
pub const SHORTEST: Duration = Duration::from_secs(10);
/// C8: a host cannot silence itself for longer with one header.
pub const LONGEST: Duration = Duration::from_secs(24 * 3600);
/// What a host gets that says to come back later, in words that nobody can read.
pub const UNREADABLE: Duration = Duration::from_secs(60);

/// The moment from which the host may be asked again, between [`SHORTEST`] and [`LONGEST`] from `now`.
///
/// `date` is the answer's own `Date` header: a date in `Retry-After` is on the server's clock, and those clocks
/// are off by hours at times. None when the value is neither a number of seconds nor a date.
pub fn until(value: &str, date: Option<&str>, now: Timestamp) -> Option<Timestamp> {
    let value = value.trim();
    // Two programs that each add the header make a list of it.
    let first = value.split(',').next().unwrap_or_default().trim_end();
    let wait = match seconds(first) {
        Some(seconds) => Duration::from_secs(seconds),
        None => {
            let at = http_date(value, now).or_else(|| rfc3339(value))?;
            let server = date.and_then(|date| http_date(date, now)).unwrap_or(now);
            Duration::from_millis(u64::try_from(at.0.saturating_sub(server.0)).unwrap_or(0))
        }
    };
    let wait = wait.clamp(SHORTEST, LONGEST);
    Some(Timestamp(now.0.saturating_add(wait.as_millis() as i64)))
}

/// What programs write that were made for other formats.
fn rfc3339(value: &str) -> Option<Timestamp> {
    let at = chrono::DateTime::parse_from_rfc3339(value).ok()?;
    Some(Timestamp(at.timestamp_millis()))
}

/// Digits; a fraction is rounded up, a number too large for the type is as good as the largest, a negative one as
/// good as none. `60s` is what configuration files call it.
fn seconds(value: &str) -> Option<u64> {
    let (negative, value) = value.strip_prefix('-').map_or((false, value), |rest| (true, rest));
    let value = value.strip_suffix(['s', 'S']).unwrap_or(value);
    let (whole, fraction) = value.split_once('.').unwrap_or((value, ""));
    let digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    if whole.is_empty() || !digits(whole) || !digits(fraction) {
        return None;
    }
    if negative {
        return Some(0);
    }
    let more = u64::from(fraction.bytes().any(|b| b != b'0'));
    Some(whole.parse::<u64>().unwrap_or(u64::MAX).saturating_add(more))
}

/// The three forms of RFC 9110 §5.6.7 with one reader: in all of them the day comes before the year, the month is
/// a word and the time has colons. The weekday is not compared: servers get it wrong, and it adds nothing.
/// `now` places the two-digit years of RFC 850.
pub fn http_date(value: &str, now: Timestamp) -> Option<Timestamp> {
    // Longer than any of the forms, or with what ends a line: not a date.
    if value.len() > 64 || !value.bytes().all(|b| matches!(b, b' '..=b'~' | b'\t')) {
        return None;
    }
    let (mut day, mut year, mut month, mut time) = (None, None, None, None);
    for word in value.split([' ', ',', '-', '\t']).filter(|word| !word.is_empty()) {
        let first = word.as_bytes()[0];
        if word.contains(':') {
            once(&mut time, clock_time(word)?)?;
        } else if first.is_ascii_digit() {
            let number: u32 = word.parse().ok().filter(|_| word.bytes().all(|b| b.is_ascii_digit()))?;
            if day.is_none() {
                day = Some(number);
            } else {
                let full = match word.len() {
                    4 => number as i32,
                    2 => century(number as i32, now.to_utc().year()),
                    _ => return None,
                };
                once(&mut year, full)?;
            }
        } else if let Some(number) = month_number(word) {
            once(&mut month, number)?;
        } else if !is_weekday(word) && !matches!(word, "GMT" | "UTC" | "UT" | "Z" | "+0000") {
            return None;
        }
    }
    let (hour, minute, second) = time?;
    // A leap second is the second before it: no wait depends on it.
    let at = NaiveDate::from_ymd_opt(year?, month?, day?)?.and_hms_opt(hour, minute, second.min(59))?;
    Some(Timestamp(at.and_utc().timestamp_millis()))
}

fn once<T>(slot: &mut Option<T>, value: T) -> Option<()> {
    slot.replace(value).is_none().then_some(())
}

fn clock_time(word: &str) -> Option<(u32, u32, u32)> {
    let mut parts = word.split(':').map(|part| {
        part.parse::<u32>().ok().filter(|_| part.len() == 2 && part.bytes().all(|b| b.is_ascii_digit()))
    });
    let time = (parts.next()??, parts.next()??, parts.next()??);
    (parts.next().is_none() && time.2 <= 60).then_some(time)
}

/// RFC 9110: a year that seems to be more than fifty years ahead is one of the past with the same digits.
fn century(two_digits: i32, this_year: i32) -> i32 {
    let year = this_year - this_year.rem_euclid(100) + two_digits;
    if year > this_year + 50 { year - 100 } else { year }
}

const MONTHS: [&str; 12] =
    ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const WEEKDAYS: [&str; 7] = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];

fn month_number(word: &str) -> Option<u32> {
    (word.len() == 3)
        .then(|| MONTHS.iter().position(|month| word.eq_ignore_ascii_case(month)))?
        .map(|i| i as u32 + 1)
}

fn is_weekday(word: &str) -> bool {
    word.get(..3).is_some_and(|start| WEEKDAYS.iter().any(|day| start.eq_ignore_ascii_case(day)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// 2026-11-18T08:00:00Z, a Wednesday.
    const NOW: Timestamp = Timestamp(1_794_988_800_000);

    #[test]
    fn seconds_and_the_three_kinds_of_date_are_understood_and_bounded() {
        assert_eq!(NOW.to_string(), "2026-11-18T08:00:00.000Z");
        for (value, wait) in [
            ("120", Some(120)),
            (" 3600 ", Some(3600)),
            ("1.5", Some(10)),
            ("59.2", Some(60)),
            ("0", Some(10)),
            ("9", Some(10)),
            ("10", Some(10)),
            ("86400", Some(86_400)),
            ("86401", Some(86_400)),
            ("99999999999999999999999999", Some(86_400)),
            // IMF-fixdate, RFC 850, asctime
            ("Wed, 18 Nov 2026 08:02:00 GMT", Some(120)),
            ("Wednesday, 18-Nov-26 08:02:00 GMT", Some(120)),
            ("Wed Nov 18 08:02:00 2026", Some(120)),
            ("Sun Dec  6 08:49:37 2026", Some(86_400)),
            // a wrong weekday, lower case, a leap second, another name of the zone
            ("Mon, 18 Nov 2026 08:02:00 GMT", Some(120)),
            ("wed, 18 nov 2026 08:02:00 UTC", Some(120)),
            ("Wed, 18 Nov 2026 08:01:60 GMT", Some(119)),
            // the past: at once is never meant
            ("Sun, 06 Nov 1994 08:49:37 GMT", Some(10)),
            ("Sunday, 06-Nov-94 08:49:37 GMT", Some(10)),
            // fifty years ahead is ahead, fifty-one is the past
            ("Wednesday, 18-Nov-76 08:00:00 GMT", Some(86_400)),
            ("Friday, 18-Nov-77 08:00:00 GMT", Some(10)),
            // neither
            // not by the book, and yet there is no doubt
            ("Wed, 18 Nov 2026 08:02:00 +0000", Some(120)),
            ("Wed, 18 Nov 2026 08:02:00 UT", Some(120)),
            ("2026-11-18T08:02:00Z", Some(120)),
            ("2026-11-18T16:02:00+08:00", Some(120)),
            ("60, 60", Some(60)),
            ("90s", Some(90)),
            ("-5", Some(10)),
            ("", None),
            ("--5", None),
            ("s", None),
            ("+5", None),
            ("soon", None),
            ("1e3", None),
            ("12 minutes", None),
            ("Wed, 18 Nov 2026 08:02 GMT", None),
            ("Wed, 31 Feb 2026 08:02:00 GMT", None),
            ("Wed, 18 Nov 2026 25:02:00 GMT", None),
            ("Wed, 18 Nov 2026 08:02:00 +0800", None),
            ("Wed, 18 Nov 2026 08:02:00 08:02:00 GMT", None),
            ("2026-11-18 08:02:00", None),
            ("１２０", None),
        ] {
            let got = until(value, None, NOW).map(|at| (at.0 - NOW.0) / 1000);
            assert_eq!(got, wait, "{value:?}");
        }
    }

    #[test]
    fn a_date_is_read_on_the_clock_of_the_server_that_wrote_it() {
        let eight_hours_ahead = Some("Wed, 18 Nov 2026 16:00:00 GMT");
        let at = until("Wed, 18 Nov 2026 16:05:00 GMT", eight_hours_ahead, NOW).unwrap();
        assert_eq!(at.0 - NOW.0, 300_000);
        let at = until("Wed, 18 Nov 2026 08:05:00 GMT", Some("nonsense"), NOW).unwrap();
        assert_eq!(at.0 - NOW.0, 300_000, "without a date of its own, ours is the clock");
        assert_eq!(until("60", eight_hours_ahead, NOW).unwrap().0 - NOW.0, 60_000);
    }

    proptest! {
        #[test]
        fn whatever_is_sent_the_wait_is_within_its_bounds(value in ".{0,80}", date in proptest::option::of(".{0,80}"), now in any::<i64>()) {
            if let Some(at) = until(&value, date.as_deref(), Timestamp(now)) {
                prop_assert!(at.0 == i64::MAX || (10_000..=86_400_000).contains(&(at.0 - now)));
            }
        }

        #[test]
        fn what_looks_like_a_date_never_panics(value in "(Mon|Sunday|)[ ,]{0,2}[0-9]{1,4}[ -](Nov|feb|Xyz)[ -][0-9]{1,5} [0-9:]{0,9} (GMT|)") {
            let _ = until(&value, Some(&value), NOW);
        }
    }
}
