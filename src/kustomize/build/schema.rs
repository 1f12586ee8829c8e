//! The schema that resources are merged by: the built-in kinds, or those of `openapi.path`.
//!
//! Source: kyaml v0.21.1 `openapi/openapi.go`. Only what merging and scopes ask for is kept: which
//! fields are maps of a known type, which lists are merged by key, which kinds have a namespace.

mod custom;

use std::borrow::Cow;
use std::sync::Arc;

use self::custom::CustomSchema;
use super::tables::{self, Definition, FieldSchema};
use crate::kustomize::error::BuildError;
use crate::kustomize::node::Node;
use crate::kustomize::scope::Scopes;

/// The types of all kinds. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Schemas {
    custom: Option<Arc<CustomSchema>>,
    builtin: bool,
}

/// What is known of the type of a map.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Schema<'s> {
    /// One of the built-in types.
    Builtin(&'static Definition),
    /// A type of a custom schema, as OpenAPI writes it.
    Custom(&'s CustomSchema, &'s Node),
}

/// A list that is merged by key.
#[derive(Clone, Debug)]
pub(crate) struct ListSchema<'s> {
    /// The keys; without any it is a set of scalars.
    pub(crate) keys: Cow<'s, [&'s str]>,
    /// The type of its elements, where they are maps.
    pub(crate) element: Option<Schema<'s>>,
}

/// What a [`Schema`] says of one field.
#[derive(Clone, Debug)]
pub(crate) enum Field<'s> {
    /// A map of a known type.
    Map(Schema<'s>),
    /// A list that is merged.
    List(ListSchema<'s>),
}

impl Schemas {
    /// The kinds of Kubernetes 1.21 that kustomize has built in.
    pub(crate) fn builtin() -> Self {
        Self { custom: None, builtin: true }
    }

    /// Whether these are the built-in kinds alone.
    pub(crate) fn is_builtin(&self) -> bool {
        self.custom.is_none()
    }

    /// The kinds of the OpenAPI document `document`, in place of the built-in ones; `beside` says
    /// that the built-in ones hold too.
    ///
    /// # Errors
    /// For a document that is no schema.
    pub(crate) fn custom(document: Node, beside: bool) -> Result<Self, BuildError> {
        let custom = CustomSchema::from_document(document)?;
        Ok(Self { custom: Some(Arc::new(custom)), builtin: beside })
    }

    /// Which kinds have a namespace.
    pub(crate) fn scopes(&self) -> Scopes {
        match &self.custom {
            None => Scopes::builtin(),
            Some(custom) => Scopes::with_custom(custom.scopes()),
        }
    }

    /// The type of a map that has a kind and a version.
    pub(crate) fn of(&self, node: &Node) -> Option<Schema<'_>> {
        let text = |key: &str| node.get(key).and_then(Node::as_str).unwrap_or("");
        let (api_version, kind) = (text("apiVersion"), text("kind"));
        if api_version.is_empty() || kind.is_empty() {
            return None;
        }
        let custom = self.custom.as_deref().and_then(|custom| custom.of(api_version, kind));
        custom.or_else(|| {
            let definition = tables::definition_of(api_version, kind).filter(|_| self.builtin);
            definition.map(Schema::Builtin)
        })
    }
}

impl<'s> Schema<'s> {
    /// What is known of the field `name`.
    pub(crate) fn field(self, name: &str) -> Option<Field<'s>> {
        match self {
            Self::Custom(schema, node) => schema.field(node, name),
            Self::Builtin(definition) => match definition.field(name)? {
                FieldSchema::Map(next) => Some(Field::Map(Schema::Builtin(next))),
                FieldSchema::List { keys, element } => Some(Field::List(ListSchema {
                    keys: Cow::Borrowed(keys),
                    element: element.map(Schema::Builtin),
                })),
            },
        }
    }
}
