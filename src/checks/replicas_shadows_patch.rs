//! `replicas-shadows-patch`: a `replicas` entry hides the number of a patch of the same kustomization.

use super::context::Context;
use super::finding::{Finding, Severity};
use super::model::int;
use super::{Check, CheckId};
use crate::kustomize::Rendered;
use crate::kustomize::SourceTree;
use crate::kustomize::types::{Located, Patch};

pub(super) const CHECK: Check =
    Check { id: CheckId("replicas-shadows-patch"), severity: Severity::Warning, run };

fn run(context: &Context<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    let tree = context.overlay.tree;
    for (directory, file) in tree.kustomizations() {
        let fields = &file.kustomization;
        for entry in &fields.replicas {
            let patches = fields.patches.iter().filter_map(|patch| stated(tree, directory, patch));
            let merges = fields.patches_strategic_merge.iter();
            let merges = merges.filter_map(|patch| stated_by(tree, directory, patch, None));
            let dead = patches
                .chain(merges)
                .find(|stated| *stated.name == *entry.name && stated.replicas != entry.count);
            let Some(dead) = dead else { continue };
            let message = format!(
                "the replicas entry for {} says {}, and {} of the same kustomization says {}: the patch has no effect, for entries come after patches",
                &*entry.name, entry.count, dead.place, dead.replicas,
            );
            let finding = context.source_finding(&CHECK, entry.origin, message);
            found.push(finding.about(&format!("replicas.[name={}]", &*entry.name)));
        }
    }
    found
}

/// The replicas that a patch states.
struct Stated {
    name: String,
    replicas: i64,
    place: String,
}

fn stated(tree: &SourceTree, directory: &str, patch: &Patch) -> Option<Stated> {
    let name = patch.target.as_ref().map(|target| &*target.name);
    let text = if patch.path.is_empty() { &patch.patch } else { &patch.path };
    stated_by(tree, directory, text, name.filter(|name| !name.is_empty()))
}

/// What the patch `text` (inline, or a file's path) states; `target` is its target's name.
fn stated_by(
    tree: &SourceTree,
    directory: &str,
    text: &Located,
    target: Option<&str>,
) -> Option<Stated> {
    let is_inline = text.contains('\n') || text.contains(": ");
    let file = if is_inline { None } else { Some(find_file(tree, directory, text)?) };
    let (content, place) = match file {
        Some((path, content)) => (content, path),
        None => (&**text, "an inline patch"),
    };
    if let Some(replicas) = operation(content) {
        return Some(Stated { name: target?.to_owned(), replicas, place: place.to_owned() });
    }
    let parsed = Rendered::parse(content).ok()?;
    let resource = parsed.resources.first()?;
    let replicas = resource.node.lookup(&["spec", "replicas"]).and_then(int)?;
    let name = target.unwrap_or(resource.name()).to_owned();
    Some(Stated { name, replicas, place: place.to_owned() })
}

fn find_file<'t>(tree: &'t SourceTree, directory: &str, path: &str) -> Option<(&'t str, &'t str)> {
    let whole = if directory.is_empty() { path.to_owned() } else { format!("{directory}/{path}") };
    let clean = whole.replace("/./", "/");
    let file = tree.file(clean.strip_prefix("./").unwrap_or(&clean))?;
    Some((&file.path, std::str::from_utf8(&file.bytes).ok()?))
}

/// The value of an operation on `/spec/replicas`.
fn operation(content: &str) -> Option<i64> {
    let at = content.find("/spec/replicas")?;
    let rest = &content[at..];
    let value = rest[rest.find("value:")? + "value:".len()..].trim_start();
    let end = value.find(|c: char| !c.is_ascii_digit()).unwrap_or(value.len());
    value[..end].parse().ok()
}
