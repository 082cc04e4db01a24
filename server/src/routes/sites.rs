//! Sites: to look at, make, change, switch, remove.

use dibao::config::export_site;
use dibao::desk::{Page, SiteRow};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::targets::TargetShown;
use crate::answer::{Done, Made, Shown};
use crate::call::{Call, Route, Routes, Sent, SiteChange, SiteText};
use crate::caller::Scope;
use crate::checked::Nothing;
use crate::paging::{Listed, list_query};
use crate::problem::{Code as Kind, Problem};

/// A site or target by its code.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Code {
    #[schemars(length(min = 1, max = 200))]
    pub code: String,
}

/// On or off.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Toggle {
    pub enabled: bool,
}

list_query! {
    /// Which sites.
    Sites {
        /// Only with this in code, name or address.
        #[schemars(length(max = 200))]
        q: String,
        /// Only those that are on, or off.
        enabled: bool,
    }
}

/// A site. Its settings as they were written are not here: they may hold secrets.
#[derive(Serialize, JsonSchema)]
pub struct SiteShown {
    code: String,
    name: String,
    base_url: String,
    adapter: String,
    strategy: String,
    schedule: Option<String>,
    enabled: bool,
    respect_robots: bool,
    concurrency: u32,
    hosts: Vec<String>,
    /// `yaml`: made from a file; `admin`: made by hand.
    managed_by: String,
    crawl_plan: Option<Value>,
    /// What was set by hand: imports leave it alone.
    operator_set: Vec<String>,
    targets: Vec<TargetShown>,
}

/// A site file.
#[derive(Serialize, JsonSchema)]
pub struct Exported {
    yaml: String,
}

pub fn add(routes: &mut Routes) {
    use Scope::{Admin, Read};
    let made = [Kind::Conflict];
    routes
        .add(Route::get("/admin/api/sites", Read, "Sites with their targets"), sites)
        .add(Route::post("/admin/api/sites", Admin, "Makes a site of a site file").may(&made), create)
        .add(Route::get("/admin/api/sites/{code}", Read, "One site"), site)
        .add(
            Route::put("/admin/api/sites/{code}", Admin, "Changes settings (JSON; null takes one back), or takes a whole file (YAML) in place of the one before").may(&made),
            update,
        )
        .add(
            Route::delete("/admin/api/sites/{code}", Admin, "Removes it with targets and articles")
                .may(&[Kind::Active, Kind::Busy]),
            remove,
        )
        .add(Route::get("/admin/api/sites/{code}/export", Admin, "Its site file"), export)
        .add(Route::post("/admin/api/sites/{code}/toggle", Admin, "Switches it on or off"), toggle);
}

impl From<SiteRow> for SiteShown {
    fn from(row: SiteRow) -> SiteShown {
        let site = row.site;
        SiteShown {
            code: site.code,
            name: site.name,
            base_url: site.base_url,
            adapter: site.adapter,
            strategy: site.strategy,
            schedule: site.schedule,
            enabled: site.enabled,
            respect_robots: site.respect_robots,
            concurrency: site.concurrency,
            hosts: site.hosts,
            managed_by: row.managed_by,
            crawl_plan: row.crawl_plan,
            operator_set: row.operator_set,
            targets: row.targets.into_iter().map(TargetShown::from).collect(),
        }
    }
}

async fn sites(call: Call<Nothing, Sites>) -> Result<Shown<Page<SiteShown>>, Problem> {
    let mut all = call.desk().sites().await?;
    all.retain(|row| call.query.enabled.is_none_or(|enabled| row.site.enabled == enabled));
    if let Some(q) = &call.query.q {
        let q = q.to_lowercase();
        let site = |row: &SiteRow| {
            [row.site.code.to_lowercase(), row.site.name.to_lowercase(), row.site.base_url.to_lowercase()]
        };
        all.retain(|row| site(row).iter().any(|text| text.contains(&q)));
    }
    Ok(Shown(Page::of(all, &call.query.paging(), "sites")?.map(SiteShown::from)))
}

async fn site(call: Call<Code>) -> Result<Shown<SiteShown>, Problem> {
    Ok(Shown(call.desk().site(&call.path.code).await?.into()))
}

async fn create(call: Call<Nothing, Nothing, SiteText>) -> Result<Made<SiteShown>, Problem> {
    let row = call.desk().create_site(&call.body.0).await?;
    call.app.events.changed("site", &row.site.code);
    Ok(Made(row.into()))
}

async fn update(call: Call<Code, Nothing, SiteChange>) -> Result<Shown<SiteShown>, Problem> {
    let (desk, code) = (call.desk(), &call.path.code);
    let row = match &call.body {
        SiteChange::Some(settings) => desk.update_site(code, settings.clone()).await?,
        SiteChange::File(text) => desk.replace_site(code, text).await?,
    };
    call.app.events.changed("site", &row.site.code);
    Ok(Shown(row.into()))
}

async fn toggle(call: Call<Code, Nothing, Sent<Toggle>>) -> Result<Shown<SiteShown>, Problem> {
    let row = call.desk().toggle_site(&call.path.code, call.body.0.enabled).await?;
    call.app.events.changed("site", &row.site.code);
    Ok(Shown(row.into()))
}

async fn remove(call: Call<Code>) -> Result<Done, Problem> {
    call.desk().delete_site(&call.path.code).await?;
    call.app.events.changed("site", &call.path.code);
    Ok(Done)
}

async fn export(call: Call<Code>) -> Result<Shown<Exported>, Problem> {
    let row = call.desk().site(&call.path.code).await?;
    let targets: Vec<_> = row.targets.into_iter().map(|row| row.target).collect();
    Ok(Shown(Exported { yaml: export_site(&row.site, &targets) }))
}
