//! The way of a change from an edit to what runs: which step comes next, whose fault a failure is, in which order overlays go,
//! and what a commit remembers of it.
//!
//! Must not know how a step is taken: `ops::ship` takes them, and asks [`next`] after each.

mod course;
mod inside;
mod record;
mod waves;

pub use course::{
    Blame, Ending, OF_THE_CHANGE, Policy, Step, Taken, Verdict, blame, next, verdict,
};
pub use inside::{Place, inside_of};
pub use record::{RECORD_KEY, ShipRecord, is_name};
pub use waves::{Shard, ShardError, WaveError, divide};
