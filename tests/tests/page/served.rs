//! The real `dibao serve` on a replica, and a browser in front of it.

use std::process::Stdio;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::Child;

use crate::chromium::{Browser, program};
use crate::stage::Stage;

pub const PASSWORD: &str = "correct horse battery staple";

/// A server with its replica; both end with it.
pub struct Served {
    pub stage: Stage,
    pub origin: String,
    more: String,
    server: Child,
}

impl Served {
    /// Starts it; `more` are further words of the command line.
    pub async fn start(stage: Stage, more: &str) -> Served {
        let (server, origin) = serve(&stage, "127.0.0.1:0", more).await;
        Served { stage, origin, more: more.to_owned(), server }
    }

    /// Ends the server.
    pub async fn stop(&mut self) {
        self.server.kill().await.expect("it runs");
    }

    /// Starts it again where it was.
    pub async fn again(&mut self) {
        let addr = self.origin.trim_start_matches("http://").to_owned();
        self.server = serve(&self.stage, &addr, &self.more).await.0;
    }

    /// A browser in which somebody has signed in; none where there is no Chromium.
    pub async fn signed_in(&self, width: u32, dark: bool) -> Option<Browser> {
        let browser = Browser::start(&program()?, width, dark).await;
        browser.open(&format!("{}/admin/", self.origin)).await;
        browser.fill("input[name=user]", "admin").await;
        browser.fill("input[name=password]", PASSWORD).await;
        browser.press("登录").await;
        browser.until("document.querySelector('.live')?.dataset.state === 'on'").await;
        Some(browser)
    }

    /// Asks the API as the administrator.
    pub async fn api(&self, method: &str, path: &str, body: Value) -> Value {
        // The client wants one named, though nothing here is encrypted; another test may have been first.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = reqwest::Client::new();
        let url = format!("{}/admin/api{path}", self.origin);
        let method = method.parse().unwrap();
        let ask = client.request(method, &url).basic_auth("admin", Some(PASSWORD));
        let ask = match &body {
            Value::Null => ask,
            Value::String(yaml) => ask.header("content-type", "application/yaml").body(yaml.clone()),
            body => ask.header("content-type", "application/json").body(body.to_string()),
        };
        let answer = ask.send().await.unwrap();
        let (status, text) = (answer.status(), answer.text().await.unwrap());
        assert!(status.is_success(), "{url}: {status} {text}");
        serde_json::from_str(&text).unwrap_or(json!(null))
    }

    /// Whether the server has this route, by its own description.
    pub async fn has(&self, route: &str) -> bool {
        let document = self.api("GET", "/openapi.json", json!(null)).await;
        document["paths"].get(format!("/admin/api{route}")).is_some()
    }

    /// The parts of the page's own contract that this server does not have yet: what the page says of them is no fault of
    /// the page.
    pub async fn missing(&self) -> Vec<&'static str> {
        let parts = [
            ("/articles/search", "/articles/search"),
            ("/schedules", "/schedules"),
            ("/schedules/load", "/schedules/load"),
            ("/jobs/scheduled", "/jobs/scheduled"),
            ("/targets/{code}/parser/preview", "/parser/preview"),
        ];
        let mut missing = Vec::new();
        for (route, part) in parts {
            if !self.has(route).await {
                missing.push(part);
            }
        }
        missing
    }

    /// Nothing went wrong in the browser, and it talked to nobody else.
    pub async fn nothing_amiss(&self, browser: &Browser) {
        let missing = self.missing().await;
        let mut amiss = browser.amiss();
        amiss.retain(|line| !missing.iter().any(|part| line.contains(part)));
        assert_eq!(amiss, Vec::<String>::new());
        for url in browser.requests() {
            let own = url.starts_with(&self.origin) || url.starts_with("data:") || url == "about:blank";
            assert!(own, "the page asked {url}");
        }
    }
}

/// The process, and where it serves.
async fn serve(stage: &Stage, listen: &str, more: &str) -> (Child, String) {
    let mut command = stage.command(&format!("serve --listen {listen} {more}"));
    command.env("ADMIN_PASSWORD", PASSWORD).stdout(Stdio::null());
    let mut server = command.spawn().unwrap();
    let mut lines = BufReader::new(server.stderr.take().unwrap()).lines();
    let mut said = String::new();
    let origin = tokio::time::timeout(Duration::from_secs(120), async {
        while let Some(line) = lines.next_line().await.unwrap() {
            let rest = line.split_once("http://").and_then(|(_, rest)| rest.split_once("/admin/"));
            if let Some((origin, _)) = rest {
                return format!("http://{origin}");
            }
            said += &line;
        }
        panic!("it ended: {said}");
    });
    let origin = origin.await.expect("it says where it serves");
    // What nobody reads would stop it in the end.
    tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
    (server, origin)
}
