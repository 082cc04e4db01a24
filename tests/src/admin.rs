//! The replica's knobs over HTTP on a port of their own, for the binary: plain JSON, loopback only.

use std::convert::Infallible;
use std::sync::Arc;

use bytes::Bytes;
use http::{Method, Request, Response, header};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::Incoming;
use hyper_util::rt::TokioIo;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::net::TcpListener;

use crate::faults::FaultRule;
use crate::post::NewPost;
use crate::replica::Replica;

/// A rule or a post with its text; anything longer is a mistake.
const LONGEST_BODY: usize = 4 << 20;

/// `POST /publish`.
#[derive(Debug, Deserialize)]
struct Publish {
    host: String,
    column: String,
    #[serde(default)]
    post: NewPost,
}

/// Serves until the future is dropped.
pub(crate) async fn serve(listener: TcpListener, replica: Arc<Replica>) {
    loop {
        let Ok((socket, _)) = listener.accept().await else { continue };
        let replica = Arc::clone(&replica);
        tokio::spawn(async move {
            let service = hyper::service::service_fn(move |request| {
                let replica = Arc::clone(&replica);
                async move { Ok::<_, Infallible>(answer(&replica, request).await) }
            });
            let talk =
                hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(socket), service);
            if let Err(ended) = talk.await {
                tracing::debug!(%ended, "admin connection");
            }
        });
    }
}

async fn answer(replica: &Replica, request: Request<Incoming>) -> Response<Full<Bytes>> {
    let (status, value) = match operate(replica, request).await {
        Ok(Some(value)) => (200, value),
        Ok(None) => (404, json!({ "error": "unknown operation; see the documentation of dibao_replica" })),
        Err(wrong) => (400, json!({ "error": format!("{wrong:#}") })),
    };
    let response = Response::builder().status(status).header(header::CONTENT_TYPE, "application/json");
    response.body(Full::new(Bytes::from(format!("{value}\n")))).unwrap_or_default()
}

async fn operate(replica: &Replica, request: Request<Incoming>) -> anyhow::Result<Option<Value>> {
    let (parts, body) = request.into_parts();
    let body = Limited::new(body, LONGEST_BODY)
        .collect()
        .await
        .map_err(|wrong| anyhow::anyhow!("body: {wrong}"))?
        .to_bytes();
    Ok(Some(match (&parts.method, parts.uri.path()) {
        (&Method::GET, "/state") => json!({ "hosts": replica.hosts(), "requests": replica.request_count() }),
        (&Method::POST, "/publish") => {
            let Publish { host, column, post } = serde_json::from_slice(&body)?;
            json!(replica.publish(&host, &column, post)?)
        }
        (&Method::GET, "/faults") => {
            json!(
                replica
                    .faults()
                    .iter()
                    .map(|(id, rule)| json!({ "id": id, "rule": rule }))
                    .collect::<Vec<_>>()
            )
        }
        (&Method::POST, "/faults") => {
            let rule: FaultRule = serde_json::from_slice(&body)?;
            json!({ "id": replica.fault(rule) })
        }
        (&Method::DELETE, "/faults") => {
            replica.clear_faults();
            json!({})
        }
        (&Method::DELETE, path) if path.starts_with("/faults/") => {
            json!({ "removed": replica.remove_fault(path["/faults/".len()..].parse()?) })
        }
        (&Method::GET, "/requests") => json!(replica.requests()),
        (&Method::DELETE, "/requests") => {
            replica.forget_requests();
            json!({})
        }
        _ => return Ok(None),
    }))
}
