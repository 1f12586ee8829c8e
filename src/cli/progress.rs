//! How far long work has gone, on standard error: lines that are written over on a terminal, and now and
//! then a line of its own elsewhere. Work that ends soon says nothing; `--verbose` tells every step.

use std::sync::{Mutex, MutexGuard, PoisonError};
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
    block: Mutex<Block>,
}

/// The lines at the end of a terminal that are written over.
#[derive(Debug, Default)]
struct Block {
    lines: Vec<String>,
    drawn: Option<Instant>,
}

impl Block {
    /// What takes the lines away again.
    fn cleared(&self) -> String {
        match self.lines.len() {
            0 => "\r\u{1b}[K".to_owned(),
            // Up to the first of them, and away with all that follows.
            count => format!("\r\u{1b}[{count}A\u{1b}[J"),
        }
    }

    /// What draws them; without wrapping, so that each line of text is one line of the terminal.
    fn drawn(&self) -> String {
        match self.lines.is_empty() {
            true => String::new(),
            false => format!("\u{1b}[?7l{}\n\u{1b}[?7h", self.lines.join("\n")),
        }
    }
}

impl StderrProgress {
    /// For the command of that name, from now on; each step is told where `wants_steps`.
    pub(crate) fn start(command: &'static str, is_terminal: bool, wants_steps: bool) -> Self {
        let (started, told, block) = (Instant::now(), Mutex::default(), Mutex::default());
        Self { command, is_terminal, wants_steps, started, told, block }
    }

    fn block(&self) -> MutexGuard<'_, Block> {
        self.block.lock().unwrap_or_else(PoisonError::into_inner)
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
        let line = format!("{}: {}\n", self.command, escape_control(step));
        // Held while it is written, so that no other thread's lines come between.
        let block = self.block();
        match self.is_terminal {
            true => print_stderr(&format!("{}{line}{}", block.cleared(), block.drawn())),
            false => print_stderr(&line),
        }
    }

    fn show_state(&self, lines: &dyn Fn() -> Vec<String>) {
        let mut block = self.block();
        let now = Instant::now();
        let is_due = block.drawn.is_none_or(|last| now.duration_since(last) > OFTEN);
        if !self.is_terminal || !is_due {
            return;
        }
        let clear = block.cleared();
        block.lines = lines().iter().map(|line| escape_control(line).into()).collect();
        block.drawn = Some(now);
        print_stderr(&(clear + &block.drawn()));
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
        let mut block = self.block();
        if self.is_terminal && (told.is_some() || block.drawn.is_some()) {
            print_stderr(&block.cleared());
            block.lines.clear();
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

    #[test]
    fn a_block_is_written_over_line_for_line() {
        let mut block = Block::default();
        assert_eq!((&*block.cleared(), &*block.drawn()), ("\r\u{1b}[K", ""));
        block.lines = vec!["one".to_owned(), "two".to_owned()];
        assert_eq!(block.drawn(), "\u{1b}[?7lone\ntwo\n\u{1b}[?7h");
        assert_eq!(block.cleared(), "\r\u{1b}[2A\u{1b}[J");
    }
}
