//! The search against a scan of every minute, over expressions that are made together with what they mean.

use chrono::{DateTime, Datelike, Duration, LocalResult, NaiveDate, NaiveDateTime, TimeZone, Timelike, Utc};
use chrono_tz::Tz;
use proptest::prelude::*;

use super::{cron, utc};

/// One item of a field as text, and the numbers that it means.
#[derive(Clone, Debug)]
struct Item {
    text: String,
    means: Vec<u32>,
    star: bool,
    ranged: bool,
}

fn item(low: u32, high: u32) -> impl Strategy<Value = Item> {
    let number = low..=high;
    let span = high - low + 1;
    prop_oneof![
        3 => Just(Item { text: "*".into(), means: (low..=high).collect(), star: true, ranged: false }),
        2 => (1..=span).prop_map(move |step| Item {
            text: format!("*/{step}"),
            means: (low..=high).filter(|n| (n - low).is_multiple_of(step)).collect(),
            star: true,
            ranged: true,
        }),
        4 => number.clone().prop_map(|n| Item { text: n.to_string(), means: vec![n], star: false, ranged: false }),
        2 => (number.clone(), 1..=span).prop_map(move |(n, step)| Item {
            text: format!("{n}/{step}"),
            means: (n..=high).step_by(step as usize).collect(),
            star: false,
            ranged: true,
        }),
        3 => (number.clone(), number, 1..=span).prop_map(move |(a, b, step)| {
            let mut all: Vec<u32> = Vec::new();
            let mut at = a;
            loop {
                all.push(at);
                if at == b {
                    break;
                }
                at = if at == high { low } else { at + 1 };
            }
            Item { text: format!("{a}-{b}/{step}"), means: all.into_iter().step_by(step as usize).collect(), star: false, ranged: true }
        }),
    ]
}

fn field(low: u32, high: u32) -> impl Strategy<Value = Item> {
    proptest::collection::vec(item(low, high), 1..3).prop_map(|items| Item {
        text: items.iter().map(|item| item.text.clone()).collect::<Vec<_>>().join(","),
        means: items.iter().flat_map(|item| item.means.clone()).collect(),
        star: items.iter().any(|item| item.star),
        ranged: items.iter().any(|item| item.ranged),
    })
}

#[derive(Clone, Debug)]
struct Made {
    fields: [Item; 5],
}

impl Made {
    fn text(&self) -> String {
        self.fields.iter().map(|field| field.text.clone()).collect::<Vec<_>>().join(" ")
    }

    fn skips_gaps(&self) -> bool {
        self.fields[..2].iter().any(|field| field.star)
    }

    fn runs_twice(&self) -> bool {
        self.fields[..2].iter().any(|field| field.star || field.ranged)
    }

    fn shows(&self, at: NaiveDateTime) -> bool {
        let has = |field: usize, number: u32| self.fields[field].means.contains(&number);
        let any = |field: usize| {
            let text = &self.fields[field].text;
            text.split(',').any(|item| item == "*" || item == "*/1")
        };
        let day = has(2, at.day());
        let week = has(4, at.weekday().num_days_from_sunday());
        let days = match (any(2), any(4)) {
            (false, false) => day || week,
            _ => day && week,
        };
        has(0, at.minute()) && has(1, at.hour()) && has(3, at.month()) && days
    }

    /// Whether it is due at this minute, by the words of the module.
    fn is_due(&self, at: DateTime<Utc>, zone: Tz) -> bool {
        let shown = |at: DateTime<Utc>| zone.from_utc_datetime(&at.naive_utc()).naive_local();
        let (local, before) = (shown(at), shown(at - Duration::minutes(1)));
        let first = self.runs_twice()
            || match zone.from_local_datetime(&local) {
                LocalResult::Ambiguous(one, two) => one.to_utc().min(two.to_utc()) == at,
                _ => true,
            };
        if self.shows(local) && first {
            return true;
        }
        if self.skips_gaps() {
            return false;
        }
        // The end of a gap, for what fell into it.
        let mut skipped = before + Duration::minutes(1);
        while skipped < local {
            if self.shows(skipped) {
                return true;
            }
            skipped += Duration::minutes(1);
        }
        false
    }
}

fn made() -> impl Strategy<Value = Made> {
    (field(0, 59), field(0, 23), field(1, 31), field(1, 12), field(0, 6))
        .prop_map(|(minute, hour, day, month, week)| Made { fields: [minute, hour, day, month, week] })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    /// C14: against a brute-force scan of every minute of four days, changes of the clock among them.
    #[test]
    fn the_next_moment_is_the_first_minute_of_a_scan(
        made in made(),
        start in proptest::sample::select(vec![
            ("2026-03-07T00:00:00Z", chrono_tz::America::New_York),
            ("2026-10-31T00:00:00Z", chrono_tz::America::New_York),
            ("2026-03-28T12:00:00Z", chrono_tz::Europe::Berlin),
            ("2026-10-24T00:00:00Z", chrono_tz::Europe::Berlin),
            ("2026-04-04T00:00:00Z", chrono_tz::Australia::Lord_Howe),
            ("2026-10-02T12:00:00Z", chrono_tz::Australia::Lord_Howe),
            ("2028-02-28T00:00:00Z", chrono_tz::Asia::Shanghai),
            ("2026-12-30T00:00:00Z", chrono_tz::UTC),
        ]),
        late in 0i64..2880,
    ) {
        let cron = cron(&made.text());
        let (start, zone) = (utc(start.0) + Duration::minutes(late), start.1);
        let mut expected = (1..=2880).map(|minutes| start + Duration::minutes(minutes)).filter(|at| made.is_due(*at, zone));
        let mut at = start;
        // The first few, and after them the first that a scan no longer reaches.
        for _ in 0..40 {
            let wanted = expected.next();
            let found = cron.next_after(at, zone).map(|found| found.to_utc());
            match wanted {
                Some(wanted) => prop_assert_eq!(found, Some(wanted), "{} after {}", made.text(), at),
                None => {
                    let end = start + Duration::minutes(2880);
                    prop_assert!(found.is_none_or(|found| found > end), "{} after {}: {:?}", made.text(), at, found);
                    break;
                }
            }
            at = wanted.unwrap_or(at);
        }
    }

    /// Days far away: against a scan of the days of nine years.
    #[test]
    fn the_next_day_is_the_first_of_a_scan_of_days(made in made(), offset in 0i64..20_000) {
        let cron = cron(&made.text());
        let day = NaiveDate::from_ymd_opt(1990, 1, 1).unwrap() + Duration::days(offset);
        let first = (1..=3300).map(|days| day + Duration::days(days)).find(|day| {
            let has = |field: usize, number: u32| made.fields[field].means.contains(&number);
            let minutes = made.fields[0].means.iter().min().copied().unwrap();
            let hours = made.fields[1].means.iter().min().copied().unwrap();
            has(3, day.month()) && made.shows(day.and_hms_opt(hours, minutes, 0).unwrap())
        });
        let from = day.and_hms_opt(23, 59, 59).unwrap().and_utc();
        let found = cron.next_after(from, chrono_tz::UTC).map(|found| found.date_naive());
        match first {
            Some(first) => prop_assert_eq!(found, Some(first), "{}", made.text()),
            None => prop_assert!(found.is_none_or(|found| found > day + Duration::days(3300)), "{}", made.text()),
        }
    }

    #[test]
    fn no_text_panics(text in "[-0-9*/,?LW#@A-Za-z \t]{0,40}|.{0,20}", seconds: bool, monday_is_zero: bool) {
        use super::super::{CronExpr, Dialect, Lang};
        if let Ok(cron) = CronExpr::parse_as(&text, Dialect { seconds, monday_is_zero }) {
            let _ = cron.next_after(utc("2026-04-10T09:38:30Z"), chrono_tz::Europe::London);
            prop_assert!(!cron.describe(Lang::Zh).is_empty() && !cron.describe(Lang::En).is_empty());
            prop_assert!(!cron.describe_s3().is_empty());
            // What it says of itself is the same schedule.
            let again = CronExpr::parse_as(cron.as_str(), Dialect { seconds, monday_is_zero: false }).unwrap();
            prop_assert_eq!(again.describe(Lang::En), cron.describe(Lang::En));
        }
    }
}
