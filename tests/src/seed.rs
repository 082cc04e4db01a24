//! The only source of chance: small pure generators keyed by (seed, host, number).
//! Decides nothing about content; two equal keys give the same stream in every process.

/// SplitMix64: one multiply-and-shift chain per draw, good enough for prose and fast enough for benchmarks.
#[derive(Debug, Clone)]
pub(crate) struct Chance(u64);

impl Chance {
    /// A stream that depends on nothing but its arguments.
    pub(crate) fn new(seed: u64, host: &str, what: &str, number: u64) -> Self {
        let mut state = seed ^ 0x9E37_79B9_7F4A_7C15;
        for part in [host.as_bytes(), what.as_bytes(), &number.to_le_bytes()] {
            for byte in part {
                state = (state ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01B3);
            }
            state = state.rotate_left(23) ^ part.len() as u64;
        }
        let mut chance = Self(state);
        chance.next(); // FNV leaves the low bits of neighbouring numbers alike; one step spreads them
        chance
    }

    /// The next 64 bits.
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number below `end` (0 when `end` is 0).
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        if end == 0 { 0 } else { self.next() % end }
    }

    /// One of the words.
    pub(crate) fn pick<'a>(&mut self, words: &[&'a str]) -> &'a str {
        words[self.below(words.len() as u64) as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::Chance;

    #[test]
    fn a_stream_depends_on_every_part_of_its_key_and_on_nothing_else() {
        let draw = |seed, host, what, number| Chance::new(seed, host, what, number).next();
        let one = draw(1, "a", "title", 7);
        assert_eq!(one, draw(1, "a", "title", 7));
        for other in [
            draw(2, "a", "title", 7),
            draw(1, "b", "title", 7),
            draw(1, "a", "body", 7),
            draw(1, "a", "title", 8),
        ] {
            assert_ne!(one, other);
        }
    }
}
