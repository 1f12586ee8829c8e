//! Numbers that look random and are the same on every run.

pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: &str) -> Self {
        let start = 0xcbf2_9ce4_8422_2325u64;
        Random(
            seed.bytes().fold(start, |h, b| (h ^ u64::from(b)).wrapping_mul(0x100_0000_01b3)) | 1,
        )
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    pub(super) fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    pub(super) fn pick<'v, T>(&mut self, values: &'v [T]) -> Option<&'v T> {
        if values.is_empty() { None } else { Some(&values[self.below(values.len())]) }
    }
}
