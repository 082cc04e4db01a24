//! What a host must never see, by its own account. Written anew from the promises, not from the gate's code: for each
//! pace (a host, or the hosts of a domain) it follows what came in and how it was answered.

use std::collections::HashMap;
use std::time::Duration;

use dibao::fetch::HostPolicy;

/// How a request ended, as its host knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// A whole answer.
    Good,
    /// None, or half of one.
    Network,
    /// An answer that is none.
    Refused,
    /// The same, and that it was asked too often.
    TooMany,
    /// The same, and when to come back.
    RetryAfter(Duration),
    /// It was sent elsewhere on this host: the next request tells.
    LedOn,
    /// Whoever asked went away.
    Dropped,
}

const FIRST: Duration = Duration::from_secs(300);
const LONGEST: Duration = Duration::from_secs(3600);

#[derive(Clone, Copy)]
struct Arrival {
    at: Duration,
    policy: HostPolicy,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Probe {
    UnderWay(u64),
    /// Its answer led on: the next one to come is its next hop.
    LedOn,
}

/// What one pace has seen.
pub struct Judge {
    key: String,
    last: Option<Arrival>,
    /// When the token bucket would be full again.
    paid: Duration,
    active: HashMap<u64, Arrival>,
    peak: usize,
    network: u32,
    any: u32,
    trips: u32,
    /// Closed until; when that was said; whether the host itself asked for it.
    open: Option<(Duration, Duration, bool)>,
    probe: Option<Probe>,
    /// It said that it was asked too often: whoever is the next takes twice the time.
    slowed: bool,
    /// The hosts whose robots.txt was read: its rules hold.
    pub rules: HashMap<String, Duration>,
    pub arrivals: u32,
    pub openings: u32,
    pub probes: u32,
    pub good: u32,
    /// In trouble: a refusal began it, and only a good answer ends it.
    troubled: bool,
    pub incidents: u32,
    pub visits: u32,
    pub wrongs: Vec<String>,
    /// Ends of openings that nobody came after yet.
    awaited: Option<Duration>,
}

impl Judge {
    pub fn new(key: &str) -> Judge {
        Judge {
            key: key.to_owned(),
            last: None,
            paid: Duration::ZERO,
            active: HashMap::new(),
            peak: 0,
            network: 0,
            any: 0,
            trips: 0,
            open: None,
            probe: None,
            slowed: false,
            rules: HashMap::new(),
            arrivals: 0,
            openings: 0,
            probes: 0,
            good: 0,
            troubled: false,
            incidents: 0,
            visits: 0,
            wrongs: Vec::new(),
            awaited: None,
        }
    }

    fn wrong(&mut self, at: Duration, what: String) {
        if self.wrongs.len() < 20 {
            self.wrongs.push(format!("{} at {:.3} s: {what}", self.key, at.as_secs_f64()));
        }
    }

    /// A request arrives; `policy` is that of its site.
    pub fn arrives(&mut self, number: u64, at: Duration, policy: HostPolicy, path: &str) {
        self.arrivals += 1;
        let delay = self.rules.values().max().copied().unwrap_or_default();
        if let Some(last) = self.last {
            let mut room = policy.min_interval.max(last.policy.min_interval).max(delay);
            // Where several are under way, those that were did not hear of it.
            if std::mem::take(&mut self.slowed) && policy.max_concurrency == 1 {
                room = room.max((2 * policy.min_interval).min(Duration::from_secs(60)));
            }
            if at - last.at < room {
                self.wrong(at, format!("{path} {:?} after the one before, not {room:?}", at - last.at));
            }
        }
        if let Some(rps) = policy.rps {
            let cost = Duration::from_secs_f64(1.0 / rps);
            let open = cost * (policy.burst.max(1) - 1);
            // A billionth of slack for each: rates are fractions.
            if self.paid > at + open + Duration::from_micros(1) {
                self.wrong(at, format!("{path} beyond {rps} a second and {} at once", policy.burst));
            }
            self.paid = self.paid.max(at) + cost;
        }
        let arrival = Arrival { at, policy };
        self.active.insert(number, arrival);
        let least = self.active.values().map(|other| other.policy.max_concurrency.max(1)).min();
        if self.active.len() > least.unwrap_or(1) as usize {
            self.wrong(at, format!("{path} is the {}th at once, of {least:?}", self.active.len()));
        }
        self.peak = self.peak.max(self.active.len());
        self.last = Some(arrival);
        self.breaker(number, at, path);
    }

    fn breaker(&mut self, number: u64, at: Duration, path: &str) {
        let Some((until, said, asked)) = self.open else { return };
        if at < until {
            // What was sent at the very moment the host was given up was under way.
            if at > said {
                let why = if asked { "as the host asked" } else { "given up" };
                self.wrong(at, format!("{path} while the host is left alone until {until:?} ({why})"));
            }
            return;
        }
        match self.probe {
            Some(Probe::UnderWay(other)) if self.active.contains_key(&other) => {
                self.wrong(at, format!("{path} beside the probe"));
            }
            Some(Probe::LedOn) => {}
            _ => self.probes += 1,
        }
        self.awaited = None;
        self.probe = Some(Probe::UnderWay(number));
    }

    /// A browser came. It is a request like every other, and there is one for an incident at the most. It may have waited
    /// for its turn for longer than the incident lasted, so that they are counted. Where several requests are under way,
    /// who asks hears of the answers in another order than they were given in, and nothing can be said.
    pub fn visited(&mut self, host: &str, at: Duration) {
        self.visits += 1;
        let single = self.last.is_some_and(|last| last.policy.max_concurrency == 1);
        if single && self.visits > self.incidents {
            self.wrong(at, format!("visit {} of {host}, after {} incidents", self.visits, self.incidents));
        }
    }

    /// A request is over.
    pub fn ends(&mut self, number: u64, at: Duration, end: End) {
        self.active.remove(&number);
        let probe = self.probe == Some(Probe::UnderWay(number));
        if probe {
            self.probe = (end == End::LedOn).then_some(Probe::LedOn);
        }
        let half_open = self.open.is_some_and(|(until, _, _)| at >= until);
        match end {
            End::LedOn | End::Dropped => return,
            End::Good => {
                self.good += 1;
                self.troubled = false;
                (self.network, self.any, self.trips) = (0, 0, 0);
                // What was under way when the host asked for peace does not end the peace.
                if half_open || self.open.is_some_and(|(_, _, asked)| !asked) {
                    (self.open, self.probe, self.awaited) = (None, None, None);
                }
                return;
            }
            End::Network => {
                self.network += 1;
                self.any += 1;
            }
            End::Refused | End::TooMany | End::RetryAfter(_) => {
                self.slowed |= end == End::TooMany;
                self.incidents += u32::from(!std::mem::replace(&mut self.troubled, true));
                self.network = 0;
                self.any += 1;
            }
        }
        let many = self.network >= 3 || self.any >= 5;
        if (half_open && probe) || (self.open.is_none() && many) {
            self.trips += 1;
            let span = FIRST.saturating_mul(1 << (self.trips - 1).min(10)).min(LONGEST);
            self.open_until(at + span, at, false);
        }
        if let End::RetryAfter(span) = end
            && self.open.is_none_or(|(until, _, _)| until < at + span)
        {
            self.open_until(at + span, at, true);
        }
    }

    fn open_until(&mut self, until: Duration, at: Duration, asked: bool) {
        self.openings += 1;
        self.open = Some((until, at, asked));
        self.awaited = Some(until);
    }

    /// The process that asks died: what it counted may be lost, what it was told to keep is not.
    pub fn crashed(&mut self) {
        (self.probe, self.slowed) = (None, false);
        if self.open.is_none() {
            (self.network, self.any, self.trips) = (0, 0, 0);
        }
    }

    /// The day is over: the last opening whose end nobody came after, and the most at once.
    pub fn closes(&self) -> (Option<Duration>, usize) {
        (self.awaited, self.peak)
    }
}
