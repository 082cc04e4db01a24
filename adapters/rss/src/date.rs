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

/// Zones by name, in minutes. Where a name means several, the one of most feeds.
const ZONES: [(&str, i32); 64] = [
    ("gmt", 0),
    ("utc", 0),
    ("ut", 0),
    ("z", 0),
    ("nst", -210),
    ("ndt", -150),
    ("ast", -240),
    ("adt", -180),
    ("est", -300),
    ("edt", -240),
    ("cdt", -300),
    ("mst", -420),
    ("mdt", -360),
    ("pst", -480),
    ("pdt", -420),
    ("akst", -540),
    ("akdt", -480),
    ("hst", -600),
    ("brt", -180),
    ("art", -180),
    ("wet", 0),
    ("west", 60),
    ("bst", 60),
    ("wat", 60),
    ("cet", 60),
    ("cest", 120),
    ("met", 60),
    ("mest", 120),
    ("mez", 60),
    ("mesz", 120),
    ("eet", 120),
    ("eest", 180),
    ("cat", 120),
    ("sast", 120),
    ("eat", 180),
    ("msk", 180),
    ("trt", 180),
    ("gst", 240),
    ("pkt", 300),
    ("ist", 330),
    ("ict", 420),
    ("wib", 420),
    ("hkt", 480),
    ("bjt", 480),
    ("sgt", 480),
    ("myt", 480),
    ("pht", 480),
    ("awst", 480),
    ("jst", 540),
    ("kst", 540),
    ("acst", 570),
    ("acdt", 630),
    ("aest", 600),
    ("aedt", 660),
    ("nzst", 720),
    ("nzdt", 780),
    ("etc/gmt", 0),
    ("etc/utc", 0),
    ("asia/shanghai", 480),
    ("asia/chongqing", 480),
    ("asia/hong_kong", 480),
    ("asia/macau", 480),
    ("asia/taipei", 480),
    ("asia/singapore", 480),
];
/// Zones of America that leave open whether it is summer there.
const SEASONAL: [(&str, i32); 5] = [("at", -240), ("et", -300), ("ct", -360), ("mt", -420), ("pt", -480)];

#[derive(Default)]
struct Parts {
    year: Option<u32>,
    month: Option<u32>,
    day: Option<u32>,
    time: Option<(u32, u32, u32)>,
    afternoon: Option<bool>,
    zone: Zone,
    /// The date was in numbers: the host reads it, unless there is a zone that it does not know.
    numeric: bool,
}

/// What was said of the zone.
#[derive(Clone, Copy, Default, PartialEq)]
enum Zone {
    /// Nothing: the site's own.
    #[default]
    Own,
    /// A word that means none we know: then the hour says nothing.
    Unknown,
    /// Minutes in winter, an hour more in an American summer.
    Seasonal(i32),
    Named(i32),
    /// In numbers, which count before all names.
    Written(i32),
}

/// The date in one form, or as it was where it has no month's name or makes no sense.
pub fn plain(raw: &str) -> String {
    let raw = raw.trim();
    // Far longer than any date: not worth taking apart.
    if raw.len() > 200 || raw.contains('年') {
        return raw.to_owned();
    }
    let mut parts = Parts::default();
    // The form of the W3C for a month.
    if let Some((year, month)) = raw.split_once('-')
        && (year.len(), month.len()) == (4, 2)
        && raw.bytes().all(|b| b.is_ascii_digit() || b == b'-')
    {
        return format!("{raw}-01");
    }
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
            self.written(token);
        } else if self.date(token) {
        } else if let Some(month) = month(&lower) {
            self.month = self.month.or(Some(month));
        } else if let Some((number, digits)) = ordinal(&lower) {
            self.number(number, digits);
        } else if lower == "am" || lower == "pm" {
            self.afternoon = Some(lower == "pm");
        } else if let Some(rest) =
            lower.strip_prefix("gmt").or_else(|| lower.strip_prefix("utc")).filter(|rest| !rest.is_empty())
        {
            self.written(rest);
        } else if let Some((_, minutes)) = ZONES.iter().find(|(name, _)| *name == lower) {
            self.named(Zone::Named(*minutes));
        } else if self.time.is_some() && is_zone(token) {
            let seasonal = SEASONAL.iter().find(|(name, _)| *name == lower);
            self.named(seasonal.map_or(Zone::Unknown, |(_, minutes)| Zone::Seasonal(*minutes)));
        } else if token.contains(['-', '/']) && token.len() < 20 {
            // `10-Apr-2026`.
            token
                .split(['-', '/'])
                .filter(|part| !part.contains(['-', '/']))
                .for_each(|part| self.take(part));
        }
    }

    /// `2026/04/10`.
    fn date(&mut self, token: &str) -> bool {
        let mut numbers = token.split(['-', '/']).map(|part| {
            part.parse::<u32>()
                .ok()
                .filter(|_| part.bytes().all(|b| b.is_ascii_digit()))
                .zip(Some(part.len()))
        });
        let mut next = || numbers.next().flatten();
        let (Some((year, 4)), Some((month @ 1..=12, 1 | 2)), Some((day, 1 | 2)), None) =
            (next(), next(), next(), next())
        else {
            return false;
        };
        (self.year, self.month, self.day, self.numeric) = (Some(year), Some(month), Some(day), true);
        true
    }

    fn written(&mut self, text: &str) {
        if let Some(minutes) = offset(text) {
            self.zone = Zone::Written(minutes);
        }
    }

    fn named(&mut self, zone: Zone) {
        if !matches!(self.zone, Zone::Written(_)) {
            self.zone = zone;
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
        if self.numeric && matches!(self.zone, Zone::Own | Zone::Written(_)) {
            return None;
        }
        let date = format!("{year:04}-{month:02}-{day:02}");
        let Some((mut hour, minute, second)) = self.time else { return Some(date) };
        match self.afternoon {
            Some(true) if hour < 12 => hour += 12,
            Some(false) if hour == 12 => hour = 0,
            _ => {}
        }
        let minutes = match self.zone {
            Zone::Own => None,
            Zone::Unknown => return Some(date),
            Zone::Seasonal(winter) => Some(winter + if is_summer(year, month, day) { 60 } else { 0 }),
            Zone::Named(minutes) | Zone::Written(minutes) => Some(minutes),
        };
        let zone = minutes.map_or_else(String::new, |minutes: i32| {
            let sign = if minutes < 0 { '-' } else { '+' };
            format!("{sign}{:02}:{:02}", minutes.abs() / 60, minutes.abs() % 60)
        });
        Some(format!("{date}T{hour:02}:{minute:02}:{second:02}{zone}"))
    }
}

/// Whether a word behind a time looks like a zone. `CST` is left out for its two meanings.
fn is_zone(token: &str) -> bool {
    let upper = token.len() <= 5 && token.bytes().all(|b| b.is_ascii_uppercase());
    let place = token.contains('/') && token.starts_with(|c: char| c.is_ascii_alphabetic());
    let day = ["MON", "TUE", "WED", "THU", "FRI", "SAT", "SUN"].iter().any(|day| token.starts_with(day));
    (upper && token != "CST" && !day) || place
}

/// From the second Sunday of March to the first of November.
fn is_summer(year: u32, month: u32, day: u32) -> bool {
    // The weekday of the first of March or November, Sunday is 0 (Sakamoto).
    let first = |shift: u32| (year + year / 4 - year / 100 + year / 400 + shift + 1) % 7;
    let sunday = |first: u32| 1 + (7 - first) % 7;
    match month {
        3 => day >= sunday(first(2)) + 7,
        4..=10 => true,
        11 => day < sunday(first(2)),
        _ => false,
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
            ("Fri, 10 Apr 2026 09:38:30 Asia/Shanghai", "2026-04-10T09:38:30+08:00"),
            ("Fri, 10 Apr 2026 9:38 PM", "2026-04-10T21:38:00"),
        ] {
            assert_eq!(plain(written), expected, "{written}");
        }
    }

    #[test]
    fn zones_by_name_hold_and_one_that_nobody_knows_costs_the_hour() {
        for (written, expected) in [
            ("Thu, 30 Apr 2015 08:57:00 MEST", "2015-04-30T08:57:00+02:00"),
            ("Thu, 30 Apr 2015 08:57:00 MET", "2015-04-30T08:57:00+01:00"),
            ("Thu, 30 Apr 2015 08:57:00 EEST", "2015-04-30T08:57:00+03:00"),
            ("Thu, 30 Apr 2015 08:57:00 IST", "2015-04-30T08:57:00+05:30"),
            ("Thu, 30 Apr 2015 08:57:00 KST", "2015-04-30T08:57:00+09:00"),
            ("Thu, 30 Apr 2015 08:57:00 AEDT", "2015-04-30T08:57:00+11:00"),
            ("Thu, 30 Apr 2015 08:57:00 NZST", "2015-04-30T08:57:00+12:00"),
            ("Mon, 26 January 2004 16:31:00 AT", "2004-01-26T16:31:00-04:00"),
            ("Mon, 26 January 2004 16:31:00 ET", "2004-01-26T16:31:00-05:00"),
            ("Mon, 26 January 2004 16:31:00 CT", "2004-01-26T16:31:00-06:00"),
            ("Mon, 26 January 2004 16:31:00 MT", "2004-01-26T16:31:00-07:00"),
            ("Mon, 26 January 2004 16:31:00 PT", "2004-01-26T16:31:00-08:00"),
            // Summer begins on the second Sunday of March and ends on the first of November.
            ("Sat, 07 Mar 2026 16:31:00 ET", "2026-03-07T16:31:00-05:00"),
            ("Sun, 08 Mar 2026 16:31:00 ET", "2026-03-08T16:31:00-04:00"),
            ("Sat, 31 Oct 2026 16:31:00 PT", "2026-10-31T16:31:00-07:00"),
            ("Sun, 01 Nov 2026 16:31:00 PT", "2026-11-01T16:31:00-08:00"),
            ("Fri, 2006/09/15 08:19:53 EDT", "2006-09-15T08:19:53-04:00"),
            ("2006-09-15 08:19:53 EDT", "2006-09-15T08:19:53-04:00"),
            ("Wed, 19 Aug 2009 18:28:00 Etc/GMT", "2009-08-19T18:28:00+00:00"),
            ("Wed, 19 Feb 2012 22:40:00 GMT-01:01", "2012-02-19T22:40:00-01:01"),
            // A number counts before a name.
            ("Fri, 10 Apr 2026 09:38:30 +0200 (EDT)", "2026-04-10T09:38:30+02:00"),
            ("Fri, 10 Apr 2026 09:38:30 +0800 (XYZ)", "2026-04-10T09:38:30+08:00"),
            ("Fri, 10 Apr 2026 09:38:30 XYZ", "2026-04-10"),
            ("10 Apr 2026 09:38 A", "2026-04-10"),
            ("2006/09/15 08:19:53 XYZ", "2006-09-15"),
            ("Wed, 19 Aug 2009 18:28:00 America/Phoenix", "2009-08-19"),
            ("April 10, 2026 at 9:38 AM", "2026-04-10T09:38:00"),
            ("09:38:30 FRI 10 APR 2026", "2026-04-10T09:38:30"),
            ("2003-12", "2003-12-01"),
        ] {
            assert_eq!(plain(written), expected, "{written}");
        }
    }

    #[test]
    fn what_the_host_reads_is_left_as_it_is() {
        for written in [
            "2026-04-10T09:38:30+08:00",
            "2026-04-10 09:38:30",
            "2026/04/10 09:38:30 +0200",
            "2026-04-10",
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
