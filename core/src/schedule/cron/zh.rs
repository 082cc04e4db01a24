//! An expression in Chinese, as a person would say it: days first, then the time. `工作日 09:00`, `每 30 分钟`.

use super::CronExpr;
use super::field::Field;
use super::shape::{Shape, clock_times, spans};

const WEEK: [&str; 7] = ["日", "一", "二", "三", "四", "五", "六"];
/// A week begins on Monday.
const ORDER: [u32; 7] = [1, 2, 3, 4, 5, 6, 0];

pub(super) fn describe(cron: &CronExpr) -> String {
    let time = time(cron);
    match days(cron) {
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
    let months = match Shape::of(cron.month, 1, 12) {
        Shape::All => None,
        _ => Some(format!("{} 月", join(&spans(&cron.month.numbers()), |n| n.to_string()))),
    };
    let each = if months.is_some() { "" } else { "每月" };
    let days = match (cron.any_day_of_month(), cron.any_weekday()) {
        (true, true) => None,
        (false, true) => Some(day_of_month(cron, each)),
        (true, false) => Some(day_of_week(cron, each)),
        (false, false) => Some(format!("{}或{}", day_of_month(cron, each), day_of_week(cron, each))),
    };
    match (months, days) {
        (None, days) => days,
        (Some(months), None) => Some(format!("每年 {months}每天")),
        // `每年 3 月 1 日`, but `每年 3 月的每周一`.
        (Some(months), Some(days))
            if days.starts_with(|c: char| c.is_ascii_digit()) && !days.contains('或') =>
        {
            Some(format!("每年 {months} {days}"))
        }
        (Some(months), Some(days)) => {
            let gap = if days.starts_with(|c: char| c.is_ascii_digit()) { " " } else { "" };
            Some(format!("每年 {months}的{gap}{days}"))
        }
    }
}

/// `每月 1、15 日`, `每月最后一天`; `each` is 每月 or nothing where the months are named.
fn day_of_month(cron: &CronExpr, each: &str) -> String {
    let mut parts = Vec::new();
    if cron.day.set != 0 {
        parts.push(match Shape::of(cron.day, 1, 31) {
            Shape::All => "每一天".to_owned(),
            Shape::Every(step) => format!("从 1 日起每 {step} 天"),
            Shape::Steps { from, to, step } if to + step > 31 => format!("从 {from} 日起每 {step} 天"),
            Shape::Steps { from, to, step } => format!("从 {from} 日到 {to} 日每 {step} 天"),
            Shape::Spans(spans) => format!("{} 日", join(&spans, |n| n.to_string())),
        });
    }
    for back in (0..31).filter(|back| cron.from_end >> back & 1 == 1) {
        parts.push(if back == 0 { "最后一天".to_owned() } else { format!("倒数第 {} 天", back + 1) });
    }
    if cron.last_working {
        parts.push("最后一个工作日".to_owned());
    }
    for day in (1..=31).filter(|day| cron.nearest >> day & 1 == 1) {
        parts.push(format!("离 {day} 日最近的工作日"));
    }
    let text = parts.join("和");
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
        0b111_1111 => parts.push("一周里的每一天".to_owned()),
        _ => {
            let places: Vec<u32> = (0..7).filter(|at| cron.weekday.has(ORDER[*at as usize])).collect();
            let name = |at: u32| WEEK[ORDER[at as usize] as usize].to_owned();
            let words = spans(&places).into_iter().map(|(from, to)| match from == to {
                true => name(from),
                false => format!("{}至周{}", name(from), name(to)),
            });
            parts.push(format!("每周{}", words.collect::<Vec<_>>().join("、")));
        }
    }
    let mut of_month = Vec::new();
    for (index, set) in cron.nth.iter().enumerate() {
        for day in ORDER.iter().filter(|day| set >> **day & 1 == 1) {
            of_month.push(format!("第 {} 个周{}", index + 1, WEEK[*day as usize]));
        }
    }
    for day in ORDER.iter().filter(|day| cron.last_weekday >> **day & 1 == 1) {
        of_month.push(format!("最后一个周{}", WEEK[*day as usize]));
    }
    if !of_month.is_empty() {
        parts.push(format!("{each}{}", of_month.join("和")));
    }
    parts.join("和")
}

/// The time of day.
fn time(cron: &CronExpr) -> String {
    let seconds = Shape::of(cron.second, 0, 59);
    if seconds.single() == Some(0) {
        return hours_and_minutes(cron);
    }
    if let (Some(second), Some(times)) = (seconds.single(), clock_times(cron.hour, cron.minute)) {
        let times = times.iter().map(|(hour, minute)| format!("{hour:02}:{minute:02}:{second:02}"));
        return times.collect::<Vec<_>>().join("、");
    }
    let whole = Shape::of(cron.minute, 0, 59) == Shape::All && Shape::of(cron.hour, 0, 23) == Shape::All;
    let part = match &seconds {
        Shape::All => "每秒".to_owned(),
        Shape::Every(step) => format!("每 {step} 秒"),
        Shape::Steps { from, to, step } => format!("从第 {from} 秒到第 {to} 秒每 {step} 秒"),
        Shape::Spans(spans) => format!("第 {} 秒", join(spans, |n| n.to_string())),
    };
    match (whole, &seconds) {
        (true, Shape::All | Shape::Every(_)) => part,
        (true, _) => format!("每分钟的{part}"),
        (false, Shape::All | Shape::Every(_)) => format!("{}，其间{part}", hours_and_minutes(cron)),
        (false, _) => format!("{}，其{part}", hours_and_minutes(cron)),
    }
}

fn hours_and_minutes(cron: &CronExpr) -> String {
    let (minutes, hours) = (Shape::of(cron.minute, 0, 59), Shape::of(cron.hour, 0, 23));
    let even_hours = matches!(hours, Shape::All | Shape::Every(_));
    if let (false, Some(times)) = (even_hours, clock_times(cron.hour, cron.minute)) {
        let times = times.iter().map(|(hour, minute)| format!("{hour:02}:{minute:02}"));
        return times.collect::<Vec<_>>().join("、");
    }
    if let (Some(hour), Some((from, to))) = (hours.single(), minutes.span()) {
        return format!("{hour:02}:{from:02}–{hour:02}:{to:02} 每分钟");
    }
    let within = match &minutes {
        Shape::All => "每分钟".to_owned(),
        Shape::Every(step) => format!("每 {step} 分钟"),
        Shape::Steps { from, to, step } if to + step > 59 => {
            format!("每小时从第 {from} 分钟起每 {step} 分钟")
        }
        Shape::Steps { from, to, step } => format!("每小时从第 {from} 分钟到第 {to} 分钟每 {step} 分钟"),
        Shape::Spans(_) if minutes.single() == Some(0) => "每小时整点".to_owned(),
        Shape::Spans(spans) => format!("每小时第 {} 分钟", join(spans, |n| n.to_string())),
    };
    match hours {
        Shape::All => within,
        Shape::Every(step) => match (&minutes, minutes.single()) {
            (_, Some(0)) => format!("每 {step} 小时"),
            (_, Some(minute)) => format!("每 {step} 小时的第 {minute} 分钟"),
            _ => format!("每 {step} 小时中的一小时内{within}"),
        },
        Shape::Steps { from, to, step } => match minutes.single() {
            Some(minute) => format!("{from:02}:{minute:02}–{to:02}:{minute:02} 每 {step} 小时"),
            None => format!("从 {from} 点到 {to} 点每 {step} 小时中的一小时内{within}"),
        },

        Shape::Spans(spans) => {
            if let Some(minute) = minutes.single() {
                let words = spans.iter().map(|(from, to)| match from == to {
                    true => format!("{from:02}:{minute:02}"),
                    false => format!("{from:02}:{minute:02}–{to:02}:{minute:02} 每小时"),
                });
                return words.collect::<Vec<_>>().join("、");
            }
            let words: Vec<String> =
                spans.iter().map(|(from, to)| format!("{from:02}:00–{to:02}:59")).collect();
            format!("{} {within}", words.join("、"))
        }
    }
}

fn join(spans: &[(u32, u32)], say: impl Fn(u32) -> String) -> String {
    let word = |(from, to): &(u32, u32)| {
        if from == to { say(*from) } else { format!("{}–{}", say(*from), say(*to)) }
    };
    spans.iter().map(word).collect::<Vec<_>>().join("、")
}
