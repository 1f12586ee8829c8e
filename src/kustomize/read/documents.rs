//! Splitting a text into documents as kyaml does: at lines, before any YAML is read.

use crate::kustomize::error::{BuildError, BuildErrorKind};
use crate::kustomize::read::{Part, line_of};

/// Splits `whole` at every line that starts with `---`, but for the first line of the text. The
/// parts keep the line break before the separator.
///
/// # Errors
/// [`BuildErrorKind::Yaml`] for a separator with anything but a comment behind it.
pub(crate) fn split_documents(whole: Part<'_>) -> Result<Vec<Part<'_>>, BuildError> {
    let mut parts = Vec::new();
    let (mut from, mut line) = (0, 1);
    let text = whole.text;
    while let Some((at, end)) = find_separator(text, from) {
        let separator_line = line + count_lines(&text[from..=at]);
        let behind = text[at + 4..end].trim();
        if !behind.is_empty() && !behind.starts_with('#') {
            let message = format!("invalid document separator: {}", text[at..end].trim());
            let place = line_of(whole.start, separator_line);
            return Err(BuildError::new(BuildErrorKind::Yaml, message).at(place));
        }
        parts.push(Part { text: &text[from..=at], start: line_of(whole.start, line) });
        from = end;
        line = separator_line + 1;
    }
    parts.push(Part { text: &text[from..], start: line_of(whole.start, line) });
    Ok(parts)
}

/// The line break before the next separator from `from` on, and the start of the line behind it.
fn find_separator(text: &str, from: usize) -> Option<(usize, usize)> {
    let at = from + text[from..].find("\n---")?;
    let length = text[at + 4..].find('\n')?;
    Some((at, at + 4 + length + 1))
}

fn count_lines(text: &str) -> u32 {
    let breaks = text.bytes().filter(|byte| *byte == b'\n').count();
    u32::try_from(breaks).unwrap_or(u32::MAX)
}
