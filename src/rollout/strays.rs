//! Pods of a namespace that belong to nothing that is judged: pods of Jobs, pods without an owner, those of kinds not known here.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::finding::Finding;
use super::judge::Case;
use super::live::{controller, is_terminating, name, namespace, text_at};
use super::pod::{is_over, is_ready, pod_trouble};
use super::workload::first_few;

impl Case<'_> {
    /// What is wrong with the pods of namespace `place` that belong to no workload and no database that is judged. Those that
    /// did their work are well, and so are those that failed where another pod of the same owner is ready or did it.
    #[must_use]
    pub fn stray_findings(&self, place: &str) -> Vec<Finding> {
        let judged: BTreeSet<&str> = self.judged_pods().into_iter().map(name).collect();
        let mut owners: BTreeMap<(&str, &str), Vec<&Value>> = BTreeMap::new();
        let here = self.snapshot.all("", "Pod").iter().filter(|pod| namespace(pod) == place);
        for pod in here.filter(|pod| !judged.contains(name(pod))) {
            owners.entry(controller(pod)).or_default().push(pod);
        }
        owners.into_values().flat_map(|pods| self.of_owner(&pods)).collect()
    }

    fn of_owner(&self, pods: &[&Value]) -> Vec<Finding> {
        let has_succeeded = |pod: &Value| text_at(pod, "/status/phase") == "Succeeded";
        let is_replaced = pods.iter().any(|pod| has_succeeded(pod) || is_ready(pod));
        let is_well = |pod: &Value| {
            !is_terminating(pod) && (has_succeeded(pod) || (is_over(pod) && is_replaced))
        };
        let asked = pods.iter().filter(|pod| !is_well(pod));
        first_few(asked.filter_map(|pod| pod_trouble(self.snapshot, pod, self.now)).collect())
    }
}
