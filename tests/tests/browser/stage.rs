//! Chromium, if there is one; asks that go straight to a gate; processes as the system sees them.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use dibao::clock::{SystemClock, SystemEntropy};
use dibao::fetch::browser::{Browser, BrowserOptions};
use dibao::fetch::escalate::Strategy;
use dibao::fetch::{
    Ask, Expects, FetchBackend, Gate, GateOptions, Grant, HostPolicy, Method, PublicRule, Purpose, Rendering,
    RobotsMode, Wire,
};
use dibao_replica::{Fault, FaultRule};
use url::Url;

use crate::bed::Bed;

pub const GDQY: &str = "www.gdqy.gov.cn";

/// Whether there is a Chromium to test with; says why not.
pub async fn chromium() -> bool {
    let browser = Browser::new(quick()).expect("the usual settings");
    match browser.available().await {
        Ok(()) => true,
        Err(why) if std::env::var_os("CI").is_some() => panic!("on CI the browser is tested: {why}"),
        Err(why) => {
            eprintln!("skipped: {why}");
            false
        }
    }
}

/// Short times where something is waited for that does not come: the replica answers at once.
pub fn quick() -> BrowserOptions {
    BrowserOptions {
        program: std::env::var_os("DIBAO_CHROMIUM").map(Into::into),
        settle: Duration::from_secs(3),
        patience: Duration::from_secs(20),
        ..BrowserOptions::default()
    }
}

/// A gate that reaches the replica, with this browser.
pub fn gate(bed: &Bed, browser: BrowserOptions, change: impl FnOnce(&mut GateOptions)) -> Gate {
    let backend = Arc::new(Browser::new(browser).expect("settings that work"));
    let mut options = GateOptions { resolve: bed.rules(), backends: vec![backend], ..GateOptions::default() };
    options.trust_pem(bed.replica.ca_pem()).expect("the replica's root");
    change(&mut options);
    Gate::new(options, Arc::new(SystemClock), Arc::new(SystemEntropy)).expect("a gate")
}

/// A page by the browser. Everything is granted, so that only the other checks hold.
pub fn page(url: &str) -> Ask {
    granted(url, "*")
}

/// The same with the hosts of one pattern only.
pub fn granted(url: &str, hosts: &str) -> Ask {
    let (url, hosts) = (Url::parse(url).expect("an address"), [hosts.to_owned()]);
    let host = [url.host_str().unwrap_or_default().to_owned()];
    Ask {
        purpose: Purpose::List,
        method: Method::Get,
        headers: Vec::new(),
        body: None,
        expects: Expects::Any,
        grant: Arc::new(Grant::new("test", &hosts, &hosts, &[])),
        public: Arc::new(PublicRule::new(&[".gov.cn".to_owned(), ".news.cn".to_owned()], &host)),
        policy: HostPolicy { min_interval: Duration::ZERO, jitter: Duration::ZERO, ..HostPolicy::default() },
        robots: RobotsMode::Bypass,
        strategy: Strategy::Browser,
        wire: Arc::default(),
        pulse: Default::default(),
        url,
    }
}

/// The same with settings of its site.
pub fn rendered(url: &str, rendering: Rendering) -> Ask {
    Ask { wire: Arc::new(Wire { rendering, ..Wire::default() }), ..page(url) }
}

/// Puts a page of the test's own under a path of the replica.
pub fn put(bed: &Bed, path: &str, html: &str) -> String {
    let body =
        format!("<!DOCTYPE html><html><head><meta charset=\"utf-8\"></head><body>{html}</body></html>");
    let fault = Fault::Status { code: 200, retry_after: None, body: Some(body) };
    bed.replica.fault(FaultRule::new(fault).host(GDQY).path(format!("{path}*")));
    format!("https://{GDQY}{path}")
}

/// The processes in whose command line this directory stands.
pub fn processes_of(dir: &Path) -> Vec<u32> {
    let dir = dir.display().to_string();
    let pids = std::fs::read_dir("/proc").expect("/proc").flatten();
    let pids = pids.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let named = |pid: &u32| {
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).contains(&dir)
    };
    pids.filter(named).collect()
}

/// Waits until the last of them is gone and the directory is empty.
pub async fn all_gone(dir: &Path) {
    let empty = || std::fs::read_dir(dir).is_ok_and(|mut entries| entries.next().is_none());
    for _ in 0..200 {
        if processes_of(dir).is_empty() && empty() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("left: {:?}, profile removed: {}", processes_of(dir), empty());
}
