//! What a Secret holds is compared like anything else, and shown to nobody.

use serde_json::Value as Json;

use super::effect::FieldChange;
use crate::kustomize::{FieldPath, ResourceId, Step};

/// What is shown in place of a value that is secret.
pub const MASK: &str = "***";

/// The fields of a Secret that hold what is secret, and the copy of it that `kubectl apply` leaves in an annotation.
const SECRET_KEYS: [&str; 3] =
    ["data", "stringData", "kubectl.kubernetes.io/last-applied-configuration"];

impl FieldChange {
    /// The change as people, commits and files may see it: what a Secret holds is [`MASK`].
    #[must_use]
    pub fn shown(&self) -> Self {
        let mut change = self.clone();
        if self.resource.is_secret() {
            change.mask();
        }
        change
    }

    /// Hides what the field holds of a Secret, whatever the resource is called.
    pub(super) fn mask(&mut self) {
        for value in self.before.iter_mut().chain(&mut self.after) {
            mask_below(value, &self.path);
        }
    }
}

/// The value of a field of `resource` as people may see it.
#[must_use]
pub fn shown_value(resource: &ResourceId, path: &FieldPath, value: &Json) -> Json {
    let mut value = value.clone();
    if resource.is_secret() {
        mask_below(&mut value, path);
    }
    value
}

/// Hides all of the value where its path leads into what is secret, else what of it is.
fn mask_below(value: &mut Json, path: &FieldPath) {
    let is_key = |step: &Step| matches!(step, Step::Key(key) if SECRET_KEYS.contains(&&**key));
    match path.steps().iter().any(is_key) {
        true => mask(value),
        false => mask_keys(value),
    }
}

fn mask_keys(value: &mut Json) {
    let Json::Object(fields) = value else { return };
    for (key, value) in fields {
        match SECRET_KEYS.contains(&&**key) {
            true => mask(value),
            false => mask_keys(value),
        }
    }
}

fn mask(value: &mut Json) {
    match value {
        Json::Object(fields) => fields.values_mut().for_each(mask),
        Json::Array(items) => items.iter_mut().for_each(mask),
        scalar => *scalar = MASK.into(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::kustomize::Rendered;
    use crate::verify::measure_effect;

    fn shown(before: &str, after: &str) -> Vec<(String, Option<Json>, Option<Json>)> {
        let parse = |text: &str| Rendered::parse(text).unwrap().resources;
        let effect = measure_effect(&parse(before), &parse(after));
        let shown = effect.changes.iter().map(FieldChange::shown);
        shown.map(|change| (change.path.to_string(), change.before, change.after)).collect()
    }

    fn object(kind: &str, rest: &str) -> String {
        format!("apiVersion: v1\nkind: {kind}\nmetadata: {{name: s}}\n{rest}\n")
    }

    #[test]
    fn a_key_of_a_secret_is_masked_and_that_of_a_config_map_is_not() {
        let (old, new) = ("data: {a: aGlkZGVu}", "data: {a: b3RoZXI=}");
        assert_eq!(
            shown(&object("Secret", old), &object("Secret", new)),
            [("data.a".into(), Some(json!("***")), Some(json!("***")))]
        );
        assert_eq!(
            shown(&object("ConfigMap", old), &object("ConfigMap", new)),
            [("data.a".into(), Some(json!("aGlkZGVu")), Some(json!("b3RoZXI=")))]
        );
    }

    #[test]
    fn a_whole_secret_that_comes_or_goes_keeps_its_name_and_loses_its_values() {
        let secret = object("Secret", "stringData: {a: hidden}\ntype: Opaque");
        let [(path, None, Some(after))] = &shown("", &secret)[..] else { panic!() };
        assert_eq!(path, "");
        assert_eq!(
            *after,
            json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"},
                "stringData": {"a": "***"}, "type": "Opaque"})
        );
    }

    #[test]
    fn what_kubectl_leaves_in_an_annotation_is_masked_within_all_annotations_too() {
        let note = "kubectl.kubernetes.io/last-applied-configuration: hidden, b: c";
        let with = format!(
            "apiVersion: v1\nkind: Secret\nmetadata: {{name: s, annotations: {{{note}}}}}\n"
        );
        let [(path, None, Some(after))] = &shown(&object("Secret", ""), &with)[..] else {
            panic!()
        };
        assert_eq!(path, "metadata.annotations");
        assert_eq!(
            *after,
            json!({"kubectl.kubernetes.io/last-applied-configuration": "***", "b": "c"})
        );
    }
}
