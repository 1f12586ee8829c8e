//! `overlay drain-plan`: judged by a reader of its commands and a cluster in small that know nothing of the planner.

mod changed;
mod kubectl;
#[cfg(feature = "cluster")]
mod live;
mod node_flavour;
mod random;
mod world;
