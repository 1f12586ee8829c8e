//! Clusters by chance: a few old nodes with all kinds of pods, and new ones.

use serde_json::{Value, json};

use crate::support::random::Random;

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
                    "resources": {"requests": {"cpu": format!("{cpu}m"), "memory": format!("{}Mi", memory.min(600))}}}]},
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

    /// Replicas that have to be spread, by zone or by host, and some that have to be near others or each other.
    pub(crate) fn bind(&mut self, dice: &mut Random) {
        let keys = ["topology.kubernetes.io/zone", "kubernetes.io/hostname"];
        for number in 0..10_u64 {
            let (kind, key) = (dice.below(4_u64), *dice.pick(&keys));
            let other = if dice.below(2_u64) == 0 { number } else { dice.below(10) };
            let skew = 1 + dice.below(2);
            let app = format!("app-{number}");
            let is_its = |item: &&mut Value| {
                item["kind"] == "Pod" && item["metadata"]["labels"]["app"] == app.as_str()
            };
            for pod in self.items.iter_mut().filter(is_its) {
                let selector =
                    |number: u64| json!({"matchLabels": {"app": format!("app-{number}")}});
                match kind {
                    0 => {
                        pod["spec"]["topologySpreadConstraints"] = json!([{
                            "maxSkew": skew, "topologyKey": key, "whenUnsatisfiable": "DoNotSchedule",
                            "labelSelector": selector(number)}]);
                    }
                    1 => {
                        pod["spec"]["affinity"]["podAffinity"] = json!({
                            "requiredDuringSchedulingIgnoredDuringExecution": [
                                {"topologyKey": key, "labelSelector": selector(other)}]});
                    }
                    _ => {}
                }
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

    /// A pod that is ready, with a volume in the zone of its node; whether there was room for it.
    #[allow(clippy::too_many_arguments)]
    fn bound_pod(
        &mut self,
        dice: &mut Random,
        namespace: &str,
        name: &str,
        owner: Option<(&str, &str)>,
        labels: Value,
        request: (u64, u64),
        claim: &str,
    ) -> bool {
        let claims = [claim.to_owned()];
        let node = self.pod(dice, namespace, name, owner, labels, request, &claims, true);
        if let Some(node) = &node {
            let zone = self.zone_of(node);
            self.claim(namespace, claim, zone);
        }
        node.is_some()
    }

    fn stateful(&mut self, dice: &mut Random, number: u64) {
        let (namespace, name) = (*dice.pick(&NAMESPACES), format!("set-{number}"));
        let request = Self::request(dice);
        let mut made = 0;
        for replica in 0..1 + dice.below(2) {
            let (pod, claim) = (format!("{name}-{replica}"), format!("data-{name}-{replica}"));
            let labels = json!({"app": name, "statefulset.kubernetes.io/pod-name": pod});
            let owner = Some(("StatefulSet", name.as_str()));
            made +=
                u64::from(self.bound_pod(dice, namespace, &pod, owner, labels, request, &claim));
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
            made += u64::from(self.bound_pod(dice, namespace, &pod, owner, labels, request, &pod));
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
