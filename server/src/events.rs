//! What happens, as it happens, for whoever watches: numbered, so that one who was away for a moment goes on where he
//! was; bounded, so that a slow one costs nothing but himself.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::future::Future;
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use axum::response::IntoResponse;
use axum::response::Response;
use axum::response::sse::{Event as Line, KeepAlive, Sse};
use dibao::queue::QueueEvent;
use dibao::{CrawlEvent, CrawlWatcher, Report};
use futures::future::BoxFuture;
use futures::{Stream, StreamExt};
use schemars::SchemaGenerator;
use serde::Serialize;
use serde_json::{Value, json};
use tokio::sync::broadcast;
use tokio_util::sync::CancellationToken;

use crate::answer::Answer;
use crate::problem::{Code, Problem};

/// Events kept for those who come back.
const KEPT: usize = 2_000;
/// Events that may wait for a slow watcher.
const WAITING: usize = 512;
/// Watchers at once.
const WATCHERS: usize = 64;
/// A sign of life.
pub const HEARTBEAT: Duration = Duration::from_secs(15);
/// Characters of a remote text.
const LONGEST: usize = 300;

/// Something that happened.
#[derive(Clone, Debug)]
struct Happened {
    number: u64,
    name: &'static str,
    data: Arc<str>,
}

/// Tells watchers.
#[derive(Clone)]
pub struct Events(Arc<Inner>);

struct Inner {
    /// Numbers of another process mean nothing here.
    boot: String,
    kept: Mutex<(u64, VecDeque<Happened>)>,
    sender: broadcast::Sender<Happened>,
    watchers: AtomicUsize,
    stop: CancellationToken,
}

impl Events {
    /// `boot` names this process; with `stop` all watchers are let go.
    pub fn new(boot: String, stop: CancellationToken) -> Events {
        let sender = broadcast::channel(WAITING).0;
        Events(Arc::new(Inner { boot, kept: Mutex::default(), sender, watchers: AtomicUsize::new(0), stop }))
    }

    /// Tells everybody.
    pub fn tell(&self, name: &'static str, data: &impl Serialize) {
        let Ok(data) = serde_json::to_string(data) else { return };
        let mut kept = self.kept();
        kept.0 += 1;
        let happened = Happened { number: kept.0, name, data: data.into() };
        kept.1.push_back(happened.clone());
        if kept.1.len() > KEPT {
            kept.1.pop_front();
        }
        // Sent under the lock: numbers arrive in order.
        let _ = self.0.sender.send(happened);
    }

    /// Something was changed through the API.
    pub fn changed(&self, what: &str, id: impl Serialize) {
        self.tell("changed", &json!({ "what": what, "id": id }));
    }

    /// Hears of crawls.
    pub fn crawls(&self) -> CrawlWatcher {
        let events = self.clone();
        Arc::new(move |target, event| {
            if let Some(data) = crawl(target, event) {
                events.tell("crawl", &data);
            }
        })
    }

    /// Hears how a crawl ended.
    pub fn ended(&self, target: &str, result: &dibao::Result<Report>) {
        let data = match result {
            Ok(report) => json!({
                "target": target, "what": "ended", "run": report.run_id, "stop": report.stop, "seen": report.items_seen,
                "new": report.items_new, "failed": report.items_failed, "requests": report.requests,
            }),
            Err(error) => json!({
                "target": target, "what": "ended", "error_class": error.class(), "error": cut(&error.to_string()),
            }),
        };
        self.tell("crawl", &data);
    }

    /// Passes on what happens to jobs, until it is dropped.
    pub async fn follow(&self, jobs: impl Stream<Item = QueueEvent>) {
        let mut jobs = pin!(jobs);
        while let Some(event) = jobs.next().await {
            match event {
                QueueEvent::Job { id, kind, lane, state, error } => {
                    let error = error.as_deref().map(cut);
                    self.tell(
                        "job",
                        &json!({ "id": id, "kind": kind, "lane": lane, "state": state, "error": error }),
                    );
                }
                QueueEvent::Missed(count) => self.tell("missed", &json!({ "count": count })),
            }
        }
    }

    /// A watcher who saw everything up to `last`, or comes anew.
    pub fn watch(&self, last: Option<&str>) -> Result<Watching, Problem> {
        if self.0.watchers.fetch_add(1, Ordering::Relaxed) >= WATCHERS {
            self.0.watchers.fetch_sub(1, Ordering::Relaxed);
            let words = format!("{WATCHERS} watch already");
            return Err(Problem::new(Code::Throttled, words).header(http::header::RETRY_AFTER, "15"));
        }
        let seat = Seat(self.0.clone());
        let kept = self.kept();
        let receiver = self.0.sender.subscribe();
        let mut first = vec![self.line(
            "hello",
            None,
            &json!({ "boot": self.0.boot, "heartbeat_sec": HEARTBEAT.as_secs() }),
        )];
        if let Some(last) = last {
            let number =
                last.strip_prefix(&format!("{}-", self.0.boot)).and_then(|number| number.parse::<u64>().ok());
            let oldest = kept.1.front().map_or(kept.0 + 1, |happened| happened.number);
            match number {
                Some(number) if number + 1 >= oldest && number <= kept.0 => {
                    let missed = kept.1.iter().filter(|happened| happened.number > number);
                    first.extend(missed.map(|happened| self.of(happened)));
                }
                _ => first.push(self.line("refresh", Some(kept.0), &json!({}))),
            }
        }
        drop(kept);
        Ok(Watching { events: self.clone(), first, receiver, seat, ends: Box::pin(std::future::pending()) })
    }

    fn of(&self, happened: &Happened) -> Line {
        Line::default()
            .id(format!("{}-{}", self.0.boot, happened.number))
            .event(happened.name)
            .data(&happened.data)
    }

    fn line(&self, name: &str, number: Option<u64>, data: &Value) -> Line {
        let line = Line::default().event(name).data(data.to_string());
        match number {
            Some(number) => line.id(format!("{}-{number}", self.0.boot)),
            None => line,
        }
    }

    fn kept(&self) -> MutexGuard<'_, (u64, VecDeque<Happened>)> {
        self.0.kept.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

/// A place among the watchers.
struct Seat(Arc<Inner>);

impl Drop for Seat {
    fn drop(&mut self) {
        self.0.watchers.fetch_sub(1, Ordering::Relaxed);
    }
}

/// One watcher.
pub struct Watching {
    events: Events,
    first: Vec<Line>,
    receiver: broadcast::Receiver<Happened>,
    seat: Seat,
    ends: BoxFuture<'static, ()>,
}

impl Watching {
    /// Lets go of him when this is done.
    pub fn until(self, ends: impl Future<Output = ()> + Send + 'static) -> Watching {
        Watching { ends: Box::pin(ends), ..self }
    }
}

impl Answer for Watching {
    fn write(self) -> Result<Response, Problem> {
        let Watching { events, first, receiver, seat, ends } = self;
        let stop = events.0.stop.clone();
        let live =
            futures::stream::unfold((events, receiver, seat), |(events, mut receiver, seat)| async move {
                let line = match receiver.recv().await {
                    Ok(happened) => events.of(&happened),
                    Err(broadcast::error::RecvError::Lagged(count)) => {
                        events.line("missed", None, &json!({ "count": count }))
                    }
                    Err(broadcast::error::RecvError::Closed) => return None,
                };
                Some((line, (events, receiver, seat)))
            });
        let all = futures::stream::iter(first).chain(live).map(Ok::<_, Infallible>);
        let all = all.take_until(async move {
            futures::future::select(pin!(stop.cancelled()), ends).await;
        });
        Ok(Sse::new(all).keep_alive(KeepAlive::new().interval(HEARTBEAT)).into_response())
    }

    fn content(_: &mut SchemaGenerator) -> Value {
        json!({ "text/event-stream": { "schema": { "type": "string" } } })
    }
}

fn crawl(target: &str, event: &CrawlEvent) -> Option<Value> {
    Some(match event {
        CrawlEvent::Started { run_id, resumed, .. } => {
            json!({ "target": target, "what": "started", "run": run_id, "resumed": resumed })
        }
        CrawlEvent::Listed { page, rows, fresh, .. } => {
            json!({ "target": target, "what": "listed", "page": page, "rows": rows, "fresh": fresh })
        }
        CrawlEvent::Unchanged { .. } => json!({ "target": target, "what": "unchanged" }),
        CrawlEvent::Stored(article) => json!({
            "target": target, "what": "stored", "article": article.id, "title": cut(&article.title), "url": cut(&article.url),
        }),
        CrawlEvent::Duplicate { url } => json!({ "target": target, "what": "duplicate", "url": cut(url) }),
        CrawlEvent::Failed(line) => json!({
            "target": target, "what": "failed", "url": cut(&line.url), "title": cut(&line.title),
            "error_class": line.class, "error": cut(&line.message),
        }),
        _ => return None,
    })
}

fn cut(text: &str) -> String {
    text.chars().take(LONGEST).collect()
}
