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
const TELLING: [(&str, &[u64]); 19] = [
    ("same-uid", &[360, 608, 871, 1469]),
    ("not-deleting", &[272, 640, 1295, 1396]),
    ("deploys-overlay", &[41, 397, 506, 584]),
    ("is-reconciled", &[2143]),
    ("no-error-condition", &[3163, 5260, 6953]),
    ("hydrated", &[]),
    ("contains-commit", &[7, 19, 20, 30]),
    ("compared-to-spec", &[336, 419, 782, 1912]),
    ("no-operation", &[1516, 5132, 6662, 6722]),
    ("synced", &[20, 24, 48, 69]),
    ("operation-succeeded", &[159, 221, 249, 345]),
    ("earlier-operations-succeeded", &[30_088_062]),
    ("compared-after-operation", &[268, 509, 5901]),
    ("healthy", &[8, 10, 26, 31]),
    ("no-refresh-pending", &[678, 4036]),
    ("objects-accepted", &[699, 722, 1273, 2841]),
    ("effect-holds", &[129, 142, 162, 185]),
    ("databases-settled", &[185, 210, 436, 449]),
    ("dwell", &[135, 185, 320, 381]),
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
        let (successes, wrong) = count(peer, 40);
        assert!(wrong * 4 > successes, "{peer:?}: {wrong} of {successes}");
    }
}

#[test]
fn the_bare_predicate_is_right_and_needs_its_parts() {
    let whole = Peer::Predicate { without: None };
    let (successes, wrong) = count(whole, 40);
    assert!(successes > 8 && wrong == 0, "{wrong} of {successes}");
    for part in [Conjunct::Contains, Conjunct::Synced, Conjunct::Healthy, Conjunct::Effect] {
        let (_, wrong) = count(Peer::Predicate { without: Some(part) }, 40);
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

/// Prints the first telling seeds of each conjunct.
#[test]
#[ignore = "for a person who looks for telling seeds"]
fn find_telling_seeds() {
    for (conjunct, _) in TELLING {
        let seeds: Vec<u64> = (0..SEARCHED).filter(|seed| tells(conjunct, *seed)).take(4).collect();
        eprintln!("(\"{conjunct}\", &{seeds:?}),");
    }
}
