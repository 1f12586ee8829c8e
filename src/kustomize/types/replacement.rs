//! Replacements, and the vars that they replaced.

use super::decode::{Located, object};
use super::patch::Selector;

object! {
    /// A value copied from one place to others, or a file with such entries.
    pub struct ReplacementField {
        /// Where the value comes from.
        source: Option<SourceSelector> = "source",
        /// Where it goes.
        targets: Vec<TargetSelector> = "targets",
        /// The value itself, in place of a source.
        source_value: Option<Located> = "sourceValue",
        /// A file with one or more replacements.
        path: Located = "path",
    }
}

object! {
    /// The field of one resource.
    pub struct SourceSelector {
        /// The API group.
        group: Located = "group",
        /// The API version without its group.
        version: Located = "version",
        /// The kind.
        kind: Located = "kind",
        /// The name.
        name: Located = "name",
        /// The namespace.
        namespace: Located = "namespace",
        /// The field; `metadata.name` if empty.
        field_path: Located = "fieldPath",
        /// Which part of the value.
        options: Option<FieldOptions> = "options",
    }
}

object! {
    /// Fields of several resources.
    pub struct TargetSelector {
        /// The resources.
        select: Option<Selector> = "select",
        /// Which of them not.
        reject: Vec<Selector> = "reject",
        /// The fields; `metadata.name` if empty.
        field_paths: Vec<Located> = "fieldPaths",
        /// Which part of the value.
        options: Option<FieldOptions> = "options",
    }
}

object! {
    /// Which part of a value is taken or replaced.
    pub struct FieldOptions {
        /// What separates the parts.
        delimiter: Located = "delimiter",
        /// Which part, from 0.
        index: i64 = "index",
        /// Reserved by kustomize.
        encoding: Located = "encoding",
        /// Whether a missing field is made.
        create: bool = "create",
    }
}

object! {
    /// A name that stands for the field of a resource.
    pub struct Var {
        /// The name, used as `$(NAME)`.
        name: Located = "name",
        /// The resource.
        object_ref: VarTarget = "objref",
        /// The field.
        field_ref: VarField = "fieldref",
    }
}

object! {
    /// The resource of a [`Var`].
    pub struct VarTarget {
        /// Group and version.
        api_version: Located = "apiVersion",
        /// The API group, overridden by `apiVersion`.
        group: Located = "group",
        /// The API version, overridden by `apiVersion`.
        version: Located = "version",
        /// The kind.
        kind: Located = "kind",
        /// The name.
        name: Located = "name",
        /// The namespace; empty for any.
        namespace: Located = "namespace",
    }
}

object! {
    /// The field of a [`Var`].
    pub struct VarField {
        /// Its path; `metadata.name` if empty.
        field_path: Located = "fieldPath",
    }
}
