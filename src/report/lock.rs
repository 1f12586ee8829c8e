//! The result of `overlay lock`.

use serde_json::{Value as Json, json};

use super::{Report, Style, Text};
use crate::git::{LOCK_FILE, LockEntry, ObjectId};

/// What became of an entry, or what the remote says of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// As it was, and still so at the remote where that was asked.
    Kept,
    /// New.
    Added,
    /// Another commit than before.
    Updated {
        /// The commit before.
        from: ObjectId,
    },
    /// Used by nothing any more.
    Removed,
    /// Kept, though the remote's tag is another commit now: tags are not meant to move.
    TagMoved {
        /// The commit at the remote.
        now: ObjectId,
    },
    /// Kept, though the remote's branch has moved on.
    BranchMoved {
        /// The commit at the remote.
        now: ObjectId,
    },
    /// Kept, though the remote has no such tag or branch any more.
    Gone,
}

impl State {
    /// Whether a check ends with a finding for it: all that would make another machine build something
    /// else. A branch that moved on, and an entry that is left over, do not.
    #[must_use]
    pub fn is_finding(self) -> bool {
        matches!(self, Self::Added | Self::TagMoved { .. } | Self::Gone)
    }

    fn is_change(self) -> bool {
        matches!(self, Self::Added | Self::Updated { .. } | Self::Removed)
    }

    fn word(self) -> &'static str {
        match self {
            Self::Kept => "kept",
            Self::Added => "added",
            Self::Updated { .. } => "updated",
            Self::Removed => "removed",
            Self::TagMoved { .. } => "tag-moved",
            Self::BranchMoved { .. } => "branch-moved",
            Self::Gone => "gone",
        }
    }

    fn other_commit(self) -> Option<ObjectId> {
        match self {
            Self::Updated { from: other }
            | Self::TagMoved { now: other }
            | Self::BranchMoved { now: other } => Some(other),
            _ => None,
        }
    }
}

/// One reference, the commit that the lock file holds for it, and what there is to say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LockedEntry {
    /// As in the lock file; for one that is removed: as it was.
    pub entry: LockEntry,
    /// What became of it.
    pub state: State,
}

impl LockedEntry {
    fn to_json(&self) -> Json {
        let LockEntry { address, reference, commit } = &self.entry;
        json!({
            "address": address,
            "ref": reference,
            "commit": commit.to_string(),
            "state": self.state.word(),
            "before": matches!(self.state, State::Updated { .. })
                .then(|| self.state.other_commit().map(|id| id.to_string())),
            "remote": matches!(self.state, State::TagMoved { .. } | State::BranchMoved { .. })
                .then(|| self.state.other_commit().map(|id| id.to_string())),
        })
    }

    fn to_line(&self, is_check: bool) -> (Style, String) {
        let LockEntry { address, reference, commit } = &self.entry;
        let name = reference.as_deref().unwrap_or("HEAD");
        let commit = commit.short();
        let (style, says) = match self.state {
            State::Kept => (Style::Faint, String::new()),
            State::Added if is_check => (Style::Warning, ": not locked".to_owned()),
            State::Added => (Style::Added, ": added".to_owned()),
            State::Updated { from } => (Style::Added, format!(": was {}", from.short())),
            State::Removed if is_check => (Style::Faint, ": not in use".to_owned()),
            State::Removed => (Style::Removed, ": removed, not in use".to_owned()),
            State::TagMoved { now } => {
                (Style::Warning, format!(": the tag is {} at the remote now", now.short()))
            }
            State::BranchMoved { now } => {
                (Style::Plain, format!(": the branch is {} at the remote now", now.short()))
            }
            State::Gone => (Style::Warning, ": the remote has no such reference now".to_owned()),
        };
        (style, format!("  {address} {name} {commit}{says}"))
    }
}

/// What became of the lock file.
#[derive(Clone, Debug)]
pub struct LockReport {
    /// Nothing was written because nothing was to be.
    pub dry_run: bool,
    /// Whether the file was only to be checked.
    pub is_check: bool,
    /// By address and reference.
    pub entries: Vec<LockedEntry>,
}

impl LockReport {
    /// The report of the command, which ends with `error` where there is one.
    #[must_use]
    pub fn to_report(&self, error: Option<crate::error::Error>) -> Report {
        let is_changed = self.entries.iter().any(|entry| entry.state.is_change());
        let entries: Vec<Json> = self.entries.iter().map(LockedEntry::to_json).collect();
        let result = json!({ "dryRun": self.dry_run, "file": LOCK_FILE, "entries": entries });
        let mut report = Report::unchanged("lock", result, self.to_text(is_changed));
        report.changed = is_changed && !self.is_check;
        report.error = error;
        report
    }

    fn to_text(&self, is_changed: bool) -> Text {
        let mut text = Text::default();
        text.push(Style::Heading, LOCK_FILE);
        text.line(match (self.is_check, is_changed) {
            (true, _) => ": checked",
            (false, true) => ": changed",
            (false, false) => ": unchanged",
        });
        for entry in &self.entries {
            let (style, line) = entry.to_line(self.is_check);
            text.styled_line(style, line);
        }
        text
    }
}
