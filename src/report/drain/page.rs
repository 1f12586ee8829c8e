//! A plan as a page: what stands in the way, the steps with their commands, the nodes before and after as bars, the budgets
//! of what moves, and what is away for a while.

use serde::Serialize;
use serde_json::Value as Json;

use super::nodes::{Palette, STAYS};
use super::{downtime_in_words, obstacle_json, rules_in_words};
use crate::capacity::amounts::Amounts;
use crate::drain::{Downtime, Guard, Plan, PlannedNode, Rules, Step, StepKind};
use crate::error::Error;
use crate::report::counted;
use crate::report::page::budget::{Budget, Numbers};
use crate::report::page::node::Node;
use crate::report::page::{Head, gibibytes, page};

const TEMPLATE: &str = include_str!("../../../templates/pages/drain-plan.html");

#[derive(Serialize)]
struct View<'a> {
    tiles: Vec<Tile>,
    obstacles: Vec<Json>,
    steps: Vec<StepView<'a>>,
    sides: [Side; 2],
    stays: &'static str,
    budgets: Vec<Budget<'a>>,
    downtimes: Vec<DowntimeView<'a>>,
    rules: Vec<String>,
    notes: &'a [String],
}

#[derive(Serialize)]
struct Tile {
    name: &'static str,
    class: &'static str,
    count: usize,
}

#[derive(Serialize)]
struct StepView<'a> {
    kind: &'static str,
    class: &'static str,
    node: Option<&'a str>,
    text: Vec<Piece<'a>>,
    commands: &'a [String],
    pods: &'a [String],
    count: String,
}

/// A part of a sentence: plain, or between backticks.
#[derive(Serialize)]
struct Piece<'a> {
    is_code: bool,
    text: &'a str,
}

/// The nodes before, or those after.
#[derive(Serialize)]
struct Side {
    title: &'static str,
    nodes: Vec<Node>,
}

#[derive(Serialize)]
struct DowntimeView<'a> {
    workload: &'a str,
    node: &'a str,
    words: String,
}

/// The page.
///
/// # Errors
/// Where the template and the view disagree.
pub(super) fn to_page(plan: &Plan, rules: &Rules) -> Result<Vec<u8>, Error> {
    let steps = counted(plan.steps.len(), "step");
    let waves = if plan.waves > 1 { format!(" in {} waves", plan.waves) } else { String::new() };
    let obstacles = match plan.obstacles.len() {
        0 => "nothing stands in the way".to_owned(),
        1 => "1 obstacle has to be cleared before".to_owned(),
        count => format!("{count} obstacles have to be cleared before"),
    };
    let head = Head {
        command: "drain-plan",
        title: format!("Emptying {}", counted(plan.old.len(), "node")),
        lead: format!("{steps}{waves} for a person to run; {obstacles}."),
        basis: "the state of a cluster",
    };
    page(&head, TEMPLATE, &view(plan, rules))
}

fn view<'a>(plan: &'a Plan, rules: &Rules) -> View<'a> {
    let palette = Palette::of(plan.old.iter().chain(&plan.new).flat_map(|node| &node.pods));
    let old = plan.old.iter().map(|node| node_view(node, &palette, "to move"));
    let new = plan.new.iter().map(|node| node_view(node, &palette, "that a drain would move"));
    View {
        tiles: tiles(plan),
        obstacles: plan.obstacles.iter().map(obstacle_json).collect(),
        steps: plan.steps.iter().map(step).collect(),
        sides: [
            Side { title: "To empty, as they are", nodes: old.collect() },
            Side { title: "To fill, at the end", nodes: new.collect() },
        ],
        stays: STAYS,
        budgets: plan.guards.iter().map(budget).collect(),
        downtimes: plan.downtimes.iter().map(downtime).collect(),
        rules: rules_in_words(rules),
        notes: &plan.notes,
    }
}

fn tiles(plan: &Plan) -> Vec<Tile> {
    let tile = |name, count| Tile { name, class: "", count };
    let obstacles = plan.obstacles.len();
    vec![
        tile("nodes to empty", plan.old.len()),
        tile("nodes to fill", plan.new.len()),
        tile("pods to move", plan.old.iter().map(|node| node.moving_pods).sum()),
        tile("workloads away for a while", plan.downtimes.len()),
        Tile {
            name: "obstacles",
            class: if obstacles == 0 { "" } else { "error" },
            count: obstacles,
        },
    ]
}

fn step(step: &Step) -> StepView<'_> {
    let moves = matches!(step.kind, StepKind::Drain | StepKind::Delete | StepKind::Database);
    let pods = if moves { &*step.pods } else { &[] };
    StepView {
        kind: step.kind.word(),
        class: match step.kind {
            StepKind::Delete | StepKind::Database => "warning",
            StepKind::Provider | StepKind::Raise | StepKind::Lower => "note",
            _ => "",
        },
        node: step.node.as_deref(),
        text: pieces(&step.text),
        commands: &step.commands,
        pods,
        count: counted(pods.len(), "pod"),
    }
}

fn pieces(sentence: &str) -> Vec<Piece<'_>> {
    let parts = sentence.split('`').enumerate();
    parts.map(|(number, text)| Piece { is_code: number % 2 == 1, text }).collect()
}

fn node_view(node: &PlannedNode, palette: &Palette, moving: &str) -> Node {
    let mut remarks = Vec::new();
    if node.is_to_come {
        remarks.push("Still to come.".to_owned());
    }
    if node.moving != Amounts::default() {
        let pods = counted(node.moving_pods, "pod");
        remarks.push(format!("{pods} {moving}: {} GiB.", gibibytes(node.moving.bytes)));
    }
    palette.node(node.name.clone(), node.allocatable, &node.pods, remarks)
}

fn budget(guard: &Guard) -> Budget<'_> {
    Budget::new(Numbers {
        name: (&guard.namespace, &guard.name),
        overlay: None,
        rule: &guard.rule,
        expected: guard.expected,
        desired: guard.desired,
        allowed: Some(guard.allowed),
        guards: &guard.guarded,
    })
}

fn downtime(downtime: &Downtime) -> DowntimeView<'_> {
    DowntimeView {
        workload: &downtime.workload,
        node: &downtime.node,
        words: downtime_in_words(downtime),
    }
}
