//! From what kustomize says to a file and a line of the repository.

use std::sync::LazyLock;

use regex::Regex;

use super::RenderError;
use crate::kustomize::SourceTree;
use crate::yaml;

/// Most characters that are kept of a message.
const LONGEST: usize = 8 * 1024;

static FILE_NAME: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r#"[^\s'":,;()\[\]]+"#).ok());

/// What kustomize says where it would have to run something that it was not allowed to: helm
/// (`HelmChartInflationGenerator.go`), or a plugin that is not its own (`erronlybuiltinpluginsallowed.go`).
const NOT_ALLOWED: [&str; 2] = ["must specify --enable-helm", "external plugins disabled"];

/// The error for what the program said on standard error while it read the copy at `top`.
pub(super) fn refused(stderr: &str, top: &str, tree: &SourceTree) -> RenderError {
    let text: String = stderr.chars().take(LONGEST).collect();
    let text = unwrapped(&text.replace(&format!("{top}/"), "").replace(top, "."));
    if NOT_ALLOWED.iter().any(|said| text.contains(said)) {
        return RenderError::NotAllowed;
    }
    let mut lines = text.lines().map(str::trim_end).filter(|line| !line.is_empty());
    let first = lines.next().unwrap_or("the external kustomize says nothing");
    let first = ["Error: ", "error: "].iter().find_map(|p| first.strip_prefix(p)).unwrap_or(first);
    let file = find_file(&text, tree);
    RenderError::Refused {
        message: first.to_owned(),
        details: lines.map(str::to_owned).collect(),
        line: file
            .as_ref()
            .filter(|_| text.contains("yaml: "))
            .and_then(|file| broken_line(file, tree)),
        file,
    }
}

/// A message of several lines as kubectl logs it, without the head of the log line, the indentation and
/// the `>` behind it; any other text as it is.
fn unwrapped(text: &str) -> String {
    let head = text.find("\"command failed\" err=<\n").filter(|at| !text[..*at].contains('\n'));
    let Some(body) = head.and_then(|_| text.split_once('\n')) else { return text.to_owned() };
    let lines = body.1.trim_end().trim_end_matches('>').trim_end().lines();
    lines.map(|line| line.strip_prefix('\t').unwrap_or(line)).collect::<Vec<_>>().join("\n")
}

/// The last file of the tree that the text names, whole or (where no two end so) by its end: kustomize
/// wraps from the outside in, and names a file as its own kustomization does.
fn find_file(text: &str, tree: &SourceTree) -> Option<String> {
    let words = FILE_NAME.as_ref()?.find_iter(text).map(|word| word.as_str());
    let known = words.filter_map(|word| match tree.file(word) {
        Some(file) => Some(file.path.to_string()),
        None => file_ending_in(word, tree),
    });
    known.last()
}

fn file_ending_in(word: &str, tree: &SourceTree) -> Option<String> {
    let word = word.trim_start_matches("./").trim_start_matches("../");
    let is_it = |path: &str| path.strip_suffix(word).is_some_and(|rest| rest.ends_with('/'));
    let mut matches = tree.files().filter(|file| is_it(&file.path));
    let only = matches.next().filter(|_| !word.is_empty())?;
    matches.next().is_none().then(|| only.path.to_string())
}

/// The line that breaks the YAML of `file`, as our own reader sees it: the numbers of the Go parser are
/// one too small for some errors and count from the document for others.
fn broken_line(file: &str, tree: &SourceTree) -> Option<usize> {
    let text = std::str::from_utf8(&tree.file(file)?.bytes).ok()?;
    let error = yaml::parse(text).err()?;
    usize::try_from(error.line).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_in_a_log_line_is_the_message() {
        let logged = "E1130 22:32:06.049393   31404 run.go:72] \"command failed\" err=<\n\tbad `\n\tname: x\n\t`: no\n >\n";
        assert_eq!(unwrapped(logged), "bad `\nname: x\n`: no");
        assert_eq!(unwrapped("error: plain\n"), "error: plain\n");
    }
}
