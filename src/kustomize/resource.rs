//! A resource under construction, and how resources are named.
//!
//! Kustomize keeps what it must remember of a resource (former names, prefixes, who refers to it,
//! generator options) in annotations of the resource itself; here they are fields. They are written
//! into the annotations only around patches, which can see them there
//! (`build_annotations.rs`).
//!
//! Source: kustomize api `resource/resource.go`, kyaml `resid/`.

use std::fmt;

use super::build::SharedValue;
use super::error::{BuildError, BuildErrorKind};
use super::node::{Map, Node, Scalar, Text, Value};
use super::origin::Origin;
use super::scope::Scopes;

/// The namespace that resources of cluster scope are counted in.
pub const NOT_A_NAMESPACE: &str = "_non_namespaceable_";

/// The namespace of a resource that names none.
pub const DEFAULT_NAMESPACE: &str = "default";

/// What the annotations begin with that kustomize keeps its knowledge of a resource in.
pub(crate) const BUILD_ANNOTATION_PREFIX: &str = "internal.config.kubernetes.io/";

/// Group, version, kind, name and namespace of a resource.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ResourceId {
    /// `group/version`, or the version alone for the core group.
    pub api_version: Text,
    /// The kind.
    pub kind: Text,
    /// The name.
    pub name: Text,
    /// The namespace as written; empty for none.
    pub namespace: Text,
    /// Whether the kind is known to have no namespace.
    pub cluster_scoped: bool,
}

/// Splits an `apiVersion` at its first `/` into group and version.
#[must_use]
pub fn split_api_version(api_version: &str) -> (&str, &str) {
    api_version.split_once('/').unwrap_or(("", api_version))
}

impl ResourceId {
    /// The API group; empty for core.
    #[must_use]
    pub fn group(&self) -> &str {
        split_api_version(&self.api_version).0
    }

    /// Whether it is a core Secret, whose data is shown to nobody.
    #[must_use]
    pub fn is_secret(&self) -> bool {
        self.group().is_empty() && &*self.kind == "Secret"
    }

    /// The API version without its group.
    #[must_use]
    pub fn version(&self) -> &str {
        split_api_version(&self.api_version).1
    }

    /// The namespace for comparisons: never empty ([`NOT_A_NAMESPACE`], [`DEFAULT_NAMESPACE`] or
    /// the one written).
    #[must_use]
    pub fn effective_namespace(&self) -> &str {
        if self.cluster_scoped {
            NOT_A_NAMESPACE
        } else if self.namespace.is_empty() {
            DEFAULT_NAMESPACE
        } else {
            &self.namespace
        }
    }

    /// Whether both are in the same effective namespace.
    #[must_use]
    pub fn is_namespace_equal(&self, other: &Self) -> bool {
        self.effective_namespace() == other.effective_namespace()
    }

    /// Whether group, version, kind and name are equal (`GvknEquals`).
    #[must_use]
    pub fn is_gvkn_equal(&self, other: &Self) -> bool {
        self.name == other.name && self.kind == other.kind && self.api_version == other.api_version
    }

    /// Whether both name one resource (`ResId.Equals`): effective namespace, group, version, kind
    /// and name.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        self.is_gvkn_equal(other) && self.is_namespace_equal(other)
    }

    /// Whether the namespace is the default one, written or not.
    #[must_use]
    pub fn is_in_default_namespace(&self) -> bool {
        !self.cluster_scoped && (self.namespace.is_empty() || &*self.namespace == DEFAULT_NAMESPACE)
    }
}

impl fmt::Display for ResourceId {
    /// `Kind.version.group/name.namespace` with kustomize's words for what is missing.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let or = |text: &str, missing: &'static str| -> String {
            if text.is_empty() { missing.to_owned() } else { text.to_owned() }
        };
        write!(
            f,
            "{}.{}.{}/{}.{}",
            or(&self.kind, "[noKind]"),
            or(self.version(), "[noVer]"),
            or(self.group(), "[noGrp]"),
            or(&self.name, "[noName]"),
            or(&self.namespace, "[noNs]"),
        )
    }
}

/// What a generator does when its resource exists already.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Behavior {
    /// Not said, or a word that kustomize does not know: as `create`.
    #[default]
    Unspecified,
    /// Add a new one.
    Create,
    /// Take the place of the existing one.
    Replace,
    /// Add keys to the existing one.
    Merge,
}

impl Behavior {
    /// Reads `create`, `replace` or `merge`; anything else is [`Behavior::Unspecified`].
    #[must_use]
    pub fn parse(text: &str) -> Self {
        match text {
            "create" => Self::Create,
            "replace" => Self::Replace,
            "merge" => Self::Merge,
            _ => Self::Unspecified,
        }
    }

    /// kustomize's word for it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Unspecified => "unspecified",
            Self::Create => "create",
            Self::Replace => "replace",
            Self::Merge => "merge",
        }
    }
}

/// A name that a resource had before a transformer changed it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PreviousId {
    /// The effective namespace it had.
    pub namespace: Text,
    /// The name it had.
    pub name: Text,
    /// The kind it had.
    pub kind: Text,
}

/// A resource: its value, and what kustomize remembers of it during a build.
#[derive(Clone, Debug)]
pub struct Resource {
    /// The value.
    pub node: Node,
    /// Where it was read, or which entry generated it.
    pub origin: Origin,
    /// Former names, oldest first.
    pub previous_ids: Vec<PreviousId>,
    /// Prefixes that were added, innermost first.
    pub prefixes: Vec<Text>,
    /// Suffixes that were added, innermost first.
    pub suffixes: Vec<Text>,
    /// Who refers to it.
    pub referred_by: Vec<ResourceId>,
    /// Names of the vars that take their value from it.
    pub var_names: Vec<Text>,
    /// What its generator does when it exists already; `None` for a resource from a file.
    pub behavior: Option<Behavior>,
    /// Whether its name gets a hash of its content.
    pub needs_hash: bool,
    /// For a patch: whether it may change its target's name.
    pub allow_name_change: bool,
    /// For a patch: whether it may change its target's kind.
    pub allow_kind_change: bool,
    /// Labels and annotations that are one value in several places.
    pub shared: Vec<SharedValue>,
    scopes: Scopes,
}

impl Resource {
    /// A resource that has no history.
    #[must_use]
    pub fn new(node: Node, scopes: Scopes) -> Self {
        Self {
            origin: node.origin,
            node,
            previous_ids: Vec::new(),
            prefixes: Vec::new(),
            suffixes: Vec::new(),
            referred_by: Vec::new(),
            var_names: Vec::new(),
            behavior: None,
            needs_hash: false,
            allow_name_change: false,
            allow_kind_change: false,
            shared: Vec::new(),
            scopes,
        }
    }

    /// The knowledge of which kinds have no namespace.
    #[must_use]
    pub fn scopes(&self) -> &Scopes {
        &self.scopes
    }

    /// The text of `apiVersion`, or the empty string.
    #[must_use]
    pub fn api_version(&self) -> &str {
        self.field_text("apiVersion")
    }

    /// The text of `kind`, or the empty string.
    #[must_use]
    pub fn kind(&self) -> &str {
        self.field_text("kind")
    }

    /// The text of `metadata.name`, or the empty string.
    #[must_use]
    pub fn name(&self) -> &str {
        self.metadata_text("name")
    }

    /// The text of `metadata.namespace`, or the empty string.
    #[must_use]
    pub fn namespace(&self) -> &str {
        self.metadata_text("namespace")
    }

    fn field_text(&self, key: &str) -> &str {
        self.node.get(key).and_then(Node::as_text).map_or("", |text| text)
    }

    fn metadata_text(&self, key: &str) -> &str {
        self.metadata_field(key).map_or("", |text| text)
    }

    fn metadata_field(&self, key: &str) -> Option<&Text> {
        self.node.get("metadata")?.get(key).filter(|value| !value.is_null()).and_then(Node::as_text)
    }

    /// The `apiVersion` of its identities: kustomize takes it apart and puts it together again, which
    /// drops the slash behind an empty group.
    fn id_api_version(&self) -> Text {
        let text = self.node.get("apiVersion").and_then(Node::as_text);
        match text.map(|text| (text, text.strip_prefix('/'))) {
            None => Text::default(),
            Some((text, None)) => Text::clone(text),
            Some((text, Some(version))) if version.contains('/') => Text::clone(text),
            Some((_, Some(version))) => Text::from(version),
        }
    }

    /// The identity it has now (`CurId`).
    #[must_use]
    pub fn current_id(&self) -> ResourceId {
        let text = |key: &str| self.node.get(key).and_then(Node::as_text).cloned();
        let metadata = |key: &str| self.metadata_field(key).cloned();
        let (api_version, kind) = (self.id_api_version(), text("kind").unwrap_or_default());
        ResourceId {
            cluster_scoped: self.scopes.is_cluster_scoped(&api_version, &kind),
            api_version,
            kind,
            name: metadata("name").unwrap_or_default(),
            namespace: metadata("namespace").unwrap_or_default(),
        }
    }

    /// The identities it had, oldest first (`PrevIds`); group and version are the current ones.
    #[must_use]
    pub fn previous_resource_ids(&self) -> Vec<ResourceId> {
        let api_version = self.id_api_version();
        self.previous_ids
            .iter()
            .map(|previous| ResourceId {
                api_version: Text::clone(&api_version),
                kind: Text::clone(&previous.kind),
                name: Text::clone(&previous.name),
                namespace: Text::clone(&previous.namespace),
                cluster_scoped: false,
            })
            .collect()
    }

    /// The identity it was read with (`OrgId`).
    #[must_use]
    pub fn original_id(&self) -> ResourceId {
        match self.previous_ids.first() {
            None => self.current_id(),
            Some(first) => ResourceId {
                api_version: self.id_api_version(),
                kind: Text::clone(&first.kind),
                name: Text::clone(&first.name),
                namespace: Text::clone(&first.namespace),
                cluster_scoped: false,
            },
        }
    }

    /// Every identity it has had and has, oldest first.
    #[must_use]
    pub fn all_ids(&self) -> Vec<ResourceId> {
        let mut ids = self.previous_resource_ids();
        ids.push(self.current_id());
        ids
    }

    /// Whether it has or had the identity `id` (kustomize's `GetMatchingResourcesByAnyId` with
    /// `Equals`).
    #[must_use]
    pub fn had_id(&self, id: &ResourceId) -> bool {
        self.current_id().is_same(id)
            || self.previous_resource_ids().iter().any(|previous| previous.is_same(id))
    }

    /// Checks that kustomize can tell its former identities: it keeps names, kinds and namespaces as
    /// lists with commas, without what is empty, and breaks off where they differ in length.
    ///
    /// # Errors
    /// [`BuildErrorKind::Transformer`] where it cannot.
    pub(crate) fn check_history(&self) -> Result<(), BuildError> {
        let count = |part: fn(&PreviousId) -> &Text| -> usize {
            let parts = self.previous_ids.iter().map(part).filter(|text| !text.is_empty());
            parts.map(|text| text.split(',').count()).sum()
        };
        let names = count(|id| &id.name);
        if names == 0 || (names == count(|id| &id.kind) && names == count(|id| &id.namespace)) {
            return Ok(());
        }
        let message = "an object had no name or kind, or one with a comma, when it was changed";
        Err(BuildError::new(BuildErrorKind::Transformer, message).at(self.origin))
    }

    /// Remembers the current identity before it changes (`StorePreviousId`).
    pub fn store_previous_id(&mut self) {
        self.clear_empty_annotations();
        let id = self.current_id();
        self.previous_ids.push(PreviousId {
            namespace: Text::from(id.effective_namespace()),
            name: id.name,
            kind: id.kind,
        });
    }

    /// Sets `metadata.name` as kyaml's `SetName` does.
    pub fn set_name(&mut self, name: &str, origin: Origin) {
        self.set_metadata_field("name", name, origin);
    }

    /// Sets `metadata.namespace`; an empty one removes the field.
    pub fn set_namespace(&mut self, namespace: &str, origin: Origin) {
        if !namespace.is_empty() {
            self.set_metadata_field("namespace", namespace, origin);
        } else if let Some(metadata) = self.node.get_mut("metadata").and_then(Node::as_map_mut) {
            metadata.remove("namespace");
        }
    }

    /// Sets `kind` as kyaml's `SetKind` does.
    pub fn set_kind(&mut self, kind: &str, origin: Origin) {
        self.set_field("kind", kind, origin);
    }

    /// Sets `apiVersion` as kyaml's `SetApiVersion` does.
    pub fn set_api_version(&mut self, api_version: &str, origin: Origin) {
        self.set_field("apiVersion", api_version, origin);
    }

    fn set_field(&mut self, key: &str, text: &str, origin: Origin) {
        if let Some(map) = self.node.as_map_mut() {
            map.set_field(key, Node::untagged(text, origin));
        }
    }

    fn set_metadata_field(&mut self, key: &str, text: &str, origin: Origin) {
        let metadata = self.node.as_map_mut().and_then(|map| map.map_or_create("metadata", origin));
        if let Some(metadata) = metadata {
            metadata.set_field(key, Node::untagged(text, origin));
        }
    }

    /// The labels in document order; a value that is no scalar is empty.
    #[must_use]
    pub fn labels(&self) -> Vec<(Text, Text)> {
        self.metadata_map("labels")
    }

    /// The annotations in document order; a value that is no scalar is empty.
    #[must_use]
    pub fn annotations(&self) -> Vec<(Text, Text)> {
        self.metadata_map("annotations")
    }

    /// The value of the annotation `key`.
    #[must_use]
    pub fn annotation(&self, key: &str) -> Option<&Text> {
        self.node.lookup(&["metadata", "annotations", key]).and_then(Node::as_text)
    }

    fn metadata_map(&self, field: &str) -> Vec<(Text, Text)> {
        let text = |node: &Node| node.as_text().cloned().unwrap_or_default();
        match self.node.lookup(&["metadata", field]).map(|node| &node.value) {
            Some(Value::Map(map)) => {
                let entries = map.entries().iter();
                entries.map(|entry| (Text::clone(&entry.key.text), text(&entry.value))).collect()
            }
            // kyaml does not ask whether it is a list.
            Some(Value::Seq(items)) => {
                items.chunks_exact(2).map(|pair| (text(&pair[0]), text(&pair[1]))).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Sets the labels to `pairs`, all strings, sorted by key; none removes the field (kyaml
    /// `SetLabels`). Values that stay keep their origin.
    pub fn set_labels(&mut self, pairs: Vec<(Text, Text)>, origin: Origin) {
        self.set_metadata_map("labels", pairs, origin);
    }

    /// Sets the annotations to `pairs`, all strings, sorted by key; none removes the field (kyaml
    /// `SetAnnotations`). Values that stay keep their origin.
    pub fn set_annotations(&mut self, pairs: Vec<(Text, Text)>, origin: Origin) {
        self.set_metadata_map("annotations", pairs, origin);
    }

    fn set_metadata_map(&mut self, field: &str, mut pairs: Vec<(Text, Text)>, origin: Origin) {
        let Some(metadata) =
            self.node.as_map_mut().and_then(|map| map.map_or_create("metadata", origin))
        else {
            return;
        };
        let old = metadata.remove(field);
        if pairs.is_empty() {
            return;
        }
        // Of two of one key the last counts.
        pairs.sort_by(|a, b| a.0.cmp(&b.0));
        pairs.dedup_by(|later, kept| {
            later.0 == kept.0 && {
                std::mem::swap(later, kept);
                true
            }
        });
        // Of two fields of that name only the first was removed; a null one is filled.
        if metadata.get(field).is_some_and(Node::is_null) {
            metadata.remove(field);
        }
        if let Some(other) = metadata.get_mut(field).and_then(Node::as_map_mut) {
            let values = pairs.into_iter().map(|(key, text)| (key, Node::string(text, origin)));
            values.for_each(|(key, value)| other.set_field(&key, value));
            return;
        }
        let mut map = Map::with_capacity(pairs.len());
        for (key, text) in pairs {
            let kept = old
                .as_ref()
                .and_then(|old| old.get(&key))
                .filter(|value| value.as_text() == Some(&text));
            let mut value = Node::string(text, kept.map_or(origin, |value| value.origin));
            value.quote_if_yaml_1_1_differs();
            map.push(key, value);
        }
        let place = old.map_or(origin, |old| old.origin);
        metadata.push(field, Node::map(map, place));
    }
}

/// A scalar for a key that code writes.
#[must_use]
pub fn key(text: &str) -> Scalar {
    Scalar::untagged(text)
}
