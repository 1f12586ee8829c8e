//! Draws one history: what is deployed, what we change, and what happens around it.

use super::application::{OperationPhase, OperationState, Spec, SyncResult};
use super::git::{Commit, CommitId, Git, Hook};
use super::hydrator::{Hydration, HydrationPhase, HydratorStatus};
use super::objects::{CONFIG, DB, LEGACY, Object, REPORT, Values, WEB};
use super::operation::manual;
use super::people::{Act, new_application};
use super::plot::{self, Plan};
use super::rng::Rng;
use super::settings::{GeneratePaths, Settings, Version};
use super::time::{HOUR, MINUTE, Millis, PUSHED, SECOND};
use super::truth::Truth;
use super::world::{Event, World};

/// A world in which the change has just been pushed, and how the wait for it is called.
pub(super) struct History {
    pub(super) world: World,
    pub(super) call: Call,
}

/// How `overlay wait` is called.
#[derive(Clone, Copy, Debug)]
pub(super) struct Call {
    /// When it begins.
    pub(super) starts: Millis,
    /// Whether managed resources may be read. Where they may not, a history has none of the lies that
    /// only they can uncover.
    pub(super) effect_readable: bool,
    /// `--dwell`.
    pub(super) dwell: Millis,
    /// `--timeout`.
    pub(super) timeout: Millis,
    /// `--sync`.
    pub(super) syncs: bool,
    /// Not `--no-refresh`.
    pub(super) refreshes: bool,
    /// `--health touched`.
    pub(super) touched_only: bool,
}

impl Call {
    /// Right after the push, with the defaults.
    pub(super) fn plain() -> Self {
        Call {
            starts: PUSHED,
            effect_readable: true,
            dwell: 30 * SECOND,
            timeout: 15 * MINUTE,
            syncs: false,
            refreshes: true,
            touched_only: false,
        }
    }

    fn draw(rng: &mut Rng, settings: &Settings, touched: &[Object]) -> Self {
        let quick = rng.chance(25) && !settings.stale_health && !touched.contains(&DB);
        Call {
            starts: PUSHED + draw_start(rng),
            effect_readable: rng.chance(60),
            dwell: if quick { 0 } else { 30 * SECOND },
            timeout: rng.pick(&[15, 15, 30]) * MINUTE,
            syncs: rng.chance(50),
            refreshes: settings.poll_period == 0 || !rng.chance(6),
            touched_only: rng.chance(15),
        }
    }
}

/// The history of a seed.
pub(super) fn draw(seed: u64) -> History {
    let mut settings = Settings::draw(&mut Rng::of_part(seed, 1));
    let mut rng = Rng::of_part(seed, 2);
    let mut git = first_commit(&mut rng, 30);
    let mut touched =
        rng.pick(&[vec![WEB], vec![WEB], vec![WEB], vec![DB], vec![CONFIG], vec![WEB, DB]]);
    let call = Call::draw(&mut Rng::of_part(seed, 3), &settings, &touched);
    if !call.effect_readable {
        without_hidden_lies(&mut settings);
    }
    if call.dwell == 0 {
        // Without a dwell nothing but a quick picture of the cluster keeps a wait from believing the past.
        settings.cache_lag = 10;
    }
    let change = draw_change(&mut git, &mut touched, &settings, &mut rng);
    let plan = plot::draw(&mut Rng::of_part(seed, 4), call.starts - PUSHED, &touched);
    let truth = Truth::new(0, change, touched);
    let mut world = World::new(Rng::of_part(seed, 5), settings, git, truth);
    if rng.chance(8) {
        world.after(MINUTE, Event::Act(Act::Crash(REPORT, 3 * HOUR)));
    }
    set_going(world, plan, call)
}

/// A history that is told and not drawn: what happens, counted from the push, in a world with these
/// settings, around a change of `touched` that `adjust` may make worse.
/// `settings.pinned` becomes the commit before the change.
pub(super) fn tell(
    mut settings: Settings,
    touched: &[Object],
    adjust: impl FnOnce(&mut Commit),
    plan: Plan,
    call: Call,
) -> History {
    let mut rng = Rng::of_part(0, 6);
    let mut git = first_commit(&mut rng, 0);
    let change = commit_change(&mut git, touched, &mut rng);
    settings.pinned = settings.pinned.map(|_| git.at(0).sha.clone());
    adjust(git.change(change));
    let truth = Truth::new(0, change, touched.to_vec());
    set_going(World::new(rng, settings, git, truth), plan, call)
}

fn first_commit(rng: &mut Rng, legacy: u64) -> Git {
    let mut values: Values = [Some(1), Some(11), Some(21), Some(31), None, Some(41)];
    if rng.chance(legacy) {
        values[LEGACY] = Some(51);
    }
    Git::new(values, rng)
}

/// Lets the world run until the push, and plans what comes after it.
fn set_going(mut world: World, plan: Plan, call: Call) -> History {
    world.truth.touched_only = call.touched_only;
    deploy_first(&mut world);
    world.advance(PUSHED);
    let change = world.truth.change;
    world.push(change);
    for (at, act) in plan {
        world.after(at, Event::Act(act));
    }
    History { world, call }
}

fn commit_change(git: &mut Git, touched: &[Object], rng: &mut Rng) -> CommitId {
    let mut values = git.at(0).values;
    for &object in touched {
        values[object] = values[object].map(|v| v + 1);
    }
    git.commit(Some(0), values, rng)
}

/// Lies about target and live state that status alone cannot show.
fn without_hidden_lies(settings: &mut Settings) {
    settings.generate_paths = GeneratePaths::Absent;
    settings.ignored_difference = false;
    settings.version = settings.version.max(Version::V3_1);
}

/// Mostly right after the push; sometimes when all is long done.
fn draw_start(rng: &mut Rng) -> Millis {
    match rng.below(10) {
        0..=4 => rng.below(5 * SECOND),
        5..=6 => rng.between(MINUTE, 10 * MINUTE),
        _ => rng.below(HOUR),
    }
}

fn draw_change(
    git: &mut Git,
    touched: &mut Vec<Object>,
    settings: &Settings,
    rng: &mut Rng,
) -> CommitId {
    let change = commit_change(git, touched, rng);
    if git.at(0).values[LEGACY].is_some() && rng.chance(20) {
        git.change(change).values[LEGACY] = None;
        touched.push(LEGACY);
    }
    let (pre, post) = (draw_hook(rng), draw_hook(rng));
    let (broken, refused) = (rng.chance(2), rng.chance(3));
    let in_base = settings.generate_paths == GeneratePaths::OmitsBase && rng.chance(70);
    let commit = git.change(change);
    (commit.pre_sync, commit.post_sync) = (pre, post);
    commit.broken = broken;
    commit.refused = refused.then(|| touched[0]);
    commit.in_base = in_base;
    change
}

fn draw_hook(rng: &mut Rng) -> Option<Hook> {
    let hook = Hook { lasts: rng.between(SECOND, 3 * MINUTE), succeeds: rng.chance(75) };
    rng.chance(15).then_some(hook)
}

/// Before the history: the commit before the change is live, settled and shown.
fn deploy_first(world: &mut World) {
    let home = Spec { prod: true, destination: 0 };
    let values = world.git.at(0).values;
    let mut app = new_application(home, 1000);
    if world.settings.hydrator {
        app.status.hydrator = first_hydration(world);
    }
    app.status.operation = Some(first_operation(world));
    world.app = Some(app);
    for (object, value) in values.into_iter().enumerate() {
        world.set_live(0, object, value, Some(0));
        world.cluster.live[0][object].phase = super::objects::Phase::Settled;
        world.cluster.live[0][object].generation += 1;
    }
    world.caches.manifests.insert((true, 0), values);
    world.after(10 * SECOND, Event::Poll);
    world.request_refresh(2);
}

fn first_hydration(world: &mut World) -> HydratorStatus {
    let sha = world.git.hydrate(0, 0, &mut world.rng);
    let dry = world.git.at(0).sha.clone();
    let told = world.settings.version >= Version::V3_5;
    HydratorStatus {
        current: Some(Hydration {
            phase: HydrationPhase::Hydrated,
            dry: dry.clone(),
            hydrated: sha.clone(),
            message: "",
            started: 0,
            finished: Some(SECOND),
        }),
        successful: Some((dry.clone(), sha)),
        compared: if told { dry } else { String::new() },
    }
}

/// The operation that deployed it: sometimes a partial one, which a merge patch hands on.
fn first_operation(world: &mut World) -> OperationState {
    let revision = world.git.name(0);
    let mut operation = manual(&revision);
    if world.rng.chance(30) {
        operation.resources = vec![CONFIG];
    }
    OperationState {
        phase: OperationPhase::Succeeded,
        message: "successfully synced (all tasks run)".to_owned(),
        operation,
        started: 0,
        finished: Some(2 * SECOND),
        retry_count: 0,
        result: Some(SyncResult { revision, resources: Vec::new() }),
    }
}
