//! Where a value stands in a resource, in the notation of kustomize's field paths.
//!
//! `spec.template.spec.containers.[name=web].image`: keys joined by dots, an item of a list by the
//! `name` that tells it from its neighbours (else by its number), a key that holds a dot in brackets.

use std::fmt;

use super::node::{Node, Text, Value};

/// One step of a [`FieldPath`].
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Step {
    /// The field of a mapping.
    Key(Text),
    /// The item of a list whose `name` is this.
    Named(Text),
    /// The item of a list by its position, from 0.
    Index(usize),
}

/// The steps from the root of a resource to a value.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FieldPath(Vec<Step>);

impl FieldPath {
    /// The path of the field `keys`, from the root.
    #[must_use]
    pub fn of_keys(keys: &[&str]) -> Self {
        Self(keys.iter().map(|key| Step::Key(Text::from(*key))).collect())
    }

    /// The path of these steps, from the root.
    #[must_use]
    pub fn of_steps(steps: &[Step]) -> Self {
        Self(steps.to_vec())
    }

    /// The steps, from the root.
    #[must_use]
    pub fn steps(&self) -> &[Step] {
        &self.0
    }

    /// The path one step further down.
    #[must_use]
    pub fn child(&self, step: Step) -> Self {
        let mut steps = self.0.clone();
        steps.push(step);
        Self(steps)
    }

    /// The value at the path, where there is one.
    #[must_use]
    pub fn find<'a>(&self, root: &'a Node) -> Option<&'a Node> {
        self.0.iter().try_fold(root, |node, step| match step {
            Step::Key(key) => node.get(key),
            Step::Named(name) => {
                node.as_seq()?.iter().find(|item| item_name(item) == Some(name.as_ref()))
            }
            Step::Index(index) => node.as_seq()?.get(*index),
        })
    }

    /// The path from `root` to `wanted`, which is a value inside of it: the very one, not one equal to it.
    #[must_use]
    pub fn to_node(root: &Node, wanted: &Node) -> Option<Self> {
        let mut open = vec![(Self::default(), root)];
        while let Some((path, node)) = open.pop() {
            if std::ptr::eq(node, wanted) {
                return Some(path);
            }
            match &node.value {
                Value::Scalar(_) => {}
                Value::Map(map) => open.extend(map.entries().iter().map(|entry| {
                    (path.child(Step::Key(Text::clone(&entry.key.text))), &entry.value)
                })),
                Value::Seq(items) => {
                    let steps = item_steps(items).into_iter();
                    open.extend(steps.zip(items).map(|(step, item)| (path.child(step), item)));
                }
            }
        }
        None
    }

    /// The value below `root` that `steps` lead to.
    #[must_use]
    pub fn json_at<'a>(
        root: &'a serde_json::Value,
        steps: &[Step],
    ) -> Option<&'a serde_json::Value> {
        steps.iter().try_fold(root, |value, step| match step {
            Step::Key(key) => value.get(&**key),
            Step::Named(name) => value.as_array()?.iter().find(|item| item["name"] == **name),
            Step::Index(index) => value.get(index),
        })
    }

    /// The path as a JSON pointer (RFC 6901) into `root`, where it leads somewhere.
    #[must_use]
    pub fn to_json_pointer(&self, root: &Node) -> Option<String> {
        let mut node = root;
        let mut pointer = String::new();
        for step in &self.0 {
            let (token, next) = match step {
                Step::Key(key) => (escape_token(key), node.get(key)?),
                Step::Named(name) => {
                    let items = node.as_seq()?;
                    let is_it = |item: &Node| item_name(item) == Some(name.as_ref());
                    let index = items.iter().position(is_it)?;
                    (index.to_string(), &items[index])
                }
                Step::Index(index) => (index.to_string(), node.as_seq()?.get(*index)?),
            };
            pointer.push('/');
            pointer.push_str(&token);
            node = next;
        }
        Some(pointer)
    }
}

fn escape_token(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

impl fmt::Display for FieldPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, step) in self.0.iter().enumerate() {
            if i > 0 {
                f.write_str(".")?;
            }
            match step {
                Step::Key(key) if key.contains(['.', '[', ']']) => {
                    write!(f, "[{}]", key.replace(']', "\\]"))?;
                }
                Step::Key(key) => f.write_str(key)?,
                Step::Named(name) => write!(f, "[name={name}]")?,
                Step::Index(index) => write!(f, "{index}")?,
            }
        }
        Ok(())
    }
}

/// The step to each item of a list: by name where every item has one and no two share it.
#[must_use]
pub fn item_steps(items: &[Node]) -> Vec<Step> {
    let names: Option<Vec<&str>> = items.iter().map(item_name).collect();
    let names = names.filter(|names| {
        let mut sorted = names.clone();
        sorted.sort_unstable();
        sorted.windows(2).all(|pair| pair[0] != pair[1])
    });
    match names {
        Some(names) => names.into_iter().map(|name| Step::Named(Text::from(name))).collect(),
        None => (0..items.len()).map(Step::Index).collect(),
    }
}

fn item_name(item: &Node) -> Option<&str> {
    item.get("name").and_then(Node::as_str)
}

#[cfg(test)]
mod tests {
    use super::super::node::Map;
    use super::super::origin::Origin;
    use super::*;

    fn map(pairs: Vec<(&str, Node)>) -> Node {
        let mut map = Map::new();
        for (key, value) in pairs {
            map.push(key, value);
        }
        Node::map(map, Origin::NONE)
    }

    fn text(text: &str) -> Node {
        Node::string(text, Origin::NONE)
    }

    fn list(items: Vec<Node>) -> Node {
        Node::seq(items, Origin::NONE)
    }

    #[test]
    fn paths_are_written_as_kustomize_writes_them() {
        let containers = FieldPath::of_keys(&["containers"]).child(Step::Named("web".into()));
        let argument = containers.child(Step::Key("args".into())).child(Step::Index(0));
        assert_eq!(argument.to_string(), "containers.[name=web].args.0");
        assert_eq!(FieldPath::of_keys(&["a.b/c"]).to_string(), "[a.b/c]");
    }

    #[test]
    fn a_path_finds_its_value_and_its_pointer() {
        let items = vec![
            map(vec![("name", text("a"))]),
            map(vec![("name", text("b")), ("i/j", text("v"))]),
        ];
        let root = map(vec![("list", list(items))]);
        let path = FieldPath::of_keys(&["list"])
            .child(Step::Named("b".into()))
            .child(Step::Key("i/j".into()));
        assert_eq!(path.find(&root).and_then(Node::as_str), Some("v"));
        assert_eq!(path.to_json_pointer(&root).as_deref(), Some("/list/1/i~1j"));
        assert_eq!(path.child(Step::Index(0)).find(&root), None);
    }

    #[test]
    fn items_without_distinct_names_are_numbered() {
        let twice = [map(vec![("name", text("a"))]), map(vec![("name", text("a"))])];
        assert_eq!(item_steps(&twice), [Step::Index(0), Step::Index(1)]);
    }
}
