//! What Kubernetes and CloudNativePG do, row by row: rolls, disruption budgets, databases. Each row is a fact of theirs, written
//! down from their source, or printed by their own code (`tools/rollout_tables`); none is an output of ours.

mod admission;
mod budgets;
mod databases;
mod rolls;

use overlay::checks::context::Context;
use overlay::checks::model::application::Repository;
use overlay::checks::{self, Overlay, Settings};
use overlay::kustomize::{Rendered, SourceTree};

/// Runs `look` on the model of what `text` renders.
fn with_model<T>(text: &str, look: impl FnOnce(&Context<'_>) -> T) -> T {
    let rendered = Rendered::parse(text).unwrap();
    let (tree, settings, repository) =
        (SourceTree::default(), Settings::default(), Repository::default());
    let overlay = Overlay { directory: "", rendered: &rendered, tree: &tree };
    look(&Context::new(overlay, &[overlay], &settings, &repository))
}

/// What the checks say of what `text` renders on so many nodes: ids and severities, sorted.
fn said(text: &str, nodes: Option<i64>) -> Vec<(String, &'static str)> {
    // Places are those of files; that of a text by itself is in none.
    let rendered = Rendered::parse_with_lines(text).unwrap();
    let settings = Settings { nodes, ..Settings::default() };
    let (tree, repository) = (SourceTree::default(), Repository::default());
    let overlay = Overlay { directory: "", rendered: &rendered, tree: &tree };
    let found = checks::run(overlay, &[overlay], &settings, &repository).findings;
    let mut said: Vec<(String, &str)> =
        found.iter().map(|finding| (finding.id.to_string(), finding.severity.as_str())).collect();
    said.sort();
    said
}
