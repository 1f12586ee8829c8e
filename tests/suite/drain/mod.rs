//! `overlay drain-plan`: judged by a reader of its commands and a cluster in small that know nothing of the planner.

mod changed;
mod clusters;
mod course;
mod evictions;
mod filters;
pub(crate) mod kubectl;
#[cfg(feature = "cluster")]
mod live;
mod placing;
mod quotas;
mod random;
mod scheduler;
mod tight;
pub(crate) mod world;
