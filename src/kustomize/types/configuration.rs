//! Files of `configurations`: which fields the builtin transformers touch.

use super::decode::{Located, object};
use super::transformer::FieldSpecField;

object! {
    /// A file of `configurations`.
    pub struct Configuration {
        /// Fields that `namePrefix` changes.
        name_prefix: Vec<FieldSpecField> = "namePrefix",
        /// Fields that `nameSuffix` changes.
        name_suffix: Vec<FieldSpecField> = "nameSuffix",
        /// Fields that `namespace` sets.
        namespace: Vec<FieldSpecField> = "namespace",
        /// Fields that labels with selectors set.
        common_labels: Vec<FieldSpecField> = "commonLabels",
        /// Further fields that labels set.
        labels: Vec<FieldSpecField> = "labels",
        /// Fields that labels with templates set.
        template_labels: Vec<FieldSpecField> = "templateLabels",
        /// Fields that `commonAnnotations` sets.
        common_annotations: Vec<FieldSpecField> = "commonAnnotations",
        /// Fields that hold names of other objects.
        name_reference: Vec<NameReferenceField> = "nameReference",
        /// Fields in which vars are replaced.
        var_reference: Vec<FieldSpecField> = "varReference",
        /// Fields that `images` changes.
        images: Vec<FieldSpecField> = "images",
        /// Fields that `replicas` sets.
        replicas: Vec<FieldSpecField> = "replicas",
    }
}

object! {
    /// The fields that refer to objects of one kind by name.
    pub struct NameReferenceField {
        /// The API group of the objects; empty for any.
        group: Located = "group",
        /// Their API version; empty for any.
        version: Located = "version",
        /// Their kind.
        kind: Located = "kind",
        /// The fields.
        field_specs: Vec<FieldSpecField> = "fieldSpecs",
    }
}
