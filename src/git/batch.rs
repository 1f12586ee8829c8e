//! `git cat-file --batch-command`: one child that reads objects for repositories libgit2 cannot open. What stands in
//! plain packs and loose files is read by libgit2's object store all the same, where names are SHA-1.

use std::collections::HashSet;

use crate::process::Session;

use super::error::GitError;
use super::id::ObjectId;
use super::objects::{Kind, bad};
use super::program::Git;

/// How many objects one request to a promisor remote asks for.
const MOST_AT_ONCE: usize = 2_000;

/// More than `NAME KIND SIZE` ever needs.
const MAX_LINE: u64 = 300;

/// Reads objects by the program, started at the first question.
pub(super) struct Batch {
    git: Git,
    child: Option<Session>,
    asked: HashSet<ObjectId>,
    promisor: Option<String>,
}

impl Batch {
    /// Nothing runs yet. `promisor` is the remote that a partial clone leaves objects at.
    pub(super) fn new(git: Git, promisor: Option<String>) -> Self {
        Self { git, child: None, asked: HashSet::new(), promisor }
    }

    /// The kind and size of an object.
    pub(super) fn header(&mut self, id: ObjectId) -> Result<(Kind, u64), GitError> {
        self.ask("info", id)
    }

    /// Its content.
    pub(super) fn read(&mut self, id: ObjectId) -> Result<Vec<u8>, GitError> {
        let (_, size) = self.ask("contents", id)?;
        let size = usize::try_from(size).map_err(|_| bad(id, "larger than memory"))?;
        // A line end closes the content.
        let mut bytes = self.child()?.read_exactly(size + 1).map_err(|e| bad(id, e.to_string()))?;
        bytes.pop();
        Ok(bytes)
    }

    /// Fetches these objects in one request, each at most once a run.
    pub(super) fn prefetch(&mut self, missing: &[ObjectId]) -> Result<(), GitError> {
        let Some(promisor) = self.promisor.clone() else { return Ok(()) };
        let wanted: Vec<String> = missing
            .iter()
            .filter(|id| self.asked.insert(**id))
            .take(MOST_AT_ONCE)
            .map(|id| format!("{id}\n"))
            .collect();
        if wanted.is_empty() {
            return Ok(());
        }
        let args = [
            "fetch",
            "--no-tags",
            "--no-write-fetch-head",
            "--recurse-submodules=no",
            "--filter=blob:none",
            "--stdin",
            "--",
        ];
        let limit = self.git.settings().network_limit;
        let call = self.git.run(args).arg(promisor).config("fetch.negotiationAlgorithm=noop");
        call.stdin(wanted.concat().as_bytes()).limit(limit).bytes()?;
        Ok(())
    }

    fn child(&mut self) -> Result<&mut Session, GitError> {
        if self.child.is_none() {
            self.git.version()?;
            self.child = Some(self.git.session(["cat-file", "--batch-command"])?);
        }
        self.child.as_mut().ok_or_else(|| GitError::Failed {
            what: "cat-file".to_owned(),
            message: "not running".to_owned(),
        })
    }

    fn ask(&mut self, question: &str, id: ObjectId) -> Result<(Kind, u64), GitError> {
        let answer = self.question(question, id);
        if answer.is_err() {
            self.child = None;
        }
        let line = answer?;
        let mut words = line.split_whitespace().skip(1);
        let kind = words.next().unwrap_or_default();
        if kind == "missing" {
            return Err(bad(id, "missing"));
        }
        match (Kind::from_name(kind), words.next().and_then(|size| size.parse().ok())) {
            (Some(kind), Some(size)) => Ok((kind, size)),
            _ => Err(bad(id, format!("git answered `{}`", self.git.scrub(line.trim_end())))),
        }
    }

    fn question(&mut self, question: &str, id: ObjectId) -> Result<String, GitError> {
        let child = self.child()?;
        let sent = child.send(format!("{question} {id}\n").as_bytes());
        match sent.and_then(|()| child.read_line(MAX_LINE)) {
            Ok(line) if line.is_empty() => Err(bad(id, "missing, and git cannot fetch it")),
            Ok(line) => Ok(line),
            Err(e) => Err(bad(id, e.to_string())),
        }
    }
}
