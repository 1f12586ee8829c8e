//! Small clusters by chance: the plan of each is executed by the world of `world.rs`, which finds nothing wrong.

use serde_json::{Value, json};

use super::world::World;
use overlay::drain::{self, Databases, Options, PlanError, Rules, State};

/// A generator that gives the same numbers for the same seed (Knuth's MMIX constants), and not that of the other tests: its seeds are
/// the clusters that were looked at one by one.
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        let mut dice = Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) + 1);
        dice.below(2);
        dice
    }

    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }

    fn one_in(&mut self, times: u64) -> bool {
        self.below(times) == 0
    }

    fn pick<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len() as u64) as usize]
    }
}

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
    pub(crate) fn random(dice: &mut Dice) -> Self {
        let zones = if dice.one_in(5) { vec!["az-1", "az-2"] } else { vec!["az-1"] };
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
        if dice.one_in(3) {
            cluster.shared(dice);
        }
        if dice.one_in(6) {
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
        dice: &mut Dice,
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

    fn request(dice: &mut Dice) -> (u64, u64) {
        let memory =
            if dice.one_in(8) { 1000 + 100 * dice.below(20) } else { 50 + 50 * dice.below(10) };
        (50 + 50 * dice.below(6), memory)
    }

    fn deployment(&mut self, dice: &mut Dice, number: u64) {
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
        if dice.one_in(2) {
            self.budget(dice, namespace, &name, json!({"app": name}));
            if dice.one_in(8) {
                self.budget(dice, namespace, &format!("{name}-too"), json!({"app": name}));
            }
        }
    }

    fn budget(&mut self, dice: &mut Dice, namespace: &str, name: &str, labels: Value) {
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

    fn stateful(&mut self, dice: &mut Dice, number: u64) {
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
        if dice.one_in(3) {
            self.budget(dice, namespace, &name, json!({"app": name}));
        }
    }

    fn database(&mut self, dice: &mut Dice, number: u64) {
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
    fn shared(&mut self, dice: &mut Dice) {
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
const NO_PLACE: [&str; 5] =
    ["too-large", "volume-elsewhere", "no-common-place", "kept-apart", "no-target"];

/// What a seed gives: whether the plan has nothing to tell, and how many commands it has; or what is wrong with it.
fn judge(seed: u64) -> Result<(bool, usize), String> {
    let mut dice = Dice::new(seed);
    let cluster = Cluster::random(&mut dice);
    let databases = if dice.one_in(3) { Databases::ByReplica } else { Databases::ByHand };
    let dump = cluster.dump();
    let plan = plan(&dump, &cluster.old, &Rules::default(), databases)
        .map_err(|error| format!("no plan: {error}"))?;
    let mut world = World::new(&dump);
    let told: Vec<&str> = plan.obstacles.iter().map(|obstacle| obstacle.id).collect();
    let commands: Vec<&String> = plan.steps.iter().flat_map(|step| &step.commands).collect();
    commands.iter().for_each(|command| world.run(command));
    let wrong = |what: String| {
        let shown: Vec<&str> = commands.iter().map(|command| command.as_str()).collect();
        let notes = plan.notes.join("\n");
        let short = if world.was_short { "some pod had no place" } else { "all had room" };
        Err(format!("{what}\n{short}; told {told:?}\n{notes}\n{}", shown.join("\n")))
    };
    // Where there is no room for all, the plan says so and is not to be run: then harm is no wonder. Nor is it where a pod
    // found no place for a while and the plan says that it may not.
    let is_tight = plan.notes.iter().any(|note| note.contains("scheduler chooses otherwise"));
    let is_told_short = told.iter().any(|id| NO_PLACE.contains(id));
    let is_short = is_told_short || is_tight && world.was_short;
    if is_told_short && !world.was_short {
        return wrong("all had room".to_owned());
    }
    if !is_short && !world.faults.is_empty() {
        return wrong(format!("{:#?}", world.faults));
    }
    let left = cluster.old.iter().flat_map(|node| world.left_on(node)).collect::<Vec<_>>();
    if !is_short && !left.is_empty() {
        return wrong(format!("{left:?} are left"));
    }
    for (pod, placeable) in world.without_place(&cluster.old) {
        if placeable {
            return wrong(format!("{pod} could have a place"));
        }
        if told.is_empty() && !is_tight {
            return wrong(format!("{pod} has no place, and nobody said so"));
        }
    }
    Ok((told.is_empty(), commands.len()))
}

#[test]
fn three_hundred_small_clusters_are_emptied_without_harm() {
    let (mut clean, mut with_obstacles, mut commands) = (0, 0, 0);
    let mut wrong = Vec::new();
    for seed in 0..300 {
        match judge(seed) {
            Ok((is_clean, count)) => {
                commands += count;
                if is_clean { clean += 1 } else { with_obstacles += 1 }
            }
            Err(fault) => wrong.push(format!("seed {seed}: {fault}")),
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n\n"));
    let counts = (clean, with_obstacles, commands);
    assert!(clean > 100 && with_obstacles > 50 && commands > 3000, "{counts:?}");
}
