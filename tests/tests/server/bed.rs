//! A served data directory: the real program on a port of its own, and a client that tells the whole answer.

use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use dibao_replica::{Replica, ReplicaOptions};
use reqwest::{Client, Method, RequestBuilder, StatusCode};
use serde_json::Value;
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

/// Nothing here takes a tenth of this.
pub const TOO_LONG: Duration = Duration::from_secs(120);
pub const PASSWORD: &str = "密码 with spaces";

/// A site of the TRS replica with two columns.
pub const SITE: &str = include_str!("../../../sites/ndrc.yaml");

/// A replica and a directory, to serve from.
pub struct Bed {
    pub replica: Replica,
    dir: TempDir,
}

/// A program that serves.
pub struct Served {
    pub base: String,
    child: Child,
    pub client: Client,
    auth: Option<(String, String)>,
    pub log: std::sync::Arc<std::sync::Mutex<String>>,
}

/// An answer, read to its end.
#[derive(Debug)]
pub struct Answer {
    pub status: StatusCode,
    pub headers: reqwest::header::HeaderMap,
    pub text: String,
}

impl Answer {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or("")
    }

    /// The answer, if it has this status.
    pub fn is(self, status: u16) -> Answer {
        assert_eq!(self.status.as_u16(), status, "{self:?}");
        self
    }

    /// A problem document of this kind.
    pub fn problem(self, code: &str) -> Value {
        assert_eq!(self.header("content-type"), "application/problem+json", "{self:?}");
        let problem = self.json();
        assert_eq!(problem["code"], code, "{self:?}");
        assert_eq!(problem["status"], self.status.as_u16(), "{self:?}");
        assert_eq!(problem["request_id"], self.header("x-request-id"), "{self:?}");
        problem
    }
}

/// The program beside this test.
fn dibao() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let path = test.parent().and_then(Path::parent).unwrap().join("dibao");
    assert!(path.exists(), "run `cargo build --package dibao-cli` first ({})", path.display());
    path
}

pub fn adapters() -> PathBuf {
    let dir = std::env::var_os("DIBAO_ADAPTERS")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/adapters"), PathBuf::from);
    assert!(dir.join("yaml-css.wasm").exists(), "run `cargo xtask adapters` first ({})", dir.display());
    dir
}

impl Bed {
    pub async fn new() -> Bed {
        let options = ReplicaOptions { articles: 60, article_kib: 4..=6, ..ReplicaOptions::default() };
        let replica = Replica::start(options).await.unwrap();
        let bed = Bed { replica, dir: tempfile::tempdir().unwrap() };
        std::fs::write(bed.path("ca.pem"), bed.replica.ca_pem()).unwrap();
        bed
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// A command on this bed's data; nothing of the tester's own settings gets in.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(dibao());
        command.current_dir(self.dir.path()).env_clear();
        command
            .args(["--data", "data", "--interval", "0", "--cacert", "ca.pem", "--adapters"])
            .arg(adapters());
        for host in self.replica.hosts() {
            for (port, addr) in [(443, self.replica.addr()), (80, self.replica.http_addr())] {
                command.args(["--resolve", &format!("{host}:{port}={addr}")]);
            }
        }
        command
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        command
    }

    /// Serves without a password.
    pub async fn serve(&self) -> Served {
        self.serve_with(&[], &[]).await
    }

    /// Serves with a password.
    pub async fn guarded(&self) -> Served {
        let mut served = self.serve_with(&[], &[("ADMIN_PASSWORD", PASSWORD)]).await;
        served.auth = Some(("admin".into(), PASSWORD.into()));
        served
    }

    pub async fn serve_with(&self, arguments: &[&str], env: &[(&str, &str)]) -> Served {
        let mut command = self.command(&["serve"]);
        if !arguments.contains(&"--listen") {
            command.args(["--listen", "127.0.0.1:0"]);
        }
        command.args(arguments).envs(env.iter().copied());
        let mut child = command.spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let log = std::sync::Arc::new(std::sync::Mutex::new(String::new()));
        let kept = log.clone();
        let (told, address) = tokio::sync::oneshot::channel();
        tokio::spawn(async move {
            let mut told = Some(told);
            while let Ok(Some(line)) = lines.next_line().await {
                kept.lock().unwrap().push_str(&format!("{line}\n"));
                if let Some((_, rest)) = line.split_once("serving at http://")
                    && let Some(told) = told.take()
                {
                    let _ = told.send(rest.split('/').next().unwrap_or("").to_owned());
                }
            }
        });
        let address = tokio::time::timeout(TOO_LONG, address).await.expect("it serves in time");
        let address = address.unwrap_or_else(|_| panic!("it ended: {}", log.lock().unwrap()));
        // reqwest is built without a provider of its own; the first of several tests installs it.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client =
            Client::builder().timeout(TOO_LONG).redirect(reqwest::redirect::Policy::none()).build().unwrap();
        Served { base: format!("http://{address}"), child, client, auth: None, log }
    }
}

impl Served {
    /// Where it listens, as an address of a socket.
    pub fn address(&self) -> std::net::SocketAddr {
        self.base.strip_prefix("http://").unwrap().parse().unwrap()
    }

    /// A request as nobody.
    pub fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.client.request(method, format!("{}{path}", self.base))
    }

    /// A request as the administrator.
    pub fn asked(&self, method: Method, path: &str) -> RequestBuilder {
        let request = self.request(method, path);
        match &self.auth {
            Some((user, password)) => request.basic_auth(user, Some(password)),
            None => request,
        }
    }

    pub async fn send(&self, request: RequestBuilder) -> Answer {
        let answer = request.send().await.unwrap();
        let (status, headers) = (answer.status(), answer.headers().clone());
        Answer { status, headers, text: answer.text().await.unwrap() }
    }

    pub async fn get(&self, path: &str) -> Answer {
        self.send(self.asked(Method::GET, path)).await
    }

    pub async fn post(&self, path: &str, body: Value) -> Answer {
        let request = self.asked(Method::POST, path).header("content-type", "application/json");
        self.send(request.body(body.to_string())).await
    }

    pub async fn put(&self, path: &str, body: Value) -> Answer {
        let request = self.asked(Method::PUT, path).header("content-type", "application/json");
        self.send(request.body(body.to_string())).await
    }

    pub async fn delete(&self, path: &str) -> Answer {
        self.send(self.asked(Method::DELETE, path)).await
    }

    /// Sends a signal.
    pub fn signal(&self, signal: rustix::process::Signal) {
        let id = self.child.id().and_then(|id| rustix::process::Pid::from_raw(id as i32)).unwrap();
        rustix::process::kill_process(id, signal).unwrap();
    }

    /// Waits for its end.
    pub async fn ended(mut self) -> ExitStatus {
        let ended = tokio::time::timeout(TOO_LONG, self.child.wait()).await;
        ended.unwrap_or_else(|_| panic!("it does not end: {}", self.log.lock().unwrap())).unwrap()
    }
}
