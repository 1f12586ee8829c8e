//! A simulator of Argo CD's two loops, and the judge of `overlay wait` by it.
//!
//! It is written from the field's documentation of what the controller does, and knows nothing of how
//! our wait decides: `application` is the object, `refresh` and `operation` the two loops that write
//! it, `cluster` and `git` what they read, `people` everybody else, `truth` what is so. One seed is
//! one history.

mod application;
mod cluster;
mod git;
mod history;
mod objects;
mod operation;
mod peers;
mod people;
mod plot;
mod refresh;
mod rng;
mod server;
mod settings;
mod teeth;
mod time;
mod truth;
mod world;
