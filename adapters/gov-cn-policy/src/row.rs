//! What rows of all back ends have in common: addresses, numbers, dates and words, made fit for the contract.

use std::net::{Ipv4Addr, Ipv6Addr};

use dibao_adapter::{Host, HtmlPage};

/// Bytes of a title or a field: all that the store keeps of one (4,000 characters).
const VALUE: usize = 16 * 1024;
/// Bytes of an identifier or an origin.
const NAME: usize = 1024;
/// Bytes of an address: browsers and servers stop about here.
const LINK: usize = 8 * 1024;
/// China has one zone and no summer time since 1991.
const CHINA: i64 = 8 * 3600;

/// A link as an absolute address, or none when it cannot be one. The host resolves links against the reply, which is
/// the search's own host here; rows mean the library's page.
pub fn absolute(landing: &str, link: &str) -> Option<String> {
    let link = link.trim_matches(|c: char| c.is_whitespace() || c.is_control());
    let (scheme, rest) = landing.split_once("://")?;
    let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
    let url = match link.as_bytes() {
        [] | [b'#', ..] => return None,
        [b'/', b'/', ..] => format!("{scheme}:{link}"),
        [b'/', ..] => format!("{scheme}://{host}{link}"),
        _ if scheme_of(link).is_some() => link.to_owned(),
        _ => {
            let directory = path.split(['?', '#']).next().unwrap_or_default();
            let directory = directory.rfind('/').map_or("", |at| &directory[..=at]);
            format!("{scheme}://{host}/{directory}{link}")
        }
    };
    (url.len() <= LINK && is_web(&url)).then_some(url)
}

/// What stands before the colon, if it looks like a scheme.
fn scheme_of(link: &str) -> Option<&str> {
    let (scheme, _) = link.split_once(':')?;
    let good = |c: char| c.is_ascii_alphanumeric() || "+-.".contains(c);
    (scheme.starts_with(|c: char| c.is_ascii_alphabetic()) && scheme.chars().all(good)).then_some(scheme)
}

/// Whether this is http(s) with a host that can be one: one row with a broken address must not cost the page.
fn is_web(url: &str) -> bool {
    let Some((scheme, rest)) = url.split_once("://") else { return false };
    let authority = rest.split(['/', '?', '#', '\\']).next().unwrap_or_default();
    let (host, port) = match authority.strip_prefix('[').and_then(|inside| inside.split_once(']')) {
        Some((inside, behind)) if inside.parse::<Ipv6Addr>().is_ok() => {
            ("ipv6", behind.strip_prefix(':').unwrap_or(if behind.is_empty() { "443" } else { behind }))
        }
        _ => authority.split_once(':').unwrap_or((authority, "443")),
    };
    let labels = || host.trim_end_matches('.').split('.');
    let name = |label: &str| {
        !label.is_empty()
            && label.len() < 64
            && !label.to_ascii_lowercase().starts_with("xn--")
            && label.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
    };
    (scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https"))
        && labels().all(name)
        // What ends in a number is an address of four numbers or nothing.
        && (host.parse::<Ipv4Addr>().is_ok()
            || labels().next_back().is_some_and(|top| top.starts_with(|c: char| c.is_ascii_alphabetic())))
        && port.parse::<u16>().is_ok()
}

/// By what two rows are known to be the same document: the address without scheme and fragment.
pub fn identity(url: &str) -> &str {
    let url = url.split('#').next().unwrap_or(url);
    url.split_once("://").map_or(url, |(_, rest)| rest)
}

/// The digits of `content_7000001.htm`, the site's own number of a document.
pub fn native_id(url: &str) -> Option<String> {
    let path = identity(url).split('?').next()?;
    let file = path.rsplit('/').next()?;
    let digits = file.strip_prefix("content_")?.split('.').next()?;
    let good = !digits.is_empty() && digits.len() <= 20 && digits.bytes().all(|b| b.is_ascii_digit());
    good.then(|| digits.to_owned())
}

/// Words without tags and entities, on one line. A line break between Chinese characters is nothing.
pub fn plain(host: &impl Host, text: &str) -> String {
    if !text.contains(['<', '&', '\n', '\r']) {
        return value(text.to_owned());
    }
    let plain = match host.text(&HtmlPage::Text(text.to_owned())) {
        Ok(plain) => plain,
        Err(_) => text.to_owned(),
    };
    let mut line = String::with_capacity(plain.len());
    for part in plain.lines().map(str::trim).filter(|part| !part.is_empty()) {
        let wide = |c: Option<char>| c.is_some_and(|c| c >= '\u{2e80}');
        let joined = wide(line.chars().next_back()) && wide(part.chars().next());
        if !line.is_empty() && !joined {
            line.push(' ');
        }
        line.push_str(part);
    }
    value(line)
}

/// A value cut to what the contract allows.
pub fn value(text: String) -> String {
    cut(text, VALUE)
}

/// An identifier or an origin cut to what the contract allows.
pub fn name(text: String) -> String {
    cut(text, NAME)
}

fn cut(mut text: String, limit: usize) -> String {
    if text.len() > limit {
        text.truncate(text.floor_char_boundary(limit));
    }
    text
}

/// Milliseconds since 1970 as China writes them: `2026-04-10 17:00:00`, or the day alone at midnight, which is how
/// these systems say that they know no time.
pub fn moment(millis: i64) -> Option<String> {
    // 0 is "not set"; the rest is what four digits of a year can say.
    if millis == 0 || !(-62_000_000_000_000..253_000_000_000_000).contains(&millis) {
        return None;
    }
    let local = millis.div_euclid(1000) + CHINA;
    let (days, second) = (local.div_euclid(86_400), local.rem_euclid(86_400));
    // Civil date from days, by Howard Hinnant: years begin in March, 400 of them are an era.
    let shifted = days + 719_468;
    let (era, of_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let day_of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    let date = format!("{year:04}-{month:02}-{day:02}");
    Some(match second {
        0 => date,
        _ => format!("{date} {:02}:{:02}:{:02}", second / 3600, second / 60 % 60, second % 60),
    })
}

/// The groups of digits of a date as one number that can be compared: 2026-04-10 17:00 → 20260410170000.
pub fn order(date: &str) -> u64 {
    let mut groups = date.split(|c: char| !c.is_ascii_digit()).filter(|group| !group.is_empty());
    let mut number = 0u64;
    for width in [4usize, 2, 2, 2, 2, 2] {
        let group = groups.next().filter(|group| group.len() <= width).and_then(|group| group.parse().ok());
        number = number * 10u64.pow(width as u32) + group.unwrap_or(0u64);
    }
    if number < 10u64.pow(13) { 0 } else { number }
}

/// The day of a date as `2026-04-01`, whatever stands between its numbers.
pub fn day(date: &str) -> Option<String> {
    let order = order(date);
    (order > 0).then(|| {
        format!(
            "{:04}-{:02}-{:02}",
            order / 10_000_000_000,
            order / 100_000_000 % 100,
            order / 1_000_000 % 100
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_relative_to_the_page_of_the_library() {
        let landing = "https://www.gov.cn/zhengce/xxgk/?a=/b/c";
        for (link, expected) in [
            (" http://www.gov.cn/a.htm ", Some("http://www.gov.cn/a.htm")),
            ("HTTPS://www.gov.cn/a", Some("HTTPS://www.gov.cn/a")),
            ("//www.gov.cn/a", Some("https://www.gov.cn/a")),
            ("/zhengce/a.htm", Some("https://www.gov.cn/zhengce/a.htm")),
            ("../content/a.htm", Some("https://www.gov.cn/zhengce/xxgk/../content/a.htm")),
            ("a.htm?b=c:d", Some("https://www.gov.cn/zhengce/xxgk/a.htm?b=c:d")),
            ("http://a.gov.cn:8080/x", Some("http://a.gov.cn:8080/x")),
            ("http://10.1.2.3:8080/x", Some("http://10.1.2.3:8080/x")),
            ("http://[::1]:80/x", Some("http://[::1]:80/x")),
            ("http://[::1]/x", Some("http://[::1]/x")),
            ("http://[::1]x/", None),
            ("http://[1]/", None),
            ("", None),
            ("#top", None),
            ("javascript:void(0)", None),
            ("mailto:a@b.cn", None),
            ("http://", None),
            ("http://[", None),
            ("http://1.2.3.999/", None),
            ("http://a..b/", None),
            ("http://a.cn:99999/", None),
            ("http://u@a.cn/", None),
            ("http://a b.cn/", None),
            ("http:a.htm", None),
        ] {
            assert_eq!(absolute(landing, link).as_deref(), expected, "{link:?}");
        }
        assert_eq!(absolute(landing, &"a".repeat(9000)), None);
        assert_eq!(absolute("https://www.gov.cn", "a.htm").as_deref(), Some("https://www.gov.cn/a.htm"));
    }

    #[test]
    fn the_number_of_a_document_is_in_its_address() {
        for (url, expected) in [
            ("https://www.gov.cn/zhengce/content/202604/content_7000001.htm", Some("7000001")),
            ("http://www.gov.cn/zhengce/content/2008-03/28/content_2047.htm?x#y", Some("2047")),
            ("https://www.gov.cn/content_1/index.htm", None),
            ("https://www.gov.cn/content_a1.htm", None),
        ] {
            assert_eq!(native_id(url).as_deref(), expected, "{url}");
        }
        assert_eq!(identity("http://a.cn/x#y"), identity("https://a.cn/x"));
    }

    #[test]
    fn moments_are_chinese_and_midnight_is_a_day() {
        for (millis, expected) in [
            (1_775_750_400_000, Some("2026-04-10")),
            (1_775_811_600_000, Some("2026-04-10 17:00:00")),
            (-1, Some("1970-01-01 07:59:59")),
            (-28_800_000, Some("1970-01-01")),
            (951_753_600_000, Some("2000-02-29")),
            (-636_969_600_000, Some("1949-10-26")),
            (0, None),
            (i64::MAX, None),
            (i64::MIN, None),
        ] {
            assert_eq!(moment(millis).as_deref(), expected, "{millis}");
        }
    }

    #[test]
    fn dates_are_compared_whatever_stands_between_their_numbers() {
        assert!(order("2026.04.10") < order("2026-04-10 17:00:00"));
        assert_eq!(order("2026.04.10"), order("2026年4月10日"));
        assert_eq!((order("none"), order("12345-1-1"), order("99999999999999999999")), (0, 0, 0));
        assert_eq!(day("2026-04-01 00:00:00").as_deref(), Some("2026-04-01"));
        assert_eq!(day("2026年4月1日").as_deref(), Some("2026-04-01"));
        assert_eq!(day("未知"), None);
    }
}
