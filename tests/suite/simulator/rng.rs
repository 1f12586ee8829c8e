//! A seeded source of chance (splitmix64): one seed is one history, on every machine.

/// The generator.
#[derive(Clone)]
pub(super) struct Rng(u64);

impl Rng {
    /// The chance of one part of a history: another part that draws more does not move this one.
    pub(super) fn of_part(seed: u64, part: u64) -> Self {
        let mut rng = Rng(seed.wrapping_mul(0xD134_2543_DE82_EF95).wrapping_add(part << 56));
        rng.draw();
        rng
    }

    fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number below `end`.
    pub(super) fn below(&mut self, end: u64) -> u64 {
        self.draw() % end
    }

    /// A number from `low` up to and without `high`.
    pub(super) fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.below(high - low)
    }

    /// True in `percent` of a hundred draws.
    pub(super) fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    /// One of `choices`.
    pub(super) fn pick<T: Clone>(&mut self, choices: &[T]) -> T {
        let at = self.below(choices.len() as u64) as usize;
        choices[at].clone()
    }

    /// Forty hex digits: a commit's id, or half a uid.
    pub(super) fn hex40(&mut self) -> String {
        let text = format!("{:016x}{:016x}{:016x}", self.draw(), self.draw(), self.draw());
        text[..40].to_owned()
    }
}
