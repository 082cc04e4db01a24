//! What tells one version of a page from the next: `ETag` and `Last-Modified`, kept to ask later whether it has
//! changed (RFC 9110 §8.8, §13.1). Pure.
//!
//! Decides which of them are worth keeping and when they go out. For which pages they are kept is the crawl's
//! business; what "unchanged" means to a run too.

use http::header::{HeaderMap, HeaderValue, IF_MODIFIED_SINCE, IF_NONE_MATCH};
use url::Url;

use super::ask::{Fetched, Method};
use super::retry_after::http_date;
use crate::clock::Timestamp;

/// Real tags take forty bytes; one that takes a kilobyte is no tag.
const MAX_ETAG: usize = 256;

/// The version of a page that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Validators {
    /// The address that answered, after redirects: a validator says something about this address alone.
    pub url: String,
    /// As it was sent, weak or strong.
    pub etag: Option<String>,
    /// As it was sent: it goes back byte for byte, since servers compare it as text.
    pub last_modified: Option<String>,
}

impl Validators {
    /// Those of a page that was fetched whole by HTTP; none if it has none that can be used.
    pub fn of(fetched: &Fetched) -> Option<Validators> {
        let whole = fetched.status == 200 && fetched.tier == "http";
        let (etag, last_modified) = read(&fetched.headers, fetched.at);
        (whole && (etag.is_some() || last_modified.is_some())).then(|| Validators {
            url: address(&fetched.url),
            etag,
            last_modified,
        })
    }

    /// Those that were kept. What could not have been kept is not used: a database may be damaged or old.
    pub fn kept(url: String, etag: Option<String>, last_modified: Option<String>) -> Option<Validators> {
        let etag = etag.filter(|etag| is_usable_tag(etag));
        let last_modified = last_modified.filter(|date| http_date(date, Timestamp(0)).is_some());
        (etag.is_some() || last_modified.is_some()).then_some(Validators { url, etag, last_modified })
    }

    /// Asks only for another version, if this request is for the page they were of. True: it is.
    pub(super) fn add_to(&self, url: &Url, method: Method, headers: &mut HeaderMap) -> bool {
        // An asker with conditions of its own also reads the answers itself.
        let own = headers.contains_key(IF_NONE_MATCH) || headers.contains_key(IF_MODIFIED_SINCE);
        if method != Method::Get || own || self.url != address(url) {
            return false;
        }
        let mut added = false;
        for (name, value) in [(IF_NONE_MATCH, &self.etag), (IF_MODIFIED_SINCE, &self.last_modified)] {
            // Refuses CR, LF and NUL once more, wherever the value has been meanwhile.
            if let Some(Ok(value)) = value.as_deref().map(HeaderValue::from_str) {
                headers.insert(name, value);
                added = true;
            }
        }
        added
    }
}

/// Takes the conditions off again.
pub(super) fn remove_from(headers: &mut HeaderMap) {
    headers.remove(IF_NONE_MATCH);
    headers.remove(IF_MODIFIED_SINCE);
}

/// The usable `ETag` and `Last-Modified` of an answer that came at `now`.
pub(super) fn read(headers: &[(String, String)], now: Timestamp) -> (Option<String>, Option<String>) {
    let header = |name: &str| headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.trim());
    let etag = header("etag").filter(|etag| is_usable_tag(etag));
    let last_modified = header("last-modified").filter(|value| {
        let sent = header("date").and_then(|date| http_date(date, now)).unwrap_or(now);
        // RFC 9110 §8.8.2.2: within the same second there may have been another version.
        http_date(value, now).is_some_and(|at| at.0 + 1000 <= sent.0)
    });
    (etag.map(str::to_owned), last_modified.map(str::to_owned))
}

/// `"…"` or `W/"…"`, or a bare word as some servers write it. Never `*`, which is every version there will ever be,
/// and never a list: either would have us told "unchanged" for ever.
fn is_usable_tag(etag: &str) -> bool {
    let quoted = etag.strip_prefix("W/").unwrap_or(etag);
    let inner = quoted.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    etag.len() <= MAX_ETAG
        && match inner {
            Some(inner) => inner.bytes().all(|byte| matches!(byte, 0x21 | 0x23..=0x7e)),
            None => {
                !etag.is_empty() && etag.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.:+/=".contains(&b))
            }
        }
}

/// An address without the part that is never sent.
fn address(url: &Url) -> String {
    let mut url = url.clone();
    url.set_fragment(None);
    url.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp(1_700_000_000_000);
    const DATE: &str = "Tue, 14 Nov 2023 22:13:20 GMT";
    const BEFORE: &str = "Tue, 14 Nov 2023 22:13:19 GMT";

    fn of(headers: &[(&str, &str)]) -> (Option<String>, Option<String>) {
        let headers: Vec<_> = headers.iter().map(|(n, v)| (n.to_string(), v.to_string())).collect();
        read(&headers, NOW)
    }

    #[test]
    fn tags_are_kept_as_they_are_written_unless_they_stand_for_more_than_one_version() {
        let long = format!("\"{}\"", "a".repeat(MAX_ETAG - 2));
        for tag in ["\"a\"", "W/\"65f1-5e\"", "\"\"", "\"a*,b\"", "65f1a-5e:0", "\"it's/#{}\"", &long] {
            assert_eq!(of(&[("etag", tag)]).0.as_deref(), Some(tag));
        }
        let longer = format!("\"{}\"", "a".repeat(MAX_ETAG - 1));
        for tag in [
            "",
            "*",
            "W/*",
            "\"a\", \"b\"",
            "a,b",
            "a, *",
            "\"a",
            "a\"",
            "\"",
            "w/ \"a\"",
            "\"a b\"",
            "\"通知\"",
            "a b",
            "\"a\u{7f}\"",
            &longer,
        ] {
            assert_eq!(of(&[("etag", tag)]).0, None, "{tag:?}");
        }
    }

    #[test]
    fn a_date_counts_when_no_second_version_fits_into_its_second() {
        assert_eq!(of(&[("last-modified", BEFORE), ("date", DATE)]).1.as_deref(), Some(BEFORE));
        assert_eq!(of(&[("last-modified", BEFORE)]).1.as_deref(), Some(BEFORE), "our clock, without theirs");
        for (date, sent) in [(DATE, DATE), (DATE, BEFORE), ("yesterday", DATE), ("", DATE), ("0", DATE)] {
            assert_eq!(of(&[("last-modified", date), ("date", sent)]).1, None, "{date}");
        }
    }

    #[test]
    fn they_go_out_with_a_get_of_their_own_address_only() {
        let known =
            Validators::kept("https://a.cn/list?p=1".into(), Some("W/\"1\"".into()), Some(DATE.into()));
        let known = known.unwrap();
        let sent = |url: &str, method| {
            let mut headers = HeaderMap::new();
            known.add_to(&Url::parse(url).unwrap(), method, &mut headers).then_some(headers)
        };
        let headers = sent("https://a.cn/list?p=1#top", Method::Get).unwrap();
        assert_eq!(
            (&headers["if-none-match"], &headers["if-modified-since"]),
            (&"W/\"1\"".parse().unwrap(), &DATE.parse().unwrap())
        );
        for url in
            ["https://a.cn/list?p=2", "https://a.cn/list", "http://a.cn/list?p=1", "https://b.cn/list?p=1"]
        {
            assert_eq!(sent(url, Method::Get), None, "{url}");
        }
        assert_eq!(sent("https://a.cn/list?p=1", Method::Post), None);
        assert_eq!(sent("https://a.cn/list?p=1", Method::Head), None);
        let mut own = HeaderMap::new();
        own.insert(IF_NONE_MATCH, HeaderValue::from_static("\"mine\""));
        assert!(!known.add_to(&Url::parse("https://a.cn/list?p=1").unwrap(), Method::Get, &mut own));
        assert_eq!(own["if-none-match"], "\"mine\"");
    }

    #[test]
    fn what_was_tampered_with_in_the_store_is_not_sent() {
        for etag in ["\"a\"\r\nhost: evil", "*", "\"a\0\""] {
            assert_eq!(Validators::kept("https://a.cn/".into(), Some(etag.into()), None), None);
        }
        let date = Some("Tue, 14 Nov 2023 22:13:20 GMT\r\nx: y".to_owned());
        assert_eq!(Validators::kept("https://a.cn/".into(), None, date), None);
    }
}
