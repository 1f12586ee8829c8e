//! The result of an edit: what was (or would be) written, and what that does to what is rendered.

use serde_json::{Value as Json, json};

use super::diff::{objects_to_json, objects_to_text};
use super::{Report, Style, Text};
use crate::checks::Delta;
use crate::error::Error;
use crate::kustomize::ResourceId;
use crate::kustomize::remote::without_credentials;
use crate::plan::{Note, Placement};
use crate::verify::{Effect, FieldChange, ObjectDiff};

/// How much of an overlay was rendered before and after.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Proof {
    /// All of it.
    Full,
    /// What remains without remote bases.
    Partial,
    /// Nothing.
    None,
}

impl Proof {
    /// The word in reports.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Partial => "partial",
            Self::None => "none",
        }
    }
}

/// What became of one overlay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Files of it differ.
    Changed,
    /// It was so already.
    Unchanged,
    /// The change does not concern it.
    Unaffected,
}

impl Status {
    fn word(self) -> &'static str {
        match self {
            Self::Changed => "changed",
            Self::Unchanged => "unchanged",
            Self::Unaffected => "unaffected",
        }
    }
}

/// A file that differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileReport {
    /// The file, relative to the boundary.
    pub path: String,
    /// The unified diff.
    pub diff: String,
}

/// What became of one overlay, and why one may believe it.
#[derive(Clone, Debug)]
pub struct OverlayReport {
    /// Its directory relative to the boundary, `.` for the boundary itself.
    pub path: String,
    /// What became of it.
    pub status: Status,
    /// How much of it was rendered.
    pub proof: Proof,
    /// The remote references that could not be read.
    pub unknown: Vec<String>,
    /// The files that differ.
    pub files: Vec<FileReport>,
    /// Where what was written.
    pub placements: Vec<Placement>,
    /// The measured difference of the renders.
    pub effect: Effect,
    /// What the checks find that they did not find before, and what is gone.
    pub findings: Delta,
    /// What a person should know.
    pub notes: Vec<Note>,
    /// The other kustomizations of the repository that build on what was edited.
    pub affects: Vec<String>,
    /// What another version of a base brings and takes, where it was moved.
    pub moved: Option<MovedObjects>,
}

impl OverlayReport {
    /// One of the overlay at `path` with a full proof of nothing: what there is to say is filled in.
    pub fn new(path: String, status: Status) -> Self {
        Self {
            path,
            status,
            proof: Proof::Full,
            unknown: Vec::new(),
            files: Vec::new(),
            placements: Vec::new(),
            effect: Effect::default(),
            findings: Delta::default(),
            notes: Vec::new(),
            affects: Vec::new(),
            moved: None,
        }
    }
}

/// What another version of a base brings and takes.
#[derive(Clone, Debug)]
pub struct MovedObjects {
    /// The objects that differ.
    pub objects: ObjectDiff,
    /// Kinds of which there was no object before.
    pub new_kinds: Vec<String>,
}

/// What git holds of an edit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Delivered {
    /// The commit with the edit.
    pub commit: Option<String>,
    /// The short name of the branch that holds it.
    pub branch: Option<String>,
    /// The remote it was pushed to, without credentials.
    pub remote: Option<String>,
    /// What a person should know about the delivery.
    pub notes: Vec<Note>,
    /// The pull request that carries it.
    pub pull_request: Option<Proposed>,
    /// Where it is on its base branch, where that was waited for.
    pub landed: Option<Landed>,
    /// What failed after something had been delivered.
    pub error: Option<Error>,
}

/// What a command did to a pull request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Opened it.
    Opened,
    /// Gave its branch another commit, or itself another title or text.
    Updated,
    /// Nothing: it was so already.
    Unchanged,
    /// Closed it, since its base branch holds the change.
    Closed,
}

impl Action {
    /// As in the JSON form.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Opened => "opened",
            Self::Updated => "updated",
            Self::Unchanged => "unchanged",
            Self::Closed => "closed",
        }
    }
}

impl Action {
    /// What was done, where `self` was done first and `then` later.
    #[must_use]
    pub fn or(self, then: Self) -> Self {
        if self == Self::Unchanged { then } else { self }
    }
}

/// What became of a pull request, as far as the command looked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProposalState {
    /// Neither merged nor closed.
    Open,
    /// Closed without a merge.
    Closed,
    /// Merged.
    Merged,
}

impl ProposalState {
    /// As in the JSON form.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Closed => "closed",
            Self::Merged => "merged",
        }
    }
}

/// Where a change that was waited for is on its base branch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Landed {
    /// The short name of the branch.
    pub branch: String,
    /// The commit that brought it there, whose render holds it.
    pub commit: String,
}

/// A pull request that carries an edit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proposed {
    /// Its number in the repository.
    pub number: u64,
    /// Its page.
    pub url: String,
    /// What was done to it.
    pub action: Action,
    /// The short name of the branch it goes into.
    pub base: String,
    /// Numbers of pull requests that it takes the place of, closed now.
    pub supersedes: Vec<u64>,
    /// What became of it.
    pub state: ProposalState,
    /// The commit that brought it to its base branch, where it was waited for.
    pub merge_commit: Option<String>,
    /// The command asked for its merge, or brought it up to date.
    pub acted: bool,
}

/// The result of an edit command.
#[derive(Clone, Debug)]
pub struct ChangeReport {
    /// Nothing was written because nothing was to be.
    pub dry_run: bool,
    /// Each overlay named, in order.
    pub overlays: Vec<OverlayReport>,
    /// What git holds of it.
    pub delivered: Delivered,
}

impl ChangeReport {
    /// Whether any overlay differs, or the pull request.
    #[must_use]
    pub fn is_changed(&self) -> bool {
        let proposed = self.delivered.pull_request.as_ref();
        proposed.is_some_and(|proposed| proposed.acted || proposed.action != Action::Unchanged)
            || self.overlays.iter().any(|overlay| overlay.status == Status::Changed)
    }

    /// The report of the command `command`.
    #[must_use]
    pub fn into_report(self, command: &str) -> Report {
        let changed = self.is_changed();
        let (human, notes) = (self.to_text(), self.notes());
        let mut report = Report::unchanged(command, self.to_json(), human);
        (report.changed, report.notes) = (changed, notes);
        report.error = self.delivered.error;
        report
    }

    fn to_json(&self) -> Json {
        json!({
            "dryRun": self.dry_run,
            "overlays": self.overlays.iter().map(overlay_to_json).collect::<Vec<_>>(),
            "commit": self.delivered.commit,
            "branch": self.delivered.branch,
            "pushed": self.delivered.remote,
            "notes": self.delivered.notes.iter().map(note_to_json).collect::<Vec<_>>(),
            "pullRequest": self.delivered.pull_request.as_ref().map(proposed_to_json),
            "landed": self.delivered.landed.as_ref().map(|landed| {
                json!({"branch": landed.branch, "commit": landed.commit})
            }),
        })
    }

    fn to_text(&self) -> Text {
        let mut text = Text::default();
        for overlay in &self.overlays {
            overlay_to_text(overlay, self.dry_run, &mut text);
        }
        let Delivered { commit, branch, remote, .. } = &self.delivered;
        if let (Some(commit), Some(branch)) = (commit, branch) {
            let remote = remote.as_ref().map(|r| format!(", pushed to {r}")).unwrap_or_default();
            text.line(format!("commit {commit} on {branch}{remote}"));
        }
        if let Some(Proposed { number, url, action, .. }) = &self.delivered.pull_request {
            text.line(format!("pull request {number} {}: {url}", action.word()));
        }
        if let Some(Landed { branch, commit }) = &self.delivered.landed {
            text.line(format!("{branch} holds the change since {commit}"));
        }
        text
    }

    fn notes(&self) -> Text {
        let mut text = Text::default();
        let all = self.overlays.iter().flat_map(|o| &o.notes).chain(&self.delivered.notes);
        for note in all {
            text.push(Style::Warning, "note").line(format!(": {}", note.message));
        }
        text
    }
}

fn proposed_to_json(proposed: &Proposed) -> Json {
    json!({
        "number": proposed.number,
        "url": proposed.url,
        "action": proposed.action.word(),
        "base": proposed.base,
        "supersedes": proposed.supersedes,
        "state": proposed.state.word(),
        "mergeCommit": proposed.merge_commit,
    })
}

fn overlay_to_json(overlay: &OverlayReport) -> Json {
    let mut object = json!({
        "path": overlay.path,
        "status": overlay.status.word(),
        "proof": overlay.proof.word(),
        "unknown": overlay.unknown,
        "files": overlay.files.iter().map(|f| json!({"path": f.path, "diff": without_credentials(&f.diff)})).collect::<Vec<_>>(),
        "placements": overlay.placements.iter().map(placement_to_json).collect::<Vec<_>>(),
        "effect": overlay.effect.changes.iter().map(change_to_json).collect::<Vec<_>>(),
        "findings": overlay.findings,
        "notes": overlay.notes.iter().map(note_to_json).collect::<Vec<_>>(),
        "affects": overlay.affects,
    });
    if let Some(moved) = &overlay.moved {
        object["objects"] = objects_to_json(&moved.objects);
        object["newKinds"] = json!(moved.new_kinds);
    }
    object
}

fn note_to_json(note: &Note) -> Json {
    json!({"code": note.code, "message": note.message})
}

fn placement_to_json(placement: &Placement) -> Json {
    json!({"file": placement.file, "line": placement.line, "kind": placement.kind.word(), "what": placement.what})
}

fn change_to_json(change: &FieldChange) -> Json {
    let change = change.shown();
    json!({
        "resource": resource_to_json(&change.resource),
        "path": change.path.to_string(),
        "before": change.before,
        "after": change.after,
    })
}

/// A resource as every JSON document names it; no namespace is null.
#[must_use]
pub fn resource_to_json(id: &ResourceId) -> Json {
    let namespace = Some(&*id.namespace).filter(|n| !n.is_empty());
    json!({"apiVersion": &*id.api_version, "kind": &*id.kind, "namespace": namespace, "name": &*id.name})
}

fn overlay_to_text(overlay: &OverlayReport, dry_run: bool, text: &mut Text) {
    let proof = match overlay.proof {
        Proof::Full => String::new(),
        other => format!(" (proof: {})", other.word()),
    };
    text.push(Style::Heading, overlay.path.clone());
    text.line(format!(": {}{proof}", overlay.status.word()));
    for reference in &overlay.unknown {
        text.styled_line(Style::Warning, format!("  not seen: {reference}"));
    }
    for placement in &overlay.placements {
        let place = format!("  {}:{}", placement.file, placement.line);
        text.push(Style::Faint, place).line(format!(
            "  {} ({})",
            placement.what,
            placement.kind.word()
        ));
    }
    if let Some(moved) = &overlay.moved {
        text.append(objects_to_text(&moved.objects));
        if !moved.new_kinds.is_empty() {
            text.styled_line(
                Style::Warning,
                format!("  new kinds: {}", moved.new_kinds.join(", ")),
            );
        }
    }
    let effect = overlay.effect.changes.iter().filter(|_| overlay.moved.is_none());
    for change in effect.map(FieldChange::shown) {
        let resource = format!("  {}/{}", change.resource.kind, change.resource.name);
        text.line(format!("{resource} {}", change.path));
        let value = |value: &Option<Json>| match value {
            Some(Json::String(text)) => text.clone(),
            Some(value) => value.to_string(),
            None => "nothing".to_owned(),
        };
        text.value(Style::Removed, "    - ", &value(&change.before));
        text.value(Style::Added, "    + ", &value(&change.after));
    }
    for other in &overlay.affects {
        text.styled_line(Style::Warning, format!("  also changes {other}"));
    }
    findings_to_text(&overlay.findings, text);
    if dry_run {
        for file in &overlay.files {
            text.diff(&without_credentials(&file.diff));
        }
    }
}

/// Each finding that the edit brings, and how many it takes away.
fn findings_to_text(findings: &Delta, text: &mut Text) {
    for finding in &findings.added {
        text.push(Style::Warning, format!("  brings {}", finding.severity.as_str()));
        text.line(format!(" {}: {}", finding.id, finding.message));
    }
    match findings.removed.len() {
        0 => {}
        1 => _ = text.line("  mends 1 finding of `overlay check`"),
        many => _ = text.line(format!("  mends {many} findings of `overlay check`")),
    }
}
