//! How long many tries took, in a space that does not grow with their number.

use std::collections::BTreeMap;
use std::time::Duration;

/// How many classes there are between a length and its double: what is told is off by less than a thousandth.
const CLASSES: u64 = 1 << CLASS_BITS;
const CLASS_BITS: u32 = 10;

/// How long successes took, by nearest rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Latency {
    /// The shortest.
    pub least: Duration,
    /// Half of them took no longer.
    pub half: Duration,
    /// Nine of ten took no longer.
    pub p90: Duration,
    /// 99 of 100 took no longer.
    pub p99: Duration,
    /// The longest.
    pub most: Duration,
}

/// Lengths by class, each class with its number and the longest of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Times {
    classes: BTreeMap<u64, (u64, Duration)>,
    count: u64,
    least: Option<Duration>,
}

impl Times {
    pub(super) fn add(&mut self, time: Duration) {
        let class = self.classes.entry(class_of(time)).or_default();
        *class = (class.0 + 1, class.1.max(time));
        self.count += 1;
        self.least = Some(self.least.map_or(time, |least| least.min(time)));
    }

    #[cfg(test)]
    pub(super) fn classes(&self) -> usize {
        self.classes.len()
    }

    /// What they come to; `None` where there are none.
    pub(super) fn latency(&self) -> Option<Latency> {
        let (least, most) = (self.least?, self.classes.values().last()?.1);
        let rank = |percent: u64| {
            let place = (self.count * percent).div_ceil(100).max(1);
            let mut below = 0;
            let mut classes = self.classes.values();
            let found = classes.find(|(count, _)| {
                below += count;
                below >= place
            });
            found.map_or(most, |(_, longest)| *longest)
        };
        Some(Latency { least, half: rank(50), p90: rank(90), p99: rank(99), most })
    }
}

/// Microseconds below twice [`CLASSES`] are classes of their own; above, classes grow with the length.
fn class_of(time: Duration) -> u64 {
    let time = u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
    let shift = time.checked_ilog2().unwrap_or(0).saturating_sub(CLASS_BITS);
    u64::from(shift) * CLASSES + (time >> shift)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Against all lengths, sorted.
        #[test]
        fn percentiles_are_those_of_all_lengths_to_a_thousandth(
            lengths in proptest::collection::vec(prop_oneof![0u64..5_000, 0u64..90_000_000], 1..400)
        ) {
            let mut times = Times::default();
            lengths.iter().for_each(|length| times.add(Duration::from_micros(*length)));
            let mut sorted = lengths.clone();
            sorted.sort_unstable();
            let rank = |percent: usize| sorted[(sorted.len() * percent).div_ceil(100).max(1) - 1];
            let found = times.latency().unwrap();
            prop_assert_eq!(found.least, Duration::from_micros(sorted[0]));
            prop_assert_eq!(found.most, Duration::from_micros(*sorted.last().unwrap()));
            for (told, percent) in [(found.half, 50), (found.p90, 90), (found.p99, 99)] {
                let (told, exact) = (u64::try_from(told.as_micros()).unwrap(), rank(percent));
                prop_assert!(exact <= told && told - exact <= exact / 1000, "{} {}", told, exact);
            }
        }
    }

    #[test]
    fn the_space_does_not_grow_with_the_number() {
        let mut times = Times::default();
        // Every length up to a minute, a microsecond apart at first.
        let mut length = 0u64;
        while length < 60_000_000 {
            times.add(Duration::from_micros(length));
            length += 1 + length / 5000;
        }
        assert!(times.count > 40_000 && times.classes.len() < 18_000, "{}", times.classes.len());
    }
}
