//! Draws what happens around a change: single acts, and plots in which several belong together.

use super::application::Spec;
use super::objects::{OBJECTS, Object};
use super::people::Act;
use super::rng::Rng;
use super::time::{MINUTE, Millis, SECOND};

/// When something is done, counted from the push.
pub(super) type Plan = Vec<(Millis, Act)>;

/// The acts of one history. `starts` is when the wait begins; most things happen near it.
pub(super) fn draw(rng: &mut Rng, starts: Millis, touched: &[Object]) -> Plan {
    let mut out = Vec::new();
    if rng.chance(35) {
        let at = near(rng, starts);
        out.extend(plot(rng, at, touched));
    }
    for _ in 0..rng.pick(&[0, 0, 1, 1, 2, 3, 5]) {
        let at = near(rng, starts);
        let act = single(rng);
        if let Some((wait, undo)) = undoing(rng, &act) {
            out.push((at + wait, undo));
        }
        out.push((at, act));
    }
    out
}

fn near(rng: &mut Rng, starts: Millis) -> Millis {
    match rng.below(10) {
        0..=2 => (starts + rng.below(2 * MINUTE)).saturating_sub(20 * SECOND),
        3..=6 => (starts + rng.below(6 * SECOND)).saturating_sub(5 * SECOND),
        7..=8 => rng.below(2 * MINUTE),
        _ => rng.below(20 * MINUTE),
    }
}

/// Acts that belong together, each a way in which what is shown and what is so come apart.
fn plot(rng: &mut Rng, at: Millis, touched: &[Object]) -> Plan {
    let object = rng.pick(touched);
    let lasts = rng.between(30 * SECOND, 5 * MINUTE);
    let soon = at + rng.between(100, 8 * SECOND);
    let later = soon + rng.between(100, 8 * SECOND);
    let blue = Spec { prod: true, destination: 1 };
    let spoil =
        rng.pick(&[Act::Crash(object, lasts), Act::EditLive(object), Act::DeleteLive(object)]);
    match rng.below(9) {
        0 | 8 => vec![(at, Act::TooBig(true)), (soon, spoil)],
        1 => vec![(at, Act::Outage(lasts)), (soon, spoil), (later, Act::Refresh { hard: false })],
        2 => vec![(at, Act::Replace(blue))],
        3 => vec![(at, Act::Repoint(blue))],
        4 => vec![(at, Act::ReplaceByHand)],
        5 => vec![(at, Act::Rollback)],
        6 => vec![(at, Act::Delete)],
        _ => vec![(at, Act::Outage(rng.between(SECOND, 20 * SECOND)))],
    }
}

fn single(rng: &mut Rng) -> Act {
    let object = rng.below(OBJECTS as u64) as usize;
    let lasts = rng.between(5 * SECOND, 6 * MINUTE);
    let elsewhere = Spec { prod: rng.chance(60), destination: usize::from(rng.chance(60)) };
    let hard = rng.chance(30);
    match rng.below(26) {
        0..=2 => Act::PushOther,
        3 => Act::PushMerge,
        4 => Act::PushRevert,
        5 => Act::PushOverride,
        6 => Act::PushBroken,
        7 => Act::ForcePushAway,
        8 => Act::DeleteBranch,
        9..=11 => Act::Refresh { hard },
        12 => Act::SyncByHand,
        13 => Act::Rollback,
        14 => Act::Terminate,
        15 => Act::EditLive(object),
        16 => Act::DeleteLive(object),
        17..=18 => Act::Crash(object, lasts),
        19 => Act::Repoint(elsewhere),
        20 => Act::Skip(true),
        21 => Act::Delete,
        22 => Act::Replace(elsewhere),
        23..=24 => Act::Outage(lasts),
        _ => Act::TooBig(true),
    }
}

/// What is often done about an act some time later.
fn undoing(rng: &mut Rng, act: &Act) -> Option<(Millis, Act)> {
    let home = Spec { prod: true, destination: 0 };
    let undo = match act {
        Act::PushBroken => Act::PushRepair,
        Act::ForcePushAway => Act::ForcePushBack,
        Act::DeleteBranch => Act::RestoreBranch,
        Act::Repoint(_) => Act::Repoint(home),
        Act::Skip(_) => Act::Skip(false),
        Act::Delete => Act::Replace(home),
        Act::TooBig(_) => Act::TooBig(false),
        _ => return None,
    };
    let wait = rng.between(5 * SECOND, 8 * MINUTE);
    rng.chance(60).then_some((wait, undo))
}
