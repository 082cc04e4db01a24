//! When a row was published: which of its five times is believed, and the calendar that needs.
//!
//! Order of trust: `create_time` (what the public table shows) → `display_publish_time` → `first_publish_time` →
//! `created_at` (when it was entered) → `date` (when it was written). Times that cannot be are passed over: 0, and the
//! future.

use crate::row::Row;
use crate::scalar::Scalar;

/// Clocks of sites run ahead, and notices are dated on the next working day.
const AHEAD: i64 = 2 * DAY;
const DAY: i64 = 86_400;
/// Guangdong's time, all year.
const ZONE: i64 = 8 * 3600;
/// The republic's first year: no document on these sites is older.
const FIRST_YEAR: i64 = 1949;

/// The time of publication, with the name of the key that said so. Seconds since 1970 are left as they are: the host
/// reads them.
pub fn published(row: &Row, now_ms: u64) -> Option<(String, &'static str)> {
    let now = i64::try_from(now_ms / 1000).unwrap_or(i64::MAX - AHEAD);
    let exact = [
        (&row.create_time, "create_time"),
        (&row.display_publish_time, "display_publish_time"),
        (&row.first_publish_time, "first_publish_time"),
        (&row.publish_time, "publish_time"),
        (&row.pub_time, "pub_time"),
        (&row.created_at, "created_at"),
    ];
    let exact = exact.into_iter().find_map(|(value, key)| Some((exactly(value, now)?, key)));
    exact.or_else(|| Some((day(&row.date, now)?, "date")))
}

/// 成文日期 as `YYYY-MM-DD`.
pub fn written(row: &Row, now_ms: u64) -> Option<String> {
    day(&row.date, i64::try_from(now_ms / 1000).unwrap_or(i64::MAX - AHEAD))
}

/// A moment, as seconds or as the site's text.
fn exactly(value: &Scalar, now: i64) -> Option<String> {
    match value.whole() {
        Some(number) => {
            let seconds = seconds(number, now)?;
            // Fewer digits than the host takes for seconds: the early seventies.
            Some(if seconds < 100_000_000 { date_of(seconds) } else { seconds.to_string() })
        }
        None => value.text().filter(|text| plausible(text, now)),
    }
}

/// A day: these are local midnights.
fn day(value: &Scalar, now: i64) -> Option<String> {
    match value.whole() {
        Some(number) => Some(date_of(seconds(number, now)?)),
        None => {
            let text = value.text().filter(|text| plausible(text, now))?;
            Some(text.split([' ', 'T']).next().unwrap_or(&text).to_owned())
        }
    }
}

/// Seconds, from seconds or milliseconds.
fn seconds(number: i64, now: i64) -> Option<i64> {
    let seconds = if number >= 100_000_000_000 { number / 1000 } else { number };
    (seconds > 0 && seconds <= now.saturating_add(AHEAD)).then_some(seconds)
}

/// Whether a text begins with a date that can be.
fn plausible(text: &str, now: i64) -> bool {
    let mut numbers = text.split(|c: char| !c.is_ascii_digit()).map(|digits| digits.parse::<i64>().ok());
    let mut next = || numbers.next().flatten();
    let Some(year) = next().filter(|year| (FIRST_YEAR..10_000).contains(year)) else { return false };
    let (Some(month), Some(day)) = (next(), next()) else { return false };
    (1..=12).contains(&month)
        && (1..=31).contains(&day)
        && days(year, month, day).saturating_mul(DAY) - ZONE <= now.saturating_add(AHEAD)
}

/// The day in Guangdong.
fn date_of(seconds: i64) -> String {
    let (year, month, day) = civil((seconds + ZONE).div_euclid(DAY));
    format!("{year:04}-{month:02}-{day:02}")
}

/// Days since 1970 of a date (Howard Hinnant's algorithm).
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = year - i64::from(month <= 2);
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let of_year = (153 * (month + if month > 2 { -3 } else { 9 }) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

/// The date of a day since 1970.
fn civil(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let of_era = days.rem_euclid(146_097);
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let shifted = (5 * of_year + 2) / 153;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    (year + era * 400 + i64::from(month <= 2), month, of_year - (153 * shifted + 2) / 5 + 1)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// 2026-11-18.
    const NOW: u64 = 1_795_000_000_000;

    fn of(json: &str) -> Option<(String, &'static str)> {
        published(&serde_json::from_str(json).expect(json), NOW)
    }

    #[test]
    fn the_most_trusted_time_that_can_be_is_taken() {
        let all = r#""created_at":"2026-07-07 16:00:03","date":1783353600"#;
        for (json, value, key) in [
            (r#"{"create_time":1783411200,"display_publish_time":1783411201,"#, "1783411200", "create_time"),
            (
                r#"{"create_time":0,"display_publish_time":"1783411201","#,
                "1783411201",
                "display_publish_time",
            ),
            (
                r#"{"create_time":null,"display_publish_time":"","first_publish_time":1783411202000,"#,
                "1783411202",
                "first_publish_time",
            ),
            (
                r#"{"create_time":9999999999,"first_publish_time":"none","#,
                "2026-07-07 16:00:03",
                "created_at",
            ),
            ("{", "2026-07-07 16:00:03", "created_at"),
        ] {
            assert_eq!(of(&format!("{json}{all}}}")), Some((value.to_owned(), key)), "{json}");
        }
        assert_eq!(
            of(r#"{"created_at":"0000-00-00 00:00:00","date":1783353600}"#),
            Some(("2026-07-07".into(), "date"))
        );
        assert_eq!(of(r#"{"date":"2026-07-07 00:00:00"}"#), Some(("2026-07-07".into(), "date")));
        assert_eq!(of(r#"{"create_time":[1783411200],"date":-5,"created_at":"2099-01-01"}"#), None);
    }

    proptest! {
        #[test]
        fn days_and_dates_are_each_other(day in -800_000i64..3_000_000) {
            let (year, month, of_month) = civil(day);
            prop_assert!((1..=12).contains(&month) && (1..=31).contains(&of_month));
            prop_assert_eq!(days(year, month, of_month), day);
        }

        #[test]
        fn no_number_or_text_overflows(number in any::<i64>(), text in "[0-9]{0,20}-[0-9]{0,20}-[0-9]{0,20}", now in any::<u64>()) {
            let row = Row { create_time: Scalar::Whole(number), created_at: Scalar::Text(text.clone()), date: Scalar::Text(text), ..Row::default() };
            published(&row, now);
            written(&row, now);
        }
    }
}
