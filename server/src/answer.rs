//! What a route answers, and how that is described.

use axum::body::Body;
use axum::response::Response;
use http::{HeaderName, HeaderValue, StatusCode, header};
use schemars::{JsonSchema, SchemaGenerator};
use serde::Serialize;
use serde_json::{Value, json};

use crate::problem::{Code, Problem};

/// An answer that went well.
pub trait Answer: Send + 'static {
    /// Its status.
    const STATUS: u16 = 200;
    /// It is JSON of which a copy may be kept: it gets an `ETag`.
    const TAGGED: bool = false;

    fn write(self) -> Result<Response, Problem>;

    /// `content` of the response object of OpenAPI; null: there is none.
    fn content(schemas: &mut SchemaGenerator) -> Value;
}

/// 200 with JSON.
pub struct Shown<T>(pub T);
/// 201 with JSON.
pub struct Made<T>(pub T);
/// 202 with JSON: it will be done.
pub struct Taken<T>(pub T);
/// 204.
pub struct Done;

fn json_of(status: u16, value: &impl Serialize) -> Result<Response, Problem> {
    let text = serde_json::to_vec(value).map_err(|error| Problem::new(Code::Internal, error.to_string()))?;
    let mut answer = Response::new(Body::from(text));
    *answer.status_mut() = StatusCode::from_u16(status).unwrap_or_default();
    answer.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    Ok(answer)
}

fn json_content<T: JsonSchema>(schemas: &mut SchemaGenerator) -> Value {
    json!({ "application/json": { "schema": schemas.subschema_for::<T>() } })
}

macro_rules! json_answers {
    ($($name:ident, $status:literal, $tagged:literal;)+) => {$(
        impl<T: Serialize + JsonSchema + Send + 'static> Answer for $name<T> {
            const STATUS: u16 = $status;
            const TAGGED: bool = $tagged;

            fn write(self) -> Result<Response, Problem> {
                json_of(Self::STATUS, &self.0)
            }

            fn content(schemas: &mut SchemaGenerator) -> Value {
                json_content::<T>(schemas)
            }
        }
    )+};
}

json_answers! {
    Shown, 200, true;
    Made, 201, false;
    Taken, 202, false;
}

impl Answer for Done {
    const STATUS: u16 = 204;

    fn write(self) -> Result<Response, Problem> {
        let mut answer = Response::new(Body::empty());
        *answer.status_mut() = StatusCode::NO_CONTENT;
        Ok(answer)
    }

    fn content(_: &mut SchemaGenerator) -> Value {
        Value::Null
    }
}

/// Text.
pub struct Text(pub String);

impl Answer for Text {
    fn write(self) -> Result<Response, Problem> {
        let mut answer = Response::new(Body::from(self.0));
        let kind = HeaderValue::from_static("text/plain; charset=utf-8");
        answer.headers_mut().insert(header::CONTENT_TYPE, kind);
        Ok(answer)
    }

    fn content(_: &mut SchemaGenerator) -> Value {
        json!({ "text/plain": { "schema": { "type": "string" } } })
    }
}

/// A file from elsewhere: hostile, so it is only ever saved, never shown.
pub struct Download {
    pub name: String,
    pub body: Body,
    pub size: Option<u64>,
}

impl Answer for Download {
    fn write(self) -> Result<Response, Problem> {
        let mut answer = Response::new(self.body);
        let headers = answer.headers_mut();
        let kind = HeaderValue::from_static("application/octet-stream");
        headers.insert(header::CONTENT_TYPE, kind);
        headers.insert(header::CONTENT_DISPOSITION, disposition(&self.name));
        let shut = HeaderValue::from_static("sandbox; default-src 'none'");
        headers.insert(header::CONTENT_SECURITY_POLICY, shut);
        if let Some(size) = self.size {
            headers.insert(header::CONTENT_LENGTH, HeaderValue::from(size));
        }
        Ok(answer)
    }

    fn content(_: &mut SchemaGenerator) -> Value {
        json!({ "application/octet-stream": { "schema": { "type": "string", "format": "binary" } } })
    }
}

/// RFC 6266: a name in ASCII for everybody, and the real one in UTF-8.
fn disposition(name: &str) -> HeaderValue {
    let plain: String =
        name.chars().map(|c| if c.is_ascii_alphanumeric() || ".-_ ".contains(c) { c } else { '_' }).collect();
    let real: String = name
        .bytes()
        .map(|byte| match byte {
            b if b.is_ascii_alphanumeric() || b".-_".contains(&b) => char::from(b).to_string(),
            b => format!("%{b:02X}"),
        })
        .collect();
    let text = format!("attachment; filename=\"{plain}\"; filename*=UTF-8''{real}");
    HeaderValue::from_str(&text).unwrap_or(HeaderValue::from_static("attachment"))
}

/// An answer that also sets a header.
pub struct With<A>(pub A, pub HeaderName, pub String);

impl<A: Answer> Answer for With<A> {
    const STATUS: u16 = A::STATUS;

    fn write(self) -> Result<Response, Problem> {
        let mut answer = self.0.write()?;
        if let Ok(value) = HeaderValue::from_str(&self.2) {
            answer.headers_mut().append(self.1, value);
        }
        Ok(answer)
    }

    fn content(schemas: &mut SchemaGenerator) -> Value {
        A::content(schemas)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hostile_file_name_stays_inside_its_quotes() {
        let header = disposition("通知\"\r\nSet-Cookie: a=1;.pdf");
        let text = header.to_str().unwrap();
        assert!(text.is_ascii() && !text.contains('\n'));
        assert_eq!(text.matches('"').count(), 2, "{text}");
        assert!(text.contains("filename*=UTF-8''%E9%80%9A%E7%9F%A5%22%0D%0A"), "{text}");
    }
}
