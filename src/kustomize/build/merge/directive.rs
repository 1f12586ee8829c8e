//! `$patch` in a patch.
//!
//! Source: kyaml v0.21.1 `yaml/merge2/smpdirective.go`.

use super::arena::drop_matching;
use crate::kustomize::error::{BuildError, BuildErrorKind};
use crate::kustomize::node::{Node, Text};

const KEY: &str = "$patch";

/// What a patch asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Directive {
    /// Merge, which is what happens without a word too.
    Merge,
    /// Take the patch's value for the target's.
    Replace,
    /// Remove the target's value.
    Delete,
}

fn parse(text: &str, node: &Node) -> Result<Directive, BuildError> {
    match text {
        "merge" => Ok(Directive::Merge),
        "replace" => Ok(Directive::Replace),
        "delete" => Ok(Directive::Delete),
        other => {
            let message = format!("unknown `$patch: {other}`; write merge, replace or delete");
            Err(BuildError::new(BuildErrorKind::Patch, message).at(node.origin))
        }
    }
}

/// Takes the directive out of a map.
///
/// # Errors
/// [`BuildErrorKind::Patch`] for an unknown one, which stays.
pub(super) fn take_map_directive(patch: &mut Node) -> Result<Directive, BuildError> {
    let Some(map) = patch.as_map_mut() else { return Ok(Directive::Merge) };
    let Some(value) = map.get(KEY) else { return Ok(Directive::Merge) };
    let directive = parse(value.as_text().map_or("", |text| text), value)?;
    map.remove(KEY);
    Ok(directive)
}

/// Takes the directive out of a list: the first element with the key, if it has no other.
///
/// # Errors
/// [`BuildErrorKind::Patch`] for an unknown one.
pub(super) fn take_seq_directive(patch: &mut Node) -> Result<Directive, BuildError> {
    let Some(items) = patch.as_seq_mut() else { return Ok(Directive::Merge) };
    let Some(element) = items.iter().find(|item| item.get(KEY).is_some()) else {
        return Ok(Directive::Merge);
    };
    if element.as_map().is_some_and(|map| map.len() > 1) {
        return Ok(Directive::Merge);
    }
    let Some(value) = element.get(KEY) else { return Ok(Directive::Merge) };
    let text = value.as_text().cloned().unwrap_or_default();
    let directive = parse(&text, value)?;
    drop_matching(items, &[KEY], &[Text::clone(&text)])?;
    Ok(directive)
}
