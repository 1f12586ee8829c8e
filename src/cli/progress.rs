//! How far long work has gone, on standard error: a line that is written over on a terminal, and now and
//! then a line of its own elsewhere. Work that ends soon says nothing; `--verbose` tells every step.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::ops::parallel::Progress;
use crate::report::escape_control;
use crate::ui::print_stderr;

/// Work that takes no longer is not spoken of, on a terminal either.
const SOON: Duration = Duration::from_secs(1);

/// How often a terminal is written to.
const OFTEN: Duration = Duration::from_millis(100);

/// How often a line is added where there is no terminal.
const SELDOM: Duration = Duration::from_secs(5);

/// Progress on standard error.
#[derive(Debug)]
pub(crate) struct StderrProgress {
    command: &'static str,
    is_terminal: bool,
    wants_steps: bool,
    started: Instant,
    told: Mutex<Option<Instant>>,
}

impl StderrProgress {
    /// For the command of that name, from now on; each step is told where `wants_steps`.
    pub(crate) fn start(command: &'static str, is_terminal: bool, wants_steps: bool) -> Self {
        let (started, told) = (Instant::now(), Mutex::default());
        Self { command, is_terminal, wants_steps, started, told }
    }

    /// Whether it is time to say something again; then it counts as said.
    fn is_due(&self, now: Instant) -> bool {
        let pause = if self.is_terminal { OFTEN } else { SELDOM };
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        let is_due = match *told {
            None => now.duration_since(self.started) > pause.max(SOON),
            Some(last) => now.duration_since(last) > pause,
        };
        if is_due {
            *told = Some(now);
        }
        is_due
    }
}

impl Progress for StderrProgress {
    fn wants_steps(&self) -> bool {
        self.wants_steps
    }

    fn say(&self, step: &str) {
        let clear = if self.is_terminal { "\r\u{1b}[K" } else { "" };
        print_stderr(&format!("{clear}{}: {}\n", self.command, escape_control(step)));
    }

    fn step(&self, done: usize, total: usize) {
        if !self.is_due(Instant::now()) {
            return;
        }
        let text = format!("{}: {done} of {total} overlays", self.command);
        print_stderr(&if self.is_terminal { format!("\r{text}\u{1b}[K") } else { text + "\n" });
    }

    fn end(&self) {
        let told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        if self.is_terminal && told.is_some() {
            print_stderr("\r\u{1b}[K");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_work_says_nothing_and_long_work_now_and_then() {
        let progress = StderrProgress::start("build", false, false);
        let at = |millis| progress.started + Duration::from_millis(millis);
        assert!(!progress.is_due(at(4900)));
        assert!(progress.is_due(at(5100)));
        assert!(!progress.is_due(at(9000)));
        assert!(progress.is_due(at(10_200)));
    }
}
