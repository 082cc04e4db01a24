//! Hosts: which are left alone and why, and the operator's word on one of them.

use std::time::Duration;

use dibao::desk::Page;
use dibao::fetch::ledger::Ledger;
use dibao::{HostDetail, HostLine};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::answer::Shown;
use crate::call::{Call, Route, Routes, Sent};
use crate::caller::Scope;
use crate::checked::Nothing;
use crate::paging::{Listed, list_query};
use crate::problem::Problem;

/// A host by its name.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Host {
    #[schemars(length(min = 1, max = 253))]
    host: String,
}

list_query! {
    /// Which hosts.
    Hosts {
        /// Only those that are left alone now, or only the others.
        cooling: bool,
        /// Only with this in the name.
        #[schemars(length(max = 200))]
        q: String,
    }
}

list_query! {
    /// How much of the ledger.
    Days {
        /// The last so many days.
        #[schemars(range(min = 1, max = 3660))]
        days: u32,
    }
}

/// For how long.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Cool {
    /// Seconds, up to a year.
    #[schemars(range(min = 1, max = 31_622_400))]
    seconds: u64,
}

pub fn add(routes: &mut Routes) {
    routes
        .add(Route::get("/admin/api/hosts", Scope::Read, "Hosts that something is known of"), hosts)
        .add(Route::get("/admin/api/hosts/{host}", Scope::Read, "All that is known of a host"), host)
        .add(
            Route::get("/admin/api/hosts/{host}/ledger", Scope::Read, "What was done to it, day by day"),
            ledger,
        )
        .add(Route::post("/admin/api/hosts/{host}/cool", Scope::Run, "Leaves it alone for a while"), cool)
        .add(
            Route::post("/admin/api/hosts/{host}/reset", Scope::Run, "Holds nothing against it any more"),
            reset,
        );
}

async fn hosts(call: Call<Nothing, Hosts>) -> Result<Shown<Page<HostLine>>, Problem> {
    let query = call.query;
    let mut lines = call.app.engine.hosts().await?;
    lines.retain(|line| query.cooling.is_none_or(|cooling| line.cooling_until.is_some() == cooling));
    lines.retain(|line| query.q.as_deref().is_none_or(|q| line.host.contains(&q.to_lowercase())));
    Ok(Shown(Page::of(lines, &query.paging(), "hosts")?))
}

async fn host(call: Call<Host>) -> Result<Shown<HostDetail>, Problem> {
    Ok(Shown(call.app.engine.host(&call.path.host).await?))
}

async fn ledger(call: Call<Host, Days>) -> Result<Shown<Page<Ledger>>, Problem> {
    let days = call.app.engine.host_ledger(&call.path.host, call.query.days.unwrap_or(30)).await?;
    Ok(Shown(Page::of(days, &call.query.paging(), "ledger")?))
}

async fn cool(call: Call<Host, Nothing, Sent<Cool>>) -> Result<Shown<HostDetail>, Problem> {
    let span = Duration::from_secs(call.body.0.seconds);
    let detail = serde_json::json!({ "seconds": call.body.0.seconds });
    let (engine, name) = (&call.app.engine, &call.path.host);
    let host = call.desk().audited("host.cool", name, detail, engine.cool_host(name, span)).await?;
    call.app.events.changed("host", &host.line.host);
    Ok(Shown(host))
}

async fn reset(call: Call<Host>) -> Result<Shown<HostDetail>, Problem> {
    let (engine, name) = (&call.app.engine, &call.path.host);
    let nothing = serde_json::Value::Null;
    let host = call.desk().audited("host.reset", name, nothing, engine.reset_host(name)).await?;
    call.app.events.changed("host", &host.line.host);
    Ok(Shown(host))
}
