//! A program of the user's that runs beside ours, as if it had been typed: its environment is all of ours, what it prints goes
//! to standard error, and Ctrl-C reaches both.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};

use super::{ProcessError, Running};

/// A running program; it is ended when this is dropped.
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
}
