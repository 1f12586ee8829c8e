//! The one test binary.
#![allow(missing_docs, clippy::unwrap_used, clippy::disallowed_methods, clippy::print_stderr)]

#[cfg(feature = "git")]
mod apply_delivery;
mod architecture;
#[cfg(feature = "argocd")]
mod argocd;
mod baseline;
mod build_fixtures;
mod build_limits;
#[cfg(feature = "git")]
mod bump;
mod capacity;
mod cases;
mod check_forms;
mod checks;
mod cli;
#[cfg(all(feature = "http", feature = "cluster"))]
mod cluster;
#[cfg(feature = "git")]
mod compare;
#[cfg(all(feature = "forge", feature = "registry"))]
mod compatibility;
mod corpus;
#[cfg(feature = "git")]
mod deliver;
#[cfg(feature = "git")]
mod deliver_kills;
#[cfg(feature = "git")]
mod deliver_remotes;
mod diff;
#[cfg(feature = "git")]
mod docs;
mod drain;
mod errors;
#[cfg(feature = "git")]
mod git_cases;
#[cfg(feature = "git")]
mod git_commit;
#[cfg(feature = "git")]
mod git_read;
#[cfg(feature = "git")]
mod git_remote;
#[cfg(feature = "git")]
mod git_sign;
#[cfg(all(unix, feature = "git"))]
mod helm;
#[cfg(feature = "git")]
mod history;
#[cfg(feature = "http")]
mod http;
#[cfg(feature = "git")]
mod lock;
#[cfg(all(unix, feature = "git", feature = "http", feature = "templates"))]
mod pages;
#[cfg(unix)]
mod pasted;
#[cfg(feature = "http")]
mod probe;
#[cfg(feature = "forge")]
mod pull_request;
mod reference;
#[cfg(all(feature = "registry", feature = "git"))]
mod registry;
#[cfg(unix)]
mod release;
#[cfg(feature = "git")]
mod remote_bases;
#[cfg(feature = "git")]
mod remote_forms;
mod render;
#[cfg(feature = "git")]
mod revert;
mod rollouts;
mod schemas;
mod semantics;
mod sequences;
#[cfg(all(feature = "forge", feature = "argocd"))]
mod ship;
#[cfg(feature = "argocd")]
mod simulator;
mod stories;
mod support;
mod tables;
#[cfg(all(feature = "trust", feature = "http"))]
mod trust;
mod untrusted;
#[cfg(feature = "git")]
mod users;
#[cfg(all(feature = "http", feature = "cluster", feature = "git"))]
mod verify;
mod yaml;
