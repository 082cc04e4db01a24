//! The breaker's word on one request, and the host's state in the store (checks 5 and 6 of the gate).

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::task::Poll;
use std::time::Duration;

use futures::future::BoxFuture;
use tokio::time::Instant;

use super::ask::Ask;
use super::breaker::{Admission, Why};
use super::error::FetchErrorKind;
use super::gate::Shared;
use super::host::HostRow;
use super::hosts::{Change, Hosts};
use super::reserve::{Reserved, Wish};
use super::throttle::{Pass, Turn};
use super::trip::Trip;
use super::verdict::Verdict;
use crate::clock::Timestamp;

/// How often what was counted is stored at the most; what cannot wait is stored at once.
const FLUSH_EVERY: i64 = 5_000;
/// Where requests are this far apart, the start of each is stored before it goes: a process that is killed and
/// started again keeps the interval. Below it, a start costs more than it is worth.
const PACED: Duration = Duration::from_secs(1);
/// Whoever waits behind others asks this often how long they take.
const LISTEN: Duration = Duration::from_secs(15);

/// Where what is known of hosts outlives the process.
pub trait HostShelf: Send + Sync + 'static {
    /// What is stored of a host.
    fn load<'a>(&'a self, host: &'a str) -> BoxFuture<'a, Option<HostRow>>;

    /// Joins rows with those that are stored ([`HostRow::join`]) and adds up their days. False: nothing was stored.
    fn save<'a>(&'a self, rows: &'a [(String, HostRow)]) -> BoxFuture<'a, bool>;

    /// Takes the next start of a host for one of all who share the shelf ([`reserve`](super::reserve::reserve)), in one
    /// step. None: this shelf is nobody else's, and what is saved is enough.
    fn reserve<'a>(&'a self, _host: &'a str, _wish: Wish) -> BoxFuture<'a, Option<Reserved>> {
        Box::pin(std::future::ready(None))
    }
}

/// The state of hosts in front of its shelf.
pub(super) struct Register {
    pub hosts: Arc<Hosts>,
    shelf: Option<Arc<dyn HostShelf>>,
    flushed_at: AtomicI64,
    /// What tells its probes from those of others.
    owner: u64,
}

/// A request that may go. Dropped without a word, a probe makes room for the next one.
pub(super) struct Admitted {
    hosts: Arc<Hosts>,
    key: String,
    admission: Admission,
    /// It may be on the wire: dropped from here on, it was a request all the same.
    sent: bool,
    settled: bool,
}

impl Admitted {
    pub fn key(&self) -> &str {
        &self.key
    }

    /// It goes now.
    pub fn goes(&mut self) {
        self.sent = true;
    }

    /// It never went: our own rules kept it back at the last moment.
    pub fn stays(&mut self) {
        self.sent = false;
    }

    /// The answer is there, or there is none.
    pub fn finish(mut self, verdict: &Verdict, requests: u32, bytes: u64) -> Change {
        self.settled = true;
        self.hosts.record(&self.key, self.admission, verdict, requests, bytes)
    }

    /// The answer leads on, within the host or away from it. A probe that stays within the host is still the probe:
    /// its last answer tells how the host is, and until then nobody else goes.
    pub fn led_on(mut self, verdict: &Verdict, to: &str) -> Option<Admitted> {
        self.hosts.record_hop(&self.key, verdict);
        if to != self.key {
            let _ = self.hosts.left(&self.key, self.admission);
        } else if self.admission == Admission::Probe {
            self.sent = false;
            return Some(self);
        }
        self.settled = true;
        None
    }
}

impl Drop for Admitted {
    fn drop(&mut self) {
        if self.settled {
            return;
        }
        if self.sent {
            self.hosts.went_unjudged(&self.key);
        }
        if self.admission == Admission::Probe {
            self.hosts.abandon_probe(&self.key);
        }
    }
}

impl Register {
    pub fn new(hosts: Arc<Hosts>, shelf: Option<Arc<dyn HostShelf>>) -> Register {
        // Of no consequence but that two have not the same; seeded randomness would give it to both.
        let owner = std::hash::BuildHasher::hash_one(&std::hash::RandomState::new(), std::process::id());
        Register { hosts, shelf, flushed_at: AtomicI64::new(0), owner }
    }

    /// Asks the store about a host, when it is time to.
    pub async fn refresh(&self, key: &str) {
        let Some(shelf) = &self.shelf else { return };
        if self.hosts.wants_row(key) {
            let row = shelf.load(key).await;
            self.hosts.load(key, row);
        }
    }

    /// Stores what cannot wait, and the rest when it has waited long enough.
    pub async fn settle(&self, urgent: &[String], now: i64) {
        let Some(shelf) = &self.shelf else { return };
        let last = self.flushed_at.load(Ordering::Relaxed);
        let due = !(0..FLUSH_EVERY).contains(&now.saturating_sub(last));
        let rows = if due
            && self.flushed_at.compare_exchange(last, now, Ordering::Relaxed, Ordering::Relaxed).is_ok()
        {
            self.hosts.take_dirty()
        } else {
            urgent.iter().filter_map(|key| self.hosts.take(key)).collect()
        };
        Saving { hosts: self.hosts.clone(), rows }.run(shelf).await;
    }

    /// The start of a paced request or of a probe is stored before it goes, unless another process was faster.
    async fn reserve(&self, key: &str, wish: Wish) -> Reserved {
        let Some(shelf) = &self.shelf else { return Reserved::Go };
        if let Some(reserved) = shelf.reserve(key, wish).await {
            return reserved;
        }
        self.hosts.starts(key, wish.wanted);
        let rows = self.hosts.take(key).into_iter().collect();
        Saving { hosts: self.hosts.clone(), rows }.run(shelf).await;
        Reserved::Go
    }

    /// Stores everything that is not stored yet.
    pub async fn flush(&self) {
        let Some(shelf) = &self.shelf else { return };
        let rows = self.hosts.take_dirty();
        Saving { hosts: self.hosts.clone(), rows }.run(shelf).await;
    }
}

/// Rows on their way to the store; they come back when they do not arrive.
struct Saving {
    hosts: Arc<Hosts>,
    rows: Vec<(String, HostRow)>,
}

impl Saving {
    /// Carried to its end whatever becomes of the caller: what was counted would else be stored and put back, too.
    async fn run(mut self, shelf: &Arc<dyn HostShelf>) {
        if self.rows.is_empty() {
            return;
        }
        let shelf = shelf.clone();
        let carried = tokio::spawn(async move {
            if shelf.save(&self.rows).await {
                self.rows.clear();
            }
        });
        let _ = carried.await;
    }
}

impl Drop for Saving {
    fn drop(&mut self) {
        if !self.rows.is_empty() {
            self.hosts.put_back(std::mem::take(&mut self.rows));
        }
    }
}

impl Shared {
    /// Refuses at once what the breaker would refuse later: nobody waits for a host that is left alone.
    pub(super) async fn not_cooling(&self, trip: &mut Trip, key: &str) -> Result<(), FetchErrorKind> {
        self.register.refresh(key).await;
        match self.register.hosts.refusal(key) {
            None => Ok(()),
            Some((until, why)) => {
                self.register.hosts.refused(key);
                trip.checked("breaker", Err(FetchErrorKind::CoolingDown { until, why }), "")
            }
        }
    }

    /// 5 and 6: the turn of a request, and the breaker's word when it has come. `probe`: it has the breaker's word
    /// already, as the next hop of a probe.
    pub(super) async fn turn(
        &self,
        ask: &Ask,
        trip: &mut Trip,
        key: &str,
        asked_for: Duration,
        probe: Option<Admitted>,
    ) -> Result<(Pass, Admitted), FetchErrorKind> {
        let begin = self.clock.instant();
        let floor = || asked_for.max(self.register.hosts.limits(key).floor());
        // Starts of others from here on are news to the throttle.
        let (known, _) = self.register.hosts.known_until(key);
        if let Some((ago, room)) = self.register.hosts.started_elsewhere(key) {
            self.throttle.resume(key, &ask.policy, floor().max(room), begin.checked_sub(ago));
        }
        let turn = self.throttle.next(key, &ask.policy, ask.purpose, floor);
        let mut turn = self.heard_waiting(ask, key, turn).await;
        ask.pulse.beat();
        let floor = floor();
        let admitted = self.word(ask, trip, key, &mut turn, (floor, known), probe).await;
        let waited = self.clock.instant().saturating_duration_since(begin);
        trip.waited += waited;
        let admitted = match admitted {
            Ok(admitted) => admitted,
            Err((until, why)) => {
                self.register.hosts.refused(key);
                return trip.checked("breaker", Err(FetchErrorKind::CoolingDown { until, why }), "");
            }
        };
        self.register.hosts.starts(key, ask.policy.min_interval.max(floor));
        let pass = self.throttle.goes(turn);
        let words = if admitted.admission == Admission::Probe { "a single probe" } else { "closed" };
        trip.say("breaker", true, || words);
        let limits = self.register.hosts.limits(key);
        trip.say("throttle", true, || {
            let origin = match (floor > ask.policy.min_interval, asked_for.max(limits.crawl_delay())) {
                (false, _) => "as the settings say",
                (true, delay) if delay >= floor => "as robots.txt asks",
                (true, _) => "learned from answers of the host",
            };
            format!(
                "waited {:.3} s; at least {:.1} s between requests, {origin}; {} at once",
                waited.as_secs_f64(),
                ask.policy.min_interval.max(floor).as_secs_f64(),
                ask.policy.max_concurrency.max(1)
            )
        });
        Ok((pass, admitted))
    }

    /// Waits for a turn, and lets whoever listens hear how long that takes: it has an end, however far away.
    async fn heard_waiting<T>(&self, ask: &Ask, key: &str, turn: impl Future<Output = T>) -> T {
        let mut turn = std::pin::pin!(turn);
        if !ask.pulse.is_heard() {
            return turn.await;
        }
        loop {
            if let Poll::Ready(pass) = futures::poll!(turn.as_mut()) {
                return pass;
            }
            if let Some(silent) = self.throttle.next_goes_in(key) {
                ask.pulse.rest(silent);
            }
            tokio::select! {
                pass = &mut turn => return pass,
                () = self.clock.sleep_until(self.clock.instant() + LISTEN) => {}
            }
        }
    }

    /// The breaker's word on a request whose turn has come: asked last, because the host may have been given up while
    /// this one waited; and the store's, because somebody else may have asked the host meanwhile.
    async fn word(
        &self,
        ask: &Ask,
        trip: &mut Trip,
        key: &str,
        turn: &mut Turn,
        (floor, mut seen): (Duration, Option<Timestamp>),
        mut probe: Option<Admitted>,
    ) -> Result<Admitted, (Timestamp, Why)> {
        let hosts = &self.register.hosts;
        let paced = ask.policy.min_interval.max(floor) >= PACED;
        // To look the breaker up again once is enough.
        let mut looked_up = false;
        loop {
            let mut admission = probe.as_ref().map_or(Admission::Go, |probe| probe.admission);
            if probe.is_none() {
                admission = hosts.admit(key);
            }
            if let Admission::Refuse { until, why } = admission {
                return Err((until, why));
            }
            let hop = probe.is_some();
            let admitted = probe.take().unwrap_or_else(|| Admitted {
                hosts: hosts.clone(),
                key: key.to_owned(),
                admission,
                sent: false,
                settled: false,
            });
            let is_probe = admission == Admission::Probe;
            if !paced && !is_probe {
                return Ok(admitted);
            }
            let (_, breaker_at) = hosts.known_until(key);
            let wish = Wish {
                now: self.clock.now(),
                room: if paced { turn.room } else { Duration::ZERO },
                wanted: ask.policy.min_interval.max(floor),
                seen,
                breaker_at: if looked_up || hop { Timestamp(i64::MAX) } else { breaker_at },
                probe: is_probe,
                owner: self.register.owner,
            };
            match self.register.reserve(key, wish).await {
                Reserved::Go => return Ok(admitted),
                Reserved::Probing(until) => return Err((until, Why::Probing)),
                Reserved::Wait(start, wait) => {
                    trip.say("throttle", true, || "another process was faster");
                    seen = Some(start);
                    // A probe within its chain stays one; any other word is asked for again afterwards.
                    probe = Some(admitted).filter(|_| hop);
                    ask.pulse.rest(wait);
                    self.throttle.wait(turn, wait).await;
                    ask.pulse.beat();
                }
                Reserved::Stale(row) => {
                    looked_up = true;
                    drop(admitted);
                    hosts.load(key, Some(*row));
                }
            }
        }
    }

    /// Writes an answer down.
    pub(super) fn finish(
        &self,
        ask: &Ask,
        trip: &mut Trip,
        admitted: Admitted,
        verdict: &Verdict,
        (requests, bytes): (u32, u64),
    ) {
        ask.pulse.beat();
        let key = admitted.key().to_owned();
        let change = admitted.finish(verdict, requests, bytes);
        self.register.hosts.learn(&key, verdict, ask.policy.min_interval);
        if change != Change::None {
            trip.urgent.push(key);
        }
        let tier = trip.tier;
        trip.say(tier, true, || verdict.to_string());
    }

    /// Writes down that there was no answer; what our own rules ended says nothing about the host.
    pub(super) fn finish_failed(
        &self,
        ask: &Ask,
        trip: &mut Trip,
        mut admitted: Admitted,
        kind: &FetchErrorKind,
    ) {
        match Verdict::of_kind(kind) {
            Some(verdict) => self.finish(ask, trip, admitted, &verdict, (1, 0)),
            None => {
                if !kind.was_sent() {
                    admitted.stays();
                }
                let tier = trip.tier;
                trip.say(tier, false, || kind.to_string());
            }
        }
    }

    /// Counts a failure that is no answer of its own; `probe` is the one that ends with it, if one was under way.
    pub(super) fn gave_up(&self, trip: &mut Trip, key: &str, probe: Option<Admitted>, kind: &FetchErrorKind) {
        let Some(verdict) = Verdict::of_kind(kind) else { return };
        let admission = probe.map_or(Admission::Go, |mut probe| {
            probe.settled = true;
            probe.admission
        });
        if self.register.hosts.failed(key, admission, &verdict) != Change::None {
            trip.urgent.push(key.to_owned());
        }
        trip.say("http", false, || verdict.to_string());
    }
}

/// For what a backend takes, which is real whatever clock the gate goes by.
pub(super) fn since(begin: Instant) -> Duration {
    begin.elapsed()
}
