//! The own build, in process.

use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;

use overlay::discover::DiskFiles;
use overlay::kustomize::{Entry, Files, FilesError, SourceTree, build};

use crate::case::{Answer, Case};

/// How a refusal ends of what only kustomize can build.
pub(crate) const LEFT: &str = ": only kustomize itself can build this";

/// The texts of a case as the port that a build reads through.
struct MemoryFiles<'a> {
    files: &'a BTreeMap<String, String>,
    directories: BTreeSet<&'a str>,
}

impl<'a> MemoryFiles<'a> {
    fn new(files: &'a BTreeMap<String, String>) -> Self {
        let parents =
            files.keys().flat_map(|path| path.match_indices('/').map(|(at, _)| &path[..at]));
        Self { files, directories: parents.chain([""]).collect() }
    }
}

impl Files for MemoryFiles<'_> {
    fn entry(&self, path: &str) -> Result<Option<Entry>, FilesError> {
        let Some(path) = normalised(path) else {
            return Err(FilesError::Outside { path: path.to_owned() });
        };
        Ok(if self.files.contains_key(&path) {
            Some(Entry::File { real: path })
        } else if self.directories.contains(path.as_str()) {
            Some(Entry::Directory { real: path })
        } else {
            None
        })
    }

    fn read(&self, path: &str) -> Result<Arc<[u8]>, FilesError> {
        let text = normalised(path).and_then(|path| self.files.get(&path));
        let missing = || FilesError::Unreadable { path: path.to_owned(), reason: "absent".into() };
        Ok(text.ok_or_else(missing)?.as_bytes().into())
    }

    // Only charts are listed, and these trees inflate none.
    fn list(&self, _: &str) -> Result<Vec<String>, FilesError> {
        Ok(Vec::new())
    }
}

/// `path` without `.` and `..`; `None` where it leaves the tree.
fn normalised(path: &str) -> Option<String> {
    let mut steps: Vec<&str> = Vec::new();
    for step in path.split('/') {
        match step {
            "" | "." => {}
            ".." => {
                steps.pop()?;
            }
            step => steps.push(step),
        }
    }
    Some(steps.join("/"))
}

/// What the own build makes of `case`.
pub(crate) fn build_case(case: &Case) -> Answer {
    answer(&MemoryFiles::new(&case.files), &case.overlay)
}

/// What the own build makes of `overlay`, a path below `boundary`.
pub(crate) fn build_directory(boundary: &Path, overlay: &str) -> Answer {
    match DiskFiles::new(boundary) {
        Ok(files) => answer(&files, overlay),
        Err(error) => Answer::Refused(error.to_string()),
    }
}

fn answer(files: &dyn Files, overlay: &str) -> Answer {
    let printed = || -> Result<String, String> {
        let tree = SourceTree::load(files, overlay).map_err(|e| e.to_string())?;
        let rendered = build(&tree, overlay).map_err(|e| e.to_string())?;
        rendered.to_yaml().map_err(|e| e.to_string())
    };
    match catch_unwind(AssertUnwindSafe(printed)) {
        Ok(Ok(text)) => Answer::Printed(text),
        Ok(Err(words)) => Answer::Refused(words),
        Err(_) => Answer::Broke("panic".to_owned()),
    }
}
