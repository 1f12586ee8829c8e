//! Rendering without what cannot be had or built: what of an overlay can still be seen, and what is unknown.

use serde_json::Value as Json;

use crate::kustomize::SourceTree;
use crate::kustomize::remote::{REFERENCE_FIELDS, is_remote, without_credentials};
use crate::plan::layer;
use crate::yaml;

/// The fields that fail a build where what they change is not there.
const DEPENDENT: [&str; 6] =
    ["patches", "patchesStrategicMerge", "patchesJson6902", "replicas", "replacements", "vars"];

/// The fields that the built-in build does not do, or not with whatever they may hold.
const UNBUILDABLE: [&str; 6] = [
    "helmCharts",
    "helmChartInflationGenerator",
    "helmGlobals",
    "generators",
    "transformers",
    "validators",
];

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
    /// Remote references, and what the built-in build does not do.
    Unbuildable,
    /// The same, and in the files that have some every field that needs what they bring.
    UnbuildableAndDependents,
    /// Everything: nothing is rendered.
    Everything,
}

impl Without {
    /// From the least to the most that may be left out where a remote base cannot be had.
    pub(crate) const LEVELS: [Self; 2] = [Self::Remotes, Self::RemotesAndDependents];

    /// The same where the edit goes on whatever can be rendered.
    pub(crate) const UNPROVEN_LEVELS: [Self; 3] =
        [Self::Unbuildable, Self::UnbuildableAndDependents, Self::Everything];

    /// What is left out of the files of `tree`, each with its file and line; not what depends on it.
    pub(crate) fn left_out(self, tree: &SourceTree) -> Vec<String> {
        let mut all = Vec::new();
        for (_, read) in tree.kustomizations() {
            let Ok(text) = std::str::from_utf8(&read.file.bytes) else { continue };
            let unbuildable = if self.is_of_all() { unbuildable_of(text) } else { Vec::new() };
            for (what, line) in references_of(text).into_iter().chain(unbuildable) {
                let what = without_credentials(&what);
                all.push(format!("{what} ({}:{line})", read.file.path));
            }
        }
        all
    }

    /// Whether it leaves out more than remote references and their dependents.
    pub(crate) fn is_of_all(self) -> bool {
        matches!(self, Self::Unbuildable | Self::UnbuildableAndDependents | Self::Everything)
    }

    fn is_with_dependents(self) -> bool {
        matches!(self, Self::RemotesAndDependents | Self::UnbuildableAndDependents)
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
        let has_unbuildable = self.is_of_all() && !unbuildable_of(text).is_empty();
        if references_of(text).is_empty() && !has_unbuildable {
            return;
        }
        let is = |fields: &[&str], key: &str| fields.iter().any(|f| f.eq_ignore_ascii_case(key));
        let local = |item: &Json| !item.as_str().is_some_and(is_remote);
        let change = |key: &str, value: Json| match value {
            Json::Array(items) if is(&REFERENCE_FIELDS, key) => {
                Some(Json::Array(items.into_iter().filter(local).collect()))
            }
            _ if self.is_with_dependents() && is(&DEPENDENT, key) => None,
            _ if self.is_of_all() && is(&UNBUILDABLE, key) => None,
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

/// The fields of a kustomization file that the built-in build may not do, each with its line.
fn unbuildable_of(text: &str) -> Vec<(String, u32)> {
    let Ok(tree) = yaml::parse(text) else { return Vec::new() };
    let Some(root) = tree.roots().first() else { return Vec::new() };
    let is_one = |key: &str| UNBUILDABLE.iter().any(|field| field.eq_ignore_ascii_case(key));
    let pairs = tree.pairs(tree.target(*root)).filter(|(_, value)| !tree.node(*value).is_absent());
    let named = pairs.filter_map(|(key, _)| {
        let node = tree.node(key);
        Some((node.scalar().filter(|text| is_one(text))?.to_owned(), node.line))
    });
    named.collect()
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
