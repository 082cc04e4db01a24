//! From the bytes of a robots.txt to its groups of rules.
//!
//! RFC 9309 §2.2 with the leniency of Google's published parser: misspelt names, a forgotten colon, a byte order
//! mark, any line end. Nothing in a file is an error: what cannot be read is skipped. Bytes are never decoded,
//! so that a rule in GBK matches the addresses that a GBK site writes; only UTF-16 is, since it has no lines.

use std::borrow::Cow;
use std::time::Duration;

use super::pattern;
use super::rules::{Forms, Group, Name, Robots, Stored};

/// As much of a file as is read; RFC 9309 §2.5 asks for at least that much.
pub const MAX_BODY: usize = 500 * 1024;

/// Longer lines are cut, as Google does: eight times the longest URL that browsers took.
const MAX_LINE: usize = 2083 * 8 - 1;

/// Whoever wants to be read at all wants no more than this between two requests; larger numbers are milliseconds
/// or mean "stay away", for which there is `Disallow`.
pub(super) const MAX_CRAWL_DELAY: Duration = Duration::from_secs(600);

/// Real files name a few; a file that consists of them is no reason to keep them all.
const MAX_SITEMAPS: usize = 1000;

/// The part of a body that counts: cut at the last line end before the limit, so that half a rule is no rule.
pub(super) fn kept(body: &[u8]) -> &[u8] {
    if body.len() <= MAX_BODY {
        return body;
    }
    let head = &body[..MAX_BODY];
    // The limit may be a line's end itself.
    if matches!(body[MAX_BODY], b'\n' | b'\r') {
        return head;
    }
    match head.iter().rposition(|byte| matches!(byte, b'\n' | b'\r')) {
        Some(end) => &head[..=end],
        None => head,
    }
}

pub(super) fn parse(body: &[u8]) -> Robots {
    let mut robots = Robots { truncated: body.len() > MAX_BODY, ..Robots::default() };
    let body = without_bom(kept(body));
    // Names of the group that is being read; the next agent line after a rule begins another one.
    let mut has_rules = false;
    let mut delay = DelayScope::default();
    for (number, line) in lines(&body) {
        let Some((key, value)) = key_and_value(line) else { continue };
        match Key::of(key) {
            Key::UserAgent => {
                if has_rules || robots.groups.is_empty() {
                    robots.groups.push(Group::starting_at(robots.names.len(), robots.rules.len()));
                    has_rules = false;
                    delay.from = robots.names.len();
                    delay.is_set = false;
                } else if delay.is_set {
                    delay.from = robots.names.len();
                    delay.is_set = false;
                }
                robots.names.push(Name::read(value));
                robots.close_group();
            }
            Key::Rule { allow } => {
                // §2.2.1: rules before the first group belong to nobody.
                if !robots.groups.is_empty() {
                    has_rules = true;
                    robots.rules.push(stored(number, line, value, allow));
                    robots.close_group();
                }
            }
            // §2.2.4: other records neither begin nor end a group. A delay is meant for the names just above
            // it, and does not reach those that follow.
            Key::CrawlDelay => {
                if let Some(seconds) = crawl_delay(value) {
                    delay.is_set = true;
                    for name in robots.names.iter_mut().skip(delay.from) {
                        name.delay = name.delay.max(Some(seconds));
                    }
                }
            }
            Key::Sitemap => {
                if robots.sitemaps.len() < MAX_SITEMAPS && !value.is_empty() {
                    robots.sitemaps.push(readable(value).into_owned());
                }
            }
            Key::Other => {}
        }
    }
    robots.shrink();
    robots
}

/// The names that the next delay is for.
#[derive(Default)]
struct DelayScope {
    from: usize,
    is_set: bool,
}

fn stored(number: u32, line: &[u8], value: &[u8], allow: bool) -> Stored {
    let text = readable(line);
    let written = pattern::written_rule(value);
    let plain = pattern::plain_rule(value);
    // Most rules are their own pattern: then the text is all there is to keep.
    let same = written == plain && text.ends_with(&written);
    Stored {
        line: number,
        allow,
        value_at: if same { (text.len() - written.len()) as u32 } else { 0 },
        text: text.into(),
        forms: (!same).then(|| Box::new(Forms { written: written.into(), plain: plain.into() })),
    }
}

/// What a line is about. Google reads the beginning only, and the usual misspellings.
#[derive(Debug, PartialEq, Eq)]
enum Key {
    UserAgent,
    Rule { allow: bool },
    CrawlDelay,
    Sitemap,
    Other,
}

impl Key {
    fn of(key: &[u8]) -> Key {
        let begins =
            |with: &str| key.get(..with.len()).is_some_and(|head| head.eq_ignore_ascii_case(with.as_bytes()));
        let any = |names: &[&str]| names.iter().any(|name| begins(name));
        if any(&["user-agent", "useragent", "user agent"]) {
            Key::UserAgent
        } else if begins("allow") {
            Key::Rule { allow: true }
        } else if any(&["disallow", "dissallow", "dissalow", "disalow", "diasllow", "disallaw"]) {
            Key::Rule { allow: false }
        } else if any(&["crawl-delay", "crawldelay", "crawl delay"]) {
            Key::CrawlDelay
        } else if any(&["sitemap", "site-map"]) {
            Key::Sitemap
        } else {
            Key::Other
        }
    }
}

/// The two sides of a line without its comment; none when it has no two sides.
fn key_and_value(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let (key, value) = match line.iter().position(|&byte| byte == b':') {
        Some(colon) => (&line[..colon], &line[colon + 1..]),
        None => {
            // A forgotten colon, if there are exactly two words: prose has more.
            let space = line.iter().position(is_blank)?;
            let value = line[space..].trim_ascii_start();
            if value.iter().any(is_blank) {
                return None;
            }
            (&line[..space], value)
        }
    };
    let key = key.trim_ascii();
    (!key.is_empty()).then(|| (key, value.trim_ascii()))
}

fn is_blank(byte: &u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

/// Numbered lines from 1, cut at [`MAX_LINE`], without comments and blanks around.
fn lines(body: &[u8]) -> impl Iterator<Item = (u32, &[u8])> {
    let mut rest = Some(body);
    let mut number = 0u32;
    std::iter::from_fn(move || {
        let body = rest?;
        let line = match body.iter().position(|byte| matches!(byte, b'\n' | b'\r')) {
            Some(end) => {
                let crlf = body[end..].starts_with(b"\r\n");
                rest = Some(&body[end + 1 + usize::from(crlf)..]);
                &body[..end]
            }
            None => {
                rest = None;
                body
            }
        };
        number += 1;
        let line = &line[..line.len().min(MAX_LINE)];
        // To the reference a line is a C string: a zero byte ends it.
        let end = line.iter().position(|byte| matches!(byte, b'#' | 0)).unwrap_or(line.len());
        Some((number, line[..end].trim_ascii()))
    })
}

/// UTF-8 goes on after its mark, even a torn one; UTF-16 is turned into UTF-8.
fn without_bom(body: &[u8]) -> Cow<'_, [u8]> {
    for (mark, encoding) in [(b"\xff\xfe", encoding_rs::UTF_16LE), (b"\xfe\xff", encoding_rs::UTF_16BE)] {
        if let Some(rest) = body.strip_prefix(mark) {
            return Cow::Owned(encoding.decode_without_bom_handling(rest).0.into_owned().into_bytes());
        }
    }
    let torn = body.iter().zip(b"\xef\xbb\xbf").take_while(|(a, b)| a == b).count();
    Cow::Borrowed(&body[torn..])
}

/// Seconds with decimals, as the file says or at most [`MAX_CRAWL_DELAY`]; what follows the number is ignored.
fn crawl_delay(value: &[u8]) -> Option<Duration> {
    let digits = value.iter().take_while(|byte| byte.is_ascii_digit() || **byte == b'.').count();
    let number: f64 = std::str::from_utf8(&value[..digits]).ok()?.parse().ok()?;
    let capped = number.min(MAX_CRAWL_DELAY.as_secs_f64());
    Duration::try_from_secs_f64(capped).ok()
}

/// For people: UTF-8, or else what old Chinese servers write.
fn readable(bytes: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => encoding_rs::GB18030.decode_without_bom_handling(bytes).0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_two_sides_or_is_skipped() {
        #[rustfmt::skip]
        let table: &[(&str, Option<(&str, &str)>)] = &[
            ("Disallow: /x", Some(("Disallow", "/x"))),
            ("Disallow:/x", Some(("Disallow", "/x"))),
            ("Disallow\t :\t/x y", Some(("Disallow", "/x y"))),
            ("Disallow:", Some(("Disallow", ""))),
            ("Disallow /x", Some(("Disallow", "/x"))),
            ("Disallow \t /x", Some(("Disallow", "/x"))),
            ("please do not enter", None),
            ("Disallow", None),
            (": /x", None),
            ("", None),
        ];
        for (line, expected) in table {
            let expected = expected.map(|(key, value)| (key.as_bytes(), value.as_bytes()));
            assert_eq!(key_and_value(line.as_bytes()), expected, "{line:?}");
        }
    }

    #[test]
    fn every_line_end_counts_once() {
        for body in ["a\nb\n\nc\n", "a\r\nb\r\n\r\nc\r\n", "a\rb\r\rc\r", "a\nb\r\n\rc\n"] {
            let lines: Vec<_> = lines(body.as_bytes()).filter(|(_, line)| !line.is_empty()).collect();
            assert_eq!(lines, [(1, &b"a"[..]), (2, b"b"), (4, b"c")], "{body:?}");
        }
    }

    #[test]
    fn a_delay_is_a_number_of_seconds_within_reason() {
        for (value, millis) in [
            ("10", Some(10_000)),
            ("0.5", Some(500)),
            (".5", Some(500)),
            ("2 # s", Some(2000)),
            ("5s", Some(5000)),
            ("0", Some(0)),
            ("86400", Some(600_000)),
            ("99999999999999999999999999", Some(600_000)),
            ("-1", None),
            ("", None),
            ("soon", None),
            (".", None),
            ("1.2.3", None),
            ("nan", None),
            ("inf", None),
        ] {
            assert_eq!(crawl_delay(value.as_bytes()), millis.map(Duration::from_millis), "{value:?}");
        }
    }

    #[test]
    fn a_body_is_cut_at_a_line_end_before_the_limit() {
        let line = b"Disallow: /0123456789\n";
        let body: Vec<u8> = line.iter().copied().cycle().take(MAX_BODY + 5000).collect();
        let cut = kept(&body);
        assert!(cut.len() <= MAX_BODY && cut.len() > MAX_BODY - line.len());
        assert!(cut.ends_with(b"\n"));
        assert_eq!(kept(&vec![b'a'; MAX_BODY + 1]).len(), MAX_BODY, "a body without lines");
        let mut exact = vec![b'a'; MAX_BODY];
        exact.extend(b"\nb");
        assert_eq!(kept(&exact).len(), MAX_BODY);
    }
}
