//! Rendering without remote bases: what of an overlay can still be seen, and what is unknown.

use serde_json::Value as Json;

use crate::kustomize::SourceTree;
use crate::kustomize::remote::{REFERENCE_FIELDS, is_remote};
use crate::plan::layer;
use crate::yaml;

/// The fields that fail a build where what they change is not there.
const DEPENDENT: [&str; 6] =
    ["patches", "patchesStrategicMerge", "patchesJson6902", "replicas", "replacements", "vars"];

/// What is left out of the kustomization files before they are rendered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Without {
    /// Nothing.
    #[default]
    Nothing,
    /// Remote references.
    Remotes,
    /// Remote references, and in the files that have some every field that needs what they bring.
    RemotesAndDependents,
}

impl Without {
    /// From the least to the most that may be left out where a remote base cannot be had.
    pub(crate) const LEVELS: [Self; 2] = [Self::Remotes, Self::RemotesAndDependents];

    /// The remote references of `tree`, each with the file and line that names it.
    pub(crate) fn references(tree: &SourceTree) -> Vec<String> {
        let mut all = Vec::new();
        for (_, read) in tree.kustomizations() {
            let Ok(text) = std::str::from_utf8(&read.file.bytes) else { continue };
            for (reference, line) in references_of(text) {
                all.push(format!("{reference} ({}:{line})", read.file.path));
            }
        }
        all
    }

    /// `edits` and every other kustomization file of the tree, each without what is left out.
    pub(crate) fn apply(
        self,
        tree: &SourceTree,
        edits: &[(String, String)],
    ) -> Vec<(String, String)> {
        let mut texts = edits.to_vec();
        if self == Self::Nothing {
            return texts;
        }
        for (_, read) in tree.kustomizations() {
            let is_edited = edits.iter().any(|(path, _)| **path == *read.file.path);
            if let (false, Ok(text)) = (is_edited, std::str::from_utf8(&read.file.bytes)) {
                texts.push((read.file.path.to_string(), text.to_owned()));
            }
        }
        texts.iter_mut().for_each(|(_, text)| self.strip(text));
        texts
    }

    fn strip(self, text: &mut String) {
        if references_of(text).is_empty() {
            return;
        }
        let is = |fields: &[&str], key: &str| fields.iter().any(|f| f.eq_ignore_ascii_case(key));
        let local = |item: &Json| !item.as_str().is_some_and(is_remote);
        let change = |key: &str, value: Json| match value {
            Json::Array(items) if is(&REFERENCE_FIELDS, key) => {
                Some(Json::Array(items.into_iter().filter(local).collect()))
            }
            _ if self == Self::RemotesAndDependents && is(&DEPENDENT, key) => None,
            other => Some(other),
        };
        if let Ok(stripped) = layer::rewrite(text, &change, Vec::new()) {
            *text = stripped;
        }
    }
}

/// Whether a kustomization file has remote references.
pub(crate) fn has_remote_references(text: &str) -> bool {
    !references_of(text).is_empty()
}

/// The remote references of a kustomization file, each with its line.
fn references_of(text: &str) -> Vec<(String, u32)> {
    let Ok(tree) = yaml::parse(text) else { return Vec::new() };
    let Some(root) = tree.roots().first() else { return Vec::new() };
    let mut found = Vec::new();
    for (key, value) in tree.pairs(tree.target(*root)) {
        let is_list = |key: &str| REFERENCE_FIELDS.iter().any(|f| f.eq_ignore_ascii_case(key));
        if !tree.node(key).scalar().is_some_and(is_list) {
            continue;
        }
        for item in tree.items(tree.target(value)) {
            let node = tree.node(tree.target(*item));
            if let Some(text) = node.scalar().filter(|text| is_remote(text)) {
                found.push((text.to_owned(), tree.node(*item).line));
            }
        }
    }
    found
}
