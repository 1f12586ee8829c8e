//! What every call passes at a server of a test, before anything is done for it and again before its answer: there a program can be
//! killed.

use std::process::Command;
use std::sync::{Arc, Mutex};

/// Where a call is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum When {
    /// It has come, and nothing was done.
    Before,
    /// Everything was done, and there is no answer yet.
    After,
}

/// The `nth` time (from 1) that a call of this label is there, this process is killed.
#[derive(Clone, Debug)]
pub(crate) struct Trap {
    pub(crate) label: String,
    pub(crate) when: When,
    pub(crate) nth: usize,
}

#[derive(Default)]
struct Inner {
    heard: Vec<(String, When)>,
    trap: Option<(Trap, u32)>,
}

/// One for all servers of a test.
#[derive(Clone, Default)]
pub(crate) struct Tripwire(Arc<Mutex<Inner>>);

impl Tripwire {
    /// A call passes.
    pub(crate) fn pass(&self, label: &str, when: When) {
        let mut inner = self.0.lock().unwrap();
        inner.heard.push((label.to_owned(), when));
        inner.spring();
    }

    /// Kills `process` there, or at once where that was passed already.
    pub(crate) fn arm(&self, trap: Trap, process: u32) {
        let mut inner = self.0.lock().unwrap();
        inner.trap = Some((trap, process));
        inner.spring();
    }

    /// The labels of the calls that came, in order.
    pub(crate) fn labels(&self) -> Vec<String> {
        let inner = self.0.lock().unwrap();
        let came = inner.heard.iter().filter(|(_, when)| *when == When::Before);
        came.map(|(label, _)| label.clone()).collect()
    }
}

impl Inner {
    fn spring(&mut self) {
        let Some((trap, process)) = &self.trap else { return };
        let is_it = |(label, when): &&(String, When)| *label == trap.label && *when == trap.when;
        if self.heard.iter().filter(is_it).count() >= trap.nth {
            Command::new("kill").args(["-9", &process.to_string()]).status().unwrap();
            self.trap = None;
        }
    }
}
