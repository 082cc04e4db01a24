//! Commands to Chromium and events from it: JSON over two pipes, each message ended by a zero byte. What they mean is
//! not known here.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::unix::pipe;
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::{CancellationToken, DropGuard};

use super::launch::Pipes;

/// The largest message: a page at its limit, each character escaped.
const MAX_MESSAGE: usize = 192 << 20;
/// Events of a page that may wait; a page that makes more than we can read is ended.
const QUEUE: usize = 8192;

/// A line to one Chromium. Cheap to clone; it is closed when the last clone goes.
#[derive(Clone)]
pub(super) struct Cdp(Arc<Line>);

struct Line {
    out: mpsc::UnboundedSender<Vec<u8>>,
    next: AtomicU64,
    desk: Arc<Mutex<Desk>>,
    closed: CancellationToken,
    _stop: DropGuard,
}

#[derive(Default)]
struct Desk {
    waiting: HashMap<u64, oneshot::Sender<Result<Value, CdpError>>>,
    sessions: HashMap<String, mpsc::Sender<Event>>,
    closed: bool,
}

/// Something that happened in a session.
#[derive(Debug)]
pub(super) struct Event {
    pub session: String,
    pub method: String,
    pub params: Value,
}

/// Why a command was not carried out.
#[derive(Clone, Debug, thiserror::Error)]
pub(super) enum CdpError {
    #[error("it ended in the middle of a page; the next page starts a new one")]
    Closed,
    #[error("{method}: {message}")]
    Refused { method: &'static str, message: String },
}

impl Cdp {
    pub fn new(pipes: Pipes) -> Cdp {
        let (out, queue) = mpsc::unbounded_channel();
        let desk = Arc::new(Mutex::new(Desk::default()));
        let (stop, closed) = (CancellationToken::new(), CancellationToken::new());
        let work = {
            let (desk, out, closed, stop) = (desk.clone(), out.downgrade(), closed.clone(), stop.clone());
            async move {
                let popups = move |message: &Value| {
                    if let (Some(answer), Some(out)) = (popup(message), out.upgrade()) {
                        let _ = out.send(answer);
                    }
                };
                tokio::select! {
                    () = stop.cancelled() => (),
                    () = write(pipes.commands, queue) => (),
                    () = read(pipes.events, &desk, popups) => (),
                }
                let mut desk = lock(&desk);
                desk.closed = true;
                for (_, waiting) in desk.waiting.drain() {
                    let _ = waiting.send(Err(CdpError::Closed));
                }
                desk.sessions.clear();
                closed.cancel();
            }
        };
        tokio::spawn(work);
        Cdp(Arc::new(Line { out, next: AtomicU64::new(1), desk, closed, _stop: stop.drop_guard() }))
    }

    /// Returns when the line is closed: Chromium has ended.
    pub async fn closed(&self) {
        self.0.closed.cancelled().await;
    }

    pub fn is_closed(&self) -> bool {
        self.0.closed.is_cancelled()
    }

    /// Carries out a command.
    pub async fn call(
        &self,
        session: Option<&str>,
        method: &'static str,
        params: Value,
    ) -> Result<Value, CdpError> {
        let id = self.0.next.fetch_add(1, Ordering::Relaxed);
        let (answer, wait) = oneshot::channel();
        {
            let mut desk = lock(&self.0.desk);
            if desk.closed {
                return Err(CdpError::Closed);
            }
            desk.waiting.insert(id, answer);
        }
        self.put(id, session, method, params);
        match wait.await.unwrap_or(Err(CdpError::Closed)) {
            Err(CdpError::Refused { message, .. }) => Err(CdpError::Refused { method, message }),
            done => done,
        }
    }

    /// Gives a command whose answer does not matter.
    pub fn tell(&self, session: Option<&str>, method: &'static str, params: Value) {
        let id = self.0.next.fetch_add(1, Ordering::Relaxed);
        self.put(id, session, method, params);
    }

    /// Sends the events of a session there, from now on.
    pub fn listen(&self, session: &str, to: mpsc::Sender<Event>) {
        lock(&self.0.desk).sessions.insert(session.to_owned(), to);
    }

    /// Forgets a session.
    pub fn forget(&self, session: &str) {
        lock(&self.0.desk).sessions.remove(session);
    }

    /// Where the events of one page wait.
    pub fn queue() -> (mpsc::Sender<Event>, mpsc::Receiver<Event>) {
        mpsc::channel(QUEUE)
    }

    fn put(&self, id: u64, session: Option<&str>, method: &str, params: Value) {
        let mut message = json!({ "id": id, "method": method, "params": params });
        if let Some(session) = session {
            message["sessionId"] = session.into();
        }
        let mut bytes = message.to_string().into_bytes();
        bytes.push(0);
        let _ = self.0.out.send(bytes);
    }
}

async fn write(mut to: pipe::Sender, mut queue: mpsc::UnboundedReceiver<Vec<u8>>) {
    while let Some(message) = queue.recv().await {
        if to.write_all(&message).await.is_err() {
            return;
        }
    }
}

/// Reads until Chromium closes the pipe or writes what nobody can read.
async fn read(mut from: pipe::Receiver, desk: &Mutex<Desk>, aside: impl Fn(&Value)) {
    let mut buffer = Vec::with_capacity(64 << 10);
    let mut looked = 0;
    loop {
        match from.read_buf(&mut buffer).await {
            Ok(0) | Err(_) => return,
            Ok(_) => (),
        }
        let mut begin = 0;
        while let Some(end) = buffer[looked..].iter().position(|byte| *byte == 0) {
            let end = looked + end;
            if let Ok(message) = serde_json::from_slice::<Value>(&buffer[begin..end]) {
                aside(&message);
                deliver(message, desk);
            }
            begin = end + 1;
            looked = begin;
        }
        buffer.drain(..begin);
        looked = buffer.len();
        if buffer.len() > MAX_MESSAGE {
            tracing::warn!("the browser wrote a message over every limit and is given up");
            return;
        }
        if buffer.is_empty() && buffer.capacity() > 4 << 20 {
            buffer = Vec::with_capacity(64 << 10);
        }
    }
}

fn deliver(mut message: Value, desk: &Mutex<Desk>) {
    let mut desk = lock(desk);
    if let Some(id) = message["id"].as_u64() {
        let Some(waiting) = desk.waiting.remove(&id) else { return };
        let answer = match message.get("error") {
            Some(error) => {
                let message = error["message"].as_str().unwrap_or("refused").chars().take(300).collect();
                Err(CdpError::Refused { method: "", message })
            }
            None => Ok(message["result"].take()),
        };
        let _ = waiting.send(answer);
        return;
    }
    let Some(session) = message["sessionId"].as_str().map(str::to_owned) else { return };
    let Some(to) = desk.sessions.get(&session) else { return };
    let method = message["method"].as_str().unwrap_or_default().to_owned();
    let event = Event { session: session.clone(), method, params: message["params"].take() };
    if to.try_send(event).is_err() {
        // Nobody listens any more, or it cannot keep up: the page ends with its queue.
        desk.sessions.remove(&session);
    }
}

/// A window that a page opened is closed before anybody looks at it. What it would load has the same proxy as its
/// page, so this saves work and is not what keeps it in.
fn popup(message: &Value) -> Option<Vec<u8>> {
    let target = &message["params"]["targetInfo"];
    let opened = message["method"] == "Target.targetCreated"
        && target["type"] == "page"
        && target["openerId"].as_str().is_some();
    opened.then(|| {
        let close =
            json!({ "id": 0, "method": "Target.closeTarget", "params": { "targetId": target["targetId"] } });
        let mut bytes = close.to_string().into_bytes();
        bytes.push(0);
        bytes
    })
}

/// No code that holds the lock can panic half way.
fn lock(desk: &Mutex<Desk>) -> MutexGuard<'_, Desk> {
    desk.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}
