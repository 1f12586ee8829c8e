//! Why a document is not edited, and where.

use std::fmt;

use super::tree::YamlError;

/// What is said of a file that is a pointer to content in Git LFS.
pub const IS_LFS_POINTER: &str =
    "the file is a Git LFS pointer; fetch its content with `git lfs pull`";

/// Whether a text is such a pointer, which reads as YAML though it is none (git-lfs `docs/spec.md`: the first line is the version).
#[must_use]
pub fn is_lfs_pointer(text: &str) -> bool {
    text.starts_with("version https://git-lfs.github.com/spec/")
}

/// An edit that was not made: the document is as it was before.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct Refusal {
    /// The file, as named when it was opened.
    pub file: String,
    /// Line of the cause, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
    /// The cause.
    pub reason: Reason,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}: {}", self.file, self.line, self.column, self.reason)
    }
}

impl Refusal {
    pub(super) fn syntax(file: &str, error: YamlError) -> Self {
        let reason = Reason::Syntax(error.message);
        Refusal { file: file.to_owned(), line: error.line, column: error.column, reason }
    }
}

/// The cause of a [`Refusal`]; the text is a sentence without position.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Reason {
    /// No YAML.
    #[error("{0}")]
    Syntax(String),
    /// The bytes are not UTF-8.
    #[error("the file is not valid UTF-8")]
    NotUtf8,
    /// The file is a pointer to content in Git LFS.
    #[error("{IS_LFS_POINTER}")]
    LfsPointer,
    /// The file has more bytes than an editor should load.
    #[error("the file has {bytes} bytes, more than the limit of {limit}")]
    TooLarge {
        /// Bytes of the file.
        bytes: usize,
        /// The most bytes that are read.
        limit: usize,
    },
    /// The text has more nodes than an editor should compare.
    #[error("the file has {nodes} nodes, aliases expanded, more than the limit of {limit}")]
    TooManyNodes {
        /// Nodes of the text, aliases expanded.
        nodes: u64,
        /// The most that are compared.
        limit: u64,
    },
    /// U+0085, U+2028 or U+2029, which go-yaml reads as line breaks, stands outside quotes.
    #[error(
        "the character U+{0:04X} is a line break for kustomize; write it as an escape in double quotes"
    )]
    ForeignLineBreak(u32),
    /// A key on the path stands twice in one mapping.
    #[error("the key `{key}` stands twice, on lines {first} and {second}")]
    DuplicateKey {
        /// The key.
        key: String,
        /// Line of the first.
        first: u32,
        /// Line of the second.
        second: u32,
    },
    /// Two entries of a list have the wanted field value.
    #[error("two entries have `{field}: {value}`, on lines {first} and {second}")]
    AmbiguousEntry {
        /// The field compared.
        field: String,
        /// Its value.
        value: String,
        /// Line of the first.
        first: u32,
        /// Line of the second.
        second: u32,
    },
    /// The value is an alias, or lies behind one.
    #[error("the value is an alias (`{0}`); edit the anchored value")]
    Alias(String),
    /// The value carries an anchor that is used elsewhere, or lies inside such a value.
    #[error("the value is anchored (`{anchor}`) and used in {uses} other {}", if *uses == 1 { "place" } else { "places" })]
    Anchor {
        /// `&name`.
        anchor: String,
        /// Number of aliases.
        uses: u32,
    },
    /// The key may come from a merge key (`<<`).
    #[error("the mapping has a merge key (`<<`) that may hold `{0}`")]
    MergeKey(String),
    /// The value has an explicit tag.
    #[error("the value has an explicit tag (`{0}`)")]
    Tag(String),
    /// The key is written as `? key`.
    #[error("the key is written in the explicit form `? key`")]
    ExplicitKey,
    /// The entry shares its line with the dash of an outer list (`- - x`).
    #[error("the entry shares its line with the dash of an outer list")]
    NestedSequence,
    /// A comment would be deleted that is not part of what is removed.
    #[error("the edit would delete the comment `{0}`")]
    Comment(String),
    /// Flux owns the value: its line has a setter comment.
    #[error("the line has a Flux setter comment: `{0}`")]
    FluxSetter(String),
    /// The file has more than one document.
    #[error("a second document starts here")]
    SecondDocument,
    /// Nothing stands at the path.
    #[error("there is no `{0}`")]
    NotFound(String),
    /// Something else stands at the path.
    #[error("`{path}` is {found}, not {wanted}")]
    WrongKind {
        /// The path.
        path: String,
        /// What was asked for: `a list`, `a mapping`, `a single value`.
        wanted: &'static str,
        /// What stands there.
        found: &'static str,
    },
    /// The new key stands there already.
    #[error("the key `{0}` stands here already")]
    KeyExists(String),
    /// The last key of a mapping cannot be removed.
    #[error("`{0}` is the last key of its mapping")]
    LastKey(String),
    /// The value holds characters that kustomize cannot read or print.
    #[error("the value holds control characters")]
    Unwritable,
    /// The edited text did not read as intended.
    #[error("the edit cannot be made without changing something else: {0}")]
    Verification(String),
}
