//! Schedules: to look at, make, change, run, and why each is due when it is.

use dibao::desk::Page;
use dibao::schedule::cron::Lang;
use dibao::schedule::{
    Misfire, NewSchedule, Overlap, Schedule, ScheduleEdit, ScheduleQuery, TARGET_PREFIX, Trigger,
};
use dibao::{Timestamp, schedule};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::cron::zone;
use crate::answer::{Done, Made, Shown, Taken};
use crate::call::{Call, Route, Routes, Sent};
use crate::caller::Scope;
use crate::checked::Nothing;
use crate::paging::{Listed, list_query};
use crate::problem::{Code, Problem};

/// Schedules that are looked through for a list.
const MOST: u32 = 100_000;

list_query! {
    /// Which schedules.
    Schedules {
        /// Only with this in name or title.
        #[schemars(length(max = 200))]
        q: String,
        /// Only of this kind.
        #[schemars(length(max = 100))]
        kind: String,
        /// Only those that are on, or off.
        enabled: bool,
    }
}

list_query! {
    /// Which of those that come due.
    Coming {
        /// Only of the targets of this site.
        #[schemars(length(max = 200))]
        site: String,
        /// Only within so many seconds; a day when nothing is said.
        #[schemars(range(min = 1, max = 31_622_400))]
        within_sec: u64,
    }
}

/// A schedule by its name, or by the code of its target.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Name {
    #[schemars(length(min = 1, max = 300))]
    name: String,
}

/// How far.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Hours {
    /// So many hours; 24 when nothing is said.
    #[schemars(range(min = 1, max = 744))]
    hours: Option<u32>,
}

/// A schedule to be made.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct New {
    /// A name that no other has.
    #[schemars(length(min = 1, max = 200))]
    name: String,
    #[schemars(length(max = 200))]
    title: Option<String>,
    /// The kind of job that it makes: names the handler.
    #[schemars(length(min = 1, max = 100))]
    kind: String,
    /// Its lane; its name when nothing is said.
    #[schemars(length(max = 200))]
    lane: Option<String>,
    /// What the handler is told.
    #[serde(default)]
    payload: Value,
    priority: Option<i32>,
    trigger: Trigger,
    /// `Asia/Shanghai`; that of the engine when nothing is said.
    #[schemars(length(max = 64))]
    zone: Option<String>,
    misfire: Option<Misfire>,
    expires_sec: Option<u64>,
    overlap: Option<Overlap>,
    enabled: Option<bool>,
}

/// A change; what is not said stays.
#[derive(Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Edit {
    #[schemars(length(max = 200))]
    pub title: Option<String>,
    pub payload: Option<Value>,
    #[schemars(length(max = 200))]
    pub lane: Option<String>,
    pub priority: Option<i32>,
    pub trigger: Option<Trigger>,
    #[schemars(length(max = 64))]
    pub zone: Option<String>,
    pub misfire: Option<Misfire>,
    pub expires_sec: Option<u64>,
    pub overlap: Option<Overlap>,
    pub enabled: Option<bool>,
}

/// The job that was made.
#[derive(Serialize, JsonSchema)]
pub struct Started {
    job: i64,
    schedule: String,
}

/// Why it is due when it is, in words, and the numbers behind them.
#[derive(Serialize, JsonSchema)]
pub struct Explained {
    name: String,
    due_at: Option<Timestamp>,
    text_zh: Vec<String>,
    text_en: Vec<String>,
    decisions: Value,
    /// What it is made of: where it stands, why then, what would be earlier, what holds it back, numbers of its source.
    facts: Value,
}

/// What comes due by the hour.
#[derive(Serialize, JsonSchema)]
pub struct Load {
    hours: Vec<Hour>,
    /// Schedules that are on and have a due time.
    schedules: u64,
    /// Of them overdue.
    overdue: u64,
}

/// One hour.
#[derive(Serialize, JsonSchema)]
pub struct Hour {
    from: Timestamp,
    total: u64,
    cron: u64,
    interval: u64,
    adaptive: u64,
    once: u64,
}

pub fn add(routes: &mut Routes) {
    use Scope::{Admin, Read, Run};
    const ONE: &str = "/admin/api/schedules/{name}";
    routes
        .add(Route::get("/admin/api/jobs/scheduled", Read, "What comes due, the next first"), coming)
        .add(Route::get("/admin/api/schedules", Read, "Schedules by name"), schedules)
        .add(Route::post("/admin/api/schedules", Admin, "Makes one").may(&[Code::Conflict]), create)
        .add(Route::get("/admin/api/schedules/load", Read, "How much comes due in the next hours"), load)
        .add(Route::get(ONE, Read, "One schedule"), show)
        .add(
            Route::put(ONE, Admin, "Changes it; what is not said stays")
                .may(&[Code::Builtin, Code::Disabled]),
            edit,
        )
        .add(Route::delete(ONE, Admin, "Removes it; its jobs stay").may(&[Code::Builtin]), remove)
        .add(Route::get("/admin/api/schedules/{name}/explain", Read, "Why it is due when it is"), explain)
        .add(
            Route::post("/admin/api/schedules/{name}/run", Run, "Makes its job now")
                .keyed()
                .may(&[Code::Active, Code::Disabled]),
            run,
        );
}

async fn schedules(call: Call<Nothing, Schedules>) -> Result<Shown<Page<Schedule>>, Problem> {
    let paging = call.query.paging();
    let Schedules { q, kind, enabled, .. } = call.query;
    let query =
        ScheduleQuery { kind, enabled_only: enabled == Some(true), limit: MOST, ..ScheduleQuery::default() };
    let mut all = call.app.engine.schedules().list(query).await?;
    all.retain(|one| enabled.is_none_or(|enabled| one.enabled == enabled));
    if let Some(q) = q {
        all.retain(|one| one.name.contains(&q) || one.title.contains(&q));
    }
    Ok(Shown(Page::of(all, &paging, "schedules")?))
}

async fn coming(call: Call<Nothing, Coming>) -> Result<Shown<Page<Schedule>>, Problem> {
    let paging = call.query.paging();
    let Coming { site, within_sec, .. } = call.query;
    let within = i64::try_from(within_sec.unwrap_or(86_400)).unwrap_or(86_400) * 1_000;
    let due_before = Some(Timestamp(crate::auth::now_ms().saturating_add(within)));
    let prefix = site.map(|site| format!("{TARGET_PREFIX}{site}__"));
    let query =
        ScheduleQuery { prefix, enabled_only: true, due_before, limit: MOST, ..ScheduleQuery::default() };
    let all = call.app.engine.schedules().list(query).await?;
    Ok(Shown(Page::of(all, &paging, "coming")?))
}

async fn show(call: Call<Name>) -> Result<Shown<Schedule>, Problem> {
    Ok(Shown(call.app.engine.schedules().get(&call.path.name).await?))
}

async fn create(call: Call<Nothing, Nothing, Sent<New>>) -> Result<Made<Schedule>, Problem> {
    let desk = call.desk();
    let new = call.body.0;
    let mut row = NewSchedule::new(new.name, new.kind, new.trigger).payload(new.payload);
    row.title = new.title.unwrap_or_default();
    if let Some(lane) = new.lane.filter(|lane| !lane.is_empty()) {
        row.lane = lane;
    }
    row.zone = new.zone.as_deref().map(zone).transpose()?;
    row.priority = new.priority.unwrap_or(0);
    row.misfire = new.misfire.unwrap_or_default();
    row.expires_sec = new.expires_sec;
    row.overlap = new.overlap.unwrap_or_default();
    row.enabled = new.enabled.unwrap_or(true);
    let made = call.app.engine.schedules().add(row).await?;
    desk.note("schedule.create", &made.name, "ok", json!({ "trigger": made.trigger })).await?;
    call.app.events.changed("schedule", &made.name);
    Ok(Made(made))
}

async fn edit(call: Call<Name, Nothing, Sent<Edit>>) -> Result<Shown<Schedule>, Problem> {
    let changed = change(&call, &call.path.name, call.body.0.clone()).await?;
    Ok(Shown(changed))
}

/// One change, with its audit row.
pub async fn change<P, Q, B>(call: &Call<P, Q, B>, name: &str, edit: Edit) -> Result<Schedule, Problem> {
    let schedules = call.app.engine.schedules();
    let known = schedules.get(name).await?;
    let misfire = match (edit.misfire, edit.expires_sec) {
        (None, None) => None,
        (policy, expires) => Some((policy.unwrap_or(known.misfire), expires.or(known.expires_sec))),
    };
    let said = ScheduleEdit {
        title: edit.title,
        payload: edit.payload,
        trigger: edit.trigger,
        lane: edit.lane,
        priority: edit.priority,
        zone: edit
            .zone
            .as_deref()
            .map(|name| if name.is_empty() { Ok(None) } else { zone(name).map(Some) })
            .transpose()?,
        misfire,
        overlap: edit.overlap,
        ..ScheduleEdit::default()
    };
    let mut changed = known;
    if said != ScheduleEdit::default() {
        changed = schedules.edit(name, said).await?;
    }
    if let Some(on) = edit.enabled.filter(|on| *on != changed.enabled) {
        changed = if on { schedules.resume(name).await? } else { schedules.pause(name).await? };
    }
    call.desk()
        .note(
            "schedule.update",
            &changed.name,
            "ok",
            json!({ "trigger": changed.trigger, "enabled": changed.enabled }),
        )
        .await?;
    call.app.events.changed("schedule", &changed.name);
    Ok(changed)
}

async fn remove(call: Call<Name>) -> Result<Done, Problem> {
    drop_one(&call, &call.path.name).await?;
    Ok(Done)
}

/// Removes one, with its audit row.
pub async fn drop_one<P, Q, B>(call: &Call<P, Q, B>, name: &str) -> Result<(), Problem> {
    call.app.engine.schedules().remove(name).await?;
    call.desk().note("schedule.delete", name, "ok", Value::Null).await?;
    call.app.events.changed("schedule", name);
    Ok(())
}

async fn run(call: Call<Name>) -> Result<Taken<Started>, Problem> {
    let job = start(&call, &call.path.name).await?;
    Ok(Taken(Started { job, schedule: call.path.name }))
}

/// Makes its job now, with its audit row.
pub async fn start<P, Q, B>(call: &Call<P, Q, B>, name: &str) -> Result<i64, Problem> {
    let job = call.app.engine.schedules().run_now(name).await?;
    call.desk().note("schedule.run", name, "ok", json!({ "job": job })).await?;
    Ok(job)
}

async fn explain(call: Call<Name>) -> Result<Shown<Explained>, Problem> {
    let (engine, name) = (&call.app.engine, &call.path.name);
    let english = engine.explain(name, Lang::En).await?;
    let chinese = engine.explain(name, Lang::Zh).await?;
    let mut facts = json!(english);
    let decisions =
        facts.as_object_mut().and_then(|facts| facts.shift_remove("decisions")).unwrap_or_default();
    if let Some(facts) = facts.as_object_mut() {
        for told in ["text", "name", "due_at"] {
            facts.shift_remove(told);
        }
    }
    Ok(Shown(Explained {
        name: english.name,
        due_at: english.due_at,
        text_zh: chinese.text,
        text_en: english.text,
        decisions,
        facts,
    }))
}

async fn load(call: Call<Nothing, Hours>) -> Result<Shown<Load>, Problem> {
    let load = call.app.engine.schedules().load(call.query.hours.unwrap_or(24)).await?;
    let hour = |hour: schedule::load::HourLoad| Hour {
        from: hour.from,
        total: hour.total(),
        cron: hour.cron,
        interval: hour.interval,
        adaptive: hour.adaptive,
        once: hour.once,
    };
    Ok(Shown(Load {
        hours: load.hours.into_iter().map(hour).collect(),
        schedules: load.schedules,
        overdue: load.overdue,
    }))
}
