//! Connections: so many, each with its clocks; and what is done for every request, whatever it asks.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Router;
use axum::extract::{MatchedPath, Request, State};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use http::{HeaderName, HeaderValue, StatusCode, header};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use tower_service::Service;

use crate::app::App;
use crate::call::{Peer, RequestId};
use crate::origin;
use crate::places::{Doing, Places};
use crate::problem::{Code, Problem};
use crate::stream::Watched;

/// Connections at once.
const CONNECTIONS: usize = 512;
/// How long a connection may take to ask for anything.
const FIRST: Duration = Duration::from_secs(10);
/// How long the head of a request may take to arrive; also how long a connection may be idle.
const HEAD: Duration = Duration::from_secs(30);
/// Bytes of a head.
const HEAD_BYTES: usize = 32 << 10;
/// How long answers under way may take once the server ends.
const DRAIN: Duration = Duration::from_secs(10);
/// After an error of the listener: no file handles, as a rule.
const AFTER_ERROR: Duration = Duration::from_millis(200);

/// Accepts until `stop` is cancelled. `let_go` ends what would go on for ever.
pub async fn serve(
    listener: TcpListener,
    router: Router,
    stop: CancellationToken,
    let_go: CancellationToken,
) {
    let graceful = GracefulShutdown::new();
    let places = Arc::new(Places::new(CONNECTIONS));
    loop {
        let accepted = tokio::select! {
            () = stop.cancelled() => break,
            accepted = listener.accept() => accepted,
        };
        let (stream, peer) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                tracing::warn!(%error, "a connection could not be accepted");
                tokio::time::sleep(AFTER_ERROR).await;
                continue;
            }
        };
        let _ = stream.set_nodelay(true);
        let place = places.take(peer.ip());
        let (router, line) = (router.clone(), place.line.clone());
        let service = hyper::service::service_fn(move |request: http::Request<hyper::body::Incoming>| {
            let mut request = request.map(axum::body::Body::new);
            request.extensions_mut().insert(Peer(peer));
            let (mut router, line) = (router.clone(), line.clone());
            async move {
                line.does(Doing::Asking);
                let answer = router.call(request).await.unwrap_or_else(|never| match never {});
                line.does(Doing::Waiting);
                Ok::<_, Infallible>(answer)
            }
        });
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(HEAD)
            .max_buf_size(HEAD_BYTES)
            .serve_connection(TokioIo::new(Watched::new(stream, place.line.clone())), service);
        let connection = graceful.watch(connection);
        tokio::spawn(async move {
            let says_nothing = async {
                tokio::time::sleep(FIRST).await;
                if !place.line.is_new() {
                    std::future::pending::<()>().await;
                }
            };
            tokio::select! {
                ended = connection => {
                    if let Err(error) = ended {
                        tracing::debug!(%error, "a connection ended");
                    }
                }
                () = place.line.let_go.cancelled() => {}
                () = says_nothing => {}
            }
        });
    }
    drop(listener);
    let_go.cancel();
    if tokio::time::timeout(DRAIN, graceful.shutdown()).await.is_err() {
        tracing::warn!("answers were still under way when the server ended");
    }
}

/// What is done for every request.
pub fn layers(routes: Router<App>, app: App) -> Router {
    routes
        .layer(middleware::from_fn_with_state(app.clone(), route_of))
        .with_state(app.clone())
        .layer(middleware::from_fn_with_state(app, around))
}

/// The pattern of the route that answered; told to the outer layer, which knows only the address.
#[derive(Clone)]
struct Matched(MatchedPath);

async fn route_of(State(_): State<App>, request: Request, next: Next) -> Response {
    let matched = request.extensions().get::<MatchedPath>().cloned();
    let mut answer = next.run(request).await;
    if let Some(matched) = matched {
        answer.extensions_mut().insert(Matched(matched));
    }
    answer
}

/// The outermost layer: number, host, words of problems, headers, log and figures.
async fn around(State(app): State<App>, mut request: Request, next: Next) -> Response {
    let begun = Instant::now();
    let id = id_of(&request);
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    request.extensions_mut().insert(RequestId(id.clone()));
    let ours =
        origin::meant_for_us(request.headers(), &app.names).and_then(|()| not_by_proxy(&app, &request));
    let answer = match ours {
        Ok(()) => next.run(request).await,
        Err(problem) => problem.into_response(),
    };
    let route = answer.extensions().get::<Matched>().map(|matched| matched.0.clone());
    let mut answer = in_words(answer, &id);
    guard(&mut answer, &id);
    let (status, took) = (answer.status().as_u16(), begun.elapsed());
    let route = route.map_or("none", |route| app.pattern(route.as_str()));
    app.metrics.answered(&method, route, status, took);
    let ms = took.as_millis() as u64;
    match status {
        500.. => tracing::error!(request = %id, %method, path, status, ms, "answered"),
        _ => tracing::info!(request = %id, %method, path, status, ms, "answered"),
    }
    answer
}

/// A caller's own number, if it is plain; else a new one.
fn id_of(request: &Request) -> Arc<str> {
    let given = request.headers().get("x-request-id").and_then(|value| value.to_str().ok());
    let plain = |id: &&str| {
        (8..=64).contains(&id.len())
            && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
    };
    match given.filter(plain) {
        Some(id) => id.into(),
        None => {
            let bytes = crate::auth::random();
            bytes[..8].iter().map(|byte| format!("{byte:02x}")).collect::<String>().into()
        }
    }
}

/// Behind a proxy everybody looks as if he were on this machine: then being here proves nothing.
fn not_by_proxy(app: &App, request: &Request) -> Result<(), Problem> {
    let named = ["forwarded", "via", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-real-ip"];
    if app.auth.open && named.iter().any(|name| request.headers().contains_key(*name)) {
        let words = "the request came by a proxy and no password is set; set ADMIN_PASSWORD to serve others";
        return Err(Problem::new(Code::Forbidden, words));
    }
    Ok(())
}

/// Every error has a document.
fn in_words(mut answer: Response, id: &str) -> Response {
    if let Some(problem) = answer.extensions_mut().remove::<Problem>() {
        return problem.write(id);
    }
    let status = answer.status();
    let plain = !answer.headers().contains_key(header::CONTENT_TYPE);
    let raw = plain || answer.headers()[header::CONTENT_TYPE].as_bytes().starts_with(b"text/plain");
    if raw && (status.is_client_error() || status.is_server_error()) {
        let mut written = Problem::of_status(status).write(id);
        if let Some(allow) = answer.headers_mut().remove(header::ALLOW) {
            written.headers_mut().insert(header::ALLOW, allow);
        }
        return written;
    }
    answer
}

/// Headers that every answer has.
fn guard(answer: &mut Response, id: &str) {
    let not_modified = answer.status() == StatusCode::NOT_MODIFIED;
    let headers = answer.headers_mut();
    let fixed = [
        ("x-content-type-options", "nosniff"),
        ("x-frame-options", "DENY"),
        ("referrer-policy", "no-referrer"),
        ("cross-origin-opener-policy", "same-origin"),
        ("cross-origin-resource-policy", "same-origin"),
        ("permissions-policy", "camera=(), geolocation=(), microphone=(), payment=(), usb=()"),
    ];
    for (name, value) in fixed {
        headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
    if !headers.contains_key(header::CONTENT_SECURITY_POLICY) {
        let shut = HeaderValue::from_static("default-src 'none'; frame-ancestors 'none'");
        headers.insert(header::CONTENT_SECURITY_POLICY, shut);
    }
    if !headers.contains_key(header::CACHE_CONTROL) {
        // What somebody may see need not be for the next one at the same machine; with a tag it may be asked for anew.
        let kept = headers.contains_key(header::ETAG) || not_modified;
        let rule = if kept { "private, no-cache" } else { "no-store" };
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static(rule));
    }
    if let Ok(id) = HeaderValue::from_str(id) {
        headers.insert(HeaderName::from_static("x-request-id"), id);
    }
}
