//! Runs a [`Case`] again, without any network, and says where the adapter's words differ from the recorded ones.
//!
//! The turns go as in a crawl: the step begins again once when the session is stale. A request is compared whole, and a turn that asks
//! for something else is still answered by tag as far as there are replies, so that one run shows every difference.

use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;

use super::contract::{Failure, Reply, Request};
use super::fixture::{Blob, Case, CaseCall, Ending, Expected, RequestForm};
use super::{Adapter, Call, Cost, LogLine, MAX_TURNS, Step, TurnError};

/// What came of a replay.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Replayed {
    /// The requests of each turn that asked.
    pub asked: Vec<Vec<Request>>,
    /// How it ended.
    pub end: End,
    /// What the adapter leaves for the next step.
    pub session: Vec<u8>,
    /// Of all turns together, when the host measures.
    pub cost: Option<Cost>,
    /// Turns that were taken.
    pub turns: usize,
    /// What the adapter logged.
    pub log: Vec<LogLine>,
}

/// How a replay ended.
#[derive(Clone, Debug, PartialEq)]
pub enum End {
    /// As a step of a crawl does.
    Ending(Box<Ending>),
    /// The adapter ran into a wall of the sandbox.
    Trap(String),
    /// It asked for something of which the case has no reply: its turn (from 1) and the tag.
    Unanswered(usize, String),
    /// It was not done after as many turns as a crawl takes.
    Endless,
}

impl End {
    fn ended(ending: Ending) -> End {
        End::Ending(Box::new(ending))
    }

    /// As a step of a crawl ends; none when it did not.
    pub fn ending(&self) -> Option<&Ending> {
        match self {
            End::Ending(ending) => Some(ending),
            _ => None,
        }
    }
}

/// One place where the adapter's words are not the recorded ones.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Difference {
    /// `turn 1, requests`, `page`, `session`, …
    pub at: String,
    /// What the case says, as JSON over several lines or in words.
    pub expected: String,
    /// What the adapter says.
    pub actual: String,
}

/// Runs a case. Call it on a thread that may block, as [`Adapter::turn`].
pub fn replay(adapter: &Adapter, case: &Case) -> Replayed {
    let mut context = case.context.clone();
    let mut done = Replayed {
        asked: Vec::new(),
        end: End::Endless,
        session: Vec::new(),
        cost: None,
        turns: 0,
        log: Vec::new(),
    };
    let mut replies: Arc<Vec<Reply>> = Arc::default();
    let (mut restarted, mut in_step) = (false, 0);
    while in_step < MAX_TURNS {
        in_step += 1;
        done.turns += 1;
        let call = match &case.call {
            CaseCall::List { cursor } => Call::List { cursor: cursor.as_deref() },
            CaseCall::Detail { entry } => Call::Detail { entry },
        };
        let turn = match adapter.turn(&context, call, Arc::clone(&replies), |turn, _| turn) {
            Ok(turn) => turn,
            Err(TurnError::Failure { failure: Failure::Stale(_), log, cost, .. }) if !restarted => {
                done.paid(cost.as_deref(), log);
                (restarted, in_step) = (true, 0);
                context.session.clear();
                replies = Arc::default();
                continue;
            }
            Err(TurnError::Failure { failure, log, cost, .. }) => {
                done.paid(cost.as_deref(), log);
                done.end = End::ended(Ending::Failure(failure));
                break;
            }
            Err(trap) => {
                done.end = End::Trap(trap.to_string());
                break;
            }
        };
        done.paid(turn.cost.as_ref(), turn.log);
        context.session = turn.session;
        match turn.step {
            Step::Fetch(requests) => {
                let known = case.exchanges.get(done.asked.len()).map_or(&[][..], |known| &known.replies);
                let answers: Result<Vec<Reply>, String> =
                    requests.iter().map(|request| answer(known, request)).collect();
                done.asked.push(requests);
                match answers {
                    Ok(answers) => replies = Arc::new(answers),
                    Err(tag) => {
                        done.end = End::Unanswered(done.asked.len(), tag);
                        break;
                    }
                }
            }
            Step::Page(page) => {
                done.end = End::ended(Ending::Page(page));
                break;
            }
            Step::Article(article) => {
                done.end = End::ended(Ending::Article(article));
                break;
            }
        }
    }
    done.session = context.session;
    done
}

fn answer(known: &[Reply], request: &Request) -> Result<Reply, String> {
    known.iter().find(|reply| reply.tag == request.tag).cloned().ok_or_else(|| request.tag.clone())
}

impl Replayed {
    fn paid(&mut self, cost: Option<&Cost>, log: Vec<LogLine>) {
        if let Some(cost) = cost {
            self.cost.get_or_insert_default().add(cost);
        }
        self.log.extend(log);
    }

    /// Where it differs from what the case says; nothing: the case holds.
    pub fn differences(&self, case: &Case) -> Vec<Difference> {
        let mut found = Vec::new();
        for turn in 0..self.asked.len().max(case.exchanges.len()) {
            let expected = case.exchanges.get(turn).map(|exchange| exchange.requests.as_slice());
            let actual = self.asked.get(turn).map(Vec::as_slice);
            if expected != actual {
                let at = format!("turn {}, requests", turn + 1);
                found.push(Difference { at, expected: requests(expected), actual: requests(actual) });
            }
        }
        let ending = match &self.end {
            End::Ending(ending) => Ok(ending.as_ref()),
            End::Trap(words) => Err(words.clone()),
            End::Endless => Err(format!("not done after {MAX_TURNS} turns")),
            End::Unanswered(turn, tag) => {
                Err(format!("turn {turn} asks for {tag:?}, of which the case has no reply; record it again"))
            }
        };
        let expected = case.expected.as_ref();
        match (ending, expected) {
            (Ok(ending), Some(expected)) if *ending == expected.ending => {}
            (ending, expected) => found.push(Difference {
                at: expected.map_or("end", |expected| expected.ending.kind()).to_owned(),
                expected: expected.map_or_else(
                    || "nothing yet: there is no expected.json; `--bless` writes it".to_owned(),
                    |expected| pretty(&expected.ending),
                ),
                actual: ending.map_or_else(|words| words, pretty),
            }),
        }
        // A step that failed leaves no session.
        if let (Some(expected), Some(Ending::Page(_) | Ending::Article(_))) = (expected, self.end.ending())
            && expected.session.0 != self.session
        {
            found.push(Difference {
                at: "session".to_owned(),
                expected: pretty(&expected.session),
                actual: pretty(Blob(self.session.clone())),
            });
        }
        found
    }

    /// The case as it would have to be for this replay to hold: requests and ending are the adapter's. None when it did not
    /// come to an end.
    pub fn blessed(&self, case: &Case) -> Option<Case> {
        let ending = self.end.ending()?;
        let mut blessed = case.clone();
        blessed.exchanges.truncate(self.asked.len());
        for (exchange, asked) in blessed.exchanges.iter_mut().zip(&self.asked) {
            exchange.requests.clone_from(asked);
        }
        let session = match ending {
            Ending::Failure(_) => Blob::default(),
            _ => Blob(self.session.clone()),
        };
        blessed.expected = Some(Expected { ending: ending.clone(), session });
        Some(blessed)
    }
}

fn requests(of: Option<&[Request]>) -> String {
    match of {
        None => "no further requests".to_owned(),
        Some(requests) => pretty(requests.iter().map(RequestForm::from).collect::<Vec<_>>()),
    }
}

/// As JSON over several lines.
fn pretty(value: impl Serialize) -> String {
    let value = serde_json::to_value(value).unwrap_or(Value::Null);
    serde_json::to_string_pretty(&value).unwrap_or_default()
}
