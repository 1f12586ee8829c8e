//! `overlay wait` against random histories: never success when the change is not live, never failure when it
//! is and stays so, never silence, and an end by the timeout.

use super::history;
use super::ours::{Story, fault, play};
use std::collections::BTreeMap;
use std::env;

/// Seeds that once found a fault.
const FOUND: [u64; 17] = [
    // An old commit was synced by hand after the comparison that was believed.
    268, 509, 1235, 4322, 5901, 8577, 12281, 12365, 13901, 19198,
    // A sync of the change failed, and a rollback that failed too replaced it before anybody looked.
    4_064_150,
    // Without refreshes, a comparison of the second in which the sync ended: only the controller's next one tells.
    4_074_526,
    // Only the health of the changed object counts, and it was deleted: it is in no tree, so nothing is said of its health.
    12_021_568, 12_066_731,
    // A sync of the change had failed, and a rollback that was asked for when the wait began took its place and changed nothing.
    30_088_062,
    // The same of one that a restart had marked Succeeded, without an end and a result.
    36_049_738,
    // An object that the change takes away was pruned before, by a sync of an old commit of another overlay into the same place.
    38_022_982,
];

/// Plays a seed and fails the test where something is wrong with how it went.
fn check(seed: u64) -> Story {
    let story = play(history::draw(seed), None);
    if let Some(fault) = fault(&story) {
        panic!("seed {seed}: {fault}\nSIMULATOR_SEED={seed} explains it, see `explain_a_seed`");
    }
    story
}

/// Plays all seeds of a range and counts how they ended.
fn check_all(seeds: std::ops::Range<u64>) -> BTreeMap<&'static str, u64> {
    let mut ends = BTreeMap::new();
    for seed in seeds {
        let story = check(seed);
        let word = story.outcome.readiness.reason().map_or("ready", |reason| reason.kind.word());
        *ends.entry(word).or_insert(0) += 1;
    }
    ends
}

#[test]
fn a_wait_is_never_wrong_in_random_histories() {
    let ends = check_all(0..300);
    let ready = ends.get("ready").copied().unwrap_or_default();
    assert!(ready > 90 && ends.len() > 12, "the histories have become dull: {ends:?}");
}

#[test]
fn seeds_that_found_a_fault_stay_right() {
    for seed in FOUND {
        check(seed);
    }
}

/// Run by hand, in release: `SIMULATOR_COUNT=100000 cargo test --release --test suite
/// a_hundred_thousand_histories -- --ignored --nocapture`. `SIMULATOR_FROM` is the first seed.
#[test]
#[ignore = "takes minutes"]
fn a_hundred_thousand_histories() {
    let from = number("SIMULATOR_FROM").unwrap_or(0);
    let count = number("SIMULATOR_COUNT").unwrap_or(100_000);
    let begun = std::time::Instant::now();
    let ends = check_all(from..from + count);
    let rate = count as f64 / begun.elapsed().as_secs_f64();
    eprintln!("{count} histories from seed {from}, {rate:.0} a second: {ends:?}");
}

/// Prints everything that happened in the history `SIMULATOR_SEED`.
#[test]
#[ignore = "for a person who looks into a seed"]
fn explain_a_seed() {
    let seed = number("SIMULATOR_SEED").expect("SIMULATOR_SEED names a seed");
    let without = env::var("SIMULATOR_WITHOUT").ok();
    let mut history = history::draw(seed);
    history.world.log = Some(Vec::new());
    let world = &history.world;
    eprintln!("{:#?}\n{:#?}", world.settings, world.git.at(world.truth.change));
    eprintln!("{:#?}", history.call);
    let story = play(history, without.as_deref());
    for line in story.server.world.log.iter().flatten() {
        eprintln!("{line}");
    }
    eprintln!("{:#?}", story.server.read.as_ref().map(|read| &read.app));
    let world = &story.server.world;
    eprintln!("touched {:?}, live {:#?}", world.truth.touched, world.cluster.live);
    eprintln!("{:#?}\n{:?}", story.outcome.readiness, fault(&story));
}

fn number(variable: &str) -> Option<u64> {
    env::var(variable).ok().and_then(|text| text.parse().ok())
}
