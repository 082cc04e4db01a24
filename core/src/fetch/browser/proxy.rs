//! The one way out of a page: a proxy on loopback, made for one fetch and gone with it. It asks the gate about every
//! host and connects to the addresses that the gate gives, never to a name.

use std::collections::HashMap;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::pin::Pin;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use futures::StreamExt;
use futures::stream::FuturesUnordered;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadBuf, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;
use tokio_rustls::{TlsAcceptor, TlsConnector};
use url::Url;

use super::relay;
use crate::fetch::backend::Screen;
use crate::fetch::error::{FetchErrorKind, Phase};

/// The head of a request; Chromium's own limit is far higher than any server's.
const MAX_HEAD: usize = 64 << 10;
/// Connections at once; Chromium makes no more than 32 to a proxy.
const MAX_LINES: usize = 64;
/// For a connection, as for plain HTTP.
const CONNECT: Duration = Duration::from_secs(10);

pub(super) struct Proxy<'a> {
    listener: TcpListener,
    screen: &'a dyn Screen,
    /// With authorities of the site's own: what answers Chromium, and what talks to the host.
    tls: Option<(TlsAcceptor, TlsConnector)>,
    /// Bytes that came from hosts, and how many may.
    bytes: AtomicU64,
    cap: u64,
    /// Why there is no way to a host and port.
    troubles: Mutex<HashMap<String, FetchErrorKind>>,
}

impl<'a> Proxy<'a> {
    pub async fn open(
        screen: &'a dyn Screen,
        acceptor: &TlsAcceptor,
        cap: u64,
    ) -> Result<Proxy<'a>, FetchErrorKind> {
        let none = |error: io::Error| FetchErrorKind::Backend(format!("no loopback port for it ({error})"));
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.map_err(none)?;
        let connector = relay::connector(&screen.extra_roots())?;
        let tls = connector.map(|connector| (acceptor.clone(), connector));
        Ok(Proxy { listener, screen, tls, bytes: AtomicU64::new(0), cap, troubles: Mutex::default() })
    }

    pub fn address(&self) -> Result<SocketAddr, FetchErrorKind> {
        self.listener.local_addr().map_err(|error| FetchErrorKind::Backend(error.to_string()))
    }

    /// Bytes that came over the wire.
    pub fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Why there was no way to the host of an address, if there was none.
    pub fn trouble(&self, url: &Url) -> Option<FetchErrorKind> {
        let place = place(url.host_str()?, url.port_or_known_default()?);
        self.troubles.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).remove(&place)
    }

    /// Serves until dropped.
    pub async fn serve(&self) {
        let mut lines = FuturesUnordered::new();
        loop {
            tokio::select! {
                accepted = self.listener.accept(), if lines.len() < MAX_LINES => match accepted {
                    Ok((line, _)) => lines.push(self.carry(line)),
                    // Out of descriptors, most likely.
                    Err(_) => tokio::time::sleep(Duration::from_millis(20)).await,
                },
                Some(()) = lines.next(), if !lines.is_empty() => (),
            }
        }
    }

    /// One connection of Chromium's.
    async fn carry(&self, mut line: TcpStream) {
        let _ = line.set_nodelay(true);
        let Some((head, rest)) = read_head(&mut line).await else { return };
        let Some(wish) = Wish::read(&head) else { return };
        let done = match &wish {
            Wish::Tunnel(url) => self.tunnel(&mut line, url).await,
            Wish::Forward { url, head } => self.forward(&mut line, url, head, &rest).await,
        };
        if let Err(kind) = done {
            let (Wish::Tunnel(url) | Wish::Forward { url, .. }) = &wish;
            tracing::debug!(%url, %kind, "a connection of the browser was refused");
            if let (Some(host), Some(port)) = (url.host_str(), url.port_or_known_default()) {
                let mut troubles = self.troubles.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
                troubles.insert(place(host, port), kind);
            }
            let _ = line
                .write_all(b"HTTP/1.1 502 Bad Gateway\r\nconnection: close\r\ncontent-length: 0\r\n\r\n")
                .await;
        }
    }

    async fn tunnel(&self, line: &mut TcpStream, url: &Url) -> Result<(), FetchErrorKind> {
        // A tunnel tells no scheme: sockets in the clear (`ws:`) are tunnelled too.
        self.screen.check(url, false).or_else(|denied| {
            let mut plain = url.clone();
            let port = url.port_or_known_default();
            plain
                .set_scheme("http")
                .and_then(|()| plain.set_port(port).map_err(drop))
                .map_err(|()| denied)?;
            self.screen.check(&plain, false)
        })?;
        let host = self.connect(url).await?;
        let clear = url.port() == Some(80);
        match self.tls.as_ref().filter(|_| !clear) {
            None => {
                let _ = line.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await;
                let _ = copy_bidirectional(line, &mut self.counted(host)).await;
            }
            Some((acceptor, connector)) => {
                let name = url.host_str().unwrap_or_default();
                let mut host =
                    timeout(CONNECT, relay::secure(connector, name, host)).await.unwrap_or(Err(slow()))?;
                let _ = line.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await;
                if let Ok(mut inner) = acceptor.accept(line).await {
                    let _ = copy_bidirectional(&mut inner, &mut self.counted(&mut host)).await;
                }
            }
        }
        Ok(())
    }

    async fn forward(
        &self,
        line: &mut TcpStream,
        url: &Url,
        head: &[u8],
        rest: &[u8],
    ) -> Result<(), FetchErrorKind> {
        self.screen.check(url, false)?;
        let mut host = self.connect(url).await?;
        let sent = async {
            host.write_all(head).await?;
            host.write_all(rest).await
        };
        sent.await.map_err(|error: io::Error| FetchErrorKind::Reset(error.to_string()))?;
        let _ = copy_bidirectional(line, &mut self.counted(host)).await;
        Ok(())
    }

    /// A connection to where the gate says.
    async fn connect(&self, url: &Url) -> Result<TcpStream, FetchErrorKind> {
        let (Some(host), Some(port)) = (url.host_str(), url.port_or_known_default()) else {
            return Err(FetchErrorKind::Connect("no host".to_owned()));
        };
        let connecting = async {
            let addresses = self.screen.resolve(host, port).await?;
            let refused = |error: io::Error| FetchErrorKind::Connect(error.to_string());
            TcpStream::connect(addresses.as_slice()).await.map_err(refused)
        };
        let line = timeout(CONNECT, connecting).await.unwrap_or(Err(slow()))?;
        let _ = line.set_nodelay(true);
        Ok(line)
    }

    fn counted<S>(&self, line: S) -> Counted<'_, S> {
        Counted { line, bytes: &self.bytes, cap: self.cap }
    }
}

fn slow() -> FetchErrorKind {
    FetchErrorKind::Timeout { what: Phase::Connect, after: CONNECT }
}

fn place(host: &str, port: u16) -> String {
    format!("{}:{port}", host.to_ascii_lowercase())
}

/// What Chromium wants of the proxy.
#[derive(Debug, PartialEq, Eq)]
enum Wish {
    /// A line to the host of this address.
    Tunnel(Url),
    /// This request, with the head as the host should see it.
    Forward { url: Url, head: Vec<u8> },
}

impl Wish {
    fn read(head: &[u8]) -> Option<Wish> {
        let text = std::str::from_utf8(head).ok()?;
        let (first, headers) = text.split_once("\r\n")?;
        let mut words = first.split(' ');
        let (method, target, version) = (words.next()?, words.next()?, words.next()?);
        if words.next().is_some() || !version.starts_with("HTTP/1.") {
            return None;
        }
        if method == "CONNECT" {
            let url = Url::parse(&format!("https://{target}/")).ok()?;
            return (url.path() == "/" && url.username().is_empty()).then_some(Wish::Tunnel(url));
        }
        let url = Url::parse(target).ok().filter(|url| url.scheme() == "http" && url.has_host())?;
        let path = &url[url::Position::BeforePath..url::Position::AfterQuery];
        // One request a connection: whose host the next one is for would have to be asked anew.
        let mut out = format!("{method} {path} {version}\r\nconnection: close\r\n");
        for line in headers.split("\r\n").filter(|line| !line.is_empty()) {
            let name = line.split(':').next().unwrap_or_default().to_ascii_lowercase();
            if name != "connection" && !name.starts_with("proxy-") {
                out.push_str(line);
                out.push_str("\r\n");
            }
        }
        out.push_str("\r\n");
        Some(Wish::Forward { url, head: out.into_bytes() })
    }
}

/// The head of a request, and what came with it.
async fn read_head(line: &mut TcpStream) -> Option<(Vec<u8>, Vec<u8>)> {
    let mut head = Vec::with_capacity(2048);
    loop {
        if line.read_buf(&mut head).await.ok()? == 0 || head.len() > MAX_HEAD {
            return None;
        }
        if let Some(end) = head.windows(4).position(|four| four == b"\r\n\r\n") {
            let rest = head.split_off(end + 4);
            return Some((head, rest));
        }
    }
}

/// A line to a host whose bytes are counted, up to the limit of the page.
struct Counted<'a, S> {
    line: S,
    bytes: &'a AtomicU64,
    cap: u64,
}

impl<S: AsyncRead + Unpin> AsyncRead for Counted<'_, S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        ready!(Pin::new(&mut self.line).poll_read(cx, buf))?;
        let read = (buf.filled().len() - before) as u64;
        if self.bytes.fetch_add(read, Ordering::Relaxed) + read > self.cap {
            return Poll::Ready(Err(io::Error::other("the page loads more than it may")));
        }
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Counted<'_, S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.line).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.line).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.line).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_read_as_its_host_should_see_it() {
        let read = |head: &str| Wish::read(head.as_bytes());
        let url = |text: &str| Url::parse(text).unwrap();
        assert_eq!(
            read("CONNECT www.gov.cn:443 HTTP/1.1\r\nhost: x\r\n\r\n"),
            Some(Wish::Tunnel(url("https://www.gov.cn/")))
        );
        assert_eq!(
            read("CONNECT [::1]:8443 HTTP/1.1\r\n\r\n"),
            Some(Wish::Tunnel(url("https://[::1]:8443/")))
        );
        let head = "GET http://www.gov.cn/a?b=1 HTTP/1.1\r\nHost: www.gov.cn\r\nProxy-Connection: keep-alive\r\nConnection: x\r\nAccept: */*\r\n\r\n";
        let Some(Wish::Forward { url: to, head }) = read(head) else { panic!() };
        assert_eq!(to, url("http://www.gov.cn/a?b=1"));
        assert_eq!(
            String::from_utf8(head).unwrap(),
            "GET /a?b=1 HTTP/1.1\r\nconnection: close\r\nHost: www.gov.cn\r\nAccept: */*\r\n\r\n"
        );
        for bad in [
            "GET / HTTP/1.1\r\n\r\n",
            "GET https://www.gov.cn/ HTTP/1.1\r\n\r\n",
            "GET ftp://www.gov.cn/ HTTP/1.1\r\n\r\n",
            "CONNECT a/b:443 HTTP/1.1\r\n\r\n",
            "CONNECT user@host:443 HTTP/1.1\r\n\r\n",
            "CONNECT HTTP/1.1\r\n\r\n",
            "GET http://a/ b HTTP/1.1\r\n\r\n",
            "\r\n\r\n",
        ] {
            assert_eq!(read(bad), None, "{bad:?}");
        }
    }
}
