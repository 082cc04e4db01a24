//! Dates with a month's name, as feeds write them, made into one form: `2026-04-10T09:30:00+08:00`.
//!
//! RFC 822 is what RSS asks for and few write: wrong weekdays, whole names, no seconds, Java's `toString`, Chinese
//! locales. Everything without a month's name (RFC 3339, 2026年4月10日, seconds) goes to the host as it is: it parses those.
//! `CST` is China's or Chicago's, so it is left to the site's own zone.

const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

/// Zones by name, in minutes.
const ZONES: [(&str, i32); 18] = [
    ("gmt", 0),
    ("utc", 0),
    ("ut", 0),
    ("z", 0),
    ("est", -300),
    ("edt", -240),
    ("cdt", -300),
    ("mst", -420),
    ("mdt", -360),
    ("pst", -480),
    ("pdt", -420),
    ("bst", 60),
    ("cet", 60),
    ("cest", 120),
    ("msk", 180),
    ("hkt", 480),
    ("bjt", 480),
    ("jst", 540),
];

#[derive(Default)]
struct Parts {
    year: Option<u32>,
    month: Option<u32>,
    day: Option<u32>,
    time: Option<(u32, u32, u32)>,
    afternoon: Option<bool>,
    offset: Option<i32>,
}

/// The date in one form, or as it was where it has no month's name or makes no sense.
pub fn plain(raw: &str) -> String {
    let raw = raw.trim();
    // Far longer than any date: not worth taking apart.
    if raw.len() > 200 || raw.contains('年') {
        return raw.to_owned();
    }
    let mut parts = Parts::default();
    for token in raw.split(|c: char| c.is_whitespace() || matches!(c, ',' | '，' | '(' | ')')) {
        parts.take(token);
    }
    parts.write().unwrap_or_else(|| raw.to_owned())
}

impl Parts {
    fn take(&mut self, token: &str) {
        let token = token.trim_matches('.');
        let lower = token.to_ascii_lowercase();
        if token.is_empty() {
        } else if token.contains(':') && !token.starts_with(['+', '-']) && !lower.starts_with(['g', 'u']) {
            self.clock(&lower);
        } else if token.starts_with(['+', '-']) && self.time.is_some() {
            self.offset = offset(token).or(self.offset);
        } else if let Some(month) = month(&lower) {
            self.month = self.month.or(Some(month));
        } else if let Some((number, digits)) = ordinal(&lower) {
            self.number(number, digits);
        } else if lower == "am" || lower == "pm" {
            self.afternoon = Some(lower == "pm");
        } else if let Some(rest) = lower.strip_prefix("gmt").or_else(|| lower.strip_prefix("utc")) {
            self.offset = if rest.is_empty() { Some(0) } else { offset(rest).or(self.offset) };
        } else if let Some((_, minutes)) = ZONES.iter().find(|(name, _)| *name == lower) {
            self.offset = Some(*minutes);
        } else if token.contains(['-', '/']) && token.len() < 20 {
            // `10-Apr-2026`; a name such as `Asia/Shanghai` has nothing in it that is taken.
            token
                .split(['-', '/'])
                .filter(|part| !part.contains(['-', '/']))
                .for_each(|part| self.take(part));
        }
    }

    fn number(&mut self, number: u32, digits: usize) {
        match digits {
            4 => self.year = self.year.or(Some(number)),
            1..=3 if self.day.is_none() => self.day = Some(number),
            1 | 2 if self.year.is_none() => {
                self.year = Some(if number < 70 { 2000 + number } else { 1900 + number });
            }
            _ => {}
        }
    }

    /// `09:30`, `9:30:00`, with a fraction, a zone or `PM` right behind it.
    fn clock(&mut self, token: &str) {
        let end = token.find(|c: char| !c.is_ascii_digit() && c != ':').unwrap_or(token.len());
        let (clock, rest) = token.split_at(end);
        let mut numbers = clock.split(':').map(|part| part.parse::<u32>().ok());
        let (hour, minute) = (numbers.next().flatten(), numbers.next().flatten());
        if let (Some(hour @ 0..=23), Some(minute @ 0..=59)) = (hour, minute) {
            let second = numbers.next().flatten().unwrap_or(0).min(59);
            self.time = Some((hour, minute, second));
        }
        let rest = match rest.strip_prefix('.') {
            Some(fraction) => fraction.trim_start_matches(|c: char| c.is_ascii_digit()),
            None => rest,
        };
        if !rest.is_empty() && !rest.contains(|c: char| c == ':' && !rest.starts_with(['+', '-'])) {
            self.take(rest);
        }
    }

    fn write(&self) -> Option<String> {
        let (year, month, day) = (self.year?, self.month?, self.day?);
        let date = format!("{year:04}-{month:02}-{day:02}");
        let Some((mut hour, minute, second)) = self.time else { return Some(date) };
        match self.afternoon {
            Some(true) if hour < 12 => hour += 12,
            Some(false) if hour == 12 => hour = 0,
            _ => {}
        }
        let zone = match self.offset {
            None => String::new(),
            Some(minutes) => {
                let sign = if minutes < 0 { '-' } else { '+' };
                format!("{sign}{:02}:{:02}", minutes.abs() / 60, minutes.abs() % 60)
            }
        };
        Some(format!("{date}T{hour:02}:{minute:02}:{second:02}{zone}"))
    }
}

/// `apr`, `sept`, `april`, `4月`, `四月`.
fn month(lower: &str) -> Option<u32> {
    if let Some(number) = lower.strip_suffix('月') {
        const CHINESE: [&str; 12] =
            ["一", "二", "三", "四", "五", "六", "七", "八", "九", "十", "十一", "十二"];
        let named = CHINESE.iter().position(|name| *name == number).map(|at| at as u32 + 1);
        return named.or_else(|| number.parse().ok()).filter(|month| (1..=12).contains(month));
    }
    let long_enough = lower.len() >= 3 && lower.is_ascii();
    let found =
        MONTHS.iter().position(|name| name.starts_with(lower) || (lower == "sept" && *name == "september"));
    found.filter(|_| long_enough).map(|at| at as u32 + 1)
}

/// `9`, `09`, `9th`, `9日`.
fn ordinal(lower: &str) -> Option<(u32, usize)> {
    let digits =
        ["st", "nd", "rd", "th", "日"].iter().find_map(|end| lower.strip_suffix(end)).unwrap_or(lower);
    let good = (1..=4).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit());
    let number = digits.parse().ok().filter(|_| good)?;
    Some((number, digits.len()))
}

/// `+0800`, `+08:00`, `+8` in minutes.
fn offset(text: &str) -> Option<i32> {
    let sign = if text.starts_with('-') { -1 } else { 1 };
    let digits: String = text.chars().filter(char::is_ascii_digit).collect();
    let (hours, minutes) = match digits.len() {
        1 | 2 => (digits.as_str(), "0"),
        3 => digits.split_at(1),
        4 => digits.split_at(2),
        _ => return None,
    };
    let (hours, minutes): (i32, i32) = (hours.parse().ok()?, minutes.parse().ok()?);
    (hours <= 14 && minutes < 60).then_some(sign * (hours * 60 + minutes))
}

#[cfg(test)]
mod tests {
    use super::plain;

    #[test]
    fn the_many_ways_to_write_one_moment_are_read_alike() {
        for written in [
            "Fri, 10 Apr 2026 09:38:30 +0800",
            "Mon, 10 Apr 2026 09:38:30 +0800", // the wrong weekday
            "10 Apr 2026 09:38:30 +0800",
            "Friday, 10 April 2026 09:38:30 +0800",
            "Fri,10 Apr 2026 09:38:30 +08:00",
            "Fri, 10-Apr-2026 09:38:30 +0800",
            "Fri, 10 Apr 26 09:38:30 +0800",
            "Fri Apr 10 09:38:30 +0800 2026",
            "Fri Apr 10 2026 09:38:30 GMT+0800 (中国标准时间)",
            "April 10th, 2026 9:38:30 AM +0800",
            "Apr. 10, 2026 09:38:30 UTC+8",
            "星期五, 10 四月 2026 09:38:30 +0800",
            "周五, 10 4月 2026 09:38:30 +0800",
            "Fri, 10 Apr 2026 09:38:30.123 +0800",
            "Fri, 10 Apr 2026 09:38:30+0800",
        ] {
            assert_eq!(plain(written), "2026-04-10T09:38:30+08:00", "{written}");
        }
        for (written, expected) in [
            ("Fri, 10 Apr 2026 01:38:30 GMT", "2026-04-10T01:38:30+00:00"),
            ("Fri, 10 Apr 2026 01:38:30 Z", "2026-04-10T01:38:30+00:00"),
            ("Fri, 10 Apr 2026 01:38:30Z", "2026-04-10T01:38:30+00:00"),
            ("Thu, 09 Apr 2026 21:38:30 EDT", "2026-04-09T21:38:30-04:00"),
            ("Fri Apr 10 09:38:30 CST 2026", "2026-04-10T09:38:30"),
            ("Fri, 10 Apr 2026 09:38", "2026-04-10T09:38:00"),
            ("10 Sept 1998", "1998-09-10"),
            ("Fri, 10 Apr 2026 09:38:30 Asia/Shanghai", "2026-04-10T09:38:30"),
            ("Fri, 10 Apr 2026 9:38 PM", "2026-04-10T21:38:00"),
        ] {
            assert_eq!(plain(written), expected, "{written}");
        }
    }

    #[test]
    fn what_the_host_reads_is_left_as_it_is() {
        for written in [
            "2026-04-10T09:38:30+08:00",
            "2026-04-10 09:38:30",
            "2026年4月10日 09:38",
            "二〇二六年四月十日",
            "1775785110",
            "Mayor 10 2026",
            "soon",
            "",
            "Apr",
            ":::: Apr 10",
        ] {
            assert_eq!(plain(written), written);
        }
    }
}
