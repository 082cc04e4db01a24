//! How many items a day, with old evidence fading: three memories, each leaning on the longer one.

/// The half-lives in days. Weeks are the rule; the short one notices a source that wakes up or falls silent, the long
/// one keeps what little there is to know of a source with an item a month.
const HALF_LIVES: [f64; 3] = [112.0, 21.0, 4.0];
/// A memory leans on the longer one by this many items: below them it says little, far above them everything.
const LEAN: [f64; 3] = [0.6, 5.0, 10.0];
/// What is believed of a source of which nothing is known, in items a day.
const UNKNOWN: f64 = 0.5;
/// No source counts as slower: it is looked at anyway, and something may come back to life.
const SLOWEST: f64 = 0.005;

/// The decayed rate of one source.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rate {
    items: [f64; 3],
    days: [f64; 3],
}

impl Rate {
    /// Time passed in which everything that was published is known.
    pub fn watched(&mut self, days: f64) {
        for (i, half_life) in HALF_LIVES.iter().enumerate() {
            let kept = (-days * std::f64::consts::LN_2 / half_life).exp();
            self.items[i] *= kept;
            // The days themselves fade as they pass.
            self.days[i] = self.days[i] * kept + (1.0 - kept) * half_life / std::f64::consts::LN_2;
        }
    }

    /// Items came, that long ago.
    pub fn came(&mut self, items: f64, days_ago: f64) {
        for (i, half_life) in HALF_LIVES.iter().enumerate() {
            self.items[i] += items * (-days_ago.max(0.0) * std::f64::consts::LN_2 / half_life).exp();
        }
    }

    /// Items per day.
    pub fn per_day(&self) -> f64 {
        let mut rate = UNKNOWN;
        for (i, lean) in LEAN.iter().enumerate() {
            rate = (self.items[i] + lean) / (self.days[i] + lean / rate);
        }
        rate.max(SLOWEST)
    }
}
