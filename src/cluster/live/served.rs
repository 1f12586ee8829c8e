//! Where the API has the objects of a kind, and where the well-known ones are.

use crate::cluster::KindName;

/// Kinds that every cluster has: group, kind, version, plural, whether it has namespaces (Kubernetes' OpenAPI description).
const BUILT_IN: [(&str, &str, &str, &str, bool); 30] = [
    ("", "Pod", "v1", "pods", true),
    ("", "Node", "v1", "nodes", false),
    ("", "Namespace", "v1", "namespaces", false),
    ("", "Event", "v1", "events", true),
    ("", "Service", "v1", "services", true),
    ("", "ServiceAccount", "v1", "serviceaccounts", true),
    ("", "Secret", "v1", "secrets", true),
    ("", "ConfigMap", "v1", "configmaps", true),
    ("", "Endpoints", "v1", "endpoints", true),
    ("", "LimitRange", "v1", "limitranges", true),
    ("", "ResourceQuota", "v1", "resourcequotas", true),
    ("", "PersistentVolume", "v1", "persistentvolumes", false),
    ("", "PersistentVolumeClaim", "v1", "persistentvolumeclaims", true),
    ("", "ReplicationController", "v1", "replicationcontrollers", true),
    ("apps", "Deployment", "v1", "deployments", true),
    ("apps", "StatefulSet", "v1", "statefulsets", true),
    ("apps", "DaemonSet", "v1", "daemonsets", true),
    ("apps", "ReplicaSet", "v1", "replicasets", true),
    ("apps", "ControllerRevision", "v1", "controllerrevisions", true),
    ("batch", "Job", "v1", "jobs", true),
    ("batch", "CronJob", "v1", "cronjobs", true),
    ("policy", "PodDisruptionBudget", "v1", "poddisruptionbudgets", true),
    ("autoscaling", "HorizontalPodAutoscaler", "v2", "horizontalpodautoscalers", true),
    ("networking.k8s.io", "Ingress", "v1", "ingresses", true),
    ("networking.k8s.io", "NetworkPolicy", "v1", "networkpolicies", true),
    ("discovery.k8s.io", "EndpointSlice", "v1", "endpointslices", true),
    ("storage.k8s.io", "StorageClass", "v1", "storageclasses", false),
    ("storage.k8s.io", "VolumeAttachment", "v1", "volumeattachments", false),
    ("rbac.authorization.k8s.io", "ClusterRole", "v1", "clusterroles", false),
    ("rbac.authorization.k8s.io", "ClusterRoleBinding", "v1", "clusterrolebindings", false),
];

/// Where the API has the objects of a kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Served {
    /// `v1`, or group and version.
    pub(super) api_version: String,
    /// The name in addresses.
    pub(super) plural: String,
    /// Whether its objects have namespaces.
    pub(super) is_namespaced: bool,
}

/// `apps/v1`, or `v1` for the core group.
pub(super) fn join(group: &str, version: &str) -> String {
    if group.is_empty() { version.to_owned() } else { format!("{group}/{version}") }
}

impl Served {
    /// Where `kind` is in every cluster, if it is a built-in one.
    pub(super) fn built_in(kind: &KindName) -> Option<Self> {
        let mut all = BUILT_IN.iter();
        let found = all.find(|(group, name, ..)| *group == kind.group && *name == kind.kind);
        found.map(|(group, _, version, plural, is_namespaced)| Self {
            api_version: join(group, version),
            plural: (*plural).to_owned(),
            is_namespaced: *is_namespaced,
        })
    }

    /// The address of its objects, in one namespace or in all.
    pub(super) fn path(&self, namespace: Option<&str>) -> String {
        let root = if self.api_version.contains('/') { "apis" } else { "api" };
        match namespace.filter(|_| self.is_namespaced) {
            Some(namespace) => {
                format!("/{root}/{}/namespaces/{namespace}/{}", self.api_version, self.plural)
            }
            None => format!("/{root}/{}/{}", self.api_version, self.plural),
        }
    }

    /// `pods`, `deployments.apps`: as a rule of rights names it.
    pub(super) fn resource(&self) -> String {
        match self.api_version.split_once('/') {
            Some((group, _)) => format!("{}.{group}", self.plural),
            None => self.plural.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_has_its_address() {
        let path = |group: &str, kind: &str, namespace: Option<&str>| {
            Served::built_in(&KindName::new(group, kind)).map(|served| served.path(namespace))
        };
        assert_eq!(path("", "Pod", None).as_deref(), Some("/api/v1/pods"));
        assert_eq!(
            path("apps", "Deployment", Some("shop")).as_deref(),
            Some("/apis/apps/v1/namespaces/shop/deployments")
        );
        assert_eq!(path("", "Node", Some("shop")).as_deref(), Some("/api/v1/nodes"));
        assert_eq!(path("example.org", "Pod", None), None);
    }
}
