//! The queue: lanes, jobs, calling off and trying again.

use dibao::desk::{KindWaiting, Page};
use dibao::queue::{Job, JobQuery, JobState, LaneState};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::answer::Shown;
use crate::call::{Call, Route, Routes};
use crate::caller::Scope;
use crate::checked::Nothing;
use crate::paging::{Listed, list_query};
use crate::problem::{Code, Problem};

/// A job by its number.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Id {
    #[schemars(range(min = 1))]
    id: i64,
}

list_query! {
    /// Which jobs.
    Jobs {
        /// Only in these states, separated by commas.
        #[schemars(regex(pattern = r"^(scheduled|queued|retry_wait|running|cancelling|done|failed|expired|cancelled)(,(scheduled|queued|retry_wait|running|cancelling|done|failed|expired|cancelled)){0,8}$"))]
        state: String,
        /// Only of this lane: a host, for crawls.
        #[schemars(length(max = 300))]
        lane: String,
        /// Only of this kind.
        #[schemars(length(max = 100))]
        kind: String,
    }
}

/// The queue in sums.
#[derive(Serialize, JsonSchema)]
pub struct Queue {
    /// Lanes, those with waiting jobs first.
    lanes: Vec<LaneState>,
    /// Jobs that could start.
    queued: u64,
    /// Jobs that wait for their time.
    waiting: u64,
    /// Jobs at work.
    running: u64,
    /// Kinds of jobs that wait although nobody here does such work.
    unhandled: Vec<KindWaiting>,
}

/// Where a job stands now.
#[derive(Serialize, JsonSchema)]
pub struct Stands {
    id: i64,
    state: JobState,
}

pub fn add(routes: &mut Routes) {
    routes
        .add(Route::get("/admin/api/jobs/queue", Scope::Read, "The queue by lane"), queue)
        .add(Route::get("/admin/api/jobs/list", Scope::Read, "Jobs, the newest first"), jobs)
        .add(Route::get("/admin/api/jobs/{id}", Scope::Read, "One job"), job)
        .add(
            Route::post(
                "/admin/api/jobs/{id}/cancel",
                Scope::Run,
                "Calls it off; one at work is asked to stop",
            )
            .keyed(),
            cancel,
        )
        .add(
            Route::post(
                "/admin/api/jobs/{id}/retry",
                Scope::Run,
                "Lets one that ended badly, or waits, start now",
            )
            .keyed(),
            retry,
        );
}

async fn queue(call: Call) -> Result<Shown<Queue>, Problem> {
    let lanes = call.app.engine.queue().table().lanes().await?;
    let sum = |of: fn(&LaneState) -> u32| lanes.iter().map(|lane| u64::from(of(lane))).sum();
    let (queued, waiting, running) = (sum(|l| l.queued), sum(|l| l.waiting), sum(|l| l.running));
    let unhandled = call.desk().unhandled().await?;
    Ok(Shown(Queue { lanes, queued, waiting, running, unhandled }))
}

async fn jobs(call: Call<Nothing, Jobs>) -> Result<Shown<Page<Job>>, Problem> {
    let paging = call.query.paging();
    let Jobs { state, lane, kind, .. } = call.query.clone();
    let states = state.iter().flat_map(|text| text.split(',')).filter_map(JobState::named).collect();
    let query = JobQuery { states, lane, kind, ..JobQuery::default() };
    Ok(Shown(call.desk().jobs(query, paging).await?))
}

async fn job(call: Call<Id>) -> Result<Shown<Job>, Problem> {
    Ok(Shown(known(&call).await?))
}

async fn cancel(call: Call<Id>) -> Result<Shown<Stands>, Problem> {
    let job = known(&call).await?;
    if job.state.is_end() {
        return Err(over(&job));
    }
    let work = call.app.engine.queue().cancel(job.id);
    let state = call.desk().audited("job.cancel", &job.id.to_string(), serde_json::Value::Null, work).await?;
    stands(job.id, state)
}

async fn retry(call: Call<Id>) -> Result<Shown<Stands>, Problem> {
    let job = known(&call).await?;
    if job.state.is_running() || job.state == JobState::Done {
        return Err(over(&job));
    }
    let work = call.app.engine.queue().retry(job.id);
    let state = call.desk().audited("job.retry", &job.id.to_string(), serde_json::Value::Null, work).await?;
    stands(job.id, state)
}

async fn known(call: &Call<Id>) -> Result<Job, Problem> {
    let id = call.path.id;
    call.app.engine.queue().table().job(id).await?.ok_or_else(|| Problem::not_found("job", id))
}

fn over(job: &Job) -> Problem {
    let words = format!("job {} is {}: there is nothing to do", job.id, job.state.as_str());
    Problem::new(Code::Conflict, words).with("job", job.id)
}

fn stands(id: i64, state: Option<JobState>) -> Result<Shown<Stands>, Problem> {
    let state = state.ok_or_else(|| Problem::not_found("job", id))?;
    Ok(Shown(Stands { id, state }))
}
