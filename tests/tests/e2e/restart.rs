//! A restarted process does not storm a host that the one before was avoiding: cooldowns and the pace outlive a kill.

use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use dibao::clock::FixedClock;
use dibao::fetch::breaker::Why;
use dibao::fetch::hosts::HostRow;
use dibao::{Clock as _, Engine, Timestamp, clock::SystemClock};
use dibao_replica::{Fault, FaultRule, Seen};

use crate::bed::{Bed, NDRC, site, site_file};
use crate::program::Program;
use crate::snapshot::open;

const XWFB: &str = "ndrc__xwfb";
const HELD: &str = "www.news.cn";

fn of(host: &str) -> impl Fn(&Seen) -> bool + '_ {
    move |seen| seen.host == host
}

fn asked(bed: &Bed, host: &str) -> usize {
    bed.replica.requests().iter().filter(|seen| seen.host == host).count()
}

/// What the store knows of a host, as another process sees it.
fn stored(data: &Path, host: &str) -> Option<HostRow> {
    let text: String = open(data)
        .query_row("SELECT state_json FROM host_state WHERE host = ?", [host], |row| row.get(0))
        .ok()?;
    Some(serde_json::from_str(&text).expect("a row"))
}

/// Crawls the failing site and one that never answers, so that the process lives on; kills it when the failing host
/// is left alone.
async fn killed_while_cooling(bed: &Bed, data: &Path) -> (Timestamp, Why) {
    bed.replica.fault(FaultRule::new(Fault::Hold).host(HELD));
    let (failing, held) = (site_file("ndrc"), site_file("xinhua"));
    let what = [failing.to_str().expect("UTF-8"), held.to_str().expect("UTF-8")];
    let program = Program::crawl(bed, data, &what);
    bed.replica.wait_for(1, of(HELD)).await;
    let refusal = loop {
        let row = dibao::store::database_path(data).exists().then(|| stored(data, NDRC)).flatten();
        if let Some(refusal) = row.and_then(|row| row.breaker.refusal(SystemClock.now())) {
            break refusal;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    };
    let end = program.kill().await;
    assert_eq!(end.signal(), Some(9), "{end}: it was over before it could be killed");
    // Files come two at a time: the second answer may have moved the end by a little.
    let last = stored(data, NDRC).and_then(|row| row.breaker.refusal(SystemClock.now()));
    last.unwrap_or(refusal)
}

/// An engine on the same store at another time.
async fn engine_at(bed: &Bed, at: i64) -> Engine {
    let clock = Arc::new(FixedClock::new(Timestamp(at)));
    let engine = bed.builder("data").clock(clock).build().await.expect("an engine");
    engine.import_site_config(&site("ndrc")).await.expect("the site");
    engine
}

#[tokio::test(flavor = "multi_thread")]
async fn a_process_killed_while_a_host_is_left_alone_leaves_it_alone_when_it_is_back() {
    let later = |code| Fault::Status { code, retry_after: Some("3600".into()), body: None };
    for (fault, why, span) in [
        (Fault::Reset, Why::Network, 300_000),
        (later(429), Why::RetryAfter, 3_600_000),
        (later(503), Why::RetryAfter, 3_600_000),
    ] {
        let bed = Bed::new(8).await;
        let data = bed.data("data");
        bed.replica.fault(FaultRule::new(fault.clone()).host(NDRC).skip(3));
        let (until, reason) = killed_while_cooling(&bed, &data).await;
        assert_eq!(reason, why, "{fault:?}");
        let ahead = until.0 - SystemClock.now().0;
        assert!((1..=span).contains(&ahead), "{fault:?}: {ahead} ms");

        // Back again: nothing reaches the host, and whoever looks is told until when.
        bed.forget();
        let file = site_file("ndrc");
        for _ in 0..2 {
            Program::crawl(&bed, &data, &[file.to_str().expect("UTF-8")]).end().await;
        }
        assert_eq!(asked(&bed, NDRC), 0, "{fault:?}: {:?}", bed.asked());
        assert_eq!(stored(&data, NDRC).and_then(|row| row.breaker.open_until), Some(until));

        // A moment before the end nobody goes; at the end exactly one does, and fails.
        let engine = engine_at(&bed, until.0 - 1).await;
        let _ = engine.crawl(XWFB).run().await;
        assert_eq!(asked(&bed, NDRC), 0, "{fault:?}");
        drop(engine);
        let engine = engine_at(&bed, until.0).await;
        for _ in 0..3 {
            let _ = engine.crawl(XWFB).run().await;
        }
        assert_eq!(asked(&bed, NDRC), 1, "{fault:?}: a single probe, {:?}", bed.asked());
        drop(engine);

        // It is well again: the probe closes the breaker and the crawl is made.
        let next = stored(&data, NDRC).and_then(|row| row.breaker.open_until).expect("left alone again");
        assert!(next > until, "{fault:?}");
        bed.replica.clear_faults();
        let engine = engine_at(&bed, next.0).await;
        let report = engine.crawl(XWFB).run().await.unwrap_or_else(|error| panic!("{fault:?}: {error}"));
        assert!(report.items_new > 0, "{fault:?}");
        assert_eq!(stored(&data, NDRC).and_then(|row| row.breaker.refusal(SystemClock.now())), None);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_interval_is_kept_over_a_kill() {
    let bed = Bed::new(40).await;
    let data = bed.data("data");
    let interval = Duration::from_secs(2);
    let file = site_file("ndrc");
    let what = [file.to_str().expect("UTF-8")];
    let mut kills = Vec::new();
    for requests in [1, 2, 1] {
        let before = bed.replica.requests().len();
        let program = Program::crawl_every(&bed, &data, &what, "2");
        let seen = bed.replica.wait_for(before + requests, |_| true).await;
        kills.push(seen.len());
        program.kill().await;
    }
    let program = Program::crawl_every(&bed, &data, &what, "2");
    let times: Vec<Duration> = bed
        .replica
        .wait_for(kills.iter().sum::<usize>().max(5), |_| true)
        .await
        .iter()
        .map(|seen| seen.at)
        .collect();
    program.kill().await;
    // What arrives may be closer together than what was sent, by as much as a busy machine keeps the first waiting; a new
    // process that knew of nothing would ask at once.
    let slack = interval / 2;
    for pair in times.windows(2) {
        assert!(
            pair[1] - pair[0] + slack >= interval,
            "{:?} apart, kills after {kills:?}: {times:?}",
            pair[1] - pair[0]
        );
    }
}
