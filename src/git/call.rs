//! One call of the git program: what it is given, and the forms in which its answer is wanted.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::process;

use super::error::GitError;
use super::id::ObjectId;
use super::program::Git;

/// How much of what git says is kept in an error.
const MESSAGE_LINES: usize = 12;

/// Says while a call runs why it has to stop.
type Watch<'a> = Box<dyn FnMut() -> Option<String> + 'a>;

/// A call that has not been made yet.
pub struct Call<'a> {
    git: &'a Git,
    args: Vec<String>,
    config: Vec<String>,
    environment: Vec<(String, String)>,
    directory: Option<PathBuf>,
    stdin: Vec<u8>,
    limit: Duration,
    watch: Option<Watch<'a>>,
}

/// How a call ended; texts are scrubbed, standard output is as it came.
pub struct Answer {
    /// Whether the exit status was 0.
    pub is_success: bool,
    /// The exit status, where there was one.
    pub code: Option<i32>,
    /// Standard output.
    pub stdout: Vec<u8>,
    /// Standard error, scrubbed.
    pub stderr: String,
}

impl Answer {
    /// Standard output as text, scrubbed.
    pub fn text(&self, git: &Git) -> String {
        git.scrub(&String::from_utf8_lossy(&self.stdout))
    }

    /// The last lines of standard error, without git's hints.
    pub fn message(&self) -> String {
        last_lines(&self.stderr)
    }
}

impl<'a> Call<'a> {
    /// Of `git`, with these arguments, the subcommand first.
    pub(super) fn new(git: &'a Git, args: Vec<String>, limit: Duration) -> Self {
        Self {
            git,
            args,
            config: Vec::new(),
            environment: Vec::new(),
            directory: None,
            stdin: Vec::new(),
            limit,
            watch: None,
        }
    }

    /// One more argument.
    #[must_use]
    pub fn arg(mut self, arg: impl Into<String>) -> Self {
        self.args.push(arg.into());
        self
    }

    /// A setting for this call alone, `name=value`. It stands in the argument list: never a secret.
    #[must_use]
    pub fn config(mut self, setting: impl Into<String>) -> Self {
        self.config.push(setting.into());
        self
    }

    /// What it reads from standard input.
    #[must_use]
    pub fn stdin(mut self, bytes: &[u8]) -> Self {
        self.stdin = bytes.to_vec();
        self
    }

    /// A variable for this call alone.
    #[must_use]
    pub fn env(mut self, name: &str, value: impl Into<String>) -> Self {
        self.environment.push((name.to_owned(), value.into()));
        self
    }

    /// The same with a path, which has to be UTF-8 to be passed on unharmed.
    #[must_use]
    pub fn env_path(self, name: &str, value: &Path) -> Self {
        let value = value.to_string_lossy().into_owned();
        self.env(name, value)
    }

    /// Where it runs, in place of the repository's own place.
    #[must_use]
    pub fn directory(mut self, directory: &Path) -> Self {
        self.directory = Some(directory.to_owned());
        self
    }

    /// How long it may take.
    #[must_use]
    pub fn limit(mut self, limit: Duration) -> Self {
        self.limit = limit;
        self
    }

    /// Asked several times a second; the call ends where it returns a reason.
    #[must_use]
    pub fn watch(mut self, watch: impl FnMut() -> Option<String> + 'a) -> Self {
        self.watch = Some(Box::new(watch));
        self
    }

    /// Makes the call, whatever its exit status.
    ///
    /// # Errors
    /// [`GitError`] where it could not start, or was ended.
    pub fn answer(self) -> Result<Answer, GitError> {
        let mut program = self.git.prepare(&self.config, &self.args, &self.environment);
        program.stdin = self.stdin;
        program.allowed = self.limit;
        if let Some(directory) = self.directory {
            program.directory = directory;
        }
        let mut watch = self.watch;
        let mut look = || watch.as_mut().and_then(|watch| watch());
        let output = process::run_watched(&program, &mut look)
            .map_err(|e| self.git.unfinished(&self.args, &e))?;
        Ok(Answer {
            is_success: output.status.success(),
            code: output.status.code(),
            stdout: output.stdout,
            stderr: self.git.scrub(&String::from_utf8_lossy(&output.stderr)),
        })
    }

    /// Makes the call and gives its standard output.
    ///
    /// # Errors
    /// [`GitError::Failed`] with git's words where its exit status is not 0.
    pub fn bytes(self) -> Result<Vec<u8>, GitError> {
        let what = self.args.first().cloned().unwrap_or_default();
        let answer = self.answer()?;
        if answer.is_success {
            return Ok(answer.stdout);
        }
        Err(failure(what, answer.message()))
    }

    /// The same as text, without the line end that closes it.
    ///
    /// # Errors
    /// As for [`Call::bytes`].
    pub fn text(self) -> Result<String, GitError> {
        let bytes = self.bytes()?;
        Ok(String::from_utf8_lossy(&bytes).trim_end_matches('\n').to_owned())
    }

    /// The same as the name of an object.
    ///
    /// # Errors
    /// As for [`Call::bytes`], and where the answer is no such name.
    pub fn object_id(self) -> Result<ObjectId, GitError> {
        let what = self.args.first().cloned().unwrap_or_default();
        self.text()?.parse().map_err(|e| GitError::Failed { what, message: format!("{e}") })
    }
}

/// An error of git as one of ours: a lock that is held has a name of its own.
pub(super) fn failure(what: String, message: String) -> GitError {
    if message.contains(".lock': File exists") {
        return GitError::Locked { message };
    }
    GitError::Failed { what, message }
}

fn last_lines(text: &str) -> String {
    let lines: Vec<&str> = text
        .lines()
        .map(str::trim_end)
        .filter(|l| !l.is_empty() && !l.starts_with("hint:"))
        .collect();
    lines[lines.len().saturating_sub(MESSAGE_LINES)..].join("\n")
}
