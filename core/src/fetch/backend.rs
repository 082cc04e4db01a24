//! The seam behind which pages are fetched by something other than the gate's own HTTP client: a browser, a
//! rendering service, a client of the embedding program's own.
//!
//! The gate decides *whether* and *when*; a backend only carries out. It is given a [`Screen`], and whatever else it
//! would load on the way (redirects, scripts, frames) has to pass it: the same grant, public path and
//! address guard as every other request.

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use futures::future::BoxFuture;
use rustls::pki_types::CertificateDer;
use url::Url;

use super::cookies::Cookie;
use super::error::FetchErrorKind;
use super::rendering::Rendering;

/// A way to fetch a page. Registered in [`GateOptions::backends`](super::GateOptions::backends); with the
/// strategy `auto` the first one that is available is asked when HTTP is turned away, with `browser` at once.
pub trait FetchBackend: Send + Sync + 'static {
    /// A short name in lower case for logs and articles: `browser`, `rendering-service`.
    fn name(&self) -> &'static str;

    /// Whether it could fetch now; the error says in one sentence what is missing and how to get it. Asked before each
    /// use, so it should be quick, and may change its mind: `auto` goes on without a backend that is away.
    fn available(&self) -> BoxFuture<'_, Result<(), Unavailable>>;

    /// Fetches one page. Dropping the future ends the work and frees what it holds.
    fn fetch<'a>(&'a self, order: BackendOrder<'a>) -> BoxFuture<'a, Result<BackendPage, FetchErrorKind>>;
}

/// Why a backend cannot be used: one sentence that says what is missing and how to get it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unavailable(pub String);

impl fmt::Display for Unavailable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Unavailable {}

/// What a backend is asked for. Only GET is ever asked of one.
#[derive(Clone)]
pub struct BackendOrder<'a> {
    /// The page; it has passed every check of the gate.
    pub url: &'a Url,
    /// What HTTP would have sent, the user agent among them; a browser sends its own where it must.
    pub headers: &'a [(String, String)],
    /// The cookies the pool holds for this page.
    pub cookies: &'a [Cookie],
    /// For the whole page. What a backend does before (waiting for a free tab, starting a browser) does not count.
    pub timeout: Duration,
    /// No larger page is wanted.
    pub body_cap: u64,
    /// What the site's settings say about pages that scripts make.
    pub rendering: &'a Rendering,
    /// What else may be loaded, and where names lead.
    pub screen: &'a dyn Screen,
}

/// Checks what a backend wants to load besides the page it was asked for.
pub trait Screen: Send + Sync {
    /// Whether this address may be loaded: grant, public path, literal addresses. `document`: it would become the page
    /// (a redirect or a navigation), and so has to pass as a page does; else it is a part of one (script, style,
    /// frame, call), which only has to be on a granted host.
    fn check(&self, url: &Url, document: bool) -> Result<(), FetchErrorKind>;

    /// The addresses that may be connected to for a host: the operator's override, or what the name stands for after
    /// the address guard has dropped what is not public.
    fn resolve<'a>(
        &'a self,
        host: &'a str,
        port: u16,
    ) -> BoxFuture<'a, Result<Vec<SocketAddr>, FetchErrorKind>>;

    /// Whether an address may be talked to at all.
    fn check_address(&self, address: IpAddr) -> Result<(), FetchErrorKind>;

    /// Certificate authorities that are trusted beside those of the web.
    fn extra_roots(&self) -> Vec<CertificateDer<'static>>;

    /// What makes the connections to the site in our place, when its settings name something.
    fn proxy(&self) -> Option<&Url>;
}

/// What a backend brought.
#[derive(Clone, Debug)]
pub struct BackendPage {
    /// The status of the page.
    pub status: u16,
    /// Where it ended after redirects and navigations.
    pub url: Url,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
    /// The page: of a browser the document as it stands after its scripts have run, in UTF-8.
    pub body: bytes::Bytes,
    /// The cookies that its host set on the way, scripts included.
    pub cookies: Vec<Cookie>,
    /// How many requests it took, the page itself included.
    pub requests: u32,
    /// Bytes that came over the wire, as far as they are known.
    pub bytes: u64,
}
