//! At which minutes of the hour a source publishes: many let their system publish on the hour or the half hour.
//!
//! Twelve bins over all hours, so that some dozens of items show it; believed by its record only, like the pictures of
//! the day in [`habit`](super::habit).

const BINS: usize = 12;
const BIN: i64 = 3600 / BINS as i64;
const TWO_BINS: i64 = 2 * BIN;
/// Flat pseudo-items.
const FLAT: f64 = 20.0;
/// Items closer together are one event.
const ONE_EVENT: i64 = 300;
/// How far the record goes for or against it, in natural logarithms, and where it begins: against it.
const MOST: f64 = 6.0;
const DOUBT: f64 = -2.0;

/// The minutes of one source.
#[derive(Clone, Debug)]
pub struct Minutes {
    seen: [f64; BINS],
    total: f64,
    record: f64,
    last_event: i64,
    /// How busy each bin is, 1 = as the mean minute.
    busy: [f64; BINS],
}

impl Default for Minutes {
    fn default() -> Minutes {
        Minutes { seen: [0.0; BINS], total: 0.0, record: DOUBT, last_event: i64::MIN, busy: [1.0; BINS] }
    }
}

impl Minutes {
    /// How busy a piece of time is; one of more than two bins has no place in the hour.
    pub fn busy(&self, middle: i64, length: i64) -> f64 {
        if length <= BIN {
            self.busy[bin(middle)]
        } else if length <= TWO_BINS {
            (self.busy[bin(middle - BIN / 2)] + self.busy[bin(middle + BIN / 2)]) / 2.0
        } else {
            1.0
        }
    }

    /// Time passed: evidence fades.
    pub fn fade(&mut self, kept: f64) {
        self.seen.iter_mut().for_each(|seen| *seen *= kept);
        self.total *= kept;
        self.record *= kept;
    }

    /// An item was published at a local moment.
    pub fn published(&mut self, local: i64) {
        if local.saturating_sub(self.last_event) < ONE_EVENT {
            return;
        }
        self.last_event = local;
        let bin = bin(local);
        self.record = (self.record + self.density(bin).max(0.05).ln()).clamp(-MOST, MOST);
        self.seen[bin] += 1.0;
        self.total += 1.0;
    }

    /// Draws the conclusions, after evidence came in.
    pub fn learn(&mut self) {
        let trust = 1.0 / (1.0 + (-self.record).exp());
        for bin in 0..BINS {
            self.busy[bin] = 1.0 - trust + trust * self.density(bin);
        }
    }

    fn density(&self, bin: usize) -> f64 {
        (self.seen[bin] * BINS as f64 + FLAT) / (self.total + FLAT)
    }
}

fn bin(local: i64) -> usize {
    (local.rem_euclid(3600) / BIN) as usize
}
