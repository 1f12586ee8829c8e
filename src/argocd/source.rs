//! Sources of an Application: when two are the same, and what a target revision is.

use serde_json::{Map, Value};

use super::application::Source;

/// Whether a text is a whole commit id; Argo CD writes other texts into the same fields where resolving failed.
pub(super) fn is_commit_id(text: &str) -> bool {
    text.len() == 40 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// A directory without `.`, double slashes and slashes at its ends; the top of the repository is empty.
#[must_use]
pub fn clean_path(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    parts.join("/")
}

/// Whether two sources are the same, however their paths are spelled and whatever empty values stand in them.
pub(super) fn is_same_source(one: &Source, other: &Source) -> bool {
    one.repo_url == other.repo_url
        && clean_path(&one.path) == clean_path(&other.path)
        && one.target_revision == other.target_revision
        && one.chart == other.chart
        && one.reference == other.reference
        && pruned_map(&one.rest) == pruned_map(&other.rest)
}

/// A mapping without what is empty.
fn pruned_map(map: &Map<String, Value>) -> Map<String, Value> {
    let pairs = map.iter().filter_map(|(key, value)| Some((key.clone(), pruned(value)?)));
    let mut pairs: Vec<_> = pairs.collect();
    pairs.sort_by(|(one, _), (other, _)| one.cmp(other));
    pairs.into_iter().collect()
}

/// A value without what is empty; `None` where nothing is left.
fn pruned(value: &Value) -> Option<Value> {
    match value {
        Value::Null | Value::Bool(false) => None,
        Value::String(text) => (!text.is_empty()).then(|| value.clone()),
        Value::Array(items) => (!items.is_empty()).then(|| value.clone()),
        Value::Object(map) => {
            Some(pruned_map(map)).filter(|map| !map.is_empty()).map(Value::Object)
        }
        other => Some(other.clone()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn source(value: Value) -> Source {
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn paths_are_compared_after_cleaning() {
        for path in ["overlays/prod", "./overlays/prod/", "overlays//prod", "overlays/x/../prod"] {
            assert_eq!(clean_path(path), "overlays/prod", "{path}");
        }
        assert_eq!(clean_path("."), "");
    }

    #[test]
    fn empty_values_make_no_difference() {
        let one = source(json!({"repoURL": "r", "path": "./a", "kustomize": {"images": []}}));
        let other = source(json!({"repoURL": "r", "path": "a", "helm": null}));
        assert!(is_same_source(&one, &other));
        let third = source(json!({"repoURL": "r", "path": "a", "kustomize": {"images": ["x=y"]}}));
        assert!(!is_same_source(&one, &third));
    }

    #[test]
    fn only_forty_digits_are_a_commit() {
        assert!(is_commit_id(&"a1".repeat(20)));
        for text in ["", "main", "HEAD", "abc1234"] {
            assert!(!is_commit_id(text), "{text}");
        }
    }
}
