//! What is fixed for one history: the version of Argo CD, how it is configured, which of its known
//! defects it has, and how slow everything is.

use super::objects::{CONFIG, Object};
use super::rng::Rng;
use super::time::{MINUTE, Millis, PUSHED, SECOND};

/// Releases that differ in what they write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Version {
    V2_14,
    V3_1,
    V3_5,
    /// Unreleased: the operation state is replaced whole, and a refresh request has a stamp.
    V3_6,
}

/// The annotation `manifest-generate-paths`, beside the directories the render really uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum GeneratePaths {
    Absent,
    Covers,
    /// It leaves out a base that the render uses.
    OmitsBase,
}

/// `spec.syncPolicy.automated`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Automated {
    pub(super) prune: bool,
    pub(super) self_heal: bool,
}

/// One sync window, open between two instants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Window {
    pub(super) allow: bool,
    pub(super) from: Millis,
    pub(super) to: Millis,
    pub(super) manual_sync: bool,
}

/// Who sees which of the application's sources.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sources {
    Single,
    /// A chart, our overlay, and a repository of values, in this order.
    Several,
}

/// One history's fixed facts. Durations are milliseconds.
#[derive(Clone, Debug)]
pub(super) struct Settings {
    pub(super) version: Version,
    pub(super) sources: Sources,
    /// `timeout.reconciliation`; 0 is no polling.
    pub(super) poll_period: Millis,
    /// How long repo-server answers a poll from what it heard of the remote before.
    pub(super) revision_cache: Millis,
    pub(super) webhook: bool,
    pub(super) generate_paths: GeneratePaths,
    /// Even a hard refresh answers from the wrong cached manifests.
    pub(super) poisoned_cache: bool,
    pub(super) automated: Option<Automated>,
    /// An ApplicationSet with RollingSync starts the operations.
    pub(super) rolling_sync: bool,
    pub(super) windows: Vec<Window>,
    /// A reconcile removes a refresh request that came after it began.
    pub(super) lost_refresh: bool,
    /// Errors of levels 1 and 2 are kept back for the grace period.
    pub(super) swallowed_errors: bool,
    /// A health check that does not look at the generation.
    pub(super) stale_health: bool,
    /// A new operation inherits what it does not set from the last one.
    pub(super) inherited_fields: bool,
    /// A restart leaves an operation Succeeded that never finished.
    pub(super) unfinished_success: bool,
    /// Argo CD reads git from a replica that is this late.
    pub(super) replica_lag: Millis,
    /// The controller's picture of the cluster is late by up to this.
    pub(super) cache_lag: Millis,
    /// A comparison takes up to this.
    pub(super) slow_compare: Millis,
    /// One apply in a hundred times this many fails and is tried again.
    pub(super) apply_fails: u64,
    /// The field that we change is in `ignoreDifferences`.
    pub(super) ignored_difference: bool,
    /// A kind that Argo CD is told to leave out: never compared, never applied, and a warning says so.
    pub(super) excluded: Option<Object>,
    /// Objects of kinds that come first are waited for.
    pub(super) waves: bool,
    /// `targetRevision` is this commit, and no branch.
    pub(super) pinned: Option<String>,
    /// A hydrator renders what is pushed onto a branch, which is what is synced.
    pub(super) hydrator: bool,
    /// Another application has one of the objects too.
    pub(super) shared: bool,
    /// A rollout takes up to this.
    pub(super) slow_rollout: Millis,
    /// Rollouts in a hundred that never become ready.
    pub(super) stuck_rollouts: u64,
}

impl Settings {
    /// Everything new, quick, automated and without a defect.
    pub(super) fn plain() -> Self {
        Settings {
            version: Version::V3_6,
            sources: Sources::Single,
            poll_period: 120 * SECOND,
            revision_cache: 120 * SECOND,
            webhook: false,
            generate_paths: GeneratePaths::Absent,
            poisoned_cache: false,
            automated: Some(Automated { prune: true, self_heal: false }),
            rolling_sync: false,
            windows: Vec::new(),
            lost_refresh: false,
            swallowed_errors: false,
            stale_health: false,
            inherited_fields: false,
            unfinished_success: false,
            replica_lag: 0,
            cache_lag: SECOND,
            slow_compare: 2 * SECOND,
            apply_fails: 0,
            ignored_difference: false,
            excluded: None,
            pinned: None,
            hydrator: false,
            shared: false,
            waves: false,
            slow_rollout: 20 * SECOND,
            stuck_rollouts: 0,
        }
    }

    /// Some Argo CD of the field.
    pub(super) fn draw(rng: &mut Rng) -> Self {
        let version = rng.pick(&[Version::V2_14, Version::V3_1, Version::V3_5, Version::V3_6]);
        let rolling_sync = rng.chance(6);
        let automated = Automated { prune: rng.chance(70), self_heal: rng.chance(40) };
        let old = version < Version::V3_6;
        let sources = if rng.chance(15) { Sources::Several } else { Sources::Single };
        let mut drawn = Settings {
            version,
            sources,
            poll_period: rng.pick(&[0, 120, 120, 180]) * SECOND,
            revision_cache: rng.pick(&[120, 180]) * SECOND,
            webhook: rng.chance(40),
            generate_paths: draw_paths(rng),
            poisoned_cache: rng.chance(3),
            automated: (!rolling_sync && rng.chance(85)).then_some(automated),
            rolling_sync,
            windows: draw_windows(rng),
            lost_refresh: old && rng.chance(70),
            swallowed_errors: rng.chance(70),
            stale_health: rng.chance(60),
            inherited_fields: old && rng.chance(60),
            unfinished_success: rng.chance(30),
            replica_lag: if rng.chance(20) { rng.below(20 * SECOND) } else { 0 },
            cache_lag: rng.pick(&[100, SECOND, 4 * SECOND]),
            slow_compare: rng.pick(&[300, 2 * SECOND, 12 * SECOND]),
            apply_fails: rng.pick(&[0, 0, 5, 30]),
            ignored_difference: rng.chance(5),
            excluded: rng.chance(3).then_some(CONFIG),
            pinned: None,
            waves: rng.chance(30),
            slow_rollout: rng.pick(&[5 * SECOND, 40 * SECOND, 3 * MINUTE]),
            stuck_rollouts: rng.pick(&[0, 0, 4, 20]),
            hydrator: false,
            shared: false,
        };
        let can_hydrate = version >= Version::V3_1 && sources == Sources::Single;
        drawn.hydrator = rng.chance(12) && can_hydrate;
        drawn.shared = rng.chance(5);
        drawn
    }
}

fn draw_paths(rng: &mut Rng) -> GeneratePaths {
    match rng.below(20) {
        0..=1 => GeneratePaths::OmitsBase,
        2..=4 => GeneratePaths::Covers,
        _ => GeneratePaths::Absent,
    }
}

fn draw_windows(rng: &mut Rng) -> Vec<Window> {
    if !rng.chance(12) {
        return Vec::new();
    }
    let from = PUSHED + rng.below(10) * MINUTE;
    let to = from + rng.between(1, 40) * MINUTE;
    vec![Window { allow: rng.chance(50), from, to, manual_sync: rng.chance(50) }]
}

/// Whether the windows let a sync run at `now`.
pub(super) fn windows_allow(windows: &[Window], now: Millis, manual: bool) -> bool {
    let active = |w: &&Window| w.from <= now && now < w.to;
    let denies: Vec<_> = windows.iter().filter(|w| !w.allow).filter(active).collect();
    if !denies.is_empty() {
        return manual && denies.iter().all(|w| w.manual_sync);
    }
    let allows: Vec<_> = windows.iter().filter(|w| w.allow).collect();
    if allows.is_empty() || allows.iter().any(|w| w.from <= now && now < w.to) {
        return true;
    }
    manual && allows.iter().all(|w| w.manual_sync)
}
