//! Patches and the selectors of their targets.

use super::decode::{Located, object};

object! {
    /// A strategic merge patch or a JSON 6902 patch.
    pub struct Patch {
        /// A file with the patch.
        path: Located = "path",
        /// The patch itself.
        patch: Located = "patch",
        /// The resources it goes to; without it the patch names its one target.
        target: Option<Selector> = "target",
        /// What it may change.
        options: Option<PatchArgs> = "options",
    }
}

object! {
    /// What a patch may change besides the content of its target.
    pub struct PatchArgs {
        /// Whether it may change the name.
        allow_name_change: bool = "allowNameChange",
        /// Whether it may change the kind.
        allow_kind_change: bool = "allowKindChange",
    }
}

object! {
    /// Which resources: each part is an anchored regular expression, and an empty part fits all.
    pub struct Selector {
        /// The API group.
        group: Located = "group",
        /// The API version without its group.
        version: Located = "version",
        /// The kind.
        kind: Located = "kind",
        /// The name, original or current.
        name: Located = "name",
        /// The namespace, original or current; none counts as `default`.
        namespace: Located = "namespace",
        /// A selector over annotations, in Kubernetes' language of label selectors.
        annotation_selector: Located = "annotationSelector",
        /// A selector over labels.
        label_selector: Located = "labelSelector",
    }
}
