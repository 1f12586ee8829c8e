//! New values as text: block lines or one flow line, in the style of their neighbours.

use super::scalar::{double_quoted, encode, literal_block};
use super::tree::Style;
use super::value::Value;

/// How new text is written.
#[derive(Clone, Debug)]
pub(super) struct Format {
    /// Blanks that a mapping is indented below its key.
    pub(super) map_indent: usize,
    /// Blanks that a list is indented below its key.
    pub(super) list_indent: usize,
    /// Keys and strings in double quotes.
    pub(super) json: bool,
    /// Blanks inside braces: `{ a: b }`.
    pub(super) padded: bool,
    /// The quotes that neighbours use for the value of a key; `""` stands for items.
    pub(super) quotes: Vec<(String, Style)>,
}

impl Format {
    fn style_of(&self, key: &str) -> Style {
        let found = self.quotes.iter().find(|(k, _)| k == key).map(|(_, style)| *style);
        if self.json { Style::DoubleQuoted } else { found.unwrap_or(Style::Plain) }
    }

    fn key(&self, key: &str, in_flow: bool) -> String {
        if self.json { double_quoted(key) } else { encode(key, Style::Plain, in_flow) }
    }

    /// A single value on one line.
    pub(super) fn scalar(&self, key: &str, value: &Value, in_flow: bool) -> String {
        match value {
            Value::Styled(text, style) if !self.json => encode(text, *style, in_flow),
            Value::Styled(text, _) | Value::Str(text) => encode(text, self.style_of(key), in_flow),
            other => other.single().unwrap_or_default().0,
        }
    }

    /// The value as one flow line; `key` is the key it belongs to.
    pub(super) fn flow(&self, key: &str, value: &Value) -> String {
        match value {
            Value::Seq(items) => {
                let items: Vec<String> = items.iter().map(|item| self.flow("", item)).collect();
                format!("[{}]", items.join(", "))
            }
            Value::Map(pairs) if pairs.is_empty() => "{}".to_owned(),
            Value::Map(pairs) => {
                let pairs: Vec<String> = pairs.iter().map(|(k, v)| self.flow_pair(k, v)).collect();
                let pad = if self.padded { " " } else { "" };
                format!("{{{pad}{}{pad}}}", pairs.join(", "))
            }
            single => self.scalar(key, single, true),
        }
    }

    /// `key: value` for the inside of braces.
    pub(super) fn flow_pair(&self, key: &str, value: &Value) -> String {
        format!("{}: {}", self.key(key, true), self.flow(key, value))
    }

    /// The value as block lines: the first without indentation, for use at `column`, the others with all of theirs.
    pub(super) fn block(&self, key: &str, value: &Value, column: usize) -> Vec<String> {
        match value {
            Value::Seq(items) if !items.is_empty() => self.block_items(items, column),
            Value::Map(pairs) if !pairs.is_empty() => {
                let mut lines: Vec<String> = Vec::new();
                for (k, v) in pairs {
                    let mut pair = self.block_pair(k, v, column);
                    indent_first(&mut pair, if lines.is_empty() { 0 } else { column });
                    lines.append(&mut pair);
                }
                lines
            }
            Value::Seq(_) | Value::Map(_) => vec![self.flow(key, value)],
            Value::Styled(text, Style::Literal) => match literal(text, column.max(1), 0) {
                Some(lines) => lines,
                None => vec![double_quoted(text)],
            },
            single => vec![self.scalar(key, single, false)],
        }
    }

    fn block_items(&self, items: &[Value], column: usize) -> Vec<String> {
        let mut lines: Vec<String> = Vec::new();
        for item in items {
            let mut block = self.block_item(item, column, 1);
            indent_first(&mut block, if lines.is_empty() { 0 } else { column });
            lines.append(&mut block);
        }
        lines
    }

    /// An item of a list whose dashes stand at `column`, with `gap` blanks behind the dash.
    pub(super) fn block_item(&self, item: &Value, column: usize, gap: usize) -> Vec<String> {
        let mut lines = self.block("", item, column + 1 + gap);
        lines[0] = format!("-{}{}", " ".repeat(gap), lines[0]);
        lines
    }

    /// `key: value` in a mapping whose keys stand at `column`.
    pub(super) fn block_pair(&self, key: &str, value: &Value, column: usize) -> Vec<String> {
        let name = self.key(key, false);
        let below = match value {
            Value::Seq(items) if !items.is_empty() => column + self.list_indent,
            Value::Map(pairs) if !pairs.is_empty() => column + self.map_indent,
            Value::Styled(text, Style::Literal) => {
                let mut lines = literal(text, column + self.map_indent, self.map_indent)
                    .unwrap_or_else(|| vec![double_quoted(text)]);
                lines[0] = format!("{name}: {}", lines[0]);
                return lines;
            }
            single => return vec![format!("{name}: {}", self.flow_or_scalar(key, single))],
        };
        let mut lines = self.block(key, value, below);
        indent_first(&mut lines, below);
        lines.insert(0, format!("{name}:"));
        lines
    }

    fn flow_or_scalar(&self, key: &str, value: &Value) -> String {
        match value {
            Value::Seq(_) | Value::Map(_) => self.flow(key, value),
            single => self.scalar(key, single, false),
        }
    }
}

fn indent_first(lines: &mut [String], column: usize) {
    if let Some(first) = lines.first_mut() {
        first.insert_str(0, &" ".repeat(column));
    }
}

/// A literal block as lines.
fn literal(text: &str, indent: usize, step: usize) -> Option<Vec<String>> {
    let block = literal_block(text, indent, step, "\n")?;
    // A `|+` block brings its last line break along, the lines of a splice do not.
    let block =
        if block.ends_with('\n') { block.strip_suffix('\n').unwrap_or(&block) } else { &block };
    Some(block.split('\n').map(str::to_owned).collect())
}
