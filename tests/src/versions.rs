//! `ETag`, `Last-Modified` and 304, as a static file server gives them (RFC 9110 §13): what version an address has,
//! and whether a request already has it.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Mutex;

use chrono::{DateTime, TimeDelta, Utc};
use http::{HeaderMap, header};

use crate::answer::Answer;
use crate::world::calm;

const DATE: &str = "%a, %d %b %Y %H:%M:%S GMT";

/// When each address last changed, as far as anybody asked.
#[derive(Debug)]
pub(crate) struct Versions {
    started: DateTime<Utc>,
    seen: Mutex<HashMap<String, (u64, DateTime<Utc>)>>,
}

/// The version of one answer.
#[derive(Debug)]
pub(crate) struct Version {
    pub(crate) etag: String,
    pub(crate) last_modified: String,
    /// The asker has it already.
    pub(crate) is_known: bool,
}

impl Versions {
    pub(crate) fn new() -> Self {
        Self { started: Utc::now(), seen: Mutex::default() }
    }

    /// The version of an answer, and whether the asker has it; none for anything but a good page.
    pub(crate) fn of(
        &self,
        address: String,
        answer: &Answer,
        packed: bool,
        asked: &HeaderMap,
    ) -> Option<Version> {
        if answer.status != 200 {
            return None;
        }
        let mut hasher = DefaultHasher::new();
        answer.body.hash(&mut hasher);
        let hash = hasher.finish();
        let now = Utc::now();
        let mut seen = calm(self.seen.lock());
        // What was there when the server started had been there for a while.
        let entry = seen.entry(address).or_insert((hash, self.started - TimeDelta::hours(1)));
        if entry.0 != hash {
            *entry = (hash, now);
        }
        let modified = entry.1;
        drop(seen);
        // A body that is packed on the way is not the stored one byte for byte: the tag is weak, as nginx has it.
        let weak = if packed { "W/" } else { "" };
        let etag = format!("{weak}\"{hash:016x}-{:x}\"", answer.body.len());
        let is_known = is_known(asked, &etag, modified);
        Some(Version { etag, last_modified: modified.format(DATE).to_string(), is_known })
    }
}

/// Tags go before dates, and are compared weakly.
fn is_known(asked: &HeaderMap, etag: &str, modified: DateTime<Utc>) -> bool {
    let bare = |tag: &str| tag.trim().trim_start_matches("W/").to_owned();
    let text = |name| asked.get(name).and_then(|value| value.to_str().ok());
    match text(header::IF_NONE_MATCH) {
        Some(tags) => tags.trim() == "*" || tags.split(',').any(|tag| bare(tag) == bare(etag)),
        None => text(header::IF_MODIFIED_SINCE)
            .and_then(|date| chrono::NaiveDateTime::parse_from_str(date, DATE).ok())
            .is_some_and(|since| modified.timestamp() <= since.and_utc().timestamp()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(pairs: &[(header::HeaderName, &str)]) -> HeaderMap {
        pairs.iter().map(|(name, value)| (name.clone(), value.parse().unwrap())).collect()
    }

    #[test]
    fn whoever_has_the_version_is_told_so_and_nobody_else() {
        let versions = Versions::new();
        let of = |body: &'static str, asked: &HeaderMap| {
            versions.of("a.cn/".into(), &Answer::new(200, "text/html", body), true, asked).unwrap()
        };
        let first = of("one", &HeaderMap::new());
        assert!(!first.is_known && first.etag.starts_with("W/\""));
        let by_tag = asked(&[(header::IF_NONE_MATCH, first.etag.as_str())]);
        let by_date = asked(&[(header::IF_MODIFIED_SINCE, first.last_modified.as_str())]);
        let by_both = asked(&[
            (header::IF_NONE_MATCH, "\"other\""),
            (header::IF_MODIFIED_SINCE, first.last_modified.as_str()),
        ]);
        assert!(of("one", &by_tag).is_known && of("one", &by_date).is_known);
        assert!(!of("one", &by_both).is_known, "a tag goes before a date");
        assert!(!of("two", &by_tag).is_known && !of("two", &by_date).is_known);
        assert!(versions.of("a.cn/".into(), &Answer::missing(), true, &by_tag).is_none());
    }
}
