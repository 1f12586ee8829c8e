//! Pods of several workloads on one volume that one node at a time may use: they move together, or deadlock.
//!
//! The scheduler does not look at where a volume is attached (only `ReadWriteOncePod` is a filter), so the nodes that
//! must not receive them are cordoned meanwhile.

use super::apart::is_follower;
use super::command;
use super::plan::{Obstacle, Planner, StepKind};
use crate::shell;

impl Planner<'_> {
    /// Among pods of one node, those that share a volume for one node, in groups of two or more.
    pub(super) fn groups_on_one_volume(&self, pods: &[usize]) -> Vec<Vec<usize>> {
        let state = &self.board.state;
        let claims = |pod: usize| {
            let claims = state.pods[pod].claims.iter().copied();
            claims.filter(|claim| state.claims[*claim].is_for_one_node).collect::<Vec<_>>()
        };
        let mut groups: Vec<(Vec<usize>, Vec<usize>)> = Vec::new();
        for pod in pods {
            let (mut own, mut members) = (claims(*pod), vec![*pod]);
            let (touching, others): (Vec<_>, Vec<_>) = groups
                .into_iter()
                .partition(|(known, _)| known.iter().any(|claim| own.contains(claim)));
            for (claims, pods) in touching {
                own.extend(claims);
                members.extend(pods);
            }
            // What has to be near others comes after them.
            members.sort_unstable_by_key(|pod| (is_follower(&state.pods[*pod]), *pod));
            groups = others;
            if !own.is_empty() {
                groups.push((own, members));
            }
        }
        groups.into_iter().map(|(_, pods)| pods).filter(|pods| pods.len() > 1).collect()
    }

    /// Moves a group to one node: the others are cordoned while it lands.
    pub(super) fn move_together(&mut self, node: usize, group: &[usize]) {
        self.tell_downtimes(node, group, true);
        let budgets = self.budgets_passed_by(group);
        self.lift(group);
        let Some(target) = self.land_together(group) else {
            self.tell_no_common_place(group);
            let shown = self.shown(group).join(" and ");
            let text = format!(
                "{shown} share a volume, and no node has room for them together now.{budgets}"
            );
            self.delete_step(StepKind::Delete, node, group, text);
            self.pending.extend(group);
            return;
        };
        let others: Vec<usize> = (0..self.board.state.nodes.len())
            .filter(|other| *other != target && self.board.is_open(*other))
            .collect();
        let names: Vec<String> = others.iter().map(|other| self.name(*other).to_owned()).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let (shown, to) = (self.shown(group).join(" and "), self.name(target).to_owned());
        if !names.is_empty() {
            let text = format!(
                "{shown} share a volume that one node at a time may use: only {to} stays open, so that they land together."
            );
            self.step(StepKind::Cordon, text, vec![command::cordon("cordon", &names)]).nodes =
                names.iter().map(|name| (*name).to_owned()).collect();
        }
        self.delete_step(StepKind::Delete, node, group, format!("{shown} go together.{budgets}"));
        let ids: std::collections::BTreeSet<_> = group
            .iter()
            .filter_map(|pod| self.board.state.pods[*pod].workload().cloned())
            .collect();
        for id in ids {
            let ready = self.full_count(&id);
            self.wait_for_workload(&id, ready, "ready, beside each other");
        }
        if !names.is_empty() {
            let text = "The others take pods again.";
            self.step(StepKind::Uncordon, text, vec![command::cordon("uncordon", &names)]).nodes =
                names.iter().map(|name| (*name).to_owned()).collect();
        }
        self.check_attachment(group, &to);
    }

    /// That the deletion of a group passes budgets by; a sentence behind a space, or nothing.
    fn budgets_passed_by(&self, group: &[usize]) -> String {
        let state = &self.board.state;
        let budgets = group.iter().flat_map(|pod| state.budgets_of(*pod));
        let mut names: Vec<String> = budgets
            .map(|budget| &state.budgets[*budget])
            .map(|budget| format!("{} ({})", budget.name, budget.rule.shown()))
            .collect();
        names.sort();
        names.dedup();
        match names.as_slice() {
            [] => String::new(),
            [one] => format!(" That passes the budget {one} by."),
            several => format!(" That passes the budgets {} by.", several.join(" and ")),
        }
    }

    fn check_attachment(&mut self, group: &[usize], to: &str) {
        let state = &self.board.state;
        let mut volumes: Vec<String> = group
            .iter()
            .flat_map(|pod| &state.pods[*pod].claims)
            .filter_map(|claim| state.claims[*claim].volume.clone())
            .collect();
        volumes.sort();
        volumes.dedup();
        let commands = volumes.iter().map(|volume| {
            let query = format!(
                "{{range .items[?(@.spec.source.persistentVolumeName==\"{volume}\")]}}{{.spec.nodeName}}{{\"\\n\"}}{{end}}"
            );
            format!("kubectl get volumeattachment -o jsonpath={}", shell::word(&query))
        });
        let commands = commands.collect();
        self.step(
            StepKind::Check,
            format!("The volume is attached to {to} and nowhere else."),
            commands,
        );
    }

    fn tell_no_common_place(&mut self, group: &[usize]) {
        if !(0..self.board.state.nodes.len()).any(|node| self.board.is_open(node)) {
            group.iter().for_each(|pod| self.tell_no_place(*pod, false));
            return;
        }
        let pods = self.shown(group);
        self.plan.obstacles.push(Obstacle {
            id: "no-common-place",
            message: format!(
                "{} share a volume, and no node has room for all of them",
                pods.join(" and ")
            ),
            pods,
            fix: "add a node with room for all of them, or run them in one pod".to_owned(),
        });
    }
}
