//! Sockets: accepts, speaks TLS, finds the host, lets a fault strike, answers. Knows nothing about pages.

use std::convert::Infallible;
use std::io::Write as _;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use futures::StreamExt as _;
use http::request::Parts;
use http::{HeaderMap, Method, Request, Response, StatusCode, header};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, Full, Limited, StreamBody};
use hyper::body::{Frame, Incoming};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;
use tokio_util::sync::CancellationToken;

use crate::answer::{Answer, Ask, disposition};
use crate::broken::{self, Ending};
use crate::faults::{Fault, Faults};
use crate::log::{Log, Seen};
use crate::versions::{Version, Versions};
use crate::world::{World, bare_host};

/// More than any search form sends.
const MOST_POSTED: usize = 64 * 1024;

type Body = UnsyncBoxBody<Bytes, Infallible>;

/// Everything a connection needs.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) world: World,
    pub(crate) faults: Faults,
    pub(crate) log: Arc<Log>,
    pub(crate) gzip: bool,
    pub(crate) versions: Option<Versions>,
    pub(crate) max_age: Option<u32>,
}

/// A connection that can be reset.
trait Line: AsyncRead + AsyncWrite + Unpin + Send + 'static {
    fn socket(&self) -> &TcpStream;
}

impl Line for TcpStream {
    fn socket(&self) -> &TcpStream {
        self
    }
}

impl Line for TlsStream<TcpStream> {
    fn socket(&self) -> &TcpStream {
        self.get_ref().0
    }
}

/// Accepts until told to stop; with an acceptor it speaks TLS.
pub(crate) async fn serve(
    listener: TcpListener,
    tls: Option<TlsAcceptor>,
    shared: Arc<Shared>,
    stop: CancellationToken,
) {
    loop {
        let accepted = tokio::select! {
            () = stop.cancelled() => return,
            accepted = listener.accept() => accepted,
        };
        let Ok((socket, _)) = accepted else {
            // Out of descriptors, most likely: give the connections at work a moment to end.
            tokio::time::sleep(Duration::from_millis(10)).await;
            continue;
        };
        let _ = socket.set_nodelay(true);
        let (tls, shared, stop) = (tls.clone(), Arc::clone(&shared), stop.clone());
        tokio::spawn(async move {
            let work = async {
                match tls {
                    None => converse(socket, "http", shared).await,
                    // A client that refuses the certificate is a test's own business.
                    Some(tls) => match tls.accept(socket).await {
                        Ok(line) => converse(line, "https", shared).await,
                        Err(refused) => tracing::debug!(%refused, "TLS handshake"),
                    },
                }
            };
            tokio::select! {
                () = stop.cancelled() => (),
                () = work => (),
            }
        });
    }
}

/// One connection, request after request, until it closes or a fault takes it over.
async fn converse<L: Line>(line: L, scheme: &'static str, shared: Arc<Shared>) {
    let service =
        hyper::service::service_fn(move |request| Box::pin(respond(Arc::clone(&shared), scheme, request)));
    let mut connection =
        hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(line), service);
    let ended = std::future::poll_fn(|context| connection.poll_without_shutdown(context)).await;
    let mut line = connection.into_parts().io.into_inner();
    let ending =
        ended.err().and_then(|error| std::error::Error::source(&error)?.downcast_ref::<Ending>().cloned());
    match ending {
        None => {
            let _ = tokio::io::AsyncWriteExt::shutdown(&mut line).await;
        }
        Some(ending) => {
            if matches!(ending, Ending::Reset) {
                let _ = line.socket().set_zero_linger();
            }
            let _ = broken::play(ending, &mut line).await;
        }
    }
}

/// The answer to one request, or the end of its connection.
async fn respond(
    shared: Arc<Shared>,
    scheme: &'static str,
    request: Request<Incoming>,
) -> Result<Response<Body>, Ending> {
    let (request, incoming) = request.into_parts();
    let authority =
        request.headers.get(header::HOST).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let host = bare_host(authority);
    let target = request.uri.path_and_query().map_or("/", |target| target.as_str()).to_owned();
    shared.log.note(Seen {
        number: 0,
        at: Duration::ZERO,
        scheme,
        host: host.clone(),
        method: request.method.to_string(),
        path: target.clone(),
        headers: headers(&request.headers),
    });
    let _busy = shared.log.enter(&host);
    let struck = shared.faults.strike(&host, &target);
    match &struck {
        Some((_, Fault::Delay { ms })) => tokio::time::sleep(Duration::from_millis(*ms)).await,
        Some((id, Fault::Hold)) => shared.faults.gone(*id).await,
        _ => (),
    }
    let agent =
        request.headers.get(header::USER_AGENT).and_then(|value| value.to_str().ok()).unwrap_or_default();
    if shared.world.site(&host).is_some_and(|site| site.family.hangs_up_on(agent)) {
        return Err(Ending::Reset);
    }
    let fault = struck.map(|(_, fault)| fault).filter(|fault| !fault.is_passed_by(&request.headers));
    let posted = match request.method {
        Method::POST => Some(Limited::new(incoming, MOST_POSTED).collect().await.map(|all| all.to_bytes())),
        _ => None,
    };
    let answer = match posted {
        Some(Err(_)) => Answer::new(413, "text/plain", "too much was posted\n"),
        posted => {
            let posted = posted.and_then(Result::ok);
            usual(&shared.world, &host, &request, posted.as_deref(), fault == Some(Fault::EmptyList))
        }
    };
    let packed = shared.gzip && accepts_gzip(&request.headers);
    Ok(match fault {
        None | Some(Fault::Delay { .. } | Fault::Hold | Fault::EmptyList) => {
            let version = shared.versions.as_ref();
            let version = version
                .and_then(|known| known.of(format!("{host}{target}"), &answer, packed, &request.headers));
            versioned(answer, packed, version, shared.max_age)
        }
        Some(Fault::Reset) => return Err(Ending::Reset),
        Some(Fault::Truncate) => return Err(broken::truncated(&answer)),
        Some(Fault::WrongLength { delta }) => return Err(broken::mislabelled(&answer, delta)),
        Some(Fault::Status { code, retry_after, body }) => status(code, retry_after, body),
        Some(Fault::Challenge { code, cookie }) => status(code, None, Some(Fault::challenge_page(&cookie))),
        Some(Fault::RedirectLoop) => redirect(&format!("{scheme}://{authority}{target}")),
        Some(Fault::RedirectTo { location }) => redirect(&location),
        Some(Fault::HugeBody { bytes }) => streamed(&answer, broken::endless(start_of(&answer), bytes), None),
        Some(Fault::GzipBomb { bytes }) => {
            let packed = tokio::task::spawn_blocking(move || broken::bomb(bytes)).await.unwrap_or_default();
            let mut response = plain(Answer { body: packed, ..answer }, false);
            response.headers_mut().insert(header::CONTENT_ENCODING, header::HeaderValue::from_static("gzip"));
            response
        }
        Some(Fault::SlowDrip { interval_ms }) => {
            let length = answer.body.len();
            let body = broken::drip(answer.body.clone(), Duration::from_millis(interval_ms));
            streamed(&answer, body, Some(length))
        }
        Some(Fault::HtmlForFile) => plain(
            Answer::html(format!(
                "<!DOCTYPE html><html><head><title>系统提示</title></head><body><h1>您访问的文件暂时无法打开</h1><p>{}</p></body></html>",
                crate::text::escape(&target)
            )),
            packed,
        ),
    })
}

fn headers(map: &HeaderMap) -> Vec<(String, String)> {
    map.iter()
        .map(|(name, value)| (name.to_string(), String::from_utf8_lossy(value.as_bytes()).into_owned()))
        .collect()
}

/// What the site says when nothing is wrong.
fn usual(world: &World, host: &str, request: &Parts, posted: Option<&[u8]>, empty_list: bool) -> Answer {
    let known = [Method::GET, Method::HEAD, Method::POST].contains(&request.method);
    let (path, query) = (request.uri.path(), request.uri.query());
    let ask = Ask { path, query, empty_list, headers: &request.headers, posted };
    match world.answer(host, &ask).filter(|_| known) {
        Some(answer) => answer,
        None if world.hosts().iter().any(|known| known == host) => {
            Answer::new(405, "text/html; charset=utf-8", "<html><body>405 Not Allowed</body></html>")
        }
        None => Answer::new(
            421,
            "text/plain; charset=utf-8",
            format!("this replica does not answer for {host}\n"),
        ),
    }
}

fn accepts_gzip(headers: &HeaderMap) -> bool {
    headers
        .get_all(header::ACCEPT_ENCODING)
        .iter()
        .any(|value| value.to_str().is_ok_and(|text| text.contains("gzip")))
}

/// How a body of this kind begins, for endless ones.
fn start_of(answer: &Answer) -> &'static str {
    if answer.content_type.contains("pdf") { "%PDF-1.4\n" } else { "<!DOCTYPE html><html><body>" }
}

fn builder(answer: &Answer) -> http::response::Builder {
    let mut builder =
        Response::builder().status(answer.status).header(header::CONTENT_TYPE, answer.content_type);
    if let Some(name) = &answer.file_name {
        builder = builder.header(header::CONTENT_DISPOSITION, disposition(name));
    }
    builder
}

fn plain(answer: Answer, packed: bool) -> Response<Body> {
    let mut builder = builder(&answer);
    let mut body = answer.body;
    // Servers leave small bodies and finished files alone.
    if packed && body.len() > 1024 && !answer.content_type.starts_with("application/") {
        let mut encoder = GzEncoder::new(Vec::with_capacity(body.len() / 4), Compression::fast());
        if encoder.write_all(&body).is_ok()
            && let Ok(smaller) = encoder.finish()
        {
            body = smaller.into();
            builder =
                builder.header(header::CONTENT_ENCODING, "gzip").header(header::VARY, "Accept-Encoding");
        }
    }
    finish(builder, Full::new(body).boxed_unsync())
}

/// The page with its version, or only the version for those who have it.
fn versioned(answer: Answer, packed: bool, version: Option<Version>, max_age: Option<u32>) -> Response<Body> {
    let Some(Version { etag, last_modified, is_known }) = version else { return plain(answer, packed) };
    let mut response = match is_known {
        true => finish(Response::builder().status(StatusCode::NOT_MODIFIED), Full::default().boxed_unsync()),
        false => plain(answer, packed),
    };
    let fresh = max_age.map(|seconds| (header::CACHE_CONTROL, format!("max-age={seconds}")));
    for (name, value) in
        [(header::ETAG, etag), (header::LAST_MODIFIED, last_modified)].into_iter().chain(fresh)
    {
        if let Ok(value) = value.parse() {
            response.headers_mut().insert(name, value);
        }
    }
    response
}

fn streamed(
    answer: &Answer,
    pieces: impl futures::Stream<Item = Bytes> + Send + 'static,
    length: Option<usize>,
) -> Response<Body> {
    let mut builder = builder(answer);
    if let Some(length) = length {
        builder = builder.header(header::CONTENT_LENGTH, length);
    }
    let frames = pieces.map(|piece| Ok::<_, Infallible>(Frame::data(piece)));
    finish(builder, StreamBody::new(frames).boxed_unsync())
}

fn status(code: u16, retry_after: Option<String>, body: Option<String>) -> Response<Body> {
    let body = body.unwrap_or_else(|| {
        format!("<html><head><title>{code}</title></head><body><h1>{code}</h1></body></html>")
    });
    let mut builder = builder(&Answer::new(code, "text/html; charset=utf-8", ""));
    if let Some(after) = retry_after {
        builder = builder.header(header::RETRY_AFTER, after);
    }
    finish(builder, Full::new(Bytes::from(body)).boxed_unsync())
}

fn redirect(location: &str) -> Response<Body> {
    let builder = Response::builder().status(StatusCode::FOUND).header(header::LOCATION, location);
    finish(builder, Full::new(Bytes::new()).boxed_unsync())
}

/// A rule with an impossible status or header is the test's mistake and shows as 500 with the reason.
fn finish(builder: http::response::Builder, body: Body) -> Response<Body> {
    builder.body(body).unwrap_or_else(|wrong| {
        let mut response = Response::new(Full::new(Bytes::from(format!("{wrong}\n"))).boxed_unsync());
        *response.status_mut() = StatusCode::INTERNAL_SERVER_ERROR;
        response
    })
}
