//! What a host is like at which hour: calm, or failing in one of many ways. Drawn from a seed.

use std::time::Duration;

/// A small generator of its own, so that a seed means the same for ever.
#[derive(Clone)]
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Dice {
        let mut dice = Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        dice.below(2);
        dice
    }

    /// 0 … sides - 1.
    pub fn below(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % sides
    }

    pub fn seconds(&mut self, from: u64, to: u64) -> Duration {
        Duration::from_millis(from * 1000 + self.below((to - from) * 1000))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weather {
    Calm,
    Reset,
    Truncated,
    /// One byte now and then, for ever.
    Drip,
    Status(u16),
    /// This status with `Retry-After` of so many seconds.
    RetrySeconds(u16, u64),
    /// The same as a date.
    RetryDate(u16, u64),
    /// A firewall's page: with 412, or as if nothing were wrong.
    Challenge(u16),
    LoopToItself,
    /// Two pages that send each other away.
    LoopOfTwo,
}

/// The day of one host: what it is like from when on.
pub struct Forecast(Vec<(Duration, Weather)>);

/// From here on the weather is fine everywhere: who is left alone then must be asked again before midnight.
pub const EVENING: Duration = Duration::from_secs(20 * 3600);

impl Forecast {
    pub fn draw(dice: &mut Dice) -> Forecast {
        let mut periods = Vec::new();
        let mut at = Duration::ZERO;
        while at < EVENING {
            periods.push((at, Weather::Calm));
            at += dice.seconds(600, 7200);
            periods.push((at, bad(dice)));
            at += dice.seconds(120, 4800);
        }
        periods.retain(|(from, _)| *from < EVENING);
        periods.push((EVENING, Weather::Calm));
        Forecast(periods)
    }

    pub fn at(&self, time: Duration) -> Weather {
        let next = self.0.partition_point(|(from, _)| *from <= time);
        self.0[next - 1].1
    }
}

fn bad(dice: &mut Dice) -> Weather {
    match dice.below(14) {
        0 | 1 => Weather::Reset,
        2 => Weather::Truncated,
        3 => Weather::Drip,
        4 => Weather::Status(429),
        5 => Weather::Status(503),
        6 => Weather::Status(403),
        7 => Weather::RetrySeconds(429, dice.below(5400)),
        8 => Weather::RetryDate(429, dice.below(5400)),
        9 => Weather::RetrySeconds(503, dice.below(1200)),
        10 => Weather::Challenge(412),
        11 => Weather::Challenge(200),
        12 => Weather::LoopToItself,
        _ => Weather::LoopOfTwo,
    }
}
