//! How a set of numbers is best said: all, every n-th, a span, or one by one. No two sets are said the same way.

use super::CronExpr;
use super::field::Field;

/// One by one up to here; more are said as spans or steps.
const FEW: usize = 6;
/// So many hours in a row are a span and no list.
const ROW: u32 = 4;

/// A way to say a set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// All there are.
    All,
    /// Every so many, from the first one to the last, so that it goes on evenly: `*/15`.
    Every(u32),
    /// Every so many, from one to another.
    Steps { from: u32, to: u32, step: u32 },
    /// Spans (from, to), single numbers included.
    Spans(Vec<(u32, u32)>),
}

impl Shape {
    /// How to say this set of numbers between `low` and `high`.
    pub fn of(field: Field, low: u32, high: u32) -> Shape {
        let numbers: Vec<u32> = field.numbers();
        if numbers.len() as u32 == high - low + 1 {
            return Shape::All;
        }
        if numbers.len() >= 2 {
            let step = numbers[1] - numbers[0];
            let (from, to) = (numbers[0], numbers[numbers.len() - 1]);
            let even = step > 1 && numbers.windows(2).all(|pair| pair[1] - pair[0] == step);
            // Evenly over the end as well: 60 minutes, 24 hours. A short list is said as it was written.
            let as_steps = field.star || field.stepped || numbers.len() > FEW;
            if even
                && as_steps
                && from == low
                && low == 0
                && (high + 1).is_multiple_of(step)
                && to + step == high + 1
            {
                return Shape::Every(step);
            }
            if even && (numbers.len() > FEW || (field.stepped && numbers.len() > 2)) {
                return Shape::Steps { from, to, step };
            }
        }
        Shape::Spans(spans(&numbers))
    }

    /// The only number of the set.
    pub fn single(&self) -> Option<u32> {
        match self {
            Shape::Spans(spans) => match spans[..] {
                [(from, to)] if from == to => Some(from),
                _ => None,
            },
            _ => None,
        }
    }
}

/// The step of months that were written with one: also of two that are half a year apart, because a year goes on evenly.
pub(super) fn month_step(cron: &CronExpr) -> Option<u32> {
    match Shape::of(cron.month, 1, 12) {
        Shape::Steps { step, .. } => Some(step),
        _ if cron.month.stepped => match cron.month.numbers()[..] {
            [first, second] if second - first == 6 => Some(6),
            _ => None,
        },
        _ => None,
    }
}

/// Numbers as spans; two neighbours are two numbers.
pub(super) fn spans(numbers: &[u32]) -> Vec<(u32, u32)> {
    let pair =
        |(from, to): (u32, u32)| if to == from + 1 { vec![(from, from), (to, to)] } else { vec![(from, to)] };
    runs(numbers).into_iter().flat_map(pair).collect()
}

/// Numbers as spans; two neighbours are one.
pub(super) fn runs(numbers: &[u32]) -> Vec<(u32, u32)> {
    let mut runs: Vec<(u32, u32)> = Vec::new();
    for number in numbers {
        match runs.last_mut() {
            Some((_, to)) if *to + 1 == *number => *to = *number,
            _ => runs.push((*number, *number)),
        }
    }
    runs
}

/// Runs on a circle that begins with `low` and ends with `high`: one that goes over the end is one, `(22, 2)`.
pub(super) fn around(mut runs: Vec<(u32, u32)>, low: u32, high: u32) -> Vec<(u32, u32)> {
    if runs.len() > 1
        && let (Some((first, until)), Some((from, last))) = (runs.first().copied(), runs.last().copied())
        && first == low
        && last == high
        && (until - first) + (last - from) >= 1
    {
        runs.remove(0);
        runs.pop();
        runs.push((from, until));
    }
    runs
}

/// The times of a day, in the order in which a person would look for them.
pub(super) enum Times {
    /// These, hour and minute.
    Clock(Vec<(u32, u32)>),
    /// Every minute of a stretch within an hour.
    Stretch { hour: u32, from: u32, to: u32 },
    /// Every so many hours from the hour on, all day.
    Hours { step: u32, minute: u32 },
    /// Every so many hours from one to another.
    HoursFrom { from: u32, to: u32, step: u32, minute: u32 },
    /// At this minute of each hour of these spans, and at single hours beside.
    Rows { spans: Vec<(u32, u32)>, singles: Vec<u32>, minute: u32 },
    /// Some minutes of each hour, all day.
    EachHour(Shape),
    /// Some minutes of a few hours that were written by steps.
    OfHours { hours: Vec<u32>, minutes: Shape },
    /// Some minutes of the first of every so many hours.
    FirstOf { step: u32, span: Option<(u32, u32)>, minutes: Shape },
    /// Some minutes of each hour of these spans.
    During { spans: Vec<(u32, u32)>, minutes: Shape },
}

impl Times {
    /// `over_midnight`: what goes from 22 to 2 may be said so, because every day counts.
    pub fn of(cron: &CronExpr, over_midnight: bool) -> Times {
        let (minutes, hours) = (Shape::of(cron.minute, 0, 59), Shape::of(cron.hour, 0, 23));
        let hour_runs = || {
            let runs = runs(&cron.hour.numbers());
            if over_midnight { around(runs, 0, 23) } else { runs }
        };
        let length = |(from, to): (u32, u32)| if to >= from { to - from + 1 } else { to + 25 - from };
        if let (Some(hour), &[(from, to)]) = (hours.single(), runs(&cron.minute.numbers()).as_slice())
            && (from + 2..from + 59).contains(&to)
        {
            return Times::Stretch { hour, from, to };
        }
        if let Some(minute) = minutes.single() {
            match hours {
                Shape::All => return Times::EachHour(minutes),
                Shape::Every(step) => return Times::Hours { step, minute },
                Shape::Steps { from, to, step } => return Times::HoursFrom { from, to, step, minute },
                Shape::Spans(_) => {}
            }
            let rows: Vec<_> = hour_runs().into_iter().filter(|run| length(*run) >= ROW).collect();
            if !rows.is_empty() {
                let singles = outside(&cron.hour.numbers(), &rows);
                return Times::Rows { spans: rows, singles, minute };
            }
        }
        let (hour_list, minute_list) = (cron.hour.numbers(), cron.minute.numbers());
        let is_list = matches!((&hours, &minutes), (Shape::Spans(_), Shape::Spans(_)));
        if minutes.single().is_some() || (is_list && hour_list.len() * minute_list.len() <= FEW) {
            let of_hour = |hour: &u32| minute_list.iter().map(|minute| (*hour, *minute)).collect::<Vec<_>>();
            return Times::Clock(hour_list.iter().flat_map(of_hour).collect());
        }
        match hours {
            Shape::All => Times::EachHour(minutes),
            Shape::Every(step) => Times::FirstOf { step, span: None, minutes },
            Shape::Steps { .. } if hour_list.len() <= FEW => {
                let minutes = match minutes {
                    Shape::Steps { .. } if minute_list.len() <= FEW => Shape::Spans(spans(&minute_list)),
                    minutes => minutes,
                };
                Times::OfHours { hours: hour_list, minutes }
            }
            Shape::Steps { from, to, step } => Times::FirstOf { step, span: Some((from, to)), minutes },
            Shape::Spans(_) => Times::During { spans: hour_runs(), minutes },
        }
    }
}

/// The hours that are in none of the spans.
fn outside(hours: &[u32], spans: &[(u32, u32)]) -> Vec<u32> {
    let within = |hour: u32, (from, to): (u32, u32)| match from <= to {
        true => (from..=to).contains(&hour),
        false => hour >= from || hour <= to,
    };
    hours.iter().copied().filter(|hour| !spans.iter().any(|span| within(*hour, *span))).collect()
}
