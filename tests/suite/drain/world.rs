//! A cluster in small that executes the commands of a plan and notes what goes wrong. It knows nothing of the planner: it
//! reads the dump itself, and budgets, evictions and placement are written here once more, from Kubernetes' rules.
//!
//! Time is stingy: a pod that comes to a node is ready only when a command waits for it, or an eviction is tried again.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::kubectl::{self, Command, Selector};
use super::scheduler::Scheduler;

type Labels = BTreeMap<String, String>;

#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) name: String,
    pub(super) labels: Labels,
    pub(super) free: (i64, i64, i64),
    pub(super) is_open: bool,
}

impl Node {
    pub(crate) fn is_open(&self) -> bool {
        self.is_open
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Pod {
    pub(super) namespace: String,
    pub(crate) name: String,
    pub(super) labels: Labels,
    /// Kind in lower case and name.
    pub(crate) owner: Option<(String, String)>,
    pub(crate) node: Option<usize>,
    pub(super) ready: bool,
    pub(super) over: bool,
    pub(super) request: (i64, i64),
    pub(super) claims: Vec<String>,
    pub(super) zone: Option<String>,
    /// A label of pods that no node of it may have, by anti-affinity.
    pub(super) apart: Option<(String, String)>,
    /// A topology key, and a label that a pod of the place has to have, by affinity.
    pub(super) near: Option<(String, (String, String))>,
    /// A topology key, how uneven the pods with a label may lie over its places, and the label.
    pub(super) spread: Option<(String, i64, (String, String))>,
}

#[derive(Clone, Debug)]
struct Budget {
    namespace: String,
    name: String,
    labels: Labels,
    min: Option<Value>,
    max: Option<Value>,
}

#[derive(Clone)]
pub(crate) struct World {
    pub(crate) scheduler: Scheduler,
    pub(crate) nodes: Vec<Node>,
    pub(crate) pods: Vec<Pod>,
    budgets: Vec<Budget>,
    pub(super) scales: BTreeMap<(String, String, String), usize>,
    /// Workloads (namespace, kind, name) of which one pod has to be ready at any time.
    watched: Vec<(String, String, String)>,
    named: Vec<(String, String, Selector)>,
    made: usize,
    /// Whether a pod has ever been without a place.
    pub(crate) was_short: bool,
    pub(crate) faults: Vec<String>,
}

pub(crate) fn quantity(text: &str) -> f64 {
    let at = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let number: f64 = text[..at].parse().unwrap();
    number
        * match &text[at..] {
            "m" => 0.001,
            "" => 1.0,
            "Ki" => 1024.0,
            "Mi" => 1024.0 * 1024.0,
            "Gi" => 1024.0 * 1024.0 * 1024.0,
            other => panic!("{other}"),
        }
}

fn amounts(value: &Value) -> (i64, i64) {
    let of = |key: &str, scale: f64| {
        value[key].as_str().map_or(0, |text| (quantity(text) * scale).round() as i64)
    };
    (of("cpu", 1000.0), of("memory", 1.0))
}

fn labels_of(value: &Value) -> Labels {
    let map = value.as_object().into_iter().flatten();
    map.map(|(key, value)| (key.clone(), value.as_str().unwrap().to_owned())).collect()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

impl World {
    pub(crate) fn new(dump: &Value) -> Self {
        let items = dump["items"].as_array().unwrap();
        let of = |kind: &'static str| items.iter().filter(move |item| item["kind"] == kind);
        let nodes: Vec<Node> = of("Node")
            .map(|node| {
                let (cpu, memory) = amounts(&node["status"]["allocatable"]);
                let pods = quantity(node["status"]["allocatable"]["pods"].as_str().unwrap()) as i64;
                Node {
                    name: text(&node["metadata"]["name"]),
                    labels: labels_of(&node["metadata"]["labels"]),
                    free: (cpu, memory, pods),
                    is_open: node["spec"]["unschedulable"] != true,
                }
            })
            .collect();
        let zones: BTreeMap<String, String> = of("PersistentVolume")
            .filter_map(|volume| {
                let term = &volume["spec"]["nodeAffinity"]["required"]["nodeSelectorTerms"][0];
                let zone = term["matchExpressions"][0]["values"][0].as_str()?;
                Some((text(&volume["metadata"]["name"]), zone.to_owned()))
            })
            .collect();
        let claims: BTreeMap<(String, String), String> = of("PersistentVolumeClaim")
            .map(|claim| {
                let meta = &claim["metadata"];
                let key = (text(&meta["namespace"]), text(&meta["name"]));
                (key, text(&claim["spec"]["volumeName"]))
            })
            .collect();
        let mut world = Self {
            scheduler: Scheduler::MostLeft,
            pods: of("Pod").map(|pod| read_pod(pod, &nodes, &claims, &zones)).collect(),
            nodes,
            budgets: of("PodDisruptionBudget").map(read_budget).collect(),
            scales: BTreeMap::new(),
            watched: Vec::new(),
            named: Vec::new(),
            made: 0,
            was_short: false,
            faults: Vec::new(),
        };
        for kind in ["Deployment", "StatefulSet", "Cluster"] {
            for item in of(kind) {
                let field = if kind == "Cluster" { "instances" } else { "replicas" };
                let meta = &item["metadata"];
                let key =
                    (text(&meta["namespace"]), kind.to_ascii_lowercase(), text(&meta["name"]));
                world.scales.insert(key, item["spec"][field].as_u64().unwrap() as usize);
            }
        }
        for pod in world.pods.clone() {
            if let Some(node) = pod.node.filter(|_| !pod.over) {
                world.use_node(node, pod.request, -1);
            }
        }
        let all: Vec<_> = world.scales.keys().cloned().collect();
        world.watched = all.into_iter().filter(|id| world.ready_of(id) > 1).collect();
        world
    }

    /// Pods that must never all be down, beside the replicas of every workload.
    pub(crate) fn watch(&mut self, name: &str, namespace: &str, selector: &str) {
        let selector = Selector::parse(selector);
        self.named.push((name.to_owned(), namespace.to_owned(), selector));
    }

    fn use_node(&mut self, node: usize, request: (i64, i64), sign: i64) {
        let free = &mut self.nodes[node].free;
        *free = (free.0 + sign * request.0, free.1 + sign * request.1, free.2 + sign);
        if sign < 0 && (free.0 < 0 || free.1 < 0 || free.2 < 0) {
            self.faults.push(format!("{} holds more than it has", self.nodes[node].name));
        }
    }

    /// Puts a pod that has no node on one.
    pub(super) fn put(&mut self, at: usize, node: usize) {
        self.pods[at].node = Some(node);
        self.use_node(node, self.pods[at].request, -1);
    }

    /// Takes a pod off its node, if it has one.
    pub(super) fn lift(&mut self, at: usize) {
        if let Some(node) = self.pods[at].node.take() {
            self.use_node(node, self.pods[at].request, 1);
        }
    }

    pub(super) fn is_of(&self, at: usize, id: &(String, String, String)) -> bool {
        let pod = &self.pods[at];
        let owner = pod.owner.as_ref();
        !pod.over
            && pod.namespace == id.0
            && owner.is_some_and(|(kind, name)| *kind == id.1 && *name == id.2)
    }

    fn ready_of(&self, id: &(String, String, String)) -> usize {
        (0..self.pods.len()).filter(|at| self.is_of(*at, id) && self.pods[*at].ready).count()
    }

    pub(super) fn fits(&self, pod: &Pod, at: usize) -> bool {
        let node = &self.nodes[at];
        let zone = node.labels.get("topology.kubernetes.io/zone");
        let here = || self.pods.iter().filter(|other| other.node == Some(at) && !other.over);
        node.is_open
            && node.free.0 >= pod.request.0
            && node.free.1 >= pod.request.1
            && node.free.2 > 0
            && pod.zone.as_ref().is_none_or(|wanted| zone == Some(wanted))
            && here().all(|other| !pod.repels(other) && !other.repels(pod))
            && self.is_near(pod, at)
            && self.is_even(pod, at)
    }

    /// How many pods with a label, of the pod's namespace, are in each place of a topology key.
    fn counts(&self, pod: &Pod, key: &str, label: &(String, String)) -> BTreeMap<String, i64> {
        let places = self.nodes.iter().filter_map(|node| node.labels.get(key).cloned());
        let mut counts: BTreeMap<String, i64> = places.map(|place| (place, 0)).collect();
        for other in self.pods.iter().filter(|other| !other.over && other.has(label)) {
            let place = other.node.and_then(|node| self.nodes[node].labels.get(key));
            if let Some(place) = place.filter(|_| other.namespace == pod.namespace) {
                *counts.get_mut(place).unwrap() += 1;
            }
        }
        counts
    }

    /// Affinity: there is such a pod in the place, or there is none at all and this is one itself.
    fn is_near(&self, pod: &Pod, at: usize) -> bool {
        let Some((key, label)) = &pod.near else { return true };
        let counts = self.counts(pod, key, label);
        let is_first = counts.values().all(|count| *count == 0) && pod.has(label);
        self.nodes[at].labels.get(key).is_some_and(|place| is_first || counts[place] > 0)
    }

    /// A spread: with it the place has no more than so many above the place with the fewest, closed nodes counted.
    fn is_even(&self, pod: &Pod, at: usize) -> bool {
        let Some((key, skew, label)) = &pod.spread else { return true };
        let counts = self.counts(pod, key, label);
        let fewest = counts.values().min().copied().unwrap_or(0);
        let own = i64::from(pod.has(label));
        self.nodes[at].labels.get(key).is_some_and(|place| counts[place] + own - fewest <= *skew)
    }

    /// Pods without a node come to an open node that fits.
    fn schedule(&mut self) {
        for at in 0..self.pods.len() {
            if self.pods[at].node.is_some() || self.pods[at].over {
                continue;
            }
            let pod = &self.pods[at];
            let takers: Vec<usize> =
                (0..self.nodes.len()).filter(|node| self.fits(pod, *node)).collect();
            let request = pod.request;
            let left = |node: &usize| {
                let free = self.nodes[*node].free;
                (free.1 - request.1) + (free.0 - request.0) * 4_000_000
            };
            let Some(node) = self.scheduler.choose(&takers, left) else {
                self.was_short = true;
                continue;
            };
            self.put(at, node);
        }
    }

    /// Pods that have come to a node become ready, unless they wait for a volume that another node holds.
    fn settle(&mut self, chosen: impl Fn(&Self, usize) -> bool) {
        for at in 0..self.pods.len() {
            let pod = &self.pods[at];
            if pod.ready || pod.over || pod.node.is_none() || !chosen(self, at) {
                continue;
            }
            let elsewhere = self.pods.iter().find(|other| {
                !other.over && other.node.is_some() && other.node != pod.node && other.shares(pod)
            });
            match elsewhere {
                Some(other) => {
                    let fault =
                        format!("{} and {} wait for one volume on two nodes", pod.name, other.name);
                    self.faults.push(fault);
                }
                None => self.pods[at].ready = true,
            }
        }
    }

    /// The pod goes; what makes it anew makes another one, which has no node yet.
    fn remove(&mut self, at: usize) {
        let mut pod = self.pods.remove(at);
        if let Some(node) = pod.node.take().filter(|_| !pod.over) {
            self.use_node(node, pod.request, 1);
        }
        let anew = pod.owner.as_ref().filter(|(kind, _)| kind != "job" && !pod.over);
        if let Some((kind, name)) = anew {
            self.made += 1;
            if kind == "deployment" {
                pod.name = format!("{name}-anew-{}", self.made);
            }
            pod.ready = false;
            self.pods.push(pod);
        }
        self.schedule();
        self.see_pairs();
    }

    fn see_pairs(&mut self) {
        for id in self.watched.clone() {
            if self.ready_of(&id) == 0 {
                self.faults.push(format!("{}/{} in {} is down as a whole", id.1, id.2, id.0));
            }
        }
        for (name, namespace, selector) in self.named.clone() {
            let is_one = |pod: &&Pod| {
                pod.namespace == namespace
                    && selector.matches(|key| pod.labels.get(key).map(String::as_str))
            };
            if !self.pods.iter().filter(is_one).any(|pod| pod.ready) {
                self.faults.push(format!("the pair {name} is down as a whole"));
            }
        }
    }

    fn budgets_of(&self, at: usize) -> Vec<usize> {
        let pod = &self.pods[at];
        let selects = |budget: &Budget| {
            budget.namespace == pod.namespace
                && budget.labels.iter().all(|(key, value)| pod.labels.get(key) == Some(value))
        };
        (0..self.budgets.len()).filter(|budget| selects(&self.budgets[*budget])).collect()
    }

    /// The disruption controller's arithmetic: shares round up; whole minimums count the pods that there are.
    fn allowed(&self, budget: usize) -> i64 {
        let pods: Vec<usize> = (0..self.pods.len())
            .filter(|at| !self.pods[*at].over && self.budgets_of(*at).contains(&budget))
            .collect();
        let budget = &self.budgets[budget];
        let mut owners: BTreeSet<(String, String, String)> = BTreeSet::new();
        for pod in pods.iter().map(|at| &self.pods[*at]) {
            let owner = pod.owner.clone().unwrap_or_default();
            owners.insert((pod.namespace.clone(), owner.0, owner.1));
        }
        let scale: usize = owners.iter().map(|id| self.scales.get(id).copied().unwrap_or(1)).sum();
        let share = |value: &Value, of: usize| match value {
            Value::Number(number) => number.as_i64().unwrap(),
            value => {
                let percent: i64 = value.as_str().unwrap().trim_end_matches('%').parse().unwrap();
                (percent * of as i64 + 99) / 100
            }
        };
        let desired = match (&budget.min, &budget.max) {
            (Some(min), _) => share(min, scale),
            (None, Some(max)) => (scale as i64 - share(max, scale)).max(0),
            (None, None) => 0,
        };
        let healthy = pods.iter().filter(|at| self.pods[**at].ready).count() as i64;
        (healthy - desired).max(0)
    }

    /// The operator of databases makes another ready instance, on a node that is open, the primary.
    fn switch_over(&mut self) {
        for at in 0..self.pods.len() {
            let pod = &self.pods[at];
            let is_primary =
                pod.labels.get("cnpg.io/instanceRole").map(String::as_str) == Some("primary");
            let is_held = pod.node.is_some_and(|node| !self.nodes[node].is_open);
            if !is_primary || !is_held {
                continue;
            }
            let cluster = pod.labels["cnpg.io/cluster"].clone();
            let namespace = pod.namespace.clone();
            let heir = (0..self.pods.len()).find(|other| {
                let other = &self.pods[*other];
                other.namespace == namespace
                    && other.labels.get("cnpg.io/cluster") == Some(&cluster)
                    && other.ready
                    && other.node.is_some_and(|node| self.nodes[node].is_open)
            });
            if let Some(heir) = heir {
                for (at, role) in [(at, "replica"), (heir, "primary")] {
                    self.pods[at].labels.insert("cnpg.io/instanceRole".into(), role.into());
                }
            }
        }
    }

    fn drain(&mut self, node: &str, selector: &Selector) {
        let Some(number) = self.nodes.iter().position(|known| known.name == node) else {
            self.faults.push(format!("no node {node}"));
            return;
        };
        self.nodes[number].is_open = false;
        loop {
            let is_here = |pod: &Pod| {
                let is_daemon = pod.owner.as_ref().is_some_and(|(kind, _)| kind == "daemonset");
                pod.node == Some(number)
                    && !is_daemon
                    && selector.matches(|key| pod.labels.get(key).map(String::as_str))
            };
            let mut here: Vec<(String, String)> = self
                .pods
                .iter()
                .filter(|pod| is_here(pod))
                .map(|pod| (pod.namespace.clone(), pod.name.clone()))
                .collect();
            if here.is_empty() {
                return;
            }
            self.scheduler.arrange(&mut here);
            let mut went = false;
            for (namespace, name) in here {
                let find =
                    |pod: &Pod| pod.namespace == namespace && pod.name == name && is_here(pod);
                let Some(at) = self.pods.iter().position(find) else { continue };
                if self.pods[at].owner.is_none() && !self.pods[at].over {
                    self.faults
                        .push(format!("kubectl drain refuses {name}, which nothing makes anew"));
                    return;
                }
                let budgets = self.budgets_of(at);
                if budgets.len() > 1 && !self.pods[at].over {
                    self.faults.push(format!("{name} has two budgets: its eviction always fails"));
                    return;
                }
                if budgets.iter().all(|budget| self.allowed(*budget) > 0) || self.pods[at].over {
                    self.remove(at);
                    went = true;
                }
            }
            // kubectl tries again every five seconds, and meanwhile pods become ready.
            if !went {
                let before = self.pods.iter().filter(|pod| pod.ready).count();
                self.schedule();
                self.settle(|_, _| true);
                let roles = |world: &Self| -> Vec<Labels> {
                    world.pods.iter().map(|pod| pod.labels.clone()).collect()
                };
                let old = roles(self);
                self.switch_over();
                let is_same = before == self.pods.iter().filter(|pod| pod.ready).count();
                if is_same && old == roles(self) {
                    let names: Vec<String> = self
                        .pods
                        .iter()
                        .filter(|pod| is_here(pod))
                        .flat_map(|pod| {
                            let at = self.pods.iter().position(|p| p.name == pod.name).unwrap();
                            self.budgets_of(at).into_iter().map(move |b| (pod.name.clone(), b))
                        })
                        .map(|(name, budget)| format!("{name} ({})", self.budgets[budget].name))
                        .collect();
                    self.faults.push(format!("the drain of {node} hangs: {}", names.join(", ")));
                    return;
                }
            }
        }
    }

    pub(crate) fn run(&mut self, line: &str) {
        match kubectl::parse(line) {
            Command::Cordon(nodes) => self.open(&nodes, false),
            Command::Uncordon(nodes) => {
                self.open(&nodes, true);
                self.schedule();
            }
            Command::Drain { node, selector } => self.drain(&node, &selector),
            Command::Delete { namespace, pods } => {
                for name in pods {
                    let find = |pod: &Pod| pod.namespace == namespace && pod.name == name;
                    match self.pods.iter().position(find) {
                        Some(at) => self.remove(at),
                        None => self.faults.push(format!("there is no pod {namespace}/{name}")),
                    }
                }
            }
            Command::Wait(namespace, kind, name, ready) => {
                let id = (namespace, kind, name);
                self.schedule();
                self.settle(|world, at| world.is_of(at, &id));
                if self.ready_of(&id) < ready && !self.lacks_a_place(&id) {
                    self.faults.push(format!("{line}: {} are ready", self.ready_of(&id)));
                }
            }
            Command::WaitPods(namespace, selector, count) => {
                self.schedule();
                let is_one = |pod: &Pod| {
                    pod.namespace == namespace
                        && !pod.over
                        && selector.matches(|key| pod.labels.get(key).map(String::as_str))
                };
                self.settle(|world, at| is_one(&world.pods[at]));
                let own = self.pods.iter().filter(|pod| is_one(pod));
                let (ready, homeless) = own.fold((0, false), |(ready, homeless), pod| {
                    (ready + usize::from(pod.ready), homeless || pod.node.is_none())
                });
                if ready < count && !homeless {
                    self.faults.push(format!("{line}: {ready} are ready"));
                }
            }
            Command::Set(kind, name, number) => self.scale(kind, &name, number),
            Command::Look => {}
        }
        self.see_pairs();
        self.faults.dedup();
    }

    fn lacks_a_place(&self, id: &(String, String, String)) -> bool {
        (0..self.pods.len()).any(|at| self.is_of(at, id) && self.pods[at].node.is_none())
    }

    fn open(&mut self, names: &[String], is_open: bool) {
        for name in names {
            match self.nodes.iter_mut().find(|node| node.name == *name) {
                Some(node) => node.is_open = is_open,
                None => self.faults.push(format!("no node {name}")),
            }
        }
    }

    fn scale(&mut self, kind: Option<String>, name: &str, number: usize) {
        let kind = kind.unwrap_or_else(|| "cluster".to_owned());
        let Some(id) = self.scales.keys().find(|id| id.1 == kind && id.2 == name).cloned() else {
            self.faults.push(format!("no {kind} {name}"));
            return;
        };
        self.scales.insert(id.clone(), number);
        let own = |world: &Self| -> Vec<usize> {
            (0..world.pods.len()).filter(|at| world.is_of(*at, &id)).collect()
        };
        while own(self).len() < number {
            self.made += 1;
            let mut pod = self.pods[own(self)[0]].clone();
            pod.name = format!("{name}-more-{}", self.made);
            (pod.node, pod.ready) = (None, false);
            if kind == "cluster" {
                pod.labels.insert("cnpg.io/instanceRole".into(), "replica".into());
                // Each instance has a volume of its own.
                pod.claims = vec![pod.name.clone()];
            }
            self.pods.push(pod);
            self.schedule();
        }
        while own(self).len() > number {
            let is_primary = |at: &usize| {
                self.pods[*at].labels.get("cnpg.io/instanceRole").map(String::as_str)
                    == Some("primary")
            };
            let goes = own(self).into_iter().rev().find(|at| !is_primary(at)).unwrap();
            let pod = self.pods.remove(goes);
            if let Some(node) = pod.node {
                self.use_node(node, pod.request, 1);
            }
        }
        self.schedule();
    }

    /// What is left on a node but daemons.
    pub(crate) fn left_on(&self, node: &str) -> Vec<String> {
        let is_there = |pod: &&Pod| pod.node.is_some_and(|at| self.nodes[at].name == node);
        let is_daemon = |pod: &Pod| pod.owner.as_ref().is_some_and(|(kind, _)| kind == "daemonset");
        let here = self.pods.iter().filter(is_there).filter(|pod| !is_daemon(pod));
        here.map(|pod| pod.name.clone()).collect()
    }

    /// Pods without a node, and whether a node that is not `old` would take each.
    pub(crate) fn without_place(&self, old: &[String]) -> Vec<(Pod, bool)> {
        let mut opened = self.clone();
        for node in &mut opened.nodes {
            node.is_open = !old.contains(&node.name);
        }
        let homeless = self.pods.iter().filter(|pod| pod.node.is_none() && !pod.over);
        let placeable = |pod: &Pod| (0..self.nodes.len()).any(|node| opened.fits(pod, node));
        homeless.map(|pod| (pod.clone(), placeable(pod))).collect()
    }
}

impl Pod {
    fn repels(&self, other: &Self) -> bool {
        let wanted = self.apart.as_ref();
        self.namespace == other.namespace
            && wanted.is_some_and(|(key, value)| other.labels.get(key) == Some(value))
    }

    fn has(&self, (key, value): &(String, String)) -> bool {
        self.labels.get(key) == Some(value)
    }

    /// Whether it mounts a volume of the other one.
    pub(super) fn shares(&self, other: &Self) -> bool {
        self.namespace == other.namespace && self.claims.iter().any(|c| other.claims.contains(c))
    }

    /// Its namespace and name.
    pub(crate) fn shown(&self) -> String {
        format!("{}/{}", self.namespace, self.name)
    }
}

fn read_pod(
    pod: &Value,
    nodes: &[Node],
    claims: &BTreeMap<(String, String), String>,
    zones: &BTreeMap<String, String>,
) -> Pod {
    let (meta, spec) = (&pod["metadata"], &pod["spec"]);
    let labels = labels_of(&meta["labels"]);
    let owner = meta["ownerReferences"][0].as_object().map(|owner| {
        let (kind, name) = (text(&owner["kind"]), text(&owner["name"]));
        match labels.get("pod-template-hash") {
            Some(hash) => {
                ("deployment".to_owned(), name.trim_end_matches(&format!("-{hash}")).to_owned())
            }
            None => (kind.to_ascii_lowercase(), name),
        }
    });
    let namespace = text(&meta["namespace"]);
    let volumes = spec["volumes"].as_array().into_iter().flatten();
    let own: Vec<String> = volumes
        .filter_map(|volume| volume["persistentVolumeClaim"]["claimName"].as_str())
        .map(str::to_owned)
        .collect();
    let zone = own
        .iter()
        .find_map(|claim| zones.get(claims.get(&(namespace.clone(), claim.clone()))?).cloned());
    let conditions = pod["status"]["conditions"].as_array().into_iter().flatten();
    let requests = spec["containers"].as_array().unwrap().iter();
    let request = requests.fold((0, 0), |sum, container| {
        let more = amounts(&container["resources"]["requests"]);
        (sum.0 + more.0, sum.1 + more.1)
    });
    let node = text(&spec["nodeName"]);
    let first = |kind: &str| {
        let path = format!("/affinity/{kind}/requiredDuringSchedulingIgnoredDuringExecution/0");
        spec.pointer(&path)
    };
    let label =
        |term: &Value| labels_of(&term["labelSelector"]["matchLabels"]).into_iter().next().unwrap();
    let apart = first("podAntiAffinity").map(|term| {
        assert_eq!(term["topologyKey"], "kubernetes.io/hostname");
        label(term)
    });
    let near = first("podAffinity").map(|term| (text(&term["topologyKey"]), label(term)));
    let spread = spec.pointer("/topologySpreadConstraints/0").map(|spread| {
        (text(&spread["topologyKey"]), spread["maxSkew"].as_i64().unwrap(), label(spread))
    });
    Pod {
        name: text(&meta["name"]),
        owner,
        node: nodes.iter().position(|known| known.name == node),
        ready: conditions.into_iter().any(|c| c["type"] == "Ready" && c["status"] == "True"),
        over: ["Succeeded", "Failed"].contains(&pod["status"]["phase"].as_str().unwrap()),
        request,
        claims: own,
        zone,
        labels,
        namespace,
        apart,
        near,
        spread,
    }
}

fn read_budget(budget: &Value) -> Budget {
    let spec = &budget["spec"];
    let amount = |key: &str| spec.get(key).cloned();
    Budget {
        namespace: text(&budget["metadata"]["namespace"]),
        name: text(&budget["metadata"]["name"]),
        labels: labels_of(&spec["selector"]["matchLabels"]),
        min: amount("minAvailable"),
        max: amount("maxUnavailable"),
    }
}
