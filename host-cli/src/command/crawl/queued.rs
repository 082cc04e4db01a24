//! `dibao crawl --all` goes through the queue: every target is put in line, and this process works until each of them
//! has been crawled, here or by a daemon beside it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use dibao::model::{Site, Target};
use dibao::queue::{JobState, WorkOptions};
use dibao::{CrawlEvent, CrawlJob, crawl_job};

use super::{End, Job};
use crate::exit::Told;
use crate::progress::Lane;

/// How often it is looked whether all targets are through.
const LOOK: Duration = Duration::from_millis(200);

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
    let ends: Arc<Mutex<Vec<End>>> = Arc::default();
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
            ends.push(End { target: target.to_owned(), result });
        })
    };
    let handlers = job.engine.watched_handlers(Some(watcher), Some(end));
    let options = WorkOptions { workers: job.args.jobs as usize, ..WorkOptions::default() };
    // The workers end with this command, or when all its targets are through.
    let stop = job.cancel.child_token();
    let look = async {
        let table = queue.table();
        while !stop.is_cancelled() {
            let mut open = false;
            for (id, _) in &waiting {
                let state = table.job(*id).await?.map(|job| job.state);
                open |= matches!(
                    state,
                    Some(JobState::Queued | JobState::Scheduled | JobState::Running | JobState::Cancelling)
                );
            }
            if !open {
                stop.cancel();
            }
            tokio::time::sleep(LOOK).await;
        }
        Ok::<(), anyhow::Error>(())
    };
    let (worked, looked) = tokio::join!(queue.work(handlers, options, stop.clone(), false), look);
    worked?;
    looked?;
    let mut ends = std::mem::take(&mut *ends.lock().unwrap_or_else(|poisoned| poisoned.into_inner()));
    ends.sort_by_key(|end| targets.iter().position(|(_, target)| target.code == end.target));
    Ok(ends)
}
