//! Ctrl-C: once lets what is under way finish, twice stops at once; after both the next run goes on.

use dibao_replica::{Fault, FaultRule};

use crate::bed::{Bed, site_file};
use crate::program::Program;
use crate::snapshot::{Snapshot, number};

/// A crawl held in the midst of its work, with the id of the rule that holds it.
async fn held(bed: &Bed, data: &str, what: &[&str]) -> (Program, u64) {
    let hold = bed.replica.fault(FaultRule::new(Fault::Hold).path("*/xwfb/20*.html").skip(30));
    let program = Program::crawl(bed, &bed.data(data), what);
    bed.replica.wait_for(33, |_| true).await;
    let article = |path: &str| path.contains("/xwfb/20") && path.ends_with(".html");
    bed.replica.wait_for(31, |seen| article(&seen.path)).await;
    (program, hold)
}

async fn assert_completes(bed: &Bed, what: &[&str]) {
    assert!(Program::crawl(bed, &bed.data("stopped"), what).end().await.success());
    assert!(Program::crawl(bed, &bed.data("calm"), what).end().await.success());
    let (stopped, calm) = (Snapshot::of(&bed.data("stopped")), Snapshot::of(&bed.data("calm")));
    assert_eq!(calm.articles.len(), 120);
    stopped.assert_same(&calm);
    let total = |data: &str| number(&bed.data(data), "SELECT sum(new) FROM crawl_run");
    assert_eq!(total("stopped"), total("calm"));
}

#[tokio::test(flavor = "multi_thread")]
async fn one_interrupt_drains_and_the_next_run_finishes() {
    let bed = Bed::new(120).await;
    let file = site_file("ndrc");
    let what = [file.to_str().unwrap()];
    let (mut program, hold) = held(&bed, "stopped", &what).await;
    let before = bed.replica.request_count();
    program.interrupt();
    bed.replica.remove_fault(hold);
    let end = program.end().await;
    assert_eq!(end.code(), Some(130), "{end}");
    // The article that was under way is in the store, with its files; no other was begun.
    let data = bed.data("stopped");
    assert_eq!(number(&data, "SELECT count(*) FROM article"), 31);
    let files =
        number(&data, "SELECT count(*) FROM attachment WHERE article_id = (SELECT max(id) FROM article)");
    assert_eq!(bed.replica.request_count() - before, files as u64);
    assert_eq!(number(&data, "SELECT count(*) FROM crawl_run WHERE state = 'interrupted'"), 1);
    assert_completes(&bed, &what).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn two_interrupts_stop_at_once_and_the_next_run_finishes() {
    let bed = Bed::new(120).await;
    let file = site_file("ndrc");
    let what = [file.to_str().unwrap()];
    let (mut program, hold) = held(&bed, "stopped", &what).await;
    // The request is held for ever: the first signal alone cannot end the program. Signals that arrive together
    // may count as one, so they are repeated until it is over.
    let end = loop {
        program.interrupt();
        let pause = tokio::time::sleep(std::time::Duration::from_millis(20));
        tokio::select! {
            end = program.end() => break end,
            () = pause => {}
        }
    };
    assert_eq!(end.code(), Some(130), "{end}");
    bed.replica.remove_fault(hold);
    assert_completes(&bed, &what).await;
}
