//! An expression in English: the time first, then the days. `at 09:00 on weekdays`, `every 30 minutes`.

use super::CronExpr;
use super::shape::{Shape, clock_times, spans};

const WEEK: [&str; 7] = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
const MONTHS: [&str; 13] = [
    "",
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
/// A week begins on Monday.
const ORDER: [u32; 7] = [1, 2, 3, 4, 5, 6, 0];

pub(super) fn describe(cron: &CronExpr) -> String {
    let time = time(cron);
    let days = match (cron.any_day_of_month(), cron.any_weekday()) {
        (true, true) => None,
        (false, true) => Some(day_of_month(cron)),
        (true, false) => Some(day_of_week(cron)),
        (false, false) => Some(format!("{} or {}", day_of_month(cron), day_of_week(cron))),
    };
    let months = match Shape::of(cron.month, 1, 12) {
        Shape::All => None,
        _ => Some(format!("in {}", join(&spans(&cron.month.numbers()), |n| MONTHS[n as usize].to_owned()))),
    };
    let names_times =
        time.strip_prefix("at ").is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    let daily = days.is_none() && months.is_none() && names_times;
    let parts = [Some(time), daily.then(|| "every day".to_owned()), days, months];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" ")
}

fn day_of_month(cron: &CronExpr) -> String {
    let mut parts = Vec::new();
    if cron.day.set != 0 {
        parts.push(match Shape::of(cron.day, 1, 31) {
            Shape::All => "every day of the month".to_owned(),
            Shape::Every(step) => format!("every {step} days from day 1 of the month"),
            Shape::Steps { from, to, step } => {
                format!("every {step} days from day {from} to day {to} of the month")
            }
            Shape::Spans(spans) if spans.len() == 1 && spans[0].0 == spans[0].1 => {
                format!("day {} of the month", spans[0].0)
            }
            Shape::Spans(spans) => format!("days {} of the month", join(&spans, |n| n.to_string())),
        });
    }
    for back in (0..31).filter(|back| cron.from_end >> back & 1 == 1) {
        parts.push(match back {
            0 => "the last day of the month".to_owned(),
            1 => "the day before the last of the month".to_owned(),
            back => format!("{back} days before the last of the month"),
        });
    }
    if cron.last_working {
        parts.push("the last weekday (Monday to Friday) of the month".to_owned());
    }
    for day in (1..=31).filter(|day| cron.nearest >> day & 1 == 1) {
        parts.push(format!("the weekday (Monday to Friday) nearest day {day} of the month"));
    }
    format!("on {}", parts.join(" and "))
}

fn day_of_week(cron: &CronExpr) -> String {
    let mut parts = Vec::new();
    match cron.weekday.set {
        0 => {}
        0b011_1110 => parts.push("weekdays".to_owned()),
        0b100_0001 => parts.push("weekends".to_owned()),
        0b111_1111 => parts.push("every day of the week".to_owned()),
        _ => {
            let places: Vec<u32> = (0..7).filter(|at| cron.weekday.has(ORDER[*at as usize])).collect();
            parts.push(join(&spans(&places), |at| WEEK[ORDER[at as usize] as usize].to_owned()));
        }
    }
    for (set, which) in cron.nth.iter().zip(["first", "second", "third", "fourth", "fifth"]) {
        for day in ORDER.iter().filter(|day| set >> **day & 1 == 1) {
            parts.push(format!("the {which} {} of the month", WEEK[*day as usize]));
        }
    }
    for day in ORDER.iter().filter(|day| cron.last_weekday >> **day & 1 == 1) {
        parts.push(format!("the last {} of the month", WEEK[*day as usize]));
    }
    format!("on {}", parts.join(" and "))
}

fn time(cron: &CronExpr) -> String {
    let seconds = Shape::of(cron.second, 0, 59);
    if seconds.single() == Some(0) {
        return hours_and_minutes(cron);
    }
    if let (Some(second), Some(times)) = (seconds.single(), clock_times(cron.hour, cron.minute)) {
        let times = times.iter().map(|(hour, minute)| format!("{hour:02}:{minute:02}:{second:02}"));
        return format!("at {}", times.collect::<Vec<_>>().join(", "));
    }
    let whole = Shape::of(cron.minute, 0, 59) == Shape::All && Shape::of(cron.hour, 0, 23) == Shape::All;
    let part = match &seconds {
        Shape::All => "every second".to_owned(),
        Shape::Every(step) => format!("every {step} seconds"),
        Shape::Steps { from, to, step } => format!("every {step} seconds from second {from} to second {to}"),
        Shape::Spans(spans) => format!("at second {}", join(spans, |n| n.to_string())),
    };
    match (whole, &seconds) {
        (true, Shape::All | Shape::Every(_)) => part,
        (true, _) => format!("{part} of every minute"),
        (false, _) => format!("{part}, {}", hours_and_minutes(cron)),
    }
}

fn hours_and_minutes(cron: &CronExpr) -> String {
    let (minutes, hours) = (Shape::of(cron.minute, 0, 59), Shape::of(cron.hour, 0, 23));
    let even_hours = matches!(hours, Shape::All | Shape::Every(_));
    if let (false, Some(times)) = (even_hours, clock_times(cron.hour, cron.minute)) {
        let times = times.iter().map(|(hour, minute)| format!("{hour:02}:{minute:02}"));
        return format!("at {}", times.collect::<Vec<_>>().join(", "));
    }
    if let (Some(hour), Some((from, to))) = (hours.single(), minutes.span()) {
        return format!("every minute from {hour:02}:{from:02} to {hour:02}:{to:02}");
    }
    let within = match &minutes {
        Shape::All => "every minute".to_owned(),
        Shape::Every(step) => format!("every {step} minutes"),
        Shape::Steps { from, to, step } => {
            format!("every {step} minutes from minute {from} to minute {to} of the hour")
        }
        Shape::Spans(_) if minutes.single() == Some(0) => "every hour on the hour".to_owned(),
        Shape::Spans(spans) => format!("at minute {} of every hour", join(spans, |n| n.to_string())),
    };
    match hours {
        Shape::All => within,
        Shape::Every(step) => match minutes.single() {
            Some(0) => format!("every {step} hours"),
            Some(minute) => format!("every {step} hours at minute {minute}"),
            None => format!("{within} within every {} hour", ordinal(step)),
        },
        Shape::Steps { from, to, step } => match minutes.single() {
            Some(minute) => format!("every {step} hours from {from:02}:{minute:02} to {to:02}:{minute:02}"),
            None => format!("{within} within every {} hour from {from:02}:00 to {to:02}:59", ordinal(step)),
        },
        Shape::Spans(spans) => {
            if let Some(minute) = minutes.single() {
                let words = spans.iter().map(|(from, to)| match from == to {
                    true => format!("at {from:02}:{minute:02}"),
                    false => format!("every hour from {from:02}:{minute:02} to {to:02}:{minute:02}"),
                });
                return words.collect::<Vec<_>>().join(", ");
            }
            let words: Vec<String> =
                spans.iter().map(|(from, to)| format!("{from:02}:00–{to:02}:59")).collect();
            format!("{within} during {}", words.join(", "))
        }
    }
}

fn ordinal(number: u32) -> String {
    match number {
        2 => "second".to_owned(),
        3 => "third".to_owned(),
        other => format!("{other}th"),
    }
}

fn join(spans: &[(u32, u32)], say: impl Fn(u32) -> String) -> String {
    let word = |(from, to): &(u32, u32)| {
        if from == to { say(*from) } else { format!("{} to {}", say(*from), say(*to)) }
    };
    spans.iter().map(word).collect::<Vec<_>>().join(", ")
}
