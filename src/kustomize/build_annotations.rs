//! What kustomize remembers of a resource, as the annotations it keeps it in.
//!
//! A resource holds it in fields; patches, which can see and remove the annotations, get them
//! written out first and read back after. Source: kustomize api `internal/utils/annotations.go`,
//! `resource/resource.go`.

use super::error::{BuildError, BuildErrorKind};
use super::node::{Node, Text};
use super::origin::Origin;
use super::resource::{BUILD_ANNOTATION_PREFIX, Behavior, PreviousId, Resource};

const PREVIOUS_KINDS: &str = "previousKinds";
const PREVIOUS_NAMES: &str = "previousNames";
const PREVIOUS_NAMESPACES: &str = "previousNamespaces";
const PREFIXES: &str = "prefixes";
const SUFFIXES: &str = "suffixes";
const REFERRED_BY: &str = "refBy";
const BEHAVIOR: &str = "generatorBehavior";
const NEEDS_HASH: &str = "needsHashSuffix";
const ALLOW_NAME_CHANGE: &str = "allowNameChange";
const ALLOW_KIND_CHANGE: &str = "allowKindChange";

/// The value of a switch that is on.
const ENABLED: &str = "enabled";

impl Resource {
    /// Takes over what the annotations of a resource that was just read say.
    ///
    /// # Errors
    /// [`BuildErrorKind::Resource`] for former names, namespaces and kinds that differ in number.
    pub(crate) fn adopt_build_annotations(&mut self) -> Result<(), BuildError> {
        let is_internal = |key: &str| key.starts_with(BUILD_ANNOTATION_PREFIX);
        let annotations = self.node.lookup(&["metadata", "annotations"]).and_then(Node::as_map);
        if !annotations.is_some_and(|map| map.entries().iter().any(|e| is_internal(&e.key.text))) {
            return Ok(());
        }
        self.behavior = self.build_annotation(BEHAVIOR).map(|text| Behavior::parse(&text));
        self.needs_hash = self.is_enabled(NEEDS_HASH);
        self.prefixes = self.parts_of_annotation(PREFIXES);
        self.suffixes = self.parts_of_annotation(SUFFIXES);
        if self.build_annotation(PREVIOUS_NAMES).is_none() {
            return Ok(());
        }
        let all = |name| {
            let text = self.build_annotation(name).unwrap_or_default();
            text.split(',').map(Text::from).collect::<Vec<Text>>()
        };
        let (names, namespaces, kinds) =
            (all(PREVIOUS_NAMES), all(PREVIOUS_NAMESPACES), all(PREVIOUS_KINDS));
        if names.len() != namespaces.len() || names.len() != kinds.len() {
            let message = "former names, namespaces and kinds in annotations differ in number";
            return Err(BuildError::new(BuildErrorKind::Resource, message).at(self.origin));
        }
        let ids = names.into_iter().zip(namespaces).zip(kinds);
        self.previous_ids =
            ids.map(|((name, namespace), kind)| PreviousId { namespace, name, kind }).collect();
        Ok(())
    }

    /// What an annotation lists, with commas.
    fn parts_of_annotation(&self, name: &str) -> Vec<Text> {
        let text = self.build_annotation(name).filter(|text| !text.is_empty());
        text.map(|text| text.split(',').map(Text::from).collect()).unwrap_or_default()
    }

    /// Removes what is empty of the annotations and of the metadata, which matters where one of them
    /// stands twice: kyaml does so before it notes something down (`ClearEmptyAnnotations`).
    pub(crate) fn clear_empty_annotations(&mut self) {
        if let Some(metadata) = self.node.get_mut("metadata") {
            // It does not ask whether they are a map.
            remove_all(metadata, "annotations", |value| {
                value.as_scalar().is_some() || value.is_nil_or_empty()
            });
        }
        remove_all(&mut self.node, "metadata", Node::is_nil_or_empty);
    }

    /// Whether there are annotations in kustomize's eyes, though none may be printed.
    pub(crate) fn has_build_annotations(&self) -> bool {
        !self.build_annotations().is_empty()
    }

    /// Writes the fields into the annotations, for a patch to see them.
    pub(crate) fn expose_build_annotations(&mut self) {
        let pairs = self.build_annotations();
        if pairs.is_empty() {
            return;
        }
        let origin = Origin::NONE;
        let annotations = self
            .node
            .as_map_mut()
            .and_then(|map| map.map_or_create("metadata", origin))
            .and_then(|metadata| metadata.map_or_create("annotations", origin));
        if let Some(annotations) = annotations {
            for (name, value) in pairs {
                let key = format!("{BUILD_ANNOTATION_PREFIX}{name}");
                annotations.insert(key, Node::string(value, origin));
            }
        }
    }

    /// Reads the fields back from the annotations and removes these: what is not there any more is
    /// forgotten.
    pub(crate) fn hide_build_annotations(&mut self) {
        let has = |name: &str| self.build_annotation(name).is_some();
        let history = has(PREVIOUS_NAMES) && has(PREVIOUS_NAMESPACES) && has(PREVIOUS_KINDS);
        let (prefixes, suffixes, refs) = (has(PREFIXES), has(SUFFIXES), has(REFERRED_BY));
        let behavior = self.build_annotation(BEHAVIOR).map(|text| Behavior::parse(&text));
        self.needs_hash = self.is_enabled(NEEDS_HASH);
        self.allow_name_change = self.is_enabled(ALLOW_NAME_CHANGE);
        self.allow_kind_change = self.is_enabled(ALLOW_KIND_CHANGE);
        self.behavior = behavior;
        forget_unless(history, &mut self.previous_ids);
        forget_unless(prefixes, &mut self.prefixes);
        forget_unless(suffixes, &mut self.suffixes);
        forget_unless(refs, &mut self.referred_by);
        self.remove_build_annotations();
    }

    /// Forgets everything that stands in annotations.
    pub(crate) fn forget_build_annotations(&mut self) {
        self.forget_history();
        self.behavior = None;
        self.needs_hash = false;
        self.allow_name_change = false;
        self.allow_kind_change = false;
    }

    /// Forgets what stood in annotations that have no place any more.
    pub(crate) fn forget_history(&mut self) {
        self.previous_ids.clear();
        self.prefixes.clear();
        self.suffixes.clear();
        self.referred_by.clear();
    }

    /// Removes the annotations that [`Resource::expose_build_annotations`] wrote, and the map if
    /// nothing else is left in it; the fields stay.
    pub(crate) fn remove_build_annotations(&mut self) {
        let Some(metadata) = self.node.get_mut("metadata").and_then(Node::as_map_mut) else {
            return;
        };
        let Some(annotations) = metadata.get_mut("annotations").and_then(Node::as_map_mut) else {
            return;
        };
        let before = annotations.len();
        annotations.entries_mut().retain(|entry| {
            let name = entry.key.text.strip_prefix(BUILD_ANNOTATION_PREFIX);
            name.is_none_or(|name| !KNOWN.contains(&name))
        });
        if annotations.is_empty() && before > 0 {
            metadata.remove("annotations");
        }
    }

    fn build_annotations(&self) -> Vec<(&'static str, String)> {
        let mut pairs = Vec::new();
        if !self.previous_ids.is_empty() {
            let all = |part: fn(&super::resource::PreviousId) -> &Text| {
                let parts: Vec<&str> = self.previous_ids.iter().map(|id| &**part(id)).collect();
                parts.join(",")
            };
            pairs.push((PREVIOUS_NAMES, all(|id| &id.name)));
            pairs.push((PREVIOUS_NAMESPACES, all(|id| &id.namespace)));
            pairs.push((PREVIOUS_KINDS, all(|id| &id.kind)));
        }
        let mut add = |name, value: String| {
            if !value.is_empty() {
                pairs.push((name, value));
            }
        };
        add(PREFIXES, self.prefixes.join(","));
        add(SUFFIXES, self.suffixes.join(","));
        let refs: Vec<String> = self.referred_by.iter().map(ToString::to_string).collect();
        add(REFERRED_BY, refs.join(","));
        add(BEHAVIOR, self.behavior.map_or_else(String::new, |b| b.as_str().to_owned()));
        let switch = |on: bool| if on { ENABLED.to_owned() } else { String::new() };
        add(NEEDS_HASH, switch(self.needs_hash));
        add(ALLOW_NAME_CHANGE, switch(self.allow_name_change));
        add(ALLOW_KIND_CHANGE, switch(self.allow_kind_change));
        pairs
    }

    fn build_annotation(&self, name: &str) -> Option<Text> {
        self.annotation(&format!("{BUILD_ANNOTATION_PREFIX}{name}")).cloned()
    }

    fn is_enabled(&self, name: &str) -> bool {
        self.build_annotation(name).is_some_and(|value| &*value == ENABLED)
    }
}

const KNOWN: [&str; 10] = [
    PREVIOUS_KINDS,
    PREVIOUS_NAMES,
    PREVIOUS_NAMESPACES,
    PREFIXES,
    SUFFIXES,
    REFERRED_BY,
    BEHAVIOR,
    NEEDS_HASH,
    ALLOW_NAME_CHANGE,
    ALLOW_KIND_CHANGE,
];

/// Removes every field `key` whose value is so.
fn remove_all(node: &mut Node, key: &str, is_so: impl Fn(&Node) -> bool) {
    if let Some(map) = node.as_map_mut() {
        map.entries_mut().retain(|entry| &*entry.key.text != key || !is_so(&entry.value));
    }
}

fn forget_unless<T>(known: bool, list: &mut Vec<T>) {
    if !known {
        list.clear();
    }
}
