//! What many tries of one endpoint come to, while they are made: counts, the first failures, and no more than that, so that a probe of
//! a day needs no more space than one of a minute.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use super::timeline::{Bucket, Timeline};
use super::times::{Latency, Times};
use super::{Cause, Outcome, Try};

/// The most failures that are kept one by one.
const MOST_FAILURES: usize = 1000;

/// Many tries of one endpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tally {
    tries: u64,
    failures: u64,
    marked: u64,
    /// How many were not made, because too many before them had no answer yet or the machine slept.
    pub left_out: u64,
    first: Vec<Try>,
    causes: BTreeMap<Cause, u64>,
    times: Times,
    timeline: Timeline,
    longest: Duration,
    /// The first failure since the last success.
    down_since: Option<Duration>,
    /// The numbers of tries without an answer yet.
    waiting: BTreeSet<u64>,
    /// Answers that came before those of earlier tries: no more than begin while the slowest of them is waited for.
    early: BTreeMap<u64, Try>,
}

impl Tally {
    /// Of no try yet; one is to be made each `interval`.
    pub fn new(interval: Duration) -> Self {
        Self {
            tries: 0,
            failures: 0,
            marked: 0,
            left_out: 0,
            first: Vec::new(),
            causes: BTreeMap::new(),
            times: Times::default(),
            timeline: Timeline::new(interval),
            longest: Duration::ZERO,
            down_since: None,
            waiting: BTreeSet::new(),
            early: BTreeMap::new(),
        }
    }

    /// The try of this number begins.
    pub fn begin(&mut self, number: u64) {
        self.waiting.insert(number);
    }

    /// A try has ended; `is_marked` where its failure is to be counted apart too.
    pub fn end(&mut self, one: Try, is_marked: bool) {
        self.waiting.remove(&one.number);
        if is_marked && !one.outcome.is_success() {
            self.marked += 1;
        }
        self.early.insert(one.number, one);
        // What an outage is depends on the order in which tries began.
        while let Some(first) = self.early.first_entry() {
            if self.waiting.first().is_some_and(|waiting| waiting < first.key()) {
                break;
            }
            let one = first.remove();
            self.count(one);
        }
    }

    fn count(&mut self, one: Try) {
        self.tries += 1;
        self.timeline.add(one.at, !one.outcome.is_success());
        let since = *self.down_since.get_or_insert(one.at);
        let until = if one.outcome.is_success() { one.at } else { one.at + one.took };
        self.longest = self.longest.max(until.saturating_sub(since));
        match one.outcome {
            Outcome::Success { .. } => {
                self.times.add(one.took);
                self.down_since = None;
            }
            Outcome::Failure { cause, .. } => {
                self.failures += 1;
                *self.causes.entry(cause).or_default() += 1;
                if self.first.len() < MOST_FAILURES {
                    self.first.push(one);
                }
            }
        }
    }

    /// How many tries were made.
    pub fn tries(&self) -> u64 {
        self.tries
    }

    /// How many of them failed.
    pub fn failures(&self) -> u64 {
        self.failures
    }

    /// How many of those were counted apart.
    pub fn marked(&self) -> u64 {
        self.marked
    }

    /// The first that failed, in the order in which they began.
    pub fn first_failures(&self) -> &[Try] {
        &self.first
    }

    /// How often each cause was met, by cause.
    pub fn causes(&self) -> impl Iterator<Item = (Cause, u64)> {
        self.causes.iter().map(|(cause, count)| (*cause, *count))
    }

    /// How long the successes took; `None` where there are none.
    pub fn latency(&self) -> Option<Latency> {
        self.times.latency()
    }

    /// The longest time without a success: from the first failure in a row to the next success, or to the end.
    pub fn longest_outage(&self) -> Duration {
        self.longest
    }

    /// The tries in pieces of equal length, at most 60 of them, each of whole intervals; and that length.
    pub fn timeline(&self) -> (Duration, Vec<Bucket>) {
        self.timeline.told()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn ms(number: u64) -> Duration {
        Duration::from_millis(number)
    }

    /// A try each 100 ms: a success takes its number, a failure (0) takes 50 ms.
    fn tried(at: usize, took: u64) -> Try {
        let failure = Outcome::Failure { cause: Cause::Refused, message: String::new() };
        Try {
            number: at as u64,
            at: ms(at as u64 * 100),
            took: ms(if took == 0 { 50 } else { took }),
            outcome: if took == 0 { failure } else { Outcome::Success { status: 200 } },
        }
    }

    /// All begin, and end the other way round.
    fn tally(times: &[u64]) -> Tally {
        let mut tally = Tally::new(ms(100));
        (0..times.len()).for_each(|at| tally.begin(at as u64));
        for (at, took) in times.iter().enumerate().rev() {
            tally.end(tried(at, *took), false);
        }
        tally
    }

    #[test]
    fn percentiles_are_by_nearest_rank() {
        let times: Vec<u64> = (1..=200).rev().collect();
        let latency = tally(&times).latency().unwrap();
        let of = [latency.least, latency.half, latency.p90, latency.p99, latency.most];
        assert_eq!(of, [ms(1), ms(100), ms(180), ms(198), ms(200)]);
        let one = tally(&[7, 0]).latency().unwrap();
        assert_eq!((one.least, one.p99), (ms(7), ms(7)));
        assert_eq!(tally(&[0]).latency(), None);
    }

    #[test]
    fn an_outage_lasts_until_the_next_success() {
        // Failures at 100 and 200, success at 300: 200 ms; the one at 500 fails for 50 ms, and nothing follows.
        assert_eq!(tally(&[1, 0, 0, 1, 1, 0]).longest_outage(), ms(200));
        assert_eq!(tally(&[0, 0]).longest_outage(), ms(150));
        assert_eq!(tally(&[5, 5]).longest_outage(), ms(0));
        assert_eq!(tally(&[]).longest_outage(), ms(0));
    }

    #[test]
    fn the_timeline_has_a_sign_for_each_piece() {
        let signs = |tally: &Tally| -> String {
            tally.timeline().1.into_iter().map(Bucket::sign).collect()
        };
        assert_eq!(signs(&tally(&[1, 0, 0, 1])), ".xx.");
        // 1000 tries of 100 ms: pieces of 17.
        let long: Vec<u64> = (0..1000).map(|at| u64::from(!(500..505).contains(&at))).collect();
        let tally_of_long = tally(&long);
        let shown = signs(&tally_of_long);
        assert_eq!((shown.len(), tally_of_long.timeline().0), (59, ms(1700)));
        assert_eq!(shown.matches('!').count(), 1, "{shown}");
        assert_eq!(signs(&tally(&[])), "");
    }

    #[test]
    fn causes_are_counted() {
        assert!(tally(&[1, 0, 0]).causes().eq([(Cause::Refused, 2)]));
    }

    proptest! {
        /// Whatever order answers come in, within what waits at one time, the tally is that of the order in which tries began.
        #[test]
        fn the_order_of_answers_makes_no_difference(
            times in proptest::collection::vec(0u64..4, 0..80),
            picks in proptest::collection::vec(0usize..8, 80..81),
        ) {
            let mut mixed = Tally::new(ms(100));
            let (mut waiting, mut next): (Vec<usize>, usize) = (Vec::new(), 0);
            for pick in &picks {
                while waiting.len() < 8 && next < times.len() {
                    mixed.begin(next as u64);
                    waiting.push(next);
                    next += 1;
                }
                if !waiting.is_empty() {
                    let at = waiting.remove(pick % waiting.len());
                    mixed.end(tried(at, times[at]), false);
                }
            }
            let mut ordered = Tally::new(ms(100));
            for (at, took) in times.iter().enumerate() {
                ordered.begin(at as u64);
                ordered.end(tried(at, *took), false);
            }
            prop_assert!(mixed.early.is_empty());
            prop_assert_eq!(mixed, ordered);
        }
    }

    /// A day at 100 ms: half a million successes of all lengths, every third try a failure.
    #[test]
    fn a_day_of_tries_needs_no_more_space_than_an_hour() {
        let mut tally = Tally::new(ms(100));
        let mut sizes = Vec::new();
        for at in 0..864_000_usize {
            let took = if at % 3 == 0 { 0 } else { 1 + (at as u64 * 7919) % 5000 };
            tally.begin(at as u64);
            tally.end(tried(at, took), at >= 432_000);
            if at == 36_000 || at == 863_999 {
                let kept = tally.first.len() + tally.early.len() + tally.waiting.len();
                sizes.push((kept, tally.times.classes(), tally.timeline.kept()));
            }
        }
        assert_eq!(sizes[0].0, MOST_FAILURES);
        assert_eq!(sizes[1].0, MOST_FAILURES);
        assert!(sizes[1].1 <= 5000 && sizes[1].2 <= 3840, "{sizes:?}");
        assert_eq!((tally.tries(), tally.failures(), tally.marked()), (864_000, 288_000, 144_000));
        let (length, pieces) = tally.timeline();
        assert!(pieces.len() <= 60 && length * 60 >= Duration::from_secs(86_400), "{length:?}");
        assert_eq!(pieces.iter().map(|piece| piece.tries).sum::<u64>(), 864_000);
        assert_eq!(pieces.iter().map(|piece| piece.failures).sum::<u64>(), 288_000);
    }
}
