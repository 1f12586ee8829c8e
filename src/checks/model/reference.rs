//! ConfigMaps and Secrets that pods refer to, and who makes them.

use std::collections::BTreeSet;

use super::workload::Workload;
use super::{is_true, items_at, text_at};
use crate::checks::finding::Spot;
use crate::kustomize::Resource;
use crate::kustomize::node::Node;

/// What a pod refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Referent {
    /// A ConfigMap.
    ConfigMap,
    /// A Secret.
    Secret,
}

impl Referent {
    /// The kind.
    #[must_use]
    pub fn kind(self) -> &'static str {
        match self {
            Self::ConfigMap => "ConfigMap",
            Self::Secret => "Secret",
        }
    }
}

/// A reference of a pod that must be there for it to start.
#[derive(Clone, Debug)]
pub struct Reference<'a> {
    /// To what.
    pub referent: Referent,
    /// By which name.
    pub name: &'a str,
    /// The field with the name.
    pub spot: Spot<'a>,
}

/// Every reference of `workload` that is not optional.
#[must_use]
pub fn references<'a>(workload: &Workload<'a>) -> Vec<Reference<'a>> {
    let mut found = Vec::new();
    for container in workload.all_containers() {
        let path = &container.path;
        for (index, item) in items_at(container.node, &["env"]).iter().enumerate() {
            let place = || format!("{path}.env.{index}.valueFrom");
            let from = |field: &str| item.lookup(&["valueFrom", field]);
            push(workload, &mut found, Referent::ConfigMap, from("configMapKeyRef"), "name", place);
            push(workload, &mut found, Referent::Secret, from("secretKeyRef"), "name", place);
        }
        for (index, item) in items_at(container.node, &["envFrom"]).iter().enumerate() {
            let place = || format!("{path}.envFrom.{index}");
            push(
                workload,
                &mut found,
                Referent::ConfigMap,
                item.get("configMapRef"),
                "name",
                place,
            );
            push(workload, &mut found, Referent::Secret, item.get("secretRef"), "name", place);
        }
    }
    let pod_path = workload.pod_path();
    for volume in items_at(workload.pod, &["volumes"]) {
        let name = text_at(volume, &["name"]).unwrap_or_default();
        let place = || format!("{pod_path}.volumes.[name={name}]");
        push(workload, &mut found, Referent::ConfigMap, volume.get("configMap"), "name", place);
        push(workload, &mut found, Referent::Secret, volume.get("secret"), "secretName", place);
        for source in items_at(volume, &["projected", "sources"]) {
            push(workload, &mut found, Referent::ConfigMap, source.get("configMap"), "name", place);
            push(workload, &mut found, Referent::Secret, source.get("secret"), "name", place);
        }
    }
    found
}

fn push<'a>(
    workload: &Workload<'a>,
    found: &mut Vec<Reference<'a>>,
    referent: Referent,
    node: Option<&'a Node>,
    key: &str,
    place: impl Fn() -> String,
) {
    let Some(node) = node.filter(|node| !is_true(node, &["optional"])) else { return };
    let Some((name, value)) = node.get(key).and_then(|value| Some((value.as_str()?, value))) else {
        return;
    };
    let spot = Spot::of(workload.resource, value, format!("{}.{key}", place()));
    found.push(Reference { referent, name, spot });
}

/// The names that something of the render makes or speaks of: names of ConfigMaps and Secrets, and
/// every text of a custom resource or of a Secret's source, for an operator may make what it names.
#[derive(Clone, Debug, Default)]
pub struct Makers<'a> {
    config_maps: BTreeSet<(String, &'a str)>,
    secrets: BTreeSet<(String, &'a str)>,
    spoken_of: BTreeSet<&'a str>,
    databases: Vec<&'a str>,
}

impl<'a> Makers<'a> {
    /// What `resources` make.
    #[must_use]
    pub fn of(resources: &'a [Resource]) -> Self {
        let mut makers = Self::default();
        for resource in resources {
            makers.add(resource);
        }
        makers
    }

    fn add(&mut self, resource: &'a Resource) {
        let namespace = || resource.current_id().effective_namespace().to_owned();
        match (resource.api_version(), resource.kind()) {
            ("v1", "ConfigMap") => {
                self.config_maps.insert((namespace(), resource.name()));
            }
            ("v1", "Secret") => {
                self.secrets.insert((namespace(), resource.name()));
            }
            ("v1", "Service") => self.secrets.extend(serving_certificate(resource)),
            (_, "Ingress") => self.secrets.extend(ingress_certificates(resource)),
            (version, kind) if is_custom(version) && kind != "Rollout" => {
                self.spoken_of.insert(resource.name());
                super::each_scalar(&resource.node, &mut |_, node| {
                    self.spoken_of.extend(node.as_str().filter(|text| text.len() <= 253));
                });
                if super::cluster::Cluster::new(resource).is_some() {
                    self.databases.push(resource.name());
                }
            }
            _ => {}
        }
    }

    /// Whether something makes, or may make, what `reference` of `workload` names.
    #[must_use]
    pub fn make(&self, workload: &Workload<'_>, reference: &Reference<'_>) -> bool {
        let name = reference.name;
        let key = (workload.resource.current_id().effective_namespace().to_owned(), name);
        let made = match reference.referent {
            Referent::ConfigMap => self.config_maps.contains(&key) || name == "kube-root-ca.crt",
            Referent::Secret => self.secrets.contains(&key) || self.is_of_a_database(name),
        };
        made || self.spoken_of.contains(name)
    }

    /// The Secrets that CloudNativePG makes for a Cluster.
    fn is_of_a_database(&self, name: &str) -> bool {
        let endings = ["-app", "-superuser", "-ca", "-server", "-replication"];
        self.databases.iter().any(|database| {
            name.strip_prefix(database).is_some_and(|ending| endings.contains(&ending))
        })
    }
}

/// The Secret that OpenShift makes for a Service that asks for a serving certificate.
fn serving_certificate(service: &Resource) -> Option<(String, &str)> {
    let entries = service.node.lookup(&["metadata", "annotations"])?.as_map()?.entries();
    let asks = |key: &str| key.ends_with(".openshift.io/serving-cert-secret-name");
    let entry = entries.iter().find(|entry| asks(&entry.key.text))?;
    Some((service.current_id().effective_namespace().to_owned(), entry.value.as_str()?))
}

/// The Secrets that cert-manager makes for an Ingress that names an issuer.
fn ingress_certificates(ingress: &Resource) -> Vec<(String, &str)> {
    let mut annotations = ingress.annotations().into_iter();
    if !annotations.any(|(key, _)| key.starts_with("cert-manager.io/")) {
        return Vec::new();
    }
    let namespace = ingress.current_id().effective_namespace().to_owned();
    let tls = items_at(&ingress.node, &["spec", "tls"]).iter();
    tls.filter_map(|tls| Some((namespace.clone(), text_at(tls, &["secretName"])?))).collect()
}

/// Whether an API version is not Kubernetes' own.
fn is_custom(api_version: &str) -> bool {
    let group = api_version.split_once('/').map_or("", |(group, _)| group);
    group.contains('.') && !group.ends_with(".k8s.io")
}
