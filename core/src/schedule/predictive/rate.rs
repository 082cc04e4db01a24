//! How many items a day, with old evidence fading: four memories, each leaning on the longer one.

/// The half-lives in days. Weeks are the rule; the short ones notice a source that wakes up or falls silent and a day on
/// which much happens, the long one keeps what little there is to know of a source with an item a month.
const HALF_LIVES: [f64; 4] = [112.0, 21.0, 4.0, 0.5];
/// A memory leans on the longer one by this many items: below them it says little, far above them everything.
const LEAN: [f64; 4] = [0.6, 5.0, 10.0, 3.0];
/// What is believed of a source of which nothing is known, in items a day.
const UNKNOWN: f64 = 0.5;
/// No source counts as slower: it is looked at anyway, and something may come back to life.
const SLOWEST: f64 = 0.005;

/// The decayed rate of one source.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rate {
    items: [f64; 4],
    days: [f64; 4],
}

impl Rate {
    /// Time passed in which everything that was published is known; by the source's habit it was worth so many mean
    /// days. A quiet night or holiday is no sign of a source that slows down.
    pub fn watched(&mut self, days: f64, usual: f64) {
        let worth = if days > 0.0 { usual / days } else { 1.0 };
        for (i, half_life) in HALF_LIVES.iter().enumerate() {
            let kept = (-days * std::f64::consts::LN_2 / half_life).exp();
            self.items[i] *= kept;
            // The days themselves fade as they pass.
            self.days[i] = self.days[i] * kept + (1.0 - kept) * half_life / std::f64::consts::LN_2 * worth;
        }
    }

    /// Items came, that long ago.
    pub fn came(&mut self, items: f64, days_ago: f64) {
        for (i, half_life) in HALF_LIVES.iter().enumerate() {
            self.items[i] += items * (-days_ago.max(0.0) * std::f64::consts::LN_2 / half_life).exp();
        }
    }

    /// Items per day over months.
    pub fn of_months(&self) -> f64 {
        let rate = (self.items[0] + LEAN[0]) / (self.days[0] + LEAN[0] / UNKNOWN);
        rate.max(SLOWEST)
    }

    /// Items per day, as of now.
    pub fn per_day(&self) -> f64 {
        let mut rate = UNKNOWN;
        for (i, lean) in LEAN.iter().enumerate() {
            rate = (self.items[i] + lean) / (self.days[i] + lean / rate);
        }
        rate.max(SLOWEST)
    }
}
