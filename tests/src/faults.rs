//! Which request goes wrong, and how: rules matched in the order they were set. Pure bookkeeping; `broken.rs`
//! plays what is decided here.

use std::sync::Mutex;

use serde::{Deserialize, Serialize};
use tokio::sync::watch;

use crate::world::calm;

/// What goes wrong. In JSON: `{"kind": "delay", "ms": 200}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Fault {
    /// The right answer, late.
    Delay {
        /// Milliseconds.
        ms: u64,
    },
    /// No answer until the rule is removed: for tests that want to look at a request in flight.
    Hold,
    /// The connection is reset (TCP RST) instead of an answer.
    Reset,
    /// The right head, half of the body, then the connection closes.
    Truncate,
    /// All of the body under a Content-Length that is this much off: too long makes clients wait for bytes that
    /// never come (the connection closes), too short leaves rubbish on the line.
    WrongLength {
        /// Added to the true length.
        #[serde(default = "default_delta")]
        delta: i64,
    },
    /// This status instead of the answer.
    Status {
        /// 404, 410, 403, 429, 503, …
        code: u16,
        /// Value of a Retry-After header: seconds or an HTTP date.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        retry_after: Option<String>,
        /// HTML to send; a short error page when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        body: Option<String>,
    },
    /// A redirect to the address that was asked for.
    RedirectLoop,
    /// A redirect elsewhere: `http://10.0.0.1/`, `http://169.254.169.254/`, …
    RedirectTo {
        /// The Location header.
        location: String,
    },
    /// A body that goes on and on, without a Content-Length.
    HugeBody {
        /// 100 MiB unless told otherwise.
        #[serde(default = "default_huge")]
        bytes: u64,
    },
    /// A small gzip body that unpacks to this many bytes.
    GzipBomb {
        /// 128 MiB unless told otherwise.
        #[serde(default = "default_bomb")]
        bytes: u64,
    },
    /// The right answer, one byte at a time.
    SlowDrip {
        /// Between two bytes.
        interval_ms: u64,
    },
    /// 200 and an HTML page, whatever was asked for.
    HtmlForFile,
    /// 200 and a list page without rows.
    EmptyList,
    /// A firewall's page to everybody who does not send this cookie: its script sets the cookie and loads the page
    /// again, so a browser gets through and plain HTTP does not.
    Challenge {
        /// 412, 521, …
        code: u16,
        /// `name=value`.
        cookie: String,
    },
}

impl Fault {
    /// Whether the request has what the firewall wants.
    pub(crate) fn is_passed_by(&self, headers: &http::HeaderMap) -> bool {
        let Fault::Challenge { cookie, .. } = self else { return false };
        let sent = headers.get_all(http::header::COOKIE).iter().filter_map(|value| value.to_str().ok());
        sent.flat_map(|value| value.split(';')).any(|pair| pair.trim() == cookie)
    }

    /// The page of a firewall that can be passed. It takes its time, as they do.
    pub(crate) fn challenge_page(cookie: &str) -> String {
        format!(
            "<!DOCTYPE html><html><head><meta charset=\"utf-8\"></head><body><noscript>请启用 JavaScript</noscript><script>\
             $_ts=window['$_ts']||{{}};document.cookie='{cookie}; path=/; max-age=3600';\
             setTimeout(function(){{location.reload()}},1000)</script></body></html>"
        )
    }
}

fn default_delta() -> i64 {
    1_000
}
fn default_huge() -> u64 {
    100 << 20
}
fn default_bomb() -> u64 {
    128 << 20
}

/// A fault and the requests it strikes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FaultRule {
    /// Only this host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// Only these paths (with query): a part of the path, or with `*` a pattern for all of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Let this many matching requests pass first.
    #[serde(default)]
    pub skip: u64,
    /// Strike this often, then never again; for ever when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub times: Option<u64>,
    /// What goes wrong.
    #[serde(flatten)]
    pub fault: Fault,
}

impl FaultRule {
    /// Strikes every request until it is removed; narrow it with the methods below.
    pub fn new(fault: Fault) -> Self {
        Self { host: None, path: None, skip: 0, times: None, fault }
    }

    /// Only this host.
    pub fn host(mut self, host: impl Into<String>) -> Self {
        self.host = Some(host.into());
        self
    }

    /// Only these paths: a part, or a pattern with `*`.
    pub fn path(mut self, path: impl Into<String>) -> Self {
        self.path = Some(path.into());
        self
    }

    /// Only this often.
    pub fn times(mut self, times: u64) -> Self {
        self.times = Some(times);
        self
    }

    /// Not before this many matching requests have passed.
    pub fn skip(mut self, skip: u64) -> Self {
        self.skip = skip;
        self
    }

    fn matches(&self, host: &str, path: &str) -> bool {
        self.host.as_deref().is_none_or(|wanted| wanted.eq_ignore_ascii_case(host))
            && self.path.as_deref().is_none_or(|wanted| path_matches(wanted, path))
    }
}

/// A part of the path, or with `*` (any run of characters) the whole of it.
fn path_matches(pattern: &str, path: &str) -> bool {
    let mut pieces = pattern.split('*');
    let first = pieces.next().unwrap_or_default();
    let rest: Vec<&str> = pieces.collect();
    let Some((last, middle)) = rest.split_last() else { return path.contains(pattern) };
    let Some(mut left) = path.strip_prefix(first) else { return false };
    for piece in middle {
        match left.find(piece) {
            Some(at) => left = &left[at + piece.len()..],
            None => return false,
        }
    }
    left.ends_with(last)
}

#[derive(Debug)]
struct Standing {
    id: u64,
    rule: FaultRule,
    seen: u64,
}

/// The rules in force.
#[derive(Debug)]
pub(crate) struct Faults {
    standing: Mutex<Vec<Standing>>,
    /// The id of the newest rule; changes whenever rules do, for those held.
    changed: watch::Sender<u64>,
}

impl Faults {
    pub(crate) fn new() -> Self {
        Self { standing: Mutex::default(), changed: watch::Sender::new(0) }
    }

    pub(crate) fn add(&self, rule: FaultRule) -> u64 {
        let mut standing = calm(self.standing.lock());
        let id = *self.changed.borrow() + 1;
        standing.push(Standing { id, rule, seen: 0 });
        self.changed.send_replace(id);
        id
    }

    /// Removes one rule; false when there is none with this id.
    pub(crate) fn remove(&self, id: u64) -> bool {
        let mut standing = calm(self.standing.lock());
        let before = standing.len();
        standing.retain(|known| known.id != id);
        self.changed.send_modify(|_| ());
        standing.len() < before
    }

    pub(crate) fn clear(&self) {
        calm(self.standing.lock()).clear();
        self.changed.send_modify(|_| ());
    }

    pub(crate) fn all(&self) -> Vec<(u64, FaultRule)> {
        calm(self.standing.lock()).iter().map(|known| (known.id, known.rule.clone())).collect()
    }

    /// The fault for this request, counted; the first rule that matches and is not used up decides.
    pub(crate) fn strike(&self, host: &str, path: &str) -> Option<(u64, Fault)> {
        let mut standing = calm(self.standing.lock());
        for known in standing.iter_mut().filter(|known| known.rule.matches(host, path)) {
            let (skip, times) = (known.rule.skip, known.rule.times);
            if times.is_some_and(|times| known.seen >= skip.saturating_add(times)) {
                continue;
            }
            known.seen += 1;
            if known.seen > skip {
                return Some((known.id, known.rule.fault.clone()));
            }
        }
        None
    }

    /// Returns when the rule is gone.
    pub(crate) async fn gone(&self, id: u64) {
        let mut changed = self.changed.subscribe();
        loop {
            changed.borrow_and_update();
            let stands = calm(self.standing.lock()).iter().any(|known| known.id == id);
            if !stands || changed.changed().await.is_err() {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_is_a_part_of_the_path_or_with_stars_the_whole_of_it() {
        let table = [
            ("index_1", "/tz/index_1.html", true),
            ("/tz/*.html", "/tz/index_1.html", true),
            ("*.pdf", "/a/P01.pdf", true),
            ("*.pdf", "/a/P01.pdf?x", false),
            ("/a/*/c*", "/a/b/c.html", true),
            ("/b*", "/a/b", false),
            ("*", "/", true),
        ];
        for (pattern, path, wanted) in table {
            assert_eq!(path_matches(pattern, path), wanted, "{pattern} {path}");
        }
    }

    #[test]
    fn a_rule_strikes_as_often_as_it_says_after_those_it_lets_pass() {
        let faults = Faults::new();
        faults.add(FaultRule::new(Fault::Reset).host("a").path("x").skip(1).times(2));
        let strikes: Vec<bool> = (0..5).map(|_| faults.strike("a", "/x").is_some()).collect();
        assert_eq!(strikes, [false, true, true, false, false]);
        assert!(faults.strike("b", "/x").is_none());
        faults.add(FaultRule::new(Fault::EmptyList));
        assert!(faults.strike("a", "/x").is_some());
        faults.clear();
        assert!(faults.strike("a", "/x").is_none());
    }

    #[test]
    fn a_rule_reads_from_short_json() -> Result<(), serde_json::Error> {
        let rule: FaultRule =
            serde_json::from_str(r#"{"host":"h","kind":"status","code":429,"retry_after":"2","times":1}"#)?;
        let fault = Fault::Status { code: 429, retry_after: Some("2".to_owned()), body: None };
        assert_eq!(rule, FaultRule::new(fault).host("h").times(1));
        Ok(())
    }
}
