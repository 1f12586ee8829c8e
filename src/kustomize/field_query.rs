//! From a field as a person writes it to the value in a resource.
//!
//! The notation is kustomize's (`spec.template.spec.containers.[name=web].image`, a dot in a key as
//! `\.` or the key in brackets, of which `\]` is no end; kyaml `utils.SmarterPathSplitter`), and `containers[0]` and
//! `containers.0` for an item by its position.

use super::field_path::{FieldPath, Step, item_steps};
use super::node::{Node, Value};

/// Why a field leads nowhere.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FieldQueryError {
    /// A bracket that is not closed, or nothing between two dots.
    #[error("`{field}` is no field path")]
    Malformed {
        /// As written.
        field: String,
    },
    /// The value has nothing of that name.
    #[error("there is no `{missing}` in {parent}")]
    Missing {
        /// The step that leads nowhere, as written.
        missing: String,
        /// The path of the value that lacks it, or `the resource`.
        parent: String,
        /// What it has instead.
        candidates: Vec<String>,
    },
}

/// Finds the field `query` below `root`, and its path in kustomize's own notation. An empty query is `root` itself.
///
/// # Errors
/// [`FieldQueryError`].
pub fn query_field<'a>(
    root: &'a Node,
    query: &str,
) -> Result<(FieldPath, &'a Node), FieldQueryError> {
    let mut path = FieldPath::default();
    let mut node = root;
    for part in split(query)? {
        let (step, next) = find_step(node, &part).ok_or_else(|| FieldQueryError::Missing {
            missing: part.clone(),
            parent: match path.steps() {
                [] => "the resource".to_owned(),
                _ => path.to_string(),
            },
            candidates: children(node),
        })?;
        path = path.child(step);
        node = next;
    }
    Ok((path, node))
}

/// The path of the field `query` below `root`, whether it is there or not: what is missing is reached
/// by keys, and by `[name=…]` in a list.
///
/// # Errors
/// [`FieldQueryError`] for a text that is no path, and for a step into something of another shape.
pub fn path_of_field(root: &Node, query: &str) -> Result<FieldPath, FieldQueryError> {
    let mut path = FieldPath::default();
    let mut node = Some(root);
    for part in split(query)? {
        let missing = || FieldQueryError::Missing {
            missing: part.clone(),
            parent: path.to_string(),
            candidates: node.map(children).unwrap_or_default(),
        };
        let found = node.and_then(|node| find_step(node, &part));
        let step = match (&found, node.map(|node| &node.value)) {
            (Some((step, _)), _) => step.clone(),
            (None, Some(Value::Scalar(_))) if node.is_some_and(|node| !node.is_null()) => {
                return Err(missing());
            }
            (None, Some(Value::Seq(_))) => named_step(&part).ok_or_else(missing)?,
            (None, _) => named_step(&part).unwrap_or_else(|| {
                let inner = part.strip_prefix('[').and_then(|p| p.strip_suffix(']'));
                Step::Key(inner.unwrap_or(&part).into())
            }),
        };
        node = found.map(|(_, node)| node);
        path = path.child(step);
    }
    match path.steps() {
        [] => Err(FieldQueryError::Malformed { field: query.to_owned() }),
        _ => Ok(path),
    }
}

fn named_step(part: &str) -> Option<Step> {
    let inner = part.strip_prefix('[').and_then(|p| p.strip_suffix(']'))?;
    inner.strip_prefix("name=").map(|name| Step::Named(name.into()))
}

fn find_step<'a>(node: &'a Node, part: &str) -> Option<(Step, &'a Node)> {
    match &node.value {
        Value::Scalar(_) => None,
        Value::Map(map) => {
            let inner = part.strip_prefix('[').and_then(|p| p.strip_suffix(']'));
            let key = inner.unwrap_or(part);
            Some((Step::Key(key.into()), map.get(key)?))
        }
        Value::Seq(items) => {
            let inner = part.strip_prefix('[').and_then(|p| p.strip_suffix(']')).unwrap_or(part);
            let at = match inner.split_once('=') {
                Some((key, value)) => {
                    let is_it = |item: &Node| {
                        item.get(key).is_some_and(|field| scalar_text(field) == Some(value))
                    };
                    items.iter().position(is_it)?
                }
                None => inner.parse().ok()?,
            };
            Some((item_steps(items).into_iter().nth(at)?, items.get(at)?))
        }
    }
}

fn scalar_text(node: &Node) -> Option<&str> {
    match &node.value {
        Value::Scalar(scalar) => Some(&scalar.text),
        _ => None,
    }
}

/// What may be written in place of a step that leads nowhere.
fn children(node: &Node) -> Vec<String> {
    match &node.value {
        Value::Scalar(_) => Vec::new(),
        Value::Map(map) => map.entries().iter().map(|entry| entry.key.text.to_string()).collect(),
        Value::Seq(items) => item_steps(items)
            .into_iter()
            .map(|step| FieldPath::default().child(step).to_string())
            .collect(),
    }
}

/// The parts between dots; brackets keep theirs, and `a[0]` is two parts.
fn split(query: &str) -> Result<Vec<String>, FieldQueryError> {
    let malformed = || FieldQueryError::Malformed { field: query.to_owned() };
    let mut parts: Vec<String> = Vec::new();
    let mut part = String::new();
    let mut after_bracket = true;
    let mut chars = query.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => part.push(chars.next().ok_or_else(malformed)?),
            '.' if part.is_empty() && !after_bracket => return Err(malformed()),
            '.' => {
                push_part(&mut parts, &mut part);
                after_bracket = parts.is_empty();
                if parts.is_empty() {
                    return Err(malformed());
                }
                continue;
            }
            '[' => {
                push_part(&mut parts, &mut part);
                let inner = bracketed(&mut chars).filter(|inner| !inner.is_empty());
                let inner = inner.ok_or_else(malformed)?;
                parts.push(format!("[{inner}]"));
                after_bracket = true;
                continue;
            }
            _ => part.push(c),
        }
        after_bracket = false;
    }
    let ends_in_dot = query.ends_with('.') && !query.ends_with("\\.");
    push_part(&mut parts, &mut part);
    match ends_in_dot {
        true => Err(malformed()),
        false => Ok(parts),
    }
}

/// What stands before the next `]`, of which `\]` and `\\` are no ends; `None` where there is none.
fn bracketed(chars: &mut std::str::Chars<'_>) -> Option<String> {
    let mut inner = String::new();
    loop {
        match chars.next()? {
            ']' => return Some(inner),
            '\\' if chars.as_str().starts_with([']', '\\']) => inner.extend(chars.next()),
            c => inner.push(c),
        }
    }
}

fn push_part(parts: &mut Vec<String>, part: &mut String) {
    if !part.is_empty() {
        parts.push(std::mem::take(part));
    }
}

#[cfg(test)]
mod tests {
    use super::super::origin::Origin;
    use super::super::read::resources_of;
    use super::*;

    const WEB: &str = "apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  annotations: {example.com/a: x}
spec:
  replicas: 2
  template:
    spec:
      containers:
      - name: web
        image: web:1
        ports: [{containerPort: 80}, {containerPort: 443}]
";

    fn query(field: &str) -> Result<(String, String), FieldQueryError> {
        let root = resources_of(WEB, Origin::NONE).unwrap().remove(0);
        let (path, node) = query_field(&root, field)?;
        Ok((path.to_string(), scalar_text(node).unwrap_or("-").to_owned()))
    }

    #[test]
    fn fields_are_found_in_every_notation() {
        let image = "spec.template.spec.containers.[name=web].image";
        for written in [
            image,
            "spec.template.spec.containers[0].image",
            "spec.template.spec.containers.0.image",
            "spec.template.spec.containers[name=web].image",
        ] {
            assert_eq!(query(written), Ok((image.to_owned(), "web:1".to_owned())), "{written}");
        }
        for written in
            ["metadata.annotations.example\\.com/a", "metadata.annotations.[example.com/a]"]
        {
            assert_eq!(query(written).unwrap().1, "x", "{written}");
        }
        let port = query(
            "spec.template.spec.containers.[name=web].ports.[containerPort=443].containerPort",
        );
        assert_eq!(port.unwrap().1, "443");
        assert_eq!(query("spec").unwrap().1, "-");
        assert_eq!(query("").unwrap().0, "");
    }

    #[test]
    fn what_leads_nowhere_says_what_there_is() {
        let Err(FieldQueryError::Missing { missing, parent, candidates }) = query("spec.replica")
        else {
            panic!("found");
        };
        assert_eq!((&*missing, &*parent), ("replica", "spec"));
        assert_eq!(candidates, ["replicas", "template"]);
        assert!(query("spec.template.spec.containers.[name=x]").is_err());
        assert!(query("spec.replicas.x").is_err());
    }

    #[test]
    fn malformed_paths_are_refused() {
        assert_eq!(
            split("data.[a\\]b.c].[x=y.z]"),
            Ok(vec!["data".into(), "[a]b.c]".into(), "[x=y.z]".into()])
        );
        for written in [".", "spec.", ".spec", "spec..replicas", "spec.[", "spec.[]", "a\\"] {
            assert!(matches!(query(written), Err(FieldQueryError::Malformed { .. })), "{written}");
        }
    }
}
