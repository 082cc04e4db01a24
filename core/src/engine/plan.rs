//! After a crawl: what it brought is written down, and the next look is planned (S0-19, S0-22, C7).

use std::sync::Arc;

use super::{Engine, crawl_lane};
use crate::Result;
use crate::clock::Timestamp;
use crate::crawl::{Report, StopReason};
use crate::error::{Error, ErrorClass};
use crate::fetch::FetchErrorKind;
use crate::model::{Site, Target};
use crate::schedule::due::adaptive_policy;
use crate::schedule::look::{Forecast, HeldUntil, Layer, Look};
use crate::schedule::{Trigger, target_schedule};
use crate::store::{Store, StoreError};

impl Engine {
    /// Writes down a crawl that ended. Planning that fails is no failure of the crawl: the schedule keeps the due time that it
    /// got when it was fired, which is the default cadence (S0-38).
    pub(super) async fn plan_next(
        &self,
        store: &Arc<dyn Store>,
        of: (&Site, &Target),
        since: Timestamp,
        ended: &Result<Report>,
    ) {
        let (site, target) = of;
        let Some((new, failed)) = seen(ended) else { return };
        let settings = &self.inner.settings;
        let now = settings.clock.now();
        let forecast = match failed {
            None => self.forecast(&target.code, now).await,
            Some(_) => Ok(None),
        };
        let forecast = forecast.unwrap_or_else(|error| {
            tracing::warn!(target = %target.code, %error, "nothing could be predicted; its cadence decides");
            None
        });
        let look = Look {
            target: target.code.clone(),
            source_type: site.source_type(),
            since,
            now,
            new,
            failed,
            forecast,
            holds: self.holds(site, target, now),
            said: ended.as_ref().ok().and_then(|report| report.said.clone()),
            zone: settings.zone,
            random: settings.entropy.unit(),
        };
        match store.record_look(look).await {
            Ok(_) => self.inner.bell.ring(),
            // The lease is lost: whoever has it now plans.
            Err(StoreError::Fenced { .. }) => {}
            Err(error) => tracing::warn!(target = %target.code, %error, "the next look could not be planned"),
        }
    }

    /// What the predictive policy says of a target, from the store's own history.
    async fn forecast(&self, code: &str, now: Timestamp) -> Result<Option<Forecast>> {
        let table = &self.inner.table;
        let Some(schedule) = table.schedule(&target_schedule(code)).await? else { return Ok(None) };
        if !matches!(schedule.trigger, Trigger::Adaptive { .. }) {
            return Ok(None);
        }
        let (policy, zone) = (adaptive_policy(&schedule.trigger), schedule.zone_or(self.inner.settings.zone));
        let price = table.budget().await?.price;
        let history = table.look_history(code).await?;
        super::blocking(move || Ok(history.forecast(policy, zone, now, price))).await
    }

    /// What holds back whoever wants to look at a target now.
    pub(super) fn holds(&self, site: &Site, target: &Target, now: Timestamp) -> Vec<HeldUntil> {
        let host = crawl_lane(site, target);
        let hosts = self.gate().hosts();
        let cooling = hosts.refusal(&host).map(|(until, why)| HeldUntil {
            layer: Layer::Host,
            until,
            why: why.as_str().to_owned(),
        });
        let interval = self.inner.settings.pace(site, target, 0).policy().min_interval;
        let paced = hosts.get(&host).and_then(|row| row.started_at).map(|started| HeldUntil {
            layer: Layer::Pace,
            until: Timestamp(started.0.saturating_add(interval.as_millis() as i64)),
            why: format!("{} s between requests", interval.as_secs_f64()),
        });
        cooling.into_iter().chain(paced).filter(|hold| hold.until > now).collect()
    }
}

/// What a look has shown: articles that are new, or why nothing was seen. None: nobody looked, or somebody will go on.
fn seen(ended: &Result<Report>) -> Option<(u32, Option<ErrorClass>)> {
    match ended {
        Ok(report) if matches!(report.stop, StopReason::Cancelled | StopReason::Cooldown) => None,
        Ok(report) => Some((report.items_new, None)),
        Err(Error::Interrupted | Error::Busy(_) | Error::Store(_)) => None,
        Err(Error::Fetch(error)) if matches!(error.kind(), FetchErrorKind::CoolingDown { .. }) => None,
        Err(error) => Some((0, Some(error.class()))),
    }
}
