//! Asks for one address by hand: what the gate decides about it, and what comes back. Nothing is stored but what is
//! known of its host.

use std::sync::Arc;
use std::time::Duration;

use url::Url;

use super::{Engine, settings, site_hosts};
use crate::Result;
use crate::fetch::escalate::Strategy;
use crate::fetch::robots::Standing;
use crate::fetch::{
    Ask, Expects, FetchError, Fetched, Grant, HostPolicy, Method, PublicRule, Purpose, RobotsMode, Step, Wire,
};
use crate::model::{Site, Target};

/// What came of asking for an address.
#[derive(Debug)]
pub struct Lookup {
    /// The stored site whose settings were used; none: the defaults.
    pub site: Option<String>,
    /// Every decision on the way, in order.
    pub steps: Vec<Step>,
    /// The answer.
    pub result: std::result::Result<Fetched, FetchError>,
}

impl Engine {
    /// Fetches an address through the gate, under the settings of the stored site it belongs to, and tells each decision
    /// in order. An error status is an answer; see [`Lookup::result`].
    pub async fn look_up(&self, url: Url, strategy: Option<Strategy>) -> Result<Lookup> {
        let (site, mut ask) = self.ask_by_hand(url).await?;
        if let Some(strategy) = strategy {
            ask.strategy = strategy;
        }
        let (steps, result) = self.inner.gate.explain(&ask).await;
        self.inner.gate.flush().await;
        Ok(Lookup { site, steps, result })
    }

    /// What the robots.txt of an address's origin says at the moment; asked for if nothing is known. None for addresses
    /// that have none.
    pub async fn robots(&self, url: &Url) -> Result<Option<Standing>> {
        let (_, mut ask) = self.ask_by_hand(url.clone()).await?;
        ask.robots = RobotsMode::Respect { on_unreachable: self.inner.settings.on_unreachable };
        let standing = self.inner.gate.robots(&ask).await;
        self.inner.gate.flush().await;
        Ok(standing)
    }

    /// Whoever types an address may see it: the grant is everything, the other checks stay.
    pub(super) async fn ask_by_hand(&self, url: Url) -> Result<(Option<String>, Ask)> {
        let everything = ["*".to_owned()];
        let found = self.site_of(&url).await?;
        let mut hosts: Vec<String> = url.host_str().map(str::to_owned).into_iter().collect();
        let settings = &self.inner.settings;
        let mut policy = match settings.interval {
            Some(min_interval) => {
                HostPolicy { min_interval, jitter: Duration::ZERO, ..HostPolicy::default() }
            }
            None => HostPolicy::default(),
        };
        let mut robots = RobotsMode::Respect { on_unreachable: settings.on_unreachable };
        let mut strategy = Strategy::Auto;
        let mut wire = Wire::default();
        if let Some((site, target)) = &found {
            hosts.extend(site_hosts(site, target, &target.config));
            policy = settings.pace(site, target, 0).policy();
            wire = settings::wire(site).await?;
            strategy = Strategy::named(&site.strategy);
            if !site.respect_robots {
                robots = RobotsMode::Bypass;
            }
        }
        let ask = Ask {
            purpose: Purpose::Detail,
            method: Method::Get,
            url,
            headers: Vec::new(),
            body: None,
            expects: Expects::Any,
            grant: Arc::new(Grant::new("by hand", &everything, &everything, &hosts)),
            public: Arc::new(PublicRule::new(&settings.public_suffixes, &hosts)),
            policy,
            robots,
            strategy,
            wire: Arc::new(wire),
            pulse: Default::default(),
        };
        Ok((found.map(|(site, _)| site.code), ask))
    }

    /// The stored site to which the host of an address belongs.
    async fn site_of(&self, url: &Url) -> Result<Option<(Site, Target)>> {
        let host = url.host_str().unwrap_or_default();
        let targets = self.inner.store.targets(None).await?;
        Ok(targets.into_iter().find(|(site, target)| {
            site_hosts(site, target, &target.config).iter().any(|known| known == host)
        }))
    }
}
