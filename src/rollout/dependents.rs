//! What is neither workload nor budget and has a state of its own: databases, certificates, external secrets, and the
//! Application that deploys it all.
//!
//! Sources: cloudnative-pg `api/v1/cluster_types.go`; cert-manager and external-secrets (the condition `Ready` of
//! Certificate and ExternalSecret); argo-cd `pkg/apis/application/v1alpha1/types.go`.

use serde_json::Value;

use super::events::one_line;
use super::finding::Finding;
use super::images::{Indexes, WantedImage, image_findings};
use super::live::{
    Snapshot, api_group, condition, int_at, is_condition_true, items_at, kind, name, namespace,
    shown, text_at,
};
use super::pod::{is_over, is_ready};
use crate::checks::model::admission::{Refusal, change_refusals};
use crate::checks::model::cluster::Cluster;
use crate::database::{DatabaseState, assess_database};
use crate::image::{Split, postgres_major};
use crate::kustomize::Rendered;

/// The pods of a database: those that its operator labels as instances of it.
#[must_use]
pub fn instances<'a>(snapshot: &'a Snapshot, cluster: &Value) -> Vec<&'a Value> {
    const CLUSTER: &str = "/metadata/labels/cnpg.io~1cluster";
    const ROLE: &str = "/metadata/labels/cnpg.io~1podRole";
    let is_instance = |pod: &&Value| {
        namespace(pod) == namespace(cluster)
            && text_at(pod, CLUSTER) == name(cluster)
            && matches!(text_at(pod, ROLE), "" | "instance")
            && !is_over(pod)
    };
    snapshot.all("", "Pod").iter().filter(is_instance).collect()
}

/// What is wrong with a database: its phase, its numbers, its instances and, where `wanted` is given, their image.
#[must_use]
pub fn database_findings(
    snapshot: &Snapshot,
    cluster: &Value,
    wanted: Option<&WantedImage>,
    indexes: &Indexes,
) -> Vec<Finding> {
    let about = |id, message: String| vec![Finding::about(cluster, id, message)];
    let mut found = match assess_database(cluster) {
        DatabaseState::Settled => Vec::new(),
        DatabaseState::Rolling(phase) => about("database-rolling", phase),
        DatabaseState::Waiting(phase) => about(
            "database-waiting",
            format!(
                "{phase}: the primary is replaced when somebody orders it (primaryUpdateStrategy supervised)"
            ),
        ),
        DatabaseState::Broken(phase) => about("database-broken", phase),
    };
    let pods = instances(snapshot, cluster);
    let unready: Vec<String> = pods.iter().filter(|pod| !is_ready(pod)).map(|p| shown(p)).collect();
    if found.is_empty() && !unready.is_empty() {
        found = about("database-rolling", format!("not ready: {}", unready.join(", ")));
    }
    if let Some(wanted) = wanted {
        found.extend(image_findings(&pods, std::slice::from_ref(wanted), indexes));
    }
    found
}

/// What its operator refuses of the way from the `live` database to that which git says: the sync of the whole Application fails.
pub(super) fn refused_findings(live: &Value, git: &Value) -> Vec<Finding> {
    let mut before = live.clone();
    // The operator goes by the version that wrote the data.
    let image = text_at(live, "/spec/imageName");
    if let Some(major) = int_at(live, "/status/pgDataImageInfo/majorVersion")
        && postgres_major(Split::parse(image).tag).map(i64::from) != Some(major)
    {
        before["spec"]["imageName"] = format!("postgresql:{major}").into();
    }
    let parsed = [&before, git].map(|object| Rendered::parse(&object.to_string()).ok());
    let clusters =
        parsed.each_ref().map(|parsed| Cluster::new(parsed.as_ref()?.resources.first()?));
    let [Some(before), Some(after)] = clusters else { return Vec::new() };
    let refusals = change_refusals(&before, &after).into_iter();
    let about = |refusal: Refusal<'_>| {
        let message = format!("CloudNativePG refuses what git says: {}", refusal.reason);
        Finding::about(live, "database-change-refused", message)
    };
    refusals.map(about).collect()
}

/// What is wrong with an object whose condition `Ready` says how it is: a Certificate or an ExternalSecret.
#[must_use]
pub fn ready_finding(object: &Value) -> Option<Finding> {
    let id = match (api_group(object), kind(object)) {
        ("cert-manager.io", "Certificate") => "certificate-not-ready",
        ("external-secrets.io", "ExternalSecret") => "secret-not-synced",
        _ => return None,
    };
    let ready = condition(object, "Ready");
    let generation = int_at(object, "/metadata/generation");
    let observed = ready.and_then(|ready| int_at(ready, "/observedGeneration"));
    if let (Some(generation), Some(observed)) = (generation, observed)
        && observed < generation
    {
        let message = "its controller has not seen the last change yet".to_owned();
        return Some(Finding::about(object, id, message));
    }
    if is_condition_true(object, "Ready") {
        return None;
    }
    let said = ready.map(|ready| {
        let (reason, message) = (text_at(ready, "/reason"), text_at(ready, "/message"));
        one_line(&format!("{reason}: {message}"))
    });
    let message = said.unwrap_or_else(|| "its controller has said nothing yet".to_owned());
    Some(Finding::about(object, id, message))
}

/// The revisions that an Application was compared at last.
#[must_use]
pub fn revisions(application: &Value) -> Vec<&str> {
    let several = items_at(application, "/status/sync/revisions").iter().filter_map(Value::as_str);
    let several: Vec<&str> = several.collect();
    match several.is_empty() {
        true => vec![text_at(application, "/status/sync/revision")],
        false => several,
    }
}

/// Whether an Application is Synced; `Healthy` says nothing about that.
#[must_use]
pub fn sync_finding(application: &Value) -> Option<Finding> {
    let status = text_at(application, "/status/sync/status");
    if status == "Synced" {
        return None;
    }
    let status = if status.is_empty() { "not compared yet" } else { status };
    let health = text_at(application, "/status/health/status");
    let conditions = items_at(application, "/status/conditions").iter();
    let said = conditions
        .filter(|condition| text_at(condition, "/type").ends_with("Error"))
        .map(|condition| one_line(text_at(condition, "/message")))
        .next();
    let said = said.map(|said| format!(": {said}")).unwrap_or_default();
    let message = match health {
        "Healthy" => format!("{status}{said} (Healthy speaks of what was applied last)"),
        _ => format!("{status}{said}"),
    };
    Some(Finding::about(application, "application-not-synced", message))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn cluster(phase: &str, ready: i64) -> Value {
        json!({"apiVersion": "postgresql.cnpg.io/v1", "kind": "Cluster",
            "metadata": {"name": "db", "namespace": "shop"}, "spec": {"instances": 2},
            "status": {"phase": phase, "instances": 2, "readyInstances": ready,
                "currentPrimary": "db-1", "targetPrimary": "db-1"}})
    }

    fn instance(name: &str, image: &str, ready: &str) -> Value {
        json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "shop",
            "labels": {"cnpg.io/cluster": "db", "cnpg.io/podRole": "instance"}},
            "spec": {"containers": [{"name": "postgres", "image": image}]},
            "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": ready}],
                "containerStatuses": [{"name": "postgres", "imageID": ""}]}})
    }

    /// The webhook compares with what is in the cluster, and with the version that wrote the data.
    #[test]
    fn what_the_operator_refuses_of_git_is_told() {
        let with = |size: &str, image: &str, status: Value| {
            json!({"apiVersion": "postgresql.cnpg.io/v1", "kind": "Cluster",
                "metadata": {"name": "db", "namespace": "shop"}, "status": status,
                "spec": {"instances": 2, "imageName": image, "storage": {"size": size}}})
        };
        let wrote = |major: i64| json!({"pgDataImageInfo": {"majorVersion": major}});
        let of = |live: &Value, git: &Value| {
            let all = refused_findings(live, git).into_iter();
            all.map(|finding| finding.message).collect::<Vec<_>>().join("; ")
        };
        let live = with("20Gi", "pg:17.2", wrote(17));
        assert_eq!(of(&live, &with("20Gi", "pg:17.3", json!({}))), "");
        assert_eq!(of(&live, &live), "");
        let message = of(&live, &with("10Gi", "pg:16.1", json!({})));
        assert!(message.contains("from major version 17 to 16"), "{message}");
        assert!(message.contains("storage.size shrinks from 20Gi to 10Gi"), "{message}");
        // Its image says 16 already, and its data is that of 17.
        let message = of(&with("20Gi", "pg:16.1", wrote(17)), &with("20Gi", "pg:16.2", json!({})));
        assert!(message.contains("from major version 17 to 16"), "{message}");
    }

    /// The tool's own test of a database: phase, both numbers, primary, every instance ready with the wanted image.
    #[test]
    fn a_database_is_well_when_everything_about_it_is() {
        const HEALTHY: &str = "Cluster in healthy state";
        let (old, new) =
            ("ghcr.io/cloudnative-pg/postgresql:16.3", "ghcr.io/cloudnative-pg/postgresql:16.4");
        let wanted = WantedImage { container: "postgres".into(), image: new.into() };
        let ids = |cluster: Value, pods: [Value; 2]| {
            let snapshot = Snapshot::of(pods);
            let found = database_findings(&snapshot, &cluster, Some(&wanted), &Indexes::default());
            found.into_iter().map(|finding| finding.id).collect::<Vec<_>>()
        };
        let good = || [instance("db-1", new, "True"), instance("db-2", new, "True")];
        assert_eq!(ids(cluster(HEALTHY, 2), good()), [""; 0]);
        assert_eq!(ids(cluster(HEALTHY, 1), good()), ["database-rolling"]);
        assert_eq!(ids(cluster("Creating a new replica", 2), good()), ["database-rolling"]);
        assert_eq!(ids(cluster("Waiting for user action", 2), good()), ["database-waiting"]);
        assert_eq!(ids(cluster("Not enough disk space", 2), good()), ["database-broken"]);
        let unready = [instance("db-1", new, "True"), instance("db-2", new, "False")];
        assert_eq!(ids(cluster(HEALTHY, 2), unready), ["database-rolling"]);
        let outdated = [instance("db-1", old, "True"), instance("db-2", new, "True")];
        assert_eq!(ids(cluster(HEALTHY, 2), outdated), ["image-other"]);
    }

    #[test]
    fn certificates_and_secrets_are_what_their_condition_says() {
        let object = |kind: &str, group: &str, conditions: Value| {
            json!({"apiVersion": format!("{group}/v1"), "kind": kind,
                "metadata": {"name": "x", "generation": 2}, "status": {"conditions": conditions}})
        };
        let ready = json!([{"type": "Ready", "status": "True", "observedGeneration": 2}]);
        let stale = json!([{"type": "Ready", "status": "True", "observedGeneration": 1}]);
        let failed = json!([{"type": "Ready", "status": "False", "reason": "SecretSyncedError",
            "message": "could not get secret data"}]);
        let certificate = |c| ready_finding(&object("Certificate", "cert-manager.io", c));
        let secret = |c| ready_finding(&object("ExternalSecret", "external-secrets.io", c));
        assert_eq!(certificate(ready.clone()), None);
        assert_eq!(certificate(stale).unwrap().id, "certificate-not-ready");
        assert_eq!(secret(ready), None);
        assert_eq!(secret(json!([])).unwrap().id, "secret-not-synced");
        let message = secret(failed).unwrap().message;
        assert_eq!(message, "SecretSyncedError: could not get secret data");
    }

    #[test]
    fn healthy_is_not_synced() {
        let application = json!({"apiVersion": "argoproj.io/v1alpha1", "kind": "Application",
            "metadata": {"name": "shop"}, "status": {"sync": {"status": "OutOfSync"},
            "health": {"status": "Healthy"}}});
        let found = sync_finding(&application).unwrap();
        assert_eq!(found.message, "OutOfSync (Healthy speaks of what was applied last)");
    }
}
