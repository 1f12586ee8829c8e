//! What a check may look at: the render, its parts by kind, and what surrounds it.

use std::collections::HashMap;

use super::Check;
use super::finding::{Finding, Place, Spot, Subject};
use super::model::admission::Refusal;
use super::model::application::{Application, Repository};
use super::model::autoscaler::Autoscaler;
use super::model::budget::Budget;
use super::model::claim::Claim;
use super::model::cluster::Cluster;
use super::model::container::Container;
use super::model::image_use::{ImageUse, image_uses};
use super::model::reference::Makers;
use super::model::selector::{Labels, labels_at};
use super::model::workload::Workload;
use super::model::{items_at, text_at, texts_at};
use super::settings::{EXCEPTION_ANNOTATION, Settings};
use crate::kustomize::node::Node;
use crate::kustomize::{Origin, Rendered, Resource, SourceTree};

/// One overlay to check.
#[derive(Clone, Copy)]
pub struct Overlay<'a> {
    /// Its directory, relative to the boundary.
    pub directory: &'a str,
    /// What it renders.
    pub rendered: &'a Rendered,
    /// The files it was rendered from.
    pub tree: &'a SourceTree,
}

/// What a check may look at.
pub struct Context<'a> {
    /// The overlay.
    pub overlay: Overlay<'a>,
    /// All overlays of this run; the first of them also carries what belongs to the repository.
    pub all: &'a [Overlay<'a>],
    /// What the repository decides.
    pub settings: &'a Settings,
    /// What is known of the repository.
    pub repository: &'a Repository,
    /// What the overlay rendered before a change, where it is a change that is checked.
    pub earlier: Option<&'a Rendered>,
    /// The workloads, in the order of the render.
    pub workloads: Vec<Workload<'a>>,
    /// The disruption budgets.
    pub budgets: Vec<Budget<'a>>,
    /// The autoscalers.
    pub autoscalers: Vec<Autoscaler<'a>>,
    /// The CloudNativePG Clusters.
    pub clusters: Vec<Cluster<'a>>,
    /// The claims.
    pub claims: Vec<Claim<'a>>,
    /// Who makes ConfigMaps and Secrets.
    pub makers: Makers<'a>,
    /// The images that containers and operators run.
    pub images: Vec<ImageUse<'a>>,
    /// Objects that except themselves from checks by annotations.
    pub excepting: Vec<&'a Resource>,
    guards: Vec<Vec<usize>>,
    services: Services<'a>,
    config_maps: HashMap<(String, &'a str), &'a Resource>,
}

impl<'a> Context<'a> {
    /// The parts of `overlay`, by kind.
    #[must_use]
    pub fn new(
        overlay: Overlay<'a>,
        all: &'a [Overlay<'a>],
        settings: &'a Settings,
        repository: &'a Repository,
    ) -> Self {
        let resources = &overlay.rendered.resources;
        let workloads: Vec<Workload<'a>> = resources.iter().filter_map(Workload::new).collect();
        let mut budgets: Vec<Budget<'a>> = resources.iter().filter_map(Budget::new).collect();
        let guards = match_budgets(&mut budgets, &workloads);
        Self {
            overlay,
            all,
            settings,
            repository,
            earlier: None,
            workloads,
            budgets,
            guards,
            autoscalers: resources.iter().filter_map(Autoscaler::new).collect(),
            clusters: resources.iter().filter_map(Cluster::new).collect(),
            claims: resources.iter().filter_map(Claim::new).collect(),
            makers: Makers::of(resources),
            images: image_uses(resources),
            excepting: resources.iter().filter(|resource| excepts_itself(resource)).collect(),
            services: Services::of(resources),
            config_maps: resources.iter().rev().filter_map(config_map).collect(),
        }
    }

    /// The overlay's directory as it is shown and typed.
    #[must_use]
    pub fn shown(&self) -> &'a str {
        if self.overlay.directory.is_empty() { "." } else { self.overlay.directory }
    }

    /// `overlay VERB` of this overlay, as a command to paste: names in it are quoted for a shell.
    #[must_use]
    pub fn command(&self, verb: &str, rest: &[&str]) -> String {
        crate::shell::overlay(verb, &self.settings.here.path(self.shown()), rest)
    }

    /// Whether what belongs to the repository is to be said here.
    #[must_use]
    pub fn is_first(&self) -> bool {
        self.all.first().is_none_or(|first| first.directory == self.overlay.directory)
    }

    /// A finding of `check` at `spot`.
    #[must_use]
    pub fn finding(&self, check: &Check, spot: &Spot<'_>, message: String) -> Finding {
        let subject = Subject::of(spot.resource);
        let place = self.place(spot);
        Self::finding_at(check, subject, place, message).about(&spot.field)
    }

    /// A finding of `check` about a value of a Cluster that CloudNativePG refuses.
    #[must_use]
    pub fn refused(&self, check: &Check, refusal: &Refusal<'_>) -> Finding {
        let message = format!(
            "Cluster/{}: {}, which CloudNativePG refuses, so that the whole sync fails",
            refusal.spot.resource.name(),
            refusal.reason,
        );
        self.finding(check, &refusal.spot, message)
    }

    /// A finding of `check` in the kustomization file of the overlay, or in the file at `origin`.
    #[must_use]
    pub fn source_finding(&self, check: &Check, origin: Origin, message: String) -> Finding {
        let place = self.origin_place(origin).unwrap_or_else(|| self.own_file());
        let directory = place.file.rsplit_once('/').map_or("", |(directory, _)| directory);
        let subject = Subject::kustomization(directory);
        Self::finding_at(check, subject, place, message)
    }

    /// A finding of `check` about `subject` at `place`.
    #[must_use]
    pub fn finding_at(check: &Check, subject: Subject, place: Place, message: String) -> Finding {
        Finding {
            id: check.id,
            severity: check.severity,
            message,
            resource: subject,
            field: String::new(),
            location: place,
            fix: None,
        }
    }

    /// The file and line that own the value at `spot`: those of the value, else of the resource,
    /// else the overlay's kustomization file.
    #[must_use]
    pub fn place(&self, spot: &Spot<'_>) -> Place {
        self.origin_place(spot.node.origin)
            .or_else(|| self.origin_place(spot.resource.origin))
            .unwrap_or_else(|| self.own_file())
    }

    fn origin_place(&self, origin: Origin) -> Option<Place> {
        let of_render = self.overlay.rendered.place(origin).map(|(file, _)| file);
        let file = of_render.unwrap_or_else(|| self.overlay.tree.file_table().path(origin.file));
        (!file.is_empty()).then(|| Place { file: file.to_owned(), line: origin.line.max(1) })
    }

    /// The overlay's kustomization file.
    #[must_use]
    pub fn own_file(&self) -> Place {
        let file = self.overlay.tree.kustomization(self.overlay.directory);
        let file = match file {
            Some(file) => file.file.path.to_string(),
            None => format!("{}/kustomization.yaml", self.shown()),
        };
        Place { file, line: 1 }
    }

    /// The workloads that run a number of pods now; one at 0 is off on purpose.
    pub fn running(&self) -> impl Iterator<Item = &Workload<'a>> {
        self.workloads.iter().filter(|workload| workload.is_scaled() && workload.replicas() > 0)
    }

    /// The autoscaler that owns the replicas of `workload`.
    #[must_use]
    pub fn autoscaler(&self, workload: &Workload<'_>) -> Option<&Autoscaler<'a>> {
        self.autoscalers.iter().find(|autoscaler| autoscaler.scales(workload))
    }

    /// The replicas that `workload` has at least when it runs: those of its autoscaler, else its
    /// own. A workload at 0 is off, whatever its autoscaler says.
    #[must_use]
    pub fn least_replicas(&self, workload: &Workload<'_>) -> i64 {
        match (workload.replicas(), self.autoscaler(workload)) {
            (0, _) | (_, None) => workload.replicas(),
            (_, Some(scaler)) => scaler.min.max(1),
        }
    }

    /// The budgets that select the pods of the workload at `position`.
    pub fn budgets_of(&self, position: usize) -> impl Iterator<Item = &Budget<'a>> {
        self.guards[position].iter().map(|index| &self.budgets[*index])
    }

    /// The workloads whose pods `budget` selects.
    pub fn selected<'c>(
        &'c self,
        budget: &'c Budget<'a>,
    ) -> impl Iterator<Item = &'c Workload<'a>> {
        budget.workloads.iter().map(|index| &self.workloads[*index])
    }

    /// The Clusters of whose pods `budget` selects some.
    pub fn selected_clusters<'c>(
        &'c self,
        budget: &'c Budget<'a>,
    ) -> impl Iterator<Item = &'c Cluster<'a>> {
        let is_here = |cluster: &&Cluster<'_>| {
            cluster.resource.current_id().effective_namespace() == budget.namespace
        };
        let is_selected = |cluster: &&Cluster<'_>| cluster.pods_selected_by(&budget.selector) > 0;
        self.clusters.iter().filter(is_here).filter(is_selected)
    }

    /// The pods that `budget` counts on, when everything is healthy.
    #[must_use]
    pub fn expected_pods(&self, budget: &Budget<'a>) -> i64 {
        let scaled = self.selected(budget).filter(|workload| workload.is_scaled());
        let pods: i64 = scaled.map(|workload| self.least_replicas(workload)).sum();
        let clusters = self.selected_clusters(budget);
        pods + clusters.map(|c| c.pods_selected_by(&budget.selector)).sum::<i64>()
    }

    /// The Service that sends requests to the pods of `workload`.
    #[must_use]
    pub fn service(&self, workload: &Workload<'_>) -> Option<&'a Resource> {
        self.services.selecting(workload)
    }

    /// The ConfigMap `name` in the namespace of `workload`.
    #[must_use]
    pub fn config_map(&self, workload: &Workload<'_>, name: &str) -> Option<&'a Resource> {
        self.config_maps.get(&(workload.namespace.clone(), name)).copied()
    }

    /// The variables of `container` whose values the render shows, the ones that win last: from
    /// whole ConfigMaps, then its own.
    #[must_use]
    pub fn environment(
        &self,
        workload: &Workload<'a>,
        container: &Container<'a>,
    ) -> Vec<(&'a str, &'a str, Spot<'a>)> {
        let mut found = Vec::new();
        for item in items_at(container.node, &["envFrom"]) {
            let name = text_at(item, &["configMapRef", "name"]);
            let has_prefix = text_at(item, &["prefix"]).is_some();
            let map = name.filter(|_| !has_prefix).and_then(|name| self.config_map(workload, name));
            if let Some(map) = map {
                let keys = texts_at(&map.node, &["data"]).into_iter();
                found.extend(keys.map(|(k, v)| (k, v, Spot::at(map, &["data", k]))));
            }
        }
        for item in items_at(container.node, &["env"]) {
            let Some(name) = text_at(item, &["name"]) else { continue };
            if let Some(value) = item.get("value") {
                let field = format!("{}.env.[name={name}].value", container.path);
                let spot = Spot::of(container.resource, value, field);
                found.push((name, value.as_str().unwrap_or_default(), spot));
            } else if let Some(from) = item.lookup(&["valueFrom", "configMapKeyRef"]) {
                let map = text_at(from, &["name"]).and_then(|name| self.config_map(workload, name));
                let value = text_at(from, &["key"])
                    .and_then(|key| Some((key, text_at(&map?.node, &["data", key])?)));
                if let (Some(map), Some((key, value))) = (map, value) {
                    found.push((name, value, Spot::at(map, &["data", key])));
                }
            }
        }
        found
    }

    /// The Applications that deploy this overlay, with their source.
    #[must_use]
    pub fn applications(&self) -> Vec<&'a Application> {
        let deploys = |application: &&Application| {
            application.sources().iter().any(|source| {
                source.path == self.overlay.directory && self.repository.is_own(source.repository)
            })
        };
        self.repository.applications.iter().filter(deploys).collect()
    }
}

/// Fills in the workloads that each budget selects, and gives the budgets of each workload.
fn match_budgets(budgets: &mut [Budget<'_>], workloads: &[Workload<'_>]) -> Vec<Vec<usize>> {
    let mut by_label: HashMap<(&str, &str), Vec<usize>> = HashMap::new();
    for (index, workload) in workloads.iter().enumerate() {
        for (key, value) in &workload.labels {
            by_label.entry((*key, *value)).or_default().push(index);
        }
    }
    let everybody: Vec<usize> = (0..workloads.len()).collect();
    let mut guards = vec![Vec::new(); workloads.len()];
    for (number, budget) in budgets.iter_mut().enumerate() {
        let candidates = match budget.selector.needed_label() {
            Some(label) => by_label.get(&label).map_or(&[][..], Vec::as_slice),
            None => &everybody,
        };
        let is_selected = |workload: &Workload<'_>| {
            budget.namespace == workload.namespace && budget.selector.matches(&workload.labels)
        };
        let selected = candidates.iter().copied().filter(|index| is_selected(&workloads[*index]));
        budget.workloads = selected.collect();
        budget.workloads.iter().for_each(|index| guards[*index].push(number));
    }
    guards
}

fn excepts_itself(resource: &Resource) -> bool {
    let annotations = resource.node.lookup(&["metadata", "annotations"]).and_then(Node::as_map);
    annotations.is_some_and(|map| {
        map.entries().iter().any(|entry| entry.key.text.starts_with(EXCEPTION_ANNOTATION))
    })
}

/// A ConfigMap by namespace and name.
fn config_map(resource: &Resource) -> Option<((String, &str), &Resource)> {
    let is_one = resource.kind() == "ConfigMap" && resource.api_version() == "v1";
    let namespace = || resource.current_id().effective_namespace().to_owned();
    is_one.then(|| ((namespace(), resource.name()), resource))
}

/// The Services that select pods, found by a label that they select.
#[derive(Default)]
struct Services<'a> {
    all: Vec<Service<'a>>,
    by_label: HashMap<(&'a str, &'a str), Vec<usize>>,
}

struct Service<'a> {
    resource: &'a Resource,
    namespace: String,
    selector: Labels<'a>,
}

impl<'a> Services<'a> {
    fn of(resources: &'a [Resource]) -> Self {
        let mut services = Self::default();
        let is_service = |r: &&Resource| r.kind() == "Service" && r.api_version() == "v1";
        for resource in resources.iter().filter(is_service) {
            let selector = labels_at(&resource.node, &["spec", "selector"]);
            let Some((key, value)) = selector.first_key_value() else { continue };
            services.by_label.entry((key, value)).or_default().push(services.all.len());
            let namespace = resource.current_id().effective_namespace().to_owned();
            services.all.push(Service { resource, namespace, selector });
        }
        services
    }

    /// The first Service that selects the pods of `workload`.
    fn selecting(&self, workload: &Workload<'_>) -> Option<&'a Resource> {
        let candidates = workload.labels.iter().filter_map(|(k, v)| self.by_label.get(&(*k, *v)));
        let fits = |index: &&usize| {
            let service = &self.all[**index];
            let has = |(key, value): (&&str, &&str)| workload.labels.get(key) == Some(value);
            service.namespace == workload.namespace && service.selector.iter().all(has)
        };
        let first = candidates.flatten().filter(fits).min()?;
        Some(self.all[*first].resource)
    }
}
