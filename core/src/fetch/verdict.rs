//! What an answer is worth (I20). Pure; what to do about it is decided in [`escalate`](super::escalate).
//!
//! Every answer is classified, that of each redirect hop too: behind one firewall there may be another. The evidence
//! is a sentence for the one who asks why. The rules, in their order:
//!
//! 1. 404 and 410 are final, whatever their page says.
//! 2. An error with a readable `Retry-After` is [`RetryAfter`](VerdictKind::RetryAfter).
//! 3. A redirect to itself that sets a cookie wants it back.
//! 4. A page that carries a firewall's signature and shows little is its challenge or its refusal, at any status.
//! 5. 521, 412 and 202 with a page are a challenge even when nobody knows whose.
//! 6. 4xx is blocked, 5xx a server error.
//! 7. A success of another shape than the one asked for is wrong content: never an empty list.
//! 8. An HTML detail of less than 500 characters is thin. Lists, JSON and files may be as short as they like.

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Serialize};
use url::Url;

use super::ask::{Expects, Fetched, Method, Purpose};
use super::challenge::{self, Found, Hand, Product};
use super::error::FetchErrorKind;
use super::glance::{Shape, glance, shape};
use super::retry_after;
use crate::clock::Timestamp;

/// S2-26: an HTML detail with fewer characters than this, tags included, is no document.
pub const THIN_BELOW: usize = 500;

/// One answer, as far as its classification needs it.
#[derive(Clone, Copy, Debug)]
pub struct Answer<'a> {
    /// What it was asked with; the answer to HEAD has no body.
    pub method: Method,
    /// What it was asked for.
    pub purpose: Purpose,
    /// What the asker can read.
    pub expects: Expects,
    /// The address that answered.
    pub url: &'a Url,
    /// Its status.
    pub status: u16,
    /// Names in lower case; several `set-cookie` are several entries.
    pub headers: &'a [(String, String)],
    /// The body, decompressed; of a file that was streamed, its first 64 KB are enough.
    pub body: &'a [u8],
    /// Below this many characters an HTML detail is thin; [`THIN_BELOW`] unless its adapter knows better.
    pub thin_below: usize,
}

/// The class of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum VerdictKind {
    /// What was asked for.
    Ok,
    /// An HTML detail with next to nothing in it.
    Thin,
    /// A firewall wants proof of a browser.
    Challenge(Product),
    /// Turned away.
    Blocked,
    /// No longer there, or never was.
    Gone,
    /// The host said when to come back.
    RetryAfter(Timestamp),
    /// The site is broken.
    ServerError,
    /// An answer of another kind than the one asked for.
    WrongContent,
    /// No answer.
    NetworkError(NetworkFault),
}

/// Why there was no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NetworkFault {
    /// The name has no address.
    Dns,
    /// Nobody there.
    Connect,
    /// The connection broke.
    Reset,
    /// It took too long.
    Timeout,
    /// No trust.
    Tls,
    /// The body ended early.
    Truncated,
    /// What came was not HTTP, or damaged on the way.
    Protocol,
}

/// What an answer is worth, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verdict {
    /// The class.
    pub kind: VerdictKind,
    /// None when there was no answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// What it rests on: one short sentence.
    pub evidence: Cow<'static, str>,
}

impl VerdictKind {
    /// The name of the class, without its particulars.
    pub fn name(&self) -> &'static str {
        match self {
            VerdictKind::Ok => "ok",
            VerdictKind::Thin => "thin",
            VerdictKind::Challenge(_) => "challenge",
            VerdictKind::Blocked => "blocked",
            VerdictKind::Gone => "gone",
            VerdictKind::RetryAfter(_) => "retry_after",
            VerdictKind::ServerError => "server_error",
            VerdictKind::WrongContent => "wrong_content",
            VerdictKind::NetworkError(_) => "network_error",
        }
    }
}

impl NetworkFault {
    /// Its name.
    pub fn as_str(self) -> &'static str {
        match self {
            NetworkFault::Dns => "dns",
            NetworkFault::Connect => "connect",
            NetworkFault::Reset => "reset",
            NetworkFault::Timeout => "timeout",
            NetworkFault::Tls => "tls",
            NetworkFault::Truncated => "truncated",
            NetworkFault::Protocol => "protocol",
        }
    }
}

impl fmt::Display for VerdictKind {
    /// `ok`, `challenge(ruishu)`, `network_error(reset)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())?;
        match self {
            VerdictKind::Challenge(product) => write!(f, "({})", product.as_str()),
            VerdictKind::NetworkError(fault) => write!(f, "({})", fault.as_str()),
            VerdictKind::RetryAfter(until) => write!(f, "({until})"),
            _ => Ok(()),
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.kind, self.evidence)
    }
}

impl<'a> Answer<'a> {
    /// The last answer of a fetch.
    pub fn of(fetched: &'a Fetched, method: Method, purpose: Purpose, expects: Expects) -> Answer<'a> {
        Answer {
            method,
            purpose,
            expects,
            url: &fetched.url,
            status: fetched.status,
            headers: &fetched.headers,
            body: &fetched.body,
            thin_below: THIN_BELOW,
        }
    }

    /// Whether its body is a web page, whatever was asked for.
    pub fn is_html(&self) -> bool {
        shape(self.body, self.content_type()) == Shape::Html
    }

    /// What it is worth. `now` places a `Retry-After`.
    pub fn classify(&self, now: Timestamp) -> Verdict {
        match self.status {
            404 | 410 => self.verdict(VerdictKind::Gone, format!("status {}", self.status)),
            300..=399 => self.redirect(),
            status if status >= 400 => self.retry_after(now).unwrap_or_else(|| self.error()),
            _ => self.success(),
        }
    }

    fn redirect(&self) -> Verdict {
        let status = self.status;
        if status == 304 {
            return self.verdict(VerdictKind::Ok, "status 304, not modified");
        }
        let location = self.header("location").filter(|location| !location.trim().is_empty());
        let Some(location) = location.filter(|_| matches!(status, 301 | 302 | 303 | 307 | 308)) else {
            return self.verdict(VerdictKind::ServerError, format!("status {status} without a place to go"));
        };
        let to_itself = self.url.join(location).is_ok_and(|mut to| {
            to.set_fragment(self.url.fragment());
            to == *self.url
        });
        let Some(first) = self.cookies().next().filter(|_| to_itself) else {
            return self.verdict(VerdictKind::Ok, format!("status {status}, a redirect"));
        };
        let (product, name) = match challenge::on_cookies(self.cookies()) {
            Some((product @ (Product::Ct6t | Product::Jiasule | Product::Ctct | Product::Ruishu), name)) => {
                (product, name)
            }
            _ => (Product::CookieRedirect, first),
        };
        let evidence = format!("status {status}, a redirect to itself that sets the cookie {}", short(name));
        self.verdict(VerdictKind::Challenge(product), evidence)
    }

    /// C8: its own word is worth more than ours. Of other statuses the header means something else.
    fn retry_after(&self, now: Timestamp) -> Option<Verdict> {
        if !matches!(self.status, 403 | 408 | 413 | 425 | 429 | 500..) {
            return None;
        }
        let value = self.header("retry-after")?;
        let asks_for_peace = matches!(self.status, 429 | 503) && !value.trim().is_empty();
        let until = retry_after::until(value, self.header("date"), now).or_else(|| {
            // It did say to come back later: to send a browser now would be the opposite.
            let wait = retry_after::UNREADABLE.as_millis() as i64;
            asks_for_peace.then(|| Timestamp(now.0.saturating_add(wait)))
        })?;
        let evidence = format!("status {}, Retry-After: {}", self.status, short(value));
        Some(self.verdict(VerdictKind::RetryAfter(until), evidence))
    }

    fn error(&self) -> Verdict {
        let status = self.status;
        let shape = shape(self.body, self.content_type());
        let is_page = matches!(shape, Shape::Html | Shape::Text);
        if let Some(found) = challenge::on_headers(self.headers) {
            return self.said(found);
        }
        let page = is_page.then(|| glance(self.body, self.content_type(), true));
        if let Some(found) = page.as_ref().and_then(|page| challenge::on_page(page, true)) {
            return self.found(found);
        }
        let cookie = challenge::on_cookies(self.cookies());
        // Cloudflare's own 521 says that the site behind it is down.
        let cloudflare =
            self.header("server").is_some_and(|server| server.eq_ignore_ascii_case("cloudflare"));
        if (matches!(status, 412 | 521) && shape == Shape::Html && !cloudflare)
            || matches!(
                (status, cookie),
                (521, Some((Product::Jiasule, _))) | (412, Some((Product::Ruishu | Product::Ctct, _)))
            )
        {
            return match cookie {
                Some((product, name)) if product != Product::AliyunWaf => {
                    let evidence = format!("status {status} and the cookie {}", short(name));
                    self.verdict(VerdictKind::Challenge(product), evidence)
                }
                _ => self.verdict(
                    VerdictKind::Challenge(Product::Unknown),
                    format!("status {status} with a page"),
                ),
            };
        }
        match status {
            401 | 407 => self.verdict(VerdictKind::Blocked, format!("status {status}: it wants credentials")),
            // A timeout of the server's, whatever the number suggests.
            408 | 500..=599 => self.verdict(VerdictKind::ServerError, format!("status {status}")),
            _ => self.verdict(VerdictKind::Blocked, format!("status {status}")),
        }
    }

    fn success(&self) -> Verdict {
        let status = self.status;
        if self.method == Method::Head {
            return self.verdict(VerdictKind::Ok, format!("status {status}"));
        }
        if let Some(found) = challenge::on_headers(self.headers) {
            return self.said(found);
        }
        let shape = shape(self.body, self.content_type());
        if matches!(shape, Shape::Html | Shape::Text) {
            let mut page = glance(self.body, self.content_type(), false);
            if challenge::wants_source(&page.title) {
                page = glance(self.body, self.content_type(), true);
            }
            if let Some(found) = challenge::on_page(&page, false) {
                return self.found(found);
            }
            if status == 202 && shape == Shape::Html && page.shows_little() {
                let product = match challenge::on_cookies(self.cookies()) {
                    Some((product @ (Product::Ruishu | Product::Ctct | Product::Jiasule), _)) => product,
                    _ => Product::Unknown,
                };
                let evidence = "status 202 with a page that shows little";
                return self.verdict(VerdictKind::Challenge(product), evidence);
            }
        }
        if let Some(wrong) = self.mismatch(shape) {
            return self.verdict(VerdictKind::WrongContent, wrong);
        }
        if self.purpose == Purpose::Detail && self.expects == Expects::Html && shape != Shape::Xml {
            let length = self.characters();
            if length < self.thin_below {
                let evidence = format!("{length} characters of HTML, fewer than {}", self.thin_below);
                return self.verdict(VerdictKind::Thin, evidence);
            }
        }
        self.verdict(VerdictKind::Ok, format!("status {status}"))
    }

    /// What is wrong with the shape, if anything.
    fn mismatch(&self, shape: Shape) -> Option<String> {
        // An empty HTML detail is thin: that rule has the better words.
        let detail = self.purpose == Purpose::Detail && self.expects == Expects::Html;
        let is = match shape {
            Shape::Empty if detail => return None,
            Shape::Empty => return Some("an empty body".to_owned()),
            Shape::Html => "HTML",
            Shape::Xml => "XML",
            Shape::Json => "JSON",
            Shape::Text => "plain text",
            Shape::File(format) => format,
        };
        let wanted = match self.expects {
            Expects::Html => matches!(shape, Shape::File(_)).then_some("HTML"),
            Expects::Json => match shape {
                Shape::Json => None,
                // A shape of JSON that is not known here; who says so is believed.
                Shape::Text if self.content_type().contains("json") => None,
                _ => Some("JSON"),
            },
            Expects::Xml => (!matches!(shape, Shape::Xml)).then_some("XML"),
            Expects::Any => self.wants_file().filter(|_| shape == Shape::Html),
        }?;
        Some(format!("{is} where {wanted} was asked for"))
    }

    /// Whether a page in its place would be an error: an attachment, or an address that ends like a file.
    fn wants_file(&self) -> Option<&'static str> {
        let name = self.url.path().rsplit('/').next().unwrap_or_default();
        let ending = name.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase()).unwrap_or_default();
        match ending.as_str() {
            "html" | "htm" | "shtml" | "xhtml" | "mht" | "mhtml" => None,
            "pdf" | "doc" | "docx" | "xls" | "xlsx" | "ppt" | "pptx" | "wps" | "et" | "ofd" | "zip"
            | "rar" | "7z" | "csv" | "jpg" | "jpeg" | "png" | "gif" | "mp4" | "mp3" => Some("a file"),
            _ => (self.purpose == Purpose::Attachment).then_some("a file"),
        }
    }

    /// Characters of the source, read as far as the rule needs.
    fn characters(&self) -> usize {
        // No encoding in use takes more than four bytes for a character.
        let head = &self.body[..self.body.len().min(self.thin_below.saturating_mul(4))];
        crate::extract::decode(head, Some(self.content_type())).text.trim().chars().count()
    }

    /// What a header said.
    fn said(&self, found: Found) -> Verdict {
        self.verdict(kind_of(found), format!("status {}, header {}", self.status, found.sign))
    }

    fn found(&self, found: Found) -> Verdict {
        let mut evidence = format!("status {}, {}: {:?}", self.status, found.product.as_str(), found.sign);
        if let Some((_, name)) = challenge::on_cookies(self.cookies()) {
            evidence.push_str(" and the cookie ");
            evidence.push_str(&short(name));
        }
        self.verdict(kind_of(found), evidence)
    }

    fn verdict(&self, kind: VerdictKind, evidence: impl Into<Cow<'static, str>>) -> Verdict {
        Verdict { kind, status: Some(self.status), evidence: evidence.into() }
    }

    fn header(&self, name: &str) -> Option<&'a str> {
        self.headers.iter().find(|(n, _)| n == name).map(|(_, value)| value.as_str())
    }

    fn content_type(&self) -> &'a str {
        self.header("content-type").unwrap_or_default()
    }

    /// The names of the cookies it sets.
    fn cookies(&self) -> impl Iterator<Item = &'a str> {
        // More than any site sets.
        let set = self.headers.iter().filter(|(name, _)| name == "set-cookie").take(64);
        set.filter_map(|(_, value)| Some(value.split_once('=')?.0.trim())).filter(|name| !name.is_empty())
    }
}

impl Verdict {
    /// The verdict on a request that failed. None when it says nothing about the host: our own rules forbade it, or
    /// the disk failed.
    pub fn of_kind(error: &FetchErrorKind) -> Option<Verdict> {
        use FetchErrorKind as E;
        let kind = match error {
            E::TurnedAway { verdict } | E::WrongContent { verdict } => return Some(verdict.clone()),
            E::Dns(_) => VerdictKind::NetworkError(NetworkFault::Dns),
            E::Connect(_) => VerdictKind::NetworkError(NetworkFault::Connect),
            E::Reset(_) => VerdictKind::NetworkError(NetworkFault::Reset),
            E::Timeout { .. } => VerdictKind::NetworkError(NetworkFault::Timeout),
            E::Tls(_) => VerdictKind::NetworkError(NetworkFault::Tls),
            E::Truncated(_) => VerdictKind::NetworkError(NetworkFault::Truncated),
            E::Protocol(_) => VerdictKind::NetworkError(NetworkFault::Protocol),
            // The host answered; what it wrote is of no use to us.
            E::TooLarge { .. } | E::BadEncoding(_) => VerdictKind::WrongContent,
            // A circle mostly means that a cookie is wanted: a browser may get out of it.
            E::RedirectLoop | E::TooManyRedirects(_) | E::BadRedirect(_) => VerdictKind::ServerError,
            _ => return None,
        };
        Some(Verdict { kind, status: None, evidence: short(&error.to_string()).into() })
    }
}

fn kind_of(found: Found) -> VerdictKind {
    match found.hand {
        Hand::Challenge => VerdictKind::Challenge(found.product),
        Hand::Block => VerdictKind::Blocked,
    }
}

/// What a stranger wrote, safe and short enough for a log line.
fn short(text: &str) -> String {
    text.chars().take(120).map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}

#[cfg(test)]
#[path = "tests/verdict.rs"]
mod tests;
