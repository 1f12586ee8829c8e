//! Objects of a cluster, which speaks JSON, as the values that resources are made of.

use serde_json::Value as Json;

use super::node::{Map, Node};
use super::origin::Origin;

impl Node {
    /// The value that `json` is; nobody decided it, so that it has no origin.
    #[must_use]
    pub fn from_json(json: &Json) -> Self {
        match json {
            Json::Null => Self::null(Origin::NONE),
            Json::Bool(value) => Self::untagged(value.to_string(), Origin::NONE),
            Json::Number(value) => Self::untagged(value.to_string(), Origin::NONE),
            Json::String(text) => Self::string(text.as_str(), Origin::NONE),
            Json::Array(items) => {
                Self::seq(items.iter().map(Self::from_json).collect(), Origin::NONE)
            }
            Json::Object(fields) => {
                let mut map = Map::with_capacity(fields.len());
                for (key, value) in fields {
                    map.push(key.as_str(), Self::from_json(value));
                }
                Self::map(map, Origin::NONE)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kustomize::node::Tag;

    #[test]
    fn json_keeps_its_types() {
        let node = Node::from_json(&serde_json::json!({"a": [1, "1", true, null], "b": {}}));
        let items = node.lookup(&["a"]).and_then(Node::as_seq).unwrap();
        assert_eq!(items[0].as_str(), Some("1"));
        assert_eq!(items[0].as_scalar().unwrap().tag, Tag::Unset);
        assert_eq!(items[1].as_scalar().unwrap().tag, Tag::Str);
        assert_eq!(items[2].as_str(), Some("true"));
        assert!(items[3].is_null());
        assert!(node.lookup(&["b"]).and_then(Node::as_map).unwrap().is_empty());
    }
}
