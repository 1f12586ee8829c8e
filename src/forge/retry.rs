//! When a request is made again. The rules are those of GitHub's "Best practices for using the REST API" (rate limits) and
//! of RFC 9110, sections 9.2.2 (idempotent methods) and 10.2.3 (`Retry-After`).

use std::time::Duration;

/// How often a request is made, at most.
pub(in crate::forge) const MOST_TRIES: u32 = 5;

/// Where a secondary limit does not say how long it lasts: one minute, doubled from then on.
const SECONDARY_LIMIT: Duration = Duration::from_secs(60);

/// After a fault of the server, doubled from then on.
const AFTER_FAULT: Duration = Duration::from_millis(500);

/// What of an answer decides whether to ask again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::forge) struct Signs {
    /// The status of HTTP.
    pub(in crate::forge) status: u16,
    /// `Retry-After`, in seconds.
    pub(in crate::forge) retry_after: Option<u64>,
    /// `X-RateLimit-Remaining`.
    pub(in crate::forge) remaining: Option<u64>,
    /// `X-RateLimit-Reset`, in seconds since 1970.
    pub(in crate::forge) reset: Option<u64>,
    /// The message speaks of a limit of requests.
    pub(in crate::forge) says_limit: bool,
}

/// What to do about an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::forge) enum Advice {
    /// It is the answer.
    Take,
    /// The limit of requests is reached: nothing was carried out, and it may be asked again after this time.
    AfterLimit(Duration),
    /// The server failed: whether something was carried out is not known.
    AfterFault(Duration),
}

/// What to do about the answer to try number `tries` (from 1), at `now` seconds since 1970.
pub(in crate::forge) fn advise(signs: Signs, tries: u32, now: u64) -> Advice {
    let doubled = |first: Duration| first.saturating_mul(1 << tries.saturating_sub(1).min(10));
    match signs.status {
        429 | 403 if is_limited(signs) => Advice::AfterLimit(match signs {
            Signs { retry_after: Some(seconds), .. } => Duration::from_secs(seconds),
            Signs { remaining: Some(0), reset: Some(reset), .. } => {
                Duration::from_secs(reset.saturating_sub(now).saturating_add(1))
            }
            _ => doubled(SECONDARY_LIMIT),
        }),
        500 | 502 | 503 | 504 => Advice::AfterFault(match signs.retry_after {
            Some(seconds) => Duration::from_secs(seconds),
            None => doubled(AFTER_FAULT),
        }),
        _ => Advice::Take,
    }
}

fn is_limited(signs: Signs) -> bool {
    signs.status == 429
        || signs.retry_after.is_some()
        || signs.remaining == Some(0)
        || signs.says_limit
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: u64 = 1_000;

    #[test]
    fn limits_say_how_long_they_last() {
        let limited = Signs { status: 403, ..Signs::default() };
        let after = |signs| match advise(signs, 1, NOW) {
            Advice::AfterLimit(time) => Some(time.as_secs()),
            _ => None,
        };
        assert_eq!(after(Signs { retry_after: Some(7), ..limited }), Some(7));
        assert_eq!(after(Signs { remaining: Some(0), reset: Some(NOW + 30), ..limited }), Some(31));
        assert_eq!(after(Signs { remaining: Some(0), reset: Some(NOW - 30), ..limited }), Some(1));
        assert_eq!(after(Signs { says_limit: true, remaining: Some(9), ..limited }), Some(60));
        assert_eq!(after(Signs { status: 429, ..Signs::default() }), Some(60));
        // A plain refusal is an answer.
        assert_eq!(after(Signs { remaining: Some(9), ..limited }), None);
    }

    #[test]
    fn faults_are_asked_again_and_answers_are_not() {
        let fault = |status, tries| advise(Signs { status, ..Signs::default() }, tries, NOW);
        assert_eq!(fault(502, 1), Advice::AfterFault(Duration::from_millis(500)));
        assert_eq!(fault(503, 3), Advice::AfterFault(Duration::from_secs(2)));
        for status in [200, 201, 301, 400, 401, 403, 404, 409, 422, 501] {
            assert_eq!(fault(status, 1), Advice::Take, "{status}");
        }
    }
}
