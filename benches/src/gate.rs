//! What the gate itself costs: its decisions around a request, and what it remembers of many hosts.
//!
//! The decisions are timed without a socket: a backend answers at once, and everything before and after it is the
//! gate's (grant, public path, address guard, breaker, robots.txt, throttle, verdict, ledger). Beside it, whole
//! fetches over loopback are compared with bare `reqwest` on the same kind of connection, as a check that nothing was
//! left out. The memory is that of a new process, before and after it has met ten thousand hosts.

use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use bytes::Bytes;
use dibao::clock::{SeededEntropy, SystemClock};
use dibao::fetch::cookies::parse_set_cookie;
use dibao::fetch::escalate::Strategy;
use dibao::fetch::hosts::HostRow;
use dibao::fetch::robots::{NoShelf, Origin, RobotsCopy, RobotsShelf};
use dibao::fetch::{
    Ask, BackendOrder, BackendPage, DEFAULT_SUFFIXES, Expects, FetchBackend, FetchErrorKind, Gate,
    GateOptions, Grant, HostPolicy, HostShelf, Method, PublicRule, Purpose, RobotsMode, Unavailable, Wire,
};
use dibao_replica::{Replica, ReplicaOptions};
use futures::future::{BoxFuture, ready};
use url::Url;

use crate::figures::{Figure, Goal, Samples};
use crate::world::World;

/// Hosts that are remembered.
const HOSTS: usize = 10_000;

/// A robots.txt as portals have it: the usual dozen of lines, and the host's own.
fn robots_of(origin: &Origin) -> Vec<u8> {
    format!(
        "# robots.txt of {0}\nUser-agent: *\nCrawl-delay: 0\nDisallow: /admin/\nDisallow: /search/\nDisallow: /*.jsp$\n\
         Disallow: /*?sessionid=\nDisallow: /api/\nAllow: /api/public/\nDisallow: /tmp/\nDisallow: /内部/\n\n\
         User-agent: Baiduspider\nUser-agent: Sogou web spider\nDisallow: /ztzl/old/\nAllow: /\n\n\
         Sitemap: {0}/sitemap.xml\n",
        origin.as_str()
    )
    .into_bytes()
}

/// Has a copy of every robots.txt, made when it is asked for.
struct EveryRobots;

impl RobotsShelf for EveryRobots {
    fn load<'a>(&'a self, origin: &'a Origin) -> BoxFuture<'a, Option<RobotsCopy>> {
        let copy = RobotsCopy::new(dibao::Clock::now(&SystemClock), 200, &robots_of(origin));
        Box::pin(ready(Some(RobotsCopy { etag: Some("\"5f3a-1c2\"".into()), ..copy })))
    }

    fn save<'a>(&'a self, _: &'a Origin, _: &'a RobotsCopy) -> BoxFuture<'a, ()> {
        Box::pin(ready(()))
    }
}

/// Takes rows and keeps none, as a store elsewhere would.
struct Elsewhere;

impl HostShelf for Elsewhere {
    fn load<'a>(&'a self, _: &'a str) -> BoxFuture<'a, Option<HostRow>> {
        Box::pin(ready(None))
    }

    fn save<'a>(&'a self, _: &'a [(String, HostRow)]) -> BoxFuture<'a, bool> {
        Box::pin(ready(true))
    }
}

/// Answers at once. Some hosts set cookies, some are broken, as in life.
struct AtOnce {
    page: Bytes,
    lively: bool,
}

impl AtOnce {
    fn answer(&self, url: &Url) -> Result<BackendPage, FetchErrorKind> {
        let number: usize = url.query().and_then(|query| query.parse().ok()).unwrap_or(0);
        let kind = if self.lively { number % 20 } else { 0 };
        let set = |header: &str| parse_set_cookie(header, url, dibao::Clock::now(&SystemClock));
        let cookies = match kind {
            1..=4 => {
                ["JSESSIONID=0C2F9A7E51D84B0E; Path=/; HttpOnly", "__jsluid_s=5b1f0c9a7d; Path=/; Secure"]
                    .into_iter()
                    .filter_map(set)
                    .collect()
            }
            _ => Vec::new(),
        };
        if kind == 5 {
            return Err(FetchErrorKind::Reset("connection reset".into()));
        }
        let status = match kind {
            6 => 503,
            7 => 404,
            _ => 200,
        };
        Ok(BackendPage {
            status,
            url: url.clone(),
            headers: vec![("content-type".into(), "text/html; charset=utf-8".into())],
            body: self.page.clone(),
            cookies,
            requests: 1,
            bytes: self.page.len() as u64,
        })
    }
}

impl FetchBackend for AtOnce {
    fn name(&self) -> &'static str {
        "at-once"
    }

    fn available(&self) -> BoxFuture<'_, Result<(), Unavailable>> {
        Box::pin(ready(Ok(())))
    }

    fn fetch<'a>(&'a self, order: BackendOrder<'a>) -> BoxFuture<'a, Result<BackendPage, FetchErrorKind>> {
        Box::pin(ready(self.answer(order.url)))
    }
}

fn gate(page: &str, lively: bool, robots: Arc<dyn RobotsShelf>, more: GateOptions) -> Result<Gate> {
    let backend = AtOnce { page: Bytes::from(page.to_owned()), lively };
    let options = GateOptions {
        robots_shelf: Some(robots),
        host_shelf: Some(Arc::new(Elsewhere)),
        backends: vec![Arc::new(backend)],
        ..more
    };
    Ok(Gate::new(options, Arc::new(SystemClock), Arc::new(SeededEntropy::new(1)))?)
}

fn ask(url: Url, strategy: Strategy) -> Ask {
    let hosts = vec!["*.gov.cn".to_owned()];
    Ask {
        purpose: Purpose::Detail,
        method: Method::Get,
        url,
        headers: Vec::new(),
        body: None,
        expects: Expects::Html,
        grant: Arc::new(Grant::new("bench", &hosts, &hosts, &[])),
        public: Arc::new(PublicRule::new(DEFAULT_SUFFIXES, &[])),
        policy: HostPolicy::unpaced(4),
        robots: RobotsMode::default(),
        strategy,
        wire: Arc::new(Wire::default()),
        pulse: Default::default(),
    }
}

fn page_of(host: usize) -> Result<Url> {
    Ok(Url::parse(&format!("https://www.host{host}.gov.cn/zwgk/2026/tz/t20260501_{host}.html?{host}"))?)
}

/// An article's page of about 12 KB, as the gate classifies it.
fn article() -> String {
    let text = "<p>现将有关事项通知如下：一、提高认识，加强领导。二、明确责任，抓好落实。</p>\n".repeat(100);
    format!("<!DOCTYPE html><html><head><title>通知</title></head><body><div>{text}</div></body></html>")
}

/// Measures the decisions, and the memory in a process of its own.
pub async fn measure(quick: bool) -> Result<Vec<Figure>> {
    let rounds = if quick { 20 } else { 100 };
    Ok(vec![decisions(rounds).await?, by_loopback(rounds).await?, memory()?])
}

/// Decisions around a request whose answer costs nothing, over many hosts in turn so that no cache is warm by chance.
async fn decisions(rounds: usize) -> Result<Figure> {
    const AT_A_TIME: usize = 200;
    let gate = gate(&article(), false, Arc::new(EveryRobots), GateOptions::default())?;
    let asks: Vec<Ask> =
        (0..1000).map(|host| Ok(ask(page_of(host)?, Strategy::Browser))).collect::<Result<_>>()?;
    // What is asked of a host for the first time is not the gate's usual day.
    for ask in &asks {
        gate.fetch(ask).await?;
    }
    let mut samples = Vec::with_capacity(rounds);
    for round in 0..rounds {
        // Processor time: nothing here waits, and what else the machine does is not the gate's.
        let begin = processor_time();
        for index in 0..AT_A_TIME {
            let fetched = gate.fetch(&asks[(round * AT_A_TIME + index) % asks.len()]).await?;
            ensure!(fetched.status == 200 && fetched.waited < Duration::from_millis(50), "nobody waits here");
        }
        samples.push((processor_time() - begin) * 1e6 / AT_A_TIME as f64);
    }
    let samples = Samples::new(samples);
    Ok(Figure {
        name: "gate, decisions around a request".into(),
        value: samples.median(),
        unit: " µs",
        goal: Goal::AtMost(20.0),
        note: format!(
            "1,000 hosts in turn, an article of {} KB classified; from {:.1} to {:.1} µs",
            article().len() / 1000,
            samples.at(0.05),
            samples.at(0.95)
        ),
    })
}

/// The same page over loopback by the gate and by `reqwest` alone, in turn.
async fn by_loopback(rounds: usize) -> Result<Figure> {
    const AT_A_TIME: usize = 50;
    let options =
        ReplicaOptions { bench_hosts: 1, only_hosts: vec!["bench0.gov.cn".into()], ..Default::default() };
    let replica = Replica::start(ReplicaOptions { gzip: false, tls: false, ..options }).await?;
    let addr = replica.http_addr();
    let resolve = vec![dibao::fetch::Resolve { host: "bench0.gov.cn".into(), port: None, addr }];
    let gate = gate("", false, Arc::new(NoShelf), GateOptions { resolve, ..GateOptions::default() })?;
    let url = Url::parse("http://bench0.gov.cn/xxgk/tz/index.html")?;
    let ask = Ask { purpose: Purpose::List, ..ask(url.clone(), Strategy::Http) };
    let hosts = vec!["bench0.gov.cn".to_owned()];
    let bare = crate::bare::client(&World { addr, ca_pem: replica.ca_pem().to_owned(), hosts })?;
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    // The first round makes the connections.
    for round in 0..=rounds {
        let begin = Instant::now();
        for _ in 0..AT_A_TIME {
            ensure!(gate.fetch(&ask).await?.body.len() > 1000, "a page");
        }
        let middle = Instant::now();
        for _ in 0..AT_A_TIME {
            // The port in the address is what the resolve rule says for the gate.
            let mut url = url.clone();
            url.set_port(Some(addr.port())).ok().context("a port")?;
            ensure!(bare.get(url).send().await?.bytes().await?.len() > 1000, "a page");
        }
        if round > 0 {
            let per = |time: Duration| time.as_secs_f64() * 1e6 / AT_A_TIME as f64;
            ours.push(per(middle - begin));
            theirs.push(per(middle.elapsed()));
        }
    }
    let (ours, theirs) = (Samples::new(ours), Samples::new(theirs));
    Ok(Figure {
        name: "gate to bare reqwest, a page over loopback".into(),
        value: ours.median() / theirs.median(),
        unit: "×",
        goal: Goal::None,
        note: format!(
            "{:.0} µs to {:.0} µs a page: {:.0} µs more, client and reading included",
            ours.median(),
            theirs.median(),
            ours.median() - theirs.median()
        ),
    })
}

/// What a new process holds for ten thousand hosts.
fn memory() -> Result<Figure> {
    let output = Command::new(std::env::current_exe()?).arg("hosts-once").output()?;
    ensure!(output.status.success(), "hosts: {}", String::from_utf8_lossy(&output.stderr));
    let value: f64 = String::from_utf8_lossy(&output.stdout).trim().parse().context("hosts: no answer")?;
    Ok(Figure {
        name: "memory for 10,000 hosts".into(),
        value,
        unit: " MB",
        goal: Goal::AtMost(30.0),
        note: "resident, of a process that asked each five times: robots.txt, ledger, verdicts, cookies"
            .into(),
    })
}

/// In the child: meets the hosts through the gate and says by how many MB it has grown.
pub async fn hosts_once() -> Result<f64> {
    let gate = gate(&article(), true, Arc::new(EveryRobots), GateOptions::default())?;
    // What the process needs for any host at all is there before it is weighed.
    for host in HOSTS..HOSTS + 20 {
        let _ = gate.fetch(&ask(page_of(host)?, Strategy::Browser)).await;
    }
    let before = resident_mb()?;
    for _ in 0..5 {
        for host in 0..HOSTS {
            // Broken hosts fail: that is what there is to remember of them.
            let _ = gate.fetch(&ask(page_of(host)?, Strategy::Browser)).await;
        }
    }
    let known = gate.hosts().len();
    ensure!(known >= HOSTS, "only {known} hosts are known");
    let grown = resident_mb()? - before;
    // Everything is still there when it is weighed.
    let last = page_of(HOSTS - 1)?;
    ensure!(
        gate.robots(&ask(last, Strategy::Http)).await.is_some_and(|standing| !standing.asked),
        "robots.txt"
    );
    Ok(grown)
}

fn processor_time() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

fn resident_mb() -> Result<f64> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).context("VmRSS")?;
    let kib: f64 = line.trim().trim_end_matches("kB").trim().parse()?;
    Ok(kib * 1024.0 / 1e6)
}
