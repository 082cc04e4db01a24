//! Runs at the desk: targets that are put in line by hand (S2-50, S2-62).

use std::collections::HashMap;

use serde_json::json;

use super::Desk;
use crate::config::ConfigError;
use crate::desk::{BulkAct, BulkOutcome, RunAsk, TargetQuery};
use crate::engine::{CrawlJob, crawl_job};
use crate::queue::Submitted;
use crate::{Refusal, Result};

/// Targets of one call.
const MOST: usize = 10_000;

impl Desk {
    /// Puts a crawl of a target in line. One that is off, or is in line or at work already, is a conflict (409).
    pub async fn run_target(&self, code: &str, ask: RunAsk) -> Result<i64> {
        let entry = self.entry("target.run", code, json!(ask));
        let done = async {
            let (site, target) = self.engine.stored_target(code).await?;
            if !(site.enabled && target.enabled) {
                return Err(ConfigError::disabled(if target.enabled { &site.code } else { code }).into());
            }
            let job = CrawlJob { target: code.to_owned(), max_items: ask.max_items, force: ask.force };
            match self.engine.queue().submit(crawl_job(&site, &target, &job)).await? {
                Submitted { id, fresh: true } => Ok(id),
                Submitted { id, .. } => Err(in_line(code, id).into()),
            }
        }
        .await;
        if done.is_ok() {
            self.store().audit(entry.clone()).await?;
        }
        self.settle(entry, done).await
    }

    /// The same for many; each has its own outcome.
    pub async fn run_targets(&self, codes: Vec<String>, ask: RunAsk) -> Result<Vec<BulkOutcome>> {
        let entry = self.entry(
            "target.bulk_run",
            format!("{} targets", codes.len()),
            json!({ "ask": ask, "targets": codes }),
        );
        let done = async {
            if codes.is_empty() || codes.len() > MOST {
                let message = format!("{} targets", codes.len());
                return Err(Refusal::invalid("targets", message, format!("name 1 to {MOST}")).into());
            }
            let known = self.engine.inner.store.targets(None).await?;
            let known: HashMap<&str, _> = known.iter().map(|row| (row.1.code.as_str(), row)).collect();
            let mut outcomes = Vec::with_capacity(codes.len());
            let (mut jobs, mut at) = (Vec::new(), Vec::new());
            for code in codes {
                let refusal = match known.get(code.as_str()) {
                    None => Some(Refusal::not_found("target", &code)),
                    Some((site, target)) if !(site.enabled && target.enabled) => {
                        Some(Refusal::conflict("disabled", format!("{code} is switched off")))
                    }
                    Some((site, target)) => {
                        let job =
                            CrawlJob { target: code.clone(), max_items: ask.max_items, force: ask.force };
                        at.push(outcomes.len());
                        jobs.push(crawl_job(site, target, &job));
                        None
                    }
                };
                // Filled in below for those that go.
                let act = refusal.map_or(BulkAct::Done, |refusal| refused(&refusal));
                outcomes.push(BulkOutcome { name: code, act });
            }
            let submitted = self.engine.queue().submit_all(jobs).await?;
            for (index, job) in at.into_iter().zip(submitted) {
                outcomes[index].act = match job.fresh {
                    true => BulkAct::Submitted { job: job.id },
                    false => refused(&in_line(&outcomes[index].name, job.id)),
                };
            }
            Ok(outcomes)
        }
        .await;
        if done.is_ok() {
            self.store().audit(entry.clone()).await?;
        }
        self.settle(entry, done).await
    }

    /// The same for all targets that a question finds.
    pub async fn run_found(&self, query: TargetQuery, ask: RunAsk) -> Result<Vec<BulkOutcome>> {
        let codes = self.store().target_codes(query).await?;
        self.run_targets(codes, ask).await
    }
}

fn in_line(code: &str, job: i64) -> Refusal {
    Refusal::conflict("active", format!("{code} is in line or at work already: job {job}"))
}

pub(super) fn refused(refusal: &Refusal) -> BulkAct {
    BulkAct::Refused { code: refusal.code().to_owned(), message: refusal.to_string() }
}
