//! Which addresses are public pages of hosts that are watched (S2-54, I18). Pure.
//!
//! Decided by scheme, host, port and path alone. Who may ask and where the name leads is decided elsewhere.

use std::borrow::Cow;
use std::fmt;

use url::Url;

use super::grant::{HostPattern, is_below, without_dot};

/// Host endings that are public by nature (S2-54).
pub const DEFAULT_SUFFIXES: &[&str] = &[".gov.cn", ".com.cn"];

/// Path segments behind which no public page lives (S2-54). Whole segments, compared without case:
/// `/administration/` and `/loginfo` are fine.
pub const DEFAULT_DENIED_SEGMENTS: &[&str] = &[
    "admin",
    "administrator",
    "internal",
    "intranet",
    "login",
    "logout",
    "signin",
    "manage",
    "manager",
    "wp-admin",
];

/// Scripts are denied by their stem too: `/login.jsp`, `/admin.php`. An article `internal.html` is not.
const SCRIPT_ENDINGS: [&str; 9] = ["jsp", "jspx", "php", "asp", "aspx", "do", "action", "cgi", "jhtml"];

/// Ports of services that are not the web (the list browsers use, as far as it names services below 1024,
/// and the few above that are spoken by servers worth protecting).
fn is_web_port(port: u16) -> bool {
    match port {
        80 | 443 => true,
        0..=79 | 81..=1023 => matches!(port, 81..=86 | 88..=94 | 280 | 591 | 593 | 800..=899),
        // nfs, mysql, sip, postgres, x11, irc, redis, memcached, mongodb …
        1719
        | 1720
        | 1723
        | 2049
        | 3306
        | 3389
        | 3659
        | 4045
        | 5060
        | 5061
        | 5432
        | 6000
        | 6379
        | 6566
        | 6665..=6669
        | 6697
        | 10080
        | 11211
        | 27017 => false,
        _ => true,
    }
}

/// The rule of one site.
#[derive(Clone, Debug)]
pub struct PublicRule {
    /// Without the leading dot.
    suffixes: Vec<String>,
    hosts: Vec<HostPattern>,
    denied: Vec<String>,
}

impl PublicRule {
    /// Hosts that end in one of `allowed_suffixes`, and the hosts of the site itself: a site someone has
    /// configured is meant to be read, whatever its name ends in (I18).
    pub fn new<S: AsRef<str>>(allowed_suffixes: &[S], site_hosts: &[String]) -> PublicRule {
        PublicRule {
            suffixes: allowed_suffixes
                .iter()
                .map(|s| {
                    without_dot(s.as_ref().trim().trim_start_matches("*.").trim_start_matches('.'))
                        .to_ascii_lowercase()
                })
                .filter(|s| !s.is_empty())
                .collect(),
            hosts: site_hosts
                .iter()
                .filter_map(|host| HostPattern::parse(host.trim()).ok())
                .filter(|pattern| !matches!(pattern.as_str(), "*" | "site"))
                .collect(),
            denied: DEFAULT_DENIED_SEGMENTS.iter().map(|s| s.to_string()).collect(),
        }
    }

    /// Other denied path segments than [`DEFAULT_DENIED_SEGMENTS`].
    pub fn deny_segments<S: AsRef<str>>(mut self, segments: &[S]) -> PublicRule {
        self.denied = segments.iter().map(|s| s.as_ref().trim_matches('/').to_lowercase()).collect();
        self.denied.retain(|segment| !segment.is_empty());
        self
    }

    /// Whether `url` may be fetched.
    pub fn check(&self, url: &Url) -> Result<(), NotPublic> {
        self.check_form(url)?;
        let host = url.host_str().map(without_dot).unwrap_or_default();
        // An address ends in nothing: it is public only when the site names it.
        let by_name = matches!(url.host(), Some(url::Host::Domain(_)))
            && self.suffixes.iter().any(|suffix| host == suffix || is_below(host, suffix));
        if !by_name && !self.hosts.iter().any(|pattern| pattern.matches(url)) {
            return Err(NotPublic::Host(host.to_owned()));
        }
        match self.denied_segment(url.path()) {
            Some(segment) => Err(NotPublic::Path(segment)),
            None => Ok(()),
        }
    }

    /// The part of the rule that knows no host: scheme, credentials and port.
    pub(super) fn check_form(&self, url: &Url) -> Result<(), NotPublic> {
        if !matches!(url.scheme(), "http" | "https") {
            return Err(NotPublic::Scheme(url.scheme().to_owned()));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(NotPublic::Credentials);
        }
        let host = url.host_str().map(without_dot).unwrap_or_default();
        if host.is_empty() {
            return Err(NotPublic::Host(String::new()));
        }
        let port = url.port_or_known_default().unwrap_or_default();
        if !is_web_port(port) {
            return Err(NotPublic::Port(port));
        }
        Ok(())
    }

    fn denied_segment(&self, path: &str) -> Option<String> {
        let path = decoded(path);
        for segment in path.split(['/', '\\']) {
            // `/admin;jsessionid=1/` is `/admin/` to a servlet container.
            let segment = segment.split(';').next().unwrap_or_default().trim();
            if segment.is_empty() {
                continue;
            }
            let stem = match segment.rsplit_once('.') {
                Some((stem, ending)) if SCRIPT_ENDINGS.iter().any(|e| ending.eq_ignore_ascii_case(e)) => stem,
                _ => segment,
            };
            if self.denied.iter().any(|d| same(d, segment) || same(d, stem)) {
                return Some(segment.to_owned());
            }
        }
        None
    }
}

fn same(denied: &str, segment: &str) -> bool {
    if segment.is_ascii() { denied.eq_ignore_ascii_case(segment) } else { segment.to_lowercase() == denied }
}

/// Percent-decoded until nothing is left to decode: some servers decode twice, and we would rather
/// refuse a page than ask for `/%2561dmin/`.
fn decoded(path: &str) -> Cow<'_, str> {
    let mut text = Cow::Borrowed(path);
    // Each round shortens the text; four are more than any server takes.
    for _ in 0..4 {
        if !text.contains('%') {
            break;
        }
        let next = decode_once(text.as_bytes());
        if next == text.as_bytes() {
            break;
        }
        text = Cow::Owned(String::from_utf8_lossy(&next).into_owned());
    }
    text
}

fn decode_once(bytes: &[u8]) -> Vec<u8> {
    let hex = |b: u8| (b as char).to_digit(16).map(|d| d as u8);
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        if bytes[at] == b'%'
            && let (Some(high), Some(low)) =
                (bytes.get(at + 1).copied().and_then(hex), bytes.get(at + 2).copied().and_then(hex))
        {
            out.push(high << 4 | low);
            at += 3;
        } else {
            out.push(bytes[at]);
            at += 1;
        }
    }
    out
}

/// Why an address is not fetched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotPublic {
    /// Neither http nor https.
    Scheme(String),
    /// The address carries a user name or password.
    Credentials,
    /// No host that is watched.
    Host(String),
    /// A port on which no web server is expected.
    Port(u16),
    /// Behind a path segment that is not public.
    Path(String),
}

impl fmt::Display for NotPublic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NotPublic::Scheme(scheme) => write!(f, "{scheme}: cannot be fetched, only http and https"),
            NotPublic::Credentials => {
                f.write_str("the address carries a user name; only public pages are fetched")
            }
            NotPublic::Host(host) => write!(
                f,
                "{host:?} is no host that is watched; add it to `hosts` in the site's file, or its ending to the allowed suffixes"
            ),
            NotPublic::Port(port) => write!(f, "port {port} belongs to another service than the web"),
            NotPublic::Path(segment) => {
                write!(
                    f,
                    "the path leads through {segment:?}, which is not public; only public pages are fetched"
                )
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn rule() -> PublicRule {
        PublicRule::new(DEFAULT_SUFFIXES, &["www.news.cn".into(), "127.0.0.1:8080".into()])
    }

    #[test]
    fn only_public_pages_of_watched_hosts_pass() {
        #[rustfmt::skip]
        let table: &[(&str, Option<NotPublic>)] = &[
            ("https://www.gov.cn/zhengce/", None),
            ("https://gov.cn/", None),
            ("https://www.gd.gov.cn./a", None),
            ("https://www.people.com.cn/", None),
            ("https://www.news.cn/politics/", None),
            ("http://www.news.cn:8080/politics/", None),
            ("http://127.0.0.1:8080/", None),
            ("http://127.0.0.1:8081/", Some(NotPublic::Host("127.0.0.1".into()))),
            ("https://news.cn/", Some(NotPublic::Host("news.cn".into()))),
            ("https://evilgov.cn/", Some(NotPublic::Host("evilgov.cn".into()))),
            ("https://www.gov.cn.evil.com/", Some(NotPublic::Host("www.gov.cn.evil.com".into()))),
            ("http://10.0.0.1/", Some(NotPublic::Host("10.0.0.1".into()))),
            ("ftp://www.gov.cn/", Some(NotPublic::Scheme("ftp".into()))),
            ("file:///etc/passwd", Some(NotPublic::Scheme("file".into()))),
            ("data:text/html,x", Some(NotPublic::Scheme("data".into()))),
            ("https://user@www.gov.cn/", Some(NotPublic::Credentials)),
            ("https://:pw@www.gov.cn/", Some(NotPublic::Credentials)),
            ("https://www.gov.cn:22/", Some(NotPublic::Port(22))),
            ("https://www.gov.cn:6379/", Some(NotPublic::Port(6379))),
            ("https://www.gov.cn:8443/", None),
            ("https://www.gov.cn/admin/", Some(NotPublic::Path("admin".into()))),
            ("https://www.gov.cn/admin", Some(NotPublic::Path("admin".into()))),
            ("https://www.gov.cn/a/ADMIN/b", Some(NotPublic::Path("ADMIN".into()))),
            ("https://www.gov.cn/%61dmin/", Some(NotPublic::Path("admin".into()))),
            ("https://www.gov.cn/%2561dmin/", Some(NotPublic::Path("admin".into()))),
            ("https://www.gov.cn/a%2fadmin%2Fb", Some(NotPublic::Path("admin".into()))),
            ("https://www.gov.cn/a%5cadmin", Some(NotPublic::Path("admin".into()))),
            ("https://www.gov.cn/x/../admin/", Some(NotPublic::Path("admin".into()))),
            ("https://www.gov.cn/admin;jsessionid=1/", Some(NotPublic::Path("admin".into()))),
            ("https://www.gov.cn//admin//x", Some(NotPublic::Path("admin".into()))),
            ("https://www.gov.cn/admin%20/", Some(NotPublic::Path("admin".into()))),
            ("https://www.gov.cn/internal/x", Some(NotPublic::Path("internal".into()))),
            ("https://www.gov.cn/login", Some(NotPublic::Path("login".into()))),
            ("https://www.gov.cn/login.jsp?x", Some(NotPublic::Path("login.jsp".into()))),
            ("https://www.gov.cn/manage/", Some(NotPublic::Path("manage".into()))),
            ("https://www.gov.cn/administration/", None),
            ("https://www.gov.cn/loginfo/", None),
            ("https://www.gov.cn/internal.html", None),
            ("https://www.gov.cn/a?next=/admin/", None),
            ("https://www.gov.cn/a#/admin/", None),
            ("https://www.gov.cn/%E9%80%9A%E7%9F%A5/%zz%", None),
        ];
        for (address, expected) in table {
            assert_eq!(rule().check(&Url::parse(address).unwrap()).err(), *expected, "{address}");
        }
    }

    #[test]
    fn suffixes_are_whole_labels_however_they_are_written() {
        for written in [".gov.cn", "gov.cn", "*.gov.cn", " .GOV.CN "] {
            let rule = PublicRule::new(&[written], &[]);
            assert!(rule.check(&Url::parse("https://a.gov.cn/").unwrap()).is_ok(), "{written}");
            assert!(rule.check(&Url::parse("https://agov.cn/").unwrap()).is_err(), "{written}");
        }
        assert!(PublicRule::new(&["", "."], &[]).check(&Url::parse("https://a.cn/").unwrap()).is_err());
        assert!(
            PublicRule::new::<&str>(&[], &["*".into()]).check(&Url::parse("https://a.cn/").unwrap()).is_err()
        );
    }

    proptest! {
        #[test]
        fn no_address_makes_the_rule_panic(text in "https?://[a-z.:@0-9]{1,12}/\\PC{0,60}") {
            if let Ok(url) = Url::parse(&text) {
                let _ = rule().check(&url);
            }
        }

        #[test]
        fn a_denied_segment_is_found_however_it_is_escaped(
            index in 0..DEFAULT_DENIED_SEGMENTS.len(), mask in any::<u32>(), before in "[a-z]{0,6}", after in "[a-z0-9]{0,6}",
        ) {
            let mut segment = String::new();
            for (i, byte) in DEFAULT_DENIED_SEGMENTS[index].bytes().enumerate() {
                match mask >> (2 * (i % 16)) & 3 {
                    0 => segment.push(byte as char),
                    1 => segment.push(byte.to_ascii_uppercase() as char),
                    2 => segment.push_str(&format!("%{byte:02x}")),
                    _ => segment.push_str(&format!("%25{byte:02X}")),
                }
            }
            let url = Url::parse(&format!("https://www.gov.cn/{before}/{segment}/{after}")).unwrap();
            prop_assert!(matches!(rule().check(&url), Err(NotPublic::Path(_))), "{}", url);
        }

        #[test]
        fn decoding_what_is_decoded_changes_nothing(path in "[a-z%0-9/]{0,40}") {
            let once = decoded(&path).into_owned();
            if !once.contains('%') {
                prop_assert_eq!(decoded(&once).into_owned(), once);
            }
        }
    }
}
