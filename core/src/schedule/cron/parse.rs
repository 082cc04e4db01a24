//! A whole expression: the number of fields, the names that begin with `@`, and what is special to days (`L`, `W`, `#`).

use super::field::{Field, Reading};
use super::{CronError, CronExpr, Dialect, FieldName};

/// Longer than any expression that a person wrote.
const LONGEST: usize = 1000;

pub(super) fn parse(text: &str, dialect: Dialect) -> Result<CronExpr, CronError> {
    let whole = |message: &str, fix: &str| CronError {
        field: None,
        text: text.trim().chars().take(60).collect(),
        message: message.to_owned(),
        fix: fix.to_owned(),
    };
    if text.len() > LONGEST {
        return Err(whole("is longer than 1000 characters", "write minute, hour, day, month and weekday"));
    }
    if text.chars().any(|c| c.is_whitespace() && !c.is_ascii_whitespace()) {
        return Err(whole("has a blank that is no space", "write plain spaces between the fields"));
    }
    let written = match text.trim() {
        name if name.starts_with('@') => macros(name, dialect.seconds).ok_or_else(|| {
            whole("is not a known name", "use @yearly, @monthly, @weekly, @daily, @hourly or @every_minute")
        })?,
        other => other,
    };
    let parts: Vec<&str> = written.split_ascii_whitespace().collect();
    let (second, fields) = match (parts.len(), dialect.seconds) {
        (5, _) => (None, &parts[..]),
        (6, true) => (Some(parts[0]), &parts[1..]),
        (6, false) => {
            let fix = "write minute, hour, day, month and weekday; a field for seconds must be asked for";
            return Err(whole("has 6 fields", fix));
        }
        (0, _) => return Err(whole("is empty", "write minute, hour, day, month and weekday: `0 7 * * *`")),
        (count, _) => {
            let fix = "write minute, hour, day, month and weekday: `0 7 * * *`";
            return Err(whole(&format!("has {count} field{}", if count == 1 { "" } else { "s" }), fix));
        }
    };
    // An @name counts as POSIX does, whoever wrote it.
    let monday_is_zero = dialect.monday_is_zero && !text.trim().starts_with('@');
    let read = |name, part| plain(Reading { name, monday_is_zero }, part);
    let mut cron = CronExpr {
        second: second.map_or(Ok(Field::only(0)), |part| read(FieldName::Second, part))?,
        minute: read(FieldName::Minute, fields[0])?,
        hour: read(FieldName::Hour, fields[1])?,
        day: Field::default(),
        month: Field::default(),
        weekday: Field::default(),
        from_end: 0,
        nearest: 0,
        nearest_from_end: 0,
        last_working: false,
        nth: [0; 5],
        last_weekday: 0,
        with_seconds: second.is_some(),
        text: parts.join(" "),
    };
    let reading = |name| Reading { name, monday_is_zero };
    cron.day = items(reading(FieldName::DayOfMonth), fields[2], |item| cron.special_day(item))?;
    cron.month = read(FieldName::Month, fields[3])?;
    let week = reading(FieldName::DayOfWeek);
    cron.weekday = items(week, fields[4], |item| cron.special_weekday(week, item))?;
    if monday_is_zero && !cron.weekday.any {
        let mut standard: Vec<String> = parts.iter().map(|part| (*part).to_owned()).collect();
        if let Some(last) = standard.last_mut() {
            *last = cron.weekdays_by_name();
        }
        cron.text = standard.join(" ");
    }
    Ok(cron)
}

/// `@every_second` needs the field that it stands for.
fn macros(name: &str, seconds: bool) -> Option<&'static str> {
    Some(match name.to_ascii_lowercase().as_str() {
        "@yearly" | "@annually" => "0 0 1 1 *",
        "@monthly" => "0 0 1 * *",
        "@weekly" => "0 0 * * 0",
        "@daily" | "@midnight" => "0 0 * * *",
        "@hourly" => "0 * * * *",
        "@every_minute" => "* * * * *",
        "@every_second" if seconds => "* * * * * *",
        _ => return None,
    })
}

fn plain(reading: Reading, text: &str) -> Result<Field, CronError> {
    items(reading, text, |_| Ok(false))
}

/// The items of a list; `special` takes those that only days have.
fn items(
    reading: Reading,
    text: &str,
    mut special: impl FnMut(&str) -> Result<bool, CronError>,
) -> Result<Field, CronError> {
    let mut all = Field::default();
    if text != "?" && text.contains('?') {
        return Err(reading.error(
            text,
            "has a `?` beside something else",
            "a `?` stands alone; `*` does not",
        ));
    }
    for item in text.split(',') {
        if item.is_empty() {
            return Err(reading.error(
                text,
                "has an empty item in its list",
                "remove the comma that stands alone",
            ));
        }
        if special(item)? {
            continue;
        }
        let field = reading.item(item)?;
        all = Field {
            set: all.set | field.set,
            star: all.star || field.star,
            ranged: all.ranged || field.ranged,
            any: all.any || field.any,
            stepped: all.stepped || field.stepped,
        };
    }
    Ok(all)
}

impl CronExpr {
    /// `L`, `L-3`, `L-3W`, `LW`, `15W` or `W15`.
    fn special_day(&mut self, item: &str) -> Result<bool, CronError> {
        let reading = Reading { name: FieldName::DayOfMonth, monday_is_zero: false };
        let upper = item.to_ascii_uppercase();
        if upper == "L" {
            self.from_end |= 1;
        } else if upper == "LW" || upper == "WL" {
            self.last_working = true;
        } else if let Some(before) = upper.strip_prefix("L-") {
            let (before, is_nearest) = before.strip_suffix('W').map_or((before, false), |days| (days, true));
            let is_number = !before.is_empty() && before.bytes().all(|byte| byte.is_ascii_digit());
            let days = before.parse::<u32>().ok().filter(|days| is_number && *days <= 30);
            let days = days.ok_or_else(|| {
                reading.error(item, "does not say how many days before the last", "write L-1 to L-30")
            })?;
            match (is_nearest, days) {
                (false, _) => self.from_end |= 1 << days,
                // The working day nearest the last day is the last one: it stays in its month.
                (true, 0) => self.last_working = true,
                (true, _) => self.nearest_from_end |= 1 << days,
            }
        } else if let Some(day) = upper.strip_suffix('W').or_else(|| upper.strip_prefix('W')) {
            self.nearest |= 1 << reading.number(day)?;
        } else {
            return Ok(false);
        }
        Ok(true)
    }

    /// `5L` or `L5`, `FRIL`, `5#2`, `FRI#2`, `FRI#L`; a range stands for each of its days: `1-5#1`.
    fn special_weekday(&mut self, reading: Reading, item: &str) -> Result<bool, CronError> {
        let upper = item.to_ascii_uppercase();
        if upper == "L" {
            return Err(reading.error(
                item,
                "does not say which weekday",
                "write 5L for the last Friday of a month",
            ));
        }
        if let Some((days, count)) = upper.split_once('#') {
            let days = reading.days(days)?;
            if count == "L" {
                self.last_weekday |= days;
                return Ok(true);
            }
            let count = count.parse::<usize>().ok().filter(|count| (1..=5).contains(count));
            let count = count.ok_or_else(|| {
                reading.error(item, "does not say which of a month's five", "write #1 to #5")
            })?;
            self.nth[count - 1] |= days;
            return Ok(true);
        }
        let named = upper.strip_suffix('L').or_else(|| upper.strip_prefix('L'));
        match named {
            Some(days) => {
                self.last_weekday |= reading.days(days)?;
                Ok(true)
            }
            None => Ok(false),
        }
    }

    /// The weekdays so that nobody can count them differently.
    fn weekdays_by_name(&self) -> String {
        const NAMES: [&str; 7] = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"];
        let name = |day: u32| NAMES[day as usize % 7];
        let order = [1, 2, 3, 4, 5, 6, 0];
        let has = |set: u8, day: u32| set >> day & 1 == 1;
        let plain = order.into_iter().filter(|day| self.weekday.has(*day)).map(|day| name(day).to_owned());
        let last =
            order.into_iter().filter(|day| has(self.last_weekday, *day)).map(|day| format!("{}L", name(day)));
        let nth = order.into_iter().flat_map(|day| {
            (0..5).filter(move |k| has(self.nth[*k], day)).map(move |k| format!("{}#{}", name(day), k + 1))
        });
        plain.chain(last).chain(nth).collect::<Vec<_>>().join(",")
    }
}
