//! Where kustomize's own text of a resource breaks: it prints a resource with its comments, and reads that again.
//!
//! A comment behind `}` or `]` of a collection that is printed by indentation now (a patch put it in the place of a null, say) is
//! held back and stands behind the next key. Before `[]` or `{}` of a collection that is not marked as one in brackets, and behind the
//! dash of an element in brackets, a line break comes with it, and what follows is no YAML any more. So does a comment below
//! an element of a list, where an element in brackets or a key whose value is in brackets comes next.
//!
//! Source: go.yaml.in/yaml v3.0.4 `emitterc.go` (`line_comment`, `key_line_comment`).

use crate::kustomize::error::BuildError;
use crate::kustomize::node::{Comment, Layout, Node, Value};

/// Fails where a comment is held back until it breaks the text.
///
/// # Errors
/// [`BuildErrorKind::Unsupported`](crate::kustomize::error::BuildErrorKind::Unsupported) where the text of the resource would break.
pub(crate) fn check(resource: &Node) -> Result<(), BuildError> {
    HeldBack::default().block(resource)
}

/// Comments that are not written yet.
#[derive(Default)]
struct HeldBack {
    /// Of a collection that ended: for what is written next.
    line: bool,
    /// For the value of a key.
    key: bool,
    /// Of an element of a list: for what is written next.
    below: bool,
}

impl HeldBack {
    /// A value in a document or in a list that is written by indentation.
    fn block(&mut self, node: &Node) -> Result<(), BuildError> {
        if is_flow(node) {
            // There a comment is written behind the first value or the last bracket.
            self.line = false;
            return Ok(());
        }
        match &node.value {
            Value::Scalar(_) => self.line = false,
            Value::Seq(items) => items.iter().try_for_each(|item| self.behind_dash(item))?,
            Value::Map(map) => {
                map.entries().iter().try_for_each(|entry| self.behind_key(&entry.value))?;
            }
        }
        self.line |= matches!(node.comment.as_deref(), Some(Comment::Closing(_)));
        self.below |= matches!(node.comment.as_deref(), Some(Comment::Below));
        Ok(())
    }

    fn behind_dash(&mut self, item: &Node) -> Result<(), BuildError> {
        if std::mem::take(&mut self.below) && is_flow(item) {
            let what = "a comment below an element of a list, held back until one in brackets";
            return Err(BuildError::unsupported(what).at(item.origin));
        }
        if self.line && is_flow(item) {
            let what = "a comment behind a collection, held back until an element in brackets";
            return Err(BuildError::unsupported(what).at(item.origin));
        }
        self.block(item)
    }

    fn behind_key(&mut self, value: &Node) -> Result<(), BuildError> {
        if std::mem::take(&mut self.below) && is_flow(value) {
            let what = "a comment below a list, held back until a value in brackets";
            return Err(BuildError::unsupported(what).at(value.origin));
        }
        self.key |= std::mem::take(&mut self.line) || value.is_key_commented;
        if self.key && value.as_scalar().is_some() {
            // One of the two is written; that of the key may still come later.
            self.key = matches!(value.comment.as_deref(), Some(Comment::Behind(_)));
        } else if self.key && value.layout != Layout::Flow {
            if value.is_nil_or_empty() {
                let what = "a comment behind a collection, held back until one without elements";
                return Err(BuildError::unsupported(what).at(value.origin));
            }
            self.key = false;
        }
        self.block(value)
    }
}

/// Whether it is written in brackets: marked so, or without elements.
fn is_flow(node: &Node) -> bool {
    node.as_scalar().is_none() && (node.layout == Layout::Flow || node.is_nil_or_empty())
}
