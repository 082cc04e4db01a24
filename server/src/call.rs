//! One call of a route: who, then what, checked in that order, then done and answered. A route is declared once: the declaration
//! is served, enforced and described.

use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{FromRequestParts, RawPathParams, Request, State};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodFilter, on};
use dibao::Desk;
use dibao::desk::Actor;
use http::request::Parts;
use http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use http_body_util::BodyExt;
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, SchemaGenerator};
use serde::de::DeserializeOwned;
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::answer::Answer;
use crate::app::App;
use crate::body;
pub use crate::body::{Empty, Input, Perhaps, Sent, SiteChange, SiteText};
use crate::caller::{Caller, Via};
use crate::checked::{Checked, Nothing, schema_of};
use crate::idempotency;
use crate::origin;
use crate::problem::{Code, Problem};
pub use crate::route::Route;

/// The number of a request, as the outermost layer gave it.
#[derive(Clone, Debug)]
pub struct RequestId(pub Arc<str>);

/// Who connected.
#[derive(Clone, Copy, Debug)]
pub struct Peer(pub SocketAddr);

/// A call of a route: who calls, and what he sent, read and checked.
pub struct Call<P = Nothing, Q = Nothing, B = Empty> {
    pub app: App,
    pub caller: Caller,
    pub request: RequestId,
    pub peer: Peer,
    pub headers: HeaderMap,
    pub path: P,
    pub query: Q,
    pub body: B,
    desk: Desk,
}

impl<P, Q, B> Call<P, Q, B> {
    /// The desk, at which this caller acts.
    pub fn desk(&self) -> Desk {
        self.desk.clone()
    }
}

/// A route with what its types say.
pub struct Operation {
    pub route: Route,
    pub path: Value,
    pub query: Value,
    pub body: Value,
    pub status: u16,
    pub content: Value,
    pub tagged: bool,
}

/// All routes, as they are added.
pub struct Routes {
    pub router: Router<App>,
    pub operations: Vec<Operation>,
    pub schemas: SchemaGenerator,
    tag: &'static str,
}

impl Routes {
    pub fn new() -> Routes {
        let settings = SchemaSettings::draft2020_12().for_serialize().with(|settings| {
            settings.definitions_path = "/components/schemas".into();
            settings.meta_schema = None;
        });
        Routes { router: Router::new(), operations: Vec::new(), schemas: settings.into_generator(), tag: "" }
    }

    /// The chapter of the routes that follow.
    pub fn tag(&mut self, tag: &'static str) -> &mut Routes {
        self.tag = tag;
        self
    }

    /// Adds a route.
    pub fn add<P, Q, B, A, F, Fut>(&mut self, mut route: Route, handler: F) -> &mut Routes
    where
        P: DeserializeOwned + JsonSchema + Send + 'static,
        Q: DeserializeOwned + JsonSchema + Send + 'static,
        B: Input,
        A: Answer,
        F: Fn(Call<P, Q, B>) -> Fut + Clone + Send + Sync + 'static,
        Fut: Future<Output = Result<A, Problem>> + Send,
    {
        route.tag = self.tag;
        self.operations.push(Operation {
            path: schema_of::<P>().into(),
            query: schema_of::<Q>().into(),
            body: B::describe(),
            status: A::STATUS,
            content: A::content(&mut self.schemas),
            tagged: A::TAGGED && route.method == Method::GET,
            route: route.clone(),
        });
        let readers = Arc::new((Checked::<P>::new(), Checked::<Q>::new(), B::reader()));
        let path = route.path;
        let filter = MethodFilter::try_from(route.method.clone()).unwrap_or(MethodFilter::GET);
        let route = Arc::new(route);
        let serve = move |State(app): State<App>, request: Request| {
            let (route, readers, handler) = (route.clone(), readers.clone(), handler.clone());
            async move {
                let limit = route.within;
                let work = answer(app, &route, &readers.0, &readers.1, &readers.2, request, handler);
                let done = match limit {
                    None => work.await,
                    Some(limit) => tokio::time::timeout(limit, work).await.unwrap_or_else(|_| {
                        Err(Problem::new(Code::Timeout, format!("not done within {} s", limit.as_secs())))
                    }),
                };
                done.unwrap_or_else(IntoResponse::into_response)
            }
        };
        let router = std::mem::take(&mut self.router);
        self.router = router.route(path, on(filter, serve));
        self
    }
}

async fn answer<P, Q, B, A, F, Fut>(
    app: App,
    route: &Route,
    path: &Checked<P>,
    query: &Checked<Q>,
    reader: &B::Reader,
    request: Request,
    handler: F,
) -> Result<Response, Problem>
where
    P: DeserializeOwned + JsonSchema,
    Q: DeserializeOwned + JsonSchema,
    B: Input,
    A: Answer,
    F: Fn(Call<P, Q, B>) -> Fut,
    Fut: Future<Output = Result<A, Problem>>,
{
    let (mut parts, sent) = request.into_parts();
    let (id, peer) = extensions(&parts);
    // What it is about, for the audit: what stands in the address in place of names.
    let subject = match RawPathParams::from_request_parts(&mut parts, &app).await {
        Ok(raw) => raw.iter().map(|(_, value)| value.to_owned()).collect::<Vec<_>>().join("/"),
        Err(_) => String::new(),
    };
    // First who, then what: nobody learns by a 404 what there is.
    let caller = app.auth.who(&app.engine, &parts.headers, peer.0.ip()).await?;
    origin::same_origin(&parts.method, &parts.headers, caller.via == Via::Session)?;
    let via = if caller.via == Via::Session { "page" } else { "api" };
    let desk = app.engine.desk(Actor::new(caller.name.clone(), via).request(id.0.to_string()));
    let known = caller.scope.is_some();
    let done =
        read_and_do(app, route, (path, query, reader), (parts, sent), (caller, id, peer, &desk), handler);
    let done = done.await;
    // What the desk did not refuse itself was refused before it came there: by scope, by form, or by another part of the engine.
    if let (Err(problem), Some(action), true) = (&done, route.changes(), known && !desk.has_refused()) {
        desk.note(action, &subject, problem.code.as_str(), serde_json::json!({ "why": problem.detail }))
            .await?;
    }
    done
}

/// A call of somebody who is known.
async fn read_and_do<P, Q, B, A, F, Fut>(
    app: App,
    route: &Route,
    (path, query, reader): (&Checked<P>, &Checked<Q>, &B::Reader),
    (mut parts, sent): (Parts, Body),
    (caller, id, peer, desk): (Caller, RequestId, Peer, &Desk),
    handler: F,
) -> Result<Response, Problem>
where
    P: DeserializeOwned + JsonSchema,
    Q: DeserializeOwned + JsonSchema,
    B: Input,
    A: Answer,
    F: Fn(Call<P, Q, B>) -> Fut,
    Fut: Future<Output = Result<A, Problem>>,
{
    if let Some(scope) = route.scope {
        caller.needs(scope).map_err(|problem| match problem.code {
            Code::Unauthenticated => app.auth.challenge(problem, &parts.headers),
            _ => problem,
        })?;
    }
    let raw = RawPathParams::from_request_parts(&mut parts, &app).await;
    let raw = raw.map_err(|error| Problem::invalid("path", error.body_text()))?;
    let path = path.pairs(raw.iter().map(|(name, value)| (name.into(), value.into())))?;
    let pairs: Vec<(String, String)> = serde_urlencoded::from_str(parts.uri.query().unwrap_or(""))
        .map_err(|error| Problem::invalid("query", error.to_string()))?;
    let query = query.pairs(pairs.into_iter().map(|(name, value)| (name.into(), value.into())))?;
    let bytes = body::receive(sent).await?;
    let key = match route.keyed {
        true => idempotency::key(&parts.headers)?,
        false => None,
    };
    let question = key.as_ref().map(|_| idempotency::question(&parts, &bytes));
    let body = B::read(reader, &parts.headers, bytes)?;
    let mut call = Call {
        app: app.clone(),
        caller,
        request: id,
        peer,
        headers: parts.headers,
        path,
        query,
        body,
        desk: desk.clone(),
    };
    let known_tag = call.headers.remove(header::IF_NONE_MATCH);
    if let (Some(key), Some(question)) = (key, question) {
        let work = async { handler(call).await?.write() };
        return idempotency::once(desk, &key, &question, work).await;
    }
    let done = handler(call).await?.write()?;
    match A::TAGGED && route.method == Method::GET {
        true => tag(done, known_tag).await,
        false => Ok(done),
    }
}

fn extensions(parts: &Parts) -> (RequestId, Peer) {
    let id = parts.extensions.get::<RequestId>().cloned().unwrap_or(RequestId("-".into()));
    // Nobody is who is not known to have connected.
    let peer = parts.extensions.get::<Peer>().copied().unwrap_or(Peer(([0, 0, 0, 0], 0).into()));
    (id, peer)
}

/// Adds the tag of an answer, or says that the copy somebody has is still good.
async fn tag(answer: Response, known: Option<HeaderValue>) -> Result<Response, Problem> {
    let (mut parts, mut body) = answer.into_parts();
    let value = match parts.headers.get(header::ETAG) {
        Some(value) => value.clone(),
        None => {
            let bytes = body.collect().await;
            let bytes = bytes.map_err(|error| Problem::new(Code::Internal, error.to_string()))?.to_bytes();
            let value = tag_of(&bytes);
            parts.headers.insert(header::ETAG, value.clone());
            body = Body::from(bytes);
            value
        }
    };
    let tag = value.to_str().unwrap_or("");
    let known = known.as_ref().and_then(|known| known.to_str().ok()).unwrap_or("");
    let same = known.split(',').any(|one| {
        let one = one.trim();
        one == "*" || one.strip_prefix("W/").unwrap_or(one) == tag
    });
    if same {
        parts.status = StatusCode::NOT_MODIFIED;
        parts.headers.remove(header::CONTENT_TYPE);
        return Ok(Response::from_parts(parts, Body::empty()));
    }
    Ok(Response::from_parts(parts, body))
}

/// The tag of a text.
pub fn tag_of(bytes: &[u8]) -> HeaderValue {
    let hash: [u8; 32] = Sha256::digest(bytes).into();
    let tag: String = hash[..12].iter().map(|byte| format!("{byte:02x}")).collect();
    HeaderValue::from_str(&format!("\"{tag}\"")).unwrap_or(HeaderValue::from_static("\"\""))
}
