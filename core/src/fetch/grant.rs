//! Which hosts an adapter may reach: what it asks for ∩ what the operator grants. Pure.
//!
//! Whether a page is public and whether an address is safe is decided elsewhere.

use std::fmt;

use url::{Host, Url};

/// The hosts one adapter may reach on behalf of one site.
#[derive(Clone, Debug)]
pub struct Grant {
    adapter: String,
    wanted: Vec<HostPattern>,
    granted: Vec<HostPattern>,
    site_hosts: Vec<HostPattern>,
}

impl Grant {
    /// `wanted` comes from the adapter's `describe`, `granted` from `adapters.lock`, `site_hosts` from the
    /// site's settings. A pattern that cannot be read matches nothing.
    pub fn new(adapter: &str, wanted: &[String], granted: &[String], site_hosts: &[String]) -> Grant {
        let read = |patterns: &[String]| patterns.iter().map(|p| HostPattern::lenient(p)).collect();
        Grant {
            adapter: adapter.to_owned(),
            wanted: read(wanted),
            granted: read(granted),
            // A site's settings name hosts; `*` or `site` among them would mean nothing good.
            site_hosts: site_hosts
                .iter()
                .map(|h| HostPattern::lenient(h))
                .filter(|p| !matches!(p.form, Form::Any | Form::Site))
                .collect(),
        }
    }

    /// Whether the adapter may ask for `url`; the denial says what to change.
    pub fn check(&self, url: &Url) -> Result<(), Denial> {
        if !self.any(&self.wanted, url) {
            let remedy = if self.wanted.iter().any(|p| matches!(p.form, Form::Site)) {
                Remedy::NameInSite { host: place(url) }
            } else {
                Remedy::NotAskedFor { asked: self.wanted.iter().map(|p| p.text.clone()).collect() }
            };
            return Err(Denial { adapter: self.adapter.clone(), origin: origin(url), remedy });
        }
        if !self.any(&self.granted, url) {
            let mut hosts: Vec<&str> = self.granted.iter().map(|p| p.text.as_str()).collect();
            let origin = origin(url);
            hosts.push(&origin);
            let hosts: Vec<String> = hosts.into_iter().map(toml_string).collect();
            let line = format!("hosts = [{}]", hosts.join(", "));
            return Err(Denial { adapter: self.adapter.clone(), origin, remedy: Remedy::AddLine { line } });
        }
        Ok(())
    }

    fn any(&self, patterns: &[HostPattern], url: &Url) -> bool {
        patterns.iter().any(|pattern| match pattern.form {
            Form::Site => self.site_hosts.iter().any(|host| host.matches(url)),
            _ => pattern.matches(url),
        })
    }
}

/// A host, or a set of them, as adapters and operators write it.
///
/// | written | means |
/// |---|---|
/// | `site` | the hosts named in the site's settings |
/// | `*` | every host |
/// | `www.gov.cn` | that host, either scheme, every port |
/// | `www.gov.cn:8080` | that host, either scheme, that port |
/// | `https://www.gov.cn` | exactly that origin; without a port the scheme's own |
/// | `https://*.gov.cn`, `*.gov.cn` | every host below `gov.cn`, not `gov.cn` itself |
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostPattern {
    text: String,
    form: Form,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Form {
    Site,
    Any,
    Nothing,
    Host { scheme: Option<String>, below: bool, host: String, port: Option<u16> },
}

impl HostPattern {
    /// Reads a pattern; the error says what is wrong with it.
    pub fn parse(text: &str) -> Result<HostPattern, String> {
        let pattern = |form| Ok(HostPattern { text: text.to_owned(), form });
        let wrong = |why: &str| Err(format!("{text:?} is no host pattern: {why}"));
        match text {
            "site" => return pattern(Form::Site),
            "*" => return pattern(Form::Any),
            _ => {}
        }
        let (scheme, rest) = match text.split_once("://") {
            Some((scheme, rest)) => match scheme.to_ascii_lowercase().as_str() {
                scheme @ ("http" | "https") => (Some(scheme.to_owned()), rest),
                _ => return wrong("only http:// and https:// can be fetched"),
            },
            None => (None, text),
        };
        let rest = rest.strip_suffix('/').unwrap_or(rest);
        let (below, rest) = match rest.strip_prefix("*.") {
            Some(rest) => (true, rest),
            None => (false, rest),
        };
        if rest.is_empty()
            || rest.contains(['/', '?', '#', '@', '*', '\\'])
            || rest.contains(char::is_whitespace)
        {
            return wrong("write `site`, `*`, `host`, `https://host[:port]` or `https://*.domain`");
        }
        // The url crate reads the host as it will read those of requests: case, IDN, odd numbers, brackets.
        let Ok(probe) = Url::parse(&format!("http://{rest}/")) else {
            return wrong("the host does not parse");
        };
        let Some(host) = host_of(&probe) else { return wrong("there is no host") };
        if below && !matches!(probe.host(), Some(Host::Domain(_))) {
            return wrong("an address has nothing below it");
        }
        let written = match rest.rsplit_once(':') {
            Some((_, port)) if !rest.ends_with(']') => match port.parse() {
                Ok(port) => Some(port),
                Err(_) => return wrong("the port is no number"),
            },
            _ => None,
        };
        let port = written.or(match scheme.as_deref() {
            Some("https") => Some(443),
            Some("http") => Some(80),
            _ => None,
        });
        pattern(Form::Host { scheme, below, host, port })
    }

    /// As it was written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    fn lenient(text: &str) -> HostPattern {
        HostPattern::parse(text.trim())
            .unwrap_or_else(|_| HostPattern { text: text.to_owned(), form: Form::Nothing })
    }

    /// Whether `url` is meant; never by `site`, which needs a site to mean something.
    pub(super) fn matches(&self, url: &Url) -> bool {
        match &self.form {
            Form::Any => true,
            Form::Site | Form::Nothing => false,
            Form::Host { scheme, below, host, port } => {
                let Some(asked) = url.host_str().map(without_dot) else { return false };
                scheme.as_deref().is_none_or(|scheme| scheme == url.scheme())
                    && port.is_none_or(|port| url.port_or_known_default() == Some(port))
                    && if *below { is_below(asked, host) } else { asked == host }
            }
        }
    }
}

/// Whether `host` is a name below `domain`, on a label boundary.
pub(super) fn is_below(host: &str, domain: &str) -> bool {
    host.strip_suffix(domain).is_some_and(|front| front.len() > 1 && front.ends_with('.'))
}

/// `www.gov.cn.` is the same host as `www.gov.cn`.
pub(super) fn without_dot(host: &str) -> &str {
    host.strip_suffix('.').unwrap_or(host)
}

pub(super) fn host_of(url: &Url) -> Option<String> {
    url.host_str().map(|host| without_dot(host).to_owned()).filter(|host| !host.is_empty())
}

fn origin(url: &Url) -> String {
    let host = url.host_str().map(without_dot).unwrap_or_default();
    match url.port() {
        Some(port) => format!("{}://{host}:{port}", url.scheme()),
        None => format!("{}://{host}", url.scheme()),
    }
}

fn place(url: &Url) -> String {
    let host = url.host_str().map(without_dot).unwrap_or_default();
    match url.port() {
        Some(port) => format!("{host}:{port}"),
        None => host.to_owned(),
    }
}

fn toml_string(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

/// An adapter asked for a host that it may not reach.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Denial {
    /// The adapter.
    pub adapter: String,
    /// What it asked for: scheme, host, port.
    pub origin: String,
    /// What to change if it should be allowed.
    pub remedy: Remedy,
}

/// What an operator can do about a denial.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Remedy {
    /// The operator has not granted it: the line for `adapters.lock`.
    AddLine {
        /// `hosts = […]`, complete.
        line: String,
    },
    /// The adapter asks for the site's hosts, and this is none of them.
    NameInSite {
        /// The host to name.
        host: String,
    },
    /// The adapter itself never asks for it.
    NotAskedFor {
        /// What it asks for.
        asked: Vec<String>,
    },
}

impl fmt::Display for Denial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Denial { adapter, origin, remedy } = self;
        write!(f, "adapter {adapter} may not reach {origin}: ")?;
        match remedy {
            Remedy::AddLine { line } => {
                write!(
                    f,
                    "not granted; to allow it, put this line under [adapters.{adapter}] in adapters.lock: {line}"
                )
            }
            Remedy::NameInSite { host } => {
                write!(
                    f,
                    "it is none of the site's hosts; to allow it, add {host:?} to `hosts` in the site's file"
                )
            }
            Remedy::NotAskedFor { asked } => {
                write!(
                    f,
                    "the adapter asks only for {}; nothing can be granted beyond that",
                    asked.join(", ")
                )
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn url(text: &str) -> Url {
        Url::parse(text).unwrap()
    }

    fn grant(wanted: &[&str], granted: &[&str], site: &[&str]) -> Grant {
        let own = |list: &[&str]| list.iter().map(|s| s.to_string()).collect::<Vec<_>>();
        Grant::new("yaml-css", &own(wanted), &own(granted), &own(site))
    }

    #[test]
    fn a_pattern_means_what_its_table_says() {
        #[rustfmt::skip]
        let table: &[(&str, &str, bool)] = &[
            ("*", "https://anything.example:8443/x", true),
            ("www.gov.cn", "https://www.gov.cn/a", true),
            ("www.gov.cn", "http://www.gov.cn:8080/a", true),
            ("WWW.GOV.CN", "http://www.gov.cn./a", true),
            ("www.gov.cn", "https://evilwww.gov.cn/", false),
            ("www.gov.cn", "https://www.gov.cn.evil.com/", false),
            ("www.gov.cn:8080", "http://www.gov.cn:8080/", true),
            ("www.gov.cn:8080", "http://www.gov.cn/", false),
            ("www.gov.cn:443", "https://www.gov.cn/", true),
            ("https://www.gov.cn", "https://www.gov.cn/a", true),
            ("https://www.gov.cn/", "https://www.gov.cn/a", true),
            ("https://www.gov.cn", "http://www.gov.cn/a", false),
            ("https://www.gov.cn", "https://www.gov.cn:8443/a", false),
            ("https://www.gov.cn:8443", "https://www.gov.cn:8443/a", true),
            ("https://*.gov.cn", "https://www.gd.gov.cn/", true),
            ("https://*.gov.cn", "https://gov.cn/", false),
            ("https://*.gov.cn", "https://evilgov.cn/", false),
            ("*.gov.cn", "http://a.gov.cn/", true),
            ("中国政府网.政务", "https://xn--fiqs8sirgfmh11do9o6xc.xn--zfr164b/", false),
            ("例子.测试", "https://xn--fsqu00a.xn--0zwm56d/", true),
            ("[::1]", "http://[::1]:80/", true),
            ("127.0.0.1", "http://0x7f.1/", true),
            ("site", "https://www.gov.cn/", false),
            ("ftp://www.gov.cn", "https://www.gov.cn/", false),
            ("www.gov.cn/path", "https://www.gov.cn/path", false),
            ("user@www.gov.cn", "https://www.gov.cn/", false),
            ("", "https://www.gov.cn/", false),
            ("https://*", "https://www.gov.cn/", false),
            ("*.*.cn", "https://www.gov.cn/", false),
        ];
        for (pattern, address, expected) in table {
            assert_eq!(
                HostPattern::lenient(pattern).matches(&url(address)),
                *expected,
                "{pattern} on {address}"
            );
        }
    }

    #[test]
    fn a_request_needs_both_the_wish_and_the_grant() {
        let page = url("https://www.gd.gov.cn/a");
        assert!(grant(&["site"], &["site"], &["www.gd.gov.cn"]).check(&page).is_ok());
        assert!(grant(&["site"], &["*"], &["www.gd.gov.cn"]).check(&page).is_ok());
        assert!(grant(&["*"], &["https://*.gov.cn"], &[]).check(&page).is_ok());
        assert!(grant(&["site"], &[], &["www.gd.gov.cn"]).check(&page).is_err());
        assert!(grant(&[], &["*"], &["www.gd.gov.cn"]).check(&page).is_err());
        assert!(grant(&["site"], &["site"], &["*"]).check(&page).is_err(), "a site cannot name every host");
        assert!(grant(&["site"], &["site"], &["site"]).check(&page).is_err());
    }

    #[test]
    fn a_denial_prints_the_line_to_add() {
        let denial = grant(&["*"], &["site"], &["www.gov.cn"])
            .check(&url("https://api.example.com:8443/x?y"))
            .unwrap_err();
        assert_eq!(
            denial.remedy,
            Remedy::AddLine { line: r#"hosts = ["site", "https://api.example.com:8443"]"#.into() }
        );
        assert!(denial.to_string().contains("under [adapters.yaml-css] in adapters.lock"), "{denial}");
        // The line does what it says.
        assert!(
            grant(&["*"], &["site", "https://api.example.com:8443"], &[])
                .check(&url("https://api.example.com:8443/x"))
                .is_ok()
        );
        let denial =
            grant(&["site"], &["site"], &["www.gov.cn"]).check(&url("https://other.cn/")).unwrap_err();
        assert_eq!(denial.remedy, Remedy::NameInSite { host: "other.cn".into() });
        let denial = grant(&["https://a.cn"], &["*"], &[]).check(&url("https://other.cn/")).unwrap_err();
        assert_eq!(denial.remedy, Remedy::NotAskedFor { asked: vec!["https://a.cn".into()] });
    }

    proptest! {
        #[test]
        fn reading_a_pattern_never_panics_and_reading_it_again_changes_nothing(text in "\\PC{0,40}") {
            if let Ok(pattern) = HostPattern::parse(&text) {
                prop_assert_eq!(&HostPattern::parse(pattern.as_str()).unwrap(), &pattern);
            }
        }

        #[test]
        fn a_host_pattern_matches_its_host_and_no_sibling(host in "[a-z][a-z0-9]{0,8}(\\.[a-z][a-z0-9]{0,6}){1,3}", other in "[a-z]{1,5}") {
            let own = url(&format!("https://{host}/"));
            let (longer, under) = (url(&format!("https://{other}{host}/")), url(&format!("https://{other}.{host}/")));
            let pattern = HostPattern::parse(&host).unwrap();
            prop_assert!(pattern.matches(&own) && !pattern.matches(&longer) && !pattern.matches(&under));
            let below = HostPattern::parse(&format!("*.{host}")).unwrap();
            prop_assert!(!below.matches(&own) && !below.matches(&longer) && below.matches(&under));
        }
    }
}
