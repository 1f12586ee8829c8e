//! Any files as a repository: its build ends, without a panic, with a render that reads back as itself.
//!
//! The input is a text; lines `#### PATH` begin a file, so that a corpus of readable seeds can be made from
//! `fixtures/build` (`fuzz/seeds.py`).
#![no_main]

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use libfuzzer_sys::fuzz_target;
use overlay::kustomize::{Entry, Files, FilesError, Rendered, SourceTree, build};

struct Memory(BTreeMap<String, Arc<[u8]>>);

impl Files for Memory {
    fn entry(&self, path: &str) -> Result<Option<Entry>, FilesError> {
        let real = path.to_owned();
        if self.0.contains_key(path) {
            return Ok(Some(Entry::File { real }));
        }
        let below = |file: &String| path.is_empty() || file.starts_with(&format!("{path}/"));
        Ok(self.0.keys().any(below).then_some(Entry::Directory { real }))
    }

    fn read(&self, path: &str) -> Result<Arc<[u8]>, FilesError> {
        self.0.get(path).cloned().ok_or_else(|| FilesError::Unreadable {
            path: path.to_owned(),
            reason: "is not there".to_owned(),
        })
    }

    // Only charts are listed, and these trees inflate none.
    fn list(&self, _: &str) -> Result<Vec<String>, FilesError> {
        Ok(Vec::new())
    }
}

fn files(text: &str) -> Memory {
    let mut files = BTreeMap::new();
    for part in text.split("#### ").skip(1) {
        let (path, body) = part.split_once('\n').unwrap_or((part, ""));
        let names: Vec<&str> = path.trim().split('/').collect();
        if !names.iter().any(|n| n.is_empty() || *n == "." || *n == "..") {
            files.insert(names.join("/"), Arc::from(body.as_bytes()));
        }
    }
    Memory(files)
}

/// The lines of a text without their order: go-yaml's order of keys goes in circles where numbers in keys begin with zeros
/// (`v2v02` < `v07` < `v11` < `v2v02`), and kustomize itself prints such keys in another order each time.
fn sorted_lines(text: &str) -> Vec<&str> {
    let mut lines: Vec<&str> = text.lines().collect();
    lines.sort_unstable();
    lines
}

fuzz_target!(|text: &str| {
    let files = files(text);
    let directories: BTreeSet<&str> = files.0.keys().map(|p| p.rsplit_once('/').map_or("", |(d, _)| d)).collect();
    for directory in directories {
        let Ok(tree) = SourceTree::load(&files, directory) else { continue };
        let Ok(rendered) = build(&tree, directory) else { continue };
        let Ok(printed) = rendered.to_yaml() else { continue };
        // Behind a text that ends in one of go-yaml's own line breaks kustomize, and so the render, writes none before `---`.
        if printed.contains(['\u{85}', '\u{2028}', '\u{2029}']) {
            continue;
        }
        let again = Rendered::parse(&printed).and_then(|r| r.to_yaml()).expect("a render is read");
        assert_eq!(sorted_lines(&again), sorted_lines(&printed));
    }
});
