//! The words of an explanation, in English and in Chinese. Decides nothing.

use chrono::Datelike as _;
use chrono_tz::Tz;

use super::{Because, Earlier, Explanation, Facts, Numbers, Standing};
use crate::clock::Timestamp;
use crate::queue::JobState;
use crate::schedule::cron::{CronExpr, FieldName, Lang};
use crate::schedule::look::{HeldUntil, Layer};
use crate::schedule::predictive::{Reason, day_of};
use crate::schedule::row::{ByHand, Decided, Rule};
use crate::schedule::said;
use crate::schedule::trigger::{Adaptive, Trigger};

/// One of two texts.
fn say(lang: Lang, en: impl Into<String>, zh: impl Into<String>) -> String {
    match lang {
        Lang::En => en.into(),
        Lang::Zh => zh.into(),
    }
}

/// A moment on the clock of the zone, to the minute.
fn moment(at: Timestamp, zone: Tz) -> String {
    at.to_utc().with_timezone(&zone).format("%Y-%m-%d %H:%M").to_string()
}

/// How long, in one or two units.
fn span(ms: i64, lang: Lang) -> String {
    let seconds = ms.abs() / 1_000;
    let (days, hours, minutes) = (seconds / 86_400, seconds / 3_600 % 24, seconds / 60 % 60);
    match (days, hours, minutes) {
        (0, 0, 0) => say(lang, format!("{seconds} s"), format!("{seconds} 秒")),
        (0, 0, _) => say(lang, format!("{minutes} min"), format!("{minutes} 分钟")),
        (0, _, 0) => say(lang, format!("{hours} h"), format!("{hours} 小时")),
        (0, ..) => say(lang, format!("{hours} h {minutes} min"), format!("{hours} 小时 {minutes} 分钟")),
        (_, 0, _) => say(lang, format!("{days} d"), format!("{days} 天")),
        _ => say(lang, format!("{days} d {hours} h"), format!("{days} 天 {hours} 小时")),
    }
}

fn policy(policy: Adaptive, lang: Lang) -> String {
    match policy {
        Adaptive::Predictive => say(lang, "predictive policy", "预测策略"),
        Adaptive::Budget => say(lang, "budget policy", "预算策略"),
        Adaptive::Classic => say(lang, "classic policy", "经典策略"),
    }
}

fn layer(layer: Layer, lang: Lang) -> String {
    match layer {
        Layer::Policy => say(lang, "the policy", "策略"),
        Layer::Source => say(lang, "the source rests after a failure", "来源出错后暂停"),
        Layer::Host => say(lang, "its host is left alone", "主机处于冷却期"),
        Layer::Job => say(lang, "its job waits for its next attempt", "任务等待下一次重试"),
        Layer::Pace => say(lang, "the pace of its host", "主机访问间隔限制"),
        Layer::Said => say(lang, "the source says there is nothing new before", "来源声明此前不会更新"),
    }
}

fn origin(origin: &str, lang: Lang) -> String {
    match origin {
        "operator" => say(lang, "set by hand", "人工设置"),
        "target" => say(lang, "set for this target", "目标自身设置"),
        "column" => say(lang, "from the column in the site file", "来自站点文件的栏目"),
        "default_column" => {
            say(lang, "from default_column in the site file", "来自站点文件的 default_column")
        }
        "site" => say(lang, "from the site", "来自站点"),
        "default" => say(lang, "the default", "默认值"),
        other => other.to_owned(),
    }
}

/// What a layer says of itself: the texts of the program in the language asked for, those of others as they are.
fn reason(why: &str, lang: Lang) -> String {
    if lang == Lang::En {
        return why.to_owned();
    }
    let known = match why {
        "paused by hand" => "人工暂停",
        "its target or the site is switched off" => "目标或站点已停用",
        "it never comes due again" => "cron 不会再到期",
        "network errors in a row" => "连续网络错误",
        "errors in a row" => "连续出错",
        "the host said when to come back" => "主机指定了再次访问的时间",
        "the host turned us away" => "主机拒绝访问",
        "set by hand" => "人工设置",
        "a probe is under way" => "正在试探",
        "the source rests after a failure" => "来源出错后暂停",
        "its host is left alone until then" => "主机处于冷却期",
        "asked to wait" => "对方要求稍后再来",
        said::CACHE => "列表的缓存响应头",
        said::TTL => "订阅源的 ttl",
        said::PERIOD => "订阅源的 updatePeriod",
        said::SKIP_HOURS => "订阅源的 skipHours",
        said::SKIP_DAYS => "订阅源的 skipDays",
        _ => "",
    };
    if !known.is_empty() {
        return known.to_owned();
    }
    if let Some(seconds) = why.strip_suffix(" s between requests") {
        return format!("两次请求至少间隔 {seconds} 秒");
    }
    if let Some((_, message)) = why.split_once("): ").filter(|_| why.starts_with("its host is left alone")) {
        return format!("主机处于冷却期：“{message}”");
    }
    // The class of a failure, with its status where there was one.
    let (class, status) = why.split_once(' ').unwrap_or((why, ""));
    let class = match class {
        "config" => "配置错误",
        "storage" => "存储错误",
        "network" => "网络错误",
        "tls" => "TLS 错误",
        "auth" => "认证失败",
        "adapter" => "适配器错误",
        "server" => "服务器错误",
        "blocked" => "被拦截",
        "shape" => "页面结构不符",
        "gone" => "页面已不存在",
        "busy" => "繁忙",
        "interrupted" => "被中断",
        status if status.len() == 3 && status.bytes().all(|b| b.is_ascii_digit()) => {
            return format!("HTTP {status}");
        }
        "" => return String::new(),
        _ => return format!("“{why}”"),
    };
    format!("{class} {status}").trim_end().to_owned()
}

fn state(state: JobState, lang: Lang) -> String {
    let zh = match state {
        JobState::Scheduled => "定时等待",
        JobState::Queued => "排队",
        JobState::RetryWait => "等待重试",
        JobState::Running => "运行中",
        JobState::Cancelling => "正在取消",
        JobState::Done => "完成",
        JobState::Failed => "失败",
        JobState::Expired => "过期",
        JobState::Cancelled => "已取消",
    };
    say(lang, state.as_str(), zh)
}

fn by_hand(field: ByHand, lang: Lang) -> String {
    match field {
        ByHand::Trigger => say(lang, "trigger", "触发方式"),
        ByHand::Enabled => say(lang, "enabled", "开关"),
        ByHand::Zone => say(lang, "zone", "时区"),
        ByHand::Misfire => say(lang, "misfire", "错过时的处理"),
    }
}

/// Why a schedule is off whose cron cannot be read, in Chinese: the error itself is in English.
fn bad_cron(trigger: &Trigger) -> Option<String> {
    let cron = trigger.cron()?;
    let error = CronExpr::parse(cron).err()?;
    let field = match error.field {
        Some(FieldName::Second) => "秒字段",
        Some(FieldName::Minute) => "分钟字段",
        Some(FieldName::Hour) => "小时字段",
        Some(FieldName::DayOfMonth) => "日期字段",
        Some(FieldName::Month) => "月份字段",
        Some(FieldName::DayOfWeek) => "星期字段",
        None => "字段数",
    };
    Some(format!("cron `{cron}` 无效，错在{field} `{}`", error.text))
}

fn day(at: Timestamp, zone: Tz, lang: Lang) -> String {
    let local = at.to_utc().with_timezone(&zone).date_naive();
    let day = day_of(i64::from(local.num_days_from_ce()) - 719_163, zone);
    let zh = match (day.special, day.is_worked()) {
        (true, true) => "调休工作日",
        (true, false) => "节假日",
        (false, true) => "工作日",
        (false, false) => "周末",
    };
    say(lang, day.words(), zh)
}

/// All of an explanation, a line each.
pub(super) fn all(explanation: &Explanation, facts: &Facts, lang: Lang) -> Vec<String> {
    let mut lines = vec![headline(explanation, facts, lang), because(explanation, facts, lang)];
    lines.extend(explanation.earlier.iter().map(|at| earlier(at, facts.zone, lang)));
    lines.extend(explanation.held.iter().map(|hold| held(hold, facts.zone, lang)));
    if facts.target_on == Some(false) {
        lines.push(say(
            lang,
            "Its target or the site is switched off, so no job is made even when it is due.",
            "目标或站点已停用，到期也不会创建任务。",
        ));
    }
    if let Some(job) = facts.job.as_ref().filter(|_| explanation.job.is_some()) {
        let (id, state) = (job.id, state(job.state, lang));
        lines.push(say(
            lang,
            format!("Job {id} of its last time is not over ({state}); until then no second one is made."),
            format!("上一次的任务 {id} 尚未结束（{state}），结束前不会再创建任务。"),
        ));
    }
    lines.extend(explanation.numbers.as_ref().map(|of| numbers(of, facts.zone, lang)));
    if !explanation.by_hand.is_empty() {
        let fields: Vec<String> = explanation.by_hand.iter().map(|field| by_hand(*field, lang)).collect();
        let fields = fields.join(&say(lang, ", ", "、"));
        lines.push(say(
            lang,
            format!("Set by hand, and left alone by reconciling: {fields}."),
            format!("人工设置、同步时不覆盖的字段：{fields}。"),
        ));
    }
    lines
}

fn headline(explanation: &Explanation, facts: &Facts, lang: Lang) -> String {
    let name = &explanation.name;
    match (explanation.standing, explanation.due_at) {
        (Standing::Off, _) => say(lang, format!("{name} is off."), format!("{name} 已停用。")),
        (_, None) => {
            say(lang, format!("{name} does not come due by itself."), format!("{name} 不会自动到期。"))
        }
        (_, Some(due)) if due <= facts.now => {
            let (at, late) = (moment(due, facts.zone), span(facts.now.0 - due.0, lang));
            say(
                lang,
                format!("{name} has been due since {at} ({late}); `dibao run` makes its job."),
                format!("{name} 已于 {at} 到期（已过 {late}）；由 `dibao run` 创建任务。"),
            )
        }
        (_, Some(due)) => {
            let (at, left) = (moment(due, facts.zone), span(due.0 - facts.now.0, lang));
            say(
                lang,
                format!("{name} is due at {at}, in {left}."),
                format!("{name} 将于 {at} 到期，还有 {left}。"),
            )
        }
    }
}

fn because(explanation: &Explanation, facts: &Facts, lang: Lang) -> String {
    let zone = facts.zone;
    match &explanation.because {
        Because::Off { why } => {
            let broken = bad_cron(&facts.schedule.trigger).filter(|_| lang == Lang::Zh);
            let why = broken.unwrap_or_else(|| reason(why.as_deref().unwrap_or("-"), lang));
            say(lang, format!("Why: {why}."), format!("原因：{why}。"))
        }
        Because::Cron { cron, words, origin: from } => {
            let from = from.as_deref().map(|from| origin(from, lang));
            let en = from.as_ref().map(|from| format!(", {from}")).unwrap_or_default();
            let zh = from.as_ref().map(|from| format!("，{from}")).unwrap_or_default();
            say(
                lang,
                format!("Because of its cron `{cron}` ({words}){en}."),
                format!("原因：cron `{cron}`（{words}）{zh}。"),
            )
        }
        Because::Interval { seconds } => {
            let every = span(i64::try_from(*seconds).unwrap_or(i64::MAX / 1_000).saturating_mul(1_000), lang);
            say(lang, format!("Because it comes due every {every}."), format!("原因：每 {every} 到期一次。"))
        }
        Because::Policy { policy: of, forecast: Some(forecast) } => {
            let (name, price) = (policy(*of, lang), forecast.price);
            let (items, day) = (forecast.expected, forecast.per_day);
            let by = moment(forecast.next, zone);
            say(
                lang,
                format!(
                    "Because the {name} expects {items:.2} new articles by {by} ({day:.2} a day); it pays to look then at {price:.2} times the usual price of a check. It says: {}.",
                    forecast.why
                ),
                format!(
                    "原因：{name}预计到 {by}（{}）有 {items:.2} 篇新文章（平均每天 {day:.2} 篇），检查价格为平时的 {price:.2} 倍；{}。",
                    self::day(forecast.next, zone, lang),
                    match forecast.reason {
                        Reason::Pays => "届时等待的代价达到一次检查的价格".to_owned(),
                        Reason::Day => "任何来源都不会等待超过一天".to_owned(),
                        Reason::Cadence => format!("节奏 {} 的来源不会等待更久", cadence(explanation)),
                        Reason::FullPage => "上次整页都是新文章，因此提前检查".to_owned(),
                    }
                ),
            )
        }
        Because::Policy { policy: of, forecast: None } => {
            let (name, cadence) = (policy(*of, lang), cadence(explanation));
            say(
                lang,
                format!("Because the {name} looks at a source of cadence {cadence} then."),
                format!("原因：{name}按节奏 {cadence} 安排此时检查。"),
            )
        }
        Because::Held { policy: of, policy_at, by_layer } => {
            let (name, early) = (policy(*of, lang), moment(*policy_at, zone));
            let (what, why) = (layer(by_layer.layer, lang), reason(&by_layer.why, lang));
            let until = moment(by_layer.until, zone);
            say(
                lang,
                format!(
                    "Because {what} until {until} ({why}); the {name} alone would look at {early}. The latest counts."
                ),
                format!("原因：{what}，至 {until}（{why}）；仅按{name}应在 {early} 检查，取最晚者。"),
            )
        }
        Because::NeverLooked => say(
            lang,
            "Because it was never looked at: the first look is due at once.",
            "原因：从未检查过，首次检查立即到期。",
        ),
        Because::Undecided => say(
            lang,
            "Because its last look has not brought a decision yet; until then the default cadence of an hour holds.",
            "原因：上一次检查尚未得出结论，暂按默认节奏一小时安排。",
        ),
        Because::Once { expires_at: None } => {
            say(lang, "Because it was asked for once.", "原因：一次性计划。")
        }
        Because::Once { expires_at: Some(until) } => {
            let until = moment(*until, zone);
            say(
                lang,
                format!("Because it was asked for once; from {until} on it is too late."),
                format!("原因：一次性计划，{until} 之后过期。"),
            )
        }
        Because::Manual => say(lang, "It runs only by hand.", "只能手动运行。"),
    }
}

fn cadence(explanation: &Explanation) -> String {
    explanation.numbers.as_ref().map_or_else(|| "P2".to_owned(), |numbers| numbers.cadence.clone())
}

fn earlier(earlier: &Earlier, zone: Tz, lang: Lang) -> String {
    let at = moment(earlier.at, zone);
    match (earlier.by, earlier.not_because) {
        ("policy", "held") => say(
            lang,
            format!("Earlier would be {at}, by the policy; it is held back."),
            format!("更早的时间：{at}（策略），但被推迟。"),
        ),
        ("policy", _) => say(
            lang,
            format!("Earlier would be {at}, by the policy; `combine: cron_only` gives the cron the say."),
            format!("更早的时间：{at}（策略），但 `combine: cron_only` 只按 cron。"),
        ),
        _ => say(
            lang,
            format!("Earlier would be {at}, by the cron; `combine: adaptive_only` gives the policy the say."),
            format!("更早的时间：{at}（cron），但 `combine: adaptive_only` 只按策略。"),
        ),
    }
}

fn held(hold: &HeldUntil, zone: Tz, lang: Lang) -> String {
    let (what, until) = (layer(hold.layer, lang), moment(hold.until, zone));
    let why = reason(&hold.why, lang);
    let why = match why.is_empty() {
        true => String::new(),
        false => say(lang, format!(" ({why})"), format!("（{why}）")),
    };
    say(
        lang,
        format!("Held back now: {what} until {until}{why}."),
        format!("当前限制：{what}，至 {until}{why}。"),
    )
}

fn numbers(of: &Numbers, zone: Tz, lang: Lang) -> String {
    let percent = of.hit_rate * 100.0;
    let (checks, hits, cadence) = (of.checks, of.hits, &of.cadence);
    let mut line = say(
        lang,
        format!("Its source: {checks} looks, {hits} found something ({percent:.0} %), cadence {cadence}"),
        format!("来源统计：检查 {checks} 次，命中 {hits} 次（{percent:.0}%），节奏 {cadence}"),
    );
    if let Some(at) = of.last_check_at {
        let at = moment(at, zone);
        line += &say(lang, format!(", last look {at}"), format!("，上次检查 {at}"));
    }
    if let Some(at) = of.last_article_at {
        let at = moment(at, zone);
        line += &say(lang, format!(", newest article {at}"), format!("，最新文章 {at}"));
    }
    if of.failures > 0 {
        let (failures, error) = (of.failures, reason(of.last_error.as_deref().unwrap_or("-"), lang));
        line += &say(
            lang,
            format!(", {failures} failures in a row ({error})"),
            format!("，连续失败 {failures} 次（{error}）"),
        );
    }
    if let Some(budget) = of.budget {
        let price = of.price;
        line += &say(
            lang,
            format!("; a check costs {price:.2}, for a budget of {budget:.0} checks a day"),
            format!("；检查价格 {price:.2}，预算每天 {budget:.0} 次"),
        );
    }
    line + &say(lang, ".", "。")
}

/// A decision in one sentence.
pub(super) fn decided(decided: &Decided, zone: Tz, lang: Lang) -> String {
    let at = moment(decided.at, zone);
    let due = decided.due_at.map(|due| moment(due, zone)).unwrap_or_default();
    let job = decided.job.map(|job| job.to_string()).unwrap_or_default();
    let input = |key: &str| decided.inputs.get(key).and_then(serde_json::Value::as_i64).unwrap_or_default();
    let what = match decided.rule {
        Rule::Fired => {
            say(lang, format!("due at {due}, job {job} made"), format!("{due} 到期，创建任务 {job}"))
        }
        Rule::FiredLate => {
            let (late, missed) = (span(input("late_ms"), lang), input("missed").max(1));
            say(
                lang,
                format!("due at {due}, job {job} made {late} late for {missed} due times"),
                format!("{due} 到期，迟 {late} 创建任务 {job}，合并 {missed} 次"),
            )
        }
        Rule::ByHand => say(lang, format!("job {job} made by hand"), format!("手动创建任务 {job}")),
        Rule::Skipped => {
            say(lang, format!("due at {due}, left out: it was too late"), format!("{due} 到期，已过时，跳过"))
        }
        Rule::StillBusy => say(
            lang,
            format!("due at {due}, but job {job} was not over"),
            format!("{due} 到期，但任务 {job} 尚未结束"),
        ),
        Rule::AlreadyFired => say(
            lang,
            format!("due at {due} again, after the clock was set back; it had its job"),
            format!("时钟回拨后 {due} 再次到期，任务已存在"),
        ),
        Rule::TargetOff => say(
            lang,
            format!("due at {due}, but its target or site is off"),
            format!("{due} 到期，但目标或站点已停用"),
        ),
        Rule::BadCron => {
            let error = decided.inputs.get("error").and_then(serde_json::Value::as_str).unwrap_or_default();
            say(lang, format!("switched off: {error}"), "已停用：cron 无效或不会再到期")
        }
        Rule::Set => say(lang, "made or changed", "新建或修改"),
        Rule::ClockSetBack => say(lang, "planned anew, the clock was set back", "时钟回拨，重新安排"),
        Rule::Planned => {
            let new = input("new");
            match decided.inputs.get("error").and_then(serde_json::Value::as_str) {
                Some(error) => {
                    let error = reason(error, lang);
                    say(lang, format!("the look failed ({error})"), format!("检查失败（{error}）"))
                }
                None => say(lang, format!("looked, {new} new"), format!("检查完成，新增 {new} 篇")),
            }
        }
    };
    let next = decided
        .next_at
        .map(|next| moment(next, zone))
        .map_or_else(String::new, |next| say(lang, format!("; next at {next}"), format!("；下次 {next}")));
    format!("{at} {what}{next}")
}
