//! The twelve properties of the seed (S0-24 … S0-35) and the boundaries it lists (S0-39).

use chrono_tz::Asia::Shanghai;
use proptest::prelude::*;

use super::*;

const HOUR: i64 = 3600;
const NOW: i64 = 1_760_000_000;

fn entries() -> impl Strategy<Value = Vec<Entry>> {
    // Seconds to months apart, so that every cadence comes up.
    (0.0f64..7.0).prop_flat_map(|scale| {
        let longest = (10f64.powf(scale) as i64).max(2);
        prop::collection::vec(1..longest, 3..30).prop_map(|steps| {
            let mut at = NOW;
            steps
                .into_iter()
                .map(|step| {
                    at -= step;
                    Entry::at(at)
                })
                .collect()
        })
    })
}

fn cadences() -> impl Strategy<Value = Cadence> {
    prop::sample::select(Cadence::ALL.to_vec())
}

fn frequencies() -> impl Strategy<Value = Frequency> {
    use Frequency::*;
    prop::sample::select(vec![Realtime, High, Daily, DailyFixed, Weekly, Monthly, Low])
}

fn messages() -> impl Strategy<Value = String> {
    prop_oneof![
        Just(String::new()),
        ".{0,20}",
        "(HTTP )?(429|401|403|500|rate|expired|forbidden|频繁|过期|x){1,3}"
    ]
}

prop_compose! {
    fn rows()(
        frequency in frequencies(), checks in 0u64..1000, hits in 0u64..1000, fails in 0u32..50,
        avg in prop::option::of(0.0f64..24.0), std in prop::option::of(1.0f64..6.0), created in 0..NOW,
    ) -> SourceStats {
        SourceStats {
            frequency_type: frequency, cadence: frequency.cadence(), check_count: checks, hit_count: hits.min(checks),
            fail_count: fails, backoff_until: i64::from(fails) * 100, avg_publish_hour: avg, std_publish_hour: std,
            ..SourceStats::new("a", "rss", created)
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    /// Feature: rss-smart-scheduler, Property 1: classification matches the thresholds (S0-24).
    #[test]
    fn the_cadence_is_that_of_the_mean_interval(entries in entries()) {
        let (frequency, cadence) = classify_update_frequency(&entries, Shanghai);
        let span = (entries[0].published_at - entries[entries.len() - 1].published_at) as f64;
        let hours = span / 3600.0 / (entries.len() - 1) as f64;
        let per_day = entries.len() as f64 / (span / 86_400.0).max(1.0);
        let (name, level) = if hours < 6.0 || per_day >= 5.0 { ("realtime", "P0") }
            else if hours < 18.0 { ("high", "P1") }
            else if hours < 36.0 { ("daily", "P2") }
            else if hours < 72.0 { ("daily_fixed", "P3") }
            else if hours < 168.0 { ("weekly", "P4") }
            else if hours < 720.0 { ("monthly", "P5") }
            else { ("low", "P6") };
        prop_assert_eq!((frequency.name(), cadence.name()), (name, level));
    }

    /// Feature: rss-smart-scheduler, Property 2: the mean of the publish hours, deviation within 1 … 6 (S0-25).
    #[test]
    fn the_publish_hour_is_the_arithmetic_mean(entries in entries()) {
        let (avg, std) = calculate_publish_time_stats(&entries, Shanghai);
        // Shanghai has had no summer time since 1991: eight hours, always.
        let hours = entries.iter().map(|entry| ((entry.published_at + 8 * HOUR) % 86_400) as f64 / 3600.0);
        let mean = hours.sum::<f64>() / entries.len() as f64;
        prop_assert!((avg.unwrap() - mean).abs() < 1e-9);
        prop_assert!((1.0..=6.0).contains(&std.unwrap()));
    }

    /// Feature: rss-smart-scheduler, Property 3: every look counts, a hit counts when there was one (S0-26).
    #[test]
    fn counters_go_up_by_one(row in rows(), new: bool, message in messages(), random in 0.0f64..1.0) {
        let looked = Looked { has_new_entries: new, error_message: &message, entries: &[] };
        let after = update_source_stats(row.clone(), looked, NOW, random, Shanghai);
        prop_assert_eq!(after.check_count, row.check_count + 1);
        prop_assert_eq!(after.hit_count, row.hit_count + u64::from(new));
    }

    /// Feature: rss-smart-scheduler, Property 4: hit rate = hits / checks, within 0 … 1 (S0-27).
    #[test]
    fn the_hit_rate_is_a_share(row in rows(), looks in prop::collection::vec(any::<bool>(), 1..20)) {
        let row = looks.iter().fold(row, |row, &new| {
            let looked = Looked { has_new_entries: new, error_message: "", entries: &[] };
            update_source_stats(row, looked, NOW, 0.5, Shanghai)
        });
        prop_assert_eq!(row.hit_rate(), row.hit_count as f64 / row.check_count as f64);
        prop_assert!((0.0..=1.0).contains(&row.hit_rate()));
    }

    /// Feature: rss-smart-scheduler, Property 5: now < next ≤ now + 24 h and ≤ now + 2 × base (S0-28).
    #[test]
    fn the_next_look_is_within_its_bounds(
        now in 0i64..4_000_000_000, random in -1.0f64..2.0, cadence in cadences(), frequency in frequencies(),
        avg in prop::option::of(-30.0f64..60.0), std in prop::option::of(0.0f64..8.0), last in -10i64..4_000_000_000,
    ) {
        let next = calculate_next_check_time(now, random, Shanghai, cadence, frequency, avg, std, last);
        prop_assert!(next > now && next <= now + 86_400 && next <= now + 2 * cadence.seconds());
    }

    /// Feature: rss-smart-scheduler, Property 6: jitter within 0.85 … 1.15 × base; P6 stays within its day (S0-29, I1).
    #[test]
    fn a_fixed_interval_has_its_jitter(random in 0.0f64..1.0, cadence in cadences(), frequency in frequencies()) {
        let wait = calculate_next_check_time(NOW, random, Shanghai, cadence, frequency, None, None, 0) - NOW;
        let base = cadence.seconds() as f64;
        prop_assert!(wait as f64 >= (base * 0.85).floor());
        prop_assert!(wait as f64 <= (base * 1.15).min(86_400.0));
    }

    /// Feature: rss-smart-scheduler, Property 7: back-off by the words of the error (S0-30).
    #[test]
    fn backoff_follows_the_words(fails in 0u32..5000, message in messages()) {
        let rest = calculate_backoff(fails, &message);
        let text = message.to_lowercase();
        let says = |words: &[&str]| words.iter().any(|word| text.contains(word));
        let wanted = if says(&["429", "rate", "频繁"]) { 6 * HOUR }
            else if says(&["401", "expired", "过期"]) { 0 }
            else if says(&["403", "forbidden"]) { 12 * HOUR }
            else { (900.0 * 2f64.powi(fails.max(1) as i32 - 1)).min(86_400.0) as i64 };
        prop_assert_eq!(rest, wanted);
    }

    /// Feature: rss-smart-scheduler, Property 8: success clears failures (S0-31).
    #[test]
    fn success_clears_failures(row in rows(), new: bool, random in 0.0f64..1.0) {
        let looked = Looked { has_new_entries: new, error_message: "", entries: &[] };
        let after = update_source_stats(row, looked, NOW, random, Shanghai);
        prop_assert_eq!((after.fail_count, after.backoff_until, after.last_error), (0, 0, None));
    }

    /// Feature: rss-smart-scheduler, Property 9: the cadence is always one of P0 … P6 (S0-32).
    #[test]
    fn the_cadence_is_always_known(row in rows(), entries in entries(), new: bool, message in messages(), name: String) {
        let looked = Looked { has_new_entries: new, error_message: &message, entries: &entries };
        let names = ["P0", "P1", "P2", "P3", "P4", "P5", "P6"];
        prop_assert!(names.contains(&update_source_stats(row, looked, NOW, 0.5, Shanghai).cadence.name()));
        prop_assert!(names.contains(&Cadence::of_name(&name).name()));
    }

    /// Feature: rss-smart-scheduler, Property 10: analysed anew at every tenth look, and at early hits (S0-33).
    #[test]
    fn entries_are_read_again_when_it_is_time(row in rows(), new: bool, early in 0u64..6) {
        for row in [row.clone(), SourceStats { check_count: early, hit_count: 0, ..row }] {
            // Seconds apart: an analysis would say real time.
            let entries = [Entry::at(NOW - 1), Entry::at(NOW - 2), Entry::at(NOW - 3)];
            let looked = Looked { has_new_entries: new, error_message: "", entries: &entries };
            let before = SourceStats { frequency_type: Frequency::Low, cadence: Cadence::P6, ..row };
            let after = update_source_stats(before, looked, NOW, 0.5, Shanghai);
            let analysed = after.check_count.is_multiple_of(10) || (new && after.check_count <= 3);
            prop_assert_eq!(after.cadence, if analysed { Cadence::P0 } else { Cadence::P6 });
        }
    }

    /// Feature: rss-smart-scheduler, Property 11: the first look makes a whole row (S0-34).
    #[test]
    fn the_first_look_makes_a_whole_row(id in "[a-z]{1,8}", new: bool, message in messages(), now in 1i64..NOW) {
        let looked = Looked { has_new_entries: new, error_message: &message, entries: &[] };
        let row = update_source_stats(SourceStats::new(&id, "custom", now), looked, now, 0.5, Shanghai);
        prop_assert_eq!((row.source_id.as_str(), row.source_type.as_str()), (id.as_str(), "custom"));
        prop_assert_eq!((row.check_count, row.created_at, row.last_check_at), (1, now, now));
        prop_assert!(row.next_due_at > now);
        let json = serde_json::to_value(&row).unwrap();
        for field in ["source_id", "source_type", "frequency_type", "cadence", "avg_publish_hour", "std_publish_hour",
            "next_due_at", "last_check_at", "last_article_at", "fail_count", "backoff_until", "last_error",
            "check_count", "hit_count", "created_at", "updated_at"] {
            prop_assert!(json.get(field).is_some(), "{}", field);
        }
    }

    /// Feature: rss-smart-scheduler, Property 12: `updated_at` is the moment of the look (S0-35).
    #[test]
    fn a_look_leaves_its_moment(row in rows(), now in NOW..2 * NOW, new: bool, message in messages()) {
        let looked = Looked { has_new_entries: new, error_message: &message, entries: &[] };
        prop_assert_eq!(update_source_stats(row, looked, now, 0.5, Shanghai).updated_at, now);
    }
}

#[test]
fn thresholds_belong_to_the_slower_side() {
    use Frequency::*;
    let table =
        [(5.999, Realtime), (6.0, High), (17.999, High), (18.0, Daily), (36.0, DailyFixed), (72.0, Weekly)];
    for (hours, wanted) in
        table.into_iter().chain([(167.9, Weekly), (168.0, Monthly), (719.9, Monthly), (720.0, Low)])
    {
        assert_eq!(cadence_of_interval(hours, 1.0), wanted, "{hours}");
    }
    assert_eq!((cadence_of_interval(100.0, 5.0), cadence_of_interval(100.0, 4.999)), (Realtime, Weekly));
    // Through the entries themselves: exactly six hours apart, four a day (and a fifth as the fence post).
    let every =
        |hours: i64, n: i64| -> Vec<_> { (0..n).map(|i| Entry::at(NOW - i * hours * HOUR)).collect() };
    assert_eq!(classify_update_frequency(&every(6, 30), Shanghai).1, Cadence::P1);
    assert_eq!(classify_update_frequency(&every(18, 3), Shanghai).1, Cadence::P2);
    assert_eq!(classify_update_frequency(&every(720, 3), Shanghai).1, Cadence::P6);
}

#[test]
fn too_few_or_unreadable_entries_are_the_default() {
    for few in
        [vec![], vec![Entry::at(NOW)], vec![Entry::at(NOW), Entry::at(NOW - 9), Entry::at(0), Entry::at(-5)]]
    {
        assert_eq!(classify_update_frequency(&few, Shanghai), (Frequency::Daily, Cadence::P2));
        assert_eq!(calculate_publish_time_stats(&few, Shanghai), (None, None));
    }
    assert_eq!(calculate_publish_time_stats(&[Entry::at(i64::MAX); 4], Shanghai), (None, None));
    assert_eq!(classify_update_frequency(&[Entry::at(i64::MAX); 4], Shanghai).1, Cadence::P0);
}

#[test]
fn a_burst_of_three_is_not_real_time_by_count() {
    // I2: three a day is three a day, however close together; the interval alone makes it P0.
    let burst = [Entry::at(NOW), Entry::at(NOW - 60), Entry::at(NOW - 12 * HOUR - 120)];
    assert_eq!(classify_update_frequency(&burst, Shanghai).1, Cadence::P1);
}

#[test]
fn the_same_hour_every_day_is_predicted_and_midnight_is_not() {
    let ten = 1_759_975_200; // 10:00 in Shanghai
    let daily: Vec<_> = (0..5).map(|day| Entry::at(ten - day * 86_400)).collect();
    assert_eq!(calculate_publish_time_stats(&daily, Shanghai), (Some(10.0), Some(1.0)));
    assert!((typical_hour(&daily, Shanghai).unwrap() - 10.0).abs() < 1e-9);
    let (frequency, cadence) = (Frequency::DailyFixed, Cadence::P3);
    let nine = ten + 86_400 - HOUR;
    let next = calculate_next_check_time(nine, 0.0, Shanghai, cadence, frequency, Some(10.0), Some(1.0), 0);
    assert_eq!(next, nine + HOUR + HOUR / 2);

    // 23:30 and 00:30 in turn: the mean is noon, the circular mean is midnight, nobody is sent to either.
    let midnight = ten + 14 * HOUR;
    let late: Vec<_> =
        (0..6).map(|i| Entry::at(midnight - i * 86_400 + if i % 2 == 0 { 1800 } else { -1800 })).collect();
    assert_eq!(calculate_publish_time_stats(&late, Shanghai).0, Some(12.0));
    assert_eq!(typical_hour(&late, Shanghai), None);
    let row = SourceStats { check_count: 9, ..SourceStats::new("a", "rss", 0) };
    let looked = Looked { has_new_entries: true, error_message: "", entries: &late };
    let row = update_source_stats(row, looked, ten, 0.5, Shanghai);
    assert_eq!((row.avg_publish_hour, row.next_due_at), (Some(12.0), ten + row.cadence.seconds()));
}

#[test]
fn a_day_uploaded_at_once_is_one_day() {
    // I4: twenty entries of three days, dates only, seen at 15:00.
    let midnight = 1_759_939_200 + 8 * HOUR;
    let entry = |i: i64| Entry {
        published_at: midnight - (i / 7) * 86_400,
        first_seen_at: midnight + 15 * HOUR,
        date_only: true,
    };
    let list: Vec<_> = (0..20).map(entry).collect();
    assert_eq!(classify_update_frequency(&list, Shanghai).0, Frequency::Daily);
    let hour = calculate_publish_time_stats(&list, Shanghai).0.unwrap();
    assert!((hour - ((midnight + 23 * HOUR) % 86_400) as f64 / 3600.0).abs() < 1e-9, "{hour}");
}

#[test]
fn of_several_words_the_first_rule_counts_and_failures_do_not_overflow() {
    let table =
        [("403 rate limit", 6), ("401 and 403", 0), ("Forbidden", 12), ("登录过期", 0), ("访问频繁", 6)];
    for (message, hours) in table {
        assert_eq!(calculate_backoff(1, message), hours * HOUR, "{message}");
    }
    assert_eq!(
        [0, 1, 2, 7, 8, u32::MAX].map(|n| calculate_backoff(n, "timed out")),
        [900, 900, 1800, 57_600, 86_400, 86_400]
    );
    let mut row = SourceStats::new("a", "rss", NOW);
    row.fail_count = u32::MAX;
    let looked = Looked { has_new_entries: false, error_message: "boom", entries: &[] };
    let row = update_source_stats(row, looked, NOW, 0.5, Shanghai);
    assert_eq!((row.fail_count, row.backoff_until, row.next_due_at), (u32::MAX, NOW + 86_400, NOW + 86_400));
}

#[test]
fn an_expired_login_keeps_the_cadence() {
    let looked = Looked { has_new_entries: false, error_message: "401", entries: &[] };
    let row = update_source_stats(SourceStats::new("a", "rss", NOW), looked, NOW, 0.5, Shanghai);
    assert_eq!((row.fail_count, row.backoff_until, row.next_due_at), (1, 0, NOW + HOUR));
}

#[test]
fn due_rows_come_longest_overdue_first() {
    let row = |id: &str, kind: &str, due| SourceStats { next_due_at: due, ..SourceStats::new(id, kind, 0) };
    let mut resting = row("r", "rss", 1);
    resting.backoff_until = NOW + 1;
    let rows =
        [row("b", "rss", 5), row("a", "rss", 5), row("c", "custom", 1), row("d", "rss", NOW + 1), resting];
    let ids = |kind, limit| {
        due_sources(&rows, NOW, kind, limit).iter().map(|row| row.source_id.as_str()).collect::<String>()
    };
    assert_eq!((ids(None, 20), ids(Some("rss"), 20), ids(None, 2)), ("cab".into(), "ab".into(), "ca".into()));
}
