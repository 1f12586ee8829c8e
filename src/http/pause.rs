//! Servers that asked to be left alone for a while: what one request is told, all requests of the same client keep.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use super::Origin;
use crate::clock::Deadline;

/// No pause is longer: a server's number may be anything.
const LONGEST: Duration = Duration::from_secs(365 * 86_400);

/// Until when each server wants to be left alone.
#[derive(Debug, Default)]
pub(super) struct Pauses(Mutex<HashMap<Origin, Deadline>>);

impl Pauses {
    /// How much longer that server wants to be left alone; zero where it does not.
    pub(super) fn left(&self, origin: &Origin) -> Duration {
        let pauses = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        pauses.get(origin).map_or(Duration::ZERO, |until| until.remaining())
    }

    /// That server wants to be left alone for `wait` from now; a pause that goes on for longer stands.
    pub(super) fn keep(&self, origin: &Origin, wait: Duration) {
        let until = Deadline::after(wait.min(LONGEST));
        let mut pauses = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = pauses.entry(origin.clone()).or_insert(until);
        if kept.remaining() < until.remaining() {
            *kept = until;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn origin(port: u16) -> Origin {
        Origin { secure: true, host: "r.example".to_owned(), port }
    }

    #[test]
    fn the_longest_pause_of_a_server_stands_and_is_its_own() {
        let pauses = Pauses::default();
        assert_eq!(pauses.left(&origin(443)), Duration::ZERO);
        pauses.keep(&origin(443), Duration::from_secs(100));
        pauses.keep(&origin(443), Duration::from_secs(10));
        let left = pauses.left(&origin(443));
        assert!(left > Duration::from_secs(50) && left <= Duration::from_secs(100), "{left:?}");
        assert_eq!(pauses.left(&origin(8443)), Duration::ZERO);
        pauses.keep(&origin(443), Duration::MAX);
        assert!(pauses.left(&origin(443)) > Duration::from_secs(86_400));
    }
}
