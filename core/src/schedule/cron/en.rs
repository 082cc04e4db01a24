//! An expression in English: the time first, then the days. `at 09:00 on weekdays`, `every 30 minutes`.

use super::CronExpr;
use super::shape::{Shape, Times, around, month_step, runs};

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
    let is_all_year = Shape::of(cron.month, 1, 12) == Shape::All;
    let date = date(cron);
    let months = (!is_all_year && date.is_none()).then(|| months(cron));
    let days = match (cron.any_day_of_month(), cron.any_weekday()) {
        _ if cron.is_every_day() => None,
        (false, true) => date.or_else(|| Some(day_of_month(cron))),
        (true, _) => Some(day_of_week(cron)),
        (false, false) => Some(format!("{} or {}", day_of_month(cron), day_of_week(cron))),
    };
    // What goes from 22 to 2 would end in the month after the last.
    let mut time = time(cron, days.is_none() && is_all_year);
    let names_times = time.contains(':') || !is_all_year;
    let days = match days {
        None if names_times => Some("every day".to_owned()),
        days => days,
    };
    if time.ends_with("the next day") {
        time.push(',');
    }
    [Some(time), days, months].into_iter().flatten().collect::<Vec<_>>().join(" ")
}

/// `on February 29`: days of one month that are plain numbers, and nothing else.
fn date(cron: &CronExpr) -> Option<String> {
    if cron.is_every_day() || cron.any_day_of_month() || !cron.any_weekday() {
        return None;
    }
    let month = Shape::of(cron.month, 1, 12).single()?;
    let has_more = cron.from_end | cron.nearest | cron.nearest_from_end != 0 || cron.last_working;
    match Shape::of(cron.day, 1, 31) {
        Shape::Spans(days) if !has_more => {
            let days = and(named(&days, |n| n.to_string()));
            Some(format!("on {} {days}", MONTHS[month as usize]))
        }
        _ => None,
    }
}

fn months(cron: &CronExpr) -> String {
    let months = around(runs(&cron.month.numbers()), 1, 12);
    let step = month_step(cron).map(|step| format!(" (every {step} months)")).unwrap_or_default();
    format!("{}{step}", within("in", &months, |n| MONTHS[n as usize].to_owned()))
}

/// `in May and June`, `from June to August`.
fn within(word: &str, runs: &[(u32, u32)], say: impl Fn(u32) -> String) -> String {
    let is_range = matches!(runs, [(from, to)] if from != to && *to != from + 1);
    format!("{} {}", if is_range { "from" } else { word }, and(named(runs, say)))
}

fn day_of_month(cron: &CronExpr) -> String {
    let mut parts = Vec::new();
    if cron.day.set != 0 {
        parts.push(match Shape::of(cron.day, 1, 31) {
            Shape::All => "on every day of the month".to_owned(),
            Shape::Every(step) => format!("every {step} days from day 1 of the month"),
            Shape::Steps { from, to, step } if to + step > 31 => {
                format!("every {step} days from day {from} of the month")
            }
            Shape::Steps { from, to, step } => {
                format!("every {step} days from day {from} to day {to} of the month")
            }
            Shape::Spans(spans) if spans.len() == 1 && spans[0].0 == spans[0].1 => {
                format!("on day {} of the month", spans[0].0)
            }
            Shape::Spans(spans) => {
                format!("on days {} of the month", and(named(&spans, |n| n.to_string())))
            }
        });
    }
    for day in (1..=31).filter(|day| cron.nearest >> day & 1 == 1) {
        parts.push(format!("on the weekday (Monday to Friday) nearest day {day} of the month"));
    }
    for back in (1..31).rev().filter(|back| cron.from_end >> back & 1 == 1) {
        parts.push(match back {
            1 => "on the day before the last day of the month".to_owned(),
            back => format!("{back} days before the last day of the month"),
        });
    }
    for back in (1..31).rev().filter(|back| cron.nearest_from_end >> back & 1 == 1) {
        let day = match back {
            1 => "the day".to_owned(),
            back => format!("{back} days"),
        };
        parts.push(format!(
            "on the weekday (Monday to Friday) nearest {day} before the last day of the month"
        ));
    }
    if cron.last_working {
        parts.push("on the last weekday (Monday to Friday) of the month".to_owned());
    }
    if cron.from_end & 1 == 1 {
        parts.push("on the last day of the month".to_owned());
    }
    and(parts)
}

fn day_of_week(cron: &CronExpr) -> String {
    let mut parts = Vec::new();
    match cron.weekday.set {
        0 => {}
        0b011_1110 => parts.push("on weekdays".to_owned()),
        0b100_0001 => parts.push("on weekends".to_owned()),
        0b111_1111 => parts.push("on every day of the week".to_owned()),
        _ => {
            let places: Vec<u32> = (0..7).filter(|at| cron.weekday.has(ORDER[*at as usize])).collect();
            let name = |at: u32| WEEK[ORDER[at as usize] as usize].to_owned();
            parts.push(within("on", &around(runs(&places), 0, 6), name));
        }
    }
    for day in ORDER {
        let which: Vec<String> = ["first", "second", "third", "fourth", "fifth"]
            .iter()
            .zip(cron.nth)
            .filter(|(_, set)| set >> day & 1 == 1)
            .map(|(which, _)| (*which).to_owned())
            .collect();
        if !which.is_empty() {
            parts.push(format!("on the {} {} of the month", and(which), WEEK[day as usize]));
        }
    }
    for day in ORDER.iter().filter(|day| cron.last_weekday >> **day & 1 == 1) {
        parts.push(format!("on the last {} of the month", WEEK[*day as usize]));
    }
    and(parts)
}

fn time(cron: &CronExpr, every_day: bool) -> String {
    let seconds = Shape::of(cron.second, 0, 59);
    let times = Times::of(cron, every_day);
    if seconds.single() == Some(0) {
        return hours_and_minutes(&times);
    }
    if let (Some(second), Times::Clock(times)) = (seconds.single(), &times) {
        let times = times.iter().map(|(hour, minute)| format!("{hour:02}:{minute:02}:{second:02}"));
        return format!("at {}", and(times.collect()));
    }
    let part = match &seconds {
        Shape::All => "every second".to_owned(),
        Shape::Every(step) => format!("every {step} seconds"),
        Shape::Steps { from, to, step } => format!("every {step} seconds from second {from} to second {to}"),
        Shape::Spans(spans) => {
            let plural = if seconds.single().is_none() { "s" } else { "" };
            format!("at second{plural} {}", and(named(spans, |n| n.to_string())))
        }
    };
    match (&times, &seconds) {
        (Times::EachHour(Shape::All), Shape::All | Shape::Every(_)) => part,
        (Times::EachHour(Shape::All), _) => format!("{part} of every minute"),
        (Times::Clock(_), _) => format!("{part} of the minute {}", hours_and_minutes(&times)),
        _ => format!("{part} of the minute, {}", hours_and_minutes(&times)),
    }
}

fn hours_and_minutes(times: &Times) -> String {
    let clock = |hour: u32, minute: u32| format!("{hour:02}:{minute:02}");
    let span = |(from, to): (u32, u32), (first, last): (u32, u32)| {
        let next = if to < from { " the next day" } else { "" };
        format!("from {from:02}:{first:02} to {to:02}:{last:02}{next}")
    };
    match times {
        Times::Clock(times) => {
            format!("at {}", and(times.iter().map(|(hour, minute)| clock(*hour, *minute)).collect()))
        }
        Times::Stretch { hour, from, to } => {
            format!("every minute {}", span((*hour, *hour), (*from, *to)))
        }
        Times::Hours { step, minute: 0 } => format!("every {step} hours"),
        Times::Hours { step, minute } => format!("every {step} hours from 00:{minute:02}"),
        Times::HoursFrom { from, to, step, minute } => {
            format!("every {step} hours {}", span((*from, *to), (*minute, *minute)))
        }
        Times::Rows { spans, singles, minute } => {
            let rows: Vec<String> = spans.iter().map(|hours| span(*hours, (*minute, *minute))).collect();
            let rows = format!("every hour {}", and(rows));
            match singles.is_empty() {
                true => rows,
                false => {
                    let singles: Vec<String> = singles.iter().map(|hour| clock(*hour, *minute)).collect();
                    format!("{rows}, and at {}", and(singles))
                }
            }
        }
        Times::EachHour(minutes) => of_each_hour(minutes),
        Times::OfHours { hours, minutes } => {
            let hours = and(hours.iter().map(u32::to_string).collect());
            match minutes {
                Shape::All => format!("every minute of hours {hours}"),
                Shape::Every(step) => format!("every {step} minutes of hours {hours}"),
                Shape::Steps { .. } => format!("{} of hours {hours}", steps(minutes)),
                Shape::Spans(spans) => format!("at {} of hours {hours}", minutes_named(spans)),
            }
        }
        Times::FirstOf { step, span: hours, minutes } => {
            let hours = hours.map(|hours| format!(" {}", span(hours, (0, 59)))).unwrap_or_default();
            let of = format!("the first of every {step} hours{hours}");
            match minutes {
                Shape::All => format!("every minute of {of}"),
                Shape::Every(step) => format!("every {step} minutes of {of}"),
                Shape::Steps { .. } => format!("{} of {of}", steps(minutes)),
                Shape::Spans(spans) => format!("at {} of {of}", minutes_named(spans)),
            }
        }
        Times::During { spans, minutes } => {
            let spans: Vec<String> = spans.iter().map(|hours| span(*hours, (0, 59))).collect();
            format!("{} {}", of_each_hour(minutes), and(spans))
        }
    }
}

fn of_each_hour(minutes: &Shape) -> String {
    match minutes {
        Shape::All => "every minute".to_owned(),
        Shape::Every(step) => format!("every {step} minutes"),
        Shape::Steps { .. } => format!("{} of every hour", steps(minutes)),
        Shape::Spans(_) if minutes.single() == Some(0) => "every hour on the hour".to_owned(),
        Shape::Spans(spans) => format!("at {} of every hour", minutes_named(spans)),
    }
}

/// Minutes of an hour by steps.
fn steps(minutes: &Shape) -> String {
    match minutes {
        Shape::Steps { from, to, step } if to + step > 59 => {
            format!("every {step} minutes from minute {from}")
        }
        Shape::Steps { from, to, step } => format!("every {step} minutes from minute {from} to minute {to}"),
        _ => String::new(),
    }
}

fn minutes_named(spans: &[(u32, u32)]) -> String {
    let plural = if matches!(spans, [(from, to)] if from == to) { "" } else { "s" };
    format!("minute{plural} {}", and(named(spans, |n| n.to_string())))
}

/// Spans in words; two neighbours are two.
fn named(runs: &[(u32, u32)], say: impl Fn(u32) -> String) -> Vec<String> {
    let mut words = Vec::new();
    for (from, to) in runs.iter().copied() {
        match (from, to) {
            _ if from == to => words.push(say(from)),
            _ if to == from + 1 => words.extend([say(from), say(to)]),
            _ => words.push(format!("{} to {}", say(from), say(to))),
        }
    }
    words
}

/// `this, that and the other`.
fn and(mut parts: Vec<String>) -> String {
    match parts.pop() {
        Some(last) if !parts.is_empty() => format!("{} and {last}", parts.join(", ")),
        last => last.unwrap_or_default(),
    }
}
