//! Hosts that turn a crawl away: 403, 429 and 503, with and without `Retry-After`, through a whole crawl.

use std::sync::Arc;

use dibao::clock::{FixedClock, SystemClock};
use dibao::crawl::StopReason;
use dibao::fetch::breaker::Why;
use dibao::{Clock as _, Timestamp};
use dibao_replica::{Fault, FaultRule};

use crate::bed::{Bed, NDRC, articles, crawl, site};
use crate::snapshot::{number, open};

const XWFB: &str = "ndrc__xwfb";
/// 2026-11-18T08:00:00Z.
const NOW: i64 = 1_794_988_800_000;
const DETAILS: &str = "*/xwfb/20*.html";

fn status(code: u16, retry_after: Option<&str>) -> Fault {
    Fault::Status { code, retry_after: retry_after.map(str::to_owned), body: None }
}

fn verdicts(bed: &Bed, purpose: &str) -> Vec<(Option<u16>, String)> {
    let db = open(&bed.data("data"));
    let mut query =
        db.prepare("SELECT http_status, verdict FROM crawl_log WHERE purpose = ? ORDER BY id").unwrap();
    let rows = query.query_map([purpose], |row| Ok((row.get(0)?, row.get::<_, String>(1)?))).unwrap();
    rows.map(Result::unwrap).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_retry_after_ends_the_run_and_nobody_asks_before_it_has_passed() {
    // The header, and how many seconds from now the host is asked again: never sooner than ten, never later than a day.
    // Dates are on the clock of the server, which is the real one.
    let date = |seconds: i64, form: &str| {
        Timestamp(SystemClock.now().0 + seconds * 1000).to_utc().format(form).to_string()
    };
    let (fixdate, rfc850, asctime) =
        ("%a, %d %b %Y %H:%M:%S GMT", "%A, %d-%b-%y %H:%M:%S GMT", "%a %b %e %H:%M:%S %Y");
    for (code, header, wait) in [
        (429, "120".to_owned(), 120),
        (503, "0".to_owned(), 10),
        (503, "31536000".to_owned(), 86_400),
        (403, "3600".to_owned(), 3600),
        (429, date(600, fixdate), 600),
        (503, date(3600, rfc850), 3600),
        (503, date(1800, asctime), 1800),
        (503, date(-90_000_000, fixdate), 10),
        (403, date(90_000_000, fixdate), 86_400),
    ] {
        let bed = Bed::new(8).await;
        let clock = Arc::new(FixedClock::new(Timestamp(NOW)));
        let engine = bed.builder("data").clock(clock.clone()).build().await.unwrap();
        engine.import_site_config(&site("ndrc")).await.unwrap();
        bed.replica.fault(FaultRule::new(status(code, Some(&header))).path(DETAILS).skip(2).times(1));
        let report = crawl(&engine, XWFB).await;
        let name = format!("{code} {header}");
        assert_eq!(
            (report.stop, report.items_new),
            (StopReason::Cooldown, 2),
            "{name}: {:?}",
            report.failures
        );
        let until = report.cooling_until.expect("an end");
        // The dates of the table were written a while ago.
        let is_date = header.contains(':') && (600..86_400).contains(&wait);
        let (ahead, slack) = (until.0 - NOW, if is_date { 120_000 } else { 0 });
        assert!((wait * 1000 - slack..=wait * 1000).contains(&ahead), "{name}: {ahead} ms");
        let row = engine.store().host(NDRC).await.unwrap().unwrap();
        assert_eq!(
            row.breaker.refusal(Timestamp(NOW)),
            Some((until, Why::RetryAfter)),
            "{name}: in the store"
        );
        let logged = verdicts(&bed, "detail");
        assert_eq!(logged.len(), 3, "{name}: {logged:?}");
        assert_eq!(logged[2].0, Some(code), "{name}");
        assert!(logged[2].1.starts_with("retry_after"), "{name}: {logged:?}");

        // A second before its end the host hears nothing, of this or another column.
        bed.forget();
        clock.set(Timestamp(until.0 - 1000));
        for target in [XWFB, "ndrc__tz"] {
            let _ = engine.crawl(target).run().await;
        }
        assert_eq!(bed.asked(), Vec::<String>::new(), "{name}");
        // Then the next run goes on where this one was stopped, and nothing is lost.
        clock.set(until);
        let report = crawl(&engine, XWFB).await;
        assert_eq!((report.items_failed, articles(&engine, XWFB).await.len()), (0, 4), "{name}");
        let day = engine.store().host_days(Some(NDRC), 9).await.unwrap();
        let honoured: u32 = day.iter().map(|(_, day)| day.retry_after_honoured).sum();
        let cooldowns: u32 = day.iter().map(|(_, day)| day.cooldowns).sum();
        assert_eq!((honoured, cooldowns), (1, 1), "{name}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn five_refusals_in_a_row_leave_the_host_alone_and_one_between_good_pages_does_not() {
    // 429 slows the pace down as well: that is real time.
    for code in [403, 503] {
        let bed = Bed::new(40).await;
        let clock = Arc::new(FixedClock::new(Timestamp(NOW)));
        let engine = bed.builder("data").clock(clock.clone()).build().await.unwrap();
        engine.import_site_config(&site("ndrc")).await.unwrap();
        // Two strikes, and the host goes on.
        let rule = bed.replica.fault(FaultRule::new(status(code, None)).path(DETAILS).skip(1).times(2));
        let report = crawl(&engine, XWFB).await;
        assert_eq!((report.items_new, report.items_failed), (18, 2), "{code}: {:?}", report.failures);
        assert!(report.failures.iter().all(|line| line.will_retry), "{code}: {:?}", report.failures);
        bed.replica.remove_fault(rule);
        // From now on every page: five are asked for, then nobody.
        bed.replica.fault(FaultRule::new(status(code, None)).host(NDRC));
        bed.forget();
        for target in [XWFB, "ndrc__tz", XWFB, "ndrc__tz", XWFB, "ndrc__tz", XWFB] {
            let _ = engine.crawl(target).run().await;
        }
        assert_eq!(bed.asked().len(), 5, "{code}: {:?}", bed.asked());
        let (until, why) =
            engine.store().host(NDRC).await.unwrap().unwrap().breaker.refusal(clock.now()).unwrap();
        assert_eq!((until.0 - NOW, why), (300_000, Why::Failures), "{code}");
        let kind = if code == 503 { "server_error" } else { "blocked" };
        let logged = number(
            &bed.data("data"),
            &format!("SELECT count(*) FROM crawl_log WHERE http_status = {code} AND verdict LIKE '{kind}%'"),
        );
        assert_eq!(logged, 7, "{code}");
        // At its end one probe, and twice the time.
        bed.forget();
        clock.set(until);
        for target in [XWFB, "ndrc__tz", XWFB] {
            let _ = engine.crawl(target).run().await;
        }
        assert_eq!(bed.asked().len(), 1, "{code}: {:?}", bed.asked());
        let row = engine.store().host(NDRC).await.unwrap().unwrap();
        assert_eq!(
            row.breaker.refusal(clock.now()),
            Some((Timestamp(until.0 + 600_000), Why::Failures)),
            "{code}"
        );
    }
}
