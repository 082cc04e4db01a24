//! What an operator sets once for the whole gate.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;

use super::admit::HostShelf;
use super::backend::FetchBackend;
use super::error::{FetchError, FetchErrorKind};
use super::resolver::NameLookup;
use super::robots::{RobotsShelf, RobotsTimes};

/// Settings of a [`Gate`](super::Gate).
#[derive(Clone)]
pub struct GateOptions {
    /// Says who is asking. Honest by default.
    pub user_agent: String,
    /// Names that stand for an address of the operator's choice, like `curl --resolve`. Such an address is
    /// the operator's explicit word and passes the address guard; nothing else does.
    pub resolve: Vec<Resolve>,
    /// Lets addresses of this machine through the address guard.
    pub allow_loopback: bool,
    /// Certificate authorities trusted beside those of the web.
    pub extra_roots: Vec<CertificateDer<'static>>,
    /// How long to wait for what.
    pub timeouts: Timeouts,
    /// Largest page: both on the wire and after decompression.
    pub body_cap: u64,
    /// Requests under way at once, over all hosts.
    pub max_in_flight: usize,
    /// The longest an attachment waits for its host's interval (S2-64): the files of a document are read
    /// as part of it, as a browser would.
    pub attachment_throttle_cap: Duration,
    /// Who turns names into addresses; none = the system. Whatever it answers is checked.
    pub lookup: Option<Arc<dyn NameLookup>>,
    /// Where copies of robots.txt outlive the process; none = nowhere.
    pub robots_shelf: Option<Arc<dyn RobotsShelf>>,
    /// Where what is known of hosts (cooldowns, cookies, learned limits, the ledger) outlives the process; none =
    /// nowhere.
    pub host_shelf: Option<Arc<dyn HostShelf>>,
    /// How long a robots.txt holds.
    pub robots_times: RobotsTimes,
    /// What fetches pages that HTTP cannot, in the order of preference.
    pub backends: Vec<Arc<dyn FetchBackend>>,
}

impl Default for GateOptions {
    fn default() -> Self {
        GateOptions {
            user_agent: concat!(
                "Mozilla/5.0 (compatible; dibao/",
                env!("CARGO_PKG_VERSION"),
                "; polite crawler)"
            )
            .to_owned(),
            resolve: Vec::new(),
            allow_loopback: false,
            extra_roots: Vec::new(),
            timeouts: Timeouts::default(),
            // What an adapter is handed at most; the largest list pages seen are a tenth of it.
            body_cap: 8 << 20,
            max_in_flight: 16,
            attachment_throttle_cap: Duration::from_secs(2),
            lookup: None,
            robots_shelf: None,
            host_shelf: None,
            robots_times: RobotsTimes::default(),
            backends: Vec::new(),
        }
    }
}

impl GateOptions {
    /// The user agent of a crawler whose people can be reached; none when `contact` is neither a mail address nor a
    /// web address, or would break the line.
    pub fn agent_with(contact: &str) -> Option<String> {
        let contact = contact.trim();
        let plain = contact.len() <= 200
            && contact.bytes().all(|byte| byte.is_ascii_graphic() && !b"()<>\"\\;,".contains(&byte));
        let web = contact.starts_with("https://") || contact.starts_with("http://");
        let mail = contact.split_once('@').is_some_and(|(who, host)| {
            !who.is_empty() && host.contains('.') && !host.contains('@') && !host.contains('/')
        });
        let reachable = if web { url::Url::parse(contact).is_ok() } else { mail };
        (plain && reachable).then(|| {
            concat!("Mozilla/5.0 (compatible; dibao/", env!("CARGO_PKG_VERSION"), "; +").to_owned()
                + contact
                + ")"
        })
    }

    /// Trusts the certificates of a PEM text beside those of the web.
    pub fn trust_pem(&mut self, pem: &str) -> Result<(), FetchError> {
        let before = self.extra_roots.len();
        for certificate in CertificateDer::pem_slice_iter(pem.as_bytes()) {
            let certificate = certificate
                .map_err(|e| FetchError::setup(format!("a root certificate does not parse: {e}")))?;
            self.extra_roots.push(certificate);
        }
        if self.extra_roots.len() == before {
            return Err(FetchError::setup("the PEM text holds no certificate".into()));
        }
        Ok(())
    }
}

impl FetchError {
    pub(super) fn setup(message: String) -> FetchError {
        FetchError::new(FetchErrorKind::Setup(message))
    }
}

/// One name and the address it stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resolve {
    /// Host name, compared without case.
    pub host: String,
    /// Only for URLs of this port; none = for every port.
    pub port: Option<u16>,
    /// Where to connect instead, port included (0 keeps the URL's port).
    pub addr: SocketAddr,
}

impl std::str::FromStr for Resolve {
    type Err = FetchError;

    /// `HOST=ADDRESS:PORT` or `HOST:PORT=ADDRESS:PORT`.
    fn from_str(text: &str) -> Result<Self, FetchError> {
        let wrong = |what: &str| {
            FetchError::setup(format!(
                "cannot read the resolve rule {text:?}: {what}; write HOST=ADDRESS:PORT or HOST:PORT=ADDRESS:PORT, for example www.gov.cn=127.0.0.1:8443"
            ))
        };
        let (name, addr) = text.split_once('=').ok_or_else(|| wrong("there is no `=`"))?;
        let addr = addr.trim().parse().map_err(|_| wrong("what follows `=` is no address with a port"))?;
        let (host, port) = match name.trim().rsplit_once(':') {
            Some((host, port)) => (host, Some(port.parse().map_err(|_| wrong("the port is no number"))?)),
            None => (name.trim(), None),
        };
        if host.is_empty() {
            return Err(wrong("the host is empty"));
        }
        Ok(Resolve { host: host.to_owned(), port, addr })
    }
}

/// How long to wait for what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeouts {
    /// Name, connection and TLS handshake together.
    pub connect: Duration,
    /// For the next bytes.
    pub read: Duration,
    /// For a whole page, redirects included; turns waited for do not count.
    pub total: Duration,
    /// For a whole attachment (S2-39).
    pub download: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Timeouts {
            // These hosts answer within a second or not at all; ten seconds outlast two lost SYNs.
            connect: Duration::from_secs(10),
            // Some portals compose a search page for over ten seconds before the first byte.
            read: Duration::from_secs(20),
            total: Duration::from_secs(45),
            download: Duration::from_secs(60),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_contact_is_a_mail_address_or_a_web_address() {
        let version = env!("CARGO_PKG_VERSION");
        let agent = |contact: &str| format!("Mozilla/5.0 (compatible; dibao/{version}; +{contact})");
        for good in ["ops@example.org", "https://example.org/crawler"] {
            assert_eq!(GateOptions::agent_with(good), Some(agent(good)));
        }
        for bad in
            ["", "ops", "@example.org", "ops@org", "a@b.c\r\nx: y", "a@b.c) x (", "https://", "a@b@c.d"]
        {
            assert_eq!(GateOptions::agent_with(bad), None, "{bad}");
        }
    }
}
