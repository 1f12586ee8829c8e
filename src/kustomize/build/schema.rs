//! The schema that resources are merged by: the built-in kinds, or those of `openapi.path`.
//!
//! Source: kyaml v0.21.1 `openapi/openapi.go`. Only what merging and scopes ask for is kept: which
//! fields are maps of a known type, which lists are merged by key, which kinds have a namespace.

mod custom;

use std::borrow::Cow;
use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;

use self::custom::{CustomSchema, CustomType};
use super::tables::{self, Definition, FieldSchema};
use crate::kustomize::error::BuildError;
use crate::kustomize::node::Node;
use crate::kustomize::scope::Scopes;

/// The types of all kinds. Cheap to clone; clones belong to one build and share what it has met.
#[derive(Clone, Debug)]
pub(crate) struct Schemas {
    custom: Option<Brought>,
    stage: Rc<Cell<Stage>>,
}

/// A custom schema and the directory whose kustomization brings it.
#[derive(Clone, Debug)]
struct Brought {
    schema: Arc<CustomSchema>,
    directory: String,
}

/// Kustomize reads the built-in types when it first needs them, and a custom schema that comes later
/// adds to them: so what holds depends on what the build has met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// Nothing has asked for a type.
    Unread,
    /// A kind of unknown scope was met: the built-in types will be read with the next type.
    Wanted,
    /// The built-in types are read.
    Read,
    /// The custom schema holds.
    Custom(Beside),
}

/// Which built-in types hold beside a custom schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Beside {
    /// None.
    Nothing,
    /// All that the custom schema does not define.
    Behind,
    /// All: they replace what the custom schema says of them.
    Before,
}

/// What is known of the type of a map.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Schema<'s> {
    /// One of the built-in types.
    Builtin(&'static Definition),
    /// A type of a custom schema.
    Custom(CustomType<'s>),
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
        Self { custom: None, stage: Rc::new(Cell::new(Stage::Unread)) }
    }

    /// Whether these are the built-in kinds alone.
    pub(crate) fn is_builtin(&self) -> bool {
        self.custom.is_none()
    }

    /// The kinds of the OpenAPI document `document`, once the build enters `directory`.
    ///
    /// # Errors
    /// For a document that is no schema.
    pub(crate) fn custom(document: Node, directory: &str) -> Result<Self, BuildError> {
        let schema = Arc::new(CustomSchema::from_document(document)?);
        let brought = Brought { schema, directory: directory.to_owned() };
        Ok(Self { custom: Some(brought), ..Self::builtin() })
    }

    /// Which kinds have a namespace.
    pub(crate) fn scopes(&self) -> Scopes {
        match &self.custom {
            None => Scopes::builtin(),
            Some(custom) => Scopes::with_custom(custom.schema.scopes()),
        }
    }

    /// Notes that the build reads the kustomization of `directory`: from here on the schema it
    /// brings holds.
    ///
    /// # Errors
    /// [`Unsupported`](crate::kustomize::error::BuildErrorKind::Unsupported) for a schema that would
    /// replace built-in types already in use.
    pub(crate) fn enter(&self, directory: &str) -> Result<(), BuildError> {
        let Some(custom) = self.custom.as_ref().filter(|custom| custom.directory == directory)
        else {
            return Ok(());
        };
        let beside = match self.stage.get() {
            Stage::Unread => Beside::Nothing,
            Stage::Wanted => Beside::Before,
            Stage::Read if custom.schema.replaces_builtin_types() => {
                let what = "a schema in a base that replaces built-in types already in use";
                return Err(BuildError::unsupported(what));
            }
            Stage::Read => Beside::Behind,
            Stage::Custom(beside) => beside,
        };
        self.stage.set(Stage::Custom(beside));
        Ok(())
    }

    /// Notes that the build has read an object of this kind, and asked whether it has a namespace.
    pub(crate) fn meet(&self, node: &Node) {
        let (api_version, kind) = kind_of(node);
        let is_known = || tables::is_namespaced(api_version, kind).is_some();
        if self.custom.is_some() && self.stage.get() == Stage::Unread && !is_known() {
            self.stage.set(Stage::Wanted);
        }
    }

    /// The type of a map that has a kind and a version.
    pub(crate) fn of(&self, node: &Node) -> Option<Schema<'_>> {
        let (api_version, kind) = kind_of(node);
        if api_version.is_empty() || kind.is_empty() {
            return None;
        }
        let builtin = || tables::definition_of(api_version, kind).map(Schema::Builtin);
        match (&self.custom, self.stage.get()) {
            (Some(custom), Stage::Custom(beside)) => {
                let own = || custom.schema.of(api_version, kind, beside);
                match beside {
                    Beside::Nothing => own(),
                    Beside::Behind => own().or_else(builtin),
                    Beside::Before => builtin().or_else(own),
                }
            }
            _ => {
                self.stage.set(Stage::Read);
                builtin()
            }
        }
    }
}

/// The apiVersion and the kind that stand in an object, or nothing.
fn kind_of(node: &Node) -> (&str, &str) {
    let text = |key: &str| node.get(key).and_then(Node::as_str).unwrap_or("");
    (text("apiVersion"), text("kind"))
}

impl<'s> Schema<'s> {
    /// What is known of the field `name`.
    pub(crate) fn field(self, name: &str) -> Option<Field<'s>> {
        match self {
            Self::Custom(custom) => custom.field(name),
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
