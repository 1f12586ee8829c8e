//! `overlay list`: every overlay, base and component below a directory, with who uses whom.

mod users;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;

pub(super) use users::Users;

use super::Context;
use crate::discover::{self, DiskFiles};
use crate::error::Error;
use crate::kustomize::SourceTree;
use crate::kustomize::remote;
use crate::kustomize::types::Kind;
use crate::report::Report;
use crate::report::list::{Listed, ListedKind, Listing};

/// Lists what is below each of `directories`; users of it are looked for in the whole boundary.
///
/// # Errors
/// Where a directory is not there or has no boundary.
pub fn run(context: &Context, directories: &[OsString]) -> Result<Report, Error> {
    let (files, below) = context.locate_directories(directories)?;
    let found = discover::find_kustomizations(files.root())?;
    let graph = Graph::load(SourceTree::default(), &files, &found.directories)?;
    let is_listed =
        |path: &str| below.iter().any(|top| top.is_empty() || path == top || is_below(path, top));
    let listing = Listing { overlays: graph.listed(is_listed), skipped: found.skipped };
    Ok(Report::unchanged("list", listing.to_json(), listing.to_text()))
}

/// The overlays of the boundary that use `directory`, through others or not.
///
/// # Errors
/// Where the boundary holds too much to look through.
pub(super) fn overlays_using(files: &DiskFiles, directory: &str) -> Result<Vec<String>, Error> {
    let found = discover::find_kustomizations(files.root())?;
    let mut users = Users::among(SourceTree::default(), files, found);
    let tops = users.of(directory).into_iter().filter(|user| users.graph.is_top(user));
    Ok(tops.map(|top| discover::shown_directory(&top)).collect())
}

fn is_below(path: &str, top: &str) -> bool {
    path.strip_prefix(top).is_some_and(|rest| rest.starts_with('/'))
}

/// Who uses whom, by directory.
#[derive(Default)]
struct Graph {
    nodes: BTreeMap<String, Vertex>,
}

#[derive(Default)]
struct Vertex {
    is_component: bool,
    problem: Option<String>,
    uses: BTreeSet<String>,
    used_by: BTreeSet<String>,
    remote: Vec<String>,
}

impl Graph {
    fn load(
        mut tree: SourceTree,
        files: &DiskFiles,
        directories: &[String],
    ) -> Result<Self, Error> {
        for directory in directories {
            tree.add_alone(files, directory)?;
        }
        let mut graph = Self::default();
        for directory in directories {
            graph.add(&tree, directory);
        }
        Ok(graph)
    }

    /// Whether it is an overlay that nothing uses.
    fn is_top(&self, directory: &str) -> bool {
        let vertex = self.nodes.get(directory);
        vertex.is_some_and(|vertex| vertex.used_by.is_empty() && !vertex.is_component)
    }

    fn add(&mut self, tree: &SourceTree, directory: &str) {
        let mut remotes = Vec::new();
        let mut uses = BTreeSet::new();
        match tree.kustomization(directory) {
            Some(read) => {
                for reference in read.kustomization.directory_references() {
                    if remote::is_remote(&reference.text) {
                        remotes.push(remote::without_credentials(&reference.text));
                    } else if let Some(used) = tree.directory_from(directory, &reference.text) {
                        uses.insert(used.to_owned());
                    }
                }
                let is_component = read.kustomization.file_kind() == Kind::Component;
                self.vertex(directory).is_component = is_component;
            }
            None => {
                let problem = tree.kustomization_problem(directory).map(|error| error.to_string());
                self.vertex(directory).problem = problem;
            }
        }
        for used in &uses {
            self.vertex(used).used_by.insert(directory.to_owned());
        }
        let vertex = self.vertex(directory);
        vertex.uses = uses;
        vertex.remote = remotes;
    }

    fn vertex(&mut self, directory: &str) -> &mut Vertex {
        self.nodes.entry(directory.to_owned()).or_default()
    }

    fn listed(self, is_listed: impl Fn(&str) -> bool) -> Vec<Listed> {
        let nodes = self.nodes.into_iter().filter(|(directory, _)| is_listed(directory));
        let shown =
            |paths: BTreeSet<String>| paths.iter().map(|p| discover::shown_directory(p)).collect();
        nodes
            .map(|(directory, vertex)| Listed {
                path: discover::shown_directory(&directory),
                kind: match (vertex.is_component, vertex.used_by.is_empty()) {
                    (true, _) => ListedKind::Component,
                    (false, true) => ListedKind::Overlay,
                    (false, false) => ListedKind::Base,
                },
                uses: shown(vertex.uses),
                used_by: shown(vertex.used_by),
                remote: vertex.remote,
                problem: vertex.problem,
            })
            .collect()
    }
}
