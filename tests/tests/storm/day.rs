//! The day itself: 200 targets, two crashes, and the account at midnight.

use std::collections::HashMap;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use dibao::Clock;
use dibao::clock::SeededEntropy;
use dibao::fetch::breaker::retry_delay;
use dibao::fetch::hosts::HostRow;
use dibao::fetch::robots::{Origin, RobotsCopy, RobotsShelf};
use dibao::fetch::{
    Ask, BackendOrder, BackendPage, Expects, FetchBackend, FetchErrorKind, Gate, GateOptions, Grant,
    HostPolicy, HostShelf, Method, Profile, PublicRule, Purpose, Resolve, RobotsMode, ThrottleKey, Timeouts,
    Unavailable,
};
use futures::future::BoxFuture;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

use crate::clock::SimClock;
use crate::server::{HostFacts, PAGE_TIME, Server, VISIT};
use crate::weather::{Dice, Forecast};

const DAY: Duration = Duration::from_secs(24 * 3600);
const TARGETS_PER_HOST: usize = 10;

fn policy(max_concurrency: u32, interval: u64, jitter: u64, rps: Option<f64>, burst: u32) -> HostPolicy {
    HostPolicy {
        min_interval: Duration::from_secs(interval),
        jitter: Duration::from_secs(jitter),
        rps,
        burst,
        ..HostPolicy::unpaced(max_concurrency)
    }
}

/// Twenty hosts and the sites that ask them.
fn hosts(seed: u64) -> Vec<HostFacts> {
    let (polite, fast) = (Profile::Polite.policy(), Profile::Fast.policy());
    let by_domain = HostPolicy { key: ThrottleKey::Domain, ..polite };
    (0..20u64)
        .map(|index| {
            let (name, sites) = match index {
                0..=7 => (format!("polite{index}.gov.cn"), vec![polite]),
                8..=10 => (format!("fast{index}.gov.cn"), vec![fast]),
                11 => ("bucket.gov.cn".into(), vec![policy(2, 0, 0, Some(0.2), 4)]),
                12 => ("both.gov.cn".into(), vec![policy(3, 1, 0, Some(0.5), 3)]),
                13 => ("jitter.gov.cn".into(), vec![policy(3, 2, 7, None, 1)]),
                14 => ("wide.gov.cn".into(), vec![policy(4, 0, 1, None, 1)]),
                15 => ("slow.gov.cn".into(), vec![polite]),
                // Two sites on one host: the stricter one holds between neighbours.
                16 => ("shared.gov.cn".into(), vec![polite, fast]),
                17 => ("www.domain.gov.cn".into(), vec![by_domain]),
                18 => ("search.domain.gov.cn".into(), vec![by_domain]),
                _ => ("m.domain.gov.cn".into(), vec![by_domain]),
            };
            let crawl_delay = (index == 15).then_some(Duration::from_secs(20));
            HostFacts {
                name,
                forecast: Forecast::draw(&mut Dice::new(seed * 100 + index)),
                sites,
                crawl_delay,
            }
        })
        .collect()
}

/// What outlives the process, as the store keeps it.
#[derive(Default)]
struct Shelf {
    rows: Mutex<HashMap<String, String>>,
    robots: Mutex<HashMap<String, RobotsCopy>>,
    requests: Mutex<HashMap<String, u32>>,
}

struct OnShelf(Arc<Shelf>, Arc<SimClock>);

impl HostShelf for OnShelf {
    fn load<'a>(&'a self, host: &'a str) -> BoxFuture<'a, Option<HostRow>> {
        let text = self.0.rows.lock().unwrap().get(host).cloned();
        Box::pin(async move { serde_json::from_str(&text?).ok() })
    }

    fn save<'a>(&'a self, rows: &'a [(String, HostRow)]) -> BoxFuture<'a, bool> {
        let mut kept = self.0.rows.lock().unwrap();
        for (host, row) in rows {
            let stored = kept.get(host).and_then(|text| serde_json::from_str::<HostRow>(text).ok());
            let joined = stored.map_or_else(|| row.clone(), |stored| row.clone().join(stored, self.1.now()));
            kept.insert(host.clone(), serde_json::to_string(&joined).unwrap());
            let counted: u32 = row.days.iter().map(|day| day.requests).sum();
            *self.0.requests.lock().unwrap().entry(host.clone()).or_default() += counted;
        }
        Box::pin(std::future::ready(true))
    }
}

impl RobotsShelf for OnShelf {
    fn load<'a>(&'a self, origin: &'a Origin) -> BoxFuture<'a, Option<RobotsCopy>> {
        let copy = self.0.robots.lock().unwrap().get(origin.as_str()).cloned();
        Box::pin(std::future::ready(copy))
    }

    fn save<'a>(&'a self, origin: &'a Origin, copy: &'a RobotsCopy) -> BoxFuture<'a, ()> {
        self.0.robots.lock().unwrap().insert(origin.as_str().to_owned(), copy.clone());
        Box::pin(std::future::ready(()))
    }
}

/// The second tier: says that it is one, and asks once.
struct Visitor;

impl FetchBackend for Visitor {
    fn name(&self) -> &'static str {
        "visitor"
    }

    fn available(&self) -> BoxFuture<'_, Result<(), Unavailable>> {
        Box::pin(std::future::ready(Ok(())))
    }

    fn fetch<'a>(&'a self, order: BackendOrder<'a>) -> BoxFuture<'a, Result<BackendPage, FetchErrorKind>> {
        Box::pin(async move {
            let lost = |error: std::io::Error| FetchErrorKind::Connect(error.to_string());
            order.screen.check(order.url, true)?;
            let host = order.url.host_str().unwrap();
            let to = order.screen.resolve(host, 80).await?;
            let mut stream = TcpStream::connect(&*to).await.map_err(lost)?;
            let head = format!("GET {} HTTP/1.1\r\nhost: {host}\r\n{VISIT}\r\n\r\n", order.url.path());
            stream.write_all(head.as_bytes()).await.map_err(lost)?;
            stream.shutdown().await.map_err(lost)?;
            let mut answer = String::new();
            stream.read_to_string(&mut answer).await.map_err(lost)?;
            let (head, body) = answer.split_once("\r\n\r\n").unwrap_or_default();
            Ok(BackendPage {
                status: head.get(9..12).and_then(|status| status.parse().ok()).unwrap_or(500),
                url: order.url.clone(),
                headers: vec![("content-type".into(), "text/html; charset=utf-8".into())],
                body: body.to_owned().into(),
                cookies: Vec::new(),
                requests: 1,
                bytes: answer.len() as u64,
            })
        })
    }
}

fn ask(host: &str, site: usize, policy: HostPolicy, page: &str, purpose: Purpose) -> Ask {
    let everything = ["*".to_owned()];
    Ask {
        purpose,
        method: Method::Get,
        url: format!("http://{host}/{}/{page}", if site == 0 { 'a' } else { 'b' }).parse().unwrap(),
        headers: Vec::new(),
        body: None,
        expects: Expects::Html,
        grant: Arc::new(Grant::new("storm", &everything, &everything, &[])),
        public: Arc::new(PublicRule::new(&[".gov.cn"], &[])),
        policy,
        robots: RobotsMode::default(),
        strategy: Default::default(),
        wire: Arc::default(),
        pulse: Default::default(),
    }
}

/// One target through the day: a list and its details, round after round, as the runner does it.
async fn target(
    gate: Gate,
    clock: Arc<SimClock>,
    mut dice: Dice,
    (host, site, policy): (String, usize, HostPolicy),
    begin: Duration,
) {
    clock.sleep(begin).await;
    loop {
        for page in 0..3 {
            let purpose = if page == 0 { Purpose::List } else { Purpose::Detail };
            let name = match dice.below(40) {
                0 => "secret.html".to_owned(),
                _ => format!("{}.html", dice.below(1000)),
            };
            let ask = ask(&host, site, policy, &name, purpose);
            for tried in 1..=3 {
                // Now and then whoever asked loses interest.
                let patience = match dice.below(50) {
                    0 => dice.seconds(0, 60),
                    _ => DAY,
                };
                let fetched = tokio::select! {
                    fetched = gate.fetch(&ask) => fetched,
                    () = clock.sleep(patience) => break,
                };
                let Err(error) = fetched else { break };
                if let Some(until) = error.cooling_until() {
                    let wait = Duration::from_millis((until.0 - clock.now().0).max(0) as u64);
                    clock.sleep(wait + dice.seconds(0, 90)).await;
                } else if error.is_retryable() {
                    clock.sleep(retry_delay(tried, dice.below(1000) as f64 / 1000.0)).await;
                } else {
                    break;
                }
            }
        }
        clock.sleep(dice.seconds(1800, 5400)).await;
    }
}

struct Storm {
    seed: u64,
    clock: Arc<SimClock>,
    server: Server,
    shelf: Arc<Shelf>,
    sites: Vec<(String, Vec<HostPolicy>)>,
}

impl Storm {
    async fn new(seed: u64) -> Storm {
        let clock = SimClock::new();
        let hosts = hosts(seed);
        let sites = hosts.iter().map(|host| (host.name.clone(), host.sites.clone())).collect();
        let server = Server::start(clock.clone(), hosts).await;
        Storm { seed, clock, server, shelf: Arc::default(), sites }
    }

    fn gate(&self) -> Gate {
        let shelf = || Arc::new(OnShelf(self.shelf.clone(), self.clock.clone()));
        let name =
            |(host, _): &(String, _)| Resolve { host: host.clone(), port: None, addr: self.server.addr };
        let options = GateOptions {
            resolve: self.sites.iter().map(name).collect(),
            // Those of sockets are real: nothing here comes near them.
            timeouts: Timeouts {
                connect: Duration::from_secs(60),
                read: Duration::from_secs(300),
                total: PAGE_TIME,
                download: PAGE_TIME,
            },
            backends: vec![Arc::new(Visitor)],
            host_shelf: Some(shelf()),
            robots_shelf: Some(shelf()),
            ..GateOptions::default()
        };
        Gate::new(options, self.clock.clone(), Arc::new(SeededEntropy::new(self.seed))).unwrap()
    }

    fn targets(&self, gate: &Gate, life: u64) -> JoinSet<()> {
        let mut set = JoinSet::new();
        for (index, (host, sites)) in self.sites.iter().enumerate() {
            for number in 0..TARGETS_PER_HOST {
                let site = number % sites.len();
                let mut dice = Dice::new(self.seed ^ (life * 1_000_000 + (index * 100 + number) as u64));
                // Whoever is started again has all of it to do at once.
                let begin = dice.seconds(0, if life == 0 { 1800 } else { 3 });
                let site = (host.clone(), site, sites[site]);
                set.spawn(target(gate.clone(), self.clock.clone(), dice, site, begin));
            }
        }
        set
    }

    /// Lives until `until`; then it is killed in the midst of whatever it does.
    async fn live(&self, life: u64, until: Duration) {
        let gate = self.gate();
        let mut targets = self.targets(&gate, life);
        assert_eq!(targets.len(), 200);
        while self.clock.time() < until {
            self.clock.settle().await;
            assert!(self.clock.leap(), "seed {}: everybody waits for nobody", self.seed);
        }
        self.clock.settle().await;
        if until >= DAY {
            gate.flush().await;
        }
        targets.abort_all();
        while targets.join_next().await.is_some() {}
        drop(gate);
        self.clock.settle().await;
        self.server.seen.judges(|(_, judge)| judge.crashed());
    }
}

fn sockets() -> usize {
    let links = std::fs::read_dir("/proc/self/fd").unwrap().flatten();
    links
        .filter_map(|fd| std::fs::read_link(fd.path()).ok())
        .filter(|to| to.to_string_lossy().starts_with("socket:"))
        .count()
}

/// The seed of the day; another by `DIBAO_STORM_SEED`.
fn seed() -> u64 {
    std::env::var("DIBAO_STORM_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(1)
}

#[test]
fn two_hundred_targets_on_twenty_failing_hosts_stay_polite_for_a_day() {
    let seed = seed();
    let began = std::time::Instant::now();
    // One thread: then it can be told when nothing more can happen at a moment.
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().event_interval(4).build().unwrap();
    runtime.block_on(async {
        let storm = Storm::new(seed).await;
        storm.clock.settle().await;
        let metrics = tokio::runtime::Handle::current().metrics();
        let (tasks, open) = (metrics.num_alive_tasks(), sockets());
        let mut dice = Dice::new(seed + 77);
        // Killed twice, once in the small hours and once around noon.
        let kills = [dice.seconds(2 * 3600, 6 * 3600), dice.seconds(10 * 3600, 15 * 3600), DAY];
        for (life, until) in kills.into_iter().enumerate() {
            storm.live(life as u64, until).await;
        }
        let seen = &storm.server.seen;
        let mut wrongs: Vec<String> = seen.judges(|(_, judge)| judge.wrongs.clone()).concat();
        for (key, (awaited, _), good) in seen.judges(|(key, judge)| (key.clone(), judge.closes(), judge.good))
        {
            // Every cooldown ends, and the host is asked again: none that was over by eleven is still waited for.
            if awaited.is_some_and(|until| until < Duration::from_secs(23 * 3600)) {
                wrongs.push(format!("{key} was never asked again after {awaited:?}"));
            }
            if good < 50 {
                wrongs.push(format!("{key} had only {good} good answers"));
            }
        }
        assert!(wrongs.is_empty(), "seed {seed}: {} wrongs\n{}", wrongs.len(), wrongs.join("\n"));

        let total: u32 = seen.count.lock().unwrap().values().sum();
        let (openings, probes, visits) = seen
            .judges(|(_, judge)| (judge.openings, judge.probes, judge.visits))
            .into_iter()
            .fold((0, 0, 0), |(a, b, c), (d, e, f)| (a + d, b + e, c + f));
        println!(
            "seed {seed}: {total} requests, {openings} openings, {probes} probes, {visits} visits in {:.1} s",
            began.elapsed().as_secs_f64()
        );
        // The storm was one: or the promises above were kept by nobody asking.
        assert!(
            total > 7_000 && openings > 100 && probes > 50 && visits > 20,
            "{total} {openings} {probes} {visits}"
        );

        // The politeness ledger says what the server saw, but for what two dead processes had not stored yet.
        let stored: u32 = storm.shelf.requests.lock().unwrap().values().sum();
        assert!(
            stored <= total && total - stored <= total / 100,
            "seed {seed}: {stored} in the ledger of {total}"
        );

        // Nothing is left: no connection, no task, no socket.
        assert_eq!(seen.open.load(Ordering::Relaxed), 0, "seed {seed}: open connections");
        assert_eq!(metrics.num_alive_tasks(), tasks, "seed {seed}: tasks are left");
        assert_eq!(sockets(), open, "seed {seed}: sockets are left");
    });
}
