//! Case folders with stored expectations, as `tools/fixtures.py` prints them.

use std::fs;
use std::path::{Path, PathBuf};

use crate::case::{Answer, Difference, differing_lines};
use crate::ours;

/// Lists the cases below `folder` on which the own build differs; true where there is none.
pub(crate) fn run(folder: &Path) -> Result<bool, String> {
    let mut cases: Vec<PathBuf> = Vec::new();
    for feature in folders(folder)? {
        cases.extend(folders(&feature)?.into_iter().filter(|case| case.join("in").is_dir()));
    }
    cases.sort();
    let mut differing = 0;
    for case in &cases {
        let boundary = case.join("in");
        let overlay = if boundary.join("overlay").is_dir() { "overlay" } else { "" };
        let theirs = match fs::read_to_string(case.join("expected.yaml")) {
            Ok(text) => Answer::Printed(text),
            Err(_) => Answer::Refused(String::new()),
        };
        let ours = ours::build_directory(&boundary, overlay);
        if let Some(difference) = Difference::between(&theirs, &ours) {
            differing += 1;
            let name = case.strip_prefix(folder).unwrap_or(case).display();
            println!("{name}  # {}: {}", difference.name(), detail(&theirs, &ours));
        }
    }
    println!("# {differing} of {} cases differ", cases.len());
    Ok(differing == 0)
}

fn detail(theirs: &Answer, ours: &Answer) -> String {
    match (theirs, ours) {
        (Answer::Printed(theirs), Answer::Printed(ours)) => differing_lines(theirs, ours),
        (_, Answer::Refused(words) | Answer::Broke(words)) => words.replace('\n', " "),
        _ => String::new(),
    }
}

fn folders(parent: &Path) -> Result<Vec<PathBuf>, String> {
    let entries = fs::read_dir(parent).map_err(|e| format!("{}: {e}", parent.display()))?;
    let paths = entries.filter_map(|entry| entry.ok().map(|entry| entry.path()));
    Ok(paths.filter(|path| path.is_dir()).collect())
}
