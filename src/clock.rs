//! Time and sleep: the only place that reads a clock, so that everything else can be run again with the same result.

use std::time::{Duration, Instant};

/// The end of an allowed time.
#[derive(Clone, Copy, Debug)]
pub struct Deadline(Instant);

impl Deadline {
    /// The moment `allowed` from now.
    pub fn after(allowed: Duration) -> Self {
        let now = Instant::now();
        Self(now.checked_add(allowed).unwrap_or(now))
    }

    /// What is left; zero once it has passed.
    pub fn remaining(self) -> Duration {
        self.0.saturating_duration_since(Instant::now())
    }

    /// Whether it has passed.
    pub fn is_over(self) -> bool {
        self.remaining().is_zero()
    }
}

/// Sleeps for `time`, a short one: waits of minutes belong to a loop that can say what it waits for.
#[allow(clippy::disallowed_methods, reason = "this is the one place")]
pub fn sleep(time: Duration) {
    std::thread::sleep(time);
}

/// Reads a duration as Go's `time.ParseDuration` does, for lengths of time that are not negative:
/// decimal numbers, each with a unit (`ns us µs ms s m h`), such as `15m`, `1h30m`, `1.5h`, `300ms`, or `0`.
///
/// # Errors
/// A sentence that says what is wrong.
pub fn parse_duration(text: &str) -> Result<Duration, String> {
    let wrong = || format!("`{text}` is not a duration such as 90s, 15m or 1h30m");
    if text == "0" {
        return Ok(Duration::ZERO);
    }
    let mut total: u128 = 0;
    let mut rest = text;
    while !rest.is_empty() {
        let split = rest.find(|c: char| !c.is_ascii_digit() && c != '.').ok_or_else(wrong)?;
        let (number, after) = rest.split_at(split);
        let end = after.find(|c: char| c.is_ascii_digit() || c == '.').unwrap_or(after.len());
        let (unit, next) = after.split_at(end);
        total =
            total.checked_add(nanoseconds(number, unit).ok_or_else(wrong)?).ok_or_else(wrong)?;
        rest = next;
    }
    match u64::try_from(total) {
        Ok(nanoseconds) if !text.is_empty() && nanoseconds <= i64::MAX as u64 => {
            Ok(Duration::from_nanos(nanoseconds))
        }
        _ => Err(wrong()),
    }
}

fn nanoseconds(number: &str, unit: &str) -> Option<u128> {
    let unit: u128 = match unit {
        "ns" => 1,
        "us" | "µs" | "μs" => 1_000,
        "ms" => 1_000_000,
        "s" => 1_000_000_000,
        "m" => 60_000_000_000,
        "h" => 3_600_000_000_000,
        _ => return None,
    };
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if (whole.is_empty() && fraction.is_empty()) || whole.len() > 19 || fraction.len() > 18 {
        return None;
    }
    let parse =
        |digits: &str| if digits.is_empty() { Some(0) } else { digits.parse::<u128>().ok() };
    let scale = 10u128.checked_pow(u32::try_from(fraction.len()).ok()?)?;
    Some(parse(whole)?.checked_mul(unit)? + parse(fraction)?.checked_mul(unit)? / scale)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_as_go_reads_them() {
        for (text, milliseconds) in [
            ("0", 0),
            ("15m", 900_000),
            ("1h30m", 5_400_000),
            ("8s", 8_000),
            ("500ms", 500),
            ("1.5h", 5_400_000),
            (".5s", 500),
            ("1.s", 1_000),
            ("1000us", 1),
        ] {
            assert_eq!(parse_duration(text), Ok(Duration::from_millis(milliseconds)), "{text}");
        }
    }

    #[test]
    fn what_is_no_duration_is_an_error() {
        for text in ["", "5", "m", "5x", "-5s", "1h 30m", ".s", "1..5s", "99999999999h", "٣s"] {
            assert!(parse_duration(text).is_err(), "{text}");
        }
    }
}
