//! What the predictive policy promises, whatever a source does.

use chrono_tz::Asia::Shanghai;
use proptest::prelude::*;

use super::plan::{Ask, Plan};
use super::*;
use crate::schedule::classic::Cadence;

const DAY: i64 = 86_400;
const HOUR: i64 = 3600;
/// Monday, 2024-05-13 00:00 in Shanghai.
const MONDAY: i64 = 1_715_529_600;

/// The least cost over every set of looks that ends at the horizon, and the earliest first look that has it.
fn brute_force(edges: &[i64], items: &[f64], price: f64) -> (f64, usize) {
    let n = items.len();
    let mut best = (f64::INFINITY, 0);
    for set in 0..1u32 << (n - 1) {
        let looks: Vec<usize> = (1..n).filter(|k| set >> (k - 1) & 1 == 1).chain([n]).collect();
        let mut cost = looks.len() as f64 * price;
        let mut from = 0;
        for &look in &looks {
            for k in from..look {
                cost += items[k] * (edges[look] as f64 - (edges[k] + edges[k + 1]) as f64 / 2.0);
            }
            from = look;
        }
        if cost < best.0 - 1e-9 || (cost < best.0 + 1e-9 && looks[0] < best.1) {
            best = (cost, looks[0]);
        }
    }
    best
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn the_plan_is_the_cheapest_of_all(
        steps in prop::collection::vec((1i64..900, 0.0f64..3.0), 1..11), price in 1.0f64..3000.0,
    ) {
        let mut edges = vec![0];
        edges.extend(steps.iter().scan(0, |sum, step| { *sum += step.0; Some(*sum) }));
        let items: Vec<f64> = steps.iter().map(|step| step.1).collect();
        let look = Plan::default().first_look(&Ask { edges: &edges, items: &items, price });
        // The first look of a cheapest plan: what comes after it is planned from there.
        let (least, _) = brute_force(&edges, &items, price);
        let waiting: f64 =
            (0..look).map(|k| items[k] * (edges[look] as f64 - (edges[k] + edges[k + 1]) as f64 / 2.0)).sum();
        let rest = if look < items.len() { brute_force(&edges[look..], &items[look..], price).0 } else { 0.0 };
        prop_assert!((waiting + price + rest - least).abs() < 1e-6 * least.max(1.0));
    }

    #[test]
    fn the_next_look_is_within_its_bounds_and_the_same_again(
        page in prop::collection::vec(-5i64..MONDAY + 9 * DAY, 0..40),
        looks in prop::collection::vec((0i64..3 * DAY, prop::collection::vec(-3 * DAY..2 * DAY, 0..25)), 0..12),
        knob in prop_oneof![Just(f64::NAN), Just(0.0), Just(f64::INFINITY), 1e-6f64..1e6],
    ) {
        let mut source = Source::open(Shanghai, MONDAY, &page);
        let mut again = Source::open(Shanghai, MONDAY, &page);
        let mut now = MONDAY;
        for (step, new) in [(0, vec![])].into_iter().chain(looks) {
            now += step;
            let new: Vec<i64> = new.iter().map(|at| now + at).collect();
            source.look(now, &new);
            again.look(now, &new);
            for mode in [Mode::Bounded, Mode::Budget] {
                let decision = source.decide(knob, mode);
                prop_assert_eq!(&decision, &again.decide(knob, mode));
                prop_assert!(decision.next > now && decision.next <= now + DAY, "{:?}", decision);
                prop_assert!(mode == Mode::Budget || decision.next <= now + 2 * source.cadence().seconds());
                prop_assert!(!decision.why.is_empty() && !decision.why.contains('\n'));
            }
        }
    }
}

/// A source that was looked at every half hour for weeks, with items at the given seconds of working days.
fn trained(seconds: &[i64]) -> Source {
    let mut source = Source::open(Shanghai, MONDAY - 56 * DAY, &[]);
    let mut now = MONDAY - 56 * DAY;
    while now < MONDAY {
        let worked = day_of((now + 8 * HOUR).div_euclid(DAY), Shanghai).is_worked();
        let midnight = (now + 8 * HOUR).div_euclid(DAY) * DAY - 8 * HOUR;
        let new: Vec<i64> = seconds
            .iter()
            .map(|second| midnight + second)
            .filter(|at| worked && *at > now && *at <= now + 1800)
            .collect();
        now += 1800;
        source.look(now, &new);
    }
    source
}

#[test]
fn a_source_that_publishes_at_nine_is_looked_at_just_after_nine() {
    let mut source = trained(&[9 * HOUR + 120]);
    source.look(MONDAY + 6 * HOUR, &[]);
    let mut next = source.decide(3.0, Mode::Budget).next;
    while next < MONDAY + 9 * HOUR {
        source.look(next, &[]);
        next = source.decide(3.0, Mode::Budget).next;
    }
    let after = next - MONDAY - 9 * HOUR - 120;
    assert!((0..1500).contains(&after), "{after} s after the item");
    // And not again at once: nothing is expected until the next morning.
    source.look(next, &[MONDAY + 9 * HOUR + 120]);
    let mut looks = 0;
    while next < MONDAY + 33 * HOUR {
        source.look(next, &[]);
        next = source.decide(3.0, Mode::Budget).next;
        looks += 1;
    }
    assert!(looks < 12, "{looks} looks for one item");
}

#[test]
fn a_bigger_knob_means_fewer_looks_and_a_slow_source_is_not_starved() {
    let mut source = trained(&[10 * HOUR, 11 * HOUR, 14 * HOUR, 15 * HOUR]);
    source.look(MONDAY + 10 * HOUR, &[]);
    let waits =
        [0.1, 1.0, 10.0, 100.0].map(|knob| source.decide(knob, Mode::Budget).next - MONDAY - 10 * HOUR);
    assert!(waits.is_sorted() && waits[0] < waits[2], "{waits:?}");

    let mut silent = Source::open(Shanghai, MONDAY, &[MONDAY - 900 * DAY, MONDAY - 800 * DAY]);
    let mut busy =
        Source::open(Shanghai, MONDAY, &(0..20).map(|i| MONDAY - 600 * (i + 1)).collect::<Vec<_>>());
    assert_eq!((silent.cadence(), busy.cadence()), (Cadence::P6, Cadence::P0));
    let [silent, busy] =
        [&mut silent, &mut busy].map(|source| source.decide(1.0, Mode::Budget).next - MONDAY);
    // Twenty in three hours against one in a hundred days.
    assert!(busy < silent && silent < 20 * busy, "{busy} s and {silent} s");
}

#[test]
fn a_date_without_a_time_counts_between_two_looks() {
    // Found at half past ten every working day, stamped with midnight.
    let mut source = Source::open(Shanghai, MONDAY - 56 * DAY, &[]);
    for step in 0..56 * 24 {
        let now = MONDAY - 56 * DAY + step * HOUR + 1800;
        let found = step % 24 == 10 && day_of((now + 8 * HOUR).div_euclid(DAY), Shanghai).is_worked();
        let midnight = MONDAY - 56 * DAY + step / 24 * DAY;
        source.look(now, if found { std::slice::from_ref(&midnight) } else { &[] });
    }
    let waits = [2, 9].map(|hour| {
        source.look(MONDAY + hour * HOUR + 1800, &[]);
        source.decide(3.0, Mode::Budget).next - source_time(hour)
    });
    assert!(waits[1] <= HOUR && waits[0] > 2 * waits[1], "{waits:?}: sent to midnight");
}

#[test]
fn dates_on_the_first_page_say_nothing_of_the_hour() {
    let page: Vec<i64> = (0..20).map(|day| MONDAY - day * DAY).collect();
    let waits = [12, 23].map(|hour| {
        let now = MONDAY + hour * HOUR;
        Source::open(Shanghai, now, &page).decide(9.0, Mode::Budget).next - now
    });
    assert!((waits[0] - waits[1]).abs() < waits[0] / 10, "{waits:?}");
}

fn source_time(hour: i64) -> i64 {
    MONDAY + hour * HOUR + 1800
}

#[test]
fn a_page_full_of_new_items_brings_the_next_look_forward() {
    let page: Vec<i64> = (1..=20).map(|i| MONDAY - i * HOUR).collect();
    let new: Vec<i64> = (1..=20).map(|i| MONDAY + i * 60).collect();
    let look = |new: &[i64]| {
        let mut source = Source::open(Shanghai, MONDAY, &page);
        source.look(MONDAY + 2 * HOUR, new);
        source.decide(5.0, Mode::Budget)
    };
    let (full, empty) = (look(&new), look(&[]));
    assert!(full.next < empty.next && full.why.contains("full of new items"), "{full:?} {empty:?}");
}

#[test]
fn a_holiday_is_not_a_monday() {
    let mut source = trained(&[9 * HOUR, 10 * HOUR, 11 * HOUR, 15 * HOUR]);
    let mut wait = |at: i64| {
        source.look(at, &[]);
        source.decide(3.0, Mode::Budget)
    };
    let monday = MONDAY + 9 * HOUR;
    // 2024-06-10, the Dragon Boat Festival, is a Monday too.
    let festival = MONDAY + 28 * DAY + 9 * HOUR;
    let (usual, quiet) = (wait(monday), wait(festival));
    assert!(quiet.next - festival > usual.next - monday, "{usual:?} {quiet:?}");
    assert!(quiet.why.contains("a public holiday"), "{}", quiet.why);
}

#[test]
fn who_publishes_on_the_hour_is_looked_at_just_after_it() {
    // Every day at other hours, so that only the minute is a habit.
    let hours = |day: i64| [7, 11, 17].map(|step| (step * day + step) % 24);
    let mut source = Source::open(Shanghai, MONDAY - 56 * DAY, &[]);
    for step in 0..56 * 48 {
        let now = MONDAY - 56 * DAY + step * 1800 + 900;
        let on_the_hour = now - 900;
        let is_due = step % 2 == 0 && hours(step / 48).contains(&(step / 2 % 24));
        let item = on_the_hour + 40;
        source.look(now, if is_due { std::slice::from_ref(&item) } else { &[] });
    }
    for hour in [3, 9, 20] {
        source.look(MONDAY + hour * HOUR + 1500, &[]);
        let minute = (source.decide(1.0, Mode::Budget).next - MONDAY).rem_euclid(HOUR) / 60;
        assert!(minute < 10, "at minute {minute}");
    }
}

#[test]
fn a_source_that_wakes_up_is_looked_at_more_and_one_that_falls_silent_less() {
    // Five a morning, or one every tenth, for two months; then five a morning, or nothing. Looks on the fourth day.
    let looks = |often: bool, then: bool| {
        let items: Vec<i64> = (-60..4_i64)
            .filter(|day| if *day >= 0 { then } else { often || day % 10 == 0 })
            .flat_map(|day| {
                let count = if often || day >= 0 { 5 } else { 1 };
                (0..count).map(move |i| {
                    MONDAY + day * DAY + 9 * HOUR + (day * 7919 + i * 3557).rem_euclid(5 * HOUR)
                })
            })
            .collect();
        let between = |from: i64, until: i64| -> Vec<i64> {
            items.iter().copied().filter(|at| (from..until).contains(at)).collect()
        };
        let mut now = MONDAY - 60 * DAY;
        let mut source = Source::open(Shanghai, now, &[]);
        while now < MONDAY + 3 * DAY {
            source.look(now + HOUR, &between(now, now + HOUR));
            now += HOUR;
        }
        let mut looks = 0;
        while now < MONDAY + 4 * DAY {
            let next = source.decide(2.0, Mode::Budget).next;
            source.look(next, &between(now, next));
            (now, looks) = (next, looks + 1);
        }
        looks
    };
    let [awake, asleep, as_ever, silent] =
        [(false, true), (false, false), (true, true), (true, false)].map(|(often, then)| looks(often, then));
    assert!(awake * 2 > asleep * 3, "{awake} looks and {asleep}");
    assert!(as_ever * 4 > silent * 5, "{as_ever} looks and {silent}");
}
