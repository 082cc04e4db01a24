//! Requests that may be sent twice: with the same `Idempotency-Key` the work is done once, and answered alike for a day, over
//! restarts too. What failed is not kept: the same key may try again.

use std::future::Future;

use axum::body::Body;
use axum::response::Response;
use dibao::Desk;
use dibao::desk::Begun;
use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use http_body_util::BodyExt;

use crate::problem::{Code, Problem};

/// The header.
pub const HEADER: &str = "Idempotency-Key";
/// Says that an answer was given before.
const REPLAYED: HeaderName = HeaderName::from_static("idempotency-replayed");

/// The key of a request.
pub fn key(headers: &HeaderMap) -> Result<Option<String>, Problem> {
    let mut given = headers.get_all("idempotency-key").iter();
    match (given.next(), given.next()) {
        (None, _) => Ok(None),
        (Some(one), None) => {
            let text = one.to_str().map_err(|_| Problem::invalid(HEADER, "is no printable text"))?;
            Ok(Some(text.to_owned()))
        }
        (Some(_), Some(_)) => Err(Problem::invalid(HEADER, "is given twice")),
    }
}

/// What makes two requests the same one.
pub fn question(parts: &Parts, body: &[u8]) -> Vec<u8> {
    let mut question = format!("{} {}\n", parts.method, parts.uri).into_bytes();
    question.extend_from_slice(body);
    question
}

/// Does the work, unless it was done under this key before.
pub async fn once(
    desk: &Desk,
    key: &str,
    question: &[u8],
    work: impl Future<Output = Result<Response, Problem>>,
) -> Result<Response, Problem> {
    if let Begun::Answered { status, answer } = desk.begin_idempotent(key, question).await? {
        let mut again = Response::new(Body::from(answer));
        *again.status_mut() = StatusCode::from_u16(status).unwrap_or_default();
        again.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        again.headers_mut().insert(REPLAYED, HeaderValue::from_static("true"));
        return Ok(again);
    }
    let done = match work.await {
        Ok(done) => done,
        Err(problem) => {
            desk.end_idempotent(key, None).await?;
            return Err(problem);
        }
    };
    let (parts, body) = done.into_parts();
    let bytes = body.collect().await.map_err(|error| Problem::new(Code::Internal, error.to_string()))?;
    let bytes = bytes.to_bytes();
    let answer = String::from_utf8_lossy(&bytes).into_owned();
    desk.end_idempotent(key, Some((parts.status.as_u16(), answer))).await?;
    Ok(Response::from_parts(parts, Body::from(bytes)))
}
