//! What runs against what git says, all of it.

use std::collections::BTreeSet;

use serde_json::Value;

use super::budgets::{LiveBudget, budget_findings, overlapping, selects};
use super::dependents::{database_findings, instances, ready_finding, refused_findings};
use super::finding::Finding;
use super::images::{Indexes, Question, WantedImage, image_findings, questions};
use super::live::{Snapshot, is_terminating, namespace};
use super::pod::{counts, has_running_container, is_over};
use super::wanted::Wanted;
use super::workload::{is_workload, workload_findings};
use crate::database::is_database;

/// What is judged.
#[derive(Clone, Copy)]
pub struct Case<'a> {
    /// What was read of the cluster.
    pub snapshot: &'a Snapshot,
    /// What there is to be.
    pub wanted: &'a [Wanted],
    /// What registries said of images.
    pub indexes: &'a Indexes,
    /// How many evictions each disruption budget has to allow.
    pub least_allowed: i64,
    /// The present time, in seconds since 1970.
    pub now: i64,
}

/// One workload in numbers.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WorkloadLine {
    /// Its kind.
    pub kind: String,
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// The pods that it is to have.
    pub replicas: i64,
    /// Its pods that are ready and stay.
    pub ready: i64,
    /// Its pods that are there, old ones and those that go included.
    pub pods: i64,
}

impl Case<'_> {
    /// Everything that is wrong, in the order of `wanted`, and then the budgets.
    #[must_use]
    pub fn findings(&self) -> Vec<Finding> {
        let mut found = Vec::new();
        for wanted in self.wanted {
            match self.live(wanted) {
                None => found.push(Finding::of(
                    wanted.subject.clone(),
                    "object-missing",
                    "git renders it, and the cluster does not have it",
                )),
                Some(live) => found.extend(self.of_object(wanted, live)),
            }
        }
        let budgets = self.budgets();
        found.extend(budgets.iter().flat_map(|budget| budget_findings(budget, self.least_allowed)));
        found.extend(overlapping(self.snapshot, &budgets));
        found
    }

    /// What registries have to be asked.
    #[must_use]
    pub fn questions(&self) -> BTreeSet<Question> {
        let of = |wanted: &Wanted| {
            let live = self.live(wanted)?;
            Some(questions(&self.pods(live), &wanted.images))
        };
        self.wanted.iter().filter_map(of).flatten().collect()
    }

    /// The budgets that concern what is judged: those that are wanted, and those that select pods of it.
    #[must_use]
    pub fn budgets(&self) -> Vec<&Value> {
        let pods = self.judged_pods();
        let concerns = |budget: &&Value| {
            self.wanted.iter().any(|wanted| wanted.is(budget))
                || pods.iter().any(|pod| selects(budget, pod))
        };
        let all = self.snapshot.all("policy", "PodDisruptionBudget").iter();
        all.filter(concerns).collect()
    }

    /// The budgets in numbers.
    #[must_use]
    pub fn budget_lines(&self) -> Vec<LiveBudget> {
        self.budgets().into_iter().map(LiveBudget::of).collect()
    }

    /// The workloads and databases in numbers.
    #[must_use]
    pub fn workload_lines(&self) -> Vec<WorkloadLine> {
        let line = |wanted: &Wanted| {
            let live = self.live(wanted)?;
            let is_one = is_workload(live) || is_database(wanted.group(), &wanted.subject.kind);
            let pods = is_one.then(|| self.pods(live))?;
            let count = |count: usize| i64::try_from(count).unwrap_or(i64::MAX);
            let replicas = match live.pointer("/spec/instances") {
                Some(instances) => instances.as_i64().unwrap_or(1),
                None => super::minimum::replicas(live),
            };
            Some(WorkloadLine {
                kind: wanted.subject.kind.clone(),
                namespace: namespace(live).to_owned(),
                name: wanted.subject.name.clone(),
                replicas,
                ready: count(pods.iter().filter(|pod| counts(pod)).count()),
                pods: count(pods.len()),
            })
        };
        self.wanted.iter().filter_map(line).collect()
    }

    /// The pods of a workload that run, were made from its present template, and stay.
    #[must_use]
    pub fn present_pods(&self, wanted: &Wanted) -> Vec<&Value> {
        let Some(live) = self.live(wanted) else { return Vec::new() };
        let stays = |pod: &&Value| {
            !is_over(pod)
                && !is_terminating(pod)
                && has_running_container(pod)
                && self.snapshot.is_new_pod(live, pod) != Some(false)
        };
        self.pods(live).into_iter().filter(stays).collect()
    }

    /// The pods of everything that is judged.
    pub(super) fn judged_pods(&self) -> Vec<&Value> {
        self.wanted.iter().filter_map(|w| self.live(w)).flat_map(|l| self.pods(l)).collect()
    }

    fn live(&self, wanted: &Wanted) -> Option<&Value> {
        let subject = &wanted.subject;
        self.snapshot.find(wanted.group(), &subject.kind, &subject.namespace, &subject.name)
    }

    /// The pods of a workload or a database.
    fn pods(&self, live: &Value) -> Vec<&Value> {
        match is_workload(live) {
            true => self.snapshot.pods_of(live),
            false => instances(self.snapshot, live),
        }
    }

    fn of_object(&self, wanted: &Wanted, live: &Value) -> Vec<Finding> {
        if is_terminating(live) {
            return vec![Finding::about(live, "object-missing", "it is being deleted")];
        }
        let (mut found, containers) = wanted.differences(live);
        // What the object itself does not ask for, its pods need not be blamed for.
        let asked = |image: &&WantedImage| !containers.contains(&image.container.as_str());
        let images: Vec<WantedImage> = wanted.images.iter().filter(asked).cloned().collect();
        if is_workload(live) {
            found.extend(workload_findings(self.snapshot, live, self.now));
            let pods = self.snapshot.pods_of(live);
            let is_new = |pod: &&&Value| {
                !is_over(pod)
                    && !is_terminating(pod)
                    && self.snapshot.is_new_pod(live, pod) != Some(false)
            };
            let pods: Vec<&Value> = pods.iter().filter(is_new).copied().collect();
            found.extend(image_findings(&pods, &images, self.indexes));
            found.extend(unpinned(live, &images));
        } else if is_database(wanted.group(), &wanted.subject.kind) {
            let image = images.first();
            found.extend(database_findings(self.snapshot, live, image, self.indexes));
            found.extend(wanted.database.iter().flat_map(|git| refused_findings(live, git)));
        } else {
            found.extend(ready_finding(live));
        }
        found
    }
}

/// Images that git does not pin: what runs under a tag may be anything.
fn unpinned(live: &Value, images: &[WantedImage]) -> Option<Finding> {
    let unpinned = images.iter().filter(|wanted| !wanted.image.contains('@'));
    let names: Vec<&str> = unpinned.map(|wanted| wanted.image.as_str()).collect();
    (!names.is_empty()).then(|| {
        let message = format!("not pinned, so that what runs cannot be told: {}", names.join(", "));
        Finding::about(live, "image-unpinned", message)
    })
}
