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

/// The line of `new` (from 1) where line `line` of `old` has gone; for a line that is no more, the one in its place.
#[must_use]
pub fn line_after(old: &str, new: &str, line: u32) -> u32 {
    let old_lines: Vec<&str> = old.split_inclusive('\n').collect();
    let new_lines: Vec<&str> = new.split_inclusive('\n').collect();
    let diff =
        TextDiff::configure().algorithm(Algorithm::Myers).diff_slices(&old_lines, &new_lines);
    let at = (line as usize).saturating_sub(1);
    for op in diff.ops() {
        let (before, after) = (op.old_range(), op.new_range());
        if before.contains(&at) {
            let within = (at - before.start).min(after.len().saturating_sub(1));
            return u32::try_from(after.start + within + 1).unwrap_or(line);
        }
    }
    line
}

#[cfg(test)]
mod line_tests {
    use super::line_after;

    #[test]
    fn a_line_is_followed_through_an_edit() {
        let (old, new) = ("a\nb\nc\n", "x\na\nB\nc\n");
        assert_eq!([1, 2, 3].map(|line| line_after(old, new, line)), [2, 3, 4]);
    }
}
