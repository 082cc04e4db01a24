//! One turn: a fresh instance, one call, one validated step.
//!
//! Decides how a trap is called and when an adapter is quarantined; what a step may contain is in `validate`.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use wasmtime::{Store, Trap};

use super::bindings::AdapterPre;
use super::contract::{About, Article, Context, DetailStep, Entry, Failure, ListStep, Page, Reply, Request};
use super::cost::Cost;
use super::gate::TICK;
use super::host::Inner;
use super::limits::{Denied, Meter};
use super::load::Adapter;
use super::said::Said;
use super::state::{Lent, Log, LogLine, State};
use super::validate::Breach;
use super::{TrapKind, TurnError, validate, wasi};
use crate::extract::Pages;

/// Traps in a row, on one target, after which an adapter is no longer called for it: one may be a page, three are the
/// adapter or all that this target has.
const QUARANTINE: u32 = 3;

/// A step that needs more turns than this is going in circles.
pub const MAX_TURNS: usize = 8;

/// Which function of the contract to call.
#[derive(Clone, Copy, Debug)]
pub enum Call<'a> {
    /// One page of the list.
    List {
        /// `next` of the page before; none for the first.
        cursor: Option<&'a str>,
    },
    /// One document.
    Detail {
        /// Its row in the list.
        entry: &'a Entry,
    },
}

impl Call<'_> {
    fn name(&self) -> &'static str {
        match self {
            Call::List { .. } => "list-page",
            Call::Detail { .. } => "detail",
        }
    }
}

/// What a turn gave.
#[derive(Clone, Debug)]
pub struct Turn {
    /// The step to take.
    pub step: Step,
    /// To be handed over in the next turn's context.
    pub session: Vec<u8>,
    /// What the adapter logged, and what the host has to say about dropped rows.
    pub log: Vec<LogLine>,
    /// What it cost, when the host measures.
    pub cost: Option<Cost>,
}

/// What to do next. All values are within the limits of `validate`.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// Make these requests and call again with the replies.
    Fetch(Vec<Request>),
    /// The list page is done.
    Page(Page),
    /// The document is done.
    Article(Article),
}

/// A failure of the contract, with what was logged and what it cost.
type Refusal = (Failure, Vec<LogLine>, Option<Cost>);

/// Why a call ended without an answer.
type Fall = (TrapKind, String);

impl Adapter {
    /// Runs one turn on the calling thread, which it may hold up for a deadline: use a blocking-pool
    /// thread, never one that drives async tasks. `then` sees the result and the pages that were parsed for it.
    pub fn turn<T>(
        &self,
        ctx: &Context,
        call: Call<'_>,
        replies: Arc<Vec<Reply>>,
        then: impl FnOnce(Result<Turn, TurnError>, &Pages) -> T,
    ) -> T {
        let pages = Rc::new(Pages::new(Arc::clone(&replies)));
        let result = self.run(ctx, call, &replies, &pages);
        then(result, &pages)
    }

    /// Whether the adapter trapped so often in a row on this target that it is no longer called for it. Other targets may have
    /// pages that it can read.
    pub fn is_quarantined(&self, target: &str) -> bool {
        let traps = self.inner.traps.lock().unwrap_or_else(PoisonError::into_inner);
        traps.get(target).is_some_and(|(traps, _)| *traps >= QUARANTINE)
    }

    fn run(
        &self,
        ctx: &Context,
        call: Call<'_>,
        replies: &[Reply],
        pages: &Rc<Pages>,
    ) -> Result<Turn, TurnError> {
        let loaded = &*self.inner;
        let (adapter, step) = (&loaded.about.name, call.name());
        {
            let traps = loaded.traps.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some((traps, last)) = traps.get(&ctx.target).filter(|(traps, _)| *traps >= QUARANTINE) {
                let (traps, last) = (*traps, last.clone());
                return Err(TurnError::Quarantined { adapter: adapter.clone(), step, traps, last });
            }
        }
        let seat = Seat {
            host: &loaded.host,
            pre: &loaded.pre,
            memory: loaded.memory,
            deadline: loaded.deadline,
            interpreted: loaded.inspection.interpreted,
        };
        let answer = seat.turn(ctx, call, replies, pages);
        let mut traps = loaded.traps.lock().unwrap_or_else(PoisonError::into_inner);
        match answer {
            Ok(Ok(turn)) => {
                // To ask for a page is no proof that it can be read.
                if !matches!(turn.step, Step::Fetch(_)) {
                    traps.remove(&ctx.target);
                }
                Ok(turn)
            }
            Ok(Err((failure, log, cost))) => {
                // To give up with a reason is a good answer.
                traps.remove(&ctx.target);
                Err(TurnError::Failure {
                    adapter: adapter.clone(),
                    step,
                    failure: validate::failure(failure),
                    log,
                    cost: cost.map(Box::new),
                })
            }
            Err((kind, reason)) => {
                let known = traps.entry(ctx.target.clone()).or_default();
                *known = (known.0.saturating_add(1), format!("{kind}: {reason}"));
                Err(TurnError::Trap { adapter: adapter.clone(), step, reason, kind })
            }
        }
    }
}

/// What is needed to seat one instance.
pub(super) struct Seat<'a> {
    pub host: &'a Inner,
    pub pre: &'a AdapterPre<State>,
    pub memory: usize,
    pub deadline: Duration,
    pub interpreted: bool,
}

impl Seat<'_> {
    /// `describe()`, at the beginning of time and without any page.
    pub fn describe(&self) -> Result<About, Fall> {
        self.call(0, &[], |adapter, store| adapter.dibao_adapter_site().call_describe(store))
            .map(|(about, _, _)| about)
    }

    fn turn(
        &self,
        ctx: &Context,
        call: Call<'_>,
        replies: &[Reply],
        pages: &Rc<Pages>,
    ) -> Result<Result<Turn, Refusal>, Fall> {
        let _lent = Lent::new(pages);
        let base = replies.last().map_or(ctx.base.as_str(), |reply| reply.url.as_str());
        let invalid = |reason| (TrapKind::Invalid, reason);
        let (step, session, mut log, cost) = match call {
            Call::List { cursor } => {
                let (answer, log, cost) = self.call(ctx.now, &ctx.seed, |adapter, store| {
                    adapter.dibao_adapter_site().call_list_page(store, ctx, cursor, replies)
                })?;
                match answer {
                    Err(failure) => return Ok(Err((failure, log.finish(), cost))),
                    Ok(turn) => (
                        match turn.step {
                            ListStep::Fetch(requests) => Step::Fetch(requests),
                            ListStep::Done(page) => Step::Page(page),
                        },
                        turn.session,
                        log,
                        cost,
                    ),
                }
            }
            Call::Detail { entry } => {
                let (answer, log, cost) = self.call(ctx.now, &ctx.seed, |adapter, store| {
                    adapter.dibao_adapter_site().call_detail(store, ctx, entry, replies)
                })?;
                match answer {
                    Err(failure) => return Ok(Err((failure, log.finish(), cost))),
                    Ok(turn) => (
                        match turn.step {
                            DetailStep::Fetch(requests) => Step::Fetch(requests),
                            DetailStep::Done(article) => Step::Article(article),
                        },
                        turn.session,
                        log,
                        cost,
                    ),
                }
            }
        };
        validate::session(&session).map_err(invalid)?;
        let (step, remarks) = match validate::step(step, base) {
            Ok(checked) => checked,
            Err(Breach::Contract(words)) => return Err(invalid(words)),
            Err(Breach::Rows(words)) => return Ok(Err((Failure::Shape(words), log.finish(), cost))),
        };
        for remark in remarks {
            log.push(super::contract::Level::Warn, &remark);
        }
        Ok(Ok(Turn { step, session, log: log.finish(), cost }))
    }

    /// Seats a fresh instance, calls it, and takes it away again.
    fn call<R>(
        &self,
        now: u64,
        seed: &[u8],
        run: impl FnOnce(&super::bindings::Adapter, &mut Store<State>) -> wasmtime::Result<R>,
    ) -> Result<(R, Log, Option<Cost>), Fall> {
        let limits = &self.host.limits;
        let _place = self.host.gate.enter();
        let said = Said::default();
        let state = State {
            meter: Meter::new(self.memory, limits.table_elements, self.interpreted),
            log: Log::new(limits),
            cost: self.host.measure.then(Cost::default),
            wasi: self.interpreted.then(|| wasi::nothing(now, seed, &said)),
            said,
        };
        let mut store = Store::new(self.pre.engine(), state);
        store.limiter(|state| &mut state.meter);
        store.set_hostcall_fuel(limits.result_bytes);
        store.epoch_deadline_trap();
        if self.host.measure {
            // Counted, not rationed: what ends a turn is its deadline.
            store.set_fuel(u64::MAX).map_err(|error| (TrapKind::Trap, error.to_string()))?;
        }
        // One more: the tick under way has begun already.
        let ticks = self.deadline.as_nanos().div_ceil(TICK.as_nanos());
        store.set_epoch_deadline(u64::try_from(ticks).unwrap_or(u64::MAX / 2).saturating_add(1));

        let mut started = false;
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            let adapter = self.pre.instantiate(&mut store)?;
            started = true;
            run(&adapter, &mut store)
        }));
        match outcome {
            Ok(Ok(answer)) => {
                let left = store.get_fuel().unwrap_or(u64::MAX);
                let State { mut log, cost, said, .. } = store.into_data();
                said.lines().iter().for_each(|line| log.push(super::contract::Level::Debug, line));
                Ok((answer, log, cost.map(|cost| Cost { fuel: u64::MAX - left, ..cost })))
            }
            Ok(Err(error)) => {
                let State { meter, log, said, .. } = store.data();
                let (kind, mut reason) = name(&error, started, meter.denied, self);
                if let Some(words) = log.last_words().map(str::to_owned).or_else(|| said.last_words()) {
                    reason = format!("{reason}; its last words: {words}");
                }
                Err((kind, reason))
            }
            Err(_) => Err((
                TrapKind::Trap,
                "the host failed in this call (a bug of dibao: please report it)".into(),
            )),
        }
    }
}

/// Which wall it was.
fn name(error: &wasmtime::Error, started: bool, denied: Option<Denied>, seat: &Seat<'_>) -> Fall {
    let words = error.root_cause().to_string();
    match error.downcast_ref::<Trap>() {
        Some(Trap::Interrupt) => {
            return (TrapKind::Deadline, format!("still running after {} ms", seat.deadline.as_millis()));
        }
        Some(Trap::StackOverflow) => {
            return (TrapKind::Stack, "recursed deeper than the stack of a turn".into());
        }
        _ => {}
    }
    match denied {
        Some(Denied::Memory { .. }) => {
            let reason = format!(
                "wanted more than {} MiB and then: {words}; grant more with `memory_mib` in adapters.lock",
                seat.memory >> 20
            );
            return (TrapKind::Memory, reason);
        }
        Some(Denied::Table { .. }) => {
            let limit = seat.host.limits.table_elements;
            return (TrapKind::Table, format!("wanted more than {limit} table elements and then: {words}"));
        }
        None => {}
    }
    // wasmtime keeps this error's type to itself.
    if words.contains("fuel allocated for hostcalls") {
        return (
            TrapKind::ResultSize,
            format!("more than {} MiB in one call", seat.host.limits.result_bytes >> 20),
        );
    }
    (if started { TrapKind::Trap } else { TrapKind::Start }, words)
}
