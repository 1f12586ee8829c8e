//! Kubernetes objects of many kinds, with the fields that builtin transformers touch.

use super::pods;
use super::scalars;
use super::text::{Value, map, s};
use crate::random::Random;

/// Names that objects have and refer to; few, so that references meet.
pub(crate) const NAMES: &[&str] = &["web", "db", "api", "conf"];
/// Namespaces in use.
pub(crate) const NAMESPACES: &[&str] = &["one", "two", "default"];
/// Images in use.
pub(crate) const IMAGES: &[&str] = &[
    "app",
    "app:1",
    "app:1.2",
    "reg.io/app:v1",
    "reg.io:5000/team/app:1",
    "nginx",
    "app@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
    "nginx:1@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
];

/// A kind of object and the versions it is met in.
pub(crate) struct Kind {
    /// Its name.
    pub(crate) name: &'static str,
    versions: &'static [&'static str],
}

/// The kinds, common ones more than once.
pub(crate) const KINDS: &[Kind] = &[
    kind("ConfigMap", &["v1"]),
    kind("ConfigMap", &["v1"]),
    kind("Secret", &["v1"]),
    kind("Deployment", &["apps/v1", "apps/v1", "apps/v1", "apps/v1beta1", "extensions/v1beta1"]),
    kind("Deployment", &["apps/v1"]),
    kind("StatefulSet", &["apps/v1"]),
    kind("DaemonSet", &["apps/v1"]),
    kind("ReplicaSet", &["apps/v1"]),
    kind("ReplicationController", &["v1"]),
    kind("Job", &["batch/v1"]),
    kind("CronJob", &["batch/v1", "batch/v1beta1"]),
    kind("Pod", &["v1"]),
    kind("PodTemplate", &["v1"]),
    kind("Service", &["v1", "v1", "v1", "serving.knative.dev/v1"]),
    kind("Ingress", &["networking.k8s.io/v1", "networking.k8s.io/v1beta1", "extensions/v1beta1"]),
    kind("ServiceAccount", &["v1"]),
    kind("Role", &["rbac.authorization.k8s.io/v1"]),
    kind("RoleBinding", &["rbac.authorization.k8s.io/v1"]),
    kind("ClusterRole", &["rbac.authorization.k8s.io/v1"]),
    kind("ClusterRoleBinding", &["rbac.authorization.k8s.io/v1"]),
    kind("HorizontalPodAutoscaler", &["autoscaling/v2", "autoscaling/v2beta2", "autoscaling/v1"]),
    kind("PersistentVolumeClaim", &["v1"]),
    kind("PersistentVolume", &["v1"]),
    kind("StorageClass", &["storage.k8s.io/v1"]),
    kind("Namespace", &["v1"]),
    kind("NetworkPolicy", &["networking.k8s.io/v1"]),
    kind("PodDisruptionBudget", &["policy/v1", "policy/v1beta1"]),
    kind("Widget", &["example.org/v1", "example.org/v1beta1"]),
    kind("Widget", &["example.org/v1"]),
    kind("Rollout", &["argoproj.io/v1alpha1"]),
    kind("CustomResourceDefinition", &["apiextensions.k8s.io/v1"]),
    kind("ValidatingWebhookConfiguration", &["admissionregistration.k8s.io/v1"]),
    kind("MutatingWebhookConfiguration", &["admissionregistration.k8s.io/v1"]),
    kind("APIService", &["apiregistration.k8s.io/v1"]),
    kind("PriorityClass", &["scheduling.k8s.io/v1"]),
    kind("IngressClass", &["networking.k8s.io/v1"]),
];

const fn kind(name: &'static str, versions: &'static [&'static str]) -> Kind {
    Kind { name, versions }
}

/// An object of a case, as it was written.
#[derive(Clone, Debug)]
pub(crate) struct Object {
    /// `apiVersion`.
    pub(crate) api_version: String,
    /// `kind`.
    pub(crate) kind: String,
    /// `metadata.name`.
    pub(crate) name: String,
    /// `metadata.namespace`.
    pub(crate) namespace: Option<String>,
    /// All of it.
    pub(crate) value: Value,
}

impl Object {
    /// A random object.
    pub(crate) fn random(random: &mut Random) -> Self {
        let kind = random.pick(KINDS);
        let api_version = random.word(kind.versions);
        let name = random.word(NAMES);
        let namespace = random.chance(12).then(|| random.word(NAMESPACES));
        let mut metadata = map([("name", s(name.clone()))]);
        if let Some(namespace) = &namespace {
            metadata.put("namespace", s(namespace.clone()));
        }
        if random.chance(30) {
            metadata.put("labels", string_map(random));
        }
        if random.chance(15) {
            metadata.put("annotations", string_map(random));
        }
        if random.rarely(15) {
            metadata.put("finalizers", Value::List(vec![s("example.org/x"), s("a")]));
        }
        if random.rarely(8) {
            metadata
                .put("annotations", map([("config.kubernetes.io/local-config", s("\"true\""))]));
        }
        let mut value = map([
            ("apiVersion", s(api_version.clone())),
            ("kind", s(kind.name)),
            ("metadata", metadata),
        ]);
        for (key, part) in body(kind.name, random) {
            value.put(&key, part);
        }
        Self { api_version, kind: kind.name.to_owned(), name, namespace, value }
    }

    /// What two objects of one build must not share.
    pub(crate) fn identity(&self) -> String {
        let group = self.api_version.rsplit_once('/').map_or("", |(group, _)| group);
        let namespace = self.namespace.as_deref().unwrap_or("default");
        format!("{group}|{}|{}|{namespace}", self.kind, self.name)
    }
}

/// A mapping of strings, as labels and annotations are.
pub(crate) fn string_map(random: &mut Random) -> Value {
    let mut value = Value::Map(Vec::new());
    for key in random_keys(random, &["app", "tier", "env", "note", "example.org/x"]) {
        let text = if random.chance(80) {
            s(random.word(scalars::WORDS))
        } else {
            scalars::string(random)
        };
        value.put(&key, text);
    }
    value
}

/// Some of `keys`, at least one, in random order.
pub(crate) fn random_keys(random: &mut Random, keys: &[&str]) -> Vec<String> {
    let mut chosen: Vec<String> = Vec::new();
    for _ in 0..random.between(1, keys.len().min(3)) {
        let key = random.word(keys);
        if !chosen.contains(&key) {
            chosen.push(key);
        }
    }
    chosen
}

/// The fields of a kind beside its head. Also what a patch of that kind may set.
pub(crate) fn body(kind: &str, random: &mut Random) -> Vec<(String, Value)> {
    let entry = |key: &str, value: Value| vec![(key.to_owned(), value)];
    match kind {
        "ConfigMap" | "Secret" => entry("data", data(random)),
        "Deployment" | "ReplicaSet" | "DaemonSet" | "StatefulSet" | "Rollout" | "Job" => {
            entry("spec", workload(kind, random))
        }
        "ReplicationController" => entry(
            "spec",
            map([("selector", string_map(random)), ("template", pods::template(random))]),
        ),
        "CronJob" => entry(
            "spec",
            map([("jobTemplate", map([("spec", map([("template", pods::template(random))]))]))]),
        ),
        "Pod" => entry("spec", pods::spec(random)),
        "PodTemplate" => entry("template", pods::template(random)),
        "Service" => entry("spec", service(random)),
        "Ingress" => entry("spec", ingress(random)),
        "ServiceAccount" => entry("imagePullSecrets", Value::List(vec![named(random)])),
        "Role" | "ClusterRole" => entry("rules", rules(random)),
        "RoleBinding" | "ClusterRoleBinding" => binding(kind, random),
        "HorizontalPodAutoscaler" => entry(
            "spec",
            map([(
                "scaleTargetRef",
                map([
                    ("apiVersion", s("apps/v1")),
                    ("kind", s(random.word(&["Deployment", "StatefulSet"]))),
                    ("name", s(random.word(NAMES))),
                ]),
            )]),
        ),
        "PersistentVolumeClaim" => entry(
            "spec",
            map([
                ("volumeName", s(random.word(NAMES))),
                ("storageClassName", s(random.word(NAMES))),
            ]),
        ),
        "PersistentVolume" => entry(
            "spec",
            map([
                ("storageClassName", s(random.word(NAMES))),
                ("azureFile", map([("secretName", s(random.word(NAMES)))])),
            ]),
        ),
        "StorageClass" => entry("parameters", map([("secretName", s(random.word(NAMES)))])),
        "NetworkPolicy" => entry("spec", network_policy(random)),
        "PodDisruptionBudget" => {
            entry("spec", map([("selector", map([("matchLabels", string_map(random))]))]))
        }
        "ValidatingWebhookConfiguration" | "MutatingWebhookConfiguration" => entry(
            "webhooks",
            Value::List(vec![map([
                ("name", s("a.example.org")),
                (
                    "clientConfig",
                    map([(
                        "service",
                        map([
                            ("name", s(random.word(NAMES))),
                            ("namespace", s(random.word(NAMESPACES))),
                        ]),
                    )]),
                ),
            ])]),
        ),
        "APIService" => entry(
            "spec",
            map([(
                "service",
                map([("name", s(random.word(NAMES))), ("namespace", s(random.word(NAMESPACES)))]),
            )]),
        ),
        "CustomResourceDefinition" => entry(
            "spec",
            map([
                ("group", s("example.org")),
                ("containers", Value::List(vec![map([("image", s("app:1"))])])),
            ]),
        ),
        "Widget" => entry("spec", free(random, 3)),
        _ => Vec::new(),
    }
}

fn data(random: &mut Random) -> Value {
    let mut value = Value::Map(Vec::new());
    for _ in 0..random.between(0, 3) {
        let key = scalars::key(random);
        if value.get(&key).is_none() {
            let scalar = scalars::any(random);
            value.put(&key, scalar);
        }
    }
    value
}

fn workload(kind: &str, random: &mut Random) -> Value {
    let mut spec = Value::Map(Vec::new());
    if random.chance(60) && kind != "DaemonSet" {
        spec.put("replicas", s(random.between(0, 9).to_string()));
    }
    if random.chance(60) {
        spec.put("selector", map([("matchLabels", string_map(random))]));
    }
    if kind == "StatefulSet" {
        spec.put("serviceName", s(random.word(NAMES)));
        if random.chance(50) {
            let claim = map([
                ("metadata", named(random)),
                ("spec", map([("storageClassName", s(random.word(NAMES)))])),
            ]);
            spec.put("volumeClaimTemplates", Value::List(vec![claim]));
        }
    }
    if random.chance(20) {
        spec.put("strategy", map([("type", s(random.word(&["Recreate", "RollingUpdate"])))]));
    }
    if random.chance(85) {
        spec.put("template", pods::template(random));
    }
    spec
}

/// `{name: …}`.
pub(crate) fn named(random: &mut Random) -> Value {
    map([("name", s(random.word(NAMES)))])
}

fn service(random: &mut Random) -> Value {
    let mut spec = Value::Map(Vec::new());
    if random.chance(70) {
        spec.put("selector", string_map(random));
    }
    let ports = (0..random.between(0, 3)).map(|_| {
        let mut port = map([("port", s(random.word(&["80", "443", "53"])))]);
        if random.chance(40) {
            port.put("protocol", s(random.word(&["TCP", "UDP"])));
        }
        if random.chance(40) {
            port.put("targetPort", s(random.word(&["8080", "http", "\"80\""])));
        }
        port
    });
    spec.put("ports", Value::List(ports.collect()));
    spec
}

fn ingress(random: &mut Random) -> Value {
    let backend = map([(
        "service",
        map([("name", s(random.word(NAMES))), ("port", map([("number", s("80"))]))]),
    )]);
    let path = map([("path", s("/")), ("backend", backend)]);
    map([
        ("ingressClassName", s(random.word(NAMES))),
        (
            "tls",
            Value::List(vec![map([
                ("secretName", s(random.word(NAMES))),
                ("hosts", Value::List(vec![s("$(A).example.org")])),
            ])]),
        ),
        (
            "rules",
            Value::List(vec![map([
                ("host", s("a.example.org")),
                ("http", map([("paths", Value::List(vec![path]))])),
            ])]),
        ),
    ])
}

fn rules(random: &mut Random) -> Value {
    let rule = |random: &mut Random| {
        map([
            ("apiGroups", Value::List(vec![s("\"\"")])),
            ("resources", Value::List(vec![s(random.word(&["configmaps", "secrets"]))])),
            ("resourceNames", Value::List(vec![s(random.word(NAMES)), s(random.word(NAMES))])),
            ("verbs", Value::List(vec![s("get")])),
        ])
    };
    Value::List((0..random.between(1, 2)).map(|_| rule(random)).collect())
}

fn binding(kind: &str, random: &mut Random) -> Vec<(String, Value)> {
    let role = if kind == "RoleBinding" {
        random.word(&["Role", "ClusterRole"])
    } else {
        "ClusterRole".to_owned()
    };
    let role_ref = map([
        ("apiGroup", s("rbac.authorization.k8s.io")),
        ("kind", s(role)),
        ("name", s(random.word(NAMES))),
    ]);
    let subject = |random: &mut Random| {
        let mut subject = map([
            ("kind", s(random.word(&["ServiceAccount", "ServiceAccount", "User", "Group"]))),
            ("name", s(random.word(&["default", "web", "db", "api"]))),
        ]);
        if random.chance(50) {
            subject.put("namespace", s(random.word(NAMESPACES)));
        }
        subject
    };
    let subjects = (0..random.between(0, 3)).map(|_| subject(random)).collect();
    vec![("roleRef".to_owned(), role_ref), ("subjects".to_owned(), Value::List(subjects))]
}

fn network_policy(random: &mut Random) -> Value {
    let selector =
        |random: &mut Random| map([("podSelector", map([("matchLabels", string_map(random))]))]);
    let mut spec = selector(random);
    if random.chance(60) {
        spec.put(
            "ingress",
            Value::List(vec![map([("from", Value::List(vec![selector(random)]))])]),
        );
    }
    if random.chance(40) {
        spec.put("egress", Value::List(vec![map([("to", Value::List(vec![selector(random)]))])]));
    }
    spec
}

/// Any shape of value, as custom resources have it.
pub(crate) fn free(random: &mut Random, depth: usize) -> Value {
    let mut value = Value::Map(Vec::new());
    for _ in 0..random.between(0, 4) {
        let key = if random.chance(12) {
            random.word(&[
                "containers",
                "image",
                "template",
                "replicas",
                "name",
                "initContainers",
                "imageName",
                "target",
            ])
        } else {
            scalars::key(random)
        };
        if value.get(&key).is_none() {
            let part = free_part(&key, random, depth);
            value.put(&key, part);
        }
    }
    value
}

fn free_part(key: &str, random: &mut Random, depth: usize) -> Value {
    match (key, random.below(10)) {
        ("containers" | "initContainers", 0..=7) => pods::containers(random),
        ("template", 0..=7) => pods::template(random),
        ("image" | "imageName", _) => s(random.word(IMAGES)),
        (_, 0 | 1) if depth > 0 => free(random, depth - 1),
        (_, 2) if depth > 0 => {
            Value::List((0..random.below(4)).map(|_| free(random, depth - 1)).collect())
        }
        (_, 3) => Value::List((0..random.below(4)).map(|_| scalars::any(random)).collect()),
        _ => scalars::any(random),
    }
}
