//! The words of planning pins: the errors that name who uses what, and the notes.

use super::super::error::{PlanError, Statement};
use super::super::tag_rule::TagError;
use super::{ImagesEntry, Note, Planner};
use crate::change::Pin;
use crate::image::{Digest, Split};
use crate::kustomize::node::Node;
use crate::kustomize::{FieldPath, ImageUse, ResourceId, UseKind};
use crate::shell;

impl Planner<'_> {
    pub(super) fn placeholder(&self, pin: &Pin, i: usize) -> PlanError {
        let place = &self.view.uses[i];
        let name = place.as_named().name().to_owned();
        let line = self.chains[i].last().map_or(0, |e| self.view.entries[*e].version_line);
        let at = Statement { file: self.view.file.to_owned(), line, name };
        let key = pin.key.as_str().to_owned();
        PlanError::Placeholder { key, at, users: self.replicas_of(&place.resource) }
    }

    pub(super) fn replicas_of(&self, id: &ResourceId) -> String {
        let resource = self.view.resources.iter().find(|r| r.current_id() == *id);
        let path = FieldPath::of_keys(&["spec", "replicas"]);
        let replicas = resource.and_then(|r| path.find(&r.node)).and_then(Node::as_str);
        match replicas {
            Some(count) => format!("{}/{} has {count} replicas", id.kind, id.name),
            None => format!("{}/{} uses it", id.kind, id.name),
        }
    }

    pub(super) fn several(&self, pin: &Pin, entries: Vec<usize>, wins: Option<usize>) -> PlanError {
        let line = |i: usize| format!("the one on line {}", self.view.entries[i].line);
        PlanError::SeveralEntries {
            key: pin.key.as_str().to_owned(),
            wins: wins.map_or_else(|| "each for the image it matches".to_owned(), line),
            entries: entries.iter().map(|i| self.statement(&self.view.entries[*i])).collect(),
        }
    }

    pub(super) fn overridden(&self, pin: &Pin, i: usize) -> PlanError {
        let later = self.view.later;
        let fields = later.iter().map(|f| format!("`{}:` on line {}", f.field, f.line));
        PlanError::Overridden {
            key: pin.key.as_str().to_owned(),
            user: self.reference_and_user(i),
            file: self.view.file.to_owned(),
            line: later.last().map_or(0, |f| f.line),
            by: fields.collect::<Vec<_>>().join(" or "),
        }
    }

    pub(super) fn no_add(&self, pin: &Pin, i: usize) -> PlanError {
        PlanError::NoAdd {
            key: pin.key.as_str().to_owned(),
            reference: self.view.uses[i].reference.to_string(),
            user: self.user(i),
        }
    }

    pub(super) fn tag_error(&self, pin: &Pin, group: &[usize], reason: TagError) -> PlanError {
        let user = group.first().map_or_else(|| self.view.file.to_owned(), |i| self.user(*i));
        PlanError::Tag { key: pin.key.as_str().to_owned(), user, reason }
    }

    pub(super) fn statement(&self, entry: &ImagesEntry) -> Statement {
        Statement { file: self.view.file.to_owned(), line: entry.line, name: entry.name.clone() }
    }

    pub(super) fn user(&self, i: usize) -> String {
        let place = &self.view.uses[i];
        format!("{}/{} {}", place.resource.kind, place.resource.name, place.path)
    }

    pub(super) fn reference_and_user(&self, i: usize) -> String {
        format!("{} of {}", self.view.uses[i].reference, self.user(i))
    }

    pub(super) fn note(&mut self, code: &'static str, message: String) {
        let note = Note { code, message };
        if !self.out.notes.contains(&note) {
            self.out.notes.push(note);
        }
    }

    pub(super) fn note_ephemeral(&mut self, i: usize) {
        let message = format!(
            "{}: an ephemeral container is reached by no transformer of kustomize and stays {}",
            self.user(i),
            self.view.uses[i].reference
        );
        self.note("ephemeral-container", message);
    }

    pub(super) fn note_unmatchable(&mut self, i: usize) {
        let user = self.reference_and_user(i);
        let message =
            format!("{user}: kustomize reads no tag in it, so no entry matches it and it stays");
        self.note("unmatchable-image", message);
    }

    pub(super) fn note_setter(&mut self, index: usize) {
        let entry = &self.view.entries[index];
        let message = format!(
            "{}:{}: a Flux setter comment marks this tag: image automation may write it again",
            self.view.file, entry.version_line
        );
        self.note("setter-comment", message);
    }

    /// Images in arguments of the resources that are pinned, which no entry reaches.
    pub(super) fn note_floating_arguments(&mut self) {
        let touched: Vec<&ResourceId> =
            self.claims.keys().map(|i| &self.view.uses[*i].resource).collect();
        let floating: Vec<usize> = (0..self.view.uses.len())
            .filter(|i| {
                !self.claims.contains_key(i) && touched.contains(&&self.view.uses[*i].resource)
            })
            .filter(|i| is_floating_argument(&self.view.uses[*i]))
            .collect();
        for i in floating {
            let UseKind::Argument { flag, .. } = &self.view.uses[i].kind else { continue };
            let message = format!(
                "{}: the argument {flag} {} is a floating image that no entry reaches; pin it with --image-arg {}",
                self.user(i),
                self.view.uses[i].reference,
                shell::word(flag)
            );
            self.note("floating-argument", message);
        }
    }
}

fn is_floating_argument(place: &ImageUse) -> bool {
    let is_argument = matches!(place.kind, UseKind::Argument { .. });
    is_argument && Digest::parse(Split::parse(&place.reference).digest).is_err()
}
