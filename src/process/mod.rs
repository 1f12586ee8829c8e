//! Starting other programs: no shell, bounded time, bounded output, an environment of our choosing.
//!
//! Must not know what the programs are for.

use std::ffi::{OsStr, OsString};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use crate::clock::{self, Deadline};

mod beside;
mod interrupts;
mod session;

pub use beside::Beside;
pub use interrupts::{Interrupt, Interrupts};
pub use session::Session;

/// How often an ending program is looked at.
const POLL: Duration = Duration::from_millis(2);
/// How often a watch is asked.
const WATCH: Duration = Duration::from_millis(100);
/// Variables of ours that every program gets, where they are set: what it needs to find programs, its home and a place for temporary files.
const INHERITED: [&str; 7] =
    ["PATH", "HOME", "TMPDIR", "SYSTEMROOT", "USERPROFILE", "TEMP", "APPDATA"];

/// A program to run.
#[derive(Clone, Debug)]
pub struct Program {
    /// Its path, or a name to be found in `PATH`.
    pub program: PathBuf,
    /// Its arguments; no shell reads them.
    pub args: Vec<OsString>,
    /// The directory it runs in.
    pub directory: PathBuf,
    /// Variables beside the inherited few, which they win over.
    pub environment: Vec<(OsString, OsString)>,
    /// The time it may take; then it and what it started are killed.
    pub allowed: Duration,
    /// The bytes it may print on each of its two outputs.
    pub output_limit: usize,
    /// What it reads from its standard input.
    pub stdin: Vec<u8>,
}

impl Program {
    /// `program` with `args` in `directory`: a minute, 256 MiB, the C locale.
    pub fn new<S: AsRef<OsStr>>(program: &Path, args: &[S], directory: &Path) -> Self {
        Self {
            program: program.to_path_buf(),
            args: args.iter().map(|arg| arg.as_ref().to_owned()).collect(),
            directory: directory.to_path_buf(),
            environment: vec![("LC_ALL".into(), "C".into())],
            allowed: Duration::from_secs(60),
            output_limit: 256 * 1024 * 1024,
            stdin: Vec::new(),
        }
    }
}

/// What a program that ended by itself left.
#[derive(Clone, Debug)]
pub struct Finished {
    /// How it ended.
    pub status: ExitStatus,
    /// Its standard output.
    pub stdout: Vec<u8>,
    /// Its standard error.
    pub stderr: Vec<u8>,
}

/// Why a program gave no result.
#[derive(Debug, thiserror::Error)]
pub enum ProcessError {
    /// It could not be started.
    #[error("{}: cannot be started: {source}", program.display())]
    NotStarted {
        /// The program.
        program: PathBuf,
        /// What the operating system says.
        source: io::Error,
    },
    /// It took too long and was killed.
    #[error("{}: not done after {allowed:?}", program.display())]
    TooSlow {
        /// The program.
        program: PathBuf,
        /// The time it had.
        allowed: Duration,
    },
    /// It printed too much and was killed.
    #[error("{}: printed more than {limit} bytes", program.display())]
    TooMuch {
        /// The program.
        program: PathBuf,
        /// The bytes it had.
        limit: usize,
    },
    /// The caller's watch ended it.
    #[error("{}: {reason}", program.display())]
    Stopped {
        /// The program.
        program: PathBuf,
        /// What the watch said.
        reason: String,
    },
    /// Its output could not be read.
    #[error("{}: {source}", program.display())]
    Unread {
        /// The program.
        program: PathBuf,
        /// What the operating system says.
        source: io::Error,
    },
}

/// Looks at what a program does while it runs; a reason ends it.
pub type Watch<'a> = &'a mut dyn FnMut() -> Option<String>;

/// Runs `program` to its end.
///
/// # Errors
/// [`ProcessError`]; a status other than 0 is none.
pub fn run(program: &Program) -> Result<Finished, ProcessError> {
    run_watched(program, &mut || None)
}

/// The same, ended early where `watch`, asked several times a second, gives a reason.
///
/// # Errors
/// [`ProcessError`]; a status other than 0 is none.
pub fn run_watched(program: &Program, watch: Watch<'_>) -> Result<Finished, ProcessError> {
    let mut child = Running(start(program)?);
    write_in_background(child.0.stdin.take(), &program.stdin);
    let deadline = Deadline::after(program.allowed);
    let (done, ended) = channel();
    read_in_background(child.0.stdout.take(), Output::Stdout, program.output_limit, &done);
    read_in_background(child.0.stderr.take(), Output::Stderr, program.output_limit, &done);
    drop(done);
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    for _ in 0..2 {
        match next_output(program, &ended, deadline, watch)? {
            (Output::Stdout, bytes) => stdout = bytes,
            (Output::Stderr, bytes) => stderr = bytes,
        }
    }
    let status = child.wait_until(program, deadline)?;
    Ok(Finished { status, stdout, stderr })
}

#[derive(Clone, Copy)]
enum Output {
    Stdout,
    Stderr,
}

type Read1 = (Output, io::Result<Option<Vec<u8>>>);

#[allow(clippy::disallowed_methods, reason = "this is the one place")]
fn start(program: &Program) -> Result<Child, ProcessError> {
    let mut command = Command::new(&program.program);
    command
        .args(&program.args)
        .current_dir(&program.directory)
        .env_clear()
        .envs(INHERITED.iter().filter_map(|name| Some((name, std::env::var_os(name)?))))
        .envs(program.environment.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    command
        .spawn()
        .map_err(|source| ProcessError::NotStarted { program: program.program.clone(), source })
}

/// Reads all of `from` on a thread; `None` stands for more than `limit` bytes.
fn read_in_background(
    from: Option<impl Read + Send + 'static>,
    output: Output,
    limit: usize,
    done: &Sender<Read1>,
) {
    let done = done.clone();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let limited = from.map(|from| from.take(limit as u64 + 1).read_to_end(&mut bytes));
        let result = limited.unwrap_or(Ok(0)).map(|_| (bytes.len() <= limit).then_some(bytes));
        let _ = done.send((output, result));
    });
}

fn write_in_background(to: Option<ChildStdin>, bytes: &[u8]) {
    let Some(mut to) = to else { return };
    if !bytes.is_empty() {
        let bytes = bytes.to_vec();
        // A program that ends without reading all of it is no error.
        std::thread::spawn(move || to.write_all(&bytes));
    }
}

fn next_output(
    program: &Program,
    ended: &Receiver<Read1>,
    deadline: Deadline,
    watch: Watch<'_>,
) -> Result<(Output, Vec<u8>), ProcessError> {
    let name = || program.program.clone();
    loop {
        match ended.recv_timeout(deadline.remaining().min(WATCH)) {
            Ok((output, Ok(Some(bytes)))) => return Ok((output, bytes)),
            Ok((_, Ok(None))) => {
                return Err(ProcessError::TooMuch { program: name(), limit: program.output_limit });
            }
            Ok((_, Err(source))) => return Err(ProcessError::Unread { program: name(), source }),
            Err(_) if deadline.is_over() => {
                return Err(ProcessError::TooSlow { program: name(), allowed: program.allowed });
            }
            Err(_) => {}
        }
        if let Some(reason) = watch() {
            return Err(ProcessError::Stopped { program: name(), reason });
        }
    }
}

/// A child that is killed, and all it started with it, unless it was waited for.
struct Running(Child);

impl Running {
    fn wait_until(
        &mut self,
        program: &Program,
        deadline: Deadline,
    ) -> Result<ExitStatus, ProcessError> {
        let name = || program.program.clone();
        loop {
            match self.0.try_wait() {
                Ok(Some(status)) => return Ok(status),
                Err(source) => return Err(ProcessError::Unread { program: name(), source }),
                Ok(None) if deadline.is_over() => {
                    return Err(ProcessError::TooSlow {
                        program: name(),
                        allowed: program.allowed,
                    });
                }
                Ok(None) => clock::sleep(POLL),
            }
        }
    }
}

impl Running {
    /// Kills it and all it started, where it still runs.
    fn end(&mut self) {
        if matches!(self.0.try_wait(), Ok(Some(_))) {
            return;
        }
        kill_group(&self.0);
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.end();
    }
}

#[cfg(unix)]
fn kill_group(child: &Child) {
    let group = i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw);
    if let Some(group) = group {
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
    }
}

#[cfg(not(unix))]
fn kill_group(_: &Child) {}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Program {
        let mut program = Program::new(Path::new("sh"), &["-c", script], Path::new("/"));
        program.allowed = Duration::from_secs(20);
        program
    }

    #[test]
    fn both_outputs_and_the_status_come_back() {
        let finished = run(&shell("echo out; echo err >&2; exit 3")).unwrap();
        assert_eq!(finished.stdout, b"out\n");
        assert_eq!(finished.stderr, b"err\n");
        assert_eq!(finished.status.code(), Some(3));
    }

    #[test]
    fn the_environment_is_the_chosen_one() {
        let mut program = shell("echo $LC_ALL-$CHOSEN-$CARGO_PKG_NAME");
        program.environment.push(("CHOSEN".into(), "yes".into()));
        assert_eq!(run(&program).unwrap().stdout, b"C-yes-\n");
    }

    #[test]
    fn what_takes_too_long_is_killed_with_its_children() {
        let mut program = shell("sleep 30 & sleep 30");
        program.allowed = Duration::from_millis(200);
        let deadline = Deadline::after(Duration::from_secs(10));
        assert!(matches!(run(&program), Err(ProcessError::TooSlow { .. })));
        assert!(!deadline.is_over());
    }

    #[test]
    fn what_prints_too_much_is_killed() {
        let mut program = shell("yes");
        program.output_limit = 1000;
        assert!(matches!(run(&program), Err(ProcessError::TooMuch { .. })));
    }

    #[test]
    fn a_program_that_is_not_there_is_an_error() {
        let program = Program::new(Path::new("/none/such"), &["x"], Path::new("/"));
        assert!(matches!(run(&program), Err(ProcessError::NotStarted { .. })));
    }
}
