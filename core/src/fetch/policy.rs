//! How hard one host may be asked (C10): the numbers, the two named sets of them, and what counts as one host. Pure
//! values; where they come from is decided in [`config`](crate::config), the waiting is done in `throttle`.

use std::borrow::Cow;
use std::fmt;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use url::{Host, Url};

use super::grant::without_dot;

/// How hard one host may be asked (C10). All of it holds at once: of interval, bucket and robots.txt the latest wins.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HostPolicy {
    /// Requests under way at once; 0 counts as 1.
    pub max_concurrency: u32,
    /// From the start of one request to the start of the next.
    pub min_interval: Duration,
    /// Up to this much is added to each interval, at random.
    pub jitter: Duration,
    /// Requests per second over longer times; none = no such limit.
    pub rps: Option<f64>,
    /// Requests that may start at once before `rps` holds them back; 0 counts as 1.
    pub burst: u32,
    /// The longest an attachment waits for the interval (S2-64); none = the gate's own setting.
    pub attachment_cap: Option<Duration>,
    /// What shares one pace.
    pub key: ThrottleKey,
}

/// What shares one pace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ThrottleKey {
    /// Each host has its own.
    #[default]
    Host,
    /// All hosts under one registrable domain: `www.gd.gov.cn` and `search.gd.gov.cn` are `gd.gov.cn`. For sites
    /// whose hosts are one machine.
    Domain,
}

/// A named set of limits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Profile {
    /// One request at a time, five seconds apart: for the hosts this is written for.
    #[default]
    Polite,
    /// Ten at a time and ten a second: for hosts that are known to bear it.
    Fast,
}

impl Profile {
    /// Its name, as it is written in site files.
    pub fn as_str(self) -> &'static str {
        match self {
            Profile::Polite => "polite",
            Profile::Fast => "fast",
        }
    }

    /// Its limits.
    pub fn policy(self) -> HostPolicy {
        match self {
            // S2-29; a second of jitter, so that several columns of a site do not knock in step.
            Profile::Polite => HostPolicy {
                min_interval: Duration::from_secs(5),
                jitter: Duration::from_secs(1),
                ..HostPolicy::unpaced(1)
            },
            // S4-3.
            Profile::Fast => HostPolicy { rps: Some(10.0), burst: 10, ..HostPolicy::unpaced(10) },
        }
    }
}

impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl std::str::FromStr for Profile {
    type Err = String;

    fn from_str(text: &str) -> Result<Profile, String> {
        match text {
            "polite" => Ok(Profile::Polite),
            "fast" => Ok(Profile::Fast),
            _ => Err("write `polite` or `fast`".to_owned()),
        }
    }
}

impl ThrottleKey {
    /// Its name, as it is written in site files.
    pub fn as_str(self) -> &'static str {
        match self {
            ThrottleKey::Host => "host",
            ThrottleKey::Domain => "domain",
        }
    }
}

impl Default for HostPolicy {
    /// [`Profile::Polite`].
    fn default() -> Self {
        Profile::Polite.policy()
    }
}

impl HostPolicy {
    /// No waiting at all, `max_concurrency` at a time: for hosts that are one's own.
    pub fn unpaced(max_concurrency: u32) -> Self {
        HostPolicy {
            max_concurrency,
            min_interval: Duration::ZERO,
            jitter: Duration::ZERO,
            rps: None,
            burst: 1,
            attachment_cap: None,
            key: ThrottleKey::Host,
        }
    }

    /// The name under which a request to `url` is counted: lower case, without the dot of a full name.
    pub fn key_of<'a>(&self, url: &'a Url) -> Cow<'a, str> {
        let name = match url.host() {
            Some(Host::Domain(name)) => lower(without_dot(name)),
            // An address is its own domain.
            _ => return lower(url.host_str().unwrap_or_default()),
        };
        match self.key {
            ThrottleKey::Host => name,
            // A public suffix itself (`gov.cn`) is nobody's domain: then the host.
            ThrottleKey::Domain => match name {
                Cow::Borrowed(name) => Cow::Borrowed(psl::domain_str(name).unwrap_or(name)),
                Cow::Owned(name) => Cow::Owned(psl::domain_str(&name).unwrap_or(&name).to_owned()),
            },
        }
    }
}

/// The `url` crate lowers the hosts of web addresses; those of other schemes stay as written.
fn lower(name: &str) -> Cow<'_, str> {
    match name.bytes().any(|byte| byte.is_ascii_uppercase()) {
        true => Cow::Owned(name.to_ascii_lowercase()),
        false => Cow::Borrowed(name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_counted_by_name_or_by_registrable_domain() {
        for (url, host, domain) in [
            ("https://www.GD.gov.cn./a", "www.gd.gov.cn", "gd.gov.cn"),
            ("http://search.gd.gov.cn:8080/", "search.gd.gov.cn", "gd.gov.cn"),
            ("https://www.gov.cn/", "www.gov.cn", "www.gov.cn"),
            ("https://gov.cn/", "gov.cn", "gov.cn"),
            ("https://cn/", "cn", "cn"),
            ("https://blog.tumblr.com/", "blog.tumblr.com", "tumblr.com"),
            ("http://127.0.0.1:8080/", "127.0.0.1", "127.0.0.1"),
            ("http://[::1]:8080/", "[::1]", "[::1]"),
            ("x://A.B.Example.com./", "a.b.example.com", "example.com"),
        ] {
            let url = Url::parse(url).unwrap();
            let by_host = HostPolicy::default();
            let by_domain = HostPolicy { key: ThrottleKey::Domain, ..by_host };
            assert_eq!(by_host.key_of(&url), host, "{url}");
            assert_eq!(by_domain.key_of(&url), domain, "{url}");
        }
    }

    #[test]
    fn the_profiles_are_those_of_the_requirements() {
        let polite = Profile::Polite.policy();
        assert_eq!((polite.max_concurrency, polite.min_interval.as_secs(), polite.rps), (1, 5, None));
        let fast = Profile::Fast.policy();
        assert_eq!((fast.max_concurrency, fast.min_interval.as_secs(), fast.rps), (10, 0, Some(10.0)));
        assert_eq!(fast.burst, 10);
        for profile in [Profile::Polite, Profile::Fast] {
            assert_eq!(profile.as_str().parse(), Ok(profile));
        }
        assert_eq!(HostPolicy::default(), polite, "S2-29");
    }
}
