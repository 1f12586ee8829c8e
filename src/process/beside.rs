//! A program of the user's that runs beside ours, as if it had been typed: its environment is all of ours, what it prints goes
//! to standard error, and Ctrl-C reaches both.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::Duration;

use super::{Interrupt, POLL, ProcessError, Running};
use crate::clock::{self, Deadline};

/// How long a program has to end when it is asked to.
const GRACE: Duration = Duration::from_secs(5);

/// A running program; it is killed when this is dropped.
pub struct Beside(Running);

impl Beside {
    /// Starts `program` with `args` in `directory`; it reads nothing.
    ///
    /// # Errors
    /// [`ProcessError::NotStarted`].
    #[allow(clippy::disallowed_methods, reason = "this is the one place")]
    pub fn start(
        program: &OsString,
        args: &[OsString],
        directory: &Path,
    ) -> Result<Self, ProcessError> {
        let mut command = Command::new(program);
        command.args(args).current_dir(directory).stdin(Stdio::null());
        command.stdout(Stdio::from(io::stderr())).stderr(Stdio::inherit());
        let started = command.spawn();
        let not_started =
            |source| ProcessError::NotStarted { program: PathBuf::from(program), source };
        started.map(|child| Self(Running(child))).map_err(not_started)
    }

    /// How it ended; `None` while it runs.
    ///
    /// # Errors
    /// As the operating system says.
    pub fn poll(&mut self) -> io::Result<Option<ExitStatus>> {
        self.0.0.try_wait()
    }

    /// Hands on a signal that came to us alone. One of the terminal's has reached the program already, and a second one would tell
    /// many programs not to end in order.
    pub fn hand_on(&mut self, signal: Interrupt) {
        let is_ours_alone =
            signal == Interrupt::Terminate || !io::IsTerminal::is_terminal(&io::stderr());
        if is_ours_alone {
            self.signal(signal);
        }
    }

    /// Asks it to end (SIGTERM), and kills it where it has not a few seconds later.
    pub fn end(&mut self) {
        self.signal(Interrupt::Terminate);
        let grace = Deadline::after(GRACE);
        while !grace.is_over() && matches!(self.poll(), Ok(None)) {
            clock::sleep(POLL);
        }
    }

    #[cfg(unix)]
    fn signal(&mut self, signal: Interrupt) {
        use rustix::process::{Pid, Signal, kill_process};
        // Only while it runs is the number its own.
        if !matches!(self.poll(), Ok(None)) {
            return;
        }
        let signal = match signal {
            Interrupt::Interrupt => Signal::INT,
            Interrupt::Terminate => Signal::TERM,
        };
        if let Some(id) = i32::try_from(self.0.0.id()).ok().and_then(Pid::from_raw) {
            let _ = kill_process(id, signal);
        }
    }

    #[cfg(not(unix))]
    fn signal(&mut self, _: Interrupt) {
        let _ = self.0.0.kill();
    }
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::clock;

    #[test]
    fn its_status_is_known_when_it_has_ended() {
        let mut beside =
            Beside::start(&"sh".into(), &["-c".into(), "exit 3".into()], Path::new("/")).unwrap();
        let status = loop {
            match beside.poll().unwrap() {
                Some(status) => break status,
                None => clock::sleep(Duration::from_millis(5)),
            }
        };
        assert_eq!(status.code(), Some(3));
        assert!(Beside::start(&"no-such-program".into(), &[], Path::new("/")).is_err());
    }

    #[test]
    fn it_is_asked_before_it_is_killed() {
        let folder = tempfile::tempdir().unwrap();
        let script =
            "trap 'echo asked > told; exit 0' TERM; echo > ready; while :; do sleep 0.02; done";
        let beside = Beside::start(&"sh".into(), &["-c".into(), script.into()], folder.path());
        let mut beside = beside.unwrap();
        let deadline = Deadline::after(Duration::from_secs(20));
        while !folder.path().join("ready").exists() && !deadline.is_over() {
            clock::sleep(Duration::from_millis(5));
        }
        beside.end();
        let told = std::fs::read_to_string(folder.path().join("told")).unwrap();
        assert_eq!(told, "asked\n");
    }
}
