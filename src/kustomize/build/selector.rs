//! Selectors of resources, as patches and replacements have them.
//!
//! Source: kustomize `api/types/selector.go` (`SelectorRegex`), `api/resmap/reswrangler.go`
//! (`Select`).

use regex::Regex;

use super::go_regexp::compile_anchored;
use super::label_selector::LabelSelector;
use crate::kustomize::error::{BuildError, BuildErrorKind};
use crate::kustomize::node::{Node, Text};
use crate::kustomize::resource::{Resource, ResourceId};
use crate::kustomize::types::{Located, Selector};

/// A selector whose patterns are compiled.
#[derive(Clone, Debug)]
pub(crate) struct SelectorRegex {
    group: Pattern,
    version: Pattern,
    kind: Pattern,
    name: Pattern,
    namespace: Pattern,
    labels: Option<LabelSelector>,
    annotations: Option<LabelSelector>,
}

/// A pattern for a whole text; most are plain words.
#[derive(Clone, Debug)]
enum Pattern {
    Any,
    Word(Text),
    Regex(Regex),
}

impl Pattern {
    fn new(pattern: &Located) -> Result<Self, BuildError> {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_/:".contains(c);
        if pattern.is_empty() {
            return Ok(Self::Any);
        }
        if pattern.chars().all(is_plain) {
            return Ok(Self::Word(Text::clone(&pattern.text)));
        }
        let refuse = |error: super::go_regexp::PatternError| {
            BuildError::new(BuildErrorKind::Transformer, error.to_string()).at(pattern.origin)
        };
        compile_anchored(pattern).map(Self::Regex).map_err(refuse)
    }

    fn is_match(&self, text: &str) -> bool {
        match self {
            Self::Any => true,
            Self::Word(word) => &**word == text,
            Self::Regex(regex) => regex.is_match(text),
        }
    }

    fn is_any(&self) -> bool {
        matches!(self, Self::Any)
    }
}

impl SelectorRegex {
    /// Compiles the patterns of `selector`.
    ///
    /// # Errors
    /// [`BuildErrorKind::Transformer`] for a text that is no pattern or no label selector.
    pub(crate) fn new(selector: &Selector) -> Result<Self, BuildError> {
        Ok(Self {
            group: Pattern::new(&selector.group)?,
            version: Pattern::new(&selector.version)?,
            kind: Pattern::new(&selector.kind)?,
            name: Pattern::new(&selector.name)?,
            namespace: Pattern::new(&selector.namespace)?,
            labels: label_selector(&selector.label_selector)?,
            annotations: label_selector(&selector.annotation_selector)?,
        })
    }

    /// Whether group, version and kind of `id` fit.
    pub(crate) fn matches_gvk(&self, id: &ResourceId) -> bool {
        self.group.is_match(id.group())
            && self.version.is_match(id.version())
            && self.kind.is_match(&id.kind)
    }

    /// Whether the name fits.
    pub(crate) fn matches_name(&self, name: &str) -> bool {
        self.name.is_match(name)
    }

    /// Whether the namespace fits.
    pub(crate) fn matches_namespace(&self, namespace: &str) -> bool {
        self.namespace.is_match(namespace)
    }

    /// Whether every part of an identity is left open.
    pub(crate) fn is_any_id(&self) -> bool {
        [&self.group, &self.version, &self.kind, &self.name, &self.namespace]
            .into_iter()
            .all(Pattern::is_any)
    }

    /// Whether it has a selector over labels or annotations.
    pub(crate) fn has_label_selectors(&self) -> bool {
        self.labels.is_some() || self.annotations.is_some()
    }

    /// Whether labels and annotations fit.
    ///
    /// # Errors
    /// [`BuildErrorKind::Transformer`] for labels or annotations that kustomize breaks at, also without
    /// a selector over them.
    pub(crate) fn matches_labels(&self, resource: &Resource) -> Result<bool, BuildError> {
        Ok(fits(self.labels.as_ref(), resource, "labels")?
            && fits(self.annotations.as_ref(), resource, "annotations")?)
    }

    /// Whether a patch with this target goes to `resource`: name and namespace may be the first or
    /// the present ones, all else must fit as it is now (`ResMap.Select`).
    ///
    /// # Errors
    /// As [`SelectorRegex::matches_labels`] and [`Resource::check_history`].
    pub(crate) fn selects(&self, resource: &Resource) -> Result<bool, BuildError> {
        resource.check_history()?;
        let (now, first) = (resource.current_id(), resource.original_id());
        let is_meant = (self.matches_namespace(first.effective_namespace())
            || self.matches_namespace(now.effective_namespace()))
            && (self.matches_name(&first.name) || self.matches_name(&now.name))
            && self.matches_gvk(&now);
        Ok(is_meant && self.matches_labels(resource)?)
    }
}

/// The resources that a patch with this target goes to, seen as they are when the build is over; none
/// for a selector that cannot be read.
#[must_use]
pub fn select_targets<'r>(selector: &Selector, resources: &'r [Resource]) -> Vec<&'r Resource> {
    find_targets(selector, resources).unwrap_or_default()
}

/// As [`select_targets`].
///
/// # Errors
/// A selector that cannot be read.
pub fn find_targets<'r>(
    selector: &Selector,
    resources: &'r [Resource],
) -> Result<Vec<&'r Resource>, BuildError> {
    let selector = SelectorRegex::new(selector)?;
    let mut selected = Vec::new();
    for resource in resources {
        if selector.selects(resource)? {
            selected.push(resource);
        }
    }
    Ok(selected)
}

/// Whether a selector fits the labels or annotations, which kyaml takes for pairs of a key and a value,
/// whatever they are.
fn fits(
    selector: Option<&LabelSelector>,
    resource: &Resource,
    field: &str,
) -> Result<bool, BuildError> {
    let found = resource.node.lookup(&["metadata", field]);
    let text = |node: &Node| node.as_text().cloned().unwrap_or_default();
    let list = found.and_then(Node::as_seq).unwrap_or_default();
    if list.len() % 2 == 1 {
        let message = format!("the {field} of {} are a list, not a map", resource.current_id());
        let origin = found.map_or(resource.origin, |found| found.origin);
        return Err(BuildError::new(BuildErrorKind::Transformer, message).at(origin));
    }
    let Some(selector) = selector else { return Ok(true) };
    let pairs: Vec<(Text, Text)> =
        list.chunks_exact(2).map(|pair| (text(&pair[0]), text(&pair[1]))).collect();
    let find = |key: &str| match found.and_then(|found| found.get(key)) {
        Some(value) => Some(value.as_text().map_or("", |text| &**text)),
        None => pairs.iter().rev().find(|pair| &*pair.0 == key).map(|pair| &*pair.1),
    };
    Ok(selector.matches(find))
}

fn label_selector(text: &Located) -> Result<Option<LabelSelector>, BuildError> {
    if text.is_empty() {
        return Ok(None);
    }
    let refuse = |error: super::label_selector::LabelSelectorError| {
        BuildError::new(BuildErrorKind::Transformer, error.to_string()).at(text.origin)
    };
    LabelSelector::parse(text).map(Some).map_err(refuse)
}
