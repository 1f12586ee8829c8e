//! What kustomize loses of a file of values where it merges others into it: its merge knows no
//! aliases, so that a field whose value is one goes, and so does `<<`. In lists, which are not merged,
//! they stay.
//!
//! Source: kyaml v0.21.1 `yaml/walk/walk.go` (`Walk`, for other kinds than maps, lists and scalars).

use crate::kustomize::node::{Map, Node};
use crate::yaml::tree::NodeId;
use crate::yaml::{self, Tree};

/// Takes out of `values`, which were read from `text`, what the merge does not know, and out of
/// `others` what stands in its place; the paths of the fields that are lost.
pub(super) fn drop_aliases(text: &str, values: &mut Node, others: &mut Node) -> Vec<String> {
    let mut lost = Vec::new();
    let Ok(tree) = yaml::parse(text) else { return lost };
    if let (Some(root), Some(values)) = (tree.roots().first(), values.as_map_mut()) {
        let mut aliases = Aliases { tree: &tree, lost: &mut lost };
        aliases.drop(*root, values, others.as_map_mut(), "");
    }
    lost
}

struct Aliases<'a, 't> {
    tree: &'a Tree<'t>,
    lost: &'a mut Vec<String>,
}

impl Aliases<'_, '_> {
    fn drop(&mut self, map: NodeId, values: &mut Map, mut others: Option<&mut Map>, path: &str) {
        let tree = self.tree;
        let pairs: Vec<(&str, NodeId)> = tree
            .pairs(map)
            .filter_map(|(key, value)| Some((tree.node(tree.target(key)).scalar()?, value)))
            .collect();
        let is_kept = |key: &str| {
            let own = pairs.iter().find(|(own, _)| *own == key && *own != "<<");
            own.is_some_and(|(_, value)| tree.target(*value) == *value)
        };
        let named: Vec<String> =
            values.entries().iter().map(|entry| entry.key.text.to_string()).collect();
        for key in named {
            let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
            if !is_kept(&key) {
                values.remove(&key);
                let is_alias = pairs.iter().any(|(own, _)| *own == key);
                if let Some(others) = others.as_deref_mut().filter(|_| is_alias) {
                    others.remove(&key);
                }
                self.lost.push(path);
                continue;
            }
            let id = pairs.iter().find(|(own, _)| *own == key).map(|(_, value)| *value);
            if let (Some(id), Some(map)) = (id, values.get_mut(&key).and_then(Node::as_map_mut)) {
                let below = others.as_deref_mut().and_then(|others| others.get_mut(&key));
                self.drop(id, map, below.and_then(Node::as_map_mut), &path);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kustomize::build::go_json;
    use crate::kustomize::origin::Origin;
    use crate::kustomize::read;

    fn json(node: &Node) -> String {
        let mut out = String::new();
        go_json::write_node(&mut out, node).unwrap();
        out
    }

    /// As kustomize 5.8.1 gives them to helm.
    #[test]
    fn aliases_are_lost_outside_of_lists() {
        let text = "a: &x {b: 1}\nn: *x\nd: {<<: *x, e: 2}\ns: &s text\nt: *s\nl: [*s, *x]\nq: {r: {z: *x, y: [*x]}}\n";
        let mut values = read::embedded(text, Origin::NONE).unwrap();
        let mut others = read::embedded("n: {c: 3}\nd: {c: 3}\na: {c: 3}\n", Origin::NONE).unwrap();
        let lost = drop_aliases(text, &mut values, &mut others);
        let kept = r#"{"a":{"b":1},"d":{"e":2},"l":["text",{"b":1}],"q":{"r":{"y":[{"b":1}]}},"s":"text"}"#;
        assert_eq!(json(&values), kept);
        assert_eq!(json(&others), r#"{"a":{"c":3},"d":{"c":3}}"#);
        assert_eq!(lost, ["n", "d.b", "t", "q.r.z"]);
    }
}
