//! One step for its author: driven through the gate as in a crawl, with every turn told and recorded. Stores nothing.

use std::sync::Arc;

use url::Url;

use super::context::CrawlContext;
use super::turns::{OwnedCall, StepError, fetch_all};
use crate::adapter::fixture::Blob;
use crate::adapter::fixture::{Case, CaseCall, Ending, Exchange, Expected, body_file};
use crate::adapter::{Cost, LogLine, MAX_TURNS, Step, TurnError, contract};
use crate::error::{Error, ErrorClass};

/// What happens in a trial, in order.
#[derive(Clone, Debug)]
pub enum TrialEvent<'a> {
    /// A turn asked for something.
    Asked {
        /// From 1.
        turn: usize,
        /// The requests, and where each really leads.
        requests: &'a [(contract::Request, Url)],
        /// What the adapter logged.
        log: &'a [LogLine],
        /// What the turn cost, when the host measures.
        cost: Option<&'a Cost>,
    },
    /// The replies to it.
    Got {
        /// The turn that asked.
        turn: usize,
        /// In the order of the requests.
        replies: &'a [contract::Reply],
    },
    /// The session was refused: it is dropped and the step begins again.
    Stale {
        /// The turn that said so.
        turn: usize,
        /// The adapter's words.
        why: &'a str,
    },
    /// The step ended.
    Ended {
        /// The last turn.
        turn: usize,
        /// How.
        ending: &'a Ending,
        /// What the adapter logged.
        log: &'a [LogLine],
        /// What the turn cost, when the host measures.
        cost: Option<&'a Cost>,
    },
}

/// A step that came to its end.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Trial {
    /// All that was said, as a fixture that expects just this. It may hold secrets: see [`scrub`](crate::adapter::scrub).
    pub case: Case,
    /// The rows of a list page with absolute addresses: what `detail` is given.
    pub entries: Vec<contract::Entry>,
}

/// What one turn came to.
enum Turned {
    Fetch(Vec<(contract::Request, Url)>),
    Ended(Box<Ending>, Vec<contract::Entry>),
    BadUrl(String),
}

/// Drives one step. Time and seed stand still, so that a replay is given the same.
pub(crate) async fn trial(
    ctx: &CrawlContext,
    call: CaseCall,
    watch: &mut (dyn FnMut(TrialEvent<'_>) + Send),
) -> Result<Trial, Error> {
    let first = ctx.guest_context();
    let owned = match call.clone() {
        CaseCall::List { cursor } => OwnedCall::List { cursor },
        CaseCall::Detail { entry } => OwnedCall::Detail { entry },
    };
    let mut guest = first.clone();
    let mut exchanges: Vec<Exchange> = Vec::new();
    let mut replies: Arc<Vec<contract::Reply>> = Arc::default();
    let (mut turn, mut in_step, mut restarted) = (0, 0, false);
    loop {
        if in_step == MAX_TURNS {
            let message = format!("the adapter was not done after {MAX_TURNS} turns");
            return Err(failed(ctx, StepError::new(ErrorClass::Adapter, message)));
        }
        (turn, in_step) = (turn + 1, in_step + 1);
        let answer = one_turn(ctx, &owned, guest.clone(), replies.clone()).await;
        let (turned, session, log, cost) = match answer.map_err(|error| failed(ctx, error))? {
            Ok(answer) => answer,
            Err(TurnError::Failure { failure: contract::Failure::Stale(why), .. }) if !restarted => {
                watch(TrialEvent::Stale { turn, why: &why });
                (restarted, in_step) = (true, 0);
                guest.session.clear();
                replies = Arc::default();
                continue;
            }
            Err(TurnError::Failure { failure, log, cost, .. }) => {
                let ended = Turned::Ended(Box::new(Ending::Failure(failure)), Vec::new());
                (ended, Vec::new(), log, cost.map(|cost| *cost))
            }
            Err(trap) => return Err(failed(ctx, StepError::new(trap.class(), trap.to_string()))),
        };
        guest.session = session;
        match turned {
            Turned::BadUrl(url) => {
                let message = format!("the adapter asked for {url:?}, which is not a web address");
                return Err(failed(ctx, StepError::new(ErrorClass::Adapter, message)));
            }
            Turned::Fetch(asked) => {
                watch(TrialEvent::Asked { turn, requests: &asked, log: &log, cost: cost.as_ref() });
                let requests = asked.iter().map(|(request, _)| request.clone()).collect();
                let got = fetch_all(ctx, asked, owned.purpose(), None, &mut Vec::new()).await;
                // Nothing is known of the page, so it is never the one that is known.
                let got = got.map_err(|error| failed(ctx, error))?.map(|(replies, _)| replies);
                let got = got.unwrap_or_default();
                watch(TrialEvent::Got { turn, replies: &got });
                let number = exchanges.len() + 1;
                let files = got.iter().map(|reply| body_file(number, reply)).collect();
                exchanges.push(Exchange { requests, replies: got.clone(), files });
                replies = Arc::new(got);
            }
            Turned::Ended(ending, entries) => {
                watch(TrialEvent::Ended { turn, ending: &ending, log: &log, cost: cost.as_ref() });
                let expected = Some(Expected { ending: *ending, session: Blob(guest.session) });
                return Ok(Trial { case: Case { call, context: first, exchanges, expected }, entries });
            }
        }
    }
}

type Answer = Result<(Turned, Vec<u8>, Vec<LogLine>, Option<Cost>), TurnError>;

async fn one_turn(
    ctx: &CrawlContext,
    call: &OwnedCall,
    guest: contract::Context,
    replies: Arc<Vec<contract::Reply>>,
) -> Result<Answer, StepError> {
    let (adapter, call) = (ctx.adapter.clone(), call.clone());
    let turn = tokio::task::spawn_blocking(move || {
        adapter.turn(&guest, call.borrow(), replies, |turn, pages| {
            let turn = turn?;
            let turned = match turn.step {
                Step::Fetch(requests) => {
                    let resolved: Result<Vec<_>, String> = requests
                        .into_iter()
                        .map(|request| match pages.resolve(&guest.base, &request.url) {
                            Some(url) => Ok((request, url)),
                            None => Err(request.url),
                        })
                        .collect();
                    resolved.map_or_else(Turned::BadUrl, Turned::Fetch)
                }
                Step::Page(page) => {
                    let absolute = |entry: &contract::Entry| {
                        let url = pages.resolve(&guest.base, &entry.url)?;
                        Some(contract::Entry { url: url.into(), ..entry.clone() })
                    };
                    let entries = page.entries.iter().filter_map(absolute).collect();
                    Turned::Ended(Box::new(Ending::Page(page)), entries)
                }
                Step::Article(article) => Turned::Ended(Box::new(Ending::Article(article)), Vec::new()),
            };
            Ok((turned, turn.session, turn.log, turn.cost))
        })
    });
    turn.await.map_err(|error| StepError::new(ErrorClass::Adapter, format!("the turn broke off: {error}")))
}

fn failed(ctx: &CrawlContext, error: StepError) -> Error {
    let target = ctx.target.code.clone();
    error.cause.unwrap_or(Error::Trial { target, class: error.class, message: error.message })
}
