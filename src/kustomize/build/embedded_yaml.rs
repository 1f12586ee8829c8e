//! Prints YAML that stands in a text, where its layout is the one that kyaml prints.
//!
//! Kustomize prints such a text anew when it changes a field in it, with its comments and its flow
//! style. Here only block style without comments is known, and only a text that is printed back as it
//! was read is changed at all; [`print`] gives `None` for everything else.

use crate::kustomize::node::{Map, Node, Scalar, Style, Tag, Value};
use crate::kustomize::read::tag_of;
use crate::yaml::scalar::{Rules, double_quoted, plain_is_safe, resolve};

/// The text of `node` without a final line break; `None` for what is not known here.
pub(super) fn print(node: &Node) -> Option<String> {
    let mut out = String::new();
    match &node.value {
        Value::Map(map) if !map.is_empty() => print_map(map, 0, &mut out)?,
        Value::Seq(items) if !items.is_empty() => print_items(items, 0, &mut out)?,
        _ => return None,
    }
    out.truncate(out.trim_end().len());
    Some(out)
}

fn print_map(map: &Map, indent: usize, out: &mut String) -> Option<()> {
    for entry in map.entries() {
        let key = &entry.key;
        if key.style.is_quoted() {
            return None;
        }
        out.push_str(&" ".repeat(indent));
        out.push_str(&key.text);
        out.push(':');
        match &entry.value.value {
            Value::Scalar(scalar) => print_behind(scalar, out)?,
            Value::Map(map) if map.is_empty() => out.push_str(" {}\n"),
            Value::Seq(items) if items.is_empty() => out.push_str(" []\n"),
            Value::Map(map) => {
                out.push('\n');
                print_map(map, indent + 2, out)?;
            }
            Value::Seq(items) => {
                out.push('\n');
                print_items(items, indent, out)?;
            }
        }
    }
    Some(())
}

fn print_items(items: &[Node], indent: usize, out: &mut String) -> Option<()> {
    for item in items {
        out.push_str(&" ".repeat(indent));
        out.push('-');
        let mut inner = String::new();
        match &item.value {
            Value::Scalar(scalar) => {
                print_behind(scalar, out)?;
                continue;
            }
            Value::Map(map) if map.is_empty() => inner.push_str("{}\n"),
            Value::Seq(items) if items.is_empty() => inner.push_str("[]\n"),
            Value::Map(map) => print_map(map, indent + 2, &mut inner)?,
            Value::Seq(items) => print_items(items, indent + 2, &mut inner)?,
        }
        out.push(' ');
        out.push_str(inner.trim_start_matches(' '));
    }
    Some(())
}

/// A scalar behind `key:` or `-`, and the end of the line.
fn print_behind(scalar: &Scalar, out: &mut String) -> Option<()> {
    let text = scalar_text(scalar)?;
    if !text.is_empty() {
        out.push(' ');
        out.push_str(&text);
    }
    out.push('\n');
    Some(())
}

fn scalar_text(scalar: &Scalar) -> Option<String> {
    let text = &scalar.text;
    match scalar.style {
        Style::Plain | Style::Tagged => plain_text(scalar),
        Style::SingleQuoted if !text.contains('\n') => {
            Some(format!("'{}'", text.replace('\'', "''")))
        }
        Style::DoubleQuoted if text.chars().all(|c| matches!(c, ' '..='~')) => {
            Some(double_quoted(text))
        }
        _ => None,
    }
}

/// goyaml quotes a string that reads as another type. A value that does not read as its own type any
/// more would get a tag, which is not known here.
fn plain_text(scalar: &Scalar) -> Option<String> {
    let text = scalar.text.to_string();
    let now = tag_of(resolve(&text, Rules::Resource));
    if scalar.tag == now || scalar.tag == Tag::Unset {
        let is_plain = now != Tag::Str || plain_is_safe(&text, false);
        return is_plain.then_some(text);
    }
    (scalar.tag == Tag::Str).then(|| double_quoted(&text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kustomize::origin::Origin;
    use crate::kustomize::read;

    fn printed(text: &str) -> Option<String> {
        print(&read::embedded(text, Origin::NONE).unwrap())
    }

    #[test]
    fn block_yaml_is_printed_as_it_was_read() {
        let text = "a:\n  b: 1\n  c: \"x y\"\nlist:\n- name: web\n  v: 'q'\n- - 1\n  - true\nempty: {}\nnothing:";
        assert_eq!(printed(text).as_deref(), Some(text));
    }

    #[test]
    fn comments_and_flow_style_are_not_printed_as_they_were_read() {
        for text in ["a: 1 # note", "a: {b: 1}", "a:\n    b: 1", "a: |\n  x"] {
            assert_ne!(printed(text).as_deref(), Some(text));
        }
    }
}
