//! A real Chromium as an operator's browser, driven over its debugging pipe. It keeps what must never happen: console
//! errors, violations of the page's policy, dialogs, requests to another server.

use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use base64::Engine as _;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::unix::pipe;
use tokio::sync::{mpsc, oneshot};

/// Far more than anything takes on a slow machine; what hangs must not hang the whole check.
const TOO_LONG: Duration = Duration::from_secs(90);
/// Gives our pipes the numbers that Chromium expects.
const SHELL: &str = r#"exec "$@" 3<&0 4>&1 </dev/null >/dev/null"#;

type Waiting = Arc<Mutex<Vec<(u64, oneshot::Sender<Value>)>>>;

/// One window of one Chromium, which ends with it.
pub struct Browser {
    child: Child,
    _profile: TempDir,
    commands: mpsc::UnboundedSender<Vec<u8>>,
    waiting: Waiting,
    next: Mutex<u64>,
    session: String,
    amiss: Arc<Mutex<Vec<String>>>,
    requests: Arc<Mutex<Vec<String>>>,
}

/// The program, or none with the reason said; on CI it has to be there.
pub fn program() -> Option<PathBuf> {
    let named = std::env::var_os("DIBAO_CHROMIUM").map(PathBuf::from).filter(|file| file.is_file());
    let path = std::env::var_os("PATH").unwrap_or_default();
    let names = ["chromium", "chromium-browser", "google-chrome-stable", "google-chrome", "chrome"];
    let found = || {
        std::env::split_paths(&path)
            .flat_map(|dir| names.map(|name| dir.join(name)))
            .find(|file| file.is_file())
    };
    let program = named.or_else(found);
    assert!(
        program.is_some() || std::env::var_os("CI").is_none(),
        "on CI the page is tested: install Chromium"
    );
    if program.is_none() {
        eprintln!("skipped: no Chromium is installed");
    }
    program
}

impl Browser {
    /// Starts it with a window of this width.
    pub async fn start(program: &Path, width: u32, dark: bool) -> Browser {
        let profile = tempfile::Builder::new().prefix("dibao-page-").tempdir().unwrap();
        let mut command = Command::new("/bin/sh");
        command.args(["-c", SHELL, "sh"]).arg(program).args([
            "--headless=new",
            "--remote-debugging-pipe",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--disable-extensions",
            "--disable-default-apps",
            "--mute-audio",
            "--hide-scrollbars",
            "--lang=zh-CN",
        ]);
        command.arg(format!("--user-data-dir={}", profile.path().display()));
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()
            .unwrap();
        let to = pipe::Sender::from_owned_fd(OwnedFd::from(child.stdin.take().unwrap())).unwrap();
        let from = pipe::Receiver::from_owned_fd(OwnedFd::from(child.stdout.take().unwrap())).unwrap();
        let (commands, queue) = mpsc::unbounded_channel();
        let (waiting, amiss, requests) = (Waiting::default(), Arc::default(), Arc::default());
        tokio::spawn(write(to, queue));
        tokio::spawn(read(from, waiting.clone(), Arc::clone(&amiss), Arc::clone(&requests)));
        let mut browser = Browser {
            child,
            _profile: profile,
            commands,
            waiting,
            next: Mutex::new(0),
            session: String::new(),
            amiss,
            requests,
        };
        let target =
            browser.call("Target.createTarget", json!({ "url": "about:blank" })).await["targetId"].clone();
        let attached =
            browser.call("Target.attachToTarget", json!({ "targetId": target, "flatten": true })).await;
        browser.session = attached["sessionId"].as_str().expect("a session").to_owned();
        for domain in ["Page", "Runtime", "Log", "Network"] {
            browser.call(&format!("{domain}.enable"), json!({})).await;
        }
        let features =
            json!([{ "name": "prefers-color-scheme", "value": if dark { "dark" } else { "light" } }]);
        browser.call("Emulation.setEmulatedMedia", json!({ "features": features })).await;
        browser.width(width).await;
        browser
    }

    /// Opens one more window beside this one; its session, for [`Browser::eval_in`].
    pub async fn beside(&self, url: &str) -> String {
        let made = self.call("Target.createTarget", json!({ "url": "about:blank" })).await;
        let ask = json!({ "targetId": made["targetId"], "flatten": true });
        let attached = self.call("Target.attachToTarget", ask).await;
        let session = attached["sessionId"].as_str().expect("a session").to_owned();
        self.call_in(&session, "Page.enable", json!({})).await;
        self.call_in(&session, "Page.navigate", json!({ "url": url })).await;
        session
    }

    /// Makes the window this wide.
    pub async fn width(&self, width: u32) {
        let height = if width < 720 { 844 } else { 860 };
        let metrics =
            json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 720 });
        self.call("Emulation.setDeviceMetricsOverride", metrics).await;
    }

    /// Opens an address.
    pub async fn open(&self, url: &str) {
        self.call("Page.navigate", json!({ "url": url })).await;
    }

    /// What an expression is worth, once it is.
    pub async fn eval(&self, expression: &str) -> Value {
        self.eval_in(&self.session, expression).await
    }

    /// The same in another window.
    pub async fn eval_in(&self, session: &str, expression: &str) -> Value {
        let ask = json!({ "expression": expression, "awaitPromise": true, "returnByValue": true, "userGesture": true });
        let answer = self.call_in(session, "Runtime.evaluate", ask).await;
        assert!(answer.get("exceptionDetails").is_none(), "{expression}: {answer}");
        answer["result"]["value"].clone()
    }

    /// Waits until an expression is true.
    pub async fn until(&self, expression: &str) {
        self.until_in(&self.session, expression).await;
    }

    /// The same in another window.
    pub async fn until_in(&self, session: &str, expression: &str) {
        let begun = Instant::now();
        // While a page is being replaced there is nothing to ask.
        let guarded =
            format!("(() => {{ try {{ return Boolean({expression}); }} catch {{ return false; }} }})()");
        while self.eval_in(session, &guarded).await != true {
            if begun.elapsed() > TOO_LONG {
                let seen = self
                    .eval_in(session, "location.href + '\\n' + document.body.innerText.slice(0, 3000)")
                    .await;
                panic!("never: {expression}\n{}\n{:?}", seen.as_str().unwrap_or_default(), self.amiss());
            }
            tokio::time::sleep(Duration::from_millis(40)).await;
        }
    }

    /// Waits until the page shows these words.
    pub async fn shows(&self, words: &str) {
        self.until(&format!("document.body.innerText.includes({})", json!(words))).await;
    }

    /// Presses the first button or link with these words, once there is one that can be pressed.
    pub async fn press(&self, words: &str) {
        let find = format!(
            "[...document.querySelectorAll('dialog[open] button, dialog[open] a')].concat([...document.querySelectorAll('button, a')])\
             .find((node) => node.innerText.trim() === {} && !node.disabled && node.getClientRects().length)",
            json!(words)
        );
        self.until(&find).await;
        self.eval(&format!("{find}.click()")).await;
    }

    /// Types into a field as somebody does: its old text is replaced, and the page hears of it.
    pub async fn fill(&self, selector: &str, text: &str) {
        let field = format!("document.querySelector({})", json!(selector));
        self.until(&field).await;
        self.eval(&format!("{field}.focus(), {field}.select?.()")).await;
        self.call("Input.insertText", json!({ "text": text })).await;
    }

    /// A key, by itself.
    pub async fn key(&self, key: &str) {
        let text = if key.chars().count() == 1 { key } else { "" };
        for kind in ["keyDown", "keyUp"] {
            let text = if kind == "keyDown" { text } else { "" };
            let code = match key {
                "Enter" => 13,
                "Escape" => 27,
                _ => 0,
            };
            let text = if key == "Enter" && kind == "keyDown" { "\r" } else { text };
            self.call(
                "Input.dispatchKeyEvent",
                json!({ "type": kind, "key": key, "text": text, "windowsVirtualKeyCode": code }),
            )
            .await;
        }
    }

    /// Goes to a page and waits until nothing is being read any more.
    pub async fn visit(&self, place: &str) {
        self.eval(&format!("location.hash = {}", json!(place))).await;
        self.settled().await;
    }

    /// Waits until the page has what it asked for.
    pub async fn settled(&self) {
        self.until("document.querySelector('main') && !document.querySelector('[aria-busy=true], .loading')")
            .await;
    }

    /// How many pixels the page is wider than its window.
    pub async fn overflow(&self) -> i64 {
        self.eval("document.documentElement.scrollWidth - document.documentElement.clientWidth")
            .await
            .as_i64()
            .unwrap_or(0)
    }

    /// Keeps a picture of the whole page under `target/`, for people to look at.
    pub async fn picture(&self, name: &str) {
        let size = self.eval("[document.documentElement.clientWidth, Math.min(3000, document.documentElement.scrollHeight)]").await;
        let clip = json!({ "x": 0, "y": 0, "width": size[0], "height": size[1], "scale": 1 });
        let taken = self
            .call(
                "Page.captureScreenshot",
                json!({ "format": "png", "captureBeyondViewport": true, "clip": clip }),
            )
            .await;
        let bytes =
            base64::prelude::BASE64_STANDARD.decode(taken["data"].as_str().expect("a picture")).unwrap();
        let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/page");
        std::fs::create_dir_all(&dir).unwrap();
        std::fs::write(dir.join(format!("{name}.png")), bytes).unwrap();
    }

    /// What went wrong so far: console errors, refused loads, dialogs.
    pub fn amiss(&self) -> Vec<String> {
        self.amiss.lock().unwrap().clone()
    }

    /// The addresses that were asked for.
    pub fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }

    async fn call(&self, method: &str, params: Value) -> Value {
        self.call_in(&self.session, method, params).await
    }

    async fn call_in(&self, session: &str, method: &str, params: Value) -> Value {
        let id = {
            let mut next = self.next.lock().unwrap();
            *next += 1;
            *next
        };
        let (answer, wait) = oneshot::channel();
        self.waiting.lock().unwrap().push((id, answer));
        let mut message = json!({ "id": id, "method": method, "params": params });
        if !session.is_empty() {
            message["sessionId"] = json!(session);
        }
        let mut bytes = message.to_string().into_bytes();
        bytes.push(0);
        self.commands.send(bytes).expect("Chromium listens");
        let answer = tokio::time::timeout(TOO_LONG, wait).await;
        let answer = answer.unwrap_or_else(|_| panic!("{method} is not answered")).expect("Chromium lives");
        assert!(answer.get("error").is_none(), "{method}: {answer}");
        answer["result"].clone()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // It is the leader of a group of its own.
        if let Some(group) = rustix::process::Pid::from_raw(self.child.id() as i32) {
            let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        }
        let _ = self.child.wait();
    }
}

async fn write(mut to: pipe::Sender, mut queue: mpsc::UnboundedReceiver<Vec<u8>>) {
    while let Some(message) = queue.recv().await {
        if to.write_all(&message).await.is_err() {
            return;
        }
    }
}

async fn read(
    mut from: pipe::Receiver,
    waiting: Waiting,
    amiss: Arc<Mutex<Vec<String>>>,
    requests: Arc<Mutex<Vec<String>>>,
) {
    let mut buffer = Vec::new();
    while let Ok(1..) = from.read_buf(&mut buffer).await {
        while let Some(end) = buffer.iter().position(|byte| *byte == 0) {
            let message: Vec<u8> = buffer.drain(..=end).collect();
            let message: Value = serde_json::from_slice(&message[..end]).expect("Chromium writes JSON");
            if let Some(id) = message["id"].as_u64() {
                let mut waiting = waiting.lock().unwrap();
                if let Some(at) = waiting.iter().position(|(waits, _)| *waits == id) {
                    let _ = waiting.swap_remove(at).1.send(message);
                }
                continue;
            }
            let params = &message["params"];
            match message["method"].as_str().unwrap_or_default() {
                "Network.requestWillBeSent" => {
                    requests
                        .lock()
                        .unwrap()
                        .push(params["request"]["url"].as_str().unwrap_or_default().to_owned());
                }
                "Runtime.consoleAPICalled" if params["type"] == "error" || params["type"] == "warning" => {
                    amiss.lock().unwrap().push(format!("console: {}", params["args"]));
                }
                "Runtime.exceptionThrown" => {
                    amiss.lock().unwrap().push(format!("exception: {}", params["exceptionDetails"]))
                }
                "Log.entryAdded"
                    if params["entry"]["level"] == "error" || params["entry"]["level"] == "warning" =>
                {
                    amiss
                        .lock()
                        .unwrap()
                        .push(format!("log: {} {}", params["entry"]["text"], params["entry"]["url"]));
                }
                "Page.javascriptDialogOpening" => amiss.lock().unwrap().push(format!("dialog: {params}")),
                _ => {}
            }
        }
    }
}
