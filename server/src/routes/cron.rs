//! What a cron expression means.

use chrono_tz::Tz;
use dibao::Timestamp;
use dibao::schedule::cron::{CronExpr, Lang};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::answer::Shown;
use crate::call::{Call, Route, Routes, Sent};
use crate::caller::Scope;
use crate::checked::Nothing;
use crate::problem::Problem;

/// Due times that are told.
const TOLD: usize = 5;

/// An expression.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Expression {
    /// Five fields, or `@daily` and its like.
    #[schemars(length(min = 1, max = 200))]
    expression: String,
    /// The zone in which it counts, `Asia/Shanghai` when nothing is said.
    #[schemars(length(max = 64))]
    zone: Option<String>,
}

/// The same under S3's name.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct S3Expression {
    #[schemars(length(min = 1, max = 200))]
    schedule: String,
}

/// What it means.
#[derive(Serialize, JsonSchema)]
pub struct Meaning {
    valid: bool,
    /// The next due times.
    next: Vec<Timestamp>,
    description_zh: String,
    description_en: String,
    /// In the words of S3.
    description: String,
}

pub fn add(routes: &mut Routes) {
    routes
        .add(Route::post("/admin/api/cron/validate", Scope::Read, "What a cron expression means"), validate)
        .add(Route::post("/api/cron/validate", Scope::Read, "The same, under its older name"), validate_s3);
}

/// Reads an expression; what is wrong with it is said of this field.
pub fn read(field: &str, text: &str) -> Result<CronExpr, Problem> {
    CronExpr::parse(text).map_err(|error| Problem::invalid(field, error.to_string()))
}

/// Reads the name of a zone.
pub fn zone(name: &str) -> Result<Tz, Problem> {
    name.parse()
        .map_err(|_| Problem::invalid("zone", format!("`{name}` is no time zone; write Asia/Shanghai")))
}

async fn validate(call: Call<Nothing, Nothing, Sent<Expression>>) -> Result<Shown<Meaning>, Problem> {
    let Expression { expression, zone: name } = &call.body.0;
    let zone = name.as_deref().map_or(Ok(chrono_tz::Asia::Shanghai), zone)?;
    meaning(&read("expression", expression)?, zone)
}

async fn validate_s3(call: Call<Nothing, Nothing, Sent<S3Expression>>) -> Result<Shown<Meaning>, Problem> {
    meaning(&read("schedule", &call.body.0.schedule)?, chrono_tz::Asia::Shanghai)
}

fn meaning(cron: &CronExpr, zone: Tz) -> Result<Shown<Meaning>, Problem> {
    let mut at = Timestamp(crate::auth::now_ms()).to_utc();
    let mut next = Vec::new();
    while next.len() < TOLD
        && let Some(due) = cron.next_after(at, zone)
    {
        at = due.to_utc();
        next.push(at.into());
    }
    Ok(Shown(Meaning {
        valid: true,
        next,
        description_zh: cron.describe(Lang::Zh),
        description_en: cron.describe(Lang::En),
        description: cron.describe_s3(),
    }))
}
