//! How a set of numbers is best said: all, every n-th, a span, or one by one. The same set is always said the same way, and
//! no other set is.

use super::field::Field;

/// One by one up to here; more are said as spans or steps.
const FEW: usize = 6;

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
            let as_steps = field.star || numbers.len() > FEW;
            if even
                && as_steps
                && from == low
                && low == 0
                && (high + 1).is_multiple_of(step)
                && to + step == high + 1
            {
                return Shape::Every(step);
            }
            if even && numbers.len() > FEW {
                return Shape::Steps { from, to, step };
            }
        }
        Shape::Spans(spans(&numbers))
    }

    /// The only span of the set.
    pub fn span(&self) -> Option<(u32, u32)> {
        match self {
            Shape::Spans(spans) => match spans[..] {
                [(from, to)] if from < to => Some((from, to)),
                _ => None,
            },
            _ => None,
        }
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

/// Numbers as spans; two neighbours are two numbers.
pub(super) fn spans(numbers: &[u32]) -> Vec<(u32, u32)> {
    let mut spans: Vec<(u32, u32)> = Vec::new();
    for number in numbers {
        match spans.last_mut() {
            Some((_, to)) if *to + 1 == *number => *to = *number,
            _ => spans.push((*number, *number)),
        }
    }
    let pair =
        |(from, to): (u32, u32)| if to == from + 1 { vec![(from, from), (to, to)] } else { vec![(from, to)] };
    spans.into_iter().flat_map(pair).collect()
}

/// Clock times, when there are few enough to be named one by one.
pub(super) fn clock_times(hours: Field, minutes: Field) -> Option<Vec<(u32, u32)>> {
    let (hours, minutes) = (hours.numbers(), minutes.numbers());
    (hours.len() * minutes.len() <= FEW && minutes.len() < 60)
        .then(|| hours.iter().flat_map(|hour| minutes.iter().map(move |minute| (*hour, *minute))).collect())
}
