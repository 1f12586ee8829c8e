//! Why a change cannot be planned; each variant carries what its message and its hint need.

use super::database::DatabaseTagError;
use super::entries::EntriesError;
use super::placement::Unproven;
use super::tag_rule::TagError;
use crate::yaml::YamlError;

/// A line of a file of the overlay, with what stands there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    /// The file, relative to the boundary.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The `name` of the entry, or the field.
    pub name: String,
}

/// Why nothing is edited.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// A component that is to give its place to another has none to give.
    #[error("{reason}")]
    NotListed {
        /// The kustomization file.
        file: String,
        /// What is listed and what is not.
        reason: String,
    },
    /// The kustomization file cannot be read.
    #[error("{error}")]
    Yaml {
        /// The file.
        file: String,
        /// Where and why.
        error: YamlError,
    },
    /// Its `images:` cannot be edited.
    #[error("{error}")]
    Entries {
        /// The file.
        file: String,
        /// Where and why.
        error: EntriesError,
    },
    /// The file of a hold cannot be read, so that what it refuses is not known.
    #[error("{reason}")]
    Hold {
        /// The file.
        file: String,
        /// The line, from 1.
        line: u32,
        /// The column in characters, from 1.
        column: u32,
        /// What is wrong.
        reason: String,
    },
    /// A key means several images.
    #[error("`{key}` names several images: {}", names.join(", "))]
    Ambiguous {
        /// The key.
        key: String,
        /// Their names.
        names: Vec<String>,
    },
    /// A key names nothing that is rendered.
    #[error("`{key}` names nothing that is rendered")]
    NoSuchImage {
        /// The key.
        key: String,
        /// Every name that is rendered.
        rendered: Vec<String>,
    },
    /// A key is the name of an entry that matches nothing.
    #[error("`{key}` is the entry on line {} of {}, which matches nothing that is rendered", entry.line, entry.file)]
    DeadEntry {
        /// The key.
        key: String,
        /// The entry.
        entry: Statement,
        /// Every name that is rendered.
        rendered: Vec<String>,
    },
    /// A name that only a base that could not be read may use.
    #[error("`{key}` names nothing that renders without what could not be read")]
    Unseen {
        /// The key.
        key: String,
    },
    /// Two entries for one repository.
    #[error("`{key}`: {} entries speak of one repository: {}; {wins} wins", entries.len(), lines(entries))]
    SeveralEntries {
        /// The key.
        key: String,
        /// The entries, in the order of the file.
        entries: Vec<Statement>,
        /// Which decides today: its line.
        wins: String,
    },
    /// The entry that decides also decides an image that was not named.
    #[error("`{key}`: the entry `{}` on line {} also decides {other}, which was not named", entry.name, entry.line)]
    AlsoDecides {
        /// The key.
        key: String,
        /// The entry.
        entry: Statement,
        /// The other image and who uses it.
        other: String,
    },
    /// No name of an entry matches what was named and nothing else.
    #[error(
        "`{key}`: every `images:` entry for {name} would also match {other}, which was not named"
    )]
    NoPattern {
        /// The key.
        key: String,
        /// The name as it arrives at this layer.
        name: String,
        /// The other image and who uses it.
        other: String,
    },
    /// The name of the entry hits another repository, since kustomize reads it as a regular expression.
    #[error("`{key}`: the entry `{}` on line {} also hits {other}, since a dot in it stands for any character", entry.name, entry.line)]
    PatternHits {
        /// The key.
        key: String,
        /// The entry.
        entry: Statement,
        /// The other image and who uses it.
        other: String,
    },
    /// What follows the name is nothing that kustomize takes for a tag or digest.
    #[error(
        "`{key}`: no `images:` entry for it has an effect on {user}: kustomize looks for letters, digits, `_`, `.`, `-` in a tag and for sha256 in a digest"
    )]
    Unmatchable {
        /// The key.
        key: String,
        /// The reference and who uses it.
        user: String,
    },
    /// An all-zero digest.
    #[error("`{key}`: {} is pinned to zeros on purpose{}, and {users}", at.name, place(at))]
    Placeholder {
        /// The key.
        key: String,
        /// Where the zeros stand.
        at: Statement,
        /// Who uses it, with replicas.
        users: String,
    },
    /// The tag that has to stand, or to go, cannot.
    #[error("`{key}`, {user}: {reason}")]
    Tag {
        /// The key.
        key: String,
        /// The resource and field.
        user: String,
        /// Why.
        reason: TagError,
    },
    /// Something after `images:` decides.
    #[error(
        "`{key}`: {by} of {file} decides {user} after `images:`, so an entry would have no effect"
    )]
    Overridden {
        /// The key.
        key: String,
        /// The reference and who uses it.
        user: String,
        /// The kustomization file.
        file: String,
        /// The line of the last such field, from 1.
        line: u32,
        /// The fields and their lines.
        by: String,
    },
    /// A value that says `TAG@sha256:…`, which would make the tag the image's name.
    #[error("`{key}`: `{name}@sha256:…` would rename the image to `{name}`")]
    TagForName {
        /// The key.
        key: String,
        /// The image's name as rendered.
        image: String,
        /// The name in the value.
        name: String,
    },
    /// A tag that the database's operator refuses.
    #[error("`{key}`, {user}: {reason}")]
    Database {
        /// The key.
        key: String,
        /// The resource.
        user: String,
        /// Why.
        reason: DatabaseTagError,
    },
    /// `--no-add`, and no entry is there.
    #[error(
        "`{key}`: no entry of this overlay decides {reference} of {user}, and --no-add forbids a new one"
    )]
    NoAdd {
        /// The key.
        key: String,
        /// The reference as rendered.
        reference: String,
        /// The resource.
        user: String,
    },
    /// Only ephemeral containers use the image.
    #[error(
        "`{key}`: only ephemeral containers use it ({user}), which no transformer of kustomize reaches"
    )]
    EphemeralOnly {
        /// The key.
        key: String,
        /// The resource.
        user: String,
    },
    /// Two keys want different things of one image.
    #[error("`{first}` and `{second}` both name {reference} and ask for different values")]
    Contradiction {
        /// A key.
        first: String,
        /// Another.
        second: String,
        /// The reference.
        reference: String,
    },
    /// The text cannot be edited safely.
    #[error("{reason}")]
    NotEditable {
        /// The file.
        file: String,
        /// The line, from 1; 0 where it is not known.
        line: u32,
        /// The column, from 1; 0 where it is not known.
        column: u32,
        /// In words.
        reason: String,
    },
    /// A place that `images:` does not reach, and no statement or patch of this overlay can say it.
    #[error("`{key}`: {user} cannot be set by this overlay: {reason}")]
    NoPlace {
        /// The key.
        key: String,
        /// The resource and field.
        user: String,
        /// In words.
        reason: String,
    },
    /// A field that nothing this overlay may say would set.
    #[error("{user} cannot be set by this overlay: {reason}")]
    Unplaced {
        /// The resource and field.
        user: String,
        /// In words.
        reason: String,
    },
    /// A field that something later decides.
    #[error("{user}: `{by}:` of {file} decides it after everything that this overlay could say")]
    FieldOverridden {
        /// The resource and field.
        user: String,
        /// The kustomization file.
        file: String,
        /// The line of the last such field, from 1.
        line: u32,
        /// The field.
        by: String,
    },
    /// No statement does what was asked and nothing else.
    #[error("{user}: no statement does this and nothing else: {}", reason.message())]
    FieldUnproven {
        /// The resource and field.
        user: String,
        /// Why the best one does not.
        reason: Unproven,
        /// What the field holds today, where the value is of another type.
        today: Option<&'static str>,
    },
}

fn lines(entries: &[Statement]) -> String {
    let texts = entries.iter().map(|e| format!("`{}` on line {} of {}", e.name, e.line, e.file));
    texts.collect::<Vec<_>>().join(" and ")
}

fn place(at: &Statement) -> String {
    match at.line {
        0 => format!(" ({})", at.file),
        line => format!(" ({}:{line})", at.file),
    }
}
