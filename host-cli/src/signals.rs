//! The first Ctrl-C drains, the second aborts.

use std::time::Duration;

use dibao::queue::Queue;
use tokio_util::sync::CancellationToken;

use crate::exit::Exit;
use crate::output::note;

/// How long the second signal waits for the store: whoever asks twice means now.
const AT_MOST: Duration = Duration::from_secs(1);

/// A token that the first Ctrl-C (or SIGTERM) cancels. The second one ends the process: everything
/// acknowledged is in the store, and what was under way goes back into the queue, for the next run to take up at once.
pub fn drain_then_abort(queue: Option<Queue>) -> CancellationToken {
    let token = CancellationToken::new();
    let drain = token.clone();
    tokio::spawn(async move {
        // One listener for both, so that none is lost between the first and the second.
        let Some(mut signals) = Signals::new() else { return };
        signals.next().await;
        note("dibao: finishing what is under way; press Ctrl-C again to stop at once");
        drain.cancel();
        signals.next().await;
        if let Some(queue) = queue {
            // What cannot be given back is found by whoever comes next: its worker is dead.
            let _ = tokio::time::timeout(AT_MOST, queue.abandon()).await;
        }
        note("dibao: stopped; the next run goes on from here");
        std::process::exit(Exit::Interrupted.code().into());
    });
    token
}

#[cfg(unix)]
struct Signals(tokio::signal::unix::Signal, tokio::signal::unix::Signal);

#[cfg(unix)]
impl Signals {
    fn new() -> Option<Signals> {
        use tokio::signal::unix::{SignalKind, signal};
        Some(Signals(signal(SignalKind::interrupt()).ok()?, signal(SignalKind::terminate()).ok()?))
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.0.recv() => {}
            _ = self.1.recv() => {}
        }
    }
}

#[cfg(not(unix))]
struct Signals;

#[cfg(not(unix))]
impl Signals {
    fn new() -> Option<Signals> {
        Some(Signals)
    }

    async fn next(&mut self) {
        let _ = tokio::signal::ctrl_c().await;
    }
}
