//! Which days are worked on: weekdays, with China's public holidays and the weekends worked in exchange.
//!
//! Offices publish on make-up Saturdays as on any weekday and are silent in the holiday weeks. The table holds the
//! State Council's notices (国务院办公厅关于部分节假日安排的通知) for 2015–2026; a year that is not in it has plain
//! weekdays, so an old table is never wrong, only less sharp. The table counts only where the sources live by it.

use chrono::{Datelike, NaiveDate, Weekday};
use chrono_tz::Tz;

/// Holidays as `(year, [(first, last)…], [make-up days…])`, each day as month × 100 + day.
type Year = (i32, &'static [(u32, u32)], &'static [u32]);

const YEARS: [Year; 12] = [
    (
        2015,
        &[(101, 103), (218, 224), (404, 406), (501, 503), (620, 622), (903, 905), (926, 927), (1001, 1007)],
        &[104, 215, 228, 906, 1010],
    ),
    (
        2016,
        &[(101, 103), (207, 213), (402, 404), (430, 502), (609, 611), (915, 917), (1001, 1007)],
        &[206, 214, 612, 918, 1008, 1009],
    ),
    (
        2017,
        &[(101, 102), (127, 202), (402, 404), (429, 501), (528, 530), (1001, 1008), (1230, 1231)],
        &[122, 204, 401, 527, 930],
    ),
    (
        2018,
        &[(101, 101), (215, 221), (405, 407), (429, 501), (616, 618), (922, 924), (1001, 1007), (1230, 1231)],
        &[211, 224, 408, 428, 929, 930, 1229],
    ),
    (
        2019,
        &[(101, 101), (204, 210), (405, 407), (501, 504), (607, 609), (913, 915), (1001, 1007)],
        &[202, 203, 428, 505, 929, 1012],
    ),
    (
        2020,
        &[(101, 101), (124, 202), (404, 406), (501, 505), (625, 627), (1001, 1008)],
        &[119, 426, 509, 628, 927, 1010],
    ),
    (
        2021,
        &[(101, 103), (211, 217), (403, 405), (501, 505), (612, 614), (919, 921), (1001, 1007)],
        &[207, 220, 425, 508, 918, 926, 1009],
    ),
    (
        2022,
        &[(101, 103), (131, 206), (403, 405), (430, 504), (603, 605), (910, 912), (1001, 1007), (1231, 1231)],
        &[129, 130, 402, 424, 507, 1008, 1009],
    ),
    (
        2023,
        &[(101, 102), (121, 127), (405, 405), (429, 503), (622, 624), (929, 1006), (1230, 1231)],
        &[128, 129, 423, 506, 625, 1007, 1008],
    ),
    (
        2024,
        &[(101, 101), (210, 217), (404, 406), (501, 505), (608, 610), (915, 917), (1001, 1007)],
        &[204, 218, 407, 428, 511, 914, 929, 1012],
    ),
    (
        2025,
        &[(101, 101), (128, 204), (404, 406), (501, 505), (531, 602), (1001, 1008)],
        &[126, 208, 427, 928, 1011],
    ),
    (
        2026,
        &[(101, 103), (215, 223), (404, 406), (501, 505), (619, 621), (925, 927), (1001, 1007)],
        &[104, 214, 228, 509, 920, 1010],
    ),
];

/// What kind of day it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Day {
    /// The weekday it behaves like, 0 = Monday: a holiday is a Sunday, a make-up day a Friday.
    pub like: usize,
    /// In the table, that is: not simply its weekday.
    pub special: bool,
}

impl Day {
    /// Whether offices work.
    pub fn is_worked(self) -> bool {
        self.like < 5
    }

    /// In the words of a sentence.
    pub fn words(self) -> &'static str {
        match (self.special, self.is_worked()) {
            (true, true) => "a make-up working day",
            (true, false) => "a public holiday",
            (false, true) => "a weekday",
            (false, false) => "a weekend day",
        }
    }
}

/// The kind of a local day, given as days since 1970.
pub fn day_of(days: i64, zone: Tz) -> Day {
    // 1970-01-01 was a Thursday.
    let weekday = (days + 3).rem_euclid(7) as usize;
    let special = if is_chinese(zone) { special(days) } else { None };
    match special {
        Some(true) => Day { like: Weekday::Sun.num_days_from_monday() as usize, special: weekday < 5 },
        Some(false) => Day { like: Weekday::Fri.num_days_from_monday() as usize, special: true },
        None => Day { like: weekday, special: false },
    }
}

/// Whether the day is a holiday (`true`), a make-up day (`false`) or neither.
fn special(days: i64) -> Option<bool> {
    let date = NaiveDate::from_num_days_from_ce_opt(i32::try_from(days + 719_163).ok()?)?;
    let index = usize::try_from(date.year() - YEARS[0].0).ok()?;
    let (_, holidays, worked) = YEARS.get(index)?;
    let day = date.month() * 100 + date.day();
    if holidays.iter().any(|(first, last)| (*first..=*last).contains(&day)) {
        return Some(true);
    }
    worked.contains(&day).then_some(false)
}

fn is_chinese(zone: Tz) -> bool {
    use chrono_tz::Asia::{Chongqing, Harbin, Shanghai, Urumqi};
    [Shanghai, Urumqi, Chongqing, Harbin, chrono_tz::PRC].contains(&zone)
}

#[cfg(test)]
mod tests {
    use super::*;
    use chrono_tz::Asia::Shanghai;

    fn day(text: &str, zone: Tz) -> Day {
        let date: NaiveDate = text.parse().unwrap();
        day_of(i64::from(date.num_days_from_ce()) - 719_163, zone)
    }

    #[test]
    fn holidays_rest_and_make_up_days_work_in_china_only() {
        for (text, worked) in [
            ("2024-02-12", false),
            ("2024-02-18", true),
            ("2024-02-19", true),
            ("2024-02-24", false),
            ("2025-10-01", false),
            ("2025-09-28", true),
            ("2015-09-03", false),
            ("2026-10-10", true),
            // Beyond the table: plain weekdays.
            ("2031-10-01", true),
            ("2014-10-01", true),
            ("2031-10-04", false),
        ] {
            assert_eq!(day(text, Shanghai).is_worked(), worked, "{text}");
        }
        assert!(day("2024-02-12", chrono_tz::Europe::Berlin).is_worked());
        assert_eq!(day("2024-02-12", Shanghai).words(), "a public holiday");
        assert_eq!(day("2024-02-13", chrono_tz::UTC), Day { like: 1, special: false });
        assert!(!day_of(i64::MAX / 4, Shanghai).special);
    }

    #[test]
    fn every_holiday_weekend_worked_is_a_weekend_and_every_range_is_in_order() {
        for (year, holidays, worked) in YEARS {
            assert_eq!(YEARS[(year - YEARS[0].0) as usize].0, year);
            assert!(holidays.iter().all(|(first, last)| first <= last));
            for day in worked {
                let date = NaiveDate::from_ymd_opt(year, day / 100, day % 100).unwrap();
                assert!(date.weekday().num_days_from_monday() >= 5, "{date}");
                assert!(!holidays.iter().any(|(first, last)| (first..=last).contains(&day)), "{date}");
            }
        }
    }
}
