//! How hard a target's host is asked, and who said so (I14, S2-64): the whole chain as one function.
//!
//! The layers, the first one that says something wins, field by field:
//!
//! 1. the engine's one interval for everything (`--interval`), which also takes jitter and rate away;
//! 2. the **target**: what the operator set by hand (`dibao target set`);
//! 3. the **column** of the site file, then the **site**;
//! 4. the **adapter**, which knows an interval only;
//! 5. the engine's **profile**, `polite` unless it was built with another.
//!
//! A `profile` that a layer names speaks for all fields which that layer leaves out, and hides the layers below.
//! What robots.txt asks for comes on top when a request is made: it raises the interval and never lowers it.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Map, Value};

use super::error::{ConfigError, suggestion};
use super::model::{Column, SiteConfig};
use crate::fetch::{HostPolicy, Profile, ThrottleKey};
use crate::model::{Pace, Site, Target};

/// Most requests under way to one host that may be asked for; these hosts are small.
const MOST_CONCURRENCY: u32 = 16;
/// Longest pause between two requests: a day. Beyond it a schedule is meant.
const LONGEST_INTERVAL: f64 = 86_400.0;
/// Slowest and fastest rates: below, an interval is meant; above, there is nothing to hold back.
const RATES: std::ops::RangeInclusive<f64> = 0.001..=100.0;
/// Largest burst.
const MOST_BURST: u32 = 100;

/// Who said how a host is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SettingOrigin {
    /// The engine's setting for everything.
    Engine,
    /// The operator, for this target.
    Target,
    /// The column of the site file.
    Column,
    /// The site file.
    Site,
    /// The adapter.
    Adapter,
    /// A profile that one of these named.
    Profile(Profile, &'static str),
    /// Nobody.
    Default,
}

impl fmt::Display for SettingOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SettingOrigin::Engine => f.write_str("engine"),
            SettingOrigin::Target => f.write_str("target"),
            SettingOrigin::Column => f.write_str("column"),
            SettingOrigin::Site => f.write_str("site"),
            SettingOrigin::Adapter => f.write_str("adapter"),
            SettingOrigin::Profile(profile, layer) => write!(f, "profile {profile} ({layer})"),
            SettingOrigin::Default => f.write_str("default"),
        }
    }
}

impl Serialize for SettingOrigin {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// A value and who said it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Setting<T> {
    /// What holds.
    pub value: T,
    /// Who said so.
    pub origin: SettingOrigin,
}

/// What holds for a target, under the names of site files.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct EffectivePace {
    /// The profile that fills what nobody says.
    pub profile: Setting<Profile>,
    /// Seconds between the starts of two requests.
    pub interval_sec: Setting<f64>,
    /// Up to this many are added at random.
    pub interval_jitter_sec: Setting<f64>,
    /// Requests under way at once.
    pub concurrency: Setting<u32>,
    /// Requests per second over longer times.
    pub rps: Setting<Option<f64>>,
    /// Requests that may start at once.
    pub burst: Setting<u32>,
    /// What shares the pace.
    pub throttle_by: Setting<ThrottleKey>,
    /// The longest an attachment waits for the interval.
    pub attachment_interval_cap_sec: Setting<f64>,
}

impl EffectivePace {
    /// As the gate wants it.
    pub fn policy(&self) -> HostPolicy {
        let seconds = |value: f64| Duration::try_from_secs_f64(value).unwrap_or_default();
        HostPolicy {
            max_concurrency: self.concurrency.value,
            min_interval: seconds(self.interval_sec.value),
            jitter: seconds(self.interval_jitter_sec.value),
            rps: self.rps.value,
            burst: self.burst.value,
            attachment_cap: Some(seconds(self.attachment_interval_cap_sec.value)),
            key: self.throttle_by.value,
        }
    }
}

/// Everybody who may say something, strongest first.
#[derive(Clone, Debug, Default)]
pub struct PaceLayers {
    /// The engine's one interval for everything.
    pub engine_interval: Option<Duration>,
    /// What the operator set by hand.
    pub target: Pace,
    /// The column of the site file.
    pub column: Pace,
    /// The site file.
    pub site: Pace,
    /// The adapter's own interval.
    pub adapter_interval: Option<Duration>,
    /// The engine's profile; none = [`Profile::Polite`].
    pub engine_profile: Option<Profile>,
    /// The gate's cap for attachments.
    pub attachment_cap: Duration,
}

impl PaceLayers {
    /// What the rows of a stored target say, with the site file's words kept beside them.
    pub fn of(site: &Site, target: &Target) -> PaceLayers {
        let id = target.code.strip_prefix(&format!("{}__", site.code)).unwrap_or(&target.code);
        let config = SiteConfig::deserialize(&site.source).ok();
        let column = config.as_ref().and_then(|config| config.column(id)).map(Column::pace);
        let mut layers = PaceLayers {
            target: target.pace.clone(),
            column: column.unwrap_or_default(),
            site: config.as_ref().map(SiteConfig::pace).unwrap_or_default(),
            ..PaceLayers::default()
        };
        // What a row says otherwise than the file was put there by hand.
        let (column, site_says) = (&layers.column, &mut layers.site);
        if site.concurrency != site_says.concurrency.unwrap_or(1) {
            site_says.concurrency = Some(site.concurrency);
        }
        let by_hand = |row: Option<f64>, column: Option<f64>, site: Option<f64>| {
            row.filter(|row| Some(*row) != column.or(site))
        };
        let own = &mut layers.target;
        let interval = by_hand(target.interval_sec, column.interval_sec, site_says.interval_sec);
        own.interval_sec = own.interval_sec.or(interval);
        let jitter =
            by_hand(target.interval_jitter_sec, column.interval_jitter_sec, site_says.interval_jitter_sec);
        own.interval_jitter_sec = own.interval_jitter_sec.or(jitter);
        layers
    }

    /// The first layer that says something, in itself or by the profile it names.
    fn first<T>(
        &self,
        said: impl Fn(&Pace) -> Option<T>,
        by_profile: impl Fn(&HostPolicy) -> T,
    ) -> Option<Setting<T>> {
        let layers = [
            (SettingOrigin::Target, "target", &self.target),
            (SettingOrigin::Column, "column", &self.column),
            (SettingOrigin::Site, "site", &self.site),
        ];
        layers.into_iter().find_map(|(origin, name, pace)| {
            let own = said(pace).map(|value| Setting { value, origin });
            own.or_else(|| {
                let profile = pace.profile?;
                let value = by_profile(&profile.policy());
                Some(Setting { value, origin: SettingOrigin::Profile(profile, name) })
            })
        })
    }

    /// What nobody says.
    fn rest<T>(&self, by_profile: impl Fn(&HostPolicy) -> T) -> Setting<T> {
        match self.engine_profile {
            Some(profile) => {
                let origin = SettingOrigin::Profile(profile, "engine");
                Setting { value: by_profile(&profile.policy()), origin }
            }
            None => Setting { value: by_profile(&HostPolicy::default()), origin: SettingOrigin::Default },
        }
    }

    fn field<T>(
        &self,
        said: impl Fn(&Pace) -> Option<T>,
        by_profile: impl Fn(&HostPolicy) -> T,
    ) -> Setting<T> {
        self.first(said, &by_profile).unwrap_or_else(|| self.rest(&by_profile))
    }

    /// The chain.
    pub fn effective(&self) -> EffectivePace {
        let engine = |value| Setting { value, origin: SettingOrigin::Engine };
        let interval = |policy: &HostPolicy| policy.min_interval.as_secs_f64();
        let interval_sec = match self.engine_interval {
            Some(all) => engine(all.as_secs_f64()),
            None => self.first(|pace| pace.interval_sec, interval).unwrap_or_else(|| {
                let adapter = self
                    .adapter_interval
                    .map(|own| Setting { value: own.as_secs_f64(), origin: SettingOrigin::Adapter });
                adapter.unwrap_or_else(|| self.rest(interval))
            }),
        };
        let mut interval_jitter_sec = match self.engine_interval {
            Some(_) => engine(0.0),
            None => self.field(|pace| pace.interval_jitter_sec, |policy| policy.jitter.as_secs_f64()),
        };
        if matches!(interval_jitter_sec.origin, SettingOrigin::Profile(..) | SettingOrigin::Default) {
            // Meant for the profile's own interval: a shorter one is not drowned in it.
            interval_jitter_sec.value = interval_jitter_sec.value.min(interval_sec.value / 2.0);
        }
        let profile = [("target", &self.target), ("column", &self.column), ("site", &self.site)]
            .into_iter()
            .find_map(|(name, pace)| pace.profile.map(|value| (value, name)))
            .or(self.engine_profile.map(|value| (value, "engine")));
        EffectivePace {
            profile: match profile {
                Some((value, "target")) => Setting { value, origin: SettingOrigin::Target },
                Some((value, "column")) => Setting { value, origin: SettingOrigin::Column },
                Some((value, "site")) => Setting { value, origin: SettingOrigin::Site },
                Some((value, _)) => Setting { value, origin: SettingOrigin::Engine },
                None => Setting { value: Profile::default(), origin: SettingOrigin::Default },
            },
            interval_sec,
            interval_jitter_sec,
            concurrency: self.field(|pace| pace.concurrency, |policy| policy.max_concurrency),
            rps: match self.engine_interval {
                Some(_) => Setting { value: None, origin: SettingOrigin::Engine },
                None => self.field(|pace| pace.rps.map(Some), |policy| policy.rps),
            },
            burst: self.field(|pace| pace.burst, |policy| policy.burst),
            throttle_by: self.field(|pace| pace.throttle_by, |policy| policy.key),
            // No profile speaks of attachments.
            attachment_interval_cap_sec: PaceLayers {
                target: Pace { profile: None, ..self.target.clone() },
                column: Pace { profile: None, ..self.column.clone() },
                site: Pace { profile: None, ..self.site.clone() },
                ..PaceLayers::default()
            }
            .field(|pace| pace.attachment_interval_cap_sec, |_| self.attachment_cap.as_secs_f64()),
        }
    }
}

impl Pace {
    /// The first value that cannot work: its key, what is wrong, and what to write.
    pub(super) fn fault(&self) -> Option<(&'static str, String, String)> {
        let seconds = [
            ("interval_sec", self.interval_sec),
            ("interval_jitter_sec", self.interval_jitter_sec),
            ("attachment_interval_cap_sec", self.attachment_interval_cap_sec),
        ];
        for (key, value) in seconds {
            if let Some(value) = value.filter(|value| !(0.0..=LONGEST_INTERVAL).contains(value)) {
                let fix = format!("write a number from 0 to {LONGEST_INTERVAL}");
                return Some((key, format!("{value} seconds"), fix));
            }
        }
        if let Some(value) = self.concurrency.filter(|value| !(1..=MOST_CONCURRENCY).contains(value)) {
            let fix = format!("write a number from 1 to {MOST_CONCURRENCY}");
            return Some(("concurrency", format!("{value} requests at a time"), fix));
        }
        if let Some(value) = self.rps.filter(|value| !RATES.contains(value)) {
            let fix = format!("write a number from {} to {}", RATES.start(), RATES.end());
            return Some(("rps", format!("{value} requests per second"), fix));
        }
        if let Some(value) = self.burst.filter(|value| !(1..=MOST_BURST).contains(value)) {
            let fix = format!("write a number from 1 to {MOST_BURST}");
            return Some(("burst", format!("{value} requests at once"), fix));
        }
        None
    }

    /// Changes settings by words such as `interval_sec=10`; nothing after the `=` takes one back.
    pub fn set<'a>(&self, words: impl IntoIterator<Item = &'a str>) -> Result<Pace, ConfigError> {
        let refused = |what: &str, message: String, fix: String| ConfigError::Refused {
            what: format!("`{what}`"),
            message,
            fix,
        };
        let mut fields = match serde_json::to_value(self) {
            Ok(Value::Object(fields)) => fields,
            _ => Map::new(),
        };
        for word in words {
            let Some((key, text)) = word.split_once('=') else {
                return Err(refused(word, "there is no `=`".into(), "write interval_sec=10".into()));
            };
            let (key, text) = (key.trim(), text.trim());
            if !KEYS.contains(&key) {
                return Err(refused(key, "is no setting of the pace".into(), suggestion(key, KEYS)));
            }
            fields.shift_remove(key);
            if !text.is_empty() {
                let value = serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_owned()));
                let one = Map::from_iter([(key.to_owned(), value.clone())]);
                Pace::deserialize(Value::Object(one)).map_err(|why| {
                    refused(word, why.to_string(), "`dibao site schema` says what may stand there".into())
                })?;
                fields.insert(key.to_owned(), value);
            }
        }
        let pace = Pace::deserialize(Value::Object(fields)).unwrap_or_default();
        match pace.fault() {
            Some((key, message, fix)) => Err(refused(key, message, fix)),
            None => Ok(pace),
        }
    }
}

/// The keys, as they are written.
pub(crate) const KEYS: [&str; 8] = [
    "profile",
    "interval_sec",
    "interval_jitter_sec",
    "concurrency",
    "rps",
    "burst",
    "throttle_by",
    "attachment_interval_cap_sec",
];

#[cfg(test)]
mod tests;
