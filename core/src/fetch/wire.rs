//! How one site is reached, where it differs from the rest: who asks, over which addresses, through what, and with
//! which TLS. Values only; `http` makes clients of them.
//!
//! A **proxy** is the operator's word, so its own address may be private. It connects in our place, which the address
//! guard cannot see: so each name is resolved and checked here before the proxy hears of it. With `socks5` the address
//! that was checked is the one the proxy is told to connect to. An `http` proxy is told the name and resolves it anew:
//! a name that changes its mind between the two lookups leads wherever the proxy lets it. Use an `http` proxy only if it
//! refuses private addresses by itself, or lies where there are none.

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use url::Url;

use super::rendering::Rendering;

/// Settings of the way to a site's hosts. The default is everybody's way.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Wire {
    /// Says who is asking, in place of the engine's own words.
    pub user_agent: Option<String>,
    /// Which of a host's addresses are used.
    pub ip_family: IpFamily,
    /// What makes the connections in our place.
    pub proxy: Option<Url>,
    /// Certificate authorities trusted beside those of the web and of the gate's options.
    pub extra_roots: Vec<CertificateDer<'static>>,
    /// What encrypts.
    pub tls: Tls,
    /// What a browser does with its pages; of no matter to HTTP.
    pub rendering: Rendering,
}

/// Which of a host's addresses are used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum IpFamily {
    /// All of them.
    #[default]
    Any,
    /// IPv4 only: for hosts whose IPv6 addresses lead nowhere.
    V4,
    /// IPv6 only.
    V6,
}

impl IpFamily {
    /// Whether an address is of this family.
    pub fn allows(self, address: std::net::IpAddr) -> bool {
        match self {
            IpFamily::Any => true,
            IpFamily::V4 => address.is_ipv4(),
            IpFamily::V6 => address.is_ipv6(),
        }
    }

    /// Its name, as it is written in site files.
    pub fn as_str(self) -> &'static str {
        match self {
            IpFamily::Any => "any",
            IpFamily::V4 => "v4",
            IpFamily::V6 => "v6",
        }
    }
}

/// What encrypts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Tls {
    /// rustls: TLS 1.2 and 1.3 with forward secrecy only.
    #[default]
    Rustls,
    /// OpenSSL, for hosts whose ciphers rustls does not know. Needs the feature `native-tls`. What it accepts is up
    /// to the system's OpenSSL settings, and it trusts the system's authorities.
    Native,
}

impl Tls {
    /// Its name, as it is written in site files.
    pub fn as_str(self) -> &'static str {
        match self {
            Tls::Rustls => "rustls",
            Tls::Native => "native",
        }
    }

    /// Whether this build has it.
    pub fn is_built_in(self) -> bool {
        self == Tls::Rustls || cfg!(feature = "native-tls")
    }
}

impl Wire {
    /// Whether requests of this site can use everybody's connections: who asks is said in each request.
    pub(super) fn is_common(&self) -> bool {
        let Wire { user_agent: _, rendering: _, ip_family, proxy, extra_roots, tls } = self;
        *ip_family == IpFamily::Any && proxy.is_none() && extra_roots.is_empty() && *tls == Tls::Rustls
    }

    /// Whether two ways are the same connections.
    pub(super) fn same_way(&self, other: &Wire) -> bool {
        let Wire { user_agent: _, rendering: _, ip_family, proxy, extra_roots, tls } = self;
        *ip_family == other.ip_family
            && *proxy == other.proxy
            && *extra_roots == other.extra_roots
            && *tls == other.tls
    }

    /// Reads the address of a proxy; an error says what is wrong with it.
    pub fn proxy_of(text: &str) -> Result<Url, String> {
        let url = Url::parse(text.trim()).map_err(|why| format!("`{text}` is not an address ({why})"))?;
        // With `socks5h` and `https` nobody here would know what is connected to, or with which certificate.
        if !matches!(url.scheme(), "http" | "socks5") {
            return Err(format!("`{}` is no kind of proxy that can be used", url.scheme()));
        }
        if url.host_str().is_none_or(str::is_empty) {
            return Err("the proxy has no host".to_owned());
        }
        if !matches!(url.path(), "" | "/") || url.query().is_some() {
            return Err("the address of a proxy ends with its port".to_owned());
        }
        Ok(url)
    }

    /// Reads the certificates of a PEM text; an error says what is wrong with it.
    pub fn roots_of(pem: &str) -> Result<Vec<CertificateDer<'static>>, String> {
        let roots = CertificateDer::pem_slice_iter(pem.as_bytes())
            .collect::<Result<Vec<_>, _>>()
            .map_err(|why| format!("a certificate does not parse: {why}"))?;
        if roots.is_empty() {
            return Err("the PEM text holds no certificate".to_owned());
        }
        Ok(roots)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_proxies_that_can_be_checked_are_read() {
        for good in ["http://127.0.0.1:3128", "http://proxy.lan:3128/", "socks5://user:word@10.0.0.1:1080"] {
            assert!(Wire::proxy_of(good).is_ok(), "{good}");
        }
        for bad in
            ["", "proxy:3128", "socks5h://p:1", "https://p:1", "http://p:1/path", "socks5://", "ftp://p"]
        {
            assert!(Wire::proxy_of(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn another_name_is_no_other_way() {
        let named = Wire { user_agent: Some("x".into()), ..Wire::default() };
        assert!(named.is_common() && named.same_way(&Wire::default()) && named != Wire::default());
        let v4 = Wire { ip_family: IpFamily::V4, ..named.clone() };
        assert!(!v4.is_common() && !v4.same_way(&named));
    }

    #[test]
    fn a_pem_text_without_a_certificate_is_refused() {
        assert!(Wire::roots_of("").is_err());
        assert!(Wire::roots_of("-----BEGIN CERTIFICATE-----\n!!\n-----END CERTIFICATE-----\n").is_err());
    }
}
