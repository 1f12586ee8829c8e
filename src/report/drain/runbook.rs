//! The plan as a runbook, from `templates/drain-plan.md`.
//!
//! Names come from a cluster that many write to: what the template prints is escaped as Markdown, and commands stand in
//! fences longer than any run of backticks in them.

use minijinja::{Environment, UndefinedBehavior};
use serde_json::{Value as Json, json};

use crate::drain::{Downtime, Plan, Rules, dump_commands};
use crate::error::{Error, codes};
use crate::report::markdown;

/// The template.
const TEMPLATE: &str = include_str!("../../../templates/drain-plan.md");

/// The runbook.
///
/// # Errors
/// Never, unless the program was built with a broken template.
pub(super) fn runbook(plan: &Plan, rules: &Rules) -> Result<String, Error> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.add_filter("code", markdown::code_filter);
    environment.add_filter("block", markdown::block_filter);
    environment.set_formatter(markdown::format);
    let broken = |error: minijinja::Error| {
        Error::new(codes::INTERNAL, format!("the template of the runbook: {error}"))
    };
    let template = environment.template_from_str(TEMPLATE).map_err(broken)?;
    let view = json!({
        "plan": super::to_json(plan, rules),
        "downtimes": downtimes(plan),
        "dump": dump_commands("before.json"),
    });
    template.render(minijinja::value::Serde(&view)).map_err(broken)
}

fn downtimes(plan: &Plan) -> Json {
    let one = |downtime: &Downtime| json!({ "workload": downtime.workload, "words": super::downtime_in_words(downtime) });
    plan.downtimes.iter().map(one).collect()
}
