//! YAML that stands in a text: printed anew after a field in it was changed, with its comments, where
//! its layout is the one that kyaml prints.
//!
//! Kustomize prints such a text with go-yaml version 3. Here a text is changed only if printing it
//! unchanged gives the text itself: block style as kyaml indents it, brackets and braces on one line,
//! comments behind scalars and directly above what they belong to. Everything else is left to
//! kustomize.

mod comments;

use self::comments::Comments;
use super::location::Location;
use crate::kustomize::node::{Entry, Layout, Node, Scalar, Style, Tag, Value};
use crate::kustomize::origin::Origin;
use crate::kustomize::read::{self, tag_of};
use crate::yaml::scalar::{Rules, double_quoted, plain_is_safe, resolve};

/// A text that can be printed anew: its comments, and where in its value they stand.
pub(super) struct Layouted {
    comments: Vec<(Location, Comments)>,
}

/// One printed line.
struct Line {
    text: String,
    /// Where the value stands that begins last on this line; `None` for the inner lines of a block of
    /// text.
    place: Option<Location>,
}

impl Layouted {
    /// Takes the layout of a text; `None` where it is not known here.
    pub(super) fn of(text: &str) -> Option<Self> {
        let (bare, comments) = comments::split(text.trim_end())?;
        let with_comments = read::embedded(text, Origin::NONE).ok()?;
        let node = read::embedded(&bare, Origin::NONE).ok()?;
        let lines = Printer::print(&node)?;
        let is_itself = lines.iter().map(|line| &*line.text).eq(bare.lines());
        if !is_itself || !is_equal(&node, &with_comments) {
            return None;
        }
        let places = lines.into_iter().zip(comments);
        let comments = places.filter(|(_, comments)| !comments.is_empty());
        let comments = comments.filter_map(|(line, comments)| Some((line.place?, comments)));
        Some(Self { comments: comments.collect() })
    }

    /// Whether there is any comment.
    pub(super) fn has_comments(&self) -> bool {
        !self.comments.is_empty()
    }

    /// The text of `node`, which is the value of the text with some changes, without a final line
    /// break; `None` where its layout is not known here.
    pub(super) fn print(&self, node: &Node) -> Option<String> {
        let mut out = String::new();
        for line in Printer::print(node)? {
            let found = self.comments.iter().find(|(place, _)| Some(place) == line.place.as_ref());
            match found {
                None => out.push_str(&line.text),
                Some((_, comments)) => comments.write(&line.text, &mut out)?,
            }
            out.push('\n');
        }
        out.truncate(out.trim_end().len());
        Some(out)
    }
}

/// Whether two values are equal but for where they stand and how they are laid out.
fn is_equal(a: &Node, b: &Node) -> bool {
    match (&a.value, &b.value) {
        (Value::Scalar(a), Value::Scalar(b)) => a == b,
        (Value::Seq(a), Value::Seq(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| is_equal(a, b))
        }
        (Value::Map(a), Value::Map(b)) => {
            let is_equal =
                |(a, b): (&Entry, &Entry)| a.key == b.key && is_equal(&a.value, &b.value);
            a.len() == b.len() && a.entries().iter().zip(b.entries()).all(is_equal)
        }
        _ => false,
    }
}

/// A map or a list as YAML text, without a final line break; `None` where its layout or a comment in it
/// is not known here.
pub(super) fn printed(node: &Node) -> Option<String> {
    if has_comment(node) {
        return None;
    }
    if node.layout == Layout::Flow || node.is_nil_or_empty() {
        return flow_text(node);
    }
    let lines: Vec<String> = Printer::print(node)?.into_iter().map(|line| line.text).collect();
    Some(lines.join("\n"))
}

fn has_comment(node: &Node) -> bool {
    let below = match &node.value {
        Value::Scalar(_) => false,
        Value::Seq(items) => items.iter().any(has_comment),
        Value::Map(map) => map.entries().iter().any(|entry| has_comment(&entry.value)),
    };
    below || node.comment.is_some() || node.is_key_commented
}

#[derive(Default)]
struct Printer {
    lines: Vec<Line>,
    /// Where the value stands that is being printed.
    place: Location,
}

impl Printer {
    fn print(node: &Node) -> Option<Vec<Line>> {
        let mut printer = Self::default();
        if node.is_nil_or_empty() || node.layout == Layout::Flow || node.as_scalar().is_some() {
            return None;
        }
        printer.children(node, "", 0)?;
        Some(printer.lines)
    }

    fn line(&mut self, text: String) {
        self.lines.push(Line { text, place: Some(self.place.clone()) });
    }

    /// The entries or items of a block at column `indent`; the first line begins with `lead`.
    fn children(&mut self, node: &Node, lead: &str, indent: usize) -> Option<()> {
        let blanks = " ".repeat(indent);
        let mut lead = lead;
        let count = match &node.value {
            Value::Map(map) => map.len(),
            Value::Seq(items) => items.len(),
            Value::Scalar(_) => return None,
        };
        for at in 0..count {
            self.place.push(at);
            match &node.value {
                Value::Map(map) => self.entry(&map.entries()[at], lead, indent)?,
                Value::Seq(items) => self.item(&items[at], lead, indent)?,
                Value::Scalar(_) => {}
            }
            self.place.pop();
            lead = &blanks;
        }
        Some(())
    }

    fn entry(&mut self, entry: &Entry, lead: &str, indent: usize) -> Option<()> {
        let key = key_text(&entry.key)?;
        let value = &entry.value;
        if let Some(text) = self.inline(value, indent)? {
            self.finish(&format!("{lead}{key}:"), text);
            return Some(());
        }
        self.line(format!("{lead}{key}:"));
        let indent = if value.as_seq().is_some() { indent } else { indent + 2 };
        self.children(value, &" ".repeat(indent), indent)
    }

    fn item(&mut self, item: &Node, lead: &str, indent: usize) -> Option<()> {
        match self.inline(item, indent)? {
            None => self.children(item, &format!("{lead}- "), indent + 2),
            Some(text) => {
                self.finish(&format!("{lead}-"), text);
                Some(())
            }
        }
    }

    /// What stands on the line of its key or dash; `None` in it for a block below.
    fn inline(&self, node: &Node, indent: usize) -> Option<Option<Inline>> {
        match &node.value {
            Value::Scalar(scalar) if is_block(scalar) => {
                Some(Some(Inline::Block(block_lines(scalar, indent + 2)?)))
            }
            Value::Scalar(scalar) => Some(Some(Inline::Text(scalar_text(scalar, false)?))),
            _ if node.layout == Layout::Flow || node.is_nil_or_empty() => {
                Some(Some(Inline::Text(flow_text(node)?)))
            }
            _ if node.is_key_commented => None,
            _ => Some(None),
        }
    }

    fn finish(&mut self, start: &str, inline: Inline) {
        match inline {
            Inline::Text(text) if text.is_empty() => self.line(start.to_owned()),
            Inline::Text(text) => self.line(format!("{start} {text}")),
            Inline::Block((header, lines)) => {
                self.line(format!("{start} {header}"));
                let inner = lines.into_iter().map(|text| Line { text, place: None });
                self.lines.extend(inner);
            }
        }
    }
}

/// What stands behind a key or a dash.
enum Inline {
    /// On one line.
    Text(String),
    /// A block of text: its header and its lines.
    Block((&'static str, Vec<String>)),
}

fn key_text(key: &Scalar) -> Option<String> {
    if key.style == Style::Plain && !is_plain(&key.text, false) {
        return None;
    }
    scalar_text(key, false)
}

/// Whether go-yaml version 3 writes a string without quotes that was read without any.
fn is_plain(text: &str, in_flow: bool) -> bool {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'/');
    text.bytes().next().is_some_and(is_word) && text.bytes().all(|b| is_word(b) || b == b'-')
        || plain_is_safe(text, in_flow)
}

fn is_block(scalar: &Scalar) -> bool {
    scalar.style == Style::Literal || (!scalar.style.is_quoted() && scalar.text.contains('\n'))
}

/// The header and the lines of a literal block.
fn block_lines(scalar: &Scalar, indent: usize) -> Option<(&'static str, Vec<String>)> {
    let text = &*scalar.text;
    let body = text.strip_suffix('\n').unwrap_or(text);
    let is_plain = |c: char| matches!(c, ' '..='~' | '\n');
    let is_known = matches!(scalar.tag, Tag::Str)
        && !body.is_empty()
        && !body.starts_with([' ', '\n'])
        && !body.ends_with('\n')
        && body.chars().all(is_plain)
        && body.lines().all(|line| !line.ends_with(' '));
    if !is_known {
        return None;
    }
    let header = if body.len() == text.len() { "|-" } else { "|" };
    let blanks = " ".repeat(indent);
    let line = |line: &str| if line.is_empty() { String::new() } else { format!("{blanks}{line}") };
    Some((header, body.split('\n').map(line).collect()))
}

/// A collection in brackets or braces, on one line.
fn flow_text(node: &Node) -> Option<String> {
    match &node.value {
        Value::Scalar(scalar) => scalar_text(scalar, true).filter(|text| !text.is_empty()),
        Value::Seq(items) => {
            let items = items.iter().map(flow_text).collect::<Option<Vec<_>>>()?;
            Some(format!("[{}]", items.join(", ")))
        }
        Value::Map(map) => {
            let entry = |entry: &Entry| {
                Some(format!("{}: {}", key_text(&entry.key)?, flow_text(&entry.value)?))
            };
            let entries = map.entries().iter().map(entry).collect::<Option<Vec<_>>>()?;
            Some(format!("{{{}}}", entries.join(", ")))
        }
    }
}

fn scalar_text(scalar: &Scalar, in_flow: bool) -> Option<String> {
    let text = &scalar.text;
    match scalar.style {
        Style::Plain => plain_text(scalar, in_flow),
        Style::SingleQuoted if text.chars().all(|c| matches!(c, ' '..='~')) => {
            Some(format!("'{}'", text.replace('\'', "''")))
        }
        Style::DoubleQuoted if text.chars().all(|c| matches!(c, ' '..='~')) => {
            Some(double_quoted(text))
        }
        _ => None,
    }
}

/// goyaml quotes a string that reads as another type. A value that does not read as its own type any
/// more gets its tag.
fn plain_text(scalar: &Scalar, in_flow: bool) -> Option<String> {
    let text = scalar.text.to_string();
    let now = tag_of(resolve(&text, Rules::Resource));
    if scalar.tag == now || scalar.tag == Tag::Unset {
        let may_stand = now != Tag::Str || is_plain(&text, in_flow);
        return may_stand.then_some(text);
    }
    let tag = match scalar.tag {
        Tag::Str => return Some(double_quoted(&text)),
        Tag::Null => "!!null",
        Tag::Bool => "!!bool",
        Tag::Int => "!!int",
        Tag::Float => "!!float",
        _ => return None,
    };
    let may_stand = !text.is_empty() && (now != Tag::Str || is_plain(&text, in_flow));
    may_stand.then(|| format!("{tag} {text}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(text: &str) -> Option<String> {
        let node = read::embedded(text, Origin::NONE).unwrap();
        Layouted::of(text)?.print(&node)
    }

    #[test]
    fn yaml_in_the_layout_of_kyaml_is_printed_as_it_was_read() {
        for text in [
            "a:\n  b: 1\n  c: \"x y\"\nlist:\n- name: web\n  v: 'q'\n- - 1\n  - true\nempty: {}\nnothing:",
            "# head\na: 1 # tail\nb:\n  # above\n  c: [x, {d: e}]\nlist:\n# item\n- x",
            "a: |\n  text # no comment\n\n  more\nb: 1",
        ] {
            assert_eq!(printed(text).as_deref(), Some(text));
        }
    }

    #[test]
    fn other_layouts_are_not_known() {
        for text in ["a:\n    b: 1", "a: 1\n\nb: 1", "a: # c\n  b: 1", "a: 1\n# last", "a: [b,c]"] {
            assert_eq!(printed(text), None, "{text}");
        }
    }
}
