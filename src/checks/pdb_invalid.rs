//! `pdb-invalid`: a disruption budget whose numbers the API refuses.

use super::context::Context;
use super::finding::{Finding, Severity, Spot};
use super::model::amount::Amount;
use super::{Check, CheckId};

pub(super) const CHECK: Check =
    Check { id: CheckId("pdb-invalid"), severity: Severity::Error, run };

fn run(context: &Context<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for budget in &context.budgets {
        let numbers = [
            ("minAvailable", &budget.rule.min_available),
            ("maxUnavailable", &budget.rule.max_unavailable),
        ];
        let name = budget.name();
        let mut wrong = Vec::new();
        for (field, amount) in numbers {
            if let Some(Amount::Invalid(text)) = amount {
                let reason = format!(
                    "PodDisruptionBudget/{name} has {field} \"{text}\": a string is read as a percentage and must end with %, so the API refuses it"
                );
                wrong.push((field, reason));
            }
        }
        if budget.rule.min_available.is_some() && budget.rule.max_unavailable.is_some() {
            let reason = format!(
                "PodDisruptionBudget/{name} has both minAvailable and maxUnavailable, which the API refuses"
            );
            wrong.push(("maxUnavailable", reason));
        }
        for (field, message) in wrong {
            let spot = Spot::at(budget.resource, &["spec", field]);
            found.push(context.finding(&CHECK, &spot, message));
        }
    }
    found
}
