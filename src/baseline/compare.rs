//! Two baselines: what is new, what is still there, what is gone.

use std::collections::BTreeMap;

use super::{Baseline, Node, Trouble, What};

/// What changed between two baselines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Comparison {
    /// Trouble that was not there.
    pub new: Vec<Trouble>,
    /// Trouble that concerns more objects than before.
    pub worse: Vec<Worse>,
    /// Trouble that was there and still is.
    pub kept: Vec<Kept>,
    /// Trouble that is gone.
    pub gone: Vec<Trouble>,
    /// Load balancers whose addresses changed; those that came or went with their Service.
    pub addresses: Vec<AddressChange>,
    /// Databases in another phase: `NAMESPACE/NAME`, then, now; empty where there is none.
    pub databases: Vec<(String, String, String)>,
    /// Claims that are gone or have another volume.
    pub claims: Vec<ClaimChange>,
    /// Workloads with fewer ready pods: which, then, now.
    pub workloads: Vec<(String, usize, usize)>,
    /// Applications that are gone, as `NAMESPACE/NAME`.
    pub applications_gone: Vec<String>,
    /// Nodes that came.
    pub nodes_new: Vec<Node>,
    /// Nodes that went.
    pub nodes_gone: Vec<Node>,
    /// Nodes with another version or other addresses, as they are and as they were.
    pub nodes_changed: Vec<(Node, Node)>,
    /// Kinds that were not looked at on one side or the other, so that nothing is said of them.
    pub unseen: Vec<String>,
    /// Those of them that were looked at then and could not be now: nobody can tell whether there is new trouble.
    pub lost: Vec<String>,
}

/// Trouble that grew.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Worse {
    /// How it is.
    pub now: Trouble,
    /// How many objects it concerned.
    pub before: usize,
}

/// Trouble that stayed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    /// How it is.
    pub now: Trouble,
    /// What was said of it then, where that is something else.
    pub before: Option<String>,
}

/// The addresses of a load balancer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AddressChange {
    /// The Service, `NAMESPACE/NAME`.
    pub service: String,
    /// Then; `None` where there was no such Service.
    pub before: Option<Vec<String>>,
    /// Now; `None` where there is none.
    pub after: Option<Vec<String>>,
}

/// The volume of a claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClaimChange {
    /// The claim, `NAMESPACE/NAME`.
    pub claim: String,
    /// Its volume then.
    pub before: String,
    /// Now; `None` where there is no such claim.
    pub after: Option<String>,
}

impl AddressChange {
    /// An address that a Service had and has not any more, while it has others: who uses it from outside does not find it. Without
    /// any it is `no-address`, and without the Service somebody meant it so.
    fn trouble(&self) -> Option<Trouble> {
        let (before, after) = (self.before.as_ref()?, self.after.as_ref()?);
        let has_lost = before.iter().any(|address| !after.contains(address));
        let (namespace, name) = self.service.split_once('/')?;
        (has_lost && !after.is_empty()).then(|| Trouble {
            what: What::AddressChanged,
            kind: "Service".to_owned(),
            namespace: namespace.to_owned(),
            name: name.to_owned(),
            count: 1,
            detail: format!("{} → {}", before.join(", "), after.join(", ")),
        })
    }
}

impl Comparison {
    /// Of what there was and what there is; what is `denied` may not be looked at now. A kind that a dump does not hold may have no
    /// object any more, so that it is a loss where something of it was recorded.
    #[must_use]
    pub fn of(before: &Baseline, after: &Baseline, denied: &[String]) -> Self {
        let unseen = before.unseen.iter().chain(&after.unseen).cloned().collect();
        let is_lost = |kind: &&String| {
            !before.unseen.contains(kind) && (denied.contains(kind) || before.has_any(kind))
        };
        let lost = after.unseen.iter().filter(is_lost);
        let mut found = Self { unseen, lost: lost.cloned().collect(), ..Self::default() };
        found.unseen.sort();
        found.unseen.dedup();
        found.compare_troubles(before, after);
        found.compare_addresses(before, after);
        found.compare_databases(before, after);
        found.compare_claims(before, after);
        found.compare_workloads(before, after);
        found.compare_nodes(before, after);
        found
    }

    /// Whether there is trouble that was not there, or more of it.
    #[must_use]
    pub fn has_new_trouble(&self) -> bool {
        !self.new.is_empty() || !self.worse.is_empty()
    }

    /// Whether there is no new trouble, as far as that was looked for when the first of both was recorded.
    #[must_use]
    pub fn is_good(&self) -> bool {
        !self.has_new_trouble() && self.lost.is_empty()
    }

    fn compare_troubles(&mut self, before: &Baseline, after: &Baseline) {
        let unseen = self.unseen.clone();
        let is_seen =
            |trouble: &&Trouble| !unseen.iter().any(|kind| *kind == trouble.kind_looked_at());
        for now in after.troubles.iter().filter(is_seen) {
            match before.troubles.iter().find(|then| then.is_same(now)) {
                None => self.new.push(now.clone()),
                Some(then) if now.count > then.count => {
                    self.worse.push(Worse { now: now.clone(), before: then.count });
                }
                Some(then) => {
                    let said = (then.detail != now.detail).then(|| then.detail.clone());
                    self.kept.push(Kept { now: now.clone(), before: said });
                }
            }
        }
        let gone = before.troubles.iter().filter(is_seen);
        let gone = gone.filter(|then| !after.troubles.iter().any(|now| now.is_same(then)));
        self.gone = gone.cloned().collect();
    }

    fn compare_addresses(&mut self, before: &Baseline, after: &Baseline) {
        if self.is_unseen("Service") {
            return;
        }
        let services = before.addresses.keys().chain(after.addresses.keys());
        let mut services: Vec<&String> = services.collect();
        services.sort();
        services.dedup();
        for service in services {
            let (then, now) = (before.addresses.get(service), after.addresses.get(service));
            if then != now {
                let (before, after) = (then.cloned(), now.cloned());
                let change = AddressChange { service: service.clone(), before, after };
                self.new.extend(change.trouble());
                self.addresses.push(change);
            }
        }
    }

    fn compare_databases(&mut self, before: &Baseline, after: &Baseline) {
        if self.is_unseen("Cluster") {
            return;
        }
        let names: std::collections::BTreeSet<&String> =
            before.databases.keys().chain(after.databases.keys()).collect();
        let phase =
            |of: &Baseline, name: &String| of.databases.get(name).cloned().unwrap_or_default();
        let phases =
            names.into_iter().map(|name| (name.clone(), phase(before, name), phase(after, name)));
        self.databases = phases.filter(|(_, then, now)| then != now).collect();
    }

    fn compare_claims(&mut self, before: &Baseline, after: &Baseline) {
        if self.is_unseen("PersistentVolumeClaim") {
            return;
        }
        let changes = before.claims.iter().map(|(claim, volume)| ClaimChange {
            claim: claim.clone(),
            before: volume.clone(),
            after: after.claims.get(claim).cloned(),
        });
        // A claim that had no volume yet gets one: that is how it should be.
        let is_change = |change: &ClaimChange| match &change.after {
            None => true,
            Some(volume) => !change.before.is_empty() && *volume != change.before,
        };
        self.claims = changes.filter(is_change).collect();
    }

    fn compare_workloads(&mut self, before: &Baseline, after: &Baseline) {
        if !self.is_unseen("Pod") {
            let ready = |workloads: &BTreeMap<String, usize>, name: &str| {
                workloads.get(name).copied().unwrap_or_default()
            };
            let counts = before
                .workloads
                .iter()
                .map(|(name, then)| (name.clone(), *then, ready(&after.workloads, name)));
            self.workloads = counts.filter(|(_, then, now)| now < then).collect();
        }
        if !self.is_unseen("Application") {
            self.applications_gone =
                before.applications.difference(&after.applications).cloned().collect();
        }
    }

    fn is_unseen(&self, kind: &str) -> bool {
        self.unseen.iter().any(|unseen| unseen == kind)
    }

    fn compare_nodes(&mut self, before: &Baseline, after: &Baseline) {
        if self.is_unseen("Node") {
            return;
        }
        for now in &after.nodes {
            match before.nodes.iter().find(|then| then.name == now.name) {
                None => self.nodes_new.push(now.clone()),
                Some(then)
                    if (&then.version, &then.external_ips) != (&now.version, &now.external_ips) =>
                {
                    self.nodes_changed.push((now.clone(), then.clone()));
                }
                Some(_) => {}
            }
        }
        let is_gone = |then: &&Node| !after.nodes.iter().any(|now| now.name == then.name);
        self.nodes_gone = before.nodes.iter().filter(is_gone).cloned().collect();
    }
}
