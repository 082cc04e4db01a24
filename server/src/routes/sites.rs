//! Sites and their targets.

use std::collections::HashMap;

use dibao::model::{Site, Target};
use dibao::{CrawlJob, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::answer::{Shown, Taken};
use crate::call::{Call, Perhaps, Route, Routes};
use crate::caller::Scope;
use crate::checked::Nothing;
use crate::paging::{Page, list_query};
use crate::problem::{Code as Kind, Problem};

/// A site or target by its code.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Code {
    #[schemars(length(min = 1, max = 200))]
    code: String,
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
    targets: Vec<TargetShown>,
}

/// A target.
#[derive(Serialize, JsonSchema)]
pub struct TargetShown {
    code: String,
    site: String,
    name: String,
    entry_url: String,
    channel_name: Option<String>,
    channel_path: Option<String>,
    content_category: Option<String>,
    content_subcategory: Option<String>,
    schedule: Option<String>,
    enabled: bool,
    site_enabled: bool,
    has_override: bool,
    last_crawled_at: Option<Timestamp>,
    last_article_time: Option<Timestamp>,
}

pub fn add(routes: &mut Routes) {
    routes
        .add(Route::get("/admin/api/sites", Scope::Read, "Sites with their targets"), sites)
        .add(Route::get("/admin/api/sites/{code}", Scope::Read, "One site"), site);
    for (path, about) in [
        ("/admin/api/targets/{code}/run", "Puts a crawl of the target in line"),
        ("/api/sources/{code}/fetch", "The same, under its older name"),
    ] {
        let route = Route::post(path, Scope::Run, about).may(&[Kind::Active, Kind::Disabled]).idempotent();
        routes.add(route, run);
    }
}

fn target(site: &Site, target: Target) -> TargetShown {
    TargetShown {
        code: target.code,
        site: site.code.clone(),
        name: target.name,
        entry_url: target.entry_url,
        channel_name: target.channel_name,
        channel_path: target.channel_path,
        content_category: target.content_category,
        content_subcategory: target.content_subcategory,
        schedule: target.schedule,
        enabled: target.enabled,
        site_enabled: site.enabled,
        has_override: target.parser_override.is_some(),
        last_crawled_at: target.last_crawled_at,
        last_article_time: target.last_article_time,
    }
}

fn shown(site: Site, targets: Vec<TargetShown>) -> SiteShown {
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
        targets,
    }
}

async fn sites(call: Call<Nothing, Sites>) -> Result<Shown<Page<SiteShown>>, Problem> {
    let asked = call.query.page()?;
    let store = call.app.engine.store();
    let mut all = store.sites().await?;
    all.retain(|site| call.query.enabled.is_none_or(|enabled| site.enabled == enabled));
    if let Some(q) = &call.query.q {
        all.retain(|site| {
            [&site.code, &site.name, &site.base_url].iter().any(|text| text.contains(q.as_str()))
        });
    }
    let mut targets: HashMap<String, Vec<TargetShown>> = HashMap::new();
    for (of, one) in store.targets(None).await? {
        targets.entry(of.code.clone()).or_default().push(target(&of, one));
    }
    Ok(Shown(Page::cut(asked, all, |site| {
        let targets = targets.remove(&site.code).unwrap_or_default();
        shown(site, targets)
    })))
}

async fn site(call: Call<Code>) -> Result<Shown<SiteShown>, Problem> {
    let (store, code) = (call.app.engine.store(), &call.path.code);
    let found = store.site(code).await?.ok_or_else(|| Problem::not_found("site", code))?;
    let targets = store.targets(Some(code)).await?;
    let targets = targets.into_iter().map(|(site, one)| target(&site, one)).collect();
    Ok(Shown(shown(found, targets)))
}

/// How a target is to be run now.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Run {
    /// Does not stop at known articles.
    force: bool,
    /// Only the first rows of the list.
    #[schemars(range(min = 1, max = 1_000_000))]
    max_items: Option<u32>,
}

/// The job that was put in line.
#[derive(Serialize, JsonSchema)]
pub struct InLine {
    job: i64,
    target: String,
}

async fn run(call: Call<Code, Nothing, Perhaps<Run>>) -> Result<Taken<InLine>, Problem> {
    let (engine, code) = (&call.app.engine, call.path.code);
    let store = engine.store();
    let (site, target) = store.target(&code).await?.ok_or_else(|| Problem::not_found("target", &code))?;
    if !(site.enabled && target.enabled) {
        let words = format!("`{code}` or its site is switched off");
        return Err(Problem::new(Kind::Disabled, words));
    }
    let Run { force, max_items } = call.body.0;
    let job = CrawlJob { target: code.clone(), max_items, force };
    let submitted = engine.submit_crawl(job, 0).await?;
    if !submitted.fresh {
        let words = format!("`{code}` is at work or in line already, as job {}", submitted.id);
        return Err(Problem::new(Kind::Active, words).with("job", submitted.id));
    }
    Ok(Taken(InLine { job: submitted.id, target: code }))
}
