//! What is remembered of hosts, what is handed to the store, and how much room it takes.

use super::*;
use crate::clock::FixedClock;
use crate::fetch::challenge::Product;
use crate::fetch::ledger::Day;
use crate::fetch::verdict::NetworkFault;

const GO: Admission = Admission::Go;
const T0: i64 = 1_794_988_800_000;
const MINUTE: i64 = 60_000;
const DAY: i64 = 86_400_000;

fn hosts() -> (Arc<FixedClock>, Hosts) {
    let clock = Arc::new(FixedClock::new(Timestamp(T0)));
    (clock.clone(), Hosts::new(clock))
}

fn verdict(kind: VerdictKind, status: u16) -> Verdict {
    Verdict { kind, status: (status != 0).then_some(status), evidence: "a test".into() }
}

fn ok() -> Verdict {
    verdict(VerdictKind::Ok, 200)
}

fn reset() -> Verdict {
    verdict(VerdictKind::NetworkError(NetworkFault::Reset), 0)
}

/// Through the store and back: another process.
fn restarted(hosts: &Hosts, clock: &Arc<FixedClock>) -> Hosts {
    let again = Hosts::new(clock.clone());
    for (name, host) in lock(&hosts.known).iter() {
        let json = serde_json::to_string(&host.row()).unwrap();
        again.load(name, serde_json::from_str(&json).unwrap());
    }
    again
}

#[test]
fn an_open_host_stays_open_over_a_restart_and_then_gets_one_probe() {
    let (clock, hosts) = hosts();
    assert_eq!(hosts.admit("a.gov.cn"), Admission::Go);
    assert_eq!(hosts.record("a.gov.cn", GO, &reset(), 1, 0), Change::None);
    assert_eq!(hosts.record("a.gov.cn", GO, &reset(), 1, 0), Change::None);
    let until = Timestamp(T0 + 5 * MINUTE);
    assert_eq!(hosts.record("a.gov.cn", GO, &reset(), 1, 0), Change::Opened { until, why: Why::Network });
    for hosts in [&hosts, &restarted(&hosts, &clock)] {
        clock.set(Timestamp(T0));
        assert_eq!(hosts.refusal("a.gov.cn"), Some((until, Why::Network)));
        assert_eq!(
            hosts.admit("a.gov.cn."),
            Admission::Refuse { until, why: Why::Network },
            "a dot is a spelling"
        );
        assert_eq!(hosts.admit("b.gov.cn"), Admission::Go);
        clock.set(until);
        assert_eq!(hosts.refusal("a.gov.cn"), None, "asking why gives no probe away");
        assert_eq!(hosts.admit("a.gov.cn"), Admission::Probe);
        assert!(matches!(hosts.admit("a.gov.cn"), Admission::Refuse { why: Why::Probing, .. }));
        hosts.abandon_probe("a.gov.cn");
        assert_eq!(hosts.admit("a.gov.cn"), Admission::Probe, "one that was dropped makes room");
    }
    let after = restarted(&hosts, &clock);
    assert_eq!(after.admit("a.gov.cn"), Admission::Probe, "a probe died with its process");
    assert_eq!(after.record("a.gov.cn", Admission::Probe, &ok(), 1, 10), Change::Closed);
    assert_eq!(after.admit("a.gov.cn"), Admission::Go);
}

#[test]
fn a_retry_after_is_honoured_and_counted() {
    let (_, hosts) = hosts();
    let until = Timestamp(T0 + 30 * MINUTE);
    let change = hosts.record("a", GO, &verdict(VerdictKind::RetryAfter(until), 429), 1, 100);
    assert_eq!(change, Change::Opened { until, why: Why::RetryAfter });
    assert_eq!(
        hosts.record("a", GO, &ok(), 1, 100),
        Change::None,
        "an answer that was under way does not end it"
    );
    assert_eq!(hosts.admit("a"), Admission::Refuse { until, why: Why::RetryAfter });
    hosts.refused("a");
    let row = hosts.get("a").unwrap();
    let day = &row.days[0];
    assert_eq!((day.requests, day.bytes, day.refused), (2, 200, 1));
    assert_eq!((day.retry_after_honoured, day.cooldowns), (1, 1));
    assert_eq!((day.verdicts.ok, day.verdicts.retry_after), (1, 1));
    assert!(hosts.reset("a") && !hosts.reset("unknown"));
    assert_eq!(hosts.admit("a"), Admission::Go);
    assert_eq!(hosts.get("a").unwrap().days[0].cooldowns, 1, "the ledger is what happened");
}

#[test]
fn the_browser_is_claimed_once_per_incident_whoever_asks() {
    let (clock, hosts) = hosts();
    let hosts = Arc::new(hosts);
    let claims: usize = std::thread::scope(|scope| {
        let threads: Vec<_> =
            (0..8).map(|_| scope.spawn(|| usize::from(hosts.claim_escalation("a")))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    assert_eq!(claims, 1);
    assert!(restarted(&hosts, &clock).escalated("a"), "a restart is no new incident");
    hosts.record("a", GO, &verdict(VerdictKind::Challenge(Product::Ruishu), 412), 1, 0);
    assert!(!hosts.claim_escalation("a"));
    hosts.record("a", GO, &ok(), 1, 0);
    assert!(hosts.claim_escalation("a"));
}

#[test]
fn exactly_one_of_many_threads_gets_the_probe() {
    let (clock, hosts) = hosts();
    hosts.cool("a", Timestamp(T0 + MINUTE), Why::Operator);
    clock.set(Timestamp(T0 + MINUTE));
    let probes: usize = std::thread::scope(|scope| {
        let threads: Vec<_> =
            (0..8).map(|_| scope.spawn(|| usize::from(hosts.admit("a") == Admission::Probe))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    assert_eq!(probes, 1);
}

#[test]
fn only_what_changed_is_handed_to_the_store() {
    let (_, hosts) = hosts();
    hosts.record("a", GO, &ok(), 1, 1);
    hosts.record("b", GO, &ok(), 1, 1);
    let mut names: Vec<_> = hosts.take_dirty().into_iter().map(|(name, _)| name).collect();
    names.sort();
    assert_eq!(names, ["a", "b"]);
    assert!(hosts.take_dirty().is_empty());
    let _ = (hosts.admit("a"), hosts.refusal("a"), hosts.limits("a"), hosts.get("a"));
    hosts.abandon_probe("a");
    assert!(hosts.take_dirty().is_empty(), "to look is no change");
    hosts.crawl_delay("b", Duration::from_secs(8));
    hosts.robots_denied("b");
    let rows = hosts.take_dirty();
    assert_eq!(rows.len(), 1);
    assert_eq!((rows[0].0.as_str(), rows[0].1.days[0].robots_denied), ("b", 1));
    assert_eq!(hosts.limits("b").floor(), Duration::from_secs(8));
    hosts.put_back(rows);
    assert_eq!(hosts.take_dirty().len(), 1, "what could not be stored is handed out again");
}

#[test]
fn what_was_counted_is_handed_out_once_and_by_the_day() {
    let (clock, hosts) = hosts();
    let counted = |hosts: &Hosts| -> Vec<(Day, u32, u64)> {
        let rows = hosts.take_dirty();
        rows[0].1.days.iter().map(|day| (day.day, day.requests, day.bytes)).collect()
    };
    let (first, second) = (Day::of(Timestamp(T0)), Day::of(Timestamp(T0 + DAY)));
    hosts.record("a", GO, &ok(), 1, 5);
    assert_eq!(counted(&hosts), [(first, 1, 5)]);
    hosts.record("a", GO, &ok(), 1, 5);
    clock.set(Timestamp(T0 + DAY));
    hosts.record("a", GO, &ok(), 3, 7);
    let rows = hosts.take_dirty();
    hosts.put_back(rows);
    hosts.record("a", GO, &ok(), 1, 7);
    assert_eq!(counted(&hosts), [(first, 1, 5), (second, 4, 14)], "nothing is lost when the store was away");
    hosts.record("a", GO, &ok(), 1, 7);
    assert_eq!(counted(&hosts), [(second, 1, 7)], "and nothing is handed out twice");
    for day in 2..40 {
        clock.set(Timestamp(T0 + day * DAY));
        hosts.record("a", GO, &ok(), 1, 1);
    }
    assert_eq!(counted(&hosts).len(), MAX_DAYS, "a store that never asks costs little");
}

#[test]
fn what_others_wrote_down_is_heeded_within_seconds() {
    let (clock, hosts) = hosts();
    assert!(hosts.wants_row("a"));
    hosts.load("a", None);
    assert!(!hosts.wants_row("a"), "the store was just asked");
    hosts.record("a", GO, &ok(), 1, 1);
    clock.set(Timestamp(T0 + REFRESH));
    assert!(hosts.wants_row("a"));
    let mut row = HostRow::default();
    row.cool(Timestamp(T0 + 60 * MINUTE), Why::Operator, Timestamp(T0 + 1));
    hosts.load("a", Some(row.clone()));
    assert_eq!(hosts.refusal("a"), Some((Timestamp(T0 + 60 * MINUTE), Why::Operator)));
    assert_eq!(hosts.get("a").unwrap().days[0].requests, 1, "what was counted here is still to be stored");
    row.reset(Timestamp(T0 + 2));
    hosts.load("a", Some(row));
    assert_eq!(hosts.refusal("a"), None);
    clock.set(Timestamp(T0 - DAY));
    assert!(hosts.wants_row("a"), "a clock that was set back does not keep it from asking");
}

#[test]
fn cookies_are_kept_over_a_restart_and_forgotten_when_they_did_not_help() {
    let (clock, hosts) = hosts();
    let page: Url = "https://www.gd.gov.cn/a".parse().unwrap();
    let cookie = crate::fetch::cookies::parse_set_cookie("pass=1; Path=/", &page, Timestamp(T0));
    hosts.earn("www.gd.gov.cn", &page, cookie);
    let again = restarted(&hosts, &clock);
    assert_eq!(again.cookies("www.gd.gov.cn", &page)[0].value, "1");
    assert!(again.cookies("www.sz.gov.cn", &page).is_empty());
    again.forget_cookies("www.gd.gov.cn", &page);
    assert!(again.cookies("www.gd.gov.cn", &page).is_empty());
}

#[test]
fn the_last_verdicts_and_the_last_trouble_are_remembered() {
    let (clock, hosts) = hosts();
    for status in 500..500 + RECENT as u16 {
        hosts.record("a", GO, &verdict(VerdictKind::ServerError, status), 1, 0);
    }
    hosts.record("a", GO, &ok(), 1, 0);
    let row = restarted(&hosts, &clock).get("a").unwrap();
    let seen: Vec<_> = row.recent.iter().map(|seen| seen.status.unwrap()).collect();
    assert_eq!(seen, [501, 502, 503, 200]);
    assert_eq!(row.trouble.unwrap().status, Some(503));
}

#[test]
fn too_many_hosts_are_forgotten_but_not_those_that_cool_down() {
    let clock = Arc::new(FixedClock::new(Timestamp(T0)));
    let hosts = Hosts::with_capacity(100, clock.clone());
    for i in 0..20 {
        hosts.cool(&format!("cool{i}"), Timestamp(T0 + 600 * MINUTE), Why::RetryAfter);
    }
    for i in 0..1000 {
        clock.set(Timestamp(T0 + i));
        hosts.record(&format!("host{i}"), GO, &ok(), 1, 1);
        assert!(hosts.len() <= 100);
    }
    for i in 0..20 {
        assert!(hosts.refusal(&format!("cool{i}")).is_some(), "{i}");
    }
    assert!(hosts.get("host999").is_some() && hosts.get("host0").is_none());
    for i in 0..1000 {
        hosts.cool(&format!("hostile{i}"), Timestamp(T0 + 600 * MINUTE), Why::RetryAfter);
        assert!(hosts.len() <= 100, "the bound holds whatever happens");
    }
}

#[test]
fn ten_thousand_hosts_take_less_than_thirty_megabytes() {
    let (_, hosts) = hosts();
    let evidence = "status 412, ruishu: \"$_ts=window['$_ts']\" and the cookie FSSBBIl1UgzbN7N80S".repeat(4);
    for i in 0..10_000 {
        let name = format!("www.a-rather-long-name-{i:05}.district.city.gov.cn");
        for _ in 0..5 {
            let kind = VerdictKind::Challenge(Product::Ruishu);
            hosts.record(
                &name,
                GO,
                &Verdict { kind, status: Some(412), evidence: evidence.clone().into() },
                1,
                30_000,
            );
        }
        hosts.claim_escalation(&name);
    }
    let known = lock(&hosts.known);
    assert_eq!(known.len(), 10_000);
    // The table with its spare room and control bytes, then what hangs on each entry, with what malloc adds.
    let table = known.capacity() * 8 / 7 * (size_of::<(Box<str>, Host)>() + 1);
    let malloc = |bytes: usize| if bytes == 0 { 0 } else { bytes.next_multiple_of(16) + 16 };
    let hanging: usize = known
        .iter()
        .map(|(name, host)| {
            let trouble = host
                .trouble
                .as_ref()
                .map_or(0, |verdict| malloc(size_of::<Verdict>()) + malloc(verdict.evidence.len()));
            malloc(name.len()) + trouble + malloc(host.days.capacity() * size_of::<Ledger>())
        })
        .sum();
    println!("{} bytes a host in place, {:.1} MB in all", size_of::<Host>(), (table + hanging) as f64 / 1e6);
    assert!(size_of::<Host>() <= 512, "{}", size_of::<Host>());
    assert!(table + hanging < 30_000_000, "{}", table + hanging);
}
