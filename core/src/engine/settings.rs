//! What holds for a target: the pace, the way to its hosts, what its robots.txt asks for, and who said so.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use url::Url;

use super::{Engine, Settings, blocking};
use crate::Result;
use crate::adapter::Loaded;
use crate::clock::Timestamp;
use crate::config::{ConfigError, EffectivePace, PaceLayers, Setting, SettingOrigin, SiteConfig};
use crate::fetch::robots::{Origin, Robots};
use crate::fetch::{GateOptions, IpFamily, Tls, Wire};
use crate::model::{Site, Target};

/// Largest PEM file: a hundred certificates.
const MAX_PEM: u64 = 256 << 10;

/// What holds for a target, as `dibao target show` prints it.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct TargetSettings {
    /// Code of the target.
    pub target: String,
    /// Code of its site.
    pub site: String,
    /// Where its list begins.
    pub entry_url: String,
    /// Whether it is crawled.
    pub enabled: bool,
    /// How hard its host is asked.
    #[serde(flatten)]
    pub pace: EffectivePace,
    /// Who asks.
    pub user_agent: Setting<String>,
    /// Which addresses of a host are used.
    pub ip_family: Setting<IpFamily>,
    /// What makes the connections, without its password.
    pub proxy: Setting<Option<String>>,
    /// How many certificate authorities are trusted beside those of the web.
    pub extra_roots: Setting<usize>,
    /// What encrypts.
    pub tls: Setting<Tls>,
    /// Whether robots.txt binds.
    pub respect_robots: bool,
    /// What is known of the robots.txt of the list's host.
    pub robots: Option<KnownRobots>,
}

/// A kept copy of a robots.txt.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct KnownRobots {
    /// Whose.
    pub origin: String,
    /// When it was answered, or last confirmed.
    pub fetched_at: Timestamp,
    /// The room it asks for between two requests: it raises the interval and never lowers it.
    pub crawl_delay_sec: Option<f64>,
}

impl Engine {
    /// What holds for a stored target, and who said so; an unknown one is an error.
    pub async fn target_settings(&self, code: &str) -> Result<TargetSettings> {
        let (site, target) = self.stored_target(code).await?;
        let Loaded { adapter, .. } = self.adapter(&site.adapter).await?;
        let settings = &self.inner.settings;
        let pace = settings.pace(&site, &target, adapter.about().default_interval);
        let wire = wire(&site).await?;
        let usual = GateOptions::default().user_agent;
        let user_agent = match &wire.user_agent {
            Some(own) => Setting { value: own.clone(), origin: SettingOrigin::Site },
            None if settings.user_agent == usual => Setting { value: usual, origin: SettingOrigin::Default },
            None => Setting { value: settings.user_agent.clone(), origin: SettingOrigin::Engine },
        };
        let robots = self.known_robots(&target, &user_agent.value).await?;
        let said = SiteConfig::deserialize(&site.source).ok();
        let by = |said: bool| if said { SettingOrigin::Site } else { SettingOrigin::Default };
        let said = |key: fn(&SiteConfig) -> bool| by(said.as_ref().is_some_and(key));
        let proxy = wire.proxy.map(|mut url| {
            let _ = url.set_password(None);
            String::from(url)
        });
        Ok(TargetSettings {
            target: target.code,
            site: site.code,
            entry_url: target.entry_url,
            enabled: target.enabled && site.enabled,
            pace,
            user_agent,
            ip_family: Setting { value: wire.ip_family, origin: said(|site| site.ip_family.is_some()) },
            proxy: Setting { value: proxy, origin: said(|site| site.proxy.is_some()) },
            extra_roots: Setting {
                value: wire.extra_roots.len(),
                origin: said(|site| site.ca_file.is_some()),
            },
            tls: Setting { value: wire.tls, origin: said(|site| site.tls.is_some()) },
            respect_robots: site.respect_robots,
            robots,
        })
    }

    async fn known_robots(&self, target: &Target, agent: &str) -> Result<Option<KnownRobots>> {
        let Ok(url) = Url::parse(&target.entry_url) else { return Ok(None) };
        let Some(origin) = Origin::of(&url) else { return Ok(None) };
        let copy = self.inner.store.robots(&origin).await?;
        Ok(copy.map(|copy| KnownRobots {
            origin: origin.to_string(),
            fetched_at: copy.fetched_at,
            crawl_delay_sec: Robots::parse(&copy.body)
                .check(agent, &url)
                .crawl_delay
                .map(|d| d.as_secs_f64()),
        }))
    }
}

impl Settings {
    /// The chain with everybody in it (S2-36, S2-64, I14).
    pub(super) fn pace(&self, site: &Site, target: &Target, adapter_sec: u32) -> EffectivePace {
        let layers = PaceLayers {
            engine_interval: self.interval,
            adapter_interval: (adapter_sec > 0).then(|| Duration::from_secs(adapter_sec.into())),
            engine_profile: self.profile,
            attachment_cap: self.attachment_cap,
            ..PaceLayers::of(site, target)
        };
        layers.effective()
    }
}

/// The way to a site's hosts, as its file says. Settings that cannot work here are an error before anything is sent.
pub(super) async fn wire(site: &Site) -> Result<Wire> {
    let Ok(said) = SiteConfig::deserialize(&site.source) else { return Ok(Wire::default()) };
    let refused = |key: &str, message: String, fix: &str| ConfigError::Refused {
        what: format!("site `{}`, `{key}`", site.code),
        message,
        fix: fix.to_owned(),
    };
    let tls = said.tls.unwrap_or_default();
    if !tls.is_built_in() {
        let fix = "build dibao with the feature `native-tls` (cargo build -p dibao-cli --features native-tls), or remove the key";
        return Err(refused("tls", "this program was built without OpenSSL".into(), fix).into());
    }
    let proxy = said.proxy.as_deref().map(Wire::proxy_of).transpose();
    let proxy = proxy.map_err(|why| refused("proxy", why, "write http://host:port or socks5://host:port"))?;
    let extra_roots = match said.ca_file {
        None => Vec::new(),
        Some(file) => {
            // A site file that was read from a file has the text itself; a name comes from elsewhere.
            let pem = blocking(move || Ok(crate::config::read_pem(&file, None, MAX_PEM)?)).await?;
            let fix = "`openssl x509 -in FILE -text` shows what is in a file";
            Wire::roots_of(&pem).map_err(|why| refused("ca_file", why, fix))?
        }
    };
    Ok(Wire {
        user_agent: said.user_agent,
        ip_family: said.ip_family.unwrap_or_default(),
        proxy,
        extra_roots,
        tls,
        rendering: said.browser.unwrap_or_default(),
    })
}
