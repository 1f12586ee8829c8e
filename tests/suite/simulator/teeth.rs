//! The simulator bites: the waits of other tools, and the final predicate with any conjunct left out,
//! report success where the change is not live. Without this, that our wait is never wrong would say
//! little.

use super::history;
use super::ours::{fault, play};
use super::peers::{Conjunct, Peer, wait};
use super::server::Server;
use overlay::argocd::predicate;

/// For each conjunct, seeds at which it alone prevents a false success. They are tried first; where a change
/// of the simulator or the wait made other histories of them, others are looked for.
const TELLING: [(&str, &[u64]); 17] = [
    ("same-uid", &[329, 666, 1020]),
    ("not-deleting", &[118, 275, 277]),
    ("deploys-overlay", &[483, 1122, 1526]),
    ("is-reconciled", &[3866]),
    ("no-error-condition", &[]),
    ("contains-commit", &[16, 25, 30]),
    ("compared-to-spec", &[708, 728, 939]),
    ("no-operation", &[165, 1364, 2136]),
    ("synced", &[0, 43, 61]),
    ("operation-succeeded", &[241, 250, 320]),
    ("compared-after-operation", &[1422]),
    ("healthy", &[1, 2, 5]),
    ("no-refresh-pending", &[948, 3831, 3844]),
    ("objects-accepted", &[]),
    ("effect-holds", &[]),
    ("databases-settled", &[9, 95, 131]),
    ("dwell", &[16, 114, 142]),
];

/// How many histories are searched where no known seed tells.
const SEARCHED: u64 = 3000;

/// Whether the peer's success is wrong in the history of a seed; `None`: it had none.
fn is_wrong(peer: Peer, seed: u64) -> Option<bool> {
    let history = history::draw(seed);
    let mut server = Server::new(history.world);
    server.effect_readable = history.call.effect_readable;
    server.world.advance(history.call.starts);
    if !wait(peer, history.call.dwell, &mut server) {
        return None;
    }
    let (read, pinned) = (server.read.as_ref()?, server.pinned.as_ref()?);
    Some(server.world.false_success(read, pinned).is_some())
}

/// How many of the first `end` histories the peer calls a success, and how many of these are none.
fn count(peer: Peer, end: u64) -> (usize, usize) {
    let judged: Vec<bool> = (0..end).filter_map(|seed| is_wrong(peer, seed)).collect();
    (judged.len(), judged.iter().filter(|wrong| **wrong).count())
}

#[test]
fn what_other_tools_wait_for_is_wrong_in_many_histories() {
    for peer in [Peer::ArgoCd, Peer::Kargo] {
        let (successes, wrong) = count(peer, 60);
        assert!(wrong * 4 > successes, "{peer:?}: {wrong} of {successes}");
    }
}

#[test]
fn the_bare_predicate_is_right_and_needs_its_parts() {
    let whole = Peer::Predicate { without: None };
    let (successes, wrong) = count(whole, 100);
    assert!(successes > 20 && wrong == 0, "{wrong} of {successes}");
    for part in [Conjunct::Contains, Conjunct::Synced, Conjunct::Healthy, Conjunct::Effect] {
        let (_, wrong) = count(Peer::Predicate { without: Some(part) }, 100);
        assert!(wrong > 0, "{part:?} is not needed");
    }
}

/// Whether leaving the conjunct out makes a false success of this history.
fn tells(conjunct: &str, seed: u64) -> bool {
    let is_false = |without| {
        let story = play(history::draw(seed), without);
        fault(&story).is_some_and(|fault| fault.starts_with("false success"))
    };
    is_false(Some(conjunct)) && !is_false(None)
}

#[test]
fn every_conjunct_of_the_final_predicate_is_needed() {
    let names: Vec<&str> = predicate().iter().map(|conjunct| conjunct.name).collect();
    assert_eq!(names, TELLING.map(|(name, _)| name), "each conjunct has its telling seeds");
    for (conjunct, seeds) in TELLING {
        let mut candidates = seeds.iter().copied().chain(0..SEARCHED);
        let found = candidates.any(|seed| tells(conjunct, seed));
        assert!(found, "no history of {SEARCHED} needs {conjunct}");
    }
}

#[test]
#[ignore]
fn survey_conjuncts() {
    let only = std::env::var("SIM_ALL").ok();
    let n: u64 = std::env::var("SIMULATOR_COUNT").unwrap().parse().unwrap();
    for c in predicate() {
        if only.as_ref().is_some_and(|o| !o.contains(c.name)) { continue; }
        let found: Vec<u64> = (0..n).filter(|s| tells(c.name, *s)).take(4).collect();
        eprintln!("(\"{}\", &{found:?}),", c.name);
    }
}
