//! A program that is asked and answers, for as long as it is kept.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::process::{ChildStdin, ChildStdout};
use std::thread::JoinHandle;

use super::{ProcessError, Program, Running, start};

/// A running program; it is ended, with all it started, when this is dropped.
pub struct Session {
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
    stderr: Option<JoinHandle<()>>,
    child: Running,
}

impl Session {
    /// Starts `program`. What it prints on standard error is thrown away.
    ///
    /// # Errors
    /// [`ProcessError::NotStarted`].
    pub fn start(program: &Program) -> Result<Self, ProcessError> {
        let mut child = Running(start(program)?);
        let unconnected = || ProcessError::NotStarted {
            program: program.program.clone(),
            source: io::Error::other("its standard streams are not connected"),
        };
        let stdin = child.0.stdin.take().ok_or_else(unconnected)?;
        let stdout = child.0.stdout.take().ok_or_else(unconnected)?;
        let stderr = child.0.stderr.take().map(|mut stderr| {
            std::thread::spawn(move || drop(io::copy(&mut stderr, &mut io::sink())))
        });
        Ok(Self { stdin: Some(stdin), stdout: BufReader::new(stdout), stderr, child })
    }

    /// Sends it these bytes.
    ///
    /// # Errors
    /// As the operating system says; it may have ended.
    pub fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        let stdin = self.stdin.as_mut().ok_or_else(|| io::Error::other("it was ended"))?;
        stdin.write_all(bytes)?;
        stdin.flush()
    }

    /// Its next line of at most `limit` bytes, with the line end; empty where it has ended.
    ///
    /// # Errors
    /// As the operating system says, and for a line that is not UTF-8.
    pub fn read_line(&mut self, limit: u64) -> io::Result<String> {
        let mut line = String::new();
        (&mut self.stdout).take(limit).read_line(&mut line)?;
        Ok(line)
    }

    /// Its next `length` bytes.
    ///
    /// # Errors
    /// As the operating system says; it may have ended before.
    pub fn read_exactly(&mut self, length: usize) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        (&mut self.stdout).take(length as u64).read_to_end(&mut bytes)?;
        if bytes.len() < length { Err(io::ErrorKind::UnexpectedEof.into()) } else { Ok(bytes) }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.stdin = None;
        self.child.end();
        if let Some(reader) = self.stderr.take() {
            let _ = reader.join();
        }
    }
}
