//! `overlay` edits kustomize overlays in git and proves each edit by rendering.
//!
//! The crate in layers, low to high (`ARCHITECTURE.md` has the table of who may import whom):
//!
//! | layer | modules |
//! |---|---|
//! | 0 foundations | [`edit`], [`yaml`], [`image`], [`process`], [`clock`], [`hint`], `json`, [`database`], [`patterns`], [`repository_url`], `http`, `kubernetes`, `tls`, `trust` |
//! | 1 vocabulary | [`kustomize`], [`change`] |
//! | 2 pure logic | [`plan`], [`verify`], [`checks`], [`levers`], [`rollout`], [`drain`], [`ship`] |
//! | 2 adapters | [`discover`], [`render`], [`write`], [`config`], [`cluster`], [`helm`], `git`, `forge`, `argocd`, `registry` |
//! | 3 results | [`report`], [`error`] |
//! | 4 use cases | [`ops`] |
//! | 5 edge | [`cli`], [`ui`] |

// Tests make their own files; the build without tests is linted in full.
#![cfg_attr(test, allow(clippy::disallowed_methods))]

#[cfg(feature = "argocd")]
pub mod argocd;
pub mod baseline;
pub mod capacity;
pub mod change;
pub mod checks;
pub mod cli;
pub mod clock;
pub mod cluster;
pub mod config;
pub mod database;
pub mod discover;
pub mod drain;
pub mod edit;
pub mod error;
#[cfg(feature = "forge")]
pub mod forge;
#[cfg(feature = "git")]
pub mod git;
pub mod helm;
pub mod hint;
#[cfg(feature = "http")]
pub mod http;
pub mod image;
mod json;
#[cfg(feature = "cluster")]
pub mod kubernetes;
pub mod kustomize;
pub mod levers;
pub mod ops;
pub mod patterns;
pub mod plan;
#[cfg(feature = "http")]
pub mod probe;
pub mod process;
#[cfg(feature = "registry")]
pub mod registry;
pub mod render;
pub mod report;
pub mod repository_url;
pub mod rollout;
pub mod shell;
pub mod ship;
#[cfg(feature = "trust")]
pub mod tls;
#[cfg(feature = "trust")]
pub mod trust;
pub mod ui;
pub mod verify;
pub mod write;
pub mod yaml;
