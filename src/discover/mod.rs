//! Overlays on disk: the [`crate::kustomize::Files`] port over a directory tree, and the boundary that nothing reaches beyond.
