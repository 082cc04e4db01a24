//! One field: `*`, numbers, names, ranges (also around the end), steps, lists. What is special to days is read by `parse`.

use super::{CronError, FieldName};

/// The numbers of a field as bits, and how they were written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Field {
    pub set: u64,
    /// Some item begins with `*`.
    pub star: bool,
    /// Some item is a range or has a step.
    pub ranged: bool,
    /// Some item is `*`, `?` or `*/1`.
    pub any: bool,
    /// Some item has a step: it is then said as one.
    pub stepped: bool,
}

impl Field {
    /// Only this number.
    pub fn only(number: u32) -> Field {
        Field { set: 1 << number, ..Field::default() }
    }

    pub fn is_any(self) -> bool {
        self.any
    }

    pub fn has(self, number: u32) -> bool {
        self.set >> number & 1 == 1
    }

    /// The first number from `from` on.
    pub fn from(self, from: u32) -> Option<u32> {
        let rest = if from < 64 { self.set >> from } else { 0 };
        (rest != 0).then(|| from + rest.trailing_zeros())
    }

    pub fn numbers(self) -> Vec<u32> {
        (0..64).filter(|number| self.has(*number)).collect()
    }
}

const MONTHS: [&str; 12] =
    ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"];
const WEEKDAYS: [&str; 7] = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"];

/// How numbers of a field are read.
#[derive(Clone, Copy)]
pub(super) struct Reading {
    pub name: FieldName,
    /// Weekdays count from Monday and are translated.
    pub monday_is_zero: bool,
}

impl Reading {
    /// The smallest and the largest number.
    pub fn bounds(self) -> (u32, u32) {
        match self.name {
            FieldName::Second | FieldName::Minute => (0, 59),
            FieldName::Hour => (0, 23),
            FieldName::DayOfMonth => (1, 31),
            FieldName::Month => (1, 12),
            FieldName::DayOfWeek if self.monday_is_zero => (0, 6),
            FieldName::DayOfWeek => (0, 7),
        }
    }

    pub fn error(self, text: &str, message: impl Into<String>, fix: impl Into<String>) -> CronError {
        CronError {
            field: Some(self.name),
            text: text.chars().take(60).collect(),
            message: message.into(),
            fix: fix.into(),
        }
    }

    /// What belongs here, for messages.
    pub fn fix(self) -> String {
        let (low, high) = self.bounds();
        match self.name {
            FieldName::Month => "write 1–12 or JAN–DEC".to_owned(),
            FieldName::DayOfWeek if self.monday_is_zero => "write 0–6 (0 = Monday) or MON–SUN".to_owned(),
            FieldName::DayOfWeek => "write 0–7 (0 and 7 = Sunday) or SUN–SAT".to_owned(),
            _ => format!("write {low}–{high}"),
        }
    }

    /// A number or a name, not yet translated.
    pub fn number(self, text: &str) -> Result<u32, CronError> {
        let (low, high) = self.bounds();
        if !text.is_empty() && text.len() <= 9 && text.bytes().all(|byte| byte.is_ascii_digit()) {
            let number: u32 = text.parse().unwrap_or(u32::MAX);
            if (low..=high).contains(&number) {
                return Ok(number);
            }
            return Err(self.error(text, format!("is not between {low} and {high}"), self.fix()));
        }
        let position = |names: &[&str]| {
            names.iter().position(|name| name.eq_ignore_ascii_case(text)).map(|at| at as u32)
        };
        let (month, weekday) = (position(&MONTHS), position(&WEEKDAYS));
        match (self.name, month, weekday) {
            (FieldName::Month, Some(month), _) => Ok(month + 1),
            (FieldName::DayOfWeek, _, Some(day)) if self.monday_is_zero => Ok((day + 6) % 7),
            (FieldName::DayOfWeek, _, Some(day)) => Ok(day),
            (_, Some(_), _) => Err(self.error(text, "is the name of a month", self.fix())),
            (_, _, Some(_)) => Err(self.error(text, "is the name of a weekday", self.fix())),
            _ if text.is_empty() => Err(self.error(text, "is empty", self.fix())),
            _ => Err(self.error(text, "is not a number", self.fix())),
        }
    }

    /// A number as POSIX counts.
    pub fn standard(self, number: u32) -> u32 {
        match self.name {
            FieldName::DayOfWeek if self.monday_is_zero => (number + 1) % 7,
            FieldName::DayOfWeek => number % 7,
            _ => number,
        }
    }

    /// A weekday or a range of them, as bits from Sunday on.
    pub fn days(self, text: &str) -> Result<u8, CronError> {
        if text.contains(['*', '/', '?']) {
            return Err(self.error(text, "is not a weekday", self.fix()));
        }
        Ok((self.item(text)?.set & 0x7f) as u8)
    }

    /// An item that is neither `L`, `W` nor `#`.
    pub fn item(self, item: &str) -> Result<Field, CronError> {
        let (range, step) = match item.split_once('/') {
            None => (item, None),
            Some((range, step)) => {
                let number = step.parse::<u32>().ok().filter(|_| step.bytes().all(|b| b.is_ascii_digit()));
                match number {
                    Some(0) => return Err(self.error(item, "has a step of 0", "write a step of 1 or more")),
                    Some(number) => (range, Some(number)),
                    None => {
                        return Err(self.error(
                            item,
                            "has a step that is not a number",
                            "write a number after the /",
                        ));
                    }
                }
            }
        };
        let (low, high) = self.bounds();
        // In a week `*` has seven days, not eight.
        let last = if high == 7 { 6 } else { high };
        let star = matches!(range, "*" | "?");
        let (start, end) = if star {
            (low, last)
        } else if let Some((start, end)) = range.split_once('-') {
            // `10-L` is up to the last day, whichever that is.
            let to_last = self.name == FieldName::DayOfMonth && end.eq_ignore_ascii_case("L");
            (self.number(start)?, if to_last { high } else { self.number(end)? })
        } else {
            let start = self.number(range)?;
            // `5/15` is `5-59/15`.
            (start, if step.is_some() { last.max(start) } else { start })
        };
        let count = last - low + 1;
        let (start, length) = match end >= start {
            true => (start, end - start),
            // Around the end: `22-2`, `FRI-MON`; a Sunday that was written as 7 begins the week here.
            false if start == 7 && self.name == FieldName::DayOfWeek => (0, end),
            false => (start, end + count - start),
        };
        let mut set = 0;
        for number in (start..=start + length).step_by(step.unwrap_or(1) as usize) {
            let within = if number > high { low + (number - low) % count } else { number };
            set |= 1 << self.standard(within);
        }
        let ranged = step.is_some() || range.contains('-');
        let step = step.unwrap_or(1);
        Ok(Field { set, star, ranged, any: star && step == 1, stepped: step > 1 })
    }
}
