//! Nodes: what one keeps for itself, how many hold what overlays render, and what survives losing one.
//!
//! Pure: takes rendered resources and numbers, returns numbers. `demand` reads what pods ask for together,
//! `request` what one does, by the scheduler's rule, and `extras` what it asks for beside processor and memory; `node` what a node has left for them; `pack` finds how few nodes do; `resilience` how many do also when one is lost or
//! a workload rolls. Must not know arguments, files or clusters.

pub mod amounts;
pub mod demand;
pub mod eligible;
pub mod extras;
pub mod node;
mod notes;
pub mod pack;
pub mod quantities;
pub mod quota;
pub mod request;
pub mod reservation;
pub mod resilience;
#[cfg(test)]
mod tests;
