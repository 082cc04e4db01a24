//! What a caller is told when something is wrong: problem documents of RFC 9457 with a stable `code`.
//!
//! A [`Problem`] travels to the outermost layer in the answer's extensions and is written there, with the request's id; an
//! error that somebody else made, the router for example, becomes one there as well.

use axum::body::Body;
use axum::response::{IntoResponse, Response};
use dibao::config::ConfigError;
use dibao::schedule::ScheduleError;
use dibao::store::StoreError;
use dibao::{Error, ErrorClass, Refusal};
use http::{HeaderName, HeaderValue, StatusCode, header};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

/// Bytes of `detail`: remote words may be in it.
const LONGEST: usize = 2_000;

/// The kinds of problems. Their words never change.
macro_rules! codes {
    ($($code:ident, $word:literal, $status:literal, $title:literal;)+) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, JsonSchema)]
        #[serde(rename_all = "snake_case")]
        pub enum Code { $(#[doc = $title] $code),+ }

        impl Code {
            #[cfg(test)]
            pub const ALL: &[Code] = &[$(Code::$code),+];

            pub fn as_str(self) -> &'static str {
                match self { $(Code::$code => $word),+ }
            }

            pub fn status(self) -> u16 {
                match self { $(Code::$code => $status),+ }
            }

            pub fn title(self) -> &'static str {
                match self { $(Code::$code => $title),+ }
            }
        }
    };
}

codes! {
    NotJson, "not_json", 400, "The body cannot be read";
    Unauthenticated, "unauthenticated", 401, "Who are you?";
    Forbidden, "forbidden", 403, "You may not do this";
    CrossOrigin, "cross_origin", 403, "Another site may not do this";
    Builtin, "builtin", 403, "The program brings it itself";
    NotFound, "not_found", 404, "There is no such thing";
    MethodNotAllowed, "method_not_allowed", 405, "That cannot be done with it";
    Conflict, "conflict", 409, "It does not fit what is there";
    Active, "active", 409, "It is at work or in line already";
    Disabled, "disabled", 409, "It is switched off";
    Busy, "busy", 409, "Somebody else is at it";
    TooLarge, "too_large", 413, "Too large";
    UnsupportedMediaType, "unsupported_media_type", 415, "Not of a kind that is read here";
    WrongHost, "wrong_host", 421, "Not the host that was asked for";
    Invalid, "invalid", 422, "A value cannot work";
    // Not 502: that would say that this server, or a proxy before it, is at fault, and would be tried again as such.
    Upstream, "upstream", 424, "The remote site failed";
    Throttled, "throttled", 429, "Too often";
    Internal, "internal", 500, "A fault of the program";
    Storage, "storage", 503, "The store or the disk failed";
    Timeout, "timeout", 504, "It took too long";
}

/// Something is wrong.
#[derive(Clone, Debug)]
pub struct Problem {
    pub code: Code,
    pub detail: String,
    field: Option<String>,
    more: Map<String, Value>,
    headers: Vec<(HeaderName, HeaderValue)>,
}

/// The same as it is written, for the documentation.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Problem")]
#[allow(dead_code)] // only its schema is used
pub struct Written {
    /// `urn:dibao:problem:<code>`
    r#type: String,
    /// The kind in words.
    title: String,
    /// The HTTP status.
    status: u16,
    /// The kind; never changes.
    code: Code,
    /// What it is this time, for people.
    detail: String,
    /// What was wrong: a key of the body by its path, a parameter, or a header.
    #[serde(skip_serializing_if = "Option::is_none")]
    field: Option<String>,
    /// The job that is at work or in line already.
    #[serde(skip_serializing_if = "Option::is_none")]
    job: Option<i64>,
    /// The request, as in the log.
    request_id: String,
}

impl Problem {
    pub fn new(code: Code, detail: impl Into<String>) -> Problem {
        let mut detail: String = detail.into();
        if detail.len() > LONGEST {
            let end = (0..=LONGEST).rev().find(|end| detail.is_char_boundary(*end)).unwrap_or(0);
            detail.truncate(end);
            detail.push('…');
        }
        Problem { code, detail, field: None, more: Map::new(), headers: Vec::new() }
    }

    pub fn not_found(what: &str, name: impl std::fmt::Display) -> Problem {
        Problem::new(Code::NotFound, format!("there is no {what} `{name}`"))
    }

    /// A value of the request that cannot work.
    pub fn invalid(field: impl Into<String>, detail: impl Into<String>) -> Problem {
        Problem { field: Some(field.into()), ..Problem::new(Code::Invalid, detail) }
    }

    pub fn with(mut self, key: &str, value: impl Into<Value>) -> Problem {
        self.more.insert(key.to_owned(), value.into());
        self
    }

    pub fn header(mut self, name: HeaderName, value: &str) -> Problem {
        if let Ok(value) = HeaderValue::from_str(value) {
            self.headers.push((name, value));
        }
        self
    }

    pub fn status(&self) -> StatusCode {
        StatusCode::from_u16(self.code.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
    }

    /// What an answer without words means, when the router made it.
    pub fn of_status(status: StatusCode) -> Problem {
        match status {
            StatusCode::NOT_FOUND => Problem::new(Code::NotFound, "there is no such address"),
            StatusCode::METHOD_NOT_ALLOWED => {
                Problem::new(Code::MethodNotAllowed, "see `Allow` for what can be done with this address")
            }
            StatusCode::PAYLOAD_TOO_LARGE => Problem::new(Code::TooLarge, "the body is too large"),
            StatusCode::UNSUPPORTED_MEDIA_TYPE => {
                Problem::new(Code::UnsupportedMediaType, "send application/json")
            }
            status if status.is_client_error() => Problem::new(Code::NotJson, status.to_string()),
            status => Problem::new(Code::Internal, status.to_string()),
        }
    }

    /// The whole answer, in the words of this request.
    pub fn write(self, request_id: &str) -> Response {
        let mut written = Map::new();
        written.insert("type".into(), format!("urn:dibao:problem:{}", self.code.as_str()).into());
        written.insert("title".into(), self.code.title().into());
        written.insert("status".into(), self.code.status().into());
        written.insert("code".into(), self.code.as_str().into());
        written.insert("detail".into(), self.detail.clone().into());
        if let Some(field) = &self.field {
            written.insert("field".into(), field.clone().into());
        }
        written.extend(self.more.clone());
        written.insert("request_id".into(), request_id.into());
        let mut answer = Response::new(Body::from(Value::Object(written).to_string()));
        *answer.status_mut() = self.status();
        let headers = answer.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        for (name, value) in self.headers {
            headers.append(name, value);
        }
        answer
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let mut answer = Response::new(Body::empty());
        *answer.status_mut() = self.status();
        answer.extensions_mut().insert(self);
        answer
    }
}

impl From<Error> for Problem {
    fn from(error: Error) -> Problem {
        // What somebody asked for and cannot have; the rest is trouble that nobody asked for.
        if let Some(refusal) = error.refusal() {
            return refusal.into();
        }
        match error {
            Error::Store(error) => trouble(&error),
            Error::Schedule(error) => of_schedule(&error),
            error => {
                let code = match error.class() {
                    ErrorClass::Config | ErrorClass::Adapter => Code::Invalid,
                    ErrorClass::Storage => Code::Storage,
                    ErrorClass::Busy => Code::Busy,
                    ErrorClass::Interrupted => Code::Timeout,
                    _ => Code::Upstream,
                };
                Problem::new(code, error.to_string())
            }
        }
    }
}

impl From<Refusal> for Problem {
    fn from(refusal: Refusal) -> Problem {
        let words = refusal.to_string();
        let code = match (&refusal, refusal.code()) {
            (Refusal::NotFound { .. }, _) => Code::NotFound,
            (Refusal::Builtin { .. }, _) => Code::Builtin,
            (_, "active") => Code::Active,
            (_, "disabled") => Code::Disabled,
            (Refusal::Conflict { .. }, _) => Code::Conflict,
            _ => Code::Invalid,
        };
        let problem = Problem::new(code, words);
        match refusal.field().filter(|field| !field.is_empty()) {
            Some(field) => Problem { field: Some(field.to_owned()), ..problem },
            None => problem,
        }
    }
}

impl From<ConfigError> for Problem {
    fn from(error: ConfigError) -> Problem {
        Error::from(error).into()
    }
}

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Problem {
        Error::from(error).into()
    }
}

fn of_schedule(error: &ScheduleError) -> Problem {
    let problem = |code| Problem::new(code, error.to_string());
    match error {
        ScheduleError::Unknown { .. } => problem(Code::NotFound),
        ScheduleError::Taken { .. } => problem(Code::Conflict),
        ScheduleError::Protected { .. } => problem(Code::Builtin),
        ScheduleError::Active { job, .. } => problem(Code::Active).with("job", *job),
        ScheduleError::Off { .. } => problem(Code::Disabled),
        ScheduleError::Invalid { field, .. } => Problem::invalid(*field, error.to_string()),
        _ => problem(Code::Invalid),
    }
}

/// Paths and statements are for the log, not for everybody who may read.
fn trouble(error: &StoreError) -> Problem {
    tracing::error!(%error, "the store failed");
    match error {
        StoreError::Bug { .. } | StoreError::Sql { .. } | StoreError::Value { .. } => {
            Problem::new(Code::Internal, "the store failed; the log has the reason")
        }
        _ => Problem::new(Code::Storage, "the store cannot be used now; the log has the reason"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_written_as_they_are_documented() {
        for code in Code::ALL {
            assert_eq!(serde_json::to_value(code).unwrap(), code.as_str());
            assert!(StatusCode::from_u16(code.status()).is_ok_and(|status| status.as_u16() >= 400));
        }
    }

    #[test]
    fn remote_words_are_cut_and_stay_text() {
        let problem = Problem::new(Code::Upstream, "页".repeat(2_000));
        assert!(problem.detail.len() < LONGEST + 5);
        let hostile = Problem::invalid("a", "</script>\u{0}\"").write("r");
        assert_eq!(hostile.status(), 422);
    }
}
