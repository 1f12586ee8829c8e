//! Rendering by another program (kustomize or kubectl) on a temporary copy of the tree.
