//! What git said, for all Applications together: hundreds of them follow one branch, and each call is a program and maybe the
//! network.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crate::clock::Stopwatch;

/// How long an answer holds that may be another one the next time. Shorter than the pause after which one Application asks again
/// (`argocd::wait::pace`), so that a single one always gets a new answer.
const HOLDS: Duration = Duration::from_secs(10);

/// An answer and when it was given; none before the first.
type Place<V> = Arc<Mutex<Option<(Stopwatch, V)>>>;

/// Answers by what was asked.
#[derive(Debug)]
pub(super) struct Answers<K, V>(Mutex<BTreeMap<K, Place<V>>>);

impl<K, V> Default for Answers<K, V> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<K: Ord, V: Clone> Answers<K, V> {
    /// The answer to `question`: the one that is known where it holds for good (`is_lasting`) or is young, else what `ask` says.
    /// Who asks the same meanwhile waits for that answer, and who asks something else does not.
    pub(super) fn get(
        &self,
        question: K,
        is_lasting: impl Fn(&V) -> bool,
        ask: impl FnOnce() -> V,
    ) -> V {
        let place = {
            let mut places = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(places.entry(question).or_default())
        };
        let mut known = place.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((given, answer)) = &*known
            && (is_lasting(answer) || given.elapsed() < HOLDS)
        {
            return answer.clone();
        }
        let answer = ask();
        *known = Some((Stopwatch::start(), answer.clone()));
        answer
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn many_who_ask_the_same_at_once_are_one_question() {
        let (answers, asked) = (Answers::default(), AtomicUsize::new(0));
        let ask = |question: &'static str| {
            answers.get(question, |_| false, || asked.fetch_add(1, Ordering::SeqCst))
        };
        std::thread::scope(|scope| {
            let all: Vec<_> = (0..8).map(|_| scope.spawn(|| ask("main"))).collect();
            assert!(all.into_iter().all(|one| one.join().unwrap() == 0));
        });
        assert_eq!((ask("other"), ask("main")), (1, 0));
    }

    #[test]
    fn what_holds_for_good_is_never_asked_again() {
        let answers = Answers::default();
        let old = (Stopwatch::start_before(HOLDS), 1);
        answers.0.lock().unwrap().insert((), Arc::new(Mutex::new(Some(old))));
        assert_eq!(answers.get((), |_| true, || 2), 1);
        assert_eq!(answers.get((), |_| false, || 2), 2);
        assert_eq!(answers.get((), |_| false, || 3), 2);
    }
}
