use super::*;
use crate::schedule::due::tests::stored;
use crate::schedule::{ByHand, Combine, NewSchedule, said};
use chrono_tz::Asia::Shanghai;
use serde_json::json;

/// 2026-04-10T09:30:00+08:00, a Friday.
const NOW: Timestamp = Timestamp(1_775_784_600_000);

fn at(minutes: i64) -> Timestamp {
    Timestamp(NOW.0 + minutes * 60_000)
}

fn facts(trigger: Trigger, due: i64) -> Facts {
    let mut schedule = stored(NewSchedule::new("target.gd__tzgg", "crawl", trigger));
    schedule.next_due_at = Some(at(due));
    schedule.origin = Some("column".into());
    Facts {
        schedule,
        zone: Shanghai,
        now: NOW,
        decisions: Vec::new(),
        stats: None,
        job: None,
        host: Vec::new(),
        target_on: Some(true),
        budget: Budget::default(),
    }
}

fn adaptive(cron: Option<&str>, combine: Combine) -> Trigger {
    Trigger::Adaptive { policy: Adaptive::Predictive, cron: cron.map(Into::into), combine }
}

fn planned(inputs: serde_json::Value) -> Decided {
    Decided { at: at(-30), rule: Rule::Planned, due_at: None, next_at: Some(at(50)), job: None, inputs }
}

fn both(facts: &Facts) -> (String, String) {
    let text = |lang| explain(facts, lang).text.join("\n");
    (text(Lang::En), text(Lang::Zh))
}

fn says(text: &str, words: &[&str]) {
    for words in words {
        assert!(text.contains(words), "{words:?} is not in:\n{text}");
    }
}

#[test]
fn a_cron_is_told_with_its_words_and_who_wrote_it() {
    let facts = facts(Trigger::Cron { cron: "0 10 * * 1-5".into() }, 30);
    let (en, zh) = both(&facts);
    says(&en, &["due at 2026-04-10 10:00, in 30 min", "`0 10 * * 1-5`", "from the column in the site file"]);
    says(&zh, &["将于 2026-04-10 10:00 到期", "30 分钟", "`0 10 * * 1-5`", "工作日", "来自站点文件的栏目"]);
}

#[test]
fn what_the_policy_expects_and_what_holds_it_back_are_told_with_their_numbers() {
    let mut facts = facts(adaptive(None, Combine::Either), 50);
    facts.schedule.adaptive_at = Some(at(50));
    let forecast =
        json!({"next": at(50), "expected": 1.4, "per_day": 4.0, "price": 1.0, "why": "expects 1.40 items"});
    let inputs = json!({"new": 2, "policy_at": at(50), "won": "policy", "holds": [], "forecast": forecast});
    facts.decisions = vec![planned(inputs)];
    let (en, zh) = both(&facts);
    says(&en, &["expects 1.40 new articles by 2026-04-10 10:20", "4.00 a day"]);
    says(&zh, &["预计到 2026-04-10 10:20（工作日）有 1.40 篇新文章", "平均每天 4.00 篇"]);

    let hold = json!([{"layer": "host", "until": at(50), "why": "the host said when to come back"}]);
    facts.decisions = vec![planned(json!({"new": 0, "policy_at": at(20), "won": "host", "holds": hold}))];
    facts.host = vec![HeldUntil { layer: Layer::Host, until: at(50), why: "cooldown".into() }];
    let told = explain(&facts, Lang::En);
    assert!(matches!(&told.because, Because::Held { policy_at, .. } if *policy_at == at(20)));
    assert_eq!(told.earlier, [Earlier { at: at(20), by: "policy", not_because: "held" }]);
    let (en, zh) = both(&facts);
    says(
        &en,
        &[
            "its host is left alone until 2026-04-10 10:20",
            "alone would look at 2026-04-10 09:50",
            "Earlier would be",
        ],
    );
    says(&zh, &["主机处于冷却期", "2026-04-10 09:50", "取最晚者"]);
}

#[test]
fn cron_and_policy_that_share_a_target_say_which_of_them_counts() {
    let mut facts = facts(adaptive(Some("0 10 * * *"), Combine::Either), 30);
    // Never looked at: due by the cron at its moments, for the first look at any other.
    assert!(matches!(explain(&facts, Lang::En).because, Because::Cron { .. }));
    facts.schedule.next_due_at = Some(at(0));
    assert!(matches!(explain(&facts, Lang::En).because, Because::NeverLooked));
    facts.schedule.next_due_at = Some(at(30));
    facts.schedule.adaptive_at = Some(at(50));
    assert!(matches!(explain(&facts, Lang::En).because, Because::Cron { .. }));
    facts.schedule.next_due_at = Some(at(20));
    facts.schedule.adaptive_at = Some(at(20));
    facts.decisions = vec![planned(json!({"policy_at": at(20), "won": "policy", "holds": []}))];
    assert!(matches!(explain(&facts, Lang::En).because, Because::Policy { .. }));
    facts.schedule.trigger = adaptive(Some("0 10 * * *"), Combine::CronOnly);
    facts.schedule.next_due_at = Some(at(30));
    let told = explain(&facts, Lang::En);
    assert!(matches!(told.because, Because::Cron { .. }));
    assert_eq!(told.earlier, [Earlier { at: at(20), by: "policy", not_because: "cron_only" }]);
    facts.schedule.trigger = adaptive(Some("0 10 * * *"), Combine::AdaptiveOnly);
    facts.schedule.next_due_at = Some(at(90));
    facts.schedule.adaptive_at = Some(at(90));
    assert_eq!(
        explain(&facts, Lang::En).earlier,
        [Earlier { at: at(30), by: "cron", not_because: "adaptive_only" }]
    );
}

#[test]
fn source_host_and_job_are_three_layers_and_the_latest_is_first() {
    let mut facts = facts(adaptive(None, Combine::Either), 10);
    let mut stats = SourceStats::new("gd__tzgg", "custom", 0);
    stats.backoff_until = at(60).0 / 1_000;
    stats.last_error = Some("403".into());
    (stats.fail_count, stats.check_count, stats.hit_count) = (2, 8, 2);
    facts.stats = Some(stats);
    facts.host = vec![HeldUntil { layer: Layer::Host, until: at(5), why: "cooldown".into() }];
    let told = explain(&facts, Lang::En);
    assert_eq!(told.held.iter().map(|held| held.layer).collect::<Vec<_>>(), [Layer::Source, Layer::Host]);
    let (en, zh) = both(&facts);
    says(
        &en,
        &[
            "the source rests after a failure until 2026-04-10 10:30 (403)",
            "8 looks, 2 found something (25 %)",
            "2 failures in a row",
        ],
    );
    says(&zh, &["来源出错后暂停", "检查 8 次，命中 2 次（25%）", "连续失败 2 次"]);
}

#[test]
fn every_standing_and_every_rule_has_words_in_both_languages() {
    let mut facts = facts(Trigger::Manual, 30);
    facts.schedule.next_due_at = None;
    assert_eq!(explain(&facts, Lang::En).standing, Standing::ByHand);
    facts.schedule.enabled = false;
    facts.schedule.off_why = Some("paused by hand".into());
    let (en, zh) = both(&facts);
    says(&en, &["is off", "paused by hand"]);
    says(&zh, &["已停用"]);
    for rule in [
        Rule::Fired,
        Rule::FiredLate,
        Rule::ByHand,
        Rule::Skipped,
        Rule::StillBusy,
        Rule::AlreadyFired,
        Rule::TargetOff,
        Rule::BadCron,
        Rule::Set,
        Rule::Planned,
        Rule::ClockSetBack,
    ] {
        let decided = Decided {
            at: NOW,
            rule,
            due_at: Some(at(-5)),
            next_at: Some(at(60)),
            job: Some(7),
            inputs: json!({"late_ms": 300_000, "missed": 3, "error": "61 is no minute"}),
        };
        let (en, zh) =
            (words::decided(&decided, Shanghai, Lang::En), words::decided(&decided, Shanghai, Lang::Zh));
        assert!(en.is_ascii() && en.contains("next at 2026-04-10 10:30"), "{en}");
        assert!(!zh.is_ascii() && zh.contains("下次 2026-04-10 10:30"), "{zh}");
    }
}

/// No two words of English stand together in what is not quoted.
fn is_chinese(text: &str) {
    let unquoted: String = text.split('`').step_by(2).collect();
    let words: Vec<&str> = unquoted.split(|c: char| !c.is_ascii_alphabetic() && c != ' ').collect();
    let english = words.iter().find(|run| run.split_whitespace().filter(|word| word.len() > 1).count() > 1);
    assert!(!text.is_ascii() && english.is_none(), "{english:?} in {text}");
}

#[test]
fn in_chinese_every_sentence_is_chinese() {
    let mut told = Vec::new();
    let mut tell = |facts: &Facts| {
        let explanation = explain(facts, Lang::Zh);
        told.extend(explanation.text);
        told.extend(explanation.decisions.into_iter().map(|decided| decided.words));
    };
    let mut facts = facts(adaptive(None, Combine::Either), 50);
    facts.schedule.adaptive_at = Some(at(50));
    for reason in ["pays", "day", "cadence", "full_page"] {
        let forecast = json!({
            "next": at(50), "expected": 1.4, "per_day": 4.0, "price": 1.0, "why": "expects 1.40 items", "reason": reason,
        });
        facts.decisions = vec![planned(
            json!({"new": 2, "policy_at": at(50), "won": "policy", "holds": [], "forecast": forecast}),
        )];
        tell(&facts);
    }
    let mut stats = SourceStats::new("gd__tzgg", "custom", 0);
    (stats.backoff_until, stats.fail_count) = (at(60).0 / 1_000, 2);
    facts.schedule.operator_set = vec![ByHand::Trigger, ByHand::Misfire];
    for why in ["403", "server 502", "network", "asked to wait", "shape", "tls"] {
        stats.last_error = Some(why.into());
        facts.stats = Some(stats.clone());
        facts.decisions =
            vec![planned(json!({"error": why, "won": "source", "policy_at": at(20), "holds": []}))];
        tell(&facts);
    }
    use crate::fetch::breaker::Why;
    let whys = [Why::Network, Why::Failures, Why::RetryAfter, Why::Refused, Why::Operator, Why::Probing];
    let whys = whys.map(|why| (Layer::Host, why.as_str()));
    let said = [said::CACHE, said::TTL, said::PERIOD, said::SKIP_HOURS, said::SKIP_DAYS];
    let said = said.map(|why| (Layer::Said, why));
    for (layer, why) in whys.into_iter().chain(said).chain([(Layer::Pace, "5 s between requests")]) {
        let hold = HeldUntil { layer, until: at(50), why: why.into() };
        let holds = json!([hold]);
        facts.decisions = vec![planned(json!({"won": layer, "policy_at": at(20), "holds": holds}))];
        facts.host = vec![hold];
        tell(&facts);
    }
    for why in ["paused by hand", "its target or the site is switched off", "it never comes due again"] {
        facts.schedule.enabled = false;
        facts.schedule.off_why = Some(why.into());
        tell(&facts);
    }
    facts.schedule.trigger = Trigger::Cron { cron: "61 * * * *".into() };
    facts.schedule.off_why = Some("minute: `61` is not between 0 and 59; write 0–59".into());
    tell(&facts);
    assert!(told.iter().any(|line| line.contains("错在分钟字段 `61`")), "{told:#?}");
    told.iter().for_each(|line| is_chinese(line));
}
