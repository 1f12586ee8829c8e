//! Helm charts: what a real helm renders is what a real kustomize prints of it, and nothing more than
//! that is ever called.

mod edits;
mod hostile;
mod judged;
#[cfg(feature = "registry")]
mod oci;
#[cfg(feature = "http")]
mod pulled;
mod stub;
mod unasked;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::repo::{Ran, TestRepo};
use crate::support::{runs, skip};

/// A chart that shows what it gets: its release, its values, what Kubernetes it is told of.
pub(super) const CHART: &[(&str, &str)] = &[
    ("Chart.yaml", "apiVersion: v2\nname: web\nversion: 1.2.3\n"),
    (
        "values.yaml",
        "image: {repository: shop/web, tag: \"1\"}\nreplicas: 2\nnested: {a: 1, b: [1, 2], c: x}\n",
    ),
    (
        "templates/web.yaml",
        r#"apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ .Release.Name }}-web
  namespace: {{ .Release.Namespace }}
  annotations:
    kube: {{ .Capabilities.KubeVersion | quote }}
    monitored: {{ .Capabilities.APIVersions.Has "monitoring.example/v1" | quote }}
spec:
  replicas: {{ .Values.replicas }}
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - name: web
        image: "{{ .Values.image.repository }}:{{ .Values.image.tag }}"
        args: [{{ toJson .Values.nested | quote }}]
"#,
    ),
    (
        "templates/hook.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: hook\n  annotations: {helm.sh/hook: pre-install}\n",
    ),
    (
        "templates/test.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: test\n  annotations: {helm.sh/hook: test}\n",
    ),
    (
        "crds/thing.yaml",
        "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: things.shop.example}\nspec: {group: shop.example, names: {kind: Thing, plural: things}, scope: Namespaced, versions: []}\n",
    ),
];

/// A repository with [`CHART`] in `charts/web` of `overlays/prod`, whose kustomization is this.
pub(super) fn repo(kustomization: &str) -> TestRepo {
    let repo = TestRepo::with_files(&[("overlays/prod/kustomization.yaml", kustomization)]);
    write_chart(&repo, "overlays/prod/charts/web");
    repo.commit("chart");
    repo
}

pub(super) fn write_chart(repo: &TestRepo, directory: &str) {
    for (path, text) in CHART {
        repo.write(&format!("{directory}/{path}"), text);
    }
}

/// A real helm: the one that `HELM` names, else the one in `PATH`.
pub(super) fn helm() -> Option<PathBuf> {
    let named = std::env::var("HELM").unwrap_or_else(|_| "helm".to_owned());
    if runs(&named, &["version", "--short"]) {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let found = std::env::split_paths(&path).map(|folder| folder.join(&named));
        return found.into_iter().find(|path| path.is_file());
    }
    skip("no helm (set HELM, or put helm on PATH)");
    None
}

/// Runs the binary with `--enable-helm`, this helm being the first in `PATH`, and its own cache.
pub(super) fn overlay(repo: &TestRepo, helm: &Path, args: &[&str]) -> Ran {
    let path = std::env::var("PATH").unwrap_or_default();
    let folder = helm.parent().unwrap().display();
    run_in(repo, &format!("{folder}:{path}"), &[args, &["--enable-helm"]].concat())
}

/// Runs the binary with this `PATH`.
pub(super) fn run_in(repo: &TestRepo, path: &str, args: &[&str]) -> Ran {
    let cache = repo.path().parent().unwrap().join("cache").display().to_string();
    let environment = BTreeMap::from([
        ("PATH".to_owned(), path.to_owned()),
        ("OVERLAY_CACHE_DIR".to_owned(), cache),
    ]);
    repo.overlay_with(args, "", &environment)
}

/// What a real kustomize prints of `overlay` of a copy of the work tree, or its error text.
pub(super) fn judged(
    repo: &TestRepo,
    helm: &Path,
    overlay: &str,
) -> Option<Result<String, String>> {
    let judge = crate::support::judge()?;
    // It puts the charts that it pulls into the work tree.
    let copy = TestRepo::from_folder(&repo.path());
    let helm = helm.display().to_string();
    let args = ["--enable-helm", "--helm-command", helm.as_str()];
    Some(judge.build_asked(&copy.path().join(overlay), &args))
}

/// The archive of a chart in `folder`, as `helm package` makes it: the chart in one directory.
pub(super) fn archive(folder: &Path, name: &str) -> Vec<u8> {
    let output = Command::new("tar").arg("-czf-").arg("-C").arg(folder).arg(name).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    output.stdout
}
