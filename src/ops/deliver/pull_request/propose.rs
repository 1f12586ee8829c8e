//! The pull request itself: opened or brought up to date, with what belongs to it, and those closed whose place it takes.

use crate::discover::DiskFiles;
use crate::error::Error;
use crate::forge::{Forge, ForgeError, Head, NewPullRequest, PullRequest, Update};
use crate::git::short_name;
use crate::kustomize::Files as _;
use crate::ops::Context;
use crate::ops::deliver::PullRequestOptions;
use crate::plan::Note;
use crate::report::change::{Action, OverlayReport, ProposalState, Proposed};
use crate::report::pull_request::{
    Marker, Proposal, Scope, TemplateError, body, find_marker, replace_region,
};

/// A template of the user's: its file and its text.
type Template = Option<(String, String)>;

/// What makes a pull request of a branch.
pub(super) struct Proposer<'a> {
    pub(super) context: &'a Context,
    pub(super) disk: Option<&'a DiskFiles>,
    /// The short name of the base branch.
    pub(super) base: &'a str,
    pub(super) forge: &'a dyn Forge,
    pub(super) wanted: &'a PullRequestOptions,
    pub(super) scope: &'a Scope,
    pub(super) key: &'a str,
}

/// A branch at the remote, as its pull request tells of it.
pub(super) struct Offer<'a> {
    /// Its full name.
    pub(super) branch: &'a str,
    /// What it changes.
    pub(super) overlays: &'a [OverlayReport],
    /// What it does in one line.
    pub(super) subject: &'a str,
    /// The open pull request from it.
    pub(super) pull_request: Option<&'a PullRequest>,
    /// Its commits that we made.
    pub(super) ours: &'a [String],
    /// Something was pushed to it now.
    pub(super) is_new: bool,
}

/// What was done, and what a person should know about it.
type Done = (Option<Proposed>, Vec<Note>);

impl Proposer<'_> {
    /// Opens or updates the pull request of what landed.
    ///
    /// # Errors
    /// What the forge refuses, and a template that gives no body.
    pub(super) fn propose(&self, offer: &Offer<'_>) -> Result<Done, Error> {
        let title = self.title(offer.subject);
        let marker = Marker {
            key: self.key.to_owned(),
            scope: self.scope.shortened(),
            title: title.clone(),
            commits: offer.ours.to_vec(),
        };
        let region = self.region(offer.overlays, offer.branch, &title, &marker)?;
        let mut notes = Vec::new();
        let (pull, action) = match offer.pull_request {
            Some(pull) => self.update(offer, pull, title, region, &mut notes)?,
            None => match self.open(offer, title, region) {
                Ok(pull) => (pull, Action::Opened),
                Err(ForgeError::NothingBetween { .. }) => return Ok((None, notes)),
                Err(error) => return Err(error.into()),
            },
        };
        self.decorate(&pull, action, &mut notes);
        let supersedes = self.supersede(&pull, &mut notes);
        let proposed = Proposed {
            number: pull.number,
            url: pull.url,
            action,
            base: self.base.to_owned(),
            supersedes,
            state: ProposalState::Open,
            merge_commit: None,
            acted: false,
        };
        Ok((Some(proposed), notes))
    }

    /// Finds out before anything is pushed whether there will be a body.
    ///
    /// # Errors
    /// A template that cannot be read or gives none.
    pub(super) fn prepare(&self, overlays: &[OverlayReport], branch: &str) -> Result<(), Error> {
        let marker = Marker { key: self.key.to_owned(), ..Marker::default() };
        self.region(overlays, branch, "", &marker).map(drop)
    }

    /// The template that the repository's settings name.
    fn template(&self) -> Result<Template, Error> {
        let Some(file) = self.context.pull_request_template() else { return Ok(None) };
        let Some(disk) = self.disk else { return Ok(None) };
        let bytes = disk.read(&file)?;
        let text = String::from_utf8(bytes.to_vec());
        let text = text.map_err(|_| Error::from_template(&file, "not UTF-8".to_owned(), None))?;
        Ok(Some((file, text)))
    }

    fn title(&self, subject: &str) -> String {
        self.wanted.title.clone().unwrap_or_else(|| subject.to_owned())
    }

    fn region(
        &self,
        overlays: &[OverlayReport],
        branch: &str,
        title: &str,
        marker: &Marker,
    ) -> Result<String, Error> {
        let proposal = Proposal { overlays, base: self.base, branch: short_name(branch), title };
        let template = self.template()?;
        let source = template.as_ref().map(|(_, text)| text.as_str());
        body(&proposal, source, marker, self.forge.body_limit()).map_err(|error| {
            let file = template.as_ref().map_or("", |(file, _)| file.as_str());
            let line = match &error {
                TemplateError::Invalid { line, .. } => *line,
                TemplateError::TooLong { .. } => None,
            };
            Error::from_template(file, error.to_string(), line)
        })
    }

    fn open(
        &self,
        offer: &Offer<'_>,
        title: String,
        body: String,
    ) -> Result<PullRequest, ForgeError> {
        self.forge.open(&NewPullRequest {
            head: Head {
                repository: self.forge.site().head.clone(),
                branch: short_name(offer.branch).to_owned(),
            },
            base: self.base.to_owned(),
            title,
            body,
            is_draft: self.wanted.is_draft,
        })
    }

    /// Changes what is ours in the pull request: the region of its body, and its title as long as that is the one we gave.
    fn update(
        &self,
        offer: &Offer<'_>,
        pull: &PullRequest,
        title: String,
        region: String,
        notes: &mut Vec<Note>,
    ) -> Result<(PullRequest, Action), Error> {
        let mut update = Update::default();
        match replace_region(&pull.body, &region) {
            Some(text) => {
                update.body = (text != pull.body.replace("\r\n", "\n")).then_some(text);
                let given = find_marker(&pull.body).map(|marker| marker.title);
                let is_ours = given.is_none_or(|given| given == pull.title);
                update.title = (is_ours && title != pull.title).then_some(title);
            }
            None => notes.push(Note {
                code: "text-kept",
                message: format!(
                    "pull request {} was opened by hand: its title and text stay as they are",
                    pull.number
                ),
            }),
        }
        if update.is_empty() {
            let action = if offer.is_new { Action::Updated } else { Action::Unchanged };
            return Ok((pull.clone(), action));
        }
        Ok((self.forge.update(pull.number, &update)?, Action::Updated))
    }

    /// Labels, reviewers and assignees. What the forge does not do of it is told and no failure: the pull request is there.
    fn decorate(&self, pull: &PullRequest, action: Action, notes: &mut Vec<Note>) {
        let number = pull.number;
        let labels: Vec<String> =
            self.wanted.labels.iter().filter(|l| !pull.labels.contains(l)).cloned().collect();
        let is_new = action == Action::Opened;
        let mut tell = |what: &str, done: Result<(), ForgeError>| {
            if let Err(error) = done {
                let message = format!("pull request {number} has not got its {what}: {error}");
                notes.push(Note { code: "not-set", message });
            }
        };
        if !labels.is_empty() {
            tell("labels", self.forge.add_labels(number, &labels));
        }
        if is_new && !self.wanted.reviewers.is_empty() {
            tell("reviewers", self.forge.request_reviews(number, &self.wanted.reviewers));
        }
        if is_new && !self.wanted.assignees.is_empty() {
            tell("assignees", self.forge.add_assignees(number, &self.wanted.assignees));
        }
    }

    /// Closes those of ours that ask for a part of the same.
    fn supersede(&self, pull: &PullRequest, notes: &mut Vec<Note>) -> Vec<u64> {
        let open = match self.forge.list_open(self.base) {
            Ok(open) => open,
            Err(error) => {
                let message = format!(
                    "pull requests that this one takes the place of were not looked for: {error}"
                );
                notes.push(Note { code: "not-superseded", message });
                return Vec::new();
            }
        };
        let mut closed = Vec::new();
        for other in open.iter().filter(|other| other.number != pull.number) {
            let Some(marker) = find_marker(&other.body) else { continue };
            if !self.scope.covers(&marker.scope) {
                continue;
            }
            let text = format!("#{} takes the place of this pull request.", pull.number);
            match close(self.forge, other.number, &text) {
                Ok(()) => closed.push(other.number),
                Err(error) => {
                    let message = format!("pull request {} stays open: {error}", other.number);
                    notes.push(Note { code: "not-superseded", message });
                }
            }
        }
        closed
    }
}

/// Closes a pull request and says why. The comment comes first: who is told that it was closed reads the reason too.
pub(super) fn close(forge: &dyn Forge, number: u64, why: &str) -> Result<(), ForgeError> {
    forge.comment(number, why)?;
    let update = Update { close: true, ..Update::default() };
    forge.update(number, &update).map(drop)
}
