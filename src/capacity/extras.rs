//! What pods ask of a node beside processor and memory: resources that it has a number of, and ports of its own.
//!
//! Sources: Kubernetes `pkg/scheduler/framework/plugins/noderesources` (whatever else is requested has to be free; an
//! extended resource that a node does not state it has none of), `plugins/nodeports` and `types.go` `HostPortInfo` (two pods with one host port of
//! one protocol exclude each other where an address is the same or is all of them), `pkg/apis/core/v1/defaults.go` (with
//! `hostNetwork` every port is one of the host; a request that is not stated is the limit).

use std::collections::BTreeMap;

use super::request::count_at;
use crate::checks::model::{int_at, is_true, items_at, text_at, texts_at};
use crate::kustomize::node::Node;

/// Numbers of other resources, by name: `nvidia.com/gpu`, `ephemeral-storage`.
pub type Extras = BTreeMap<String, u64>;

/// A port of the node that a pod takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostPort {
    /// The port.
    pub port: i64,
    protocol: String,
    /// Its address; empty for all.
    address: String,
}

impl HostPort {
    /// Whether no node can have both.
    #[must_use]
    pub fn excludes(&self, other: &Self) -> bool {
        let is_near =
            self.address == other.address || self.address.is_empty() || other.address.is_empty();
        self.port == other.port && self.protocol == other.protocol && is_near
    }
}

/// The first port that both want of a node.
#[must_use]
pub fn clash(some: &[HostPort], others: &[HostPort]) -> Option<i64> {
    let taken = |port: &&HostPort| others.iter().any(|other| port.excludes(other));
    some.iter().find(taken).map(|port| port.port)
}

/// The ports of its node that a pod with this specification takes.
#[must_use]
pub fn host_ports(pod: &Node) -> Vec<HostPort> {
    let is_on_host = is_true(pod, &["hostNetwork"]);
    let sidecar = |c: &&Node| text_at(c, &["restartPolicy"]) == Some("Always");
    let containers = items_at(pod, &["containers"]).iter();
    let all = containers.chain(items_at(pod, &["initContainers"]).iter().filter(sidecar));
    let ports = all.flat_map(|container| items_at(container, &["ports"]));
    let read = |port: &Node| {
        let own = int_at(port, &["hostPort"]).filter(|port| *port > 0);
        let field = if is_on_host { int_at(port, &["containerPort"]) } else { None };
        let text = |name| text_at(port, &[name]).unwrap_or_default();
        let protocol = if text("protocol").is_empty() { "TCP" } else { text("protocol") };
        let address = if text("hostIP") == "0.0.0.0" { "" } else { text("hostIP") };
        let (protocol, address) = (protocol.to_owned(), address.to_owned());
        Some(HostPort { port: own.or(field)?, protocol, address })
    };
    ports.filter_map(read).collect()
}

/// What a pod asks for beside processor and memory, by the same rule as those: containers and sidecars together, or the
/// largest init container with the sidecars before it.
#[must_use]
pub fn pod_extras(pod: &Node) -> Extras {
    let mut running = Extras::new();
    for container in items_at(pod, &["containers"]) {
        add(&mut running, &stated(container));
    }
    let (mut sidecars, mut peak) = (Extras::new(), Extras::new());
    for container in items_at(pod, &["initContainers"]) {
        let mut here = sidecars.clone();
        add(&mut here, &stated(container));
        if text_at(container, &["restartPolicy"]) == Some("Always") {
            sidecars.clone_from(&here);
        }
        at_least(&mut peak, &here);
    }
    add(&mut running, &sidecars);
    at_least(&mut running, &peak);
    running.retain(|_, count| *count > 0);
    running
}

/// What a node states that it has for pods, beside processor, memory and pods.
#[must_use]
pub fn node_extras(node: &Node) -> Extras {
    let path = ["status", "allocatable"];
    let names = texts_at(node, &path).into_iter().map(|(name, _)| name);
    let count = |name: &str| count_at(node, &["status", "allocatable", name]);
    let read = |name: &str| Some((name.to_owned(), count(name)?));
    names.filter(|name| is_other(name) && *name != "pods").filter_map(read).collect()
}

/// The name of what is asked for and not free; of what a node does not state it has none, unless every node has it and only
/// the record does not say so.
#[must_use]
pub fn lacking<'a>(asked: &'a Extras, free: &Extras) -> Option<&'a str> {
    let is_short = |(name, count): &(&String, &u64)| match free.get(*name) {
        Some(free) => free < *count,
        None => is_extended(name),
    };
    asked.iter().find(is_short).map(|(name, _)| name.as_str())
}

/// Whether nodes have it only where somebody made them have it.
#[must_use]
pub fn is_extended(name: &str) -> bool {
    name.contains('/') || name.starts_with("hugepages-")
}

/// Takes `asked` from what is free.
pub fn take(free: &mut Extras, asked: &Extras) {
    for (name, count) in asked {
        if let Some(free) = free.get_mut(name) {
            *free = free.saturating_sub(*count);
        }
    }
}

/// Gives `asked` back to what is free.
pub fn give(free: &mut Extras, asked: &Extras) {
    for (name, count) in asked {
        if let Some(free) = free.get_mut(name) {
            *free = free.saturating_add(*count);
        }
    }
}

fn is_other(name: &str) -> bool {
    !matches!(name, "cpu" | "memory")
}

/// What a container asks for: requests, or limits where there is no request.
fn stated(container: &Node) -> Extras {
    let mut all = Extras::new();
    for list in ["limits", "requests"] {
        for (name, _) in texts_at(container, &["resources", list]) {
            let count = count_at(container, &["resources", list, name]);
            if let Some(count) = count.filter(|_| is_other(name)) {
                all.insert(name.to_owned(), count);
            }
        }
    }
    all
}

fn add(sum: &mut Extras, more: &Extras) {
    for (name, count) in more {
        let known = sum.entry(name.clone()).or_default();
        *known = known.saturating_add(*count);
    }
}

fn at_least(sum: &mut Extras, other: &Extras) {
    for (name, count) in other {
        let known = sum.entry(name.clone()).or_default();
        *known = (*known).max(*count);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn ports_exclude_each_other_by_number_protocol_and_address() {
        let port = |value| {
            host_ports(&Node::from_json(&json!({"containers": [{"name": "c", "ports": [value]}]})))
        };
        let all = port(json!({"containerPort": 80, "hostPort": 80}));
        assert_eq!(clash(&all, &port(json!({"hostPort": 80, "protocol": "TCP"}))), Some(80));
        assert_eq!(clash(&all, &port(json!({"hostPort": 80, "hostIP": "10.0.0.1"}))), Some(80));
        assert_eq!(clash(&all, &port(json!({"hostPort": 80, "protocol": "UDP"}))), None);
        assert_eq!(clash(&all, &port(json!({"hostPort": 81}))), None);
        assert_eq!(clash(&all, &port(json!({"containerPort": 80}))), None);
        let one = port(json!({"hostPort": 80, "hostIP": "10.0.0.1"}));
        assert_eq!(clash(&one, &port(json!({"hostPort": 80, "hostIP": "10.0.0.2"}))), None);
        let on_host = Node::from_json(
            &json!({"hostNetwork": true, "containers": [{"name": "c", "ports": [{"containerPort": 80}]}]}),
        );
        assert_eq!(clash(&all, &host_ports(&on_host)), Some(80));
    }

    /// 1 of a container, 2 as a limit of another, 4 of an init container beside a sidecar of 1: the greater of 1+2+1 and 5.
    #[test]
    fn other_resources_follow_the_rule_of_requests() {
        let gpu = |count: &str| json!({"requests": {"a.b/gpu": count, "cpu": "1"}});
        let pod = Node::from_json(&json!({
            "initContainers": [
                {"name": "s", "restartPolicy": "Always", "resources": gpu("1")},
                {"name": "i", "resources": gpu("4")}],
            "containers": [
                {"name": "a", "resources": gpu("1")},
                {"name": "b", "resources": {"limits": {"a.b/gpu": 2, "memory": "1Gi"}}}],
        }));
        let asked = pod_extras(&pod);
        assert_eq!(asked, Extras::from([("a.b/gpu".to_owned(), 5)]));
        assert_eq!(lacking(&asked, &Extras::from([("a.b/gpu".to_owned(), 4)])), Some("a.b/gpu"));
        assert_eq!(lacking(&asked, &Extras::from([("a.b/gpu".to_owned(), 5)])), None);
        assert_eq!(lacking(&asked, &Extras::new()), Some("a.b/gpu"));
        let disk = Extras::from([("ephemeral-storage".to_owned(), 1)]);
        assert_eq!(lacking(&disk, &Extras::new()), None, "a record that does not tell it");
    }
}
