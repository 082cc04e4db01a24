//! Answers that are too large, too slow, cut off, compressed or not to be trusted.

use super::*;

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
        "/zstd" => {
            let packed = zstd::bulk::compress(&gzip(b"twice"), 3).unwrap();
            reply("200 OK", "content-encoding: gzip, zstd\r\n", &packed)
        }
        "/odd" => reply("200 OK", "content-encoding: compress\r\n", b"\x1f\x9d\x90"),
        "/cut" => reply("200 OK", "content-encoding: gzip\r\n", &gzip(&[7; 9999])[..20]),
        _ => reply("200 OK", "content-encoding: gzip\r\n", &gzip(&vec![0; 64 << 20])),
    })
    .await;
    let gate = gate(GateOptions { body_cap: 1 << 20, ..options() });
    assert_eq!(gate.fetch(&ask(&server.url("/page"))).await.unwrap().body, "政策".repeat(1000));
    let error = fetch_error(&gate, &server.url("/bomb")).await;
    assert!(matches!(error.kind(), FetchErrorKind::TooLarge { limit: 1048576 }), "{error}");
    // Some servers compress as they like, whatever was asked for.
    assert_eq!(gate.fetch(&ask(&server.url("/br"))).await.unwrap().body, "hello");
    assert_eq!(gate.fetch(&ask(&server.url("/zstd"))).await.unwrap().body, "twice");
    // What cannot be read is no sign that the host is ill, however often it comes.
    for _ in 0..6 {
        let error = gate.fetch(&ask(&server.url("/odd"))).await.unwrap_err();
        assert!(matches!(error.kind(), FetchErrorKind::BadEncoding(_)), "{error}");
        assert_eq!(error.verdict().unwrap().kind, verdict::VerdictKind::WrongContent);
    }
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
async fn headers_as_programs_of_old_write_them_are_read() {
    let server = Server::start(|asked| {
        let head = match asked.path.as_str() {
            "/folded" => "X-Powered-By: one\r\n  and more\r\nContent-Type: text/html\r\n",
            "/spaced" => "Content-Type : text/html\r\n",
            _ => "Content-Type: text/html\r\n<!-- no header -->\r\n",
        };
        let text = format!("HTTP/1.1 200 OK\r\n{head}Content-Length: 7\r\nConnection: close\r\n\r\n<p>page");
        vec![Act::Send(text.into_bytes())]
    })
    .await;
    let gate = gate(options());
    for path in ["/folded", "/spaced", "/stray"] {
        let fetched =
            gate.fetch(&ask(&server.url(path))).await.unwrap_or_else(|error| panic!("{path}: {error}"));
        assert_eq!((fetched.status, &fetched.body[..]), (200, &b"<p>page"[..]), "{path}");
        assert_eq!(fetched.header("content-type"), Some("text/html"), "{path}");
    }
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
