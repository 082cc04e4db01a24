//! Numbers to watch: the dashboard, counts, what fails, the log, and who changed what.

use dibao::desk::{
    AlertRow, AuditQuery, AuditRow, DayCount, DeptCount, Freshness, LogQuery, LogRow, Overview, Page,
    SiteCount, advice,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::answer::Shown;
use crate::call::{Call, Route, Routes};
use crate::caller::Scope;
use crate::checked::Nothing;
use crate::paging::{Listed, list_query};
use crate::problem::{Code, Problem};

list_query! {
    /// Which requests.
    Logs {
        /// Of the last so many hours; 24 when nothing is said.
        #[schemars(range(min = 1, max = 8784))]
        hours: u32,
        /// Only of this site.
        #[schemars(length(max = 200))]
        site: String,
        /// Only of this target.
        #[schemars(length(max = 200))]
        target: String,
        /// `false`: only what did not go well.
        success: bool,
    }
}

list_query! {
    /// Which changes.
    Audit {
        /// Only of this one.
        #[schemars(length(max = 200))]
        actor: String,
        /// Only what begins so: `site.`, `target.run`.
        #[schemars(length(max = 200))]
        action: String,
        /// Only about this.
        #[schemars(length(max = 200))]
        subject: String,
    }
}

list_query! {
    /// Which part.
    Part {}
}

/// Which days.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Days {
    /// The last so many; 30 when nothing is said.
    #[schemars(range(min = 1, max = 366))]
    days: Option<u32>,
    /// Only of this site.
    #[schemars(length(max = 200))]
    site: Option<String>,
}

/// What keeps failing, with what to try.
#[derive(Serialize, JsonSchema)]
pub struct AlertShown {
    #[serde(flatten)]
    alert: AlertRow,
    /// What to try, by a code that does not change.
    advice: &'static str,
    /// The same in words.
    advice_text: &'static str,
}

pub fn add(routes: &mut Routes) {
    use Scope::{Admin, Read};
    routes
        .add(Route::get("/admin/api/stats/overview", Read, "The dashboard"), overview)
        .add(Route::get("/admin/api/stats/by-site", Read, "Articles by site"), by_site)
        .add(Route::get("/admin/api/stats/by-dept", Read, "Articles by department"), by_dept)
        .add(
            Route::get("/admin/api/stats/by-day", Read, "Articles by day, the oldest first")
                .may(&[Code::NotFound]),
            by_day,
        )
        .add(Route::get("/admin/api/stats/freshness", Read, "How fresh each site is"), freshness)
        .add(Route::get("/admin/api/alerts", Read, "What keeps failing, since when, and what to try"), alerts)
        .add(Route::get("/admin/api/logs/recent", Read, "Requests, the newest first"), logs)
        .add(Route::get("/admin/api/audit", Admin, "Who changed what, the newest first"), audit);
}

async fn overview(call: Call) -> Result<Shown<Overview>, Problem> {
    Ok(Shown(call.desk().overview().await?))
}

async fn by_site(call: Call<Nothing, Part>) -> Result<Shown<Page<SiteCount>>, Problem> {
    let rows = call.desk().stats_by_site().await?;
    Ok(Shown(Page::of(rows, &call.query.paging(), "by-site")?))
}

async fn by_dept(call: Call<Nothing, Part>) -> Result<Shown<Page<DeptCount>>, Problem> {
    let rows = call.desk().stats_by_department().await?;
    Ok(Shown(Page::of(rows, &call.query.paging(), "by-dept")?))
}

async fn by_day(call: Call<Nothing, Days>) -> Result<Shown<Vec<DayCount>>, Problem> {
    let Days { days, site } = &call.query;
    Ok(Shown(call.desk().stats_by_day(days.unwrap_or(30), site.as_deref()).await?))
}

async fn freshness(call: Call<Nothing, Part>) -> Result<Shown<Page<Freshness>>, Problem> {
    let rows = call.desk().freshness().await?;
    Ok(Shown(Page::of(rows, &call.query.paging(), "freshness")?))
}

async fn alerts(call: Call<Nothing, Part>) -> Result<Shown<Page<AlertShown>>, Problem> {
    let rows = call.desk().alerts().await?;
    Ok(Shown(Page::of(rows, &call.query.paging(), "alerts")?.map(|alert| {
        let hint = advice(None, alert.error.as_deref().unwrap_or(""));
        AlertShown { alert, advice: hint.code, advice_text: hint.text }
    })))
}

async fn logs(call: Call<Nothing, Logs>) -> Result<Shown<Page<LogRow>>, Problem> {
    let paging = call.query.paging();
    let Logs { hours, site, target, success, .. } = call.query.clone();
    let query = LogQuery { hours, site, target, errors_only: success == Some(false) };
    let page = call.desk().logs(query, paging).await?;
    Ok(Shown(page))
}

async fn audit(call: Call<Nothing, Audit>) -> Result<Shown<Page<AuditRow>>, Problem> {
    let paging = call.query.paging();
    let Audit { actor, action, subject, .. } = call.query.clone();
    let query = AuditQuery { actor, action, subject };
    let page = call.desk().audit(query, paging).await?;
    Ok(Shown(page))
}
