//! Cookies that a host set, and which of them go with a request (S2-28, C15). Pure; who may set one is decided here,
//! when they are sent in the gate.
//!
//! They are kept so that a host which a browser has passed once can be asked by plain HTTP afterwards. None lives
//! longer than a day here, whatever its host says, and none is sent to a host other than those it was set for.

use cookie::Cookie as Parsed;
use serde::{Deserialize, Serialize};
use url::{Host, Url};

use super::grant::without_dot;
use super::retry_after::http_date;
use crate::clock::Timestamp;

/// S2-28: no cookie is kept longer.
pub const LONGEST: i64 = 24 * 3_600_000;
/// Of one host; a site that sets more is playing with us.
const MAX_COOKIES: usize = 50;
/// Name and value together, as in browsers.
const MAX_BYTES: usize = 4096;

/// One cookie as it is kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cookie {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: String,
    /// The host that set it, or the domain it named; lower case, without a leading dot.
    pub domain: String,
    /// Only for that very host, not for hosts below it.
    pub host_only: bool,
    /// The path it is for.
    pub path: String,
    /// When it ends; none: with the session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires: Option<Timestamp>,
    /// Only over TLS.
    pub secure: bool,
}

/// Reads a `Set-Cookie` header that came from `url`. None when it is no cookie, or not one that this host may set.
pub fn parse_set_cookie(header: &str, url: &Url, now: Timestamp) -> Option<Cookie> {
    if header.len() > 2 * MAX_BYTES {
        return None;
    }
    let parsed = Parsed::parse(header).ok()?;
    let expires = match (parsed.max_age(), parsed.expires_datetime()) {
        // Max-Age has the say where both are given.
        (Some(age), _) => Some(Timestamp(now.0.saturating_add(age.whole_seconds().saturating_mul(1000)))),
        (None, Some(at)) => Some(Timestamp(at.unix_timestamp().saturating_mul(1000))),
        // Dates that are written otherwise: `1 Jan 1970`, which takes a cookie back, or with hyphens.
        (None, None) => attribute(header, "expires").and_then(|date| http_date(date, now)),
    };
    // One leading dot means nothing (RFC 6265 §5.2.3); another one, or one at the end, is part of a name nobody has.
    let named = attribute(header, "domain").map(|domain| domain.strip_prefix('.').unwrap_or(domain));
    let named = named.filter(|domain| !domain.is_empty()).map(str::to_ascii_lowercase);
    // RFC 6265 §5.3: a host that is itself a suffix of everybody's may name itself, and means only itself.
    let named = named.filter(|domain| domain != host_of(url) || !is_everybodys(domain));
    let cookie = Cookie {
        name: parsed.name().to_owned(),
        value: parsed.value().to_owned(),
        host_only: named.is_none(),
        domain: named.unwrap_or_else(|| host_of(url).to_owned()),
        path: match parsed.path() {
            Some(path) if path.starts_with('/') => path.to_owned(),
            _ => default_path(url),
        },
        expires,
        secure: parsed.secure().unwrap_or(false),
    };
    cookie.may_be_set_by(url).then_some(cookie)
}

impl Cookie {
    /// Whether the host of `url` may set it: for itself, or for a domain above it that is not everybody's, with
    /// nothing inside that could become a second header or a second cookie.
    pub fn may_be_set_by(&self, url: &Url) -> bool {
        let clean = |text: &str| text.bytes().all(|byte| byte > 0x1f && byte != 0x7f && byte != b';');
        let name_ok = !self.name.is_empty()
            && self
                .name
                .bytes()
                .all(|byte| matches!(byte, b' '..=b'~') && !matches!(byte, b'=' | b';' | b','));
        let host = host_of(url);
        let domain_ok = if self.host_only {
            self.domain == host
        } else {
            // An address is never a domain, and of `gov.cn` every government is a part.
            matches!(url.host(), Some(Host::Domain(_)))
                && (self.domain == host || is_below(host, &self.domain))
                && !is_everybodys(&self.domain)
        };
        name_ok
            && clean(&self.value)
            && clean(&self.path)
            && self.path.is_ascii()
            && self.name.len() + self.value.len() + self.path.len() <= MAX_BYTES
            && self.path.starts_with('/')
            && domain_ok
            && (!self.secure || url.scheme() == "https")
            && self.keeps_its_prefix()
    }

    /// RFC 6265bis §4.1.3: these names promise where a cookie came from.
    fn keeps_its_prefix(&self) -> bool {
        let begins =
            |with: &str| self.name.get(..with.len()).is_some_and(|head| head.eq_ignore_ascii_case(with));
        (!begins("__Secure-") || self.secure)
            && (!begins("__Host-") || (self.secure && self.host_only && self.path == "/"))
    }

    /// Whether it goes with a request to `url` now.
    pub fn goes_with(&self, url: &Url, now: Timestamp) -> bool {
        let host = host_of(url);
        (self.domain == host || (!self.host_only && is_below(host, &self.domain)))
            && path_matches(url.path(), &self.path)
            && (!self.secure || url.scheme() == "https")
            && self.expires.is_none_or(|expires| expires > now)
    }

    /// RFC 6265 §5.3: of one name there may be several, for other domains and paths.
    pub(super) fn is_same(&self, other: &Cookie) -> bool {
        self.name == other.name && self.domain == other.domain && self.path == other.path
    }
}

/// The cookies of one host.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CookiePool(Vec<Cookie>);

impl CookiePool {
    /// Keeps what `url`'s host set, each for a day at the most; one that is over takes its predecessor with it.
    pub fn keep(&mut self, cookies: impl IntoIterator<Item = Cookie>, url: &Url, now: Timestamp) {
        for mut cookie in cookies.into_iter().filter(|cookie| cookie.may_be_set_by(url)) {
            let latest = Timestamp(now.0.saturating_add(LONGEST));
            let expires = cookie.expires.unwrap_or(latest).min(latest);
            cookie.expires = Some(expires);
            // What is set anew keeps its place in the order (RFC 6265 §5.3, 11).
            match self.0.iter().position(|known| known.is_same(&cookie)) {
                Some(index) => self.0[index] = cookie,
                None if expires > now => self.0.push(cookie),
                None => {}
            }
        }
        self.0.retain(|cookie| cookie.expires.is_some_and(|expires| expires > now));
        // The oldest go first.
        let excess = self.0.len().saturating_sub(MAX_COOKIES);
        self.0.drain(..excess);
    }

    /// The cookies that go with a request to `url`, those for longer paths first (RFC 6265 §5.4).
    pub fn for_url(&self, url: &Url, now: Timestamp) -> Vec<Cookie> {
        let mut found: Vec<Cookie> =
            self.0.iter().filter(|cookie| cookie.goes_with(url, now)).cloned().collect();
        longer_paths_first(&mut found);
        found
    }

    /// Forgets those that would go with a request to `url`: they did not help.
    pub fn forget(&mut self, url: &Url, now: Timestamp) {
        self.0.retain(|cookie| !cookie.goes_with(url, now));
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &Cookie> {
        self.0.iter()
    }

    /// None at all.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// RFC 6265 §5.4: the order in which they are sent; among equals the one that was set first.
pub(super) fn longer_paths_first(cookies: &mut [Cookie]) {
    cookies.sort_by_key(|cookie| std::cmp::Reverse(cookie.path.len()));
}

/// The value of a `Cookie` header; none when there is nothing to send.
pub(super) fn header(cookies: &[Cookie]) -> Option<http::HeaderValue> {
    let pairs: Vec<String> = cookies.iter().map(|c| format!("{}={}", c.name, c.value)).collect();
    if pairs.is_empty() {
        return None;
    }
    // From bytes: a value that is not ASCII goes back as it came.
    let mut value = http::HeaderValue::from_bytes(pairs.join("; ").as_bytes()).ok()?;
    value.set_sensitive(true);
    Some(value)
}

/// The last attribute of this name.
fn attribute<'a>(header: &'a str, name: &str) -> Option<&'a str> {
    let mut found = None;
    for part in header.split(';').skip(1) {
        if let Some((key, value)) = part.split_once('=')
            && key.trim().eq_ignore_ascii_case(name)
        {
            found = Some(value.trim());
        }
    }
    found
}

fn host_of(url: &Url) -> &str {
    url.host_str().map(without_dot).unwrap_or_default()
}

/// `a.b.cn` is below `b.cn`.
fn is_below(host: &str, domain: &str) -> bool {
    host.strip_suffix(domain).is_some_and(|rest| rest.ends_with('.'))
}

/// A suffix under which strangers register.
fn is_everybodys(domain: &str) -> bool {
    psl::domain_str(domain).is_none()
}

/// RFC 6265 §5.1.4.
fn path_matches(path: &str, cookie_path: &str) -> bool {
    path.strip_prefix(cookie_path)
        .is_some_and(|rest| rest.is_empty() || cookie_path.ends_with('/') || rest.starts_with('/'))
}

/// RFC 6265 §5.1.4: the directory of the page.
fn default_path(url: &Url) -> String {
    match url.path().rsplit_once('/') {
        Some((directory, _)) if !directory.is_empty() => directory.to_owned(),
        _ => "/".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp(1_794_988_800_000);

    fn url(text: &str) -> Url {
        Url::parse(text).unwrap()
    }

    fn read(header: &str, from: &str) -> Option<Cookie> {
        parse_set_cookie(header, &url(from), NOW)
    }

    #[test]
    fn a_cookie_is_read_as_browsers_read_it() {
        let from = "https://www.gd.gov.cn/zwgk/wjk/index.html";
        #[rustfmt::skip]
        let table = [
            ("a=1", Some(("www.gd.gov.cn", true, "/zwgk/wjk", None, false))),
            ("a=1; Path=/", Some(("www.gd.gov.cn", true, "/", None, false))),
            ("a=1; path=x", Some(("www.gd.gov.cn", true, "/zwgk/wjk", None, false))),
            ("a=1; Domain=.GD.gov.cn; Secure; HttpOnly", Some(("gd.gov.cn", false, "/zwgk/wjk", None, true))),
            ("a=1; Max-Age=60; Expires=Thu, 01 Jan 1970 00:00:00 GMT", Some(("www.gd.gov.cn", true, "/zwgk/wjk", Some(60_000), false))),
            ("a=1; Expires=Thu, 19 Nov 2026 00:00:00 GMT", Some(("www.gd.gov.cn", true, "/zwgk/wjk", Some(57_600_000), false))),
            ("a=1; Expires=Thu, 19-Nov-26 00:00:00 GMT", Some(("www.gd.gov.cn", true, "/zwgk/wjk", Some(57_600_000), false))),
            ("a=1; Expires=Thu, 1 Jan 1970 00:00:00 GMT", Some(("www.gd.gov.cn", true, "/zwgk/wjk", Some(-NOW.0), false))),
            ("a=1; Expires=tomorrow", Some(("www.gd.gov.cn", true, "/zwgk/wjk", None, false))),
            ("a=1; Max-Age=soon", Some(("www.gd.gov.cn", true, "/zwgk/wjk", None, false))),
            ("a=1; Max-Age=-5", Some(("www.gd.gov.cn", true, "/zwgk/wjk", Some(0), false))),
            ("a=1,2|x=\"y\"; Domain=", Some(("www.gd.gov.cn", true, "/zwgk/wjk", None, false))),
            ("__Host-a=1; Secure; Path=/", Some(("www.gd.gov.cn", true, "/", None, true))),
            ("__Host-a=1; Secure", None),
            ("__Host-a=1; Secure; Path=/; Domain=gd.gov.cn", None),
            ("__Secure-a=1", None),
            ("a=1; Domain=gov.cn", None),
            ("a=1; Domain=cn", None),
            ("a=1; Domain=sz.gov.cn", None),
            ("a=1; Domain=w.gd.gov.cn", None),
            ("=1", None),
            ("nothing", None),
            ("a=1\r\nhost: evil", None),
            ("a=通知", Some(("www.gd.gov.cn", true, "/zwgk/wjk", None, false))),
            ("a b=1", Some(("www.gd.gov.cn", true, "/zwgk/wjk", None, false))),
            ("a=1; Domain=gd.gov.cn; Domain=.www.gd.gov.cn", Some(("www.gd.gov.cn", false, "/zwgk/wjk", None, false))),
            ("a=1; Domain=..gd.gov.cn", None),
            ("a=1; Domain=gd.gov.cn.", None),
        ];
        for (header, expected) in table {
            let found = read(header, from);
            let shown = found.as_ref().map(|c| {
                (c.domain.as_str(), c.host_only, c.path.as_str(), c.expires.map(|e| e.0 - NOW.0), c.secure)
            });
            assert_eq!(shown, expected, "{header}");
        }
        assert!(read("a=1; Secure", "http://www.gd.gov.cn/").is_none(), "not over a wire that anybody reads");
        assert!(read("a=1; Domain=127.0.0.1", "http://127.0.0.1/").is_none(), "an address is no domain");
        assert!(read("a=1", "http://127.0.0.1/").is_some());
        assert!(read(&format!("a={}", "x".repeat(5000)), from).is_none());
    }

    #[test]
    fn a_cookie_goes_only_where_it_belongs() {
        let below = read("a=1; Domain=gd.gov.cn; Path=/zwgk", "https://www.gd.gov.cn/zwgk/x").unwrap();
        let own = read("b=2; Path=/; Secure", "https://www.gd.gov.cn/").unwrap();
        for (cookie, to, goes) in [
            (&below, "https://www.gd.gov.cn/zwgk", true),
            (&below, "https://www.gd.gov.cn/zwgk/", true),
            (&below, "https://search.gd.gov.cn/zwgk/a?b", true),
            (&below, "https://www.gd.gov.cn/zwgkx", false),
            (&below, "https://gd.gov.cn/zwgk", true),
            (&below, "https://evilgd.gov.cn/zwgk", false),
            (&below, "https://gd.gov.cn.evil.cn/zwgk", false),
            (&own, "https://www.gd.gov.cn./", true),
            (&own, "http://www.gd.gov.cn/", false),
            (&own, "https://m.www.gd.gov.cn/", false),
        ] {
            assert_eq!(cookie.goes_with(&url(to), NOW), goes, "{} {to}", cookie.name);
        }
    }

    #[test]
    fn no_cookie_is_kept_for_longer_than_a_day_and_no_host_fills_the_pool() {
        let page = url("https://www.gd.gov.cn/");
        let mut pool = CookiePool::default();
        let headers = ["a=1", "b=2; Max-Age=999999999", "c=3; Max-Age=60"];
        pool.keep(headers.iter().filter_map(|h| parse_set_cookie(h, &page, NOW)), &page, NOW);
        let at = |ms| pool.for_url(&page, Timestamp(NOW.0 + ms)).len();
        assert_eq!((at(0), at(60_000), at(LONGEST - 1), at(LONGEST)), (3, 2, 2, 0));

        let mut pool = CookiePool::default();
        for i in 0..1000 {
            pool.keep(parse_set_cookie(&format!("n{i}=1"), &page, NOW), &page, NOW);
        }
        assert_eq!(pool.iter().count(), MAX_COOKIES);
        pool.keep(parse_set_cookie("n999=; Max-Age=0", &page, NOW), &page, NOW);
        assert!(pool.iter().all(|cookie| cookie.name != "n999"), "a host takes its cookie back");
        pool.forget(&page, NOW);
        assert!(pool.is_empty());
        // What a browser brings along for other hosts is not this host's to set.
        let foreign = read("x=1", "https://tracker.example.com/").unwrap();
        pool.keep([foreign], &page, NOW);
        assert!(pool.is_empty());
    }

    /// What is set one after the other, and what goes back for a page: each line a case of the published tests of
    /// RFC 6265, or near it.
    #[test]
    fn of_one_name_the_host_gets_back_what_it_set_for_that_place() {
        let page = url("http://home.example.org/cookie/page");
        #[rustfmt::skip]
        let table: &[(&[&str], &str)] = &[
            (&["foo=bar; path=/", "foo=qux; path=/cookie"], "foo=qux; foo=bar"),
            (&["foo=qux; path=/cookie", "foo=bar; path=/"], "foo=qux; foo=bar"),
            (&["foo=bar; path=/", "foo=qux; path=/"], "foo=qux"),
            (&["a=1; path=/", "b=2; path=/", "a=3; path=/"], "a=3; b=2"),
            (&["foo=bar; domain=example.org; path=/", "foo=qux; path=/"], "foo=bar; foo=qux"),
            (&["foo=bar; path=/other"], ""),
            (&["foo=通知; path=/"], "foo=通知"),
            (&["foo bar=1; path=/"], "foo bar=1"),
        ];
        for (set, expected) in table {
            let mut pool = CookiePool::default();
            pool.keep(set.iter().filter_map(|h| parse_set_cookie(h, &page, NOW)), &page, NOW);
            let sent = header(&pool.for_url(&page, NOW));
            assert_eq!(
                sent.as_ref().map(|value| value.as_bytes()).unwrap_or_default(),
                expected.as_bytes(),
                "{set:?}"
            );
        }
    }

    #[test]
    fn the_header_names_longer_paths_first_and_is_kept_out_of_logs() {
        let page = url("https://www.gd.gov.cn/a/b");
        let mut pool = CookiePool::default();
        let headers = ["short=1; Path=/", "long=2; Path=/a"];
        pool.keep(headers.iter().filter_map(|h| parse_set_cookie(h, &page, NOW)), &page, NOW);
        let value = header(&pool.for_url(&page, NOW)).unwrap();
        assert_eq!(value, "long=2; short=1");
        assert!(value.is_sensitive());
        assert!(header(&[]).is_none());
    }
}
