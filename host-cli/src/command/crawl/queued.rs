//! `dibao crawl --all` goes through the queue: every target is put in line, and this process works until each of them
//! has been crawled, here or by a daemon beside it.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use dibao::model::{Site, Target};
use dibao::queue::{Hold, JobQuery, JobState, Queue, WorkOptions, process};
use dibao::{CrawlEvent, CrawlJob, crawl_job, crawl_report};

use super::{End, Job};
use crate::exit::{Exit, Told};
use crate::output::{minute, note};
use crate::progress::Lane;

/// How often it is looked whether all targets are through.
const LOOK: Duration = Duration::from_millis(200);

/// In how many of these rounds it is looked what others do.
const SAY_EVERY: u32 = 10;

/// A job in these states is waited for; one that waits for its next attempt is not.
const OPEN: [JobState; 4] = [JobState::Queued, JobState::Scheduled, JobState::Running, JobState::Cancelling];

pub async fn run(job: &Job, targets: &[(Site, Target)]) -> anyhow::Result<Vec<End>> {
    let queue = job.engine.queue();
    let jobs = targets.iter().map(|(site, target)| {
        let asked =
            CrawlJob { target: target.code.clone(), max_items: job.args.max_items, force: job.args.force };
        crawl_job(site, target, &asked)
    });
    let submitted = queue.submit_all(jobs.collect()).await?;
    for known in submitted.iter().filter(|job| !job.fresh) {
        // It waits for its next attempt: whoever asks by hand means now.
        queue.retry(known.id).await?;
    }
    let waiting: Vec<(i64, String)> =
        submitted.iter().zip(targets).map(|(job, (_, target))| (job.id, target.code.clone())).collect();
    let ends: Arc<Mutex<HashMap<String, End>>> = Arc::default();
    let lanes: Arc<Mutex<HashMap<String, Lane>>> = Arc::default();
    let watcher = {
        let (lanes, board, sink, cancel) =
            (lanes.clone(), job.board.clone(), job.sink.clone(), job.cancel.clone());
        Arc::new(move |target: &str, event: &CrawlEvent| {
            let mut lanes = lanes.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            lanes.entry(target.to_owned()).or_insert_with(|| board.lane(target)).see(event);
            if let (CrawlEvent::Stored(article), Some(sink)) = (event, &sink) {
                // What is stored stays: `dibao export` writes it again.
                if !sink.put(article).unwrap_or(false) {
                    cancel.cancel();
                }
            }
        })
    };
    let end = {
        let (ends, lanes) = (ends.clone(), lanes.clone());
        Arc::new(move |target: &str, result: &dibao::Result<dibao::Report>| {
            let lane = lanes.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).remove(target);
            if let Some(lane) = lane {
                lane.end(result.is_ok());
            }
            let result = match result {
                Ok(report) => Ok(report.clone()),
                Err(error) => Err(Told::of(error).into()),
            };
            let mut ends = ends.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            ends.insert(target.to_owned(), End { target: target.to_owned(), result });
        })
    };
    let handlers = job.engine.watched_handlers(Some(watcher), Some(end));
    let options = WorkOptions {
        workers: job.args.jobs as usize,
        // Whoever stands before it frees the disk himself, and starts it again.
        patience: Duration::from_secs(10),
        ..WorkOptions::default()
    };
    // The workers end with this command, or when all its targets are through.
    let stop = job.cancel.child_token();
    let look = async {
        let ids: Vec<i64> = waiting.iter().map(|(id, _)| *id).collect();
        let open =
            JobQuery { ids: Some(ids.clone()), states: OPEN.to_vec(), limit: 1, ..JobQuery::default() };
        let mut others = Others::default();
        for round in 0u32.. {
            if queue.table().jobs(open.clone()).await?.is_empty() {
                stop.cancel();
            }
            if stop.is_cancelled() {
                break;
            }
            if round % SAY_EVERY == SAY_EVERY - 1 {
                others.say(queue, &ids).await?;
            }
            tokio::select! {
                () = tokio::time::sleep(LOOK) => {}
                () = stop.cancelled() => break,
            }
        }
        Ok::<(), anyhow::Error>(())
    };
    let (worked, looked) = tokio::join!(queue.work(handlers, options, stop.clone(), false), look);
    worked?;
    looked?;
    let mut told = std::mem::take(&mut *ends.lock().unwrap_or_else(|poisoned| poisoned.into_inner()));
    let all = JobQuery {
        ids: Some(waiting.iter().map(|(id, _)| *id).collect()),
        limit: u32::try_from(waiting.len()).unwrap_or(u32::MAX).max(1),
        ..JobQuery::default()
    };
    let mut rows: HashMap<i64, dibao::queue::Job> =
        queue.table().jobs(all).await?.into_iter().map(|row| (row.id, row)).collect();
    // What has ended elsewhere, or with the worker it lost, is told by what is stored of it.
    let ends = waiting.into_iter().filter_map(|(id, target)| {
        told.remove(&target).or_else(|| stored(target, rows.remove(&id), job.cancel.is_cancelled()))
    });
    Ok(ends.collect())
}

/// How a target ended by its stored job. None: it has not ended, because this command was told to stop.
fn stored(target: String, row: Option<dibao::queue::Job>, cancelled: bool) -> Option<End> {
    let Some(row) = row else {
        let words = "its job ended, and it is forgotten how; `dibao target show` tells more".to_owned();
        return Some(End { target, result: Err(Told::new(words, Exit::Other).into()) });
    };
    if let Some(report) = crawl_report(&row) {
        return Some(End { target, result: Ok(report) });
    }
    let error = row.error.or(row.hold_why);
    let (words, exit) = match row.state {
        JobState::Done | JobState::Expired => return None,
        JobState::Failed => (error.unwrap_or_else(|| "it failed".to_owned()), class(row.error_class)),
        JobState::Cancelled => ("it was called off".to_owned(), Exit::Interrupted),
        JobState::RetryWait => {
            let words = format!("not before {}: {}", minute(row.due_at), error.unwrap_or_default());
            (words, if row.hold == Some(Hold::Host) { Exit::Busy } else { class(row.error_class) })
        }
        _ if cancelled => return None,
        state => (format!("it has not ended ({})", state.as_str()), Exit::Busy),
    };
    Some(End { target, result: Err(Told::new(words, exit).into()) })
}

/// The exit code of a class of errors by its name.
fn class(name: Option<String>) -> Exit {
    let class = name.and_then(|name| serde_json::from_value(name.into()).ok());
    class.map_or(Exit::Other, Exit::of_class)
}

/// Workers of other processes that are at what this command waits for. Each is told of once.
#[derive(Default)]
struct Others(HashSet<i64>);

impl Others {
    async fn say(&mut self, queue: &Queue, ids: &[i64]) -> anyhow::Result<()> {
        let ours = std::process::id().to_string();
        for lease in queue.table().leases().await? {
            let (owner, lane) = (process(&lease.owner), &lease.lane);
            if owner == ours || lease.waiting || self.0.contains(&lease.token) {
                continue;
            }
            // It has one of our jobs, or the lane that one of them waits in.
            let states = vec![JobState::Queued, JobState::Running, JobState::Cancelling];
            let waits = JobQuery {
                ids: Some(ids.to_vec()),
                lane: Some(lane.clone()),
                states,
                limit: 1,
                ..JobQuery::default()
            };
            if !queue.table().jobs(waits).await?.is_empty() {
                let job = lease.job.map(|job| format!(" (job {job})")).unwrap_or_default();
                note(format_args!("dibao: waiting for {lane}: process {owner} is at work there{job}"));
                self.0.insert(lease.token);
            }
        }
        Ok(())
    }
}
