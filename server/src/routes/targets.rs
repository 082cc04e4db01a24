//! Targets: to look at, make, change, switch, remove, run, and how their pages are read.

use std::time::Duration;

use dibao::crawl::{PreviewRow, Reread};
use dibao::desk::{BulkOutcome, Department, Page, ParserView, RunAsk, TargetHealth, TargetQuery, TargetRow};
use dibao::model::{Published, RequestLog};
use dibao::{SurveyOptions, Timestamp, Walked};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use url::Url;

use super::sites::{Code, Toggle};
use crate::answer::{Done, Made, Shown, Taken};
use crate::call::{Call, Perhaps, Route, Routes, Sent};
use crate::caller::Scope;
use crate::checked::Nothing;
use crate::paging::{Listed, list_query};
use crate::problem::{Code as Kind, Problem};

list_query! {
    /// Which targets.
    Targets {
        /// Only of this site.
        #[schemars(length(max = 200))]
        site: String,
        /// Only of this department.
        dept: i64,
        /// Only with these words in code, name, address or channel.
        #[schemars(length(max = 200))]
        q: String,
        /// Only those that are on, or off.
        enabled: bool,
    }
}

/// A target.
#[derive(Serialize, JsonSchema)]
pub struct TargetShown {
    code: String,
    site: String,
    site_name: String,
    name: String,
    entry_url: String,
    channel_name: Option<String>,
    channel_path: Option<String>,
    content_category: Option<String>,
    content_subcategory: Option<String>,
    schedule: Option<String>,
    interval_sec: Option<f64>,
    enabled: bool,
    site_enabled: bool,
    department: Option<Department>,
    /// Whether selectors or other settings were laid over those of its site file.
    has_override: bool,
    /// What was set by hand: imports leave it alone.
    operator_set: Vec<String>,
    last_crawled_at: Option<Timestamp>,
    last_article_time: Option<Timestamp>,
}

/// A target with what holds for it and how it is doing.
#[derive(Serialize, JsonSchema)]
pub struct TargetWhole {
    #[serde(flatten)]
    target: TargetShown,
    /// What holds, and who says so; null when its adapter cannot be had.
    settings: Value,
    health: TargetHealth,
}

/// A target to be made.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct New {
    #[schemars(length(min = 1, max = 200))]
    site: String,
    /// The keys of a column in a site file, and `dept_id`.
    column: Map<String, Value>,
}

/// Targets to be made.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewOnes {
    #[schemars(length(min = 1, max = 200))]
    site: String,
    #[schemars(length(min = 1, max = 1000))]
    columns: Vec<Map<String, Value>>,
}

/// Targets to be made by the site's `default_column`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ByDefault {
    #[schemars(length(min = 1, max = 200))]
    site: String,
    /// Ids of columns, or `{column_id, name?, list_url?}`.
    #[schemars(length(min = 1, max = 1000))]
    columns: Vec<ColumnId>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum ColumnId {
    Id(#[schemars(length(min = 1, max = 100))] String),
    Said(Map<String, Value>),
}

/// How targets are to be run now.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Run {
    /// Does not stop at known articles.
    force: bool,
    /// Only the first rows of the list.
    #[schemars(range(min = 1, max = 1_000_000))]
    max_items: Option<u32>,
}

/// Many targets that are to be run now.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RunMany {
    #[schemars(length(min = 1, max = 10_000))]
    targets: Vec<String>,
    /// Does not stop at known articles.
    #[serde(default)]
    force: bool,
    /// Only the first rows of each list.
    #[serde(default)]
    #[schemars(range(min = 1, max = 1_000_000))]
    max_items: Option<u32>,
}

/// What became of each.
#[derive(Serialize, JsonSchema)]
pub struct Outcomes {
    results: Vec<BulkOutcome>,
}

/// The job that was put in line.
#[derive(Serialize, JsonSchema)]
pub struct InLine {
    job: i64,
    target: String,
}

/// Selectors and other settings, laid over those of the site file.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Override {
    /// Null takes them back.
    #[serde(rename = "override")]
    over: Option<Map<String, Value>>,
}

/// Unsaved settings that are to be tried.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Try {
    /// In place of the override that is stored.
    #[serde(rename = "override", default)]
    over: Option<Map<String, Value>>,
    /// The stored page of this article; none: the list, as it is now.
    #[serde(default)]
    #[schemars(range(min = 1))]
    article: Option<i64>,
}

/// What they make of it.
#[derive(Serialize, JsonSchema)]
pub struct Tried {
    /// Rows of the list.
    rows: Option<Vec<PreviewRow>>,
    /// The requests that it took to read it.
    requests: Option<Vec<RequestLog>>,
    /// Fields of the stored page.
    now: Option<Reread>,
    /// The same as they are stored.
    before: Option<Before>,
}

/// Fields of an article as they are stored.
#[derive(Serialize, JsonSchema)]
pub struct Before {
    title: String,
    published: Option<Published>,
    source: Option<String>,
    content: String,
    attachments: Vec<String>,
    provenance: std::collections::BTreeMap<String, String>,
}

/// A site whose columns are to be found.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Discover {
    /// Any page of it.
    #[schemars(length(min = 1, max = 2000))]
    url: String,
    /// The adapter that knows its platform; `yaml-css`: look at its pages at once. Null: the platform is tried first, then the pages.
    #[serde(default)]
    #[schemars(length(min = 1, max = 100))]
    adapter: Option<String>,
    /// Pages that are looked at, at most; 20 when nothing is said: they are asked for politely, and the answer waits.
    #[serde(default)]
    #[schemars(range(min = 1, max = 500))]
    pages: Option<u32>,
    /// Steps from that page, at most; 3 when nothing is said.
    #[serde(default)]
    #[schemars(range(min = 0, max = 10))]
    depth: Option<u32>,
}

/// What was found.
#[derive(Serialize, JsonSchema)]
pub struct Found {
    /// Its columns: `column` is what makes a target of one.
    columns: Vec<Value>,
    /// A site file of those that list documents.
    yaml: String,
    /// How its pages were gone through, where no adapter could name its columns.
    walked: Option<Walked>,
}

/// Pages of a site that are looked at while somebody waits.
const LOOKED_AT: u32 = 20;
/// Below what a route that asks a site may take.
const SURVEYED: Duration = Duration::from_secs(120);

pub fn add(routes: &mut Routes) {
    use Scope::{Admin, Read, Run};
    let started = [Kind::Active, Kind::Disabled];
    routes
        .add(Route::get("/admin/api/targets", Read, "Targets"), targets)
        .add(Route::get("/admin/api/targets/lookup", Read, "Targets by site, department or words"), targets)
        .add(
            Route::post("/admin/api/targets", Admin, "Makes a target").may(&[Kind::Conflict, Kind::NotFound]),
            create,
        )
        .add(Route::post("/admin/api/targets/bulk-run", Run, "Puts crawls of many in line").keyed(), run_many)
        .add(
            Route::post("/admin/api/targets/discover-html", Admin, "Asks a site now which columns it has")
                .asks_a_site(),
            discover,
        )
        .add(
            Route::post("/admin/api/targets/bulk-create-yaml", Admin, "Makes many by `default_column`")
                .keyed()
                .may(&[Kind::NotFound]),
            create_by_default,
        )
        .add(
            Route::post("/admin/api/targets/bulk-create", Admin, "Makes many").keyed().may(&[Kind::NotFound]),
            create_many,
        )
        .add(
            Route::get("/admin/api/targets/{code}", Read, "What holds for a target, and how it is doing"),
            target,
        )
        .add(Route::put("/admin/api/targets/{code}", Admin, "Changes settings; null takes one back"), update)
        .add(
            Route::delete("/admin/api/targets/{code}", Admin, "Removes it with its articles")
                .may(&[Kind::Active, Kind::Busy]),
            remove,
        )
        .add(Route::post("/admin/api/targets/{code}/toggle", Admin, "Switches it on or off"), toggle)
        .add(
            Route::get("/admin/api/targets/{code}/parser", Admin, "How its pages are read, in layers"),
            parser,
        )
        .add(
            Route::put("/admin/api/targets/{code}/parser", Admin, "Lays settings over those of its file"),
            set_parser,
        );
    routes.add(
        Route::post(
            "/admin/api/targets/{code}/parser/preview",
            Admin,
            "Tries settings before they are saved",
        )
        .asks_a_site(),
        preview,
    );
    for (path, about) in [
        ("/admin/api/targets/{code}/run", "Puts a crawl of the target in line"),
        ("/api/sources/{code}/fetch", "The same, under its older name"),
    ] {
        routes.add(Route::post(path, Run, about).keyed().may(&started), run);
    }
}

impl From<TargetRow> for TargetShown {
    fn from(row: TargetRow) -> TargetShown {
        let target = row.target;
        TargetShown {
            code: target.code,
            site: row.site,
            site_name: row.site_name,
            name: target.name,
            entry_url: target.entry_url,
            channel_name: target.channel_name,
            channel_path: target.channel_path,
            content_category: target.content_category,
            content_subcategory: target.content_subcategory,
            schedule: target.schedule,
            interval_sec: target.interval_sec,
            enabled: target.enabled,
            site_enabled: row.site_enabled,
            department: row.department,
            has_override: target.parser_override.is_some(),
            operator_set: row.operator_set,
            last_crawled_at: target.last_crawled_at,
            last_article_time: target.last_article_time,
        }
    }
}

async fn targets(call: Call<Nothing, Targets>) -> Result<Shown<Page<TargetShown>>, Problem> {
    let paging = call.query.paging();
    let Targets { site, dept, q, enabled, .. } = call.query.clone();
    let query = TargetQuery { site, department: dept, q, enabled };
    let page = call.desk().targets(query, paging).await?;
    Ok(Shown(page.map(TargetShown::from)))
}

async fn target(call: Call<Code>) -> Result<Shown<TargetWhole>, Problem> {
    let (desk, code) = (call.desk(), &call.path.code);
    let row = desk.target(code).await?;
    let health = desk.target_health(code).await?;
    // An adapter that is missing must not hide the target that it fails.
    let settings = call.app.engine.target_settings(code).await.ok();
    Ok(Shown(TargetWhole { target: row.into(), settings: json!(settings), health }))
}

async fn create(call: Call<Nothing, Nothing, Sent<New>>) -> Result<Made<TargetShown>, Problem> {
    let New { site, column } = &call.body.0;
    let row = call.desk().create_target(site, column.clone()).await?;
    call.app.events.changed("target", &row.target.code);
    Ok(Made(row.into()))
}

async fn create_many(call: Call<Nothing, Nothing, Sent<NewOnes>>) -> Result<Shown<Outcomes>, Problem> {
    let NewOnes { site, columns } = &call.body.0;
    make(&call, site, columns.clone()).await
}

async fn create_by_default(
    call: Call<Nothing, Nothing, Sent<ByDefault>>,
) -> Result<Shown<Outcomes>, Problem> {
    let ByDefault { site, columns } = &call.body.0;
    let columns = columns.iter().map(|column| match column {
        ColumnId::Id(id) => Map::from_iter([("column_id".to_owned(), json!(id))]),
        ColumnId::Said(said) => said.clone(),
    });
    make(&call, site, columns.collect()).await
}

async fn make<B>(
    call: &Call<Nothing, Nothing, B>,
    site: &str,
    columns: Vec<Map<String, Value>>,
) -> Result<Shown<Outcomes>, Problem> {
    let results = call.desk().create_targets(site, columns).await?;
    call.app.events.changed("site", site);
    Ok(Shown(Outcomes { results }))
}

async fn update(call: Call<Code, Nothing, Sent<Map<String, Value>>>) -> Result<Shown<TargetShown>, Problem> {
    let row = call.desk().update_target(&call.path.code, call.body.0.clone()).await?;
    call.app.events.changed("target", &row.target.code);
    Ok(Shown(row.into()))
}

async fn toggle(call: Call<Code, Nothing, Sent<Toggle>>) -> Result<Shown<TargetShown>, Problem> {
    let row = call.desk().toggle_target(&call.path.code, call.body.0.enabled).await?;
    call.app.events.changed("target", &row.target.code);
    Ok(Shown(row.into()))
}

async fn remove(call: Call<Code>) -> Result<Done, Problem> {
    call.desk().delete_target(&call.path.code).await?;
    call.app.events.changed("target", &call.path.code);
    Ok(Done)
}

async fn run(call: Call<Code, Nothing, Perhaps<Run>>) -> Result<Taken<InLine>, Problem> {
    let Run { force, max_items } = call.body.0;
    let job = call.desk().run_target(&call.path.code, RunAsk { force, max_items }).await?;
    Ok(Taken(InLine { job, target: call.path.code }))
}

async fn run_many(call: Call<Nothing, Nothing, Sent<RunMany>>) -> Result<Taken<Outcomes>, Problem> {
    let RunMany { targets, force, max_items } = &call.body.0;
    let ask = RunAsk { force: *force, max_items: *max_items };
    let results = call.desk().run_targets(targets.clone(), ask).await?;
    Ok(Taken(Outcomes { results }))
}

async fn parser(call: Call<Code>) -> Result<Shown<ParserView>, Problem> {
    Ok(Shown(call.desk().parser(&call.path.code).await?))
}

async fn set_parser(call: Call<Code, Nothing, Sent<Override>>) -> Result<Shown<ParserView>, Problem> {
    let view = call.desk().set_parser(&call.path.code, call.body.0.over.clone()).await?;
    call.app.events.changed("target", &call.path.code);
    Ok(Shown(view))
}

async fn preview(call: Call<Code, Nothing, Sent<Try>>) -> Result<Shown<Tried>, Problem> {
    let (engine, code) = (&call.app.engine, &call.path.code);
    let Try { over, article } = call.body.0;
    let Some(article) = article else {
        let preview = engine.preview_rows(code, over).await?;
        let (rows, requests) = (Some(preview.rows), Some(preview.requests));
        return Ok(Shown(Tried { rows, requests, now: None, before: None }));
    };
    let (now, stored) = engine.preview_page(code, over, article).await?;
    let before = Before {
        title: stored.title,
        published: stored.published,
        source: stored.source_raw,
        content: stored.content_text,
        attachments: stored.attachments.into_iter().map(|file| file.url).collect(),
        provenance: stored.provenance,
    };
    Ok(Shown(Tried { rows: None, requests: None, now: Some(now), before: Some(before) }))
}

async fn discover(call: Call<Nothing, Nothing, Sent<Discover>>) -> Result<Shown<Found>, Problem> {
    let Discover { url, adapter, pages, depth } = &call.body.0;
    let url = Url::parse(url).ok().filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
    let url = url.ok_or_else(|| Problem::invalid("url", "is no web address; write https://…"))?;
    let usual = SurveyOptions::default();
    let options = SurveyOptions {
        pages: pages.unwrap_or(LOOKED_AT),
        depth: depth.unwrap_or(usual.depth),
        // What was found by then is worth more than an answer that it took too long.
        within: Some(SURVEYED),
    };
    let found = call.app.engine.find_columns(adapter.as_deref(), &url, options).await.map_err(of_address)?;
    let (site, targets) = found.site.into_rows().map_err(Problem::from)?;
    let columns = found.columns.iter().map(|column| json!(column)).collect();
    let yaml = dibao::config::export_site(&site, &targets);
    Ok(Shown(Found { columns, yaml, walked: found.walked }))
}

/// An address that is none to look at is the asker's mistake, not that of a remote site.
fn of_address(error: dibao::Error) -> Problem {
    use dibao::fetch::FetchErrorKind::{ForbiddenAddress, NotGranted, NotPublic};
    let his = match &error {
        dibao::Error::Fetch(error) => {
            matches!(error.kind(), NotGranted(_) | NotPublic(_) | ForbiddenAddress { .. })
        }
        dibao::Error::List { class, .. } => *class == dibao::ErrorClass::Shape,
        _ => false,
    };
    match his {
        true => Problem::invalid("url", error.to_string()),
        false => error.into(),
    }
}
