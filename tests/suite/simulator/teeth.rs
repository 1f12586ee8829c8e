//! The simulator bites: the waits of other tools, and the final predicate with any conjunct left out,
//! report success where the change is not live; the whole predicate never does.

use super::history;
use super::peers::{ALL, Peer, wait};
use super::server::Server;

/// Runs one history and says why its success is wrong, if it is; `None`: no success, or a right one.
pub(super) fn judge(peer: Peer, seed: u64) -> (bool, Option<String>) {
    let history = history::draw(seed, |_| ());
    let mut server = Server::new(history.world);
    server.effect_readable = history.effect_readable;
    server.world.advance(history.starts);
    let success = wait(peer, history.dwell, &mut server);
    let wrong = success.then(|| {
        let pinned = server.pinned.clone()?;
        server.read.as_ref().and_then(|read| server.world.false_success(read, &pinned))
    });
    (success, wrong.flatten())
}

/// The first seeds below `end` for which the peer's success is wrong, and how many successes there were.
pub(super) fn find(peer: Peer, end: u64) -> (u64, Vec<(u64, String)>) {
    let mut wrong = Vec::new();
    let mut successes = 0;
    for seed in 0..end {
        let (success, why) = judge(peer, seed);
        successes += u64::from(success);
        wrong.extend(why.map(|why| (seed, why)));
    }
    (successes, wrong)
}

#[test]
fn survey() {
    let end = std::env::var("SIM_N").ok().and_then(|n| n.parse().ok()).unwrap_or(1000);
    let mut peers = if std::env::var("SIM_ALL").is_ok() { vec![Peer::ArgoCd, Peer::Kargo] } else { Vec::new() };
    peers.push(Peer::Predicate { without: None });
    for c in ALL.into_iter().filter(|c| std::env::var("SIM_ALL").is_ok_and(|w| w == "1" || w.contains(&format!("{c:?}")))) {
        peers.push(Peer::Predicate { without: Some(c) });
    }
    for peer in peers {
        let (successes, wrong) = find(peer, end);
        println!("{peer:?}: {successes} successes, {} wrong", wrong.len());
        for (seed, why) in wrong.iter().take(15) {
            println!("   {seed}: {why}");
        }
    }
}

#[test]
fn explain() {
    let seed: u64 = std::env::var("SIM_SEED").unwrap().parse().unwrap();
    let mut history = history::draw(seed, |_| ());
    history.world.log = Some(Vec::new());
    println!("{:?} touched {:?}", history.world.settings, history.world.truth.touched);
    println!("{:?}", history.world.git.at(1));
    let mut server = Server::new(history.world);
    server.effect_readable = history.effect_readable;
    server.world.advance(history.starts);
    println!("starts {}", history.starts);
    let success = wait(Peer::Predicate { without: None }, history.dwell, &mut server);
    let pinned = server.pinned.clone();
    let why = server.read.as_ref().and_then(|r| server.world.false_success(r, &pinned.unwrap()));
    for line in server.world.log.take().unwrap() { println!("{line}"); }
    println!("{success} {} {why:?}", server.world.now);
    println!("{:#?}", server.read.map(|r| r.app.status));
}
