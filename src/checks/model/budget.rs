//! PodDisruptionBudgets and the evictions that they allow.
//!
//! Source: Kubernetes `pkg/controller/disruption/disruption.go`: shares of both kinds are rounded
//! up; `maxUnavailable` and shares count against the scale of all controllers of the selected pods.

use super::amount::{Amount, Rounding};
use super::selector::Selector;
use crate::checks::finding::Spot;
use crate::kustomize::Resource;

/// A budget of the render.
#[derive(Clone, Debug)]
pub struct Budget<'a> {
    /// The resource.
    pub resource: &'a Resource,
    /// Its namespace; `default` where none is stated.
    pub namespace: String,
    /// Which pods it is for.
    pub selector: Selector<'a>,
    /// `minAvailable`.
    pub min_available: Option<Amount>,
    /// `maxUnavailable`.
    pub max_unavailable: Option<Amount>,
    /// The workloads whose pods it selects, by their position among those of the render.
    pub workloads: Vec<usize>,
}

/// What a budget comes to when all its pods are healthy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allowance {
    /// The pods that there should be.
    pub expected: i64,
    /// The pods that must stay.
    pub desired: i64,
    /// The pods that may be evicted at once.
    pub allowed: i64,
}

impl<'a> Budget<'a> {
    /// `resource` as a budget, if it is one.
    #[must_use]
    pub fn new(resource: &'a Resource) -> Option<Self> {
        if resource.kind() != "PodDisruptionBudget"
            || !resource.api_version().starts_with("policy/")
        {
            return None;
        }
        let amount = |field| resource.node.lookup(&["spec", field]).and_then(Amount::read);
        Some(Self {
            resource,
            namespace: resource.current_id().effective_namespace().to_owned(),
            selector: Selector::new(resource.node.lookup(&["spec", "selector"])),
            min_available: amount("minAvailable"),
            max_unavailable: amount("maxUnavailable"),
            workloads: Vec::new(),
        })
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &'a str {
        self.resource.name()
    }

    /// The field that holds its number.
    #[must_use]
    pub fn spot(&self) -> Spot<'a> {
        let field = if self.min_available.is_some() { "minAvailable" } else { "maxUnavailable" };
        Spot::at(self.resource, &["spec", field])
    }

    /// `minAvailable: 1`, for a message.
    #[must_use]
    pub fn shown(&self) -> String {
        match (&self.min_available, &self.max_unavailable) {
            (Some(min), _) => format!("minAvailable: {min}"),
            (None, Some(max)) => format!("maxUnavailable: {max}"),
            (None, None) => "no number".to_owned(),
        }
    }

    /// What it comes to for `expected` pods; `None` where the API refuses its numbers.
    #[must_use]
    pub fn allowance(&self, expected: i64) -> Option<Allowance> {
        let desired = match (&self.min_available, &self.max_unavailable) {
            (Some(_), Some(_)) => return None,
            (Some(min), None) => min.of(expected, Rounding::Up)?,
            (None, Some(max)) => (expected - max.of(expected, Rounding::Up)?).max(0),
            (None, None) => 0,
        };
        let allowed = if expected <= 0 { 0 } else { (expected - desired).max(0) };
        Some(Allowance { expected, desired, allowed })
    }

    /// The selector's node, or the budget's `spec`.
    #[must_use]
    pub fn selector_spot(&self) -> Spot<'a> {
        Spot::at(self.resource, &["spec", "selector"])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kustomize::Rendered;

    /// Desired and allowed of a budget with `number` (a YAML line) over `expected` pods.
    fn desired_allowed(number: &str, expected: i64) -> Option<(i64, i64)> {
        let text = format!(
            "apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {{name: b}}\nspec:\n  {number}\n"
        );
        let rendered = Rendered::parse(&text).unwrap();
        let budget = Budget::new(&rendered.resources[0]).unwrap();
        budget.allowance(expected).map(|a| (a.desired, a.allowed))
    }

    /// The table of the disruption controller's own arithmetic.
    #[test]
    fn budgets_come_to_what_the_disruption_controller_makes_of_them() {
        for (number, row) in [
            ("minAvailable: 1", [(1, 0), (1, 1), (1, 2), (1, 4), (1, 6), (1, 9)]),
            ("minAvailable: 2", [(2, 0), (2, 0), (2, 1), (2, 3), (2, 5), (2, 8)]),
            ("minAvailable: 50%", [(1, 0), (1, 1), (2, 1), (3, 2), (4, 3), (5, 5)]),
            ("minAvailable: 100%", [(1, 0), (2, 0), (3, 0), (5, 0), (7, 0), (10, 0)]),
            ("maxUnavailable: 0", [(1, 0), (2, 0), (3, 0), (5, 0), (7, 0), (10, 0)]),
            ("maxUnavailable: 1", [(0, 1), (1, 1), (2, 1), (4, 1), (6, 1), (9, 1)]),
            ("maxUnavailable: 50%", [(0, 1), (1, 1), (1, 2), (2, 3), (3, 4), (5, 5)]),
            ("maxUnavailable: 1%", [(0, 1), (1, 1), (2, 1), (4, 1), (6, 1), (9, 1)]),
        ] {
            for (expected, want) in [1, 2, 3, 5, 7, 10].into_iter().zip(row) {
                assert_eq!(desired_allowed(number, expected), Some(want), "{number} of {expected}");
            }
        }
        assert_eq!(desired_allowed("minAvailable: \"2\"", 4), None);
        assert_eq!(desired_allowed("minAvailable: 5", 3), Some((5, 0)));
    }
}
