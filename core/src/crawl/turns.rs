//! Drives the turns of one step of an adapter: call it, make the requests it asks for, call it
//! again with the replies, until it is done.

use std::sync::Arc;

use bytes::Bytes;
use url::Url;

use super::context::CrawlContext;
use crate::adapter::{Call, MAX_TURNS, Step, TurnError, contract};
use crate::clock::Timestamp;
use crate::error::{Error, ErrorClass};
use crate::extract::Pages;
use crate::fetch::breaker::{OPEN_FIRST, Why, retry_delay};
use crate::fetch::{Ask, Expects, FetchError, FetchErrorKind, Fetched, Method, Purpose, Validators};
use crate::model::RequestLog;

/// Which step, with what it owns: turns run on other threads.
#[derive(Clone)]
pub(super) enum OwnedCall {
    List { cursor: Option<String> },
    Detail { entry: contract::Entry },
}

impl OwnedCall {
    pub fn borrow(&self) -> Call<'_> {
        match self {
            OwnedCall::List { cursor } => Call::List { cursor: cursor.as_deref() },
            OwnedCall::Detail { entry } => Call::Detail { entry },
        }
    }

    pub fn purpose(&self) -> Purpose {
        match self {
            OwnedCall::List { .. } => Purpose::List,
            OwnedCall::Detail { .. } => Purpose::Detail,
        }
    }
}

/// Why a step failed.
#[derive(Debug)]
pub(super) struct StepError {
    pub class: ErrorClass,
    pub message: String,
    /// The error that ends the run when the step was a list page.
    pub cause: Option<Error>,
    /// What the site sent, for a page that is not shaped as expected.
    pub evidence: Option<Bytes>,
    /// The site itself would not let us in, as against our own rules.
    pub turned_away: bool,
    /// Nothing was sent: the host is left alone until then.
    pub cooling: Option<Timestamp>,
}

impl StepError {
    pub fn new(class: ErrorClass, message: impl Into<String>) -> Self {
        StepError {
            class,
            message: message.into(),
            cause: None,
            evidence: None,
            turned_away: false,
            cooling: None,
        }
    }

    /// Whether our own rules forbade the request: a grant, a path, robots.txt.
    pub fn is_denied(&self) -> bool {
        use FetchErrorKind::{ForbiddenAddress, NotGranted, NotPublic, Robots};
        let Some(Error::Fetch(error)) = &self.cause else { return false };
        matches!(error.kind(), NotGranted(_) | NotPublic(_) | ForbiddenAddress { .. } | Robots { .. })
    }

    /// Whether a later run tries again. A site that turns us away today (403, 429) may have had too much of
    /// us; our own rules will say the same tomorrow.
    pub fn may_heal(&self) -> bool {
        self.class.is_retryable() || self.turned_away
    }
}

/// What one turn comes to once the pages it parsed are let go.
pub(super) enum Outcome<T> {
    Done(T, Vec<u8>),
    Fetch(Vec<(contract::Request, Url)>, Vec<u8>),
    Failed(TurnError),
    BadUrl(String),
}

/// What a step came to.
pub(super) enum Driven<T> {
    /// It is done; with the validators of its page, if it took a single GET and the page has any.
    Done(T, Option<Validators>),
    /// Its page is the one that is known; the adapter was not shown anything.
    Unchanged,
}

/// Runs a step to its end, whatever is known of its page.
pub(super) async fn drive<T, F>(
    ctx: &CrawlContext,
    call: OwnedCall,
    log: &mut Vec<RequestLog>,
    finish: F,
) -> Result<T, StepError>
where
    T: Send + 'static,
    F: Fn(Step, &Pages) -> T + Clone + Send + 'static,
{
    match drive_if_changed(ctx, call, None, log, finish).await? {
        Driven::Done(value, _) => Ok(value),
        Driven::Unchanged => Err(StepError::new(ErrorClass::Server, "unchanged, though nobody asked")),
    }
}

/// Runs a step to its end, unless its one page is the one that is `known`. `finish` sees the result together with the pages, on the thread that
/// parsed them, so that nothing is parsed twice.
pub(super) async fn drive_if_changed<T, F>(
    ctx: &CrawlContext,
    call: OwnedCall,
    mut known: Option<Validators>,
    log: &mut Vec<RequestLog>,
    finish: F,
) -> Result<Driven<T>, StepError>
where
    T: Send + 'static,
    F: Fn(Step, &Pages) -> T + Clone + Send + 'static,
{
    // A page put together from several answers has no version of its own.
    let (mut asked, mut validators) = (0, None);
    let mut restarted = false;
    'step: loop {
        let mut replies: Arc<Vec<contract::Reply>> = Arc::default();
        for _ in 0..MAX_TURNS {
            match one_turn(ctx, call.clone(), replies.clone(), finish.clone()).await? {
                Outcome::Done(value, session) => {
                    ctx.keep_session(session);
                    return Ok(Driven::Done(value, validators.filter(|_| asked == 1)));
                }
                Outcome::Fetch(requests, session) => {
                    ctx.keep_session(session);
                    asked += requests.len();
                    // Only the first request of a step can be about the page that is known.
                    let known = known.take().filter(|_| asked == 1);
                    let page = requests.last().map(|(request, url)| (request.tag.clone(), url.to_string()));
                    let answers = fetch_all(ctx, requests, call.purpose(), known.as_ref(), log).await;
                    let answers = match (answers, page) {
                        (Err(error), Some((tag, url))) if error.is_denied() => {
                            return without(ctx, call, denied(tag, url, &error), finish).await.ok_or(error);
                        }
                        (answers, _) => answers?,
                    };
                    let Some((answered, version)) = answers else { return Ok(Driven::Unchanged) };
                    validators = version;
                    replies = Arc::new(answered);
                }
                Outcome::BadUrl(url) => {
                    let message = format!("the adapter asked for {url:?}, which is not a web address");
                    return Err(StepError::new(ErrorClass::Adapter, message));
                }
                Outcome::Failed(TurnError::Failure { failure: contract::Failure::Stale(_), .. })
                    if !restarted =>
                {
                    // Design: the session is dropped and the step begins again, once.
                    restarted = true;
                    ctx.keep_session(Vec::new());
                    continue 'step;
                }
                Outcome::Failed(error) => {
                    heed_refusal(ctx, &error, &replies).await;
                    return Err(turn_failed(error, &replies));
                }
            }
        }
        let message = format!("the adapter was not done after {MAX_TURNS} turns");
        return Err(StepError::new(ErrorClass::Adapter, message));
    }
}

/// What the adapter makes of a document whose page our own rules forbid: a feed may have its text. None when it makes nothing
/// of its own; then the rule is what there is to say.
async fn without<T, F>(
    ctx: &CrawlContext,
    call: OwnedCall,
    reply: contract::Reply,
    finish: F,
) -> Option<Driven<T>>
where
    T: Send + 'static,
    F: Fn(Step, &Pages) -> T + Clone + Send + 'static,
{
    if !matches!(call, OwnedCall::Detail { .. }) {
        return None;
    }
    let finish = move |step: Step, pages: &Pages| match &step {
        // A place in a page that was never fetched is no text.
        Step::Article(found) if matches!(found.content, Some(contract::Body::Html(_))) => {
            Some(finish(step, pages))
        }
        _ => None,
    };
    match one_turn(ctx, call, Arc::new(vec![reply]), finish).await {
        Ok(Outcome::Done(Some(value), session)) => {
            ctx.keep_session(session);
            Some(Driven::Done(value, None))
        }
        _ => None,
    }
}

/// The reply to a request that was not sent.
fn denied(tag: String, url: String, why: &StepError) -> contract::Reply {
    let why: String = why.message.chars().take(300).filter(|c| !c.is_control()).collect();
    contract::Reply {
        tag,
        status: 403,
        url,
        headers: vec![("dibao-denied".to_owned(), why)],
        body: Vec::new(),
    }
}

pub(super) async fn one_turn<T, F>(
    ctx: &CrawlContext,
    call: OwnedCall,
    replies: Arc<Vec<contract::Reply>>,
    finish: F,
) -> Result<Outcome<T>, StepError>
where
    T: Send + 'static,
    F: Fn(Step, &Pages) -> T + Send + 'static,
{
    let slot = ctx.turn_slots.clone().acquire_owned().await;
    let (adapter, live, guest) = (ctx.adapter.clone(), ctx.live.clone(), ctx.guest_context());
    let gate = ctx.gate.clone();
    let turn = tokio::task::spawn_blocking(move || {
        let _slot = slot;
        // In development the adapter is the one its file holds now.
        let adapter = live.map_or(adapter, |live| live.current().adapter);
        let name = adapter.about().name.clone();
        adapter.turn(&guest, call.borrow(), replies, |result, pages| match result {
            Err(error) => {
                let cost = match &error {
                    TurnError::Failure { cost, .. } => cost.as_deref(),
                    _ => None,
                };
                gate.tally().turned(&name, cost);
                Outcome::Failed(error)
            }
            Ok(turn) => {
                gate.tally().turned(&name, turn.cost.as_ref());
                for line in &turn.log {
                    let (who, words) = (&guest.target, &line.message);
                    match line.level {
                        contract::Level::Debug | contract::Level::Info => {
                            tracing::debug!(target: "dibao::guest", guest = %who, level = ?line.level, "{words}");
                        }
                        contract::Level::Warn | contract::Level::Error => {
                            tracing::warn!(target: "dibao::guest", guest = %who, "{words}");
                        }
                    }
                }
                match turn.step {
                    Step::Fetch(requests) => {
                        let mut resolved = Vec::with_capacity(requests.len());
                        for request in requests {
                            match pages.resolve(&guest.base, &request.url) {
                                Some(url) => resolved.push((request, url)),
                                None => return Outcome::BadUrl(request.url),
                            }
                        }
                        Outcome::Fetch(resolved, turn.session)
                    }
                    done => Outcome::Done(finish(done, pages), turn.session),
                }
            }
        })
    });
    // The closure does not panic on guest data; if it ever does, this entry fails and the run goes on.
    turn.await.map_err(|error| StepError::new(ErrorClass::Adapter, format!("the turn broke off: {error}")))
}

/// The replies to an adapter's requests, with the validators of the last one; none if it is the page that is known.
pub(super) async fn fetch_all(
    ctx: &CrawlContext,
    requests: Vec<(contract::Request, Url)>,
    purpose: Purpose,
    known: Option<&Validators>,
    log: &mut Vec<RequestLog>,
) -> Result<Option<(Vec<contract::Reply>, Option<Validators>)>, StepError> {
    let mut replies = Vec::with_capacity(requests.len());
    let mut validators = None;
    for (request, url) in requests {
        let expects = match request.expects {
            contract::Expects::Html => Expects::Html,
            contract::Expects::Json => Expects::Json,
            contract::Expects::Xml => Expects::Xml,
            contract::Expects::Any => Expects::Any,
        };
        let mut ask = ctx.ask(purpose, url, expects);
        ask.method = match request.method {
            contract::Method::Get => Method::Get,
            contract::Method::Head => Method::Head,
            contract::Method::Post => Method::Post,
        };
        ask.headers = request.headers;
        ask.body = request.body.map(Bytes::from);
        match persistently(ctx, &ask, known, log).await {
            Ok(fetched) => {
                log.extend(ctx.log_answer(
                    purpose,
                    (&fetched.asides, &fetched.hops),
                    &fetched.url,
                    fetched.duration,
                    (fetched.status, &fetched.verdict, fetched.tier),
                ));
                let page = fetched.unchanged || fetched.status == 200;
                if page && purpose == Purpose::List && ask.method == Method::Get {
                    ctx.hear(&fetched);
                }
                if fetched.unchanged {
                    return Ok(None);
                }
                validators = Validators::of(&fetched).filter(|_| ask.method == Method::Get);
                replies.push(contract::Reply {
                    tag: request.tag,
                    status: fetched.status,
                    url: fetched.url.into(),
                    headers: fetched.headers,
                    body: fetched.body.into(),
                });
            }
            Err(error) => {
                log.extend(ctx.log_error(purpose, &ask.url, &error));
                return Err(fetch_failed(error));
            }
        }
    }
    Ok(Some((replies, validators)))
}

/// Asks again after a moment when there was no answer (C6): a single reset is normal on these hosts. The breaker counts
/// every try, and a host that it gives up is not asked again.
async fn persistently(
    ctx: &CrawlContext,
    ask: &Ask,
    known: Option<&Validators>,
    log: &mut Vec<RequestLog>,
) -> Result<Fetched, FetchError> {
    let mut tried = 0;
    let mut first: Option<FetchError> = None;
    loop {
        let fetched = match known {
            Some(known) => ctx.gate.fetch_if_changed(ask, known).await,
            None => ctx.gate.fetch(ask).await,
        };
        match fetched {
            // That the host is left alone now follows from what happened to it: that is the better reason.
            Err(error) if error.cooling_until().is_some() => return Err(first.unwrap_or(error)),
            Err(error) if tried < ctx.retries && error.class() == ErrorClass::Network => {
                tried += 1;
                let wait = retry_delay(tried, ctx.entropy.unit());
                log.extend(ctx.log_error(ask.purpose, &ask.url, &error));
                tracing::debug!(url = %ask.url, tried, ?wait, "asked again soon: {error}");
                let pause = ctx.clock.sleep_until(ctx.clock.instant() + wait);
                tokio::select! {
                    () = pause => {}
                    () = ctx.cancel.cancelled() => return Err(error),
                }
                first = Some(error);
            }
            other => return other,
        }
    }
}

fn fetch_failed(error: FetchError) -> StepError {
    let turned_away = matches!(error.kind(), FetchErrorKind::TurnedAway { .. });
    StepError {
        class: error.class(),
        message: error.to_string(),
        cooling: error.cooling_until(),
        cause: Some(error.into()),
        evidence: None,
        turned_away,
    }
}

/// Design: an adapter that reads a refusal in an answer cools the host down. Where the status says as much, the breaker
/// has counted it already.
async fn heed_refusal(ctx: &CrawlContext, error: &TurnError, replies: &[contract::Reply]) {
    let TurnError::Failure { failure: contract::Failure::Refused(why), .. } = error else { return };
    let Some(last) = replies.last().filter(|reply| reply.status < 400) else { return };
    let Ok(url) = Url::parse(&last.url) else { return };
    let key = ctx.gate.key(&ctx.policy, &url);
    let until = Timestamp(ctx.clock.now().0 + OPEN_FIRST.as_millis() as i64);
    tracing::warn!(host = %key, %until, "the host is left alone, its answer says no: {why}");
    ctx.gate.hosts().cool(&key, until, Why::Refused);
    // It has to survive a kill.
    ctx.gate.flush().await;
}

pub(super) fn turn_failed(error: TurnError, replies: &[contract::Reply]) -> StepError {
    let class = error.class();
    let message = match error {
        TurnError::Failure { failure: contract::Failure::Stale(why), .. } => {
            format!("the site refused a fresh session as well: {why}")
        }
        other => other.to_string(),
    };
    let evidence = match class {
        ErrorClass::Shape => replies.last().map(|reply| Bytes::copy_from_slice(&reply.body)),
        _ => None,
    };
    // A status says more than the guest's reading of the page.
    let class = match (class, replies.last().map_or(0, |reply| reply.status)) {
        (ErrorClass::Shape | ErrorClass::Blocked, 500..) => ErrorClass::Server,
        (ErrorClass::Shape | ErrorClass::Blocked, 401 | 407) => ErrorClass::Auth,
        (ErrorClass::Shape, 403 | 405 | 412 | 429) => ErrorClass::Blocked,
        _ => class,
    };
    let turned_away = matches!(class, ErrorClass::Blocked | ErrorClass::Auth);
    StepError { class, message, cause: None, evidence, turned_away, cooling: None }
}
