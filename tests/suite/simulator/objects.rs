//! The objects of the overlay, what a render says of them, and the health Argo CD reads off them.

use super::cluster::Live;
use super::settings::{Settings, Version};
use serde_json::{Value, json};

/// An object, by its place in [`Values`].
pub(super) type Object = usize;

pub(super) const WEB: Object = 0;
pub(super) const DB: Object = 1;
pub(super) const CONFIG: Object = 2;
pub(super) const SIDE: Object = 3;
pub(super) const LEGACY: Object = 4;
pub(super) const REPORT: Object = 5;
pub(super) const OBJECTS: usize = 6;

/// What a render gives each object: a value, or no such object.
pub(super) type Values = [Option<u32>; OBJECTS];

const NAMES: [&str; OBJECTS] = ["web", "db", "config", "side", "legacy", "report"];
const KINDS: [(&str, &str, &str); OBJECTS] = [
    ("apps", "v1", "Deployment"),
    ("postgresql.cnpg.io", "v1", "Cluster"),
    ("", "v1", "ConfigMap"),
    ("apps", "v1", "Deployment"),
    ("", "v1", "ConfigMap"),
    ("batch", "v1", "CronJob"),
];

/// Group, version and kind.
pub(super) fn kind(object: Object) -> (&'static str, &'static str, &'static str) {
    KINDS[object]
}

pub(super) fn name(object: Object) -> &'static str {
    NAMES[object]
}

/// Whether the object runs pods, and so has a rollout.
pub(super) fn rolls_out(object: Object) -> bool {
    matches!(object, WEB | DB | SIDE)
}

/// The text by which an object carries `value`.
pub(super) fn field_text(object: Object, value: u32) -> String {
    match object {
        CONFIG | LEGACY => format!("v{value}"),
        REPORT => format!("{} 3 * * *", value % 60),
        _ => format!("registry.test/{}:v{value}", name(object)),
    }
}

/// The manifest of an object with `value`, in `namespace`.
pub(super) fn manifest(object: Object, value: u32, namespace: &str) -> Value {
    let (group, version, kind) = kind(object);
    let api = if group.is_empty() { version.to_owned() } else { format!("{group}/{version}") };
    let text = field_text(object, value);
    let mut out = json!({"apiVersion": api, "kind": kind,
        "metadata": {"name": name(object), "namespace": namespace}});
    let (key, body) = match object {
        DB => ("spec", json!({"instances": 3, "imageName": text})),
        CONFIG | LEGACY => ("data", json!({"value": text})),
        REPORT => ("spec", json!({"schedule": text})),
        _ => {
            let pod = json!({"containers": [{"name": name(object), "image": text}]});
            ("spec", json!({"replicas": 2, "template": {"spec": pod}}))
        }
    };
    out[key] = body;
    out
}

/// The object as it is in the cluster: its manifest, generation and status.
pub(super) fn live_state(object: Object, live: &Live, namespace: &str) -> Value {
    let Some(value) = live.value else { return Value::Null };
    let mut out = manifest(object, value, namespace);
    out["metadata"]["generation"] = json!(live.generation);
    match object {
        DB => out["status"] = cluster_status(live.phase),
        WEB | SIDE => out["status"] = deployment_status(live),
        _ => {}
    }
    out
}

/// The status of a CloudNativePG Cluster, which does not tell what generation it speaks of.
fn cluster_status(phase: Phase) -> Value {
    let (text, ready) = match phase {
        Phase::Settled | Phase::Unobserved => ("Cluster in healthy state", 3),
        Phase::Rolling => ("Upgrading cluster", 2),
        Phase::Switchover => ("Switchover in progress", 2),
        Phase::Crashed => ("Failing over", 2),
        Phase::Exceeded => ("Waiting for the instances to become active", 2),
    };
    let condition = if text == "Cluster in healthy state" { "True" } else { "False" };
    json!({"phase": text, "instances": 3, "readyInstances": ready,
        "currentPrimary": "db-1",
        "targetPrimary": if phase == Phase::Switchover { "db-2" } else { "db-1" },
        "conditions": [{"type": "Ready", "status": condition}]})
}

fn deployment_status(live: &Live) -> Value {
    let unseen = live.phase == Phase::Unobserved;
    let (updated, available) = match live.phase {
        Phase::Settled | Phase::Unobserved => (2, 2),
        Phase::Rolling | Phase::Exceeded => (1, 2),
        _ => (2, 1),
    };
    let mut out = json!({"observedGeneration": live.generation - u64::from(unseen), "replicas": 2,
        "updatedReplicas": updated, "readyReplicas": available, "availableReplicas": available});
    if live.phase == Phase::Exceeded {
        out["conditions"] = json!([{"type": "Progressing", "status": "False",
            "reason": "ProgressDeadlineExceeded"}]);
    }
    out
}

/// Where an object stands on its way to run what its spec says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// Runs what the spec says, and is ready.
    Settled,
    /// The spec changed and its controller has not looked yet.
    Unobserved,
    Rolling,
    /// The primary moves to another pod.
    Switchover,
    /// The rollout's deadline is over.
    Exceeded,
    /// A pod of what ran died.
    Crashed,
}

/// Argo CD's health words in the order in which the worst of several wins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Health {
    Healthy,
    Progressing,
    Missing,
    Degraded,
}

impl Health {
    pub(super) fn text(self) -> &'static str {
        match self {
            Health::Healthy => "Healthy",
            Health::Progressing => "Progressing",
            Health::Missing => "Missing",
            Health::Degraded => "Degraded",
        }
    }
}

/// What Argo CD's check of the kind says; `None` where the kind has no check.
pub(super) fn health(object: Object, phase: Phase, settings: &Settings) -> Option<Health> {
    match object {
        CONFIG | LEGACY => None,
        DB if settings.version < Version::V3_1 => None,
        DB => Some(cluster_health(phase, settings.stale_health)),
        REPORT if settings.version < Version::V3_5 => None,
        REPORT if phase == Phase::Settled => Some(Health::Healthy),
        REPORT => Some(Health::Degraded),
        _ => Some(deployment_health(phase)),
    }
}

fn deployment_health(phase: Phase) -> Health {
    match phase {
        Phase::Settled => Health::Healthy,
        Phase::Exceeded => Health::Degraded,
        _ => Health::Progressing,
    }
}

/// The bundled check of a CloudNativePG Cluster; `stale`: it does not look at the generation.
fn cluster_health(phase: Phase, stale: bool) -> Health {
    match phase {
        Phase::Settled => Health::Healthy,
        Phase::Unobserved if stale => Health::Healthy,
        Phase::Unobserved | Phase::Rolling => Health::Progressing,
        Phase::Switchover | Phase::Crashed | Phase::Exceeded => Health::Degraded,
    }
}
