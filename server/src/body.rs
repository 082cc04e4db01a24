//! Bodies of requests: how they arrive, of what kind they may be, how each kind is read and described.

use std::time::Duration;

use axum::body::Body;
use bytes::Bytes;
use dibao::config::SiteConfig;
use http::{HeaderMap, header};
use http_body_util::BodyExt;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::checked::{Checked, schema_of};
use crate::problem::{Code, Problem};

/// The largest body: a site with thousands of columns.
const LARGEST: usize = 4 << 20;
/// How much of a body that is too large is heard out.
const HEARD_OUT: usize = 4 * LARGEST;
/// How long a body may take to arrive.
const ARRIVES: Duration = Duration::from_secs(30);
/// A kind of body.
pub trait Input: Send + Sized + 'static {
    /// What reads it; made once per route.
    type Reader: Send + Sync + 'static;
    fn reader() -> Self::Reader;
    fn read(reader: &Self::Reader, headers: &HeaderMap, bytes: Bytes) -> Result<Self, Problem>;
    /// `requestBody` of OpenAPI; null: none.
    fn describe() -> Value;
}

/// No body.
pub struct Empty;

impl Input for Empty {
    type Reader = ();

    fn reader() {}

    fn read((): &(), _: &HeaderMap, _: Bytes) -> Result<Empty, Problem> {
        Ok(Empty)
    }

    fn describe() -> Value {
        Value::Null
    }
}

/// JSON that must be there.
pub struct Sent<T>(pub T);

impl<T: DeserializeOwned + JsonSchema + Send + 'static> Input for Sent<T> {
    type Reader = Checked<T>;

    fn reader() -> Checked<T> {
        Checked::new()
    }

    fn read(reader: &Checked<T>, headers: &HeaderMap, bytes: Bytes) -> Result<Sent<T>, Problem> {
        is_json(headers)?;
        reader.value(parse(&bytes)?).map(Sent)
    }

    fn describe() -> Value {
        serde_json::json!({ "required": true, "content": { "application/json": { "schema": schema_of::<T>() } } })
    }
}

/// JSON that may be left out.
pub struct Perhaps<T>(pub T);

impl<T: DeserializeOwned + JsonSchema + Default + Send + 'static> Input for Perhaps<T> {
    type Reader = Checked<T>;

    fn reader() -> Checked<T> {
        Checked::new()
    }

    fn read(reader: &Checked<T>, headers: &HeaderMap, bytes: Bytes) -> Result<Perhaps<T>, Problem> {
        if bytes.is_empty() {
            return Ok(Perhaps(T::default()));
        }
        is_json(headers)?;
        reader.value(parse(&bytes)?).map(Perhaps)
    }

    fn describe() -> Value {
        serde_json::json!({ "required": false, "content": { "application/json": { "schema": schema_of::<T>() } } })
    }
}

/// The text of a site file, as YAML or JSON. What is wrong with it is said by its own reader, with line and key.
pub struct SiteText(pub String);

impl Input for SiteText {
    type Reader = ();

    fn reader() {}

    fn read((): &(), headers: &HeaderMap, bytes: Bytes) -> Result<SiteText, Problem> {
        let kind = kind_of(headers);
        if !matches!(
            kind.as_str(),
            "application/json" | "application/yaml" | "text/yaml" | "application/x-yaml"
        ) {
            return Err(Problem::new(
                Code::UnsupportedMediaType,
                "send application/yaml or application/json",
            ));
        }
        let text = String::from_utf8(bytes.to_vec());
        text.map(SiteText).map_err(|_| Problem::new(Code::NotJson, "the text is not UTF-8"))
    }

    fn describe() -> Value {
        serde_json::json!({ "required": true, "content": {
            "application/json": { "schema": schema_of::<SiteConfig>() },
            "application/yaml": { "schema": { "type": "string" } },
        } })
    }
}

/// Changes of a site: some of its settings as JSON, or a whole file as YAML.
pub enum SiteChange {
    Some(serde_json::Map<String, Value>),
    File(String),
}

impl Input for SiteChange {
    type Reader = Checked<serde_json::Map<String, Value>>;

    fn reader() -> Self::Reader {
        Checked::new()
    }

    fn read(reader: &Self::Reader, headers: &HeaderMap, bytes: Bytes) -> Result<SiteChange, Problem> {
        match kind_of(headers).as_str() {
            "application/json" => reader.value(parse(&bytes)?).map(SiteChange::Some),
            _ => SiteText::read(&(), headers, bytes).map(|text| SiteChange::File(text.0)),
        }
    }

    fn describe() -> Value {
        serde_json::json!({ "required": true, "content": {
            "application/json": { "schema": { "type": "object" } },
            "application/yaml": { "schema": { "type": "string" } },
        } })
    }
}

/// The kind of a body, without its parameters.
pub fn kind_of(headers: &HeaderMap) -> String {
    let text = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or("");
    text.split(';').next().unwrap_or("").trim().to_ascii_lowercase()
}

fn is_json(headers: &HeaderMap) -> Result<(), Problem> {
    match kind_of(headers).as_str() {
        "application/json" => Ok(()),
        other => {
            let words = format!("send application/json, not `{}`", other.escape_debug());
            Err(Problem::new(Code::UnsupportedMediaType, words))
        }
    }
}

fn parse(bytes: &[u8]) -> Result<Value, Problem> {
    serde_json::from_slice(bytes).map_err(|error| Problem::new(Code::NotJson, error.to_string()))
}

/// The whole body. One that is too large is read on for a while, and thrown away: whoever is still sending would not hear why it
/// was refused.
pub async fn receive(mut body: Body) -> Result<Bytes, Problem> {
    let read = async {
        let (mut kept, mut length) = (Vec::new(), 0usize);
        while let Some(frame) = body.frame().await {
            let frame = frame.map_err(|_| Problem::new(Code::NotJson, "the body broke off"))?;
            let Some(data) = frame.data_ref() else { continue };
            length = length.saturating_add(data.len());
            match length {
                length if length <= LARGEST => kept.extend_from_slice(data),
                length if length <= HEARD_OUT => kept = Vec::new(),
                _ => break,
            }
        }
        match length {
            ..=LARGEST => Ok(Bytes::from(kept)),
            _ => Err(Problem::new(Code::TooLarge, format!("a body has at most {} MB", LARGEST >> 20))),
        }
    };
    let late = || Err(Problem::new(Code::NotJson, "the body did not arrive in time"));
    tokio::time::timeout(ARRIVES, read).await.unwrap_or_else(|_| late())
}
