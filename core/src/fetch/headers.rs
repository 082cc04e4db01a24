//! Which headers go out and how those that come back are read. Pure.
//!
//! An adapter may say what kind of answer it wants; who asks, over which connection and with which
//! cookies is the host's business.

use http::header::{
    ACCEPT, ACCEPT_ENCODING, ACCEPT_LANGUAGE, AUTHORIZATION, CONTENT_ENCODING, CONTENT_LANGUAGE,
    CONTENT_LENGTH, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, IF_MODIFIED_SINCE, IF_NONE_MATCH,
    USER_AGENT,
};

use super::ask::{Expects, Purpose};

/// More headers than any site needs; an adapter cannot fill the wire with them.
const MAX_HEADERS: usize = 32;
/// Servers commonly refuse lines over 8 KiB.
const MAX_VALUE: usize = 8 << 10;

/// Never an adapter's: framing, hop-by-hop, identity, cookies, and headers that pretend to be a proxy.
const DROPPED: [&str; 24] = [
    "host",
    "cookie",
    "cookie2",
    "set-cookie",
    "content-length",
    "connection",
    "keep-alive",
    "te",
    "trailer",
    "trailers",
    "transfer-encoding",
    "upgrade",
    "http2-settings",
    "expect",
    "accept-encoding",
    "user-agent",
    "via",
    "forwarded",
    "x-forwarded-for",
    "x-forwarded-host",
    "x-forwarded-proto",
    "x-real-ip",
    "x-http-method-override",
    "alt-used",
];

/// The headers of a request: the adapter's own as far as they are its business, then the host's.
pub(super) fn outgoing(
    wanted: &[(String, String)],
    expects: Expects,
    purpose: Purpose,
    agent: &HeaderValue,
) -> HeaderMap {
    let mut map = HeaderMap::with_capacity(8);
    for (name, value) in wanted.iter().take(MAX_HEADERS) {
        let Ok(name) = HeaderName::from_bytes(name.as_bytes()) else { continue };
        if DROPPED.contains(&name.as_str()) || name.as_str().starts_with("proxy-") || value.len() > MAX_VALUE
        {
            continue;
        }
        // Refuses CR, LF and NUL: nobody smuggles a second header in a value.
        let Ok(value) = HeaderValue::from_str(value) else { continue };
        map.append(name, value);
    }
    map.insert(USER_AGENT, agent.clone());
    // A file's bytes are what is hashed and kept, so it is asked for as it is.
    let encodings = if purpose == Purpose::Attachment { "identity" } else { "gzip, deflate" };
    map.insert(ACCEPT_ENCODING, HeaderValue::from_static(encodings));
    if !map.contains_key(ACCEPT) {
        map.insert(ACCEPT, HeaderValue::from_static(accept(expects, purpose)));
    }
    if !map.contains_key(ACCEPT_LANGUAGE) {
        map.insert(ACCEPT_LANGUAGE, HeaderValue::from_static("zh-CN,zh;q=0.9,en;q=0.5"));
    }
    map
}

fn accept(expects: Expects, purpose: Purpose) -> &'static str {
    match (purpose, expects) {
        (Purpose::Attachment, _) | (_, Expects::Any) => "*/*",
        (_, Expects::Html) => "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
        (_, Expects::Json) => "application/json,text/plain;q=0.9,*/*;q=0.8",
        (_, Expects::Xml) => {
            "application/xml,text/xml,application/rss+xml,application/atom+xml;q=0.9,*/*;q=0.8"
        }
    }
}

/// Leaves only what says nothing about us: any header may be a credential under another name, so a
/// redirect to another origin carries none but these.
pub(super) fn for_another_origin(headers: &mut HeaderMap) {
    const HARMLESS: [HeaderName; 6] =
        [USER_AGENT, ACCEPT, ACCEPT_ENCODING, ACCEPT_LANGUAGE, CONTENT_TYPE, CONTENT_LANGUAGE];
    debug_assert!(!HARMLESS.contains(&AUTHORIZATION));
    let kept: HeaderMap = HARMLESS
        .into_iter()
        .filter_map(|name| headers.get(&name).cloned().map(|value| (name, value)))
        .collect();
    *headers = kept;
}

/// A redirect made a GET of a POST: what described the body goes, and what named a version of the page.
pub(super) fn without_body(headers: &mut HeaderMap) {
    for name in
        [CONTENT_TYPE, CONTENT_LENGTH, CONTENT_ENCODING, CONTENT_LANGUAGE, IF_NONE_MATCH, IF_MODIFIED_SINCE]
    {
        headers.remove(name);
    }
}

/// The headers of an answer as text.
pub(super) fn incoming(headers: &HeaderMap) -> Vec<(String, String)> {
    headers.iter().map(|(name, value)| (name.as_str().to_owned(), text(value.as_bytes()))).collect()
}

/// UTF-8, else GB18030: file names in `content-disposition` come raw from many of these servers. Chinese in UTF-8
/// takes three bytes a character, so text made of two-byte sequences alone (`通知` in GBK is valid UTF-8) is
/// read as GB18030 too when it can be.
fn text(bytes: &[u8]) -> String {
    let utf8 = std::str::from_utf8(bytes).ok();
    match utf8 {
        Some(text) if text.is_ascii() || text.chars().any(|c| c >= '\u{800}') => text.to_owned(),
        _ => {
            let (read, damaged) = encoding_rs::GB18030.decode_without_bom_handling(bytes);
            match utf8 {
                Some(text) if damaged => text.to_owned(),
                _ => read.into_owned(),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(wanted: &[(&str, &str)]) -> HeaderMap {
        let wanted: Vec<_> = wanted.iter().map(|(n, v)| (n.to_string(), v.to_string())).collect();
        outgoing(&wanted, Expects::Html, Purpose::List, &HeaderValue::from_static("dibao"))
    }

    #[test]
    fn an_adapter_cannot_set_what_is_the_hosts_business() {
        for name in DROPPED.iter().chain(&["Proxy-Authorization", "Cookie", "HOST"]) {
            let map = sent(&[(name, "evil")]);
            assert!(map.values().all(|value| value != "evil"), "{name}");
        }
    }

    #[test]
    fn a_value_with_a_line_break_is_not_sent() {
        for value in ["a\r\nhost: evil", "a\nb", "a\0b"] {
            assert!(!sent(&[("x-a", value)]).contains_key("x-a"), "{value:?}");
        }
        assert!(sent(&[("x a", "b"), ("x:\r\n", "b"), ("", "b")]).values().all(|v| v != "b"));
    }

    #[test]
    fn an_adapters_own_headers_are_sent() {
        let map = sent(&[
            ("X-Requested-With", "XMLHttpRequest"),
            ("Accept", "application/json"),
            ("Referer", "https://a/"),
        ]);
        assert_eq!(map["x-requested-with"], "XMLHttpRequest");
        assert_eq!(map["accept"], "application/json");
        assert_eq!(map["accept-encoding"], "gzip, deflate");
        assert_eq!(map["user-agent"], "dibao");
    }

    #[test]
    fn another_origin_sees_no_header_that_could_be_a_credential() {
        let mut map =
            sent(&[("Authorization", "Bearer x"), ("X-Token", "x"), ("Content-Type", "text/plain")]);
        for_another_origin(&mut map);
        assert!(!map.contains_key("authorization") && !map.contains_key("x-token"));
        assert_eq!(map["content-type"], "text/plain");
        assert_eq!(map["user-agent"], "dibao");
    }

    #[test]
    fn a_raw_file_name_is_read_in_either_encoding() {
        for name in ["通知", "关于印发《办法》的通知", "联通"] {
            let header = format!("attachment; filename={name}.doc");
            assert_eq!(text(header.as_bytes()), header);
            assert_eq!(text(&encoding_rs::GBK.encode(&header).0), header);
        }
        assert_eq!(text(b"text/html; charset=utf-8"), "text/html; charset=utf-8");
        assert_eq!(text(b"\xff"), "\u{fffd}");
    }
}
