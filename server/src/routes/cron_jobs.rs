//! Schedules in the shapes of S3, under its paths: a job has a message, which is said to the channel that it names.

use dibao::Timestamp;
use dibao::desk::Page;
use dibao::schedule::{BUILTIN_PREFIX, NewSchedule, Schedule, ScheduleQuery, TARGET_PREFIX, Trigger};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::schedules::{Edit, change, drop_one, start};
use crate::answer::{Done, Made, Shown, Taken};
use crate::call::{Call, Route, Routes, Sent};
use crate::caller::Scope;
use crate::checked::Nothing;
use crate::paging::{Listed, list_query};
use crate::problem::{Code, Problem};

/// The kind of these jobs.
const KIND: &str = "hook:message";
const MOST: u32 = 100_000;

list_query! {
    /// Which part.
    Part {
        /// Only those that are on.
        enabled_only: bool,
    }
}

/// A job by its id.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Id {
    #[schemars(length(min = 1, max = 300))]
    id: String,
}

/// A job.
#[derive(Serialize, JsonSchema)]
pub struct CronJob {
    id: String,
    name: String,
    schedule: String,
    message: String,
    enabled: bool,
    channel: String,
    chat_id: String,
    deliver_response: bool,
    next_run: Option<Timestamp>,
    last_run: Option<Timestamp>,
    last_status: Option<String>,
    last_error: Option<String>,
    last_response: Option<String>,
    run_count: u64,
    error_count: u64,
    created_at: Timestamp,
    updated_at: Timestamp,
}

/// What is said of a job; for a new one `name`, `schedule` and `message` are needed.
#[derive(Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Said {
    #[schemars(length(min = 1, max = 200))]
    name: Option<String>,
    #[schemars(length(min = 1, max = 200))]
    schedule: Option<String>,
    #[schemars(length(max = 10000))]
    message: Option<String>,
    enabled: Option<bool>,
    #[schemars(length(max = 200))]
    channel: Option<String>,
    #[schemars(length(max = 200))]
    chat_id: Option<String>,
    deliver_response: Option<bool>,
}

/// The job that was made.
#[derive(Serialize, JsonSchema)]
pub struct Started {
    job: i64,
    id: String,
}

pub fn add(routes: &mut Routes) {
    use Scope::{Admin, Read, Run};
    const ONE: &str = "/api/cron/jobs/{id}";
    routes
        .add(Route::get("/api/cron/jobs", Read, "Jobs with a cron expression, those of targets aside"), jobs)
        .add(Route::post("/api/cron/jobs", Admin, "Makes one").may(&[Code::Conflict]), create)
        .add(Route::get(ONE, Read, "One job"), show)
        .add(
            Route::put(ONE, Admin, "Changes it; what is not said stays")
                .may(&[Code::Builtin, Code::Disabled]),
            update,
        )
        .add(Route::delete(ONE, Admin, "Removes it").may(&[Code::Builtin]), remove);
    for (path, about) in [
        ("/api/cron/jobs/{id}/run", "Runs it now"),
        ("/api/cron/jobs/{id}/execute", "The same, under its other name"),
    ] {
        routes.add(Route::post(path, Run, about).keyed().may(&[Code::Active, Code::Disabled]), run);
    }
}

fn shown(row: Schedule) -> CronJob {
    let text = |key: &str| row.payload.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    CronJob {
        schedule: row.trigger.cron().unwrap_or_default().to_owned(),
        message: text("message"),
        channel: text("channel"),
        chat_id: text("chat_id"),
        deliver_response: row
            .payload
            .get("deliver_response")
            .and_then(Value::as_bool)
            .unwrap_or_else(|| !text("channel").is_empty()),
        name: if row.title.is_empty() { row.name.clone() } else { row.title },
        id: row.name,
        enabled: row.enabled,
        next_run: row.next_due_at,
        last_run: row.last_run_at,
        last_status: row.last_status,
        last_error: row.last_error,
        last_response: row.last_response,
        run_count: row.run_count,
        error_count: row.error_count,
        created_at: row.created_at,
        updated_at: row.updated_at,
    }
}

async fn jobs(call: Call<Nothing, Part>) -> Result<Shown<Page<CronJob>>, Problem> {
    let paging = call.query.paging();
    let enabled_only = call.query.enabled_only == Some(true);
    let query = ScheduleQuery { enabled_only, limit: MOST, ..ScheduleQuery::default() };
    let mut all = call.app.engine.schedules().list(query).await?;
    all.retain(|row| !row.name.starts_with(TARGET_PREFIX));
    Ok(Shown(Page::of(all, &paging, "cron")?.map(shown)))
}

async fn show(call: Call<Id>) -> Result<Shown<CronJob>, Problem> {
    Ok(Shown(shown(call.app.engine.schedules().get(&call.path.id).await?)))
}

fn payload(said: &Said, before: &Value) -> Value {
    let mut payload = before.as_object().cloned().unwrap_or_default();
    let mut set = |key: &str, value: Option<Value>| {
        if let Some(value) = value {
            payload.insert(key.to_owned(), value);
        }
    };
    set("message", said.message.clone().map(Value::from));
    set("channel", said.channel.clone().map(Value::from));
    set("chat_id", said.chat_id.clone().map(Value::from));
    set("deliver_response", said.deliver_response.map(Value::from));
    Value::Object(payload)
}

async fn create(call: Call<Nothing, Nothing, Sent<Said>>) -> Result<Made<CronJob>, Problem> {
    let said = &call.body.0;
    let needed = |field: &'static str, value: &Option<String>| {
        value.clone().ok_or_else(|| Problem::invalid(field, "is needed for a new job"))
    };
    let (name, cron) = (needed("name", &said.name)?, needed("schedule", &said.schedule)?);
    needed("message", &said.message)?;
    super::cron::read("schedule", &cron)?;
    let id: String = crate::auth::random()[..8].iter().map(|byte| format!("{byte:02x}")).collect();
    let mut row = NewSchedule::new(format!("cron.{id}"), KIND, Trigger::Cron { cron })
        .title(name)
        .payload(payload(said, &Value::Null));
    row.enabled = said.enabled.unwrap_or(true);
    let made = call.app.engine.schedules().add(row).await?;
    call.desk().note("schedule.create", &made.name, "ok", json!({ "trigger": made.trigger })).await?;
    call.app.events.changed("schedule", &made.name);
    Ok(Made(shown(made)))
}

async fn update(call: Call<Id, Nothing, Sent<Said>>) -> Result<Shown<CronJob>, Problem> {
    let (said, id) = (&call.body.0, &call.path.id);
    let known = call.app.engine.schedules().get(id).await?;
    if id.starts_with(BUILTIN_PREFIX) && (said.name.is_some() || said.message.is_some()) {
        return Err(Problem::new(
            Code::Builtin,
            format!("`{id}`: its name and message come with the program"),
        ));
    }
    if let Some(cron) = &said.schedule {
        super::cron::read("schedule", cron)?;
    }
    let after = payload(said, &known.payload);
    let edit = Edit {
        title: said.name.clone(),
        payload: Some(after).filter(|after| *after != known.payload && !known.is_builtin()),
        trigger: said.schedule.clone().map(|cron| Trigger::Cron { cron }),
        enabled: said.enabled,
        ..Edit::default()
    };
    Ok(Shown(shown(change(&call, id, edit).await?)))
}

async fn remove(call: Call<Id>) -> Result<Done, Problem> {
    drop_one(&call, &call.path.id).await?;
    Ok(Done)
}

async fn run(call: Call<Id>) -> Result<Taken<Started>, Problem> {
    let job = start(&call, &call.path.id).await?;
    Ok(Taken(Started { job, id: call.path.id }))
}
