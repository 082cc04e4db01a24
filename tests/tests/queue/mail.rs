//! E-mail: the dialogue of SMTP with a server that speaks it, over real TLS.

use std::sync::{Arc, Mutex};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use dibao::ErrorClass;
use dibao::deliver::{Channels, DeliveryError, Receipt, SystemCredentials};
use rustls::ServerConfig;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

use super::channels::message;

/// What a server heard, line by line.
type Heard = Arc<Mutex<Vec<String>>>;

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    /// TLS from the first byte.
    Tls,
    /// STARTTLS.
    Upgrade,
    /// It offers no encryption.
    Open,
}

struct Server {
    port: u16,
    root: CertificateDer<'static>,
    heard: Heard,
}

impl Server {
    async fn start(kind: Kind, refuse: Option<&'static str>) -> Server {
        let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        let root = made.cert.der().clone();
        let key = PrivateKeyDer::try_from(made.signing_key.serialize_der()).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![root.clone()], key)
            .unwrap();
        let tls = TlsAcceptor::from(Arc::new(config));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let heard: Heard = Arc::default();
        let lines = heard.clone();
        tokio::spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                let (tls, lines) = (tls.clone(), lines.clone());
                tokio::spawn(async move {
                    match kind {
                        Kind::Tls => {
                            let Ok(socket) = tls.accept(socket).await else { return };
                            talk(socket, lines, refuse, false, true).await;
                        }
                        Kind::Open => drop(talk(socket, lines, refuse, false, true).await),
                        Kind::Upgrade => {
                            let Some(socket) = talk(socket, lines.clone(), refuse, true, true).await else {
                                return;
                            };
                            let Ok(socket) = tls.accept(socket).await else { return };
                            talk(socket, lines, refuse, false, false).await;
                        }
                    }
                });
            }
        });
        Server { port, root, heard }
    }

    async fn send(&self, more: &str) -> Result<Receipt, DeliveryError> {
        let dir = TempDir::new().unwrap();
        let text = format!(
            "[channels.it]\nkind = \"email\"\nhost = \"localhost\"\nport = {}\nfrom = \"邸报 <dibao@example.org>\"\n\
             to = [\"a@example.org\", \"B <b@example.org>\"]\n{more}",
            self.port
        );
        std::fs::write(dir.path().join("channels.toml"), text).unwrap();
        let roots = [self.root.clone()];
        let channels = Channels::open(dir.path(), &SystemCredentials, &roots).unwrap();
        channels.send("it", &message()).await
    }

    fn heard(&self) -> Vec<String> {
        self.heard.lock().unwrap().clone()
    }
}

/// One connection. Gives the socket back when it is to be encrypted.
async fn talk<S: AsyncRead + AsyncWrite + Unpin>(
    socket: S,
    heard: Heard,
    refuse: Option<&str>,
    upgrade: bool,
    greet: bool,
) -> Option<S> {
    let mut socket = BufReader::new(socket);
    if greet {
        socket.write_all(b"220 localhost ESMTP\r\n").await.ok()?;
    }
    let (mut line, mut data) = (String::new(), false);
    loop {
        line.clear();
        if socket.read_line(&mut line).await.ok()? == 0 {
            return None;
        }
        let said = line.trim_end_matches("\r\n").to_owned();
        heard.lock().unwrap().push(said.clone());
        if data {
            if said == "." {
                data = false;
                socket.write_all(b"250 2.0.0 queued as 4711\r\n").await.ok()?;
            }
            continue;
        }
        let verb = said.split(' ').next().unwrap_or_default().to_ascii_uppercase();
        let answer = match verb.as_str() {
            verb if refuse.is_some_and(|refused| refused.starts_with(verb)) => {
                refuse.unwrap().split_once('=').unwrap().1.to_owned() + "\r\n"
            }
            "EHLO" if upgrade => "250-localhost\r\n250-8BITMIME\r\n250 STARTTLS\r\n".to_owned(),
            "EHLO" => "250-localhost\r\n250-8BITMIME\r\n250 AUTH PLAIN LOGIN\r\n".to_owned(),
            "STARTTLS" => {
                socket.write_all(b"220 go ahead\r\n").await.ok()?;
                return Some(socket.into_inner());
            }
            "AUTH" => "235 2.7.0 welcome\r\n".to_owned(),
            "DATA" => {
                data = true;
                "354 go ahead\r\n".to_owned()
            }
            "QUIT" => "221 bye\r\n".to_owned(),
            _ => "250 ok\r\n".to_owned(),
        };
        socket.write_all(answer.as_bytes()).await.ok()?;
    }
}

#[tokio::test]
async fn a_letter_goes_over_tls_with_its_subject_its_key_and_its_words() {
    for (kind, encryption) in [(Kind::Tls, "tls"), (Kind::Upgrade, "starttls")] {
        let server = Server::start(kind, None).await;
        let more = format!("encryption = \"{encryption}\"\nuser = \"u\"\npassword = \"hunter2\"\n");
        let receipt = server.send(&more).await.unwrap();
        assert!(receipt.0.contains("queued as 4711"), "{}", receipt.0);
        let heard = server.heard();
        let at = |words: &str| {
            heard
                .iter()
                .position(|line| line.starts_with(words))
                .unwrap_or_else(|| panic!("{words}: {heard:?}"))
        };
        if kind == Kind::Upgrade {
            assert!(at("STARTTLS") < at("AUTH"), "nothing is said before it is encrypted");
        }
        assert_eq!(heard[at("AUTH PLAIN")], format!("AUTH PLAIN {}", STANDARD.encode("\0u\0hunter2")));
        assert!(at("MAIL FROM:<dibao@example.org>") < at("RCPT TO:<a@example.org>"));
        assert!(at("RCPT TO:<b@example.org>") < at("DATA"));
        let letter = heard[at("DATA") + 1..].join("\n");
        let (head, body) = letter.split_once("\n\n").unwrap();
        assert!(head.contains("Message-ID: <") && head.contains("@example.org>"), "{head}");
        assert!(head.contains("Subject: =?utf-8?b?"), "{head}");
        assert!(head.contains("Content-Transfer-Encoding: base64"), "{head}");
        let body: String = body.lines().take_while(|line| *line != ".").collect();
        let text = String::from_utf8(STANDARD.decode(body).unwrap()).unwrap();
        assert!(text.contains("国家发展改革委") && text.contains("现将《办法》印发 @all"), "{text}");
    }
}

#[tokio::test]
async fn a_line_that_cannot_be_encrypted_hears_nothing() {
    let server = Server::start(Kind::Open, None).await;
    let error =
        server.send("encryption = \"starttls\"\nuser = \"u\"\npassword = \"hunter2\"\n").await.unwrap_err();
    assert!(
        server.heard().iter().all(|line| !line.starts_with("AUTH") && !line.starts_with("MAIL")),
        "{error}"
    );
    // A relay on the same machine, and the operator has said so.
    server.send("encryption = \"none\"\n").await.unwrap();
    assert!(server.heard().iter().any(|line| line.starts_with("MAIL FROM:")));
}

#[tokio::test]
async fn a_last_word_is_not_asked_for_again_and_a_wait_is() {
    for (refuse, class) in [
        ("AUTH=535 5.7.8 wrong password", ErrorClass::Config),
        ("RCPT=550 5.1.1 no such user", ErrorClass::Config),
        ("MAIL=451 4.7.1 greylisted, come back", ErrorClass::Busy),
    ] {
        let server = Server::start(Kind::Tls, Some(refuse)).await;
        let error = server.send("user = \"u\"\npassword = \"hunter2\"\n").await.unwrap_err();
        assert_eq!(error.class, class, "{refuse}: {error}");
        assert!(!error.message.contains("hunter2"), "{error}");
    }
}
