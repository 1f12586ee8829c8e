//! Edits of every YAML file of the corpus: minimal or refused, never wrong.
//!
//! `OVERLAY_TEST_ROUNDS` makes more edits of each file, `OVERLAY_TEST_SHOW=TEXT` prints those whose verdict has TEXT.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use overlay::edit::apply_edits;
use overlay::yaml::{Document, Reason};

use super::model::{self, Edit};
use crate::support;
use crate::support::random::Random;

/// Larger files cost minutes and say nothing new.
const MAX_BYTES: u64 = 200_000;

/// What became of an edit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Minimal,
    Refused(String),
    /// The other parser reads neither the old text nor the place of the edit.
    Unjudged,
    Wrong(String),
}

/// Makes one edit and judges it.
pub(super) fn judge(text: &str, edit: &Edit) -> Verdict {
    let mut document = Document::from_text("file", text.to_owned()).unwrap();
    if let Err(refusal) = edit.apply(&mut document) {
        let unchanged = document.text() == text && document.edits().is_empty();
        let name = format!("{:?}", refusal.reason)
            .split(['(', ' ', '{'])
            .next()
            .unwrap_or_default()
            .to_owned();
        let name = if let Reason::Verification(why) = &refusal.reason {
            format!("{name}: {why}")
        } else {
            name
        };
        return if unchanged {
            Verdict::Refused(name)
        } else {
            Verdict::Wrong(format!("changed and refused: {refusal}"))
        };
    }
    let edits = document.edits();
    if apply_edits(text, &edits).as_deref() != Ok(document.text()) {
        return Verdict::Wrong("the edits do not give the text".to_owned());
    }
    let Ok(mut want) = model::read(text) else { return Verdict::Unjudged };
    if edit.apply_to_theirs(&mut want).is_none() {
        return Verdict::Unjudged;
    }
    let mut got = match model::read(document.text()) {
        Ok(got) => got,
        Err(e) => {
            return Verdict::Wrong(format!(
                "the other parser rejects the result: {e}\n{}",
                document.text()
            ));
        }
    };
    let inner = edit.inline_path().map(|path| model::open_inline(&mut got, path));
    if inner == Some(None) {
        return Verdict::Wrong("the inner text is no YAML".to_owned());
    }
    if got != want {
        return Verdict::Wrong(format!("other data: {edit:?}\n{}", document.text()));
    }
    let changed = changed_lines(text, &edits);
    let allowed = allowed_lines(text, edit);
    if changed > allowed {
        return Verdict::Wrong(format!(
            "{changed} lines changed, {allowed} allowed: {edit:?}\n{edits:?}"
        ));
    }
    Verdict::Minimal
}

/// How many lines of the old text some edit touches; a mere insertion touches none.
fn changed_lines(text: &str, edits: &[overlay::edit::TextEdit]) -> usize {
    let line = |at: usize| text.as_bytes()[..at].iter().filter(|b| **b == b'\n').count();
    let touched = edits.iter().filter(|e| !e.range.is_empty());
    let lines: BTreeSet<usize> =
        touched.flat_map(|e| line(e.range.start)..=line(e.range.end - 1)).collect();
    lines.len()
}

/// How many old lines the edit may touch at most.
fn allowed_lines(text: &str, edit: &Edit) -> usize {
    let tree = overlay::yaml::parse(text).unwrap();
    let lines_at = |path: &overlay::yaml::Path| {
        let document = Document::from_text("file", text.to_owned()).unwrap();
        let id = document.find(&tree, path).unwrap().unwrap();
        tree.source(id).lines().count().max(1)
    };
    match edit {
        Edit::Set(path, _) => lines_at(path),
        Edit::Append(..) | Edit::InsertItem(..) | Edit::InsertKey(..) => 2,
        // The entry, its line's rest, and the comments and blank lines that belong to it.
        Edit::Remove(path) => lines_at(path) + 60,
        Edit::Inline(path, _) => lines_at(path),
    }
}

fn yaml_files(dir: &Path, out: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> = fs::read_dir(dir).unwrap().map(|e| e.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            yaml_files(&path, out);
        } else if path.extension().is_some_and(|e| e == "yaml" || e == "yml") {
            out.push(path);
        }
    }
}

#[test]
fn edits_of_the_corpus_are_minimal_or_refused() {
    let Some(shared) = support::shared() else { return };
    let show = std::env::var("OVERLAY_TEST_SHOW").ok();
    let rounds: usize =
        std::env::var("OVERLAY_TEST_ROUNDS").ok().and_then(|r| r.parse().ok()).unwrap_or(1);
    let mut files = Vec::new();
    yaml_files(&shared, &mut files);
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let mut wrong = Vec::new();
    for file in &files {
        if fs::metadata(file).unwrap().len() > MAX_BYTES {
            *counts.entry("- file too large".to_owned()).or_default() += 1;
            continue;
        }
        let name = file.strip_prefix(&shared).unwrap().display().to_string();
        let document = match Document::from_bytes(name.as_str(), &fs::read(file).unwrap()) {
            Ok(document) => document,
            Err(refusal) => {
                *counts.entry("- file refused".to_owned()).or_default() += 1;
                eprintln!("{refusal}");
                continue;
            }
        };
        for round in 0..rounds {
            let mut random = Random::of_text(&format!("{round} {name}"));
            for edit in model::edits(&document.tree().unwrap(), &mut random, 0) {
                let verdict = judge(document.text(), &edit);
                if show.as_ref().is_some_and(|s| format!("{verdict:?}").contains(s)) {
                    eprintln!("{name}: {verdict:?} {edit:?}");
                }
                if let Verdict::Wrong(why) = &verdict {
                    wrong.push(format!("{name}: {why}"));
                }
                let verdict = if let Verdict::Wrong(_) = verdict {
                    "Wrong".to_owned()
                } else {
                    format!("{verdict:?}")
                };
                *counts.entry(format!("{} {verdict}", edit.name())).or_default() += 1;
            }
        }
    }
    eprintln!("{} files", files.len());
    counts.iter().for_each(|(what, count)| eprintln!("{count:6} {what}"));
    assert!(
        wrong.is_empty(),
        "{} wrong:\n{}",
        wrong.len(),
        wrong[..wrong.len().min(5)].join("\n----\n")
    );
}
