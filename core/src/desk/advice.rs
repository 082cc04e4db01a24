//! What to try when a target fails (S2-65): from the words and class of an error to a hint. Pure.
//!
//! The hint has a code, so that a page can say it in its own language.

use serde::Serialize;

/// A hint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Advice {
    /// Does not change with the wording.
    pub code: &'static str,
    /// In words.
    pub text: &'static str,
}

const TABLE: &[(&[&str], Advice)] = &[
    (
        &["robots"],
        Advice {
            code: "robots",
            text: "robots.txt forbids it: `dibao robots check URL` shows the rule; ask the site, or set respect_robots: false after a decision of your own",
        },
    ),
    (
        &["challenge", "firewall", "waf", "captcha"],
        Advice {
            code: "challenge",
            text: "a firewall asks for proof: raise interval_sec, install Chromium (`--chromium FILE`) or set default_strategy: browser",
        },
    ),
    (
        &["429", "too many", "retry-after", "rate"],
        Advice {
            code: "rate",
            text: "the host wants fewer requests: raise interval_sec; it is left alone until its cooldown ends",
        },
    ),
    (
        &["blocked", "403", "forbidden", "412", "turned us away"],
        Advice {
            code: "blocked",
            text: "the host turns us away: look at the page in a browser, raise interval_sec, set user_agent or proxy; `dibao fetch URL --explain` shows each decision",
        },
    ),
    (
        &["certificate", "tls", "handshake", "ssl"],
        Advice {
            code: "tls",
            text: "the encrypted connection fails: set ca_file for a certificate of its own, tls: native for an old host",
        },
    ),
    (
        &["dns", "resolve", "name or service", "no address"],
        Advice {
            code: "dns",
            text: "the name of the host is not found: did the site move? Check list_url and this machine's DNS",
        },
    ),
    (
        &["left alone", "cooldown", "breaker", "cooling"],
        Advice {
            code: "cooldown",
            text: "its host is left alone after failures: `dibao host show HOST` says until when, `dibao host reset HOST` ends it",
        },
    ),
    (
        &["no progress", "stalled", "stuck"],
        Advice {
            code: "stalled",
            text: "the job stopped moving: `dibao queue doctor`, then retry; look for a host that never ends its answers",
        },
    ),
    (
        &["404", "410", "gone"],
        Advice { code: "gone", text: "the list is gone: look for its new address and change list_url" },
    ),
    (
        &["shape", "no rows", "selector", "not shaped", "too short", "content_text"],
        Advice {
            code: "shape",
            text: "the page looks different now: open the selector workbench on a stored page, mend the selectors, save an override",
        },
    ),
    (
        &["auth", "401", "expired", "session", "token"],
        Advice {
            code: "auth",
            text: "the site wants credentials: renew the keys or tokens in the adapter's settings",
        },
    ),
    (
        &["adapter", "trap", "quarantined", "deadline", "memory limit", "settings cannot work", "config"],
        Advice {
            code: "adapter",
            text: "the adapter gave up: `dibao adapter ls`, then test it with its fixtures; check the target's settings",
        },
    ),
    (
        &["disk", "full", "storage", "store"],
        Advice { code: "storage", text: "the store could not be written: free space, then `dibao db check`" },
    ),
    (
        &["network", "reset", "timed out", "timeout", "connect", "refused", "unreachable"],
        Advice {
            code: "network",
            text: "no answer from the host: it may be down or shut us out; if it lasts, raise interval_sec or set ip_family",
        },
    ),
    (
        &["500", "502", "503", "504", "server"],
        Advice { code: "server", text: "the site itself fails: wait; it is tried again by itself" },
    ),
];

/// The hint for an error, by its class and words; the most telling word wins.
pub fn advice(class: Option<&str>, words: &str) -> Advice {
    let text = format!("{} {}", words, class.unwrap_or("")).to_lowercase();
    let found = TABLE.iter().find(|(keys, _)| keys.iter().any(|key| has_word(&text, key)));
    found.map_or(
        Advice { code: "look", text: "look at the last errors of the target, and at the page itself: `dibao fetch URL --explain`" },
        |(_, advice)| *advice,
    )
}

/// Whether the key stands there by itself: `rate` is not in `generated`, `404` not in `14043`.
fn has_word(text: &str, key: &str) -> bool {
    let edge = |c: Option<char>| !c.is_some_and(|c| c.is_ascii_alphanumeric());
    text.match_indices(key).any(|(at, found)| {
        edge(text[..at].chars().next_back()) && edge(text[at + found.len()..].chars().next())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_of_trouble_has_its_hint() {
        for (class, words, code) in [
            (Some("network"), "connection reset by peer", "network"),
            (Some("blocked"), "list_failed: HTTP 403", "blocked"),
            (Some("blocked"), "challenge: ctct page", "challenge"),
            (Some("server"), "HTTP 503", "server"),
            (None, "list_failed: the page is not shaped as expected: no rows", "shape"),
            (None, "generated 14043 rows", "look"),
            (None, "the page is not shaped as expected: https://a/ answered 404: the list has moved", "gone"),
            (Some("tls"), "invalid peer certificate: Expired", "tls"),
            (Some("network"), "dns error: failed to lookup", "dns"),
        ] {
            assert_eq!(advice(class, words).code, code, "{words}");
        }
    }
}
