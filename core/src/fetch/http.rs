//! The first tier: a plain HTTP client (HTTP/1.1 and 2, rustls with ring).
//!
//! It carries out one exchange and says what went wrong in the gate's words. It follows no redirect, reads no proxy
//! from the environment, decompresses nothing and repeats nothing: all that is decided in the gate.

use std::collections::HashMap;
use std::error::Error;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use bytes::Bytes;
use http::HeaderMap;
use http::header::{HOST, HeaderValue};
use reqwest::{Client, Request, Response};
use rustls::pki_types::CertificateDer;
use rustls::{ClientConfig, RootCertStore};
use sha2::{Digest, Sha256};
use url::{Host, Url};

use super::ask::Method;
use super::error::{FetchError, FetchErrorKind, Phase};
use super::grant::without_dot;
use super::guard::AddressGuard;
use super::options::{GateOptions, Timeouts};
use super::resolver::{NameLookup, Resolver, SystemLookup, Unresolved, allowed};

/// Connections kept open per host: as many as may be under way, so that none is made twice.
const IDLE_PER_HOST: usize = 16;

/// HTTP clients: one for the internet, one for each address the operator has named. A client knows one
/// resolver, and a resolver does not see the port; separate clients keep `host:80` and `host:443` apart.
pub(super) struct Http {
    open: Client,
    guard: AddressGuard,
    overrides: HashMap<String, Vec<Override>>,
    timeouts: Timeouts,
    lookup: Arc<dyn NameLookup>,
    trusted_keys: Vec<[u8; 32]>,
}

struct Override {
    port: Option<u16>,
    addr: SocketAddr,
    client: Client,
}

impl Http {
    pub fn new(options: &GateOptions) -> Result<Http, FetchError> {
        let tls = tls(options)?;
        let guard = AddressGuard { allow_loopback: options.allow_loopback };
        let lookup = options.lookup.clone().unwrap_or_else(|| Arc::new(SystemLookup));
        let open = client(&tls, options, Resolver::Guarded { guard, lookup: lookup.clone() })?;
        let mut by_addr: HashMap<SocketAddr, Client> = HashMap::new();
        let mut overrides: HashMap<String, Vec<Override>> = HashMap::new();
        for rule in &options.resolve {
            let client = match by_addr.get(&rule.addr) {
                Some(client) => client.clone(),
                None => {
                    let made = client(&tls, options, Resolver::Fixed(rule.addr))?;
                    by_addr.insert(rule.addr, made.clone());
                    made
                }
            };
            let host = without_dot(&rule.host).to_ascii_lowercase();
            overrides.entry(host).or_default().push(Override { port: rule.port, addr: rule.addr, client });
        }
        let trusted_keys = options.extra_roots.iter().filter_map(public_key).collect();
        Ok(Http { open, guard, overrides, timeouts: options.timeouts, lookup, trusted_keys })
    }

    /// Checks a literal address; a name is checked when it is resolved.
    pub fn check_literal(&self, url: &Url) -> Result<(), FetchErrorKind> {
        let address: IpAddr = match url.host() {
            Some(Host::Ipv4(v4)) => v4.into(),
            Some(Host::Ipv6(v6)) => v6.into(),
            _ => return Ok(()),
        };
        self.guard.check(address).map_err(|why| FetchErrorKind::ForbiddenAddress { address, why })
    }

    /// Checks an address that somebody wants to connect to.
    pub fn check_address(&self, address: IpAddr) -> Result<(), FetchErrorKind> {
        self.guard.check(address).map_err(|why| FetchErrorKind::ForbiddenAddress { address, why })
    }

    /// Where connections to a host may go: the operator's word, or what its name stands for after the guard.
    pub async fn addresses(&self, host: &str, port: u16) -> Result<Vec<SocketAddr>, FetchErrorKind> {
        let host = without_dot(host).to_ascii_lowercase();
        if let Some(rule) = self.rule(&host, Some(port)) {
            let port = if rule.addr.port() == 0 { port } else { rule.addr.port() };
            return Ok(vec![SocketAddr::new(rule.addr.ip(), port)]);
        }
        if let Ok(address) = host.trim_matches(['[', ']']).parse::<IpAddr>() {
            self.check_address(address)?;
            return Ok(vec![SocketAddr::new(address, port)]);
        }
        let found = self.lookup.lookup(host).await.map_err(|error| FetchErrorKind::Dns(error.to_string()))?;
        match allowed(self.guard, found) {
            Ok(kept) => Ok(kept.into_iter().map(|ip| SocketAddr::new(ip, port)).collect()),
            Err(Unresolved::Refused(address, why)) => Err(FetchErrorKind::ForbiddenAddress { address, why }),
            Err(other) => Err(FetchErrorKind::Dns(other.to_string())),
        }
    }

    /// SHA-256 of the public keys of the authorities that are trusted beside those of the web.
    pub fn trusted_keys(&self) -> Vec<[u8; 32]> {
        self.trusted_keys.clone()
    }

    /// Sends one request and returns when the head of the answer is there.
    pub async fn send(
        &self,
        method: Method,
        url: &Url,
        mut headers: HeaderMap,
        body: Option<Bytes>,
    ) -> Result<Response, FetchErrorKind> {
        let target = self.overridden(url);
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
        let client = target.map_or(&self.open, |rule| &rule.client);
        let response = client.execute(request).await.map_err(|error| self.explain(&error, false))?;
        self.check_peer(target, &response)?;
        Ok(response)
    }

    /// Nothing of the body is used unless the other end is who we meant.
    fn check_peer(&self, target: Option<&Override>, response: &Response) -> Result<(), FetchErrorKind> {
        let Some(peer) = response.remote_addr().map(|addr| addr.ip()) else {
            return Err(FetchErrorKind::Connect("the address of the other end is not known".into()));
        };
        match target {
            Some(rule) if rule.addr.ip() == peer => Ok(()),
            _ => {
                self.guard.check(peer).map_err(|why| FetchErrorKind::ForbiddenAddress { address: peer, why })
            }
        }
    }

    fn overridden(&self, url: &Url) -> Option<&Override> {
        if self.overrides.is_empty() {
            return None;
        }
        let Some(Host::Domain(host)) = url.host() else { return None };
        self.rule(without_dot(host), url.port_or_known_default())
    }

    fn rule(&self, host: &str, port: Option<u16>) -> Option<&Override> {
        let rules = self.overrides.get(host)?;
        rules
            .iter()
            .find(|rule| rule.port.is_some() && rule.port == port)
            .or_else(|| rules.iter().find(|rule| rule.port.is_none()))
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
                return FetchErrorKind::Tls(tls.to_string());
            }
            if let Some(io) = e.downcast_ref::<io::Error>() {
                if let Some(tls) = tls_inside(io) {
                    return FetchErrorKind::Tls(tls.to_string());
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
fn tls_inside(mut error: &io::Error) -> Option<&rustls::Error> {
    loop {
        let inner = error.get_ref()?;
        match inner.downcast_ref::<rustls::Error>() {
            Some(tls) => return Some(tls),
            None => error = inner.downcast_ref()?,
        }
    }
}

fn tls(options: &GateOptions) -> Result<ClientConfig, FetchError> {
    let mut roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
    for root in &options.extra_roots {
        roots
            .add(root.clone())
            .map_err(|e| FetchError::setup(format!("an extra root certificate cannot be used: {e}")))?;
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|e| FetchError::setup(format!("TLS cannot be set up: {e}")))?
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(config)
}

/// SHA-256 of a certificate's public key, as pins are written.
fn public_key(certificate: &CertificateDer<'static>) -> Option<[u8; 32]> {
    let mut store = RootCertStore::empty();
    store.add(certificate.clone()).ok()?;
    let content = store.roots.first()?.subject_public_key_info.as_ref();
    // The store keeps what is inside the sequence; the hash is over all of it.
    let mut der = vec![0x30];
    match content.len() {
        length @ 0..=0x7f => der.push(length as u8),
        length @ 0x80..=0xff => der.extend([0x81, length as u8]),
        length => der.extend([0x82, (length >> 8) as u8, length as u8]),
    }
    der.extend_from_slice(content);
    Some(Sha256::digest(&der).into())
}

fn client(tls: &ClientConfig, options: &GateOptions, resolver: Resolver) -> Result<Client, FetchError> {
    Client::builder()
        .tls_backend_preconfigured(tls.clone())
        // A proxy from the environment would make connections that nobody has checked.
        .no_proxy()
        .redirect(reqwest::redirect::Policy::none())
        .retry(reqwest::retry::never())
        .referer(false)
        .dns_resolver(Arc::new(resolver))
        .connect_timeout(options.timeouts.connect)
        .read_timeout(options.timeouts.read)
        .pool_max_idle_per_host(IDLE_PER_HOST)
        .tcp_nodelay(true)
        .build()
        .map_err(|e| FetchError::setup(format!("the HTTP client cannot be set up: {e}")))
}
