//! Who builds on a directory, at any distance: asked on every edit, so that the kustomizations which cannot name
//! it are told by their bytes and never parsed.

use std::collections::BTreeSet;
use std::mem;

use super::Graph;
use crate::discover::{self, DiskFiles, FoundKustomizations};
use crate::error::Error;
use crate::kustomize::SourceTree;

/// The most kustomizations among which users are looked for on every edit.
const MOST_SEARCHED: usize = 10_000;
/// The most names that texts are searched for; with more, each is parsed once.
const MOST_NAMES: usize = 64;

/// Who builds on whom in the whole boundary, as far as it was asked.
pub(in crate::ops) struct Users<'a> {
    pub(super) graph: Graph,
    files: &'a DiskFiles,
    tree: SourceTree,
    /// What was not parsed yet: the directories, and the texts of their kustomizations.
    unread: Vec<(String, Option<String>)>,
    links: Vec<String>,
    names_sought: usize,
}

impl<'a> Users<'a> {
    /// Looks through the boundary; `None` where it holds more than [`MOST_SEARCHED`] kustomizations.
    /// `tree` is empty, and may share what was read of these files.
    ///
    /// # Errors
    /// Where a directory cannot be read.
    pub(in crate::ops) fn load(
        tree: SourceTree,
        files: &'a DiskFiles,
    ) -> Result<Option<Self>, Error> {
        let found = discover::find_kustomizations(files.root())?;
        let is_small = found.directories.len() <= MOST_SEARCHED;
        Ok(is_small.then(|| Self::among(tree, files, found)))
    }

    /// The users among `found`; `tree` as for [`Users::load`].
    pub(super) fn among(
        tree: SourceTree,
        files: &'a DiskFiles,
        found: FoundKustomizations,
    ) -> Self {
        let text = |directory: String| {
            let text = discover::kustomization_text(files.root(), &directory);
            (directory, text)
        };
        let unread = found.directories.into_iter().map(text).collect();
        let links = found.links;
        Self { graph: Graph::default(), files, tree, unread, links, names_sought: 0 }
    }

    /// The directories that build on `directory`, at any distance.
    pub(in crate::ops) fn of(&mut self, directory: &str) -> BTreeSet<String> {
        let mut users = BTreeSet::new();
        let mut asked = vec![directory.to_owned()];
        while !asked.is_empty() {
            self.parse_what_may_name(&asked);
            let vertices = asked.iter().filter_map(|directory| self.graph.nodes.get(directory));
            let new = vertices.flat_map(|vertex| &vertex.used_by);
            asked = new.filter(|user| users.insert((*user).clone())).cloned().collect();
        }
        users.remove(directory);
        users
    }

    fn parse_what_may_name(&mut self, directories: &[String]) {
        let names = directories.iter().map(|directory| last_segment(directory));
        let names: Vec<&str> = names.chain(self.links.iter().map(String::as_str)).collect();
        self.names_sought += names.len();
        let is_parsed = |text: &Option<String>| match text {
            Some(text) if self.names_sought <= MOST_NAMES => may_name(text, &names),
            _ => true,
        };
        let (parsed, unread) =
            mem::take(&mut self.unread).into_iter().partition(|(_, text)| is_parsed(text));
        self.unread = unread;
        for (directory, _) in parsed as Vec<(String, Option<String>)> {
            if self.tree.add_alone(self.files, &directory).is_ok() {
                self.graph.add(&self.tree, &directory);
            }
        }
    }
}

/// Whether a kustomization of this text may name a directory or link called one of `names`. A path ends with the
/// name of what it leads to, unless it ends with `..`; a quoted text may hide characters behind a backslash, and
/// one with blanks may be folded over lines.
fn may_name(text: &str, names: &[&str]) -> bool {
    let is_named = |name: &&str| {
        name.contains(char::is_whitespace) || (!name.is_empty() && text.contains(*name))
    };
    names.iter().any(is_named) || text.contains('\\') || text.split(ends_a_path).any(leads_up)
}

fn ends_a_path(c: char) -> bool {
    c.is_whitespace() || "'\",[]{}".contains(c)
}

/// Whether the last step of a path is `..`.
fn leads_up(path: &str) -> bool {
    path.rsplit('/').find(|step| !matches!(*step, "" | ".")) == Some("..")
}

fn last_segment(directory: &str) -> &str {
    directory.rsplit('/').next().unwrap_or(directory)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_left_out_only_where_it_cannot_name_the_directory() {
        for text in [
            "resources: [../../base]",
            "resources: ['../../base/.']",
            "resources: [\"../../b\\x61se\"]",
            "resources:\n- ..\n",
            "resources:\n- ../base/inner/../\n",
            "{\"resources\":[\"./..\"]}",
        ] {
            assert!(may_name(text, &["base"]), "{text}");
        }
        for text in ["resources: [../../core]", "# a remark... and more\nresources: [./x.yaml]", ""]
        {
            assert!(!may_name(text, &["base", ""]), "{text}");
        }
        assert!(may_name("resources: [../my\n  base]", &["my base"]));
    }
}
