//! Whether a source publishes in clusters or keeps its distance: how likely news is by the age of the last.
//!
//! After a burst more may follow for an hour; a source with one notice a day has none left once it came. Both show in
//! the same count: events seen at an age against those that rate and habit alone would have let expect there.

use std::f64::consts::LN_2;

const BANDS: usize = 10;
/// Where each band of ages ends, in seconds; the last is open.
const ENDS: [i64; BANDS] = [1800, 3600, 7200, 14_400, 28_800, 57_600, 86_400, 129_600, 259_200, i64::MAX];
/// Items closer together are one event.
const ONE_EVENT: i64 = 600;
/// Each band leans on "as usual" by so many events.
const LEAN: f64 = 8.0;
/// Evidence fades by half in this many days.
const HALF_LIFE: f64 = 63.0;

/// The ages at which one source has published.
#[derive(Clone, Debug)]
pub struct Pulse {
    last: Option<i64>,
    events: [f64; BANDS],
    expected: [f64; BANDS],
    /// How much likelier than usual news is in each band.
    factor: [f64; BANDS],
    /// Events per item: a batch of five is one event.
    events_per_item: f64,
}

impl Default for Pulse {
    fn default() -> Pulse {
        Pulse {
            last: None,
            events: [0.0; BANDS],
            expected: [0.0; BANDS],
            factor: [1.0; BANDS],
            events_per_item: 1.0,
        }
    }
}

impl Pulse {
    /// Days went by.
    pub fn fade(&mut self, days: f64) {
        let kept = (-days * LN_2 / HALF_LIFE).exp();
        self.events.iter_mut().chain(&mut self.expected).for_each(|sum| *sum *= kept);
    }

    /// A stretch around `at` brought nothing, where so many items would usually have come.
    pub fn quiet(&mut self, at: i64, expected: f64) {
        if let Some(age) = self.last.map(|last| at - last).filter(|age| *age >= ONE_EVENT) {
            self.expected[band(age)] += expected;
        }
    }

    /// An item came.
    pub fn item(&mut self, at: i64) {
        if let Some(age) = self.last.map(|last| at - last).filter(|age| *age >= ONE_EVENT) {
            self.events[band(age)] += 1.0;
        }
        self.last = self.last.max(Some(at));
    }

    /// Draws the conclusions, after evidence came in.
    pub fn learn(&mut self) {
        let [events, expected] = [self.events, self.expected].map(|sums| sums.iter().sum::<f64>());
        self.events_per_item = ((events + 2.0) / (expected + 2.0)).min(1.0);
        for (band, factor) in self.factor.iter_mut().enumerate() {
            *factor = (self.events[band] + LEAN) / (self.expected[band] * self.events_per_item + LEAN);
        }
    }

    /// Bends usual expectations over pieces of time from `now` on by the age of the last item, as long as that is
    /// likely to be the last one still; afterwards things are as usual.
    pub fn bend(&self, now: i64, edges: &[i64], items: &mut [f64]) {
        let Some(last) = self.last else {
            return;
        };
        let mut still_last = 1.0;
        for (item, pair) in items.iter_mut().zip(edges.windows(2)) {
            let bent = *item * self.factor[band(now + (pair[0] + pair[1]) / 2 - last)];
            *item = still_last * bent + (1.0 - still_last) * *item;
            still_last *= 1.0 - (bent * self.events_per_item).min(1.0);
        }
    }
}

fn band(age: i64) -> usize {
    ENDS.iter().position(|end| age < *end).unwrap_or(BANDS - 1)
}
