//! When to ask again, and after how long: a pure decision; `client` sleeps and asks.

use std::time::Duration;

use super::{HttpError, Method, Response};

/// How patient a caller is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retry {
    /// How often in all it is asked.
    pub attempts: u32,
    /// The time that one attempt may take.
    pub each: Duration,
    /// The longest wait before the second attempt; it doubles for each further one.
    pub first_wait: Duration,
    /// The longest wait before any attempt that the server did not ask for.
    pub longest_wait: Duration,
}

impl Default for Retry {
    fn default() -> Self {
        Self {
            attempts: 5,
            each: Duration::from_secs(30),
            first_wait: Duration::from_millis(200),
            longest_wait: Duration::from_secs(5),
        }
    }
}

/// What an attempt came to.
#[derive(Clone, Copy, Debug)]
pub enum Failure<'a> {
    /// An answer.
    Answer {
        /// Its status.
        status: u16,
        /// How long the server asks to wait, from [`retry_after`].
        wait: Option<Duration>,
    },
    /// None.
    Error(&'a HttpError),
}

impl Retry {
    /// How long to wait before attempt `made + 1`; `None` where nothing speaks for asking again, or there is no time left.
    ///
    /// Only what may be asked twice is: a safe method after 408, 425, 429, 500, 502, 503, 504 or a fault on the way; any other
    /// method only where the server certainly did nothing: 429, or no connection. A wait that the server asks for is kept, never cut.
    /// `random` in `0..1` spreads the waits of many clients (full jitter).
    pub fn wait(
        &self,
        method: Method,
        failure: Failure<'_>,
        made: u32,
        left: Duration,
        random: f64,
    ) -> Option<Duration> {
        if made >= self.attempts || !is_worth(method, failure) {
            return None;
        }
        let doubled = self.first_wait.saturating_mul(1 << (made.saturating_sub(1)).min(16));
        let own = doubled.min(self.longest_wait).mul_f64(random.clamp(0.0, 1.0));
        let wait = match failure {
            Failure::Answer { wait: Some(asked), .. } => {
                asked.saturating_add(own.min(self.first_wait))
            }
            _ => own,
        };
        (wait < left).then_some(wait)
    }

    /// How long all requests to the server should wait after that failure of one: what it asks for, or after 429 `wait`, which is
    /// what the one waits. Other failures are no word about the others.
    pub fn pause(failure: Failure<'_>, wait: Option<Duration>) -> Option<Duration> {
        match failure {
            Failure::Answer { status: 429 | 503, wait: Some(asked) } => Some(asked),
            Failure::Answer { status: 429, wait: None } => wait,
            _ => None,
        }
    }
}

fn is_worth(method: Method, failure: Failure<'_>) -> bool {
    match failure {
        Failure::Answer { status: 429, .. } => true,
        Failure::Answer { status, .. } => {
            method.is_safe() && matches!(status, 408 | 425 | 500 | 502 | 503 | 504)
        }
        Failure::Error(error) => error.is_unsent() || (method.is_safe() && error.is_transient()),
    }
}

/// How long a `Retry-After` header (RFC 9110, section 10.2.3) asks to wait: seconds, or a date seen from `now` (seconds since 1970).
pub fn retry_after(response: &Response, now: u64) -> Option<Duration> {
    let value = response.header("Retry-After")?.trim();
    if !value.is_empty() && value.bytes().all(|b| b.is_ascii_digit()) {
        return Some(Duration::from_secs(value.parse().unwrap_or(u64::MAX)));
    }
    let date = seconds_of_date(value)?;
    Some(Duration::from_secs(date.saturating_sub(now)))
}

/// `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110, section 5.6.7, the one form that is written today) as seconds since 1970.
fn seconds_of_date(text: &str) -> Option<u64> {
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let parts: Vec<&str> = text.split(' ').collect();
    let [_, day, month, year, time, "GMT"] = parts[..] else { return None };
    let number = |text: &str, least: u64, most: u64| {
        text.parse::<u64>().ok().filter(|number| (least..=most).contains(number))
    };
    let month = MONTHS.iter().position(|name| *name == month)? as u64 + 1;
    let (day, year) = (number(day, 1, 31)?, number(year, 1970, 9999)?);
    let clock: Vec<&str> = time.split(':').collect();
    let [hour, minute, second] = clock[..] else { return None };
    let seconds =
        number(hour, 0, 23)? * 3_600 + number(minute, 0, 59)? * 60 + number(second, 0, 60)?;
    // Days since 1970 (H. Hinnant, days_from_civil): years begin in March.
    let (y, m) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let day_of_year = (153 * m + 2) / 5 + day - 1;
    let days = y * 365 + y / 4 - y / 100 + y / 400 + day_of_year;
    days.checked_sub(719_468)?.checked_mul(86_400)?.checked_add(seconds)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::Address;

    fn answer(status: u16, wait: Option<u64>) -> Failure<'static> {
        Failure::Answer { status, wait: wait.map(Duration::from_secs) }
    }

    #[test]
    fn waits_grow_and_are_spread() {
        let retry = Retry::default();
        let wait = |made, random| {
            retry.wait(Method::Get, answer(503, None), made, Duration::from_secs(60), random)
        };
        let ms = |ms| Some(Duration::from_millis(ms));
        assert_eq!([wait(1, 1.0), wait(2, 1.0), wait(3, 1.0)], [ms(200), ms(400), ms(800)]);
        assert_eq!([wait(1, 0.0), wait(2, 0.5), wait(5, 1.0)], [ms(0), ms(200), None]);
    }

    #[test]
    fn a_servers_wish_is_kept_or_there_is_no_second_attempt() {
        let retry = Retry::default();
        let wait = |asked, left| {
            retry.wait(Method::Get, answer(429, Some(asked)), 1, Duration::from_secs(left), 0.0)
        };
        assert_eq!(wait(7, 60), Some(Duration::from_secs(7)));
        assert_eq!(wait(70, 60), None);
        assert_eq!(wait(u64::MAX, 60), None);
    }

    #[test]
    fn what_a_server_asks_of_one_it_asks_of_all() {
        let own = Some(Duration::from_millis(300));
        let pause = |failure| Retry::pause(failure, own);
        assert_eq!(pause(answer(429, Some(7))), Some(Duration::from_secs(7)));
        assert_eq!(pause(answer(429, None)), own);
        assert_eq!(pause(answer(503, Some(7))), Some(Duration::from_secs(7)));
        assert_eq!([pause(answer(503, None)), pause(answer(500, Some(7)))], [None, None]);
    }

    #[test]
    fn only_what_may_be_asked_twice_is() {
        let refused = HttpError::Unreachable { address: String::new(), why: String::new() };
        let broken = HttpError::Broken { address: String::new(), why: String::new() };
        let tls = HttpError::Tls { address: String::new(), why: String::new() };
        for (method, failure, again) in [
            (Method::Get, answer(503, None), true),
            (Method::Post, answer(503, None), false),
            (Method::Post, answer(429, None), true),
            (Method::Get, answer(404, None), false),
            (Method::Get, answer(501, None), false),
            (Method::Get, Failure::Error(&broken), true),
            (Method::Post, Failure::Error(&broken), false),
            (Method::Post, Failure::Error(&refused), true),
            (Method::Get, Failure::Error(&tls), false),
        ] {
            let wait = Retry::default().wait(method, failure, 1, Duration::from_secs(9), 0.5);
            assert_eq!(wait.is_some(), again, "{method:?} {failure:?}");
        }
    }

    #[test]
    fn retry_after_is_read_in_both_forms() {
        let with = |value: &str| Response {
            status: 503,
            address: Address::parse("http://r/").unwrap(),
            body: Vec::new(),
            headers: vec![("retry-after".to_owned(), value.to_owned())],
        };
        let now = 784_111_777; // the date of RFC 9110's example, by `date -u -d`
        for (value, seconds) in [
            ("120", Some(120)),
            (" 0 ", Some(0)),
            ("Sun, 06 Nov 1994 08:49:47 GMT", Some(10)),
            ("Sun, 06 Nov 1994 08:00:00 GMT", Some(0)),
            ("99999999999999999999", Some(u64::MAX)),
            ("", None),
            ("-1", None),
            ("soon", None),
            ("Sun, 06 Nov 0000 08:49:37 GMT", None),
        ] {
            let read = retry_after(&with(value), now);
            assert_eq!(read, seconds.map(Duration::from_secs), "{value}");
        }
    }
}
