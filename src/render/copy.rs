//! The temporary copy: the files of the tree where they are in the repository, its links, and in
//! place of each remote reference the path to its content.

use std::borrow::Cow;

use super::RenderError;
use crate::edit::{TextEdit, apply_edits};
use crate::kustomize::SourceTree;
use crate::kustomize::remote::{REFERENCE_FIELDS, is_remote};
use crate::write::{Layout, TemporaryTree, copy_to_temporary};
use crate::yaml;

/// Makes the copy that an external program reads.
pub(super) fn copy_tree(tree: &SourceTree) -> Result<TemporaryTree, RenderError> {
    let mut files: Vec<(&str, Cow<'_, [u8]>)> = Vec::new();
    let mut local: Vec<(&str, Vec<u8>)> = Vec::new();
    for (directory, read) in tree.kustomizations() {
        if let Some(text) =
            with_local_references(tree, directory, &read.file.path, &read.file.bytes)?
        {
            local.push((&read.file.path, text));
        }
    }
    for file in tree.files() {
        let replaced = local.iter().position(|(path, _)| **path == *file.path);
        let bytes = match replaced {
            Some(at) => Cow::Owned(std::mem::take(&mut local[at].1)),
            None => Cow::Borrowed(&*file.bytes),
        };
        files.push((&file.path, bytes));
    }
    let layout = Layout {
        files: files.iter().map(|(path, bytes)| (*path, &**bytes)).collect(),
        directories: tree.directories().collect(),
        links: tree.links().collect(),
    };
    Ok(copy_to_temporary(&layout)?)
}

/// Whether the content of every remote reference of the tree is at hand.
///
/// # Errors
/// [`RenderError::Remote`] for the first that is not.
pub fn check_local(tree: &SourceTree) -> Result<(), RenderError> {
    for (directory, read) in tree.kustomizations() {
        with_local_references(tree, directory, &read.file.path, &read.file.bytes)?;
    }
    Ok(())
}

/// The text of a kustomization file with its remote references replaced, or `None` where it has none.
fn with_local_references(
    tree: &SourceTree,
    directory: &str,
    file: &str,
    bytes: &[u8],
) -> Result<Option<Vec<u8>>, RenderError> {
    // What cannot be read is left as it is, for the program to say so.
    let Ok(text) = std::str::from_utf8(bytes) else { return Ok(None) };
    let Ok(document) = yaml::parse(text) else { return Ok(None) };
    let mut edits = Vec::new();
    for field in REFERENCE_FIELDS {
        let roots = document.roots().iter();
        let lists = roots.filter_map(|root| document.value_of(*root, field));
        for item in lists.flat_map(|list| document.items(document.target(list))) {
            let item = document.node(document.target(*item));
            let Some(reference) = item.scalar().filter(|text| is_reference(text)) else { continue };
            let Some(content) = tree.remote(reference) else {
                let (reference, file) = (reference.to_owned(), file.to_owned());
                return Err(RenderError::Remote { reference, file, line: item.line });
            };
            let path = relative(directory, content);
            edits.push(TextEdit::new(item.span(), serde_json::Value::from(path).to_string()));
        }
    }
    edits.sort_by_key(|edit| edit.range.start);
    edits.dedup();
    let local = (!edits.is_empty()).then(|| apply_edits(text, &edits)).transpose();
    let local = local.map_err(|error| std::io::Error::other(error.to_string()))?;
    Ok(local.map(String::into_bytes))
}

/// An item of `transformers` and the like may be a whole document, which is no reference.
fn is_reference(text: &str) -> bool {
    !text.contains('\n') && is_remote(text)
}

/// `path` seen from `directory`, both relative to one top.
fn relative(directory: &str, path: &str) -> String {
    let depth = directory.split('/').filter(|part| !part.is_empty()).count();
    format!("{}{path}", "../".repeat(depth))
}
