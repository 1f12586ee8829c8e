//! What runs in a cluster, judged: rolls, pods, images, disruption budgets, databases.
//!
//! Pure: it takes live objects as plain JSON ([`Snapshot`]) and what git renders ([`Wanted`]), and gives [`Finding`]s. Must
//! not know how objects are read (`cluster` does) nor what the command line looks like. [`Case`] is the whole judgement
//! of one moment, [`Follow`] of a roll from its beginning to its end; the rules are those of Kubernetes' own controllers and of `kubectl rollout status`; each module names the files.

mod budgets;
mod conditions;
mod dependents;
mod events;
mod finding;
mod follow;
mod images;
mod judge;
mod live;
mod minimum;
mod pod;
mod status;
mod strays;
mod wanted;
mod workload;

pub use budgets::{LiveBudget, budget_findings, overlapping, selects};
pub use conditions::{Broken, Conditions, LogCondition, QueryCondition};
pub use dependents::{database_findings, instances, ready_finding, revisions, sync_finding};
pub use events::{last_seen, latest_event, newest_time, one_line, time_at};
pub use finding::{CATALOGUE, Finding, explanation, severity_of, subject};
pub use follow::{Follow, Goal, Heard, PodLife, Progress, Step};
pub use images::{Indexes, Question, WantedImage, running_digest, whole_name};
pub use judge::{Case, WorkloadLine};
pub use live::{
    Snapshot, api_group, condition, controller, int_at, is_condition_true, is_owned_by,
    is_terminating, items_at, kind, name, namespace, shown, text_at,
};
pub use minimum::{least_ready, replicas};
pub use pod::{
    DrainFact, counts, drain_of_pod, has_running_container, is_over, is_ready, pod_trouble,
    ready_containers,
};
pub use status::{RolloutState, rollout_state};
pub use wanted::{KINDS, Wanted};
pub use workload::{is_workload, stall_reasons, workload_findings};
