//! `buildMetadata`: where each resource comes from and what changed it, as annotations, and the label
//! that says kustomize made it.
//!
//! Source: kustomize `api/resource/origin.go`, `api/resmap/reswrangler.go`
//! (`AddTransformerAnnotation`), `api/krusty/kustomizer.go`. Paths are relative to the overlay that
//! is built.

use std::borrow::Cow;

use super::field_spec::FieldSpec;
use super::labels::set_labels;
use crate::kustomize::error::{BuildError, BuildErrorKind};
use crate::kustomize::node::{Map, Node, Text, Value};
use crate::kustomize::origin::Origin;
use crate::kustomize::resmap::ResMap;
use crate::kustomize::resource::Resource;
use crate::kustomize::types::{Located, Strings};
use crate::yaml::scalar::{double_quoted, plain_is_safe};

/// The annotation that says where a resource comes from.
pub(super) const ORIGIN: &str = "config.kubernetes.io/origin";

/// The annotation that lists what changed a resource.
const TRANSFORMATIONS: &str = "alpha.config.kubernetes.io/transformations";

/// The label of `managedByLabel`, and its value for the version that this build follows.
const MANAGED_BY: (&str, &str) = ("app.kubernetes.io/managed-by", "kustomize-v5.8.1");

/// Where the kustomization that is being built stands.
#[derive(Clone, Debug, Default)]
pub(crate) struct Provenance {
    directory: String,
    /// The name of the kustomization file.
    pub(super) file: &'static str,
    /// Whether the annotations are printed, and not only kept while the build runs.
    pub(super) is_printed: bool,
}

impl Provenance {
    /// At the overlay that is built.
    pub(super) fn of_root(is_printed: bool) -> Self {
        Self { is_printed, ..Self::default() }
    }

    /// The same for the directory that `path` names.
    pub(super) fn enter(&self, path: &str) -> Self {
        Self { directory: join(&self.directory, path), ..self.clone() }
    }

    /// Marks `resource` as read from the file that `path` names.
    ///
    /// # Errors
    /// [`BuildErrorKind::Transformer`] where its annotations are no map.
    pub(super) fn mark_file(&self, resource: &mut Resource, path: &str) -> Result<(), BuildError> {
        let found = resource.node.lookup(&["metadata", "annotations"]);
        if let Some(other) = found.filter(|found| found.as_map().is_none() && !found.is_null()) {
            let message = format!("the annotations of {} must be a map", resource.current_id());
            return Err(BuildError::new(BuildErrorKind::Transformer, message).at(other.origin));
        }
        let text = self.text_of(path);
        let origin = resource.origin;
        let Some(found) = resource.node.lookup_mut(&["metadata", "annotations"]) else {
            set_annotation(resource, ORIGIN, text);
            return Ok(());
        };
        if found.is_null() {
            found.value = Value::Map(Map::new());
        }
        if let Some(annotations) = found.as_map_mut() {
            annotations.set_field(ORIGIN, Node::string(text, origin));
        }
        Ok(())
    }

    fn text_of(&self, path: &str) -> String {
        format!("path: {}\n", scalar(&join(&self.directory, path)))
    }

    /// Marks `resource`, a plugin, as given in the kustomization file.
    pub(super) fn mark_inline(&self, resource: &mut Resource) {
        set_annotation(resource, ORIGIN, self.text_of(self.file));
    }

    /// What a field of the kustomization file runs.
    pub(super) fn builtin(&self, kind: &str) -> Step {
        let configured_in = join(&self.directory, self.file);
        Step::new(&configured_in, &[("apiVersion", "builtin"), ("kind", kind)])
    }
}

/// A generator or transformer and the file that configures it, as YAML.
#[derive(Clone, Debug)]
pub(super) struct Step {
    text: String,
}

impl Step {
    fn new(configured_in: &str, configured_by: &[(&str, &str)]) -> Self {
        let mut text = format!("configuredIn: {}\nconfiguredBy:\n", scalar(configured_in));
        for (key, value) in configured_by.iter().filter(|(_, value)| !value.is_empty()) {
            text.push_str(&format!("  {key}: {}\n", scalar(value)));
        }
        Self { text }
    }

    /// The step of a plugin; `None` for one that is not marked.
    pub(super) fn of_plugin(plugin: &Resource) -> Option<Self> {
        let origin = plugin.annotation(ORIGIN)?;
        let path = origin.lines().find_map(|line| line.strip_prefix("path: "))?;
        let id = plugin.current_id();
        let by = [
            ("apiVersion", &*id.api_version),
            ("kind", &*id.kind),
            ("name", &*id.name),
            ("namespace", &*id.namespace),
        ];
        Some(Self::new(path.trim_matches('"'), &by))
    }

    /// Marks a generated resource that has no origin yet.
    pub(super) fn mark_generated(&self, resource: &mut Resource) {
        if resource.annotation(ORIGIN).is_none() {
            set_annotation(resource, ORIGIN, self.text.clone());
        }
    }

    /// Adds the step to what changed each resource.
    pub(super) fn record(&self, resources: &mut ResMap) {
        for resource in resources.resources_mut() {
            if resource.annotation(ORIGIN).is_none() {
                set_annotation(resource, ORIGIN, self.text.clone());
                continue;
            }
            let mut list = resource.annotation(TRANSFORMATIONS).map_or("", |t| t).to_owned();
            for (line, lead) in
                self.text.lines().zip(["- ", "  "].into_iter().chain(std::iter::repeat("  ")))
            {
                list.push_str(&format!("{lead}{line}\n"));
            }
            set_annotation(resource, TRANSFORMATIONS, list);
        }
    }
}

/// Keeps the origin of a resource that a generator was merged into.
pub(super) fn keep_origin(resource: &mut Resource, origin: Option<Text>) {
    if let Some(origin) = origin {
        set_annotation(resource, ORIGIN, origin.to_string());
    }
}

/// Labels every resource as made by kustomize.
///
/// # Errors
/// As labels.
pub(super) fn set_managed_by(resources: &mut ResMap, origin: Origin) -> Result<(), BuildError> {
    let value = Located { text: Text::from(MANAGED_BY.1), origin, ..Located::default() };
    let pairs = Strings { entries: vec![(Text::from(MANAGED_BY.0), value)] };
    let path = Cow::Borrowed("metadata/labels");
    let spec = FieldSpec { path, create: true, ..FieldSpec::default() };
    set_labels(resources, &pairs, &Cow::Owned(vec![spec]))
}

fn set_annotation(resource: &mut Resource, key: &str, text: String) {
    let mut annotations = resource.annotations();
    annotations.retain(|(known, _)| &**known != key);
    annotations.push((Text::from(key), Text::from(text)));
    let origin = resource.origin;
    resource.set_annotations(annotations, origin);
}

fn scalar(text: &str) -> String {
    if plain_is_safe(text, false) { text.to_owned() } else { double_quoted(text) }
}

/// Go's `filepath.Join`.
fn join(directory: &str, path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in directory.split('/').chain(path.split('/')) {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    parts.join("/")
}
