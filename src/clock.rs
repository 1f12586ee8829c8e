//! Time and sleep: the only place that reads a clock, so that everything else can be run again with the same result.

use std::sync::{Condvar, Mutex, PoisonError};
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

    /// This moment, or `allowed` from now where that is sooner.
    #[must_use]
    pub fn sooner(self, allowed: Duration) -> Self {
        let other = Self::after(allowed);
        if other.0 < self.0 { other } else { self }
    }

    /// Whether it has passed.
    pub fn is_over(self) -> bool {
        self.remaining().is_zero()
    }
}

/// How long the last answer may take, which is asked for when the time is over or nearly so.
const LAST_ANSWER: Duration = Duration::from_secs(2);

/// A time that bounds everything that is asked within it.
#[derive(Clone, Copy, Debug)]
pub struct Allowance {
    end: Deadline,
    last: Deadline,
}

impl Allowance {
    /// The time `allowed`, from now on.
    pub fn of(allowed: Duration) -> Self {
        let last = Deadline::after(allowed.saturating_add(LAST_ANSWER));
        Self { end: Deadline::after(allowed), last }
    }

    /// When an answer is given up that is asked for now and may take `most`: at the end, so that a server that hangs holds nobody for
    /// longer. What is asked for when that is near has a moment all the same, for the last look at how things stand.
    pub fn answer(self, most: Duration) -> Deadline {
        let end = match self.end.remaining() < LAST_ANSWER {
            true => self.last.sooner(LAST_ANSWER),
            false => self.end,
        };
        end.sooner(most)
    }
}

/// A clock that runs from when it was made.
#[derive(Clone, Copy, Debug)]
pub struct Stopwatch(Instant);

impl Stopwatch {
    /// One that runs from now.
    pub fn start() -> Self {
        Self(Instant::now())
    }

    /// One that has run for `time` already, as far as the clock goes back.
    #[cfg(test)]
    pub(crate) fn start_before(time: Duration) -> Self {
        let now = Instant::now();
        Self(now.checked_sub(time).unwrap_or(now))
    }

    /// The time since it was started.
    pub fn elapsed(self) -> Duration {
        self.0.elapsed()
    }
}

/// A sleep that others may end.
#[derive(Debug, Default)]
pub struct Alarm {
    has_rung: Mutex<bool>,
    rang: Condvar,
}

impl Alarm {
    /// Ends the sleep that goes on, or the next one.
    pub fn ring(&self) {
        *self.has_rung.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.rang.notify_all();
    }

    /// Sleeps for `time`, or until it rings.
    pub fn sleep(&self, time: Duration) {
        let has_rung = self.has_rung.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.rang.wait_timeout_while(has_rung, time, |has_rung| !*has_rung);
        *waited.unwrap_or_else(PoisonError::into_inner).0 = false;
    }
}

/// Sleeps for `time`, a short one: waits of minutes belong to a loop that can say what it waits for.
#[allow(clippy::disallowed_methods, reason = "this is the one place")]
pub fn sleep(time: Duration) {
    std::thread::sleep(time);
}

/// The present time in seconds since 1970.
#[allow(clippy::disallowed_methods, reason = "this is the one place")]
pub fn now_unix() -> u64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs())
}

/// The present time in milliseconds since 1970.
#[allow(clippy::disallowed_methods, reason = "this is the one place")]
pub fn now_unix_milliseconds() -> u64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.map_or(0, |since| u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}

/// The present time in UTC as RFC 3339 writes it, in whole seconds.
pub fn now_rfc_3339() -> String {
    format_rfc_3339(now_unix())
}

/// Seconds since 1970 as RFC 3339 writes them in UTC.
pub fn format_rfc_3339(seconds: u64) -> String {
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    // Days from civil, reversed (H. Hinnant): years begin in March, eras have 400 of them.
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    let (hour, minute, second) = (rest / 3_600, rest / 60 % 60, rest % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

/// Milliseconds since 1970 as RFC 3339 writes them in UTC, with three decimals.
pub fn format_rfc_3339_milliseconds(milliseconds: u64) -> String {
    let whole = format_rfc_3339(milliseconds / 1000);
    format!("{}.{:03}Z", whole.trim_end_matches('Z'), milliseconds % 1000)
}

/// Whether a text is a date and time as RFC 3339 writes it, with `Z` or an offset.
pub fn is_rfc_3339(text: &str) -> bool {
    let shape = |text: &str, pattern: &str| {
        text.len() == pattern.len()
            && text.bytes().zip(pattern.bytes()).all(|(b, p)| match p {
                b'0' => b.is_ascii_digit(),
                p => b == p,
            })
    };
    let Some((time, zone)) = text.split_at_checked(19) else { return false };
    let number = |from: usize| time.get(from..from + 2).and_then(|t| t.parse::<u32>().ok());
    let within = |from: usize, least: u32, most: u32| {
        number(from).is_some_and(|n| (least..=most).contains(&n))
    };
    let fraction = zone
        .strip_prefix('.')
        .map_or(zone, |rest| rest.trim_start_matches(|c: char| c.is_ascii_digit()));
    shape(time, "0000-00-00T00:00:00")
        && within(5, 1, 12)
        && within(8, 1, days_of_month(text))
        && within(11, 0, 23)
        && within(14, 0, 59)
        && within(17, 0, 60)
        && (fraction == "Z" || shape(fraction, "+00:00") || shape(fraction, "-00:00"))
}

/// How many days the month of a date has (RFC 3339, 5.7).
fn days_of_month(text: &str) -> u32 {
    let number = |from: usize, to: usize| text.get(from..to).and_then(|t| t.parse::<u32>().ok());
    match (number(0, 4), number(5, 7)) {
        (_, Some(4 | 6 | 9 | 11)) => 30,
        (Some(year), Some(2)) if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        (_, Some(2)) => 28,
        _ => 31,
    }
}

/// The seconds since 1970 of a date and time as RFC 3339 writes it; fractions of a second are cut off.
pub fn parse_rfc_3339(text: &str) -> Option<i64> {
    if !is_rfc_3339(text) {
        return None;
    }
    let number = |from: usize, to: usize| text.get(from..to)?.parse::<i64>().ok();
    let days = days_since_1970(number(0, 4)?, number(5, 7)?, number(8, 10)?);
    let seconds = number(11, 13)? * 3_600 + number(14, 16)? * 60 + number(17, 19)?;
    let zone = text.len() - 6;
    let offset = match text.as_bytes().get(zone)? {
        sign @ (b'+' | b'-') if !text.ends_with('Z') => {
            let ahead = number(zone + 1, zone + 3)? * 3_600 + number(zone + 4, zone + 6)? * 60;
            if *sign == b'+' { ahead } else { -ahead }
        }
        _ => 0,
    };
    Some(days * 86_400 + seconds - offset)
}

/// Days from civil (H. Hinnant): years begin in March, eras have 400 of them.
fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let shifted_month = if month > 2 { month - 3 } else { month + 9 };
    let day_of_year = (153 * shifted_month + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
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
    fn an_answer_ends_with_the_whole_time_and_the_last_one_a_moment_later() {
        let left = |allowed: u64, most: u64| {
            let allowance = Allowance::of(Duration::from_secs(allowed));
            allowance.answer(Duration::from_secs(most)).remaining().as_secs_f64().round()
        };
        assert_eq!([left(10, 30), left(10, 5)], [10.0, 5.0]);
        assert_eq!([left(1, 30), left(0, 30), left(0, 1)], [2.0, 2.0, 1.0]);
    }

    #[test]
    fn times_are_written_and_read_as_rfc_3339() {
        for (seconds, text) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_399, "2000-02-28T23:59:59Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (1_709_164_800, "2024-02-29T00:00:00Z"),
            (1_700_000_000, "2023-11-14T22:13:20Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
        ] {
            assert_eq!(format_rfc_3339(seconds), text);
            assert!(is_rfc_3339(text));
            assert_eq!(parse_rfc_3339(text), i64::try_from(seconds).ok());
        }
        assert_eq!(format_rfc_3339_milliseconds(951_782_400_007), "2000-02-29T00:00:00.007Z");
        assert_eq!(parse_rfc_3339("1970-01-01T01:30:00.9+01:30"), Some(0));
        assert_eq!(parse_rfc_3339("1969-12-31T23:00:00-01:00"), Some(0));
        assert_eq!(parse_rfc_3339("1970-01-01"), None);
        assert!(is_rfc_3339("2026-01-31T10:00:00.5+01:00"));
        for wrong in [
            "",
            "2026-01-31",
            "2026-01-31 10:00:00Z",
            "2026-13-01T00:00:00Z",
            "2026-01-31T10:00:00",
            "2026-02-29T10:00:00Z",
            "2026-04-31T10:00:00Z",
            "2100-02-29T10:00:00Z",
        ] {
            assert!(!is_rfc_3339(wrong), "{wrong}");
        }
    }

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
