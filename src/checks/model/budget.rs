//! PodDisruptionBudgets and the evictions that they allow.
//!
//! Source: Kubernetes `pkg/controller/disruption/disruption.go`: shares of both kinds are rounded
//! up; `maxUnavailable` and shares count against the scale of all controllers of the selected pods.

use super::amount::{Amount, Rounding};
use super::selector::Selector;
use crate::checks::finding::Spot;
use crate::kustomize::Resource;
use crate::kustomize::node::Node;

/// A budget of the render.
#[derive(Clone, Debug)]
pub struct Budget<'a> {
    /// The resource.
    pub resource: &'a Resource,
    /// Its namespace; `default` where none is stated.
    pub namespace: String,
    /// Which pods it is for.
    pub selector: Selector<'a>,
    /// How many pods it keeps.
    pub rule: Rule,
    /// The workloads whose pods it selects, by their position among those of the render.
    pub workloads: Vec<usize>,
}

/// How many pods a budget keeps.
#[derive(Clone, Debug, Default)]
pub struct Rule {
    /// `minAvailable`.
    pub min_available: Option<Amount>,
    /// `maxUnavailable`.
    pub max_unavailable: Option<Amount>,
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
        Some(Self {
            resource,
            namespace: resource.current_id().effective_namespace().to_owned(),
            selector: Selector::new(resource.node.lookup(&["spec", "selector"])),
            rule: Rule::read(&resource.node),
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
        let field =
            if self.rule.min_available.is_some() { "minAvailable" } else { "maxUnavailable" };
        Spot::at(self.resource, &["spec", field])
    }

    /// The selector's node, or the budget's `spec`.
    #[must_use]
    pub fn selector_spot(&self) -> Spot<'a> {
        Spot::at(self.resource, &["spec", "selector"])
    }
}

impl Rule {
    /// That of a budget.
    #[must_use]
    pub fn read(budget: &Node) -> Self {
        let amount = |field| budget.lookup(&["spec", field]).and_then(Amount::read);
        Self { min_available: amount("minAvailable"), max_unavailable: amount("maxUnavailable") }
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

    /// How many of `expected` pods must stay; `None` where the API refuses its numbers.
    #[must_use]
    pub fn desired(&self, expected: i64) -> Option<i64> {
        match (&self.min_available, &self.max_unavailable) {
            (Some(_), Some(_)) => None,
            (Some(min), None) => min.of(expected, Rounding::Up),
            (None, Some(max)) => Some((expected - max.of(expected, Rounding::Up)?).max(0)),
            (None, None) => Some(0),
        }
    }

    /// What it comes to for `expected` pods; `None` where the API refuses its numbers.
    #[must_use]
    pub fn allowance(&self, expected: i64) -> Option<Allowance> {
        let desired = self.desired(expected)?;
        let allowed = if expected <= 0 { 0 } else { (expected - desired).max(0) };
        Some(Allowance { expected, desired, allowed })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kustomize::Rendered;

    /// What the numbers come to in general is held against the disruption controller's rows in the suite.
    #[test]
    fn digits_in_a_text_are_no_number_and_more_than_there_are_may_be_wanted() {
        let of = |number: &str, expected: i64| {
            let rendered = Rendered::parse(&format!(
                "kind: PodDisruptionBudget\nspec: {{{number}}}\nmetadata: {{name: b}}\n"
            ))
            .unwrap();
            let allowance = Rule::read(&rendered.resources[0].node).allowance(expected);
            allowance.map(|a| (a.desired, a.allowed))
        };
        assert_eq!(of("minAvailable: \"2\"", 4), None);
        assert_eq!(of("minAvailable: 5", 3), Some((5, 0)));
        assert_eq!(of("minAvailable: 1, maxUnavailable: 1", 3), None);
    }
}
