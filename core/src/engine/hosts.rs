//! Hosts for an operator: which are left alone and why, what was done to them; and his word on one of them.

use std::collections::HashMap;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;
use url::Url;

use super::Engine;
use crate::Result;
use crate::clock::Timestamp;
use crate::config::ConfigError;
use crate::fetch::breaker::Why;
use crate::fetch::hosts::HostRow;
use crate::fetch::ledger::{Day, Ledger};

/// Pages of the ledger that are looked through for today's: one a host, as a rule.
const PAGES: u32 = 100_000;
/// The longest that a host is left alone by hand.
const LONGEST: Duration = Duration::from_secs(366 * 86_400);

/// A host in a list.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct HostLine {
    /// Its name.
    pub host: String,
    /// It is left alone until then; none: it may be asked.
    pub cooling_until: Option<Timestamp>,
    /// Why.
    pub why: Option<Why>,
    /// Failures in a row, of any kind.
    pub failures: u32,
    /// When something last happened.
    pub last_seen: Timestamp,
    /// What the last answer was worth.
    pub last_verdict: Option<String>,
    /// Requests today, in UTC.
    pub requests_today: u32,
    /// Bytes of their answers.
    pub bytes_today: u64,
    /// The interval that it taught us, in milliseconds.
    pub interval_ms: Option<u64>,
}

/// All that is known of a host. Cookies are credentials: of them only the names are told.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct HostDetail {
    /// As in the list.
    #[serde(flatten)]
    pub line: HostLine,
    /// Failures of the network in a row.
    pub net_failures: u32,
    /// Openings since the last success.
    pub trips: u32,
    /// When a browser was tried in the present incident.
    pub escalated_at: Option<Timestamp>,
    /// The last answer that was not good, with its evidence.
    pub trouble: Option<String>,
    /// Names of the cookies that a browser earned.
    pub cookies: Vec<String>,
    /// The last answers, the oldest first.
    pub recent: Vec<String>,
}

impl Engine {
    /// The hosts that something is known of, by name.
    pub async fn hosts(&self) -> Result<Vec<HostLine>> {
        self.inner.gate.flush().await;
        let now = self.inner.settings.clock.now();
        let today = Day::of(now);
        let days = self.inner.store.host_days(None, PAGES).await?;
        let days: HashMap<String, Ledger> = days.into_iter().filter(|(_, page)| page.day == today).collect();
        let rows = self.inner.store.hosts().await?;
        Ok(rows.into_iter().map(|(host, row)| line(days.get(&host), host, &row, now)).collect())
    }

    /// One host; an unknown one is an error.
    pub async fn host(&self, host: &str) -> Result<HostDetail> {
        self.inner.gate.flush().await;
        let (host, row) = self.known_host(host).await?;
        let now = self.inner.settings.clock.now();
        let days = self.inner.store.host_days(Some(&host), 1).await?;
        let today = days.iter().find(|(_, page)| page.day == Day::of(now)).map(|(_, page)| page);
        Ok(HostDetail {
            line: line(today, host, &row, now),
            net_failures: row.breaker.net_failures,
            trips: row.breaker.trips,
            escalated_at: row.incident.escalated_at,
            trouble: row.trouble.as_ref().map(ToString::to_string),
            cookies: row.cookies.iter().map(|cookie| cookie.name.clone()).collect(),
            recent: row.recent.iter().map(|seen| seen.kind.to_string()).collect(),
        })
    }

    /// The politeness ledger of a host, the newest days first.
    pub async fn host_ledger(&self, host: &str, days: u32) -> Result<Vec<Ledger>> {
        self.inner.gate.flush().await;
        let (host, _) = self.known_host(host).await?;
        let days = self.inner.store.host_days(Some(&host), days).await?;
        Ok(days.into_iter().map(|(_, page)| page).collect())
    }

    /// Leaves a host alone for so long, whatever it says. Crawls of other processes heed it within seconds.
    pub async fn cool_host(&self, host: &str, span: Duration) -> Result<HostDetail> {
        let host = host_name(host)?;
        if span.is_zero() || span > LONGEST {
            return Err(ConfigError::Refused {
                what: "seconds".to_owned(),
                message: "a host is left alone for a second to a year".to_owned(),
                fix: "write another number".to_owned(),
            }
            .into());
        }
        let now = self.inner.settings.clock.now();
        let until = Timestamp(now.0.saturating_add(i64::try_from(span.as_millis()).unwrap_or(i64::MAX)));
        let _ = self.inner.gate.hosts().cool(&host, until, Why::Operator);
        let mut row = self.inner.store.host(&host).await?.unwrap_or_default();
        row.cool(until, Why::Operator, now);
        self.inner.store.save_hosts(vec![(host.clone(), row)], now).await?;
        self.host(&host).await
    }

    /// Holds nothing against a host any more: cooldown, incident, learned pace, cookies. The ledger stays.
    pub async fn reset_host(&self, host: &str) -> Result<HostDetail> {
        let (host, mut row) = self.known_host(host).await?;
        let now = self.inner.settings.clock.now();
        row.reset(now);
        self.inner.gate.hosts().reset(&host);
        self.inner.store.save_hosts(vec![(host.clone(), row)], now).await?;
        self.host(&host).await
    }

    async fn known_host(&self, host: &str) -> Result<(String, HostRow)> {
        let host = host_name(host)?;
        if let Some(row) = self.inner.store.host(&host).await? {
            return Ok((host, row));
        }
        let hosts = self.inner.store.hosts().await?;
        Err(ConfigError::unknown("host", &host, hosts.iter().map(|(name, _)| name.as_str())).into())
    }
}

fn line(today: Option<&Ledger>, host: String, row: &HostRow, now: Timestamp) -> HostLine {
    let refusal = row.breaker.refusal(now);
    HostLine {
        host,
        cooling_until: refusal.map(|(until, _)| until),
        why: refusal.map(|(_, why)| why),
        failures: row.breaker.any_failures,
        last_seen: row.seen_at,
        last_verdict: row.recent.last().map(|seen| seen.kind.to_string()),
        requests_today: today.map_or(0, |page| page.requests),
        bytes_today: today.map_or(0, |page| page.bytes),
        interval_ms: Some(row.limits.floor().as_millis() as u64).filter(|ms| *ms > 0),
    }
}

/// A host as it is written in rows; an address is understood too.
fn host_name(text: &str) -> Result<String> {
    let address = if text.contains("://") { text.to_owned() } else { format!("https://{text}/") };
    let url = Url::parse(&address).ok();
    let host = url.as_ref().and_then(Url::host_str).map(|host| host.trim_end_matches('.').to_owned());
    host.filter(|host| !host.is_empty()).ok_or_else(|| {
        ConfigError::Refused {
            what: "host".to_owned(),
            message: format!("{text:?} is no host name"),
            fix: "write www.example.org".to_owned(),
        }
        .into()
    })
}
