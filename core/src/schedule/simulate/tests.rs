//! The simulator against second-by-second bookkeeping, and the policies against each other.

use super::synthetic::{Kind, trace};
use super::*;
use crate::schedule::policy::Watched;

/// What [`replay`] does, without any of its shortcuts.
fn by_the_second(policy: &Policy, zone: Tz, published: &[i64], from: i64, until: i64) -> Outcome {
    let mut list: Vec<i64> = published.iter().copied().filter(|at| *at <= from).collect();
    let page = list.split_off(list.len().saturating_sub(PAGE));
    let (mut watched, mut decision) = Watched::open(policy, "a", zone, from, &page, Some(1.0));
    let (mut waiting, mut outcome) = (Vec::new(), Outcome::default());
    for now in from + 1..=until {
        waiting.extend(published.iter().filter(|at| **at == now));
        if now < decision.next && now < until {
            continue;
        }
        outcome.delays.extend(waiting.iter().map(|at| now - at));
        outcome.pushed_off += waiting.len().saturating_sub(PAGE) as u64;
        if now == until {
            break;
        }
        outcome.checks += 1;
        outcome.hits += u64::from(!waiting.is_empty());
        let rows = waiting.split_off(waiting.len().saturating_sub(PAGE));
        decision = watched.look(now, &rows, Some(1.0));
        waiting.clear();
    }
    outcome
}

#[test]
fn a_replay_is_what_a_second_by_second_watch_sees() {
    let mut published = Kind::News.history(3);
    // A burst that no list of twenty rows holds, and two items in the same second.
    published.extend((0..60).map(|i| synthetic::START + 29 * 86_400 + i * 7));
    published.push(published[500]);
    published.sort_unstable();
    let from = synthetic::START + 28 * 86_400 + 11;
    for policy in ["classic", "predictive", "budget", "interval:5000"] {
        let policy: Policy = policy.parse().unwrap();
        let until = from + 3 * 86_400;
        let slow = by_the_second(&policy, synthetic::ZONE, &published, from, until);
        let quick = replay(&policy, "a", synthetic::ZONE, Some(1.0), &published, from, until);
        assert_eq!(quick, slow, "{policy}");
        assert!(quick.hits > 10 && quick.delays.len() > 100, "{policy}");
    }
}

#[test]
fn scores_are_those_of_pencil_and_paper() {
    // Replayed from 100 to 400 and looked at every 100 seconds; the last look, at the end, is not counted.
    let source =
        |id: &str, published: &[i64]| History { id: id.into(), tz: Tz::UTC, published: published.to_vec() };
    let trace = Trace { sources: vec![source("a", &[40, 150, 190, 400]), source("b", &[0, 290])] };
    let mut tidy = trace;
    tidy.sources[1].published[0] = -7;
    tidy.sources[0].published.insert(0, 2);
    tidy.sources[0].published.reverse();
    tidy.tidy();
    assert_eq!(tidy.span(), Some((101, 400)));
    let score = run(&"interval:100".parse().unwrap(), &tidy, None);
    // Looks at 201, 301 and the end: 150 waits 51, 190 waits 11, 400 waits 0; 290 waits 11.
    assert_eq!((score.items, score.sources, score.pushed_off), (4, 2, 0));
    assert_eq!(score.hit_rate, 0.5);
    assert!((score.mean_delay_items_h * 3600.0 - 73.0 / 4.0).abs() < 1e-9);
    assert!((score.mean_delay_sources_h * 3600.0 - (62.0 / 3.0 + 11.0) / 2.0).abs() < 1e-9);
    assert!((score.checks_per_source_day - 2.0 * 86_400.0 / 299.0).abs() < 1e-9);
}

#[test]
fn every_policy_is_held_to_the_same_number_of_looks() {
    let trace = trace(Kind::WorkingHours, 2);
    for policy in ["classic", "budget", "interval:777"] {
        let score = run_at_budget(&policy.parse().unwrap(), &trace, 8.0);
        assert!(score.budget_met && (score.checks_per_source_day / 8.0 - 1.0).abs() < 0.02, "{score:?}");
    }
    // Three a day is P1: twice its base is an hour, unless somebody turns the knob.
    let usual = run(&Policy::Predictive, &trace, None);
    assert!(usual.checks_per_source_day >= 23.9, "{usual:?}");
    for budget in [2.0, 26.0] {
        let [ours, unbounded] =
            [Policy::Predictive, Policy::Budget].map(|policy| run_at_budget(&policy, &trace, budget));
        assert!(ours.budget_met, "{ours:?}");
        assert_eq!(Score { policy: String::new(), ..ours }, Score { policy: String::new(), ..unbounded });
    }
}

#[test]
fn on_every_kind_of_source_items_wait_less_than_with_the_best_interval_and_with_classic() {
    for kind in Kind::ALL {
        let trace = trace(kind, if kind == Kind::FeedSet { 8 } else { 2 });
        let [ours, interval, classic] = [Policy::Budget, Policy::Interval(3600), Policy::Classic]
            .map(|policy| run_at_budget(&policy, &trace, 6.0).mean_delay_items_h);
        // Items that come at any time with equal chance cannot be foretold: an even interval is the best there is.
        let room = if kind == Kind::Irregular { 1.1 } else { 1.0 };
        assert!(
            ours < interval * room && ours < classic * room,
            "{}: {ours} {interval} {classic}",
            kind.name()
        );
    }
}

#[test]
fn what_is_no_policy_is_told_what_is() {
    for (text, words) in [
        ("clever", "there are classic, predictive"),
        ("interval:0", "seconds from 1"),
        ("interval:x", "seconds from 1"),
        ("cron:0 9 * *", "cron:0 9 * *"),
    ] {
        let error = text.parse::<Policy>().unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    }
}
