//! A simulator of Argo CD's two loops, and the judge of `overlay wait` by it.
//!
//! It is written from what is known of the controller, and knows nothing of how our wait decides.
//! `application` is the object, `refresh` and `operation` the two loops that write it (with `automation`, `hydrator`
//! and `repo_server` beside them), `cluster`, `objects` and `git` what they read, `people` and `plot` everybody else, `truth` what is so whatever is shown.
//! `history` puts one together, from a seed or as it is told; `server` is what a client can ask;
//! `ours` plays `overlay wait` against it, `family` with a parent before it, `peers` the waits of others. The tests are in `histories`,
//! `stories`, `teeth` and `schema`.

mod application;
mod application_json;
mod automation;
mod cluster;
mod family;
mod git;
mod histories;
mod history;
mod hydrator;
mod objects;
mod operation;
mod ours;
mod peers;
mod people;
mod plot;
mod refresh;
mod repo_server;
mod rng;
mod schema;
mod server;
mod settings;
mod stories;
mod teeth;
mod time;
mod truth;
mod world;
