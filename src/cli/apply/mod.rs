//! `overlay apply`: a file of changes. Each item is read by the arguments of the command that makes the
//! same change, so that the file can say what the command line can, and nothing else.

mod item;
mod kinds;
mod schema;

use std::path::Path;

use clap::Args;

pub(super) use schema::schema;

use super::edit::EditArgs;
use crate::change::{Change, Part};
use crate::error::{Error, Location, codes};
use crate::ops::edit::EditRequest;
use crate::ops::input::{self, Input};
use crate::ops::{self, Context};
use crate::report::Report;
use crate::yaml::{self, Kind, NodeId, Tree};

/// The most changes of one file.
const MOST_CHANGES: usize = 1_000;

/// Make several changes as one: planned, proven and written together, all or nothing.
#[derive(Clone, Debug, Args)]
pub(crate) struct ApplyArgs {
    #[command(flatten)]
    pub(super) edit: EditArgs,

    /// The changes, in YAML (docs/changes.schema.json); - for standard input.
    #[arg(short = 'f', long = "file", value_name = "CHANGES.yaml")]
    file: String,
}

impl ApplyArgs {
    /// Runs the command.
    pub(crate) fn run(&self, context: &Context) -> Result<Report, Error> {
        ops::edit::run(context, &self.to_request(context)?)
    }

    /// The request, with the changes read from where they are.
    ///
    /// # Errors
    /// Where they cannot be read, or the delivery options contradict each other.
    pub(crate) fn to_request(&self, context: &Context) -> Result<EditRequest, Error> {
        let input = match self.file.as_str() {
            "-" => input::load(&context.cwd, "--file", "-")?,
            file => input::load_file(&context.cwd, Path::new(file))?,
        };
        self.edit.to_request(Change::Several(read(&input)?))
    }
}

/// The changes of a file, read strictly.
///
/// # Errors
/// Broken YAML, an unknown key, a key that stands twice, or a wrong value, with line and column.
fn read(input: &Input) -> Result<Vec<Part>, Error> {
    let tree = yaml::parse(&input.text).map_err(|error| {
        let place = Location::at(&*input.name, error.line as usize, error.column as usize);
        Error::new(codes::USAGE, error.message).at(place)
    })?;
    let reader = Reader { tree: &tree, file: &input.name };
    match tree.roots() {
        [] => Err(Error::new(codes::USAGE, format!("{}: no changes", input.name))),
        [root] => reader.parts(*root),
        [_, second, ..] => Err(reader.wrong(*second, "a second document")),
    }
}

/// Reads one file of changes.
struct Reader<'a> {
    tree: &'a Tree<'a>,
    file: &'a str,
}

impl Reader<'_> {
    fn parts(&self, root: NodeId) -> Result<Vec<Part>, Error> {
        let mut changes = None;
        for (name, key, value) in self.pairs(root)? {
            match name {
                "changes" => changes = Some(value),
                _ => return Err(self.wrong(key, &format!("`{name}` is no key here; `changes` is"))),
            }
        }
        let list = changes.ok_or_else(|| self.wrong(root, "`changes` is missing"))?;
        if !matches!(self.tree.node(list).kind, Kind::Seq { .. }) {
            return Err(self.wrong(list, "`changes` is not a list"));
        }
        let items = self.tree.items(list);
        if items.len() > MOST_CHANGES {
            return Err(self.wrong(list, &format!("more than {MOST_CHANGES} changes")));
        }
        items.iter().map(|item| self.part(self.tree.target(*item))).collect()
    }

    /// The entries of a mapping, each key once.
    fn pairs(&self, node: NodeId) -> Result<Vec<(&str, NodeId, NodeId)>, Error> {
        let node = self.tree.target(node);
        if !matches!(self.tree.node(node).kind, Kind::Map { .. }) {
            return Err(self.wrong(node, "not a mapping"));
        }
        let mut pairs: Vec<(&str, NodeId, NodeId)> = Vec::new();
        for (key, value) in self.tree.pairs(node) {
            let name = self.tree.node(key).scalar().unwrap_or_default();
            if pairs.iter().any(|(seen, _, _)| *seen == name) {
                return Err(self.wrong(key, &format!("`{name}` stands twice")));
            }
            pairs.push((name, key, self.tree.target(value)));
        }
        Ok(pairs)
    }

    fn place(&self, at: NodeId) -> Location {
        let node = self.tree.node(at);
        Location::at(self.file, node.line as usize, node.column as usize)
    }

    fn wrong(&self, at: NodeId, message: &str) -> Error {
        Error::new(codes::USAGE, message).at(self.place(at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(text: &str) -> Result<Vec<Part>, Error> {
        read(&Input { name: "changes.yaml".to_owned(), text: text.to_owned() })
    }

    #[test]
    fn every_kind_of_change_is_read() {
        let digest = format!("sha256:{}", "3409".repeat(16));
        let text = format!(
            "changes:
- pin: {{web: '{digest}'}}
- replicas: {{web: 3, Deployment/api: 2}}
  turnOn: true
  overlays: [overlays/prod]
- strategy: [web, api]
  maxSurge: 25%
- drain: gate
  timeout: 30m
  arg: [--drain]
- instances: {{pg: 3}}
- resources: web
  requests: {{cpu: 50m, memory: 1Gi}}
- field: Deployment/web
  set: {{spec.paused: true, 'metadata.annotations.a': '3'}}
- restart: web
  at: 2026-01-31T10:00:00Z
- components:
  add: ../x
"
        );
        let parts = outcome(&text).unwrap();
        let commands: Vec<&str> = parts.iter().map(|part| part.change.command()).collect();
        assert_eq!(
            commands,
            [
                "pin",
                "set replicas",
                "set strategy",
                "set drain",
                "set instances",
                "set resources",
                "set field",
                "restart",
                "set components"
            ]
        );
        assert_eq!(
            (parts[1].line, parts[1].column, &*parts[1].overlays[0]),
            (3, 3, "overlays/prod")
        );
        let Change::SetFields(fields) = &parts[6].change else { panic!("{parts:?}") };
        assert_eq!(fields.fields[0].1, Some(true.into()));
        assert_eq!(fields.fields[1].1, Some("3".into()));
    }

    #[test]
    fn what_is_wrong_has_its_place() {
        for (text, line, column) in [
            ("changes:\n- replicas: {web: 3}\n  turnon: true\n", 3, 3),
            ("changes:\n- replica: {web: 3}\n", 2, 3),
            ("changes:\n- replicas: {web: 3}\n  replicas: {api: 3}\n", 3, 3),
            ("changes:\n- replicas: {web: 3}\n  strategy: web\n", 3, 3),
            ("changes:\n- replicas: {web: x}\n", 2, 3),
            ("changes:\n- replicas: {web: 3}\n  dryRun: true\n", 3, 3),
            ("changes:\n- replicas: {web: 3}\n  turnOn: perhaps\n", 3, 11),
            ("changes: {}\n", 1, 10),
            ("changes: []\nmore: 1\n", 2, 1),
            ("changes: [\n", 1, 10),
            ("changes: []\n---\nchanges: []\n", 3, 1),
        ] {
            let error = outcome(text).unwrap_err();
            let place = error.location().unwrap();
            assert_eq!((place.line, place.column), (Some(line), Some(column)), "{text:?} {error}");
        }
    }
}
