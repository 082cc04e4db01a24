//! The first tier: a plain HTTP client (HTTP/1.1 and 2, rustls with ring).
//!
//! It carries out one exchange and says what went wrong in the gate's words. It follows no redirect, reads no proxy
//! from the environment, decompresses nothing and repeats nothing: all that is decided in the gate.

use std::error::Error;
use std::io;
use std::net::{IpAddr, SocketAddr};

use bytes::Bytes;
use http::HeaderMap;
use http::header::{HOST, HeaderValue};
use reqwest::{Request, Response};
use rustls::pki_types::CertificateDer;
use url::{Host, Url};

use super::ask::Method;
use super::clients::{Clients, Override};
use super::error::{FetchError, FetchErrorKind, Phase};
use super::grant::without_dot;
use super::options::{GateOptions, Timeouts};
use super::resolver::{Unresolved, allowed};
use super::wire::Wire;

/// Sends requests, each the way of its site.
pub(super) struct Http {
    clients: Clients,
    timeouts: Timeouts,
    extra_roots: Vec<CertificateDer<'static>>,
}

impl Http {
    pub fn new(options: &GateOptions) -> Result<Http, FetchError> {
        let extra_roots = options.extra_roots.clone();
        Ok(Http { clients: Clients::new(options)?, timeouts: options.timeouts, extra_roots })
    }

    /// Checks a literal address; a name is checked when it is resolved.
    pub fn check_literal(&self, url: &Url) -> Result<(), FetchErrorKind> {
        let address: IpAddr = match url.host() {
            Some(Host::Ipv4(v4)) => v4.into(),
            Some(Host::Ipv6(v6)) => v6.into(),
            _ => return Ok(()),
        };
        self.check_address(address)
    }

    /// Checks an address that somebody wants to connect to.
    pub fn check_address(&self, address: IpAddr) -> Result<(), FetchErrorKind> {
        let guard = self.clients.maker().guard;
        guard.check(address).map_err(|why| FetchErrorKind::ForbiddenAddress { address, why })
    }

    /// Where connections to a host may go: the operator's word, or what its name stands for after the guard.
    pub async fn addresses(
        &self,
        wire: &Wire,
        host: &str,
        port: u16,
    ) -> Result<Vec<SocketAddr>, FetchErrorKind> {
        let host = without_dot(host).to_ascii_lowercase();
        if let Some(rule) = self.clients.of(wire)?.rule(&host, Some(port)) {
            let port = if rule.addr.port() == 0 { port } else { rule.addr.port() };
            return Ok(vec![SocketAddr::new(rule.addr.ip(), port)]);
        }
        if let Ok(address) = host.trim_matches(['[', ']']).parse::<IpAddr>() {
            self.check_address(address)?;
            return Ok(vec![SocketAddr::new(address, port)]);
        }
        let kept = self.look_up(wire, &host).await?;
        Ok(kept.into_iter().map(|ip| SocketAddr::new(ip, port)).collect())
    }

    /// The authorities that are trusted beside those of the web.
    pub fn extra_roots(&self, wire: &Wire) -> Vec<CertificateDer<'static>> {
        self.extra_roots.iter().chain(&wire.extra_roots).cloned().collect()
    }

    /// Sends one request and returns when the head of the answer is there.
    pub async fn send(
        &self,
        wire: &Wire,
        method: Method,
        url: &Url,
        mut headers: HeaderMap,
        body: Option<Bytes>,
    ) -> Result<Response, FetchErrorKind> {
        let way = self.clients.of(wire)?;
        let target = way.overridden(url);
        if wire.proxy.is_some() && target.is_none() {
            self.check_name(wire, url).await?;
        }
        let mut address = url.clone();
        address.set_fragment(None);
        if let Some(rule) = target
            && let Some(port) = url.port()
            && rule.addr.port() != 0
        {
            // A port written in the URL would win over the resolver's, so it is exchanged, and the host
            // header still says what was asked for.
            if let Ok(value) =
                HeaderValue::from_str(&format!("{}:{port}", url.host_str().unwrap_or_default()))
            {
                headers.insert(HOST, value);
            }
            let _ = address.set_port(Some(rule.addr.port()));
        }
        let mut request = Request::new(
            match method {
                Method::Get => reqwest::Method::GET,
                Method::Head => reqwest::Method::HEAD,
                Method::Post => reqwest::Method::POST,
            },
            address,
        );
        *request.headers_mut() = headers;
        if let Some(body) = body {
            *request.body_mut() = Some(body.into());
        }
        let client = target.map_or(&way.open, |rule| &rule.client);
        let response = client.execute(request).await.map_err(|error| self.explain(&error, false))?;
        self.check_peer(wire, target, &response)?;
        Ok(response)
    }

    /// A proxy connects in our place, so what it may connect to is checked before it hears of it.
    async fn check_name(&self, wire: &Wire, url: &Url) -> Result<(), FetchErrorKind> {
        let Some(Host::Domain(name)) = url.host() else { return Ok(()) };
        self.look_up(wire, without_dot(name)).await.map(drop)
    }

    /// What a name stands for, after the guard.
    async fn look_up(&self, wire: &Wire, name: &str) -> Result<Vec<IpAddr>, FetchErrorKind> {
        let maker = self.clients.maker();
        let found = maker.lookup.lookup(name.to_owned()).await;
        let found = found.map_err(|error| FetchErrorKind::Dns(error.to_string()))?;
        allowed(maker.guard, wire.ip_family, found).map_err(|why| match why {
            Unresolved::Refused(address, why) => FetchErrorKind::ForbiddenAddress { address, why },
            other => FetchErrorKind::Dns(other.to_string()),
        })
    }

    /// Nothing of the body is used unless the other end is who we meant.
    fn check_peer(
        &self,
        wire: &Wire,
        target: Option<&Override>,
        response: &Response,
    ) -> Result<(), FetchErrorKind> {
        if wire.proxy.is_some() && target.is_none() {
            // Such a client connects to nobody but the proxy, whose address is the operator's word.
            return Ok(());
        }
        let Some(peer) = response.remote_addr().map(|addr| addr.ip()) else {
            return Err(FetchErrorKind::Connect("the address of the other end is not known".into()));
        };
        match target {
            Some(rule) if rule.addr.ip() == peer => Ok(()),
            _ => self.check_address(peer),
        }
    }

    /// The gate's words for a client's error.
    pub fn explain(&self, error: &reqwest::Error, in_body: bool) -> FetchErrorKind {
        if error.is_timeout() {
            return match error.is_connect() {
                true => FetchErrorKind::Timeout { what: Phase::Connect, after: self.timeouts.connect },
                false => FetchErrorKind::Timeout { what: Phase::Read, after: self.timeouts.read },
            };
        }
        let mut cause: Option<&(dyn Error + 'static)> = Some(error);
        let mut words = String::new();
        while let Some(e) = cause {
            if let Some(Unresolved::Refused(address, why)) = e.downcast_ref() {
                return FetchErrorKind::ForbiddenAddress { address: *address, why: *why };
            }
            if let Some(tls) = e.downcast_ref::<rustls::Error>() {
                return FetchErrorKind::Tls(tls_words(tls));
            }
            #[cfg(feature = "native-tls")]
            if let Some(tls) = e.downcast_ref::<native_tls::Error>() {
                return FetchErrorKind::Tls(tls.to_string());
            }
            if let Some(io) = e.downcast_ref::<io::Error>() {
                if let Some(words) = tls_inside(io) {
                    return FetchErrorKind::Tls(words);
                }
                if in_body && io.kind() == io::ErrorKind::UnexpectedEof {
                    return FetchErrorKind::Truncated("the connection closed before its end".into());
                }
            }
            if let Some(hyper) = e.downcast_ref::<hyper::Error>()
                && (hyper.is_parse() || hyper.is_parse_status() || hyper.is_parse_too_large())
            {
                return FetchErrorKind::Protocol(hyper.to_string());
            }
            // The innermost cause is the one that says something.
            words = e.to_string();
            cause = e.source();
        }
        if error.is_dns() {
            FetchErrorKind::Dns(words)
        } else if error.is_connect() {
            FetchErrorKind::Connect(words)
        } else {
            FetchErrorKind::Reset(words)
        }
    }
}

/// `io::Error` hides what it wraps from `source`, and a handshake wraps it twice.
fn tls_inside(mut error: &io::Error) -> Option<String> {
    loop {
        let inner = error.get_ref()?;
        if let Some(tls) = inner.downcast_ref::<rustls::Error>() {
            return Some(tls_words(tls));
        }
        #[cfg(feature = "native-tls")]
        if let Some(tls) = inner.downcast_ref::<native_tls::Error>() {
            return Some(tls.to_string());
        }
        error = inner.downcast_ref()?;
    }
}

/// What TLS says, and what helps where both ends found nothing in common.
fn tls_words(error: &rustls::Error) -> String {
    use rustls::AlertDescription::{HandshakeFailure, InsufficientSecurity, ProtocolVersion};
    use rustls::Error::{AlertReceived, PeerIncompatible};
    match error {
        AlertReceived(HandshakeFailure | InsufficientSecurity | ProtocolVersion) | PeerIncompatible(_) => {
            format!("{error} (an old host perhaps: `tls: native` in the site file asks with OpenSSL)")
        }
        other => other.to_string(),
    }
}
