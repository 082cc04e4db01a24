//! A host that rustls refuses, for real: OpenSSL's own test server with nothing but a cipher of before forward secrecy.
//!
//! `cargo test -p dibao --features native-tls --test native_tls`; needs the `openssl` program.

use std::io::{BufRead, BufReader};
use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use dibao::clock::{SeededEntropy, SystemClock};
use dibao::fetch::escalate::Strategy;
use dibao::fetch::{
    Ask, Expects, FetchErrorKind, Gate, GateOptions, Grant, HostPolicy, Method, PublicRule, Purpose, Resolve,
    RobotsMode, Tls, Wire,
};

const HOST: &str = "www.old.test";

/// The old host; it ends with the test.
struct Old(Child);

impl Drop for Old {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn certificate(dir: &Path) -> String {
    let made = Command::new("openssl")
        .args(["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-keyout", "key.pem"])
        .args(["-out", "cert.pem", "-subj", "/CN=www.old.test", "-addext", "subjectAltName=DNS:www.old.test"])
        .current_dir(dir)
        .output()
        .expect("the openssl program");
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    std::fs::read_to_string(dir.join("cert.pem")).expect("a certificate")
}

fn old_host(dir: &Path) -> (Old, SocketAddr) {
    // s_server takes no port 0: one that was free a moment ago has to do.
    let addr = TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr()).expect("a port");
    let mut child = Command::new("openssl")
        .args(["s_server", "-accept", &addr.to_string(), "-cert", "cert.pem", "-key", "key.pem"])
        .args(["-tls1_2", "-cipher", "AES128-SHA", "-www"])
        .current_dir(dir)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the openssl program");
    let said = BufReader::new(child.stdout.take().expect("its output"));
    let old = Old(child);
    let ready = said.lines().map_while(Result::ok).any(|line| line.starts_with("ACCEPT"));
    assert!(ready, "openssl s_server did not start");
    (old, addr)
}

#[tokio::test]
async fn a_host_that_rustls_refuses_is_reached_with_openssl_and_its_own_authority() {
    let dir = tempfile::tempdir().expect("a directory");
    let pem = certificate(dir.path());
    let (_old, addr) = old_host(dir.path());
    let resolve = vec![Resolve { host: HOST.into(), port: None, addr }];
    let options = GateOptions { resolve, ..GateOptions::default() };
    let gate = Gate::new(options, Arc::new(SystemClock), Arc::new(SeededEntropy::new(1))).expect("a gate");
    let everything = ["*".to_owned()];
    let ask = |tls: Tls, trusted: bool| Ask {
        purpose: Purpose::List,
        method: Method::Get,
        url: format!("https://{HOST}/").parse().expect("an address"),
        headers: Vec::new(),
        body: None,
        expects: Expects::Html,
        grant: Arc::new(Grant::new("test", &everything, &everything, &[])),
        public: Arc::new(PublicRule::new(&[".test"], &[HOST.to_owned()])),
        policy: HostPolicy::unpaced(1),
        robots: RobotsMode::Bypass,
        strategy: Strategy::Auto,
        pulse: Default::default(),
        wire: Arc::new(Wire {
            tls,
            extra_roots: if trusted { Wire::roots_of(&pem).expect("roots") } else { Vec::new() },
            ..Wire::default()
        }),
    };

    let error = gate.fetch(&ask(Tls::Rustls, true)).await.expect_err("rustls knows no such cipher");
    assert!(matches!(error.kind(), FetchErrorKind::Tls(_)), "{error}");
    assert!(error.to_string().contains("`tls: native`"), "it says what helps: {error}");

    let error = gate.fetch(&ask(Tls::Native, false)).await.expect_err("nobody vouches for it");
    assert!(matches!(error.kind(), FetchErrorKind::Tls(_)), "{error}");

    let fetched = gate.fetch(&ask(Tls::Native, true)).await.expect("an answer");
    assert_eq!(fetched.status, 200);
    assert!(String::from_utf8_lossy(&fetched.body).contains("AES128-SHA"), "OpenSSL names the cipher");
}
