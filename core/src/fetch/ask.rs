//! What is asked of the gate, and what comes back. Plain data.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use url::Url;

use super::escalate::Strategy;
use super::grant::Grant;
use super::policy::HostPolicy;
use super::public::PublicRule;
use super::robots::OnUnreachable;
use super::verdict::Verdict;
use super::wire::Wire;
use crate::clock::Timestamp;
use crate::pulse::Pulse;

/// What a request is for. It decides the pace (S2-64) and the encodings asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Purpose {
    /// A page of a list.
    List,
    /// The page of a document.
    Detail,
    /// A file that belongs to a document.
    Attachment,
    /// The robots.txt of a host: the gate's own question, before it lets a page through.
    Robots,
}

impl Purpose {
    /// The name under which it is logged.
    pub fn as_str(self) -> &'static str {
        match self {
            Purpose::List => "list",
            Purpose::Detail => "detail",
            Purpose::Attachment => "attachment",
            Purpose::Robots => "robots",
        }
    }
}

/// The methods an adapter may use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Method {
    /// GET.
    #[default]
    Get,
    /// HEAD.
    Head,
    /// POST.
    Post,
}

impl Method {
    /// Its name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Method::Get => "GET",
            Method::Head => "HEAD",
            Method::Post => "POST",
        }
    }
}

/// The kind of answer the asker can read; here it only chooses the `accept` header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Expects {
    /// A web page.
    #[default]
    Html,
    /// JSON.
    Json,
    /// XML, feeds included.
    Xml,
    /// Anything.
    Any,
}

/// Whether robots.txt has a say in a request (S2-53).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RobotsMode {
    /// What it forbids is not fetched.
    Respect {
        /// What is done when it cannot be read and there is no copy of it.
        on_unreachable: OnUnreachable,
    },
    /// It is not asked: somebody looked at the site and said so in its settings.
    Bypass,
}

impl Default for RobotsMode {
    fn default() -> Self {
        RobotsMode::Respect { on_unreachable: OnUnreachable::default() }
    }
}

/// One request, with the rules it is under.
#[derive(Clone, Debug)]
pub struct Ask {
    /// What it is for.
    pub purpose: Purpose,
    /// How.
    pub method: Method,
    /// Where.
    pub url: Url,
    /// What the adapter wants sent; headers that are not its business are dropped.
    pub headers: Vec<(String, String)>,
    /// Sent with POST.
    pub body: Option<Bytes>,
    /// What the asker can read.
    pub expects: Expects,
    /// The hosts its adapter may reach.
    pub grant: Arc<Grant>,
    /// The pages that count as public.
    pub public: Arc<PublicRule>,
    /// How hard the host may be asked.
    pub policy: HostPolicy,
    /// Whether robots.txt has a say.
    pub robots: RobotsMode,
    /// What fetches it.
    pub strategy: Strategy,
    /// How its site is reached.
    pub wire: Arc<Wire>,
    /// Hears of its turns and answers.
    pub pulse: Pulse,
}

/// A request that the gate made by itself on the way to another: for a robots.txt, each redirect alone.
#[derive(Clone, Debug)]
pub struct Aside {
    /// Where.
    pub url: Url,
    /// The status, or why there was none.
    pub outcome: Result<u16, String>,
    /// What the answer is worth; none when our own rules ended it.
    pub verdict: Option<Verdict>,
    /// Time on the wire.
    pub duration: Duration,
}

/// One answer on the way to the last one: a redirect, or one that the next tier had to better.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hop {
    /// Where it was asked.
    pub url: Url,
    /// What it answered.
    pub status: u16,
    /// What that is worth.
    pub verdict: Verdict,
    /// What fetched it.
    pub tier: &'static str,
}

/// A whole answer.
#[derive(Clone, Debug)]
pub struct Fetched {
    /// Any status, errors included.
    pub status: u16,
    /// The address that answered, after redirects.
    pub url: Url,
    /// Names in lower case, values as text.
    pub headers: Vec<(String, String)>,
    /// Decompressed.
    pub body: Bytes,
    /// It was asked for by [`Gate::fetch_if_changed`](super::Gate::fetch_if_changed) and has not changed: there is no
    /// page in it.
    pub unchanged: bool,
    /// What it is worth (I20).
    pub verdict: Verdict,
    /// The answers before it: redirects, and what the tier before brought.
    pub hops: Vec<Hop>,
    /// The requests for robots.txt that were made first.
    pub asides: Vec<Aside>,
    /// When the gate was asked.
    pub at: Timestamp,
    /// Time spent waiting for the host's turn.
    pub waited: Duration,
    /// Time spent on the wire, redirects included, without waiting for turns.
    pub duration: Duration,
    /// The tier that fetched it.
    pub tier: &'static str,
}

impl Fetched {
    /// The first header of that name (lower case).
    pub fn header(&self, name: &str) -> Option<&str> {
        first(&self.headers, name)
    }
}

/// A file that was streamed somewhere.
#[derive(Clone, Debug)]
pub struct Downloaded {
    /// Any status, errors included: look at it before using the file.
    pub status: u16,
    /// The address that answered, after redirects.
    pub url: Url,
    /// Names in lower case, values as text.
    pub headers: Vec<(String, String)>,
    /// Bytes written.
    pub size: u64,
    /// Of the bytes written, in hex.
    pub sha256: String,
    /// What it is worth, by its beginning (I20).
    pub verdict: Verdict,
    /// The redirects before it.
    pub hops: Vec<Hop>,
    /// The requests for robots.txt that were made first.
    pub asides: Vec<Aside>,
    /// When the gate was asked.
    pub at: Timestamp,
    /// Time spent waiting for the host's turn.
    pub waited: Duration,
    /// Time spent on the wire, without waiting for turns.
    pub duration: Duration,
}

impl Downloaded {
    /// The first header of that name (lower case).
    pub fn header(&self, name: &str) -> Option<&str> {
        first(&self.headers, name)
    }
}

fn first<'a>(headers: &'a [(String, String)], name: &str) -> Option<&'a str> {
    headers.iter().find(|(n, _)| n == name).map(|(_, value)| value.as_str())
}
