//! When a target is looked at, and who says so (S2-48, S2-49). Pure.
//!
//! Two chains. The cron: target → column → `default_column` → site. The adaptive policy: column → `default_column` → site.
//! What the two say together:
//!
//! | `schedule` | `adaptive` | the target is looked at |
//! |---|---|---|
//! | – | – | when something new is expected (`predictive`) |
//! | – | a policy | as that policy says |
//! | – | `off` | at `0 2 * * *`, spread over 01:00–05:00 |
//! | a cron | –, or `off` | at the cron's moments |
//! | a cron | a policy | as both say: `combine` is `either` (default), `cron_only` or `adaptive_only` |

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::model::{Column, SiteConfig};
use crate::model::{Site, Target};
use crate::schedule::{Adaptive, Trigger};

/// S2-48: what a target without a cron was looked at, before there was anything better; spread per target (S2-49).
pub const DEFAULT_CRON: &str = "0 2 * * *";
/// The spread begins at one o'clock …
const FIRST_HOUR: u32 = 1;
/// … and takes four hours: the last slot is 04:59 (I17).
const SLOTS: u32 = 240;

/// The adaptive policy, as site files name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AdaptiveKey {
    /// When something new is expected, within two base intervals of its cadence.
    Predictive,
    /// The cadences P0 to P6.
    Classic,
    /// Predictive without that bound, so that a set of sources can be held to a budget of checks.
    Budget,
    /// None: only the cron, or once a night.
    Off,
}

/// Who said it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TimingOrigin {
    /// The operator, for this target.
    Target,
    /// The column in the site file.
    Column,
    /// `default_column` in the site file.
    DefaultColumn,
    /// The site.
    Site,
    /// Nobody.
    Default,
}

impl TimingOrigin {
    /// The word under which it is stored and shown.
    pub fn as_str(self) -> &'static str {
        match self {
            TimingOrigin::Target => "target",
            TimingOrigin::Column => "column",
            TimingOrigin::DefaultColumn => "default_column",
            TimingOrigin::Site => "site",
            TimingOrigin::Default => "default",
        }
    }
}

/// When a target is looked at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Timing {
    /// What makes it due.
    pub trigger: Trigger,
    /// Who said so.
    pub origin: TimingOrigin,
}

/// The minute at which a target without a cron is looked at when no policy decides (S2-49): the first four bytes of
/// `sha256("<site>/<target>")`, big-endian, modulo 240, after 01:00 (I17).
///
/// ```
/// use dibao::config::spread_cron;
/// assert_eq!(spread_cron("ndrc", "ndrc__tz"), "17 3 * * *");
/// ```
pub fn spread_cron(site: &str, target: &str) -> String {
    let hash = Sha256::digest(format!("{site}/{target}"));
    let slot = hash.iter().take(4).fold(0u32, |number, byte| number << 8 | u32::from(*byte)) % SLOTS;
    format!("{} {} * * *", slot % 60, FIRST_HOUR + slot / 60)
}

impl Timing {
    /// The rule of one target; `file` is what is kept of the site's file, none if it has none.
    pub fn of(site: &Site, target: &Target, file: Option<&SiteConfig>) -> Timing {
        let id = target.code.strip_prefix(&format!("{}__", site.code)).unwrap_or(&target.code);
        let column = file.and_then(|file| file.column(id));
        let defaults = file.and_then(|file| file.default_column.as_ref());
        let own = column.and_then(|column| column.schedule.clone());
        let usual = defaults.and_then(|defaults| defaults.schedule.clone());
        // The row holds what the file says unless somebody set it by hand.
        let by_hand = target.schedule.clone().filter(|cron| Some(cron) != own.as_ref().or(usual.as_ref()));
        let cron = [
            (by_hand, TimingOrigin::Target),
            (own, TimingOrigin::Column),
            (usual, TimingOrigin::DefaultColumn),
            (site.schedule.clone(), TimingOrigin::Site),
        ]
        .into_iter()
        .find_map(|(cron, origin)| Some((cron?, origin)));
        let adaptive = [
            (column.and_then(|column: &Column| column.adaptive), TimingOrigin::Column),
            (defaults.and_then(|defaults| defaults.adaptive), TimingOrigin::DefaultColumn),
            (file.and_then(|file| file.adaptive), TimingOrigin::Site),
        ]
        .into_iter()
        .find_map(|(key, origin)| Some((key?, origin)));
        let combine = column
            .and_then(|column| column.combine)
            .or(defaults.and_then(|defaults| defaults.combine))
            .or(file.and_then(|file| file.combine))
            .unwrap_or_default();
        let policy = |key| match key {
            AdaptiveKey::Predictive => Some(Adaptive::Predictive),
            AdaptiveKey::Classic => Some(Adaptive::Classic),
            AdaptiveKey::Budget => Some(Adaptive::Budget),
            AdaptiveKey::Off => None,
        };
        let (policy, said) = match adaptive {
            Some((key, origin)) => (policy(key), Some(origin)),
            None => (cron.is_none().then_some(Adaptive::default()), None),
        };
        match (cron, policy) {
            (Some((cron, origin)), None) => Timing { trigger: Trigger::Cron { cron }, origin },
            (Some((cron, origin)), Some(policy)) => {
                Timing { trigger: Trigger::Adaptive { policy, cron: Some(cron), combine }, origin }
            }
            (None, Some(policy)) => {
                let trigger = Trigger::Adaptive { policy, cron: None, combine: Default::default() };
                Timing { trigger, origin: said.unwrap_or(TimingOrigin::Default) }
            }
            (None, None) => {
                let cron = spread_cron(&site.code, &target.code);
                Timing { trigger: Trigger::Cron { cron }, origin: TimingOrigin::Default }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::parse_site;
    use crate::schedule::Combine;

    fn timing(site_keys: &str, default_keys: &str, column_keys: &str, by_hand: Option<&str>) -> Timing {
        let text = format!(
            "{{site_id: a, site_name: A, base_url: 'https://a.cn', {site_keys}
             default_column: {{list_url: 'https://a.cn/{{column}}/', list_selector: {{row: li}}, {default_keys}}},
             columns: [{{column_id: x, {column_keys}}}]}}"
        );
        let file = parse_site(&text, "a.yaml").unwrap();
        let (site, mut targets) = file.into_rows().unwrap();
        if let Some(cron) = by_hand {
            targets[0].schedule = Some(cron.to_owned());
        }
        Timing::of(&site, &targets[0], Some(&file))
    }

    #[test]
    fn the_first_who_names_a_cron_wins_and_is_named() {
        let cron = |cron: &str| Trigger::Cron { cron: cron.into() };
        for (site, default, column, hand, expected, origin) in [
            (
                "schedule: '1 1 * * *',",
                "schedule: '2 2 * * *'",
                "schedule: '3 3 * * *'",
                Some("4 4 * * *"),
                "4 4 * * *",
                TimingOrigin::Target,
            ),
            (
                "schedule: '1 1 * * *',",
                "schedule: '2 2 * * *'",
                "schedule: '3 3 * * *'",
                None,
                "3 3 * * *",
                TimingOrigin::Column,
            ),
            (
                "schedule: '1 1 * * *',",
                "schedule: '2 2 * * *'",
                "",
                None,
                "2 2 * * *",
                TimingOrigin::DefaultColumn,
            ),
            ("schedule: '1 1 * * *',", "", "", None, "1 1 * * *", TimingOrigin::Site),
            ("adaptive: off,", "", "", None, "1 1 * * *", TimingOrigin::Default),
        ] {
            let got = timing(site, default, column, hand);
            assert_eq!((got.trigger, got.origin), (cron(expected), origin), "{site} {default} {column}");
        }
    }

    #[test]
    fn without_a_cron_it_is_looked_when_something_is_expected() {
        let adaptive = |policy, cron: Option<&str>, combine| Trigger::Adaptive {
            policy,
            cron: cron.map(Into::into),
            combine,
        };
        for (site, column, expected, origin) in [
            ("", "", adaptive(Adaptive::Predictive, None, Combine::Either), TimingOrigin::Default),
            (
                "adaptive: classic,",
                "",
                adaptive(Adaptive::Classic, None, Combine::Either),
                TimingOrigin::Site,
            ),
            (
                "adaptive: classic,",
                "adaptive: budget",
                adaptive(Adaptive::Budget, None, Combine::Either),
                TimingOrigin::Column,
            ),
            (
                "adaptive: predictive,",
                "schedule: '0 9 * * *'",
                adaptive(Adaptive::Predictive, Some("0 9 * * *"), Combine::Either),
                TimingOrigin::Column,
            ),
            (
                "adaptive: predictive, combine: cron_only,",
                "schedule: '0 9 * * *'",
                adaptive(Adaptive::Predictive, Some("0 9 * * *"), Combine::CronOnly),
                TimingOrigin::Column,
            ),
        ] {
            let got = timing(site, "", column, None);
            assert_eq!((got.trigger, got.origin), (expected, origin), "{site} {column}");
        }
    }

    #[test]
    fn i17_the_spread_has_its_test_vector_and_stays_between_one_and_five() {
        // `printf gd/gd__tzgg | sha256sum` begins with d2e14307, which is 119 modulo 240: 02:59.
        assert_eq!(spread_cron("gd", "gd__tzgg"), "59 2 * * *");
        let mut slots = std::collections::BTreeSet::new();
        for n in 0..4_000 {
            let cron = spread_cron("site", &format!("site__{n}"));
            let hour: u32 = cron.split(' ').nth(1).unwrap().parse().unwrap();
            assert!((1..5).contains(&hour), "{cron}");
            slots.insert(cron);
        }
        assert_eq!(slots.len(), 240, "four thousand targets use every slot");
    }
}
