//! How long an answer calls itself fresh (RFC 9111 §4.2): `Cache-Control: max-age`, or `Expires`. Pure.
//!
//! Decides the time only; who heeds it, and how far, is decided elsewhere. Of the words for shared caches none counts: we are
//! one reader.

use std::time::Duration;

use super::retry_after::http_date;
use crate::clock::Timestamp;

/// For how much longer an answer that came at `now` is fresh; none: it does not say, or says that it is not.
pub(crate) fn fresh_for(headers: &[(String, String)], now: Timestamp) -> Option<Duration> {
    let all = |name: &'static str| {
        headers.iter().filter(move |(known, _)| known == name).map(|(_, value)| value.trim())
    };
    let mut max_age = None;
    for word in all("cache-control").flat_map(|value| value.split(',')) {
        let (name, value) = word.split_once('=').unwrap_or((word, ""));
        match name.trim().to_ascii_lowercase().as_str() {
            // Whoever keeps nothing, or asks each time, has no time to wait for.
            "no-cache" | "no-store" => return None,
            "max-age" => max_age = max_age.or(seconds(value)),
            _ => {}
        }
    }
    let sent = all("date").next().and_then(|date| http_date(date, now)).unwrap_or(now);
    let lifetime = match max_age {
        Some(seconds) => seconds,
        // On the server's clock, which may be off by hours. What is no date (`0`, `-1`) is over.
        None => {
            let expires = http_date(all("expires").next()?, now)?;
            u64::try_from(expires.0.saturating_sub(sent.0)).unwrap_or(0) / 1_000
        }
    };
    let age = all("age").next().and_then(seconds).unwrap_or(0);
    let left = lifetime.saturating_sub(age);
    (left > 0).then(|| Duration::from_secs(left))
}

/// Digits, perhaps in quotes; a number too large for the type is as good as the largest.
fn seconds(value: &str) -> Option<u64> {
    let value = value.trim().trim_matches('"');
    let digits = !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit());
    digits.then(|| value.parse().unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2023-11-14T22:13:20Z.
    const NOW: Timestamp = Timestamp(1_700_000_000_000);
    const DATE: &str = "Tue, 14 Nov 2023 20:00:00 GMT";
    const LATER: &str = "Tue, 14 Nov 2023 20:10:00 GMT";

    #[test]
    fn an_answer_is_fresh_for_as_long_as_its_headers_say() {
        let fresh = |headers: &[(&str, &str)]| {
            let headers: Vec<_> = headers.iter().map(|(n, v)| (n.to_string(), v.to_string())).collect();
            fresh_for(&headers, NOW).map(|fresh| fresh.as_secs())
        };
        for (headers, expected) in [
            (&[("cache-control", "public, Max-Age = \"600\"")][..], Some(600)),
            (&[("cache-control", "max-age=600"), ("age", "100")], Some(500)),
            (&[("cache-control", "max-age=600"), ("age", "600")], None),
            (&[("cache-control", "s-maxage=600")], None),
            (&[("cache-control", "max-age=600, no-cache")], None),
            (&[("cache-control", "max-age=600"), ("cache-control", "no-store")], None),
            (&[("cache-control", "max-age=0"), ("expires", LATER), ("date", DATE)], None),
            // On the server's clock, two hours behind ours.
            (&[("expires", LATER), ("date", DATE)], Some(600)),
            (&[("expires", LATER)], None),
            (&[("expires", "0")], None),
            (&[("cache-control", "max-age=x"), ("expires", LATER), ("date", DATE)], Some(600)),
            (&[("cache-control", "max-age=99999999999999999999999")], Some(u64::MAX)),
            (&[], None),
        ] {
            assert_eq!(fresh(headers), expected, "{headers:?}");
        }
    }
}
