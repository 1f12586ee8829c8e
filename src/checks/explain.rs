//! What a check means: its section of `docs/checks.md`, which is part of the program.

/// The page; its sections are headed by the ids.
const PAGE: &str = include_str!("../../docs/checks.md");

/// The section of the page about the check `id`, without its heading.
#[must_use]
pub fn explanation(id: &str) -> Option<&'static str> {
    section(PAGE, id)
}

/// The section of a page that is headed by `id`, without its heading.
pub(crate) fn section<'a>(page: &'a str, id: &str) -> Option<&'a str> {
    let heading = format!("\n### `{id}`\n");
    let start = page.find(&heading)? + heading.len();
    let rest = &page[start..];
    let end = rest.find("\n## ").into_iter().chain(rest.find("\n### ")).min().unwrap_or(rest.len());
    Some(rest[..end].trim())
}

/// The first sentence of a section, behind its severity.
#[must_use]
pub fn summary(id: &str) -> &'static str {
    let text = explanation(id).unwrap_or_default();
    let text = text.split_once(" · ").map_or(text, |(_, text)| text);
    let ends = [". ", ".\n"].into_iter().filter_map(|end| text.find(end));
    let end = ends.min().map_or(text.len(), |at| at + 1);
    &text[..end]
}
