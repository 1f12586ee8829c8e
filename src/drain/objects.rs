//! The objects of a cluster, one by one.

use std::collections::BTreeMap;

use serde_json::Value as Json;

use super::state::{Attachment, Claim, ClusterNode, Database, StateError};
use crate::capacity::eligible::{Face, Taint};
use crate::capacity::extras::node_extras;
use crate::capacity::quantities::{bad_at, bad_in_pod};
use crate::capacity::request::{amounts_at, count_at};
use crate::checks::model::{int_at, is_true, items_at, text_at, texts_at};
use crate::kustomize::node::Node;

/// Names of these go into commands.
pub(super) fn require_names(item: usize, kind: &str, object: &Json) -> Result<(), StateError> {
    if kind == "CertificateSigningRequest" {
        return Ok(());
    }
    for field in ["name", "namespace"] {
        let name = object["metadata"][field].as_str();
        if name.is_none() && field == "namespace" {
            continue;
        }
        let name = name.unwrap_or_default();
        if !is_name(name) {
            let (kind, name) = (kind.to_owned(), name.to_owned());
            return Err(StateError::BadName { item, kind, name });
        }
    }
    Ok(())
}

/// A number that is none is not taken for nothing.
pub(super) fn require_quantities(kind: &str, object: &Node) -> Result<(), StateError> {
    let bad = match kind {
        "Node" => {
            let lists = ["allocatable", "capacity"];
            lists.iter().find_map(|list| bad_at(object, &["status", list], ""))
        }
        "Pod" => object.get("spec").and_then(bad_in_pod),
        _ => None,
    };
    match bad {
        Some(bad) => {
            let (kind, name) = (kind.to_owned(), name(object).to_owned());
            Err(StateError::BadQuantity { kind, name, bad })
        }
        None => Ok(()),
    }
}

/// A DNS subdomain of RFC 1123, which names of all these objects are.
pub(super) fn is_name(text: &str) -> bool {
    let is_part = |part: &str| {
        let is_end = |c: Option<u8>| c.is_some_and(|c| c.is_ascii_alphanumeric());
        part.bytes().all(|c| c.is_ascii_digit() || c.is_ascii_lowercase() || c == b'-')
            && is_end(part.bytes().next())
            && is_end(part.bytes().next_back())
    };
    text.len() <= 253 && text.split('.').all(is_part)
}

/// `metadata.name`.
pub(super) fn name(object: &Node) -> &str {
    text_at(object, &["metadata", "name"]).unwrap_or_default()
}

/// `metadata.namespace`; `default` where there is none.
pub(super) fn namespace(object: &Node) -> &str {
    text_at(object, &["metadata", "namespace"]).unwrap_or("default")
}

/// Labels of an object.
pub(super) fn labels(object: &Node) -> BTreeMap<String, String> {
    let owned = |(key, value): (&str, &str)| (key.to_owned(), value.to_owned());
    texts_at(object, &["metadata", "labels"]).into_iter().map(owned).collect()
}

/// The status of a condition.
pub(super) fn condition<'a>(object: &'a Node, kind: &str) -> Option<&'a Node> {
    let conditions = items_at(object, &["status", "conditions"]);
    conditions.iter().find(|condition| text_at(condition, &["type"]) == Some(kind))
}

pub(super) fn read_node(object: &Node) -> ClusterNode {
    let taint = |taint: &Node| {
        let field = |name| text_at(taint, &[name]).unwrap_or_default().to_owned();
        Taint { key: field("key"), value: field("value"), effect: field("effect") }
    };
    let taints = items_at(object, &["spec", "taints"]).iter().map(taint).collect();
    let status = condition(object, "Ready").and_then(|ready| text_at(ready, &["status"]));
    ClusterNode {
        face: Face { name: name(object).to_owned(), labels: labels(object), taints },
        seen: amounts_at(object, &["status", "capacity"]),
        allocatable: amounts_at(object, &["status", "allocatable"]),
        pods: count_at(object, &["status", "allocatable", "pods"]).unwrap_or(110),
        extras: node_extras(object),
        is_cordoned: is_true(object, &["spec", "unschedulable"]),
        is_ready: status == Some("True"),
        provider_id: text_at(object, &["spec", "providerID"]).map(str::to_owned),
    }
}

pub(super) fn read_claim(object: &Node, volumes: &BTreeMap<&str, &Node>) -> Claim {
    let bound = text_at(object, &["spec", "volumeName"]).filter(|name| !name.is_empty());
    let volume = bound.and_then(|name| volumes.get(name)).copied();
    let modes = |object: &Node| -> Vec<String> {
        let modes = items_at(object, &["spec", "accessModes"]).iter();
        modes.filter_map(|mode| mode.as_str().map(str::to_owned)).collect()
    };
    let modes = volume.map_or_else(|| modes(object), modes);
    let is_shared = |mode: &String| mode == "ReadWriteMany" || mode == "ReadOnlyMany";
    let path = ["spec", "nodeAffinity", "required"];
    let required = volume.and_then(|volume| volume.lookup(&path));
    // Volumes that a driver makes on disks of nodes are bound to the name of one and no more.
    let is_of_one_node = |term: &Node| {
        let wanted = items_at(term, &["matchExpressions"]).iter();
        let mut keys = wanted.filter_map(|wanted| text_at(wanted, &["key"]));
        keys.any(|key| key == "kubernetes.io/hostname")
    };
    let terms = required.map(|required| items_at(required, &["nodeSelectorTerms"]).to_vec());
    let is_bound = terms.as_ref().is_some_and(|terms| terms.iter().any(is_of_one_node));
    let local = |field| volume.is_some_and(|volume| volume.lookup(&["spec", field]).is_some());
    Claim {
        namespace: namespace(object).to_owned(),
        name: name(object).to_owned(),
        volume: bound.map(str::to_owned),
        is_for_one_node: !modes.iter().any(is_shared),
        terms,
        is_local: is_bound || local("local") || local("hostPath"),
    }
}

pub(super) fn read_attachment(object: &Node) -> Attachment {
    let error = |field: &str| text_at(object, &["status", field, "message"]).map(str::to_owned);
    Attachment {
        volume: text_at(object, &["spec", "source", "persistentVolumeName"])
            .unwrap_or_default()
            .to_owned(),
        node: text_at(object, &["spec", "nodeName"]).unwrap_or_default().to_owned(),
        is_attached: is_true(object, &["status", "attached"]),
        error: error("attachError").or_else(|| error("detachError")),
    }
}

pub(super) fn read_database(object: &Node) -> Database {
    Database {
        namespace: namespace(object).to_owned(),
        name: name(object).to_owned(),
        instances: int_at(object, &["spec", "instances"]).unwrap_or(1),
        ready: int_at(object, &["status", "readyInstances"]),
        primary: text_at(object, &["status", "currentPrimary"]).map(str::to_owned),
    }
}

/// Whether nobody has answered a certificate request.
pub(super) fn is_unanswered(request: &Node) -> bool {
    items_at(request, &["status", "conditions"]).is_empty()
}
