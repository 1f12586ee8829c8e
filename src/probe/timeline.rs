//! When tries began, in pieces of equal length whose number is bounded.

use std::time::Duration;

/// The most pieces that are told.
const MOST_PIECES: usize = 60;
/// The most that are kept; where more would be needed, two become one.
const MOST_KEPT: usize = 64 * MOST_PIECES;

/// A piece of the timeline.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bucket {
    /// The tries that began in it.
    pub tries: u64,
    /// Those of them that failed.
    pub failures: u64,
}

impl Bucket {
    /// One sign: `.` all well, `!` some failed, `x` all failed, and a space for no tries.
    pub fn sign(self) -> char {
        match (self.tries, self.failures) {
            (0, _) => ' ',
            (_, 0) => '.',
            (tries, failures) if tries == failures => 'x',
            _ => '!',
        }
    }

    fn add(&mut self, other: Self) {
        self.tries += other.tries;
        self.failures += other.failures;
    }
}

/// Pieces of a length that doubles as the time goes on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Timeline {
    length: Duration,
    pieces: Vec<Bucket>,
}

impl Timeline {
    /// None is shorter than `interval`.
    pub(super) fn new(interval: Duration) -> Self {
        Self { length: interval.max(Duration::from_nanos(1)), pieces: Vec::new() }
    }

    pub(super) fn add(&mut self, at: Duration, is_failure: bool) {
        while self.place(at) >= MOST_KEPT {
            self.length *= 2;
            self.pieces = joined(&self.pieces, 2);
        }
        let place = self.place(at);
        if place >= self.pieces.len() {
            self.pieces.resize(place + 1, Bucket::default());
        }
        self.pieces[place].add(Bucket { tries: 1, failures: u64::from(is_failure) });
    }

    fn place(&self, at: Duration) -> usize {
        usize::try_from(at.as_nanos() / self.length.as_nanos()).unwrap_or(usize::MAX)
    }

    #[cfg(test)]
    pub(super) fn kept(&self) -> usize {
        self.pieces.len()
    }

    /// At most 60 pieces, and the length of one.
    pub(super) fn told(&self) -> (Duration, Vec<Bucket>) {
        let together = self.pieces.len().div_ceil(MOST_PIECES).max(1);
        let length = self.length * u32::try_from(together).unwrap_or(u32::MAX);
        (length, joined(&self.pieces, together))
    }
}

/// As many pieces as come together made one.
fn joined(pieces: &[Bucket], together: usize) -> Vec<Bucket> {
    let join = |some: &[Bucket]| {
        let mut all = Bucket::default();
        some.iter().for_each(|one| all.add(*one));
        all
    };
    pieces.chunks(together).map(join).collect()
}
