//! What cannot be taken into account, or makes what is reckoned another than what will be.

use super::demand::{NEEDS_LABEL, Read};
use super::extras::{clash, is_extended, pod_extras};

/// The notes on what objects ask for, each with the number of the resource that it is about.
pub(super) fn notes(all: &[Read<'_>]) -> Vec<(usize, String)> {
    let each = |of: fn(&Read<'_>) -> Option<String>| {
        all.iter().filter_map(move |one| Some((one.number, of(one)?)))
    };
    let daemons: Vec<&Read<'_>> = all.iter().filter(|one| one.set.is_daemon).collect();
    let packed = all.iter().filter(|one| !one.set.is_daemon);
    let taken = packed.filter_map(|one| Some((one.number, taken_by_daemon(one, &daemons)?)));
    each(unweighed).chain(each(bound_to_labels)).chain(each(asks_for_more)).chain(taken).collect()
}

/// A note on pods that ask for nothing, which weigh nothing here and something there.
fn unweighed(one: &Read<'_>) -> Option<String> {
    let request = one.set.request;
    let lacks = match (request.millicores, request.bytes) {
        (0, 0) => "neither cpu nor memory",
        (0, _) => "no cpu",
        (_, 0) => "no memory",
        _ => return None,
    };
    let owner = &one.set.owner;
    let runs = one.set.is_daemon || one.set.count > 0;
    runs.then(|| format!("{}/{}: its pods ask for {lacks}", owner.kind, owner.name))
}

/// A note on resources that no kind of node tells here.
fn asks_for_more(one: &Read<'_>) -> Option<String> {
    let asked = pod_extras(one.pod?);
    let names: Vec<&str> =
        asked.keys().map(String::as_str).filter(|name| is_extended(name)).collect();
    let owner = &one.set.owner;
    let runs = one.set.is_daemon || one.set.count > 0;
    (runs && !names.is_empty()).then(|| {
        let names = names.join(", ");
        format!(
            "{}/{}: its pods ask for {names}, which is not reckoned for kinds of node",
            owner.kind, owner.name
        )
    })
}

/// A note on a port that a DaemonSet has on every node.
fn taken_by_daemon(one: &Read<'_>, daemons: &[&Read<'_>]) -> Option<String> {
    let taken =
        |daemon: &&Read<'_>| Some((clash(&one.ports, &daemon.ports)?, daemon.set.owner.clone()));
    let (port, daemon) = daemons.iter().find_map(taken)?;
    let owner = &one.set.owner;
    Some(format!(
        "{}/{}: its host port {port} is that of {}/{}: where one runs the other finds no place",
        owner.kind, owner.name, daemon.kind, daemon.name
    ))
}

fn bound_to_labels(one: &Read<'_>) -> Option<String> {
    let (key, value) = one.set.node_labels.first()?;
    let owner = &one.set.owner;
    Some(format!("{}/{}: {NEEDS_LABEL} {key}={value}", owner.kind, owner.name))
}
