//! What is taken from a page, and the words between the gate and Chromium: cookies, headers, errors.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use serde_json::{Value, json};
use url::Url;

use super::screening::Paused;
use super::visit::Visit;
use super::watch::Head;
use crate::clock::Timestamp;
use crate::fetch::ask::{Expects, Method, Purpose};
use crate::fetch::backend::{BackendOrder, BackendPage};
use crate::fetch::cookies::Cookie;
use crate::fetch::error::FetchErrorKind;
use crate::fetch::escalate::wants_browser;
use crate::fetch::verdict::Answer;

/// Headers that the browser says itself, or that were about the bytes on the wire.
const BROWSERS_OWN: [&str; 5] = ["user-agent", "accept", "accept-encoding", "accept-language", "cookie"];
const OF_THE_WIRE: [&str; 4] = ["content-encoding", "content-length", "transfer-encoding", "content-type"];

impl Visit<'_> {
    /// Whether what stands there is a firewall's page and not the site's.
    pub async fn is_turned_away(&mut self) -> Result<bool, FetchErrorKind> {
        let body = self.body().await?;
        let Some(head) = self.watch.head() else { return Ok(false) };
        let answer = Answer {
            method: Method::Get,
            purpose: Purpose::List,
            expects: Expects::Any,
            url: self.order.url,
            status: head.status,
            headers: &headers_of(head, true),
            body: &body,
            thin_below: 0,
        };
        // A Retry-After is a clear word: there is nothing to wait for.
        Ok(wants_browser(&answer.classify(Timestamp(0))))
    }

    /// The page as it stands.
    pub async fn read(&mut self) -> Result<BackendPage, FetchErrorKind> {
        let body = self.body().await?;
        let jar = json!({ "browserContextId": self.context() });
        let jar = self.call(false, "Storage.getCookies", jar).await?;
        let none = || FetchErrorKind::Backend("the page went away while it was read".to_owned());
        let head = self.watch.head().ok_or_else(none)?;
        let url = self.watch.url.as_deref().and_then(|url| Url::parse(url).ok()).ok_or_else(none)?;
        self.order.screen.check(&url, true)?;
        Ok(BackendPage {
            status: head.status,
            headers: headers_of(head, true),
            url,
            body,
            cookies: jar["cookies"].as_array().into_iter().flatten().filter_map(from_browser).collect(),
            requests: self.requests,
            bytes: 0,
        })
    }

    /// The document of a web page; of other text the text itself.
    async fn body(&mut self) -> Result<Bytes, FetchErrorKind> {
        let cap = self.order.body_cap;
        let too_large = || FetchErrorKind::TooLarge { limit: cap };
        let head = self.watch.head().cloned();
        if let Some(head) = head.filter(|head| !is_page(&head.mime)) {
            if !is_text(&head.mime) {
                let why = format!("the address is a file ({}) and no page; files come by HTTP", head.mime);
                return Err(FetchErrorKind::Backend(why));
            }
            let got =
                self.call(true, "Network.getResponseBody", json!({ "requestId": head.request })).await?;
            let text = got["body"].as_str().unwrap_or_default();
            let body = match got["base64Encoded"] == true {
                true => STANDARD.decode(text).unwrap_or_default(),
                false => text.as_bytes().to_vec(),
            };
            return if body.len() as u64 > cap { Err(too_large()) } else { Ok(body.into()) };
        }
        // The length first: a page over the limit never crosses the pipe.
        let question = format!(
            "(() => {{ const d = document, t = d.doctype ? new XMLSerializer().serializeToString(d.doctype) + '\\n' : '', \
             s = t + (d.documentElement ? d.documentElement.outerHTML : ''); return s.length > {cap} ? s.length : s; }})()"
        );
        match self.ask(&question).await? {
            Value::String(text) if text.len() as u64 <= cap => Ok(text.into()),
            Value::String(_) | Value::Number(_) => Err(too_large()),
            _ => Err(FetchErrorKind::Backend("the page could not be read".to_owned())),
        }
    }
}

fn is_page(mime: &str) -> bool {
    matches!(mime, "text/html" | "application/xhtml+xml" | "")
}

fn is_text(mime: &str) -> bool {
    mime.starts_with("text/")
        || ["json", "xml", "javascript", "ecmascript"].iter().any(|kind| mime.ends_with(kind))
}

/// The headers of a page: what is handed on is text in UTF-8, whatever came over the wire.
fn headers_of(head: &Head, in_utf8: bool) -> Vec<(String, String)> {
    let mut headers: Vec<_> =
        head.headers.iter().filter(|(name, _)| !OF_THE_WIRE.contains(&name.as_str())).cloned().collect();
    if in_utf8 && !head.mime.is_empty() {
        headers.push(("content-type".to_owned(), format!("{}; charset=utf-8", head.mime)));
    }
    headers
}

/// The headers of the page's own request, when the adapter wants some; they go to the host they are meant for and to
/// no other.
pub(super) fn headers_for(paused: &Paused<'_>, params: &Value, order: &BackendOrder<'_>) -> Option<Value> {
    let url = Url::parse(paused.url).ok()?;
    if !paused.is_page || url.origin() != order.url.origin() {
        return None;
    }
    let wanted: Vec<_> =
        order.headers.iter().filter(|(name, _)| !BROWSERS_OWN.contains(&name.as_str())).collect();
    if wanted.is_empty() {
        return None;
    }
    let usual = params["request"]["headers"].as_object().into_iter().flatten();
    let usual = usual.filter(|(name, _)| !wanted.iter().any(|(own, _)| own.eq_ignore_ascii_case(name)));
    let usual = usual.map(|(name, value)| json!({ "name": name, "value": value }));
    let own = wanted.iter().map(|(name, value)| json!({ "name": name, "value": value }));
    Some(usual.chain(own).collect())
}

/// `zh-CN,zh;q=0.9` as Chromium wants it: it weighs the languages itself.
pub(super) fn languages(header: &str) -> String {
    let names = header.split(',').map(|one| one.split(';').next().unwrap_or_default().trim());
    names.filter(|name| !name.is_empty()).collect::<Vec<_>>().join(",")
}

pub(super) fn to_browser(cookies: &[Cookie]) -> Vec<Value> {
    let one = |cookie: &Cookie| {
        let scheme = if cookie.secure { "https" } else { "http" };
        let mut told = json!({
            "name": cookie.name,
            "value": cookie.value,
            "path": cookie.path,
            "secure": cookie.secure,
            "url": format!("{scheme}://{}{}", cookie.domain, cookie.path),
        });
        // Without a domain it is for that very host.
        if !cookie.host_only {
            told["domain"] = format!(".{}", cookie.domain).into();
        }
        if let Some(expires) = cookie.expires {
            told["expires"] = (expires.0 as f64 / 1000.0).into();
        }
        told
    };
    cookies.iter().map(one).collect()
}

fn from_browser(told: &Value) -> Option<Cookie> {
    let domain = told["domain"].as_str()?;
    let expires = told["expires"].as_f64().filter(|seconds| *seconds > 0.0);
    Some(Cookie {
        name: told["name"].as_str()?.to_owned(),
        value: told["value"].as_str()?.to_owned(),
        host_only: !domain.starts_with('.'),
        domain: domain.trim_start_matches('.').to_ascii_lowercase(),
        path: told["path"].as_str()?.to_owned(),
        expires: expires.map(|seconds| Timestamp((seconds * 1000.0) as i64)),
        secure: told["secure"] == true,
    })
}

/// What Chromium calls an error, in the gate's words. Only what is about the wire counts against the host.
pub(super) fn net_error(error: &str) -> FetchErrorKind {
    let name = error.trim_start_matches("net::");
    let told = || name.chars().take(80).collect::<String>();
    match name {
        "ERR_TOO_MANY_REDIRECTS" => FetchErrorKind::TooManyRedirects(20),
        "ERR_NAME_NOT_RESOLVED" => FetchErrorKind::Dns(told()),
        "ERR_EMPTY_RESPONSE"
        | "ERR_CONNECTION_RESET"
        | "ERR_CONNECTION_CLOSED"
        | "ERR_CONNECTION_ABORTED" => FetchErrorKind::Reset(told()),
        "ERR_CONTENT_LENGTH_MISMATCH" | "ERR_INCOMPLETE_CHUNKED_ENCODING" => {
            FetchErrorKind::Truncated(told())
        }
        "ERR_CONTENT_DECODING_FAILED" => FetchErrorKind::BadEncoding(told()),
        "ERR_INVALID_HTTP_RESPONSE" | "ERR_INVALID_CHUNKED_ENCODING" | "ERR_RESPONSE_HEADERS_TOO_BIG" => {
            FetchErrorKind::Protocol(told())
        }
        "ERR_TIMED_OUT"
        | "ERR_CONNECTION_TIMED_OUT"
        | "ERR_CONNECTION_REFUSED"
        | "ERR_TUNNEL_CONNECTION_FAILED" => FetchErrorKind::Connect(told()),
        name if name.starts_with("ERR_CERT") || name.starts_with("ERR_SSL") => FetchErrorKind::Tls(told()),
        _ => FetchErrorKind::Backend(told()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cookie_keeps_its_domain_path_end_and_lock_on_the_way_there_and_back() {
        let table = [
            ("www.gd.gov.cn", true, "/", Some(Timestamp(1_794_988_800_000)), true),
            ("gd.gov.cn", false, "/zwgk", None, false),
        ];
        for (domain, host_only, path, expires, secure) in table {
            let cookie = Cookie {
                name: "n".into(),
                value: "v".into(),
                domain: domain.into(),
                host_only,
                path: path.into(),
                expires,
                secure,
            };
            let mut told = to_browser(std::slice::from_ref(&cookie)).remove(0);
            // Chromium tells the domain of either kind, and -1 for the end of the session.
            if host_only {
                told["domain"] = domain.into();
            }
            if expires.is_none() {
                told["expires"] = (-1).into();
            }
            assert_eq!(from_browser(&told), Some(cookie));
        }
        assert_eq!(from_browser(&json!({ "name": "x" })), None);
    }

    #[test]
    fn only_errors_of_the_wire_count_against_the_host() {
        use crate::fetch::verdict::Verdict;
        for (error, counts) in [
            ("net::ERR_CONNECTION_RESET", true),
            ("net::ERR_CERT_AUTHORITY_INVALID", true),
            ("net::ERR_EMPTY_RESPONSE", true),
            ("net::ERR_ABORTED", false),
            ("net::ERR_BLOCKED_BY_CLIENT", false),
            ("net::ERR_INSUFFICIENT_RESOURCES", false),
        ] {
            assert_eq!(Verdict::of_kind(&net_error(error)).is_some(), counts, "{error}");
        }
    }

    #[test]
    fn languages_are_named_without_their_weights() {
        assert_eq!(languages("zh-CN,zh;q=0.9, en;q=0.5"), "zh-CN,zh,en");
    }
}
