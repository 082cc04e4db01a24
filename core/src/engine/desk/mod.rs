//! The operator's desk: every change and every question of the daemon's API, as methods with typed refusals.
//!
//! [`Engine::desk`] is given who acts; each change leaves an audit row in its own transaction, each refused one a row of its own.
//! What crosses is in [`crate::desk`]; the SQL is the store's.

mod access;
mod articles;
mod departments;
mod numbers;
mod runs;
mod search;
mod sites;
mod targets;
mod versions;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::Value;

use super::Engine;
use crate::Result;
use crate::clock::Timestamp;
use crate::desk::{Actor, AlertRow, AuditQuery, AuditRow, KindWaiting, LogQuery, LogRow, Page, Paging};
use crate::queue::{Job, JobQuery};
use crate::store::{AuditEntry, SqliteStore};

/// How long a job may wait, being due, before it is asked whether anybody does its kind of work.
const UNHANDLED: i64 = 10 * 60_000;

/// What an operator can do with an engine. Cheap to make and to clone.
#[derive(Clone)]
pub struct Desk {
    engine: Engine,
    actor: Actor,
    /// Set when a refusal was written down, by this desk or by a clone of it.
    refused: Arc<AtomicBool>,
}

impl Engine {
    /// Whatever is done at the desk is done by this actor.
    pub fn desk(&self, actor: Actor) -> Desk {
        Desk { engine: self.clone(), actor, refused: Arc::default() }
    }
}

impl Desk {
    /// Who acts.
    pub fn actor(&self) -> &Actor {
        &self.actor
    }

    fn store(&self) -> &SqliteStore {
        &self.engine.inner.rows
    }

    fn now(&self) -> Timestamp {
        self.engine.inner.settings.clock.now()
    }

    fn entry(&self, action: &'static str, subject: impl Into<String>, detail: Value) -> AuditEntry {
        AuditEntry {
            at: self.now(),
            actor: self.actor.clone(),
            action,
            subject: subject.into(),
            outcome: "ok".to_owned(),
            detail,
        }
    }

    /// Whether a refusal was written down here: then nobody else need do it.
    pub fn has_refused(&self) -> bool {
        self.refused.load(Ordering::Relaxed)
    }

    /// Does what is done by another part of the engine than this desk, and writes down that it was, or why not.
    pub async fn audited<T>(
        &self,
        action: &'static str,
        subject: &str,
        detail: Value,
        work: impl Future<Output = Result<T>>,
    ) -> Result<T> {
        let entry = self.entry(action, subject, detail);
        let done = work.await;
        if done.is_ok() {
            self.store().audit(entry.clone()).await?;
        }
        self.settle(entry, done).await
    }

    /// Writes down that a change was refused; what went through has its row already.
    async fn settle<T>(&self, entry: AuditEntry, done: Result<T>) -> Result<T> {
        if let Err(error) = &done {
            self.refused.store(true, Ordering::Relaxed);
            let outcome =
                error.refusal().map_or_else(|| error.class().as_str(), |refusal| refusal.code()).to_owned();
            if let Err(error) = self.store().audit(AuditEntry { outcome, ..entry }).await {
                tracing::warn!(%error, "a refusal could not be written down");
            }
        }
        done
    }

    /// Writes down something that was done elsewhere: what a layer above changes by other means than this desk.
    pub async fn note(
        &self,
        action: &'static str,
        subject: &str,
        outcome: &str,
        detail: Value,
    ) -> Result<()> {
        let entry = AuditEntry { outcome: outcome.to_owned(), ..self.entry(action, subject, detail) };
        Ok(self.store().audit(entry).await?)
    }

    /// Who changed what, the newest first.
    pub async fn audit(&self, query: AuditQuery, paging: Paging) -> Result<Page<AuditRow>> {
        Ok(self.store().audit_rows(query, paging).await?)
    }

    /// Requests of the last hours, the newest first.
    pub async fn logs(&self, query: LogQuery, paging: Paging) -> Result<Page<LogRow>> {
        Ok(self.store().log_page(query, paging, self.now()).await?)
    }

    /// Jobs, the newest first; `before_id` and `limit` of the query are the paging's business here.
    pub async fn jobs(&self, query: JobQuery, paging: Paging) -> Result<Page<Job>> {
        Ok(self.store().job_page(query, paging).await?)
    }

    /// Kinds of which jobs have been due for ten minutes and for which no worker of this process has a handler. Nothing is
    /// said as long as it has no workers: others may do the work.
    pub async fn unhandled(&self) -> Result<Vec<KindWaiting>> {
        let Some(kinds) = self.engine.queue().kinds() else { return Ok(Vec::new()) };
        let before = Timestamp(self.now().0.saturating_sub(UNHANDLED));
        let mut waiting = self.store().kinds_waiting(before).await?;
        waiting.retain(|row| !kinds.contains(&row.kind));
        Ok(waiting)
    }

    /// What keeps failing, the longest first.
    pub async fn alerts(&self) -> Result<Vec<AlertRow>> {
        Ok(self.store().alert_rows().await?)
    }
}
