//! Who decided a value: the file, the line, and what stands there.

use super::origin::Origin;
use super::rendered::Rendered;
use super::source_tree::{SourceTree, join};
use super::types::{Kustomization, Located};
use crate::yaml;

/// The statement that decided a value.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Owner {
    /// The file, relative to the boundary.
    pub file: String,
    /// The line, from 1; 0 where it is not known.
    pub line: u32,
    /// What stands there: `images-entry`, `replicas-entry`, `patch`, `generator`, `replacement`,
    /// `transformer`, `resource` (a file of resources), or the name of the field of the kustomization.
    pub kind: String,
}

/// Who decided a value of `rendered` that comes from `origin`; `None` for one that came from no file.
#[must_use]
pub fn owner_of(tree: &SourceTree, rendered: &Rendered, origin: Origin) -> Option<Owner> {
    let (file, line) = rendered.place(origin)?;
    Some(Owner { file: file.to_owned(), line, kind: statement_kind(tree, file, line) })
}

/// What stands at `line` of `file`.
#[must_use]
pub fn statement_kind(tree: &SourceTree, file: &str, line: u32) -> String {
    let kustomizations = || tree.kustomizations();
    if kustomizations().any(|(_, read)| *read.file.path == *file) {
        return field_kind(tree, file, line);
    }
    let role = kustomizations().find_map(|(dir, read)| role_of(dir, &read.kustomization, file));
    role.unwrap_or("resource").to_owned()
}

/// The field of a kustomization file that a line belongs to.
fn field_kind(tree: &SourceTree, file: &str, line: u32) -> String {
    let text = tree.file(file).and_then(|file| std::str::from_utf8(&file.bytes).ok());
    let field = text.and_then(|text| {
        let document = yaml::parse(text).ok()?;
        let root = document.target(*document.roots().first()?);
        let mut before = document.pairs(root).filter(|(key, _)| document.node(*key).line <= line);
        document.node(before.next_back()?.0).scalar().map(str::to_owned)
    });
    match field.as_deref() {
        Some("images" | "imageTags") => "images-entry".to_owned(),
        Some("replicas") => "replicas-entry".to_owned(),
        Some("patches" | "patchesStrategicMerge" | "patchesJson6902") => "patch".to_owned(),
        Some("configMapGenerator" | "secretGenerator" | "generators") => "generator".to_owned(),
        Some("replacements") => "replacement".to_owned(),
        Some("transformers") => "transformer".to_owned(),
        Some(field) => field.to_owned(),
        None => "kustomization".to_owned(),
    }
}

/// What the kustomization in `directory` uses `file` as, but for resources.
fn role_of(directory: &str, kustomization: &Kustomization, file: &str) -> Option<&'static str> {
    let is_file =
        |path: &Located| !path.is_empty() && join(directory, path).is_some_and(|path| path == file);
    let patches = kustomization.patches.iter().chain(&kustomization.patches_json_6902);
    let merges = kustomization.patches_strategic_merge.iter();
    if patches.map(|patch| &patch.path).chain(merges).any(is_file) {
        return Some("patch");
    }
    if kustomization.replacements.iter().any(|entry| is_file(&entry.path)) {
        return Some("replacement");
    }
    if kustomization.generators.iter().any(is_file) {
        return Some("generator");
    }
    kustomization.transformers.iter().any(is_file).then_some("transformer")
}
