//! Live objects as plain JSON: their fields, their owners, and all that was read of a cluster together.

use crate::shell;
use std::collections::BTreeMap;

use serde_json::Value;

/// The text at `pointer`; empty where there is none.
#[must_use]
pub fn text_at<'a>(object: &'a Value, pointer: &str) -> &'a str {
    object.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

/// The whole number at `pointer`.
#[must_use]
pub fn int_at(object: &Value, pointer: &str) -> Option<i64> {
    object.pointer(pointer)?.as_i64()
}

/// The list at `pointer`; empty where there is none.
#[must_use]
pub fn items_at<'a>(object: &'a Value, pointer: &str) -> &'a [Value] {
    object.pointer(pointer).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

/// Its kind.
#[must_use]
pub fn kind(object: &Value) -> &str {
    text_at(object, "/kind")
}

/// Its API group; empty for the core one.
#[must_use]
pub fn api_group(object: &Value) -> &str {
    text_at(object, "/apiVersion").rsplit_once('/').map_or("", |(group, _)| group)
}

/// Its name.
#[must_use]
pub fn name(object: &Value) -> &str {
    text_at(object, "/metadata/name")
}

/// Its namespace; empty where it has none.
#[must_use]
pub fn namespace(object: &Value) -> &str {
    text_at(object, "/metadata/namespace")
}

/// A command of kubectl about one pod, for people to run: `kubectl logs web-0 -n shop`.
#[must_use]
pub(super) fn kubectl(verb: &str, pod: &Value) -> String {
    format!("kubectl {verb} {} -n {}", shell::word(name(pod)), shell::word(namespace(pod)))
}

/// `Kind/name`.
#[must_use]
pub fn shown(object: &Value) -> String {
    format!("{}/{}", kind(object), name(object))
}

/// The condition of that type.
#[must_use]
pub fn condition<'a>(object: &'a Value, kind: &str) -> Option<&'a Value> {
    items_at(object, "/status/conditions").iter().find(|condition| condition["type"] == kind)
}

/// Whether the condition of that type is `True`.
#[must_use]
pub fn is_condition_true(object: &Value, kind: &str) -> bool {
    condition(object, kind).is_some_and(|condition| condition["status"] == "True")
}

/// Whether somebody has ordered it to go.
#[must_use]
pub fn is_terminating(object: &Value) -> bool {
    !text_at(object, "/metadata/deletionTimestamp").is_empty()
}

/// Whether `owner` controls `object`: by uid where both state one, else by kind and name.
#[must_use]
pub fn is_owned_by(object: &Value, owner: &Value) -> bool {
    let owner_uid = text_at(owner, "/metadata/uid");
    namespace(object) == namespace(owner)
        && items_at(object, "/metadata/ownerReferences").iter().any(|reference| {
            let uid = text_at(reference, "/uid");
            match uid.is_empty() || owner_uid.is_empty() {
                true => {
                    text_at(reference, "/kind") == kind(owner)
                        && text_at(reference, "/name") == name(owner)
                }
                false => uid == owner_uid,
            }
        })
}

/// Kind and name of what controls a pod; its own where nothing does.
#[must_use]
pub fn controller(pod: &Value) -> (&str, &str) {
    let mut owners = items_at(pod, "/metadata/ownerReferences").iter();
    match owners.find(|owner| owner["controller"] == true) {
        Some(owner) => (text_at(owner, "/kind"), text_at(owner, "/name")),
        None => ("Pod", name(pod)),
    }
}

/// Whether the templates of two objects run the same images in the same containers; one that states none does.
fn has_images_of(one: &Value, other: &Value) -> bool {
    let images = |object| {
        let containers = items_at(object, "/spec/template/spec/containers").iter();
        containers.map(|c| (text_at(c, "/name"), text_at(c, "/image"))).collect::<Vec<_>>()
    };
    images(one).is_empty() || images(one) == images(other)
}

/// What was read of a cluster.
#[derive(Clone, Debug, Default)]
pub struct Snapshot {
    objects: BTreeMap<(String, String), Vec<Value>>,
}

impl Snapshot {
    /// One of these objects.
    #[must_use]
    pub fn of(objects: impl IntoIterator<Item = Value>) -> Self {
        let mut snapshot = Self::default();
        objects.into_iter().for_each(|object| snapshot.add(object));
        snapshot
    }

    /// Adds an object; one of the same kind, namespace and name is replaced.
    pub fn add(&mut self, object: Value) {
        let key = (api_group(&object).to_owned(), kind(&object).to_owned());
        let all = self.objects.entry(key).or_default();
        let is_same =
            |known: &Value| name(known) == name(&object) && namespace(known) == namespace(&object);
        match all.iter_mut().find(|known| is_same(known)) {
            Some(known) => *known = object,
            None => all.push(object),
        }
    }

    /// Adds objects that are known to be new.
    pub fn extend(&mut self, objects: impl IntoIterator<Item = Value>) {
        for object in objects {
            let key = (api_group(&object).to_owned(), kind(&object).to_owned());
            self.objects.entry(key).or_default().push(object);
        }
    }

    /// Takes an object out.
    pub fn remove(&mut self, object: &Value) {
        let key = (api_group(object).to_owned(), kind(object).to_owned());
        if let Some(all) = self.objects.get_mut(&key) {
            all.retain(|known| {
                name(known) != name(object) || namespace(known) != namespace(object)
            });
        }
    }

    /// Whether it has an object of that namespace.
    #[must_use]
    pub fn has_any_in(&self, place: &str) -> bool {
        self.objects.values().flatten().any(|object| namespace(object) == place)
    }

    /// All objects of a kind.
    #[must_use]
    pub fn all(&self, group: &str, kind: &str) -> &[Value] {
        let key = (group.to_owned(), kind.to_owned());
        self.objects.get(&key).map(Vec::as_slice).unwrap_or_default()
    }

    /// The object of that name.
    #[must_use]
    pub fn find(&self, group: &str, kind: &str, place: &str, called: &str) -> Option<&Value> {
        let mut all = self.all(group, kind).iter();
        all.find(|object| name(object) == called && namespace(object) == place)
    }

    /// The pods of a workload: those of its sets for a Deployment, its own for other kinds.
    #[must_use]
    pub fn pods_of(&self, workload: &Value) -> Vec<&Value> {
        let pods = self.all("", "Pod").iter();
        if kind(workload) != "Deployment" {
            return pods.filter(|pod| is_owned_by(pod, workload)).collect();
        }
        let sets = self.sets_of(workload);
        let is_of_set = |pod: &Value| sets.iter().any(|set| is_owned_by(pod, set));
        pods.filter(|pod| is_of_set(pod) || self.is_of_unknown_set(pod, workload)).collect()
    }

    /// Whether `pod` is of a set of the Deployment that is not known (yet, or any more): its name is that of the Deployment
    /// and the hash that the pod has as a label (Kubernetes `pkg/controller/deployment/sync.go`).
    fn is_of_unknown_set(&self, pod: &Value, deployment: &Value) -> bool {
        let hash = text_at(pod, "/metadata/labels/pod-template-hash");
        let owner = format!("{}-{hash}", name(deployment));
        let is_owner = |reference: &Value| {
            text_at(reference, "/kind") == "ReplicaSet" && text_at(reference, "/name") == owner
        };
        !hash.is_empty()
            && namespace(pod) == namespace(deployment)
            && items_at(pod, "/metadata/ownerReferences").iter().any(is_owner)
            && self.find("apps", "ReplicaSet", namespace(pod), &owner).is_none()
    }

    /// The ReplicaSets of a Deployment.
    #[must_use]
    pub fn sets_of(&self, workload: &Value) -> Vec<&Value> {
        let sets = self.all("apps", "ReplicaSet").iter();
        sets.filter(|set| is_owned_by(set, workload)).collect()
    }

    /// The ReplicaSet of a Deployment's present template: of those that run its images the one of its own revision, else
    /// of the highest; none before its controller has made one.
    #[must_use]
    pub fn new_set_of(&self, workload: &Value) -> Option<&Value> {
        const REVISION: &str = "/metadata/annotations/deployment.kubernetes.io~1revision";
        let mut sets = self.sets_of(workload);
        sets.retain(|set| has_images_of(set, workload));
        let own = text_at(workload, REVISION);
        let is_current = |set: &&&Value| !own.is_empty() && text_at(set, REVISION) == own;
        let highest = || {
            let number = |set: &&&Value| text_at(set, REVISION).parse::<i64>().unwrap_or(0);
            sets.iter().max_by_key(number)
        };
        sets.iter().find(is_current).or_else(highest).copied()
    }

    /// Whether `pod` was made from the present template of `workload`; `None` where nothing tells.
    #[must_use]
    pub fn is_new_pod(&self, workload: &Value, pod: &Value) -> Option<bool> {
        const HASH: &str = "/metadata/labels/controller-revision-hash";
        match kind(workload) {
            "Deployment" => match self.new_set_of(workload) {
                Some(set) => Some(is_owned_by(pod, set)),
                None => (!self.sets_of(workload).is_empty()).then_some(false),
            },
            "StatefulSet" => {
                let revision = text_at(workload, "/status/updateRevision");
                (!revision.is_empty()).then(|| text_at(pod, HASH) == revision)
            }
            "DaemonSet" => {
                let revisions = self.all("apps", "ControllerRevision").iter();
                let newest = revisions
                    .filter(|revision| is_owned_by(revision, workload))
                    .max_by_key(|revision| int_at(revision, "/revision"))?;
                let hash = text_at(newest, HASH);
                (!hash.is_empty()).then(|| text_at(pod, HASH) == hash)
            }
            _ => None,
        }
    }
}
