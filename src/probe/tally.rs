//! What many tries of one endpoint come to.

use std::time::Duration;

use super::{Cause, Outcome, Try};

/// The most pieces of a timeline.
const MOST_BUCKETS: u32 = 60;

/// Many tries of one endpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tally {
    /// All of them, in the order in which they were due.
    pub tries: Vec<Try>,
    /// How many were not made, because too many before them had no answer yet or the machine slept.
    pub left_out: u64,
}

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

/// A piece of the timeline.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bucket {
    /// The tries that began in it.
    pub tries: usize,
    /// Those of them that failed.
    pub failures: usize,
}

impl Tally {
    /// Of tries in any order.
    pub fn of(mut tries: Vec<Try>, left_out: u64) -> Self {
        tries.sort_by_key(|one| one.number);
        Self { tries, left_out }
    }

    /// The tries that failed.
    pub fn failures(&self) -> impl Iterator<Item = &Try> {
        self.tries.iter().filter(|one| !one.outcome.is_success())
    }

    /// How often each cause was met, by cause.
    pub fn causes(&self) -> Vec<(Cause, usize)> {
        let mut counts: Vec<(Cause, usize)> = Vec::new();
        for one in &self.tries {
            let Outcome::Failure { cause, .. } = one.outcome else { continue };
            match counts.iter_mut().find(|(known, _)| *known == cause) {
                Some((_, count)) => *count += 1,
                None => counts.push((cause, 1)),
            }
        }
        counts.sort();
        counts
    }

    /// How long the successes took; `None` where there are none.
    pub fn latency(&self) -> Option<Latency> {
        let successes = self.tries.iter().filter(|one| one.outcome.is_success());
        let mut times: Vec<Duration> = successes.map(|one| one.took).collect();
        times.sort();
        let (least, most) = (*times.first()?, *times.last()?);
        let rank = |percent: usize| times[(times.len() * percent).div_ceil(100).max(1) - 1];
        Some(Latency { least, half: rank(50), p90: rank(90), p99: rank(99), most })
    }

    /// The longest time without a success: from the first failure in a row to the next success, or to the end.
    pub fn longest_outage(&self) -> Duration {
        let (mut longest, mut began) = (Duration::ZERO, None);
        for one in &self.tries {
            let is_success = one.outcome.is_success();
            let since: Duration = *began.get_or_insert(one.at);
            let until = if is_success { one.at } else { one.at + one.took };
            longest = longest.max(until.saturating_sub(since));
            if is_success {
                began = None;
            }
        }
        longest
    }

    /// The tries in pieces of equal length, at most 60 of them, none shorter than `interval`; and that length.
    pub fn timeline(&self, interval: Duration) -> (Duration, Vec<Bucket>) {
        let end = self.tries.iter().map(|one| one.at).max().unwrap_or_default();
        let length = (end / MOST_BUCKETS + Duration::from_nanos(1)).max(interval);
        let place =
            |at: Duration| usize::try_from(at.as_nanos() / length.as_nanos().max(1)).unwrap_or(0);
        let mut buckets = vec![Bucket::default(); place(end) + usize::from(!self.tries.is_empty())];
        for one in &self.tries {
            if let Some(bucket) = buckets.get_mut(place(one.at)) {
                bucket.tries += 1;
                bucket.failures += usize::from(!one.outcome.is_success());
            }
        }
        (length, buckets)
    }
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
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(number: u64) -> Duration {
        Duration::from_millis(number)
    }

    /// A try each 100 ms: a success takes its number, a failure (0) takes 50 ms.
    fn tally(times: &[u64]) -> Tally {
        let tries = times.iter().enumerate().map(|(at, took)| {
            let failure = Outcome::Failure { cause: Cause::Refused, message: String::new() };
            let is_failure = *took == 0;
            Try {
                number: at as u64,
                at: ms(at as u64 * 100),
                took: ms(if is_failure { 50 } else { *took }),
                outcome: if is_failure { failure } else { Outcome::Success { status: 200 } },
            }
        });
        Tally::of(tries.rev().collect(), 0)
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
            tally.timeline(ms(100)).1.into_iter().map(Bucket::sign).collect()
        };
        assert_eq!(signs(&tally(&[1, 0, 0, 1])), ".xx.");
        // 1000 tries of 100 ms: pieces of more than one.
        let long: Vec<u64> = (0..1000).map(|at| u64::from(!(500..505).contains(&at))).collect();
        let shown = signs(&tally(&long));
        assert_eq!(shown.len(), 60);
        assert_eq!(shown.matches('!').count(), 1, "{shown}");
        assert_eq!(signs(&tally(&[])), "");
    }

    #[test]
    fn causes_are_counted() {
        assert_eq!(tally(&[1, 0, 0]).causes(), [(Cause::Refused, 2)]);
    }
}
