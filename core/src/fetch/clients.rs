//! One HTTP client per way to a site, made when it is first used: a client has one set of authorities, one resolver
//! and one proxy, and keeps its connections open for the next request of the same way.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use reqwest::{Client, ClientBuilder};
use rustls::pki_types::CertificateDer;
use rustls::{ClientConfig, RootCertStore};
use url::{Host, Url};

use super::error::{FetchError, FetchErrorKind};
use super::grant::without_dot;
use super::guard::AddressGuard;
use super::options::{GateOptions, Resolve, Timeouts};
use super::resolver::{NameLookup, Resolver, SystemLookup};
use super::wire::{Tls, Wire};

/// Connections kept open per host: as many as may be under way, so that none is made twice.
const IDLE_PER_HOST: usize = 16;
/// Ways kept beside the common one. Sites that need one are few; each costs a client and its idle connections.
const MOST_WAYS: usize = 32;

/// All clients of a gate.
pub(super) struct Clients {
    common: Arc<Way>,
    /// Least recently used first.
    others: Mutex<Vec<(Wire, Arc<Way>)>>,
    maker: Maker,
}

/// What every client is made with.
pub(super) struct Maker {
    pub guard: AddressGuard,
    pub lookup: Arc<dyn NameLookup>,
    resolve: Vec<Resolve>,
    roots: Vec<CertificateDer<'static>>,
    timeouts: Timeouts,
}

/// The clients of one way: one for the internet, one for each address the operator has named. A client knows one
/// resolver, and a resolver does not see the port; separate clients keep `host:80` and `host:443` apart.
pub(super) struct Way {
    pub open: Client,
    overrides: HashMap<String, Vec<Override>>,
}

/// A name that stands for an address of the operator's choice. It is gone to directly, proxy or not.
pub(super) struct Override {
    port: Option<u16>,
    pub addr: SocketAddr,
    pub client: Client,
}

impl Clients {
    pub fn new(options: &GateOptions) -> Result<Clients, FetchError> {
        let maker = Maker {
            guard: AddressGuard { allow_loopback: options.allow_loopback },
            lookup: options.lookup.clone().unwrap_or_else(|| Arc::new(SystemLookup)),
            resolve: options.resolve.clone(),
            roots: options.extra_roots.clone(),
            timeouts: options.timeouts,
        };
        let common = maker.way(&Wire::default()).map_err(FetchError::setup)?;
        Ok(Clients { common: Arc::new(common), others: Mutex::default(), maker })
    }

    pub fn maker(&self) -> &Maker {
        &self.maker
    }

    /// The clients of a way.
    pub fn of(&self, wire: &Wire) -> Result<Arc<Way>, FetchErrorKind> {
        if wire.is_common() {
            return Ok(self.common.clone());
        }
        // Made under the lock: two requests that come at once share their connections.
        let mut others = self.others.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if let Some(index) = others.iter().position(|(known, _)| known.same_way(wire)) {
            let found = others.remove(index);
            let way = found.1.clone();
            others.push(found);
            return Ok(way);
        }
        let way = Arc::new(self.maker.way(wire).map_err(FetchErrorKind::Setup)?);
        if others.len() >= MOST_WAYS {
            others.remove(0);
        }
        others.push((wire.clone(), way.clone()));
        Ok(way)
    }
}

impl Way {
    /// The operator's word about an address, if there is one.
    pub fn overridden(&self, url: &Url) -> Option<&Override> {
        if self.overrides.is_empty() {
            return None;
        }
        let Some(Host::Domain(host)) = url.host() else { return None };
        self.rule(without_dot(host), url.port_or_known_default())
    }

    /// The same for a name in lower case and a port.
    pub fn rule(&self, host: &str, port: Option<u16>) -> Option<&Override> {
        let rules = self.overrides.get(host)?;
        rules
            .iter()
            .find(|rule| rule.port.is_some() && rule.port == port)
            .or_else(|| rules.iter().find(|rule| rule.port.is_none()))
    }
}

impl Maker {
    fn way(&self, wire: &Wire) -> Result<Way, String> {
        let secure = self.secure(wire)?;
        let (guard, lookup, family) = (self.guard, self.lookup.clone(), wire.ip_family);
        let proxy = wire.proxy.as_ref().and_then(Url::host_str).map(str::to_owned);
        let resolver = Resolver::Guarded { guard, lookup, family, proxy };
        let open = self.client(&secure, wire.proxy.as_ref(), resolver)?;
        let mut by_addr: HashMap<SocketAddr, Client> = HashMap::new();
        let mut overrides: HashMap<String, Vec<Override>> = HashMap::new();
        for rule in &self.resolve {
            let client = match by_addr.get(&rule.addr) {
                Some(client) => client.clone(),
                None => {
                    let made = self.client(&secure, None, Resolver::Fixed(rule.addr))?;
                    by_addr.insert(rule.addr, made.clone());
                    made
                }
            };
            let host = without_dot(&rule.host).to_ascii_lowercase();
            overrides.entry(host).or_default().push(Override { port: rule.port, addr: rule.addr, client });
        }
        Ok(Way { open, overrides })
    }

    fn client(&self, secure: &Secure, proxy: Option<&Url>, resolver: Resolver) -> Result<Client, String> {
        let mut builder = secure
            .begin()
            // A proxy from the environment would make connections that nobody has checked.
            .no_proxy()
            .redirect(reqwest::redirect::Policy::none())
            .retry(reqwest::retry::never())
            .referer(false)
            .dns_resolver(Arc::new(resolver))
            .connect_timeout(self.timeouts.connect)
            .read_timeout(self.timeouts.read)
            .pool_max_idle_per_host(IDLE_PER_HOST)
            // Programs of twenty years ago fold header lines, put a space before the colon, or write a line that is
            // no header at all. Browsers read their pages, and so do we.
            .http1_allow_obsolete_multiline_headers_in_responses(true)
            .http1_allow_spaces_after_header_name_in_responses(true)
            .http1_ignore_invalid_headers_in_responses(true)
            .tcp_nodelay(true);
        if let Some(proxy) = proxy {
            let all = reqwest::Proxy::all(proxy.clone())
                .map_err(|why| format!("the proxy cannot be used: {why}"))?;
            builder = builder.proxy(all);
        }
        builder.build().map_err(|why| format!("the HTTP client cannot be set up: {why}"))
    }

    fn secure(&self, wire: &Wire) -> Result<Secure, String> {
        let extra = self.roots.iter().chain(&wire.extra_roots);
        match wire.tls {
            Tls::Rustls => Ok(Secure::Rustls(Box::new(rustls_config(extra)?))),
            #[cfg(feature = "native-tls")]
            Tls::Native => {
                let roots = extra.map(|root| reqwest::Certificate::from_der(root));
                let roots = roots.collect::<Result<_, _>>().map_err(bad_root)?;
                Ok(Secure::Native(roots))
            }
            #[cfg(not(feature = "native-tls"))]
            Tls::Native => Err("`tls: native` needs a build with the feature `native-tls`".to_owned()),
        }
    }
}

/// What encrypts, ready to be given to clients.
enum Secure {
    Rustls(Box<ClientConfig>),
    #[cfg(feature = "native-tls")]
    Native(Vec<reqwest::Certificate>),
}

impl Secure {
    fn begin(&self) -> ClientBuilder {
        match self {
            Secure::Rustls(config) => Client::builder().tls_backend_preconfigured(config.as_ref().clone()),
            // The authorities of the web are those of the system here: OpenSSL reads no others.
            #[cfg(feature = "native-tls")]
            Secure::Native(roots) => Client::builder().tls_backend_native().tls_certs_merge(roots.clone()),
        }
    }
}

fn bad_root(why: impl std::fmt::Display) -> String {
    format!("an extra root certificate cannot be used: {why}")
}

pub(crate) fn rustls_config<'a>(
    extra: impl Iterator<Item = &'a CertificateDer<'static>>,
) -> Result<ClientConfig, String> {
    let mut roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
    for root in extra {
        roots.add(root.clone()).map_err(bad_root)?;
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|why| format!("TLS cannot be set up: {why}"))?
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(config)
}
