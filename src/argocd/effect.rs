//! Does what is rendered, and what is live, hold the change? Compared by value and by field, as far as it can be read.

use serde_json::Value;

use super::application::IgnoreDifference;
use super::expectation::{ExpectedChange, ExpectedField, Presence};
use super::port::{ManagedResource, ObjectRef};
use crate::kustomize::{FieldPath, Step};

/// A field or object that does not hold the change.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Finding {
    /// Which object.
    pub(super) object: ObjectRef,
    /// What is seen.
    pub(super) message: String,
    /// Whether what is rendered is right and the comparison ignores the field in what is live.
    pub(super) is_ignored: bool,
}

/// The first change that is not there; `None` where all are, as far as it can be told.
pub(super) fn check_effect(
    changes: &[ExpectedChange],
    managed: &[ManagedResource],
    ignored: &[IgnoreDifference],
) -> Option<Finding> {
    changes.iter().find_map(|change| {
        let found = managed.iter().find(|managed| managed.object.is(&change.object));
        match &change.presence {
            Presence::Absent => check_absent(change, found),
            Presence::Present(fields) => check_present(change, fields, found, ignored),
        }
    })
}

fn finding(change: &ExpectedChange, message: String) -> Finding {
    Finding { object: change.object.clone(), message, is_ignored: false }
}

fn check_absent(change: &ExpectedChange, found: Option<&ManagedResource>) -> Option<Finding> {
    let found = found?;
    if found.target.is_some() {
        return Some(finding(change, format!("{} is still rendered", change.object)));
    }
    let is_live = found.live.is_some();
    is_live.then(|| finding(change, format!("{} is still in the cluster", change.object)))
}

fn check_present(
    change: &ExpectedChange,
    fields: &[ExpectedField],
    found: Option<&ManagedResource>,
    ignored: &[IgnoreDifference],
) -> Option<Finding> {
    let missing = |place: &str| finding(change, format!("{} is not {place}", change.object));
    let Some(found) = found else { return Some(missing("there")) };
    let Some(target) = &found.target else { return Some(missing("rendered")) };
    let Some(live) = &found.live else { return Some(missing("in the cluster")) };
    fields.iter().filter(|field| is_readable(&change.object, &field.path)).find_map(|field| {
        let rendered = (!found.is_only_live).then(|| check_field(change, field, target)).flatten();
        rendered
            .map(|seen| finding(change, format!("rendered is {seen}")))
            .or_else(|| check_live(change, field, found, live, ignored))
    })
}

/// Argo CD masks what a Secret holds.
fn is_readable(object: &ObjectRef, path: &FieldPath) -> bool {
    let is_secret = object.kind == "Secret" && object.group.is_empty();
    let is_data =
        |step: &Step| matches!(step, Step::Key(key) if matches!(&**key, "data" | "stringData"));
    !(is_secret && path.steps().first().is_some_and(is_data))
}

/// What `root` holds in place of the expected value.
fn check_field(change: &ExpectedChange, field: &ExpectedField, root: &Value) -> Option<String> {
    let seen = FieldPath::json_at(root, field.path.steps());
    if is_expected(field.value.as_ref(), seen, PartialEq::eq) {
        return None;
    }
    let shown =
        |value: Option<&Value>| value.map_or_else(|| "nothing".to_owned(), Value::to_string);
    Some(format!(
        "{} at {} of {}, and not {}",
        shown(seen),
        field.path,
        change.object,
        shown(field.value.as_ref())
    ))
}

/// Whether two values that are no mappings, lists or numbers are the same.
type Same = fn(&Value, &Value) -> bool;

/// What an API server may leave out or add counts as nothing: nulls and empty lists and mappings.
fn is_expected(wanted: Option<&Value>, seen: Option<&Value>, is_same: Same) -> bool {
    let is_empty = |value: &Value| match value {
        Value::Null => true,
        Value::Array(items) => items.is_empty(),
        Value::Object(map) => map.is_empty(),
        _ => false,
    };
    let wanted = wanted.filter(|value| !is_empty(value));
    let seen = seen.filter(|value| !is_empty(value));
    match (wanted, seen) {
        (Some(wanted), Some(seen)) => holds(wanted, seen, is_same),
        (wanted, seen) => wanted.is_none() && seen.is_none(),
    }
}

/// Whether `seen` is `wanted`, with what an API server added by default.
fn holds(wanted: &Value, seen: &Value, is_same: Same) -> bool {
    match (wanted, seen) {
        (Value::Object(wanted), Value::Object(seen)) => {
            wanted.iter().all(|(key, value)| is_expected(Some(value), seen.get(key), is_same))
        }
        (Value::Array(wanted), Value::Array(seen)) => {
            wanted.len() == seen.len() && wanted.iter().zip(seen).all(|(a, b)| holds(a, b, is_same))
        }
        (Value::Number(wanted), Value::Number(seen)) => wanted.as_f64() == seen.as_f64(),
        (wanted, seen) => is_same(wanted, seen),
    }
}

/// Whether two texts, or a text and a number, are one amount of Kubernetes (`resource.Quantity`).
fn is_same_amount(wanted: &Value, seen: &Value) -> bool {
    match (amount(wanted), amount(seen)) {
        (Some(wanted), Some(seen)) => (wanted - seen).abs() <= wanted.abs() * 1e-9,
        _ => wanted == seen,
    }
}

/// An amount as a number: digits, and an SI or binary suffix.
fn amount(value: &Value) -> Option<f64> {
    let text = match value {
        Value::String(text) => text.as_str(),
        Value::Number(number) => return number.as_f64(),
        _ => return None,
    };
    let end = text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic()).len();
    let (digits, suffix) = text.split_at(end);
    const DECIMAL: [(&str, i32); 9] = [
        ("n", -9),
        ("u", -6),
        ("m", -3),
        ("", 0),
        ("k", 3),
        ("M", 6),
        ("G", 9),
        ("T", 12),
        ("P", 15),
    ];
    const BINARY: [&str; 6] = ["Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];
    let decimal =
        DECIMAL.iter().find(|(name, _)| *name == suffix).map(|(_, power)| 10f64.powi(*power));
    let binary = BINARY.iter().zip(1..).find(|(name, _)| **name == suffix);
    let unit = decimal.or(binary.map(|(_, power)| 1024f64.powi(power)))?;
    Some(digits.parse::<f64>().ok()? * unit)
}

fn check_live(
    change: &ExpectedChange,
    field: &ExpectedField,
    found: &ManagedResource,
    live: &Value,
    ignored: &[IgnoreDifference],
) -> Option<Finding> {
    // A field that git no longer states keeps a default in the cluster; the comparison says whether that differs.
    field.value.as_ref()?;
    let seen = check_field(change, field, live)?;
    let at = |root: &Option<Value>| {
        root.as_ref().and_then(|root| FieldPath::json_at(root, field.path.steps()).cloned())
    };
    // The server writes amounts in another form (`0.5` as `500m`): then what it would store is what is stored. That alone
    // says little: it is so of every field that the comparison leaves out, by rules of the Application or of Argo CD.
    let stored = at(&found.normalized_live);
    let is_stored = stored.is_some() && stored == at(&found.predicted_live);
    let seen_value = FieldPath::json_at(live, field.path.steps());
    if is_stored && is_expected(field.value.as_ref(), seen_value, is_same_amount) {
        return None;
    }
    let is_ignored = ignored.iter().any(|rule| is_ignored(rule, change, &field.path));
    let message = match is_ignored {
        true => format!("live is {seen}; ignoreDifferences leaves the field out of the comparison"),
        false => format!("live is {seen}"),
    };
    Some(Finding { is_ignored, ..finding(change, message) })
}

/// Whether a rule leaves the field out; a rule by jq or by manager is taken to, where it is about the object.
fn is_ignored(rule: &IgnoreDifference, change: &ExpectedChange, path: &FieldPath) -> bool {
    let object = &change.object;
    let is_of = |rule: &str, of: &str| rule == "*" || rule == of;
    let names = rule.name.is_empty() || rule.name == object.name;
    if !(is_of(&rule.group, &object.group) && is_of(&rule.kind, &object.kind) && names) {
        return false;
    }
    !rule.jq_paths.is_empty()
        || !rule.managers.is_empty()
        || rule.json_pointers.iter().any(|pointer| covers(pointer, path))
}

/// Whether a JSON pointer is the field or what holds it; positions are not told apart.
fn covers(pointer: &str, path: &FieldPath) -> bool {
    let tokens: Vec<String> = pointer
        .split('/')
        .skip(1)
        .map(|token| token.replace("~1", "/").replace("~0", "~"))
        .collect();
    let is_step = |(token, step): (&String, &Step)| match step {
        Step::Key(key) => **key == **token,
        Step::Named(_) | Step::Index(_) => token.bytes().all(|byte| byte.is_ascii_digit()),
    };
    tokens.len() <= path.steps().len() && tokens.iter().zip(path.steps()).all(is_step)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn object() -> ObjectRef {
        let (group, kind, name) = ("apps".to_owned(), "Deployment".to_owned(), "web".to_owned());
        ObjectRef { group, kind, name, namespace: String::new() }
    }

    fn replicas(value: u64) -> Vec<ExpectedChange> {
        let path = FieldPath::of_keys(&["spec", "replicas"]);
        let field = ExpectedField { path, value: Some(json!(value)) };
        vec![ExpectedChange { object: object(), presence: Presence::Present(vec![field]) }]
    }

    fn managed(target: Value, live: Value) -> Vec<ManagedResource> {
        let object = ObjectRef { namespace: "shop".to_owned(), ..object() };
        let (target, live) = (Some(target), Some(live));
        vec![ManagedResource { object, target, live, ..ManagedResource::default() }]
    }

    fn spec(replicas: u64) -> Value {
        json!({"spec": {"replicas": replicas}})
    }

    #[test]
    fn rendered_and_live_have_to_hold_the_value() {
        assert_eq!(check_effect(&replicas(3), &managed(spec(3), spec(3)), &[]), None);
        let found = check_effect(&replicas(3), &managed(spec(2), spec(2)), &[]).unwrap();
        assert_eq!(found.message, "rendered is 2 at spec.replicas of Deployment/web, and not 3");
        let found = check_effect(&replicas(3), &managed(spec(3), spec(2)), &[]).unwrap();
        assert_eq!(found.message, "live is 2 at spec.replicas of Deployment/web, and not 3");
        assert!(check_effect(&replicas(3), &[], &[]).is_some());
    }

    #[test]
    fn an_ignored_field_is_said_to_be_ignored() {
        let rule = IgnoreDifference {
            group: "apps".to_owned(),
            kind: "Deployment".to_owned(),
            json_pointers: vec!["/spec/replicas".to_owned()],
            ..IgnoreDifference::default()
        };
        let of = |rule| check_effect(&replicas(3), &managed(spec(3), spec(2)), &[rule]).unwrap();
        assert!(of(rule.clone()).is_ignored);
        assert!(!of(IgnoreDifference { name: "other".to_owned(), ..rule }).is_ignored);
    }

    #[test]
    fn a_value_that_the_server_writes_otherwise_is_the_value() {
        let cpu = |text: &str| json!({"spec": {"cpu": text}});
        let path = FieldPath::of_keys(&["spec", "cpu"]);
        let field = ExpectedField { path, value: Some(json!("0.5")) };
        let presence = Presence::Present(vec![field]);
        let changes = [ExpectedChange { object: object(), presence }];
        let mut managed = managed(cpu("0.5"), cpu("500m"));
        assert!(check_effect(&changes, &managed, &[]).is_some());
        managed[0].normalized_live = Some(cpu("500m"));
        managed[0].predicted_live = Some(cpu("500m"));
        assert_eq!(check_effect(&changes, &managed, &[]), None);
        // What the comparison leaves out is stored as it is too, whatever was rendered.
        for other in ["400m", "5", "0.5Gi", "half"] {
            managed[0].live = Some(cpu(other));
            managed[0].normalized_live = Some(cpu(other));
            managed[0].predicted_live = Some(cpu(other));
            assert!(check_effect(&changes, &managed, &[]).is_some(), "{other}");
        }
    }

    #[test]
    fn amounts_are_compared_by_what_they_are() {
        let same = |a: Value, b: Value| is_same_amount(&a, &b);
        assert!(same(json!("0.5"), json!("500m")) && same(json!("1024Mi"), json!("1Gi")));
        assert!(same(json!(1), json!("1")) && same(json!("1000k"), json!("1M")));
        assert!(!same(json!("1"), json!("1m")) && !same(json!("1Gi"), json!("1G")));
        assert!(!same(json!("v1"), json!("v2")) && same(json!("v1"), json!("v1")));
    }

    #[test]
    fn what_is_to_be_gone_is_gone() {
        let gone = [ExpectedChange { object: object(), presence: Presence::Absent }];
        assert_eq!(check_effect(&gone, &[], &[]), None);
        assert!(check_effect(&gone, &managed(spec(1), spec(1)), &[]).is_some());
    }
}
