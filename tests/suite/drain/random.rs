//! Small clusters by chance: the plan of each is executed by the world of `world.rs`, which finds nothing wrong.

use serde_json::{Value, json};

use super::placing::Placing;
use super::scheduler::Scheduler;
use super::world::{Pod, World};
use crate::support::random::Random;
use overlay::drain::{self, Databases, Obstacle, Options, PlanError, Rules, State};

pub(crate) struct Cluster {
    items: Vec<Value>,
    pub(crate) old: Vec<String>,
    new: Vec<String>,
    /// What is left of each old node: millicores, MiB.
    room: Vec<(u64, u64)>,
    zones: Vec<&'static str>,
}

const NAMESPACES: [&str; 2] = ["front", "back"];

impl Cluster {
    pub(crate) fn random(dice: &mut Random) -> Self {
        let zones = if dice.below(5_u64) == 0 { vec!["az-1", "az-2"] } else { vec!["az-1"] };
        let mut cluster =
            Self { items: Vec::new(), old: Vec::new(), new: Vec::new(), room: Vec::new(), zones };
        let (old, new) = (2 + dice.below(4), 1 + dice.below(4));
        let size = 2000 + 1000 * dice.below(6);
        for number in 0..old {
            let zone = *dice.pick(&cluster.zones);
            cluster.node(&format!("old-{number}"), 2000, 4000, zone);
            cluster.room.push((2000, 4000));
        }
        for number in 0..new {
            let zone = *dice.pick(&cluster.zones);
            cluster.node(&format!("new-{number}"), 4000, size, zone);
        }
        for number in 0..2 + dice.below(8) {
            cluster.deployment(dice, number);
        }
        for number in 0..dice.below(3) {
            cluster.stateful(dice, number);
        }
        for number in 0..dice.below(3) {
            cluster.database(dice, number);
        }
        if dice.below(3_u64) == 0 {
            cluster.shared(dice);
        }
        if dice.below(6_u64) == 0 {
            cluster.pod(
                dice,
                "front",
                "by-hand",
                None,
                json!({"app": "by-hand"}),
                (50, 50),
                &[],
                true,
            );
        }
        cluster
    }

    /// Pods of others on the new nodes, and replicas that keep apart.
    pub(crate) fn crowd(&mut self, dice: &mut Random) {
        for number in 0..dice.below(4) {
            let node = dice.pick(&self.new).clone();
            let (cpu, memory) = Self::request(dice);
            self.items.push(json!({
                "apiVersion": "v1", "kind": "Pod",
                "metadata": {"namespace": "front", "name": format!("here-{number}-0"), "labels": {"app": format!("here-{number}")},
                    "ownerReferences": [{"kind": "StatefulSet", "name": format!("here-{number}"), "controller": true}]},
                "spec": {"nodeName": node, "containers": [{"name": "main", "image": "i",
                    "resources": {"requests": {"cpu": format!("{cpu}m"), "memory": format!("{}Mi", memory.min(1800))}}}]},
                "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]},
            }));
        }
        for number in (0..10).filter(|_| dice.below(4_u64) == 0).collect::<Vec<_>>() {
            let app = format!("app-{number}");
            let term = json!({"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"app": app}}});
            let is_its = |item: &&mut Value| {
                item["kind"] == "Pod" && item["metadata"]["labels"]["app"] == app.as_str()
            };
            for pod in self.items.iter_mut().filter(is_its) {
                pod["spec"]["affinity"]["podAntiAffinity"] =
                    json!({"requiredDuringSchedulingIgnoredDuringExecution": [term]});
            }
        }
    }

    pub(crate) fn dump(&self) -> Value {
        json!({"apiVersion": "v1", "kind": "List", "items": self.items})
    }

    fn node(&mut self, name: &str, cpu: u64, memory: u64, zone: &str) {
        self.items.push(json!({
            "apiVersion": "v1", "kind": "Node",
            "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name, "topology.kubernetes.io/zone": zone, "pool": name.split('-').next()}},
            "spec": {},
            "status": {
                "allocatable": {"cpu": format!("{cpu}m"), "memory": format!("{memory}Mi"), "pods": "30"},
                "conditions": [{"type": "Ready", "status": "True"}],
            },
        }));
        let list = if name.starts_with("old") { &mut self.old } else { &mut self.new };
        list.push(name.to_owned());
    }

    fn zone_of(&self, node: &str) -> Value {
        let is_it = |item: &&Value| item["kind"] == "Node" && item["metadata"]["name"] == node;
        self.items.iter().find(is_it).unwrap()["metadata"]["labels"]["topology.kubernetes.io/zone"]
            .clone()
    }

    /// Puts a pod on an old node with room; where none has any there is no such pod.
    #[allow(clippy::too_many_arguments)]
    fn pod(
        &mut self,
        dice: &mut Random,
        namespace: &str,
        name: &str,
        owner: Option<(&str, &str)>,
        labels: Value,
        request: (u64, u64),
        claims: &[String],
        is_ready: bool,
    ) -> Option<String> {
        let fits = |at: &usize| self.room[*at].0 >= request.0 && self.room[*at].1 >= request.1;
        let able: Vec<usize> = (0..self.room.len()).filter(fits).collect();
        if able.is_empty() {
            return None;
        }
        let at = *dice.pick(&able);
        self.pod_on(at, namespace, name, owner, labels, request, claims, is_ready);
        Some(self.old[at].clone())
    }

    #[allow(clippy::too_many_arguments)]
    fn pod_on(
        &mut self,
        at: usize,
        namespace: &str,
        name: &str,
        owner: Option<(&str, &str)>,
        labels: Value,
        request: (u64, u64),
        claims: &[String],
        is_ready: bool,
    ) {
        self.room[at].0 -= request.0;
        self.room[at].1 -= request.1;
        let owners: Vec<Value> = owner
            .iter()
            .map(|(kind, name)| json!({"kind": kind, "name": name, "controller": true}))
            .collect();
        let volumes: Vec<Value> = claims
            .iter()
            .map(|claim| json!({"name": claim, "persistentVolumeClaim": {"claimName": claim}}))
            .collect();
        self.items.push(json!({
            "apiVersion": "v1", "kind": "Pod",
            "metadata": {"namespace": namespace, "name": name, "labels": labels, "ownerReferences": owners},
            "spec": {
                "nodeName": self.old[at],
                "containers": [{"name": "main", "image": "i", "resources": {"requests": {"cpu": format!("{}m", request.0), "memory": format!("{}Mi", request.1)}}}],
                "volumes": volumes,
            },
            "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": if is_ready { "True" } else { "False" }}]},
        }));
    }

    fn request(dice: &mut Random) -> (u64, u64) {
        let memory = if dice.below(8_u64) == 0 {
            1000 + 100 * dice.below(20)
        } else {
            50 + 50 * dice.below(10)
        };
        (50 + 50 * dice.below(6), memory)
    }

    fn deployment(&mut self, dice: &mut Random, number: u64) {
        let (namespace, name) = (*dice.pick(&NAMESPACES), format!("app-{number}"));
        let (wanted, request) = (1 + dice.below(3), Self::request(dice));
        let labels = json!({"app": name, "pod-template-hash": "abc12"});
        let mut made = 0;
        for replica in 0..wanted {
            let set = format!("{name}-abc12");
            let pod = format!("{set}-{replica}");
            let owner = Some(("ReplicaSet", set.as_str()));
            made += u64::from(
                self.pod(dice, namespace, &pod, owner, labels.clone(), request, &[], true)
                    .is_some(),
            );
        }
        if made == 0 {
            return;
        }
        self.items.push(json!({
            "apiVersion": "apps/v1", "kind": "Deployment",
            "metadata": {"namespace": namespace, "name": name},
            "spec": {"replicas": made},
        }));
        if dice.below(2_u64) == 0 {
            self.budget(dice, namespace, &name, json!({"app": name}));
            if dice.below(8_u64) == 0 {
                self.budget(dice, namespace, &format!("{name}-too"), json!({"app": name}));
            }
        }
    }

    fn budget(&mut self, dice: &mut Random, namespace: &str, name: &str, labels: Value) {
        let numbers = [
            json!({"minAvailable": 1}),
            json!({"minAvailable": "50%"}),
            json!({"maxUnavailable": 1}),
            json!({"maxUnavailable": 0}),
            json!({"minAvailable": "100%"}),
        ];
        let mut spec = dice.pick(&numbers).clone();
        spec["selector"] = json!({"matchLabels": labels});
        self.items.push(json!({
            "apiVersion": "policy/v1", "kind": "PodDisruptionBudget",
            "metadata": {"namespace": namespace, "name": name}, "spec": spec,
        }));
    }

    fn claim(&mut self, namespace: &str, name: &str, zone: Value) {
        let volume = format!("pv-{namespace}-{name}");
        self.items.push(json!({
            "apiVersion": "v1", "kind": "PersistentVolumeClaim",
            "metadata": {"namespace": namespace, "name": name},
            "spec": {"accessModes": ["ReadWriteOnce"], "volumeName": volume},
        }));
        self.items.push(json!({
            "apiVersion": "v1", "kind": "PersistentVolume",
            "metadata": {"name": volume},
            "spec": {"accessModes": ["ReadWriteOnce"], "nodeAffinity": {"required": {"nodeSelectorTerms": [
                {"matchExpressions": [{"key": "topology.kubernetes.io/zone", "operator": "In", "values": [zone]}]}]}}},
        }));
    }

    fn stateful(&mut self, dice: &mut Random, number: u64) {
        let (namespace, name) = (*dice.pick(&NAMESPACES), format!("set-{number}"));
        let request = Self::request(dice);
        let mut made = 0;
        for replica in 0..1 + dice.below(2) {
            let (pod, claim) = (format!("{name}-{replica}"), format!("data-{name}-{replica}"));
            let labels = json!({"app": name, "statefulset.kubernetes.io/pod-name": pod});
            let owner = Some(("StatefulSet", name.as_str()));
            if let Some(node) = self.pod(
                dice,
                namespace,
                &pod,
                owner,
                labels,
                request,
                std::slice::from_ref(&claim),
                true,
            ) {
                let zone = self.zone_of(&node);
                self.claim(namespace, &claim, zone);
                made += 1;
            }
        }
        if made == 0 {
            return;
        }
        self.items.push(json!({
            "apiVersion": "apps/v1", "kind": "StatefulSet",
            "metadata": {"namespace": namespace, "name": name}, "spec": {"replicas": made},
        }));
        if dice.below(3_u64) == 0 {
            self.budget(dice, namespace, &name, json!({"app": name}));
        }
    }

    fn database(&mut self, dice: &mut Random, number: u64) {
        let (namespace, name) = (*dice.pick(&NAMESPACES), format!("db-{number}"));
        let request = Self::request(dice);
        let mut made = 0;
        for instance in 1..=1 + dice.below(3) {
            let pod = format!("{name}-{instance}");
            let role = if made == 0 { "primary" } else { "replica" };
            let labels = json!({"cnpg.io/cluster": name, "cnpg.io/instanceName": pod, "cnpg.io/instanceRole": role});
            let owner = Some(("Cluster", name.as_str()));
            if let Some(node) = self.pod(
                dice,
                namespace,
                &pod,
                owner,
                labels,
                request,
                std::slice::from_ref(&pod),
                true,
            ) {
                let zone = self.zone_of(&node);
                self.claim(namespace, &pod, zone);
                made += 1;
            }
        }
        if made == 0 {
            return;
        }
        self.items.push(json!({
            "apiVersion": "postgresql.cnpg.io/v1", "kind": "Cluster",
            "metadata": {"namespace": namespace, "name": name},
            "spec": {"instances": made},
            "status": {"instances": made, "readyInstances": made, "currentPrimary": format!("{name}-1")},
        }));
        let mut budget = |name: String, role: &str, minimum: u64| {
            self.items.push(json!({
                "apiVersion": "policy/v1", "kind": "PodDisruptionBudget",
                "metadata": {"namespace": namespace, "name": name},
                "spec": {"minAvailable": minimum, "selector": {"matchLabels": {"cnpg.io/cluster": format!("db-{number}"), "cnpg.io/instanceRole": role}}},
            }));
        };
        budget(format!("{name}-primary"), "primary", 1);
        if made >= 3 {
            budget(name.clone(), "replica", made - 2);
        }
    }

    /// Two Deployments on one volume of one node.
    fn shared(&mut self, dice: &mut Random) {
        let fits = |at: &usize| self.room[*at].0 >= 200 && self.room[*at].1 >= 400;
        let able: Vec<usize> = (0..self.room.len()).filter(fits).collect();
        let Some(at) = (!able.is_empty()).then(|| *dice.pick(&able)) else { return };
        let zone = self.zone_of(&self.old[at].clone());
        self.claim("front", "common", zone);
        for name in ["writer", "reader"] {
            let set = format!("{name}-abc12");
            let labels = json!({"app": name, "pod-template-hash": "abc12"});
            let owner = Some(("ReplicaSet", set.as_str()));
            self.pod_on(
                at,
                "front",
                &format!("{set}-0"),
                owner,
                labels,
                (100, 200),
                &["common".to_owned()],
                true,
            );
            self.items.push(json!({
                "apiVersion": "apps/v1", "kind": "Deployment",
                "metadata": {"namespace": "front", "name": name}, "spec": {"replicas": 1},
            }));
        }
    }
}

pub(crate) fn options(databases: Databases) -> Options {
    Options {
        quotas: Vec::new(),
        new_nodes: None,
        new_node: None,
        overlay: "overlays/prod".to_owned(),
        drain_timeout: "420s".to_owned(),
        wait_timeout: "300s".to_owned(),
        databases,
    }
}

/// The plan as the library makes it.
pub(crate) fn plan(
    dump: &Value,
    old: &[String],
    rules: &Rules,
    databases: Databases,
) -> Result<drain::Plan, PlanError> {
    let state = State::read(dump["items"].as_array().unwrap()).unwrap();
    let old = drain::old_nodes(&state, old, None).unwrap();
    drain::plan(state, &old, rules, &options(databases))
}

/// Obstacles that say that a pod has no place.
const NO_PLACE: [&str; 6] =
    ["too-large", "volume-elsewhere", "no-common-place", "kept-apart", "no-target", "no-node-fits"];

/// What a plan is worth.
pub(crate) struct Worth {
    /// Whether it has nothing to tell.
    pub(crate) is_clean: bool,
    /// Whether it says that pods may find no place, and of none that it has none; and in how many clusters one found none.
    pub(crate) is_tight: bool,
    pub(crate) times_short: usize,
    pub(crate) commands: usize,
}

/// What a seed gives, or what is wrong with its plan.
pub(crate) fn judge(seed: u64, is_crowded: bool) -> Result<Worth, String> {
    let mut dice = Random::new(seed);
    let mut cluster = Cluster::random(&mut dice);
    let databases = if dice.below(3_u64) == 0 { Databases::ByReplica } else { Databases::ByHand };
    if is_crowded {
        cluster.crowd(&mut dice);
    }
    let dump = cluster.dump();
    let plan = plan(&dump, &cluster.old, &Rules::default(), databases)
        .map_err(|error| format!("no plan: {error}"))?;
    let chance = |more: u64| Scheduler::ByChance(Random::new(seed * 10 + more));
    let schedulers = [Scheduler::MostLeft, Scheduler::LeastLeft, chance(1), chance(2), chance(3)];
    let mut times_short = 0;
    for (number, scheduler) in schedulers.into_iter().enumerate() {
        let mut world = World::new(&dump);
        world.scheduler = scheduler;
        let judged = Judged { plan: &plan, old: &cluster.old };
        let was_short = judged
            .execute(world)
            .map_err(|what| format!("{what} (scheduler {number})\n{}", judged.shown()))?;
        times_short += usize::from(was_short);
    }
    let no_place = |obstacle: &&Obstacle| NO_PLACE.contains(&obstacle.id);
    let told = plan.obstacles.iter().filter(no_place).flat_map(|obstacle| obstacle.pods.clone());
    let told: Vec<String> = told.collect();
    let mut placing = Placing::new(&World::new(&dump), &cluster.old, &plan);
    if let Some(pod) = placing.told_in_vain(&told) {
        let judged = Judged { plan: &plan, old: &cluster.old };
        return Err(format!("{pod} has a place beside all that have one\n{}", judged.shown()));
    }
    let is_noted = plan.notes.iter().any(|note| note.contains(MAY_FIND_NONE));
    let (is_clean, is_tight) =
        (plan.obstacles.is_empty() && !is_noted, told.is_empty() && is_noted);
    let commands = plan.steps.iter().map(|step| step.commands.len()).sum();
    Ok(Worth { is_clean, is_tight, times_short, commands })
}

const MAY_FIND_NONE: &str = "may find no place, where the scheduler chooses otherwise";

struct Judged<'a> {
    plan: &'a drain::Plan,
    old: &'a [String],
}

impl Judged<'_> {
    /// Executes the plan in one cluster; whether a pod was without a place there.
    fn execute(&self, mut world: World) -> Result<bool, String> {
        let at_first = world.clone();
        let commands = self.plan.steps.iter().flat_map(|step| &step.commands);
        commands.for_each(|command| world.run(command));
        // Where pods are named that have or may have no place, the plan is not to be run as it is: then harm is no wonder.
        let is_named = |pod: &Pod| self.names(pod, &at_first);
        let is_short = self.names_any() && world.was_short;
        if world.was_short && !self.names_any() {
            return Err("a pod had no place for a while, and nobody said so".to_owned());
        }
        if !is_short && !world.faults.is_empty() {
            return Err(format!("{:#?}", world.faults));
        }
        let left: Vec<String> = self.old.iter().flat_map(|node| world.left_on(node)).collect();
        if !is_short && !left.is_empty() {
            return Err(format!("{left:?} are left"));
        }
        for (pod, could_be_placed) in world.without_place(self.old) {
            if could_be_placed {
                return Err(format!("{} could have a place", pod.shown()));
            }
            if !is_named(&pod) {
                return Err(format!("{} has no place, and nobody said so", pod.shown()));
            }
        }
        Ok(world.was_short)
    }

    fn names_any(&self) -> bool {
        let is_no_place = |obstacle: &Obstacle| NO_PLACE.contains(&obstacle.id);
        self.plan.obstacles.iter().any(is_no_place)
            || self.plan.notes.iter().any(|note| note.contains(MAY_FIND_NONE))
    }

    /// Whether the plan names a pod that has no place, or one that it is in the stead of.
    fn names(&self, pod: &Pod, at_first: &World) -> bool {
        let is_no_place = |obstacle: &&Obstacle| NO_PLACE.contains(&obstacle.id);
        let told = self.plan.obstacles.iter().filter(is_no_place).flat_map(|told| &told.pods);
        let told: Vec<&String> = told.collect();
        let notes = self.plan.notes.iter().filter(|note| note.contains(MAY_FIND_NONE));
        let notes: Vec<&str> = notes.flat_map(|note| note.split([' ', ','])).collect();
        let is_told = |name: &String| told.contains(&name) || notes.contains(&name.as_str());
        let is_kin = |other: &&Pod| other.namespace == pod.namespace && other.owner == pod.owner;
        let more = pod.owner.as_ref().map(|(_, name)| format!("{}/{name}-more-", pod.namespace));
        at_first.pods.iter().filter(is_kin).any(|kin| is_told(&kin.shown()))
            || more.is_some_and(|more| {
                told.iter()
                    .map(|name| name.as_str())
                    .chain(notes.iter().copied())
                    .any(|name| name.starts_with(&more))
            })
    }

    fn shown(&self) -> String {
        let told: Vec<&String> =
            self.plan.obstacles.iter().map(|obstacle| &obstacle.message).collect();
        let commands: Vec<&str> = self
            .plan
            .steps
            .iter()
            .flat_map(|step| step.commands.iter().map(String::as_str))
            .collect();
        format!("told {told:#?}\n{}\n{}", self.plan.notes.join("\n"), commands.join("\n"))
    }
}

/// Judges a row of seeds: clean plans, plans that say that pods may find no place, and how many of those have a cluster where
/// one finds none, commands.
fn judge_all(seeds: std::ops::Range<u64>, is_crowded: bool) -> (usize, usize, usize, usize) {
    let (mut clean, mut tight, mut borne_out, mut commands) = (0, 0, 0, 0);
    let mut wrong = Vec::new();
    for seed in seeds {
        match judge(seed, is_crowded) {
            Ok(worth) => {
                commands += worth.commands;
                clean += usize::from(worth.is_clean);
                tight += usize::from(worth.is_tight);
                borne_out += usize::from(worth.is_tight && worth.times_short > 0);
            }
            Err(fault) => wrong.push(format!("seed {seed}: {fault}")),
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n\n"));
    (clean, tight, borne_out, commands)
}

#[test]
fn three_hundred_small_clusters_are_emptied_without_harm() {
    let counts @ (clean, tight, borne_out, commands) = judge_all(0..300, false);
    assert!(clean > 100 && tight > 20 && commands > 3000, "{counts:?}");
    assert!(borne_out * 2 > tight, "{counts:?}");
}

#[test]
fn where_others_are_already_and_replicas_keep_apart_nobody_is_forgotten_either() {
    let counts @ (clean, tight, borne_out, _) = judge_all(1000..1200, true);
    assert!(clean > 40 && tight > 20, "{counts:?}");
    assert!(borne_out * 2 > tight, "{counts:?}");
}

/// Run once in a while: `cargo test --test suite thousands_of_small_clusters -- --ignored`.
#[test]
#[ignore = "takes minutes"]
fn thousands_of_small_clusters_are_emptied_without_harm() {
    judge_all(2000..5000, false);
    judge_all(5000..8000, true);
}
