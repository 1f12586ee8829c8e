//! The real kustomize: a long-lived process that answers one line for each line (`tools/judge`).

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

use crate::case::{Answer, Case};

/// A running judge.
pub(crate) struct Judge {
    program: PathBuf,
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Judge {
    /// Starts `program`.
    pub(crate) fn start(program: &Path) -> Result<Self, String> {
        let failed = |what: &dyn std::fmt::Display| format!("{}: {what}", program.display());
        let mut command = Command::new(program);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().map_err(|e| failed(&e))?;
        let input = child.stdin.take().ok_or_else(|| failed(&"no standard input"))?;
        let output = child.stdout.take().ok_or_else(|| failed(&"no standard output"))?;
        Ok(Self { program: program.to_owned(), child, input, output: BufReader::new(output) })
    }

    /// What kustomize makes of `case`.
    pub(crate) fn build(&mut self, case: &Case) -> Result<Answer, String> {
        self.ask(&json!({"files": case.files, "overlay": case.overlay}))
    }

    /// What kustomize makes of the overlay at the absolute path `directory`.
    pub(crate) fn build_directory(&mut self, directory: &Path) -> Result<Answer, String> {
        self.ask(&json!({"dir": directory}))
    }

    fn send(&mut self, line: &str) -> std::io::Result<()> {
        self.input.write_all(line.as_bytes())?;
        self.input.flush()
    }

    fn ask(&mut self, request: &Value) -> Result<Answer, String> {
        let failed = |e: std::io::Error| format!("the judge does not answer: {e}");
        let mut line = request.to_string();
        line.push('\n');
        if self.send(&line).is_err() {
            // It ends after a build that does not.
            *self = Self::start(&self.program.clone())?;
            self.send(&line).map_err(failed)?;
        }
        line.clear();
        if self.output.read_line(&mut line).map_err(failed)? == 0 {
            // A stack that overflows takes the whole process with it.
            *self = Self::start(&self.program.clone())?;
            return Ok(Answer::Broke("the judge ended".to_owned()));
        }
        let answer: Value = serde_json::from_str(&line)
            .map_err(|e| format!("the judge stopped in the middle of an answer: {e}"))?;
        let text = |key: &str| answer[key].as_str().unwrap_or_default().to_owned();
        Ok(match (answer["ok"].as_bool(), answer["panic"].as_bool()) {
            (Some(true), _) => Answer::Printed(text("yaml")),
            (_, Some(true)) => Answer::Broke(text("error")),
            _ => Answer::Refused(text("error")),
        })
    }
}

impl Drop for Judge {
    fn drop(&mut self) {
        // It may be gone already; there is nothing left to do about it.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
