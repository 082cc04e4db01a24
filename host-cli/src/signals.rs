//! The first Ctrl-C drains, the second aborts.

use tokio_util::sync::CancellationToken;

/// A token that the first Ctrl-C (or SIGTERM) cancels. The second one ends the process: everything
/// acknowledged is in the store, and what was under way is taken up by the next run.
pub fn drain_then_abort() -> CancellationToken {
    let token = CancellationToken::new();
    let drain = token.clone();
    tokio::spawn(async move {
        wait().await;
        eprintln!("dibao: finishing what is under way; press Ctrl-C again to stop at once");
        drain.cancel();
        wait().await;
        eprintln!("dibao: stopped; the next run goes on from here");
        std::process::exit(130);
    });
    token
}

#[cfg(unix)]
async fn wait() {
    use tokio::signal::unix::{SignalKind, signal};
    let Ok(mut terminate) = signal(SignalKind::terminate()) else {
        let _ = tokio::signal::ctrl_c().await;
        return;
    };
    tokio::select! {
        _ = tokio::signal::ctrl_c() => {}
        _ = terminate.recv() => {}
    }
}

#[cfg(not(unix))]
async fn wait() {
    let _ = tokio::signal::ctrl_c().await;
}
