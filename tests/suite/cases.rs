//! Folder cases: `fixtures/cases/<command>/<case>/`, each run on the real binary in a repository of its own.
//!
//! | in the folder | meaning |
//! |---|---|
//! | `case.toml` | the arguments and what must come of them, see [`Case`] and [`Step`] |
//! | `in/` | the tree that is committed first |
//! | `out/` | the files that differ from `in/` after the last step, byte for byte; every other file must be as it was |
//! | `stdout`, `stderr` | what the last step prints, exactly (optional) |
//!
//! With `judge = ["overlays/prod"]` a step's effect is measured by a kustomize that is not ours: the
//! lines that differ between its renders before and after must be those of `effect`.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use regex::Regex;
use serde::Deserialize;
use similar::{ChangeTag, TextDiff};

use crate::support::repo::{Ran, TestRepo, tree_contents};
use crate::support::{Judge, json_schema, judge};

/// `case.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    /// What the case says, one line.
    text: String,
    /// Variables for every step.
    #[serde(default)]
    env: BTreeMap<String, String>,
    /// One after the other on the same tree.
    step: Vec<Step>,
}

/// One run of the binary.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Step {
    /// The arguments after the program's name.
    run: Vec<String>,
    #[serde(default)]
    stdin: String,
    exit: i32,
    /// The JSON form is asked for, and its `changed` must be this.
    changed: Option<bool>,
    /// The JSON form is asked for, and its `error.code` must be this.
    code: Option<String>,
    /// The JSON form is asked for; JSON pointers and the values they must lead to.
    #[serde(default)]
    json: BTreeMap<String, toml::Value>,
    /// Regular expressions that standard output and error together must match, whatever the case.
    #[serde(default)]
    says: Vec<String>,
    /// Regular expressions that they must not match.
    #[serde(default)]
    silent: Vec<String>,
    /// Overlays that the judge renders before and after.
    #[serde(default)]
    judge: Vec<String>,
    /// The lines by which those renders differ, each with `-` or `+` before its text, blanks at both ends left out.
    #[serde(default)]
    effect: Vec<String>,
}

impl Step {
    fn wants_json(&self) -> bool {
        self.changed.is_some() || self.code.is_some() || !self.json.is_empty()
    }
}

#[test]
fn cases_hold() {
    let judge = judge();
    let folders = case_folders();
    let failures: Vec<String> =
        folders.iter().flat_map(|folder| failures_of(folder, judge.as_ref())).collect();
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
}

/// The folders with a `case.toml`; `OVERLAY_CASE` names a part of the path to run only some.
fn case_folders() -> Vec<PathBuf> {
    let only = std::env::var("OVERLAY_CASE").unwrap_or_default();
    let mut folders = Vec::new();
    for command in subfolders(Path::new("fixtures/cases")) {
        folders.extend(subfolders(&command));
    }
    folders.retain(|folder| folder.to_string_lossy().contains(&only));
    folders
}

fn subfolders(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut folders: Vec<PathBuf> = entries.filter(|path| path.is_dir()).collect();
    folders.sort();
    folders
}

fn failures_of(folder: &Path, judge: Option<&Judge>) -> Vec<String> {
    let toml = fs::read_to_string(folder.join("case.toml")).unwrap_or_default();
    let case: Case = match toml::from_str(&toml) {
        Ok(case) => case,
        Err(error) => return vec![format!("{}: case.toml: {error}", folder.display())],
    };
    let repo = TestRepo::from_folder(&folder.join("in"));
    let mut wrong = Vec::new();
    let mut last = None;
    for (number, step) in case.step.iter().enumerate() {
        let (ran, faults) = run_step(&repo, &case, step, judge);
        wrong.extend(faults.into_iter().map(|fault| format!("step {}: {fault}", number + 1)));
        last = Some(ran);
    }
    wrong.extend(tree_faults(folder, &repo));
    if let Some(ran) = last {
        wrong.extend(text_fault(&folder.join("stdout"), &ran.stdout));
        wrong.extend(text_fault(&folder.join("stderr"), &ran.stderr));
    }
    let head = format!("{} ({})", folder.display(), case.text);
    wrong.into_iter().map(|fault| format!("{head}: {fault}")).collect()
}

fn run_step(
    repo: &TestRepo,
    case: &Case,
    step: &Step,
    judge: Option<&Judge>,
) -> (Ran, Vec<String>) {
    let before = renders(repo, step, judge);
    let mut args: Vec<&str> = step.run.iter().map(String::as_str).collect();
    if step.wants_json() && !args.contains(&"-o") {
        args.splice(0..0, ["-o", "json"]);
    }
    let ran = repo.overlay_with(&args, &step.stdin, &case.env);
    let mut faults = Vec::new();
    if ran.status != step.exit {
        faults.push(format!("exit {} instead of {}: {ran:?}", ran.status, step.exit));
    }
    if step.wants_json() {
        faults.extend(json_faults(step, &ran));
    }
    let said = format!("{}{}", ran.stdout, ran.stderr);
    let matches = |pattern: &String| Regex::new(&format!("(?i){pattern}")).unwrap().is_match(&said);
    let unsaid = step.says.iter().filter(|pattern| !matches(pattern));
    faults.extend(unsaid.map(|pattern| format!("does not say `{pattern}`: {said}")));
    let spoken = step.silent.iter().filter(|pattern| matches(pattern));
    faults.extend(spoken.map(|pattern| format!("says `{pattern}`: {said}")));
    if judge.is_some() && !step.judge.is_empty() {
        let effect = differing_lines(&before, &renders(repo, step, judge));
        if effect != step.effect {
            faults.push(format!("the effect is {effect:#?} instead of {:#?}", step.effect));
        }
    }
    (ran, faults)
}

fn json_faults(step: &Step, ran: &Ran) -> Vec<String> {
    let Ok(document) = serde_json::from_str::<serde_json::Value>(&ran.stdout) else {
        return vec![format!("standard output is no JSON: {ran:?}")];
    };
    let mut faults = schema_faults(&document);
    let mut expected: Vec<(String, serde_json::Value)> = Vec::new();
    expected.extend(step.changed.map(|changed| ("/changed".to_owned(), changed.into())));
    let code = step.code.as_ref();
    expected.extend(code.map(|code| ("/error/code".to_owned(), code.as_str().into())));
    expected.extend(
        step.json
            .iter()
            .map(|(pointer, value)| (pointer.clone(), serde_json::to_value(value).unwrap())),
    );
    let wrong = expected.iter().filter(|(pointer, value)| document.pointer(pointer) != Some(value));
    faults.extend(wrong.map(|(pointer, value)| {
        format!("{pointer} is {:?} instead of {value}: {document}", document.pointer(pointer))
    }));
    faults
}

/// Every document is one of the published schema.
fn schema_faults(document: &serde_json::Value) -> Vec<String> {
    let text = fs::read_to_string("docs/result.schema.json").unwrap();
    json_schema::faults(&serde_json::from_str(&text).unwrap(), document)
}

/// What the judge renders of the step's overlays, one after the other; an error is part of the text.
fn renders(repo: &TestRepo, step: &Step, judge: Option<&Judge>) -> String {
    let Some(judge) = judge else { return String::new() };
    let render = |overlay: &String| match judge.build(&repo.path().join(overlay)) {
        Ok(text) => text,
        Err(error) => format!("ERROR {error}"),
    };
    step.judge.iter().map(render).collect()
}

fn differing_lines(before: &str, after: &str) -> Vec<String> {
    let diff = TextDiff::from_lines(before, after);
    diff.iter_all_changes()
        .filter_map(|change| match change.tag() {
            ChangeTag::Equal => None,
            ChangeTag::Delete => Some(format!("- {}", change.value().trim())),
            ChangeTag::Insert => Some(format!("+ {}", change.value().trim())),
        })
        .collect()
}

fn tree_faults(folder: &Path, repo: &TestRepo) -> Vec<String> {
    let mut expected = tree_contents(&folder.join("in"));
    if folder.join("out").is_dir() {
        expected.extend(tree_contents(&folder.join("out")));
    }
    let found = tree_contents(&repo.path());
    let mut paths: Vec<&String> = expected.keys().chain(found.keys()).collect();
    paths.sort();
    paths.dedup();
    let differs = paths.into_iter().filter(|path| expected.get(*path) != found.get(*path));
    differs
        .map(|path| match (expected.get(path), found.get(path)) {
            (Some(expected), Some(found)) => {
                let (expected, found) =
                    (String::from_utf8_lossy(expected), String::from_utf8_lossy(found));
                let diff = TextDiff::from_lines(&expected, &found);
                format!("{path} is not as expected:\n{}", diff.unified_diff())
            }
            (None, _) => format!("{path} should not be there"),
            (_, None) => format!("{path} is gone"),
        })
        .collect()
}

fn text_fault(file: &Path, found: &str) -> Option<String> {
    let expected = fs::read_to_string(file).ok()?;
    let name = file.file_name().unwrap().to_string_lossy();
    (expected != found).then(|| {
        let diff = TextDiff::from_lines(expected.as_str(), found);
        format!("{name} is not as expected:\n{}", diff.unified_diff())
    })
}
