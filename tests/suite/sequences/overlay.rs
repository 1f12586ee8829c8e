//! Random overlays: a base, a component, and an overlay that says things of their objects in every form.

use crate::support::random::Random;
use crate::support::repo::TestRepo;

/// The overlay that is edited.
pub(super) const OVERLAY: &str = "overlays/prod";

/// The workloads, and their kinds.
pub(super) const WORKLOADS: [(&str, &str); 5] = [
    ("alpha", "Deployment"),
    ("beta", "Deployment"),
    ("gamma", "StatefulSet"),
    ("delta", "Deployment"),
    ("own", "Deployment"),
];

/// A repository with such an overlay, committed.
pub(super) fn random_overlay(random: &mut Random) -> TestRepo {
    let mut base = String::new();
    for (name, kind) in &WORKLOADS[..3] {
        base += &workload(name, kind, random);
        base += "---\n";
    }
    base += &cluster(random);
    let component = format!(
        "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\nresources: [delta.yaml]\n{}",
        if random.chance(50) { component_patches() } else { "" }
    );
    let (kustomization, patch) = kustomization(random);
    TestRepo::with_files(&[
        ("base/kustomization.yaml", "resources: [all.yaml]\n"),
        ("base/all.yaml", &base),
        ("component/kustomization.yaml", &component),
        ("component/delta.yaml", &workload("delta", "Deployment", random)),
        ("overlays/prod/own.yaml", &workload("own", "Deployment", random)),
        ("overlays/prod/patch.yaml", &patch),
        ("overlays/prod/kustomization.yaml", &kustomization),
    ])
}

fn workload(name: &str, kind: &str, random: &mut Random) -> String {
    let replicas = match random.below(3) {
        0 => String::new(),
        _ => format!("  replicas: {} # how many\n", 1 + random.below(3)),
    };
    let strategy = match (kind, random.below(3)) {
        ("Deployment", 0) => "  strategy:\n    rollingUpdate: {maxSurge: 1, maxUnavailable: 0}\n",
        ("Deployment", 1) => "  strategy:\n    type: Recreate\n",
        _ => "",
    };
    let service =
        if kind == "StatefulSet" { format!("  serviceName: {name}\n") } else { String::new() };
    let resources = match random.chance(50) {
        true => "        resources:\n          requests: {cpu: 10m}\n",
        false => "",
    };
    format!(
        "apiVersion: apps/v1
kind: {kind}
metadata:
  name: {name}
  labels: {{app: {name}, tier: front}}
spec:
{replicas}{strategy}{service}  selector:
    matchLabels: {{app: {name}}}
  template:
    metadata:
      labels: {{app: {name}}}
    spec:
      containers:
      - name: {name}
        image: registry.example/team/{name}:1.0
{resources}      - name: sidecar
        image: registry.example/sidecar@sha256:{}
",
        "5e".repeat(32)
    )
}

fn cluster(random: &mut Random) -> String {
    let budget = if random.chance(50) { "  enablePDB: false\n" } else { "" };
    format!(
        "apiVersion: postgresql.cnpg.io/v1\nkind: Cluster\nmetadata:\n  name: db\nspec:\n  instances: 1\n{budget}  imageName: registry.example/pg:16.1\n"
    )
}

fn component_patches() -> &'static str {
    "patches:
- target: {kind: Deployment}
  patch: |-
    - {op: add, path: /spec/revisionHistoryLimit, value: 3}
- target: {kind: Cluster, name: db}
  patch: |-
    - op: replace
      path: /spec/instances
      value: 2
"
}

/// The kustomization, and the text of its `patch.yaml`.
fn kustomization(random: &mut Random) -> (String, String) {
    let mut text = "# an overlay\nresources:\n- ../../base # the base\n- own.yaml\ncomponents:\n- ../../component\n".to_owned();
    if random.chance(30) {
        text += "namespace: shop\n";
    }
    let mut patches = String::new();
    for _ in 0..random.below(4) {
        patches += &inline_patch(random);
    }
    let target = random.pick(&WORKLOADS);
    if random.chance(50) {
        patches += "- path: patch.yaml # in a file\n";
    }
    if !patches.is_empty() {
        text += &format!("\npatches:\n{patches}");
    }
    if random.chance(50) {
        let (name, _) = random.pick(&WORKLOADS);
        text +=
            &format!("\nreplicas:\n- name: {name}\n  count: {} # chosen\n", 1 + random.below(4));
    }
    if random.chance(60) {
        let (name, _) = random.pick(&WORKLOADS);
        let version = match random.below(3) {
            0 => "newTag: \"1.5\"".to_owned(),
            1 => format!("digest: sha256:{}", "c7".repeat(32)),
            _ => format!("newTag: v2 # kept\n  digest: sha256:{}", "c7".repeat(32)),
        };
        text += &format!("\nimages:\n- name: registry.example/team/{name}\n  {version}\n");
    }
    let (name, kind) = target;
    let patch = format!(
        "apiVersion: apps/v1\nkind: {kind}\nmetadata:\n  name: {name}\nspec:\n  replicas: {}\n  revisionHistoryLimit: 4\n",
        1 + random.below(3)
    );
    (text, patch)
}

fn inline_patch(random: &mut Random) -> String {
    let (name, kind) = *random.pick(&WORKLOADS);
    let count = 1 + random.below(5);
    match random.below(6) {
        0 => format!(
            "- target: {{ kind: {kind}, name: {name} }}\n  patch: |\n    # chosen by hand\n    - {{ op: add, path: /spec/replicas, value: {count} }}\n"
        ),
        1 => format!(
            "- target:\n    kind: {kind}\n    name: {name}\n  patch: |-\n    - op: add\n      path: /spec/replicas\n      value: {count} # by hand\n    - op: add\n      path: /spec/revisionHistoryLimit\n      value: 7\n"
        ),
        2 => format!(
            "- patch: |-\n    apiVersion: apps/v1\n    kind: {kind}\n    metadata:\n      name: {name}\n    spec:\n      replicas: {count}\n"
        ),
        3 => format!(
            "- target:\n    kind: Deployment\n    name: (alpha|beta)\n  patch: |-\n    - {{op: add, path: /spec/replicas, value: {count}}}\n"
        ),
        4 => format!(
            "- target: {{labelSelector: tier=front}}\n  patch: |-\n    - op: add\n      path: /spec/revisionHistoryLimit\n      value: {count}\n"
        ),
        _ => format!(
            "- target: {{kind: Cluster, name: db}}\n  patch: |-\n    - {{op: replace, path: /spec/instances, value: {count}}}\n"
        ),
    }
}
