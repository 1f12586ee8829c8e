//! What pods ask for and nodes have: processor and memory, in whole units so that sums are exact.

use std::iter::Sum;
use std::ops::{Add, AddAssign, Sub, SubAssign};

/// Bytes of a MiB.
pub const MIB: u64 = 1024 * 1024;

/// Processor and memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Amounts {
    /// Thousandths of a core.
    pub millicores: u64,
    /// Bytes.
    pub bytes: u64,
}

impl Amounts {
    /// The memory in MiB.
    #[must_use]
    pub fn mebibytes(self) -> f64 {
        mebibytes(self.bytes)
    }

    /// The greater of both, each for itself.
    #[must_use]
    pub fn max(self, other: Self) -> Self {
        Self {
            millicores: self.millicores.max(other.millicores),
            bytes: self.bytes.max(other.bytes),
        }
    }

    /// Whether both are at most those of `room`.
    #[must_use]
    pub fn fits(self, room: Self) -> bool {
        self.millicores <= room.millicores && self.bytes <= room.bytes
    }

    /// What is left of it when `other` is taken; nothing where that is more.
    #[must_use]
    pub fn saturating_sub(self, other: Self) -> Self {
        Self {
            millicores: self.millicores.saturating_sub(other.millicores),
            bytes: self.bytes.saturating_sub(other.bytes),
        }
    }

    /// `count` times as much.
    #[must_use]
    pub fn times(self, count: u64) -> Self {
        Self {
            millicores: self.millicores.saturating_mul(count),
            bytes: self.bytes.saturating_mul(count),
        }
    }
}

impl Add for Amounts {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            millicores: self.millicores.saturating_add(other.millicores),
            bytes: self.bytes.saturating_add(other.bytes),
        }
    }
}

impl AddAssign for Amounts {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sub for Amounts {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        self.saturating_sub(other)
    }
}

impl SubAssign for Amounts {
    fn sub_assign(&mut self, other: Self) {
        *self = *self - other;
    }
}

impl Sum for Amounts {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::default(), Add::add)
    }
}

/// Bytes in MiB.
#[must_use]
#[allow(clippy::cast_precision_loss, reason = "memory of a node is far below 2^53 bytes")]
pub fn mebibytes(bytes: u64) -> f64 {
    bytes as f64 / MIB as f64
}
