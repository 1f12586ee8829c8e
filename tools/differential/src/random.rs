//! Random choices that a seed repeats.

/// A generator of numbers (splitmix64): small, fast and the same everywhere.
#[derive(Clone, Debug)]
pub(crate) struct Random(u64);

impl Random {
    /// The generator of case `index` of a run with `seed`.
    pub(crate) fn of_case(seed: u64, index: u64) -> Self {
        let mut random = Self(seed ^ index.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        random.next();
        random
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number below `limit`, which is at least 1.
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        let limit = u64::try_from(limit.max(1)).unwrap_or(u64::MAX);
        usize::try_from(self.next() % limit).unwrap_or(0)
    }

    /// A number of `low..=high`.
    pub(crate) fn between(&mut self, low: usize, high: usize) -> usize {
        low + self.below(high - low + 1)
    }

    /// True in `percent` of 100 cases.
    pub(crate) fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// True in `count` of 1000 cases.
    pub(crate) fn rarely(&mut self, count: usize) -> bool {
        self.below(1000) < count
    }

    /// One of `choices`, which must not be empty.
    pub(crate) fn pick<'a, T>(&mut self, choices: &'a [T]) -> &'a T {
        &choices[self.below(choices.len())]
    }

    /// One of `choices`, as a text.
    pub(crate) fn word(&mut self, choices: &[&str]) -> String {
        (*self.pick(choices)).to_owned()
    }
}
