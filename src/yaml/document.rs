//! A YAML document under edit.
//!
//! Every method changes the text by splices, proves the new text before it takes it, and leaves the document as it
//! was when it refuses. Several edits of one document compose: [`Document::edits`] tells them as one list on the
//! original bytes.

use crate::edit::{EditedText, FileEdit, TextEdit};

use super::layout::Layout;
pub use super::limits::{MAX_DOCUMENT_BYTES, MAX_DOCUMENT_NODES};
use super::limits::{too_large, unfit};
use super::path::{Found, Path, Step, find, find_pair, is_null_word};
use super::refusal::{Reason, Refusal};
use super::scalar::is_writable;
use super::splice::{self, Planned, Splice};
use super::tree::{Kind, NodeId, Style, Tree, parse};
use super::value::Value;
use super::verify::verified;

/// Where a new key goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Position {
    /// Behind this key of the same mapping; at the end if there is no such key.
    After(String),
    /// At the end of the mapping.
    End,
}

/// What is known of a single value in a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Located {
    /// Its decoded text; empty where nothing is written.
    pub text: String,
    /// How it is written.
    pub style: Style,
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
    /// The comment at the end of its line, with `#`.
    pub comment: Option<String>,
}

impl Located {
    /// The Flux setter in the comment of the line, as `{"$imagepolicy": "flux-system:app:tag"}`.
    #[must_use]
    pub fn flux_setter(&self) -> Option<&str> {
        self.comment.as_deref().and_then(flux_setter)
    }
}

/// The Flux setter in a comment: `# {"$imagepolicy": "ns:name:tag"}`, and what the older Kpt setters look like.
fn flux_setter(comment: &str) -> Option<&str> {
    let body = comment.trim_start_matches('#').trim();
    (body.starts_with('{') && body.contains("\"$")).then_some(body)
}

/// A file's text and the edits on it.
#[derive(Clone, Debug)]
pub struct Document {
    file: String,
    edited: EditedText,
}

impl Document {
    /// A document from the bytes of a file; `file` names it in refusals and in [`Document::file_edit`].
    ///
    /// # Errors
    /// Bytes that are no UTF-8 or no YAML, a Git LFS pointer, a file beyond [`MAX_DOCUMENT_BYTES`], and characters
    /// that kustomize reads as line breaks where this parser does not.
    pub fn from_bytes(file: impl Into<String>, bytes: &[u8]) -> Result<Self, Refusal> {
        let file = file.into();
        let refuse = |reason, line| Refusal { file: file.clone(), line, column: 1, reason };
        if let Some(reason) = too_large(bytes.len()) {
            return Err(refuse(reason, 1));
        }
        let text = std::str::from_utf8(bytes).map_err(|e| {
            let line = bytes[..e.valid_up_to()].iter().filter(|b| **b == b'\n').count() as u32 + 1;
            refuse(Reason::NotUtf8, line)
        })?;
        Self::from_text(file, text.to_owned())
    }

    /// A document from text; see [`Document::from_bytes`].
    ///
    /// # Errors
    /// As [`Document::from_bytes`], and text with more than [`MAX_DOCUMENT_NODES`].
    pub fn from_text(file: impl Into<String>, text: String) -> Result<Self, Refusal> {
        let document = Document { file: file.into(), edited: EditedText::new(text) };
        let unfit = unfit(&document.tree()?);
        match unfit {
            Some((line, reason)) => Err(Refusal { file: document.file, line, column: 1, reason }),
            None => Ok(document),
        }
    }

    /// The name of the file.
    #[must_use]
    pub fn file(&self) -> &str {
        &self.file
    }

    /// The text with all edits so far.
    #[must_use]
    pub fn text(&self) -> &str {
        self.edited.text()
    }

    /// The text as it was opened.
    #[must_use]
    pub fn original(&self) -> &str {
        self.edited.original()
    }

    /// All edits so far, as ranges of the original text; empty if nothing changes.
    #[must_use]
    pub fn edits(&self) -> Vec<TextEdit> {
        self.edited.edits()
    }

    /// All edits so far as an edit of the file; `None` if nothing changes.
    #[must_use]
    pub fn file_edit(&self) -> Option<FileEdit> {
        let edits = self.edits();
        (!edits.is_empty()).then(|| FileEdit::edit(self.file.clone(), edits))
    }

    /// The tree of the present text.
    ///
    /// # Errors
    /// Never after [`Document::from_text`] has read the text.
    pub fn tree(&self) -> Result<Tree<'_>, Refusal> {
        parse(self.edited.text()).map_err(|e| Refusal::syntax(&self.file, e))
    }

    /// Refuses a text with more than one document; empty documents behind the first do not count.
    ///
    /// # Errors
    /// [`Reason::SecondDocument`] with the line of the second one.
    pub fn require_single_document(&self) -> Result<(), Refusal> {
        let tree = self.tree()?;
        let mut others = tree.roots().iter().skip(1);
        match others.find(|root| !tree.node(**root).is_absent()) {
            Some(root) => Err(self.refuse(&tree, *root, Reason::SecondDocument)),
            None => Ok(()),
        }
    }

    /// The node at a path; `None` if nothing stands there.
    ///
    /// # Errors
    /// What makes the path ambiguous or shared: see [`Reason`].
    pub fn find(&self, tree: &Tree<'_>, path: &Path) -> Result<Option<NodeId>, Refusal> {
        match find(tree, path).map_err(|(id, reason)| self.refuse(tree, id, reason))? {
            Found::Node(id) => Ok(Some(id)),
            Found::Missing { .. } | Found::NoDocument => Ok(None),
        }
    }

    /// The single value at a path; `None` if there is nothing, or a collection.
    ///
    /// # Errors
    /// As [`Document::find`].
    pub fn locate(&self, path: &Path) -> Result<Option<Located>, Refusal> {
        let tree = self.tree()?;
        let Some(id) = self.find(&tree, path)? else { return Ok(None) };
        let node = tree.node(id);
        let layout = Layout::new(&tree);
        let comment = layout.comment_on_line(node.span().end).map(str::to_owned);
        Ok(node.scalar().zip(node.style()).map(|(text, style)| Located {
            text: text.to_owned(),
            style,
            line: node.line,
            column: node.column,
            comment,
        }))
    }

    /// Sets the single value at `path`, which must exist (it may be null or absent).
    ///
    /// The old value's quotes stay unless the new one needs others; line, comment and everything else stay.
    ///
    /// # Errors
    /// [`Reason::NotFound`], a value that is no single one, and every cause that would change more than asked.
    pub fn set(&mut self, path: &Path, value: &Value) -> Result<(), Refusal> {
        self.edit(path, value, |layout, found| match found {
            Found::Node(id) => splice::set(layout, id, value),
            _ => Err(not_found(layout, path)),
        })
    }

    /// Gives the key at the end of `path` the name `new_key` and the value `value`, on the same line.
    ///
    /// # Errors
    /// As [`Document::set`]; [`Reason::KeyExists`] if the mapping has `new_key` already; [`Reason::FluxSetter`] if
    /// Flux writes the old key's value.
    pub fn rename_and_set(
        &mut self,
        path: &Path,
        new_key: &str,
        value: &Value,
    ) -> Result<(), Refusal> {
        self.edit(path, value, |layout, found| {
            let tree = layout.tree;
            let Found::Node(id) = found else { return Err(not_found(layout, path)) };
            let parent = tree.node(id).parent().ok_or_else(|| not_found(layout, path))?;
            let Some((key, _)) = tree.pairs(parent).find(|(_, v)| *v == id) else {
                return Err(not_found(layout, path));
            };
            if find_pair(tree, parent, new_key, path.any_case).is_ok_and(|p| p.is_some()) {
                return Err((id, Reason::KeyExists(new_key.to_owned())));
            }
            if let Some(setter) =
                layout.comment_on_line(tree.node(id).span().end).and_then(flux_setter)
            {
                return Err((id, Reason::FluxSetter(setter.to_owned())));
            }
            let key = splice::rename(layout, key, id, new_key)?;
            let value = splice::set(layout, id, value)?;
            Ok(joined(key, value))
        })
    }

    /// Adds `key` to the mapping at `path`, which must exist or be null or an empty document.
    ///
    /// # Errors
    /// [`Reason::KeyExists`], [`Reason::WrongKind`], and every cause that would change more than asked.
    pub fn insert_key(
        &mut self,
        path: &Path,
        key: &str,
        value: &Value,
        position: &Position,
    ) -> Result<(), Refusal> {
        let value_and_key = Value::map([(key, value.clone())]);
        self.edit(path, &value_and_key, |layout, found| {
            let tree = layout.tree;
            match found {
                Found::NoDocument if path.steps.is_empty() => {
                    splice::empty_document(tree, None, key, value)
                }
                Found::Node(id) => match tree.node(id).kind {
                    Kind::Map { .. } => insert_key(layout, id, key, value, position, path.any_case),
                    _ if tree.node(id).parent().is_none() => {
                        splice::empty_document(tree, Some(id), key, value)
                    }
                    _ => Err((id, wrong_kind(tree, id, path, "a mapping"))),
                },
                _ => Err(not_found(layout, path)),
            }
        })
    }

    /// Sets `key` in the mapping at `path`, where it stands or else at `position`.
    ///
    /// # Errors
    /// As [`Document::set`] and [`Document::insert_key`].
    pub fn set_key(
        &mut self,
        path: &Path,
        key: &str,
        value: &Value,
        position: &Position,
    ) -> Result<(), Refusal> {
        let full = path.clone().key(key);
        let exists = {
            let tree = self.tree()?;
            self.find(&tree, &full)?.is_some()
        };
        if exists { self.set(&full, value) } else { self.insert_key(path, key, value, position) }
    }

    /// Appends `item` to the list at `path`. A list that is null or `[]` gets its first entry; an absent key is
    /// added at the end of its mapping.
    ///
    /// # Errors
    /// [`Reason::WrongKind`], [`Reason::NotFound`] if more than the last key is missing, and every cause that would
    /// change more than asked.
    pub fn append(&mut self, path: &Path, item: &Value) -> Result<(), Refusal> {
        self.edit(path, item, |layout, found| match found {
            Found::Node(id) => splice::append(layout, id, item),
            Found::Missing { parent, step } => append_to_absent(layout, path, parent, step, item),
            Found::NoDocument => match path.steps.as_slice() {
                [Step::Key(key)] => {
                    splice::empty_document(layout.tree, None, key, &Value::Seq(vec![item.clone()]))
                }
                _ => Err(not_found(layout, path)),
            },
        })
    }

    /// Inserts `item` before position `index` (from 0) of the list at `path`; at its end if it is shorter.
    ///
    /// # Errors
    /// As [`Document::append`].
    pub fn insert_item(&mut self, path: &Path, index: usize, item: &Value) -> Result<(), Refusal> {
        let length = {
            let tree = self.tree()?;
            self.find(&tree, path)?.map_or(0, |id| tree.items(id).len())
        };
        if index >= length {
            return self.append(path, item);
        }
        self.edit(path, item, |layout, found| match found {
            Found::Node(id) => splice::insert_item(layout, id, index, item),
            _ => Err(not_found(layout, path)),
        })
    }

    /// Removes the entry or the key at `path`, with the comment lines that belong to it. With the last entry of a
    /// list goes its key.
    ///
    /// # Errors
    /// [`Reason::NotFound`], [`Reason::LastKey`] for the only key of a mapping, [`Reason::FluxSetter`] if a line that
    /// goes is Flux's, and every cause that would change more than asked.
    pub fn remove(&mut self, path: &Path) -> Result<(), Refusal> {
        self.edit(path, &Value::Null, |layout, found| {
            let Found::Node(id) = found else { return Err(not_found(layout, path)) };
            let splice = splice::remove(layout, id)?;
            let mut comments = layout.tree.comments().iter().filter(|c| {
                splice.edits.iter().any(|e| e.range.start <= c.start && c.end <= e.range.end)
            });
            match comments.find_map(|c| flux_setter(&layout.text[c.clone()])) {
                Some(setter) => Err((id, Reason::FluxSetter(setter.to_owned()))),
                None => Ok(splice),
            }
        })
    }

    /// Edits the YAML that is the text of the scalar at `path` (`patch: |-`); what `change` does to the inner
    /// document is carried over line by line.
    ///
    /// # Errors
    /// What `change` refuses (line and column are of the inner text, the file name says so), and what makes it
    /// impossible to carry the edit over.
    pub fn edit_inline<F>(&mut self, path: &Path, change: F) -> Result<(), Refusal>
    where
        F: FnOnce(&mut Document) -> Result<(), Refusal>,
    {
        let Some(located) = self.locate(path)? else {
            let tree = self.tree()?;
            let (id, reason) = not_found(&Layout::new(&tree), path);
            return Err(self.refuse(&tree, id, reason));
        };
        let name = format!("{} (text of `{path}`, line {})", self.file, located.line);
        let mut inner = Document::from_text(name, located.text)?;
        change(&mut inner)?;
        let edits = inner.edits();
        if edits.is_empty() {
            return Ok(());
        }
        self.edit(path, &Value::Null, |layout, found| match found {
            Found::Node(id) => splice::inline(layout, id, &edits),
            _ => Err(not_found(layout, path)),
        })
    }

    /// Plans an edit, proves it and takes it.
    fn edit<F>(&mut self, path: &Path, value: &Value, plan: F) -> Result<(), Refusal>
    where
        F: FnOnce(&Layout<'_, '_>, Found) -> Planned,
    {
        let edits = self.planned_edits(path, value, plan)?;
        let reason = |e: crate::edit::EditError| Reason::Verification(e.to_string());
        let applied = self.edited.apply(&edits);
        applied.map_err(|e| Refusal {
            file: self.file.clone(),
            line: 1,
            column: 1,
            reason: reason(e),
        })
    }

    fn planned_edits<F>(
        &self,
        path: &Path,
        value: &Value,
        plan: F,
    ) -> Result<Vec<TextEdit>, Refusal>
    where
        F: FnOnce(&Layout<'_, '_>, Found) -> Planned,
    {
        let tree = self.tree()?;
        let refuse = |(id, reason)| self.refuse(&tree, id, reason);
        let found = find(&tree, path).map_err(refuse)?;
        if !value.strings().iter().all(|s| is_writable(s)) {
            return Err(refuse((blame(&tree, found), Reason::Unwritable)));
        }
        let splice = plan(&Layout::new(&tree), found).map_err(refuse)?;
        let cause = |text| refuse((blame(&tree, found), Reason::Verification(text)));
        verified(&tree, &splice).map_err(cause)?;
        Ok(splice.edits)
    }

    fn refuse(&self, tree: &Tree<'_>, id: NodeId, reason: Reason) -> Refusal {
        let node = tree.nodes().get(id.index());
        let (line, column) = node.map_or((1, 1), |n| (n.line, n.column));
        Refusal { file: self.file.clone(), line, column, reason }
    }
}

fn joined(mut a: Splice, b: Splice) -> Splice {
    a.edits.extend(b.edits);
    a.changes.extend(b.changes);
    a
}

fn blame(tree: &Tree<'_>, found: Found) -> NodeId {
    match found {
        Found::Node(id) | Found::Missing { parent: id, .. } => id,
        Found::NoDocument => tree.roots().first().copied().unwrap_or(NodeId(0)),
    }
}

fn not_found(layout: &Layout<'_, '_>, path: &Path) -> (NodeId, Reason) {
    let root = layout.tree.roots().get(path.document).copied().unwrap_or(NodeId(0));
    (root, Reason::NotFound(path.to_string()))
}

fn wrong_kind(tree: &Tree<'_>, id: NodeId, path: &Path, wanted: &'static str) -> Reason {
    Reason::WrongKind { path: path.to_string(), wanted, found: super::path::kind_name(tree, id) }
}

fn insert_key(
    layout: &Layout<'_, '_>,
    map: NodeId,
    key: &str,
    value: &Value,
    position: &Position,
    any_case: bool,
) -> Planned {
    let tree = layout.tree;
    if let Some((old, _)) = find_pair(tree, map, key, any_case)? {
        return Err((old, Reason::KeyExists(key.to_owned())));
    }
    let after = match position {
        Position::After(sibling) => find_pair(tree, map, sibling, any_case)?
            .and_then(|(k, _)| tree.pairs(map).position(|(other, _)| other == k)),
        Position::End => None,
    };
    splice::insert_key(layout, map, after, key, value)
}

/// Appends to a list whose key is missing: adds the key with a list of one.
fn append_to_absent(
    layout: &Layout<'_, '_>,
    path: &Path,
    parent: NodeId,
    step: usize,
    item: &Value,
) -> Planned {
    let tree = layout.tree;
    let (Some(Step::Key(key)), true) = (path.steps.get(step), step + 1 == path.steps.len()) else {
        return Err(not_found(layout, path));
    };
    let list = Value::Seq(vec![item.clone()]);
    let node = tree.node(parent);
    match node.kind {
        Kind::Map { .. } => splice::insert_key(layout, parent, None, key, &list),
        _ if node.parent().is_none() && node.is_absent() => {
            splice::empty_document(tree, Some(parent), key, &list)
        }
        _ if is_null_word(tree, parent) => {
            Err((parent, wrong_kind(tree, parent, path, "a mapping")))
        }
        _ => Err(not_found(layout, path)),
    }
}

#[cfg(test)]
mod tests;
