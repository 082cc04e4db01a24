//! Steps of an adapter for its author: through the gate, politely, turn by turn, without storing anything.

use super::Engine;
use super::request::{CrawlRequest, Of};
use crate::Result;
use crate::adapter::contract;
use crate::adapter::fixture::CaseCall;
use crate::crawl::{self, CrawlContext, Trial, TrialEvent};
use crate::model::{Site, Target};

/// A target whose adapter is tried out, step by step; see [`Engine::trial`].
pub struct TrialRequest {
    ctx: CrawlContext,
    engine: Engine,
}

impl Engine {
    /// Prepares to try an adapter on a target, which need not be stored.
    pub async fn trial(&self, site: Site, target: Target) -> Result<TrialRequest> {
        let request = CrawlRequest::new(self.clone(), Of::Code(String::new()));
        Ok(TrialRequest { ctx: self.context(&request, site, target).await?, engine: self.clone() })
    }
}

impl TrialRequest {
    /// One page of the list; `watch` is told what happens as it happens.
    pub async fn list(
        &self,
        cursor: Option<String>,
        watch: &mut (dyn FnMut(TrialEvent<'_>) + Send),
    ) -> Result<Trial> {
        self.step(CaseCall::List { cursor }, watch).await
    }

    /// One document.
    pub async fn detail(
        &self,
        entry: contract::Entry,
        watch: &mut (dyn FnMut(TrialEvent<'_>) + Send),
    ) -> Result<Trial> {
        self.step(CaseCall::Detail { entry }, watch).await
    }

    /// The adapter, as it was loaded.
    pub fn adapter(&self) -> &crate::adapter::Adapter {
        &self.ctx.adapter
    }

    async fn step(&self, call: CaseCall, watch: &mut (dyn FnMut(TrialEvent<'_>) + Send)) -> Result<Trial> {
        let done = crawl::trial(&self.ctx, call, watch).await;
        // What was learned of the host is kept: the next trial is as polite as this one.
        self.engine.inner.gate.flush().await;
        done
    }
}
