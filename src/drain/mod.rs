//! The order in which nodes are emptied: steps for people, from the state of a cluster and rules.
//!
//! Pure: takes objects of a cluster and settings, returns a plan. `state` and `pod` read; `board` is a scheduler in small,
//! with `apart`, `near` and `spread` for what pods have to do with each other, `contest` for what other schedulers would do and `rearrange` for
//! what any could; `means` says how each pod leaves, `order` when; `waves`, `sweep`, `together`, `places` and `landing` make the steps, `reasons` says
//! why a pod finds no place; `command` their texts, `described` what is said of nodes and budgets. `progress` says how far it has come: `pending` which step is next, `trouble`
//! what is not as it should be. Must not know arguments, files or how a cluster is reached, and nothing here acts on one.

mod apart;
pub mod board;
pub mod budget;
pub mod command;
mod contest;
pub mod described;
pub mod dump;
pub mod holding;
mod kin;
pub mod landing;
pub mod means;
mod near;
mod objects;
pub mod order;
mod pending;
mod places;
pub mod plan;
pub mod pod;
pub mod progress;
mod rearrange;
mod reasons;
pub mod rules;
pub mod scale;
mod spread;
pub mod state;
pub mod sweep;
pub mod together;
mod trouble;
pub mod waves;

pub use described::{Guard, PlannedNode};
pub use dump::{dump_command, dump_commands};
pub use holding::{Held, Holding, demand, holdings};
pub use order::Cycle;
pub use plan::{
    Databases, Downtime, Obstacle, Options, Plan, PlanError, Step, StepKind, old_nodes, plan,
};
pub use pod::{Owner, Pod, WorkloadId};
pub use progress::{Course, NewNode, OldNode, Phase, Progress, Wrong};
pub use rules::{BuiltIn, Named, OrderRule, PairRule, Rules};
pub use state::{KINDS, State, StateError, objects_of};
