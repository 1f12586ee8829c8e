//! `overlay wait` against servers on loopback that speak Argo CD's REST interface: the published frames one by one, on a
//! virtual clock, and whole commands with real git.

mod case;
mod command;
mod frames;
#[cfg(feature = "cluster")]
mod kubernetes;
mod many;
mod operations;
mod outcomes;
mod recorded;
mod server;
