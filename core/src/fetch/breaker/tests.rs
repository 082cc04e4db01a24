use super::*;
use proptest::prelude::*;

const T0: Timestamp = Timestamp(1_794_988_800_000);
const SECOND: i64 = 1000;
const MINUTE: i64 = 60 * SECOND;

fn at(ms: i64) -> Timestamp {
    Timestamp(T0.0 + ms)
}

fn refused(until: i64, why: Why) -> Admission {
    Admission::Refuse { until: at(until), why }
}

#[test]
fn three_network_failures_or_five_of_any_kind_open_it() {
    use Outcome::{Failure as F, NetworkFailure as N, Success as S, Unclear as U};
    for (outcomes, open) in [
        (&[N, N][..], None),
        (&[N, N, N], Some(Why::Network)),
        (&[N, N, S, N, N], None),
        (&[N, N, U, N], Some(Why::Network)),
        (&[N, N, F, N, N], Some(Why::Network)),
        (&[N, F, N, F], None),
        (&[N, F, N, F, F], Some(Why::Failures)),
        (&[F, F, F, F], None),
        (&[F, F, F, F, F], Some(Why::Failures)),
        (&[F, F, F, F, S, F], None),
        (&[U, U, U, U, U, U], None),
    ] {
        let mut breaker = Breaker::default();
        for outcome in outcomes {
            assert_eq!(breaker.admit(T0), Admission::Go, "{outcomes:?}");
            breaker.record(*outcome, false, T0);
        }
        let expected = open.map_or(Admission::Go, |why| refused(5 * MINUTE, why));
        assert_eq!(breaker.admit(T0), expected, "{outcomes:?}");
    }
}

#[test]
fn each_failed_probe_doubles_the_time_up_to_an_hour() {
    let mut breaker = Breaker::default();
    for _ in 0..3 {
        breaker.record(Outcome::NetworkFailure, false, T0);
    }
    let mut now = 0;
    for minutes in [5, 10, 20, 40, 60, 60, 60] {
        let until = now + minutes * MINUTE;
        assert_eq!(breaker.admit(at(until - 1)), refused(until, Why::Network));
        assert_eq!(breaker.admit(at(until)), Admission::Probe);
        assert!(matches!(breaker.admit(at(until)), Admission::Refuse { why: Why::Probing, .. }));
        now = until + SECOND;
        breaker.record(Outcome::NetworkFailure, true, at(now));
    }
    breaker.record(Outcome::Success, false, at(now));
    assert!(breaker.is_at_rest(), "and one success makes it forget everything");
}

#[test]
fn a_probe_that_never_reports_is_given_up() {
    let mut breaker = Breaker::default();
    breaker.cool(at(MINUTE), Why::Operator, T0);
    assert_eq!(breaker.admit(at(MINUTE)), Admission::Probe);
    let given_up = MINUTE + PROBE_TIMEOUT.as_millis() as i64;
    assert_eq!(breaker.admit(at(given_up - 1)), refused(given_up, Why::Probing));
    assert_eq!(breaker.admit(at(given_up)), Admission::Probe);
    breaker.record(Outcome::Unclear, true, at(given_up));
    assert_eq!(breaker.admit(at(given_up)), Admission::Probe, "one that says nothing makes room at once");
}

#[test]
fn a_success_that_was_under_way_does_not_shorten_a_cooldown_that_was_asked_for() {
    for (why, stands) in
        [(Why::RetryAfter, true), (Why::Refused, true), (Why::Operator, true), (Why::Network, false)]
    {
        let mut breaker = Breaker::default();
        breaker.cool(at(30 * MINUTE), why, T0);
        breaker.record(Outcome::Success, false, at(SECOND));
        let expected = if stands { refused(30 * MINUTE, why) } else { Admission::Go };
        assert_eq!(breaker.admit(at(2 * SECOND)), expected, "{why:?}");
    }
}

#[test]
fn a_cooldown_is_never_shortened_by_another_and_is_bounded_by_its_reason() {
    let day = 24 * 60 * MINUTE;
    let mut breaker = Breaker::default();
    breaker.cool(at(90 * day), Why::RetryAfter, T0);
    assert_eq!(breaker.admit(T0), refused(day, Why::RetryAfter));
    breaker.cool(at(MINUTE), Why::Refused, T0);
    assert_eq!(breaker.admit(T0), refused(day, Why::RetryAfter));
    breaker.cool(at(3 * day), Why::Operator, T0);
    assert_eq!(breaker.admit(at(2 * day)), refused(3 * day, Why::Operator));
    breaker.cool(at(0), Why::Operator, at(3 * day));
    assert_eq!(breaker.admit(at(3 * day)), Admission::Probe, "one that is over already changes nothing");
}

#[test]
fn failures_that_were_under_way_do_not_open_it_again() {
    let mut breaker = Breaker::default();
    for i in 0..20 {
        breaker.record(Outcome::NetworkFailure, false, at(i * SECOND));
    }
    assert_eq!(breaker.trips, 1);
    assert_eq!(breaker.open_until, Some(at(2 * SECOND + 5 * MINUTE)));
}

#[test]
fn requests_sent_before_it_opened_do_not_give_the_place_of_the_probe_away() {
    for outcome in [Outcome::Unclear, Outcome::Failure, Outcome::NetworkFailure] {
        let mut breaker = Breaker::default();
        breaker.cool(at(MINUTE), Why::RetryAfter, T0);
        assert_eq!(breaker.admit(at(MINUTE)), Admission::Probe);
        breaker.record(outcome, false, at(MINUTE + SECOND));
        breaker.cool(at(MINUTE + 10 * SECOND), Why::RetryAfter, at(MINUTE + SECOND));
        let later = breaker.admit(at(MINUTE + 20 * SECOND));
        assert!(matches!(later, Admission::Refuse { why: Why::Probing, .. }), "{outcome:?}: {later:?}");
        breaker.record(Outcome::Success, true, at(MINUTE + 30 * SECOND));
        assert_eq!(breaker.admit(at(MINUTE + 30 * SECOND)), Admission::Go);
    }
}

#[test]
fn a_clock_set_back_does_not_silence_a_host_for_years() {
    let mut breaker = Breaker::default();
    for _ in 0..3 {
        breaker.record(Outcome::NetworkFailure, false, at(365 * 24 * 60 * MINUTE));
    }
    assert_eq!(breaker.admit(T0), refused(60 * MINUTE, Why::Network));
    assert_eq!(breaker.admit(at(60 * MINUTE)), Admission::Probe);
}

#[test]
fn retries_wait_twice_as_long_each_time_and_at_most_a_minute() {
    for (attempt, unit, ms) in [
        (0, 0.5, 1000),
        (1, 0.5, 2000),
        (2, 0.0, 3000),
        (2, 1.0, 5000),
        (3, 0.5, 8000),
        (5, 0.5, 32_000),
        (6, 0.5, 60_000),
        (u32::MAX, 0.0, 48_000),
        (3, f64::NAN, 8000),
        (3, 9.0, 10_000),
    ] {
        assert_eq!(retry_delay(attempt, unit), Duration::from_millis(ms), "{attempt} {unit}");
    }
}

#[derive(Clone, Debug)]
enum Step {
    Admit,
    /// Of the probe, if one is under way; else, and with `false`, of a request from before.
    Record(Outcome, bool),
    Cool(i64, Why),
    Wait(i64),
    Restart,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let outcome = prop_oneof![
        Just(Outcome::Success),
        Just(Outcome::NetworkFailure),
        Just(Outcome::NetworkFailure),
        Just(Outcome::Failure),
        Just(Outcome::Failure),
        Just(Outcome::Unclear),
    ];
    let why = prop_oneof![Just(Why::RetryAfter), Just(Why::Refused), Just(Why::Operator)];
    let step = prop_oneof![
        4 => Just(Step::Admit),
        5 => (outcome, any::<bool>()).prop_map(|(outcome, probe)| Step::Record(outcome, probe)),
        1 => ((-1000..200_000_000i64), why).prop_map(|(ms, why)| Step::Cool(ms, why)),
        3 => (0..400_000i64).prop_map(Step::Wait),
        1 => (0..5_000_000i64).prop_map(Step::Wait),
        1 => Just(Step::Restart),
    ];
    proptest::collection::vec(step, 0..120)
}

proptest! {
    /// C6: never two probes at once, nobody before the end, openings within their bounds, and every opening
    /// ends.
    #[test]
    fn the_promises_hold_whatever_happens(steps in steps()) {
        let mut breaker = Breaker::default();
        let mut now = T0;
        let mut probe: Option<Timestamp> = None;
        for step in steps {
            match step {
                Step::Wait(ms) => now = Timestamp(now.0 + ms),
                Step::Restart => {
                    let json = serde_json::to_string(&breaker).unwrap();
                    let back: Breaker = serde_json::from_str(&json).unwrap();
                    prop_assert_eq!(&back, &breaker);
                    breaker = back;
                }
                Step::Cool(ms, why) => {
                    breaker.cool(Timestamp(now.0 + ms), why, now);
                }
                Step::Admit => match breaker.admit(now) {
                    Admission::Go => prop_assert!(breaker.open_until.is_none()),
                    Admission::Probe => {
                        prop_assert!(breaker.open_until.is_some_and(|until| now >= until));
                        let timeout = PROBE_TIMEOUT.as_millis() as i64;
                        prop_assert!(probe.is_none_or(|since| now.0 >= since.0 + timeout), "two probes");
                        probe = Some(now);
                    }
                    Admission::Refuse { until, .. } => {
                        prop_assert!(until > now, "a refusal has an end ahead");
                        // Nothing happens until then, and then somebody may go.
                        let refuses = |at| matches!(breaker.clone().admit(at), Admission::Refuse { .. });
                        prop_assert!(refuses(Timestamp(until.0 - 1)));
                        prop_assert!(!refuses(until));
                    }
                },
                Step::Record(outcome, of_probe) => {
                    let before = breaker.clone();
                    let of_probe = of_probe && probe.is_some();
                    breaker.record(outcome, of_probe, now);
                    // A closed breaker has no probes: what is under way is a request like any other.
                    if of_probe || breaker.open_until.is_none() {
                        probe = None;
                    }
                    if breaker.trips > before.trips {
                        let open = breaker.open_until.unwrap().0 - now.0;
                        prop_assert!((5 * MINUTE..=60 * MINUTE).contains(&open), "open for {open} ms");
                    }
                    if outcome == Outcome::Success {
                        let asked_for = before.why.is_some_and(Why::was_asked_for)
                            && before.open_until.is_some_and(|until| until > now);
                        prop_assert_eq!(breaker.open_until.is_none(), !asked_for, "a success closes");
                        prop_assert_eq!((breaker.net_failures, breaker.any_failures, breaker.trips), (0, 0, 0));
                    }
                }
            }
        }
    }

    #[test]
    fn retry_delays_are_bounded(attempt in any::<u32>(), unit in any::<f64>()) {
        let delay = retry_delay(attempt, unit);
        prop_assert!(delay >= Duration::from_millis(750) && delay <= Duration::from_secs(60));
    }
}
