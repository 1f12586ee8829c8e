//! From a field as a person writes it to the value in a resource.
//!
//! The notation is kustomize's (`spec.template.spec.containers.[name=web].image`, a dot in a key as
//! `\.` or the key in brackets, of which `\]` is no end; kyaml `utils.SmarterPathSplitter`), and `containers[0]` and
//! `containers.0` for an item by its position. Below a map of texts (annotations, labels, data of a ConfigMap) all that
//! is left is one key, and so is what names a key that is there: `metadata.annotations.prometheus.io/scrape`.

mod split;

use self::split::split;
use super::build::tables::types::Shape;
use super::field_path::{FieldPath, Step, item_steps};
use super::field_shape::{below, shape_of_resource};
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
    /// A step that is none of this kind of value, in a field that is not there yet.
    #[error("{parent} is {shape}{}, and `{missing}` leads nowhere in it", if *shape == "a list" { " without such an item" } else { "" })]
    Misfit {
        /// The step, as written.
        missing: String,
        /// The path of the field.
        parent: String,
        /// What the field holds, in words.
        shape: &'static str,
    },
}

/// Finds the field `query` of the resource `root`, and its path in kustomize's own notation. An empty query is `root`
/// itself.
///
/// # Errors
/// [`FieldQueryError`].
pub fn query_field<'a>(
    root: &'a Node,
    query: &str,
) -> Result<(FieldPath, &'a Node), FieldQueryError> {
    let mut at = Cursor::new(root);
    let mut node = root;
    let parts = split(query)?;
    let mut rest = &parts[..];
    while let [part, after @ ..] = rest {
        let key = at.one_key(rest);
        let whole =
            key.as_ref().and_then(|key| Some((Step::Key(key.as_str().into()), node.get(key)?)));
        let is_whole = whole.is_some();
        let (step, next) =
            whole.or_else(|| find_step(node, part)).ok_or_else(|| FieldQueryError::Missing {
                missing: key.unwrap_or_else(|| part.clone()),
                parent: at.shown(),
                candidates: children(node),
            })?;
        at = at.below(step, Some(next));
        node = next;
        rest = if is_whole { &[] } else { after };
    }
    Ok((at.path, node))
}

/// The path of the field `query` of the resource `root`, whether it is there or not: what is missing is reached
/// by keys, and by `[name=…]` in a list.
///
/// # Errors
/// [`FieldQueryError`] for a text that is no path, and for a step into something of another shape.
pub fn path_of_field(root: &Node, query: &str) -> Result<FieldPath, FieldQueryError> {
    let mut at = Cursor::new(root);
    let parts = split(query)?;
    let mut rest = &parts[..];
    while let [part, after @ ..] = rest {
        if let Some(key) = at.one_key(rest) {
            return Ok(at.path.child(Step::Key(key.into())));
        }
        let found = at.node.and_then(|node| find_step(node, part));
        let (step, next) = match found {
            Some((step, next)) => (step, Some(next)),
            None => (at.new_step(part)?, None),
        };
        at = at.below(step, next);
        rest = after;
    }
    match at.path.steps() {
        [] => Err(FieldQueryError::Malformed { field: query.to_owned() }),
        _ => Ok(at.path),
    }
}

/// Maps of texts wherever they stand: by these names custom resources have them, too.
const MAPS_OF_TEXTS: [&str; 4] = ["annotations", "labels", "matchLabels", "nodeSelector"];

/// The settings of PostgreSQL in a Cluster of CloudNativePG, such as `pg_stat_statements.max`.
fn parameters_of_a_database() -> [Step; 2] {
    ["postgresql", "parameters"].map(|key| Step::Key(key.into()))
}

/// How far a query has led.
struct Cursor<'a> {
    path: FieldPath,
    /// The value there, if any.
    node: Option<&'a Node>,
    /// What the field holds, if that is known.
    shape: Option<&'static Shape>,
}

impl<'a> Cursor<'a> {
    fn new(root: &'a Node) -> Self {
        let shape = Some(shape_of_resource(root));
        Self { path: FieldPath::default(), node: Some(root), shape }
    }

    fn below(self, step: Step, node: Option<&'a Node>) -> Self {
        let shape = self.shape.and_then(|shape| below(shape, &step));
        Self { path: self.path.child(step), node, shape }
    }

    fn shown(&self) -> String {
        match self.path.steps() {
            [] => "the resource".to_owned(),
            _ => self.path.to_string(),
        }
    }

    /// The key that several parts are together: below a map of texts, and where a key of that name is there.
    fn one_key(&self, parts: &[String]) -> Option<String> {
        if parts.len() < 2 || parts.iter().any(|part| part.starts_with('[')) {
            return None;
        }
        let key = parts.join(".");
        let is_there = || self.node.is_some_and(|node| node.get(&key).is_some());
        (self.is_map_of_texts() || is_there()).then_some(key)
    }

    fn is_map_of_texts(&self) -> bool {
        let Some(shape) = self.shape else {
            let is_so_named = self.path.steps().ends_with(&parameters_of_a_database())
                || matches!(self.path.steps().last(), Some(Step::Key(key)) if MAPS_OF_TEXTS.contains(&&**key));
            let is_scalar = |node: &Node| matches!(node.value, Value::Scalar(_));
            let fits = |node: &Node| match &node.value {
                Value::Map(map) => map.entries().iter().all(|entry| is_scalar(&entry.value)),
                _ => node.is_null(),
            };
            return is_so_named && self.node.is_none_or(fits);
        };
        shape.is_map_of_scalars()
    }

    /// The step to what is not there yet.
    fn new_step(&self, part: &str) -> Result<Step, FieldQueryError> {
        let missing = || FieldQueryError::Missing {
            missing: part.to_owned(),
            parent: self.shown(),
            candidates: self.node.map(children).unwrap_or_default(),
        };
        let node = self.node.filter(|node| !node.is_null());
        match (node.map(|node| &node.value), self.shape) {
            (Some(Value::Scalar(_)), _) => Err(missing()),
            (Some(Value::Seq(items)), _) if !items.is_empty() => {
                named_step(part).ok_or_else(missing)
            }
            (None | Some(Value::Seq(_)), Some(shape)) => Self::step_of_shape(shape, part)
                .ok_or_else(|| FieldQueryError::Misfit {
                    missing: part.to_owned(),
                    parent: self.shown(),
                    shape: shape.words(),
                }),
            (Some(Value::Seq(_)), None) => named_step(part).ok_or_else(missing),
            (Some(Value::Map(_)) | None, _) => {
                Ok(named_step(part).unwrap_or_else(|| key_step(part)))
            }
        }
    }

    /// The step to what is not there yet in a field of a known shape; `None` where none leads there.
    fn step_of_shape(shape: &Shape, part: &str) -> Option<Step> {
        match (shape, named_step(part)) {
            (Shape::List(_), named) => {
                named.filter(|_| shape.item().is_some_and(|item| item.field("name").is_some()))
            }
            (Shape::Any, named) => Some(named.unwrap_or_else(|| key_step(part))),
            (Shape::Map(_) | Shape::Object(_), None) => Some(key_step(part)),
            _ => None,
        }
    }
}

fn key_step(part: &str) -> Step {
    let inner = part.strip_prefix('[').and_then(|p| p.strip_suffix(']'));
    Step::Key(inner.unwrap_or(part).into())
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

    fn path(field: &str) -> Result<String, FieldQueryError> {
        let root = resources_of(WEB, Origin::NONE).unwrap().remove(0);
        path_of_field(&root, field).map(|path| path.to_string())
    }

    #[test]
    fn below_a_map_of_texts_all_that_is_left_is_one_key() {
        assert_eq!(query("metadata.annotations.example.com/a").unwrap().1, "x");
        let scrape = "spec.template.metadata.annotations.[prometheus.io/scrape]";
        assert_eq!(
            path("spec.template.metadata.annotations.prometheus.io/scrape").unwrap(),
            scrape
        );
        assert_eq!(path(scrape).unwrap(), scrape);
        let gpu = "spec.template.spec.containers.[name=web].resources.limits";
        assert_eq!(
            path(&format!("{gpu}.nvidia.com/gpu")).unwrap(),
            format!("{gpu}.[nvidia.com/gpu]")
        );
        let Err(FieldQueryError::Missing { missing, .. }) = query("metadata.annotations.b.c/d")
        else {
            panic!("found");
        };
        assert_eq!(missing, "b.c/d");
    }

    #[test]
    fn a_step_of_another_shape_leads_nowhere() {
        for written in [
            "spec.template.spec.containers.[name=web].args.0",
            "spec.minReadySeconds.x",
            "spec.strategy.[name=x]",
            "spec.template.spec.containers.[name=web].args.[name=x]",
        ] {
            let is_misfit = matches!(path(written), Err(FieldQueryError::Misfit { .. }));
            assert!(is_misfit, "{written}: {:?}", path(written));
        }
        let env = "spec.template.spec.containers.[name=web].env.[name=A].value";
        assert_eq!(path(env).unwrap(), env);
        assert_eq!(path("spec.newerThanTheSchema.x").unwrap(), "spec.newerThanTheSchema.x");
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
