//! The unified diff of two texts, as `git diff` prints it.

use similar::{Algorithm, TextDiff};

/// Lines of context around a change, as git's default.
const CONTEXT: usize = 3;

/// The change of the file at `path` (with `/`, no leading `/`) as a unified diff: `--- a/…`, `+++ b/…` and hunks
/// with three lines of context. `None` as `old` is a new file, `None` as `new` a deleted one; the missing side is
/// `/dev/null`. Empty if nothing changes.
#[must_use]
pub fn unified_diff(path: &str, old: Option<&str>, new: Option<&str>) -> String {
    let (before, after) = (old.unwrap_or_default(), new.unwrap_or_default());
    if before == after {
        return String::new();
    }
    let a = old.map_or_else(|| "/dev/null".to_owned(), |_| format!("a/{path}"));
    let b = new.map_or_else(|| "/dev/null".to_owned(), |_| format!("b/{path}"));
    let old_lines: Vec<&str> = before.split_inclusive('\n').collect();
    let new_lines: Vec<&str> = after.split_inclusive('\n').collect();
    let diff = TextDiff::configure()
        .algorithm(Algorithm::Myers)
        .newline_terminated(true)
        .diff_slices(&old_lines, &new_lines);
    diff.unified_diff()
        .context_radius(CONTEXT)
        .missing_newline_hint(true)
        .header(&a, &b)
        .to_string()
}
