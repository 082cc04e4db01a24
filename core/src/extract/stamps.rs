//! Dates in places that readers do not see: variables of scripts and the address.
//!
//! Decides where to look; parsing is `date`'s business, and how much such a date is worth is decided in `when`.

use super::meta::Head;

/// Bundles of code hold no dates of documents: so much of one script is read, and so much of all together.
const SCRIPT: usize = 200_000;
const SCRIPTS: usize = 1 << 20;
/// Places where one name is looked at in one script.
const HITS: usize = 16;
/// Bytes behind a name in which its value ends.
const VALUE: usize = 48;

/// Values that scripts hold: pages that write their date by script have it in a variable.
pub(crate) fn in_scripts<'a>(head: &Head<'a>) -> Vec<(&'static str, &'a str)> {
    const KEYS: [&str; 16] = [
        "publish_time",
        "publishTime",
        "publishDate",
        "publish_date",
        "pubtime",
        "pubTime",
        "pubDate",
        "pub_date",
        "releaseTime",
        "ptime",
        "docRelTime",
        "PUBLISH_DATE",
        "createtime",
        "newsTime",
        "ctime",
        "ct",
    ];
    let mut out = Vec::new();
    let mut left = SCRIPTS;
    for script in &head.scripts {
        let script = &script[..script.floor_char_boundary(SCRIPT.min(left))];
        left -= script.len();
        for key in KEYS {
            let (mut rest, mut hits) = (script, 0);
            while let Some(at) = rest.find(key) {
                hits += 1;
                if hits > HITS {
                    break;
                }
                let before = rest[..at].chars().next_back();
                let behind = &rest[at + key.len()..];
                rest = behind;
                if before.is_some_and(|c| c.is_alphanumeric() || c == '_') {
                    continue;
                }
                let behind = &behind[..behind.floor_char_boundary(2 * VALUE)];
                let behind = behind.trim_start_matches(['"', '\'', ' ']);
                let Some(value) = behind.strip_prefix([':', '=']) else { continue };
                let value = value.trim_start();
                let value = &value[..value.floor_char_boundary(VALUE)];
                let value = match value.chars().next() {
                    Some(quote @ ('"' | '\'')) => value[1..].split(quote).next().unwrap_or_default(),
                    _ => value.split([',', ';', '}', '\n']).next().unwrap_or_default(),
                };
                if (8..40).contains(&value.len()) {
                    out.push((key, value));
                    break;
                }
            }
        }
        if out.len() > 8 {
            break;
        }
    }
    out
}

/// `/2024/03/05/`, `/2024-03/05/`, `/202403/05/`, `/20240305/`, `t20240305_12.html`.
pub(crate) fn in_address(url: &str) -> Option<String> {
    let path = url.split(['?', '#']).next()?;
    let path = path.split_once("://").map_or(path, |(_, rest)| rest);
    let path = &path[path.find('/')?..];
    let bytes = path.as_bytes();
    let digits = |from: usize, count: usize| {
        bytes.get(from..from + count).filter(|part| part.iter().all(u8::is_ascii_digit))
    };
    for at in 0..bytes.len() {
        if at > 0 && bytes[at - 1].is_ascii_digit()
            || !bytes[at..].starts_with(b"20") && !bytes[at..].starts_with(b"19")
        {
            continue;
        }
        let Some(_) = digits(at, 4) else { continue };
        let year = &path[at..at + 4];
        let mut next = at + 4;
        let separated = matches!(bytes.get(next), Some(b'/' | b'-' | b'_'));
        next += usize::from(separated);
        let month = match digits(next, 2) {
            Some(_) => &path[next..next + 2],
            None if separated => {
                digits(next, 1)?;
                &path[next..next + 1]
            }
            None => continue,
        };
        next += month.len();
        let second = matches!(bytes.get(next), Some(b'/' | b'-' | b'_'));
        next += usize::from(second);
        let day = match digits(next, 2) {
            Some(_) => &path[next..next + 2],
            None if second && digits(next, 1).is_some() => &path[next..next + 1],
            None => continue,
        };
        if bytes.get(next + day.len()).is_some_and(u8::is_ascii_digit) && (separated || second) {
            continue;
        }
        let (m, d) = (month.parse::<u32>().ok()?, day.parse::<u32>().ok()?);
        if (1..=12).contains(&m) && (1..=31).contains(&d) {
            return Some(format!("{year}-{m:02}-{d:02}"));
        }
    }
    None
}
