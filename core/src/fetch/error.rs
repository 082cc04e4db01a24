//! Why there was no whole answer, in words that name the host and the fix.
//!
//! An error status is not an error here: it is an answer.

use std::fmt;
use std::net::IpAddr;
use std::time::Duration;

use url::Url;

use super::ask::{Aside, Hop};
use super::breaker::Why;
use super::grant::Denial;
use super::guard::Forbidden;
use super::public::NotPublic;
use super::verdict::Verdict;
use crate::clock::Timestamp;
use crate::error::ErrorClass;

/// A request failed or was not allowed.
#[derive(Debug)]
pub struct FetchError(Box<Details>);

#[derive(Debug)]
struct Details {
    kind: FetchErrorKind,
    url: Option<Url>,
    hops: Vec<Hop>,
    asides: Vec<Aside>,
    waited: Duration,
    duration: Duration,
    tier: &'static str,
}

/// What happened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FetchErrorKind {
    /// The adapter may not talk to that host.
    #[error("{0}")]
    NotGranted(Denial),
    /// Not a public page of a host that is watched (S2-54).
    #[error("{0}")]
    NotPublic(NotPublic),
    /// The address belongs to no public host.
    #[error(
        "{address} is {why}, which is never fetched; for a server of your own use the resolve option (HOST=ADDRESS:PORT) or allow loopback"
    )]
    ForbiddenAddress {
        /// The address.
        address: IpAddr,
        /// What it is reserved for.
        why: Forbidden,
    },
    /// The site does not want it fetched (S2-53).
    #[error(
        "robots.txt forbids it (line {line}: {rule}); `respect_robots: false` in the site file passes over it, once somebody has looked at the site and may say so"
    )]
    Robots {
        /// The line of the rule that decided, from 1.
        line: u32,
        /// The rule.
        rule: String,
    },
    /// Nobody knows what the site wants, and the operator wants that known first.
    #[error("robots.txt cannot be read: {reason}; it is asked for again from {until} on")]
    RobotsUnreachable {
        /// Why.
        reason: String,
        /// When it is worth another try.
        until: Timestamp,
    },
    /// The host is left alone for a while; nothing was sent (C6).
    #[error(
        "the host is left alone until {until} ({}); `dibao host reset HOST` ends that, once the cause is known",
        why.as_str()
    )]
    CoolingDown {
        /// Ask again then.
        until: Timestamp,
        /// The reason.
        why: Why,
    },
    /// Only a browser will do, and there is none.
    #[error("the site is to be fetched by a browser, and there is none: {0}")]
    NoBackend(String),
    /// A backend's own trouble: it says nothing about the host.
    #[error("the browser failed: {0}")]
    Backend(String),
    /// An answer, but a firewall's and not the site's (I20).
    #[error("a firewall answered in place of the site ({verdict}); a later run tries again")]
    TurnedAway {
        /// What it was, and why we think so.
        verdict: Verdict,
    },
    /// A web page where data was asked for (I20).
    #[error("not what was asked for ({verdict})")]
    WrongContent {
        /// What it was.
        verdict: Verdict,
    },
    /// The name has no address.
    #[error("the name does not resolve ({0}); check its spelling and this machine's DNS")]
    Dns(String),
    /// Nobody answers there.
    #[error("cannot connect ({0})")]
    Connect(String),
    /// The connection broke before the answer was there.
    #[error("the connection broke ({0})")]
    Reset(String),
    /// It took too long.
    #[error("{what} took longer than {} s", after.as_secs_f64())]
    Timeout {
        /// What took too long.
        what: Phase,
        /// The limit.
        after: Duration,
    },
    /// No trust: handshake or certificate.
    #[error("TLS failed ({0}); if the site's certificate authority is known to you, add it as an extra root")]
    Tls(String),
    /// The body is larger than allowed, before or after decompression.
    #[error("the body is larger than the limit of {limit} bytes; raise the limit if this is expected")]
    TooLarge {
        /// The limit.
        limit: u64,
    },
    /// The body ended early.
    #[error("the body ended early ({0})")]
    Truncated(String),
    /// The body's compression is unknown or damaged.
    #[error("cannot decompress the body ({0})")]
    BadEncoding(String),
    /// The answer is not HTTP.
    #[error("the answer is not valid HTTP ({0})")]
    Protocol(String),
    /// A redirect came back to an address already asked.
    #[error("redirects run in a circle; the site may want cookies or another address")]
    RedirectLoop,
    /// Too many redirects in a row.
    #[error("more than {0} redirects in a row")]
    TooManyRedirects(usize),
    /// A redirect leads nowhere.
    #[error("cannot follow a redirect ({0})")]
    BadRedirect(String),
    /// What was downloaded could not be written.
    #[error("cannot write what was downloaded: {0}")]
    Write(std::io::Error),
    /// The gate's own settings.
    #[error("{0}")]
    Setup(String),
}

impl FetchErrorKind {
    pub(super) fn was_sent(&self) -> bool {
        use FetchErrorKind::*;
        !matches!(
            self,
            NotGranted(_)
                | NotPublic(_)
                | ForbiddenAddress { .. }
                | Robots { .. }
                | RobotsUnreachable { .. }
                | CoolingDown { .. }
                | NoBackend(_)
                | RedirectLoop
                | TooManyRedirects(_)
                | Setup(_)
        )
    }
}

/// What a timeout was waiting for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Name, connection, TLS handshake.
    Connect,
    /// The next bytes.
    Read,
    /// The whole exchange.
    Total,
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Phase::Connect => "connecting",
            Phase::Read => "waiting for the next bytes",
            Phase::Total => "the whole answer",
        })
    }
}

impl FetchError {
    pub(super) fn new(kind: FetchErrorKind) -> FetchError {
        FetchError(Box::new(Details {
            kind,
            url: None,
            hops: Vec::new(),
            asides: Vec::new(),
            waited: Duration::ZERO,
            duration: Duration::ZERO,
            tier: "http",
        }))
    }

    /// Adds where it happened and what it took to get there.
    pub(super) fn at(mut self, url: Url, hops: Vec<Hop>, waited: Duration, duration: Duration) -> FetchError {
        self.0.url = Some(url);
        self.0.hops = hops;
        self.0.waited = waited;
        self.0.duration = duration;
        self
    }

    /// What happened.
    pub fn kind(&self) -> &FetchErrorKind {
        &self.0.kind
    }

    /// The address that failed: that of the redirect hop, when there was one. None for wrong settings.
    pub fn url(&self) -> Option<&Url> {
        self.0.url.as_ref()
    }

    /// The redirects before it.
    pub fn hops(&self) -> &[Hop] {
        &self.0.hops
    }

    /// Adds the requests that were made for it beside.
    pub(super) fn with_asides(mut self, asides: Vec<Aside>) -> FetchError {
        self.0.asides = asides;
        self
    }

    /// Adds what was to fetch it.
    pub(super) fn by(mut self, tier: &'static str) -> FetchError {
        self.0.tier = tier;
        self
    }

    /// What was to fetch it: `http`, or the name of a backend.
    pub fn tier(&self) -> &'static str {
        self.0.tier
    }

    /// When the host may be asked again, if that is what it failed for.
    pub fn cooling_until(&self) -> Option<Timestamp> {
        match self.0.kind {
            FetchErrorKind::CoolingDown { until, .. } => Some(until),
            _ => None,
        }
    }

    /// The requests for robots.txt that were made first.
    pub fn asides(&self) -> &[Aside] {
        &self.0.asides
    }

    /// What the answer, or the want of one, is worth; none when our own rules ended it.
    pub fn verdict(&self) -> Option<Verdict> {
        match &self.0.kind {
            FetchErrorKind::TurnedAway { verdict } | FetchErrorKind::WrongContent { verdict } => {
                Some(verdict.clone())
            }
            kind => Verdict::of_kind(kind),
        }
    }

    /// Time spent waiting for the host's turn.
    pub fn waited(&self) -> Duration {
        self.0.waited
    }

    /// Time spent on the wire.
    pub fn duration(&self) -> Duration {
        self.0.duration
    }

    /// Whether a request went to [`FetchError::url`], or was about to: what the rules forbid is never sent.
    pub fn was_sent(&self) -> bool {
        self.0.kind.was_sent()
    }

    /// The class of the error.
    pub fn class(&self) -> ErrorClass {
        use FetchErrorKind::*;
        match self.0.kind {
            NotGranted(_) | NotPublic(_) | ForbiddenAddress { .. } | Robots { .. } | TurnedAway { .. } => {
                ErrorClass::Blocked
            }
            WrongContent { .. } => ErrorClass::Server,
            RobotsUnreachable { .. } | CoolingDown { .. } => ErrorClass::Busy,
            NoBackend(_) => ErrorClass::Config,
            Backend(_) => ErrorClass::Network,
            Dns(_) | Connect(_) | Reset(_) | Timeout { .. } | Truncated(_) => ErrorClass::Network,
            Tls(_) => ErrorClass::Tls,
            TooLarge { .. }
            | BadEncoding(_)
            | Protocol(_)
            | RedirectLoop
            | TooManyRedirects(_)
            | BadRedirect(_) => ErrorClass::Server,
            Write(_) => ErrorClass::Storage,
            Setup(_) => ErrorClass::Config,
        }
    }

    /// Whether the same request may succeed later. Finer than the class: a body over the limit stays so.
    pub fn is_retryable(&self) -> bool {
        matches!(self.class(), ErrorClass::Network | ErrorClass::Busy)
            || matches!(self.0.kind, FetchErrorKind::Protocol(_))
    }
}

impl From<FetchErrorKind> for FetchError {
    fn from(kind: FetchErrorKind) -> Self {
        FetchError::new(kind)
    }
}

impl fmt::Display for FetchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(url) = &self.0.url else { return write!(f, "{}", self.0.kind) };
        write!(f, "{}: {} (", url.host_str().unwrap_or("no host"), self.0.kind)?;
        // A hostile address must not fill the log.
        let mut text = url.as_str();
        if text.len() > 300 {
            text = &text[..text.floor_char_boundary(300)];
        }
        f.write_str(text)?;
        match self.0.hops.first() {
            Some(first) => write!(f, ", redirected {}× from {})", self.0.hops.len(), short(&first.url)),
            None => f.write_str(")"),
        }
    }
}

fn short(url: &Url) -> &str {
    let text = url.as_str();
    &text[..text.floor_char_boundary(120)]
}

impl std::error::Error for FetchError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.0.kind {
            FetchErrorKind::Write(error) => Some(error),
            _ => None,
        }
    }
}
