//! The gate against real sockets on loopback.

use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use futures::future::BoxFuture;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpListener;
use url::Url;

use super::*;
use crate::clock::{SeededEntropy, SystemClock};
use crate::error::ErrorClass;

/// What a test server does with a connection after it has read the head of a request.
type Answer = Arc<dyn Fn(Asked) -> Vec<Act> + Send + Sync>;

struct Asked {
    path: String,
}

enum Act {
    Send(Vec<u8>),
    /// Keeps the connection open without a word.
    Hang,
    /// One byte every so often, for ever.
    Drip,
    /// Zeroes until the other end goes away.
    Flood,
    /// Closes so that the other end sees a reset.
    Reset,
}

struct Server {
    addr: SocketAddr,
    connections: Arc<AtomicUsize>,
    heads: Arc<Mutex<Vec<String>>>,
    task: tokio::task::JoinHandle<()>,
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Server {
    async fn start(answer: impl Fn(Asked) -> Vec<Act> + Send + Sync + 'static) -> Server {
        Server::start_tls(answer, None).await
    }

    async fn start_tls(
        answer: impl Fn(Asked) -> Vec<Act> + Send + Sync + 'static,
        tls: Option<tokio_rustls::TlsAcceptor>,
    ) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let addr = listener.local_addr().unwrap();
        let connections = Arc::new(AtomicUsize::new(0));
        let heads = Arc::new(Mutex::new(Vec::new()));
        let answer: Answer = Arc::new(answer);
        let (count, log) = (connections.clone(), heads.clone());
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                count.fetch_add(1, Ordering::SeqCst);
                let (answer, log, tls) = (answer.clone(), log.clone(), tls.clone());
                tokio::spawn(async move {
                    match tls {
                        None => {
                            // A reset needs the socket itself: with data unread and no linger it resets on close.
                            let _ = stream.set_zero_linger();
                            serve(stream, answer, log).await
                        }
                        Some(tls) => {
                            if let Ok(stream) = tls.accept(stream).await {
                                serve(stream, answer, log).await
                            }
                        }
                    }
                });
            }
        });
        Server { addr, connections, heads, task }
    }

    fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.addr)
    }

    fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }

    fn heads(&self) -> Vec<String> {
        self.heads.lock().unwrap().clone()
    }
}

async fn serve<S: AsyncRead + AsyncWrite + Unpin>(
    mut stream: S,
    answer: Answer,
    log: Arc<Mutex<Vec<String>>>,
) {
    let mut head = Vec::new();
    let mut byte = [0u8; 1];
    while !head.ends_with(b"\r\n\r\n") {
        match stream.read(&mut byte).await {
            Ok(1) => head.push(byte[0]),
            _ => return,
        }
    }
    let head = String::from_utf8_lossy(&head).into_owned();
    let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
    log.lock().unwrap().push(head);
    for act in answer(Asked { path }) {
        match act {
            Act::Send(bytes) => {
                if stream.write_all(&bytes).await.is_err() || stream.flush().await.is_err() {
                    return;
                }
            }
            Act::Hang => std::future::pending().await,
            Act::Drip => {
                while stream.write_all(b".").await.is_ok() && stream.flush().await.is_ok() {
                    tokio::time::sleep(Duration::from_millis(10)).await;
                }
                return;
            }
            Act::Flood => {
                while stream.write_all(&[0; 64 << 10]).await.is_ok() {}
                return;
            }
            Act::Reset => return,
        }
    }
    // An orderly end: the other side has read everything before the socket goes.
    let _ = stream.shutdown().await;
    let _ = stream.read(&mut byte).await;
}

fn reply(status: &str, headers: &str, body: &[u8]) -> Vec<Act> {
    let mut bytes =
        format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\nconnection: close\r\n{headers}\r\n", body.len())
            .into_bytes();
    bytes.extend_from_slice(body);
    vec![Act::Send(bytes)]
}

fn redirect_to(location: &str) -> Vec<Act> {
    reply("302 Found", &format!("location: {location}\r\n"), b"")
}

fn options() -> GateOptions {
    GateOptions { allow_loopback: true, ..GateOptions::default() }
}

fn gate(options: GateOptions) -> Gate {
    Gate::new(options, Arc::new(SystemClock), Arc::new(SeededEntropy::new(1))).unwrap()
}

/// An ask that only the address guard can refuse.
fn ask(url: &str) -> Ask {
    let url = Url::parse(url).unwrap();
    let hosts = ["127.0.0.1", "localhost", "10.0.0.1", "169.254.169.254", "[::1]", "0.0.0.0", "198.18.0.1"];
    let hosts: Vec<String> = hosts.iter().map(|h| h.to_string()).collect();
    let everything = ["*".to_owned()];
    Ask {
        purpose: Purpose::List,
        method: Method::Get,
        url,
        headers: Vec::new(),
        body: None,
        expects: Expects::Html,
        grant: Arc::new(Grant::new("test", &everything, &everything, &[])),
        public: Arc::new(PublicRule::new(&[".cn", ".test"], &hosts)),
        policy: HostPolicy::unpaced(16),
    }
}

async fn fetch_error(gate: &Gate, url: &str) -> FetchError {
    match gate.fetch(&ask(url)).await {
        Ok(fetched) => panic!("{url} was fetched: {}", fetched.status),
        Err(error) => error,
    }
}

/// Answers with a list of addresses per lookup, the last one for ever.
struct Script(Mutex<Vec<Vec<IpAddr>>>, AtomicUsize);

impl Script {
    fn new(answers: &[&[&str]]) -> Arc<Script> {
        let answers =
            answers.iter().map(|list| list.iter().map(|ip| ip.parse().unwrap()).collect()).collect();
        Arc::new(Script(Mutex::new(answers), AtomicUsize::new(0)))
    }
}

impl NameLookup for Script {
    fn lookup(&self, _: String) -> BoxFuture<'static, std::io::Result<Vec<IpAddr>>> {
        self.1.fetch_add(1, Ordering::SeqCst);
        let mut answers = self.0.lock().unwrap();
        let answer = if answers.len() > 1 { answers.remove(0) } else { answers[0].clone() };
        Box::pin(std::future::ready(Ok(answer)))
    }
}

#[tokio::test]
async fn a_page_is_fetched_with_honest_headers() {
    let server = Server::start(|_| reply("200 OK", "X-Thing: a\r\n", b"<p>ok")).await;
    let mut ask = ask(&server.url("/a?b=c#d"));
    ask.headers = vec![("X-Requested-With".into(), "XMLHttpRequest".into()), ("Cookie".into(), "a=b".into())];
    let fetched = gate(options()).fetch(&ask).await.unwrap();
    assert_eq!((fetched.status, &fetched.body[..], fetched.tier), (200, &b"<p>ok"[..], "http"));
    assert_eq!(fetched.header("x-thing"), Some("a"));
    assert_eq!(fetched.url.as_str(), server.url("/a?b=c#d"));
    let head = server.heads().remove(0).to_lowercase();
    assert!(head.starts_with("get /a?b=c http/1.1\r\n"), "{head}");
    assert!(head.contains("user-agent: mozilla/5.0 (compatible; dibao/"), "{head}");
    assert!(head.contains("accept-encoding: gzip, deflate\r\n"), "{head}");
    assert!(head.contains("accept-language: zh-cn"), "{head}");
    assert!(head.contains("x-requested-with: xmlhttprequest"), "{head}");
    assert!(!head.contains("cookie"), "{head}");
}

#[tokio::test]
async fn an_error_status_is_an_answer() {
    let server = Server::start(|asked| match asked.path.as_str() {
        "/410" => reply("410 Gone", "", b"gone"),
        "/429" => reply("429 Too Many Requests", "retry-after: 30\r\n", b""),
        "/302" => reply("302 Found", "", b"nowhere to go"),
        _ => reply("503 Service Unavailable", "", b"later"),
    })
    .await;
    let gate = gate(options());
    for status in [302, 410, 429, 503] {
        assert_eq!(gate.fetch(&ask(&server.url(&format!("/{status}")))).await.unwrap().status, status);
    }
}

#[tokio::test]
async fn without_the_loopback_option_nothing_on_this_machine_is_reached() {
    let server = Server::start(|_| reply("200 OK", "", b"secret")).await;
    let port = server.addr.port();
    let gate = gate(GateOptions::default());
    for host in ["127.0.0.1", "localhost", "2130706433", "0x7f.1", "[::1]", "0.0.0.0", "127.0.0.1."] {
        let error = fetch_error(&gate, &format!("http://{host}:{port}/")).await;
        assert!(matches!(error.kind(), FetchErrorKind::ForbiddenAddress { .. }), "{host}: {error}");
        assert_eq!(error.class(), ErrorClass::Blocked);
        assert!(!error.is_retryable());
    }
    assert_eq!(server.connections(), 0);
}

#[tokio::test]
async fn a_redirect_to_a_forbidden_address_is_refused_before_any_connection() {
    let inside = Server::start(|_| reply("200 OK", "", b"secret")).await;
    let targets = [
        inside.url("/"),
        format!("http://localhost:{}/", inside.addr.port()),
        format!("//[::ffff:127.0.0.1]:{}/", inside.addr.port()),
        "http://10.0.0.1/".into(),
        "http://169.254.169.254/latest/meta-data/".into(),
    ];
    for target in targets {
        let to = target.clone();
        let outside = Server::start(move |_| redirect_to(&to)).await;
        let rule = Resolve { host: "www.site.test".into(), port: None, addr: outside.addr };
        // Not allowed to reach loopback, except where the operator says so.
        let gate = gate(GateOptions { resolve: vec![rule], ..GateOptions::default() });
        let mut ask = ask("http://www.site.test/");
        ask.public = Arc::new(PublicRule::new(
            &[".test"],
            &[
                "127.0.0.1".into(),
                "localhost".into(),
                "10.0.0.1".into(),
                "169.254.169.254".into(),
                "[::ffff:7f00:1]".into(),
            ],
        ));
        let error = gate.fetch(&ask).await.unwrap_err();
        assert!(matches!(error.kind(), FetchErrorKind::ForbiddenAddress { .. }), "{target}: {error}");
        assert_eq!(error.hops().len(), 1, "{error}");
        assert_eq!(outside.connections(), 1);
    }
    assert_eq!(inside.connections(), 0);
}

#[tokio::test]
async fn a_redirect_hop_passes_grant_and_public_path_like_any_request() {
    let server = Server::start(|asked| redirect_to(asked.path.trim_start_matches("/to?"))).await;
    let rule = Resolve { host: "a.test".into(), port: None, addr: server.addr };
    let gate = gate(GateOptions { resolve: vec![rule], ..options() });
    let own = |list: &[&str]| list.iter().map(|s| s.to_string()).collect::<Vec<_>>();
    let mut ask = ask("http://a.test/to?http://b.test/");
    ask.grant = Arc::new(Grant::new("test", &own(&["*"]), &own(&["a.test"]), &[]));
    let error = gate.fetch(&ask).await.unwrap_err();
    assert!(matches!(error.kind(), FetchErrorKind::NotGranted(_)), "{error}");
    assert!(error.to_string().contains(r#"hosts = ["a.test", "http://b.test"]"#), "{error}");
    ask.url = Url::parse("http://a.test/to?/admin/").unwrap();
    let error = gate.fetch(&ask).await.unwrap_err();
    assert!(matches!(error.kind(), FetchErrorKind::NotPublic(NotPublic::Path(_))), "{error}");
    assert_eq!(server.connections(), 2);
}

#[tokio::test]
async fn redirects_are_followed_by_the_gate_and_circles_end() {
    let server = Server::start(|asked| match asked.path.as_str() {
        "/a" => redirect_to("/b"),
        "/b" => redirect_to("c?x=1"),
        "/c?x=1" => reply("200 OK", "", b"there"),
        "/ring1" => redirect_to("/ring2"),
        "/ring2" => redirect_to("/ring1"),
        "/self" => redirect_to("/self"),
        path => {
            let n: u32 = path.trim_start_matches("/n").parse().unwrap();
            if n == 0 { reply("200 OK", "", b"end") } else { redirect_to(&format!("/n{}", n - 1)) }
        }
    })
    .await;
    let gate = gate(options());
    let fetched = gate.fetch(&ask(&server.url("/a"))).await.unwrap();
    assert_eq!(fetched.url.as_str(), server.url("/c?x=1"));
    let hops: Vec<_> = fetched.hops.iter().map(|hop| (hop.url.path(), hop.status)).collect();
    assert_eq!(hops, [("/a", 302), ("/b", 302)]);
    for ring in ["/ring1", "/self"] {
        let error = fetch_error(&gate, &server.url(ring)).await;
        assert!(matches!(error.kind(), FetchErrorKind::RedirectLoop), "{error}");
        assert_eq!(error.class(), ErrorClass::Server);
    }
    assert_eq!(gate.fetch(&ask(&server.url("/n10"))).await.unwrap().hops.len(), 10);
    let error = fetch_error(&gate, &server.url("/n11")).await;
    assert!(matches!(error.kind(), FetchErrorKind::TooManyRedirects(10)), "{error}");
}

#[tokio::test]
async fn a_redirected_post_becomes_a_get_and_leaves_its_credentials_behind() {
    let other = Server::start(|_| reply("200 OK", "", b"ok")).await;
    let to = other.url("/there");
    let server = Server::start(move |asked| match asked.path.as_str() {
        "/same" => redirect_to("/end"),
        "/other" => redirect_to(&to),
        _ => reply("200 OK", "", b"ok"),
    })
    .await;
    let gate = gate(options());
    for path in ["/same", "/other"] {
        let mut ask = ask(&server.url(path));
        ask.method = Method::Post;
        ask.body = Some(Bytes::from_static(b"q=1"));
        ask.headers = vec![
            ("Authorization".into(), "Bearer secret".into()),
            ("Content-Type".into(), "text/plain".into()),
        ];
        assert_eq!(gate.fetch(&ask).await.unwrap().status, 200);
    }
    let heads: Vec<String> = server.heads().iter().map(|h| h.to_lowercase()).collect();
    assert!(heads[0].starts_with("post /same") && heads[0].contains("content-length: 3"));
    assert!(heads[1].starts_with("get /end") && !heads[1].contains("content-"), "{}", heads[1]);
    assert!(heads[1].contains("authorization: bearer secret"));
    let there = other.heads()[0].to_lowercase();
    assert!(there.starts_with("get /there") && !there.contains("secret"), "{there}");
}

#[tokio::test]
async fn a_name_that_leads_to_a_forbidden_address_is_refused_also_when_it_changes_its_mind() {
    let server = Server::start(|_| reply("200 OK", "", b"secret")).await;
    let url = format!("http://rebind.test:{}/", server.addr.port());
    // Private beside loopback: none is left.
    let script = Script::new(&[&["10.0.0.1", "127.0.0.1", "::1"]]);
    let gate_a = gate(GateOptions { lookup: Some(script.clone()), ..GateOptions::default() });
    let error = fetch_error(&gate_a, &url).await;
    assert!(
        matches!(error.kind(), FetchErrorKind::ForbiddenAddress { why: Forbidden::Private, .. }),
        "{error}"
    );
    assert_eq!(script.1.load(Ordering::SeqCst), 1, "the address that is checked is the one that is used");
    // Rebinding: the second lookup answers otherwise and is checked like the first. The first answer is public
    // in the guard's eyes and nobody's in fact, so it only fails.
    let script = Script::new(&[&["192.0.1.1"], &["127.0.0.1"]]);
    let timeouts = Timeouts { connect: Duration::from_millis(200), ..Timeouts::default() };
    let gate_b = gate(GateOptions { lookup: Some(script), timeouts, ..GateOptions::default() });
    assert_eq!(fetch_error(&gate_b, &url).await.class(), ErrorClass::Network);
    let error = fetch_error(&gate_b, &url).await;
    assert!(
        matches!(error.kind(), FetchErrorKind::ForbiddenAddress { why: Forbidden::Loopback, .. }),
        "{error}"
    );
    assert_eq!(server.connections(), 0);
}

#[tokio::test]
async fn a_resolve_override_leads_a_name_to_an_address_of_the_operators_choice() {
    let (a, b) = (
        Server::start(|_| reply("200 OK", "", b"a")).await,
        Server::start(|_| reply("200 OK", "", b"b")).await,
    );
    let resolve = vec![
        Resolve { host: "WWW.gov.cn".into(), port: None, addr: a.addr },
        Resolve { host: "www.gov.cn".into(), port: Some(8080), addr: b.addr },
    ];
    let gate =
        gate(GateOptions { resolve, lookup: Some(Script::new(&[&["127.0.0.1"]])), ..GateOptions::default() });
    for (url, body, host) in [
        ("http://www.gov.cn/x", "a", "host: www.gov.cn\r\n"),
        ("http://www.gov.cn:8080/x", "b", "host: www.gov.cn:8080\r\n"),
        ("http://www.gov.cn:8081/x", "a", "host: www.gov.cn:8081\r\n"),
    ] {
        let fetched = gate.fetch(&ask(url)).await.unwrap();
        assert_eq!((&fetched.body[..], fetched.url.as_str()), (body.as_bytes(), url));
        let server = if body == "a" { &a } else { &b };
        assert!(server.heads().last().unwrap().to_lowercase().contains(host), "{url}");
    }
    let error = fetch_error(&gate, "http://other.gov.cn/").await;
    assert!(matches!(error.kind(), FetchErrorKind::ForbiddenAddress { .. }), "{error}");
}

#[test]
fn a_resolve_rule_is_read_from_text() {
    let rule: Resolve = "www.gov.cn=127.0.0.1:8443".parse().unwrap();
    assert_eq!((rule.host.as_str(), rule.port, rule.addr.port()), ("www.gov.cn", None, 8443));
    let rule: Resolve = "www.gov.cn:443=[::1]:8443".parse().unwrap();
    assert_eq!((rule.port, rule.addr.is_ipv6()), (Some(443), true));
    for bad in ["", "www.gov.cn", "www.gov.cn=127.0.0.1", "=127.0.0.1:1", "a:b=127.0.0.1:1"] {
        let error = bad.parse::<Resolve>().unwrap_err();
        assert_eq!(error.class(), ErrorClass::Config);
        assert!(error.to_string().contains("HOST=ADDRESS:PORT"));
    }
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    use std::io::Write;
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

#[tokio::test]
async fn a_compressed_page_is_decompressed_and_a_bomb_ends_at_the_cap() {
    let server = Server::start(|asked| match asked.path.as_str() {
        "/page" => reply("200 OK", "content-encoding: gzip\r\n", &gzip("政策".repeat(1000).as_bytes())),
        "/br" => reply("200 OK", "content-encoding: br\r\n", b"\x0b\x02\x80hello\x03"),
        "/cut" => reply("200 OK", "content-encoding: gzip\r\n", &gzip(&[7; 9999])[..20]),
        _ => reply("200 OK", "content-encoding: gzip\r\n", &gzip(&vec![0; 64 << 20])),
    })
    .await;
    let gate = gate(GateOptions { body_cap: 1 << 20, ..options() });
    assert_eq!(gate.fetch(&ask(&server.url("/page"))).await.unwrap().body, "政策".repeat(1000));
    let error = fetch_error(&gate, &server.url("/bomb")).await;
    assert!(matches!(error.kind(), FetchErrorKind::TooLarge { limit: 1048576 }), "{error}");
    assert!(matches!(fetch_error(&gate, &server.url("/br")).await.kind(), FetchErrorKind::BadEncoding(_)));
    assert!(matches!(fetch_error(&gate, &server.url("/cut")).await.kind(), FetchErrorKind::Truncated(_)));
    // A download decompresses too, piece by piece, under its own cap.
    let mut written = Vec::new();
    let error = gate.download(&ask(&server.url("/bomb")), &mut written, 100_000).await.unwrap_err();
    assert!(matches!(error.kind(), FetchErrorKind::TooLarge { limit: 100_000 }), "{error}");
    assert!(written.len() <= 100_000);
}

#[tokio::test]
async fn a_body_over_the_cap_is_cut_off_whether_or_not_it_says_so() {
    let server = Server::start(|asked| match asked.path.as_str() {
        "/announced" => {
            vec![Act::Send(b"HTTP/1.1 200 OK\r\ncontent-length: 104857600\r\n\r\n".to_vec()), Act::Flood]
        }
        _ => vec![Act::Send(b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n".to_vec()), Act::Flood],
    })
    .await;
    let gate = gate(options());
    for path in ["/announced", "/silent"] {
        let error = fetch_error(&gate, &server.url(path)).await;
        assert!(matches!(error.kind(), FetchErrorKind::TooLarge { limit: 8388608 }), "{error}");
        assert!(!error.is_retryable());
        let mut written = Vec::new();
        let error = gate.download(&ask(&server.url(path)), &mut written, 1 << 20).await.unwrap_err();
        assert!(matches!(error.kind(), FetchErrorKind::TooLarge { limit: 1048576 }), "{error}");
        assert!(written.len() <= 1 << 20);
    }
}

#[tokio::test]
async fn an_answer_that_breaks_off_is_never_taken_for_a_page() {
    let server = Server::start(|asked| {
        let send = |text: &str| Act::Send(text.as_bytes().to_vec());
        match asked.path.as_str() {
            "/short" => vec![send("HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf a page")],
            "/chunked" => vec![send("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n")],
            "/reset" => vec![Act::Reset],
            "/closed" => vec![],
            "/body-reset" => vec![send("HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf"), Act::Reset],
            _ => vec![send("SSH-2.0-OpenSSH_9.6\r\n\r\n")],
        }
    })
    .await;
    let gate = gate(options());
    for path in ["/short", "/chunked"] {
        let error = fetch_error(&gate, &server.url(path)).await;
        assert!(matches!(error.kind(), FetchErrorKind::Truncated(_)), "{path}: {error:?}");
    }
    for path in ["/reset", "/closed", "/body-reset"] {
        let error = fetch_error(&gate, &server.url(path)).await;
        assert_eq!(error.class(), ErrorClass::Network, "{path}: {error:?}");
        assert!(error.is_retryable());
    }
    let error = fetch_error(&gate, &server.url("/ssh")).await;
    assert!(matches!(error.kind(), FetchErrorKind::Protocol(_)), "{error:?}");
    let dead = { TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap() };
    let error = fetch_error(&gate, &format!("http://{dead}/")).await;
    assert!(matches!(error.kind(), FetchErrorKind::Connect(_)), "{error:?}");
}

#[tokio::test]
async fn silence_and_a_slow_drip_end_in_a_timeout() {
    let server = Server::start(|asked| match asked.path.as_str() {
        "/silent" => vec![Act::Hang],
        "/stalls" => {
            vec![Act::Send(b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf".to_vec()), Act::Hang]
        }
        _ => vec![Act::Send(b"HTTP/1.1 200 OK\r\n\r\n".to_vec()), Act::Drip],
    })
    .await;
    let ms = Duration::from_millis;
    let timeouts = Timeouts { read: ms(150), total: ms(600), download: ms(300), ..Timeouts::default() };
    let gate = gate(GateOptions { timeouts, ..options() });
    for (path, what) in [("/silent", Phase::Read), ("/stalls", Phase::Read), ("/drip", Phase::Total)] {
        let error = fetch_error(&gate, &server.url(path)).await;
        assert!(
            matches!(error.kind(), FetchErrorKind::Timeout { what: w, .. } if *w == what),
            "{path}: {error:?}"
        );
        assert_eq!(error.class(), ErrorClass::Network);
    }
    let error = gate.download(&ask(&server.url("/drip")), tokio::io::sink(), 1 << 20).await.unwrap_err();
    assert!(
        matches!(error.kind(), FetchErrorKind::Timeout { what: Phase::Total, after } if *after == ms(300))
    );
}

#[tokio::test]
async fn a_download_is_streamed_hashed_and_asked_for_as_it_is() {
    let server =
        Server::start(|_| reply("200 OK", "content-type: application/pdf\r\n", &[b'x'; 300_000])).await;
    let mut ask = ask(&server.url("/a.pdf"));
    ask.purpose = Purpose::Attachment;
    let mut written = Vec::new();
    let done = gate(options()).download(&ask, &mut written, 300_000).await.unwrap();
    assert_eq!((done.status, done.size, written.len()), (200, 300_000, 300_000));
    assert_eq!(done.header("content-type"), Some("application/pdf"));
    use sha2::Digest;
    let expected: String = sha2::Sha256::digest(&written).iter().map(|b| format!("{b:02x}")).collect();
    assert_eq!(done.sha256, expected);
    assert!(server.heads()[0].to_lowercase().contains("accept-encoding: identity\r\n"));
}

#[tokio::test]
async fn a_full_disk_is_the_stores_trouble_not_the_networks() {
    struct Full;
    impl AsyncWrite for Full {
        fn poll_write(
            self: std::pin::Pin<&mut Self>,
            _: &mut std::task::Context<'_>,
            _: &[u8],
        ) -> std::task::Poll<std::io::Result<usize>> {
            std::task::Poll::Ready(Err(std::io::ErrorKind::StorageFull.into()))
        }
        fn poll_flush(
            self: std::pin::Pin<&mut Self>,
            _: &mut std::task::Context<'_>,
        ) -> std::task::Poll<std::io::Result<()>> {
            std::task::Poll::Ready(Ok(()))
        }
        fn poll_shutdown(
            self: std::pin::Pin<&mut Self>,
            _: &mut std::task::Context<'_>,
        ) -> std::task::Poll<std::io::Result<()>> {
            std::task::Poll::Ready(Ok(()))
        }
    }
    let server = Server::start(|_| reply("200 OK", "", b"file")).await;
    let error = gate(options()).download(&ask(&server.url("/a")), Full, 1000).await.unwrap_err();
    assert_eq!(error.class(), ErrorClass::Storage);
    assert!(!error.is_retryable());
}

#[tokio::test]
async fn an_unknown_certificate_authority_is_refused_until_it_is_trusted() {
    let rcgen::CertifiedKey { cert, signing_key } =
        rcgen::generate_simple_self_signed(vec!["www.gov.cn".to_owned()]).unwrap();
    let key = rustls::pki_types::PrivateKeyDer::Pkcs8(signing_key.serialize_der().into());
    let config =
        rustls::ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![cert.der().clone()], key)
            .unwrap();
    let acceptor = tokio_rustls::TlsAcceptor::from(Arc::new(config));
    let server = Server::start_tls(|_| reply("200 OK", "", b"secure"), Some(acceptor)).await;
    let mut options = GateOptions {
        resolve: ["www.gov.cn", "other.gov.cn"]
            .iter()
            .map(|host| Resolve { host: host.to_string(), port: None, addr: server.addr })
            .collect(),
        ..GateOptions::default()
    };
    let error = fetch_error(&gate(options.clone()), "https://www.gov.cn/").await;
    assert_eq!(error.class(), ErrorClass::Tls, "{error:?}");
    assert!(error.to_string().contains("extra root"), "{error}");
    assert!(server.heads().is_empty(), "nothing was sent");

    options.trust_pem(&cert.pem()).unwrap();
    assert!(options.trust_pem("nothing").is_err());
    let gate = gate(options);
    assert_eq!(gate.fetch(&ask("https://www.gov.cn/")).await.unwrap().body, "secure");
    let error = fetch_error(&gate, "https://other.gov.cn/").await;
    assert_eq!(error.class(), ErrorClass::Tls, "the name must match: {error:?}");
}

#[test]
fn a_proxy_in_the_environment_is_not_used() {
    // The environment belongs to the whole process, so another one fetches a page with it.
    let proxy = "http://127.0.0.1:1";
    let mut child = std::process::Command::new(std::env::current_exe().unwrap());
    for name in ["http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"] {
        child.env(name, proxy);
    }
    let done = child
        .args(["--exact", "fetch::tests::a_page_is_fetched_with_honest_headers"])
        .env_remove("no_proxy")
        .env_remove("NO_PROXY")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&done.stdout);
    assert!(done.status.success() && said.contains("1 passed"), "{said}");
}

#[tokio::test]
async fn no_more_than_sixteen_requests_are_under_way_and_all_arrive() {
    let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let addr = listener.local_addr().unwrap();
    let (count, peak) = (now.clone(), most.clone());
    let server = tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let (count, peak) = (count.clone(), peak.clone());
            tokio::spawn(async move {
                let mut buffer = [0; 4096];
                while stream.read(&mut buffer).await.is_ok_and(|n| n > 0) {
                    peak.fetch_max(count.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                    tokio::time::sleep(Duration::from_millis(20)).await;
                    count.fetch_sub(1, Ordering::SeqCst);
                    if stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok").await.is_err() {
                        return;
                    }
                }
            });
        }
    });
    let resolve = (0..5).map(|i| Resolve { host: format!("h{i}.test"), port: None, addr }).collect();
    let gate = gate(GateOptions { resolve, ..options() });
    let tasks: Vec<_> = (0..100)
        .map(|i| {
            let (gate, ask) = (gate.clone(), ask(&format!("http://h{}.test/{i}", i % 5)));
            tokio::spawn(async move { gate.fetch(&ask).await.map(|f| f.status) })
        })
        .collect();
    for task in tasks {
        assert_eq!(task.await.unwrap().unwrap(), 200);
    }
    assert_eq!(most.load(Ordering::SeqCst), 16);
    server.abort();
}

#[tokio::test]
async fn a_dropped_fetch_gives_its_slot_back() {
    let server =
        Server::start(
            |asked| if asked.path == "/hang" { vec![Act::Hang] } else { reply("200 OK", "", b"ok") },
        )
        .await;
    let gate = gate(GateOptions { max_in_flight: 1, ..options() });
    let (hanging, slow) = (gate.clone(), ask(&server.url("/hang")));
    let task = tokio::spawn(async move { hanging.fetch(&slow).await });
    while server.heads().is_empty() {
        tokio::task::yield_now().await;
    }
    task.abort();
    assert_eq!(gate.fetch(&ask(&server.url("/next"))).await.unwrap().status, 200);
}

#[test]
fn a_setting_that_cannot_work_is_refused_at_once() {
    let build = |options| Gate::new(options, Arc::new(SystemClock), Arc::new(SeededEntropy::new(1))).err();
    let error = build(GateOptions { user_agent: "a\r\nb".into(), ..options() }).unwrap();
    assert_eq!(error.class(), ErrorClass::Config);
    let error = build(GateOptions { extra_roots: vec![vec![1, 2, 3].into()], ..options() }).unwrap();
    assert!(error.to_string().contains("root"), "{error}");
}
