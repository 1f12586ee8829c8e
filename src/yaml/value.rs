//! Values to write: small trees, with or without a wish for their style.

use super::scalar::{Resolved, Rules, resolve};
use super::tree::Style;

/// A value to put into a document. Order of keys is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number.
    Int(i64),
    /// A string; its quotes follow its neighbours, and are added where kustomize would read something else.
    Str(String),
    /// A string in a wanted style, as far as that style can hold it. [`Style::Literal`] asks for a `|` block.
    Styled(String, Style),
    /// A list.
    Seq(Vec<Value>),
    /// A mapping.
    Map(Vec<(String, Value)>),
}

impl Value {
    /// A string.
    #[must_use]
    pub fn str(text: impl Into<String>) -> Self {
        Value::Str(text.into())
    }

    /// A string as a literal block (`|`).
    #[must_use]
    pub fn literal(text: impl Into<String>) -> Self {
        Value::Styled(text.into(), Style::Literal)
    }

    /// A mapping of these keys in this order.
    #[must_use]
    pub fn map<K: Into<String>>(pairs: impl IntoIterator<Item = (K, Value)>) -> Self {
        Value::Map(pairs.into_iter().map(|(k, v)| (k.into(), v)).collect())
    }

    /// The text and whether it is a string, for single values.
    pub(super) fn single(&self) -> Option<(String, bool)> {
        match self {
            Value::Null => Some(("null".to_owned(), false)),
            Value::Bool(b) => Some((b.to_string(), false)),
            Value::Int(i) => Some((i.to_string(), false)),
            Value::Str(text) | Value::Styled(text, _) => Some((text.clone(), true)),
            Value::Seq(_) | Value::Map(_) => None,
        }
    }

    /// Whether the last thing in the value is a block scalar whose text ends with a line break.
    pub(super) fn ends_with_line_break(&self) -> bool {
        match self {
            Value::Styled(text, Style::Literal) => text.ends_with('\n'),
            Value::Seq(items) => items.last().is_some_and(Value::ends_with_line_break),
            Value::Map(pairs) => pairs.last().is_some_and(|(_, v)| v.ends_with_line_break()),
            _ => false,
        }
    }

    /// Every string in the value, keys included.
    pub(super) fn strings(&self) -> Vec<&str> {
        match self {
            Value::Str(text) | Value::Styled(text, _) => vec![text],
            Value::Seq(items) => items.iter().flat_map(Value::strings).collect(),
            Value::Map(pairs) => pairs
                .iter()
                .flat_map(|(k, v)| std::iter::once(k.as_str()).chain(v.strings()))
                .collect(),
            Value::Null | Value::Bool(_) | Value::Int(_) => Vec::new(),
        }
    }
}

/// Whether a plain scalar is a string for both of kustomize's engines.
pub(super) fn is_plain_string(text: &str) -> bool {
    resolve(text, Rules::Kustomization) == Resolved::Str
        && resolve(text, Rules::Resource) == Resolved::Str
}
