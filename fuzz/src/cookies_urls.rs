//! Input: a line with the address that answered, one with its `Set-Cookie`, one with another address, one with a
//! `Location`.

use dibao::Timestamp;
use dibao::extract::{normalize_url, url_hash};
use dibao::fetch::cookies::{CookiePool, LONGEST, parse_set_cookie};
use dibao::fetch::{DEFAULT_SUFFIXES, Grant, PublicRule, classify, fuzzing};
use url::{Host, Url};

const NOW: Timestamp = Timestamp(1_780_000_000_000);

pub fn run(data: &[u8]) {
    let ([from, cookie, other, location], _) = super::lines(data);
    let Ok(from) = Url::parse(&super::text(from)) else { return };
    let other = Url::parse(&super::text(other)).or_else(|_| from.join(&super::text(other)));
    for url in [Some(&from), other.as_ref().ok()].into_iter().flatten() {
        names(url);
        gates(url);
    }
    if matches!(from.scheme(), "http" | "https") {
        cookies(&from, &super::text(cookie), other.as_ref().unwrap_or(&from));
        redirects(&from, location);
    }
}

/// The name of a document is stable and says nothing of who reads it.
fn names(url: &Url) {
    let normal = normalize_url(url);
    assert_eq!(normalize_url(&normal), normal, "{url}");
    assert_eq!(normal.scheme(), url.scheme());
    assert_eq!(normal.fragment(), None);
    if !url.cannot_be_a_base() {
        assert!(normal.username().is_empty() && normal.password().is_none(), "{normal}");
    }
    let hash = url_hash(url);
    assert_eq!((hash.len(), &hash), (64, &url_hash(&normal)));
}

/// Whoever passes is on the web, under a name that was granted, without a password.
fn gates(url: &Url) {
    let hosts = ["*.gov.cn".to_owned()];
    let grant = Grant::new("fuzz", &hosts, &hosts, &[]);
    if grant.check(url).is_ok() {
        let host = url.host_str().unwrap_or_default().trim_end_matches('.');
        assert!(host.ends_with(".gov.cn") && matches!(url.host(), Some(Host::Domain(_))), "{url}");
    }
    let public = PublicRule::new(DEFAULT_SUFFIXES, &[]);
    if public.check(url).is_ok() {
        assert!(matches!(url.scheme(), "http" | "https"), "{url}");
        assert!(matches!(url.host(), Some(Host::Domain(_))), "{url}");
        assert!(url.username().is_empty() && url.password().is_none(), "{url}");
        let path = url.path().to_ascii_lowercase();
        assert!(!path.split('/').any(|segment| segment == "admin" || segment == "login"), "{url}");
    }
    // An address that is carried inside another is judged as the one inside.
    if let Some(Host::Ipv4(inner)) = url.host() {
        assert_eq!(
            classify(inner.to_ipv6_mapped().into()).is_some(),
            classify(inner.into()).is_some(),
            "{inner}"
        );
    }
}

/// A cookie goes back to those that may see it, for a day at most, and is never two.
fn cookies(from: &Url, header: &str, other: &Url) {
    let Some(cookie) = parse_set_cookie(header, from, NOW) else { return };
    let mut pool = CookiePool::default();
    pool.keep([cookie.clone()], from, NOW);
    assert!(pool.iter().count() <= 1);
    for kept in pool.iter() {
        let expires = kept.expires.expect("none is kept without an end");
        assert!(expires > NOW && expires.0 - NOW.0 <= LONGEST, "{kept:?}");
    }
    for (url, other_host) in [(from, false), (other, name(from) != name(other))] {
        let sent = pool.for_url(url, NOW);
        for cookie in &sent {
            assert!(!cookie.secure || url.scheme() == "https", "{cookie:?} {url}");
            if other_host {
                assert!(!cookie.host_only, "{cookie:?} {url}");
                assert_eq!(owner(from), owner(url), "{cookie:?} of {from} to {url}");
            }
        }
        if let Some(line) = fuzzing::cookie_header(&sent) {
            // Bytes beyond ASCII go back as they came; nothing ends the value or the line.
            assert!(line.iter().all(|byte| *byte >= 0x20 && !matches!(byte, 0x7f | b';')), "{line:?}");
            assert!(line.len() <= 4096 + 1, "{}", line.len());
        }
    }
}

/// A host without the dot that says where it ends.
fn name(url: &Url) -> Option<&str> {
    url.host_str().map(|host| host.trim_end_matches('.'))
}

/// The registrable domain: who a host belongs to.
fn owner(url: &Url) -> Option<String> {
    let host = url.host_str()?.trim_end_matches('.').to_ascii_lowercase();
    match url.host()? {
        Host::Domain(_) => Some(psl::domain_str(&host)?.to_owned()),
        _ => Some(host),
    }
}

/// A redirect stays on the web, and what could be a credential stays at its origin.
fn redirects(from: &Url, location: &[u8]) {
    for status in [200, 301, 302, 303, 304, 307, 308] {
        let Some((url, crosses)) = fuzzing::redirect(status, location, from) else { continue };
        assert!(!matches!(status, 200 | 304), "no redirect");
        assert!(matches!(url.scheme(), "http" | "https") && url.has_host(), "{url}");
        assert!(url.as_str().bytes().all(|byte| byte.is_ascii_graphic()), "{url}");
        assert_eq!(Url::parse(url.as_str()).as_ref(), Ok(&url), "it is written as it is read");
        assert!(crosses || name(&url) == name(from), "{from} {url}");
        assert!(crosses || !(from.scheme() == "https" && url.scheme() == "http"), "{from} {url}");
    }
}
