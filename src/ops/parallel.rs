//! Work on many overlays at once: all cores, results in the order of the items.

use std::num::NonZero;
use std::panic::resume_unwind;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{Builder, Scope, ScopedJoinHandle, available_parallelism, scope};

use super::Context;
use crate::error::{Error, codes};

/// Stack of each thread: room for deeply nested documents. It is taken as it is used.
const STACK_BYTES: usize = 256 << 20;

/// What is told of work while it goes on, from any thread.
pub trait Progress: Send + Sync + std::fmt::Debug {
    /// Whether each step is wanted, and not only how far long work has gone.
    fn wants_steps(&self) -> bool;
    /// A step was taken: one sentence, without a line break.
    fn say(&self, step: &str);
    /// How things stand, for who watches: on a terminal these lines stay below all others, and are written over by the
    /// next. They are made only where they are shown.
    fn show_state(&self, lines: &dyn Fn() -> Vec<String>);
    /// `done` of `total` items are done.
    fn step(&self, done: usize, total: usize);
    /// The work ended, well or not.
    fn end(&self);
}

impl Context {
    /// Tells a step to who wants to know each; the sentence is made for them alone.
    pub(crate) fn say(&self, step: impl FnOnce() -> String) {
        if let Some(progress) = self.progress.as_ref().filter(|progress| progress.wants_steps()) {
            progress.say(&step());
        }
    }

    /// What `work` gives for each of `items`, in their order, made on all cores.
    ///
    /// # Errors
    /// That of the first item, in their order, that has one; items after it may be left out.
    pub(crate) fn for_each_of<'i, T: Sync, R: Send>(
        &self,
        items: &'i [T],
        work: impl Fn(&'i T) -> Result<R, Error> + Sync,
    ) -> Result<Vec<R>, Error> {
        // How many cores there are takes more files to find out than a small overlay has.
        let cores = match items.len() {
            0 | 1 => 1,
            many => available_parallelism().map_or(1, NonZero::get).min(many),
        };
        if cores < 2 {
            return items.iter().map(work).collect();
        }
        let job = Job {
            context: self,
            items,
            work,
            next: AtomicUsize::new(0),
            done: AtomicUsize::new(0),
            has_failed: AtomicBool::new(false),
            results: Mutex::new(Vec::with_capacity(items.len())),
        };
        let outcome = scope(|scope| job.run(scope, cores));
        if let Some(progress) = &self.progress {
            progress.end();
        }
        outcome?;
        let mut results = job.results.into_inner().unwrap_or_else(PoisonError::into_inner);
        results.sort_by_key(|(at, _)| *at);
        results.into_iter().map(|(_, result)| result).collect()
    }
}

/// Items that threads take one by one, and what became of those that are done.
struct Job<'c, 'i, T, R, F> {
    context: &'c Context,
    items: &'i [T],
    work: F,
    next: AtomicUsize,
    done: AtomicUsize,
    has_failed: AtomicBool,
    results: Mutex<Vec<(usize, Result<R, Error>)>>,
}

impl<'i, T: Sync, R: Send, F: Fn(&'i T) -> Result<R, Error> + Sync> Job<'_, 'i, T, R, F> {
    fn run<'s>(&'s self, scope: &'s Scope<'s, '_>, cores: usize) -> Result<(), Error> {
        let start = |_| {
            let builder = Builder::new().name("overlay".into()).stack_size(STACK_BYTES);
            builder.spawn_scoped(scope, || self.take_items())
        };
        let started: Vec<_> = (0..cores).map(start).collect();
        for thread in started {
            let failed = |e| Error::new(codes::INTERNAL, format!("no thread: {e}"));
            let outcome = thread.map(ScopedJoinHandle::join).map_err(failed)?;
            outcome.unwrap_or_else(|panic| resume_unwind(panic));
        }
        Ok(())
    }

    /// Items are taken in order, and what was taken is finished: so the first error in order is found,
    /// whichever thread meets one first.
    fn take_items(&self) {
        while !self.has_failed.load(Ordering::Relaxed) {
            let at = self.next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = self.items.get(at) else { return };
            let result = (self.work)(item);
            if result.is_err() {
                self.has_failed.store(true, Ordering::Relaxed);
            }
            self.results.lock().unwrap_or_else(PoisonError::into_inner).push((at, result));
            let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
            if let Some(progress) = &self.context.progress {
                progress.step(done, self.items.len());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Environment;

    fn context() -> Context {
        Context::new("/".into(), Environment::default())
    }

    #[test]
    fn results_are_in_the_order_of_the_items() {
        let items: Vec<usize> = (0..1000).collect();
        let doubled = context().for_each_of(&items, |item| Ok(item * 2)).unwrap();
        assert_eq!(doubled, items.iter().map(|item| item * 2).collect::<Vec<_>>());
        assert!(context().for_each_of(&items[..0], |item| Ok(*item)).unwrap().is_empty());
    }

    #[test]
    fn the_error_is_that_of_the_first_item_that_has_one() {
        let items: Vec<usize> = (0..1000).collect();
        for _ in 0..20 {
            let failing = |item: &usize| match item {
                0..300 => Ok(()),
                item => Err(Error::new(codes::USAGE, item.to_string())),
            };
            assert_eq!(context().for_each_of(&items, failing).unwrap_err().message(), "300");
        }
    }
}
