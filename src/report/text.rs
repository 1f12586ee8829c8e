//! Text for people: spans with a meaning, coloured or not only when printed.

use std::borrow::Cow;
use std::fmt::Write as _;

/// What a span of text means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Style {
    /// Nothing in particular.
    #[default]
    Plain,
    /// A heading: a file, an overlay.
    Heading,
    /// Added, or good.
    Added,
    /// Removed, or an error.
    Removed,
    /// A warning.
    Warning,
    /// Of less interest: positions, separators.
    Faint,
}

impl Style {
    /// The parameters of the ANSI sequence that shows it, or nothing.
    fn sgr(self) -> &'static str {
        match self {
            Self::Plain => "",
            Self::Heading => "1",
            Self::Added => "32",
            Self::Removed => "31",
            Self::Warning => "33",
            Self::Faint => "2",
        }
    }
}

/// Text for people. Whatever is put in may hold control characters; none of them comes out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Text {
    spans: Vec<(Style, String)>,
}

impl Text {
    /// Adds a span of a line. A newline in it is escaped: a name with one in it must not begin a line of its own, which a
    /// person could take for the program's and a CI runner for one of its commands (`::error::`).
    pub fn push(&mut self, style: Style, text: impl Into<String>) -> &mut Self {
        let text = text.into();
        let is_one_line = !text.contains('\n');
        self.spans.push((style, if is_one_line { text } else { text.replace('\n', "\\n") }));
        self
    }

    /// Adds text that may have several lines, each ended as it is.
    pub fn lines(&mut self, style: Style, text: impl Into<String>) -> &mut Self {
        self.spans.push((style, text.into()));
        self
    }

    /// Adds a value, each of its lines behind `mark`.
    pub fn value(&mut self, style: Style, mark: &str, value: &str) -> &mut Self {
        for line in value.strip_suffix('\n').unwrap_or(value).split('\n') {
            self.styled_line(style, format!("{mark}{line}"));
        }
        self
    }

    /// Adds a plain line.
    pub fn line(&mut self, text: impl Into<String>) -> &mut Self {
        self.styled_line(Style::Plain, text)
    }

    /// Adds a line in one style.
    pub fn styled_line(&mut self, style: Style, text: impl Into<String>) -> &mut Self {
        self.push(style, text).lines(Style::Plain, "\n")
    }

    /// Adds a line that begins with `warning:`.
    pub fn warning(&mut self, text: &str) -> &mut Self {
        self.push(Style::Warning, "warning").line(format!(": {text}"))
    }

    /// Adds a unified diff, its lines styled by their first character.
    pub fn diff(&mut self, diff: &str) -> &mut Self {
        for line in diff.split_inclusive('\n') {
            let style = match line.as_bytes() {
                [b'+', b'+', b'+', b' ', ..] | [b'-', b'-', b'-', b' ', ..] => Style::Heading,
                [b'+', ..] => Style::Added,
                [b'-', ..] => Style::Removed,
                [b'@', b'@', ..] => Style::Faint,
                _ => Style::Plain,
            };
            self.lines(style, line);
        }
        self
    }

    /// Adds all of another text.
    pub fn append(&mut self, other: Self) -> &mut Self {
        self.spans.extend(other.spans);
        self
    }

    /// Whether there is nothing to print.
    pub fn is_empty(&self) -> bool {
        self.spans.iter().all(|(_, text)| text.is_empty())
    }

    /// What goes to the terminal: control characters escaped, ANSI colours only where `colour` says so.
    pub fn render(&self, colour: bool) -> String {
        let mut out = String::new();
        for (style, text) in &self.spans {
            for piece in text.split_inclusive('\n') {
                let line = piece.strip_suffix('\n').unwrap_or(piece);
                let line = escape_control(line.strip_suffix('\r').unwrap_or(line));
                match style.sgr() {
                    sgr if colour && !sgr.is_empty() && !line.is_empty() => {
                        let _ = write!(out, "\u{1b}[{sgr}m{line}\u{1b}[0m");
                    }
                    _ => out.push_str(&line),
                }
                if piece.ends_with('\n') {
                    out.push('\n');
                }
            }
        }
        out
    }
}

/// `text` with every character escaped that could move a cursor, colour, hide or reorder what a
/// person reads: C0 and C1 controls but for the tab, and the bidirectional and invisible format characters.
pub fn escape_control(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_treacherous) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match c {
            '\n' => escaped.push_str("\\n"),
            '\r' => escaped.push_str("\\r"),
            _ if is_treacherous(c) => {
                let _ = write!(escaped, "\\u{{{:x}}}", u32::from(c));
            }
            _ => escaped.push(c),
        }
    }
    Cow::Owned(escaped)
}

/// See Unicode Technical Report 36, section 2.5, for the format characters.
fn is_treacherous(c: char) -> bool {
    (c.is_control() && c != '\t')
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

/// `1 pod`, `2 pods`.
pub(super) fn counted(count: usize, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_escaped_with_and_without_colour() {
        let mut text = Text::default();
        text.styled_line(Style::Removed, "a\u{1b}[2Jb\u{9b}c\u{202e}d\te");
        assert_eq!(text.render(false), "a\\u{1b}[2Jb\\u{9b}c\\u{202e}d\te\n");
        assert_eq!(text.render(true), "\u{1b}[31ma\\u{1b}[2Jb\\u{9b}c\\u{202e}d\te\u{1b}[0m\n");
    }

    #[test]
    fn a_carriage_return_inside_a_line_is_escaped() {
        let mut text = Text::default();
        text.line("secret\roverwritten");
        assert_eq!(text.render(false), "secret\\roverwritten\n");
    }

    #[test]
    fn a_name_begins_no_line_of_its_own() {
        let mut text = Text::default();
        text.push(Style::Heading, "a\n::error::b").line(": c\n::error::d");
        assert_eq!(text.render(false), "a\\n::error::b: c\\n::error::d\n");
    }

    #[test]
    fn a_value_has_each_line_behind_its_mark() {
        let mut text = Text::default();
        text.value(Style::Added, "  + ", "a\n::error::b\n").value(Style::Plain, "  - ", "");
        assert_eq!(text.render(false), "  + a\n  + ::error::b\n  - \n");
    }

    #[test]
    fn diff_lines_keep_their_text() {
        let diff = "--- a\n+++ b\n@@ -1 +1 @@\n-x\r\n+y\n z";
        let mut text = Text::default();
        text.diff(diff);
        assert_eq!(text.render(false), diff.replace('\r', ""));
    }
}
