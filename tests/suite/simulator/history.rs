//! Draws one history: what is deployed, what we change, and what happens around it.

use super::application::{OperationPhase, OperationState, Spec, SyncResult};
use super::git::{CommitId, Git, Hook};
use super::objects::{CONFIG, DB, LEGACY, Object, Values, WEB};
use super::operation::manual;
use super::people::{Act, new_application};
use super::plot;
use super::rng::Rng;
use super::settings::{GeneratePaths, Settings, Version};
use super::time::{HOUR, MINUTE, Millis, SECOND};
use super::truth::Truth;
use super::world::{Event, World};

/// When the change is pushed.
pub(super) const PUSHED: Millis = HOUR;

/// A world in which the change has just been pushed, and when the wait begins.
pub(super) struct History {
    pub(super) world: World,
    pub(super) starts: Millis,
    /// Whether managed resources may be read. Where they may not, the history has none of the lies that
    /// only they can uncover.
    pub(super) effect_readable: bool,
    /// `--dwell`.
    pub(super) dwell: Millis,
}

/// The history of a seed. `adjust` may change the settings that were drawn.
pub(super) fn draw(seed: u64, adjust: impl FnOnce(&mut Settings)) -> History {
    let mut rng = Rng::new(seed);
    let mut settings = Settings::draw(&mut rng);
    let mut values: Values = [Some(1), Some(11), Some(21), Some(31), None, Some(41)];
    if rng.chance(30) {
        values[LEGACY] = Some(51);
    }
    let mut git = Git::new(values, &mut rng);
    let touched =
        rng.pick(&[vec![WEB], vec![WEB], vec![WEB], vec![DB], vec![CONFIG], vec![WEB, DB]]);
    let effect_readable = rng.chance(60);
    if !effect_readable {
        without_hidden_lies(&mut settings);
    }
    let dwell = if rng.chance(25) && !touched.contains(&DB) { 0 } else { 30 * SECOND };
    adjust(&mut settings);
    let change = draw_change(&mut git, &touched, &settings, &mut rng);
    let starts = draw_start(&mut rng);
    let acts = plot::draw(&mut rng, starts, &touched);
    let mut world = World::new(rng, settings, git, Truth::new(0, change, touched));
    deploy_first(&mut world);
    world.advance(PUSHED);
    world.push(change);
    for (at, act) in acts {
        world.after(at, Event::Act(act));
    }
    History { world, starts: PUSHED + starts, effect_readable, dwell }
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

fn draw_change(git: &mut Git, touched: &[Object], settings: &Settings, rng: &mut Rng) -> CommitId {
    let mut values = git.at(0).values;
    for &object in touched {
        values[object] = values[object].map(|v| v + 1);
    }
    if rng.chance(10) {
        values[LEGACY] = None;
    }
    let change = git.commit(Some(0), values, rng);
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
    app.status.operation = Some(first_operation(world));
    world.app = Some(app);
    for (object, value) in values.into_iter().enumerate() {
        world.set_live(0, object, value, Some(0));
        world.cluster.live[0][object].phase = super::objects::Phase::Settled;
        world.cluster.live[0][object].generation += 1;
    }
    world.caches.manifests.insert((true, 0), values);
    world.after(10 * SECOND, Event::Poll);
    let broken_report = world.rng.chance(8);
    if broken_report {
        let lasts = world.rng.pick(&[HOUR + 4 * MINUTE, 3 * HOUR]);
        world.after(MINUTE, Event::Act(Act::Crash(super::objects::REPORT, lasts)));
    }
    world.request_refresh(2);
}

/// The operation that deployed it: sometimes a partial one, which a merge patch hands on.
fn first_operation(world: &mut World) -> OperationState {
    let revision = world.git.at(0).sha.clone();
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
