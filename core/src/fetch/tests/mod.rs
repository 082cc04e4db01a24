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
    head: String,
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
    log.lock().unwrap().push(head.clone());
    for act in answer(Asked { path, head }) {
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
        robots: RobotsMode::Bypass,
        strategy: escalate::Strategy::Auto,
        wire: Arc::default(),
        pulse: Default::default(),
    }
}

/// An error of a host that is not held against it the next time.
async fn fetch_error(gate: &Gate, url: &str) -> FetchError {
    gate.hosts().reset(Url::parse(url).unwrap().host_str().unwrap());
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

mod answers;
mod asides;
mod backends;
mod changed;
mod firewalls;
mod pages;
mod shelves;
mod ssrf;
mod ways;
mod wires;
