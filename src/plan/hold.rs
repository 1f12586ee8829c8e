//! The file of a hold: read strictly, and edited without a change of anything else in it.

use super::error::PlanError;
use super::write::not_editable;
use crate::change::{HOLD_VERSION, Hold, HoldScope};
use crate::yaml::{self, Document, Kind, NodeId, Path, Position, Refusal, Tree, Value};

/// The keys of the file, in the order of a new one.
pub const HOLD_KEYS: [&str; 5] = ["version", "until", "reason", "by", "scope"];

/// What a new file begins with.
const HEAD: &str = "# While this stands, `overlay` refuses edits of this overlay; `overlay hold OVERLAY --release` ends it.\n";

/// Reads the text of the file `file`. Whether its date is one is for those who know dates.
///
/// # Errors
/// [`PlanError::Hold`] for broken YAML, an unknown key, a key twice or missing, another version or a wrong value.
pub fn read_hold(file: &str, text: &str) -> Result<Hold, PlanError> {
    let broken = |line: u32, column: u32, reason: String| PlanError::Hold {
        file: file.to_owned(),
        line,
        column,
        reason,
    };
    let tree = yaml::parse(text).map_err(|e| broken(e.line, e.column, e.message))?;
    let place = |node: NodeId| (tree.node(node).line, tree.node(node).column);
    let [root] = tree.roots() else {
        return Err(broken(1, 1, "one document is wanted".to_owned()));
    };
    let mut values: Vec<(&str, String)> = Vec::new();
    for (key, value) in pairs(&tree, *root).ok_or_else(|| broken(1, 1, "no mapping".to_owned()))? {
        let name = tree.node(key).scalar().unwrap_or_default();
        let wrong = |at: NodeId, reason: String| broken(place(at).0, place(at).1, reason);
        let Some(known) = HOLD_KEYS.iter().find(|known| **known == name) else {
            let known = HOLD_KEYS.join(", ");
            return Err(wrong(key, format!("`{name}` is no key here; there are {known}")));
        };
        if values.iter().any(|(seen, _)| seen == known) {
            return Err(wrong(key, format!("`{name}` stands twice")));
        }
        let text = tree.node(value).scalar().filter(|text| !text.trim().is_empty());
        let text = text.ok_or_else(|| wrong(value, format!("`{name}` has no value")))?;
        let is_known = match *known {
            "version" => text == HOLD_VERSION.to_string(),
            "scope" => HoldScope::parse(text).is_some(),
            _ => true,
        };
        if !is_known {
            return Err(wrong(value, format!("`{name}: {text}` is not known to this version")));
        }
        values.push((known, text.to_owned()));
    }
    let find = |key: &str| values.iter().find(|(known, _)| *known == key).map(|(_, v)| v.clone());
    let need = |key| find(key).ok_or_else(|| broken(1, 1, format!("`{key}` is missing")));
    need("version")?;
    let scope = find("scope").and_then(|word| HoldScope::parse(&word)).unwrap_or_default();
    Ok(Hold { until: need("until")?, reason: need("reason")?, by: need("by")?, scope })
}

fn pairs(tree: &Tree<'_>, root: NodeId) -> Option<Vec<(NodeId, NodeId)>> {
    let root = tree.target(root);
    let is_map = matches!(tree.node(root).kind, Kind::Map { .. });
    is_map.then(|| tree.pairs(root).map(|(key, value)| (key, tree.target(value))).collect())
}

/// The text of the file with `hold`; `old` is the one that stands there.
///
/// # Errors
/// [`PlanError::NotEditable`] where the old one cannot be edited without a change of more.
pub fn write_hold(file: &str, old: Option<&str>, hold: &Hold) -> Result<String, PlanError> {
    let text = old.map_or_else(|| format!("{HEAD}version: {HOLD_VERSION}\n"), str::to_owned);
    let known = old.and_then(|text| read_hold(file, text).ok());
    let mut document = Document::from_text(file, text).map_err(not_editable)?;
    let mut set = |key: &str, value: Value| -> Result<(), Refusal> {
        document.set_key(&Path::root(), key, &value, &Position::End)
    };
    let is_other = |part: fn(&Hold) -> &str| known.as_ref().map(part) != Some(part(hold));
    if is_other(|hold| &hold.until) {
        set("until", Value::str(&hold.until)).map_err(not_editable)?;
    }
    if is_other(|hold| &hold.reason) {
        set("reason", Value::str(&hold.reason)).map_err(not_editable)?;
    }
    if is_other(|hold| &hold.by) {
        set("by", Value::str(&hold.by)).map_err(not_editable)?;
    }
    if is_other(|hold| hold.scope.word()) {
        set("scope", Value::str(hold.scope.word())).map_err(not_editable)?;
    }
    Ok(document.text().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hold() -> Hold {
        Hold {
            until: "2026-01-31T10:00:00Z".to_owned(),
            reason: "release 0.21: \"bad\" # really".to_owned(),
            by: "Ann Example <ann@example.com>".to_owned(),
            scope: HoldScope::All,
        }
    }

    #[test]
    fn what_is_written_is_read() {
        let text = write_hold("h.yaml", None, &hold()).unwrap();
        assert!(text.contains("\nversion: 1\nuntil: \"2026-01-31T10:00:00Z\"\n"), "{text}");
        assert_eq!(read_hold("h.yaml", &text).unwrap(), hold());
        assert_eq!(write_hold("h.yaml", Some(&text), &hold()).unwrap(), text);
    }

    #[test]
    fn a_hold_that_stands_keeps_its_remarks() {
        let text = "# why\nversion: 1\nreason: x # see the log\nby: \"Bo\"\nuntil: '2026-01-01T00:00:00Z'\nscope: all\n";
        let hold = Hold { reason: "x".to_owned(), by: "Bo".to_owned(), ..hold() };
        let expected = text.replace("2026-01-01T00", "2026-01-31T10");
        assert_eq!(write_hold("h.yaml", Some(text), &hold).unwrap(), expected);
    }

    #[test]
    fn what_is_wrong_is_refused_with_its_place() {
        let good = "version: 1\nuntil: 2026-01-31T10:00:00Z\nreason: x\nby: y\n";
        assert_eq!(read_hold("h.yaml", good).unwrap().scope, HoldScope::All);
        for (text, expected) in [
            (good.replace("by: y", "bye: y"), 4),
            (good.replace("by: y", "reason: y"), 4),
            (good.replace("version: 1", "version: 2"), 1),
            (good.replace("reason: x", "reason: {a: b}"), 3),
            (good.replace("reason: x", "reason:"), 3),
            (format!("{good}scope: some\n"), 5),
            (good.replace("by: y\n", ""), 1),
            ("- a\n".to_owned(), 1),
            (String::new(), 1),
            (format!("{good}---\n{good}"), 1),
            ("a: [\n".to_owned(), 1),
        ] {
            let error = read_hold("h.yaml", &text).unwrap_err();
            let PlanError::Hold { line, .. } = error else { panic!("{error:?}") };
            assert_eq!(line, expected, "{text}: {error:?}");
        }
    }
}
