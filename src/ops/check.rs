//! `overlay check`: the safety checks over what overlays render, and what a change brings.

mod surroundings;

use std::ffi::OsString;
use std::time::Duration;

use super::Context;
use super::version::Version;
use crate::checks::budgets::{BudgetLine, budget_lines};
use crate::checks::context::Context as CheckContext;
use crate::checks::model::application::Repository;
use crate::checks::settings::{NodeSize, Settings};
use crate::checks::{self, Overlay, Severity, compare};
use crate::discover::{DiskFiles, Located};
use crate::error::Error;
use crate::kustomize::{Rendered, SourceTree};
use crate::report::Report;
use crate::report::check::{CheckForm, CheckReport, CheckedOverlay};

/// What the user asks of `overlay check`.
#[derive(Clone, Debug)]
pub struct CheckRequest {
    /// The overlays as typed: directories, kustomization files or patterns.
    pub overlays: Vec<OsString>,
    /// `--fail-on`: the severity that ends the command with 7; `None` for none.
    pub fail_on: Option<Severity>,
    /// `--new-since`: the revision to compare with.
    pub new_since: Option<String>,
    /// `--namespace`: list the budgets, those of one namespace where it is named.
    pub budgets: Option<Namespaces>,
    /// `--node-drain`: how long a node drain waits.
    pub node_drain: Option<Duration>,
    /// `--nodes`: the number of nodes.
    pub nodes: Option<i64>,
    /// `--node-size`: what one node has for pods.
    pub node_size: Option<NodeSize>,
    /// The form of the result where it is neither for people nor JSON.
    pub form: Option<CheckForm>,
}

/// Whose budgets are listed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Namespaces {
    /// Everybody's.
    All,
    /// Those of one namespace.
    One(String),
}

/// An overlay with what it renders: nothing where it cannot be rendered, so that its files are
/// checked all the same.
struct Loaded {
    located: Located,
    tree: SourceTree,
    rendered: Rendered,
    problem: Option<Error>,
}

/// Checks every overlay named; one that does not build is reported and the others are checked.
///
/// # Errors
/// Where an overlay is not there, or the revision to compare with cannot be read.
pub fn run(context: &Context, request: &CheckRequest) -> Result<Report, Error> {
    let (files, located) = context.locate(&request.overlays)?;
    let settings = settings(context, request);
    let repository = surroundings::repository(&files, &context.environment);
    let loaded = load_all(context, &files, &located)?;
    let views: Vec<Overlay<'_>> = loaded.iter().map(Loaded::view).collect();
    let before = match &request.new_since {
        Some(revision) => Some(surroundings::at_revision(context, &files, revision, &loaded)?),
        None => None,
    };
    let earlier = |at: usize| before.as_ref()?[at].as_ref().map(|(_, rendered)| rendered);
    let each: Vec<(&Loaded, Option<&Rendered>)> =
        loaded.iter().enumerate().map(|(at, loaded)| (loaded, earlier(at))).collect();
    let check = |(loaded, earlier): &(&Loaded, _)| {
        Ok(check(loaded, *earlier, &views, &settings, &repository))
    };
    let mut overlays: Vec<CheckedOverlay> = context.for_each_of(&each, check)?;
    if let Some(before) = &before {
        subtract(&mut overlays, before, &settings, &repository);
    }
    let budgets = request.budgets.as_ref().map(|which| list_budgets(which, &views, &settings));
    let report = CheckReport { overlays, budgets, fail_on: request.fail_on };
    report.into_report(request.form)
}

/// What the repository decides, and the flags over it.
fn settings(context: &Context, request: &CheckRequest) -> Settings {
    let mut settings = context.check_settings();
    settings.node_drain = request.node_drain.or(settings.node_drain);
    settings.nodes = request.nodes.or(settings.nodes);
    if let Some(size) = request.node_size {
        settings.node_size = size;
    }
    settings
}

fn load_all(
    context: &Context,
    files: &DiskFiles,
    located: &[Located],
) -> Result<Vec<Loaded>, Error> {
    let version = Version::new(context, files);
    context.for_each_of(located, |located| {
        let located = located.clone();
        let tree = match version.load(&located.directory) {
            Ok(tree) => tree,
            Err(error) => return Ok(Loaded::broken(located, SourceTree::default(), error)),
        };
        Ok(match context.render(&tree, &located.directory) {
            Ok(built) => Loaded { located, tree, rendered: built.rendered, problem: None },
            Err(error) => Loaded::broken(located, tree, error),
        })
    })
}

impl Loaded {
    fn broken(located: Located, tree: SourceTree, problem: Error) -> Self {
        Self { located, tree, rendered: Rendered::default(), problem: Some(problem) }
    }

    fn view(&self) -> Overlay<'_> {
        let directory = &self.located.directory;
        Overlay { directory, rendered: &self.rendered, tree: &self.tree }
    }
}

fn check(
    loaded: &Loaded,
    earlier: Option<&Rendered>,
    all: &[Overlay<'_>],
    settings: &Settings,
    repository: &Repository,
) -> CheckedOverlay {
    let outcome = checks::run_since(earlier, loaded.view(), all, settings, repository);
    CheckedOverlay {
        path: loaded.located.shown(),
        findings: outcome.findings,
        removed: Vec::new(),
        excepted: outcome.excepted,
        problem: loaded.problem.clone(),
    }
}

/// Leaves in `overlays` only what is new since `before`, and notes what is gone. An overlay that did
/// not build then, or was not there, is new as a whole.
fn subtract(
    overlays: &mut [CheckedOverlay],
    before: &[Option<(SourceTree, Rendered)>],
    settings: &Settings,
    repository: &Repository,
) {
    let views: Vec<Option<Overlay<'_>>> = before
        .iter()
        .map(|built| built.as_ref())
        .map(|built| {
            built.map(|(tree, rendered)| Overlay { directory: tree.overlay(), rendered, tree })
        })
        .collect();
    let all: Vec<Overlay<'_>> = views.iter().flatten().copied().collect();
    for (overlay, view) in overlays.iter_mut().zip(&views) {
        let Some(view) = view.filter(|_| overlay.problem.is_none()) else { continue };
        let old = checks::run(view, &all, settings, repository).findings;
        let delta = compare(&old, &overlay.findings);
        let excepted = std::mem::take(&mut overlay.excepted);
        *overlay = CheckedOverlay::of_delta(overlay.path.clone(), delta, excepted);
    }
}

fn list_budgets(which: &Namespaces, views: &[Overlay<'_>], settings: &Settings) -> Vec<BudgetLine> {
    let only = match which {
        Namespaces::All => None,
        Namespaces::One(name) => Some(&**name),
    };
    let repository = Repository::default();
    let mut lines: Vec<BudgetLine> = views
        .iter()
        .flat_map(|view| {
            budget_lines(&CheckContext::new(*view, views, settings, &repository), only)
        })
        .collect();
    lines.sort_by(|a, b| (&a.namespace, &a.name).cmp(&(&b.namespace, &b.name)));
    lines
}
