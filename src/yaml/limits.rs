//! What is not edited although it is YAML.

use super::refusal::{Reason, is_lfs_pointer};
use super::tree::{Style, Tree};

/// The longest file that is edited, in bytes.
pub const MAX_DOCUMENT_BYTES: usize = 16 << 20;

/// The most nodes, aliases expanded, of a document that is edited: each edit compares all of them.
pub const MAX_DOCUMENT_NODES: u64 = 1_500_000;

/// Why a text is not edited although it is YAML, and in which line.
pub(super) fn unfit(tree: &Tree<'_>) -> Option<(u32, Reason)> {
    let text = tree.text();
    let nodes = tree.expanded_nodes();
    if is_lfs_pointer(text) {
        return Some((1, Reason::LfsPointer));
    }
    if nodes > MAX_DOCUMENT_NODES {
        return Some((1, Reason::TooManyNodes { nodes, limit: MAX_DOCUMENT_NODES }));
    }
    let foreign =
        foreign_line_break(tree).map(|(line, c)| (line, Reason::ForeignLineBreak(c as u32)));
    foreign.or_else(|| too_large(text.len()).map(|reason| (1, reason)))
}

/// Why so many bytes are not read.
pub(super) fn too_large(bytes: usize) -> Option<Reason> {
    (bytes > MAX_DOCUMENT_BYTES).then_some(Reason::TooLarge { bytes, limit: MAX_DOCUMENT_BYTES })
}

/// A character outside quotes that go-yaml reads as a line break and YAML 1.2 does not.
fn foreign_line_break(tree: &Tree<'_>) -> Option<(u32, char)> {
    let text = tree.text();
    let mut breaks = text.match_indices(['\u{85}', '\u{2028}', '\u{2029}']).peekable();
    breaks.peek()?;
    let quoted: Vec<std::ops::Range<usize>> = tree
        .nodes()
        .iter()
        .filter(|n| matches!(n.style(), Some(Style::SingleQuoted | Style::DoubleQuoted)))
        .map(|n| n.span())
        .collect();
    let (at, found) = breaks.find(|(at, _)| !quoted.iter().any(|q| q.contains(at)))?;
    let line = text[..at].matches('\n').count() as u32 + 1;
    found.chars().next().map(|c| (line, c))
}
