//! Moving the references of a remote base: which lines name it, and what they are to say.

use super::error::PlanError;
use super::write::{Placement, PlacementKind, Plan, not_editable, open};
use crate::kustomize::remote::GitUrl;
use crate::yaml::{self, Path, Value};

/// The fields whose items may name a directory of a remote repository.
const FIELDS: [&str; 6] =
    ["resources", "bases", "components", "generators", "transformers", "validators"];

/// One item of a kustomization file that names a directory of a remote repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BaseReference {
    /// The field, as it is spelled.
    pub field: String,
    /// The number of the item, from 0.
    pub index: usize,
    /// The line, from 1.
    pub line: u32,
    /// The item.
    pub text: String,
    /// Where git fetches from.
    pub address: String,
    /// The branch, tag or commit, where it names one.
    pub reference: Option<String>,
}

/// The remote bases that the kustomization file `file` names, in order.
///
/// # Errors
/// [`PlanError::Yaml`] for a text that is none.
pub fn find_base_references(file: &str, text: &str) -> Result<Vec<BaseReference>, PlanError> {
    let tree =
        yaml::parse(text).map_err(|error| PlanError::Yaml { file: file.to_owned(), error })?;
    let mut found = Vec::new();
    let Some(root) = tree.roots().first() else { return Ok(found) };
    for (key, value) in tree.pairs(tree.target(*root)) {
        let Some(field) = tree.node(key).scalar() else { continue };
        if !FIELDS.iter().any(|known| known.eq_ignore_ascii_case(field)) {
            continue;
        }
        for (index, item) in tree.items(tree.target(value)).iter().enumerate() {
            let Some(text) = tree.node(tree.target(*item)).scalar() else { continue };
            let Some(url) = GitUrl::parse(text) else { continue };
            found.push(BaseReference {
                field: field.to_owned(),
                index,
                line: tree.node(*item).line,
                text: text.to_owned(),
                address: url.address,
                reference: url.reference,
            });
        }
    }
    Ok(found)
}

/// The edits that let `found` say `reference`; none where they say so already.
///
/// # Errors
/// [`PlanError::NotEditable`] where a line cannot be changed alone.
pub fn move_references(
    file: &str,
    text: &str,
    found: &[&BaseReference],
    reference: &str,
) -> Result<Plan, PlanError> {
    let mut document = open(file, text)?;
    let mut placements = Vec::new();
    for base in found.iter().filter(|base| base.reference.as_deref() != Some(reference)) {
        let path = Path::kustomization().key(base.field.clone()).index(base.index);
        let moved = with_reference(&base.text, reference);
        document.set(&path, &Value::str(moved)).map_err(not_editable)?;
        placements.push(Placement {
            file: file.to_owned(),
            line: base.line,
            kind: PlacementKind::Entry,
            what: format!("{}[{}].ref", base.field, base.index),
        });
    }
    let is_changed = document.text() != document.original();
    let texts = is_changed.then(|| (file.to_owned(), document.text().to_owned()));
    Ok(Plan {
        edits: document.file_edit().into_iter().collect(),
        texts: texts.into_iter().collect(),
        placements,
    })
}

/// `text` with another `ref`: in the place of the one that counts, else behind what is there.
fn with_reference(text: &str, reference: &str) -> String {
    let reference = escaped(reference);
    let (url, query) = text.split_once('?').unwrap_or((text, ""));
    let mut pairs: Vec<String> =
        query.split('&').filter(|pair| !pair.is_empty()).map(str::to_owned).collect();
    let is = |pair: &String, name: &str| {
        pair.split_once('=').is_some_and(|(key, value)| key == name && !value.is_empty())
    };
    let counts = |name: &str| pairs.iter().position(|pair| is(pair, name));
    match counts("ref")
        .map(|at| (at, "ref"))
        .or_else(|| counts("version").map(|at| (at, "version")))
    {
        Some((at, name)) => pairs[at] = format!("{name}={reference}"),
        None => pairs.push(format!("ref={reference}")),
    }
    format!("{url}?{}", pairs.join("&"))
}

/// What would end the value of a query, or mean something else in it, as `%XX`.
fn escaped(reference: &str) -> String {
    let mut out = String::with_capacity(reference.len());
    for c in reference.chars() {
        match c {
            '&' | '+' | '%' | '#' | ';' | ' ' => out.push_str(&format!("%{:02X}", u32::from(c))),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reference_that_counts_is_moved() {
        for (text, moved) in [
            ("https://h/o/r//a?ref=v1", "https://h/o/r//a?ref=v2"),
            ("https://h/o/r//a", "https://h/o/r//a?ref=v2"),
            (
                "https://h/o/r?timeout=90s&ref=v1&submodules=false",
                "https://h/o/r?timeout=90s&ref=v2&submodules=false",
            ),
            ("https://h/o/r?version=v1", "https://h/o/r?version=v2"),
            ("https://h/o/r?ref=&version=v1", "https://h/o/r?ref=&version=v2"),
            ("https://h/o/r?ref=", "https://h/o/r?ref=&ref=v2"),
        ] {
            assert_eq!(with_reference(text, "v2"), moved);
        }
        assert_eq!(with_reference("file:///r?ref=a", "a+b&c"), "file:///r?ref=a%2Bb%26c");
        let back = GitUrl::parse("file:///r?ref=a%2Bb%26c").unwrap();
        assert_eq!(back.reference.as_deref(), Some("a+b&c"));
    }

    #[test]
    fn only_its_bytes_change() {
        let text = "# top\nresources:\n- a.yaml\n-   'https://h/o/r//a?ref=v1'   # base\ncomponents:\n- https://h/o/r//c?ref=v1\n";
        let found = find_base_references("k.yaml", text).unwrap();
        assert_eq!(found.len(), 2);
        let all: Vec<&BaseReference> = found.iter().collect();
        let plan = move_references("k.yaml", text, &all, "v2").unwrap();
        assert_eq!(plan.texts[0].1, text.replace("ref=v1", "ref=v2"));
        assert_eq!(plan.placements.iter().map(|p| p.line).collect::<Vec<_>>(), [4, 6]);
        assert!(move_references("k.yaml", text, &all, "v1").unwrap().texts.is_empty());
    }

    #[test]
    fn in_brackets_the_item_gets_the_quotes_that_some_readers_need() {
        let text = "resources: [https://h/o/r//a?ref=v1, b.yaml]\n";
        let found = find_base_references("k.yaml", text).unwrap();
        let plan = move_references("k.yaml", text, &[&found[0]], "v2").unwrap();
        assert_eq!(plan.texts[0].1, "resources: [\"https://h/o/r//a?ref=v2\", b.yaml]\n");
    }
}
