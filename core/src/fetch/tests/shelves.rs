//! What is known of hosts on its way to the store.

use tokio::sync::Semaphore;

use super::*;
use crate::clock::{Clock, Timestamp};
use crate::fetch::hosts::HostRow;

/// A shelf that takes what it is given at once, as a queue does, and says that it is stored when it is let to.
struct Slow {
    rows: Mutex<Vec<(String, HostRow)>>,
    leave: Semaphore,
}

impl Slow {
    fn new(leave: usize) -> Arc<Slow> {
        Arc::new(Slow { rows: Mutex::default(), leave: Semaphore::new(leave) })
    }

    fn requests(&self) -> u32 {
        let rows = self.rows.lock().unwrap();
        rows.iter().flat_map(|(_, row)| &row.days).map(|day| day.requests).sum()
    }

    fn started_at(&self) -> Option<Timestamp> {
        self.rows.lock().unwrap().iter().filter_map(|(_, row)| row.started_at).max()
    }
}

impl HostShelf for Slow {
    fn load<'a>(&'a self, _: &'a str) -> BoxFuture<'a, Option<HostRow>> {
        Box::pin(std::future::ready(None))
    }

    fn save<'a>(&'a self, rows: &'a [(String, HostRow)]) -> BoxFuture<'a, bool> {
        Box::pin(async move {
            self.rows.lock().unwrap().extend_from_slice(rows);
            self.leave.acquire().await.unwrap().forget();
            true
        })
    }
}

#[tokio::test]
async fn who_is_dropped_while_the_store_is_slow_is_counted_once() {
    let server = Server::start(|_| reply("200 OK", "", b"<p>ok")).await;
    let shelf = Slow::new(0);
    let gate = gate(GateOptions { host_shelf: Some(shelf.clone()), ..options() });
    let (asking, page) = (gate.clone(), ask(&server.url("/a")));
    let task = tokio::spawn(async move { asking.fetch(&page).await });
    // The answer is there and waits for the store when the one who asked goes away.
    while gate.hosts().get("127.0.0.1").is_none_or(|row| row.recent.is_empty()) {
        tokio::task::yield_now().await;
    }
    for _ in 0..10 {
        tokio::task::yield_now().await;
    }
    task.abort();
    assert!(task.await.unwrap_err().is_cancelled());
    shelf.leave.add_permits(100);
    gate.fetch(&ask(&server.url("/b"))).await.unwrap();
    gate.flush().await;
    assert_eq!((server.heads().len(), shelf.requests()), (2, 2));
}

#[tokio::test]
async fn the_start_of_a_paced_request_is_stored_before_it_goes() {
    let shelf = Slow::new(100);
    let seen = Arc::new(Mutex::new(Vec::new()));
    let (book, starts) = (shelf.clone(), seen.clone());
    let server = Server::start(move |_| {
        starts.lock().unwrap().push(book.started_at());
        reply("200 OK", "", b"<p>ok")
    })
    .await;
    let gate = gate(GateOptions { host_shelf: Some(shelf.clone()), ..options() });
    let begin = SystemClock.now();
    let paced = HostPolicy { min_interval: Duration::from_secs(3600), ..HostPolicy::default() };
    gate.fetch(&Ask { policy: paced, ..ask(&server.url("/a")) }).await.unwrap();
    let at = seen.lock().unwrap()[0].expect("the store knows before the server does");
    assert!((begin.0..=SystemClock.now().0).contains(&at.0));
}

#[tokio::test]
async fn a_gate_keeps_its_distance_from_requests_of_the_process_before() {
    /// When a request started, and the room it wanted.
    struct Before(Timestamp, u32);
    impl HostShelf for Before {
        fn load<'a>(&'a self, _: &'a str) -> BoxFuture<'a, Option<HostRow>> {
            let row = HostRow { started_at: Some(self.0), started_room_ms: self.1, ..HostRow::default() };
            Box::pin(std::future::ready(Some(row)))
        }
        fn save<'a>(&'a self, _: &'a [(String, HostRow)]) -> BoxFuture<'a, bool> {
            Box::pin(std::future::ready(true))
        }
    }
    let server = Server::start(|_| reply("200 OK", "", b"<p>ok")).await;
    let second = Duration::from_millis(1000);
    let interval = HostPolicy { min_interval: second, ..HostPolicy::unpaced(1) };
    let bucket = HostPolicy { rps: Some(1.0), burst: 5, ..HostPolicy::unpaced(5) };
    // Half a second ago, long ago, and from before the clock was set back.
    let none = HostPolicy::unpaced(1);
    for (ago, room, policy, waits) in [
        (500, 0, interval, 400..1000),
        (500, 0, bucket, 400..1000),
        // What the other one wanted holds for a site that wants nothing.
        (500, 1000, none, 400..1000),
        (60_000, 1000, interval, 0..300),
        (60_000, 0, bucket, 0..300),
        (-3_600_000, 0, interval, 900..1500),
    ] {
        let start = Timestamp(SystemClock.now().0 - ago);
        let gate = gate(GateOptions { host_shelf: Some(Arc::new(Before(start, room))), ..options() });
        let fetched = gate.fetch(&Ask { policy, ..ask(&server.url("/a")) }).await.unwrap();
        let waited = fetched.waited.as_millis();
        assert!(waited >= waits.start, "{ago} ms ago: waited {waited} ms, not {waits:?}");
        assert!(waits.start > 0 || waited < waits.end, "{ago} ms ago: waited {waited} ms for nothing");
    }
}

#[tokio::test]
async fn whoever_listens_hears_how_long_a_turn_takes_and_every_request() {
    let server = Server::start(|_| reply("200 OK", "", b"<p>ok")).await;
    let heard = Arc::new(Mutex::new(Vec::new()));
    let notes = heard.clone();
    let pulse = crate::Pulse::new(move |silent| notes.lock().unwrap().push(silent));
    let paced = HostPolicy { min_interval: Duration::from_millis(400), ..HostPolicy::unpaced(1) };
    let gate = gate(options());
    let ask = |path: &str| Ask { policy: paced, pulse: pulse.clone(), ..ask(&server.url(path)) };
    gate.fetch(&ask("/a")).await.unwrap();
    assert_eq!(*heard.lock().unwrap(), [Duration::ZERO; 2], "it goes, and it is answered");
    heard.lock().unwrap().clear();
    gate.fetch(&ask("/b")).await.unwrap();
    let heard = heard.lock().unwrap();
    assert!(heard[0] > Duration::from_millis(100) && heard[0] <= Duration::from_millis(400), "{heard:?}");
    assert_eq!(heard[1..], [Duration::ZERO; 2]);
}
