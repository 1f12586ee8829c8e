//! Numbers that look random and are the same on every run and machine (splitmix64, S. Vigna).

/// A generator: one seed is one row of numbers.
#[derive(Clone)]
pub(crate) struct Random(u64);

impl Random {
    /// Of a seed.
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5eed)
    }

    /// That goes on from this state: equal states give equal rows.
    #[cfg(feature = "git")]
    pub(crate) fn from_state(state: u64) -> Self {
        Self(state)
    }

    /// Of a text (FNV-1a).
    pub(crate) fn of_text(seed: &str) -> Self {
        let start = 0xcbf2_9ce4_8422_2325u64;
        let add = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
        Self::new(seed.bytes().fold(start, add))
    }

    /// The next number.
    pub(crate) fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `bound`, of the same type.
    pub(crate) fn below<N: TryInto<u64> + TryFrom<u64>>(&mut self, bound: N) -> N {
        let bound = bound.try_into().ok().unwrap();
        N::try_from(self.draw() % bound).ok().unwrap()
    }

    /// True in `percent` of a hundred draws.
    pub(crate) fn chance(&mut self, percent: u64) -> bool {
        self.draw() % 100 < percent
    }

    /// One of `all`, where there are some.
    pub(crate) fn choose<'a, T>(&mut self, all: &'a [T]) -> Option<&'a T> {
        if all.is_empty() { None } else { all.get(self.below(all.len())) }
    }

    /// One of `all`, of which there are some.
    pub(crate) fn pick<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        self.choose(all).unwrap()
    }
}
