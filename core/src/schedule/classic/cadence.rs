//! The seven cadences, what they are called and which mean interval earns which (S0-10 … S0-12).

use serde::{Deserialize, Serialize};

/// How often a source is looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the names are the seed's and say nothing more than their order")]
pub enum Cadence {
    P0,
    P1,
    #[default]
    P2,
    P3,
    P4,
    P5,
    P6,
}

impl Cadence {
    /// All of them, the quickest first.
    pub const ALL: [Cadence; 7] =
        [Cadence::P0, Cadence::P1, Cadence::P2, Cadence::P3, Cadence::P4, Cadence::P5, Cadence::P6];

    /// The base interval in seconds (S0-10).
    pub fn seconds(self) -> i64 {
        match self {
            Cadence::P0 => 900,
            Cadence::P1 => 1800,
            Cadence::P2 => 3600,
            Cadence::P3 => 7200,
            Cadence::P4 => 14_400,
            Cadence::P5 => 28_800,
            Cadence::P6 => 86_400,
        }
    }

    /// `"P0"` … `"P6"`, as the table keeps it.
    pub fn name(self) -> &'static str {
        ["P0", "P1", "P2", "P3", "P4", "P5", "P6"][self as usize]
    }

    /// The cadence of that name; anything else is the default (S0-38: a damaged row starts over, it does not stop).
    pub fn of_name(name: &str) -> Cadence {
        Cadence::ALL.into_iter().find(|cadence| cadence.name() == name).unwrap_or_default()
    }
}

/// What a source's history looks like; each kind has one cadence (S0-11).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "the names are the seed's; the thresholds are at `cadence_of_interval`")]
pub enum Frequency {
    Realtime,
    High,
    #[default]
    Daily,
    DailyFixed,
    Weekly,
    Monthly,
    Low,
}

impl Frequency {
    /// The cadence of this kind.
    pub fn cadence(self) -> Cadence {
        Cadence::ALL[self as usize]
    }

    /// `"realtime"` … `"low"`, as the table keeps it.
    pub fn name(self) -> &'static str {
        ["realtime", "high", "daily", "daily_fixed", "weekly", "monthly", "low"][self as usize]
    }
}

/// The kind of a source by its mean interval in hours and its items per day (S0-12, with the OR of I2).
pub fn cadence_of_interval(hours: f64, per_day: f64) -> Frequency {
    match hours {
        _ if per_day >= 5.0 => Frequency::Realtime,
        h if h < 6.0 => Frequency::Realtime,
        h if h < 18.0 => Frequency::High,
        h if h < 36.0 => Frequency::Daily,
        h if h < 72.0 => Frequency::DailyFixed,
        h if h < 168.0 => Frequency::Weekly,
        h if h < 720.0 => Frequency::Monthly,
        _ => Frequency::Low,
    }
}
