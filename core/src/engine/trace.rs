//! Publishing histories from the store's own looks, for whoever asks what a policy would have done.

use super::Engine;
use crate::Result;
use crate::clock::Timestamp;
use crate::schedule::simulate::{History, Trace};
use crate::schedule::target_schedule;

impl Engine {
    /// When targets published, as their looks have shown, ready for [`simulate`](crate::schedule::simulate); of all targets when
    /// none is named. What was published before `since` is left out, and a target of which nothing is known then, too.
    pub async fn schedule_history_trace(
        &self,
        targets: &[String],
        since: Option<Timestamp>,
    ) -> Result<Trace> {
        let mut codes = Vec::with_capacity(targets.len());
        for code in targets {
            codes.push(self.stored_target(code).await?.1.code);
        }
        if targets.is_empty() {
            let known = self.inner.store.targets(None).await?;
            codes.extend(known.into_iter().map(|(_, target)| target.code));
        }
        let table = &self.inner.table;
        let since = since.map_or(i64::MIN, |since| since.0.div_euclid(1_000));
        let mut trace = Trace::default();
        for code in codes {
            let schedule = table.schedule(&target_schedule(&code)).await?;
            let tz = schedule.and_then(|schedule| schedule.zone).unwrap_or(self.inner.settings.zone);
            let mut published = table.look_history(&code).await?.published(tz);
            published.retain(|at| *at >= since);
            if !published.is_empty() {
                trace.sources.push(History { id: code, tz, published });
            }
        }
        trace.tidy();
        Ok(trace)
    }
}
