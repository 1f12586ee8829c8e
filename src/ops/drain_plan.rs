//! `overlay drain-plan`: the order in which nodes are emptied, and how far that has come. Reads; acts on nothing.

use std::path::PathBuf;

use serde_json::Value as Json;

use super::Context;
use super::cluster::ClusterAccess;
use crate::capacity::node::NodeKind;
use crate::capacity::quota::Quota;
use crate::cluster::{ClusterError, ClusterReader, KindName};
use crate::drain::dump::MATTERS;
use crate::drain::{self, Course, Databases, KINDS, Options, Plan, PlanError, Rules, State};
use crate::error::{Error, codes};
use crate::hint;
use crate::report::Report;
use crate::report::drain::{Form, plan_report, progress_report};

/// What the user asks of `overlay drain-plan`.
#[derive(Clone, Debug)]
pub struct DrainPlanRequest {
    /// How the cluster is read.
    pub access: ClusterAccess,
    /// The nodes to empty; none for those of the settings.
    pub nodes: Vec<String>,
    /// The labels by which they are known.
    pub selector: Option<String>,
    /// How many new nodes there are to be in the end.
    pub new_nodes: Option<u64>,
    /// What a new node is.
    pub kind: Option<NodeKind>,
    /// What the provider grants.
    pub quotas: Vec<Quota>,
    /// The overlay that commands of ours name.
    pub overlay: String,
    /// How many seconds one drain may take.
    pub drain_timeout: u64,
    /// How long one wait may take.
    pub wait_timeout: String,
    /// How databases of one instance are moved.
    pub databases: Databases,
    /// Whether it is asked how far the drain has come.
    pub asks_progress: bool,
    /// The dump that was made before anything moved.
    pub before: Option<PathBuf>,
    /// The form of the result.
    pub form: Form,
}

/// Makes the plan, or says how far it has come.
///
/// # Errors
/// Where the state cannot be read, no node is named, or rules contradict each other.
pub fn run(context: &Context, request: &DrainPlanRequest) -> Result<Report, Error> {
    let rules = rules(context)?;
    let (now, unread) = read_state(&*request.access.open(context)?)?;
    if request.asks_progress {
        return progress(context, request, &rules, &now);
    }
    let old = old_nodes(&now, request, &rules)?;
    let mut plan = drain::plan(now, &old, &rules, &request.options())?;
    plan.notes.extend(unread);
    plan_report(&plan, &rules, request.form)
}

fn progress(
    context: &Context,
    request: &DrainPlanRequest,
    rules: &Rules,
    now: &State,
) -> Result<Report, Error> {
    let before = request.before.iter().map(|file| {
        let access = ClusterAccess { from: vec![file.clone()], ..ClusterAccess::default() };
        read_state(&*access.open(context)?).map(|(state, _)| state)
    });
    let before: Option<State> = before.collect::<Result<Vec<_>, Error>>()?.pop();
    let first = before.as_ref().unwrap_or(now);
    let old = old_nodes(first, request, rules)?;
    let names: Vec<String> = old.iter().map(|node| first.nodes[*node].face.name.clone()).collect();
    let plan: Plan = drain::plan(first.clone(), &old, rules, &request.options())?;
    let course = Course {
        now,
        before: before.as_ref(),
        old: &names,
        plan: &plan,
        rules,
        new_nodes: request.new_nodes,
        wait_timeout: &request.wait_timeout,
    };
    progress_report(&course.progress(), request.form)
}

/// The rules of the repository, where the command runs in one.
fn rules(context: &Context) -> Result<Rules, Error> {
    context.locate_directories(&[".".into()])?;
    Ok(context.drain_rules())
}

fn old_nodes(
    state: &State,
    request: &DrainPlanRequest,
    rules: &Rules,
) -> Result<Vec<usize>, Error> {
    let is_told = !request.nodes.is_empty() || request.selector.is_some();
    let (nodes, selector) = match is_told {
        true => (&request.nodes, request.selector.as_deref()),
        false => (&rules.nodes, rules.selector.as_deref()),
    };
    drain::old_nodes(state, nodes, selector).map_err(|error| {
        let suggested = match &error {
            PlanError::NoSuchNode(name) => {
                hint::did_you_mean(name, state.nodes.iter().map(|node| node.face.name.as_str()))
            }
            _ => None,
        };
        suggested.into_iter().fold(Error::from(error), Error::hint)
    })
}

/// The state of a cluster, and what of it the account may not read. Without nodes and pods there is none.
pub(super) fn read_state(reader: &dyn ClusterReader) -> Result<(State, Vec<String>), Error> {
    let (mut objects, mut unread): (Vec<Json>, Vec<String>) = (Vec::new(), Vec::new());
    let mut unseen = Vec::new();
    for (group, kind) in KINDS {
        match reader.list(&KindName::new(group, kind), None) {
            Ok(listing) => {
                if !listing.is_known && MATTERS.contains(&kind) {
                    unseen.push(kind);
                }
                objects.extend(listing.items);
            }
            Err(error @ ClusterError::Denied { .. }) if kind != "Node" && kind != "Pod" => {
                unread.push(format!("{error}: the plan does without"));
            }
            Err(error) => return Err(error.into()),
        }
    }
    let mut state = State::read(&objects).map_err(|error| {
        Error::new(codes::DUMP_INVALID, format!("{}: {error}", reader.described()))
            .hint(format!("write one with `{}`", drain::dump_command()))
    })?;
    state.unseen = unseen;
    Ok((state, unread))
}

impl DrainPlanRequest {
    fn options(&self) -> Options {
        Options {
            quotas: self.quotas.clone(),
            bought: self.kind.as_ref().map(NodeKind::bought),
            new_nodes: self.new_nodes,
            new_node: self.kind.as_ref().map(|kind| (kind.allocatable(), kind.pods)),
            overlay: self.overlay.clone(),
            drain_timeout: self.drain_timeout,
            wait_timeout: self.wait_timeout.clone(),
            databases: self.databases,
        }
    }
}
