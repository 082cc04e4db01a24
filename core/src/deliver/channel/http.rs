//! One POST to an address of the operator's choice: sized, timed, not redirected, and what its answer means.

use std::time::Duration;

use reqwest::header::{CONTENT_TYPE, DATE, HeaderMap, HeaderName, HeaderValue, RETRY_AFTER};
use reqwest::{Client, StatusCode};
use serde_json::Value;
use url::Url;

use super::{DeliveryError, Receipt};
use crate::clock::{Clock, SystemClock};
use crate::error::ErrorClass;
use crate::fetch::retry_after;

const CONNECT: Duration = Duration::from_secs(10);
const WHOLE: Duration = Duration::from_secs(30);
/// An answer is a word or two.
const MAX_ANSWER: usize = 64 * 1024;
/// The longest wait that is asked for and heeded.
const LONGEST_WAIT: Duration = Duration::from_secs(24 * 3600);

/// Posts JSON. One client for all channels.
#[derive(Clone, Debug)]
pub(in super::super) struct Post(Client);

/// What came back.
pub(super) struct Answer {
    pub status: StatusCode,
    pub body: String,
    retry_after: Option<Duration>,
}

impl Post {
    /// `roots`: certificates trusted besides the usual authorities.
    pub fn new(roots: &[rustls::pki_types::CertificateDer<'static>]) -> Result<Post, String> {
        let config = crate::fetch::rustls_config(roots.iter())?;
        let client = Client::builder()
            .tls_backend_preconfigured(config)
            .no_proxy()
            // A robot does not move; what it is told is meant for it alone.
            .redirect(reqwest::redirect::Policy::none())
            .connect_timeout(CONNECT)
            .timeout(WHOLE)
            .user_agent(concat!("dibao/", env!("CARGO_PKG_VERSION")))
            .build();
        client.map(Post).map_err(|error| format!("the HTTP client cannot be set up: {error}"))
    }

    pub(super) async fn json(
        &self,
        url: &Url,
        body: Vec<u8>,
        extra: &[(&str, String)],
    ) -> Result<Answer, DeliveryError> {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json; charset=utf-8"));
        for (name, value) in extra {
            let pair = (HeaderName::try_from(*name), HeaderValue::try_from(value));
            let (Ok(name), Ok(value)) = pair else {
                let words = format!("the header {name} cannot carry its value");
                return Err(DeliveryError::new(ErrorClass::Config, words));
            };
            headers.insert(name, value);
        }
        // The address may hold a token: no error names it.
        let failed = |error: reqwest::Error| {
            let words = super::causes(&error.without_url());
            DeliveryError::new(ErrorClass::Network, format!("no answer: {words}"))
        };
        let mut answer = self.0.post(url.clone()).headers(headers).body(body).send().await.map_err(failed)?;
        let status = answer.status();
        let header = |name| answer.headers().get(name).and_then(|value| value.to_str().ok());
        let wait = header(RETRY_AFTER).and_then(|value| wait(value, header(DATE)));
        let mut body = Vec::new();
        while let Some(chunk) = answer.chunk().await.map_err(failed)? {
            let room = MAX_ANSWER - body.len();
            body.extend_from_slice(&chunk[..chunk.len().min(room)]);
            if body.len() == MAX_ANSWER {
                break;
            }
        }
        let body = String::from_utf8_lossy(&body).into_owned();
        Ok(Answer { status, body, retry_after: wait })
    }
}

/// How long `Retry-After` asks to wait: seconds, or a date on the clock of the answer's own `Date`.
fn wait(value: &str, date: Option<&str>) -> Option<Duration> {
    if let Ok(seconds) = value.trim().parse() {
        return Some(Duration::from_secs(seconds));
    }
    let now = SystemClock.now();
    let until = retry_after::until(value, date, now)?;
    Some(Duration::from_millis(u64::try_from(until.0.saturating_sub(now.0)).unwrap_or(0)))
}

impl Answer {
    /// The answer of a plain receiver: 2xx is yes.
    pub fn accepted(self) -> Result<Receipt, DeliveryError> {
        if self.status.is_success() {
            return Ok(Receipt(format!("{} {}", self.status.as_u16(), self.body.trim())));
        }
        Err(self.refusal(None))
    }

    /// The same of a receiver that may be put right: Standard Webhooks has everything tried again but 410, which says that
    /// nobody wants to hear any more.
    pub fn accepted_or_later(self) -> Result<Receipt, DeliveryError> {
        let class = match self.status.as_u16() {
            200..=299 => return self.accepted(),
            410 => ErrorClass::Gone,
            408 | 425 | 429 => ErrorClass::Busy,
            _ => ErrorClass::Server,
        };
        Err(self.refusal(Some(class)))
    }

    /// The answer of a robot: 2xx, and a number in the body that says how it went. `busy` are the numbers that mean
    /// "not so fast".
    pub fn code(self, names: &[&str], busy: &[i64]) -> Result<Receipt, DeliveryError> {
        let body: Value = serde_json::from_str(&self.body).unwrap_or_default();
        let code = names.iter().find_map(|name| body.get(name)?.as_i64());
        match code {
            Some(0) if self.status.is_success() => Ok(Receipt(self.body.trim().to_owned())),
            Some(code) if busy.contains(&code) => Err(self.refusal(Some(ErrorClass::Busy))),
            // Robots refuse with 200: a wrong signature, a missing key word. Trying again changes nothing.
            Some(_) if self.status.is_success() => Err(self.refusal(Some(ErrorClass::Config))),
            _ if self.status.is_success() => Err(self.refusal(Some(ErrorClass::Server))),
            _ => Err(self.refusal(None)),
        }
    }

    pub fn refusal(&self, class: Option<ErrorClass>) -> DeliveryError {
        let class = class.unwrap_or(match self.status.as_u16() {
            408 | 425 | 429 => ErrorClass::Busy,
            401 | 403 => ErrorClass::Auth,
            400..=499 => ErrorClass::Config,
            // A redirect is an address that has changed: somebody must write the new one.
            300..=399 => ErrorClass::Config,
            _ => ErrorClass::Server,
        });
        let said = super::cut(self.body.trim().to_owned(), 300);
        let message = format!("it was not taken: {} {said}", self.status.as_u16());
        let retry_after = self.retry_after.map(|wait| wait.min(LONGEST_WAIT));
        DeliveryError { class, message, retry_after }
    }
}
