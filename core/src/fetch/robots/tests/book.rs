//! What the book promises to those who ask it at once, late, or not to the end.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use futures::FutureExt;
use futures::future::BoxFuture;
use tokio::sync::{Notify, Semaphore};
use url::Url;

use crate::clock::{FixedClock, Timestamp};
use crate::fetch::robots::*;

const HOUR: i64 = 3_600_000;

#[derive(Default)]
struct Shelf(Mutex<HashMap<String, RobotsCopy>>);

impl RobotsShelf for Shelf {
    fn load<'a>(&'a self, origin: &'a Origin) -> BoxFuture<'a, Option<RobotsCopy>> {
        async move { self.0.lock().unwrap().get(origin.as_str()).cloned() }.boxed()
    }
    fn save<'a>(&'a self, origin: &'a Origin, copy: &'a RobotsCopy) -> BoxFuture<'a, ()> {
        async move {
            self.0.lock().unwrap().insert(origin.to_string(), copy.clone());
        }
        .boxed()
    }
}

struct Desk {
    book: Arc<RobotsBook>,
    shelf: Arc<Shelf>,
    clock: Arc<FixedClock>,
    asked: Arc<AtomicUsize>,
}

fn desk() -> Desk {
    let (shelf, clock) = (Arc::new(Shelf::default()), Arc::new(FixedClock::new(Timestamp(1000 * HOUR))));
    let book = Arc::new(RobotsBook::new(shelf.clone(), clock.clone(), RobotsTimes::default()));
    Desk { book, shelf, clock, asked: Arc::default() }
}

fn origin(n: usize) -> Origin {
    Origin::of(&Url::parse(&format!("https://h{n}.gov.cn/")).unwrap()).unwrap()
}

fn file(body: &str) -> RobotsAnswer {
    RobotsAnswer::File { status: 200, body: body.into(), etag: Some("\"1\"".into()), last_modified: None }
}

fn status(status: u16) -> RobotsAnswer {
    RobotsAnswer::Status { status, retry_after: None }
}

const CLOSED: &str = "User-agent: *\nDisallow: /\n";

impl Desk {
    async fn consult(&self, answer: RobotsAnswer) -> Standing {
        self.consult_at(0, answer).await
    }

    async fn consult_at(&self, n: usize, answer: RobotsAnswer) -> Standing {
        let asked = self.asked.clone();
        let fetch = |_| async move {
            asked.fetch_add(1, Ordering::SeqCst);
            answer
        };
        self.book.consult(&origin(n), OnUnreachable::Deny, fetch).await
    }

    fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }

    fn pass(&self, millis: i64) {
        use crate::clock::Clock;
        self.clock.set(Timestamp(self.clock.now().0 + millis));
    }
}

fn allows(standing: &Standing, path: &str) -> bool {
    standing.check("dibao", &Url::parse("https://h0.gov.cn").unwrap().join(path).unwrap()).allow
}

#[tokio::test]
async fn callers_at_once_fetch_once() {
    let desk = desk();
    let go = Arc::new(Semaphore::new(0));
    let tasks: Vec<_> = (0..20)
        .map(|_| {
            let (book, asked, go) = (desk.book.clone(), desk.asked.clone(), go.clone());
            tokio::spawn(async move {
                let fetch = |request: RobotsRequest| async move {
                    assert_eq!(request.url, "https://h0.gov.cn/robots.txt");
                    asked.fetch_add(1, Ordering::SeqCst);
                    let _go = go.acquire().await;
                    file(CLOSED)
                };
                book.consult(&origin(0), OnUnreachable::Allow, fetch).await
            })
        })
        .collect();
    tokio::task::yield_now().await;
    go.add_permits(20);
    let mut asked = 0;
    for task in tasks {
        let standing = task.await.unwrap();
        assert!(!allows(&standing, "/x"));
        asked += usize::from(standing.asked);
    }
    assert_eq!((desk.asked(), asked), (1, 1));
    // Another origin is another file.
    assert!(allows(&desk.consult_at(1, file("")).await, "/x"));
    assert_eq!(desk.asked(), 2);
}

#[tokio::test]
async fn a_copy_is_fresh_then_asked_again_and_stands_in_while_the_host_is_down() {
    let desk = desk();
    assert!(!allows(&desk.consult(file(CLOSED)).await, "/x"));
    desk.pass(12 * HOUR - 1);
    desk.consult(file("")).await;
    assert_eq!(desk.asked(), 1, "fresh for half a day");
    desk.pass(1);
    let standing = desk.consult(status(503)).await;
    assert_eq!(desk.asked(), 2);
    assert_eq!(standing.decision.basis, Basis::Copy);
    assert!(!allows(&standing, "/x"), "{}", standing.decision.reason);
    desk.consult(file("")).await;
    assert_eq!(desk.asked(), 2, "not asked again before ten minutes have passed");
    desk.pass(12 * HOUR);
    let standing = desk.consult(status(503)).await;
    assert_eq!((desk.asked(), standing.decision.basis), (3, Basis::DenyAll), "the copy is a day old");
    assert!(allows(&standing, "/robots.txt"));
    desk.pass(600_000);
    let standing = desk.consult(file("")).await;
    assert_eq!((desk.asked(), standing.decision.basis), (4, Basis::Copy));
    assert!(allows(&standing, "/x"));
}

#[tokio::test]
async fn the_setting_is_of_the_asker_not_of_the_book() {
    let desk = desk();
    let denied = desk.consult(RobotsAnswer::Unreachable("refused".into())).await;
    assert!(!allows(&denied, "/x"));
    let allowed = desk.book.peek(&origin(0), OnUnreachable::Allow).unwrap();
    assert!(allows(&allowed, "/x"));
    assert!(allowed.decision.reason.contains("refused"));
    assert!(desk.book.peek(&origin(1), OnUnreachable::Allow).is_none());
}

#[tokio::test]
async fn a_restarted_process_reads_the_shelf_before_the_wire() {
    let desk = desk();
    desk.consult(file(CLOSED)).await;
    let again = Desk {
        book: Arc::new(RobotsBook::new(desk.shelf.clone(), desk.clock.clone(), RobotsTimes::default())),
        shelf: desk.shelf.clone(),
        clock: desk.clock.clone(),
        asked: Arc::default(),
    };
    let standing = again.consult(file("")).await;
    assert!(!allows(&standing, "/x") && !standing.asked);
    assert_eq!(again.asked(), 0);
    again.pass(13 * HOUR);
    assert!(!allows(&again.consult(status(500)).await, "/x"), "the stored copy stands in too");
    assert_eq!(again.asked(), 1);
}

#[tokio::test]
async fn a_file_that_has_not_changed_is_good_for_another_term() {
    let desk = desk();
    desk.consult(file(CLOSED)).await;
    desk.pass(13 * HOUR);
    let fetch = |request: RobotsRequest| async move {
        assert_eq!(request.etag.as_deref(), Some("\"1\""));
        status(304)
    };
    let standing = desk.book.consult(&origin(0), OnUnreachable::Allow, fetch).await;
    assert!(!allows(&standing, "/x"));
    desk.pass(11 * HOUR);
    desk.consult(file("")).await;
    assert_eq!(desk.asked(), 1);
    let kept = desk.shelf.0.lock().unwrap()["https://h0.gov.cn"].clone();
    assert_eq!((kept.fetched_at.0, kept.body), (1013 * HOUR, CLOSED.as_bytes().to_vec()));
}

#[tokio::test]
async fn a_fetcher_that_panics_or_is_dropped_leaves_the_way_free() {
    let desk = desk();
    let panics = |_| async { panic!("on purpose") };
    let book = desk.book.clone();
    let task = tokio::spawn(async move { book.consult(&origin(0), OnUnreachable::Deny, panics).await });
    let (begun, book) = (Arc::new(Notify::new()), desk.book.clone());
    assert!(task.await.unwrap_err().is_panic());

    let started = begun.clone();
    let hangs = |_| async move {
        started.notify_one();
        std::future::pending::<RobotsAnswer>().await
    };
    let hanging = tokio::spawn(async move { book.consult(&origin(0), OnUnreachable::Deny, hangs).await });
    begun.notified().await;
    let waiting = desk.consult(file(CLOSED));
    tokio::pin!(waiting);
    assert!((&mut waiting).now_or_never().is_none(), "it waits for the one under way");
    hanging.abort();
    assert!(!allows(&waiting.await, "/x"));
    assert_eq!(desk.asked(), 1);
}

#[tokio::test]
async fn the_book_forgets_the_least_recently_used_and_the_shelf_does_not() {
    let mut desk = desk();
    let book = RobotsBook::new(desk.shelf.clone(), desk.clock.clone(), RobotsTimes::default());
    desk.book = Arc::new(book.with_limits(3, usize::MAX));
    for n in 0..3 {
        desk.consult_at(n, file(CLOSED)).await;
    }
    desk.consult_at(0, file("")).await;
    desk.consult_at(3, file(CLOSED)).await;
    let known = |n| desk.book.peek(&origin(n), OnUnreachable::Allow).is_some();
    assert_eq!([0, 1, 2, 3].map(known), [true, false, true, true]);
    assert_eq!(desk.book.size().0, 3);
    assert!(!allows(&desk.consult_at(1, file("")).await, "/x"));
    assert_eq!(desk.asked(), 4, "the shelf had it");
}

#[tokio::test]
async fn an_origin_that_is_being_asked_is_not_forgotten() {
    let mut desk = desk();
    let book = RobotsBook::new(desk.shelf.clone(), desk.clock.clone(), RobotsTimes::default());
    desk.book = Arc::new(book.with_limits(2, usize::MAX));
    let (begun, go) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let (book, started, may_go) = (desk.book.clone(), begun.clone(), go.clone());
    let first = tokio::spawn(async move {
        let fetch = |_| async move {
            started.notify_one();
            may_go.notified().await;
            file(CLOSED)
        };
        book.consult(&origin(0), OnUnreachable::Deny, fetch).await
    });
    begun.notified().await;
    for n in 1..10 {
        desk.consult_at(n, file("")).await;
    }
    let second = desk.consult(file(""));
    tokio::pin!(second);
    assert!((&mut second).now_or_never().is_none(), "it waits for the one under way");
    go.notify_one();
    assert!(!allows(&first.await.unwrap(), "/x") && !allows(&second.await, "/x"));
    assert_eq!(desk.asked(), 9);
}

#[tokio::test]
async fn large_files_make_room_by_weight() {
    let mut desk = desk();
    let book = RobotsBook::new(desk.shelf.clone(), desk.clock.clone(), RobotsTimes::default());
    desk.book = Arc::new(book.with_limits(usize::MAX, 1 << 20));
    let heavy = "User-agent: *\nDisallow: /aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n".repeat(2000);
    for n in 0..20 {
        desk.consult_at(n, file(&heavy)).await;
    }
    let (origins, weight) = desk.book.size();
    assert!(weight <= 1 << 20 && (1..20).contains(&origins), "{origins} {weight}");
    for n in 20..100 {
        desk.consult_at(n, status(404)).await;
    }
    assert!(desk.book.size().0 >= 80, "origins without a file weigh next to nothing");
}
