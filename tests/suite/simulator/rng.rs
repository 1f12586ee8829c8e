//! A seeded source of chance: one seed is one history, on every machine.

use crate::support::random::Random;

/// The generator.
#[derive(Clone)]
pub(super) struct Rng(Random);

impl Rng {
    /// The chance of one part of a history: another part that draws more does not move this one.
    pub(super) fn of_part(seed: u64, part: u64) -> Self {
        let state = seed.wrapping_mul(0xD134_2543_DE82_EF95).wrapping_add(part << 56);
        let mut random = Random::from_state(state);
        random.draw();
        Rng(random)
    }

    /// A number below `end`.
    pub(super) fn below(&mut self, end: u64) -> u64 {
        self.0.below(end)
    }

    /// A number from `low` up to and without `high`.
    pub(super) fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.below(high - low)
    }

    /// True in `percent` of a hundred draws.
    pub(super) fn chance(&mut self, percent: u64) -> bool {
        self.0.chance(percent)
    }

    /// One of `choices`.
    pub(super) fn pick<T: Clone>(&mut self, choices: &[T]) -> T {
        self.0.pick(choices).clone()
    }

    /// Forty hex digits: a commit's id, or half a uid.
    pub(super) fn hex40(&mut self) -> String {
        let text = format!("{:016x}{:016x}{:016x}", self.0.draw(), self.0.draw(), self.0.draw());
        text[..40].to_owned()
    }
}
