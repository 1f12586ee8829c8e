//! Which nodes a pod may be on: its node selector, its required node affinity, and the taints that it tolerates.
//!
//! Source: k8s.io/component-helpers `scheduling/corev1/nodeaffinity` (terms are alternatives, requirements of a term hold
//! together, a term of nothing matches nothing) and `scheduling/corev1` (`ToleratesTaint`).

use std::collections::BTreeMap;

use crate::checks::model::{items_at, text_at, texts_at};
use crate::kustomize::node::Node;

/// The taint of a node that is cordoned; whether it is, is told apart from its taints.
pub const UNSCHEDULABLE: &str = "node.kubernetes.io/unschedulable";

/// What keeps pods away from a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Taint {
    /// Its key.
    pub key: String,
    /// Its value; often empty.
    pub value: String,
    /// `NoSchedule`, `PreferNoSchedule` or `NoExecute`.
    pub effect: String,
}

/// What a node shows of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Face {
    /// Its name.
    pub name: String,
    /// Its labels.
    pub labels: BTreeMap<String, String>,
    /// Its taints.
    pub taints: Vec<Taint>,
}

/// Why a pod may not be on a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unfit {
    /// The node lacks what the node selector or the affinity asks for, which is told.
    Labels(String),
    /// A taint that the pod does not tolerate.
    Taint(String),
}

/// Why the pod with this specification may not be on `face`; `None` where it may.
#[must_use]
pub fn unfit(pod: &Node, face: &Face) -> Option<Unfit> {
    let by_label = || lacking_label(pod, face).map(Unfit::Labels);
    by_label().or_else(|| intolerable(pod, face).map(Unfit::Taint))
}

/// What the node selector or the required affinity of a pod asks for and `face` has not.
#[must_use]
pub fn lacking_label(pod: &Node, face: &Face) -> Option<String> {
    for (key, value) in texts_at(pod, &["nodeSelector"]) {
        if face.labels.get(key).map(String::as_str) != Some(value) {
            return Some(format!("{key}={value}"));
        }
    }
    let path = ["affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution"];
    if let Some(required) = pod.lookup(&path).filter(|node| !node.is_null()) {
        let terms = items_at(required, &["nodeSelectorTerms"]);
        if !terms_match(terms, face) {
            return Some(terms_shown(terms));
        }
    }
    None
}

/// The first taint of `face` that a pod does not tolerate.
#[must_use]
pub fn intolerable(pod: &Node, face: &Face) -> Option<String> {
    let tolerations = items_at(pod, &["tolerations"]);
    let keeps_off = |taint: &&Taint| {
        taint.effect != "PreferNoSchedule"
            && taint.key != UNSCHEDULABLE
            && !tolerations.iter().any(|toleration| tolerates(toleration, taint))
    };
    let taint = face.taints.iter().find(keeps_off)?;
    Some(match taint.value.as_str() {
        "" => taint.key.clone(),
        value => format!("{}={value}", taint.key),
    })
}

/// Whether a cordon does not keep the pod off (Kubernetes `plugins/nodeunschedulable`).
#[must_use]
pub fn tolerates_cordon(pod: &Node) -> bool {
    let (key, effect) = (UNSCHEDULABLE.to_owned(), "NoSchedule".to_owned());
    let taint = Taint { key, value: String::new(), effect };
    items_at(pod, &["tolerations"]).iter().any(|toleration| tolerates(toleration, &taint))
}

/// Whether one of `nodeSelectorTerms` holds for a node.
#[must_use]
pub fn terms_match(terms: &[Node], face: &Face) -> bool {
    terms.iter().any(|term| {
        let expressions = items_at(term, &["matchExpressions"]);
        let fields = items_at(term, &["matchFields"]);
        let is_empty = expressions.is_empty() && fields.is_empty();
        let label = |key: &str| face.labels.get(key).map(String::as_str);
        let field = |key: &str| (key == "metadata.name").then_some(face.name.as_str());
        !is_empty
            && expressions.iter().all(|wanted| holds(wanted, label))
            && fields.iter().all(|wanted| holds(wanted, field))
    })
}

fn holds<'a>(wanted: &Node, find: impl Fn(&str) -> Option<&'a str>) -> bool {
    let value = text_at(wanted, &["key"]).and_then(find);
    let mut values = items_at(wanted, &["values"]).iter().filter_map(Node::as_str);
    let number = |text: &str| text.parse::<i64>().ok();
    let bound = || values.clone().next().and_then(number);
    let pair = || Some((value.and_then(number)?, bound()?));
    match text_at(wanted, &["operator"]) {
        Some("In") => value.is_some_and(|value| values.any(|known| known == value)),
        Some("NotIn") => !value.is_some_and(|value| values.any(|known| known == value)),
        Some("Exists") => value.is_some(),
        Some("DoesNotExist") => value.is_none(),
        Some("Gt") => pair().is_some_and(|(value, bound)| value > bound),
        Some("Lt") => pair().is_some_and(|(value, bound)| value < bound),
        _ => false,
    }
}

/// The terms for a message: `topology.kubernetes.io/zone In (az-1)`.
#[must_use]
pub fn terms_shown(terms: &[Node]) -> String {
    let requirement = |wanted: &Node| {
        let field = |name| text_at(wanted, &[name]).unwrap_or_default();
        let values: Vec<&str> =
            items_at(wanted, &["values"]).iter().filter_map(Node::as_str).collect();
        match values.as_slice() {
            [] => format!("{} {}", field("key"), field("operator")),
            values => format!("{} {} ({})", field("key"), field("operator"), values.join(", ")),
        }
    };
    let term = |term: &Node| {
        let all = ["matchExpressions", "matchFields"];
        let all = all.iter().flat_map(|list| items_at(term, &[list]));
        all.map(requirement).collect::<Vec<_>>().join(" and ")
    };
    terms.iter().map(term).collect::<Vec<_>>().join(" or ")
}

fn tolerates(toleration: &Node, taint: &Taint) -> bool {
    let field = |name| text_at(toleration, &[name]).unwrap_or_default();
    let effect_fits = field("effect").is_empty() || field("effect") == taint.effect;
    let key_fits = field("key") == taint.key || field("key").is_empty();
    match field("operator") {
        "Exists" => effect_fits && key_fits,
        "" | "Equal" => effect_fits && field("key") == taint.key && field("value") == taint.value,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn face() -> Face {
        let labels = [("zone", "az-1"), ("size", "16")];
        let owned = |(key, value): (&str, &str)| (key.to_owned(), value.to_owned());
        let taint = Taint { key: "gpu".into(), value: "yes".into(), effect: "NoSchedule".into() };
        Face {
            name: "node-a".into(),
            labels: labels.into_iter().map(owned).collect(),
            taints: vec![taint],
        }
    }

    fn affinity(expressions: serde_json::Value) -> Node {
        Node::from_json(&json!({
            "tolerations": [{"operator": "Exists"}],
            "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {
                "nodeSelectorTerms": expressions }}}
        }))
    }

    /// The operators of node selectors, one by one.
    #[test]
    fn operators_hold_as_kubernetes_says() {
        for (key, operator, values, fits) in [
            ("zone", "In", json!(["az-1", "az-2"]), true),
            ("zone", "In", json!(["az-2"]), false),
            ("rack", "In", json!(["az-2"]), false),
            ("zone", "NotIn", json!(["az-1"]), false),
            ("rack", "NotIn", json!(["az-1"]), true),
            ("zone", "Exists", json!([]), true),
            ("rack", "Exists", json!([]), false),
            ("zone", "DoesNotExist", json!([]), false),
            ("rack", "DoesNotExist", json!([]), true),
            ("size", "Gt", json!(["15"]), true),
            ("size", "Gt", json!(["16"]), false),
            ("size", "Lt", json!(["17"]), true),
            ("zone", "Lt", json!(["17"]), false),
            ("zone", "Odd", json!([]), false),
        ] {
            let term = json!([{"matchExpressions": [{"key": key, "operator": operator, "values": values}]}]);
            assert_eq!(
                unfit(&affinity(term), &face()).is_none(),
                fits,
                "{key} {operator} {values}"
            );
        }
        let by_name = |name: &str| json!([{"matchFields": [{"key": "metadata.name", "operator": "In", "values": [name]}]}]);
        assert_eq!(unfit(&affinity(by_name("node-a")), &face()), None);
        assert!(unfit(&affinity(by_name("node-b")), &face()).is_some());
        assert!(unfit(&affinity(json!([{}])), &face()).is_some(), "a term of nothing");
        assert!(unfit(&affinity(json!([])), &face()).is_some(), "no term");
    }

    #[test]
    fn taints_keep_off_what_does_not_tolerate_them() {
        for (tolerations, fits) in [
            (json!([]), false),
            (json!([{"operator": "Exists"}]), true),
            (json!([{"key": "gpu", "operator": "Exists"}]), true),
            (json!([{"key": "gpu", "value": "yes"}]), true),
            (json!([{"key": "gpu", "value": "no"}]), false),
            (json!([{"key": "gpu", "operator": "Exists", "effect": "NoExecute"}]), false),
            (json!([{"key": "cpu", "operator": "Exists"}]), false),
        ] {
            let pod = Node::from_json(&json!({"tolerations": tolerations}));
            let found = unfit(&pod, &face());
            assert_eq!(found.is_none(), fits, "{tolerations}");
            assert!(fits || found == Some(Unfit::Taint("gpu=yes".into())));
        }
    }

    #[test]
    fn a_node_selector_wants_every_label() {
        let pod = |labels| {
            Node::from_json(
                &json!({"nodeSelector": labels, "tolerations": [{"operator": "Exists"}]}),
            )
        };
        assert_eq!(unfit(&pod(json!({"zone": "az-1"})), &face()), None);
        let lacking = unfit(&pod(json!({"zone": "az-1", "disk": "ssd"})), &face());
        assert_eq!(lacking, Some(Unfit::Labels("disk=ssd".into())));
    }
}
