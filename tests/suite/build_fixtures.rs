//! The own build prints what kustomize printed, for every case of `fixtures/build`, and refuses what it refused.
//!
//! `fixtures/build/known-differences.txt` names the cases that differ today; a case that no longer
//! does must leave it, so that the list can only shrink.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use overlay::discover::DiskFiles;
use overlay::kustomize::{BuildErrorKind, SourceTree, build};

/// How the own build compares with kustomize.
#[derive(Debug, PartialEq)]
enum Verdict {
    Same,
    /// In words, for the list of failures.
    Differs(String),
}

/// What the own build makes of the overlay at `overlay` below `boundary`.
fn built(boundary: &Path, overlay: &str) -> Result<String, String> {
    let files = DiskFiles::new(boundary).map_err(|e| e.to_string())?;
    let tree = SourceTree::load(&files, overlay).map_err(|e| e.to_string())?;
    let rendered = build(&tree, overlay).map_err(|e| match e.kind {
        BuildErrorKind::Unsupported { ref field } => format!("unsupported: {field}"),
        _ => e.to_string(),
    })?;
    rendered.to_yaml().map_err(|e| e.to_string())
}

/// The cases as `feature/case`, sorted.
fn cases() -> Vec<String> {
    let folders = |dir: &Path| -> Vec<PathBuf> {
        let entries = fs::read_dir(dir).unwrap().map(|e| e.unwrap().path());
        entries.filter(|p| p.is_dir()).collect()
    };
    let mut names: Vec<String> = folders(Path::new("fixtures/build"))
        .iter()
        .flat_map(|feature| folders(feature))
        .map(|case| case.strip_prefix("fixtures/build").unwrap().to_str().unwrap().to_owned())
        .collect();
    names.sort();
    names
}

fn verdict(case: &str) -> Verdict {
    let folder = Path::new("fixtures/build").join(case);
    let boundary = folder.join("in");
    let overlay = if boundary.join("overlay").is_dir() { "overlay" } else { "" };
    let expected = fs::read_to_string(folder.join("expected.yaml")).ok();
    match (expected, built(&boundary, overlay)) {
        (Some(expected), Ok(ours)) if expected == ours => Verdict::Same,
        (Some(expected), Ok(ours)) => Verdict::Differs(first_difference(&expected, &ours)),
        (Some(_), Err(error)) => Verdict::Differs(format!("ours refuses: {error}")),
        (None, Ok(_)) => Verdict::Differs("ours builds what kustomize refuses".to_owned()),
        (None, Err(_)) => Verdict::Same,
    }
}

/// The first line that differs, both ways.
fn first_difference(expected: &str, ours: &str) -> String {
    let mut expected = expected.split('\n');
    let mut ours = ours.split('\n');
    let mut line = 0;
    loop {
        line += 1;
        match (expected.next(), ours.next()) {
            (None, None) => return "no difference".to_owned(),
            (wanted, got) if wanted == got => {}
            (wanted, got) => return format!("line {line}: kustomize {wanted:?}, ours {got:?}"),
        }
    }
}

fn known_differences() -> BTreeSet<String> {
    let text = fs::read_to_string("fixtures/build/known-differences.txt").unwrap_or_default();
    let names = text.lines().map(|line| line.split('#').next().unwrap_or_default().trim());
    names.filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

#[test]
fn every_case_prints_what_kustomize_printed() {
    let known = known_differences();
    let cases = cases();
    assert!(cases.len() > 400, "only {} cases were found", cases.len());
    let unknown: Vec<_> = known.iter().filter(|name| !cases.contains(name)).collect();
    assert!(unknown.is_empty(), "known-differences.txt names no such case: {unknown:?}");
    let mut wrong = Vec::new();
    for case in &cases {
        match (verdict(case), known.contains(case)) {
            (Verdict::Differs(how), false) => wrong.push(format!("{case}: {how}")),
            (Verdict::Same, true) => {
                wrong.push(format!("{case}: no longer differs; take it off known-differences.txt"));
            }
            _ => {}
        }
    }
    assert!(wrong.is_empty(), "{} of {} cases:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}
