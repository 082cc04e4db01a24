//! The words: as a person would say it, with every fact, and never the same for two schedules.

use std::collections::HashMap;

use proptest::prelude::*;

use super::super::{CronExpr, Lang};
use super::{cron, with_seconds};

#[test]
fn descriptions_read_as_a_person_would_say_them() {
    for (text, zh, en) in [
        ("* * * * *", "每分钟", "every minute"),
        ("*/30 * * * *", "每 30 分钟", "every 30 minutes"),
        ("0 * * * *", "每小时整点", "every hour on the hour"),
        ("15 * * * *", "每小时第 15 分钟", "at minute 15 of every hour"),
        ("0,30 * * * *", "每小时第 0、30 分钟", "at minutes 0 and 30 of every hour"),
        ("*/7 * * * *", "每小时从第 0 分钟起每 7 分钟", "every 7 minutes from minute 0 of every hour"),
        ("5/15 * * * *", "每小时从第 5 分钟起每 15 分钟", "every 15 minutes from minute 5 of every hour"),
        ("*/45 * * * *", "每小时第 0、45 分钟", "at minutes 0 and 45 of every hour"),
        ("10-20 9 * * *", "每天 09:10–09:20 每分钟", "every minute from 09:10 to 09:20 every day"),
        ("0 */2 * * *", "每 2 小时", "every 2 hours"),
        ("30 */2 * * *", "每天 00:30 起每 2 小时", "every 2 hours from 00:30 every day"),
        (
            "*/15 */2 * * *",
            "每 2 小时的第 1 个小时内每 15 分钟",
            "every 15 minutes of the first of every 2 hours",
        ),
        ("5,10 */4 * * *", "每 4 小时的第 5、10 分钟", "at minutes 5 and 10 of the first of every 4 hours"),
        ("23 0-20/2 * * *", "每天 00:23–20:23 每 2 小时", "every 2 hours from 00:23 to 20:23 every day"),
        ("0 */5 * * *", "每天 00:00–20:00 每 5 小时", "every 5 hours from 00:00 to 20:00 every day"),
        ("0 9-17 * * *", "每天 09:00–17:00 每小时", "every hour from 09:00 to 17:00 every day"),
        (
            "0 8-12,14-18 * * *",
            "每天 08:00–12:00、14:00–18:00 每小时",
            "every hour from 08:00 to 12:00 and from 14:00 to 18:00 every day",
        ),
        (
            "0 9,12-16 * * *",
            "每天 12:00–16:00 每小时，以及 09:00",
            "every hour from 12:00 to 16:00, and at 09:00 every day",
        ),
        (
            "0 22-2 * * *",
            "每天 22:00–次日 02:00 每小时",
            "every hour from 22:00 to 02:00 the next day, every day",
        ),
        (
            "*/30 22-2 * * *",
            "每天 22:00–次日 02:59 每 30 分钟",
            "every 30 minutes from 22:00 to 02:59 the next day, every day",
        ),
        (
            "0 22-2 * 6 *",
            "每年 6 月每天 00:00、01:00、02:00、22:00、23:00",
            "at 00:00, 01:00, 02:00, 22:00 and 23:00 every day in June",
        ),
        (
            "0 22-2 * * 1-5",
            "工作日 00:00、01:00、02:00、22:00、23:00",
            "at 00:00, 01:00, 02:00, 22:00 and 23:00 on weekdays",
        ),
        (
            "*/5 9,10,15 * * *",
            "每天 09:00–10:59、15:00–15:59 每 5 分钟",
            "every 5 minutes from 09:00 to 10:59 and from 15:00 to 15:59 every day",
        ),
        ("0 0,12 * * *", "每天 00:00、12:00", "at 00:00 and 12:00 every day"),
        ("0 9 * * *", "每天 09:00", "at 09:00 every day"),
        ("0 9,12,18 * * *", "每天 09:00、12:00、18:00", "at 09:00, 12:00 and 18:00 every day"),
        ("0,30 9 * * *", "每天 09:00、09:30", "at 09:00 and 09:30 every day"),
        ("0 9 * * 1-5", "工作日 09:00", "at 09:00 on weekdays"),
        ("0 9 * * 6,0", "周末 09:00", "at 09:00 on weekends"),
        ("0 9 * * 1", "每周一 09:00", "at 09:00 on Monday"),
        ("0 9 * * 1,3,5", "每周一、三、五 09:00", "at 09:00 on Monday, Wednesday and Friday"),
        ("0 9 * * 2-4", "每周二至周四 09:00", "at 09:00 from Tuesday to Thursday"),
        ("0 9 * * 5-1", "每周五至周一 09:00", "at 09:00 from Friday to Monday"),
        ("0 9 * * 0-6", "每天 09:00", "at 09:00 every day"),
        (
            "*/30 9-17 * * 1-5",
            "工作日 09:00–17:59 每 30 分钟",
            "every 30 minutes from 09:00 to 17:59 on weekdays",
        ),
        ("0 0 1 * *", "每月 1 日 00:00", "at 00:00 on day 1 of the month"),
        ("0 0 1,15 * *", "每月 1、15 日 00:00", "at 00:00 on days 1 and 15 of the month"),
        ("0 0 */2 * *", "每月从 1 日起每 2 天 00:00", "at 00:00 every 2 days from day 1 of the month"),
        ("0 0 L * *", "每月最后一天 00:00", "at 00:00 on the last day of the month"),
        ("0 0 L-2 * *", "每月倒数第 3 天 00:00", "at 00:00 2 days before the last day of the month"),
        (
            "0 0 LW * *",
            "每月最后一个工作日 00:00",
            "at 00:00 on the last weekday (Monday to Friday) of the month",
        ),
        (
            "0 0 15W * *",
            "每月离 15 日最近的工作日 00:00",
            "at 00:00 on the weekday (Monday to Friday) nearest day 15 of the month",
        ),
        (
            "0 0 1,15W,L * *",
            "每月 1 日、离 15 日最近的工作日和最后一天 00:00",
            "at 00:00 on day 1 of the month, on the weekday (Monday to Friday) nearest day 15 of the month and on the last day of the month",
        ),
        ("0 8 * * 5#2", "每月第 2 个周五 08:00", "at 08:00 on the second Friday of the month"),
        (
            "0 8 * * 1#1,1#3",
            "每月第 1、3 个周一 08:00",
            "at 08:00 on the first and third Monday of the month",
        ),
        ("0 8 * * 5L", "每月最后一个周五 08:00", "at 08:00 on the last Friday of the month"),
        (
            "0 8 * * 1,5L",
            "每周一和每月最后一个周五 08:00",
            "at 08:00 on Monday and on the last Friday of the month",
        ),
        ("0 0 1 1 *", "每年 1 月 1 日 00:00", "at 00:00 on January 1"),
        ("0 0 29 2 *", "每年 2 月 29 日 00:00", "at 00:00 on February 29"),
        ("0 0 1,10-20 3 *", "每年 3 月 1、10–20 日 00:00", "at 00:00 on March 1 and 10 to 20"),
        (
            "30 0 */5 JAN *",
            "每年 1 月从 1 日起每 5 天 00:30",
            "at 00:30 every 5 days from day 1 of the month in January",
        ),
        ("0 9 1/1 6-8 5-1", "每年 6–8 月每天 09:00", "at 09:00 every day from June to August"),
        ("0 9 19,*/1 * 5", "每周五 09:00", "at 09:00 on Friday"),
        ("0 9 1/1 * 5", "每天 09:00", "at 09:00 every day"),
        (
            "*/25 6-22/4 * * *",
            "每天 06、10、14、18、22 点的第 0、25、50 分钟",
            "at minutes 0, 25 and 50 of hours 6, 10, 14, 18 and 22",
        ),
        (
            "0 0 L-2W * *",
            "每月离倒数第 3 天最近的工作日 00:00",
            "at 00:00 on the weekday (Monday to Friday) nearest 2 days before the last day of the month",
        ),
        ("0 0 13 * 5", "每月 13 日或每周五 00:00", "at 00:00 on day 13 of the month or on Friday"),
        (
            "0 0 1 3 1",
            "每年 3 月的 1 日或每周一 00:00",
            "at 00:00 on day 1 of the month or on Monday in March",
        ),
        (
            "0 0 1 */3 *",
            "每 3 个月（1、4、7、10 月）的 1 日 00:00",
            "at 00:00 on day 1 of the month in January, April, July and October (every 3 months)",
        ),
        (
            "0 12 * */6 3",
            "每 6 个月（1、7 月）的每周三 12:00",
            "at 12:00 on Wednesday in January and July (every 6 months)",
        ),
        ("0 0 1 6-8 *", "每年 6–8 月每月 1 日 00:00", "at 00:00 on day 1 of the month from June to August"),
        (
            "0 0 1 11-2 *",
            "每年 11 月至次年 2 月每月 1 日 00:00",
            "at 00:00 on day 1 of the month from November to February",
        ),
        ("0 0 * 6-8 *", "每年 6–8 月每天 00:00", "at 00:00 every day from June to August"),
        ("0 0 * 3 1", "每年 3 月的每周一 00:00", "at 00:00 on Monday in March"),
    ] {
        let cron = cron(text);
        assert_eq!((cron.describe(Lang::Zh).as_str(), cron.describe(Lang::En).as_str()), (zh, en), "{text}");
    }
    for (text, zh) in [
        ("*/10 * * * * *", "每 10 秒"),
        ("* * * * * *", "每秒"),
        ("30 0 9 * * 1-5", "工作日 09:00:30"),
        ("15 * * * * *", "每分钟的第 15 秒"),
        ("*/7 * * * * *", "每分钟从第 0 秒起每 7 秒"),
        ("15 */5 * * * *", "每 5 分钟的第 15 秒"),
        ("*/10 0 9 * * *", "每天 09:00 起一分钟内每 10 秒"),
        ("10-20 * 9 * * *", "每天 09:00–09:59 每分钟的第 10–20 秒"),
        ("0 0 9 * * *", "每天 09:00"),
    ] {
        assert_eq!(with_seconds(text).describe(Lang::Zh), zh, "{text}");
    }
}

#[test]
fn the_older_wording_is_there() {
    for (text, words) in [
        ("0 9 * * *", "在第 0 分钟 在 9 点"),
        ("*/30 * * * *", "每 30 分钟 每小时"),
        ("0 */2 * * *", "在第 0 分钟 每 2 小时"),
        ("0 9 1 * *", "在第 0 分钟 在 9 点 在每月 1 日"),
        ("0 9 * 3 1", "在第 0 分钟 在 9 点 在 3 月 在每周一"),
    ] {
        assert_eq!(cron(text).describe_s3(), words, "{text}");
    }
}

fn part(low: u32, high: u32) -> impl Strategy<Value = String> {
    let one = prop_oneof![
        3 => Just("*".to_owned()),
        2 => (1..8u32).prop_map(|step| format!("*/{step}")),
        3 => (low..=high).prop_map(|n| n.to_string()),
        2 => (low..=high, low..=high).prop_map(|(a, b)| format!("{a}-{b}")),
        1 => (low..=high, low..=high, 2..5u32).prop_map(|(a, b, step)| format!("{a}-{b}/{step}")),
    ];
    proptest::collection::vec(one, 1..4).prop_map(|items| items.join(","))
}

fn day() -> impl Strategy<Value = String> {
    prop_oneof![4 => part(1, 31), 1 => Just("L".into()), 1 => Just("LW".into()), 1 => (1..31u32).prop_map(|n| format!("{n}W")),
        1 => (1..30u32).prop_map(|n| format!("L-{n},{n}")), 1 => (1..30u32).prop_map(|n| format!("L-{n}W"))]
}

fn week() -> impl Strategy<Value = String> {
    prop_oneof![4 => part(0, 7), 1 => (0..7u32, 1..6u32).prop_map(|(d, k)| format!("{d}#{k}")), 1 => (0..8u32).prop_map(|d| format!("{d}L,1"))]
}

/// What makes a schedule: two that agree in this are due at the same times, but for changes of the clock.
fn facts(cron: &CronExpr) -> String {
    let CronExpr {
        second,
        minute,
        hour,
        day,
        month,
        weekday,
        from_end,
        nearest,
        nearest_from_end,
        last_working,
        nth,
        last_weekday,
        ..
    } = cron;
    let any = (cron.any_day_of_month(), cron.any_weekday());
    let times = format!("{} {} {} {}", second.set, minute.set, hour.set, month.set);
    if cron.is_every_day() {
        return times;
    }
    let day = if any.0 { 0 } else { day.set };
    let week = if any.1 { 0 } else { weekday.set };
    format!(
        "{times} {day} {week} {from_end} {nearest} {nearest_from_end} {last_working} {nth:?} {last_weekday} {any:?}"
    )
}

#[test]
fn two_different_schedules_never_read_alike() {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;
    let mut runner = TestRunner::deterministic();
    let made = (part(0, 59), part(0, 59), part(0, 23), day(), part(1, 12), week());
    let mut seen: [HashMap<String, (String, String)>; 3] = Default::default();
    for _ in 0..4_000 {
        let (second, minute, hour, day, month, week) = made.new_tree(&mut runner).unwrap().current();
        // Simple ones meet more often than involved ones.
        for text in [
            format!("0 {minute} {hour} {day} {month} {week}"),
            format!("{second} {minute} {hour} * * *"),
            format!("0 {minute} {hour} * * {week}"),
            format!("0 0 0 {day} {month} {week}"),
            format!("0 {minute} 9 * * *"),
            format!("0 30 {hour} * * *"),
        ] {
            let cron = with_seconds(&text);
            let facts = facts(&cron);
            let words = [cron.describe(Lang::Zh), cron.describe(Lang::En), cron.describe_s3()];
            for (words, seen) in words.into_iter().zip(&mut seen) {
                let (known, other) =
                    seen.entry(words.clone()).or_insert_with(|| (facts.clone(), text.clone()));
                assert_eq!(*known, facts, "{text} and {other} both read: {words}");
            }
        }
    }
}
