//! Finds a value by a path of fields and list elements: `spec.containers.[name=web].image`.
//!
//! Source: kyaml `utils/pathsplitter.go`, `yaml/fns.go` (`PathGetter`, `ElementMatcher`).

use crate::kustomize::node::{Node, Value};

/// Splits a path at its dots; a dot after a backslash and dots in brackets do not separate (kyaml
/// `SmarterPathSplitter`).
pub(crate) fn split_path(path: &str) -> Vec<String> {
    let parts = split_at_dots(path);
    let mut result = Vec::with_capacity(parts.len());
    let mut parts = parts.into_iter();
    while let Some(part) = parts.next() {
        if !part.starts_with('[') || part.ends_with(']') {
            result.push(part);
            continue;
        }
        let mut bracketed = part;
        for next in parts.by_ref() {
            bracketed.push('.');
            bracketed.push_str(&next);
            if next.ends_with(']') {
                break;
            }
        }
        if bracketed.contains('=') {
            result.push(bracketed);
        } else {
            result.push(bracketed.trim_matches(['[', ']']).to_owned());
        }
    }
    result
}

fn split_at_dots(path: &str) -> Vec<String> {
    let path = path.strip_prefix('.').unwrap_or(path);
    let mut result: Vec<String> = Vec::new();
    let mut joins = false;
    for part in path.split('.') {
        match result.last_mut() {
            Some(last) if joins => {
                last.pop();
                last.push('.');
                last.push_str(part);
            }
            _ => result.push(part.to_owned()),
        }
        joins = result.last().is_some_and(|last| last.ends_with('\\'));
    }
    result
}

/// One part of a path, as kyaml understands it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step<'a> {
    /// A field of a map.
    Field(&'a str),
    /// The element of a list at a place.
    Index(usize),
    /// The last element of a list.
    Last,
    /// Every element of a list.
    Every,
    /// The elements whose field has a value; without a field, those that are the value.
    Match {
        /// The field; empty for none.
        field: &'a str,
        /// The value.
        value: &'a str,
    },
}

impl<'a> Step<'a> {
    /// Reads one part.
    ///
    /// # Errors
    /// In words, for brackets without `=` and for a negative place.
    pub(crate) fn parse(part: &'a str) -> Result<Self, String> {
        if let Some(inside) = part.strip_prefix('[').and_then(|part| part.strip_suffix(']')) {
            let Some((field, value)) = inside.split_once('=') else {
                return Err(format!("`{part}` must have the form [field=value]"));
            };
            return Ok(Self::Match { field, value });
        }
        match part {
            "-" => Ok(Self::Last),
            "*" => Ok(Self::Every),
            _ => match integer(part) {
                Some(place) => usize::try_from(place)
                    .map(Self::Index)
                    .map_err(|_| format!("the place {place} in a list must not be negative")),
                None => Ok(Self::Field(part)),
            },
        }
    }
}

/// Go's `strconv.Atoi`.
pub(crate) fn integer(text: &str) -> Option<i64> {
    text.parse().ok()
}

/// What kyaml calls the kind of a node, for messages.
pub(crate) fn kind_name(node: &Node) -> &'static str {
    match &node.value {
        Value::Map(_) => "a map",
        Value::Seq(_) => "a list",
        Value::Scalar(_) => "a scalar",
    }
}

/// The value at the end of `path`; `None` where a part is not there.
///
/// # Errors
/// In words, where a part does not fit what it is looked up in.
pub(crate) fn lookup<'n>(node: &'n Node, path: &[String]) -> Result<Option<&'n Node>, String> {
    let mut here = node;
    for part in path.iter().map(|part| part.trim()).filter(|part| !part.is_empty()) {
        match step_into(here, &Step::parse(part)?)? {
            Some(next) => here = next,
            None => return Ok(None),
        }
    }
    Ok(Some(here))
}

/// As [`lookup`], to change; a part that does not fit leads nowhere.
pub(crate) fn lookup_mut<'n>(node: &'n mut Node, path: &[String]) -> Option<&'n mut Node> {
    let mut here = node;
    for part in path.iter().map(|part| part.trim()).filter(|part| !part.is_empty()) {
        here = match Step::parse(part).ok()? {
            Step::Field(name) => here.get_mut(name)?,
            Step::Index(place) => here.as_seq_mut()?.get_mut(place)?,
            Step::Last => here.as_seq_mut()?.last_mut()?,
            Step::Match { field, value } => {
                here.as_seq_mut()?.iter_mut().find(|item| is_match(item, field, value))?
            }
            Step::Every => return None,
        };
    }
    Some(here)
}

fn step_into<'n>(node: &'n Node, step: &Step<'_>) -> Result<Option<&'n Node>, String> {
    if let Step::Every = step {
        return Err("`*` is not supported here".to_owned());
    }
    if node.is_null() {
        return match step {
            Step::Last => Err("an empty list has no last element".to_owned()),
            _ => Ok(None),
        };
    }
    if let Step::Field(name) = step {
        let map = node.as_map().ok_or_else(|| unexpected(node, "a map", name))?;
        return Ok(map.get(name));
    }
    let items = node.as_seq().ok_or_else(|| unexpected(node, "a list", "an element"))?;
    Ok(match step {
        Step::Index(place) => items.get(*place),
        Step::Last => {
            Some(items.last().ok_or_else(|| "an empty list has no last element".to_owned())?)
        }
        Step::Match { field, value } => items.iter().find(|item| is_match(item, field, value)),
        Step::Field(_) | Step::Every => None,
    })
}

/// Whether an element of a list is the one whose field has the value.
pub(crate) fn is_match(item: &Node, field: &str, value: &str) -> bool {
    let text = match field {
        "" => item.as_text(),
        _ => item.get(field).and_then(Node::as_text),
    };
    text.is_some_and(|text| &**text == value)
}

fn unexpected(node: &Node, expected: &str, wanted: &str) -> String {
    format!("{expected} must stand where `{wanted}` is looked up, not {}", kind_name(node))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_split_at_dots_outside_of_brackets() {
        for (path, parts) in [
            ("a.b.c", vec!["a", "b", "c"]),
            (".a.b", vec!["a", "b"]),
            (r"a.b\.c.d", vec!["a", "b.c", "d"]),
            ("a.[name=x.y].b", vec!["a", "[name=x.y]", "b"]),
            ("metadata.annotations.[a.b/c]", vec!["metadata", "annotations", "a.b/c"]),
            ("a.[b]", vec!["a", "[b]"]),
        ] {
            assert_eq!(split_path(path), parts, "{path}");
        }
    }
}
