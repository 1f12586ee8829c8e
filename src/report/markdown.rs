//! Text as Markdown that shows it and does nothing else (GitHub Flavored Markdown, sections 2.3, 6.1 and 6.3; mentions and
//! references to issues are GitHub's own and act on the rendered text).

use minijinja::value::Value;
use minijinja::{Error, Output, State};

use crate::report::escape_control;

/// A space of no width: it parts what would become a mention, a reference or a link.
const APART: &str = "&#8203;";

/// The most characters of a value that a table shows.
const MOST_CHARACTERS: usize = 160;

/// Prints a value of a template: escaped, unless a filter made Markdown of it.
pub(super) fn format(out: &mut Output, _: &mut State, value: &Value) -> Result<(), Error> {
    let written = match value.is_safe() {
        true => out.write_str(&value.to_string()),
        false => out.write_str(&text(&value.to_string())),
    };
    written.map_err(Error::from)
}

/// The filter `code`: the value as a code span.
pub(super) fn code_filter(value: &Value) -> Value {
    Value::from_safe_string(code(&value.to_string()))
}

/// The filter `block`: a list of lines as a block of commands for a shell.
pub(super) fn block_filter(value: &Value) -> Result<Value, Error> {
    let lines = value.try_iter()?.map(|line| escape_control(&line.to_string()).into_owned());
    Ok(Value::from_safe_string(block(&lines.collect::<Vec<_>>())))
}

/// A block of commands, whatever backticks are in them.
fn block(lines: &[String]) -> String {
    let runs = lines.iter().flat_map(|line| line.split(|c| c != '`')).map(str::len);
    let fence = "`".repeat(runs.max().unwrap_or(0).max(2) + 1);
    format!("{fence}sh\n{}\n{fence}", lines.join("\n"))
}

/// Text in a line.
pub(super) fn text(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    for c in one_line(text).chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '@' | '#' => {
                out.push(c);
                out.push_str(APART);
            }
            ':' => {
                out.push(c);
                out.push_str(APART);
            }
            '\\' | '`' | '*' | '_' | '{' | '}' | '[' | ']' | '(' | ')' | '+' | '!' | '|' | '~'
            | '=' | '-' => {
                out.push('\\');
                out.push(c);
            }
            _ => out.push(c),
        }
    }
    // "GH-1" is a reference too, and a line that begins with a number and a dot is a list.
    match out.split_once('.') {
        Some((number, rest)) if number.bytes().all(|b| b.is_ascii_digit()) => {
            format!("{number}\\.{rest}")
        }
        _ => out,
    }
}

/// A code span, whatever backticks are in it; pipes as a table wants them.
pub(super) fn code(text: &str) -> String {
    let text = one_line(text);
    let mut short: String = text.chars().take(MOST_CHARACTERS).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    let longest = short.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    let needs_space =
        short.is_empty() || short.starts_with(['`', ' ']) || short.ends_with(['`', ' ']);
    let pad = if needs_space { " " } else { "" };
    format!("{fence}{pad}{}{pad}{fence}", short.replace('|', "\\|"))
}

/// Without line ends and characters that do something.
fn one_line(text: &str) -> String {
    let text = text.replace(['\n', '\r', '\t'], " ");
    escape_control(&text).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_spans_hold_anything() {
        for (given, shown) in [
            ("web", "`web`"),
            ("a`b", "``a`b``"),
            ("`a", "`` `a ``"),
            ("a|b", "`a\\|b`"),
            ("", "`  `"),
            ("a\nb", "`a b`"),
        ] {
            assert_eq!(code(given), shown, "{given:?}");
        }
        assert!(code(&"x".repeat(1_000)).len() < 200);
    }

    #[test]
    fn text_does_nothing() {
        for (given, shown) in [
            ("a <!-- b -->", "a &lt;\\!\\-\\- b \\-\\-&gt;"),
            ("@ann #12", "@&#8203;ann #&#8203;12"),
            ("[x](https://h)", "\\[x\\]\\(https:&#8203;//h\\)"),
            ("1. a", "1\\. a"),
            ("a\n# b", "a #&#8203; b"),
            ("\u{202e}x", "\\\\u\\{202e\\}x"),
        ] {
            assert_eq!(text(given), shown, "{given:?}");
        }
    }
}
