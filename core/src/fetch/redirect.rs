//! Where a redirect leads and what changes on the way. Pure; following it is the gate's business.

use http::{HeaderMap, header::LOCATION};
use url::Url;

use super::ask::Method;
use super::grant::without_dot;

/// As many as browsers of the old days followed; real chains on these sites are two or three long.
pub(super) const MAX_HOPS: usize = 10;

/// The next request of a chain.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Next {
    pub url: Url,
    pub method: Method,
    /// The body is dropped, and the headers that described it.
    pub drops_body: bool,
    /// Another origin: nothing that could be a credential may go along.
    pub crosses: bool,
}

/// The request a redirect asks for; none when the answer is no redirect that can be followed.
pub(super) fn next(
    status: u16,
    headers: &HeaderMap,
    from: &Url,
    method: Method,
) -> Result<Option<Next>, String> {
    if !matches!(status, 301 | 302 | 303 | 307 | 308) {
        return Ok(None);
    }
    // A redirect without a place to go is an answer: its body is all there is.
    let Some(location) = headers.get(LOCATION).map(|v| v.as_bytes()).filter(|v| !v.is_empty()) else {
        return Ok(None);
    };
    let mut url = from.join(&escaped(location)).map_err(|e| format!("{e}: {:?}", shown(location)))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(format!("it leads to {:?}", shown(location)));
    }
    if url.fragment().is_none() && from.fragment().is_some() {
        url.set_fragment(from.fragment());
    }
    // POST becomes GET after 301 and 302 as every browser does it, after 303 as the standard says.
    let drops_body = method == Method::Post && matches!(status, 301..=303);
    Ok(Some(Next {
        crosses: !keeps_credentials(from, &url),
        method: if drops_body { Method::Get } else { method },
        drops_body,
        url,
    }))
}

/// Same origin, or the same host moved from http to https on the usual ports.
fn keeps_credentials(from: &Url, to: &Url) -> bool {
    let host = |url: &Url| url.host_str().map(|h| without_dot(h).to_owned());
    let ports = (from.port_or_known_default(), to.port_or_known_default());
    host(from) == host(to)
        && match (from.scheme(), to.scheme()) {
            (a, b) if a == b => ports.0 == ports.1,
            ("http", "https") => ports == (Some(80), Some(443)),
            _ => false,
        }
}

/// Servers write raw UTF-8 or GBK into `location`; the bytes are what they want back.
fn escaped(location: &[u8]) -> String {
    let mut text = String::with_capacity(location.len());
    for &byte in location.trim_ascii() {
        match byte {
            0x20..=0x7e => text.push(byte as char),
            _ => text.push_str(&format!("%{byte:02X}")),
        }
    }
    text
}

fn shown(location: &[u8]) -> String {
    String::from_utf8_lossy(location).chars().take(200).collect()
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn go(status: u16, location: &[u8], from: &str, method: Method) -> Result<Option<Next>, String> {
        let mut headers = HeaderMap::new();
        headers.insert(LOCATION, HeaderValue::from_bytes(location).unwrap());
        next(status, &headers, &Url::parse(from).unwrap(), method)
    }

    #[test]
    fn a_redirect_leads_where_a_browser_would_go() {
        let from = "https://www.gov.cn/a/b?q=1#top";
        #[rustfmt::skip]
        let table: &[(&[u8], &str)] = &[
            (b"/c", "https://www.gov.cn/c#top"),
            (b"c", "https://www.gov.cn/a/c#top"),
            (b"?x", "https://www.gov.cn/a/b?x#top"),
            (b"//m.gov.cn/", "https://m.gov.cn/#top"),
            (b" http://www.gov.cn/#new ", "http://www.gov.cn/#new"),
            ("/通知".as_bytes(), "https://www.gov.cn/%E9%80%9A%E7%9F%A5#top"),
            (b"/\xcd\xa8", "https://www.gov.cn/%CD%A8#top"),
        ];
        for (location, expected) in table {
            let next = go(302, location, from, Method::Get).unwrap().unwrap();
            assert_eq!(next.url.as_str(), *expected);
        }
        for bad in [&b"javascript:alert(1)"[..], b"file:///etc/passwd", b"http://", b"https://[::/"] {
            assert!(go(302, bad, from, Method::Get).is_err());
        }
    }

    #[test]
    fn only_redirects_with_a_location_are_followed() {
        for status in [200, 201, 300, 304, 305, 404] {
            assert_eq!(go(status, b"/c", "https://a.cn/", Method::Get), Ok(None), "{status}");
        }
        assert_eq!(
            next(302, &HeaderMap::new(), &Url::parse("https://a.cn/").unwrap(), Method::Get),
            Ok(None)
        );
    }

    #[test]
    fn a_post_becomes_a_get_except_after_307_and_308() {
        for (status, method, expected) in [
            (301, Method::Post, Method::Get),
            (302, Method::Post, Method::Get),
            (303, Method::Post, Method::Get),
            (307, Method::Post, Method::Post),
            (308, Method::Post, Method::Post),
            (303, Method::Head, Method::Head),
        ] {
            let next = go(status, b"/c", "https://a.cn/", method).unwrap().unwrap();
            assert_eq!((next.method, next.drops_body), (expected, method != expected), "{status}");
        }
    }

    #[test]
    fn another_scheme_host_or_port_is_another_origin() {
        for (from, to, crosses) in [
            ("https://a.cn/", "https://a.cn/x", false),
            ("https://a.cn/", "https://A.cn.:443/x", false),
            ("http://a.cn/", "https://a.cn/x", false),
            ("https://a.cn/", "http://a.cn/x", true),
            ("https://a.cn/", "https://b.a.cn/", true),
            ("https://a.cn/", "https://a.cn:8443/", true),
            ("http://a.cn:8080/", "https://a.cn/", true),
        ] {
            assert_eq!(
                go(302, to.as_bytes(), from, Method::Get).unwrap().unwrap().crosses,
                crosses,
                "{from} {to}"
            );
        }
    }
}
