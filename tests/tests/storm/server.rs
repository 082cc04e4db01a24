//! One server for all hosts, which answers by each host's weather and tells the judges what it saw.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use dibao::Clock;
use dibao::fetch::HostPolicy;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;
use url::Url;

use crate::clock::SimClock;
use crate::judge::{End, Judge};
use crate::weather::{Forecast, Weather};

/// How long a page may take, on the virtual clock.
pub const PAGE_TIME: Duration = Duration::from_secs(45);

/// A host, by the policies of the sites that ask it.
pub struct HostFacts {
    pub name: String,
    pub forecast: Forecast,
    /// By the first segment of the path: `a`, `b`.
    pub sites: Vec<HostPolicy>,
    pub crawl_delay: Option<Duration>,
}

pub struct Server {
    pub addr: SocketAddr,
    pub seen: Arc<Seen>,
    task: JoinHandle<()>,
}

pub struct Seen {
    clock: Arc<SimClock>,
    hosts: HashMap<String, HostFacts>,
    judges: Mutex<HashMap<String, Judge>>,
    /// Connections that are open.
    pub open: AtomicUsize,
    pub count: Mutex<HashMap<String, u32>>,
    number: Mutex<u64>,
}

impl Server {
    pub async fn start(clock: Arc<SimClock>, hosts: Vec<HostFacts>) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let addr = listener.local_addr().unwrap();
        let seen = Arc::new(Seen {
            clock: clock.clone(),
            hosts: hosts.into_iter().map(|host| (host.name.clone(), host)).collect(),
            judges: Mutex::default(),
            open: AtomicUsize::new(0),
            count: Mutex::default(),
            number: Mutex::new(0),
        });
        let shared = seen.clone();
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                clock.stir();
                let seen = shared.clone();
                seen.open.fetch_add(1, Ordering::Relaxed);
                tokio::spawn(async move {
                    seen.converse(stream).await;
                    seen.open.fetch_sub(1, Ordering::Relaxed);
                    seen.clock.stir();
                });
            }
        });
        Server { addr, seen, task }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Seen {
    /// Everything the judges have to say.
    pub fn judges<T>(&self, look: impl FnMut((&String, &mut Judge)) -> T) -> Vec<T> {
        self.judges.lock().unwrap().iter_mut().map(look).collect()
    }

    fn judge<T>(&self, host: &HostFacts, act: impl FnOnce(&mut Judge) -> T) -> T {
        let url: Url = format!("http://{}/", host.name).parse().unwrap();
        let key = host.sites[0].key_of(&url).into_owned();
        let mut judges = self.judges.lock().unwrap();
        act(judges.entry(key.clone()).or_insert_with(|| Judge::new(&key)))
    }

    async fn converse(&self, mut stream: TcpStream) {
        let mut buffer = Vec::new();
        loop {
            let mut piece = [0; 2048];
            while !buffer.ends_with(b"\r\n\r\n") {
                match stream.read(&mut piece).await {
                    Ok(read @ 1..) => buffer.extend_from_slice(&piece[..read]),
                    _ => return,
                }
                self.clock.stir();
            }
            let head = String::from_utf8_lossy(&buffer).into_owned();
            buffer.clear();
            let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
            let host = head.lines().find_map(|line| line.strip_prefix("host: ")).unwrap_or_default();
            let Some(host) = self.hosts.get(host) else { panic!("nobody is called {host}: {head}") };
            // A connection that its client closed may not be seen as closed yet.
            for _ in 0..8 {
                tokio::task::yield_now().await;
            }
            self.clock.stir();
            let visit = head.lines().any(|line| line == VISIT);
            let (number, at) = self.arrives(host, &path);
            let (end, goes_on) = match visit {
                true => self.receive(&mut stream, host, at).await,
                false => self.answer(&mut stream, host, &path, at).await,
            };
            self.judge(host, |judge| judge.ends(number, self.clock.time(), end));
            self.clock.stir();
            if !goes_on {
                return;
            }
        }
    }

    fn arrives(&self, host: &HostFacts, path: &str) -> (u64, Duration) {
        let at = self.clock.time();
        let number = {
            let mut number = self.number.lock().unwrap();
            *number += 1;
            *number
        };
        *self.count.lock().unwrap().entry(host.name.clone()).or_default() += 1;
        let site = match path.as_bytes().get(1) {
            Some(b'a') => host.sites[0],
            // Nobody knows for which of its sites a robots.txt is asked for: the faster one's pace is kept at least.
            _ => *host.sites.last().unwrap(),
        };
        self.judge(host, |judge| {
            judge.arrives(number, at, site, path);
            if path.contains("/secret") && judge.rules.contains_key(&host.name) {
                judge.wrongs.push(format!("{}{path}: robots.txt forbids it", host.name));
            }
        });
        (number, at)
    }

    /// Answers a browser: firewalls let it in, and nothing else is better for it.
    async fn receive(&self, stream: &mut TcpStream, host: &HostFacts, at: Duration) -> (End, bool) {
        self.judge(host, |judge| judge.visited(&host.name, at));
        match host.forecast.at(at) {
            Weather::Calm | Weather::Challenge(_) => {
                say(stream, 200, HTML, &page()).await;
                (End::Good, true)
            }
            _ => {
                say(stream, 403, HTML, "<html><title>sorry</title></html>").await;
                (End::Refused, true)
            }
        }
    }

    /// Answers; how that ends, and whether the connection lives on.
    async fn answer(
        &self,
        stream: &mut TcpStream,
        host: &HostFacts,
        path: &str,
        at: Duration,
    ) -> (End, bool) {
        let robots = path.starts_with("/robots.txt");
        let rules = |rules: Option<Duration>| {
            if robots {
                self.judge(host, |judge| match rules {
                    Some(delay) => judge.rules.insert(host.name.clone(), delay),
                    None => judge.rules.remove(&host.name),
                });
            }
        };
        match host.forecast.at(at) {
            Weather::Calm if robots => {
                let delay = host.crawl_delay.map(|delay| format!("Crawl-delay: {}\n", delay.as_secs()));
                let text = format!("User-agent: *\n{}Disallow: /*/secret\n", delay.unwrap_or_default());
                say(stream, 200, "content-type: text/plain\r\n", &text).await;
                rules(Some(host.crawl_delay.unwrap_or_default()));
                (End::Good, true)
            }
            Weather::Calm => {
                say(stream, 200, HTML, &page()).await;
                (End::Good, true)
            }
            Weather::Reset => {
                let _ = stream.set_zero_linger();
                (End::Network, false)
            }
            Weather::Truncated => {
                let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 5000\r\n\r\n<html>half").await;
                (End::Network, false)
            }
            Weather::Drip => (self.drip(stream, at).await, false),
            Weather::Status(code) => {
                say(stream, code, HTML, "<html><title>sorry</title></html>").await;
                // 403 is an answer about the file: there is none. 429 and 503 are none.
                if code == 403 {
                    rules(None);
                }
                (if code == 429 { End::TooMany } else { End::Refused }, true)
            }
            Weather::RetrySeconds(code, seconds) => {
                say(stream, code, &format!("{HTML}retry-after: {seconds}\r\n"), "later").await;
                (End::RetryAfter(Duration::from_secs(seconds)), true)
            }
            Weather::RetryDate(code, seconds) => {
                let now = self.clock.now().to_utc();
                let then = now + chrono::Duration::seconds(seconds as i64);
                let date =
                    |at: chrono::DateTime<chrono::Utc>| at.format("%a, %d %b %Y %H:%M:%S GMT").to_string();
                let headers = format!("{HTML}date: {}\r\nretry-after: {}\r\n", date(now), date(then));
                say(stream, code, &headers, "later").await;
                (End::RetryAfter(Duration::from_secs(seconds)), true)
            }
            Weather::Challenge(code) => {
                let script = "<html><script>$_ts=window['$_ts'];if(!$_ts)$_ts={};$_ts.nsd=1;</script></html>";
                say(stream, code, HTML, script).await;
                (End::Refused, true)
            }
            Weather::LoopToItself => {
                say(stream, 302, &format!("location: {path}\r\n"), "").await;
                rules(None);
                (End::Refused, true)
            }
            Weather::LoopOfTwo => {
                let (to, back) = match path.strip_suffix("?2") {
                    Some(first) => (first.to_owned(), true),
                    None => (format!("{path}?2"), false),
                };
                say(stream, 302, &format!("location: {to}\r\n"), "").await;
                if back {
                    rules_of(self, host, path);
                }
                (if back { End::Refused } else { End::LedOn }, true)
            }
        }
    }

    /// A byte now and then, until the other end has had enough.
    async fn drip(&self, stream: &mut TcpStream, at: Duration) -> End {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 5000\r\n\r\n").await;
        let mut piece = [0; 16];
        loop {
            tokio::select! {
                read = stream.read(&mut piece) => match read {
                    Ok(1..) => {}
                    _ => break,
                },
                () = self.clock.sleep(Duration::from_secs(7)) => {
                    if stream.write_all(b".").await.is_err() {
                        break;
                    }
                }
            }
            self.clock.stir();
        }
        self.clock.stir();
        // Who left before the time of a page was over left for a reason of his own.
        if self.clock.time() - at >= PAGE_TIME { End::Network } else { End::Dropped }
    }
}

/// How the second tier says that it is one.
pub const VISIT: &str = "x-tier: browser";

const HTML: &str = "content-type: text/html; charset=utf-8\r\n";

/// A robots.txt that is redirected in a circle is none.
fn rules_of(seen: &Seen, host: &HostFacts, path: &str) {
    if path.starts_with("/robots.txt") {
        seen.judge(host, |judge| judge.rules.remove(&host.name));
    }
}

fn page() -> String {
    format!(
        "<!DOCTYPE html><html><title>通知</title><body>{}</body></html>",
        "各有关单位：现将事项通知如下。".repeat(40)
    )
}

async fn say(stream: &mut TcpStream, code: u16, headers: &str, body: &str) {
    let text = format!("HTTP/1.1 {code} X\r\ncontent-length: {}\r\n{headers}\r\n{body}", body.len());
    let _ = stream.write_all(text.as_bytes()).await;
}
