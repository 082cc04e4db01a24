//! How one site is reached: its own name, its own addresses, its proxy, both versions of HTTP, and connections that
//! are used again.

use http_body_util::Full;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};

use super::*;

/// A server that keeps connections open, over TLS when there is an acceptor, and counts connections and requests.
struct Keeping {
    addr: SocketAddr,
    connections: Arc<AtomicUsize>,
    versions: Arc<Mutex<Vec<hyper::Version>>>,
}

impl Keeping {
    async fn start(tls: Option<tokio_rustls::TlsAcceptor>) -> Keeping {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let addr = listener.local_addr().unwrap();
        let (connections, versions) = (Arc::new(AtomicUsize::new(0)), Arc::new(Mutex::new(Vec::new())));
        let (count, seen) = (connections.clone(), versions.clone());
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                count.fetch_add(1, Ordering::SeqCst);
                let (seen, tls) = (seen.clone(), tls.clone());
                let service = service_fn(move |request: hyper::Request<hyper::body::Incoming>| {
                    seen.lock().unwrap().push(request.version());
                    let answer = hyper::Response::new(Full::new(Bytes::from_static(b"<p>ok")));
                    std::future::ready(Ok::<_, std::convert::Infallible>(answer))
                });
                tokio::spawn(async move {
                    let Some(tls) = tls else {
                        let plain = hyper::server::conn::http1::Builder::new();
                        return plain.serve_connection(TokioIo::new(stream), service).await.is_ok();
                    };
                    let Ok(stream) = tls.accept(stream).await else { return false };
                    match stream.get_ref().1.alpn_protocol() {
                        Some(b"h2") => {
                            let two = hyper::server::conn::http2::Builder::new(TokioExecutor::new());
                            two.serve_connection(TokioIo::new(stream), service).await.is_ok()
                        }
                        _ => {
                            let one = hyper::server::conn::http1::Builder::new();
                            one.serve_connection(TokioIo::new(stream), service).await.is_ok()
                        }
                    }
                });
            }
        });
        Keeping { addr, connections, versions }
    }
}

/// A certificate for `host`, with the protocols the server offers.
fn acceptor(host: &str, alpn: &[&[u8]]) -> (tokio_rustls::TlsAcceptor, String) {
    let key = rcgen::KeyPair::generate().unwrap();
    let cert = rcgen::CertificateParams::new([host.to_owned()]).unwrap().self_signed(&key).unwrap();
    let der = rustls::pki_types::PrivateKeyDer::try_from(key.serialize_der()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![cert.der().clone()], der)
        .unwrap();
    config.alpn_protocols = alpn.iter().map(|name| name.to_vec()).collect();
    (tokio_rustls::TlsAcceptor::from(Arc::new(config)), cert.pem())
}

fn over(url: &str, wire: Wire) -> Ask {
    Ask { wire: Arc::new(wire), ..ask(url) }
}

#[tokio::test]
async fn both_versions_of_http_are_spoken_and_a_connection_is_used_again() {
    for (alpn, version) in [
        (&[&b"h2"[..], b"http/1.1"][..], hyper::Version::HTTP_2),
        (&[&b"http/1.1"[..]][..], hyper::Version::HTTP_11),
        (&[][..], hyper::Version::HTTP_11),
    ] {
        let (tls, pem) = acceptor("www.kept.test", alpn);
        let server = Keeping::start(Some(tls)).await;
        let mut options = options();
        options.resolve = vec![Resolve { host: "www.kept.test".into(), port: None, addr: server.addr }];
        // Trusted for this site alone: without it, the host is not who it says.
        let gate = gate(options);
        let wire = Wire { extra_roots: Wire::roots_of(&pem).unwrap(), ..Wire::default() };
        for i in 0..8 {
            // Another name is no reason for another connection.
            let user_agent = (i % 2 == 0).then(|| "named/1".to_owned());
            let url = format!("https://www.kept.test/{i}");
            let fetched = gate.fetch(&over(&url, Wire { user_agent, ..wire.clone() })).await.unwrap();
            assert_eq!((fetched.status, &fetched.body[..]), (200, &b"<p>ok"[..]));
        }
        assert_eq!(*server.versions.lock().unwrap(), vec![version; 8]);
        assert_eq!(server.connections.load(Ordering::SeqCst), 1, "{version:?}");
        let error = fetch_error(&gate, "https://www.kept.test/").await;
        assert!(matches!(error.kind(), FetchErrorKind::Tls(_)), "{error}");
    }
}

#[tokio::test]
async fn a_site_is_asked_under_its_own_name_and_robots_are_read_under_it() {
    let server = Server::start(|asked| match asked.path.as_str() {
        "/robots.txt" => {
            let text = b"User-agent: *\nDisallow: /\n\nUser-agent: guest\nDisallow: /shut\n";
            reply("200 OK", "content-type: text/plain\r\n", text)
        }
        _ => reply("200 OK", "", b"<p>ok"),
    })
    .await;
    let gate = gate(options());
    let wire =
        Arc::new(Wire { user_agent: Some("guest/2.0 (+https://example.org)".into()), ..Wire::default() });
    let robots = RobotsMode::default();
    let own = |path: &str| Ask { wire: wire.clone(), robots, ..ask(&server.url(path)) };
    assert_eq!(gate.fetch(&own("/open")).await.unwrap().status, 200);
    assert!(matches!(gate.fetch(&own("/shut")).await.unwrap_err().kind(), FetchErrorKind::Robots { .. }));
    let everybody = Ask { robots, ..ask(&server.url("/open")) };
    assert!(matches!(gate.fetch(&everybody).await.unwrap_err().kind(), FetchErrorKind::Robots { .. }));
    assert!(
        server.heads().iter().all(|head| head.contains("user-agent: guest/2.0 (+https://example.org)\r\n"))
    );
}

#[tokio::test]
async fn a_host_is_reached_over_the_family_its_site_asks_for() {
    let server = Keeping::start(None).await;
    let url = format!("http://both.test:{}/", server.addr.port());
    let lookup = Script::new(&[&["127.0.0.1", "::1"]]);
    let gate = gate(GateOptions { lookup: Some(lookup), ..options() });
    let v4 = Wire { ip_family: IpFamily::V4, ..Wire::default() };
    assert_eq!(gate.fetch(&over(&url, v4)).await.unwrap().status, 200);
    let v6 = Wire { ip_family: IpFamily::V6, ..Wire::default() };
    let error = gate.fetch(&over(&url, v6)).await.unwrap_err();
    assert!(matches!(error.kind(), FetchErrorKind::Connect(_)), "nobody is at [::1]: {error}");
    let lookup = Script::new(&[&["127.0.0.1"]]);
    let gate = super::gate(GateOptions { lookup: Some(lookup), ..options() });
    let v6 = Wire { ip_family: IpFamily::V6, ..Wire::default() };
    let error = gate.fetch(&over(&url, v6)).await.unwrap_err();
    assert!(
        matches!(error.kind(), FetchErrorKind::Dns(_)) && error.to_string().contains("ip_family: v6"),
        "{error}"
    );
}

#[tokio::test]
async fn a_proxy_is_asked_only_for_what_the_guard_allows() {
    // It answers in the place of whoever was meant.
    let proxy = Server::start(|_| reply("200 OK", "", b"<p>proxied")).await;
    let lookup = Script::new(&[&["8.8.8.8"], &["10.0.0.7"]]);
    // Loopback is forbidden: the proxy alone may be there, because the operator says so.
    let gate = gate(GateOptions { lookup: Some(lookup), ..GateOptions::default() });
    let wire = Wire { proxy: Some(Url::parse(&proxy.url("")).unwrap()), ..Wire::default() };
    let fetched = gate.fetch(&over("http://www.public.test/a", wire.clone())).await.unwrap();
    assert_eq!(&fetched.body[..], b"<p>proxied");
    assert!(
        proxy.heads()[0].starts_with("GET http://www.public.test/a HTTP/1.1\r\n"),
        "{}",
        proxy.heads()[0]
    );

    for url in ["http://www.public.test/b", "http://127.0.0.1/", "http://169.254.169.254/"] {
        let error = gate.fetch(&over(url, wire.clone())).await.unwrap_err();
        assert!(matches!(error.kind(), FetchErrorKind::ForbiddenAddress { .. }), "{url}: {error}");
    }
    assert_eq!(proxy.heads().len(), 1, "of the others it never heard");
}

#[tokio::test]
async fn a_socks_proxy_is_told_the_address_that_was_checked() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let addr = listener.local_addr().unwrap();
    let told = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut hello = [0; 2];
        stream.read_exact(&mut hello).await.unwrap();
        stream.read_exact(&mut vec![0; hello[1].into()]).await.unwrap();
        stream.write_all(&[5, 0]).await.unwrap();
        // Version, connect, reserved, IPv4, four bytes of it, two of the port.
        let mut wanted = [0; 10];
        stream.read_exact(&mut wanted).await.unwrap();
        stream.write_all(&[5, 0, 0, 1, 0, 0, 0, 0, 0, 0]).await.unwrap();
        let mut head = [0; 4096];
        let _ = stream.read(&mut head).await.unwrap();
        stream
            .write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\nok")
            .await
            .unwrap();
        wanted
    });
    let gate = gate(GateOptions { lookup: Some(Script::new(&[&["8.8.8.8"]])), ..GateOptions::default() });
    let proxy = Url::parse(&format!("socks5://{addr}")).unwrap();
    let wire = Wire { proxy: Some(proxy), ..Wire::default() };
    let fetched = gate.fetch(&over("http://www.public.test/a", wire)).await.unwrap();
    assert_eq!(&fetched.body[..], b"ok");
    assert_eq!(told.await.unwrap(), [5, 1, 0, 1, 8, 8, 8, 8, 0, 80]);
}
