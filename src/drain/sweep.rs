//! The steps that empty some nodes: cordon, changes in git, then unit by unit, each with its waits.

use std::collections::BTreeSet;

use super::command;
use super::means::Means;
use super::order::{Arrangement, Part, Unit};
use super::plan::{Downtime, Obstacle, PlanError, Planner, Replicas, StepKind};
use super::pod::WorkloadId;
use super::rules::BuiltIn;
use crate::shell;

impl Planner<'_> {
    /// Empties `nodes`, and tells what is left where they are the last.
    ///
    /// # Errors
    /// [`PlanError::Cycle`].
    pub(super) fn sweep(&mut self, nodes: &[usize]) -> Result<(), PlanError> {
        self.cordon(nodes);
        self.raise(nodes);
        let is_held =
            |pod: usize| self.board.state.pods[pod].node.is_some_and(|node| nodes.contains(&node));
        let databases: BTreeSet<usize> = (0..self.means.len())
            .filter(|pod| self.means[*pod] == Means::Database && is_held(*pod))
            .collect();
        let arrangement = Arrangement {
            state: &self.board.state,
            nodes,
            databases: &databases,
            rules: self.rules,
            pairs: &self.pairs,
        };
        let units = arrangement.arrange()?;
        for (at, unit) in units.iter().enumerate() {
            let later: Vec<&Unit> =
                units[at + 1..].iter().filter(|later| later.node == unit.node).collect();
            self.move_unit(unit, &later);
        }
        Ok(())
    }

    fn cordon(&mut self, nodes: &[usize]) {
        let names: Vec<String> = nodes.iter().map(|node| self.name(*node).to_owned()).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let text = "No pod that leaves one of these nodes may come to another one of them.";
        let command = command::cordon("cordon", &names);
        let names = names.iter().map(|name| (*name).to_owned()).collect();
        self.step(StepKind::Cordon, text, vec![command]).nodes = names;
        nodes.iter().for_each(|node| self.board.close(*node));
    }

    /// Second replicas for what a budget would hold for ever.
    fn raise(&mut self, nodes: &[usize]) {
        let raises: Vec<_> = self
            .raises
            .iter()
            .filter(|raise| !self.raised.contains(&raise.workload))
            .filter(|raise| {
                self.board.state.pods[raise.like].node.is_some_and(|node| nodes.contains(&node))
            })
            .cloned()
            .collect();
        self.raised.extend(raises.iter().map(|raise| raise.workload.clone()));
        for raise in raises {
            let (id, to) = (&raise.workload, raise.to);
            let what = raise_command(&raise, true, &self.options.overlay);
            let text = format!("{id}: {}.", raise.because);
            self.step(StepKind::Raise, text, vec![what]).replicas =
                Some(Replicas { workload: id.clone(), count: to });
            let mut more = Vec::new();
            for number in raise.from..to {
                let like = &self.board.state.pods[raise.like];
                let name = format!("{}-more-{number}", id.name);
                let pod = super::pod::Pod { name, claims: Vec::new(), ..like.clone() };
                more.push(self.board.add(pod));
                self.means.push(Means::None);
            }
            self.land(more, false);
            let ready = usize::try_from(to).unwrap_or(0);
            self.wait_for_workload(id, ready, "ready, once that is merged and synced");
        }
    }

    /// Takes back what [`Self::raise`] did.
    pub(super) fn lower(&mut self) {
        for raise in self.raises.clone() {
            let command = raise_command(&raise, false, &self.options.overlay);
            let text = format!("{}: back to what it was.", raise.workload);
            let count = raise.autoscaler.as_ref().map_or(raise.from, |scaler| scaler.min);
            self.step(StepKind::Lower, text, vec![command]).replicas =
                Some(Replicas { workload: raise.workload, count });
        }
    }

    fn move_unit(&mut self, unit: &Unit, later: &[&Unit]) {
        if let Part::Database(id) = &unit.part {
            self.move_database(unit, id);
        } else {
            let mut left = unit.pods.clone();
            if self.rules.has(BuiltIn::VolumesTogether) {
                for group in self.groups_on_one_volume(&left) {
                    left.retain(|pod| !group.contains(pod));
                    self.move_together(unit.node, &group);
                }
            }
            let (delete, drain): (Vec<usize>, Vec<usize>) =
                left.into_iter().partition(|pod| matches!(self.means[*pod], Means::Delete(_)));
            self.delete(unit.node, delete);
            let drain = self.leave_one_behind(unit.node, drain);
            self.drain(unit, drain, later);
        }
        if later.is_empty() && unit.part != Part::Rest {
            let node = self.name(unit.node).to_owned();
            let command = command::drain(&node, None, self.options.drain_timeout);
            let text = format!("Nothing but DaemonSets is left on {node}: this ends at once.");
            self.step(StepKind::Drain, text, vec![command]).node = Some(node);
        }
        self.step(
            StepKind::Check,
            "Nothing is expected but what was there before.",
            vec![command::CHECK.to_owned()],
        );
    }

    fn drain(&mut self, unit: &Unit, pods: Vec<usize>, later: &[&Unit]) {
        let selector = match &unit.part {
            Part::Picked(_) => self.selector_of(unit, &pods),
            _ => self.selector_without(&pods, later),
        };
        if pods.is_empty() && matches!(unit.part, Part::Picked(_)) {
            return;
        }
        let node = self.name(unit.node).to_owned();
        let load: u64 = pods.iter().map(|pod| self.board.state.pods[*pod].request.bytes).sum();
        let text = match &unit.part {
            Part::Picked(id) => format!("{id} first: a rule puts it before others."),
            _ if selector.is_some() => {
                format!("All of {node} but what waits for its turn: {}.", self.amount(&pods, load))
            }
            _ => format!("All of {node}: {}.", self.amount(&pods, load)),
        };
        // A drain that ends before its pods do says that it failed.
        let timeout = self.options.drain_timeout.max(self.time_to_end(&pods));
        let command = command::drain(&node, selector.as_deref(), timeout);
        let shown = self.shown(&pods);
        let step = self.step(StepKind::Drain, text, vec![command]);
        (step.node, step.pods) = (Some(node), shown);
        self.tell_downtimes(unit.node, &pods, false);
        self.move_pods(&pods);
        self.wait_for(&pods);
    }

    #[allow(clippy::cast_precision_loss, reason = "shown to a hundredth of a GiB")]
    fn amount(&self, pods: &[usize], bytes: u64) -> String {
        let gib = bytes as f64 / (1u64 << 30) as f64;
        match pods.len() {
            1 => format!("1 pod that asks for {gib:.2} GiB"),
            count => format!("{count} pods that ask for {gib:.2} GiB"),
        }
    }

    /// What selects these pods and no others that a drain of the node would move.
    fn selector_of(&mut self, unit: &Unit, pods: &[usize]) -> Option<String> {
        let state = &self.board.state;
        let of = |at: &usize| &state.pods[*at];
        let others =
            state.pods.iter().enumerate().filter(|(at, pod)| {
                pod.node == Some(unit.node) && pod.moves() && !pods.contains(at)
            });
        let others: Vec<_> = others.map(|(_, pod)| pod).collect();
        let wanted: Vec<_> = pods.iter().map(of).collect();
        match command::tell_apart(&wanted, &others) {
            Some((key, values)) => Some(selector_text(&key, "in", &values)),
            None => {
                self.tell_not_apart(pods);
                None
            }
        }
    }

    /// What leaves out the pods that are moved later.
    fn selector_without(&mut self, pods: &[usize], later: &[&Unit]) -> Option<String> {
        let mut parts = Vec::new();
        for other in later.iter().filter(|other| other.part != Part::Rest) {
            let state = &self.board.state;
            let wanted: Vec<_> = other.pods.iter().map(|at| &state.pods[*at]).collect();
            let others: Vec<_> = pods.iter().map(|at| &state.pods[*at]).collect();
            match command::tell_apart(&wanted, &others) {
                Some((key, values)) => parts.push(selector_text(&key, "notin", &values)),
                None => self.tell_not_apart(&other.pods),
            }
        }
        parts.sort();
        parts.dedup();
        (!parts.is_empty()).then(|| parts.join(","))
    }

    fn tell_not_apart(&mut self, pods: &[usize]) {
        let pods = self.shown(pods);
        self.plan.obstacles.push(Obstacle {
            id: "no-label-apart",
            message: format!("no label tells {} from the other pods of its node, so that a drain takes all at once", pods.join(", ")),
            pods,
            fix: "give them a label of their own".to_owned(),
        });
    }

    /// Deletes pods past their budgets; of a pair one first, and the rest when that one is ready elsewhere.
    fn delete(&mut self, node: usize, pods: Vec<usize>) {
        if pods.is_empty() {
            return;
        }
        let first = self.one_of_each_pair(&pods, false);
        let rest: Vec<usize> = pods.iter().copied().filter(|pod| !first.contains(pod)).collect();
        for batch in [first, rest] {
            self.delete_batch(node, &batch);
        }
    }

    fn delete_batch(&mut self, node: usize, pods: &[usize]) {
        if pods.is_empty() {
            return;
        }
        self.tell_downtimes(node, pods, true);
        let namespaces: BTreeSet<String> =
            pods.iter().map(|pod| self.board.state.pods[*pod].namespace.clone()).collect();
        for namespace in namespaces {
            let is_there = |pod: &&usize| self.board.state.pods[**pod].namespace == namespace;
            let pods: Vec<usize> = pods.iter().filter(is_there).copied().collect();
            let mut reasons: Vec<String> =
                pods.iter().filter_map(|pod| self.reason_of(*pod)).collect();
            reasons.dedup();
            self.delete_step(StepKind::Delete, node, &pods, reasons.join(" "));
        }
        self.move_pods(pods);
        self.wait_for(pods);
    }

    fn reason_of(&self, pod: usize) -> Option<String> {
        match &self.means[pod] {
            Means::Delete(reason) => {
                Some(format!("{}: {reason}.", self.board.state.pods[pod].shown()))
            }
            _ => None,
        }
    }

    /// The command that deletes pods of one namespace, with room for their grace.
    pub(super) fn delete_step(
        &mut self,
        kind: StepKind,
        node: usize,
        pods: &[usize],
        text: String,
    ) {
        let of: Vec<_> = pods.iter().map(|pod| &self.board.state.pods[*pod]).collect();
        let command = command::delete(&of, self.time_to_end(pods));
        let (name, shown) = (self.name(node).to_owned(), self.shown(pods));
        let step = self.step(kind, text, vec![command]);
        (step.node, step.pods) = (Some(name), shown);
    }

    /// How long pods may take to be gone, in seconds: their grace and a minute.
    fn time_to_end(&self, pods: &[usize]) -> u64 {
        let grace = pods.iter().map(|pod| self.board.state.pods[*pod].grace).max().unwrap_or(0);
        grace.saturating_add(60)
    }

    /// Where all ready replicas of a pair would go at once and no budget keeps one, one of them goes before.
    fn leave_one_behind(&mut self, node: usize, pods: Vec<usize>) -> Vec<usize> {
        let first = self.one_of_each_pair(&pods, true);
        if !first.is_empty() {
            for pod in &first {
                let shown = self.board.state.pods[*pod].shown();
                let reason = format!(
                    "{shown}: it and its last ready replicas are on this node, and no budget keeps one"
                );
                self.delete_step(StepKind::Delete, node, &[*pod], format!("{reason}."));
            }
            self.move_pods(&first);
            self.wait_for(&first);
        }
        pods.into_iter().filter(|pod| !first.contains(pod)).collect()
    }

    fn one_of_each_pair(&self, pods: &[usize], budgets_hold: bool) -> Vec<usize> {
        let state = &self.board.state;
        let mut first: Vec<usize> = Vec::new();
        for pair in &self.pairs {
            let is_ready = |pod: &&usize| {
                let pod = &state.pods[**pod];
                pod.is_ready && pod.node.is_some()
            };
            let ready: Vec<usize> = pair.pods.iter().filter(is_ready).copied().collect();
            let goes_whole = ready.len() > 1 && ready.iter().all(|pod| pods.contains(pod));
            let is_kept = |pod: &usize| {
                let keeps =
                    |budget: &usize| state.allowance(*budget).desired.is_some_and(|kept| kept > 0);
                budgets_hold && state.budgets_of(*pod).iter().any(keeps) && pair.selector.is_none()
            };
            if goes_whole
                && !ready.iter().all(is_kept)
                && !ready.iter().any(|pod| first.contains(pod))
            {
                first.extend(ready.first());
            }
        }
        first
    }

    fn move_database(&mut self, unit: &Unit, id: &WorkloadId) {
        self.tell_downtimes(unit.node, &unit.pods, true);
        let grace = unit.pods.iter().map(|pod| self.board.state.pods[*pod].grace).max();
        let text = format!(
            "{id} has one instance: its budget allows no eviction, a deletion passes it by. It may take up to {} s to end in order, its last write-ahead log archived; never force it before. The database is away until it is ready elsewhere. Without that time away: `{}` before, and back after (--databases replica).",
            grace.unwrap_or(0),
            shell::overlay("set instances", &self.options.overlay, &[&format!("{}=2", id.name)])
        );
        self.delete_step(StepKind::Database, unit.node, &unit.pods, text);
        self.move_pods(&unit.pods);
        self.wait_for_workload(id, unit.pods.len(), "ready elsewhere");
    }

    /// What is away while `pods` move: the one pod of a workload, or all of them where they go `at_once`.
    pub(super) fn tell_downtimes(&mut self, node: usize, pods: &[usize], at_once: bool) {
        let mut told: BTreeSet<WorkloadId> = BTreeSet::new();
        for pod in pods {
            let state = &self.board.state;
            let pod = &state.pods[*pod];
            let is_raised = |id: &WorkloadId| self.raises.iter().any(|raise| raise.workload == *id);
            let goes_whole = |id: &WorkloadId| {
                let own = state.pods_of(id);
                own.len() == 1 || at_once && own.iter().all(|pod| pods.contains(pod))
            };
            let (workload, is_alone) = match pod.workload() {
                Some(id) if id.kind == "Job" || !told.insert(id.clone()) => continue,
                Some(id) => (id.to_string(), goes_whole(id) && !is_raised(id)),
                None => (format!("Pod/{} in {}", pod.name, pod.namespace), true),
            };
            if is_alone {
                self.plan.downtimes.push(Downtime {
                    workload,
                    node: state.nodes[node].face.name.clone(),
                    stops_within: pod.grace,
                    started_in: pod.started_in,
                    has_volume: !pod.claims.is_empty(),
                });
            }
        }
    }
}

/// The change in git that raises the replicas, or takes that back. An autoscaler whose most is less is raised as a whole.
fn raise_command(raise: &super::means::Raise, is_up: bool, overlay: &str) -> String {
    let id = &raise.workload;
    let to = if is_up { raise.to } else { raise.from };
    match (&raise.autoscaler, id.kind.as_str()) {
        (Some(scaler), _) => {
            let name = format!("HorizontalPodAutoscaler/{}", scaler.name);
            let least = format!("spec.minReplicas={}", if is_up { to } else { scaler.min });
            let most = format!("spec.maxReplicas={}", if is_up { to } else { scaler.max });
            match scaler.max < raise.to {
                true => shell::overlay("set field", overlay, &[&name, &least, &most, "--pr"]),
                false => shell::overlay("set field", overlay, &[&name, &least, "--pr"]),
            }
        }
        // No transformer of kustomize knows the replicas of a Rollout.
        (None, "Rollout") => {
            let name = format!("Rollout/{}", id.name);
            let change = format!("spec.replicas={to}");
            shell::overlay("set field", overlay, &[&name, &change, "--pr"])
        }
        (None, "Cluster") => command::edit("instances", overlay, &format!("{}={to}", id.name)),
        (None, kind) => command::edit("replicas", overlay, &format!("{kind}/{}={to}", id.name)),
    }
}

fn selector_text(key: &str, operator: &str, values: &[String]) -> String {
    match (operator, values) {
        ("in", [one]) => format!("{key}={one}"),
        ("notin", [one]) => format!("{key}!={one}"),
        _ => format!("{key} {operator} ({})", values.join(",")),
    }
}
