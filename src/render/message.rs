//! From what kustomize says to a file and a line of the repository.

use std::sync::LazyLock;

use regex::Regex;

use super::RenderError;
use crate::kustomize::SourceTree;

/// Most characters that are kept of a message.
const LONGEST: usize = 8 * 1024;

static FILE_NAME: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r#"[^\s'":,;()\[\]]+"#).ok());
static LINE: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"\bline (\d+)").ok());

/// The error for what the program said on standard error while it read the copy at `top`.
pub(super) fn refused(stderr: &str, top: &str, tree: &SourceTree) -> RenderError {
    let text: String = stderr.chars().take(LONGEST).collect();
    let text = text.replace(&format!("{top}/"), "").replace(top, ".");
    let mut lines = text.lines().map(str::trim_end).filter(|line| !line.is_empty());
    let first = lines.next().unwrap_or("the external kustomize says nothing");
    let first = ["Error: ", "error: "].iter().find_map(|p| first.strip_prefix(p)).unwrap_or(first);
    RenderError::Refused {
        message: first.to_owned(),
        details: lines.map(str::to_owned).collect(),
        file: find_file(&text, tree),
        line: find_line(&text),
    }
}

/// The last file of the tree that the text names: kustomize wraps from the outside in.
fn find_file(text: &str, tree: &SourceTree) -> Option<String> {
    let words = FILE_NAME.as_ref()?.find_iter(text).map(|word| word.as_str());
    let known = words.filter(|word| tree.file(word).is_some());
    known.last().map(str::to_owned)
}

fn find_line(text: &str) -> Option<usize> {
    LINE.as_ref()?.captures_iter(text).last()?.get(1)?.as_str().parse().ok()
}
