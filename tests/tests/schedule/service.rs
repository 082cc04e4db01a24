//! Schedules as a program has them: made, changed, refused, followed.

use std::path::Path;
use std::sync::Arc;

use dibao::config::parse_site;
use dibao::schedule::{
    Adaptive, ByHand, Combine, NewSchedule, Rule, ScheduleEdit, ScheduleError, ScheduleQuery, Trigger,
};
use dibao::store::Store as _;
use dibao::{Clock as _, Engine, Error, Timestamp};

use crate::bed::at;
use crate::clock::LeapClock;

pub async fn engine(dir: &Path, clock: &Arc<LeapClock>) -> Engine {
    Engine::builder().data_dir(dir).clock(clock.clone()).build().await.unwrap()
}

fn cron(text: &str) -> Trigger {
    Trigger::Cron { cron: text.into() }
}

fn trigger(trigger: Trigger) -> ScheduleEdit {
    ScheduleEdit { trigger: Some(trigger), ..ScheduleEdit::default() }
}

/// The refusal of a call, for matching.
#[track_caller]
fn refused<T: std::fmt::Debug>(result: dibao::Result<T>) -> ScheduleError {
    match result {
        Err(Error::Schedule(error)) => error,
        other => panic!("{other:?}"),
    }
}

/// A site without an adapter's say, with these keys and columns.
async fn put_site(engine: &Engine, keys: &str, columns: &str) {
    let text = format!(
        "{{site_id: gd, site_name: G, base_url: 'https://www.gd.gov.cn', {keys} columns: [{columns}]}}"
    );
    let (site, targets) = parse_site(&text, "gd.yaml").unwrap().into_rows().unwrap();
    engine.store().put_site(site, targets).await.unwrap();
    engine.follow_targets().await.unwrap();
}

const ONE: &str = "{column_id: x, list_url: 'https://www.gd.gov.cn/x/', list_selector: {row: li}}";

#[tokio::test]
async fn schedules_are_made_changed_paused_and_removed_and_every_refusal_has_its_kind() {
    let dir = tempfile::tempdir().unwrap();
    let clock = LeapClock::at(at("2026-04-10 09:30"));
    let engine = engine(dir.path(), &clock).await;
    let schedules = engine.schedules();
    let made = schedules.add(NewSchedule::new("hello", "hook", cron("0 10 * * *"))).await.unwrap();
    assert_eq!(made.next_due_at, Some(at("2026-04-10 10:00")));
    assert!(matches!(
        refused(schedules.add(NewSchedule::new("hello", "hook", Trigger::Manual)).await),
        ScheduleError::Taken { .. }
    ));
    for (name, trigger, wrong) in [
        ("a", cron("61 * * * *"), "cron"),
        ("a", cron("0 0 31 2 *"), "cron"),
        ("a", Trigger::Interval { seconds: 0 }, "interval"),
        ("a", Trigger::Once { at: Timestamp(5), expires_at: Some(Timestamp(5)) }, "expires_at"),
        ("builtin:mine", Trigger::Manual, "name"),
        ("target.mine", Trigger::Manual, "name"),
        (" a", Trigger::Manual, "name"),
        ("", Trigger::Manual, "name"),
    ] {
        let error = refused(schedules.add(NewSchedule::new(name, "hook", trigger)).await);
        assert!(matches!(&error, ScheduleError::Invalid { field, .. } if *field == wrong), "{error}");
    }
    assert!(
        matches!(refused(schedules.get("hallo").await), ScheduleError::Unknown { fix, .. } if fix.contains("hello"))
    );

    let edited = schedules.edit("hello", trigger(cron("30 10 * * *"))).await.unwrap();
    assert_eq!(edited.next_due_at, Some(at("2026-04-10 10:30")));
    assert!(edited.operator_set.is_empty(), "nobody else would set it");
    assert!(matches!(
        refused(schedules.edit("hello", trigger(cron("x"))).await),
        ScheduleError::Invalid { field: "cron", .. }
    ));
    let paused = schedules.pause("hello").await.unwrap();
    assert_eq!((paused.enabled, paused.next_due_at), (false, None));
    let resumed = schedules.resume("hello").await.unwrap();
    assert_eq!((resumed.enabled, resumed.next_due_at), (true, Some(at("2026-04-10 10:30"))));

    let job = schedules.run_now("hello").await.unwrap();
    assert!(
        matches!(refused(schedules.run_now("hello").await), ScheduleError::Active { job: other, .. } if other == job)
    );
    engine.queue().cancel(job).await.unwrap();
    assert!(schedules.run_now("hello").await.unwrap() > job);
    assert_eq!(
        schedules.get("hello").await.unwrap().next_due_at,
        Some(at("2026-04-10 10:30")),
        "it stays due"
    );
    let counts = schedules.counts().await.unwrap();
    assert_eq!((counts.total, counts.enabled, counts.due), (1, 1, 0));
    schedules.remove("hello").await.unwrap();
    assert!(matches!(refused(schedules.remove("hello").await), ScheduleError::Unknown { .. }));
}

#[tokio::test]
async fn s3_11_what_the_program_brings_is_timed_and_switched_but_not_renamed_or_removed() {
    let dir = tempfile::tempdir().unwrap();
    let clock = LeapClock::at(at("2026-04-10 09:30"));
    let engine = engine(dir.path(), &clock).await;
    engine.timer().await.unwrap();
    let schedules = engine.schedules();
    let all = schedules
        .list(ScheduleQuery { prefix: Some("builtin:".into()), ..Default::default() })
        .await
        .unwrap();
    let names: Vec<&str> = all.iter().map(|row| row.name.as_str()).collect();
    assert_eq!(names, [dibao::BUDGET, dibao::RECONCILE]);
    assert_eq!(all[1].trigger, Trigger::Interval { seconds: 300 }, "S2-47");
    assert!(matches!(
        refused(schedules.remove(dibao::RECONCILE).await),
        ScheduleError::Protected { what: "it", .. }
    ));
    for (edit, wrong) in [
        (ScheduleEdit { title: Some("mine".into()), ..Default::default() }, "title"),
        (ScheduleEdit { payload: Some(serde_json::json!(1)), ..Default::default() }, "payload"),
        (ScheduleEdit { lane: Some("mine".into()), ..Default::default() }, "lane"),
    ] {
        let error = refused(schedules.edit(dibao::RECONCILE, edit).await);
        assert!(matches!(&error, ScheduleError::Protected { what, .. } if *what == wrong), "{error}");
    }
    let slower = schedules.edit(dibao::RECONCILE, trigger(Trigger::Interval { seconds: 900 })).await.unwrap();
    assert_eq!(slower.operator_set, [ByHand::Trigger]);
    assert!(!schedules.pause(dibao::RECONCILE).await.unwrap().enabled);
    // A start makes none of it undone.
    engine.timer().await.unwrap();
    let kept = schedules.get(dibao::RECONCILE).await.unwrap();
    assert_eq!((kept.enabled, kept.trigger), (false, Trigger::Interval { seconds: 900 }));
}

#[tokio::test]
async fn the_schedule_of_a_target_follows_its_site_except_where_somebody_set_it_by_hand() {
    let dir = tempfile::tempdir().unwrap();
    let clock = LeapClock::at(at("2026-04-10 09:30"));
    let engine = engine(dir.path(), &clock).await;
    let schedules = engine.schedules();
    put_site(&engine, "", ONE).await;
    let predictive = Trigger::Adaptive { policy: Adaptive::Predictive, cron: None, combine: Combine::Either };
    let row = schedules.get("gd__x").await.unwrap();
    assert_eq!(
        (row.name.as_str(), &row.trigger, row.origin.as_deref()),
        ("target.gd__x", &predictive, Some("default"))
    );
    assert_eq!((row.lane.as_str(), row.priority), ("www.gd.gov.cn", 10), "S0-21");
    assert_eq!(row.next_due_at, Some(clock.now()), "nobody looked yet");

    put_site(&engine, "schedule: '0 7 * * *',", ONE).await;
    let row = schedules.get("gd__x").await.unwrap();
    assert_eq!((&row.trigger, row.origin.as_deref()), (&cron("0 7 * * *"), Some("site")));
    assert_eq!(row.next_due_at, Some(at("2026-04-11 07:00")));
    let same = engine.follow_targets().await.unwrap();
    assert_eq!(same, dibao::Reconciled::default(), "nothing has changed");

    // By hand: it stays, whatever the file says.
    let by_hand = schedules.edit("gd__x", trigger(Trigger::Interval { seconds: 7_200 })).await.unwrap();
    assert_eq!(
        (by_hand.operator_set.as_slice(), by_hand.origin.as_deref()),
        (&[ByHand::Trigger][..], Some("operator"))
    );
    put_site(&engine, "schedule: '0 8 * * *',", ONE).await;
    assert_eq!(schedules.get("gd__x").await.unwrap().trigger, Trigger::Interval { seconds: 7_200 });
    schedules.follow_rule("gd__x").await.unwrap();
    engine.follow_targets().await.unwrap();
    assert_eq!(schedules.get("gd__x").await.unwrap().trigger, cron("0 8 * * *"));

    // Off with its target, on with it; paused by hand it stays paused.
    engine.set_target_enabled("gd__x", false).await.unwrap();
    let off = schedules.get("gd__x").await.unwrap();
    assert_eq!((off.enabled, off.next_due_at), (false, None));
    assert!(matches!(refused(schedules.run_now("gd__x").await), ScheduleError::Off { .. }));
    assert!(matches!(refused(schedules.resume("gd__x").await), ScheduleError::Off { .. }));
    engine.set_target_enabled("gd__x", true).await.unwrap();
    assert!(schedules.get("gd__x").await.unwrap().enabled);
    schedules.pause("gd__x").await.unwrap();
    put_site(&engine, "schedule: '0 6 * * *',", ONE).await;
    let paused = schedules.get("gd__x").await.unwrap();
    assert_eq!((paused.enabled, &paused.trigger), (false, &cron("0 6 * * *")));
    schedules.resume("gd__x").await.unwrap();
    assert!(matches!(refused(schedules.remove("gd__x").await), ScheduleError::Protected { .. }));

    // A column that is gone from the file is off, a target that is gone from the store has no schedule.
    put_site(&engine, "", &ONE.replace("column_id: x", "column_id: y")).await;
    assert!(!schedules.get("gd__x").await.unwrap().enabled);
    let raw = rusqlite::Connection::open(dir.path().join("dibao.db")).unwrap();
    raw.execute("DELETE FROM crawl_target WHERE target_code = 'gd__x'", []).unwrap();
    drop(raw);
    assert_eq!(engine.follow_targets().await.unwrap().removed, 1, "a change of anybody is followed");
    assert!(matches!(refused(schedules.get("gd__x").await), ScheduleError::Unknown { .. }));
}

#[tokio::test]
async fn the_timer_follows_changes_that_another_process_made() {
    let dir = tempfile::tempdir().unwrap();
    let clock = LeapClock::at(at("2026-04-10 09:30"));
    let engine = engine(dir.path(), &clock).await;
    let timer = engine.timer().await.unwrap();
    timer.pass().await.unwrap();
    // Somebody who knows of the store and of no schedules.
    let text = format!("{{site_id: gd, site_name: G, base_url: 'https://www.gd.gov.cn', columns: [{ONE}]}}");
    let (site, targets) = parse_site(&text, "gd.yaml").unwrap().into_rows().unwrap();
    crate::bed::store_at(dir.path()).put_site(site, targets).await.unwrap();
    let pass = timer.pass().await.unwrap();
    assert_eq!(pass.jobs, 1, "made, due at once, fired");
    let decisions = engine.schedules().decisions("gd__x", 10).await.unwrap();
    assert_eq!(decisions.iter().map(|decided| decided.rule).collect::<Vec<_>>(), [Rule::Fired, Rule::Set]);
}

#[tokio::test]
async fn s0_the_statistics_of_a_source_add_up_when_several_write_them_and_a_row_without_sense_begins_anew() {
    use dibao::model::SourceType;
    use dibao::schedule::look::Look;
    let dir = tempfile::tempdir().unwrap();
    let clock = LeapClock::at(at("2026-04-10 09:30"));
    let engine = engine(dir.path(), &clock).await;
    put_site(&engine, "adaptive: classic,", ONE).await;
    let look = |new: u32, failed| Look {
        target: "gd__x".into(),
        source_type: SourceType::Custom,
        since: clock.now(),
        now: clock.now(),
        new,
        failed,
        forecast: None,
        holds: Vec::new(),
        said: None,
        zone: crate::bed::SHANGHAI,
        random: 0.5,
    };
    let other = crate::bed::store_at(dir.path());
    let looks = (0..40).map(|n| {
        let store: Arc<dyn dibao::store::Store> =
            if n % 2 == 0 { engine.store().clone() } else { Arc::new(other.clone()) };
        let look = look(n % 4 / 2, None);
        async move { store.record_look(look).await.unwrap() }
    });
    futures::future::join_all(looks).await;
    let schedules = engine.schedules();
    let stats = schedules.source("gd__x").await.unwrap().unwrap();
    assert_eq!((stats.check_count, stats.hit_count), (40, 20), "S0-26: none is lost");
    assert_eq!(stats.source_type, "custom");
    let row = schedules.get("gd__x").await.unwrap();
    assert_eq!(row.next_due_at.map(|at| at.0 / 1_000), Some(stats.next_due_at), "S0-22");
    assert!(stats.next_due_at > clock.now().0 / 1_000);

    // S0-17, S0-31: a failure rests, a success ends it.
    engine.store().record_look(look(0, Some(dibao::ErrorClass::Network))).await.unwrap();
    let stats = schedules.source("gd__x").await.unwrap().unwrap();
    assert_eq!((stats.fail_count, stats.backoff_until - clock.now().0 / 1_000), (1, 900));
    let told = engine.explain("gd__x", dibao::schedule::cron::Lang::En).await.unwrap();
    assert!(told.text.join("\n").contains("the source rests after a failure"), "{:?}", told.text);
    engine.store().record_look(look(1, None)).await.unwrap();
    assert_eq!(schedules.source("gd__x").await.unwrap().unwrap().fail_count, 0);

    // S0-38.
    let raw = rusqlite::Connection::open(dir.path().join("dibao.db")).unwrap();
    raw.execute("UPDATE source_stats SET cadence = 'P9', check_count = -4", []).unwrap();
    drop(raw);
    engine.store().record_look(look(0, None)).await.unwrap();
    let anew = schedules.source("gd__x").await.unwrap().unwrap();
    assert_eq!((anew.check_count, anew.cadence.name()), (1, "P2"));
    let counts = schedules.source_counts(Some(SourceType::Custom)).await.unwrap();
    assert_eq!((counts.sources, counts.checks), (1, 1));
    assert_eq!(schedules.source_counts(Some(SourceType::Rss)).await.unwrap().sources, 0);
    clock.set(at("2026-04-12 09:30"));
    assert_eq!(schedules.due_sources(Some(SourceType::Custom), 10).await.unwrap().len(), 1, "S0-20");
}

#[tokio::test]
async fn the_coming_load_counts_what_each_hour_will_bring() {
    let dir = tempfile::tempdir().unwrap();
    let clock = LeapClock::at(at("2026-04-10 09:30"));
    let engine = engine(dir.path(), &clock).await;
    let schedules = engine.schedules();
    for n in 0..5 {
        schedules.add(NewSchedule::new(format!("c{n}"), "hook", cron("0 11 * * *"))).await.unwrap();
    }
    schedules.add(NewSchedule::new("often", "hook", Trigger::Interval { seconds: 600 })).await.unwrap();
    let off = schedules.add(NewSchedule::new("off", "hook", cron("0 11 * * *"))).await.unwrap();
    schedules.pause(&off.name).await.unwrap();
    let load = schedules.load(3).await.unwrap();
    let totals: Vec<u64> = load.hours.iter().map(|hour| hour.total()).collect();
    assert_eq!((load.schedules, totals), (6, vec![2, 6, 11]));
    assert_eq!(load.hours[0].from, at("2026-04-10 09:00"));
    assert!(matches!(refused(schedules.load(0).await), ScheduleError::Invalid { field: "hours", .. }));
}

#[tokio::test]
async fn the_price_of_a_check_is_steered_to_the_budget_once_a_day_and_kept() {
    let dir = tempfile::tempdir().unwrap();
    let clock = LeapClock::at(at("2026-04-10 09:30"));
    {
        let engine = engine(dir.path(), &clock).await;
        let schedules = engine.schedules();
        assert!(refused(schedules.set_budget(Some(0.0)).await).to_string().contains("budget"));
        schedules.set_budget(Some(10.0)).await.unwrap();
        let raw = rusqlite::Connection::open(dir.path().join("dibao.db")).unwrap();
        raw.execute("UPDATE schedule_budget SET checks = 20, since = ?", [clock.now().0]).unwrap();
        drop(raw);
        clock.set(at("2026-04-11 09:30"));
        let steered = schedules.table().steer_budget(clock.now()).await.unwrap();
        assert_eq!(
            (steered.price, steered.checks),
            (4.0, 0),
            "twice as many as wanted: four times the price"
        );
        let again = schedules.table().steer_budget(clock.now()).await.unwrap();
        assert_eq!(again.price, 4.0, "another process that asks on the same day changes nothing");
    }
    let engine = engine(dir.path(), &clock).await;
    let kept = engine.schedules().budget().await.unwrap();
    assert_eq!((kept.price, kept.checks_per_day), (4.0, Some(10.0)));
}
