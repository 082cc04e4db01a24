//! An expression in Chinese, as a person would say it: days first, then the time. `工作日 09:00`, `每 30 分钟`.

use super::CronExpr;
use super::field::Field;
use super::shape::{Shape, Times, around, month_step, runs, spans};

const WEEK: [&str; 7] = ["日", "一", "二", "三", "四", "五", "六"];
/// A week begins on Monday.
const ORDER: [u32; 7] = [1, 2, 3, 4, 5, 6, 0];

pub(super) fn describe(cron: &CronExpr) -> String {
    let days = days(cron);
    let time = time(cron, days.is_none());
    match days {
        // What goes on all day needs no 每天.
        None if time.starts_with('每') => time,
        None => format!("每天 {time}"),
        Some(days) => format!("{days} {time}"),
    }
}

/// Field by field (S3-3).
pub(super) fn describe_s3(cron: &CronExpr) -> String {
    let list = |field: Field| join(&spans(&field.numbers()), |n| n.to_string());
    let step = |shape: &Shape, unit: &str| match shape {
        Shape::All => Some(format!("每{unit}")),
        Shape::Every(step) => Some(format!("每 {step} {unit}")),
        Shape::Steps { from, to, step } => Some(format!("从第 {from} 到第 {to} 每 {step} {unit}")),
        Shape::Spans(_) => None,
    };
    let mut parts = Vec::new();
    if cron.with_seconds {
        let shape = Shape::of(cron.second, 0, 59);
        parts.push(step(&shape, "秒").unwrap_or_else(|| format!("在第 {} 秒", list(cron.second))));
    }
    let shape = Shape::of(cron.minute, 0, 59);
    parts.push(step(&shape, "分钟").unwrap_or_else(|| format!("在第 {} 分钟", list(cron.minute))));
    let shape = Shape::of(cron.hour, 0, 23);
    parts.push(step(&shape, "小时").unwrap_or_else(|| format!("在 {} 点", list(cron.hour))));
    let any = (cron.any_day_of_month(), cron.any_weekday());
    if !any.0 {
        parts.push(format!("在{}", day_of_month(cron, "每月")));
    }
    if !cron.month.is_any() {
        parts.push(format!("在 {} 月", list(cron.month)));
    }
    if !any.1 {
        parts.push(format!("{}在{}", if any.0 { "" } else { "或" }, day_of_week(cron, "每月")));
    }
    parts.join(" ")
}

/// The days; none when it is every day.
fn days(cron: &CronExpr) -> Option<String> {
    let shape = Shape::of(cron.month, 1, 12);
    let months = around(runs(&cron.month.numbers()), 1, 12);
    let is_range = months.iter().any(|(from, to)| *to != *from && *to != from + 1);
    // `6–8 月 1 日` would read as the time up to the first of August.
    let each = if shape == Shape::All || is_range { "每月" } else { "" };
    let days = match (cron.any_day_of_month(), cron.any_weekday()) {
        _ if cron.is_every_day() => None,
        (false, true) => Some(day_of_month(cron, each)),
        (true, _) => Some(day_of_week(cron, each)),
        (false, false) => Some(format!("{}或{}", day_of_month(cron, each), day_of_week(cron, each))),
    };
    if shape == Shape::All {
        return days;
    }
    let months = match month_step(cron) {
        // Evenly over the end of the year as well: it goes on like that for ever.
        Some(step) if 12 % step == 0 && cron.month.numbers().len() as u32 == 12 / step => {
            format!("每 {step} 个月（{}）", join_months(&months))
        }
        Some(step) => format!("每年 {}（每 {step} 个月）", join_months(&months)),
        None => format!("每年 {}", join_months(&months)),
    };
    let is_one = shape.single().is_some();
    Some(match days {
        None => format!("{months}每天"),
        Some(days) if !days.starts_with(|c: char| c.is_ascii_digit()) && is_range => {
            format!("{months}{days}")
        }
        Some(days) if days.starts_with("每") => format!("{months}的{days}"),
        Some(days) if days.starts_with("从") && !days.contains('或') => format!("{months}{days}"),
        // `每年 3 月 1 日`, but `每年 1、7 月的 1 日`.
        Some(days) if is_one && days.starts_with(|c: char| c.is_ascii_digit()) && !days.contains('或') => {
            format!("{months} {days}")
        }
        Some(days) => {
            let gap = if days.starts_with(|c: char| c.is_ascii_digit()) { " " } else { "" };
            format!("{months}的{gap}{days}")
        }
    })
}

fn join_months(months: &[(u32, u32)]) -> String {
    let mut words: Vec<String> = Vec::new();
    for (from, to) in months.iter().copied() {
        match (from, to) {
            _ if to < from => words.push(format!("{from} 月至次年 {to} ")),
            _ if to == from => words.push(from.to_string()),
            _ if to == from + 1 => words.push(format!("{from}、{to}")),
            _ => words.push(format!("{from}–{to}")),
        }
    }
    let text = words.join("、");
    if text.ends_with(' ') { format!("{text}月") } else { format!("{text} 月") }
}

/// `每月 1、15 日`, `每月最后一天`; `each` is 每月 or nothing where the months are named.
fn day_of_month(cron: &CronExpr, each: &str) -> String {
    let mut parts = Vec::new();
    if cron.day.set != 0 {
        parts.push(match Shape::of(cron.day, 1, 31) {
            Shape::All => "每天".to_owned(),
            Shape::Every(step) => format!("从 1 日起每 {step} 天"),
            Shape::Steps { from, to, step } if to + step > 31 => format!("从 {from} 日起每 {step} 天"),
            Shape::Steps { from, to, step } => format!("从 {from} 日到 {to} 日每 {step} 天"),
            Shape::Spans(spans) => format!("{} 日", join(&spans, |n| n.to_string())),
        });
    }
    for day in (1..=31).filter(|day| cron.nearest >> day & 1 == 1) {
        parts.push(format!("离 {day} 日最近的工作日"));
    }
    for back in (1..31).rev().filter(|back| cron.from_end >> back & 1 == 1) {
        parts.push(format!("倒数第 {} 天", back + 1));
    }
    for back in (1..31).rev().filter(|back| cron.nearest_from_end >> back & 1 == 1) {
        parts.push(format!("离倒数第 {} 天最近的工作日", back + 1));
    }
    if cron.last_working {
        parts.push("最后一个工作日".to_owned());
    }
    if cron.from_end & 1 == 1 {
        parts.push("最后一天".to_owned());
    }
    let text = and(parts);
    let gap = if !each.is_empty() && text.starts_with(|c: char| c.is_ascii_digit()) { " " } else { "" };
    format!("{each}{gap}{text}")
}

/// `工作日`, `每周一、三`, `每月第 2 个周五`.
fn day_of_week(cron: &CronExpr, each: &str) -> String {
    let mut parts = Vec::new();
    match cron.weekday.set {
        0 => {}
        0b011_1110 => parts.push("工作日".to_owned()),
        0b100_0001 => parts.push("周末".to_owned()),
        0b111_1111 => parts.push("每周每天".to_owned()),
        _ => parts.push(format!("每周{}", plain_weekdays(cron))),
    }
    let mut of_month = Vec::new();
    for day in ORDER {
        let which: Vec<u32> = (1..=5).filter(|k| cron.nth[*k as usize - 1] >> day & 1 == 1).collect();
        if !which.is_empty() {
            let which = which.iter().map(u32::to_string).collect::<Vec<_>>().join("、");
            of_month.push(format!("第 {which} 个周{}", WEEK[day as usize]));
        }
    }
    for day in ORDER.iter().filter(|day| cron.last_weekday >> **day & 1 == 1) {
        of_month.push(format!("最后一个周{}", WEEK[*day as usize]));
    }
    if !of_month.is_empty() {
        parts.push(format!("{each}{}", and(of_month)));
    }
    and(parts)
}

/// `一、三`, `一至周四`, `五至周一`.
fn plain_weekdays(cron: &CronExpr) -> String {
    let places: Vec<u32> = (0..7).filter(|at| cron.weekday.has(ORDER[*at as usize])).collect();
    let spans = around(runs(&places), 0, 6);
    let name = |at: u32| WEEK[ORDER[at as usize] as usize];
    let has_range = spans.iter().any(|(from, to)| from != to && *to != from + 1);
    let mut words = Vec::new();
    for (from, to) in spans {
        match (from, to) {
            _ if from == to => words.push(name(from).to_owned()),
            _ if to == from + 1 => words.extend([name(from).to_owned(), name(to).to_owned()]),
            _ => words.push(format!("{}至周{}", name(from), name(to))),
        }
    }
    words.join(if has_range { "、周" } else { "、" })
}

/// The time of day.
fn time(cron: &CronExpr, every_day: bool) -> String {
    let seconds = Shape::of(cron.second, 0, 59);
    let times = Times::of(cron, every_day);
    if seconds.single() == Some(0) {
        return hours_and_minutes(&times);
    }
    if let (Some(second), Times::Clock(times)) = (seconds.single(), &times) {
        let times = times.iter().map(|(hour, minute)| format!("{hour:02}:{minute:02}:{second:02}"));
        return times.collect::<Vec<_>>().join("、");
    }
    let part = match &seconds {
        Shape::All => "每秒".to_owned(),
        Shape::Every(step) => format!("每 {step} 秒"),
        Shape::Steps { from, to, step } if to + step > 59 => format!("从第 {from} 秒起每 {step} 秒"),
        Shape::Steps { from, to, step } => format!("从第 {from} 秒到第 {to} 秒每 {step} 秒"),
        Shape::Spans(spans) => format!("第 {} 秒", join(spans, |n| n.to_string())),
    };
    let within = hours_and_minutes(&times);
    let whole = matches!(&times, Times::EachHour(Shape::All));
    match (&times, &seconds) {
        (_, Shape::All | Shape::Every(_)) if whole => part,
        (_, Shape::Spans(_)) if within.ends_with("每分钟") => format!("{within}的{part}"),
        (_, _) if within.ends_with("每分钟") => format!("{within}{part}"),
        (Times::Clock(_), _) => format!("{within} 起一分钟内{part}"),
        (_, Shape::Spans(_)) => format!("{within}的{part}"),
        _ => format!("{within}，其后一分钟内{part}"),
    }
}

fn hours_and_minutes(times: &Times) -> String {
    let clock = |hour: u32, minute: u32| format!("{hour:02}:{minute:02}");
    let span = |(from, to): (u32, u32), (first, last): (u32, u32)| {
        let next = if to < from { "次日 " } else { "" };
        format!("{from:02}:{first:02}–{next}{to:02}:{last:02}")
    };
    match times {
        Times::Clock(times) => {
            times.iter().map(|(hour, minute)| clock(*hour, *minute)).collect::<Vec<_>>().join("、")
        }
        Times::Stretch { hour, from, to } => format!("{} 每分钟", span((*hour, *hour), (*from, *to))),
        Times::Hours { step, minute: 0 } => format!("每 {step} 小时"),
        Times::Hours { step, minute } => format!("00:{minute:02} 起每 {step} 小时"),
        Times::HoursFrom { from, to, step, minute } => {
            format!("{} 每 {step} 小时", span((*from, *to), (*minute, *minute)))
        }
        Times::Rows { spans, singles, minute } => {
            let rows: Vec<String> = spans.iter().map(|hours| span(*hours, (*minute, *minute))).collect();
            let rows = format!("{} 每小时", rows.join("、"));
            match singles.is_empty() {
                true => rows,
                false => {
                    let singles: Vec<String> = singles.iter().map(|hour| clock(*hour, *minute)).collect();
                    format!("{rows}，以及 {}", singles.join("、"))
                }
            }
        }
        Times::EachHour(minutes) => of_each_hour(minutes),
        Times::OfHours { hours, minutes } => {
            let hours = hours.iter().map(|hour| format!("{hour:02}")).collect::<Vec<_>>().join("、");
            match minutes {
                Shape::All => format!("{hours} 点内每分钟"),
                Shape::Every(step) => format!("{hours} 点内每 {step} 分钟"),
                Shape::Steps { .. } => format!("{hours} 点内{}", steps(minutes)),
                Shape::Spans(spans) => format!("{hours} 点的第 {} 分钟", join(spans, |n| n.to_string())),
            }
        }
        Times::FirstOf { step, span: hours, minutes } => {
            let hours = hours.map(|hours| format!("{} ", span(hours, (0, 59)))).unwrap_or_default();
            let hours = format!("{hours}每 {step} 小时的");
            match minutes {
                Shape::All => format!("{hours}第 1 个小时内每分钟"),
                Shape::Every(step) => format!("{hours}第 1 个小时内每 {step} 分钟"),
                Shape::Steps { .. } => format!("{hours}第 1 个小时内{}", steps(minutes)),
                Shape::Spans(spans) => format!("{hours}第 {} 分钟", join(spans, |n| n.to_string())),
            }
        }
        Times::During { spans, minutes } => {
            let spans: Vec<String> = spans.iter().map(|hours| span(*hours, (0, 59))).collect();
            format!("{} {}", spans.join("、"), of_each_hour(minutes))
        }
    }
}

fn of_each_hour(minutes: &Shape) -> String {
    match minutes {
        Shape::All => "每分钟".to_owned(),
        Shape::Every(step) => format!("每 {step} 分钟"),
        Shape::Steps { .. } => format!("每小时{}", steps(minutes)),
        Shape::Spans(_) if minutes.single() == Some(0) => "每小时整点".to_owned(),
        Shape::Spans(spans) => format!("每小时第 {} 分钟", join(spans, |n| n.to_string())),
    }
}

/// Minutes of an hour by steps.
fn steps(minutes: &Shape) -> String {
    match minutes {
        Shape::Steps { from, to, step } if to + step > 59 => format!("从第 {from} 分钟起每 {step} 分钟"),
        Shape::Steps { from, to, step } => format!("从第 {from} 分钟到第 {to} 分钟每 {step} 分钟"),
        _ => String::new(),
    }
}

fn join(spans: &[(u32, u32)], say: impl Fn(u32) -> String) -> String {
    let word = |(from, to): &(u32, u32)| {
        if from == to { say(*from) } else { format!("{}–{}", say(*from), say(*to)) }
    };
    spans.iter().map(word).collect::<Vec<_>>().join("、")
}

/// `甲、乙和丙`.
fn and(mut parts: Vec<String>) -> String {
    match parts.pop() {
        Some(last) if !parts.is_empty() => format!("{}和{last}", parts.join("、")),
        last => last.unwrap_or_default(),
    }
}
