//! The adapters there are, and what the columns of all sites are.

use dibao::adapter::PinState;
use dibao::desk::Page;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::answer::Shown;
use crate::call::{Call, Route, Routes};
use crate::caller::Scope;
use crate::checked::Nothing;
use crate::paging::{Listed, list_query};
use crate::problem::Problem;

list_query! {
    /// Which columns.
    Columns {
        /// Only of this site.
        #[schemars(length(max = 200))]
        site: String,
    }
}

/// An adapter.
#[derive(Serialize, JsonSchema)]
pub struct AdapterShown {
    name: String,
    /// In bytes; null when the file is missing.
    size: Option<u64>,
    /// How its file stands to its pin.
    #[serde(flatten)]
    state: PinState,
    /// Hosts that it is granted.
    granted: Vec<String>,
    /// What it says of itself; null until it was needed.
    version: Option<String>,
    /// Seconds between two requests, unless somebody says otherwise.
    default_interval_sec: Option<u32>,
    /// The JSON Schema of its settings, its defaults included.
    settings: Option<Value>,
}

/// A column of a site, as the registry knows it.
#[derive(Serialize, JsonSchema)]
pub struct ColumnShown {
    target: String,
    site: String,
    site_name: String,
    column: String,
    name: String,
    adapter: String,
    list_url: String,
    category: Option<String>,
    channel_path: Option<String>,
    schedule: Option<String>,
    enabled: bool,
}

pub fn add(routes: &mut Routes) {
    routes
        .add(
            Route::get("/admin/api/adapters", Scope::Read, "Adapters, with the schema of their settings"),
            adapters,
        )
        .add(Route::get("/admin/api/registry", Scope::Read, "Columns of all sites"), registry);
}

async fn adapters(call: Call) -> Result<Shown<Vec<AdapterShown>>, Problem> {
    let Some(registry) = call.app.engine.registry().cloned() else { return Ok(Shown(Vec::new())) };
    // Files are hashed to see how they stand to their pins.
    let entries = tokio::task::spawn_blocking(move || registry.entries()).await;
    let entries = entries.unwrap_or_else(|error| std::panic::resume_unwind(error.into_panic()));
    let loaded = call.app.engine.loaded_adapters();
    let shown = entries.map_err(dibao::Error::from)?.into_iter().map(|entry| {
        let about = loaded.iter().map(|adapter| adapter.about()).find(|about| about.name == entry.name);
        AdapterShown {
            version: about.map(|about| about.version.clone()),
            default_interval_sec: about.map(|about| about.default_interval),
            settings: about.and_then(|about| serde_json::from_str(&about.config_schema).ok()),
            name: entry.name,
            size: entry.size,
            state: entry.state,
            granted: entry.granted,
        }
    });
    Ok(Shown(shown.collect()))
}

async fn registry(call: Call<Nothing, Columns>) -> Result<Shown<Page<ColumnShown>>, Problem> {
    let paging = call.query.paging();
    let all = call.app.engine.store().targets(call.query.site.as_deref()).await?;
    Ok(Shown(Page::of(all, &paging, "registry")?.map(|(site, target)| ColumnShown {
        column: target.code.strip_prefix(&format!("{}__", site.code)).unwrap_or(&target.code).to_owned(),
        target: target.code,
        site: site.code,
        site_name: site.name,
        name: target.name,
        adapter: site.adapter,
        list_url: target.entry_url,
        category: target.content_category,
        channel_path: target.channel_path,
        schedule: target.schedule.or(site.schedule),
        enabled: site.enabled && target.enabled,
    })))
}
