//! `drain-sources-disagree`: two places say how long a drain takes, and they differ.

use super::context::Context;
use super::finding::{Finding, Severity};
use super::model::drain::{Drain, shown_millis};
use super::{Check, CheckId};

pub(super) const CHECK: Check =
    Check { id: CheckId("drain-sources-disagree"), severity: Severity::Warning, run };

fn run(context: &Context<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for workload in context.running() {
        for drain in Drain::of(context, workload) {
            for (index, setting) in drain.settings.iter().enumerate() {
                let other = drain.settings[index + 1..]
                    .iter()
                    .find(|other| other.is_same_setting(setting) && other.millis != setting.millis);
                let Some(other) = other else { continue };
                let (wins, loses) = if setting.source >= other.source {
                    (setting, other)
                } else {
                    (other, setting)
                };
                let message = format!(
                    "the drain of {} is stated twice: {} says {}, which wins, and {} says {}",
                    workload.shown(),
                    wins.name,
                    shown_millis(wins.millis),
                    loses.name,
                    shown_millis(loses.millis),
                );
                found.push(context.finding(&CHECK, &loses.spot, message));
            }
        }
    }
    found
}
