//! The Application's JSON as Argo CD's API serialises it.

use super::application::*;
use super::hydrator::{HydrationPhase, HydratorStatus};
use super::objects::{Object, kind, name};
use super::settings::{Automated, GeneratePaths, Settings, Sources, Version};
use super::time::{Millis, rfc3339};
use serde_json::{Map, Value, json};

impl Application {
    /// The object as the API hands it out.
    pub(super) fn json(&self, settings: &Settings) -> Value {
        let mut out = json!({
            "metadata": self.metadata(settings),
            "spec": spec_json(self.spec, settings),
            "status": self.status.json(settings),
        });
        if let Some(operation) = &self.operation {
            out["operation"] = operation.json(settings);
        }
        out
    }

    fn metadata(&self, settings: &Settings) -> Value {
        let mut out = json!({
            "name": APPLICATION, "namespace": "argocd", "uid": self.uid,
            "resourceVersion": self.resource_version.to_string(),
            "generation": self.resource_version, "creationTimestamp": rfc3339(0),
        });
        let annotations = self.annotations(settings);
        if !annotations.is_empty() {
            out["annotations"] = Value::Object(annotations);
        }
        if settings.rolling_sync {
            out["ownerReferences"] = json!([{"apiVersion": "argoproj.io/v1alpha1",
                "kind": "ApplicationSet", "name": "fleet", "controller": true,
                "uid": "00000000-0000-4000-8000-000000000001"}]);
        }
        if let Some(at) = self.deleted {
            out["deletionTimestamp"] = json!(rfc3339(at));
            out["finalizers"] = json!(["resources-finalizer.argocd.argoproj.io"]);
        }
        out
    }

    fn annotations(&self, settings: &Settings) -> Map<String, Value> {
        let mut out = Map::new();
        let mut put = |key: &str, value: Option<String>| {
            if let Some(value) = value {
                out.insert(format!("argocd.argoproj.io/{key}"), Value::String(value));
            }
        };
        put("refresh", self.refresh.map(|(how, _)| how.to_owned()));
        put("refresh-timestamp", self.refresh_stamp.map(|stamp| stamp.to_string()));
        put("hydrate", self.hydrate.map(|_| "normal".to_owned()));
        put("skip-reconcile", self.skip.map(|_| "true".to_owned()));
        let paths = match settings.generate_paths {
            GeneratePaths::Absent => None,
            GeneratePaths::Covers => Some(".;/base".to_owned()),
            GeneratePaths::OmitsBase => Some(".".to_owned()),
        };
        put("manifest-generate-paths", paths);
        out
    }
}

fn spec_json(spec: Spec, settings: &Settings) -> Value {
    let mut out = json!({"project": "default", "destination": destination_json(spec)});
    match settings.hydrator {
        true => out["sourceHydrator"] = hydrator_json(spec),
        false => put_sources(&mut out, spec, settings),
    }
    if settings.ignored_difference {
        out["ignoreDifferences"] = ignored_json();
    }
    if let Some(Automated { prune, self_heal }) = settings.automated {
        out["syncPolicy"] = json!({"automated": {}});
        for (key, set) in [("prune", prune), ("selfHeal", self_heal)] {
            if set {
                out["syncPolicy"]["automated"][key] = json!(true);
            }
        }
    }
    out
}

fn ignored_json() -> Value {
    json!([
        {"group": "apps", "kind": "Deployment", "name": "web",
         "jsonPointers": ["/spec/template/spec/containers/0/image"]},
        {"group": "postgresql.cnpg.io", "kind": "Cluster", "jsonPointers": ["/spec/imageName"]},
        {"kind": "ConfigMap", "name": "config", "jsonPointers": ["/data/value"]}
    ])
}

fn destination_json(spec: Spec) -> Value {
    json!({"server": "https://kubernetes.default.svc", "namespace": NAMESPACES[spec.destination]})
}

/// `spec.sourceHydrator`.
fn hydrator_json(spec: Spec) -> Value {
    let path = if spec.prod { OVERLAY } else { "overlays/staging" };
    json!({
        "drySource": {"repoURL": REPOSITORY, "path": path, "targetRevision": BRANCH},
        "syncSource": {"targetBranch": HYDRATED_BRANCH, "path": OVERLAY},
    })
}

/// `source`, or `sources` with the chart and the values beside it.
fn put_sources(out: &mut Value, spec: Spec, settings: &Settings) {
    let path = if spec.prod { OVERLAY } else { "overlays/staging" };
    let target = settings.pinned.as_deref().unwrap_or(BRANCH);
    let ours = json!({"repoURL": REPOSITORY, "path": path, "targetRevision": target});
    if settings.hydrator {
        out["source"] =
            json!({"repoURL": REPOSITORY, "path": OVERLAY, "targetRevision": HYDRATED_BRANCH});
        return;
    }
    match settings.sources {
        Sources::Single => out["source"] = ours,
        Sources::Several => {
            let chart = json!({"repoURL": "https://charts.test", "chart": "mesh", "targetRevision": "1.2.x"});
            let values = json!({"repoURL": "https://git.test/ops/values.git", "ref": "values",
                "targetRevision": BRANCH});
            out["sources"] = json!([chart, ours, values]);
        }
    }
}

/// The values repository's head: a commit id that is never one of ours.
const VALUES_HEAD: &str = "9999999999999999999999999999999999999999";

/// `revision`, or `revisions` where there are several sources.
fn put_revision(out: &mut Value, revision: &str, settings: &Settings) {
    match settings.sources {
        Sources::Single if revision.is_empty() => {}
        Sources::Single => out["revision"] = json!(revision),
        Sources::Several if revision.len() == 40 => {
            out["revisions"] = json!(["1.2.7", revision, VALUES_HEAD]);
        }
        Sources::Several => {}
    }
}

impl Operation {
    fn json(&self, settings: &Settings) -> Value {
        let mut sync = json!({});
        put_revision(&mut sync, &self.revision, settings);
        if self.prune {
            sync["prune"] = json!(true);
        }
        if self.replace {
            sync["syncOptions"] = json!(["Replace=true"]);
        }
        if self.self_heal {
            sync["autoHealAttemptsCount"] = json!(1);
        }
        let listed: Vec<Value> = self.resources.iter().map(|&o| resource_key(o)).collect();
        if !listed.is_empty() {
            sync["resources"] = json!(listed);
        }
        let mut initiated = json!({"username": "anna"});
        if self.automated {
            initiated = json!({"automated": true});
        }
        let mut out = json!({"sync": sync, "initiatedBy": initiated, "retry": {}});
        if self.retries > 0 {
            out["retry"]["limit"] = json!(self.retries);
        }
        if let Some((name, value)) = &self.info {
            out["info"] = json!([{"name": name, "value": value}]);
        }
        out
    }
}

fn resource_key(object: Object) -> Value {
    let (group, _, kind) = kind(object);
    let mut out = json!({"kind": kind, "name": name(object)});
    if !group.is_empty() {
        out["group"] = json!(group);
    }
    out
}

impl OperationPhase {
    fn text(self) -> &'static str {
        match self {
            OperationPhase::Running => "Running",
            OperationPhase::Terminating => "Terminating",
            OperationPhase::Succeeded => "Succeeded",
            OperationPhase::Failed => "Failed",
            OperationPhase::Error => "Error",
        }
    }
}

impl OperationState {
    fn json(&self, spec: Option<Spec>, settings: &Settings) -> Value {
        let mut out = json!({
            "operation": self.operation.json(settings), "phase": self.phase.text(),
            "startedAt": rfc3339(self.started),
        });
        if !self.message.is_empty() {
            out["message"] = json!(self.message);
        }
        if let Some(at) = self.finished {
            out["finishedAt"] = json!(rfc3339(at));
        }
        if self.retry_count > 0 {
            out["retryCount"] = json!(self.retry_count);
        }
        if let Some(result) = &self.result {
            out["syncResult"] = result.json(spec, settings);
        }
        out
    }
}

impl SyncResult {
    fn json(&self, spec: Option<Spec>, settings: &Settings) -> Value {
        let mut out = json!({});
        put_revision(&mut out, &self.revision, settings);
        if settings.sources == Sources::Several || self.revision.is_empty() {
            out["revision"] = json!("");
        }
        put_sources(&mut out, spec.unwrap_or(Spec { prod: true, destination: 0 }), settings);
        let one = |(object, status, message): &(Object, &str, &str)| {
            let (group, version, kind) = kind(*object);
            json!({"group": group, "version": version, "kind": kind, "name": name(*object),
                "namespace": NAMESPACES[0], "status": status, "message": message,
                "hookPhase": if *status == "SyncFailed" { "Failed" } else { "Running" },
                "syncPhase": "Sync"})
        };
        if !self.resources.is_empty() {
            out["resources"] = Value::Array(self.resources.iter().map(one).collect());
        }
        out
    }
}

impl HydratorStatus {
    fn json(&self) -> Value {
        let mut out = json!({});
        if let Some(current) = &self.current {
            let phase = match current.phase {
                HydrationPhase::Hydrating => "Hydrating",
                HydrationPhase::Hydrated => "Hydrated",
                HydrationPhase::Failed => "Failed",
            };
            let home = Spec { prod: true, destination: 0 };
            let mut operation = json!({"phase": phase, "message": current.message,
                "startedAt": rfc3339(current.started), "sourceHydrator": hydrator_json(home)});
            let texts = [("drySHA", &current.dry), ("hydratedSHA", &current.hydrated)];
            for (key, text) in texts.into_iter().filter(|(_, text)| !text.is_empty()) {
                operation[key] = json!(text);
            }
            if let Some(at) = current.finished {
                operation["finishedAt"] = json!(rfc3339(at));
            }
            out["currentOperation"] = operation;
        }
        if let Some((dry, hydrated)) = &self.successful {
            out["lastSuccessfulOperation"] = json!({"drySHA": dry, "hydratedSHA": hydrated});
        }
        if !self.compared.is_empty() {
            out["lastComparedDryRevision"] = json!(self.compared);
        }
        out
    }
}

impl Status {
    fn json(&self, settings: &Settings) -> Value {
        let mut out = json!({
            "controllerNamespace": "argocd", "sourceType": "Kustomize",
            "health": {"status": self.health.text(), "lastTransitionTime": rfc3339(self.health_since)},
            "sync": self.sync_json(settings), "summary": {},
        });
        if let Some(at) = self.reconciled {
            out["reconciledAt"] = json!(rfc3339(at));
        }
        if !self.conditions.is_empty() {
            let one = |c: &Condition| {
                json!({"type": c.kind, "message": c.message,
                    "lastTransitionTime": rfc3339(c.since)})
            };
            out["conditions"] = Value::Array(self.conditions.iter().map(one).collect());
        }
        if settings.version >= Version::V3_1 {
            out["resourceHealthSource"] = json!("appTree");
        }
        let resources = self.resources.iter().map(|r| resource_json(r, self.compared_to, settings));
        out["resources"] = Value::Array(resources.collect());
        if let Some(state) = &self.operation {
            out["operationState"] = state.json(self.compared_to, settings);
        }
        if settings.hydrator {
            out["sourceHydrator"] = self.hydrator.json();
        }
        out["history"] = self.history_json(settings);
        out
    }

    fn sync_json(&self, settings: &Settings) -> Value {
        let status = match self.sync {
            Sync::Synced => "Synced",
            Sync::OutOfSync => "OutOfSync",
            Sync::Unknown => "Unknown",
        };
        let mut out = json!({"status": status});
        put_revision(&mut out, &self.revision, settings);
        if let Some(spec) = self.compared_to {
            let mut compared = json!({"destination": destination_json(spec)});
            put_sources(&mut compared, spec, settings);
            if settings.sources == Sources::Several {
                compared["source"] = json!({"repoURL": ""});
            }
            if settings.ignored_difference {
                compared["ignoreDifferences"] = ignored_json();
            }
            out["comparedTo"] = compared;
        }
        out
    }

    fn history_json(&self, settings: &Settings) -> Value {
        let one = |(id, (revision, started, at)): (usize, &(String, Millis, Millis))| {
            let mut out = json!({"id": id, "deployStartedAt": rfc3339(*started),
                "deployedAt": rfc3339(*at), "initiatedBy": {}});
            put_revision(&mut out, revision, settings);
            put_sources(&mut out, Spec { prod: true, destination: 0 }, settings);
            out
        };
        Value::Array(self.history.iter().enumerate().map(one).collect())
    }
}

fn resource_json(resource: &ResourceStatus, spec: Option<Spec>, settings: &Settings) -> Value {
    let (_, version, _) = kind(resource.object);
    let mut out = resource_key(resource.object);
    let namespace = NAMESPACES[spec.map_or(0, |s| s.destination)];
    out["version"] = json!(version);
    out["namespace"] = json!(namespace);
    out["status"] = json!(if resource.synced { "Synced" } else { "OutOfSync" });
    if resource.requires_pruning {
        out["requiresPruning"] = json!(true);
    }
    if let (Version::V2_14, Some(health)) = (settings.version, resource.health) {
        out["health"] = json!({"status": health.text()});
    }
    out
}
