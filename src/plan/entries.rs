//! The `images:` entries of one kustomization file as they stand in its text, and what they do to an
//! image field one after another.

use crate::image::{Pattern, Split};
use crate::yaml::{NodeId, Resolved, Rules, Tree, scalar};

/// One `images:` entry and its place in the file.
#[derive(Clone, Debug)]
pub struct ImagesEntry {
    /// Its position in the list.
    pub index: usize,
    /// The line of its first key, from 1.
    pub line: u32,
    /// `name`
    pub name: String,
    /// `newName`
    pub new_name: Option<String>,
    /// `newTag`
    pub new_tag: Option<String>,
    /// `digest`
    pub digest: Option<String>,
    /// `tagSuffix`
    pub tag_suffix: Option<String>,
    /// The line of `digest`, else of `newTag`, else of the entry: where it says its version.
    pub version_line: u32,
    /// A Flux setter comment (`# {"$imagepolicy": …}`) stands on the line of `newTag`.
    pub has_setter: bool,
    pattern: Option<Pattern>,
}

/// A top-level `images` key that cannot be read as kustomize reads it and edited at the same time.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EntriesError {
    /// `images:` twice.
    #[error(
        "`images:` stands on line {first} and again on line {second}; kustomize takes the last one alone"
    )]
    Twice {
        /// The line of the first, from 1.
        first: u32,
        /// The line of the second.
        second: u32,
    },
    /// `Images:`, which kustomize reads as `images:`.
    #[error("`{key}` is read as `images` by kustomize; write it so")]
    Case {
        /// The key as written.
        key: String,
        /// Its line.
        line: u32,
    },
    /// Something else than a list of mappings.
    #[error("`images:` is no list of entries")]
    NoList {
        /// Its line.
        line: u32,
    },
}

impl EntriesError {
    /// The line that the error speaks of, from 1.
    #[must_use]
    pub fn line(&self) -> u32 {
        match self {
            Self::Twice { second: line, .. } | Self::Case { line, .. } | Self::NoList { line } => {
                *line
            }
        }
    }
}

/// The entries of the first document of `tree`, in order; none where `images:` is absent, null or empty.
///
/// # Errors
/// [`EntriesError`] for a key that stands twice or in another case, and for a value that is no list.
pub fn read_entries(tree: &Tree<'_>) -> Result<Vec<ImagesEntry>, EntriesError> {
    let Some(list) = find_images(tree)? else { return Ok(Vec::new()) };
    let list_id = tree.target(list);
    let node = tree.node(list_id);
    if node.is_absent() || is_null(tree, list_id) {
        return Ok(Vec::new());
    }
    let entries = tree.items(list_id).iter().enumerate();
    let entries: Option<Vec<_>> = entries.map(|(i, id)| read_entry(tree, i, *id)).collect();
    match (entries, node.scalar()) {
        (Some(entries), None) => Ok(entries),
        _ => Err(EntriesError::NoList { line: node.line }),
    }
}

fn find_images(tree: &Tree<'_>) -> Result<Option<NodeId>, EntriesError> {
    let Some(root) = tree.roots().first() else { return Ok(None) };
    let mut found: Option<(u32, NodeId)> = None;
    for (key, value) in tree.pairs(tree.target(*root)) {
        let node = tree.node(key);
        let Some(text) = node.scalar().filter(|text| text.eq_ignore_ascii_case("images")) else {
            continue;
        };
        if let Some((first, _)) = found {
            return Err(EntriesError::Twice { first, second: node.line });
        }
        if text != "images" {
            return Err(EntriesError::Case { key: text.to_owned(), line: node.line });
        }
        found = Some((node.line, value));
    }
    Ok(found.map(|(_, value)| value))
}

fn read_entry(tree: &Tree<'_>, index: usize, id: NodeId) -> Option<ImagesEntry> {
    let map = tree.target(id);
    // An item with nothing in it is an entry without a name to kustomize, which does nothing.
    let is_empty = tree.node(map).is_absent() || is_null(tree, map);
    (is_empty || tree.node(map).scalar().is_none()).then_some(())?;
    let field = |key: &str| field_of(tree, map, key);
    let text = |key: &str| field(key).and_then(|id| string_of(tree, id));
    let line_of = |key: &str| field(key).map(|id| tree.node(id).line);
    let line = tree.pairs(map).next().map_or(tree.node(map).line, |(key, _)| tree.node(key).line);
    let name = text("name").unwrap_or_default();
    Some(ImagesEntry {
        index,
        line,
        pattern: Pattern::new(&name).ok(),
        name,
        new_name: text("newName"),
        new_tag: text("newTag"),
        digest: text("digest"),
        tag_suffix: text("tagSuffix"),
        version_line: line_of("digest").or_else(|| line_of("newTag")).unwrap_or(line),
        has_setter: field("newTag").is_some_and(|id| has_setter_comment(tree, id)),
    })
}

/// The value of a key in any case; of several, the last, as kustomize reads them.
fn field_of(tree: &Tree<'_>, map: NodeId, key: &str) -> Option<NodeId> {
    let is_key = |id: NodeId| tree.node(id).scalar().is_some_and(|k| k.eq_ignore_ascii_case(key));
    tree.pairs(map).rev().find(|(k, _)| is_key(*k)).map(|(_, value)| tree.target(value))
}

fn string_of(tree: &Tree<'_>, id: NodeId) -> Option<String> {
    let text = tree.node(id).scalar()?;
    (!is_null(tree, id) && !text.is_empty()).then(|| text.to_owned())
}

fn is_null(tree: &Tree<'_>, id: NodeId) -> bool {
    scalar::resolve_node(tree.node(id), Rules::Kustomization) == Some(Resolved::Null)
}

/// Flux marks the line of the value that its automation writes.
fn has_setter_comment(tree: &Tree<'_>, id: NodeId) -> bool {
    let end = tree.node(id).span().end;
    let line_end = tree.text()[end..].find('\n').map_or(tree.text().len(), |i| i + end);
    let on_line = tree.comments().iter().filter(|c| c.start >= end && c.start < line_end);
    on_line.clone().any(|c| tree.text()[c.clone()].contains("$imagepolicy"))
}

impl ImagesEntry {
    /// What the entry makes of an image field that holds `reference`; `None` where it does not match.
    ///
    /// The rule is `SetImageValue` of `api/filters/imagetag/updater.go`.
    #[must_use]
    pub fn apply(&self, reference: &str) -> Option<String> {
        self.pattern.as_ref().filter(|p| p.is_match(reference))?;
        let old = Split::parse(reference);
        let name = self.new_name.as_deref().unwrap_or(old.name);
        let (tag, digest) = match (self.new_tag.as_deref(), self.digest.as_deref()) {
            (Some(tag), digest) => (tag.to_owned(), digest.unwrap_or_default()),
            (None, Some(digest)) => (String::new(), digest),
            (None, None) => match &self.tag_suffix {
                Some(suffix) => (format!("{}{suffix}", old.tag), ""),
                None => (old.tag.to_owned(), old.digest),
            },
        };
        let part = |mark: &str, text: &str| match text {
            "" => String::new(),
            text => format!("{mark}{text}"),
        };
        Some(format!("{name}{}{}", part(":", &tag), part("@", digest)))
    }
}

/// The entries that act on a field that arrives as `reference`, in order, and what they make of it.
#[must_use]
pub(super) fn chain(entries: &[ImagesEntry], reference: &str) -> (Vec<usize>, String) {
    let mut acting = Vec::new();
    let mut text = reference.to_owned();
    for entry in entries {
        if let Some(next) = entry.apply(&text) {
            acting.push(entry.index);
            text = next;
        }
    }
    (acting, text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::yaml::parse;

    fn entries(text: &str) -> Result<Vec<ImagesEntry>, EntriesError> {
        read_entries(&parse(text).unwrap())
    }

    #[test]
    fn absent_null_and_empty_are_no_entries() {
        for text in ["resources: []\n", "images:\n", "images: ~ # x\n", "images: []\n", "", "# c\n"]
        {
            assert_eq!(entries(text).unwrap().len(), 0, "{text:?}");
        }
    }

    #[test]
    fn entries_know_their_lines_and_setters() {
        let text = "images:\n- name: a\n  newTag: v1 # {\"$imagepolicy\": \"x:y:tag\"}\n- {digest: \"sha256:00\", name: b}\n";
        let read = entries(text).unwrap();
        assert_eq!((read[0].line, read[0].version_line, read[0].has_setter), (2, 3, true));
        assert_eq!((read[1].line, read[1].name.as_str(), read[1].has_setter), (4, "b", false));
    }

    #[test]
    fn a_second_images_key_is_refused_with_both_lines() {
        let error = entries("images: []\nnamespace: x\nimages: []\n").unwrap_err();
        assert_eq!(error, EntriesError::Twice { first: 1, second: 3 });
        assert!(matches!(entries("Images: []\n"), Err(EntriesError::Case { line: 1, .. })));
        assert!(matches!(entries("images: word\n"), Err(EntriesError::NoList { .. })));
        assert!(matches!(entries("images: [word]\n"), Err(EntriesError::NoList { .. })));
    }

    /// The right-hand sides follow `SetImageValue`; `tests/suite` compares whole renders.
    #[test]
    fn entries_act_as_kustomize_acts() {
        let apply = |entry: &str, image: &str| {
            let text = format!("images:\n- {{{entry}}}\n");
            entries(&text).unwrap()[0].apply(image)
        };
        let some = |s: &str| Some(s.to_owned());
        assert_eq!(apply("name: a, newTag: v2", "a:v1@sha256:00"), some("a:v2"));
        assert_eq!(apply("name: a, digest: 'sha256:11'", "a:v1"), some("a@sha256:11"));
        assert_eq!(apply("name: a, newTag: v2, digest: 'sha256:11'", "a"), some("a:v2@sha256:11"));
        assert_eq!(apply("name: a, newName: r/b", "a:v1@sha256:00"), some("r/b:v1@sha256:00"));
        assert_eq!(apply("name: a, tagSuffix: -x", "a:v1@sha256:00"), some("a:v1-x"));
        assert_eq!(apply("name: a, newTag: null", "a:v1"), some("a:v1"));
        assert_eq!(apply("name: a, newTag: v2", "b/a:v1"), None);
    }

    #[test]
    fn entries_act_one_after_another() {
        let read = entries(
            "images:\n- {name: a, newName: r/a}\n- {name: r/a, newTag: v2}\n- {name: a, newTag: v3}\n",
        );
        assert_eq!(chain(&read.unwrap(), "a:v1"), (vec![0, 1], "r/a:v2".to_owned()));
    }
}
