//! The timer as it runs: to the due time and no further, woken by changes, over a year.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use dibao::clock::SystemClock;
use dibao::queue::JobTable as _;
use dibao::schedule::{
    Bell, Change, Misfire, NewSchedule, Rule, ScheduleEdit, ScheduleTable as _, Timer, TimerOptions, Trigger,
};
use dibao::{Clock as _, Timestamp};
use tokio_util::sync::CancellationToken;

use crate::bed::{SHANGHAI, add, at, jobs, store, timer};
use crate::clock::LeapClock;

fn cron(name: &str, cron: &str) -> NewSchedule {
    let new = NewSchedule::new(name, "hook", Trigger::Cron { cron: cron.into() });
    NewSchedule { overlap: dibao::schedule::Overlap::Queue, ..new }
}

/// Runs a timer until it has fired so many due times.
async fn run_for(store: &Arc<dibao::store::SqliteStore>, clock: &Arc<LeapClock>, fires: u32) {
    run_with(timer(store, clock.clone()), fires).await;
}

async fn run_with(timer: Timer, fires: u32) {
    let stop = CancellationToken::new();
    let (ended, count) = (stop.clone(), AtomicU32::new(0));
    let timer = timer.telling(move |fired| {
        if count.fetch_add(fired.due, Ordering::Relaxed) + fired.due >= fires {
            ended.cancel();
        }
    });
    tokio::time::timeout(Duration::from_secs(300), timer.run(stop))
        .await
        .expect("the timer is stuck")
        .unwrap();
}

#[tokio::test]
async fn a_year_passes_with_every_due_time_on_the_second() {
    let dir = tempfile::tempdir().unwrap();
    let store = store(dir.path());
    let begin = at("2026-01-01 00:00");
    let clock = LeapClock::at(begin);
    add(&store, cron("daily", "30 7 * * *"), begin).await;
    add(&store, cron("leap", "0 12 29 * *"), begin).await;
    let interval = NewSchedule {
        overlap: dibao::schedule::Overlap::Queue,
        ..NewSchedule::new("slow", "hook", Trigger::Interval { seconds: 5 * 86_400 })
    };
    add(&store, interval, begin).await;
    // With longer sleeps than the default, which would be half a million of them.
    let nap = Duration::from_secs(6 * 3_600);
    let options = TimerOptions { busy: nap, idle: nap, listen: None, ..TimerOptions::default() };
    let timer = timer(&store, clock.clone()).options(options);
    // 365 mornings, 11 twenty-ninths, 73 intervals of which the last ends the year.
    run_with(timer, 365 + 11 + 73).await;
    let jobs = jobs(&store).await;
    for job in &jobs {
        assert_eq!(job.created_at, job.due_at, "on the second: {job:?}");
    }
    let of = |lane: &str| jobs.iter().filter(|job| job.lane == lane).count();
    assert_eq!((of("daily"), of("leap"), of("slow")), (365, 11, 73));
    assert!(clock.sleeps() >= 365 * 4, "no sleep is longer than its cap");
}

#[tokio::test]
async fn it_sleeps_to_the_due_time_and_never_longer_than_its_caps() {
    let dir = tempfile::tempdir().unwrap();
    let store = store(dir.path());
    let begin = at("2026-04-10 08:50");
    let clock = LeapClock::at(begin);
    let timer = timer(&store, clock.clone());
    let seconds = async || timer.pass().await.unwrap().sleep.as_secs();
    assert_eq!(seconds().await, 60, "nothing to do");
    add(&store, cron("hourly", "0 * * * *"), begin).await;
    assert_eq!(seconds().await, 60);
    clock.set(Timestamp(at("2026-04-10 08:59").0 + 53_000));
    assert_eq!(seconds().await, 7, "exactly to the due time");
    clock.set(at("2026-04-10 09:00"));
    assert_eq!(seconds().await, 15, "a job waits now");
    assert_eq!(seconds().await, 15);
}

#[tokio::test]
async fn clock_jumps_while_it_sleeps_are_noticed() {
    let dir = tempfile::tempdir().unwrap();
    let store = store(dir.path());
    let begin = at("2026-04-10 08:50");
    let clock = LeapClock::at(begin);
    add(&store, cron("hourly", "0 * * * *"), begin).await;
    // Ahead over three due times, then back over them.
    clock.jump(at("2026-04-10 09:10"), at("2026-04-10 12:30"));
    clock.jump(at("2026-04-10 13:10"), at("2026-04-10 09:20"));
    // Seven due times, of which 13:00 comes twice.
    run_for(&store, &clock, 7).await;
    let made: Vec<Timestamp> = jobs(&store).await.iter().map(|job| job.due_at).collect();
    // 10:00 made up for 11:00 and 12:00 too; they come again after the clock went back, 10:00 and 13:00 do not.
    let expected = ["09:00", "10:00", "13:00", "11:00", "12:00", "14:00"];
    assert_eq!(made, expected.map(|time| at(&format!("2026-04-10 {time}"))));
    let schedule = store.schedule("hourly").await.unwrap().unwrap();
    let rules: Vec<Rule> = store.decisions(schedule.id, 10).await.unwrap().iter().map(|d| d.rule).collect();
    assert!(rules.contains(&Rule::ClockSetBack) && rules.contains(&Rule::FiredLate), "{rules:?}");
}

#[tokio::test]
async fn after_a_night_off_what_is_due_now_goes_first_and_the_rest_follows_in_portions() {
    let dir = tempfile::tempdir().unwrap();
    let store = store(dir.path());
    let evening = at("2026-04-10 20:00");
    let clock = LeapClock::at(evening);
    let changes: Vec<Change> = (0..1_000)
        .map(|n| Change::Add(Box::new(cron(&format!("night{n:04}"), &format!("{} 3 * * *", n % 60)))))
        .chain([Change::Add(Box::new(cron("morning", "0 8 * * *")))])
        .collect();
    store.change(changes, evening, SHANGHAI).await.unwrap();
    clock.set(at("2026-04-11 08:00"));
    let first = timer(&store, clock.clone()).pass().await.unwrap();
    let made = jobs(&store).await;
    assert_eq!(made[0].lane, "morning");
    let options = TimerOptions::default();
    assert_eq!((first.jobs, first.sleep), (1 + options.backlog, options.breath));
    run_for(&store, &clock, 1_000 - options.backlog).await;
    let late: Vec<Timestamp> = jobs(&store).await.iter().skip(1).map(|job| job.due_at).collect();
    assert_eq!(late.len(), 1_000);
    assert!(late.is_sorted(), "the longest overdue first");
}

#[tokio::test]
async fn what_came_too_late_is_left_out_or_expires_as_its_schedule_says() {
    let dir = tempfile::tempdir().unwrap();
    let store = store(dir.path());
    let begin = at("2026-04-10 08:30");
    let clock = LeapClock::at(begin);
    add(&store, NewSchedule { misfire: Misfire::Skip, ..cron("skip", "0 9 * * *") }, begin).await;
    let expire =
        NewSchedule { misfire: Misfire::Expire, expires_sec: Some(3_600), ..cron("expire", "0 9 * * *") };
    add(&store, expire, begin).await;
    clock.set(at("2026-04-10 11:00"));
    timer(&store, clock.clone()).pass().await.unwrap();
    let made = jobs(&store).await;
    assert_eq!(made.len(), 1);
    assert_eq!((made[0].lane.as_str(), made[0].expires_at), ("expire", Some(at("2026-04-10 10:00"))));
    let skipped = store.schedule("skip").await.unwrap().unwrap();
    assert_eq!(skipped.next_due_at, Some(at("2026-04-11 09:00")));
    assert_eq!(store.decisions(skipped.id, 1).await.unwrap()[0].rule, Rule::Skipped);
    // Its handler is told that it expired, by the queue.
    let ask = dibao::queue::LeaseAsk {
        owner: "test".into(),
        kinds: vec!["hook".into()],
        lanes: Default::default(),
        until: SystemClock.steady().after(Duration::from_secs(60)),
    };
    let leased = store.lease(ask, clock.now()).await.unwrap().unwrap();
    assert!(leased.job.expiring);
}

#[tokio::test]
async fn a_cron_that_cannot_be_read_is_switched_off_and_the_others_go_on() {
    let dir = tempfile::tempdir().unwrap();
    let store = store(dir.path());
    let begin = at("2026-04-10 08:30");
    let clock = LeapClock::at(begin);
    add(&store, cron("broken", "0 25 * * *"), begin).await;
    add(&store, cron("never", "0 0 31 2 *"), begin).await;
    add(&store, cron("good", "0 9 * * *"), begin).await;
    run_for(&store, &clock, 3).await;
    for name in ["broken", "never"] {
        let off = store.schedule(name).await.unwrap().unwrap();
        assert_eq!((off.enabled, off.next_due_at), (false, None), "{name}");
        assert!(off.off_why.is_some());
    }
    assert_eq!(jobs(&store).await.len(), 1);
}

#[tokio::test]
async fn a_change_of_another_process_wakes_it() {
    let dir = tempfile::tempdir().unwrap();
    let (mine, others) = (store(dir.path()), store(dir.path()));
    let now = SystemClock.now();
    let far = NewSchedule::new("work", "hook", Trigger::Interval { seconds: 86_400 });
    add(&mine, far, now).await;
    let stop = CancellationToken::new();
    let (ended, bell) = (stop.clone(), Bell::default());
    let timer = Timer::new(mine.clone(), Arc::new(SystemClock), SHANGHAI, bell)
        .options(TimerOptions { listen: Some(Duration::from_millis(20)), ..TimerOptions::default() })
        .telling(move |_| ended.cancel());
    let task = tokio::spawn(async move { timer.run(stop).await });
    let soon = Trigger::Once { at: SystemClock.now(), expires_at: None };
    let edit = ScheduleEdit { trigger: Some(soon), ..ScheduleEdit::default() };
    let edit = Change::Edit("work".into(), Box::new(edit));
    others.change(vec![edit], SystemClock.now(), SHANGHAI).await.unwrap();
    // It would sleep for a minute.
    tokio::time::timeout(Duration::from_secs(50), task).await.expect("nobody woke it").unwrap().unwrap();
    assert_eq!(jobs(&mine).await.len(), 1);
}
