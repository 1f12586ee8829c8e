//! A schema that a kustomization gives by `openapi.path`.

use std::borrow::Cow;
use std::collections::HashMap;

use super::{Beside, Field, ListSchema, Schema};
use crate::kustomize::build::tables;
use crate::kustomize::error::{BuildError, BuildErrorKind};
use crate::kustomize::node::{Node, Value};

/// References that lead on to others, at most.
const MAX_REFERENCES: usize = 100;

/// An OpenAPI document (version 2), as it was read.
#[derive(Debug)]
pub(crate) struct CustomSchema {
    document: Node,
    /// `(apiVersion, kind)` to the name of the definition.
    kinds: HashMap<(String, String), String>,
}

/// A type of a custom schema, as OpenAPI writes it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CustomType<'s> {
    schema: &'s CustomSchema,
    /// Where references lead that the schema does not follow itself.
    beside: Beside,
    node: &'s Node,
}

impl CustomSchema {
    /// Indexes a document.
    ///
    /// # Errors
    /// [`BuildErrorKind::Kustomization`] where it is not an object.
    pub(super) fn from_document(document: Node) -> Result<Self, BuildError> {
        if document.as_map().is_none() {
            let message = "the file of `openapi.path` is not an OpenAPI document";
            let error = BuildError::new(BuildErrorKind::Kustomization, message);
            return Err(error.at(document.origin));
        }
        let mut kinds = HashMap::new();
        let definitions = document.get("definitions").and_then(Node::as_map);
        for entry in definitions.map(|map| map.entries()).unwrap_or_default() {
            let named = entry.value.get("x-kubernetes-group-version-kind").and_then(Node::as_seq);
            for kind in named.unwrap_or_default().iter().filter_map(type_of) {
                kinds.insert(kind, entry.key.text.to_string());
            }
        }
        Ok(Self { document, kinds })
    }

    /// Which kinds have a namespace, by the paths of the document.
    pub(super) fn scopes(&self) -> HashMap<(String, String), bool> {
        let mut scopes = HashMap::new();
        let paths = self.document.get("paths").and_then(Node::as_map);
        for path in paths.map(|map| map.entries()).unwrap_or_default() {
            // Of all operations kustomize looks at reading one object only.
            let kind = path.value.lookup(&["get", "x-kubernetes-group-version-kind"]);
            let Some(kind) = kind.and_then(type_of) else { continue };
            let namespaced = path.key.text.contains("namespaces/{namespace}");
            let known = scopes.entry(kind).or_insert(false);
            *known |= namespaced;
        }
        scopes
    }

    /// Whether it has a definition that is built in, too.
    pub(super) fn replaces_builtin_types(&self) -> bool {
        let definitions = self.document.get("definitions").and_then(Node::as_map);
        let mut names = definitions.map(|map| map.entries()).unwrap_or_default().iter();
        names.any(|entry| tables::definition_named(&entry.key.text).is_some())
    }

    /// The type of a kind.
    pub(super) fn of(&self, api_version: &str, kind: &str, beside: Beside) -> Option<Schema<'_>> {
        let name = self.kinds.get(&(api_version.to_owned(), kind.to_owned()))?;
        let node = self.document.lookup(&["definitions", name])?;
        Some(Schema::Custom(CustomType { schema: self, beside, node }))
    }
}

impl<'s> CustomType<'s> {
    /// What the type says of its field `name`.
    pub(super) fn field(self, name: &str) -> Option<Field<'s>> {
        let property = self.node.lookup(&["properties", name]);
        let other = || self.node.get("additionalProperties").filter(|node| node.as_map().is_some());
        match self.resolve(property.or_else(other)?)? {
            Schema::Custom(custom) if custom.is_merged() => Some(Field::List(custom.list())),
            schema => Some(Field::Map(schema)),
        }
    }

    fn is_merged(self) -> bool {
        let strategy = self.node.get("x-kubernetes-patch-strategy").and_then(Node::as_str);
        strategy.is_some_and(|words| words.split(',').any(|word| word == "merge"))
    }

    fn list(self) -> ListSchema<'s> {
        let node = self.node;
        let keys: Vec<&str> = match node.get("x-kubernetes-list-map-keys").map(|n| &n.value) {
            Some(Value::Seq(keys)) => keys.iter().filter_map(Node::as_str).collect(),
            _ => {
                let key = node.get("x-kubernetes-patch-merge-key").and_then(Node::as_str);
                key.into_iter().collect()
            }
        };
        let is_array = node.get("type").and_then(Node::as_str) == Some("array");
        let items = node.get("items").filter(|_| is_array);
        let element = items.and_then(|items| self.resolve(items));
        ListSchema { keys: Cow::Owned(keys), element }
    }

    /// Follows `$ref`.
    fn resolve(self, node: &'s Node) -> Option<Schema<'s>> {
        let mut at = node;
        for _ in 0..MAX_REFERENCES {
            let Some(reference) = at.get("$ref").and_then(Node::as_str) else {
                return Some(Schema::Custom(Self { node: at, ..self }));
            };
            let name = reference.strip_prefix("#/definitions/")?;
            let own = self.schema.document.lookup(&["definitions", name]);
            let builtin = || tables::definition_named(name).map(Schema::Builtin);
            at = match (self.beside, own) {
                (Beside::Before, own) => match builtin() {
                    None => own?,
                    found => return found,
                },
                (Beside::Behind, None) => return builtin(),
                (_, own) => own?,
            };
        }
        None
    }
}

/// `group`, `version` and `kind` as `(apiVersion, kind)`.
fn type_of(node: &Node) -> Option<(String, String)> {
    let text = |key: &str| node.get(key).and_then(Node::as_str);
    let (version, kind) = (text("version")?, text("kind")?);
    let api_version = match text("group") {
        None | Some("") => version.to_owned(),
        Some(group) => format!("{group}/{version}"),
    };
    Some((api_version, kind.to_owned()))
}
