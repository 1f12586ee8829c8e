//! What acts on images after the `images:` of a kustomization, so that an entry may have no effect.

use crate::yaml::Tree;

/// A field of the kustomization that acts after `images:`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaterField {
    /// `replacements`, `transformers` or `vars`.
    pub field: String,
    /// Its line, from 1.
    pub line: u32,
}

/// Reads the fields that act after `images:` in the first document of `tree`, in the order of the file.
///
/// The order is that of `api/internal/target/kusttarget.go`: `replacements` follow `images`, transformers
/// follow every built-in field, and vars are resolved at the root.
#[must_use]
pub fn read_later(tree: &Tree<'_>) -> Vec<LaterField> {
    let Some(root) = tree.roots().first() else { return Vec::new() };
    let pairs = tree.pairs(tree.target(*root));
    let fields = pairs.map(|(key, value)| {
        let field = tree.node(key).scalar().unwrap_or_default().to_ascii_lowercase();
        let is_later = matches!(field.as_str(), "replacements" | "transformers" | "vars");
        let is_filled = !tree.items(tree.target(value)).is_empty();
        (is_later && is_filled).then(|| LaterField { field, line: tree.node(key).line })
    });
    fields.flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::yaml::parse;

    #[test]
    fn filled_fields_that_act_later_are_found_with_their_lines() {
        let text = "resources: [a]\nreplacements: []\nTransformers:\n- ../t\nimages: []\n";
        let later = read_later(&parse(text).unwrap());
        assert_eq!(later, [LaterField { field: "transformers".into(), line: 3 }]);
    }
}
