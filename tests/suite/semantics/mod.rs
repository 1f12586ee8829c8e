//! What Kubernetes and CloudNativePG do, row by row: rolls, disruption budgets, databases. Each row is a fact of theirs, written
//! down from their source, or printed by their own code (`tools/rollout_tables`); none is an output of ours.

mod admission;
mod budgets;
mod databases;
mod rolls;

use overlay::checks::context::Context;
use overlay::checks::model::application::Repository;
use overlay::checks::{Overlay, Settings};
use overlay::kustomize::{Rendered, SourceTree};

/// Runs `look` on the model of what `text` renders.
fn with_model<T>(text: &str, look: impl FnOnce(&Context<'_>) -> T) -> T {
    let rendered = Rendered::parse(text).unwrap();
    let (tree, settings, repository) =
        (SourceTree::default(), Settings::default(), Repository::default());
    let overlay = Overlay { directory: "", rendered: &rendered, tree: &tree };
    look(&Context::new(overlay, &[overlay], &settings, &repository))
}
