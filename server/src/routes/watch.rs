//! Whether the server is well, what it counts, what happens, and the description of all of it.

use bytes::Bytes;
use http::{HeaderValue, header};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::answer::{Answer, Shown, Text};
use crate::call::{Call, Route, Routes, tag_of};
use crate::caller::Scope;
use crate::checked::Nothing;
use crate::events::Watching;
use crate::problem::{Code, Problem};

/// How the server is.
#[derive(Serialize, JsonSchema)]
pub struct Health {
    status: &'static str,
    version: &'static str,
}

/// Where a watcher was.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Since {
    /// The number of the last event that was seen, where the header `Last-Event-ID` cannot be sent.
    #[schemars(length(min = 1, max = 64))]
    last_event_id: Option<String>,
}

/// The description, as JSON of any shape: written once, for strangers ask for it too.
#[derive(Clone)]
pub struct Document {
    bytes: Bytes,
    tag: HeaderValue,
}

impl Document {
    pub fn new(text: String) -> Document {
        let bytes = Bytes::from(text);
        Document { tag: tag_of(&bytes), bytes }
    }
}

impl Answer for Document {
    const TAGGED: bool = true;

    fn write(self) -> Result<axum::response::Response, Problem> {
        let mut answer = axum::response::Response::new(axum::body::Body::from(self.bytes));
        let headers = answer.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(header::ETAG, self.tag);
        Ok(answer)
    }

    fn content(_: &mut schemars::SchemaGenerator) -> serde_json::Value {
        serde_json::json!({ "application/json": { "schema": { "type": "object" } } })
    }
}

/// Figures in the text of OpenMetrics.
pub struct Figures(String);

impl Answer for Figures {
    fn write(self) -> Result<axum::response::Response, Problem> {
        let mut answer = Text(self.0).write()?;
        let kind = HeaderValue::from_static("application/openmetrics-text; version=1.0.0; charset=utf-8");
        answer.headers_mut().insert(header::CONTENT_TYPE, kind);
        Ok(answer)
    }

    fn content(_: &mut schemars::SchemaGenerator) -> serde_json::Value {
        serde_json::json!({ "application/openmetrics-text": { "schema": { "type": "string" } } })
    }
}

pub fn add(routes: &mut Routes) {
    routes
        .add(Route::get("/healthz", None, "The process answers"), healthz)
        .add(Route::get("/readyz", None, "The store answers too").may(&[Code::Storage]), readyz)
        .add(Route::get("/metrics", Scope::Read, "Figures for Prometheus"), metrics)
        .add(Route::get("/admin/api/openapi.json", None, "This description"), document)
        .add(
            Route::get("/admin/api/events", Scope::Read, "What happens, as server-sent events")
                .lasting()
                .may(&[Code::Throttled]),
            events,
        );
}

fn well() -> Health {
    Health { status: "ok", version: env!("CARGO_PKG_VERSION") }
}

async fn healthz(_: Call) -> Result<Shown<Health>, Problem> {
    Ok(Shown(well()))
}

async fn readyz(call: Call) -> Result<Shown<Health>, Problem> {
    if call.app.stop.is_cancelled() {
        return Err(Problem::new(Code::Storage, "the server ends"));
    }
    call.app.engine.queue().table().next_due(dibao::Timestamp(crate::auth::now_ms())).await?;
    Ok(Shown(well()))
}

async fn metrics(call: Call) -> Result<Figures, Problem> {
    call.app.metrics.write(&call.app.engine).await.map(Figures)
}

async fn document(call: Call) -> Result<Document, Problem> {
    Ok(call.app.openapi.clone())
}

async fn events(call: Call<Nothing, Since>) -> Result<Watching, Problem> {
    let header = call.headers.get("last-event-id").and_then(|value| value.to_str().ok());
    let last = header.map(str::to_owned).or(call.query.last_event_id);
    let watching = call.app.events.watch(last.as_deref())?;
    // Who watches may do so as long as what he showed holds.
    let (app, standing) = (call.app.clone(), call.caller.standing);
    Ok(watching.until(async move { app.auth.until_over(&app.engine, &standing).await }))
}
