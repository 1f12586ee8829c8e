//! Images, replicas, labels and the sort order.

use super::decode::{Located, Strings, object};

object! {
    /// New name, tag or digest for images of one name.
    pub struct Image {
        /// The name as it is at this layer, a part of a regular expression.
        name: Located = "name",
        /// The name that takes its place.
        new_name: Located = "newName",
        /// What is added to the tag.
        tag_suffix: Located = "tagSuffix",
        /// The tag that takes its place.
        new_tag: Located = "newTag",
        /// The digest that takes the place of the tag, or stands after a new one.
        digest: Located = "digest",
    }
}

object! {
    /// A number of replicas for the workloads of one name.
    pub struct Replica {
        /// A name the workload has or had.
        name: Located = "name",
        /// The number; null is 0.
        count: i64 = "count",
    }
}

object! {
    /// Labels and where they go.
    pub struct Label {
        /// The labels.
        pairs: Strings = "pairs",
        /// Whether selectors get them too (and templates).
        include_selectors: bool = "includeSelectors",
        /// Whether templates get them too.
        include_templates: bool = "includeTemplates",
        /// More fields that get them.
        field_specs: Vec<FieldSpecField> = "fields",
    }
}

object! {
    /// A field of the kinds that group, version and kind select, as a file gives it.
    pub struct FieldSpecField {
        /// The API group; empty for any.
        group: Located = "group",
        /// The API version without its group; empty for any.
        version: Located = "version",
        /// The kind; empty for any.
        kind: Located = "kind",
        /// Field names separated by `/`.
        path: Located = "path",
        /// Whether a missing field is made.
        create: bool = "create",
    }
}

object! {
    /// The order of the output.
    pub struct SortOptions {
        /// `legacy` or `fifo`.
        order: Located = "order",
        /// Kinds that come first and last in the legacy order.
        legacy_sort_options: Option<LegacySortOptions> = "legacySortOptions",
    }
}

object! {
    /// Kinds that come first and last in the legacy order.
    pub struct LegacySortOptions {
        /// Kinds that come first.
        order_first: Vec<Located> = "orderFirst",
        /// Kinds that come last.
        order_last: Vec<Located> = "orderLast",
    }
}
