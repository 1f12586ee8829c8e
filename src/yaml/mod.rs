//! Lossless YAML: a tree of byte spans, read as kustomize reads it and edited by splices.
