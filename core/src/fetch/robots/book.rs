//! Remembers what each origin's robots.txt says, and asks for it when it has to: one request per origin at a time,
//! whoever waits for it (S2-53). How it is fetched and where copies are kept is given from outside.

use std::collections::{BTreeMap, HashMap};
use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard};

use url::Url;

use super::copy::{Origin, RobotsCopy, RobotsShelf};
use super::policy::{self, Basis, Decision, Learned, OnUnreachable, RobotsAnswer, RobotsTimes, Trouble};
use super::rules::{Robots, RobotsVerdict};
use crate::clock::{Clock, Timestamp};

/// More origins than one process watches, with the rules of each parsed.
const MAX_ORIGINS: usize = 10_000;

/// A usual file takes one or two thousand bytes, a hostile one several million: those make room first by number,
/// these by weight.
const MAX_WEIGHT: usize = 24 << 20;

/// What an origin takes beside its rules: names, maps, the slot.
const SLOT_WEIGHT: usize = 400;

/// What all origins' robots.txt say.
pub struct RobotsBook {
    shelf: Arc<dyn RobotsShelf>,
    clock: Arc<dyn Clock>,
    times: RobotsTimes,
    pages: Mutex<Pages>,
    no_rules: Arc<Robots>,
    max_origins: usize,
    max_weight: usize,
}

/// What to ask an origin for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RobotsRequest {
    /// The address of the file.
    pub url: String,
    /// Send as `if-none-match`.
    pub etag: Option<String>,
    /// Send as `if-modified-since`.
    pub last_modified: Option<String>,
}

/// What holds for an origin at the moment.
#[derive(Clone, Debug)]
pub struct Standing {
    /// The decision: basis, reason and term.
    pub decision: Decision,
    /// The rules to go by; empty ones unless the basis is a copy.
    pub rules: Arc<Robots>,
    /// Whether the file was asked for just now.
    pub asked: bool,
}

impl Standing {
    /// May `agent` fetch `url`?
    pub fn check(&self, agent: &str, url: &Url) -> RobotsVerdict {
        let without_rules = |allow| RobotsVerdict { allow, rule: None, group: None, crawl_delay: None };
        match self.decision.basis {
            Basis::Copy => self.rules.check(agent, url),
            Basis::AllowAll => without_rules(true),
            // RFC 9309 §2.2.2: the file itself may be asked for, or it could never be read again.
            Basis::DenyAll | Basis::Ask => without_rules(url.path() == "/robots.txt"),
        }
    }
}

impl RobotsBook {
    /// An empty book in front of a shelf.
    pub fn new(shelf: Arc<dyn RobotsShelf>, clock: Arc<dyn Clock>, times: RobotsTimes) -> RobotsBook {
        RobotsBook {
            shelf,
            clock,
            times,
            pages: Mutex::default(),
            no_rules: Arc::default(),
            max_origins: MAX_ORIGINS,
            max_weight: MAX_WEIGHT,
        }
    }

    /// What holds for an origin as far as it is known in memory; nothing is asked for.
    pub fn known(&self, origin: &Origin, on_unreachable: OnUnreachable) -> Option<Standing> {
        let slot = lock(&self.pages).slot(origin);
        self.standing(&slot, on_unreachable, false)
    }

    /// What holds for an origin; the file is fetched if nothing is known. `fetch` has to end in its own time, as
    /// everything of the gate does. If it is dropped or panics half way, the next in line fetches.
    pub async fn consult<F, Fut>(&self, origin: &Origin, on_unreachable: OnUnreachable, fetch: F) -> Standing
    where
        F: FnOnce(RobotsRequest) -> Fut,
        Fut: Future<Output = RobotsAnswer>,
    {
        let slot = lock(&self.pages).slot(origin);
        if let Some(standing) = self.standing(&slot, on_unreachable, false) {
            return standing;
        }
        let _flight = slot.flight.lock().await;
        if !lock(&slot.known).is_loaded {
            let copy = self.shelf.load(origin).await;
            let mut known = lock(&slot.known);
            known.is_loaded = true;
            known.held = copy.map(|copy| self.hold(copy));
            drop(known);
            self.weigh(origin, &slot);
        }
        // Somebody may have fetched while this one stood in line, or the shelf had it.
        if let Some(standing) = self.standing(&slot, on_unreachable, false) {
            return standing;
        }
        let request = slot.request(origin);
        let is_conditional = request.etag.is_some() || request.last_modified.is_some();
        let answer = fetch(request).await;
        let now = self.clock.now();
        let learned = policy::learn(answer, is_conditional, &self.times, now);
        let to_save = self.note(&slot, learned, now);
        self.weigh(origin, &slot);
        match to_save {
            Some(Saving::New(copy)) => self.shelf.save(origin, &copy).await,
            Some(Saving::Confirmed) => {
                if let Some(mut copy) = self.shelf.load(origin).await {
                    copy.fetched_at = now;
                    self.shelf.save(origin, &copy).await;
                }
            }
            None => {}
        }
        // After an answer something is known, unless the clock leapt meanwhile; then what would be denied is denied.
        self.standing(&slot, on_unreachable, true).unwrap_or_else(|| Standing {
            decision: Decision {
                basis: match on_unreachable {
                    OnUnreachable::Allow => Basis::AllowAll,
                    OnUnreachable::Deny => Basis::DenyAll,
                },
                reason: "the clock leapt while robots.txt was fetched".into(),
                until: now,
            },
            rules: self.no_rules.clone(),
            asked: true,
        })
    }

    /// What is known of an origin without asking anybody; none if nothing is.
    pub fn peek(&self, origin: &Origin, on_unreachable: OnUnreachable) -> Option<Standing> {
        let slot = lock(&self.pages).slots.get(origin).map(|page| page.slot.clone())?;
        self.standing(&slot, on_unreachable, false)
    }

    /// The origins in memory and roughly the bytes they take.
    pub fn size(&self) -> (usize, usize) {
        let pages = lock(&self.pages);
        (pages.slots.len(), pages.weight)
    }

    fn standing(&self, slot: &Slot, on_unreachable: OnUnreachable, asked: bool) -> Option<Standing> {
        let known = lock(&slot.known);
        let copy = known.held.as_ref().map(|held| &held.facts);
        let decision =
            policy::decide(copy, known.trouble.as_ref(), on_unreachable, &self.times, self.clock.now());
        let rules = match (decision.basis, &known.held) {
            (Basis::Ask, _) => return None,
            (Basis::Copy, Some(held)) => held.rules.clone(),
            _ => self.no_rules.clone(),
        };
        Some(Standing { decision, rules, asked })
    }

    /// Writes down what was learned; answers with what the shelf should know.
    fn note(&self, slot: &Slot, learned: Learned, now: Timestamp) -> Option<Saving> {
        match learned {
            Learned::Copy(copy) => {
                let held = self.hold(copy.clone());
                let mut known = lock(&slot.known);
                known.held = Some(held);
                known.trouble = None;
                Some(Saving::New(copy))
            }
            Learned::Unchanged => {
                let mut known = lock(&slot.known);
                known.trouble = None;
                known.held.as_mut()?.facts.fetched_at = now;
                Some(Saving::Confirmed)
            }
            Learned::Trouble(trouble) => {
                lock(&slot.known).trouble = Some(trouble);
                None
            }
        }
    }

    fn hold(&self, mut copy: RobotsCopy) -> Held {
        let body = std::mem::take(&mut copy.body);
        let rules = if body.is_empty() { self.no_rules.clone() } else { Arc::new(Robots::parse(&body)) };
        Held { facts: copy, rules }
    }

    fn weigh(&self, origin: &Origin, slot: &Slot) {
        let weight = SLOT_WEIGHT + lock(&slot.known).held.as_ref().map_or(0, |held| held.rules.weight());
        let mut pages = lock(&self.pages);
        pages.weigh(origin, weight);
        pages.make_room(self.max_origins, self.max_weight);
    }
}

enum Saving {
    New(RobotsCopy),
    Confirmed,
}

/// One origin.
#[derive(Default)]
struct Slot {
    /// Held by whoever fetches. A lock of tokio's is freed by being dropped, also by a panic.
    flight: tokio::sync::Mutex<()>,
    known: Mutex<Known>,
}

#[derive(Default)]
struct Known {
    is_loaded: bool,
    held: Option<Held>,
    trouble: Option<Trouble>,
}

/// A copy without its text, and what the text says.
struct Held {
    facts: RobotsCopy,
    rules: Arc<Robots>,
}

impl Slot {
    fn request(&self, origin: &Origin) -> RobotsRequest {
        let known = lock(&self.known);
        let facts = known.held.as_ref().map(|held| &held.facts);
        RobotsRequest {
            url: origin.robots_url(),
            etag: facts.and_then(|facts| facts.etag.clone()),
            last_modified: facts.and_then(|facts| facts.last_modified.clone()),
        }
    }
}

/// The slots in the order of their last use.
#[derive(Default)]
struct Pages {
    slots: HashMap<Origin, Page>,
    /// From the least recently used on.
    order: BTreeMap<u64, Origin>,
    turn: u64,
    weight: usize,
}

struct Page {
    slot: Arc<Slot>,
    used: u64,
    weight: usize,
}

impl Pages {
    fn slot(&mut self, origin: &Origin) -> Arc<Slot> {
        self.turn += 1;
        if let Some(page) = self.slots.get_mut(origin) {
            if let Some(origin) = self.order.remove(&page.used) {
                self.order.insert(self.turn, origin);
            }
            page.used = self.turn;
            return page.slot.clone();
        }
        let slot = Arc::new(Slot::default());
        let page = Page { slot: slot.clone(), used: self.turn, weight: SLOT_WEIGHT };
        self.weight += SLOT_WEIGHT;
        self.order.insert(self.turn, origin.clone());
        self.slots.insert(origin.clone(), page);
        slot
    }

    fn weigh(&mut self, origin: &Origin, weight: usize) {
        if let Some(page) = self.slots.get_mut(origin) {
            self.weight = self.weight - page.weight + weight;
            page.weight = weight;
        }
    }

    /// Forgets the least recently used, except those that somebody is busy with: they would be fetched twice.
    fn make_room(&mut self, max_origins: usize, max_weight: usize) {
        let mut after = 0;
        while self.slots.len() > max_origins || (self.weight > max_weight && self.slots.len() > 1) {
            let Some((&turn, origin)) = self.order.range(after..).next() else { return };
            after = turn + 1;
            if self.slots.get(origin).is_some_and(|page| Arc::strong_count(&page.slot) > 1) {
                continue;
            }
            if let Some(origin) = self.order.remove(&turn)
                && let Some(page) = self.slots.remove(&origin)
            {
                self.weight -= page.weight;
            }
        }
    }
}

/// No code that holds these locks can panic half way, so a poisoned one is as good as any.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

#[cfg(test)]
impl RobotsBook {
    pub(super) fn with_limits(mut self, max_origins: usize, max_weight: usize) -> RobotsBook {
        self.max_origins = max_origins;
        self.max_weight = max_weight;
        self
    }
}
