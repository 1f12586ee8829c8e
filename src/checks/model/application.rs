//! Argo CD Applications: manifests found in the repository that deploy overlays of it.
//!
//! Source: argo-cd `pkg/apis/application/v1alpha1/types.go`, `util/app/path`
//! (`manifest-generate-paths`), `util/git/client.go` (`lsRemote`).

use super::{is_true, items_at, text_at};
use crate::checks::finding::{Place, Subject};
use crate::kustomize::node::Node;
use crate::kustomize::{BuildError, Rendered, Resource};
use crate::repository_url::normalised;

/// An Application, and the file it stands in.
#[derive(Clone, Debug)]
pub struct Application {
    /// The file, relative to the boundary.
    pub file: String,
    resource: Resource,
}

/// One source of an Application.
#[derive(Clone, Copy, Debug)]
pub struct AppSource<'a> {
    /// Its value.
    pub node: &'a Node,
    /// `repoURL`.
    pub repository: &'a str,
    /// `path`, without slashes at its ends; `.` is empty.
    pub path: &'a str,
}

/// What is known of the repository that the Applications stand in.
#[derive(Clone, Debug, Default)]
pub struct Repository {
    /// The Applications in it.
    pub applications: Vec<Application>,
    /// The URLs it is known by.
    pub urls: Vec<String>,
    /// Its branches and tags, short names; `None` where they are not known.
    pub refs: Option<Vec<String>>,
    /// Every directory that an Application names and that is there.
    pub directories: Vec<String>,
}

impl Application {
    /// The Applications in a YAML text.
    ///
    /// # Errors
    /// For a text that is no YAML or holds what is no Kubernetes object.
    pub fn find_in(file: &str, text: &str) -> Result<Vec<Self>, BuildError> {
        let rendered = Rendered::parse_with_lines(text)?;
        let is_application = |resource: &Resource| {
            resource.kind() == "Application" && resource.api_version().starts_with("argoproj.io/")
        };
        let resources = rendered.resources.into_iter().filter(is_application);
        Ok(resources.map(|resource| Self { file: file.to_owned(), resource }).collect())
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        self.resource.name()
    }

    /// It, as the subject of a finding.
    #[must_use]
    pub fn subject(&self) -> Subject {
        Subject::of(&self.resource)
    }

    /// Its value.
    #[must_use]
    pub fn node(&self) -> &Node {
        &self.resource.node
    }

    /// Where `node` of it stands.
    #[must_use]
    pub fn place(&self, node: &Node) -> Place {
        Place { file: self.file.clone(), line: node.origin.line.max(1) }
    }

    /// The value of an annotation.
    #[must_use]
    pub fn annotation(&self, key: &str) -> Option<&Node> {
        self.resource.node.lookup(&["metadata", "annotations", key])
    }

    /// Its sources.
    #[must_use]
    pub fn sources(&self) -> Vec<AppSource<'_>> {
        let spec = |path: &[&str]| self.node().lookup(&["spec"]).and_then(|s| s.lookup(path));
        let many = items_at(self.node(), &["spec", "sources"]);
        let one = spec(&["source"]).into_iter();
        one.chain(many)
            .filter_map(|node| {
                let repository = text_at(node, &["repoURL"])?;
                let path = text_at(node, &["path"])?.trim_matches('/');
                let path = path.strip_prefix("./").unwrap_or(path);
                let path = if path == "." { "" } else { path };
                Some(AppSource { node, repository, path })
            })
            .collect()
    }

    /// Whether it syncs by itself, and what that may do (`prune`, `selfHeal`).
    #[must_use]
    pub fn automated(&self, what: &str) -> bool {
        let automated = ["spec", "syncPolicy", "automated"];
        let is_off =
            text_at(self.node(), &["spec", "syncPolicy", "automated", "enabled"]) == Some("false");
        self.node()
            .lookup(&automated)
            .is_some_and(|automated| !is_off && is_true(automated, &[what]))
    }
}

impl Repository {
    /// Whether `url` is this repository: one of its own URLs, or, where none is known, one whose
    /// Applications name directories that are there.
    #[must_use]
    pub fn is_own(&self, url: &str) -> bool {
        let wanted = normalised(url);
        if !self.urls.is_empty() {
            return self.urls.iter().any(|own| normalised(own) == wanted);
        }
        let sources = self.applications.iter().flat_map(Application::sources);
        sources
            .filter(|source| !source.path.is_empty() && normalised(source.repository) == wanted)
            .any(|source| self.directories.iter().any(|directory| directory == source.path))
    }
}

/// Whether `path` (below the boundary) is told by `manifest-generate-paths`, seen from `source`.
#[must_use]
pub fn is_covered(paths: &str, source: &str, path: &str) -> bool {
    paths.split(';').map(str::trim).filter(|item| !item.is_empty()).any(|item| {
        let whole = match item.strip_prefix('/') {
            Some(absolute) => absolute.to_owned(),
            None => format!("{source}/{item}"),
        };
        let clean = cleaned(&whole);
        clean.is_empty()
            || path == clean
            || path.strip_prefix(&*clean).is_some_and(|rest| rest.starts_with('/'))
            || (clean.contains('*') && crate::checks::settings::matches_pattern(&clean, path))
    })
}

/// `a/../b/.` as `b`.
fn cleaned(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            _ => parts.push(part),
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_cover_what_is_below_them() {
        assert!(is_covered(".", "overlays/prod", "overlays/prod"));
        assert!(is_covered(".;../../base", "overlays/prod", "base/web"));
        assert!(is_covered("/base", "overlays/prod", "base"));
        assert!(!is_covered(".", "overlays/prod", "base"));
        assert!(!is_covered("/bas", "overlays/prod", "base"));
    }
}
