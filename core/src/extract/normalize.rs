//! When two addresses are the same document.
//!
//! The rules, in order; the result is stable under repetition:
//! 1. the fragment, user name and password are dropped;
//! 2. scheme and host are lower case, a final dot of the host and the default port are dropped, dot segments are resolved, an
//!    empty path is `/` (the URL standard does most of this);
//! 3. percent-encodings are upper case, and those of unreserved characters are decoded;
//! 4. parameters that only say where a reader came from are dropped: `utm_*`, `spm`, `scm`, `isappinstalled`, and `from` with the values
//!    that WeChat adds; all others keep their order; an empty query is dropped.
//!
//! The hash ignores whether the scheme is http or https: sites list the same page under both.

use sha2::{Digest, Sha256};
use url::Url;

/// The address by which a document is known.
pub fn normalize_url(url: &Url) -> Url {
    let mut normal = url.clone();
    normal.set_fragment(None);
    if normal.cannot_be_a_base() {
        return normal;
    }
    let _ = normal.set_username("");
    let _ = normal.set_password(None);
    if let Some(host) = normal.host_str().and_then(|host| host.strip_suffix('.')).map(str::to_owned)
        && !host.is_empty()
    {
        let _ = normal.set_host(Some(host.trim_end_matches('.')));
    }
    normal.set_path(&normal_percent(url.path()));
    let query = url.query().map(|query| {
        query
            .split('&')
            .filter(|part| !part.is_empty() && !is_tracking(part))
            .map(normal_percent)
            .collect::<Vec<_>>()
            .join("&")
    });
    normal.set_query(query.as_deref().filter(|query| !query.is_empty()));
    normal
}

/// sha256 of the normalised address without its scheme, in hex.
///
/// ```
/// use dibao::extract::normalize::url_hash;
/// let url = |text: &str| url::Url::parse(text).unwrap();
/// assert_eq!(url_hash(&url("http://www.gov.cn/a/../b.htm#top")), url_hash(&url("https://www.gov.cn/b.htm?utm_source=x")));
/// ```
pub fn url_hash(url: &Url) -> String {
    let normal = normalize_url(url);
    let text = normal.as_str();
    let rest = match normal.scheme() {
        "http" | "https" => text.split_once(':').map_or(text, |(_, rest)| rest),
        _ => text,
    };
    Sha256::digest(rest.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn is_tracking(part: &str) -> bool {
    let (name, value) = part.split_once('=').unwrap_or((part, ""));
    let name = name.to_ascii_lowercase();
    name.starts_with("utm_")
        || matches!(name.as_str(), "spm" | "scm" | "isappinstalled")
        || (name == "from" && matches!(value, "timeline" | "singlemessage" | "groupmessage"))
}

fn normal_percent(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('%') {
        out.push_str(&rest[..at]);
        let code = rest.get(at + 1..at + 3).filter(|hex| hex.bytes().all(|b| b.is_ascii_hexdigit()));
        match code.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(byte) => {
                if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
                    out.push(char::from(byte));
                } else {
                    out.push_str(&format!("%{byte:02X}"));
                }
                rest = &rest[at + 3..];
            }
            None => {
                // A lone percent sign stays; so that what follows cannot become a code by decoding, it is encoded.
                out.push_str("%25");
                rest = &rest[at + 1..];
            }
        }
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn normal(text: &str) -> String {
        normalize_url(&Url::parse(text).unwrap()).into()
    }

    #[test]
    fn addresses_of_one_document_become_one() {
        for (given, expected) in [
            ("HTTPS://WWW.Gov.CN:443", "https://www.gov.cn/"),
            ("http://www.gov.cn:80/a/./b/../c.htm#x", "http://www.gov.cn/a/c.htm"),
            ("http://www.gov.cn./a", "http://www.gov.cn/a"),
            ("http://user:pass@www.gov.cn/a", "http://www.gov.cn/a"),
            ("http://x.cn/%7ea/%e4%b8%ad", "http://x.cn/~a/%E4%B8%AD"),
            ("http://x.cn/中", "http://x.cn/%E4%B8%AD"),
            ("http://x.cn/a?", "http://x.cn/a"),
            ("http://x.cn/a?b=2&utm_source=w&a=1&spm=3", "http://x.cn/a?b=2&a=1"),
            ("http://x.cn/a?from=timeline&isappinstalled=0", "http://x.cn/a"),
            ("http://x.cn/a?from=2020", "http://x.cn/a?from=2020"),
            ("http://x.cn:8080/A", "http://x.cn:8080/A"),
            ("http://x.cn/%zz", "http://x.cn/%25zz"),
        ] {
            assert_eq!(normal(given), expected, "{given}");
        }
    }

    #[test]
    fn the_hash_ignores_only_the_scheme() {
        let hash = |text: &str| url_hash(&Url::parse(text).unwrap());
        assert_eq!(hash("http://x.cn/a"), hash("https://x.cn/a"));
        assert_ne!(hash("http://x.cn/a"), hash("http://x.cn/A"));
        assert_ne!(hash("http://x.cn/?a=1&b=2"), hash("http://x.cn/?b=2&a=1"));
        assert_eq!(hash("http://x.cn/").len(), 64);
    }

    proptest::proptest! {
        #[test]
        fn normalising_twice_is_normalising_once(path in "[a-zA-Z0-9%./~&?=#@:;+ 中_-]{0,60}") {
            if let Ok(url) = Url::parse(&format!("http://A.cn./{path}")) {
                let once = normalize_url(&url);
                let twice = normalize_url(&once);
                proptest::prop_assert_eq!(twice.as_str(), once.as_str());
                let reparsed = Url::parse(once.as_str()).unwrap();
                proptest::prop_assert_eq!(reparsed.as_str(), once.as_str());
            }
        }
    }
}
